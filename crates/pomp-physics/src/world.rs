use crate::body::Body;
use crate::boxes::Boxes;
use crate::drive::DrivePlan;
use crate::ground::depth_in;
use crate::motion::Motion;
use crate::ragdoll::Ragdoll;
use crate::state::{BODIES, BOX, BOXES, GROUND, GROUND_GROUP, WorldState, marked};
use crate::{DynamicConfig, PhysicsError, PoseVelocity, Push};
use pomp_motion::glam::Vec3;
use pomp_motion::{GlobalPose, Pose, Skeleton};
use rapier3d::prelude::{
    BroadPhaseBvh, CCDSolver, ColliderBuilder, ColliderHandle, ColliderSet, FrictionModel, ImpulseJointSet,
    IntegrationParameters, InteractionGroups, InteractionTestMode, IslandManager, MultibodyJointSet,
    NarrowPhase, PhysicsPipeline, Ray, RigidBodyBuilder, RigidBodyHandle, RigidBodySet, SharedShape,
    SoftBodySet,
};

/// Joint rotations are products of thousands of increments; this many frames apart they are set anew as unit
/// quaternions.
const FRAMES_BETWEEN_RENORMALISATIONS: u64 = 240;

/// How far from the edge of the ground a body that has left it is put back, metres.
const FROM_EDGE_M: f32 = 1.0;

/// A pose is moved out of the ground in at most this many moves, each along the normal where it is deepest.
const LIFTS: usize = 8;

/// What one ragdoll is to be made of.
pub(crate) struct RagdollParts<'a> {
    pub(crate) skeleton: &'a Skeleton,
    pub(crate) config: &'a DynamicConfig,
    pub(crate) bodies: &'a [Body],
}

/// Ragdolls and their ground in the engine.
pub(crate) struct World {
    pub(crate) state: WorldState,
    pristine: WorldState,
    pub(crate) ragdolls: Vec<Ragdoll>,
    ground: ColliderHandle,
    /// Of the Earth, m/s².
    gravity_at_rest: Vec3,
    /// In the frame of the ground, which may accelerate.
    gravity: Vec3,
    parameters: IntegrationParameters,
    pipeline: PhysicsPipeline,
    ccd: CCDSolver,
    impulse_joints: ImpulseJointSet,
    soft_bodies: SoftBodySet,
}

/// Contact impulses on the bodies of one ragdoll, N·s, world.
#[derive(Clone, Debug)]
pub(crate) struct ContactImpulses {
    pub(crate) from_ground: Vec<Vec3>,
    pub(crate) from_boxes: Vec<Vec3>,
    pub(crate) from_characters: Vec<Vec3>,
}

impl ContactImpulses {
    pub(crate) fn none(bodies: usize) -> Self {
        let none = vec![Vec3::ZERO; bodies];
        Self { from_ground: none.clone(), from_boxes: none.clone(), from_characters: none }
    }

    /// All of them, body by body.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Vec3> {
        self.from_ground.iter().chain(&self.from_boxes).chain(&self.from_characters)
    }

    /// Adds `other`.
    pub(crate) fn add(&mut self, other: &Self) {
        let own = self.from_ground.iter_mut().chain(&mut self.from_boxes).chain(&mut self.from_characters);
        for (total, impulse) in own.zip(other.iter()) {
            *total += *impulse;
        }
    }
}

impl World {
    /// Ragdolls on a ground; settings of the engine are those of the first.
    pub(crate) fn new(
        parts: &[RagdollParts<'_>],
        ground: ColliderBuilder,
        lowest_ground: f32,
    ) -> Result<Self, PhysicsError> {
        let config = parts.first().expect("a world has a ragdoll").config;
        let mut state = WorldState {
            islands: IslandManager::new(),
            broad_phase: BroadPhaseBvh::new(),
            narrow_phase: NarrowPhase::new(),
            bodies: RigidBodySet::new(),
            colliders: ColliderSet::new(),
            multibody_joints: MultibodyJointSet::new(),
            frame: 0,
            boxes: Boxes::default(),
            lowest_ground,
            ground_is_new: false,
        };
        let fixed = state.bodies.insert(RigidBodyBuilder::fixed());
        let ground = ground
            .friction(config.friction)
            .collision_groups(InteractionGroups::new(GROUND_GROUP, BODIES | BOXES, InteractionTestMode::And))
            .user_data(GROUND);
        let ground = state.colliders.insert_with_parent(ground, fixed, &mut state.bodies);
        let ragdolls = parts
            .iter()
            .enumerate()
            .map(|(i, part)| {
                Ragdoll::insert(&mut state, (i, parts.len()), part.skeleton, part.config, part.bodies)
            })
            .collect::<Result<Vec<_>, _>>()?;

        let mut parameters = IntegrationParameters {
            dt: 1.0 / (config.frame_rate_hz * config.steps_per_frame as f32),
            // With one solver iteration the engine reports every contact impulse in full.
            num_solver_iterations: 1,
            num_internal_pgs_iterations: config.contact_sweeps,
            friction_model: FrictionModel::Coulomb,
            max_ccd_substeps: 0,
            normalized_prediction_distance: config.contact.prediction_m,
            ..IntegrationParameters::default()
        };
        parameters.static_contact_softness.natural_frequency = config.contact.frequency_hz;
        parameters.static_contact_softness.damping_ratio = config.contact.damping_ratio;

        let mut world = Self {
            pristine: state.clone(),
            state,
            ragdolls,
            ground,
            gravity_at_rest: Vec3::NEG_Y * config.gravity_m_s2,
            gravity: Vec3::NEG_Y * config.gravity_m_s2,
            parameters,
            pipeline: PhysicsPipeline::new(),
            ccd: CCDSolver::new(),
            impulse_joints: ImpulseJointSet::new(),
            soft_bodies: SoftBodySet::new(),
        };
        // A step of no time registers bodies, joints and colliders, so that a snapshot misses none of it.
        world.advance(0.0);
        for ragdoll in &mut world.ragdolls {
            ragdoll.read_centers(&world.state);
        }
        world.pristine = world.state.clone();
        Ok(world)
    }

    /// Length of an engine step, seconds.
    pub(crate) fn step_s(&self) -> f32 {
        self.parameters.dt
    }

    fn advance(&mut self, dt: f32) {
        let parameters = IntegrationParameters { dt, ..self.parameters };
        let s = &mut self.state;
        self.pipeline.step(
            self.gravity,
            &parameters,
            &mut s.islands,
            &mut s.broad_phase,
            &mut s.narrow_phase,
            &mut s.bodies,
            &mut s.colliders,
            &mut self.impulse_joints,
            &mut s.multibody_joints,
            &mut self.soft_bodies,
            &mut self.ccd,
            &(),
            &(),
        );
    }

    /// Forgets the engine's workspace, so that a state from elsewhere continues as it did there.
    pub(crate) fn adopt(&mut self, state: WorldState) {
        self.state = state;
        self.pipeline = PhysicsPipeline::new();
        self.ccd = CCDSolver::new();
    }

    /// Continues from a state of this world; its ground stays, also after a reset.
    pub(crate) fn restore(&mut self, state: WorldState) {
        let ground = &state.colliders[self.ground];
        let (shape, place) = (ground.shared_shape().clone(), *ground.position());
        let own = &mut self.pristine.colliders[self.ground];
        if !std::sync::Arc::ptr_eq(&own.shared_shape().0, &shape.0) {
            own.set_shape(shape);
            own.set_position(place);
            self.pristine.lowest_ground = state.lowest_ground;
            self.pristine.ground_is_new = true;
        }
        self.adopt(state);
    }

    /// Whether a state has the bodies of this world.
    pub(crate) fn fits(&self, state: &WorldState) -> bool {
        let bodies: usize = self.ragdolls.iter().map(Ragdoll::len).sum();
        // The ground has a body and a collider too.
        state.holds_besides_boxes(bodies + 1)
            && self.ragdolls.iter().all(|ragdoll| ragdoll.is_in(state))
            && state.colliders.get(self.ground).is_some()
    }

    /// Puts all ragdolls in poses with velocities, in a world without memory of what was before; boxes that wait to be thrown
    /// still do.
    pub(crate) fn reset(&mut self, poses: &[(Pose, PoseVelocity)]) {
        let waiting = std::mem::take(&mut self.state.boxes.waiting);
        let thrown = self.state.boxes.thrown;
        self.adopt(self.pristine.clone());
        self.state.boxes = Boxes::waiting_again(waiting, thrown);
        for (ragdoll, (pose, velocities)) in self.ragdolls.iter().zip(poses) {
            ragdoll.place_anew(&mut self.state, pose, velocities);
        }
    }

    /// Puts one of several ragdolls in a pose with velocities; all else goes on.
    pub(crate) fn reset_one(&mut self, member: usize, pose: &Pose, velocities: &PoseVelocity) {
        self.ragdolls[member].place_anew(&mut self.state, pose, velocities);
    }

    /// Pose and velocities of a ragdoll.
    pub(crate) fn motion(&self, member: usize) -> Motion {
        self.ragdolls[member].motion(&self.state)
    }

    /// Force besides gravity that gives a body of `mass_kg` an acceleration, N.
    pub(crate) fn force_for(&self, mass_kg: f32, acceleration: Vec3) -> Vec3 {
        (acceleration - self.gravity) * mass_kg
    }

    /// One engine step: for every ragdoll the springs of its plan, and its pushes, impulses of which act over `duration_s`.
    pub(crate) fn step<'a>(
        &mut self,
        acting: impl Iterator<Item = (&'a DrivePlan, &'a [Push])>,
        duration_s: f32,
    ) {
        let h = self.parameters.dt;
        for (ragdoll, (plan, pushes)) in self.ragdolls.iter().zip(acting) {
            ragdoll.apply_pushes(&mut self.state, pushes, duration_s);
            ragdoll.set_springs(&mut self.state, plan, h);
        }
        self.advance(h);
    }

    /// Whether the engine set a body aside because it was not finite.
    pub(crate) fn quarantined(&self) -> bool {
        !self.pipeline.quarantine().is_empty()
    }

    /// Adds `change` to the velocity of a whole ragdoll.
    pub(crate) fn shift_velocity(&mut self, member: usize, change: Vec3) {
        self.ragdolls[member].shift_velocity(&mut self.state, change);
    }

    /// Impulse of gravity on a ragdoll in one step, N·s.
    pub(crate) fn gravity_impulse(&self, member: usize) -> Vec3 {
        self.gravity * (self.ragdolls[member].total_mass() * self.parameters.dt)
    }

    /// Friction of every surface.
    pub(crate) fn friction(&self) -> f32 {
        self.state.colliders[self.ground].friction()
    }

    /// Height of the ground at a place, metres; `None` beside it.
    pub(crate) fn ground_height(&self, x: f32, z: f32) -> Option<f32> {
        let ground = &self.state.colliders[self.ground];
        let above = ground.compute_aabb().maxs.y + 1.0;
        let depth = above - ground.compute_aabb().mins.y + 1.0;
        let ray = Ray::new(Vec3::new(x, above, z), Vec3::NEG_Y);
        Some(above - ground.shape().cast_ray(ground.position(), &ray, depth, true)?)
    }

    /// Depth in the ground of the deepest of the points, metres, and the ground's normal there; see [`depth_in`].
    pub(crate) fn deepest(&self, points: &[Vec3]) -> Option<(f32, Vec3)> {
        let ground = &self.state.colliders[self.ground];
        points.iter().filter_map(|point| depth_in(ground, *point)).max_by(|a, b| a.0.total_cmp(&b.0))
    }

    /// Moves a pose whose root is beside the ground to the nearest place on it, [`FROM_EDGE_M`] from its edge.
    pub(crate) fn bring_back(&self, pose: &mut GlobalPose) {
        let ground = &self.state.colliders[self.ground];
        let root = pose.positions[0];
        if depth_in(ground, root).is_some() {
            return;
        }
        let (low, high) = (ground.compute_aabb().mins, ground.compute_aabb().maxs);
        let inside = |low: f32, high: f32, value: f32| {
            let middle = 0.5 * (low + high);
            value.clamp((low + FROM_EDGE_M).min(middle), (high - FROM_EDGE_M).max(middle))
        };
        let way =
            Vec3::new(inside(low.x, high.x, root.x) - root.x, 0.0, inside(low.z, high.z, root.z) - root.z);
        pose.positions.iter_mut().for_each(|position| *position += way);
    }

    /// Moves a pose out of the ground, to where none of its joints is below the surface.
    pub(crate) fn lift_out(&self, pose: &mut GlobalPose) {
        for _ in 0..LIFTS {
            let Some((depth, normal)) = self.deepest(&pose.positions) else { return };
            if depth <= 0.0 {
                return;
            }
            pose.positions.iter_mut().for_each(|position| *position += normal * depth);
        }
    }

    /// Takes a body that hangs on no joint out of the engine.
    pub(crate) fn remove_body(&mut self, handle: RigidBodyHandle) {
        let s = &mut self.state;
        s.bodies.remove(
            handle,
            &mut s.islands,
            &mut s.colliders,
            &mut self.impulse_joints,
            &mut s.multibody_joints,
            &mut self.soft_bodies,
            true,
        );
    }

    /// The lowest height of the ground, metres.
    pub(crate) fn lowest_ground(&self) -> f32 {
        self.state.lowest_ground
    }

    /// Another ground, from the next frame on and after every reset.
    pub(crate) fn set_ground(&mut self, ground: &ColliderBuilder, lowest_ground: f32) {
        for state in [&mut self.state, &mut self.pristine] {
            state.lowest_ground = lowest_ground;
            let collider = &mut state.colliders[self.ground];
            collider.set_shape(ground.shape.clone());
            collider.set_position(ground.position);
        }
        self.state.ground_is_new = true;
        self.pristine.ground_is_new = true;
    }

    /// Lets the ground accelerate from now on, m/s².
    pub(crate) fn accelerate_ground(&mut self, acceleration: Vec3) {
        self.gravity = self.gravity_at_rest - acceleration;
    }

    /// Counts a frame; lets boxes come and go; now and then renews the joint rotations.
    pub(crate) fn begin_frame(&mut self, frame_s: f32) {
        self.state.frame += 1;
        if std::mem::take(&mut self.state.ground_is_new) {
            let collider = &mut self.state.colliders[self.ground];
            let shape: SharedShape = collider.shared_shape().clone();
            collider.set_shape(shape);
        }
        self.renew_boxes(frame_s);
        if self.state.frame.is_multiple_of(FRAMES_BETWEEN_RENORMALISATIONS) {
            for ragdoll in &self.ragdolls {
                ragdoll.renormalise(&mut self.state);
            }
        }
    }

    /// The contact impulses of the last step, ragdoll by ragdoll.
    ///
    /// The solver's manifolds hold what was solved; with one solver iteration `impulse` is the whole normal
    /// part and `warmstart_tangent_world` the whole friction. Both are on the first collider's side of the
    /// pair.
    pub(crate) fn contact_impulses(&self) -> Vec<ContactImpulses> {
        let mut found: Vec<_> =
            self.ragdolls.iter().map(|ragdoll| ContactImpulses::none(ragdoll.len())).collect();
        for pair in self.state.narrow_phase.contact_pairs() {
            let owner = |handle| self.state.colliders.get(handle).map(|c| c.user_data);
            let (Some(first), Some(second)) = (owner(pair.collider1), owner(pair.collider2)) else {
                continue;
            };
            for manifold in pair.solver_manifolds() {
                let mut on_first = Vec3::ZERO;
                for contact in &manifold.data.solver_contacts {
                    let data = &manifold.points[contact.contact_indices()[0] as usize].data;
                    on_first += data.warmstart_tangent_world - manifold.data.normal * data.impulse;
                }
                for (own, other, impulse) in [(first, second, on_first), (second, first, -on_first)] {
                    if matches!(own, GROUND | BOX) {
                        continue;
                    }
                    let (member, body) = marked(own);
                    let on = &mut found[member];
                    let sums = match other {
                        GROUND => &mut on.from_ground,
                        BOX => &mut on.from_boxes,
                        _ => &mut on.from_characters,
                    };
                    sums[body] += impulse;
                }
            }
        }
        found
    }
}

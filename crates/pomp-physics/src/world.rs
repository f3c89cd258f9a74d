use crate::body::{Body, BodyShape};
use crate::boxes::{BOX, BOXES, Boxes};
use crate::drive::DrivePlan;
use crate::{DynamicConfig, PhysicsError, PoseVelocity, Push};
use pomp_motion::glam::{Quat, Vec3};
use pomp_motion::rotation::log;
use pomp_motion::{GlobalPose, Pose, Skeleton};
use rapier3d::math::Pose as Placement;
use rapier3d::prelude::{
    BroadPhaseBvh, CCDSolver, Collider, ColliderBuilder, ColliderHandle, ColliderSet, FrictionModel, Group,
    ImpulseJointSet, IntegrationParameters, InteractionGroups, InteractionTestMode, IslandManager,
    MassProperties, Multibody, MultibodyJoint, MultibodyJointHandle, MultibodyJointSet, NarrowPhase,
    PhysicsPipeline, Ray, RigidBodyBuilder, RigidBodyHandle, RigidBodySet, SharedShape, SoftBodySet,
    SphericalJointBuilder,
};
use serde::{Deserialize, Serialize};

/// Marks the ground's collider; bodies carry their index, boxes [`BOX`].
const GROUND: u128 = u128::MAX;

/// Where bodies are before the first reset: away from the ground. A pristine world that remembers contacts gives them an
/// impulse in the first step after a reset, wherever the bodies are by then.
const WAITING: Vec3 = Vec3::new(0.0, 1000.0, 0.0);

/// Joint rotations are products of thousands of increments; this many frames apart they are set anew as unit
/// quaternions.
const FRAMES_BETWEEN_RENORMALISATIONS: u64 = 240;

/// Everything of the engine that a continuation depends on.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct WorldState {
    islands: IslandManager,
    broad_phase: BroadPhaseBvh,
    narrow_phase: NarrowPhase,
    pub(crate) bodies: RigidBodySet,
    pub(crate) colliders: ColliderSet,
    multibody_joints: MultibodyJointSet,
    pub(crate) frame: u64,
    pub(crate) boxes: Boxes,
    /// The ground has changed, and the engine has not been told: it would forget that in a snapshot.
    ground_is_new: bool,
}

/// The ragdoll and its ground in the engine.
pub(crate) struct World {
    pub(crate) state: WorldState,
    pristine: WorldState,
    handles: Vec<RigidBodyHandle>,
    ground: ColliderHandle,
    multibody: MultibodyJointHandle,
    parents: Vec<usize>,
    offsets: Vec<Vec3>,
    masses: Vec<f32>,
    coms: Vec<Vec3>,
    total_mass: f32,
    gravity: Vec3,
    parameters: IntegrationParameters,
    pipeline: PhysicsPipeline,
    ccd: CCDSolver,
    impulse_joints: ImpulseJointSet,
    soft_bodies: SoftBodySet,
}

/// Kinematic state of the ragdoll.
#[derive(Clone, Debug)]
pub(crate) struct Motion {
    pub(crate) pose: GlobalPose,
    pub(crate) local_rotations: Vec<Quat>,
    /// Joint origins, m/s.
    pub(crate) linear: Vec<Vec3>,
    /// World, rad/s.
    pub(crate) angular: Vec<Vec3>,
    /// Generalised: relative to the parent, in its frame.
    pub(crate) relative: Vec<Vec3>,
}

/// Mass properties of the box around `points`.
fn box_around(points: &[Vec3], mass_kg: f32) -> MassProperties {
    let low = points.iter().copied().reduce(Vec3::min).unwrap_or_default();
    let high = points.iter().copied().reduce(Vec3::max).unwrap_or_default();
    let square = (high - low) * (high - low);
    let inertia = Vec3::new(square.y + square.z, square.x + square.z, square.x + square.y);
    MassProperties::new((low + high) * 0.5, mass_kg, inertia * (mass_kg / 12.0))
}

impl World {
    pub(crate) fn new(
        skeleton: &Skeleton,
        config: &DynamicConfig,
        bodies: &[Body],
        ground: ColliderBuilder,
    ) -> Result<Self, PhysicsError> {
        let mut state = WorldState {
            islands: IslandManager::new(),
            broad_phase: BroadPhaseBvh::new(),
            narrow_phase: NarrowPhase::new(),
            bodies: RigidBodySet::new(),
            colliders: ColliderSet::new(),
            multibody_joints: MultibodyJointSet::new(),
            frame: 0,
            boxes: Boxes::default(),
            ground_is_new: false,
        };
        let groups = |member, filter| InteractionGroups::new(member, filter, InteractionTestMode::And);
        let (ground_group, body_group) = (Group::GROUP_1, Group::GROUP_2);
        let fixed = state.bodies.insert(RigidBodyBuilder::fixed());
        let ground = ground
            .friction(config.friction)
            .collision_groups(groups(ground_group, body_group | BOXES))
            .user_data(GROUND);
        let ground = state.colliders.insert_with_parent(ground, fixed, &mut state.bodies);

        let rest = skeleton.forward_kinematics(&Pose::rest(skeleton));
        let mut handles = Vec::with_capacity(bodies.len());
        for (i, body) in bodies.iter().enumerate() {
            let builder = RigidBodyBuilder::dynamic()
                .pose(Placement::from_parts(rest.positions[i] + WAITING, rest.rotations[i]))
                .can_sleep(false)
                .allow_fast_rotation(true)
                .soft_ccd_prediction(config.contact.fast_body_prediction_m);
            let handle = state.bodies.insert(builder);
            let shape = match &body.shape {
                BodyShape::Capsule { from, to, radius } => {
                    ColliderBuilder::capsule_from_endpoints(*from, *to, *radius)
                }
                BodyShape::Prism { profile, from_x, to_x } => {
                    let points: Vec<Vec3> = [*from_x, *to_x]
                        .iter()
                        .flat_map(|&x| profile.iter().map(move |at| Vec3::new(x, at.x, at.y)))
                        .collect();
                    ColliderBuilder::convex_hull(&points)
                        .ok_or_else(|| PhysicsError::Engine {
                            joint: i,
                            name: skeleton.joints()[i].name.clone(),
                        })?
                        // The engine's own for a hull have their axes exchanged: it would turn about its long side as
                        // easily as about the short one.
                        .mass_properties(box_around(&points, body.mass_kg))
                }
            };
            let shape = match &body.shape {
                BodyShape::Capsule { .. } => shape.mass(body.mass_kg),
                BodyShape::Prism { .. } => shape,
            };
            let collider = shape
                .friction(config.friction)
                .collision_groups(groups(body_group, ground_group | BOXES))
                .user_data(i as u128);
            state.colliders.insert_with_parent(collider, handle, &mut state.bodies);
            handles.push(handle);
        }
        let parents: Vec<usize> = skeleton.joints().iter().map(|j| j.parent.map_or(0, |p| p.0)).collect();
        let mut multibody = MultibodyJointHandle::invalid();
        for (i, joint) in skeleton.joints().iter().enumerate().skip(1) {
            let spherical = SphericalJointBuilder::new()
                .local_anchor1(joint.offset)
                .local_anchor2(Vec3::ZERO)
                .contacts_enabled(false)
                .build();
            multibody = state
                .multibody_joints
                .insert(handles[parents[i]], handles[i], spherical, true)
                .ok_or_else(|| PhysicsError::Engine { joint: i, name: joint.name.clone() })?;
        }

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
            handles,
            ground,
            multibody,
            parents,
            offsets: skeleton.joints().iter().map(|j| j.offset).collect(),
            masses: bodies.iter().map(|b| b.mass_kg).collect(),
            coms: Vec::new(),
            total_mass: bodies.iter().map(|b| b.mass_kg).sum(),
            gravity: Vec3::new(0.0, -config.gravity_m_s2, 0.0),
            parameters,
            pipeline: PhysicsPipeline::new(),
            ccd: CCDSolver::new(),
            impulse_joints: ImpulseJointSet::new(),
            soft_bodies: SoftBodySet::new(),
        };
        world.multibody_mut().set_self_contacts_enabled(false);
        world.multibody_mut().damping_mut().fill(0.0);
        // A step of no time registers bodies, joints and colliders, so that a snapshot misses none of it.
        world.advance(0.0);
        world.coms = world
            .handles
            .iter()
            .map(|h| world.state.bodies[*h].mass_properties().local_mprops.local_com)
            .collect();
        world.pristine = world.state.clone();
        Ok(world)
    }

    /// Length of an engine step, seconds.
    pub(crate) fn step_s(&self) -> f32 {
        self.parameters.dt
    }

    pub(crate) fn total_mass(&self) -> f32 {
        self.total_mass
    }

    fn multibody(&self) -> &Multibody {
        self.state.multibody_joints.get(self.multibody).expect("the ragdoll's joints are never removed").0
    }

    fn multibody_mut(&mut self) -> &mut Multibody {
        self.state.multibody_joints.get_mut(self.multibody).expect("the ragdoll's joints are never removed").0
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
            self.pristine.ground_is_new = true;
        }
        self.adopt(state);
    }

    /// Whether a state has the bodies of this world.
    pub(crate) fn fits(&self, state: &WorldState) -> bool {
        // The ground has a body and a collider too.
        state.holds_besides_boxes(self.handles.len() + 1)
            && self.handles.iter().all(|handle| state.bodies.get(*handle).is_some())
            && state.colliders.get(self.ground).is_some()
            && state.multibody_joints.get(self.multibody).is_some()
    }

    /// Puts the ragdoll in a pose with velocities, in a world without memory of what was before; boxes that wait to be thrown
    /// still do.
    pub(crate) fn reset(&mut self, pose: &Pose, velocities: &PoseVelocity) {
        let waiting = std::mem::take(&mut self.state.boxes.waiting);
        let thrown = self.state.boxes.thrown;
        self.adopt(self.pristine.clone());
        self.state.boxes = Boxes::waiting_again(waiting, thrown);
        self.place(pose, velocities);
        // The engine is told that every body moved: else the first step has the contacts of wherever bodies were before.
        let motion = self.motion();
        for (i, handle) in self.handles.iter().enumerate() {
            let placement = Placement::from_parts(motion.pose.positions[i], motion.pose.rotations[i]);
            self.state.bodies[*handle].set_position(placement, true);
        }
    }

    fn place(&mut self, pose: &Pose, velocities: &PoseVelocity) {
        let s = &mut self.state;
        let multibody =
            s.multibody_joints.get_mut(self.multibody).expect("the ragdoll's joints are never removed").0;
        // Joint coordinates of the engine are integrals of angular velocity; only their differences are used.
        for (i, rotation) in pose.local_rotations.iter().enumerate().skip(1) {
            let link = multibody.link_mut(i).expect("one link per joint");
            link.joint = MultibodyJoint::new(link.joint.data, false);
            let v = log(*rotation);
            link.joint.apply_displacement(&[v.x, v.y, v.z]);
        }
        {
            let mut generalized = multibody.generalized_velocity_mut();
            for k in 0..3 {
                generalized[k] = velocities.root_linear[k];
            }
            for (i, v) in velocities.angular.iter().enumerate() {
                for k in 0..3 {
                    generalized[3 + 3 * i + k] = v[k];
                }
            }
        }
        let root = Placement::from_parts(pose.root_position, pose.local_rotations[0].normalize());
        s.bodies[self.handles[0]].set_position(root, true);
        multibody.forward_kinematics(&s.bodies, true);
        multibody.update_rigid_bodies(&mut s.bodies, true);
        let motion = self.motion();
        for (i, handle) in self.handles.iter().enumerate() {
            let lever = motion.pose.rotations[i] * self.coms[i];
            let body = &mut self.state.bodies[*handle];
            body.set_linvel(motion.linear[i] + motion.angular[i].cross(lever), true);
            body.set_angvel(motion.angular[i], true);
        }
    }

    /// Pose and velocities from the joint coordinates, which the engine's body velocities lag behind by a
    /// step.
    pub(crate) fn motion(&self) -> Motion {
        let multibody = self.multibody();
        let generalized = multibody.generalized_velocity();
        let triple = |at: usize| Vec3::new(generalized[at], generalized[at + 1], generalized[at + 2]);
        let joints = self.handles.len();
        let root = multibody.root().local_to_world();
        let mut motion = Motion {
            pose: GlobalPose {
                positions: vec![root.translation],
                rotations: vec![root.rotation.normalize()],
            },
            local_rotations: vec![root.rotation.normalize()],
            linear: vec![triple(0)],
            angular: vec![triple(3)],
            relative: vec![triple(3)],
        };
        for i in 1..joints {
            let p = self.parents[i];
            let local = multibody.link(i).expect("one link per joint").joint().joint_rot().normalize();
            let relative = triple(3 + 3 * i);
            let parent_rotation = motion.pose.rotations[p];
            let lever = parent_rotation * self.offsets[i];
            motion.pose.positions.push(motion.pose.positions[p] + lever);
            motion.pose.rotations.push((parent_rotation * local).normalize());
            motion.local_rotations.push(local);
            motion.linear.push(motion.linear[p] + motion.angular[p].cross(lever));
            motion.angular.push(motion.angular[p] + parent_rotation * relative);
            motion.relative.push(relative);
        }
        motion
    }

    /// Linear momentum, N·s.
    pub(crate) fn momentum(&self, motion: &Motion) -> Vec3 {
        (0..self.masses.len())
            .map(|i| {
                let lever = motion.pose.rotations[i] * self.coms[i];
                (motion.linear[i] + motion.angular[i].cross(lever)) * self.masses[i]
            })
            .sum()
    }

    /// The joint that joint `i` hangs on.
    pub(crate) fn parent(&self, i: usize) -> usize {
        self.parents[i]
    }

    /// Centre of mass of body `i` in its frame, metres.
    pub(crate) fn local_center(&self, i: usize) -> Vec3 {
        self.coms[i]
    }

    /// Force besides gravity that gives body `i` an acceleration, N.
    pub(crate) fn force_for(&self, i: usize, acceleration: Vec3) -> Vec3 {
        (acceleration - self.gravity) * self.masses[i]
    }

    /// Centre of mass, metres, world.
    pub(crate) fn center_of_mass(&self, pose: &GlobalPose) -> Vec3 {
        (0..self.masses.len())
            .map(|i| (pose.positions[i] + pose.rotations[i] * self.coms[i]) * self.masses[i])
            .sum::<Vec3>()
            / self.total_mass
    }

    /// Lets `pushes` act for the next step as forces: each impulse is spread over `duration_s`.
    fn apply_pushes(&mut self, pushes: &[Push], duration_s: f32) {
        for handle in &self.handles {
            let body = &mut self.state.bodies[*handle];
            body.reset_forces(false);
            body.reset_torques(false);
        }
        // The engine drops impulses on multibody links, but takes forces.
        for push in pushes {
            let force = push.impulse_ns / duration_s;
            let body = &mut self.state.bodies[self.handles[push.body]];
            match push.point {
                None => body.add_force(force, true),
                Some(point) => body.add_force_at_point(force, point, true),
            }
        }
    }

    /// One engine step with the springs of `plan` and with `pushes`, impulses of which act over `duration_s`.
    pub(crate) fn step(&mut self, plan: &DrivePlan, pushes: &[Push], duration_s: f32) {
        self.apply_pushes(pushes, duration_s);
        let h = self.parameters.dt;
        let joints = self.handles.len();
        let multibody = self.multibody_mut();
        let (force, torque) = plan.root();
        for i in 0..joints {
            let springs: [(usize, usize, _); 2] = if i == 0 {
                [(0, 0, Some(force)), (3, 3, Some(torque))]
            } else {
                [(3, 3 + 3 * i, Some(plan.joint(i))), (0, 0, None)]
            };
            for (axis, degree, spring) in springs {
                let Some(spring) = spring else { continue };
                let (stiffness, shift, damping) = spring.combined(h);
                let joint = &mut multibody.link_mut(i).expect("one link per joint").joint;
                let coordinates = joint.coords();
                for k in 0..3 {
                    joint.set_spring(axis + k, stiffness[k], coordinates[axis + k] + shift[k]);
                }
                for k in 0..3 {
                    multibody.damping_mut()[degree + k] = damping[k];
                }
            }
        }
        self.advance(h);
    }

    /// Whether the engine set a body aside because it was not finite.
    pub(crate) fn quarantined(&self) -> bool {
        !self.pipeline.quarantine().is_empty()
    }

    /// Adds `change` to the velocity of the whole ragdoll.
    pub(crate) fn shift_velocity(&mut self, change: Vec3) {
        let mut generalized = self.multibody_mut().generalized_velocity_mut();
        for k in 0..3 {
            generalized[k] += change[k];
        }
    }

    /// Impulse of gravity in one step, N·s.
    pub(crate) fn gravity_impulse(&self) -> Vec3 {
        self.gravity * (self.total_mass * self.parameters.dt)
    }

    /// The ragdoll's bodies with their colliders.
    pub(crate) fn bodies(&self) -> impl Iterator<Item = (usize, &Collider)> {
        self.handles.iter().enumerate().filter_map(|(i, handle)| {
            let first = *self.state.bodies.get(*handle)?.colliders().first()?;
            Some((i, self.state.colliders.get(first)?))
        })
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

    /// Another ground, from the next frame on and after every reset.
    pub(crate) fn set_ground(&mut self, ground: &ColliderBuilder) {
        for state in [&mut self.state, &mut self.pristine] {
            let collider = &mut state.colliders[self.ground];
            collider.set_shape(ground.shape.clone());
            collider.set_position(ground.position);
        }
        self.state.ground_is_new = true;
        self.pristine.ground_is_new = true;
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
            let motion = self.motion();
            let pose = Pose {
                root_position: motion.pose.positions[0],
                local_rotations: motion.local_rotations.clone(),
            };
            let velocities = PoseVelocity { root_linear: motion.linear[0], angular: motion.relative };
            self.place(&pose, &velocities);
        }
    }

    /// Adds the impulses of the last step on each body, N·s, world: those of the ground to `from_ground`, those of boxes to
    /// `from_boxes`.
    ///
    /// The solver's manifolds hold what was solved; with one solver iteration `impulse` is the whole normal
    /// part and `warmstart_tangent_world` the whole friction. Both are on the first collider's side of the
    /// pair.
    pub(crate) fn add_contact_impulses(&self, from_ground: &mut [Vec3], from_boxes: &mut [Vec3]) {
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
                    match (own, other) {
                        (GROUND | BOX, _) => {}
                        (body, BOX) => from_boxes[body as usize] += impulse,
                        (body, _) => from_ground[body as usize] += impulse,
                    }
                }
            }
        }
    }
}

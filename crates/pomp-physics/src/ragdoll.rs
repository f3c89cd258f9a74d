//! One ragdoll of a world: its bodies and joints in the engine, and what is read from and written to them.

use crate::body::{Body, BodyShape};
use crate::drive::DrivePlan;
use crate::motion::Motion;
use crate::state::{BODIES, BOXES, GROUND_GROUP, WorldState, mark};
use crate::{DynamicConfig, PhysicsError, PoseVelocity, Push};
use pomp_motion::glam::Vec3;
use pomp_motion::rotation::log;
use pomp_motion::{GlobalPose, Pose, Skeleton};
use rapier3d::math::Pose as Placement;
use rapier3d::prelude::{
    Collider, ColliderBuilder, Group, InteractionGroups, InteractionTestMode, MassProperties, Multibody,
    MultibodyJoint, MultibodyJointHandle, RigidBodyBuilder, RigidBodyHandle, SphericalJointBuilder,
};

/// Where bodies are before the first reset: away from the ground. A pristine world that remembers contacts gives them an
/// impulse in the first step after a reset, wherever the bodies are by then.
const WAITING: Vec3 = Vec3::new(0.0, 1000.0, 0.0);
/// Distance between ragdolls that wait: none touches another.
const WAITING_APART: Vec3 = Vec3::new(10.0, 0.0, 0.0);

/// Handles and constants of a ragdoll; its state is in a [`WorldState`].
pub(crate) struct Ragdoll {
    handles: Vec<RigidBodyHandle>,
    multibody: MultibodyJointHandle,
    parents: Vec<usize>,
    offsets: Vec<Vec3>,
    masses: Vec<f32>,
    coms: Vec<Vec3>,
    total_mass: f32,
}

/// Mass properties of the box around `points`.
fn box_around(points: &[Vec3], mass_kg: f32) -> MassProperties {
    let low = points.iter().copied().reduce(Vec3::min).unwrap_or_default();
    let high = points.iter().copied().reduce(Vec3::max).unwrap_or_default();
    let square = (high - low) * (high - low);
    let inertia = Vec3::new(square.y + square.z, square.x + square.z, square.x + square.y);
    MassProperties::new((low + high) * 0.5, mass_kg, inertia * (mass_kg / 12.0))
}

impl Ragdoll {
    /// Puts ragdoll `member` of `members` into a world, waiting in its rest pose.
    pub(crate) fn insert(
        state: &mut WorldState,
        (member, members): (usize, usize),
        skeleton: &Skeleton,
        config: &DynamicConfig,
        bodies: &[Body],
    ) -> Result<Self, PhysicsError> {
        // One alone meets no other.
        let others = if members > 1 { BODIES } else { Group::NONE };
        let groups = InteractionGroups::new(BODIES, GROUND_GROUP | BOXES | others, InteractionTestMode::And);
        let rest = skeleton.forward_kinematics(&Pose::rest(skeleton));
        let waiting = WAITING + WAITING_APART * member as f32;
        let mut handles = Vec::with_capacity(bodies.len());
        for (i, body) in bodies.iter().enumerate() {
            let builder = RigidBodyBuilder::dynamic()
                .pose(Placement::from_parts(rest.positions[i] + waiting, rest.rotations[i]))
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
            let collider =
                shape.friction(config.friction).collision_groups(groups).user_data(mark(member, i));
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
        let ragdoll = Self {
            handles,
            multibody,
            parents,
            offsets: skeleton.joints().iter().map(|j| j.offset).collect(),
            masses: bodies.iter().map(|b| b.mass_kg).collect(),
            coms: Vec::new(),
            total_mass: bodies.iter().map(|b| b.mass_kg).sum(),
        };
        ragdoll.multibody_mut(state).set_self_contacts_enabled(false);
        ragdoll.multibody_mut(state).damping_mut().fill(0.0);
        Ok(ragdoll)
    }

    /// Reads the centres of mass, which the engine knows once it has made a step.
    pub(crate) fn read_centers(&mut self, state: &WorldState) {
        self.coms =
            self.handles.iter().map(|h| state.bodies[*h].mass_properties().local_mprops.local_com).collect();
    }

    /// Number of bodies.
    pub(crate) fn len(&self) -> usize {
        self.handles.len()
    }

    /// Mass, kg.
    pub(crate) fn total_mass(&self) -> f32 {
        self.total_mass
    }

    /// The joint that joint `i` hangs on.
    pub(crate) fn parent(&self, i: usize) -> usize {
        self.parents[i]
    }

    /// Mass of body `i`, kg.
    pub(crate) fn mass(&self, i: usize) -> f32 {
        self.masses[i]
    }

    /// Centre of mass of body `i` in its frame, metres.
    pub(crate) fn local_center(&self, i: usize) -> Vec3 {
        self.coms[i]
    }

    /// Whether it is in a state.
    pub(crate) fn is_in(&self, state: &WorldState) -> bool {
        self.handles.iter().all(|handle| state.bodies.get(*handle).is_some())
            && state.multibody_joints.get(self.multibody).is_some()
    }

    fn multibody<'a>(&self, state: &'a WorldState) -> &'a Multibody {
        state.multibody_joints.get(self.multibody).expect("the ragdoll's joints are never removed").0
    }

    fn multibody_mut<'a>(&self, state: &'a mut WorldState) -> &'a mut Multibody {
        state.multibody_joints.get_mut(self.multibody).expect("the ragdoll's joints are never removed").0
    }

    /// Puts it in a pose with velocities.
    fn place(&self, state: &mut WorldState, pose: &Pose, velocities: &PoseVelocity) {
        let multibody =
            state.multibody_joints.get_mut(self.multibody).expect("the ragdoll's joints are never removed").0;
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
        state.bodies[self.handles[0]].set_position(root, true);
        multibody.forward_kinematics(&state.bodies, true);
        multibody.update_rigid_bodies(&mut state.bodies, true);
        let motion = self.motion(state);
        for (i, handle) in self.handles.iter().enumerate() {
            let lever = motion.pose.rotations[i] * self.coms[i];
            let body = &mut state.bodies[*handle];
            body.set_linvel(motion.linear[i] + motion.angular[i].cross(lever), true);
            body.set_angvel(motion.angular[i], true);
        }
    }

    /// [`Self::place`], and tells the engine that every body moved: else the first step has the contacts of wherever bodies
    /// were before.
    pub(crate) fn place_anew(&self, state: &mut WorldState, pose: &Pose, velocities: &PoseVelocity) {
        self.place(state, pose, velocities);
        let motion = self.motion(state);
        for (i, handle) in self.handles.iter().enumerate() {
            let placement = Placement::from_parts(motion.pose.positions[i], motion.pose.rotations[i]);
            state.bodies[*handle].set_position(placement, true);
        }
    }

    /// Joint rotations as unit quaternions again.
    pub(crate) fn renormalise(&self, state: &mut WorldState) {
        let motion = self.motion(state);
        let pose =
            Pose { root_position: motion.pose.positions[0], local_rotations: motion.local_rotations.clone() };
        let velocities = PoseVelocity { root_linear: motion.linear[0], angular: motion.relative };
        self.place(state, &pose, &velocities);
    }

    /// Pose and velocities from the joint coordinates, which the engine's body velocities lag behind by a
    /// step.
    pub(crate) fn motion(&self, state: &WorldState) -> Motion {
        let multibody = self.multibody(state);
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
        self.center_velocities(motion).zip(&self.masses).map(|(velocity, mass)| velocity * *mass).sum()
    }

    /// Velocities of the bodies' centres of mass, m/s, world.
    pub(crate) fn center_velocities(&self, motion: &Motion) -> impl Iterator<Item = Vec3> {
        self.coms.iter().enumerate().map(|(i, com)| {
            let lever = motion.pose.rotations[i] * *com;
            motion.linear[i] + motion.angular[i].cross(lever)
        })
    }

    /// Centre of mass, metres, world.
    pub(crate) fn center_of_mass(&self, pose: &GlobalPose) -> Vec3 {
        (0..self.masses.len())
            .map(|i| (pose.positions[i] + pose.rotations[i] * self.coms[i]) * self.masses[i])
            .sum::<Vec3>()
            / self.total_mass
    }

    /// Lets `pushes` act for the next step as forces: each impulse is spread over `duration_s`.
    pub(crate) fn apply_pushes(&self, state: &mut WorldState, pushes: &[Push], duration_s: f32) {
        for handle in &self.handles {
            let body = &mut state.bodies[*handle];
            body.reset_forces(false);
            body.reset_torques(false);
        }
        // The engine drops impulses on multibody links, but takes forces.
        for push in pushes {
            let force = push.impulse_ns / duration_s;
            let body = &mut state.bodies[self.handles[push.body]];
            match push.point {
                None => body.add_force(force, true),
                Some(point) => body.add_force_at_point(force, point, true),
            }
        }
    }

    /// Sets the springs of `plan` for the next step, of length `h`.
    pub(crate) fn set_springs(&self, state: &mut WorldState, plan: &DrivePlan, h: f32) {
        let joints = self.handles.len();
        let multibody = self.multibody_mut(state);
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
    }

    /// Adds `change` to the velocity of the whole ragdoll.
    pub(crate) fn shift_velocity(&self, state: &mut WorldState, change: Vec3) {
        let mut generalized = self.multibody_mut(state).generalized_velocity_mut();
        for k in 0..3 {
            generalized[k] += change[k];
        }
    }

    /// Its bodies with their colliders.
    pub(crate) fn bodies<'a>(&'a self, state: &'a WorldState) -> impl Iterator<Item = (usize, &'a Collider)> {
        self.handles.iter().enumerate().filter_map(|(i, handle)| {
            let first = *state.bodies.get(*handle)?.colliders().first()?;
            Some((i, state.colliders.get(first)?))
        })
    }
}

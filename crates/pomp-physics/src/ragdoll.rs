//! One ragdoll of a world: its links and their shapes, and its state as poses and velocities.

use crate::body::{Body, BodyShape};
use crate::contacts::Surface;
use crate::motion::Motion;
use crate::{DynamicConfig, PhysicsError, PoseVelocity, Push};
use pomp_articulated::{ExternalForce, Kinematics, Link, Model, State};
use pomp_motion::glam::{DMat3, DVec3, Vec3};
use pomp_motion::{GlobalPose, PerJoint, Pose, Skeleton};
use rapier3d::prelude::{MassProperties, SharedShape};

/// Constants of a ragdoll.
pub(crate) struct Ragdoll {
    model: Model,
    surface: Surface,
    parents: Vec<usize>,
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

/// Shape and mass properties of a body; `None` when its hull is none.
fn solid(body: &Body) -> Option<(SharedShape, MassProperties)> {
    match &body.shape {
        BodyShape::Capsule { from, to, radius } => {
            let shape = SharedShape::capsule(*from, *to, *radius);
            let mut properties = shape.mass_properties(1.0);
            properties.set_mass(body.mass_kg, true);
            Some((shape, properties))
        }
        BodyShape::Prism { profile, from_x, to_x } => {
            let points: Vec<Vec3> = [*from_x, *to_x]
                .iter()
                .flat_map(|&x| profile.iter().map(move |at| Vec3::new(x, at.x, at.y)))
                .collect();
            // The library's own properties of a hull have their axes exchanged: it would turn about its long side as easily as
            // about the short one.
            Some((SharedShape::convex_hull(&points)?, box_around(&points, body.mass_kg)))
        }
    }
}

impl Ragdoll {
    /// The ragdoll of a skeleton with `bodies`, one for each joint.
    pub(crate) fn new(
        skeleton: &Skeleton,
        config: &DynamicConfig,
        bodies: &[Body],
    ) -> Result<Self, PhysicsError> {
        let (mut links, mut shapes, mut coms) = (vec![], vec![], vec![]);
        for (i, (joint, body)) in skeleton.joints().iter().zip(bodies).enumerate() {
            let refused = || PhysicsError::Engine { joint: i, name: joint.name.clone() };
            let (shape, properties) = solid(body).ok_or_else(refused)?;
            let inertia: [f32; 9] = properties.reconstruct_inertia_matrix().to_cols_array();
            let inertia = DMat3::from_cols_array(&inertia.map(f64::from));
            links.push(Link {
                parent: joint.parent.map(|p| p.0),
                offset: joint.offset.as_dvec3(),
                mass_kg: f64::from(body.mass_kg),
                center: properties.local_com.as_dvec3(),
                // Rounding leaves it a little asymmetric.
                inertia: (inertia + inertia.transpose()) * 0.5,
            });
            shapes.push(shape);
            coms.push(properties.local_com);
        }
        let model = Model::new(links).map_err(|error| PhysicsError::Body { reason: error.to_string() })?;
        Ok(Self {
            model,
            surface: Surface { shapes, look_ahead_m: config.contact.fast_body_prediction_m },
            parents: skeleton.joints().iter().map(|j| j.parent.map_or(0, |p| p.0)).collect(),
            masses: bodies.iter().map(|b| b.mass_kg).collect(),
            coms,
            total_mass: bodies.iter().map(|b| b.mass_kg).sum(),
        })
    }

    /// Its links.
    pub(crate) fn model(&self) -> &Model {
        &self.model
    }

    /// Their shapes.
    pub(crate) fn surface(&self) -> &Surface {
        &self.surface
    }

    /// Number of bodies.
    pub(crate) fn len(&self) -> usize {
        self.masses.len()
    }

    /// Mass, kg.
    pub(crate) fn total_mass(&self) -> f32 {
        self.total_mass
    }

    /// The joint that joint `i` hangs on.
    pub(crate) fn parent(&self, i: usize) -> usize {
        self.parents[i]
    }

    /// Masses of its bodies, kg.
    pub(crate) fn masses(&self) -> &[f32] {
        &self.masses
    }

    /// Mass of body `i`, kg.
    pub(crate) fn mass(&self, i: usize) -> f32 {
        self.masses[i]
    }

    /// Centre of mass of body `i` in its frame, metres.
    pub(crate) fn local_center(&self, i: usize) -> Vec3 {
        self.coms[i]
    }

    /// The state in which it has this pose and these velocities.
    pub(crate) fn state(&self, pose: &Pose, velocities: &PoseVelocity) -> State {
        let rotations = pose.local_rotations.iter().map(|q| q.as_dquat().normalize()).collect();
        let mut state = State {
            root_position: pose.root_position.as_dvec3(),
            rotations,
            velocity: vec![velocities.root_linear.as_dvec3()],
        };
        let mut global = Vec::with_capacity(self.len());
        for (i, (link, relative)) in self.model.links().iter().zip(&velocities.angular).enumerate() {
            let (parent, rotation) = match link.parent {
                None => (pomp_motion::glam::DQuat::IDENTITY, state.rotations[0]),
                Some(parent) => (global[parent], global[parent] * state.rotations[i]),
            };
            state.velocity.push(parent * relative.as_dvec3());
            global.push(rotation);
        }
        state
    }

    /// Pose and velocities of a state.
    pub(crate) fn motion(&self, state: &State, kinematics: &Kinematics) -> Motion {
        let positions =
            kinematics.origins.iter().map(|at| (kinematics.root_position + *at).as_vec3()).collect();
        let rotations = kinematics.rotations.iter().map(|q| q.as_quat().normalize()).collect();
        Motion {
            pose: GlobalPose { positions, rotations },
            local_rotations: state.rotations.iter().map(|q| q.as_quat().normalize()).collect(),
            linear: kinematics.linear.iter().map(|v| v.as_vec3()).collect(),
            angular: kinematics.angular.iter().map(|v| v.as_vec3()).collect(),
            relative: self.relative(kinematics, &state.velocity),
        }
    }

    /// Angular velocities of every joint in its parent's frame, the root's in the world, of a generalised velocity.
    pub(crate) fn relative(&self, kinematics: &Kinematics, velocity: &[DVec3]) -> PerJoint<Vec3> {
        let links = self.model.links().iter().zip(&velocity[1..]);
        links
            .map(|(link, v)| match link.parent {
                None => v.as_vec3(),
                Some(parent) => (kinematics.rotations[parent].inverse() * *v).as_vec3(),
            })
            .collect()
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

    /// The force of a push whose impulse is spread over `duration_s`.
    pub(crate) fn force(&self, kinematics: &Kinematics, push: &Push, duration_s: f32) -> ExternalForce {
        ExternalForce {
            link: push.body,
            point: match push.point {
                None => kinematics.centers[push.body],
                Some(point) => point.as_dvec3() - kinematics.root_position,
            },
            force: (push.impulse_ns / duration_s).as_dvec3(),
        }
    }
}

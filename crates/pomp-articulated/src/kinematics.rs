use crate::Model;
use glam::{DMat3, DQuat, DVec3};
use serde::{Deserialize, Serialize};

/// Configuration and velocity of a [`Model`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Origin of the root, world, metres.
    pub root_position: DVec3,
    /// Rotation of every link relative to its parent; the root's relative to the world.
    pub rotations: Vec<DQuat>,
    /// Generalised velocity in blocks, see [`Model`]: m/s, then rad/s.
    pub velocity: Vec<DVec3>,
}

impl State {
    /// At rest with every link's axes along the world's and the root at the origin.
    pub fn zero(model: &Model) -> Self {
        Self {
            root_position: DVec3::ZERO,
            rotations: vec![DQuat::IDENTITY; model.links().len()],
            velocity: vec![DVec3::ZERO; model.blocks()],
        }
    }
}

/// Where the links of a [`State`] are and how they move. Positions are relative to the root's origin, so that numbers stay
/// small far from the world's.
#[derive(Clone, Debug, Default)]
pub struct Kinematics {
    /// Origin of the root, world, metres.
    pub root_position: DVec3,
    /// Rotations, world from link.
    pub rotations: Vec<DQuat>,
    /// Origins of the links relative to the root's, world axes, metres.
    pub origins: Vec<DVec3>,
    /// Centres of mass relative to the root's origin, world axes, metres.
    pub centers: Vec<DVec3>,
    /// Inertias about the centres of mass, world axes, kg·m².
    pub inertias: Vec<DMat3>,
    /// Velocities of the origins, m/s.
    pub linear: Vec<DVec3>,
    /// Angular velocities, rad/s, world.
    pub angular: Vec<DVec3>,
}

impl Kinematics {
    /// Those of `state`.
    pub fn of(model: &Model, state: &State) -> Self {
        let mut kinematics = Self::default();
        kinematics.update(model, state);
        kinematics
    }

    /// Makes them those of `state`; allocates nothing once it has had a state of the model.
    pub fn update(&mut self, model: &Model, state: &State) {
        let links = model.links();
        self.root_position = state.root_position;
        self.rotations.clear();
        self.origins.clear();
        self.centers.clear();
        self.inertias.clear();
        for (i, link) in links.iter().enumerate() {
            let (rotation, origin) = match link.parent {
                None => (state.rotations[0], DVec3::ZERO),
                Some(parent) => (
                    (self.rotations[parent] * state.rotations[i]).normalize(),
                    self.origins[parent] + self.rotations[parent] * link.offset,
                ),
            };
            let axes = DMat3::from_quat(rotation);
            self.rotations.push(rotation);
            self.origins.push(origin);
            self.centers.push(origin + axes * link.center);
            self.inertias.push(axes * link.inertia * axes.transpose());
        }
        self.update_velocities(model, &state.velocity);
    }

    /// Velocities alone, from a generalised velocity.
    pub fn update_velocities(&mut self, model: &Model, velocity: &[DVec3]) {
        self.linear.clear();
        self.angular.clear();
        for (i, link) in model.links().iter().enumerate() {
            let (linear, angular) = match link.parent {
                None => (velocity[0], velocity[1]),
                Some(parent) => {
                    let lever = self.origins[i] - self.origins[parent];
                    (
                        self.linear[parent] + self.angular[parent].cross(lever),
                        self.angular[parent] + velocity[1 + i],
                    )
                }
            };
            self.linear.push(linear);
            self.angular.push(angular);
        }
    }

    /// Velocity of a point of link `link`, given relative to the root's origin, m/s.
    pub fn velocity_at(&self, link: usize, point: DVec3) -> DVec3 {
        self.linear[link] + self.angular[link].cross(point - self.origins[link])
    }

    /// Centre of mass of all links relative to the root's origin, metres.
    pub fn center_of_mass(&self, model: &Model) -> DVec3 {
        let weighted: DVec3 =
            model.links().iter().zip(&self.centers).map(|(link, center)| link.mass_kg * *center).sum();
        weighted / model.mass_kg()
    }

    /// Linear momentum, N·s, and angular momentum about the centre of mass, N·m·s.
    pub fn momentum(&self, model: &Model) -> (DVec3, DVec3) {
        let (mut linear, mut angular) = (DVec3::ZERO, DVec3::ZERO);
        for (i, link) in model.links().iter().enumerate() {
            let momentum = link.mass_kg * self.velocity_at(i, self.centers[i]);
            linear += momentum;
            angular += self.centers[i].cross(momentum) + self.inertias[i] * self.angular[i];
        }
        (linear, angular - self.center_of_mass(model).cross(linear))
    }

    /// Kinetic energy, J.
    pub fn kinetic_energy(&self, model: &Model) -> f64 {
        let of = |i: usize| {
            let v = self.velocity_at(i, self.centers[i]);
            model.links()[i].mass_kg * v.length_squared()
                + self.angular[i].dot(self.inertias[i] * self.angular[i])
        };
        0.5 * (0..model.links().len()).map(of).sum::<f64>()
    }

    /// Inertia of all links about their common centre of mass, kg·m².
    pub fn locked_inertia(&self, model: &Model) -> DMat3 {
        let center = self.center_of_mass(model);
        model.links().iter().enumerate().fold(DMat3::ZERO, |sum, (i, link)| {
            sum + self.inertias[i] + point_inertia(self.centers[i] - center) * link.mass_kg
        })
    }
}

/// Inertia about the origin of a unit mass at `at`.
pub(crate) fn point_inertia(at: DVec3) -> DMat3 {
    DMat3::from_diagonal(DVec3::splat(at.length_squared())) - outer(at, at)
}

/// a bᵀ
pub(crate) fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// The matrix of v ↦ a × v.
pub(crate) fn cross_matrix(a: DVec3) -> DMat3 {
    DMat3::from_cols(DVec3::new(0.0, a.z, -a.y), DVec3::new(-a.z, 0.0, a.x), DVec3::new(a.y, -a.x, 0.0))
}

//! Which forces at the points of contact make a wrench, as far as friction and soles allow.

use crate::BalanceConfig;
use nalgebra::{Matrix6, Vector6};
use pomp_motion::glam::{DVec2, DVec3};
use std::f64::consts::TAU;

/// A force on the whole body and its moment about the centre of mass, N and N·m, world.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Wrench {
    pub(crate) force: DVec3,
    pub(crate) moment: DVec3,
}

impl Wrench {
    /// That of a force at `point` relative to the centre of mass.
    pub(crate) fn at(point: DVec3, force: DVec3) -> Self {
        Self { force, moment: point.cross(force) }
    }

    fn weighted(&self, weights: &Self) -> Vector6<f64> {
        let (force, moment) = (self.force * weights.force, self.moment * weights.moment);
        Vector6::new(force.x, force.y, force.z, moment.x, moment.y, moment.z)
    }
}

impl std::ops::Add for Wrench {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { force: self.force + other.force, moment: self.moment + other.moment }
    }
}

impl std::ops::Sub for Wrench {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self { force: self.force - other.force, moment: self.moment - other.moment }
    }
}

/// A point at which the ground can push.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bearing {
    /// Relative to the centre of mass, metres, world.
    pub(crate) point: DVec3,
    /// Unit, world.
    pub(crate) normal: DVec3,
    /// Coulomb's coefficient.
    pub(crate) friction: f64,
    /// How much it can be relied on, above 0 to 1.
    pub(crate) share: f64,
}

/// Edges of the pyramid that stands for a cone of friction.
const EDGES: usize = 8;
/// Radius of gyration by which moments are compared with forces, metres.
const RADIUS_M: f64 = 0.4;
/// Newton's method ends when what is left is below this share of what is wanted, or after so many steps.
const SOLVED: f64 = 1e-9;
const MOST_STEPS: usize = 40;

/// An edge of a cone of friction: force per unit of x, and its wrench as weighted.
struct Edge {
    bearing: usize,
    force: DVec3,
    wrench: Vector6<f64>,
    cost: f64,
}

/// Forces at `bearings`, N, each within its cone of friction, that together come as near to the `wanted` wrench as the weights of
/// `config` and their `cost` say.
///
/// min ½ |S (Σ a x − w)|² + ½ Σ ε x²  over x ≥ 0, with the edges of the cones as a. The gradient of the dual,
/// y + Σ a max(0, aᵀ y) / ε − S w, has six components and is piecewise linear: Newton's method solves it.
pub(crate) fn spread(
    bearings: &[Bearing],
    wanted: Wrench,
    cost: f64,
    config: &BalanceConfig,
    mass_kg: f64,
) -> Vec<DVec3> {
    let (across, yaw) = (f64::from(config.horizontal_weight), f64::from(config.yaw_weight));
    let weights = Wrench {
        force: DVec3::new(across, 1.0, across) / mass_kg,
        moment: DVec3::new(1.0, yaw, 1.0) / (mass_kg * RADIUS_M * RADIUS_M),
    };
    let mut edges = Vec::with_capacity(EDGES * bearings.len());
    for (index, bearing) in bearings.iter().enumerate() {
        let first = bearing.normal.any_orthonormal_vector();
        let second = bearing.normal.cross(first);
        for k in 0..EDGES {
            let along = DVec2::from_angle(TAU * k as f64 / EDGES as f64) * bearing.friction;
            let force = bearing.normal + first * along.x + second * along.y;
            edges.push(Edge {
                bearing: index,
                force,
                wrench: Wrench::at(bearing.point, force).weighted(&weights),
                cost: cost / (bearing.share * mass_kg).powi(2),
            });
        }
    }
    let target = wanted.weighted(&weights);
    let y = dual(&edges, &target);
    let mut forces = vec![DVec3::ZERO; bearings.len()];
    for edge in &edges {
        forces[edge.bearing] += edge.force * (edge.wrench.dot(&y).max(0.0) / edge.cost);
    }
    forces
}

/// The minimum of the dual.
fn dual(edges: &[Edge], target: &Vector6<f64>) -> Vector6<f64> {
    let used = |edge: &Edge, y: &Vector6<f64>| edge.wrench.dot(y).max(0.0);
    let value = |y: &Vector6<f64>| -> f64 {
        let paid: f64 = edges.iter().map(|edge| used(edge, y).powi(2) / edge.cost).sum();
        0.5 * (y.norm_squared() + paid) - target.dot(y)
    };
    let mut y = Vector6::zeros();
    for step in 0..MOST_STEPS {
        let gradient = edges
            .iter()
            .fold(y - target, |sum: Vector6<f64>, edge| sum + edge.wrench * (used(edge, &y) / edge.cost));
        if gradient.norm() <= SOLVED * target.norm() {
            break;
        }
        // At 0 no edge is in use; the first step is taken as if all were.
        let curvature = edges
            .iter()
            .filter(|edge| step == 0 || used(edge, &y) > 0.0)
            .fold(Matrix6::identity(), |sum: Matrix6<f64>, edge| {
                sum + edge.wrench * edge.wrench.transpose() / edge.cost
            });
        let Some(factors) = curvature.cholesky() else { break };
        let way = factors.solve(&gradient);
        let (now, fall) = (value(&y), gradient.dot(&way));
        let mut length = 1.0;
        while length > 1e-8 && value(&(y - way * length)) > now - 1e-4 * length * fall {
            length *= 0.5;
        }
        y -= way * length;
    }
    y
}

#[cfg(test)]
mod tests {
    use super::*;

    const MASS_KG: f64 = 75.0;

    /// Corners of two soles, a metre below the centre of mass.
    fn soles(friction: f64) -> Vec<Bearing> {
        let point = |x: f64, z: f64| Bearing {
            point: DVec3::new(x, -1.0, z),
            normal: DVec3::Y,
            friction,
            share: 1.0,
        };
        [-0.15, -0.05, 0.05, 0.15].iter().flat_map(|x| [point(*x, -0.07), point(*x, 0.14)]).collect()
    }

    fn sum(bearings: &[Bearing], forces: &[DVec3]) -> Wrench {
        bearings
            .iter()
            .zip(forces)
            .fold(Wrench::default(), |sum, (bearing, force)| sum + Wrench::at(bearing.point, *force))
    }

    #[test]
    fn a_wrench_that_the_soles_can_give_is_given() {
        let bearings = soles(0.6);
        let wanted = Wrench { force: DVec3::new(20.0, 800.0, -30.0), moment: DVec3::new(-40.0, 5.0, -25.0) };
        let forces = spread(&bearings, wanted, 1e-4, &BalanceConfig::default(), MASS_KG);
        let given = sum(&bearings, &forces);
        println!("{given:?}");
        assert!((given.force - wanted.force).length() < 3.0 && (given.moment - wanted.moment).length() < 1.0);
        assert!(forces.iter().all(|force| force.y >= 0.0 && force.x.hypot(force.z) <= 0.6 * force.y + 1e-9));
    }

    #[test]
    fn what_friction_or_soles_forbid_is_not_given() {
        // 300 N across with 735 N of weight need a friction of 0.41.
        let bearings = soles(0.2);
        let across = Wrench { force: DVec3::new(300.0, 735.0, 0.0), moment: DVec3::ZERO };
        let forces = spread(&bearings, across, 1e-4, &BalanceConfig::default(), MASS_KG);
        let given = sum(&bearings, &forces);
        assert!(given.force.x <= 0.2 * given.force.y + 1e-9 && given.force.y > 0.0);
        assert!(forces.iter().all(|force| force.x.hypot(force.z) <= 0.2 * force.y + 1e-9));
        // A moment of 735 N 0.5 m beside the feet is out of reach: nothing pulls.
        let beside = Wrench { force: DVec3::Y * 735.0, moment: DVec3::Z * 735.0 * 0.5 };
        let forces = spread(&soles(0.6), beside, 1e-4, &BalanceConfig::default(), MASS_KG);
        assert!(forces.iter().all(|force| force.y >= 0.0));
        assert!(spread(&[], beside, 1e-4, &BalanceConfig::default(), MASS_KG).is_empty());
    }

    #[test]
    fn a_point_of_little_share_bears_little() {
        let mut bearings = soles(0.6);
        let wanted = Wrench { force: DVec3::Y * 735.0, moment: DVec3::ZERO };
        let share = |bearings: &[Bearing]| {
            let forces = spread(bearings, wanted, 1e-4, &BalanceConfig::default(), MASS_KG);
            forces[1].y / forces.iter().map(|force| force.y).sum::<f64>()
        };
        let before = share(&bearings);
        bearings[1].share = 0.1;
        assert!(share(&bearings) < 0.3 * before, "{} of {before}", share(&bearings));
    }
}

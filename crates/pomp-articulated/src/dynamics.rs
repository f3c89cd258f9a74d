use crate::kinematics::{cross_matrix, outer, point_inertia};
use crate::{Kinematics, Model};
use glam::{DMat3, DVec3};

/// A force or torque on one block of a [`Model`] over a step, that answers to the velocity v⁺ at the step's end:
/// effort = pull − impedance · v⁺. With a spring of stiffness k and a damper d, that is backward Euler for
/// impedance = h k + d, stable at any gain.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Drive {
    /// Effort at velocity 0, N or N·m, world axes.
    pub pull: DVec3,
    /// N·s/m or N·m·s/rad, world axes, symmetric and not negative.
    pub impedance: DMat3,
}

impl Drive {
    /// No effort.
    pub const NONE: Self = Self { pull: DVec3::ZERO, impedance: DMat3::ZERO };

    /// The effort over a step that ended with block velocity `after`.
    pub fn effort(&self, after: DVec3) -> DVec3 {
        self.pull - self.impedance * after
    }
}

/// A force from outside on a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExternalForce {
    /// Index of the link.
    pub link: usize,
    /// Where it acts, relative to the root's origin, world axes, metres.
    pub point: DVec3,
    /// Force, N, world.
    pub force: DVec3,
}

/// A symmetric matrix over the blocks of a [`Model`] that is zero between blocks of which neither is the other's ancestor:
/// the mass matrix, and its factors, which have the same zeros.
#[derive(Clone, Debug, Default)]
pub struct BlockMatrix {
    /// Diagonal blocks.
    pub diagonal: Vec<DMat3>,
    /// For every block, the blocks (block, ancestor) in the order of [`Model::ancestors`].
    pub off_diagonal: Vec<DMat3>,
}

impl BlockMatrix {
    /// The product with a vector of blocks.
    pub fn times(&self, model: &Model, vector: &[DVec3]) -> Vec<DVec3> {
        let mut product = Vec::new();
        self.times_into(model, vector, &mut product);
        product
    }

    /// [`Self::times`] into `product`, in the memory that is there.
    pub(crate) fn times_into(&self, model: &Model, vector: &[DVec3], product: &mut Vec<DVec3>) {
        product.clear();
        product.extend(self.diagonal.iter().zip(vector).map(|(m, v)| *m * *v));
        for block in 0..model.blocks() {
            for (k, &ancestor) in model.ancestors(block).iter().enumerate() {
                let m = self.off_diagonal[model.start(block) + k];
                product[block] += m * vector[ancestor];
                product[ancestor] += m.transpose() * vector[block];
            }
        }
    }

    fn resize(&mut self, model: &Model) {
        self.diagonal.resize(model.blocks(), DMat3::ZERO);
        self.off_diagonal.resize(model.entries(), DMat3::ZERO);
    }
}

/// Mass matrix of a configuration by the composite-rigid-body algorithm (Featherstone 2008, chapter 6): kinetic energy is
/// ½ vᵀ M v with v the generalised velocity.
pub fn mass_matrix(model: &Model, kinematics: &Kinematics) -> BlockMatrix {
    let mut matrix = BlockMatrix::default();
    mass_matrix_into(model, kinematics, &mut matrix, &mut Scratch::default());
    matrix
}

/// Sums over links outward, kept between calls so that none allocates.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    /// Mass, and first and second moment of mass about the root's origin.
    composite: Vec<(f64, DVec3, DMat3)>,
    accelerations: Vec<(DVec3, DVec3)>,
    wrenches: Vec<(DVec3, DVec3)>,
}

pub(crate) fn mass_matrix_into(
    model: &Model,
    kinematics: &Kinematics,
    matrix: &mut BlockMatrix,
    scratch: &mut Scratch,
) {
    matrix.resize(model);
    let links = model.links();
    let composite = &mut scratch.composite;
    composite.clear();
    composite.extend(links.iter().enumerate().map(|(i, link)| {
        let center = kinematics.centers[i];
        let inertia = kinematics.inertias[i] + point_inertia(center) * link.mass_kg;
        (link.mass_kg, center * link.mass_kg, inertia)
    }));
    for i in (0..links.len()).rev() {
        let (mass, moment, inertia) = composite[i];
        if let Some(parent) = links[i].parent {
            let outward = &mut composite[parent];
            outward.0 += mass;
            outward.1 += moment;
            outward.2 += inertia;
        }
        // A unit rate about the joint gives the links outward the momentum −[lever]ₓ, and −[..] about the root's origin.
        let origin = kinematics.origins[i];
        let lever = moment - origin * mass;
        let about_root =
            inertia + outer(origin, moment) - DMat3::from_diagonal(DVec3::splat(origin.dot(moment)));
        let about =
            |at: DVec3| about_root + outer(lever, at) - DMat3::from_diagonal(DVec3::splat(at.dot(lever)));
        let block = 1 + i;
        matrix.diagonal[block] = about(origin);
        let start = model.start(block);
        for (k, &ancestor) in model.ancestors(block).iter().enumerate() {
            matrix.off_diagonal[start + k] = if ancestor == 0 {
                cross_matrix(lever)
            } else {
                about(kinematics.origins[ancestor - 1]).transpose()
            };
        }
    }
    matrix.diagonal[0] = DMat3::from_diagonal(DVec3::splat(model.mass_kg()));
}

/// Generalised forces that give the acceleration `acceleration` (blocks, m/s² and rad/s²) under gravity `gravity`, in the
/// configuration and with the velocities of `kinematics`, by the recursive Newton–Euler algorithm. With no acceleration they
/// are the bias forces: Coriolis, centrifugal and weight.
pub fn inverse_dynamics(
    model: &Model,
    kinematics: &Kinematics,
    acceleration: &[DVec3],
    gravity: DVec3,
) -> Vec<DVec3> {
    let mut forces = Vec::new();
    inverse_dynamics_into(model, kinematics, acceleration, gravity, &mut forces, &mut Scratch::default());
    forces
}

pub(crate) fn inverse_dynamics_into(
    model: &Model,
    kinematics: &Kinematics,
    acceleration: &[DVec3],
    gravity: DVec3,
    forces: &mut Vec<DVec3>,
    scratch: &mut Scratch,
) {
    let links = model.links();
    let (accelerations, wrenches) = (&mut scratch.accelerations, &mut scratch.wrenches);
    accelerations.clear();
    wrenches.clear();
    for (i, link) in links.iter().enumerate() {
        let turning = kinematics.angular[i];
        let (linear, angular) = match link.parent {
            None => (acceleration[0], acceleration[1]),
            Some(parent) => {
                let lever = kinematics.origins[i] - kinematics.origins[parent];
                let spin = kinematics.angular[parent];
                let (linear, angular) = accelerations[parent];
                (linear + angular.cross(lever) + spin.cross(spin.cross(lever)), angular + acceleration[1 + i])
            }
        };
        accelerations.push((linear, angular));
        let lever = kinematics.centers[i] - kinematics.origins[i];
        let of_center = linear + angular.cross(lever) + turning.cross(turning.cross(lever));
        let inertia = kinematics.inertias[i];
        let force = (of_center - gravity) * link.mass_kg;
        let moment =
            kinematics.centers[i].cross(force) + inertia * angular + turning.cross(inertia * turning);
        wrenches.push((force, moment));
    }
    forces.clear();
    forces.resize(model.blocks(), DVec3::ZERO);
    for i in (0..links.len()).rev() {
        let (force, moment) = wrenches[i];
        forces[1 + i] = moment - kinematics.origins[i].cross(force);
        if let Some(parent) = links[i].parent {
            wrenches[parent].0 += force;
            wrenches[parent].1 += moment;
        }
    }
    forces[0] = wrenches[0].0;
}

/// Adds to generalised forces what `external` contributes.
pub fn add_external(model: &Model, kinematics: &Kinematics, external: &ExternalForce, forces: &mut [DVec3]) {
    let mut link = Some(external.link);
    while let Some(i) = link {
        forces[1 + i] += (external.point - kinematics.origins[i]).cross(external.force);
        link = model.links()[i].parent;
    }
    forces[0] += external.force;
}

/// Jacobian of a point of link `link`: its velocity is the sum of J(block) · v(block) over block 1 + `link` and its
/// ancestors, which is the order of the result.
pub fn point_jacobian(
    model: &Model,
    kinematics: &Kinematics,
    link: usize,
    point: DVec3,
) -> Vec<(usize, DMat3)> {
    let of_block = |block: usize| match block {
        0 => (0, DMat3::IDENTITY),
        _ => (block, -cross_matrix(point - kinematics.origins[block - 1])),
    };
    let ancestors = model.ancestors(1 + link).iter().map(|block| of_block(*block));
    std::iter::once(of_block(1 + link)).chain(ancestors).collect()
}

/// Factors of M = Lᵀ D L with the zeros of M (Featherstone 2005, "Efficient factorization of the joint-space inertia
/// matrix"): D of diagonal blocks, L with the identity on its diagonal.
#[derive(Clone, Debug, Default)]
pub struct Factors {
    lower: Vec<DMat3>,
    inverse: Vec<DMat3>,
}

impl Factors {
    /// Factors `matrix`, whose blocks are used up.
    pub fn factor(&mut self, model: &Model, matrix: &mut BlockMatrix) {
        self.lower.resize(model.entries(), DMat3::ZERO);
        self.inverse.resize(model.blocks(), DMat3::ZERO);
        for block in (0..model.blocks()).rev() {
            let inverse = matrix.diagonal[block].inverse();
            self.inverse[block] = inverse;
            let start = model.start(block);
            let ancestors = model.ancestors(block);
            for k in 0..ancestors.len() {
                self.lower[start + k] = inverse * matrix.off_diagonal[start + k];
            }
            for (k, &ancestor) in ancestors.iter().enumerate() {
                let row = matrix.off_diagonal[start + k].transpose();
                matrix.diagonal[ancestor] -= row * self.lower[start + k];
                let above = model.start(ancestor);
                for (n, lower) in self.lower[start + k + 1..start + ancestors.len()].iter().enumerate() {
                    matrix.off_diagonal[above + n] -= row * *lower;
                }
            }
        }
    }

    /// Makes `vector` L⁻ᵀ `vector`.
    pub fn solve_transposed(&self, model: &Model, vector: &mut [DVec3]) {
        for block in (0..model.blocks()).rev() {
            let value = vector[block];
            let start = model.start(block);
            for (k, &ancestor) in model.ancestors(block).iter().enumerate() {
                vector[ancestor] -= self.lower[start + k].transpose() * value;
            }
        }
    }

    /// Makes `vector` D⁻¹ `vector`.
    pub fn divide(&self, vector: &mut [DVec3]) {
        vector.iter_mut().zip(&self.inverse).for_each(|(v, inverse)| *v = *inverse * *v);
    }

    /// Makes `vector` L⁻¹ `vector`.
    pub fn solve_lower(&self, model: &Model, vector: &mut [DVec3]) {
        for block in 1..model.blocks() {
            let start = model.start(block);
            let mut value = vector[block];
            for (k, &ancestor) in model.ancestors(block).iter().enumerate() {
                value -= self.lower[start + k] * vector[ancestor];
            }
            vector[block] = value;
        }
    }

    /// L⁻ᵀ of the transposed Jacobian in `rows`, whose blocks are `block` and its ancestors in order, for three directions at
    /// once; and D⁻¹ of that.
    pub(crate) fn project(&self, model: &Model, block: usize, rows: &mut [DMat3], scaled: &mut [DMat3]) {
        let count = rows.len();
        let mut current = block;
        for k in 0..count {
            let value = rows[k];
            scaled[k] = self.inverse[current] * value;
            let start = model.start(current);
            for n in 0..count - k - 1 {
                rows[k + 1 + n] -= self.lower[start + n].transpose() * value;
            }
            if k + 1 < count {
                current = model.ancestors(block)[k];
            }
        }
    }
}

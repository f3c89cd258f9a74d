use crate::dynamics::{Scratch, add_external, inverse_dynamics_into, mass_matrix_into};
use crate::{BlockMatrix, Drive, ExternalForce, Factors, Kinematics, Model, State};
use glam::{DMat3, DQuat, DVec3};

/// One articulated body with its state, and what a step keeps between its stages:
/// [`begin_step`](Self::begin_step), then [`drive`](Self::drive) and [`resolve_contacts`](crate::ContactSolver::resolve) as
/// often as wanted (nothing of the state changes), then [`finish_step`](Self::finish_step).
///
/// A step of length h solves, for the generalised velocity v⁺ at its end,
///
///   M v⁺ = M v + h (f − c + pull − impedance · v⁺) + Jᵀ λ
///
/// with the mass matrix M, the bias forces c and the Jacobian J of where the step begins, and moves the configuration with v⁺.
/// What is carried from step to step is the momentum of the whole body, linear and angular: the root's velocity follows from it
/// in the new configuration. So both change by what acts from outside, and by nothing else.
#[derive(Clone, Debug)]
pub struct Body {
    model: Model,
    state: State,
    kinematics: Kinematics,
    mass: BlockMatrix,
    /// M v + h (f − c).
    momentum: Vec<DVec3>,
    /// M v.
    of_state: Vec<DVec3>,
    /// Velocity terms of the bias forces on the root's two blocks.
    root_bias: [DVec3; 2],
    driven: BlockMatrix,
    factors: Factors,
    /// L v⁺ for the factors Lᵀ D L of the driven mass matrix.
    factored_velocity: Vec<DVec3>,
    next_velocity: Vec<DVec3>,
    rest: Vec<DVec3>,
    scratch: Scratch,
}

impl Body {
    /// A body in a state of its model.
    pub fn new(model: Model, state: State) -> Self {
        let kinematics = Kinematics::of(&model, &state);
        let blocks = model.blocks();
        Self {
            model,
            state,
            kinematics,
            mass: BlockMatrix::default(),
            momentum: vec![DVec3::ZERO; blocks],
            of_state: vec![DVec3::ZERO; blocks],
            root_bias: [DVec3::ZERO; 2],
            driven: BlockMatrix::default(),
            factors: Factors::default(),
            factored_velocity: vec![DVec3::ZERO; blocks],
            next_velocity: vec![DVec3::ZERO; blocks],
            rest: vec![DVec3::ZERO; blocks],
            scratch: Scratch::default(),
        }
    }

    /// Its links.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Its state.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Where its links are and how they move.
    pub fn kinematics(&self) -> &Kinematics {
        &self.kinematics
    }

    /// Puts it into another state.
    pub fn set_state(&mut self, state: State) {
        self.state = state;
        self.kinematics.update(&self.model, &self.state);
    }

    /// Mass matrix and bias forces of the present state, under gravity `gravity` (m/s²) and `external` forces, for a step of
    /// length `h`, seconds.
    pub fn begin_step(&mut self, h: f64, gravity: DVec3, external: &[ExternalForce]) {
        let Self { model, kinematics, mass, momentum, of_state, rest, scratch, .. } = self;
        mass_matrix_into(model, kinematics, mass, scratch);
        inverse_dynamics_into(model, kinematics, rest, gravity, momentum, scratch);
        let weight = gravity * model.mass_kg();
        let center = kinematics.center_of_mass(model);
        self.root_bias = [momentum[0] + weight, momentum[1] + center.cross(weight)];
        momentum.iter_mut().for_each(|bias| *bias = -*bias);
        for force in external {
            add_external(model, kinematics, force, momentum);
        }
        mass.times_into(model, &self.state.velocity, of_state);
        momentum.iter_mut().zip(of_state).for_each(|(m, of_state)| *m = *of_state + *m * h);
    }

    /// Velocity at the end of the step with `drives`, one for each block, and no contact.
    pub fn drive(&mut self, h: f64, drives: &[Drive]) {
        let Self { model, mass, driven, factors, factored_velocity, next_velocity, momentum, .. } = self;
        driven.diagonal.clear();
        driven.diagonal.extend(mass.diagonal.iter().zip(drives).map(|(m, drive)| *m + drive.impedance * h));
        driven.off_diagonal.clone_from(&mass.off_diagonal);
        factors.factor(model, driven);
        factored_velocity.clear();
        factored_velocity.extend(momentum.iter().zip(drives).map(|(m, drive)| *m + drive.pull * h));
        factors.solve_transposed(model, factored_velocity);
        factors.divide(factored_velocity);
        next_velocity.clone_from(factored_velocity);
        factors.solve_lower(model, next_velocity);
    }

    /// Velocity at the end of the step: with the drives alone after [`Self::drive`], with contacts after their solution.
    pub fn next_velocity(&self) -> &[DVec3] {
        &self.next_velocity
    }

    /// Moves on by the step that was solved last.
    pub fn finish_step(&mut self, h: f64) {
        let Self { model, state, kinematics, mass, next_velocity, .. } = self;
        let center = kinematics.center_of_mass(model);
        let [linear, about_root] = root_momentum(model, mass, next_velocity);
        let linear = linear + self.root_bias[0] * h;
        let angular = about_root + self.root_bias[1] * h - center.cross(linear);
        let center_next = state.root_position + center + linear * (h / model.mass_kg());

        for (i, link) in model.links().iter().enumerate() {
            let turn = next_velocity[1 + i] * h;
            let turn = match link.parent {
                None => turn,
                Some(parent) => kinematics.rotations[parent].inverse() * turn,
            };
            state.rotations[i] = (DQuat::from_scaled_axis(turn) * state.rotations[i]).normalize();
        }
        state.velocity.clone_from(next_velocity);
        state.velocity[0] = DVec3::ZERO;
        state.velocity[1] = DVec3::ZERO;
        kinematics.update(model, state);
        let center = kinematics.center_of_mass(model);
        state.root_position = center_next - center;
        kinematics.root_position = state.root_position;
        let (relative_linear, relative_angular) = kinematics.momentum(model);
        let turning = kinematics.locked_inertia(model).inverse() * (angular - relative_angular);
        state.velocity[1] = turning;
        state.velocity[0] = (linear - relative_linear) / model.mass_kg() - turning.cross(center);
        kinematics.update_velocities(model, &state.velocity);
    }

    pub(crate) fn factors(&self) -> &Factors {
        &self.factors
    }

    pub(crate) fn factored_velocity(&self) -> &[DVec3] {
        &self.factored_velocity
    }

    pub(crate) fn factored_velocity_mut(&mut self) -> &mut [DVec3] {
        &mut self.factored_velocity
    }

    /// Reads the velocity from the factored one.
    pub(crate) fn take_factored_velocity(&mut self) {
        self.next_velocity.clone_from(&self.factored_velocity);
        self.factors.solve_lower(&self.model, &mut self.next_velocity);
    }
}

/// The first two rows of M v: linear momentum, and angular momentum about the root's origin.
fn root_momentum(model: &Model, mass: &BlockMatrix, velocity: &[DVec3]) -> [DVec3; 2] {
    let mut rows = [mass.diagonal[0] * velocity[0], mass.diagonal[1] * velocity[1]];
    for block in 1..model.blocks() {
        let count = model.ancestors(block).len();
        let end = model.start(block) + count;
        let transposed = |m: DMat3| m.transpose() * velocity[block];
        rows[0] += transposed(mass.off_diagonal[end - 1]);
        if block == 1 {
            rows[1] += mass.off_diagonal[end - 1] * velocity[0];
        } else {
            rows[1] += transposed(mass.off_diagonal[end - 2]);
        }
    }
    rows
}

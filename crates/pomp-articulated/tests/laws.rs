//! Laws that the dynamics keep, and finite differences that their matrices agree with.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

use glam::{DMat3, DQuat, DVec3};
use pomp_articulated::{
    Body, Compliance, Contact, ContactSolver, Drive, ExternalForce, Factors, Kinematics, Link, LinkOf, Model,
    State, Sweeps, add_external, inverse_dynamics, mass_matrix, point_jacobian,
};

const GRAVITY: DVec3 = DVec3::new(0.0, -9.81, 0.0);

/// Numbers between −1 and 1 that a seed fixes.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    fn vector(&mut self) -> DVec3 {
        DVec3::new(self.next(), self.next(), self.next())
    }
}

/// Pelvis, two legs of four links, a spine of three with two arms of four and a head of two: the tree of a person.
fn person(numbers: &mut Numbers) -> Model {
    let parents = [0, 0, 1, 2, 3, 0, 5, 6, 7, 0, 9, 10, 11, 12, 11, 14, 15, 16, 11, 18, 19, 20];
    let links = parents.iter().enumerate().map(|(i, &parent)| {
        let mass_kg = 3.0 + 2.5 * numbers.next();
        let size = DVec3::new(0.08, 0.3, 0.1) + 0.05 * numbers.vector();
        let square = size * size;
        let principal = DVec3::new(square.y + square.z, square.x + square.z, square.x + square.y);
        let turn = DMat3::from_quat(DQuat::from_scaled_axis(numbers.vector()));
        let inertia = turn * DMat3::from_diagonal(principal * (mass_kg / 12.0)) * turn.transpose();
        Link {
            parent: (i > 0).then_some(parent),
            offset: 0.3 * numbers.vector(),
            mass_kg,
            center: 0.15 * numbers.vector(),
            inertia: (inertia + inertia.transpose()) * 0.5,
        }
    });
    Model::new(links.collect()).unwrap()
}

fn moving(model: &Model, numbers: &mut Numbers, speed: f64) -> State {
    State {
        root_position: 10.0 * numbers.vector(),
        rotations: model.links().iter().map(|_| DQuat::from_scaled_axis(2.0 * numbers.vector())).collect(),
        velocity: (0..model.blocks()).map(|_| speed * numbers.vector()).collect(),
    }
}

/// The state `time` later when nothing changes its velocity.
fn later(model: &Model, state: &State, time: f64) -> State {
    let now = Kinematics::of(model, state);
    let rotations = model.links().iter().enumerate().map(|(i, link)| {
        let turn = state.velocity[1 + i] * time;
        let turn = link.parent.map_or(turn, |parent| now.rotations[parent].inverse() * turn);
        DQuat::from_scaled_axis(turn) * state.rotations[i]
    });
    State {
        root_position: state.root_position + state.velocity[0] * time,
        rotations: rotations.collect(),
        velocity: state.velocity.clone(),
    }
}

fn unit(model: &Model, block: usize, axis: usize) -> Vec<DVec3> {
    let mut vector = vec![DVec3::ZERO; model.blocks()];
    vector[block][axis] = 1.0;
    vector
}

fn dot(a: &[DVec3], b: &[DVec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.dot(*b)).sum()
}

fn still(model: &Model) -> Vec<Drive> {
    vec![Drive::NONE; model.blocks()]
}

#[test]
fn the_mass_matrix_is_that_of_the_kinetic_energy() {
    let numbers = &mut Numbers(1);
    for _ in 0..5 {
        let model = person(numbers);
        let state = moving(&model, numbers, 1.0);
        let mut kinematics = Kinematics::of(&model, &state);
        let matrix = mass_matrix(&model, &kinematics);
        for _ in 0..20 {
            let velocity: Vec<DVec3> = (0..model.blocks()).map(|_| 3.0 * numbers.vector()).collect();
            kinematics.update_velocities(&model, &velocity);
            let energy = kinematics.kinetic_energy(&model);
            let by_matrix = 0.5 * dot(&velocity, &matrix.times(&model, &velocity));
            assert!((energy - by_matrix).abs() < 1e-10 * energy, "{energy} J, {by_matrix} J by the matrix");
        }
    }
}

#[test]
fn jacobians_are_those_of_finite_differences() {
    let numbers = &mut Numbers(2);
    let model = person(numbers);
    let state = moving(&model, numbers, 2.0);
    let time = 1e-6;
    let (before, after) = (later(&model, &state, -time), later(&model, &state, time));
    let (before, now, after) =
        (Kinematics::of(&model, &before), Kinematics::of(&model, &state), Kinematics::of(&model, &after));
    for link in 0..model.links().len() {
        let local = 0.2 * numbers.vector();
        let at = |k: &Kinematics| k.root_position + k.origins[link] + k.rotations[link] * local;
        let measured = (at(&after) - at(&before)) / (2.0 * time);
        let jacobian = point_jacobian(&model, &now, link, at(&now) - now.root_position);
        let by_jacobian: DVec3 = jacobian.iter().map(|(block, j)| *j * state.velocity[*block]).sum();
        assert!((measured - by_jacobian).length() < 1e-6, "link {link}: {measured}, {by_jacobian}");
        assert!((now.velocity_at(link, at(&now) - now.root_position) - by_jacobian).length() < 1e-12);
    }
}

/// Newton and Euler for every link alone, with accelerations by finite differences, and virtual power of each degree of freedom.
#[test]
fn inverse_dynamics_agrees_with_finite_differences() {
    let numbers = &mut Numbers(3);
    let model = person(numbers);
    let state = moving(&model, numbers, 2.0);
    let acceleration: Vec<DVec3> = (0..model.blocks()).map(|_| 5.0 * numbers.vector()).collect();
    let now = Kinematics::of(&model, &state);
    let forces = inverse_dynamics(&model, &now, &acceleration, GRAVITY);

    let time = 1e-6;
    let moved = |time: f64| {
        let mut moved = later(&model, &state, time);
        moved.velocity.iter_mut().zip(&acceleration).for_each(|(v, a)| *v += *a * time);
        Kinematics::of(&model, &moved)
    };
    let (before, after) = (moved(-time), moved(time));
    let momentum = |k: &Kinematics, i: usize| {
        (k.velocity_at(i, k.centers[i]) * model.links()[i].mass_kg, k.inertias[i] * k.angular[i])
    };
    let rates: Vec<(DVec3, DVec3)> = (0..model.links().len())
        .map(|i| {
            let ((linear, angular), (linear_0, angular_0)) = (momentum(&after, i), momentum(&before, i));
            ((linear - linear_0) / (2.0 * time), (angular - angular_0) / (2.0 * time))
        })
        .collect();
    let mut probe = now.clone();
    let mut worst = 0.0f64;
    for block in 0..model.blocks() {
        for axis in 0..3 {
            let direction = unit(&model, block, axis);
            probe.update_velocities(&model, &direction);
            let power: f64 = rates
                .iter()
                .enumerate()
                .map(|(i, (linear, angular))| {
                    let weight = GRAVITY * model.links()[i].mass_kg;
                    (*linear - weight).dot(probe.velocity_at(i, probe.centers[i]))
                        + angular.dot(probe.angular[i])
                })
                .sum();
            worst = worst.max((power - dot(&forces, &direction)).abs());
        }
    }
    let largest = forces.iter().map(|f| f.length()).fold(0.0, f64::max);
    println!("worst {worst:.2e} of {largest:.1} N or N·m");
    assert!(worst < 1e-6 * largest);
}

#[test]
fn the_mass_matrix_and_the_bias_make_inverse_dynamics() {
    let numbers = &mut Numbers(4);
    let model = person(numbers);
    let state = moving(&model, numbers, 3.0);
    let now = Kinematics::of(&model, &state);
    let acceleration: Vec<DVec3> = (0..model.blocks()).map(|_| 5.0 * numbers.vector()).collect();
    let rest = vec![DVec3::ZERO; model.blocks()];
    let bias = inverse_dynamics(&model, &now, &rest, GRAVITY);
    let forces = inverse_dynamics(&model, &now, &acceleration, GRAVITY);
    let product = mass_matrix(&model, &now).times(&model, &acceleration);
    for block in 0..model.blocks() {
        assert!((forces[block] - bias[block] - product[block]).length() < 1e-9);
    }
}

#[test]
fn the_factors_solve_the_mass_matrix() {
    let numbers = &mut Numbers(5);
    let model = person(numbers);
    let state = moving(&model, numbers, 1.0);
    let matrix = mass_matrix(&model, &Kinematics::of(&model, &state));
    let wanted: Vec<DVec3> = (0..model.blocks()).map(|_| numbers.vector()).collect();
    let mut vector = matrix.times(&model, &wanted);
    let mut factors = Factors::default();
    factors.factor(&model, &mut matrix.clone());
    factors.solve_transposed(&model, &mut vector);
    factors.divide(&mut vector);
    factors.solve_lower(&model, &mut vector);
    for (found, wanted) in vector.iter().zip(&wanted) {
        assert!((*found - *wanted).length() < 1e-8, "{found}, not {wanted}");
    }
}

#[test]
fn an_external_force_does_the_power_of_its_point() {
    let numbers = &mut Numbers(6);
    let model = person(numbers);
    let state = moving(&model, numbers, 1.0);
    let now = Kinematics::of(&model, &state);
    for link in 0..model.links().len() {
        let external = ExternalForce {
            link,
            point: now.origins[link] + 0.2 * numbers.vector(),
            force: 100.0 * numbers.vector(),
        };
        let mut forces = vec![DVec3::ZERO; model.blocks()];
        add_external(&model, &now, &external, &mut forces);
        let power = external.force.dot(now.velocity_at(link, external.point));
        assert!((dot(&forces, &state.velocity) - power).abs() < 1e-9);
    }
}

/// Steps without contacts for `seconds`; the body at the end and the largest kinetic energy on the way.
fn fly(model: &Model, state: &State, h: f64, seconds: f64, gravity: DVec3, drives: &[Drive]) -> (Body, f64) {
    let mut body = Body::new(model.clone(), state.clone());
    let mut most = 0.0f64;
    for _ in 0..(seconds / h).round() as usize {
        body.begin_step(h, gravity, &[]);
        body.drive(h, drives);
        body.finish_step(h);
        most = most.max(body.kinematics().kinetic_energy(model));
    }
    (body, most)
}

#[test]
fn a_free_body_keeps_its_momentum_and_falls_as_a_point_does() {
    let numbers = &mut Numbers(7);
    let model = person(numbers);
    let state = moving(&model, numbers, 2.0);
    let start = Kinematics::of(&model, &state);
    let (linear, angular) = start.momentum(&model);
    let center = state.root_position + start.center_of_mass(&model);
    let damper = Drive { pull: DVec3::ZERO, impedance: DMat3::IDENTITY * 0.5 };
    let drives: Vec<Drive> = (0..model.blocks()).map(|i| if i < 2 { Drive::NONE } else { damper }).collect();
    let (h, seconds) = (1.0 / 60.0, 10.0);
    let (body, _) = fly(&model, &state, h, seconds, GRAVITY, &drives);
    let (linear_after, angular_after) = body.kinematics().momentum(&model);
    let fall = GRAVITY * (model.mass_kg() * seconds);
    println!(
        "{:.1e} N·s, {:.1e} N·m·s",
        (linear_after - linear - fall).length(),
        (angular_after - angular).length()
    );
    assert!((linear_after - linear - fall).length() < 1e-8 * fall.length());
    assert!((angular_after - angular).length() < 1e-8 * angular.length());
    // The sum of the steps of g h, which is half a step longer than the parabola.
    let fallen = linear / model.mass_kg() * seconds + GRAVITY * (0.5 * seconds * (seconds + h));
    let found = body.state().root_position + body.kinematics().center_of_mass(&model);
    assert!((found - center - fallen).length() < 1e-7);
}

#[test]
fn the_energy_of_a_free_body_converges_with_the_step() {
    let numbers = &mut Numbers(8);
    let model = person(numbers);
    let state = moving(&model, numbers, 1.5);
    let energy = Kinematics::of(&model, &state).kinetic_energy(&model);
    let error = |h: f64| {
        let (body, _) = fly(&model, &state, h, 0.5, DVec3::ZERO, &still(&model));
        (body.kinematics().kinetic_energy(&model) - energy).abs() / energy
    };
    let errors = [1.0 / 60.0, 1.0 / 240.0, 1.0 / 960.0, 1.0 / 3840.0].map(error);
    println!("relative error of the energy after half a second: {errors:.5?}");
    // 16 times the steps: a sixteenth of the error to first order.
    assert!(errors[3] < 0.15 * errors[1] && errors[2] < 0.15 * errors[0], "first order or better");
    assert!(errors[0] < 0.1 && errors[3] < 2e-3);
}

#[test]
fn stiff_drives_hold_a_pose_at_any_gain_and_step() {
    let numbers = &mut Numbers(9);
    let model = person(numbers);
    let mut state = moving(&model, numbers, 0.0);
    state.velocity.fill(DVec3::ZERO);
    for (gain, h) in [(10.0, 1.0 / 60.0), (1e4, 1.0 / 60.0), (1e6, 1.0 / 30.0), (1e4, 1.0 / 480.0)] {
        let mut body = Body::new(model.clone(), state.clone());
        for _ in 0..(1.0 / h) as usize {
            let now = body.kinematics().clone();
            let drives: Vec<Drive> = (0..model.blocks())
                .map(|block| {
                    let Some(link) = block.checked_sub(1).filter(|link| *link > 0) else {
                        return Drive::NONE;
                    };
                    let parent = now.rotations[model.links()[link].parent.unwrap()];
                    let error = parent
                        * (state.rotations[link] * body.state().rotations[link].inverse()).to_scaled_axis();
                    let impedance = DMat3::IDENTITY * (gain * (h + 0.02));
                    Drive { pull: gain * error, impedance }
                })
                .collect();
            body.begin_step(h, GRAVITY, &[]);
            body.drive(h, &drives);
            body.finish_step(h);
        }
        let off = (0..model.links().len())
            .map(|i| state.rotations[i].angle_between(body.state().rotations[i]))
            .fold(0.0, f64::max);
        println!("gain {gain}, {h:.4} s: {off:.5} rad off");
        // In free fall nothing loads the joints.
        assert!(off < 1e-3);
    }
}

/// Height at which the centre of [`cube`] is at rest on [`RUBBER`], metres.
const RESTING_M: f64 = 0.1 - 5.0 * 9.81 / (4.0 * 40_000.0);

const RUBBER: Compliance =
    Compliance { stiffness_n_m: 40_000.0, damping_n_s_m: 400.0, most_correction_m_s: 3.0 };

/// A cube of side 0.2 m and mass 5 kg.
fn cube() -> Model {
    let inertia = DMat3::from_diagonal(DVec3::splat(5.0 * 0.04 / 6.0));
    Model::new(vec![Link { parent: None, offset: DVec3::ZERO, mass_kg: 5.0, center: DVec3::ZERO, inertia }])
        .unwrap()
}

/// Contacts of the corners of a cube with the plane y = 0.
fn corners(body: usize, cube: &Body, friction: f64) -> Vec<Contact> {
    let now = cube.kinematics();
    (0..8)
        .map(|corner| {
            let sign = |bit: usize| if corner & bit == 0 { -0.1 } else { 0.1 };
            now.root_position + now.rotations[0] * DVec3::new(sign(1), sign(2), sign(4))
        })
        .filter(|at| at.y < 0.01)
        .map(|point| Contact {
            on: LinkOf { body, link: 0 },
            from: None,
            point,
            normal: DVec3::Y,
            distance: point.y,
            friction,
            compliance: RUBBER,
            guess: DVec3::ZERO,
        })
        .collect()
}

const SWEEPS: Sweeps = Sweeps { most: 60, tolerance: 1e-7 };

#[test]
fn a_cube_that_lies_sinks_by_its_weight_over_the_stiffness() {
    let model = cube();
    let mut state = State::zero(&model);
    state.root_position.y = 0.11;
    let mut bodies = [Body::new(model, state)];
    let (h, mut solver) = (1.0 / 60.0, ContactSolver::default());
    let mut last = DVec3::ZERO;
    for _ in 0..240 {
        bodies[0].begin_step(h, GRAVITY, &[]);
        bodies[0].drive(h, &[Drive::NONE; 2]);
        let contacts = corners(0, &bodies[0], 0.5);
        last = solver.resolve(&mut bodies, &contacts, h, SWEEPS).iter().copied().sum();
        bodies[0].finish_step(h);
    }
    let weight = 5.0 * 9.81;
    assert!((last.y / h - weight).abs() < 1e-3 * weight, "{} N bear {weight} N", last.y / h);
    let sunk = 0.1 - bodies[0].state().root_position.y;
    let expected = weight / (4.0 * RUBBER.stiffness_n_m);
    assert!((sunk - expected).abs() < 0.02 * expected, "{sunk} m, not {expected} m");
}

#[test]
fn friction_brakes_a_sliding_cube_by_its_coefficient_and_holds_one_on_a_gentle_slope() {
    let h = 1.0 / 240.0;
    for friction in [0.0, 0.2, 0.6] {
        let model = cube();
        let mut state = State::zero(&model);
        state.root_position.y = RESTING_M;
        state.velocity[0].x = 2.0;
        let mut bodies = [Body::new(model, state)];
        let mut solver = ContactSolver::default();
        for step in 0..240 {
            bodies[0].begin_step(h, GRAVITY, &[]);
            bodies[0].drive(h, &[Drive::NONE; 2]);
            let contacts = corners(0, &bodies[0], friction);
            for impulse in solver.resolve(&mut bodies, &contacts, h, SWEEPS) {
                assert!(impulse.y >= 0.0 && impulse.x.hypot(impulse.z) <= friction * impulse.y + 1e-12);
            }
            bodies[0].finish_step(h);
            if step == 59 {
                let speed = bodies[0].state().velocity[0].x;
                let expected = 2.0 - friction * 9.81 * 0.25;
                println!("friction {friction}: {speed:.4} m/s after 0.25 s, {expected:.4} expected");
                assert!((speed - expected).abs() < 0.03);
            }
        }
        let speed = bodies[0].state().velocity[0].x;
        let expected = (2.0 - friction * 9.81f64).max(0.0);
        assert!((speed - expected).abs() < 0.03, "{speed} m/s, not {expected}");
    }
    for (friction, holds) in [(0.3, true), (0.2, false)] {
        let model = cube();
        let mut state = State::zero(&model);
        state.root_position.y = 0.1;
        let mut bodies = [Body::new(model, state)];
        let mut solver = ContactSolver::default();
        // A slope of 14 degrees, tangent 0.25, in its own frame.
        let gravity = DQuat::from_rotation_z(0.25f64.atan()) * GRAVITY;
        for _ in 0..480 {
            bodies[0].begin_step(h, gravity, &[]);
            bodies[0].drive(h, &[Drive::NONE; 2]);
            let contacts = corners(0, &bodies[0], friction);
            solver.resolve(&mut bodies, &contacts, h, SWEEPS);
            bodies[0].finish_step(h);
        }
        let speed = bodies[0].state().velocity[0].x;
        assert_eq!(speed.abs() < 1e-3, holds, "{speed} m/s at friction {friction}");
    }
}

#[test]
fn bodies_that_meet_exchange_momentum_and_lose_none() {
    let numbers = &mut Numbers(10);
    let model = person(numbers);
    let mut state = moving(&model, numbers, 0.5);
    state.root_position = DVec3::ZERO;
    let person = Body::new(model.clone(), state);
    let hit = person.kinematics().root_position + person.kinematics().centers[11];
    let mut thrown = State::zero(&cube());
    thrown.root_position = hit + DVec3::new(0.11, 0.02, 0.0);
    thrown.velocity[0] = DVec3::new(-8.0, 0.0, 1.0);
    let mut bodies = [person, Body::new(cube(), thrown)];
    let total = |bodies: &[Body]| {
        let about_origin = |body: &Body| {
            let (linear, angular) = body.kinematics().momentum(body.model());
            let center = body.kinematics().root_position + body.kinematics().center_of_mass(body.model());
            (linear, angular + center.cross(linear))
        };
        bodies.iter().map(about_origin).fold((DVec3::ZERO, DVec3::ZERO), |a, b| (a.0 + b.0, a.1 + b.1))
    };
    let before = total(&bodies);
    let (h, mut solver) = (1.0 / 60.0, ContactSolver::default());
    let drives = [still(&model), vec![Drive::NONE; 2]];
    for (body, drives) in bodies.iter_mut().zip(&drives) {
        body.begin_step(h, DVec3::ZERO, &[]);
        body.drive(h, drives);
    }
    let contact = Contact {
        on: LinkOf { body: 0, link: 11 },
        from: Some(LinkOf { body: 1, link: 0 }),
        point: hit,
        normal: DVec3::NEG_X,
        distance: 0.0,
        friction: 0.5,
        compliance: RUBBER,
        guess: DVec3::ZERO,
    };
    let impulse = solver.resolve(&mut bodies, &[contact], h, SWEEPS)[0];
    assert!(impulse.x < -5.0, "the box pushes: {impulse}");
    bodies.iter_mut().for_each(|body| body.finish_step(h));
    let after = total(&bodies);
    let (linear, angular) = (after.0 - before.0, after.1 - before.1);
    println!(
        "impulse {impulse} N·s, momentum changes by {:.1e} and {:.1e}",
        linear.length(),
        angular.length()
    );
    assert!(linear.length() < 1e-10 * impulse.length());
    assert!(angular.length() < 1e-10 * impulse.length().max(before.1.length()));
}

#[test]
fn rejects_trees_that_are_none_and_bodies_that_cannot_be() {
    let inertia = DMat3::IDENTITY;
    let root = Link { parent: None, offset: DVec3::ZERO, mass_kg: 1.0, center: DVec3::ZERO, inertia };
    let child = Link { parent: Some(0), ..root };
    let message = |links: Vec<Link>| Model::new(links).unwrap_err().to_string();
    assert!(message(vec![]).contains("at least one link"));
    assert!(message(vec![child]).contains("link 0 has the parent Some(0)"));
    assert!(message(vec![root, root]).contains("link 1 has the parent None"));
    assert!(message(vec![root, Link { parent: Some(1), ..root }]).contains("link 1"));
    assert!(message(vec![root, Link { mass_kg: 0.0, ..child }]).contains("link 1: its mass"));
    assert!(message(vec![root, Link { center: DVec3::NAN, ..child }]).contains("not finite"));
    assert!(message(vec![root, Link { inertia: -inertia, ..child }]).contains("positive"));
}

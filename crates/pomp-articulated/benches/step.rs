//! One step of a body of 22 links and 69 degrees of freedom with implicit drives and a number of contacts.

#![allow(missing_docs, reason = "criterion's macros write functions without documentation")]

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use glam::{DMat3, DQuat, DVec3};
use pomp_articulated::{Body, Compliance, Contact, ContactSolver, Drive, Link, LinkOf, Model, State, Sweeps};

const PARENTS: [usize; 22] = [0, 0, 1, 2, 3, 0, 5, 6, 7, 0, 9, 10, 11, 12, 11, 14, 15, 16, 11, 18, 19, 20];
/// Feet and toes.
const SOLES: [usize; 4] = [3, 4, 7, 8];

fn person() -> (Model, State) {
    let inertia = DMat3::from_diagonal(DVec3::new(0.03, 0.02, 0.03));
    let links = PARENTS.iter().enumerate().map(|(i, &parent)| Link {
        parent: (i > 0).then_some(parent),
        offset: DVec3::new(0.1, 0.2, 0.05),
        mass_kg: 3.4,
        center: DVec3::new(0.02, 0.1, 0.0),
        inertia,
    });
    let model = Model::new(links.collect()).expect("a tree of bodies");
    let mut state = State::zero(&model);
    for (i, rotation) in state.rotations.iter_mut().enumerate() {
        *rotation = DQuat::from_rotation_x(0.1 * i as f64);
    }
    state.velocity.fill(DVec3::new(0.1, 0.2, 0.3));
    (model, state)
}

fn contacts(body: &Body, count: usize) -> Vec<Contact> {
    let now = body.kinematics();
    let compliance = Compliance { stiffness_n_m: 4e4, damping_n_s_m: 400.0, most_correction_m_s: 3.0 };
    (0..count)
        .map(|i| {
            let link = SOLES[i % SOLES.len()];
            let aside = DVec3::new(0.05 * (i / 4) as f64, 0.0, 0.03 * (i / 8) as f64);
            Contact {
                on: LinkOf { body: 0, link },
                from: None,
                point: now.root_position + now.origins[link] + aside,
                normal: DVec3::Y,
                distance: -0.001,
                friction: 0.8,
                compliance,
                guess: DVec3::ZERO,
            }
        })
        .collect()
}

fn step(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("step");
    let h = 1.0 / 60.0;
    let (model, state) = person();
    let drive = Drive { pull: DVec3::splat(5.0), impedance: DMat3::IDENTITY * 100.0 };
    let drives: Vec<Drive> =
        (0..model.blocks()).map(|block| if block < 2 { Drive::NONE } else { drive }).collect();
    for count in [0usize, 8, 16] {
        let mut bodies = [Body::new(model.clone(), state.clone())];
        let contacts = contacts(&bodies[0], count);
        let mut solver = ContactSolver::default();
        group.bench_function(BenchmarkId::new("22_links_contacts", count), |bencher| {
            bencher.iter(|| {
                bodies[0].set_state(state.clone());
                bodies[0].begin_step(h, DVec3::NEG_Y * 9.81, &[]);
                bodies[0].drive(h, &drives);
                solver.resolve(&mut bodies, &contacts, h, Sweeps { most: 10, tolerance: 1e-6 });
                bodies[0].finish_step(h);
            });
        });
    }
    group.finish();
}

criterion_group!(benches, step);
criterion_main!(benches);

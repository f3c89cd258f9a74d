//! Controllers in place of the kinematic module.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

use pomp_controllers::ControllerKind;
use pomp_generator::{ControlPlan, Dynamics, FRAME_RATE_HZ, Generator, GeneratorConfig, Preset};
use pomp_model::Model;
use pomp_motion::Gait;
use pomp_terrain::HeightMap;
use std::sync::OnceLock;

fn model() -> &'static Model {
    static MODEL: OnceLock<Model> = OnceLock::new();
    MODEL.get_or_init(|| {
        let mut model = pomp_embedded::load(&pomp_embedded::Device::flex()).unwrap();
        pomp_embedded_controllers::add_to(&mut model);
        model
    })
}

fn embedded() -> Vec<ControllerKind> {
    pomp_embedded_controllers::FILES.iter().map(|(kind, _)| *kind).collect()
}

fn character(kind: ControllerKind, dynamics: Dynamics, seed: u64) -> Generator {
    let config = GeneratorConfig { controller: kind, dynamics, ..GeneratorConfig::default() };
    Generator::new(model(), HeightMap::flat(60.0, 1.0).unwrap(), &config, Gait::Walk, seed).unwrap()
}

#[test]
fn every_embedded_controller_walks_along_its_path_without_physics_as_far_as_it_is_asked() {
    let plan = ControlPlan::preset(Preset::Walk, 25.0, FRAME_RATE_HZ);
    for kind in embedded() {
        let mut character = character(kind, Dynamics::KinematicOnly, 1);
        let mut footway_m = 0.0f32;
        let mut last = None;
        for _ in 0..1200 {
            let step = character.step(&plan, &[]).unwrap();
            let pose = step.simulated.pose;
            assert!(!step.fallen && pose.positions.iter().all(|p| p.is_finite()), "{kind}");
            if let Some(last) = last.replace(pose.clone()) {
                let moved = |a: &pomp_motion::GlobalPose, b: &pomp_motion::GlobalPose| {
                    a.positions[3].distance(b.positions[3])
                };
                footway_m += moved(&last, &pose);
            }
        }
        let pelvis = last.unwrap().positions[0];
        // 24 m in 20 s, on a line; feet go farther than the body glides.
        assert!((18.0..28.0).contains(&pelvis.z) && pelvis.x.abs() < 1.0, "{kind} is at {pelvis}");
        assert!(footway_m > 20.0, "{kind}: its foot went {footway_m} m");
    }
}

#[test]
fn a_controller_goes_on_from_a_snapshot_bit_for_bit() {
    let plan = ControlPlan::preset(Preset::Circle, 10.0, FRAME_RATE_HZ);
    for kind in embedded() {
        let mut character = character(kind, Dynamics::Simulated, 3);
        (0..40).for_each(|_| drop(character.step(&plan, &[]).unwrap()));
        let snapshot = character.save();
        let on = |character: &mut Generator| {
            (0..40).map(|_| character.step(&plan, &[]).unwrap().simulated.pose).collect::<Vec<_>>()
        };
        let first = on(&mut character);
        character.restore(&snapshot).unwrap();
        assert_eq!(on(&mut character), first, "{kind}");
    }
}

#[test]
fn rejects_a_controller_that_the_model_does_not_hold() {
    let model = pomp_embedded::load(&pomp_embedded::Device::flex()).unwrap();
    let config = GeneratorConfig { controller: ControllerKind::Mann, ..GeneratorConfig::default() };
    let ground = HeightMap::flat(20.0, 1.0).unwrap();
    let said = Generator::new(&model, ground, &config, Gait::Walk, 1).err().unwrap().to_string();
    assert!(said.contains("has no controller mann") && said.contains("pomp train controller mann"), "{said}");
}

//! How much of the simulated pose is fed back depends on the gait.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

use pomp_embedded::Device;
use pomp_generator::{ControlPlan, FRAME_RATE_HZ, Generator, GeneratorConfig, Preset};
use pomp_motion::glam::Vec3;
use pomp_terrain::HeightMap;

#[test]
fn the_feedback_of_jogging_changes_jogs_and_no_walk() {
    let model = pomp_embedded::load(&Device::flex()).unwrap();
    let run = |preset, pose_feedback_jogging| -> Vec<Vec3> {
        let mut config = GeneratorConfig::default();
        config.layers.pose_blending.share_jogging = pose_feedback_jogging;
        let plan = ControlPlan::preset(preset, 4.0, FRAME_RATE_HZ);
        let ground = HeightMap::flat(40.0, 1.0).unwrap();
        let mut generator = Generator::new(&model, ground, &config, plan.at(0.0).gait, 1).unwrap();
        (0..60).map(|_| generator.step(&plan, &[]).unwrap().simulated.pose.positions[0]).collect()
    };
    assert!(run(Preset::Walk, 0.2) == run(Preset::Walk, 0.9));
    assert!(run(Preset::Jog, 0.2) != run(Preset::Jog, 0.9));
}

//! The model of the paper's sizes in the loop.

use pomp_generator::{ControlPlan, FRAME_RATE_HZ, Generator, GeneratorConfig, Preset};
use pomp_model::Model;
use pomp_motion::Gait;
use pomp_terrain::HeightMap;
use std::path::Path;

#[test]
fn a_model_of_the_papers_size_walks_at_the_pace_that_is_asked_for() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/models/paper_size");
    let model = Model::load(&folder, &Default::default()).unwrap();
    let plan = ControlPlan::preset(Preset::Walk, 10.0, FRAME_RATE_HZ);
    let ground = HeightMap::flat(20.0, 0.5).unwrap();
    let mut generator = Generator::new(&model, ground, &GeneratorConfig::default(), Gait::Walk, 3).unwrap();
    let (mut assist_n, mut heights) = (0.0, (f32::MAX, f32::MIN));
    let frames = (4.0 * FRAME_RATE_HZ) as usize;
    for _ in 0..frames {
        let step = generator.step(&plan, &[]).unwrap();
        assert!(!step.fallen);
        assist_n += step.simulated.assist_force.length() / frames as f32;
        let height = step.simulated.pose.positions[0].y;
        heights = (heights.0.min(height), heights.1.max(height));
    }
    let gone = generator.root_position();
    let weight_n = GeneratorConfig::default().dynamic.mass_kg * 9.81;
    let assist_bw = assist_n / weight_n;
    println!("in four seconds it went to {gone:.2} m; assist {assist_bw:.3} BW, pelvis at {heights:.3?} m");
    // Today 4.78 m, 2 cm aside, 0.13 BW, a pelvis between 0.853 and 0.954 m.
    assert!((gone.y - 4.8).abs() < 0.15 && gone.x.abs() < 0.1, "{gone}");
    assert!(assist_bw < 0.2, "{assist_bw} BW hold it up");
    assert!(heights.0 > 0.8 && heights.1 < 1.0, "the pelvis sinks or jumps: {heights:?}");
}

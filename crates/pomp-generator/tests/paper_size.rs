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
    let frames = (4.0 * FRAME_RATE_HZ) as usize;
    for _ in 0..frames {
        let step = generator.step(&plan, &[]).unwrap();
        assert!(!step.fallen);
        assert!(step.simulated.assist_force.length() < 0.5 * 75.0 * 9.81);
    }
    let gone = generator.root_position();
    println!("in four seconds it went to {gone:.2} m");
    assert!((gone.y - 4.8).abs() < 0.5 && gone.x.abs() < 0.3, "{gone}");
}

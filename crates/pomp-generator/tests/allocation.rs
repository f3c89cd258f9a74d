//! What a frame of the whole loop asks of the allocator: a bounded number of small buffers, all given back.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

use pomp_embedded::Device;
use pomp_generator::{ControlPlan, FRAME_RATE_HZ, Generator, GeneratorConfig, Preset};
use pomp_motion::Gait;
use pomp_terrain::HeightMap;

#[test]
fn a_frame_keeps_no_memory() {
    let model = pomp_embedded::load(&Device::flex()).unwrap();
    let ground = HeightMap::flat(60.0, 1.0).unwrap();
    let config = GeneratorConfig::default();
    let mut generator = Generator::new(&model, ground, &config, Gait::Walk, 1).unwrap();
    let plan = ControlPlan::preset(Preset::Walk, 20.0, FRAME_RATE_HZ);
    let mut frames = |count: usize| {
        allocation_counter::measure(|| {
            for _ in 0..count {
                drop(generator.step(&plan, &[]).unwrap());
            }
        })
    };
    // The engine's tables grow to their size in the first steps, and the stride that is remembered in the first seconds.
    frames(360);
    let measured = frames(240);
    println!(
        "{} allocations and {} bytes a frame, at most {} bytes at a time; {} bytes kept after 240 frames",
        measured.count_total / 240,
        measured.bytes_total / 240,
        measured.bytes_max,
        measured.bytes_current
    );
    // Contacts come and go with the gait, and the tables that hold them with it.
    assert!(measured.bytes_current.abs() < 64 * 1024, "four seconds keep {measured:?}");
}

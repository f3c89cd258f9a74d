//! What a frame of the whole loop asks of the allocator: a bounded number of small buffers, all given back.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

use pomp_embedded::Device;
use pomp_generator::{ControlPlan, FRAME_RATE_HZ, Generator, GeneratorConfig, Preset};
use pomp_motion::Gait;
use pomp_terrain::HeightMap;

/// Frames of a minute, over which memory that is kept adds up.
const MINUTE: usize = 3600;

#[test]
fn a_minute_keeps_no_memory() {
    let model = pomp_embedded::load(&Device::flex()).unwrap();
    let ground = HeightMap::flat(400.0, 2.0).unwrap();
    let config = GeneratorConfig::default();
    let mut generator = Generator::new(&model, ground, &config, Gait::Walk, 1).unwrap();
    let plan = ControlPlan::preset(Preset::Walk, 160.0, FRAME_RATE_HZ);
    let mut kept = Vec::new();
    let mut frames = |count: usize, kept_per_frame: usize| {
        allocation_counter::measure(|| {
            for _ in 0..count {
                drop(generator.step(&plan, &[]).unwrap());
                kept.resize(kept.len() + kept_per_frame, 0_u8);
            }
        })
    };
    // The engine's tables grow to their size in the first steps, and the stride that is remembered in the first seconds.
    frames(1200, 0);
    let measured = frames(MINUTE, 0);
    println!(
        "{} allocations and {} bytes a frame, at most {} bytes at a time; {} bytes kept after a minute",
        measured.count_total / MINUTE as u64,
        measured.bytes_total / MINUTE as u64,
        measured.bytes_max,
        measured.bytes_current
    );
    assert!(measured.count_total <= MOST_ALLOCATIONS * MINUTE as u64, "more allocations than there were");
    assert!(measured.bytes_total <= MOST_BYTES * MINUTE as u64, "more bytes than there were");
    // Contacts come and go with the gait, and the tables that hold them with it: some kilobytes either way, whatever the time.
    assert!(measured.bytes_current < LARGEST_KEPT, "a minute keeps {measured:?}");
    // The control: 32 bytes of each frame are kept, 7 MB an hour.
    let leaking = frames(MINUTE, 32);
    assert!(leaking.bytes_current > LARGEST_KEPT, "32 bytes a frame are not seen: {leaking:?}");
}

/// Of a frame, on average: the simulator's poses and contacts, and what a step gives. The networks ask for none.
const MOST_ALLOCATIONS: u64 = 110;
const MOST_BYTES: u64 = 33_000;
/// 16 bytes a frame.
const LARGEST_KEPT: i64 = 16 * MINUTE as i64;

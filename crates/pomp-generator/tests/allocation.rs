//! What a frame of the whole loop asks of the allocator once it has been running for some seconds: nothing of its own.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

use pomp_embedded::Device;
use pomp_generator::{ControlPlan, FRAME_RATE_HZ, Generator, GeneratorConfig, Preset};
use pomp_motion::Gait;
use pomp_terrain::TerrainSpec;

/// Frames of a minute, over which memory that is kept adds up.
const MINUTE: usize = 3600;

#[test]
fn a_minute_asks_for_no_memory_but_for_the_depth_in_uneven_ground() {
    // The control: the counter sees a buffer that a frame would ask for.
    let seen = allocation_counter::measure(|| drop(std::hint::black_box(vec![0.0_f32; 66])));
    assert_eq!(seen.count_total, 1);
    let model = pomp_embedded::load(&Device::flex()).unwrap();
    // The engine's search for the depth of a solid in a face asks for its memory anew each time. On level ground, where a foot
    // meets one plane, nothing is searched for.
    let grounds = [
        ("flat", "size_m = 400.0\ncell_m = 2.0\nshape = { kind = \"flat\" }", 0),
        ("hills", "size_m = 400.0\ncell_m = 0.5\nshape = { kind = \"hills\" }", 8),
        ("stairs", "cell_m = 0.05\nshape = { kind = \"stairs\" }", 5),
    ];
    for (name, spec, most_in_a_frame) in grounds {
        let spec: TerrainSpec = toml::from_str(spec).unwrap();
        let ground = pomp_terrain::generate(&spec, 1).unwrap();
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
            "{name}: {} allocations, {} bytes and {} bytes kept in a minute",
            measured.count_total, measured.bytes_total, measured.bytes_current
        );
        assert!(
            measured.count_total <= GROWING + most_in_a_frame * MINUTE as u64,
            "{name}: a frame asks for memory"
        );
        assert!(measured.bytes_current < LARGEST_KEPT, "{name}: a minute keeps {measured:?}");
        // The control: 32 bytes of each frame are kept, 7 MB an hour. On uneven ground more than that is
        // given back at times, which would hide them.
        if most_in_a_frame == 0 {
            let leaking = frames(MINUTE, 32);
            assert!(
                leaking.bytes_current > LARGEST_KEPT,
                "{name}: 32 bytes a frame are not seen: {leaking:?}"
            );
        }
    }
}

/// Tables of contacts that grow when more parts of the body touch the ground than ever before.
const GROWING: u64 = 36;
/// Bytes that such tables may hold on to.
const LARGEST_KEPT: i64 = 16 * MINUTE as i64;

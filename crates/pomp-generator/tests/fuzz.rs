//! Fuzz target of path files: whatever a file holds, it is refused or a plan that moves and is finite.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

#[path = "../../../tests/fuzz_input.rs"]
mod fuzz_input;

use fuzz_input::{FuzzInput, ITERATIONS, bounded};
use glam::Vec2;
use pomp_config::{Origin, resolve_whole};
use pomp_generator::{ControlPlan, ControlSample, FRAME_RATE_HZ, PathFile};
use std::fs;

/// The most frames of an hour, with one frame at the end.
const MOST_FRAMES: usize = 3600 * FRAME_RATE_HZ as usize + 1;

fn is_finite(sample: &ControlSample) -> bool {
    sample.position.is_finite() && sample.yaw.is_finite() && sample.speed_mps.is_finite()
}

#[test]
fn any_path_file_is_refused_or_a_plan_that_moves() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("path.toml");
    let plain =
        "[[waypoint]]\nx = 0.0\nz = 0.0\nspeed_mps = 1.2\ngait = \"walk\"\n[[waypoint]]\nx = 2.0\nz = 8.0\n";
    let many = "waypoint = [\n\
        { x = 1, z = 2 }, { x = -3.5, z = 9, speed_mps = 2.5 }, { x = -3.5, z = 9, gait = \"stand\" },\n\
        { x = 10, z = 1e1, speed_mps = 0.05 }, { x = 1, z = 2 },\n]\n";
    let examples = [plain.as_bytes().to_vec(), many.as_bytes().to_vec()];
    let words = [
        "[[waypoint]]\n",
        "x = 0.0\n",
        "{ x = 0, z = 0 }, ",
        "gait = \"jog\"\n",
        "inf",
        "nan",
        "-",
        "e9",
        "e-9",
        "\n",
        "speed_mps = 4\n",
    ];
    let mut plans = 0_u32;
    bolero::check!().with_iterations(ITERATIONS).with_type::<FuzzInput>().for_each(|input| {
        fs::write(&file, input.bytes(&examples, &words)).unwrap();
        let read =
            bounded(16, || resolve_whole::<PathFile>(Origin::File(&file), &[]).map(|read| read.config));
        let path = match read {
            Ok(path) => path,
            Err(error) => return assert!(!error.to_string().is_empty()),
        };
        match bounded(32, || ControlPlan::path(&path, FRAME_RATE_HZ)) {
            Err(error) => assert!(error.to_string().contains("waypoint"), "{error}"),
            Ok(plan) => {
                plans += 1;
                assert!((2..=MOST_FRAMES).contains(&plan.frames()), "{} frames", plan.frames());
                assert!(plan.samples().iter().all(is_finite));
                assert!(plan.samples().iter().all(|sample| sample.speed_mps < 4.5), "too fast");
                assert!(plan.reach_m() <= 2000.0);
                let first = plan.samples()[0].position;
                assert!(plan.samples().iter().any(|sample| sample.position != first), "it moves nowhere");
                let moved = plan.moved(Vec2::new(100.0, -100.0), 1.0);
                assert!(is_finite(&moved.at(0.5)) && is_finite(&moved.at(1e9)));
            }
        }
    });
    println!("{plans} of the inputs are plans");
    assert!(plans > 0, "no input is a plan");
}

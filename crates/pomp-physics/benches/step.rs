//! A frame of the dynamic module on level ground, collision detection included, with 1, 4 and 16 steps: a standing body, and one
//! whose legs sway at 0.5 Hz, both ways once every two seconds. `benches/mujoco_step.py` does the same with MuJoCo.
//!
//! `cargo bench -p pomp-physics`

#![allow(clippy::print_stdout, reason = "a bench prints what it has measured")]

use pomp_motion::glam::Quat;
use pomp_motion::{JointIndex, Pose, Skeleton, humanoid};
use pomp_physics::{DynamicConfig, DynamicModule, PoseVelocity};
use std::f32::consts::TAU;
use std::time::Instant;

const FRAMES: usize = 600;
const RUNS: usize = 7;
const RATE_HZ: f32 = 60.0;
const SWAYS_HZ: f32 = 0.5;
/// Joints that sway about x, radians.
const SWAYING: [(JointIndex, f32); 6] = [
    (humanoid::LEFT_UP_LEG, -0.2),
    (humanoid::RIGHT_UP_LEG, -0.2),
    (humanoid::LEFT_LEG, 0.4),
    (humanoid::RIGHT_LEG, 0.4),
    (humanoid::LEFT_FOOT, -0.2),
    (humanoid::RIGHT_FOOT, -0.2),
];

/// The target of a frame: the rest pose, swaying by `share` of the angles.
fn target(skeleton: &Skeleton, frame: usize, share: f32) -> Pose {
    let mut pose = Pose::rest(skeleton);
    let sway = share * (TAU * SWAYS_HZ * frame as f32 / RATE_HZ).sin();
    for (joint, angle) in SWAYING {
        pose.local_rotations[joint.0] = Quat::from_rotation_x(angle * sway);
    }
    pose
}

/// Microseconds a frame, and the height of the pelvis at the end.
fn run(skeleton: &Skeleton, steps: usize, share: f32) -> (f64, f32) {
    let config = DynamicConfig { steps_per_frame: steps, ..DynamicConfig::default() };
    let ground = pomp_terrain::HeightMap::flat(6.0, 0.1).expect("a size and a cell");
    let mut module = DynamicModule::new(skeleton, &config, ground.grid()).expect("the project skeleton");
    let rest = Pose::rest(skeleton);
    module.reset(&rest, &PoseVelocity::zero(humanoid::JOINTS)).expect("a finite pose");
    let targets: Vec<Pose> = (0..=FRAMES).map(|frame| target(skeleton, frame, share)).collect();
    let begun = Instant::now();
    for pair in targets.windows(2) {
        module.step(&pair[0], &pair[1], &[]).expect("finite targets");
    }
    let micros = begun.elapsed().as_secs_f64() / FRAMES as f64 * 1e6;
    (micros, module.pose().positions[0].y)
}

fn main() {
    let skeleton = Skeleton::humanoid(1.75);
    for (name, share) in [("stand", 0.0), ("sway", 1.0)] {
        for steps in [1, 4, 16] {
            let mut runs: Vec<(f64, f32)> = (0..RUNS).map(|_| run(&skeleton, steps, share)).collect();
            runs.sort_by(|a, b| a.0.total_cmp(&b.0));
            let (micros, pelvis) = runs[RUNS / 2];
            println!(
                "{name}, {steps} steps a frame: {micros:.1} us a frame, {:.1} us a step, pelvis at {pelvis:.2} m",
                micros / steps as f64
            );
        }
    }
}

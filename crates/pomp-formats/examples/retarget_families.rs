//! What retargeting does to folders of motion capture, folder by folder: proportions, errors, smoothness.
//!
//! `cargo run --release -p pomp-formats --example retarget_families -- FOLDER…`
//!
//! Takes up to 12 clips of each folder, evenly spread, that have arms and legs. Prints
//! - the subjects' proportions as shares of the leg (thigh and shin): half the distance between the hip joints, thigh,
//!   height of the middle of the shoulder joints above that of the hip joints and how far it is ahead, half the
//!   distance between the shoulder joints, upper arm, forearm, as a skeleton with the subject's own bones has them
//!   in T-pose; the project skeleton's at the end, to compare;
//! - the mean distance of each joint from the source scaled as a whole, centimetres, on the project's bones;
//! - the speed of planted ankles and the angular acceleration of the joints.

#![expect(clippy::print_stdout, reason = "an example that prints a table")]

use pomp_formats::read_bvh;
use pomp_motion::glam::Vec3;
use pomp_motion::retarget::{Proportions, RetargetOptions, RigLibrary, retarget};
use pomp_motion::{Clip, ContactConfig, Pose, Skeleton, foot_contacts, humanoid};
use std::error::Error;
use std::path::{Path, PathBuf};

const CLIPS: usize = 12;
const JOINTS: [&str; 6] = ["hip", "knee", "ankle", "shoulder", "elbow", "wrist"];
const SHARES: [&str; 8] =
    ["hip half", "thigh", "torso up", "torso ahead", "shoulder half", "upper arm", "forearm", "leg m"];

fn clips(folder: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "bvh"));
    files.sort();
    let step = files.len().div_ceil(CLIPS).max(1);
    Ok(files.into_iter().step_by(step).collect())
}

/// Proportions of a skeleton in T-pose, in the order of [`SHARES`].
fn shares(skeleton: &Skeleton) -> [f32; 8] {
    let at = skeleton.forward_kinematics(&Pose::rest(skeleton)).positions;
    let length = |joint: pomp_motion::JointIndex| skeleton.joints()[joint.0].offset.length();
    let leg = length(humanoid::LEFT_LEG) + length(humanoid::LEFT_FOOT);
    let middle = |left: usize, right: usize| (at[left] + at[right]) * 0.5;
    let torso = middle(humanoid::LEFT_ARM.0, humanoid::RIGHT_ARM.0)
        - middle(humanoid::LEFT_UP_LEG.0, humanoid::RIGHT_UP_LEG.0);
    [
        at[humanoid::LEFT_UP_LEG.0].x / leg,
        length(humanoid::LEFT_LEG) / leg,
        torso.y / leg,
        torso.z / leg,
        at[humanoid::LEFT_ARM.0].x / leg,
        length(humanoid::LEFT_FORE_ARM) / leg,
        length(humanoid::LEFT_HAND) / leg,
        leg,
    ]
}

/// Mean horizontal speed of planted ankles, cm/s, and mean angular acceleration of all joints, rad/s².
fn quality(clip: &Clip) -> (f32, f32) {
    let world = clip.global_poses();
    let contacts = foot_contacts(clip, &ContactConfig::default());
    let rate = clip.frame_rate_hz;
    let (mut slide, mut planted) = (0.0, 0);
    for frame in 1..world.len() {
        for (heel, ankle) in [(0, humanoid::LEFT_FOOT.0), (2, humanoid::RIGHT_FOOT.0)] {
            if contacts[frame][heel] && contacts[frame - 1][heel] {
                let way = world[frame].positions[ankle] - world[frame - 1].positions[ankle];
                slide += Vec3::new(way.x, 0.0, way.z).length() * rate;
                planted += 1;
            }
        }
    }
    let (mut acceleration, mut count) = (0.0, 0);
    for frame in 1..world.len() - 1 {
        for joint in 0..humanoid::JOINTS {
            let turn = |from: usize, to: usize| {
                let (from, to) = (world[from].rotations[joint], world[to].rotations[joint]);
                (to * from.inverse()).to_scaled_axis()
            };
            acceleration += (turn(frame, frame + 1) - turn(frame - 1, frame)).length() * rate * rate;
            count += 1;
        }
    }
    (100.0 * slide / planted.max(1) as f32, acceleration / count.max(1) as f32)
}

fn main() -> Result<(), Box<dyn Error>> {
    let library = RigLibrary::builtin();
    let mut all = Vec::new();
    for folder in std::env::args().skip(1).map(PathBuf::from) {
        let mut own = Vec::new();
        let mut errors = Vec::new();
        let mut qualities = Vec::new();
        let mut scale = 0.0;
        for file in clips(&folder)? {
            let source = read_bvh(&file)?.motion;
            let (rig, _) = library.choose(&source.skeleton)?;
            let with = |proportions| {
                retarget(&source, rig, &RetargetOptions { proportions, ..RetargetOptions::default() })
            };
            let subject = with(Proportions::Source)?;
            if subject.report.joint_errors.len() < 12 {
                continue;
            }
            own.push(shares(&subject.clip.skeleton));
            let fixed = with(Proportions::Project { height_m: 1.75 })?;
            // Left and right leg, left and right arm: three joints each.
            let e: Vec<f32> = fixed.report.joint_errors.iter().map(|e| 100.0 * e.scaled_m).collect();
            let pair = |i: usize| 0.5 * (e[i] + e[i + 3]);
            errors.push([pair(0), pair(1), pair(2), pair(6), pair(7), pair(8)]);
            qualities.push(quality(&fixed.clip));
            scale += fixed.report.scale;
        }
        let count = own.len() as f32;
        let mean = |of: &dyn Fn(usize) -> f32| (0..own.len()).map(of).sum::<f32>() / count;
        let share: [f32; 8] = std::array::from_fn(|k| mean(&|i| own[i][k]));
        println!("{} ({} clips, scale {:.3})", folder.display(), own.len(), scale / count);
        for (k, name) in SHARES.iter().enumerate() {
            print!("  {name} {:.3}", share[k]);
        }
        println!();
        for (k, name) in JOINTS.iter().enumerate() {
            print!("  {name} {:.1}", mean(&|i| errors[i][k]));
        }
        let totals: Vec<f32> = errors.iter().map(|e| e.iter().sum::<f32>() / 6.0).collect();
        println!(
            "  mean {:.2} cm (worst clip {:.1}); sliding {:.1} cm/s, turning {:.0} rad/s²",
            mean(&|i| totals[i]),
            totals.iter().fold(0.0_f32, |a, &b| a.max(b)),
            mean(&|i| qualities[i].0),
            mean(&|i| qualities[i].1),
        );
        all.push(share);
    }
    print!("mean over folders:");
    for (k, name) in SHARES.iter().enumerate() {
        print!("  {name} {:.3}", all.iter().map(|s| s[k]).sum::<f32>() / all.len() as f32);
    }
    println!();
    println!("project skeleton: {:.3?}", shares(&Skeleton::humanoid(1.75)));
    Ok(())
}

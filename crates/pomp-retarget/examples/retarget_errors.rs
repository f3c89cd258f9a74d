//! Squared joint error over squared height of retargeting, where there is a truth: a motion on its own skeleton, and one that
//! was recorded once and is there on two skeletons.
//!
//! ```sh
//! cargo run --release -p pomp-retarget --example retarget_errors -- own FILE.bvh…
//! cargo run --release -p pomp-retarget --example retarget_errors -- pair FROM.bvh TO.bvh
//! ```

#![allow(clippy::print_stdout, reason = "an example talks to a person")]

use pomp_formats::read_bvh;
use pomp_motion::glam::{Quat, Vec3};
use pomp_motion::retarget::{Proportions, RetargetOptions, RigLibrary, retarget};
use pomp_motion::{ContactConfig, foot_contacts, humanoid};
use pomp_retarget::{OntoOptions, TargetSkeleton, onto_skeleton};
use std::error::Error;
use std::path::Path;

/// Errors of one motion.
struct Measured {
    /// Mean of squared distance over squared height, of mapped joints.
    squared: f64,
    /// Mean distance, cm.
    mean_cm: f64,
    /// Speed of planted feet on the target, at the clip's size, and in the clip, m/s.
    planted: [f32; 2],
}

const MAPPED_HEIGHT_OF_LEG: f32 = 1.0 / 0.491;

fn measure(from: &Path, to: &Path, options: OntoOptions, aligned: bool) -> Result<Measured, Box<dyn Error>> {
    let library = RigLibrary::builtin();
    let source = read_bvh(from)?;
    let rig = library.choose_or_infer(&source.motion)?;
    let proportions = RetargetOptions { proportions: Proportions::Source, ..RetargetOptions::default() };
    let clip = retarget(&source.motion, &rig.rig, &proportions)?.clip;
    let contacts = foot_contacts(&clip, &ContactConfig::default());
    let target = TargetSkeleton::read(to, &library)?;
    let result = onto_skeleton(&clip, &contacts, &target, options)?;
    let truth = target.file().motion();
    let metres = target.unit().metres();
    let height = f64::from(result.report.source_frame.leg_length_m * MAPPED_HEIGHT_OF_LEG);
    let roles = target.joints().source_joints;
    let joints: Vec<usize> = roles.iter().flatten().map(|joint| joint.0).collect();
    let (left, right) = (roles[humanoid::LEFT_UP_LEG.0], roles[humanoid::RIGHT_UP_LEG.0]);
    let (Some(left), Some(right)) = (left, right) else { return Err("the target has no legs".into()) };
    let frames = truth.frames().min(result.motion.frames());
    let (mut squared, mut sum) = (0.0_f64, 0.0_f64);
    for frame in 0..frames {
        let (a, b) = (result.motion.global_pose(frame).positions, truth.global_pose(frame).positions);
        let placed = |at: &[Vec3]| {
            let middle = (at[left.0] + at[right.0]) * 0.5;
            let across = at[left.0] - at[right.0];
            let turn = Quat::from_rotation_y(across.z.atan2(across.x));
            if aligned { (middle, turn) } else { (Vec3::ZERO, Quat::IDENTITY) }
        };
        let ((a_middle, a_turn), (b_middle, b_turn)) = (placed(&a), placed(&b));
        for &joint in &joints {
            let (p, q) = (a_turn * (a[joint] - a_middle), b_turn * (b[joint] - b_middle));
            let distance = f64::from(p.distance(q) * metres);
            squared += (distance / height).powi(2);
            sum += distance;
        }
    }
    let count = (frames * joints.len()) as f64;
    let feet = result.report.planted_feet;
    Ok(Measured {
        squared: squared / count,
        mean_cm: 100.0 * sum / count,
        planted: [feet.target_m_s, feet.clip_m_s],
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (kind, files) = arguments.split_first().ok_or("give `own FILE…` or `pair FROM TO`")?;
    let pairs: Vec<[&Path; 2]> = match kind.as_str() {
        "own" => files.iter().map(|file| [Path::new(file), Path::new(file)]).collect(),
        "pair" => files.chunks_exact(2).map(|pair| [Path::new(&pair[0]), Path::new(&pair[1])]).collect(),
        other => return Err(format!("\"{other}\" is neither own nor pair").into()),
    };
    let ways = [
        ("copied rotations", OntoOptions { copied_rotations: true, ..OntoOptions::default() }),
        ("rules", OntoOptions::default()),
        ("rules, planted feet", OntoOptions { plant_feet: true, ..OntoOptions::default() }),
    ];
    for (name, options) in ways {
        let mut all = Vec::new();
        for [from, to] in &pairs {
            all.push(measure(from, to, options, kind == "pair")?);
        }
        let mean =
            |value: &dyn Fn(&Measured) -> f64| all.iter().map(value).sum::<f64>() / all.len().max(1) as f64;
        println!(
            "{name}: squared error over height² {:.2e}, mean distance {:.2} cm, planted feet {:.3} m/s, in the clips {:.3} m/s, {} clips",
            mean(&|m| m.squared),
            mean(&|m| m.mean_cm),
            mean(&|m| f64::from(m.planted[0])),
            mean(&|m| f64::from(m.planted[1])),
            all.len()
        );
    }
    Ok(())
}

//! Squared joint error over squared height of retargeting, where there is a truth: a motion on its own skeleton, and one that
//! was recorded once and is there on two skeletons.
//!
//! ```sh
//! cargo run --release -p pomp-retarget --example retarget_errors -- own FILE.bvh…
//! cargo run --release -p pomp-retarget --example retarget_errors -- pair FROM.bvh TO.bvh…
//! cargo run --release -p pomp-retarget --example retarget_errors -- result RESULT.bvh FROM.bvh TO.bvh…
//! ```
//!
//! `result` measures what something else, such as networks, has made of FROM on the skeleton of TO. In pairs and results the middle of
//! the hip joints is put on that of the truth, and the line across them turned to it. A pair may begin at different times: the truth is
//! shifted by the −12 to 12 frames at which the rules are nearest to it, for all ways alike.

#![allow(clippy::print_stdout, reason = "an example talks to a person")]

use pomp_formats::read_bvh;
use pomp_motion::glam::{Quat, Vec3};
use pomp_motion::retarget::{Proportions, RetargetOptions, RigLibrary, retarget};
use pomp_motion::{Clip, ContactConfig, JointIndex, SourceMotion, foot_contacts, humanoid};
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

/// Frames by which the truth may begin earlier or later.
const MOST_SHIFT: isize = 12;
/// Joints whose planting is looked at, in the order of contacts.
const FEET: [JointIndex; 4] =
    [humanoid::LEFT_FOOT, humanoid::LEFT_TOE, humanoid::RIGHT_FOOT, humanoid::RIGHT_TOE];

/// A motion, and the truth on the skeleton that it is put on.
struct Case {
    clip: Clip,
    contacts: Vec<[bool; 4]>,
    target: TargetSkeleton,
    /// Leg length of the target, metres, and over that of the clip.
    leg_m: f32,
    scale: f32,
    /// Whether hips are put on each other, and how many frames the truth begins after the motion.
    aligned: bool,
    shift: isize,
}

impl Case {
    fn read(from: &Path, to: &Path, aligned: bool) -> Result<Self, Box<dyn Error>> {
        let library = RigLibrary::builtin();
        let source = read_bvh(from)?;
        let rig = library.choose_or_infer(&source.motion)?;
        let proportions = RetargetOptions { proportions: Proportions::Source, ..RetargetOptions::default() };
        let clip = retarget(&source.motion, &rig.rig, &proportions)?.clip;
        let contacts = foot_contacts(&clip, &ContactConfig::default());
        let target = TargetSkeleton::read(to, &library)?;
        let result = onto_skeleton(&clip, &contacts, &target, OntoOptions::default())?;
        let (leg_m, scale) = (result.report.source_frame.leg_length_m, result.report.scale);
        let mut case = Self { clip, contacts, target, leg_m, scale, aligned, shift: 0 };
        if aligned {
            let mut nearest = f64::INFINITY;
            for shift in -MOST_SHIFT..=MOST_SHIFT {
                let squared = case.errors(&result.motion, shift)?.0;
                if squared < nearest {
                    (nearest, case.shift) = (squared, shift);
                }
            }
        }
        Ok(case)
    }

    /// What the rules make of it.
    fn shown(&self, options: OntoOptions) -> Result<SourceMotion, Box<dyn Error>> {
        Ok(onto_skeleton(&self.clip, &self.contacts, &self.target, options)?.motion)
    }

    fn measured(&self, shown: &SourceMotion) -> Result<Measured, Box<dyn Error>> {
        let (squared, mean_cm) = self.errors(shown, self.shift)?;
        Ok(Measured { squared, mean_cm, planted: self.planted(shown) })
    }

    /// Mean squared distance over squared height, and mean distance in cm.
    fn errors(&self, shown: &SourceMotion, shift: isize) -> Result<(f64, f64), Box<dyn Error>> {
        let truth = self.target.file().motion();
        let metres = self.target.unit().metres();
        let height = f64::from(self.leg_m * MAPPED_HEIGHT_OF_LEG);
        let roles = self.target.joints().source_joints;
        let joints: Vec<usize> = roles.iter().flatten().map(|joint| joint.0).collect();
        let (Some(left), Some(right)) = (roles[humanoid::LEFT_UP_LEG.0], roles[humanoid::RIGHT_UP_LEG.0])
        else {
            return Err("the target has no legs".into());
        };
        let placed = |at: &[Vec3]| {
            let middle = (at[left.0] + at[right.0]) * 0.5;
            let across = at[left.0] - at[right.0];
            let turn = Quat::from_rotation_y(across.z.atan2(across.x));
            if self.aligned { (middle, turn) } else { (Vec3::ZERO, Quat::IDENTITY) }
        };
        let (mut squared, mut sum, mut frames) = (0.0_f64, 0.0_f64, 0_usize);
        for frame in 0..shown.frames() {
            let Some(other) = frame.checked_add_signed(-shift).filter(|other| *other < truth.frames()) else {
                continue;
            };
            let (a, b) = (shown.global_pose(frame).positions, truth.global_pose(other).positions);
            let ((a_middle, a_turn), (b_middle, b_turn)) = (placed(&a), placed(&b));
            for &joint in &joints {
                let (p, q) = (a_turn * (a[joint] - a_middle), b_turn * (b[joint] - b_middle));
                let distance = f64::from(p.distance(q) * metres);
                squared += (distance / height).powi(2);
                sum += distance;
            }
            frames += 1;
        }
        let count = (frames * joints.len()).max(1) as f64;
        Ok((squared / count, 100.0 * sum / count))
    }

    /// Speed over ground of heels and toes that stand in the clip, of the shown motion at the clip's size and of the clip, m/s.
    fn planted(&self, shown: &SourceMotion) -> [f32; 2] {
        let metres = self.target.unit().metres() / self.scale;
        let roles = self.target.joints().source_joints;
        let mut sums = [0.0_f32; 2];
        let mut seconds = 0.0_f32;
        let clip = self.clip.global_poses();
        for frame in 1..shown.frames().min(clip.len()) {
            let [before, now] = [frame - 1, frame].map(|frame| shown.global_pose(frame).positions);
            for (point, role) in FEET.into_iter().enumerate() {
                let stands = self.contacts[frame - 1][point] && self.contacts[frame][point];
                let (Some(joint), true) = (roles[role.0], stands) else { continue };
                let moved = |from: Vec3, to: Vec3| Vec3::new(to.x - from.x, 0.0, to.z - from.z).length();
                sums[0] += metres * moved(before[joint.0], now[joint.0]);
                sums[1] += moved(clip[frame - 1].positions[role.0], clip[frame].positions[role.0]);
                seconds += 1.0 / shown.frame_rate_hz;
            }
        }
        sums.map(|sum| sum / seconds.max(1e-9))
    }
}

fn ways() -> [(&'static str, OntoOptions); 3] {
    [
        ("copied rotations", OntoOptions { copied_rotations: true, ..OntoOptions::default() }),
        ("rules", OntoOptions::default()),
        ("rules, planted feet", OntoOptions { plant_feet: true, ..OntoOptions::default() }),
    ]
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let usage = "give `own FILE…`, `pair FROM TO…` or `result RESULT FROM TO…`";
    let (kind, files) = arguments.split_first().ok_or(usage)?;
    let each = match kind.as_str() {
        "own" => 1,
        "pair" => 2,
        "result" => 3,
        _ => return Err(usage.into()),
    };
    if files.is_empty() || files.len() % each != 0 {
        return Err(usage.into());
    }
    let mut table: Vec<(&str, Vec<Measured>)> = Vec::new();
    for files in files.chunks_exact(each) {
        let (from, to) = (Path::new(&files[each.saturating_sub(2)]), Path::new(&files[each - 1]));
        let case = Case::read(from, to, kind != "own")?;
        if kind != "own" {
            println!("{} begins {} frames after {}", to.display(), case.shift, from.display());
        }
        let mut add = |way, measured| match table.iter_mut().find(|(known, _)| *known == way) {
            Some((_, all)) => all.push(measured),
            None => table.push((way, vec![measured])),
        };
        if kind == "result" {
            add("result", case.measured(&read_bvh(Path::new(&files[0]))?.motion)?);
        }
        for (way, options) in ways() {
            add(way, case.measured(&case.shown(options)?)?);
        }
    }
    for (name, all) in table {
        let mean = |value: &dyn Fn(&Measured) -> f64| all.iter().map(value).sum::<f64>() / all.len() as f64;
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

//! `pomp inspect FILE` for a motion that cannot be brought onto the project skeleton: what the file itself holds.

use anyhow::Result;
use pomp_motion::retarget::{LengthUnit, RetargetError, RigLibrary};
use pomp_motion::{JointIndex, SourceMotion};
use serde::Serialize;
use std::borrow::Cow;
use std::fmt::Write;
use std::path::Path;

/// Height of a standing body with its arms out, metres: the larger of its vertical extents at rest.
const BODY_HEIGHT_M: std::ops::Range<f32> = 1.1..2.3;
/// Rig maps that are named.
const NEAREST: usize = 3;

/// A motion file, without a rig.
#[derive(Debug, Serialize)]
pub struct Source {
    frames: usize,
    frame_rate_hz: f32,
    joints: usize,
    hierarchy: Vec<SourceJoint>,
    /// The larger extent of the rest pose along Y and Z, file units.
    rest_height: f32,
    /// Units in which that is a human height.
    unit_guesses: Vec<UnitGuess>,
    /// Why it cannot be preprocessed.
    reason: String,
    nearest_rigs: Vec<NearRig>,
    warnings: Vec<String>,
}

#[derive(Debug, Serialize)]
struct SourceJoint {
    name: String,
    parent: Option<String>,
}

#[derive(Debug, Serialize)]
struct UnitGuess {
    unit: Cow<'static, str>,
    height_m: f32,
}

#[derive(Debug, Serialize)]
struct NearRig {
    rig: String,
    /// Names that the map looks for and the file has not; empty when the map fits.
    missing: Vec<String>,
}

impl Source {
    /// Reads a BVH or GLB file; `reason` says why it cannot be preprocessed.
    ///
    /// # Errors
    /// The file itself cannot be read.
    pub fn read(path: &Path, rigs: &RigLibrary, reason: String) -> Result<Self> {
        let (motion, warnings) = pomp_preprocess::read_motion(path)?;
        let rest_height = rest_height(&motion);
        let unit_guesses = LengthUnit::ALL
            .into_iter()
            .map(|unit| UnitGuess { unit: unit.name(), height_m: rest_height * unit.metres() })
            .filter(|guess| BODY_HEIGHT_M.contains(&guess.height_m))
            .collect();
        let joints = motion.skeleton.joints();
        let name_of = |JointIndex(index): JointIndex| joints[index].name.clone();
        let hierarchy = joints
            .iter()
            .map(|joint| SourceJoint { name: joint.name.clone(), parent: joint.parent.map(name_of) })
            .collect();
        let mut nearest_rigs: Vec<NearRig> = rigs
            .rigs()
            .iter()
            .map(|rig| NearRig {
                rig: rig.name.clone(),
                missing: match rig.match_skeleton(&motion.skeleton) {
                    Err(RetargetError::RigDoesNotFit { missing, .. }) => missing,
                    _ => Vec::new(),
                },
            })
            .collect();
        nearest_rigs.sort_by_key(|rig| rig.missing.len());
        nearest_rigs.truncate(NEAREST);
        Ok(Self {
            frames: motion.frames(),
            frame_rate_hz: motion.frame_rate_hz,
            joints: joints.len(),
            hierarchy,
            rest_height,
            unit_guesses,
            reason,
            nearest_rigs,
            warnings,
        })
    }

    /// Prints it.
    pub fn print(&self, path: &Path) {
        println!("{}", path.display());
        let seconds = self.frames as f32 / self.frame_rate_hz;
        println!(
            "  {} frames at {:.2} Hz, {seconds:.1} s, {} joints",
            self.frames, self.frame_rate_hz, self.joints
        );
        let guesses: Vec<String> = self
            .unit_guesses
            .iter()
            .map(|guess| format!("{:.2} m in {}", guess.height_m, guess.unit))
            .collect();
        let guesses =
            if guesses.is_empty() { "a human height in no unit".to_owned() } else { guesses.join(", ") };
        println!("  the rest pose is {:.2} file units high: {guesses}", self.rest_height);
        println!("  it cannot be preprocessed: {}", self.reason);
        println!("  joints:");
        print!("{}", self.tree());
        let fits = self.nearest_rigs.iter().any(|rig| rig.missing.is_empty());
        if !fits {
            println!("  the nearest rig maps look for joints that the file does not name so:");
            for rig in &self.nearest_rigs {
                println!("    {}: {} missing: {}", rig.rig, rig.missing.len(), rig.missing.join(", "));
            }
            println!(
                "  write a rig map, which says for each joint of the project what the file calls it, and give it with --rig FILE. Copy \
                 configs/rigs/{}.toml and put the names above behind the equals signs; docs/rigs.md explains every field",
                self.nearest_rigs.first().map_or("mixamo", |rig| rig.rig.as_str())
            );
        }
        for warning in &self.warnings {
            println!("  warning: {warning}");
        }
    }

    /// The joints, each below its parent; a chain without branches is one line.
    fn tree(&self) -> String {
        let mut text = String::new();
        for root in self.hierarchy.iter().filter(|joint| joint.parent.is_none()) {
            self.branch(&root.name, 2, &mut text);
        }
        text
    }

    fn branch(&self, first: &str, depth: usize, text: &mut String) {
        let children = |name: &str| -> Vec<&str> {
            let of_it = |joint: &&SourceJoint| joint.parent.as_deref() == Some(name);
            self.hierarchy.iter().filter(of_it).map(|joint| joint.name.as_str()).collect()
        };
        let mut chain = vec![first];
        let mut below = children(first);
        while let [only] = below[..] {
            chain.push(only);
            below = children(only);
        }
        let _infallible = writeln!(text, "{}{}", "  ".repeat(depth), chain.join(" > "));
        for child in below {
            self.branch(child, depth + 1, text);
        }
    }
}

/// The larger extent of the rest pose along Y and Z, ends of bones included, file units.
fn rest_height(motion: &SourceMotion) -> f32 {
    let rest = motion.rest_pose();
    let ends = motion
        .end_sites
        .iter()
        .map(|(joint, offset)| rest.positions[joint.0] + rest.rotations[joint.0] * *offset);
    let (mut low, mut high) = (glam::Vec3::INFINITY, glam::Vec3::NEG_INFINITY);
    for point in rest.positions.iter().copied().chain(ends) {
        (low, high) = (low.min(point), high.max(point));
    }
    (high - low).y.max((high - low).z)
}

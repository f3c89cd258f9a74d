//! Where a target's soles stand.

use crate::figure::{Figure, Placed};
use crate::lengths::{LEGS, Lengths};
use glam::Vec3;
use pomp_motion::retarget::{Proportions, RetargetOptions, RigMap, retarget, sole_heights};
use pomp_motion::{JointIndex, Skeleton, SourceMotion, humanoid};

/// The ankles of the target's own motion count when they stand within this of where those of people do above y = 0, as a
/// share of the leg.
const NEAR_FLOOR: f32 = 0.12;

/// Height of the ankle of a standing foot.
#[derive(Clone, Debug)]
pub struct Floor {
    /// Ankle of a flat foot above y = 0 of the file, metres.
    pub ankle_height_m: f32,
    /// How this was found.
    pub reason: &'static str,
}

impl Floor {
    /// From the target's own motion, else from its feet.
    pub fn of(motion: &SourceMotion, rig: &RigMap, figure: &Figure, t_pose: &Placed, metres: f32) -> Self {
        let leg = Lengths::of(|role| figure.at(t_pose, role)).leg.unwrap_or(1.0);
        let project = Skeleton::humanoid(1.0);
        let project_leg: f32 = [humanoid::LEFT_LEG, humanoid::LEFT_FOOT]
            .iter()
            .map(|joint| project.joints()[joint.0].offset.length())
            .sum();
        let height_m = leg / project_leg;
        let of_people = sole_heights(&project).0 * height_m;
        let options =
            RetargetOptions { proportions: Proportions::Project { height_m }, ..RetargetOptions::default() };
        // The way onto the project skeleton finds the level that soles rest on.
        if let Ok(own) = retarget(motion, rig, &options) {
            let ankle = sole_heights(&own.clip.skeleton).0;
            let stands_at = (ankle - own.report.ground_offset_m) / own.report.scale;
            if (stands_at - of_people).abs() < NEAR_FLOOR * leg {
                return Self { ankle_height_m: stands_at, reason: "as high as in the target's own motion" };
            }
        }
        let ends: Vec<(JointIndex, Vec3)> =
            motion.end_sites.iter().map(|&(joint, end)| (joint, end * metres)).collect();
        let drop = foot_drop(figure, t_pose, &ends);
        if drop > of_people {
            return Self { ankle_height_m: drop, reason: "the lowest point of the feet on y = 0" };
        }
        Self { ankle_height_m: of_people, reason: "ankles above y = 0 as high as those of people" }
    }
}

/// How far the lowest joint or end site of the feet lies below the ankles in the T-pose, metres.
fn foot_drop(figure: &Figure, t_pose: &Placed, ends_m: &[(JointIndex, Vec3)]) -> f32 {
    let mut drop = 0.0_f32;
    for hip in LEGS {
        let Some(foot) = figure.joint_of[hip.0 + 2] else { continue };
        let ankle = t_pose.positions[foot.0].y;
        for joint in (foot.0..figure.parents.len()).filter(|&joint| is_below(figure, foot.0, joint)) {
            let at = t_pose.positions[joint];
            let ends = ends_m.iter().filter(|(owner, _)| owner.0 == joint);
            let ends = ends.map(|(_, end)| at + t_pose.rotations[joint] * *end);
            drop = ends.chain([at]).fold(drop, |drop, point| drop.max(ankle - point.y));
        }
    }
    drop
}

fn is_below(figure: &Figure, above: usize, joint: usize) -> bool {
    std::iter::successors(Some(joint), |&j| figure.parents[j].map(|parent| parent.0)).any(|j| j == above)
}

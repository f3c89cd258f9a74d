//! Rig maps for skeletons that no known map fits: by joint names of other conventions, or by structure alone.
//!
//! 1. *Names* ([`names`], [`by_names`]): every joint's name is read word by word, and along each limb the joints take the
//!    parts that their names allow, in the order of the body.
//! 2. *Limbs* ([`limbs`]): two stiff bones in a row, found by what moves with what; mirrored pairs of them.
//! 3. *Plan* ([`plan`]): which pair is legs and which is arms, by the proportions and the posture of people. What is no
//!    human body is refused with the reason ([`not_human`]).
//! 4. *Sides* ([`sides`]): forward is where toes and knees point, elbows do not, and the body travels; left is up × forward.
//! 5. *Trunk* ([`trunk`]): pelvis, spine by height, neck and head on the branch between the arms.
//! 6. *World* ([`world`], [`t_pose`], [`axes`]): up axis, handedness by names, frames that are no motion, and the axes of
//!    the joints where the rest pose is no standing pose.
//!
//! Everything is measured on some hundred frames over the whole motion; neither the order of the joints nor the unit nor the
//! axes of the file matter.

mod anatomy;
mod axes;
mod by_names;
mod confidence;
mod extras;
mod limbs;
mod lone_arm;
mod lost_bone;
mod names;
mod not_human;
mod plan;
mod sample;
mod sides;
mod stated;
mod t_pose;
mod trunk;
mod world;

pub use extras::ExtraJoints;
pub use stated::StatedJoints;
pub(super) use t_pose::frames_of_motion;

use super::calibration::rest_kind;
use super::mirror::reflected;
use super::units::find_unit;
use super::{FileConvention, MatchReport, RetargetError, RigMap};
use crate::{JointIndex, Skeleton, SourceMotion, humanoid};
use anatomy::{Anatomy, anatomy};
use sample::Sample;
use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Name of every inferred map.
pub(super) const INFERRED: &str = "inferred";
/// Least confidence in hips or legs: below it the skeleton is refused.
const LEAST_CONFIDENCE: f32 = 0.3;

/// Votes for the sides that the names say below which a file of a known rig is a mirror image.
const CLEARLY_MIRRORED: f32 = -0.4;

/// Something found in a file, with its confidence and the reason.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// What was found.
    pub value: String,
    /// 0 to 1.
    pub confidence: f32,
    /// Why.
    pub reason: String,
}

/// A joint of the file that was found to play a joint of the project.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RoleFinding {
    /// Joint of the project.
    pub role: String,
    /// Joint of the file.
    pub joint: String,
    /// 0 to 1.
    pub confidence: f32,
    /// Why.
    pub reason: String,
}

/// A rig map made for one file, with how sure it is and why.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Inference {
    /// The map, for [`super::retarget()`] or, as TOML, for a person to correct.
    #[serde(skip)]
    pub rig: RigMap,
    /// The map on the file's joints.
    #[serde(skip)]
    pub joints: MatchReport,
    /// Confidence in the whole, 0 to 1: that of the least sure of hips and legs, times the mean of the others.
    pub confidence: f32,
    /// How the joints were found: by names, by structure, or limbs by names and the rest by structure.
    pub method: &'static str,
    /// Every project joint that was found.
    pub roles: Vec<RoleFinding>,
    /// Project joints that the file lacks and that are filled in.
    pub missing: Vec<String>,
    /// Joints of the file that are not used, by kind.
    pub extra: Vec<ExtraJoints>,
    /// Unit of length.
    pub unit: Finding,
    /// Up axis.
    pub up_axis: Finding,
    /// Which side is left.
    pub sides: Finding,
    /// Right-handed, or left-handed and reflected.
    pub handedness: Finding,
    /// T-pose, A-pose, arms down, or no standing pose.
    pub rest_pose: Finding,
    /// Frames at the ends that are no motion and are left out.
    pub left_out_frames: usize,
    /// What a person should check.
    pub warnings: Vec<String>,
}

/// Makes a rig map for a motion whose skeleton no known map fits.
///
/// # Errors
/// [`RetargetError::NotHuman`] with the reason, and what [`SourceMotion::validate`] refuses.
pub fn infer(source: &SourceMotion) -> Result<Inference, RetargetError> {
    infer_with(source, &StatedJoints::default())
}

/// As [`infer`], where some joints are known already: the others are found to them.
///
/// # Errors
/// As [`infer`]. What is stated is no reason for a refusal.
pub fn infer_with(source: &SourceMotion, stated: &StatedJoints) -> Result<Inference, RetargetError> {
    source.validate()?;
    let names: Vec<&str> = source.skeleton.joints().iter().map(|joint| joint.name.as_str()).collect();
    let known = Known { meanings: stated.meanings(names::meanings(&names)), stated };
    let whole = Sample::of(source, 0..source.frames());
    let first = found(&whole, &known)?;
    let joints = first.roles.map(|joint| joint.map(JointIndex));
    let motion = frames_of_motion(source, &joints);
    let mirrored = first.sides_contradict;
    let left_out_frames = source.frames() - motion.len();
    let seen = if mirrored { Cow::Owned(reflected(source)) } else { Cow::Borrowed(source) };
    let sample = Sample::of(&seen, motion);
    Ok(Inference { left_out_frames, ..told(&sample, &known, mirrored)? })
}

/// What is known of the joints before their structure is looked at.
struct Known<'a> {
    meanings: Vec<names::Meaning>,
    stated: &'a StatedJoints,
}

/// Whether a motion whose joints are known by name shows the mirror image of a body: toes and knees of what is named its
/// left side point backwards.
pub(super) fn is_mirrored(source: &SourceMotion, joints: &MatchReport) -> bool {
    let sample = Sample::of(source, 0..source.frames());
    let roles = joints.source_joints.map(|joint| joint.map(|joint| joint.0));
    anatomy::known_sides(&sample, &roles).is_some_and(|vote| vote < CLEARLY_MIRRORED)
}

/// Whether the names of the file's joints tell a project joint that a `known` map misses, and that it leaves unused.
pub(super) fn names_tell_more(skeleton: &Skeleton, inferred: &MatchReport, known: &MatchReport) -> bool {
    let names: Vec<&str> = skeleton.joints().iter().map(|joint| joint.name.as_str()).collect();
    let meanings = names::meanings(&names);
    inferred.source_joints.iter().zip(&known.source_joints).enumerate().any(|(role, (found, known_joint))| {
        found.is_some_and(|joint| {
            known_joint.is_none()
                && !known.source_joints.contains(&Some(joint))
                && anatomy::name_agrees(&meanings[joint.0], JointIndex(role)) == Some(true)
        })
    })
}

fn found(sample: &Sample<'_>, known: &Known<'_>) -> Result<Anatomy, RetargetError> {
    let found = anatomy(sample, &known.meanings).map_err(|reason| RetargetError::NotHuman {
        clip: sample.source.name.clone(),
        joints: sample.joints,
        reason,
        closest: Vec::new(),
    })?;
    Ok(Anatomy { roles: known.stated.roles(found.roles), ..found })
}

/// Everything about the motion of a sample, which is already reflected where the file is mirrored.
fn told(sample: &Sample<'_>, known: &Known<'_>, mirrored: bool) -> Result<Inference, RetargetError> {
    let (source, meanings) = (sample.source, &known.meanings[..]);
    let anatomy = found(sample, known)?;
    let joints = anatomy.roles.map(|joint| joint.map(JointIndex));
    let report = match_report(sample, &joints);
    let trunk = [humanoid::SPINE, humanoid::SPINE1, humanoid::SPINE2, humanoid::NECK, humanoid::HEAD];
    if trunk.iter().all(|joint| joints[joint.0].is_none()) {
        return Err(RetargetError::NotHuman {
            clip: source.name.clone(),
            joints: sample.joints,
            reason: "no trunk and no head are above what would be the legs".to_owned(),
            closest: Vec::new(),
        });
    }
    let rest = rest_kind(source, &report);
    let rest_up = rest.as_ref().ok().map(|(up, _)| *up);
    let up = world::up_axis(sample, &anatomy, rest_up);
    let unit = find_unit(anatomy.plan.legs.length());
    let (axes, rest_pose) = match &rest {
        Ok((_, kind)) => (BTreeMap::new(), finding(kind, 0.95, "the rest pose stands")),
        Err(reason) => {
            let (axes, from) = axes::joint_axes(sample, &anatomy, up.axis.direction());
            let told = format!("{reason}; the axes of the joints are taken from {from}");
            (axes, finding("no standing pose", 0.8, &told))
        }
    };
    let lost = lost_bone::lost_bone(sample, &anatomy);
    let confidence = confidence::of(&anatomy, sample, known.stated, meanings);
    if confidence.least < LEAST_CONFIDENCE {
        let reason = format!("{} (confidence {:.2})", confidence.doubt, confidence.least);
        return Err(RetargetError::NotHuman {
            clip: source.name.clone(),
            joints: sample.joints,
            reason,
            closest: Vec::new(),
        });
    }
    let rig = RigMap {
        name: INFERRED.to_owned(),
        description: format!("inferred for {}", source.name),
        joints: report
            .source_joints
            .iter()
            .enumerate()
            .filter_map(|(role, joint)| Some((JointIndex(role), vec![sample.name((*joint)?.0).to_owned()])))
            .collect(),
        optional: Vec::new(),
        axes,
        sole_pitch_degrees: 0.0,
        dropped_bones: lost.iter().cloned().collect(),
        file: FileConvention {
            unit: Some(unit.unit),
            up_axis: Some(up.axis),
            mirrored,
            leave_out_t_pose: true,
        },
    };
    let mut warnings = confidence.warnings.clone();
    warnings.extend(lost.map(|bone| {
        format!(
            "{} lie in their parent joint and the trunk is short: a bone like {} is put between",
            bone.joints.join(", "),
            bone.same_as
        )
    }));
    Ok(Inference {
        confidence: confidence.whole,
        method: confidence.method,
        roles: confidence.roles,
        missing: report.missing.clone(),
        extra: extras::extra_joints(sample, &anatomy.roles, meanings, anatomy.plan.legs.length()),
        unit: finding(&unit.unit.name(), unit.confidence, &unit.reason),
        up_axis: finding(up.axis.name(), up.confidence, &up.reason),
        sides: sides_finding(&anatomy),
        handedness: handedness(&anatomy, mirrored),
        rest_pose,
        left_out_frames: 0,
        warnings,
        joints: report,
        rig,
    })
}

fn finding(value: &str, confidence: f32, reason: &str) -> Finding {
    Finding { value: value.to_owned(), confidence, reason: reason.to_owned() }
}

fn match_report(sample: &Sample<'_>, joints: &[Option<JointIndex>; humanoid::JOINTS]) -> MatchReport {
    let project = Skeleton::humanoid(1.0);
    let missing = (0..humanoid::JOINTS).filter(|&i| joints[i].is_none());
    let unused = (0..sample.joints).filter(|&i| !joints.contains(&Some(JointIndex(i))));
    MatchReport {
        rig: INFERRED.to_owned(),
        source_joints: *joints,
        missing: missing.map(|i| project.joints()[i].name.clone()).collect(),
        unused: unused.map(|i| sample.name(i).to_owned()).collect(),
    }
}

fn sides_finding(anatomy: &Anatomy) -> Finding {
    let (value, by) = if anatomy.legs_by_name {
        ("by names", format!("the names say left and right; of the body: {}", anatomy.votes.told()))
    } else {
        ("by structure", anatomy.votes.told())
    };
    finding(value, confidence::of_sides(anatomy), &by)
}

fn handedness(anatomy: &Anatomy, mirrored: bool) -> Finding {
    match (mirrored, anatomy.legs_by_name || anatomy.sided >= 4) {
        (true, _) => finding(
            "left-handed, reflected",
            0.9,
            "joints named left are on the right of a body whose toes and knees point forward",
        ),
        (false, true) => finding("right-handed", 0.95, "joints named left are on the left"),
        (false, false) => finding(
            "right-handed",
            0.5,
            "no names with sides; a mirror image of a body is a body, so structure cannot tell",
        ),
    }
}

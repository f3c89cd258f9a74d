//! Which joint of an uploaded motion file is which, for a person to correct on the page.

use crate::StudioError;
use crate::open_clip::{bad_clip, with_upload};
use glam::Vec3;
use pomp_motion::retarget::{RetargetError, RigLibrary, RigMap, StatedJoints, UpAxis, infer_with};
use pomp_motion::{JointIndex, Skeleton, SourceMotion};
use serde::Serialize;
use std::collections::BTreeMap;
use ts_rs::TS;

/// Joints of the file by the project joint that they play; nothing for one that the file lacks.
pub(crate) type Stated = BTreeMap<String, Option<String>>;

/// What is known of the joints of a file.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
pub(crate) struct RigChoice {
    /// The joints of the file, parents first.
    pub joints: Vec<FileJoint>,
    /// All joints of the project.
    pub roles: Vec<RigRole>,
    /// Name of the rig map that fits, or `inferred`; empty where none was found.
    pub rig: String,
    /// Why there is no map; empty where there is one.
    pub refusal: String,
    /// What a person should check.
    pub warnings: Vec<String>,
    /// The rig map as a file, for `--rig`; empty where there is none.
    pub toml: String,
}

/// A joint of the file.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
pub(crate) struct FileJoint {
    pub name: String,
    /// Index of its parent.
    pub parent: Option<usize>,
    /// Where the first frame has it in the picture of a body of height 1 that faces the viewer: to the right, and up.
    pub place: [f32; 2],
}

/// A joint of the project.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
pub(crate) struct RigRole {
    pub name: String,
    /// The joint of the file that plays it.
    pub joint: Option<String>,
    /// 0 to 1.
    pub confidence: f32,
    /// How it was found.
    pub reason: String,
}

/// What is known of the joints of the file `name` that a page has sent, where the page states some.
///
/// # Errors
/// A file of another kind, one that its reader refuses, and stated joints that it or the project does not have. A file that is
/// not taken for a human body is no error.
pub(crate) fn rig_choice(
    name: &str,
    bytes: &[u8],
    stated: &Stated,
    rigs: &RigLibrary,
) -> Result<RigChoice, StudioError> {
    let motion = with_upload(name, bytes, &pomp_formats::MOTION_FILES, |path| {
        let (motion, _) = pomp_preprocess::read_motion(path).map_err(|error| bad_clip(name, &error))?;
        motion.validate().map_err(|error| bad_clip(name, &error))?;
        Ok(motion)
    })?;
    let chosen = chosen(&motion, stated, rigs).map_err(|error| bad_clip(name, &error))?;
    let joints = joints_as_seen(&motion, chosen.as_ref().ok());
    Ok(match chosen {
        Ok(Chosen { rig, roles, warnings }) => RigChoice {
            joints,
            roles,
            rig: rig.name.clone(),
            refusal: String::new(),
            warnings,
            toml: RigMap { name: "my_rig".to_owned(), ..rig }.to_toml(|_| None),
        },
        Err(refusal) => RigChoice {
            joints,
            roles: roles(|role| {
                stated.get(role).cloned().flatten().map(|joint| (joint, 1.0, "stated".to_owned()))
            }),
            rig: String::new(),
            refusal,
            warnings: Vec::new(),
            toml: String::new(),
        },
    })
}

/// The joints in the first frame, as one sees a body that faces one: its left, from one hip joint to the other where these are known, is
/// on the right. Otherwise along the horizontal axis in which the body is narrowest. Where the up axis is not known either, the body stands
/// along the longer one of Y and Z.
fn joints_as_seen(motion: &SourceMotion, chosen: Option<&Chosen>) -> Vec<FileJoint> {
    let positions = motion.global_pose(0).positions;
    let extent = |of: &dyn Fn(&Vec3) -> f32| {
        let (low, high) = positions
            .iter()
            .map(of)
            .fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        (high - low).max(f32::MIN_POSITIVE)
    };
    let stands = if extent(&|p| p.z) > extent(&|p| p.y) { UpAxis::Z } else { UpAxis::Y };
    let up = chosen.and_then(|chosen| chosen.rig.file.up_axis).unwrap_or(stands);
    let turn = up.world_from_file();
    let hip = |role: &str| {
        let role = chosen?.roles.iter().find(|found| found.name == role)?;
        let JointIndex(joint) = motion.skeleton.index_of(role.joint.as_deref()?)?;
        Some(turn * positions[joint])
    };
    let across = hip("LeftUpLeg").zip(hip("RightUpLeg")).map(|(left, right)| left - right);
    let across = across.and_then(|across| Vec3::new(across.x, 0.0, across.z).try_normalize());
    let wide = across.unwrap_or_else(|| {
        if extent(&|p| (turn * *p).z) > extent(&|p| (turn * *p).x) { Vec3::NEG_Z } else { Vec3::X }
    });
    let height = extent(&|p| (turn * *p).y);
    let joints = motion.skeleton.joints().iter().zip(&positions).map(|(joint, position)| {
        let from_root = turn * (*position - positions[0]) / height;
        FileJoint {
            name: joint.name.clone(),
            parent: joint.parent.map(|parent| parent.0),
            place: [from_root.dot(wide), from_root.y],
        }
    });
    joints.collect()
}

/// The rig map of a motion with the joints that are stated.
///
/// # Errors
/// As [`rig_choice`], and a motion that is not taken for a human body.
pub(crate) fn stated_rig(motion: &SourceMotion, stated: &Stated) -> Result<RigMap, RetargetError> {
    Ok(infer_with(motion, &by_names(motion, stated)?)?.rig)
}

fn by_names(motion: &SourceMotion, stated: &Stated) -> Result<StatedJoints, RetargetError> {
    let names = stated.iter().map(|(role, joint)| (role.as_str(), joint.as_deref()));
    Ok(StatedJoints::by_names(&motion.skeleton, names)?)
}

struct Chosen {
    rig: RigMap,
    roles: Vec<RigRole>,
    warnings: Vec<String>,
}

/// The map and its joints, or why there is none.
fn chosen(
    motion: &SourceMotion,
    stated: &Stated,
    rigs: &RigLibrary,
) -> Result<Result<Chosen, String>, RetargetError> {
    if stated.is_empty()
        && let Ok((rig, report)) = rigs.choose(&motion.skeleton)
    {
        let project = Skeleton::humanoid(1.0);
        let joint_of = |role: &str| {
            let JointIndex(index) = project.index_of(role)?;
            let joint = motion.skeleton.joints()[report.source_joints[index]?.0].name.clone();
            Some((joint, 1.0, format!("rig map {}", rig.name)))
        };
        return Ok(Ok(Chosen { rig: rig.clone(), roles: roles(joint_of), warnings: Vec::new() }));
    }
    match infer_with(motion, &by_names(motion, stated)?) {
        Ok(found) => {
            let joint_of = |role: &str| {
                let found = found.roles.iter().find(|found| found.role == role)?;
                Some((found.joint.clone(), found.confidence, found.reason.clone()))
            };
            Ok(Ok(Chosen { roles: roles(joint_of), rig: found.rig, warnings: found.warnings }))
        }
        Err(RetargetError::NotHuman { reason, .. }) => Ok(Err(reason)),
        Err(other) => Err(other),
    }
}

/// All joints of the project; `of` gives the joint of the file, the confidence and the reason.
fn roles(of: impl Fn(&str) -> Option<(String, f32, String)>) -> Vec<RigRole> {
    let project = Skeleton::humanoid(1.0);
    let roles = project.joints().iter().map(|joint| {
        let found = of(&joint.name);
        let (confidence, reason) = found
            .as_ref()
            .map_or((0.0, String::new()), |(_, confidence, reason)| (*confidence, reason.clone()));
        RigRole { name: joint.name.clone(), joint: found.map(|(joint, ..)| joint), confidence, reason }
    });
    roles.collect()
}

use super::{FileConvention, RetargetError};
use crate::{JointIndex, Skeleton, humanoid};
use glam::{Mat3, Quat, Vec3};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

/// A bone that a converter lost: joints that coincide with their parent, although in the body there is a bone between them.
///
/// If in a file all of `joints` coincide with one parent and have no translations per frame, they are put at the end of a
/// bone with the offset of `same_as`. Other files are read as they are.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DroppedBone {
    /// Source joints at the far end of the lost bone, as the file writes them.
    pub joints: Vec<String>,
    /// Source joint whose offset is nearly that of the lost bone.
    pub same_as: String,
}

/// Which source joint plays which project joint.
///
/// Read from TOML:
///
/// ```toml
/// name = "my_rig"
/// description = "Where such files come from."
/// optional = ["LeftToe", "RightToe"]   # may be absent from a file
/// sole_pitch_degrees = 0.0             # see the field
///
/// [joints]                             # project joint = source joint, or several possible names
/// Hips = "pelvis"
/// LeftUpLeg = ["thigh_l", "femur_l"]
///
/// [axes.LeftUpLeg]                     # only where the rest pose is no standing pose
/// up = [0.0, -1.0, 0.0]
/// forward = [0.0, 0.0, 1.0]
///
/// [[dropped_bones]]                    # only for files whose converter lost a bone
/// joints = ["Neck", "LeftShoulder"]
/// same_as = "Spine1"
///
/// [file]                               # only what every file of this rig has; the rest is found from each file
/// unit = "centimetre"                  # or { metres = 0.05 }
/// up_axis = "z"
/// mirrored = false
/// leave_out_t_pose = true
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RigMap {
    /// Name, unique in a library.
    pub name: String,
    /// Where such files come from.
    pub description: String,
    /// For every project joint that the rig has, its possible names.
    pub joints: BTreeMap<JointIndex, Vec<String>>,
    /// Project joints of `joints` that are missing in some files.
    pub optional: Vec<JointIndex>,
    /// Axes of source joints, where the rest pose does not determine them.
    pub axes: BTreeMap<JointIndex, JointAxes>,
    /// Rotation of foot and toes about their left axis, toes down when positive, that makes the sole level when the source
    /// stands flat. Degrees; 0 if the foot is flat at rest.
    pub sole_pitch_degrees: f32,
    /// Bones that the converter of such files lost.
    pub dropped_bones: Vec<DroppedBone>,
    /// Unit, axes and handedness of such files, where the map states them.
    pub file: FileConvention,
}

/// Directions in a source joint's own frame that are the world's up and forward when the body stands in a
/// T-pose facing forward, palms down.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JointAxes {
    /// Up in the T-pose.
    #[schemars(with = "[f32; 3]")]
    pub up: Vec3,
    /// Forward in the T-pose.
    #[schemars(with = "[f32; 3]")]
    pub forward: Vec3,
}

impl JointAxes {
    /// Rotation that takes the T-pose frame (left +X, up +Y, forward +Z) to the source joint's frame.
    pub(super) fn source_from_t_pose(&self) -> Quat {
        frame(self.up, self.forward)
    }
}

/// Rotation of the frame with this up and, as nearly as it goes, this forward.
pub(super) fn frame(up: Vec3, forward: Vec3) -> Quat {
    let up = up.normalize_or(Vec3::Y);
    let left = up.cross(forward).try_normalize().unwrap_or_else(|| up.any_orthonormal_vector());
    Quat::from_mat3(&Mat3::from_cols(left, up, left.cross(up))).normalize()
}

/// How a rig map fits a skeleton.
#[derive(Clone, Debug, PartialEq)]
pub struct MatchReport {
    /// Name of the rig map.
    pub rig: String,
    /// Source joint of each project joint, in the project's order; `None` where the source has none.
    pub source_joints: [Option<JointIndex>; humanoid::JOINTS],
    /// Project joints without a source joint.
    pub missing: Vec<String>,
    /// Source joints that the map does not use, such as fingers and twist bones.
    pub unused: Vec<String>,
}

impl MatchReport {
    /// Number of project joints that the source has.
    pub fn found(&self) -> usize {
        self.source_joints.iter().flatten().count()
    }
}

/// Without these there is nothing to retarget.
const INDISPENSABLE: [JointIndex; 7] = [
    humanoid::HIPS,
    humanoid::LEFT_UP_LEG,
    humanoid::LEFT_LEG,
    humanoid::LEFT_FOOT,
    humanoid::RIGHT_UP_LEG,
    humanoid::RIGHT_LEG,
    humanoid::RIGHT_FOOT,
];

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RawRig {
    /// Name, unique in a library.
    name: String,
    /// Where such files come from.
    description: String,
    /// Project joints of `joints` that are missing in some files.
    #[serde(default)]
    optional: Vec<String>,
    /// Rotation of foot and toes about their left axis, toes down when positive, that makes the sole level when the source
    /// stands flat. Degrees; 0 if the foot is flat at rest.
    #[serde(default)]
    sole_pitch_degrees: f32,
    /// For every project joint that the rig has, its name or possible names.
    joints: BTreeMap<String, Names>,
    /// Axes of source joints, where the rest pose does not determine them.
    #[serde(default)]
    axes: BTreeMap<String, JointAxes>,
    /// Bones that the converter of such files lost.
    #[serde(default)]
    dropped_bones: Vec<DroppedBone>,
    /// Unit, axes and handedness of such files. What is not stated is inferred from each file.
    #[serde(default)]
    file: FileConvention,
}

/// The schema of the file that [`RigMap::from_toml`] reads.
impl JsonSchema for RigMap {
    fn schema_name() -> Cow<'static, str> {
        "RigMap".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        RawRig::json_schema(generator)
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum Names {
    One(String),
    Several(Vec<String>),
}

impl RigMap {
    /// Parses TOML; `origin` names it in errors.
    ///
    /// # Errors
    /// [`RetargetError::BadRig`] for broken TOML, unknown keys or joints, joints without a name, axes that are no
    /// directions, and maps without hips, thighs, shins and feet.
    pub fn from_toml(text: &str, origin: &str) -> Result<Self, RetargetError> {
        let bad = |reason: String| RetargetError::BadRig { origin: origin.to_owned(), reason };
        let raw: RawRig = toml::from_str(text).map_err(|error| bad(error.to_string()))?;
        let project = Skeleton::humanoid(1.0);
        let joint = |name: &str, table: &str| {
            project.index_of(name).ok_or_else(|| {
                let known: Vec<&str> = project.joints().iter().map(|j| j.name.as_str()).collect();
                bad(format!("\"{name}\" in {table} is no project joint; they are {}", known.join(", ")))
            })
        };
        let mut joints = BTreeMap::new();
        for (name, names) in raw.joints {
            let names = match names {
                Names::One(one) => vec![one],
                Names::Several(several) => several,
            };
            if names.is_empty() || names.iter().any(|n| n.trim().is_empty()) {
                return Err(bad(format!("joint \"{name}\" has an empty name or none")));
            }
            joints.insert(joint(&name, "[joints]")?, names);
        }
        if let Some(lacking) = INDISPENSABLE.iter().find(|j| !joints.contains_key(j)) {
            return Err(bad(format!("it does not say which joint is {}", project.joints()[lacking.0].name)));
        }
        let mut optional = Vec::new();
        for name in &raw.optional {
            let index = joint(name, "`optional`")?;
            if INDISPENSABLE.contains(&index) || !joints.contains_key(&index) {
                return Err(bad(format!("\"{name}\" cannot be optional: it is indispensable or not mapped")));
            }
            optional.push(index);
        }
        let mut axes = BTreeMap::new();
        for (name, pair) in raw.axes {
            let sine = pair.up.normalize_or_zero().cross(pair.forward.normalize_or_zero()).length();
            if !(sine.is_finite() && sine > 0.5) {
                return Err(bad(format!(
                    "`up` and `forward` of [axes.{name}] are not two directions at right angles"
                )));
            }
            axes.insert(joint(&name, "[axes]")?, pair);
        }
        if !raw.sole_pitch_degrees.is_finite() || raw.sole_pitch_degrees.abs() > 60.0 {
            return Err(bad(format!("sole_pitch_degrees = {} is not within ±60", raw.sole_pitch_degrees)));
        }
        if let Some(dropped) = raw.dropped_bones.iter().find(|d| d.joints.is_empty()) {
            return Err(bad(format!("[[dropped_bones]] like {} names no joints", dropped.same_as)));
        }
        if let Some(unit) = raw.file.unit.filter(|unit| !unit.is_positive()) {
            return Err(bad(format!("`unit` of [file] is {} m; a unit is longer than 0", unit.metres())));
        }
        Ok(Self {
            name: raw.name,
            description: raw.description,
            joints,
            optional,
            axes,
            sole_pitch_degrees: raw.sole_pitch_degrees,
            dropped_bones: raw.dropped_bones,
            file: raw.file,
        })
    }

    /// Reads a rig map of one's own.
    ///
    /// # Errors
    /// [`RetargetError::BadRig`] when the file cannot be read or parsed.
    pub fn from_file(path: &Path) -> Result<Self, RetargetError> {
        let origin = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|error| RetargetError::BadRig {
            origin: origin.clone(),
            reason: format!("cannot be read: {error}"),
        })?;
        Self::from_toml(&text, &origin)
    }

    /// Finds the map's joints in a skeleton. Names are compared without case, spaces, signs and prefixes
    /// (`mixamorig:Hips`, `Character1_Hips` and `hips` are the same).
    ///
    /// # Errors
    /// [`RetargetError::RigDoesNotFit`] with the joints that are not optional and not there.
    pub fn match_skeleton(&self, skeleton: &Skeleton) -> Result<MatchReport, RetargetError> {
        let names = SourceNames::of(skeleton);
        let project = Skeleton::humanoid(1.0);
        let mut source_joints = [None; humanoid::JOINTS];
        let (mut missing, mut lacking) = (Vec::new(), Vec::new());
        for index in (0..humanoid::JOINTS).map(JointIndex) {
            let project_name = &project.joints()[index.0].name;
            let candidates = self.joints.get(&index);
            let found = candidates.and_then(|c| c.iter().find_map(|name| names.find(name)));
            source_joints[index.0] = found;
            if found.is_none() {
                missing.push(project_name.clone());
                if let Some(candidates) = candidates.filter(|_| !self.optional.contains(&index)) {
                    lacking.push(format!("{} (for {project_name})", candidates.join(" or ")));
                }
            }
        }
        if !lacking.is_empty() {
            return Err(RetargetError::RigDoesNotFit { rig: self.name.clone(), missing: lacking });
        }
        let unused = (0..skeleton.len())
            .filter(|&i| !source_joints.contains(&Some(JointIndex(i))))
            .map(|i| skeleton.joints()[i].name.clone())
            .collect();
        Ok(MatchReport { rig: self.name.clone(), source_joints, missing, unused })
    }
}

/// The names of a skeleton, reduced to what they have to say.
struct SourceNames {
    written: Vec<String>,
    whole: Vec<String>,
    without_prefix: Vec<String>,
}

impl SourceNames {
    fn of(skeleton: &Skeleton) -> Self {
        let names: Vec<&str> = skeleton.joints().iter().map(|j| j.name.as_str()).collect();
        let shared = shared_prefix(&names);
        let without_prefix = names
            .iter()
            .map(|name| {
                let name = &name[shared..];
                reduced(name.rsplit_once(':').map_or(name, |(_, last)| last))
            })
            .collect();
        let written = names.iter().map(|&name| name.to_owned()).collect();
        Self { written, whole: names.iter().map(|name| reduced(name)).collect(), without_prefix }
    }

    /// The joint of this name as it is written, else reduced.
    fn find(&self, name: &str) -> Option<JointIndex> {
        let at = |list: &[String], name: &str| list.iter().position(|n| n == name);
        let written = at(&self.written, name);
        let name = reduced(name);
        written.or_else(|| at(&self.whole, &name)).or_else(|| at(&self.without_prefix, &name)).map(JointIndex)
    }
}

/// Length of the part up to an underscore or colon that all names begin with.
fn shared_prefix(names: &[&str]) -> usize {
    let first = names[0];
    first
        .char_indices()
        .filter(|(_, c)| matches!(c, '_' | ':'))
        .map(|(i, _)| i + 1)
        .take_while(|&end| names.iter().all(|name| name.len() > end && name.starts_with(&first[..end])))
        .last()
        .unwrap_or(0)
}

fn reduced(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

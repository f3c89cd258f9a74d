//! Clips to match against with everything that it takes to play them, as one file.

use super::clip::MatchingClip;
use super::controller::MatchingController;
use super::database::MatchingDatabase;
use super::features::{MatchedFeatures, MatchingWeights};
use super::stored::{ROOT, Stored};
use crate::{ControllerError, ControllerKind};
use pomp_motion::{Gait, Skeleton, humanoid};
use pomp_weights::{WeightFile, WeightPrecision, WeightTensor};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// The entry of the metadata that holds a [`MatchingDescription`].
const ENTRY: &str = "controller";
const ROTATIONS: &str = "clips.rotations";
const ROOTS: &str = "clips.roots";
const GAITS: &str = "clips.gaits";
const PHASES: &str = "clips.phases";
/// Stored frames that a clip has at least: at 60 Hz some are left before the end that is not jumped to.
const LEAST_FRAMES: usize = 16;
/// Phase channels that a file may have.
const MOST_CHANNELS: usize = 256;
/// Farther than this from their mirror image the joints of a skeleton are not symmetric, metres.
const SYMMETRIC_WITHIN_M: f32 = 1e-3;

/// A stored clip.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoredClip {
    /// Name of its recording.
    pub name: String,
    /// Stored frames, 30 a second.
    pub frames: usize,
}

/// Phases of stored clips and their mirror images.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoredPhases {
    /// Channels C of the periodic autoencoder that has read them; a code has 2C values.
    pub channels: usize,
    /// Among so many frames, nearest by phases and path, the pose decides; 1 leaves the pose out.
    pub candidates: usize,
}

/// Everything about a database of clips but the clips.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MatchingDescription {
    /// [`ControllerKind::Matching`] or [`ControllerKind::MatchingPhase`].
    pub kind: ControllerKind,
    /// Program and version.
    pub made_by: String,
    /// The resolved configuration.
    pub config: serde_json::Value,
    /// Hash of the recordings that clips were taken from.
    pub data_hash: String,
    /// Collections with their licences and seconds.
    pub data: Vec<(String, f32)>,
    /// Skeleton of the clips, symmetric: every clip is played in its mirror image too.
    pub skeleton: Skeleton,
    /// The clips, in the order in which they are stored.
    pub clips: Vec<StoredClip>,
    /// How much each feature counts.
    pub weights: MatchingWeights,
    /// The phases that are matched, when they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phases: Option<StoredPhases>,
    /// Figures: name → value.
    pub metrics: BTreeMap<String, f32>,
}

impl MatchingDescription {
    /// Frames of all clips.
    fn frames(&self) -> Option<usize> {
        self.clips.iter().try_fold(0usize, |sum, clip| sum.checked_add(clip.frames))
    }

    fn rest_height_m(&self) -> f32 {
        self.skeleton.joints()[0].offset.y
    }

    /// Values of the phases of a stored frame: the codes of the clip and of its mirror image.
    fn phase_columns(&self) -> usize {
        self.phases.map_or(0, |phases| 4 * phases.channels)
    }

    fn check_phases(&self) -> Result<(), String> {
        match (self.kind, self.phases) {
            (ControllerKind::Matching, None) => Ok(()),
            (ControllerKind::MatchingPhase, Some(phases)) => {
                if !(1..=MOST_CHANNELS).contains(&phases.channels) {
                    return Err(format!(
                        "it has {} phase channels, not 1 to {MOST_CHANNELS}",
                        phases.channels
                    ));
                }
                if phases.candidates == 0 {
                    return Err("the pose decides among 0 frames; it takes 1 or more".to_owned());
                }
                Ok(())
            }
            (ControllerKind::Matching, Some(_)) => Err("it holds phases, which matching has not".to_owned()),
            (ControllerKind::MatchingPhase, None) => Err("it holds no phases".to_owned()),
            (kind, _) => Err(format!(
                "it holds the controller {kind}, not {} or {}",
                ControllerKind::Matching,
                ControllerKind::MatchingPhase
            )),
        }
    }

    /// What is wrong with it, in words.
    fn check(&self) -> Result<(), String> {
        self.check_phases()?;
        let joints = Skeleton::humanoid(1.0);
        let same =
            |(a, b): (&pomp_motion::Joint, &pomp_motion::Joint)| a.name == b.name && a.parent == b.parent;
        if self.skeleton.len() != humanoid::JOINTS
            || !self.skeleton.joints().iter().zip(joints.joints()).all(same)
        {
            return Err("its skeleton is not the project skeleton".to_owned());
        }
        for (joint, image) in self.skeleton.joints().iter().zip(self.skeleton.mirror_map()) {
            let reflected = self.skeleton.joints()[image.0].offset * glam::Vec3::new(-1.0, 1.0, 1.0);
            if joint.offset.distance(reflected) > SYMMETRIC_WITHIN_M {
                return Err(format!(
                    "the joint \"{}\" of its skeleton has another length on the other side",
                    joint.name
                ));
            }
        }
        if self.clips.is_empty() {
            return Err("it has no clip".to_owned());
        }
        if let Some(clip) = self.clips.iter().find(|clip| clip.frames < LEAST_FRAMES) {
            return Err(format!(
                "its clip \"{}\" has {} frames, fewer than {LEAST_FRAMES}",
                clip.name, clip.frames
            ));
        }
        let weights = &self.weights;
        let weights = [
            weights.foot_position,
            weights.foot_velocity,
            weights.hip_velocity,
            weights.trajectory_position,
            weights.trajectory_direction,
            weights.phase,
        ];
        if weights.iter().any(|weight| !(weight.is_finite() && *weight >= 0.0)) {
            return Err("a weight of a feature is negative or not finite".to_owned());
        }
        Ok(())
    }
}

/// Clips with their description, as a file holds them.
#[derive(Clone, Debug, PartialEq)]
pub struct MatchingModel {
    /// What it is.
    pub description: MatchingDescription,
    stored: Stored,
}

impl MatchingModel {
    /// Stores `clips` under their names; those of `description` are replaced. Every frame may be jumped to.
    ///
    /// # Errors
    /// No clip, one shorter than half a second, a skeleton that is not the project skeleton, or phase codes that are not as the
    /// description says.
    pub fn new(
        description: MatchingDescription,
        clips: &[(String, MatchingClip)],
    ) -> Result<Self, ControllerError> {
        let mut model = Self { description, stored: Stored::default() };
        let rest_height_m = model.description.rest_height_m();
        model.description.clips.clear();
        let mut stored_frames = 0;
        for (name, clip) in clips {
            let frames = Stored::frames_of(clip.frames());
            model.description.clips.push(StoredClip { name: name.clone(), frames });
            stored_frames += frames;
            model.stored.push(clip, rest_height_m);
        }
        let bad = |reason| ControllerError::BadFile {
            source_name: "the clips to match against".to_owned(),
            reason,
        };
        model.description.check().map_err(bad)?;
        if model.stored.phases.len() != stored_frames * model.description.phase_columns() {
            return Err(bad("not every frame has the phase codes that the description tells of".to_owned()));
        }
        Ok(model)
    }

    /// The stored clips at 60 Hz.
    pub fn clips(&self) -> Vec<MatchingClip> {
        let joints = self.description.skeleton.len();
        let mut first = 0;
        let stored = self.description.clips.iter();
        stored
            .map(|clip| {
                first += clip.frames;
                self.stored.clip(first - clip.frames, clip.frames, joints, self.description.rest_height_m())
            })
            .collect()
    }

    /// A controller over the clips and their mirror images.
    pub fn controller(&self) -> MatchingController {
        let MatchingDescription { skeleton, weights, phases, .. } = &self.description;
        let clips: Vec<MatchingClip> =
            self.clips().into_iter().flat_map(|clip| [clip.mirrored(skeleton), clip]).collect();
        let skeleton = Arc::new(skeleton.clone());
        let features = if phases.is_some() { MatchedFeatures::Phase } else { MatchedFeatures::Pose };
        let database = MatchingDatabase::new(skeleton, clips, features, weights);
        let database = database.expect("every clip has frames that may be jumped to");
        let candidates = phases.map_or(1, |phases| phases.candidates);
        MatchingController::new(Arc::new(database.with_candidates(candidates, weights)))
    }

    /// Writes it in half precision, whole or not at all.
    ///
    /// # Errors
    /// A file that cannot be written, or a number that is not finite.
    pub fn save(&self, path: &Path) -> Result<(), ControllerError> {
        Ok(self.file()?.save(path, WeightPrecision::F16)?)
    }

    /// The bytes of its file.
    ///
    /// # Errors
    /// A number that is not finite.
    pub fn to_bytes(&self) -> Result<Vec<u8>, ControllerError> {
        Ok(self.file()?.to_bytes(WeightPrecision::F16)?)
    }

    fn file(&self) -> Result<WeightFile, ControllerError> {
        let json = serde_json::to_string(&self.description).expect("a description is plain data");
        let mut file = WeightFile::new(Some((ENTRY, &json)));
        let parts = [
            (ROTATIONS, 3 * self.description.skeleton.len(), &self.stored.rotations),
            (ROOTS, ROOT, &self.stored.roots),
            (GAITS, Gait::COUNT, &self.stored.gaits),
        ];
        let phases = (PHASES, self.description.phase_columns(), &self.stored.phases);
        for (name, columns, values) in parts.into_iter().chain((phases.1 > 0).then_some(phases)) {
            let shape = vec![values.len() / columns, columns];
            file.add_tensor(name, WeightTensor { shape, values: values.clone() })?;
        }
        Ok(file)
    }

    /// Reads the bytes of a file; `source_name` is named in errors.
    ///
    /// # Errors
    /// Bytes that are damaged or hold no such clips.
    pub fn from_bytes(bytes: &[u8], source_name: &str) -> Result<Self, ControllerError> {
        let bad = |reason: String| ControllerError::BadFile { source_name: source_name.to_owned(), reason };
        let file = WeightFile::from_bytes(bytes, source_name)?;
        let description: MatchingDescription =
            serde_json::from_str(file.metadata(ENTRY)?).map_err(|error| bad(error.to_string()))?;
        description.check().map_err(bad)?;
        let frames = description.frames().ok_or_else(|| bad("its clips have too many frames".to_owned()))?;
        let values = |name, columns| -> Result<Vec<f32>, ControllerError> {
            Ok(file.tensor_of_shape(name, &[frames, columns])?.values.clone())
        };
        let stored = Stored {
            rotations: values(ROTATIONS, 3 * description.skeleton.len())?,
            roots: values(ROOTS, ROOT)?,
            gaits: values(GAITS, Gait::COUNT)?,
            phases: match description.phase_columns() {
                0 => Vec::new(),
                columns => values(PHASES, columns)?,
            },
        };
        if let Some(frame) = stored.gaits.chunks_exact(Gait::COUNT).position(|gait| !is_gait(gait)) {
            return Err(bad(format!("the gait weights of frame {frame} are negative or do not sum up to 1")));
        }
        Ok(Self { description, stored })
    }
}

fn is_gait(weights: &[f32]) -> bool {
    weights.iter().all(|weight| *weight >= 0.0) && (weights.iter().sum::<f32>() - 1.0).abs() < 0.01
}

//! The dataset as the bench uses it: training clips to match, clips to track, held-out clips to compare with.

use crate::BenchError;
use pomp_model::Model;
use pomp_motion::{Gait, GlobalPose, Recording};
use pomp_train::{Dataset, FRAME_RATE_HZ, Split, TrainingClip};
use std::path::Path;

/// Share of a clip's frames that have to be of the gaits asked for.
const GAIT_SHARE: f32 = 0.9;

/// A dataset, split as the model's training split it.
pub struct Mocap {
    dataset: Dataset,
}

impl Mocap {
    /// Reads the recordings of `folder`; the clips that `model` was not trained on are the held-out ones.
    ///
    /// # Errors
    /// The folder or one of its recordings cannot be used, or the model's description does not say how it was
    /// trained.
    pub fn load(folder: &Path, model: &Model) -> Result<Self, BenchError> {
        let split = Split::of_config(&model.description.config);
        let split = split.map_err(|field| BenchError::BadModel { field })?;
        Ok(Self { dataset: Dataset::load_split(folder, &split)? })
    }

    /// A dataset that has been read.
    pub fn of_dataset(dataset: Dataset) -> Self {
        Self { dataset }
    }

    /// Hash of its files.
    pub fn hash(&self) -> &str {
        &self.dataset.hash
    }

    /// Whether any clip is held out; else figures of "held-out" clips are those of training clips.
    pub fn has_held_out(&self) -> bool {
        self.dataset.measured_on() == "held_out"
    }

    /// Clips that the model was trained on, as they were recorded.
    pub fn training(&self) -> impl Iterator<Item = &TrainingClip> {
        self.dataset.training().map(|(_, clip)| clip).filter(|clip| is_recorded(clip))
    }

    /// Clips that it was not trained on, as they were recorded.
    pub fn held_out(&self) -> Vec<&TrainingClip> {
        self.dataset.held_out().into_iter().map(|(_, clip)| clip).filter(|clip| is_recorded(clip)).collect()
    }

    /// Recorded clips of one of `gaits` nearly throughout, with their mirror images: the held-out ones and the others.
    pub fn reference(&self, gaits: &[Gait]) -> [Vec<&TrainingClip>; 2] {
        let training: Vec<&TrainingClip> = self.training().collect();
        [self.held_out(), training].map(|clips| clips.into_iter().filter(|clip| is_of(clip, gaits)).collect())
    }

    /// Held-out clips of at least `seconds` that are of one of `gaits` nearly throughout, mirror images left out: they
    /// say the same again.
    pub fn held_out_of(&self, gaits: &[Gait], seconds: f32) -> Vec<&TrainingClip> {
        self.held_out().into_iter().filter(|clip| suits(clip, gaits, seconds)).collect()
    }

    /// All such clips that the replay supports throughout, held out or not: tracking learns nothing.
    pub fn trackable(&self, gaits: &[Gait], seconds: f32) -> Vec<&TrainingClip> {
        let clips = self.dataset.clips.iter().filter(|clip| is_recorded(clip));
        clips.filter(|clip| suits(clip, gaits, seconds) && !clip.supported.contains(&false)).collect()
    }
}

/// Whether a recording is a clip or its mirror image, and not one that preprocessing has laid on other ground or pushed.
fn is_recorded(clip: &TrainingClip) -> bool {
    !clip.recording.name.contains("_terrain")
}

/// Whether nearly all frames are of these gaits.
fn is_of(clip: &TrainingClip, gaits: &[Gait]) -> bool {
    let gait = clip.recording.gait.iter().map(Gait::dominant);
    gait.filter(|gait| gaits.contains(gait)).count() as f32 >= GAIT_SHARE * clip.frames() as f32
}

fn suits(clip: &TrainingClip, gaits: &[Gait], seconds: f32) -> bool {
    !clip.recording.name.contains("_mirrored")
        && clip.frames() as f32 >= seconds * FRAME_RATE_HZ
        && is_of(clip, gaits)
}

/// World poses of all frames.
pub(crate) fn poses(recording: &Recording) -> Vec<GlobalPose> {
    (0..recording.frames()).map(|frame| recording.global_pose(frame)).collect()
}

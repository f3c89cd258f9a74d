//! Phases of a trained model, written into the recordings.

use crate::TrainError;
use crate::dataset::{recordings_in, states};
use crate::phase_stage::{PhaseReader, root_velocities};
use pomp_files::Hasher;
use pomp_model::Model;
use pomp_motion::{GlobalPose, Recording};
use pomp_terrain::HeightMap;
use pomp_weights::WeightFile;
use std::path::{Path, PathBuf};

/// Ground under a recording without terrain, metres; phases depend on velocities alone.
const FLAT_M: f32 = 2.0;

/// What happened to one recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Annotated {
    /// The file.
    pub path: PathBuf,
    /// Its frames, T.
    pub frames: usize,
    /// Numbers per frame, 2C.
    pub columns: usize,
    /// Whether it was written; a file that holds this model's phases already is left alone.
    pub written: bool,
    /// Hash of the model, as written beside the phases.
    pub phase_model: String,
}

/// Reads the phases of every recording of `folder` with the clean encoder of `model` and writes them into the files:
/// `phase [T, 2C]` and `phase_model`, the hash of weights, sizes and edge. Each file is replaced whole; nothing else in
/// it changes, and [`crate::Dataset::hash`] stays. A run that was interrupted goes on when it is repeated.
///
/// The window of a frame reaches 60 frames (one second) to both sides. Where it reaches beyond the clip, the first or
/// last velocity is held. Frames nearer to an end than the model's `phase_edge_frames` are not read: they continue the
/// nearest frame that is, at its frequencies.
///
/// # Errors
/// No recordings, one that cannot be read or written or has another frame rate or skeleton than the model; a model
/// whose description does not say its edge.
pub fn annotate_phases(
    folder: &Path,
    model: &Model,
    on_done: &mut dyn FnMut(&Annotated),
) -> Result<Vec<Annotated>, TrainError> {
    let mut annotator = Annotator::new(model)?;
    let mut done = Vec::new();
    for path in recordings_in(folder)? {
        let annotated = annotator.annotate(&path)?;
        on_done(&annotated);
        done.push(annotated);
    }
    Ok(done)
}

/// The number of recordings that [`annotate_phases`] will go through.
///
/// # Errors
/// The folder cannot be listed or holds none.
pub fn count_recordings(folder: &Path) -> Result<usize, TrainError> {
    Ok(recordings_in(folder)?.len())
}

/// Frames at the ends of a clip that the phases of `model` are not read at.
pub(crate) fn edge_of(model: &Model) -> Result<usize, TrainError> {
    let edge = model.description.config.get("phase_edge_frames").and_then(serde_json::Value::as_u64);
    edge.and_then(|edge| usize::try_from(edge).ok()).ok_or(TrainError::ModelWithoutEdge)
}

struct Annotator<'a> {
    model: &'a Model,
    reader: PhaseReader,
    hash: String,
}

impl<'a> Annotator<'a> {
    fn new(model: &'a Model) -> Result<Self, TrainError> {
        Ok(Self { model, reader: PhaseReader::of(model)?, hash: hash(model, edge_of(model)?)? })
    }

    fn annotate(&mut self, path: &Path) -> Result<Annotated, TrainError> {
        let mut recording = pomp_formats::read_recording(path)?;
        self.check_fits(path, &recording)?;
        let columns = 2 * self.model.description.phase.channels;
        let there = recording.phase.as_ref().is_some_and(|phase| phase.columns() == columns);
        let written = !there || recording.phase_model.as_ref() != Some(&self.hash);
        if written {
            let terrain = match &recording.terrain {
                Some(grid) => HeightMap::from_grid(grid.clone()),
                None => HeightMap::flat(FLAT_M, 1.0),
            };
            let terrain = terrain.map_err(|error| bad(path, error.to_string()))?;
            let poses: Vec<GlobalPose> = (0..recording.frames()).map(|f| recording.global_pose(f)).collect();
            let states = states(&recording.skeleton, &poses, &recording.velocities, &terrain);
            recording.phase = Some(self.reader.phases_of(&root_velocities(&states))?.codes);
            recording.phase_model = Some(self.hash.clone());
            pomp_formats::write_recording(path, &recording)?;
        }
        Ok(Annotated {
            path: path.to_path_buf(),
            frames: recording.frames(),
            columns,
            written,
            phase_model: self.hash.clone(),
        })
    }

    fn check_fits(&self, path: &Path, recording: &Recording) -> Result<(), TrainError> {
        let window = &self.model.description.phase.window;
        if (recording.frame_rate_hz - window.frame_rate_hz).abs() > 0.01 {
            return Err(bad(
                path,
                format!(
                    "it has {} frames per second and the model {}: preprocess it again",
                    recording.frame_rate_hz, window.frame_rate_hz
                ),
            ));
        }
        let names = |skeleton: &pomp_motion::Skeleton| -> Vec<String> {
            skeleton.joints().iter().map(|joint| joint.name.clone()).collect()
        };
        if names(&recording.skeleton) != names(&self.model.description.skeleton) {
            return Err(bad(path, "its joints are not those of the model: preprocess it again".to_owned()));
        }
        if recording.phase.is_some() && recording.phase_model.is_none() {
            let reason = "it is a rollout, whose phases are those of its loop; give a folder of recordings";
            return Err(bad(path, reason.to_owned()));
        }
        Ok(())
    }
}

fn bad(path: &Path, reason: String) -> TrainError {
    TrainError::BadRecording { path: path.to_path_buf(), reason }
}

/// Hash of all that decides the phases: weights and sizes of the autoencoder, and the edge.
fn hash(model: &Model, edge: usize) -> Result<String, TrainError> {
    let mut file = WeightFile::new(None);
    let weights = |error| TrainError::Model(pomp_model::ModelError::from(error));
    file.add_module("phase", &model.phase).map_err(weights)?;
    let sizes = serde_json::to_vec(&model.description.phase).expect("sizes are plain data");
    let mut hasher = Hasher::default();
    for name in file.names() {
        let tensor = file.tensor(name).map_err(weights)?;
        hasher.update(name);
        tensor.shape.iter().for_each(|size| hasher.update(size.to_le_bytes()));
        tensor.values.iter().for_each(|value| hasher.update(value.to_le_bytes()));
    }
    hasher.update(sizes);
    hasher.update(edge.to_le_bytes());
    Ok(hasher.finish().short())
}

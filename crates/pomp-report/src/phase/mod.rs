//! The phase manifold of a model, seen and measured on recordings.

mod alignment;
mod channels;
mod document;
mod neighbours;
mod phases;
mod pictures;
mod plain;
mod principal;
mod ranks;
mod reconstruction;

pub use alignment::Alignment;
pub use channels::ChannelFigures;
pub use neighbours::PoseError;
pub use pictures::Picture;
pub use ranks::Ranks;
pub use reconstruction::Reconstruction;

use crate::ReportError;
use crate::output::{json, make_folder, write};
use crate::training_split::TrainingSplit;
use phases::ClipPhases;
use pomp_model::Model;
use pomp_phase::WindowEncoder;
use pomp_train::TrainingClip;
use rayon::prelude::*;
use serde::Serialize;
use std::path::Path;

/// Of clips that are learned from, every so many frames are read.
const TRAINING_STRIDE: usize = 6;

/// Everything that the report says.
#[derive(Clone, Debug, Serialize)]
pub struct PhaseReport {
    /// What the model is called.
    pub model: String,
    /// The folder of recordings.
    pub data: String,
    /// Hash of the recordings.
    pub data_hash: String,
    /// `held_out` or `training`: which clips the figures are of.
    pub measured_on: &'static str,
    /// Number of these clips.
    pub clips: usize,
    /// Frames of them that were read.
    pub frames: usize,
    /// Steps that the plain autoencoder was trained for.
    pub plain_steps: usize,
    /// What each channel does in each gait.
    pub channels: Vec<ChannelFigures>,
    /// How much of unseen windows survives a code.
    pub reconstruction: Vec<Reconstruction>,
    /// Whether frames that a feature calls alike look alike.
    pub neighbours: Vec<PoseError>,
    /// Whether a feature tells where a motion goes on; empty when no clip as it was recorded is measured on.
    pub ranks: Vec<Ranks>,
    /// How far simulated phases lie from clean ones; `None` when the model has no aligned encoder.
    pub alignment: Option<Vec<Alignment>>,
    /// Charts of all that.
    #[serde(skip)]
    pub pictures: Vec<Picture>,
}

/// Measures the phases of `model`, which the report calls `name`, on the recordings in the folder `data`. A plain
/// autoencoder is trained for `plain_steps` steps to compare with.
///
/// # Errors
/// A model that does not say how its data were divided, recordings that cannot be read or do not fit it, and
/// recordings too short to be read.
pub fn measure(
    model: &Model,
    name: &str,
    data: &Path,
    plain_steps: usize,
) -> Result<PhaseReport, ReportError> {
    let split = TrainingSplit::of(model)?;
    let dataset = split.load(data, model)?;
    let held_out: Vec<&TrainingClip> = dataset.held_out().into_iter().map(|(_, clip)| clip).collect();
    let training: Vec<&TrainingClip> = dataset.training().map(|(_, clip)| clip).collect();
    let encoder = WindowEncoder::new(&model.phase.encoder);
    let (held_out, training) = (
        read(&held_out, model, &encoder, split.phase_edge_frames, 1)?,
        read(&training, model, &encoder, split.phase_edge_frames, TRAINING_STRIDE)?,
    );
    let count = |clips: &[ClipPhases<'_>]| clips.iter().map(|clip| clip.frames().count()).sum::<usize>();
    let frames = count(&held_out);
    if frames == 0 || count(&training) == 0 {
        let reason = "no clip is long enough to be read".to_owned();
        return Err(ReportError::BadData { path: data.to_path_buf(), reason });
    }

    let channel_count = model.description.phase.channels;
    let aligned = model.aligned_phase.as_ref();
    let mut report = PhaseReport {
        model: name.to_owned(),
        data: data.display().to_string(),
        data_hash: dataset.hash.clone(),
        measured_on: dataset.measured_on(),
        clips: held_out.len(),
        frames,
        plain_steps,
        channels: channels::figures(&held_out, channel_count),
        reconstruction: reconstruction::compare(model, &training, &held_out, plain_steps)?,
        neighbours: neighbours::pose_errors(&training, &held_out),
        ranks: ranks::ranks(&held_out),
        alignment: aligned.map(|aligned| alignment::measure(model, aligned, &held_out)).transpose()?,
        pictures: pictures::manifold(&held_out, channel_count)?,
    };
    report.pictures.push(pictures::reconstruction(&report.reconstruction)?);
    report.pictures.push(pictures::neighbours(&report.neighbours)?);
    if let Some(alignment) = &report.alignment {
        report.pictures.push(pictures::alignment(alignment)?);
    }
    Ok(report)
}

impl PhaseReport {
    /// The tables, and what they mean, as Markdown.
    pub fn tables(&self) -> String {
        document::tables(self)
    }

    /// The report as JSON.
    pub fn json(&self) -> String {
        json(self)
    }

    /// Writes `report.md`, `report.json` and the pictures into a folder, which is made.
    ///
    /// # Errors
    /// The folder or a file cannot be written.
    pub fn write(&self, out: &Path) -> Result<(), ReportError> {
        make_folder(out)?;
        for picture in &self.pictures {
            write(&out.join(&picture.file), &picture.png)?;
        }
        write(&out.join("report.json"), self.json().as_bytes())?;
        write(&out.join("report.md"), document::markdown(self).as_bytes())
    }
}

fn read<'a>(
    clips: &[&'a TrainingClip],
    model: &Model,
    encoder: &WindowEncoder,
    edge: usize,
    stride: usize,
) -> Result<Vec<ClipPhases<'a>>, ReportError> {
    let window = model.description.phase.window;
    clips.par_iter().map(|clip| ClipPhases::read(clip, encoder, &window, edge, stride)).collect()
}

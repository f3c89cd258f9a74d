//! `pomp phase report`: the phase manifold of a model, seen and measured on recordings.

mod alignment;
mod channels;
mod document;
mod neighbours;
mod phases;
mod pictures;
mod plain;
mod principal;
mod reconstruction;

use crate::cli::PhaseReportArguments;
use crate::default_model;
use crate::training_split::TrainingSplit;
use anyhow::{Context, Result, ensure};
use burn::tensor::Device;
use phases::ClipPhases;
use pomp_formats::write_atomically;
use pomp_model::Model;
use pomp_phase::WindowEncoder;
use pomp_train::TrainingClip;
use rayon::prelude::*;
use serde::Serialize;
use std::process::ExitCode;

/// Of clips that are learned from, every so many frames are read.
const TRAINING_STRIDE: usize = 6;

/// Everything that the report says.
#[derive(Debug, Serialize)]
struct Report {
    model: String,
    data: String,
    data_hash: String,
    /// `held_out` or `training`: which clips the figures are of.
    measured_on: &'static str,
    clips: usize,
    frames: usize,
    plain_steps: usize,
    channels: Vec<channels::ChannelFigures>,
    reconstruction: Vec<reconstruction::Reconstruction>,
    neighbours: Vec<neighbours::PoseError>,
    /// None when the model has no aligned encoder.
    alignment: Option<Vec<alignment::Alignment>>,
}

pub fn run(arguments: &PhaseReportArguments) -> Result<ExitCode> {
    let device = Device::flex();
    let (model, name) = default_model::find_named(arguments.model.as_deref(), &device)?;
    let split = TrainingSplit::of(&model).with_context(|| name.clone())?;
    let dataset = split.load(&arguments.data, &model)?;
    let held_out: Vec<&TrainingClip> = dataset.held_out().into_iter().map(|(_, clip)| clip).collect();
    let training: Vec<&TrainingClip> = dataset.training().map(|(_, clip)| clip).collect();
    let encoder = WindowEncoder::new(&model.phase.encoder);
    let (held_out, training) = (
        read(&held_out, &model, &encoder, split.phase_edge_frames, 1)?,
        read(&training, &model, &encoder, split.phase_edge_frames, TRAINING_STRIDE)?,
    );
    let frames: usize = held_out.iter().map(|clip| clip.frames().count()).sum();
    ensure!(frames > 0, "{}: no clip is long enough to be read", arguments.data.display());

    let channel_count = model.description.phase.channels;
    let report = Report {
        model: name,
        data: arguments.data.display().to_string(),
        data_hash: dataset.hash.clone(),
        measured_on: dataset.measured_on(),
        clips: held_out.len(),
        frames,
        plain_steps: arguments.plain_steps,
        channels: channels::figures(&held_out, channel_count),
        reconstruction: reconstruction::compare(&model, &training, &held_out, arguments.plain_steps)?,
        neighbours: neighbours::pose_errors(&training, &held_out),
        alignment: model
            .aligned_phase
            .as_ref()
            .map(|aligned| alignment::measure(&model, aligned, &held_out))
            .transpose()?,
    };
    let mut shown = pictures::manifold(&held_out, channel_count)?;
    shown.push(pictures::reconstruction(&report.reconstruction)?);
    shown.push(pictures::neighbours(&report.neighbours)?);
    if let Some(alignment) = &report.alignment {
        shown.push(pictures::alignment(alignment)?);
    }

    std::fs::create_dir_all(&arguments.out)
        .with_context(|| format!("{}: cannot make the folder", arguments.out.display()))?;
    for picture in &shown {
        write_atomically(&arguments.out.join(&picture.file), |file| file.write_all(&picture.png))?;
    }
    let json = serde_json::to_string_pretty(&report)?;
    write_atomically(&arguments.out.join("report.json"), |file| file.write_all(json.as_bytes()))?;
    let text = document::markdown(&report, &shown);
    write_atomically(&arguments.out.join("report.md"), |file| file.write_all(text.as_bytes()))?;
    if arguments.json {
        println!("{json}");
    } else {
        println!("{}", document::tables(&report));
        println!("report.md, report.json and {} pictures are in {}", shown.len(), arguments.out.display());
    }
    Ok(ExitCode::SUCCESS)
}

fn read<'a>(
    clips: &[&'a TrainingClip],
    model: &Model,
    encoder: &WindowEncoder,
    edge: usize,
    stride: usize,
) -> Result<Vec<ClipPhases<'a>>> {
    let window = model.description.phase.window;
    clips.par_iter().map(|clip| ClipPhases::read(clip, encoder, &window, edge, stride)).collect()
}

//! The manifold as it looks.

use super::alignment::Alignment;
use super::neighbours::PoseError;
use super::phases::{ClipPhases, Run, runs, unwrapped};
use super::principal::Principal;
use super::reconstruction::Reconstruction;
use crate::ReportError;
use pomp_motion::Gait;
use pomp_render::Plot;
use pomp_train::FRAME_RATE_HZ;

/// Runs in one picture, and frames of each, at most.
const RUNS: usize = 6;
const FRAMES: usize = 300;
/// Shorter runs draw no loop, frames.
const SHORTEST_RUN: usize = 30;

/// A picture's file name and bytes, and what it shows.
#[derive(Clone, Debug)]
pub struct Picture {
    /// File name.
    pub file: String,
    /// PNG.
    pub png: Vec<u8>,
    /// A caption.
    pub caption: String,
}

/// All pictures of the manifold.
pub fn manifold(clips: &[ClipPhases<'_>], channels: usize) -> Result<Vec<Picture>, ReportError> {
    let mut pictures = Vec::new();
    let codes: Vec<Vec<f32>> = clips.iter().flat_map(|c| c.frames().map(|(.., s)| s.code())).collect();
    let all = Principal::of(&codes.iter().map(Vec::as_slice).collect::<Vec<_>>(), 2, 60);
    let mut overview =
        Plot::new("Phase manifold, longest run of each gait").x_label(axis(&all, 0)).y_label(axis(&all, 1));
    for gait in Gait::ALL {
        let runs: Vec<Run<'_>> =
            runs(clips, gait).into_iter().filter(|run| run.states.len() >= SHORTEST_RUN).collect();
        let Some(longest) = runs.first() else { continue };
        let (x, y) = path(&all, longest);
        overview = overview.series(gait.name(), &x, &y);
        pictures.push(loops(gait, &runs)?);
        pictures.push(over_time(gait, longest, channels)?);
    }
    if pictures.is_empty() {
        return Ok(pictures);
    }
    let caption =
        "The longest run of each gait, on the two axes of largest variance of all frames.".to_owned();
    pictures.insert(0, Picture { file: "manifold.png".to_owned(), png: overview.png(720, 640)?, caption });
    Ok(pictures)
}

fn axis(principal: &Principal, at: usize) -> String {
    let share = principal.shares.get(at).copied().unwrap_or_default();
    format!("component {} ({:.0} % of variance)", at + 1, 100.0 * share)
}

fn path(principal: &Principal, run: &Run<'_>) -> (Vec<f32>, Vec<f32>) {
    let points = run.states.iter().take(FRAMES).map(|state| principal.coordinates(&state.code()));
    points.map(|point| (point[0], point[1])).unzip()
}

fn loops(gait: Gait, runs: &[Run<'_>]) -> Result<Picture, ReportError> {
    let codes: Vec<Vec<f32>> = runs.iter().flat_map(|run| run.states.iter().map(|s| s.code())).collect();
    let own = Principal::of(&codes.iter().map(Vec::as_slice).collect::<Vec<_>>(), 2, 60);
    let mut plot =
        Plot::new(format!("Phase manifold: {}", gait.name())).x_label(axis(&own, 0)).y_label(axis(&own, 1));
    for run in runs.iter().take(RUNS) {
        let (x, y) = path(&own, run);
        plot = plot.series(run.name, &x, &y);
    }
    Ok(Picture {
        file: format!("manifold_{}.png", gait.name()),
        png: plot.png(720, 640)?,
        caption: format!("{}: the longest runs, on the axes of largest variance of this gait.", gait.name()),
    })
}

fn over_time(gait: Gait, run: &Run<'_>, channels: usize) -> Result<Picture, ReportError> {
    let frames = run.states.len().min(FRAMES);
    let time: Vec<f32> = (0..frames).map(|frame| frame as f32 / FRAME_RATE_HZ).collect();
    let mut plot = Plot::new(format!("Phase over time: {} ({})", gait.name(), run.name))
        .x_label("time (s)")
        .y_label("shift (turns)");
    for channel in 0..channels {
        let turns = unwrapped(run, channel);
        plot = plot.series(format!("channel {channel}"), &time, &turns[..frames]);
    }
    Ok(Picture {
        file: format!("phase_{}.png", gait.name()),
        png: plot.png(720, 440)?,
        caption: format!("{}: the shift of every channel over its longest run.", gait.name()),
    })
}

/// Bars of what is lost in reconstruction.
pub fn reconstruction(results: &[Reconstruction]) -> Result<Picture, ReportError> {
    let mut plot = Plot::new("Power of unseen windows that is lost").x_label("share of power");
    for result in results {
        plot = plot.bar(&result.method, result.lost);
    }
    let caption = "Reconstruction of unseen windows; less is better.".to_owned();
    Ok(Picture { file: "reconstruction.png".to_owned(), png: plot.png(760, 260)?, caption })
}

/// Bars of the pose error of nearest neighbours.
pub fn neighbours(results: &[PoseError]) -> Result<Picture, ReportError> {
    let mut plot = Plot::new("Pose error of nearest neighbours").x_label("mean joint distance (cm)");
    for result in results {
        plot = plot.bar(&result.feature, result.all_cm);
    }
    let caption = "Mean joint distance to the nearest neighbours; less is better.".to_owned();
    Ok(Picture { file: "neighbours.png".to_owned(), png: plot.png(760, 260)?, caption })
}

/// Bars of the distance to the clip's phases.
pub fn alignment(results: &[Alignment]) -> Result<Picture, ReportError> {
    let mut plot = Plot::new("Squared distance of simulated phases to clean ones").x_label("share of power");
    for result in results {
        plot = plot.bar_of("unaligned", result.gait, result.unaligned / result.power, None);
        plot = plot.bar_of("aligned", result.gait, result.aligned / result.power, None);
    }
    let caption = "For each gait before and after alignment; less is better.".to_owned();
    Ok(Picture { file: "alignment.png".to_owned(), png: plot.png(760, 300)?, caption })
}

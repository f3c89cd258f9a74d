//! Pictures of the first runs of a bench: a moving one of each method, and the same seconds of all methods in one.

use crate::BenchError;
use crate::config::{BenchConfig, Scenario};
use crate::measure::RunResult;
use pomp_formats::write_atomically;
use pomp_motion::Recording;
use pomp_render::{
    Azimuth, CameraOptions, Ghost, Image, RenderOptions, Theme, render_gif, render_row, stack_rows,
};
use std::path::{Path, PathBuf};

/// Size and pace of moving pictures.
const PREVIEW_SIZE: (u32, u32) = (216, 162);
const PREVIEW_FPS: f32 = 12.5;
/// Size of a still, and how many stand in a row.
const STILL_SIZE: (u32, u32) = (90, 108);
const STILLS: usize = 12;
/// Where stills are seen from: from the side while the character goes ahead, from the front while it goes to its left. The same for all
/// methods, so that a row shows which way its character faces.
const STILL_AZIMUTH_RAD: f32 = 1.2;
/// Distance of the camera from the figure in stills, body heights: there is room for a step and no more.
const STILL_DISTANCE_HEIGHTS: f32 = 2.35;
/// Where pictures begin when nothing happens, seconds.
const BEGIN_S: f32 = 2.0;
/// Share of a picture that is before a push, and before a fall.
const BEFORE_PUSH: f32 = 0.2;
const BEFORE_FALL: f32 = 0.6;

/// What both kinds of pictures leave out.
fn plain() -> RenderOptions {
    RenderOptions {
        ghost: Ghost::None,
        control_path: false,
        overlay: false,
        contact_arrows: false,
        ..RenderOptions::default()
    }
}

/// A small moving picture of what is worth seeing: the fall, else the push, else some steps.
pub(crate) fn draw_moving(
    recording: &Recording,
    first_fall_s: Option<f64>,
    seconds: f32,
    path: &Path,
) -> Result<(), BenchError> {
    let rate = recording.frame_rate_hz;
    let pushed = recording.generation.as_ref().and_then(|generation| generation.pushes.first());
    let start_s = match (first_fall_s, pushed) {
        (Some(fall), _) => fall as f32 - BEFORE_FALL * seconds,
        (None, Some(push)) => push.time_s - BEFORE_PUSH * seconds,
        (None, None) => BEGIN_S,
    };
    let length = ((seconds * rate) as usize).clamp(1, recording.frames());
    let start = ((start_s * rate).max(0.0) as usize).min(recording.frames() - length);
    let options = RenderOptions {
        width: PREVIEW_SIZE.0,
        height: PREVIEW_SIZE.1,
        fps: PREVIEW_FPS,
        frames: Some(start..start + length),
        ..plain()
    };
    let mut bytes = Vec::new();
    render_gif(recording, &options, &mut bytes)?;
    Ok(write_atomically(path, |file| file.write_all(&bytes))?)
}

/// Moments of the stills of a scenario, seconds: the same for all methods, whatever becomes of them.
fn moments_s(scenario: &Scenario, seconds: f32) -> [f32; STILLS] {
    let push = scenario.push.as_ref().map(|design| design.of_run(0).time_s - BEFORE_PUSH * seconds);
    let begin = push.unwrap_or(BEGIN_S).min(scenario.seconds - seconds).max(0.0);
    std::array::from_fn(|still| begin + seconds * still as f32 / (STILLS - 1) as f32)
}

/// Stills of one run, side by side, with the commanded path as a green line.
pub(crate) fn draw_stills(
    recording: &Recording,
    scenario: &Scenario,
    seconds: f32,
    path: &Path,
) -> Result<(), BenchError> {
    let options = RenderOptions {
        width: STILL_SIZE.0,
        height: STILL_SIZE.1,
        camera: CameraOptions {
            azimuth: Azimuth::World(STILL_AZIMUTH_RAD),
            distance_heights: STILL_DISTANCE_HEIGHTS,
            ..CameraOptions::default()
        },
        control_path: true,
        ..plain()
    };
    let frames =
        moments_s(scenario, seconds).map(|moment| (moment * recording.frame_rate_hz).round() as usize);
    let png = render_row(recording, &options, &frames)?.to_png()?;
    Ok(write_atomically(path, |file| file.write_all(&png))?)
}

/// Writes SCENARIO.png for every scenario with previews: the stills of each method whose first run gave motion, with its name. Those
/// of a run are at `stills_of` it.
pub(crate) fn stack_stills(
    config: &BenchConfig,
    results: &[RunResult],
    out: &Path,
    stills_of: impl Fn(&RunResult) -> PathBuf,
) -> Result<(), BenchError> {
    for scenario in config.scenario.iter().filter(|scenario| scenario.preview && config.preview_s > 0.0) {
        let drawn = results
            .iter()
            .filter(|run| run.scenario == scenario.name && run.run == 0 && run.failure.is_none());
        let mut rows = Vec::new();
        for run in drawn {
            let path = stills_of(run);
            let (action, remedy) = ("reading the stills", "remove them and run the same command again");
            let bytes =
                std::fs::read(&path).map_err(|source| BenchError::Io { action, path, source, remedy })?;
            rows.push((run.method.as_str(), Image::from_png(&bytes)?));
        }
        if rows.is_empty() {
            continue;
        }
        let times = moments_s(scenario, config.preview_s).map(|moment| format!("{moment:.1} s"));
        let png = stack_rows(&times.each_ref().map(String::as_str), &rows, Theme::Light)?.to_png()?;
        write_atomically(&out.join(&scenario.name).with_extension("png"), |file| file.write_all(&png))?;
    }
    Ok(())
}

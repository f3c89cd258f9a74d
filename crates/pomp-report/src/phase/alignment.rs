//! How far simulated motion lies from the phases of its clip, read with and without alignment.

use super::phases::{ClipPhases, velocities};
use crate::ReportError;
use glam::Vec3;
use pomp_model::Model;
use pomp_motion::features::{FUTURE_KEYS, KEY_OFFSETS};
use pomp_motion::{FrameTable, Gait};
use pomp_phase::{PeriodicEncoder, PhaseState, VelocityWindow, WindowDecoder, WindowEncoder};
use serde::Serialize;

/// Every so many frames are read.
const STRIDE: usize = 8;

/// Mean squared distances of phase codes to those of the clip.
#[derive(Clone, Debug, Serialize)]
pub struct Alignment {
    /// The gait, or `all`.
    pub gait: &'static str,
    /// Frames read.
    pub frames: usize,
    /// Read by the clean encoder.
    pub unaligned: f32,
    /// Read by the aligned encoder.
    pub aligned: f32,
    /// Mean squared length of the clip's codes, for scale.
    pub power: f32,
}

/// Stitches windows of the replays as the closed loop does, from true keys, and reads them with both encoders.
pub fn measure(
    model: &Model,
    aligned: &PeriodicEncoder,
    clips: &[ClipPhases<'_>],
) -> Result<Vec<Alignment>, ReportError> {
    let decoder = WindowDecoder::new(&model.phase.decoder, model.description.phase.window);
    let encoders = [WindowEncoder::new(&model.phase.encoder), WindowEncoder::new(aligned)];
    let mut rows: Vec<(Gait, [f32; 3])> = Vec::new();
    for clip in clips {
        let simulated = velocities(&clip.clip.simulated);
        let frames: Vec<(usize, Gait, &PhaseState)> = clip.frames().step_by(STRIDE).collect();
        for chunk in frames.chunks(64) {
            let windows: Vec<VelocityWindow> = chunk
                .iter()
                .map(|&(frame, ..)| stitched(model, &decoder, clip, &simulated, frame))
                .collect::<Result<_, _>>()?;
            let windows: Vec<&VelocityWindow> = windows.iter().collect();
            let [before, after] = [encoders[0].encode_all(&windows)?, encoders[1].encode_all(&windows)?];
            for ((&(_, gait, clean), before), after) in chunk.iter().zip(&before).zip(&after) {
                let code = clean.code();
                let power: f32 = code.iter().map(|v| v * v).sum();
                rows.push((gait, [squared(&before.code(), &code), squared(&after.code(), &code), power]));
            }
        }
    }
    let mean = |name: &'static str, wanted: Option<Gait>| {
        let chosen: Vec<[f32; 3]> = rows
            .iter()
            .filter(|(gait, _)| wanted.is_none_or(|wanted| wanted == *gait))
            .map(|(_, values)| *values)
            .collect();
        let of = |at: usize| chosen.iter().map(|values| values[at]).sum::<f32>() / chosen.len() as f32;
        (!chosen.is_empty()).then(|| Alignment {
            gait: name,
            frames: chosen.len(),
            unaligned: of(0),
            aligned: of(1),
            power: of(2),
        })
    };
    let gaits = Gait::ALL.iter().filter_map(|&gait| mean(gait.name(), Some(gait)));
    Ok(gaits.chain(mean("all", None)).collect())
}

fn stitched(
    model: &Model,
    decoder: &WindowDecoder,
    clip: &ClipPhases<'_>,
    simulated: &FrameTable<Vec3>,
    frame: usize,
) -> Result<VelocityWindow, ReportError> {
    let (window, stitch) = (model.description.phase.window, model.description.stitch);
    let radius = window.radius_frames;
    let mut past = FrameTable::with_columns(simulated.columns());
    for back in (0..=radius).rev() {
        past.push(&simulated[frame.saturating_sub(back)]);
    }
    let mean: Vec<Vec3> = (0..past.columns())
        .map(|joint| past.rows().map(|row| row[joint]).sum::<Vec3>() / past.frames() as f32)
        .collect();
    let spacing = (KEY_OFFSETS[1] - KEY_OFFSETS[0]) as usize;
    let keys: Vec<PhaseState> = (0..FUTURE_KEYS).map(|key| clip.at(frame + key * spacing)).collect();
    let far = decoder.target_velocities(&keys, spacing, stitch.near_frames + 1, radius, &mean)?;
    Ok(stitch.stitch(&window, &past, &far)?)
}

fn squared(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum()
}

//! How much of unseen windows survives a code of a few numbers.

use super::phases::ClipPhases;
use super::plain::{PlainAutoencoder, rows};
use super::principal::Principal;
use crate::ReportError;
use burn::module::Module;
use burn::tensor::{Device, Tensor};
use pomp_model::Model;
use pomp_phase::{VelocityWindow, window_batch};
use serde::Serialize;
use std::f32::consts::TAU;

/// Windows that errors are measured on, at most.
const MEASURED: usize = 400;
/// Windows that principal components are found in, at most.
const COMPONENTS_OF: usize = 1500;

/// One way of keeping a window in a few numbers.
#[derive(Clone, Debug, Serialize)]
pub struct Reconstruction {
    /// Its name.
    pub method: String,
    /// Numbers kept per window.
    pub numbers: usize,
    /// Weights and biases, none for a fixed transform.
    pub weights: usize,
    /// Share of the windows' power that is lost.
    pub lost: f32,
    /// Mean squared error, m²/s².
    pub mse: f32,
}

/// Measures the model's autoencoder beside others on windows of `held_out`; those learn from `training`.
pub fn compare(
    model: &Model,
    training: &[ClipPhases<'_>],
    held_out: &[ClipPhases<'_>],
    plain_steps: usize,
) -> Result<Vec<Reconstruction>, ReportError> {
    let window = model.description.phase.window;
    let cut = |clips: &[ClipPhases<'_>], most: usize| -> Result<Vec<VelocityWindow>, ReportError> {
        let count: usize = clips.iter().map(|clip| clip.frames().count()).sum();
        let every = count.div_ceil(most).max(1);
        let all = clips.iter().flat_map(|clip| clip.frames().map(move |(frame, ..)| (clip, frame)));
        Ok(all
            .step_by(every)
            .map(|(clip, frame)| window.cut(&clip.velocities, frame))
            .collect::<Result<_, _>>()?)
    };
    let (learned, measured) = (cut(training, 20_000)?, cut(held_out, MEASURED)?);
    let values = measured.len() * measured[0].values().len();
    let power: f32 = measured.iter().flat_map(VelocityWindow::values).map(|v| v * v).sum();
    let found = |method: &str, numbers: usize, weights: usize, squared: f32| Reconstruction {
        method: method.to_owned(),
        numbers,
        weights,
        lost: squared / power,
        mse: squared / values as f32,
    };

    let device = Device::flex();
    let periodic = model.phase.valid();
    let channels = model.description.phase.channels;
    let (numbers, weights) = (4 * channels, periodic.num_params());
    let mut squared = 0.0;
    for chunk in measured.chunks(64) {
        let batch = window_batch(&chunk.iter().collect::<Vec<_>>(), &device)?;
        squared += total((periodic.forward(batch.clone()).reconstruction - batch).square());
    }
    let mut results = vec![found("periodic autoencoder", numbers, weights, squared)];

    let plain = PlainAutoencoder::train(&learned, numbers, weights, plain_steps, model.description.seed)?;
    let mut squared = 0.0;
    for chunk in measured.chunks(64) {
        let batch = rows(&chunk.iter().collect::<Vec<_>>(), &device);
        squared += total((plain.forward(batch.clone()) - batch).square());
    }
    results.push(found("plain autoencoder", numbers, plain.num_params(), squared));

    let every = learned.len().div_ceil(COMPONENTS_OF).max(1);
    let rows: Vec<&[f32]> = learned.iter().step_by(every).map(VelocityWindow::values).collect();
    let components = Principal::of(&rows, numbers, 6);
    let squared: f32 = measured.iter().map(|w| components.squared_error(w.values())).sum();
    results.push(found("principal components", numbers, numbers * rows[0].len(), squared));

    let (mut loudest, mut per_row) = (0.0, 0.0);
    for window in &measured {
        let (a, b) = fourier_errors(window, channels);
        loudest += a;
        per_row += b;
    }
    results.push(found("Fourier, loudest waves of all joints", numbers, 0, loudest));
    results.push(found("Fourier, one wave per joint and axis", 9 * measured[0].joints(), 0, per_row));
    Ok(results)
}

/// Squared errors when the `waves` loudest Fourier coefficients of a window are kept (row, frequency, amplitude and shift:
/// four numbers each), and when each row keeps its loudest one (three numbers each).
fn fourier_errors(window: &VelocityWindow, waves: usize) -> (f32, f32) {
    let frames = window.frames();
    let circle: Vec<(f32, f32)> = (0..frames).map(|n| (TAU * n as f32 / frames as f32).sin_cos()).collect();
    let mut energies = Vec::new();
    let (mut power, mut kept_per_row) = (0.0, 0.0);
    for row in window.values().chunks_exact(frames) {
        power += row.iter().map(|v| v * v).sum::<f32>();
        let mut best = 0.0f32;
        for bin in 1..=frames / 2 {
            let (mut cosine, mut sine) = (0.0, 0.0);
            for (t, value) in row.iter().enumerate() {
                let (s, c) = circle[(bin * t) % frames];
                cosine += value * c;
                sine += value * s;
            }
            // A frame count is odd, so every bin but the first stands for two.
            let energy = 2.0 / frames as f32 * (cosine * cosine + sine * sine);
            best = best.max(energy);
            energies.push(energy);
        }
        kept_per_row += best;
    }
    energies.sort_by(|a, b| b.total_cmp(a));
    let kept: f32 = energies.iter().take(waves).sum();
    (power - kept, power - kept_per_row)
}

fn total<const D: usize>(squares: Tensor<D>) -> f32 {
    squares.sum().into_scalar()
}

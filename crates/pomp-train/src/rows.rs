//! Examples as the network takes them: rows of normalised inputs and outputs, with noise on the inputs.

use crate::dataset::{Dataset, FRAME_RATE_HZ};
use crate::example::{StateSource, write_example};
use crate::sampler::Sampler;
use crate::{Phases, phaseless};
use burn::tensor::{Device, Tensor, TensorData};
use pomp_model::{KinematicDescription, OutputSpace, subtract_base};
use pomp_motion::GRAVITY_M_S2;
use pomp_motion::features::{BlockName, FeatureLayout, Normaliser};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// Examples that the normalisation is fitted on, at most.
const NORMALISER_EXAMPLES: usize = 20_000;

/// Everything that turns examples into normalised rows.
pub(crate) struct Rows<'a> {
    pub dataset: &'a Dataset,
    pub layout: &'a FeatureLayout,
    pub weight_impulse_ns: f32,
    pub description: &'a KinematicDescription,
    pub phases: Phases,
}

/// One example to be written: clip, frame, where the state comes from.
pub(crate) type Example<'a> = (usize, usize, StateSource<'a>);

/// Rows of a batch.
pub(crate) struct Batch {
    /// Inputs in their own units, row-major.
    pub raw_x: Vec<f32>,
    /// Normalised inputs, row-major.
    pub x: Vec<f32>,
    /// Normalised outputs, row-major.
    pub y: Vec<f32>,
    /// The clip of each row.
    pub clips: Vec<usize>,
}

impl Batch {
    /// Its first rows.
    pub fn first(&self, rows: usize, layout: &FeatureLayout) -> Self {
        let (x, y) = (rows * layout.x_len(), rows * layout.y_len());
        Self {
            raw_x: self.raw_x[..x].to_vec(),
            x: self.x[..x].to_vec(),
            y: self.y[..y].to_vec(),
            clips: self.clips[..rows].to_vec(),
        }
    }
}

impl<'a> Rows<'a> {
    pub fn new(
        dataset: &'a Dataset,
        layout: &'a FeatureLayout,
        description: &'a KinematicDescription,
        phases: Phases,
    ) -> Self {
        Self { dataset, layout, weight_impulse_ns: weight_impulse_ns(dataset), description, phases }
    }

    /// The rows of `examples`. Those from `noisy_from` on get noise of the deviations `noise` (in x's normalised unit),
    /// drawn from `seed` and the row's number.
    pub fn fill(&self, examples: &[Example<'_>], noise: Option<Noise<'_>>) -> Batch {
        let (x_len, y_len) = (self.layout.x_len(), self.layout.y_len());
        let rows = examples.len();
        let mut batch = Batch {
            raw_x: vec![0.0; rows * x_len],
            x: vec![0.0; rows * x_len],
            y: vec![0.0; rows * y_len],
            clips: examples.iter().map(|(clip, ..)| *clip).collect(),
        };
        let parts = batch
            .raw_x
            .par_chunks_exact_mut(x_len)
            .zip(batch.x.par_chunks_exact_mut(x_len))
            .zip(batch.y.par_chunks_exact_mut(y_len));
        examples.par_iter().zip(parts).enumerate().for_each(
            |(row, ((clip, frame, source), ((raw, x), y)))| {
                let clip = &self.dataset.clips[*clip];
                write_example(self.layout, clip, *frame, source, self.weight_impulse_ns, raw, y);
                if let Some(noise) = noise.filter(|noise| row >= noise.first_row) {
                    let mut rng = ChaCha8Rng::seed_from_u64(noise.seed.wrapping_add(row as u64));
                    let scales = noise.deviations.iter().zip(self.description.x.deviation());
                    for (value, (deviation, scale)) in raw.iter_mut().zip(scales) {
                        if *deviation > 0.0 {
                            *value += deviation * scale * normal(&mut rng);
                        }
                    }
                }
                self.description.y_to_output(self.layout, raw, y);
                x.copy_from_slice(raw);
                self.description.x.normalise(x);
                if self.phases == Phases::None {
                    phaseless::hide(self.layout, x, y);
                }
            },
        );
        batch
    }

    /// The network's normalised outputs as y in its own units, row by row.
    pub fn outputs_to_y(&self, raw_x: &[f32], y: &mut [f32]) {
        let rows =
            raw_x.par_chunks_exact(self.layout.x_len()).zip(y.par_chunks_exact_mut(self.layout.y_len()));
        rows.for_each(|(x, y)| self.description.output_to_y(self.layout, x, y));
    }
}

/// Noise on the inputs of a batch.
#[derive(Clone, Copy)]
pub(crate) struct Noise<'a> {
    pub deviations: &'a [f32],
    pub first_row: usize,
    pub seed: u64,
}

/// A `[rows, columns]` tensor of row-major values.
pub(crate) fn matrix(values: Vec<f32>, columns: usize, device: &Device) -> Tensor<2> {
    let rows = values.len() / columns;
    Tensor::from_data(TensorData::new(values, [rows, columns]), device)
}

/// Impulse of the weight during a frame, N·s.
pub(crate) fn weight_impulse_ns(dataset: &Dataset) -> f32 {
    dataset.mass_kg * GRAVITY_M_S2 as f32 / FRAME_RATE_HZ
}

/// Mean and deviation of x and of the network's output over training examples.
pub(crate) fn fit_normalisers(
    dataset: &Dataset,
    layout: &FeatureLayout,
    sampler: &Sampler,
    output: OutputSpace,
) -> (Normaliser, Normaliser) {
    // Odd, so that clean and simulated examples take turns.
    let stride = sampler.len().div_ceil(NORMALISER_EXAMPLES).max(1) | 1;
    let rows: Vec<(Vec<f32>, Vec<f32>)> = (0..sampler.len())
        .step_by(stride)
        .collect::<Vec<_>>()
        .par_iter()
        .map(|&index| {
            let (clip, frame) = sampler.at(index);
            let (mut x, mut y) = (vec![0.0; layout.x_len()], vec![0.0; layout.y_len()]);
            let impulse = weight_impulse_ns(dataset);
            // Simulated states are in: a residual of clean states alone would hardly know corrections.
            let source = if index % 2 == 0 { StateSource::Clean } else { StateSource::Replayed };
            write_example(layout, &dataset.clips[clip], frame, &source, impulse, &mut x, &mut y);
            subtract_base(output, layout, &x, &mut y);
            (x, y)
        })
        .collect();
    (
        Normaliser::fit(layout.x_blocks(), rows.iter().map(|(x, _)| x.as_slice())),
        Normaliser::fit(layout.y_blocks(), rows.iter().map(|(_, y)| y.as_slice())),
    )
}

/// Deviation of the noise on each input: `state` on those of the state, `context` on what stands around it.
pub(crate) fn noise_per_feature(layout: &FeatureLayout, state: f32, context: f32) -> Vec<f32> {
    let mut noise = vec![0.0; layout.x_len()];
    for block in layout.x_blocks() {
        noise[block.range.clone()].fill(match block.name {
            BlockName::JointPositions
            | BlockName::JointVelocities
            | BlockName::JointRotations
            | BlockName::RootMotion => state,
            BlockName::PhaseCodes | BlockName::Trajectory | BlockName::ContactImpulses => context,
            BlockName::Gait | BlockName::TerrainHeights | BlockName::PhaseParameters => 0.0,
        });
    }
    noise
}

/// A standard normal number (Box and Muller).
pub(crate) fn normal(rng: &mut ChaCha8Rng) -> f32 {
    let (u, v): (f32, f32) = (1.0 - rng.random::<f32>(), rng.random());
    (-2.0 * u.ln()).sqrt() * (std::f32::consts::TAU * v).cos()
}

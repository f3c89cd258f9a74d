//! What a trained kinematic module is worth on clips that it has not seen.

use crate::dataset::Dataset;
use crate::example::StateSource;
use crate::held_out::{HorizonErrors, rollout_errors, starts};
use crate::kinematic_stage::predict;
use crate::phase_stage::PhaseReader;
use crate::progress::Stage;
use crate::rows::{Batch, Rows, matrix};
use crate::sampler::Sampler;
use crate::step_rng::step_rng;
use crate::{Phases, TrainError};
use burn::tensor::{Device, Tensor};
use pomp_kinematic::{
    Covariance, CovarianceEstimate, GammaTable, KinematicModel, ReverseProcess, SamplerConfig,
};
use pomp_model::Model;
use pomp_motion::Gait;
use pomp_motion::features::BlockName;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use std::ops::Range;

/// Frames ahead at which rollouts are measured: one, and 0.25, 0.5 and 1 s.
const HORIZONS: [usize; 4] = [1, 15, 30, 60];
/// Starts of rollouts, at most.
const STARTS: usize = 256;
/// Frames that samples are drawn for, at most.
const SAMPLED_FRAMES: usize = 96;
/// Samples of each.
const SAMPLES: usize = 8;
/// Frames that the blend is read at, at most.
const BLENDED_FRAMES: usize = 4096;

/// What [`report_kinematic`] measures on, beside data and model.
#[derive(Clone, Debug, PartialEq)]
pub struct KinematicReportConfig {
    /// As [`TrainConfig::phase_edge_frames`](crate::TrainConfig::phase_edge_frames) of the model's training.
    pub phase_edge_frames: usize,
    /// As [`TrainConfig::margin_frames`](crate::TrainConfig::margin_frames) of the model's training.
    pub margin_frames: usize,
    /// Numbers of denoising steps to sample with.
    pub steps: Vec<usize>,
    /// Seed of the noise.
    pub seed: u64,
}

/// What [`report_kinematic`] finds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KinematicReport {
    /// `held_out` or `training`: which clips the figures are of.
    pub measured_on: &'static str,
    /// Number of these clips, mirror images and variants included.
    pub clips: usize,
    /// Number of weights.
    pub weights: usize,
    /// Rollouts that were measured.
    pub rollouts: usize,
    /// Errors of rollouts by their length.
    pub horizons: Vec<HorizonErrors>,
    /// One row per way to sample.
    pub samplers: Vec<SamplerFigures>,
    /// Share of every expert in the blend, by gait.
    pub experts: Vec<GaitBlend>,
}

/// One way to sample, at full temperature. Spread and errors are root mean squares over the features of the pose and the
/// root's motion, in their normalised unit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SamplerFigures {
    /// Denoising steps.
    pub steps: usize,
    /// What is assumed about cov(y_0 | y_n).
    pub covariance: Covariance,
    /// How it was estimated; none where nothing is.
    pub estimate: Option<CovarianceEstimate>,
    /// Standard deviation of samples of one frame.
    pub spread: f32,
    /// Distance of the clip from the mean of many samples of its frame. A module that is as uncertain as it should be has
    /// a spread that equals it.
    pub error: f32,
    /// Energy score per feature: E‖y − s‖ − E‖s − s′‖ / 2. It is least for samples s of the data's own distribution.
    pub energy_score: f32,
}

/// The mean blend of one gait.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GaitBlend {
    /// The gait that prevails in the frames.
    pub gait: &'static str,
    /// Number of frames.
    pub frames: usize,
    /// Mean α of every expert.
    pub shares: Vec<f32>,
}

/// Measures the kinematic module of `model` on the clips of `dataset` that are held out (or on all, when none is).
///
/// # Errors
/// A model without a kinematic module, clips too short to measure on, or a number of steps that the module does not have.
pub fn report_kinematic(
    mut dataset: Dataset,
    model: &Model,
    config: &KinematicReportConfig,
    device: &Device,
) -> Result<KinematicReport, TrainError> {
    let (network, gamma, description) = model.kinematic()?;
    let layout = &model.description.layout;
    let measured_on = dataset.measured_on();
    if measured_on == "held_out" {
        dataset.clips.retain(|clip| clip.held_out);
    }
    let phases = PhaseReader::new(&model.phase.encoder, &model.description.phase, config.phase_edge_frames)?;
    phases.read(&mut dataset)?;
    let sampler = Sampler::new(&dataset, 0..dataset.clips.len(), config.margin_frames, 1.0);
    // A module without phases ignores those that it is shown.
    let rows = Rows::new(&dataset, layout, description, Phases::Codes);
    let mut rng = step_rng(config.seed, Stage::Kinematic, usize::MAX);
    let longest = HORIZONS[HORIZONS.len() - 1];
    let begun = starts(&dataset, &sampler, longest, config.margin_frames, STARTS)?;
    let mut one_step = |batch: &Batch| predict(network, batch.x.clone(), layout, device, &mut rng);
    let horizons = rollout_errors(&mut one_step, &rows, &begun, &HORIZONS);
    let measured = Measured { network, gamma, rows: &rows, sampler: &sampler, device };
    Ok(KinematicReport {
        measured_on,
        clips: dataset.clips.len(),
        weights: network.parameter_count(),
        rollouts: begun.len(),
        horizons,
        samplers: measured.samplers(config, &mut rng)?,
        experts: measured.experts(),
    })
}

struct Measured<'a> {
    network: &'a KinematicModel,
    gamma: &'a GammaTable,
    rows: &'a Rows<'a>,
    sampler: &'a Sampler,
    device: &'a Device,
}

impl Measured<'_> {
    /// At most `most` evenly spread frames.
    fn frames(&self, most: usize) -> Vec<(usize, usize)> {
        let stride = self.sampler.len().div_ceil(most).max(1);
        (0..self.sampler.len()).step_by(stride).map(|index| self.sampler.at(index)).collect()
    }

    /// Normalised x and y of frames of the clips themselves.
    fn clean(&self, frames: &[(usize, usize)]) -> (Vec<f32>, Vec<f32>) {
        let examples: Vec<_> =
            frames.iter().map(|&(clip, frame)| (clip, frame, StateSource::Clean)).collect();
        let batch = self.rows.fill(&examples, None);
        (batch.x, batch.y)
    }

    fn samplers(
        &self,
        config: &KinematicReportConfig,
        rng: &mut ChaCha8Rng,
    ) -> Result<Vec<SamplerFigures>, TrainError> {
        let (x, y) = self.clean(&self.frames(SAMPLED_FRAMES));
        let x_len = self.rows.layout.x_len();
        let repeated: Vec<f32> = x.chunks_exact(x_len).flat_map(|row| row.repeat(SAMPLES)).collect();
        let repeated = matrix(repeated, x_len, self.device);
        let assumptions = [
            (Covariance::None, CovarianceEstimate::NoiseEnergy),
            (Covariance::Scalar, CovarianceEstimate::NoiseEnergy),
            (Covariance::Scalar, CovarianceEstimate::PredictionError),
            (Covariance::PerFeature, CovarianceEstimate::NoiseEnergy),
            (Covariance::PerFeature, CovarianceEstimate::PredictionError),
        ];
        let mut figures = Vec::new();
        for &steps in &config.steps {
            for (covariance, estimate) in assumptions {
                // The one step of a single-step process is its last, which has no noise whatever is assumed.
                if steps == 1 && covariance != Covariance::None {
                    continue;
                }
                let sampler = SamplerConfig { covariance, estimate, ..SamplerConfig::analytic_ddim(steps) };
                let y_len = self.rows.layout.y_len();
                let process =
                    ReverseProcess::new(self.network.schedule(), y_len, &sampler, Some(self.gamma))?;
                let samples = self.network.sample(&repeated, &process, rng);
                let samples = samples.try_into_vec_as::<f32>().expect("samples are floating-point numbers");
                let Scores { spread, error, energy_score } =
                    scores(&y, &samples, y_len, &self.state_features());
                let estimate = (covariance != Covariance::None).then_some(estimate);
                figures.push(SamplerFigures { steps, covariance, estimate, spread, error, energy_score });
            }
        }
        Ok(figures)
    }

    /// The features of y that are the pose and the root's motion; the pose's blocks lie side by side.
    fn state_features(&self) -> Range<usize> {
        self.rows.layout.y_range(BlockName::JointPositions).start
            ..self.rows.layout.y_range(BlockName::RootMotion).end
    }

    fn experts(&self) -> Vec<GaitBlend> {
        let frames = self.frames(BLENDED_FRAMES);
        let (x, _) = self.clean(&frames);
        let gates: Tensor<2> = self.network.encoder.gates(&matrix(x, self.rows.layout.x_len(), self.device));
        let gates = gates.try_into_vec_as::<f32>().expect("shares are floating-point numbers");
        let experts = self.network.config().experts;
        let gait_of = |&(clip, frame): &(usize, usize)| {
            Gait::dominant(&self.rows.dataset.clips[clip].recording.gait[frame])
        };
        Gait::ALL
            .iter()
            .filter_map(|&gait| {
                let mut shares = vec![0.0; experts];
                let mut count = 0;
                let of_gait = frames.iter().zip(gates.chunks_exact(experts));
                for (_, row) in of_gait.filter(|(frame, _)| gait_of(frame) == gait) {
                    count += 1;
                    for (share, value) in shares.iter_mut().zip(row) {
                        *share += value;
                    }
                }
                for share in &mut shares {
                    *share /= count.max(1) as f32;
                }
                (count > 0).then(|| GaitBlend { gait: gait.name(), frames: count, shares })
            })
            .collect()
    }
}

struct Scores {
    spread: f32,
    error: f32,
    energy_score: f32,
}

/// Compares rows of `data` with as many groups of [`SAMPLES`] rows, over `features` of the `width` that a row has.
fn scores(data: &[f32], samples: &[f32], width: usize, features: &Range<usize>) -> Scores {
    let count = SAMPLES as f64;
    let (mut variance, mut about_mean, mut energy) = (0.0, 0.0, 0.0);
    let rows = data.len() / width;
    let distance = |a: &[f32], b: &[f32]| -> f64 {
        a.iter().zip(b).map(|(a, b)| f64::from(a - b).powi(2)).sum::<f64>().sqrt()
    };
    for (row, group) in data.chunks_exact(width).zip(samples.chunks_exact(width * SAMPLES)) {
        let truth = &row[features.clone()];
        let group: Vec<&[f32]> = group.chunks_exact(width).map(|sample| &sample[features.clone()]).collect();
        for (index, truth) in truth.iter().enumerate() {
            let mean = group.iter().map(|sample| f64::from(sample[index])).sum::<f64>() / count;
            let squares: f64 = group.iter().map(|sample| (f64::from(sample[index]) - mean).powi(2)).sum();
            variance += squares / (count - 1.0);
            // The mean of a few samples scatters itself.
            about_mean += (f64::from(*truth) - mean).powi(2) - squares / (count - 1.0) / count;
        }
        let to_truth = group.iter().map(|sample| distance(sample, truth)).sum::<f64>() / count;
        let pairs: f64 =
            group.iter().enumerate().flat_map(|(i, a)| group[..i].iter().map(|b| distance(a, b))).sum();
        energy += to_truth - pairs / (count * (count - 1.0));
    }
    let cells = (rows * features.len()) as f64;
    Scores {
        spread: (variance / cells).sqrt() as f32,
        error: (about_mean / cells).max(0.0).sqrt() as f32,
        energy_score: (energy / rows as f64 / (features.len() as f64).sqrt()) as f32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::normal;
    use rand::SeedableRng;

    /// Scores of samples with `spread` about the mean of data that scatter by 1 about theirs.
    fn scored(spread: f32) -> Scores {
        let (rows, width) = (400, 6);
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        let (mut data, mut samples) = (Vec::new(), Vec::new());
        for row in 0..rows {
            let mean: Vec<f32> = (0..width).map(|i| (row * width + i) as f32 % 7.0).collect();
            data.extend(mean.iter().map(|mean| mean + normal(&mut rng)));
            for _ in 0..SAMPLES {
                samples.extend(mean.iter().map(|mean| mean + spread * normal(&mut rng)));
            }
        }
        // The first and the last feature are not looked at: they may be anything.
        for row in samples.chunks_exact_mut(width) {
            (row[0], row[width - 1]) = (1e6, -1e6);
        }
        scores(&data, &samples, width, &(1..width - 1))
    }

    #[test]
    fn spread_is_that_of_the_samples_and_error_that_of_the_data() {
        for spread in [0.5, 1.0, 2.0] {
            let found = scored(spread);
            assert!((found.spread / spread - 1.0).abs() < 0.05, "{spread}: {}", found.spread);
            assert!((found.error - 1.0).abs() < 0.05, "{spread}: {}", found.error);
        }
    }

    #[test]
    fn the_energy_score_is_best_for_samples_of_the_datas_own_spread() {
        let [less, right, more] = [0.4, 1.0, 2.0].map(|spread| scored(spread).energy_score);
        assert!(right < less && right < more, "{less} {right} {more}");
    }
}

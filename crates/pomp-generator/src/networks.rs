//! The networks of the closed loop, for as many characters at a time as there are.

use crate::phase_feedback::PhaseNetworks;
use crate::{GeneratorConfig, GeneratorError};
use pomp_kinematic::{CoherentNoise, KinematicInference, Precision, ReverseProcess, SamplerConfig};
use pomp_model::Model;
use pomp_motion::features::Rotations;

/// The packed networks of a model, and room for what they compute. A clone shares the weights, so that characters of one
/// model hold them once.
#[derive(Clone)]
pub struct Networks {
    pub(crate) kinematic: KinematicInference,
    pub(crate) phase: PhaseNetworks,
    /// What they were made of, as far as it was read from files, and for.
    model_sha256: Option<String>,
    sampler: SamplerConfig,
    precision: Precision,
    feedback: crate::PhaseFeedback,
}

impl Networks {
    /// Packs the networks of `model` for the sampler, the precision and the phase feedback of `config`.
    ///
    /// # Errors
    /// A model without its parts or without joint rotations, or a sampler that does not fit its schedule.
    pub fn new(model: &Model, config: &GeneratorConfig) -> Result<Self, GeneratorError> {
        let (network, ..) = model.kinematic()?;
        if model.description.layout.rotations() == Rotations::None {
            return Err(GeneratorError::BadModel {
                reason: "it predicts no joint rotations (rotations = \"none\"), which the drives of the ragdoll follow; \
                         train it with rotations = \"six_d\""
                    .to_owned(),
            });
        }
        let (sampler, precision, feedback) = (config.sampler, config.precision, config.phase_feedback);
        Ok(Self {
            kinematic: KinematicInference::in_precision(network, process(model, &sampler)?, precision)?,
            phase: PhaseNetworks::new(model, feedback)?,
            model_sha256: model.files_sha256.clone(),
            sampler,
            precision,
            feedback,
        })
    }

    /// That they were made of `model` for `config`.
    ///
    /// # Errors
    /// Another model, sampler, precision or phase feedback.
    pub(crate) fn check(&self, model: &Model, config: &GeneratorConfig) -> Result<(), GeneratorError> {
        let differs = if model.files_sha256 != self.model_sha256 {
            "another model"
        } else if config.sampler != self.sampler {
            "another [sampler]"
        } else if config.precision != self.precision {
            "another precision"
        } else if config.phase_feedback != self.feedback {
            "another phase_feedback"
        } else {
            return Ok(());
        };
        Err(GeneratorError::BadScene {
            reason: format!(
                "the networks were packed for {differs} than the character has; characters whose networks run together have \
                 the same"
            ),
        })
    }

    /// Noise of the length that a sample takes.
    pub(crate) fn noise(&self, seed: u64, frame_s: f32, memory_s: f32) -> CoherentNoise {
        CoherentNoise::new(seed, self.kinematic.draws(), frame_s, memory_s)
    }

    /// Samples otherwise from now on. `model` is the one that these were packed from.
    ///
    /// # Errors
    /// A sampler that does not fit the model's schedule.
    pub(crate) fn set_sampler(
        &mut self,
        model: &Model,
        sampler: &SamplerConfig,
    ) -> Result<(), GeneratorError> {
        self.kinematic.set_process(process(model, sampler)?)?;
        self.sampler = *sampler;
        Ok(())
    }

    /// Forgets the characters of the last frame.
    pub(crate) fn begin(&mut self) {
        self.kinematic.begin();
        self.phase.begin();
    }
}

fn process(model: &Model, sampler: &SamplerConfig) -> Result<ReverseProcess, GeneratorError> {
    let (network, gamma, _) = model.kinematic()?;
    let features = model.description.layout.y_len();
    Ok(ReverseProcess::new(network.schedule(), features, sampler, Some(gamma))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pomp_embedded::Device;

    /// y of the walk's start window, as the network gives it.
    fn sample(model: &Model, precision: Precision, seed: u64) -> Vec<f32> {
        let config = GeneratorConfig { precision, ..GeneratorConfig::default() };
        let mut networks = Networks::new(model, &config).expect("the embedded model is whole");
        let (_, _, description) = model.kinematic().expect("it has one");
        let mut x = description.starts["walk"].clone();
        description.x.normalise(&mut x);
        let mut y = vec![0.0; model.description.layout.y_len()];
        let mut noise = networks.noise(seed, 1.0 / 60.0, 0.0);
        networks.kinematic.sample(&x, &mut y, &mut noise).expect("everything is finite");
        y
    }

    #[test]
    fn bfloat16_changes_a_sample_by_a_small_part_of_what_the_noise_does() {
        let model = pomp_embedded::load(&Device::flex()).expect("the embedded model loads");
        let rms = |a: &[f32], b: &[f32]| {
            let squares: f32 = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum();
            (squares / a.len() as f32).sqrt()
        };
        let (mut by_precision, mut by_noise, mut size) = (0.0_f32, f32::INFINITY, 0.0_f32);
        for seed in 0..20 {
            let exact = sample(&model, Precision::Float32, seed);
            by_precision = by_precision.max(rms(&exact, &sample(&model, Precision::Bfloat16, seed)));
            by_noise = by_noise.min(rms(&exact, &sample(&model, Precision::Float32, seed + 100)));
            size = size.max(rms(&exact, &vec![0.0; exact.len()]));
        }
        println!(
            "rms of a sample {size:.3}, changed by {by_precision:.5} (bfloat16) and {by_noise:.5} (noise)"
        );
        assert!(by_precision > 0.0 && by_precision < 0.1 * by_noise);
    }
}

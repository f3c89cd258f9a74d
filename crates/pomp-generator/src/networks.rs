//! The networks of the closed loop, for as many characters at a time as there are.

use crate::phase_feedback::PhaseNetworks;
use crate::{GeneratorConfig, GeneratorError};
use pomp_kinematic::{CoherentNoise, KinematicInference, ReverseProcess, SamplerConfig};
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
    feedback: crate::PhaseFeedback,
}

impl Networks {
    /// Packs the networks of `model` for the sampler and the phase feedback of `config`.
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
        let (sampler, feedback) = (config.sampler, config.phase_feedback);
        Ok(Self {
            kinematic: KinematicInference::new(network, process(model, &sampler)?)?,
            phase: PhaseNetworks::new(model, feedback)?,
            model_sha256: model.files_sha256.clone(),
            sampler,
            feedback,
        })
    }

    /// That they were made of `model` for `config`.
    ///
    /// # Errors
    /// Another model, sampler or phase feedback.
    pub(crate) fn check(&self, model: &Model, config: &GeneratorConfig) -> Result<(), GeneratorError> {
        let differs = if model.files_sha256 != self.model_sha256 {
            "another model"
        } else if config.sampler != self.sampler {
            "another [sampler]"
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

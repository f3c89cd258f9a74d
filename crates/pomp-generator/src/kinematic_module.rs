//! The kinematic module in the loop (docs/method.md §3): the window of a frame in, the next frame out.

use crate::layers::phase_stabiliser::GaitCycles;
use crate::{GeneratorConfig, GeneratorError};
use pomp_kinematic::{CoherentNoise, KinematicInference, ReverseProcess, SamplerConfig};
use pomp_model::{KinematicDescription, Model};
use pomp_motion::Gait;
use pomp_motion::features::{FeatureLayout, InputFrame, OutputFrame, Rotations};

/// The trained network with its normalisation and its buffers.
pub(crate) struct KinematicModule {
    layout: FeatureLayout,
    description: KinematicDescription,
    inference: KinematicInference,
    x: Vec<f32>,
    normalised_x: Vec<f32>,
    y: Vec<f32>,
}

impl KinematicModule {
    /// That of `model`.
    ///
    /// # Errors
    /// A model without its parts or without joint rotations, or a sampler that does not fit its schedule.
    pub fn new(model: &Model, config: &GeneratorConfig) -> Result<Self, GeneratorError> {
        let (network, gamma, description) = model.kinematic()?;
        let layout = model.description.layout.clone();
        if layout.rotations() == Rotations::None {
            return Err(GeneratorError::BadModel {
                reason: "it predicts no joint rotations (rotations = \"none\"), which the drives of the ragdoll follow; \
                         train it with rotations = \"six_d\""
                    .to_owned(),
            });
        }
        let process = ReverseProcess::new(network.schedule(), layout.y_len(), &config.sampler, Some(gamma))?;
        Ok(Self {
            inference: KinematicInference::new(network, process)?,
            description: description.clone(),
            x: vec![0.0; layout.x_len()],
            normalised_x: vec![0.0; layout.x_len()],
            y: vec![0.0; layout.y_len()],
            layout,
        })
    }

    /// Where the blocks of x and y lie.
    pub fn layout(&self) -> &FeatureLayout {
        &self.layout
    }

    /// Numbers of a phase code, 2C.
    pub fn code_width(&self) -> usize {
        2 * self.layout.channels()
    }

    /// Noise of the length that a sample takes.
    pub fn noise(&self, seed: u64, frame_s: f32, memory_s: f32) -> CoherentNoise {
        CoherentNoise::new(seed, self.inference.draws(), frame_s, memory_s)
    }

    /// The start window of `gait`, an x in its own units.
    ///
    /// # Errors
    /// A model that has none.
    pub fn start(&self, gait: Gait) -> Result<&[f32], GeneratorError> {
        let starts = &self.description.starts;
        starts.get(gait.name()).map(Vec::as_slice).ok_or_else(|| GeneratorError::BadModel {
            reason: format!(
                "it has no start for the gait \"{}\"; it starts with {}: choose a command that begins so, or train \
                 on clips of that gait",
                gait.name(),
                starts.keys().map(String::as_str).collect::<Vec<_>>().join(", ")
            ),
        })
    }

    /// The start window of the first of `gaits` that the model has one of, or else of any gait.
    pub fn any_start(&self, gaits: [Gait; 2]) -> &[f32] {
        let starts = &self.description.starts;
        let start = gaits.iter().find_map(|gait| starts.get(gait.name())).or_else(|| starts.values().next());
        start.expect("a generator is made from one of the model's starts")
    }

    /// The cycles that the phase codes of the start windows run through.
    pub fn gait_cycles(&self) -> GaitCycles {
        GaitCycles::of_starts(&self.layout, &self.description.starts, 1.0 / pomp_motion::FRAME_RATE_HZ)
    }

    /// Samples y for `input` on `ground` (world x and z to height); `frame` names the place in an error.
    ///
    /// # Errors
    /// A network whose output is not finite.
    pub fn predict(
        &mut self,
        input: &InputFrame<'_>,
        ground: impl Fn(f32, f32) -> f32,
        noise: &mut CoherentNoise,
        frame: usize,
    ) -> Result<OutputFrame, GeneratorError> {
        self.layout.write_x(input, ground, &mut self.x);
        self.normalised_x.copy_from_slice(&self.x);
        self.description.x.normalise(&mut self.normalised_x);
        self.inference.sample(&self.normalised_x, &mut self.y, noise)?;
        self.description.output_to_y(&self.layout, &self.x, &mut self.y);
        if self.y.iter().any(|v| !v.is_finite()) {
            return Err(GeneratorError::NotFinite { frame });
        }
        Ok(self.layout.read_y(&self.y))
    }

    /// Samples otherwise from now on. `model` is the one that this module was made of.
    ///
    /// # Errors
    /// A sampler that does not fit the model's schedule.
    pub fn set_sampler(&mut self, model: &Model, sampler: &SamplerConfig) -> Result<(), GeneratorError> {
        let (network, gamma, _) = model.kinematic()?;
        let process = ReverseProcess::new(network.schedule(), self.layout.y_len(), sampler, Some(gamma))?;
        Ok(self.inference.set_process(process)?)
    }

    /// α of the experts in the last sample; zeros before the first.
    pub fn gates(&self) -> &[f32] {
        self.inference.gates()
    }
}

//! The kinematic module's own motion, without a body: what a balance policy is trained to follow.

use crate::{ControlPlan, Dynamics, Generator, GeneratorConfig, GeneratorError};
use pomp_model::Model;
use pomp_motion::Gait;
use pomp_motion::features::{CharacterState, OutputFrame};
use pomp_terrain::HeightMap;

/// A motion on one ground, frame by frame.
#[derive(Clone, Debug)]
pub struct PredictedMotion {
    /// The state before each frame.
    pub states: Vec<CharacterState>,
    /// What the kinematic module predicts for it, and the share of the way to an upright posture of its target.
    pub predictions: Vec<(OutputFrame, f32)>,
}

impl PredictedMotion {
    /// So many `frames` along `plan` on `terrain`, begun with the gait `start`. Nothing is simulated, whatever `config` says.
    ///
    /// # Errors
    /// As [`Generator::new`] and [`Generator::step`].
    pub fn new(
        model: &Model,
        terrain: HeightMap,
        config: &GeneratorConfig,
        (plan, start, seed): (&ControlPlan, Gait, u64),
        frames: usize,
    ) -> Result<Self, GeneratorError> {
        let mut config = GeneratorConfig { dynamics: Dynamics::KinematicOnly, ..config.clone() };
        // These act on a body. A model whose balance policy is still to be trained has none.
        config.layers.balance_policy.enabled = false;
        config.layers.balance_planning.enabled = false;
        config.layers.get_up_planning.enabled = false;
        let mut generator = Generator::new(model, terrain, &config, start, seed)?;
        let mut motion = Self { states: Vec::with_capacity(frames), predictions: Vec::with_capacity(frames) };
        for _ in 0..frames {
            let state = generator.inner_mut().character_mut().state().clone();
            let (output, upright) = generator.step_predicting(plan)?;
            motion.states.push(state);
            motion.predictions.push((output, upright));
        }
        Ok(motion)
    }
}

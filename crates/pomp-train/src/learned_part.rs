//! A training by losses of batches: one of those that learned motion matching is made of, and that of skeleton-aware networks.

use crate::checkpoint::Checkpoint;
use crate::finite::Step;
use crate::learned_config::LearnedTraining;
use crate::learner::{Learner, Learning, REPORT_EVERY};
use crate::progress::{MetricsFile, OnEvent, Stage, TrainEvent};
use crate::step_rng::step_rng;
use crate::{Start, TrainError};
use burn::module::Module;
use burn::tensor::Tensor;
use rand_chacha::ChaCha8Rng;
use std::path::Path;

/// Steps between checkpoints.
const CHECKPOINT_EVERY: usize = 1000;
const LEARNING: Learning = Learning { weight_decay: 1e-4, average: 0.998 };

/// What a part is told beside what it learns.
pub(crate) struct Part<'a> {
    /// Name in metrics.
    pub name: &'static str,
    pub stage: Stage,
    pub settings: LearnedTraining,
    pub checkpoint: Checkpoint,
    pub seed: u64,
    /// Steps of the parts before, and of all.
    pub before: usize,
    pub steps: usize,
    /// Folder of the metrics, and of the model.
    pub folder: &'a Path,
    pub out: &'a Path,
}

impl Part<'_> {
    /// Trains `module`, whose parameters track gradients, by the losses of batches that `loss` draws; the averaged weights.
    pub fn run<M: Module>(
        &self,
        module: M,
        start: Start,
        on_event: OnEvent<'_>,
        loss: &mut dyn FnMut(&M, &mut ChaCha8Rng) -> Tensor<1>,
    ) -> Result<M, TrainError> {
        let (mut learner, _) = Learner::begin(module, LEARNING, &self.checkpoint, start)?;
        let mut done = learner.done;
        let LearnedTraining { steps, learning_rate, .. } = self.settings;
        if done > steps {
            let folder = self.out.to_path_buf();
            return Err(TrainError::FewerSteps { stage: self.name, done, asked: steps, folder });
        }
        let mut metrics = MetricsFile::open(self.folder, self.stage, self.before + done)?;
        while done < steps {
            done += 1;
            let mut rng = step_rng(self.seed, self.stage, done);
            let found = loss(&learner.module, &mut rng);
            let named = format!("that of step {done} of the {}, seed {}", self.name, self.seed);
            let checked = Step { stage: self.stage, step: done, batch: &named, checkpoint: &self.checkpoint };
            learner.note(&found, &checked)?;
            let fall = 0.5 * (1.0 + (std::f64::consts::PI * done as f64 / steps as f64).cos());
            learner = learner.descend(&found, learning_rate * fall.max(0.01), &checked)?;
            let is_last = done == steps;
            let mut figures = Vec::new();
            let name = format!("{}_loss", self.name);
            if done.is_multiple_of(REPORT_EVERY) || is_last {
                figures.push((name.as_str(), learner.report_loss()[0]));
            }
            let event = TrainEvent {
                stage: self.stage,
                step: self.before + done,
                steps: self.steps,
                figures: &figures,
            };
            metrics.write(&event)?;
            let stops = on_event(&event).is_break();
            if stops || is_last || done.is_multiple_of(CHECKPOINT_EVERY) {
                learner.save(&learner.averaged(), None, &self.checkpoint)?;
            }
            if stops {
                let (stage, folder) = (self.stage.name(), self.out.to_path_buf());
                return Err(TrainError::Stopped { stage, step: self.before + done, folder });
            }
        }
        Ok(learner.averaged())
    }
}

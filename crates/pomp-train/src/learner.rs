//! Weights that are learned step by step, with their average and what is noted of their loss, and when that is told, measured and saved.

use crate::TrainError;
use crate::adamw::adamw;
use crate::checkpoint::Checkpoint;
use crate::early_stopping::Best;
use crate::epochs::scalar;
use crate::finite::Step;
use crate::loss_record::LossRecord;
use crate::progress::{MetricsFile, OnEvent, Stage, TrainEvent};
use crate::run::Start;
use crate::stable_ids::{AveragedWeights, with_stable_ids};
use burn::grad_clipping::GradientClippingConfig;
use burn::module::Module;
use burn::optim::{GradientsParams, ModuleOptimizer};
use burn::tensor::Tensor;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Largest norm of each parameter's gradient; a rollout that went astray must not throw the rest.
const LARGEST_GRADIENT: f32 = 1.0;
/// Steps between reports of the loss.
pub(crate) const REPORT_EVERY: usize = 100;

/// Settings of a learner.
#[derive(Clone, Copy)]
pub(crate) struct Learning {
    pub weight_decay: f32,
    /// Memory of the averaged weights.
    pub average: f32,
}

/// Weights and what changes with them.
pub(crate) struct Learner<M> {
    /// Steps done.
    pub done: usize,
    pub module: M,
    optimizer: ModuleOptimizer,
    average: AveragedWeights,
    loss: LossRecord,
}

impl<M: Module> Learner<M> {
    /// Begins with `fresh` weights, or where a training is resumed with what `checkpoint` holds; also gives the best measurement of
    /// the checkpoint.
    pub fn begin(
        fresh: M,
        Learning { weight_decay, average: memory }: Learning,
        checkpoint: &Checkpoint,
        start: Start,
    ) -> Result<(Self, Option<Best>), TrainError> {
        let module = with_stable_ids(fresh);
        let clipping = GradientClippingConfig::Norm(LARGEST_GRADIENT);
        let optimizer = adamw(weight_decay, Some(&clipping));
        let saved = match start.resumes() {
            true => checkpoint.load(&module, optimizer.clone())?,
            false => None,
        };
        let Some(saved) = saved else {
            let average = AveragedWeights::new(&module, memory);
            return Ok((Self { done: 0, module, optimizer, average, loss: LossRecord::default() }, None));
        };
        let learner = Self {
            done: saved.step,
            module: with_stable_ids(saved.module),
            optimizer: saved.optimizer,
            average: AveragedWeights::new(&with_stable_ids(saved.average), memory),
            loss: saved.losses.first().copied().unwrap_or_default(),
        };
        Ok((learner, saved.best))
    }

    /// Notes the loss of the next step, which `step` describes.
    ///
    /// # Errors
    /// A loss that is not a number.
    pub fn note(&mut self, loss: &Tensor<1>, step: &Step<'_>) -> Result<(), TrainError> {
        let value = scalar(loss);
        step.check_loss(value, &self.module)?;
        self.loss.add(value);
        Ok(())
    }

    /// Makes the step, down the gradient of its loss.
    ///
    /// # Errors
    /// A gradient that is not a number; the weights are lost then.
    pub fn descend(
        mut self,
        loss: &Tensor<1>,
        learning_rate: f64,
        step: &Step<'_>,
    ) -> Result<Self, TrainError> {
        let gradients = GradientsParams::from_grads(loss.backward(), &self.module);
        step.check_gradients(&gradients, &self.module)?;
        self.module = self.optimizer.step(learning_rate, self.module, gradients);
        self.average.update(&self.module);
        self.done = step.step;
        Ok(self)
    }

    /// The averaged weights.
    pub fn averaged(&self) -> M {
        self.average.apply(self.module.clone())
    }

    /// The mean loss since the last report, and the smoothed one.
    pub fn report_loss(&mut self) -> [f32; 2] {
        self.loss.report()
    }

    /// Writes the checkpoint of the steps done.
    pub fn save(&self, averaged: &M, best: Option<Best>, checkpoint: &Checkpoint) -> Result<(), TrainError> {
        checkpoint.save(self.done, &self.module, averaged, &self.optimizer, best, &[self.loss])
    }
}

/// What a step left to be saved, and whether the training is asked to stop after it.
pub(crate) struct Reported<M> {
    pub averaged: Option<M>,
    pub flow: ControlFlow<()>,
}

/// How long a training is.
#[derive(Clone, Copy)]
pub(crate) struct Length {
    pub steps: usize,
    /// Steps between measurements, each with a checkpoint.
    pub measured_every: usize,
}

/// The reports of one training.
pub(crate) struct Reports {
    stage: Stage,
    steps: usize,
    /// Steps between measurements, each with a checkpoint.
    measured_every: usize,
    metrics: MetricsFile,
    /// The folder that messages name.
    folder: PathBuf,
}

impl Reports {
    /// The reports of a training of which `done` steps are done, into the metrics of a folder; messages name `folder`.
    ///
    /// # Errors
    /// More steps done than are asked for; metrics that cannot be written.
    pub fn open(
        stage: Stage,
        done: usize,
        Length { steps, measured_every }: Length,
        metrics: &Path,
        folder: &Path,
    ) -> Result<Self, TrainError> {
        let folder = folder.to_path_buf();
        if done > steps {
            return Err(TrainError::FewerSteps { stage: stage.name(), done, asked: steps, folder });
        }
        Ok(Self { stage, steps, measured_every, metrics: MetricsFile::open(metrics, stage, done)?, folder })
    }

    /// Whether steps are left.
    pub fn goes_on<M>(&self, learner: &Learner<M>) -> bool {
        learner.done < self.steps
    }

    /// The averaged weights, where they are measured after the last step.
    pub fn to_measure<M: Module>(&self, learner: &Learner<M>) -> Option<M> {
        let is_due = learner.done.is_multiple_of(self.measured_every) || learner.done == self.steps;
        is_due.then(|| learner.averaged())
    }

    /// Tells of the last step, and of `measured`, the averaged weights with their figures. Where there are none and the training is
    /// asked to stop, the averaged weights are made, to be saved.
    pub fn tell<M: Module>(
        &mut self,
        learner: &mut Learner<M>,
        measured: Option<(M, impl IntoIterator<Item = (String, f32)>)>,
        on_event: OnEvent<'_>,
    ) -> Result<Reported<M>, TrainError> {
        let (stage, step, steps) = (self.stage, learner.done, self.steps);
        let (averaged, measured) = measured.unzip();
        let mut figures = Vec::new();
        if step.is_multiple_of(REPORT_EVERY) || step == steps {
            let [mean, smoothed] = learner.report_loss();
            figures.extend([("train_loss".to_owned(), mean), ("train_loss_smoothed".to_owned(), smoothed)]);
        }
        figures.extend(measured.into_iter().flatten());
        let figures: Vec<(&str, f32)> = figures.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        let event = TrainEvent { stage, step, steps, figures: &figures };
        self.metrics.write(&event)?;
        let flow = on_event(&event);
        Ok(Reported { averaged: averaged.or_else(|| flow.is_break().then(|| learner.averaged())), flow })
    }

    /// What the training ends with when it was asked to stop after `step`.
    pub fn stopped(&self, step: usize) -> TrainError {
        TrainError::Stopped { stage: self.stage.name(), step, folder: self.folder.clone() }
    }
}

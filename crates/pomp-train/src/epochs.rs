//! Training by epochs, of both phase stages: shuffled batches of windows, and after each epoch a measurement, a report and a
//! checkpoint. What is learned from which windows is a [`Lesson`].

use crate::TrainError;
use crate::dataset::{Dataset, TrainingClip};
use crate::early_stopping::Course;
use crate::finite::Step;
use crate::loss_record::LossRecord;
use crate::progress::{MetricsFile, OnEvent, Stage, TrainEvent};
use crate::run::StageRun;
use crate::stable_ids::with_stable_ids;
use crate::step_rng::step_rng;
use burn::module::Module;
use burn::optim::{GradientsParams, ModuleOptimizer};
use burn::tensor::Tensor;
use pomp_phase::PhaseTrainingConfig;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use std::ops::ControlFlow;

/// What a stage learns, from which windows, and how it is measured.
pub(crate) trait Lesson {
    const STAGE: Stage;
    /// Names of the losses of a batch, as figures of the training have them.
    const LOSSES: &'static [&'static str];
    type Network: Module;
    type Window;

    /// Optimiser and length.
    fn training(&self) -> &PhaseTrainingConfig;

    /// Epochs without a better measurement after which the stage ends; 0 for none.
    fn patience(&self) -> usize;

    /// Brings the recordings of `turn` into memory.
    fn turn_to(&self, turn: usize, dataset: &mut Dataset) -> Result<(), TrainError>;

    /// The windows of clips.
    fn windows(&self, clips: Vec<(usize, &TrainingClip)>) -> Result<Vec<Self::Window>, TrainError>;

    /// The losses of a batch, one for each of [`Self::LOSSES`]; the first is minimised.
    fn losses(&self, network: &Self::Network, batch: &[&Self::Window]) -> Result<Vec<Tensor<1>>, TrainError>;

    /// The error of a network on what is held out; less is better.
    fn measure(&self, network: &Self::Network) -> Result<f32, TrainError>;

    /// Figures of a measurement on the clips `measured_on`.
    fn figures(&self, measured_on: &str, measured: f32) -> Vec<(String, f32)>;
}

/// Trains `fresh`, or what its checkpoint holds. Gives the network that is kept and its measurement. The recordings of turn 0 are in
/// memory.
pub(crate) fn train_by_epochs<L: Lesson>(
    lesson: &L,
    fresh: L::Network,
    dataset: &mut Dataset,
    run: &StageRun<'_>,
    on_event: OnEvent<'_>,
) -> Result<(L::Network, f32), TrainError> {
    let mut training = EpochTraining::begin(lesson, fresh, dataset, run)?;
    for epoch in training.done / training.per_epoch..lesson.training().epochs {
        if training.course.is_over() {
            break;
        }
        if dataset.is_streamed() {
            training.turn_to(epoch, dataset)?;
        }
        let mut is_stopping = false;
        for batch in training.batches(epoch) {
            training = training.step(&batch)?;
            is_stopping |= on_event(&training.event(&[])).is_break();
            if is_stopping && !training.is_between_epochs() {
                training.save()?;
                return Err(run.stopped(L::STAGE, training.done));
            }
            if run.is_rehearsed(training.done) {
                return training.finish();
            }
        }
        is_stopping |= training.report(on_event)?.is_break();
        if is_stopping {
            return Err(run.stopped(L::STAGE, training.done));
        }
    }
    training.finish()
}

/// A training between two of its steps.
struct EpochTraining<'a, L: Lesson> {
    lesson: &'a L,
    run: &'a StageRun<'a>,
    metrics: MetricsFile,
    measured_on: &'static str,
    batch_size: usize,
    /// Steps of an epoch, the same in all.
    per_epoch: usize,

    /// Steps done.
    done: usize,
    windows: Vec<L::Window>,
    network: L::Network,
    optimizer: ModuleOptimizer,
    losses: Vec<LossRecord>,
    course: Course,
    /// The last measurement.
    measured: Option<f32>,
}

impl<'a, L: Lesson> EpochTraining<'a, L> {
    fn begin(
        lesson: &'a L,
        fresh: L::Network,
        dataset: &Dataset,
        run: &'a StageRun<'a>,
    ) -> Result<Self, TrainError> {
        let windows = lesson.windows(dataset.training().collect())?;
        if windows.len() < 2 {
            return Err(TrainError::TooLittleData { stage: L::STAGE.name(), examples: windows.len() });
        }
        let mut network = with_stable_ids(fresh);
        let mut optimizer = lesson.training().optimizer();
        let (mut done, mut best) = (0, None);
        let mut losses = vec![LossRecord::default(); L::LOSSES.len()];
        if run.start.resumes()
            && let Some(saved) = run.checkpoint.load(&network, optimizer.clone())?
        {
            (done, best) = (saved.step, saved.best);
            if saved.losses.len() == losses.len() {
                losses = saved.losses;
            }
            (network, optimizer) = (with_stable_ids(saved.module), saved.optimizer);
        }
        let course = run.course(lesson.patience(), dataset, best)?;
        let batch_size = lesson.training().batch_size.min(windows.len());
        let per_epoch = windows.len() / batch_size;
        run.check_steps(L::STAGE, done, per_epoch * lesson.training().epochs)?;
        Ok(Self {
            lesson,
            run,
            metrics: MetricsFile::open(run.folder, L::STAGE, done)?,
            measured_on: dataset.measured_on(),
            batch_size,
            per_epoch,
            done,
            windows,
            network,
            optimizer,
            losses,
            course,
            measured: None,
        })
    }

    /// Brings the recordings of an epoch into memory, where they take turns.
    fn turn_to(&mut self, epoch: usize, dataset: &mut Dataset) -> Result<(), TrainError> {
        // Before the next ones come: both together may not fit.
        drop(std::mem::take(&mut self.windows));
        self.lesson.turn_to(epoch, dataset)?;
        self.windows = self.lesson.windows(dataset.training().collect())?;
        if self.windows.is_empty() {
            return Err(TrainError::TooLittleData { stage: L::STAGE.name(), examples: 0 });
        }
        Ok(())
    }

    /// The batches of an epoch that have not been learned from, each as the numbers of its windows.
    fn batches(&self, epoch: usize) -> Vec<Vec<usize>> {
        let mut rng = step_rng(self.run.config.seed, L::STAGE, epoch);
        let order = epoch_order(self.windows.len(), self.per_epoch * self.batch_size, &mut rng);
        let learned = self.done.saturating_sub(epoch * self.per_epoch);
        order.chunks_exact(self.batch_size).skip(learned).map(<[usize]>::to_vec).collect()
    }

    fn step(mut self, batch: &[usize]) -> Result<Self, TrainError> {
        let batch: Vec<&L::Window> = batch.iter().map(|&window| &self.windows[window]).collect();
        let (epoch, number) = (self.done / self.per_epoch + 1, self.done % self.per_epoch + 1);
        let step = self.done + 1;
        let losses = self.lesson.losses(&self.network, &batch)?;
        let named = format!("batch {number} of epoch {epoch}, seed {}", self.run.config.seed);
        let checked = Step { stage: L::STAGE, step, batch: &named, checkpoint: &self.run.checkpoint };
        checked.check_loss(scalar(&losses[0]), &self.network)?;
        for (record, loss) in self.losses.iter_mut().zip(&losses) {
            record.add(scalar(loss));
        }
        let gradients = GradientsParams::from_grads(losses[0].backward(), &self.network);
        checked.check_gradients(&gradients, &self.network)?;
        self.network = self.optimizer.step(self.lesson.training().learning_rate, self.network, gradients);
        self.done = step;
        Ok(self)
    }

    fn is_between_epochs(&self) -> bool {
        self.done.is_multiple_of(self.per_epoch)
    }

    fn event<'b>(&self, figures: &'b [(&'b str, f32)]) -> TrainEvent<'b> {
        let steps = self.per_epoch * self.lesson.training().epochs;
        TrainEvent { stage: L::STAGE, step: self.done, steps, figures }
    }

    /// Measures, reports and saves at the end of an epoch.
    fn report(&mut self, on_event: OnEvent<'_>) -> Result<ControlFlow<()>, TrainError> {
        let measured = self.lesson.measure(&self.network)?;
        self.measured = Some(measured);
        let mut figures: Vec<(String, f32)> = Vec::new();
        for (name, loss) in L::LOSSES.iter().zip(&mut self.losses) {
            let [mean, smoothed] = loss.report();
            figures.extend([(format!("train_{name}"), mean), (format!("train_{name}_smoothed"), smoothed)]);
        }
        figures.extend(self.lesson.figures(self.measured_on, measured));
        let figures: Vec<(&str, f32)> = figures.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        let event = self.event(&figures);
        self.metrics.write(&event)?;
        let flow = on_event(&event);
        if self.course.measured(self.done, measured) {
            self.run.checkpoint.save_best(&self.network)?;
        }
        self.save()?;
        Ok(flow)
    }

    fn save(&self) -> Result<(), TrainError> {
        let (network, best) = (&self.network, self.course.best());
        self.run.checkpoint.save(self.done, network, network, &self.optimizer, best, &self.losses)
    }

    /// The network that is kept, and its measurement.
    fn finish(self) -> Result<(L::Network, f32), TrainError> {
        if let Some(best) = self.course.best() {
            return Ok((self.run.checkpoint.load_best(&self.network)?.valid(), best.value));
        }
        let measured = self.measured.map_or_else(|| self.lesson.measure(&self.network), Ok)?;
        Ok((self.network.valid(), measured))
    }
}

pub(crate) fn scalar(loss: &Tensor<1>) -> f32 {
    loss.clone().into_scalar::<f32>()
}

/// The windows of one epoch, by number, in batches of which only the last may be short: a shuffle of all, and where an epoch has
/// more than there are, because other recordings are in memory than were at first, further shuffles.
fn epoch_order(windows: usize, wanted: usize, rng: &mut ChaCha8Rng) -> Vec<usize> {
    let mut order = Vec::with_capacity(wanted.max(windows));
    while order.len() < wanted.max(1) {
        let begun = order.len();
        order.extend(0..windows);
        order[begun..].shuffle(rng);
    }
    order.truncate(wanted.max(1));
    order
}

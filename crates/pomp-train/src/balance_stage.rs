//! A balance policy by proximal policy optimisation (Schulman et al. 2017) with generalised advantage estimation.

use crate::adamw::adamw;
use crate::balance_walker::{Decisions, End, Walker};
use crate::checkpoint::Checkpoint;
use crate::epochs::scalar;
use crate::progress::{MetricsFile, OnEvent, Stage, TrainEvent};
use crate::rows::matrix;
use crate::stable_ids::with_stable_ids;
use crate::step_rng::step_rng;
use crate::{BalanceTraining, Start, TrainError};
use burn::grad_clipping::GradientClippingConfig;
use burn::module::{Module, Param};
use burn::optim::{GradientsParams, ModuleOptimizer};
use burn::tensor::{Device, Tensor, TensorData};
use pomp_files::Digest;
use pomp_generator::GeneratorConfig;
use pomp_model::Model;
use pomp_policy::{ACTIONS, BalancePolicy, OBSERVATIONS, PackedPolicy, PolicyDescription, PolicyNetwork};
use pomp_tensors::keep_freed_memory;
use rand::seq::SliceRandom;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

const LARGEST_GRADIENT: f32 = 0.5;
/// Iterations between checkpoints. After each of them all walkers begin anew, so that a training which goes on from one gives the same
/// bytes as one that was never stopped.
const CHECKPOINT_EVERY: usize = 20;
/// The last layer of a fresh policy is scaled by this, so that it does next to nothing.
const FIRST_SCALE: f32 = 0.01;
/// Bounds of the learning rate, and how fast it is led.
const RATES: (f64, f64) = (1e-5, 2e-3);
const RATE_STEP: f64 = 1.3;
/// Least deviation of what is seen.
const LEAST_DEVIATION: f64 = 1e-3;
/// Bounds of the logarithm of an action's deviation.
const LOG_DEVIATION: (f32, f32) = (-3.0, 0.0);
/// Weight of the critic's loss.
const CRITIC: f32 = 0.5;

/// What is learned.
#[derive(Module, Debug)]
struct ActorCritic {
    actor: PolicyNetwork,
    critic: PolicyNetwork,
    /// Logarithms of the actions' standard deviations.
    log_deviation: Param<Tensor<1>>,
}

/// What a training keeps beside weights and optimiser.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Seen {
    count: f64,
    mean: Vec<f64>,
    variance: Vec<f64>,
    learning_rate: f64,
}

impl Seen {
    fn new(learning_rate: f64) -> Self {
        Self { count: 0.0, mean: vec![0.0; OBSERVATIONS], variance: vec![1.0; OBSERVATIONS], learning_rate }
    }

    fn add(&mut self, decisions: &[Decisions]) {
        let count: f64 = decisions.iter().map(|of| of.rewards.len() as f64).sum();
        for at in 0..OBSERVATIONS {
            let sum = |which: usize| decisions.iter().map(|of| of.sums[which][at]).sum::<f64>();
            let mean = sum(0) / count;
            let variance = (sum(1) / count - mean * mean).max(0.0);
            let (total, away) = (self.count + count, mean - self.mean[at]);
            self.variance[at] = (self.variance[at] * self.count
                + variance * count
                + away * away * self.count * count / total)
                / total;
            self.mean[at] += away * count / total;
        }
        self.count += count;
    }

    fn scales(&self) -> [Vec<f32>; 2] {
        let mean = self.mean.iter().map(|mean| *mean as f32).collect();
        let deviation =
            self.variance.iter().map(|variance| variance.sqrt().max(LEAST_DEVIATION) as f32).collect();
        [mean, deviation]
    }
}

/// Trains a balance policy on the motion of `model` in a loop with these `settings`, into the model folder `out`, and gives it. Its file is
/// `balance_policy.safetensors`; metrics and checkpoints are in `balance`.
///
/// # Errors
/// A setting outside its range, or `settings` without balance by the legs; a policy that is there already, unless it is resumed or overwritten; a checkpoint of other settings; a
/// ground or a motion that is refused; a folder that cannot be written. [`TrainError::Stopped`] when `on_event` asks for it.
pub fn train_balance(
    model: &Model,
    settings: &GeneratorConfig,
    config: &BalanceTraining,
    start: Start,
    out: &Path,
    device: &Device,
    on_event: OnEvent<'_>,
) -> Result<BalancePolicy, TrainError> {
    config.validate()?;
    let mut with_policy = settings.clone();
    with_policy.layers.balance_policy.enabled = true;
    with_policy.validate()?;
    keep_freed_memory();
    let folder = out.join(Stage::Balance.name());
    std::fs::create_dir_all(&folder).map_err(|source| TrainError::Io {
        action: "creating the folder",
        path: folder.clone(),
        source,
    })?;
    let mut told = config.clone();
    told.learning.iterations = 0;
    let told = serde_json::to_string(&(&told, settings)).expect("a config is plain data");
    let model_sha256 = model.files_sha256.clone().unwrap_or_default();
    let run = Digest::of(format!("{told}\n{model_sha256}")).short();
    let checkpoint = Checkpoint::new(&folder, Stage::Balance, &run);
    let file = out.join(BalancePolicy::FILE);
    match start {
        Start::Resume | Start::ResumeFineTune => checkpoint.check_run()?,
        Start::Overwrite => checkpoint.remove()?,
        Start::Anew | Start::FineTune if file.exists() || checkpoint.exists() => {
            return Err(TrainError::AlreadyTrained {
                stage: Stage::Balance.name(),
                folder: out.to_path_buf(),
            });
        }
        Start::Anew | Start::FineTune => {}
    }
    let description = PolicyDescription {
        made_by: format!("pomp {}", env!("CARGO_PKG_VERSION")),
        config: serde_json::to_value(config).expect("a config is plain data"),
        seed: config.seed,
        model_sha256,
        sizes: config.sizes.clone(),
        mean: Vec::new(),
        deviation: Vec::new(),
        metrics: BTreeMap::new(),
    };
    let mut training = Training::new(config, description, &folder, checkpoint, start, device)?;
    let mut walkers = Walker::all(model, settings, config)?;
    training.run(&mut walkers, out, on_event)?;
    Ok(training.policy())
}

struct Training<'a> {
    config: &'a BalanceTraining,
    description: PolicyDescription,
    folder: &'a Path,
    checkpoint: Checkpoint,
    networks: ActorCritic,
    optimizer: ModuleOptimizer,
    seen: Seen,
    done: usize,
    device: Device,
}

/// The decisions of all walkers as rows.
struct Rows {
    seen: Vec<f32>,
    drawn: Vec<f32>,
    means: Vec<f32>,
    log_probability: Vec<f32>,
    advantage: Vec<f32>,
    value: Vec<f32>,
}

impl<'a> Training<'a> {
    fn new(
        config: &'a BalanceTraining,
        description: PolicyDescription,
        folder: &'a Path,
        checkpoint: Checkpoint,
        start: Start,
        device: &Device,
    ) -> Result<Self, TrainError> {
        let device = device.clone().autodiff();
        device.seed(config.seed);
        let mut actor = PolicyNetwork::new(&config.sizes.hidden, [OBSERVATIONS, ACTIONS], &device);
        let last = actor.layers.last_mut().expect("a network has layers");
        last.weight = last.weight.clone().map(|weight| (weight * FIRST_SCALE).detach().require_grad());
        last.bias = last.bias.take().map(|bias| bias.map(|bias| (bias * 0.0).detach().require_grad()));
        let critic = PolicyNetwork::new(&config.critic_hidden, [OBSERVATIONS, 1], &device);
        let deviation = vec![config.learning.deviation.ln(); ACTIONS];
        let log_deviation = Tensor::from_data(TensorData::new(deviation, [ACTIONS]), &device);
        let mut networks =
            with_stable_ids(ActorCritic { actor, critic, log_deviation: Param::from_tensor(log_deviation) });
        let clipping = GradientClippingConfig::Norm(LARGEST_GRADIENT);
        let mut optimizer = adamw(0.0, Some(&clipping));
        let (mut done, mut seen) = (0, Seen::new(config.learning.learning_rate));
        if start.resumes()
            && let Some(saved) = checkpoint.load(&networks, optimizer.clone())?
        {
            (networks, optimizer, done) = (with_stable_ids(saved.module), saved.optimizer, saved.step);
            let path = folder.join("seen.json");
            let io = |source| TrainError::Io { action: "reading the checkpoint", path: path.clone(), source };
            let text = std::fs::read_to_string(&path).map_err(io)?;
            seen = serde_json::from_str(&text).map_err(|error| io(error.into()))?;
        }
        Ok(Self { config, description, folder, checkpoint, networks, optimizer, seen, done, device })
    }

    fn run(&mut self, walkers: &mut [Walker], out: &Path, on_event: OnEvent<'_>) -> Result<(), TrainError> {
        let iterations = self.config.learning.iterations;
        if self.done > iterations {
            let (stage, folder) = (Stage::Balance.name(), out.to_path_buf());
            return Err(TrainError::FewerSteps { stage, done: self.done, asked: iterations, folder });
        }
        let mut metrics = MetricsFile::open(self.folder, Stage::Balance, self.done)?;
        if self.seen.count == 0.0 {
            // What is seen first sets the scales.
            let first = self.collect(walkers)?;
            self.seen.add(&first);
        }
        if self.done == 0 || self.done == iterations {
            // At first, what a training that is stopped early goes on from. At last nothing is left to learn, but the policy is to say
            // how it was made.
            self.save(out)?;
        }
        while self.done < iterations {
            if self.done.is_multiple_of(CHECKPOINT_EVERY) {
                self.begin_anew(walkers)?;
            }
            self.done += 1;
            let decisions = self.collect(walkers)?;
            let rows = self.rows(&decisions);
            let learned = self.learn(&rows)?;
            self.seen.add(&decisions);
            let mut figures = figures(self.config, walkers, &decisions);
            figures.extend(learned);
            figures.push(("learning_rate".to_owned(), self.seen.learning_rate as f32));
            let named: Vec<(&str, f32)> =
                figures.iter().map(|(name, value)| (name.as_str(), *value)).collect();
            let event =
                TrainEvent { stage: Stage::Balance, step: self.done, steps: iterations, figures: &named };
            metrics.write(&event)?;
            let stops = on_event(&event).is_break();
            self.description.metrics = figures.iter().cloned().collect();
            if self.done == iterations || self.done.is_multiple_of(CHECKPOINT_EVERY) {
                self.save(out)?;
            }
            if stops {
                let (stage, folder) = (Stage::Balance.name(), out.to_path_buf());
                let step = self.done - self.done % CHECKPOINT_EVERY;
                return Err(TrainError::Stopped { stage, step, folder });
            }
        }
        Ok(())
    }

    /// Begins new episodes, drawn by the seed and the iterations that are done.
    fn begin_anew(&self, walkers: &mut [Walker]) -> Result<(), TrainError> {
        walkers
            .par_iter_mut()
            .enumerate()
            .try_for_each(|(number, walker)| walker.begin_with(self.config, number, self.done))
    }

    /// The policy as it is.
    fn policy(&self) -> BalancePolicy {
        let [mean, deviation] = self.seen.scales();
        let description = PolicyDescription { mean, deviation, ..self.description.clone() };
        BalancePolicy { description, network: self.networks.actor.valid(), file_sha256: None }
    }

    /// Writes a checkpoint, and the policy so far.
    fn save(&self, out: &Path) -> Result<(), TrainError> {
        let text = serde_json::to_string(&self.seen).expect("plain data");
        pomp_formats::write_atomically(&self.folder.join("seen.json"), |file| {
            file.write_all(text.as_bytes())
        })?;
        self.checkpoint.save(self.done, &self.networks, &self.networks, &self.optimizer, None, &[])?;
        self.policy().save(&out.join(BalancePolicy::FILE)).map_err(pomp_model::ModelError::from)?;
        Ok(())
    }

    /// The decisions of all walkers by the policy as it is.
    fn collect(&self, walkers: &mut [Walker]) -> Result<Vec<Decisions>, TrainError> {
        let policy = PackedPolicy::new(&self.policy()).map_err(pomp_model::ModelError::from)?;
        let deviations: Vec<f32> = self.log_deviations().iter().map(|log| log.exp()).collect();
        walkers.par_iter_mut().map(|walker| walker.run(self.config, &policy, &deviations)).collect()
    }

    fn log_deviations(&self) -> Vec<f32> {
        let values = self.networks.log_deviation.val().without_autodiff();
        let values: Vec<f32> = values.into_data().try_to_vec().expect("deviations are f32");
        values.into_iter().map(|log| log.clamp(LOG_DEVIATION.0, LOG_DEVIATION.1)).collect()
    }

    /// What the critic says of rows of observations.
    fn values(&self, seen: &[f32]) -> Vec<f32> {
        if seen.is_empty() {
            return Vec::new();
        }
        let critic = self.networks.valid().critic;
        let device = self.device.clone().inner();
        let values = critic.forward(matrix(seen.to_vec(), OBSERVATIONS, &device));
        values.into_data().try_to_vec().expect("values are f32")
    }

    /// Advantages and returns of decisions.
    fn rows(&self, decisions: &[Decisions]) -> Rows {
        let learning = &self.config.learning;
        let log_deviations = self.log_deviations();
        let mut rows = Rows {
            seen: decisions.iter().flat_map(|of| of.seen.iter().copied()).collect(),
            drawn: decisions.iter().flat_map(|of| of.drawn.iter().copied()).collect(),
            means: decisions.iter().flat_map(|of| of.means.iter().copied()).collect(),
            log_probability: Vec::new(),
            advantage: Vec::new(),
            value: Vec::new(),
        };
        let values = self.values(&rows.seen);
        rows.log_probability = rows
            .drawn
            .chunks_exact(ACTIONS)
            .zip(rows.means.chunks_exact(ACTIONS))
            .map(|(drawn, means)| {
                let parts = drawn.iter().zip(means).zip(&log_deviations);
                parts.map(|((x, mean), log)| -0.5 * ((x - mean) / log.exp()).powi(2) - log).sum()
            })
            .collect();
        let after: Vec<f32> = decisions.iter().flat_map(|of| of.after.iter().copied()).collect();
        let after = self.values(&after);
        let cut: Vec<f32> = decisions
            .iter()
            .flat_map(|of| &of.ends)
            .filter_map(|end| if let End::Cut(seen) = end { Some(seen.iter().copied()) } else { None })
            .flatten()
            .collect();
        let mut cut = self.values(&cut).into_iter();
        let cut: Vec<Vec<Option<f32>>> = decisions
            .iter()
            .map(|of| {
                let value = |end: &End| if matches!(end, End::Cut(_)) { cut.next() } else { None };
                of.ends.iter().map(value).collect()
            })
            .collect();
        let mut first = 0;
        for ((of, after), cut) in decisions.iter().zip(after).zip(cut) {
            let count = of.rewards.len();
            let (mut advantage, mut carried) = (vec![0.0; count], 0.0);
            for t in (0..count).rev() {
                let next = match (&of.ends[t], cut[t]) {
                    (End::Fell, _) => 0.0,
                    (End::Cut(_), value) => value.unwrap_or(0.0),
                    (End::None, _) if t + 1 < count => values[first + t + 1],
                    (End::None, _) => after,
                };
                let goes_on = of.ends[t] == End::None;
                // Rewards are scaled so that a value is a mean reward.
                let reward = of.rewards[t] * (1.0 - learning.discount);
                let error = reward + learning.discount * next - values[first + t];
                carried = error + if goes_on { learning.discount * learning.trace * carried } else { 0.0 };
                advantage[t] = carried;
            }
            rows.value.extend(advantage.iter().zip(&values[first..]).map(|(a, value)| a + value));
            rows.advantage.extend(advantage);
            first += count;
        }
        let count = rows.advantage.len() as f32;
        let mean = rows.advantage.iter().sum::<f32>() / count;
        let variance = rows.advantage.iter().map(|a| (a - mean).powi(2)).sum::<f32>() / count;
        rows.advantage.iter_mut().for_each(|a| *a = (*a - mean) / (variance.sqrt() + 1e-6));
        rows
    }

    /// Some passes over the decisions of an iteration.
    fn learn(&mut self, rows: &Rows) -> Result<Vec<(String, f32)>, TrainError> {
        let learning = self.config.learning;
        let mut rng = step_rng(self.config.seed, Stage::Balance, self.done);
        let mut order: Vec<usize> = (0..rows.advantage.len()).collect();
        let (mut actor_loss, mut critic_loss, mut divergence, mut batches) = (0.0, 0.0, 0.0, 0.0f32);
        for _ in 0..learning.epochs {
            order.shuffle(&mut rng);
            for chosen in order.chunks(learning.batch_size.min(order.len())) {
                if chosen.len() * 2 < learning.batch_size.min(order.len()) {
                    continue;
                }
                let [actor, critic, change] = self.step(rows, chosen);
                (actor_loss, critic_loss) = (actor_loss + actor, critic_loss + critic);
                divergence += change;
                batches += 1.0;
            }
        }
        let divergence = divergence / batches;
        let rate = &mut self.seen.learning_rate;
        if divergence > 2.0 * learning.divergence {
            *rate = (*rate / RATE_STEP).max(RATES.0);
        } else if divergence < 0.5 * learning.divergence {
            *rate = (*rate * RATE_STEP).min(RATES.1);
        }
        let deviation = self.log_deviations().iter().map(|log| log.exp()).sum::<f32>() / ACTIONS as f32;
        Ok(vec![
            ("actor_loss".to_owned(), actor_loss / batches),
            ("critic_loss".to_owned(), critic_loss / batches),
            ("divergence".to_owned(), divergence),
            ("deviation".to_owned(), deviation),
        ])
    }

    /// A step on the `chosen` rows: losses of actor and critic, and divergence from the policy that drew them.
    fn step(&mut self, rows: &Rows, chosen: &[usize]) -> [f32; 3] {
        let learning = self.config.learning;
        let pick = |values: &[f32], width: usize| {
            let picked = chosen.iter().flat_map(|row| &values[row * width..(row + 1) * width]);
            matrix(picked.copied().collect(), width, &self.device)
        };
        let seen = pick(&rows.seen, OBSERVATIONS);
        let (drawn, before) = (pick(&rows.drawn, ACTIONS), pick(&rows.log_probability, 1));
        let (advantage, value) = (pick(&rows.advantage, 1), pick(&rows.value, 1));
        let networks = &self.networks;
        let log = networks.log_deviation.val().clamp(LOG_DEVIATION.0, LOG_DEVIATION.1);
        let log = log.unsqueeze::<2>();
        let scaled = (drawn - networks.actor.forward(seen.clone())) / log.clone().exp();
        let now = (scaled.powi_scalar(2) * -0.5 - log.clone()).sum_dim(1);
        let change = now - before;
        let ratio = change.clone().exp();
        let limited = ratio.clone().clamp(1.0 - learning.clip, 1.0 + learning.clip);
        let actor = (ratio.clone() * advantage.clone()).min_pair(limited * advantage).mean() * -1.0;
        let error = networks.critic.forward(seen) - value;
        let critic = error.powi_scalar(2).mean();
        let entropy = log.sum();
        // Estimate of Schulman: r − 1 − ln r.
        let divergence = (ratio - 1.0 - change).mean();
        let loss = actor.clone() + critic.clone() * CRITIC - entropy * learning.entropy;
        let found = [scalar(&actor), scalar(&critic), scalar(&divergence)];
        if !found.iter().all(|value| value.is_finite()) {
            // A batch that explodes teaches nothing.
            return found;
        }
        let gradients = GradientsParams::from_grads(loss.backward(), &self.networks);
        self.networks = self.optimizer.step(self.seen.learning_rate, self.networks.clone(), gradients);
        found
    }
}

/// Rewards and falls of an iteration, in all and by scene.
fn figures(config: &BalanceTraining, walkers: &[Walker], decisions: &[Decisions]) -> Vec<(String, f32)> {
    let of = |chosen: &dyn Fn(&Walker) -> bool| {
        let chosen: Vec<&Decisions> =
            walkers.iter().zip(decisions).filter(|(walker, _)| chosen(walker)).map(|(_, of)| of).collect();
        let count: usize = chosen.iter().map(|of| of.rewards.len()).sum();
        let reward: f32 = chosen.iter().flat_map(|of| &of.rewards).sum();
        let falls = chosen.iter().flat_map(|of| &of.ends).filter(|end| **end == End::Fell).count();
        let minutes = count as f32 * pomp_policy::FRAMES_PER_DECISION as f32 / 3600.0;
        (reward / count.max(1) as f32, falls as f32 / minutes.max(1e-9))
    };
    let (reward, falls) = of(&|_| true);
    let mut figures = vec![("reward".to_owned(), reward), ("falls_per_minute".to_owned(), falls)];
    for index in 0..config.scenes.len() {
        figures.push((format!("falls_per_minute_{index}"), of(&|walker| walker.scene == index).1));
    }
    figures
}

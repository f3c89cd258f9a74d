//! Proximal policy optimisation (Schulman et al. 2017) with generalised advantage estimation, for any kind of policy.

use crate::adamw::adamw;
use crate::checkpoint::Checkpoint;
use crate::epochs::scalar;
use crate::progress::{MetricsFile, OnEvent, Stage, TrainEvent};
use crate::rows::{matrix, normal};
use crate::stable_ids::with_stable_ids;
use crate::step_rng::step_rng;
use crate::{PolicyLearning, Start, TrainError};
use burn::grad_clipping::GradientClippingConfig;
use burn::module::{Module, Param};
use burn::optim::{GradientsParams, ModuleOptimizer};
use burn::tensor::{Device, Tensor, TensorData};
use pomp_files::Digest;
use pomp_policy::{PackedPolicy, Policy, PolicyDescription, PolicyKind, PolicyNetwork};
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

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
/// Where a larger share of attempts succeeds than the first, help is made less, and where a smaller one than the second does, more.
const EASY: f32 = 0.55;
const HARD: f32 = 0.3;
const LESS_HELP: f32 = 0.8;
const MORE_HELP: f32 = 1.05;
/// Less help than this is none.
const LEAST_HELP: f32 = 0.01;
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
    /// Help of the bodies, 0 to 1.
    #[serde(default)]
    help: f32,
}

impl Seen {
    fn new(observations: usize, learning_rate: f64) -> Self {
        Self {
            count: 0.0,
            mean: vec![0.0; observations],
            variance: vec![1.0; observations],
            learning_rate,
            help: 0.0,
        }
    }

    fn add(&mut self, decisions: &[Decisions]) {
        let count: f64 = decisions.iter().map(|of| of.rewards.len() as f64).sum();
        for at in 0..self.mean.len() {
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

/// A body that a policy learns from.
pub(crate) trait Learner: Send {
    /// What it is told beside the policy.
    type Settings: Sync;

    /// Begins an episode with random numbers that depend on the seed, the `number` of the body and the iterations that are `done`; from now on
    /// it has so much `help`, 0 to 1.
    fn begin_with(
        &mut self,
        settings: &Self::Settings,
        number_and_done: (usize, usize),
        help: f32,
    ) -> Result<(), TrainError>;

    /// Attempts that have ended since the last [`Self::begin_with`], and those of them that succeeded, where help depends on them.
    fn attempts(&self) -> [usize; 2] {
        [0; 2]
    }

    /// What is seen now, in SI units.
    fn seen(&self) -> &[f32];

    /// The random numbers of the body.
    fn random(&mut self) -> &mut ChaCha8Rng;

    /// Runs the frames of one decision; gives the reward. When the episode ends, another one has begun afterwards.
    fn decide(&mut self, settings: &Self::Settings, drawn: &[f32]) -> Result<(f32, End), TrainError>;
}

/// How a decision ended.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum End {
    /// The episode goes on.
    None,
    /// Nothing comes after it.
    Failed,
    /// What comes after it is as good as can be: a reward of 1 for ever.
    Reached,
    /// The episode was long enough; what was seen then. Of a learner in SI units, in [`Decisions`] normalised.
    Cut(Vec<f32>),
}

/// The decisions of one body in an iteration.
pub(crate) struct Decisions {
    /// What was seen, normalised, `[T, observations]`.
    seen: Vec<f32>,
    /// What was drawn, `[T, actions]`.
    drawn: Vec<f32>,
    /// The means that it was drawn around.
    means: Vec<f32>,
    /// Rewards.
    pub rewards: Vec<f32>,
    /// How each ended.
    pub ends: Vec<End>,
    /// What is seen after the last, normalised.
    after: Vec<f32>,
    /// Sums and sums of squares of what was seen, SI units.
    sums: [Vec<f64>; 2],
}

/// Takes `count` decisions of `learner` by `policy`, with noise of these `deviations`.
fn decide<L: Learner>(
    learner: &mut L,
    settings: &L::Settings,
    policy: &PackedPolicy,
    deviations: &[f32],
    count: usize,
) -> Result<Decisions, TrainError> {
    let (observations, actions) = (learner.seen().len(), deviations.len());
    let mut decisions = Decisions {
        seen: Vec::with_capacity(count * observations),
        drawn: Vec::with_capacity(count * actions),
        means: Vec::with_capacity(count * actions),
        rewards: Vec::with_capacity(count),
        ends: Vec::with_capacity(count),
        after: Vec::new(),
        sums: [vec![0.0; observations], vec![0.0; observations]],
    };
    let normalised = |mut seen: Vec<f32>| {
        policy.normalise(&mut seen);
        seen
    };
    for _ in 0..count {
        let [sums, squares] = &mut decisions.sums;
        for ((sum, square), value) in sums.iter_mut().zip(squares).zip(learner.seen()) {
            *sum += f64::from(*value);
            *square += f64::from(*value).powi(2);
        }
        let seen = normalised(learner.seen().to_vec());
        let means = policy.outputs(&seen);
        let random = learner.random();
        let drawn: Vec<f32> =
            means.iter().zip(deviations).map(|(mean, deviation)| mean + deviation * normal(random)).collect();
        let (reward, end) = learner.decide(settings, &drawn)?;
        let end = if let End::Cut(seen) = end { End::Cut(normalised(seen)) } else { end };
        decisions.seen.extend(seen);
        decisions.drawn.extend(drawn);
        decisions.means.extend(means);
        decisions.rewards.push(reward);
        decisions.ends.push(end);
    }
    decisions.after = normalised(learner.seen().to_vec());
    Ok(decisions)
}

/// The help of bodies whose attempts ended as they did with `help`: less where most succeed, more where few do.
fn helped<L: Learner>(help: f32, learners: &[L]) -> f32 {
    let [ended, succeeded] = [0, 1].map(|at| learners.iter().map(|of| of.attempts()[at]).sum::<usize>());
    let share = succeeded as f32 / ended.max(1) as f32;
    match share {
        _ if share > EASY && help < LEAST_HELP => 0.0,
        _ if share > EASY => help * LESS_HELP,
        _ if share < HARD => (help.max(LEAST_HELP) * MORE_HELP).min(1.0),
        _ => help,
    }
}

/// What a training is of.
pub(crate) struct Task<'a> {
    /// What the policy is for.
    pub kind: PolicyKind,
    /// The stage.
    pub stage: Stage,
    /// Seed of weights and noise.
    pub seed: u64,
    /// Hidden widths of the critic.
    pub critic_hidden: &'a [usize],
    /// Help of the bodies at first, 0 to 1.
    pub help: f32,
    /// Settings of the optimisation.
    pub learning: PolicyLearning,
    /// Of the policy, but what is found by training.
    pub description: PolicyDescription,
    /// The model folder.
    pub out: &'a Path,
}

/// A training under way.
pub(crate) struct Ppo<'a> {
    task: Task<'a>,
    folder: PathBuf,
    checkpoint: Checkpoint,
    networks: ActorCritic,
    optimizer: ModuleOptimizer,
    seen: Seen,
    done: usize,
    device: Device,
}

/// The decisions of all bodies as rows.
struct Rows {
    seen: Vec<f32>,
    drawn: Vec<f32>,
    means: Vec<f32>,
    log_probability: Vec<f32>,
    advantage: Vec<f32>,
    value: Vec<f32>,
}

impl<'a> Ppo<'a> {
    /// A training that begins, or goes on from its checkpoint; `told` is what the checkpoint depends on.
    ///
    /// # Errors
    /// A policy that is there already, unless it is resumed or overwritten; a checkpoint of other settings; a folder that cannot be written.
    pub fn new(task: Task<'a>, told: &str, start: Start, device: &Device) -> Result<Self, TrainError> {
        let folder = task.out.join(task.stage.name());
        std::fs::create_dir_all(&folder).map_err(|source| TrainError::Io {
            action: "creating the folder",
            path: folder.clone(),
            source,
        })?;
        let checkpoint = Checkpoint::new(&folder, task.stage, &Digest::of(told).short());
        match start {
            Start::Resume | Start::ResumeFineTune => checkpoint.check_run()?,
            Start::Overwrite => checkpoint.remove()?,
            Start::Anew | Start::FineTune
                if task.out.join(task.kind.file()).exists() || checkpoint.exists() =>
            {
                return Err(TrainError::AlreadyTrained {
                    stage: task.stage.name(),
                    folder: task.out.to_path_buf(),
                });
            }
            Start::Anew | Start::FineTune => {}
        }
        let device = device.clone().autodiff();
        device.seed(task.seed);
        let [observations, actions] = task.kind.widths();
        let mut actor = PolicyNetwork::new(&task.description.sizes.hidden, [observations, actions], &device);
        let last = actor.layers.last_mut().expect("a network has layers");
        last.weight = last.weight.clone().map(|weight| (weight * FIRST_SCALE).detach().require_grad());
        last.bias = last.bias.take().map(|bias| bias.map(|bias| (bias * 0.0).detach().require_grad()));
        let critic = PolicyNetwork::new(task.critic_hidden, [observations, 1], &device);
        let deviation = vec![task.learning.deviation.ln(); actions];
        let log_deviation = Tensor::from_data(TensorData::new(deviation, [actions]), &device);
        let mut networks =
            with_stable_ids(ActorCritic { actor, critic, log_deviation: Param::from_tensor(log_deviation) });
        let clipping = GradientClippingConfig::Norm(LARGEST_GRADIENT);
        let mut optimizer = adamw(0.0, Some(&clipping));
        let mut seen = Seen { help: task.help, ..Seen::new(observations, task.learning.learning_rate) };
        let mut done = 0;
        if start.resumes()
            && let Some(saved) = checkpoint.load(&networks, optimizer.clone())?
        {
            (networks, optimizer, done) = (with_stable_ids(saved.module), saved.optimizer, saved.step);
            let path = folder.join("seen.json");
            let io = |source| TrainError::Io { action: "reading the checkpoint", path: path.clone(), source };
            let text = std::fs::read_to_string(&path).map_err(io)?;
            seen = serde_json::from_str(&text).map_err(|error| io(error.into()))?;
        }
        Ok(Self { task, folder, checkpoint, networks, optimizer, seen, done, device })
    }

    /// Trains on these bodies; `figures` tells of the decisions of an iteration.
    pub fn run<L: Learner>(
        &mut self,
        learners: &mut [L],
        settings: &L::Settings,
        figures: impl Fn(&[L], &[Decisions]) -> Vec<(String, f32)>,
        on_event: OnEvent<'_>,
    ) -> Result<(), TrainError> {
        let (iterations, stage) = (self.task.learning.iterations, self.task.stage);
        if self.done > iterations {
            let (stage, folder) = (stage.name(), self.task.out.to_path_buf());
            return Err(TrainError::FewerSteps { stage, done: self.done, asked: iterations, folder });
        }
        let mut metrics = MetricsFile::open(&self.folder, stage, self.done)?;
        if self.seen.count == 0.0 {
            // What is seen first sets the scales.
            let first = self.collect(learners, settings)?;
            self.seen.add(&first);
        }
        if self.done == 0 || self.done == iterations {
            // At first, what a training that is stopped early goes on from. At last nothing is left to learn, but the policy is to say
            // how it was made.
            self.save()?;
        }
        while self.done < iterations {
            if self.done.is_multiple_of(CHECKPOINT_EVERY) {
                self.begin_anew(learners, settings)?;
            }
            self.done += 1;
            let decisions = self.collect(learners, settings)?;
            let rows = self.rows(&decisions);
            let learned = self.learn(&rows)?;
            self.seen.add(&decisions);
            let mut figures = figures(learners, &decisions);
            figures.extend(learned);
            figures.push(("learning_rate".to_owned(), self.seen.learning_rate as f32));
            if self.task.help > 0.0 {
                figures.push(("help".to_owned(), self.seen.help));
            }
            let named: Vec<(&str, f32)> =
                figures.iter().map(|(name, value)| (name.as_str(), *value)).collect();
            let event = TrainEvent { stage, step: self.done, steps: iterations, figures: &named };
            metrics.write(&event)?;
            let stops = on_event(&event).is_break();
            if self.task.help > 0.0 && self.done.is_multiple_of(CHECKPOINT_EVERY) {
                self.seen.help = helped(self.seen.help, learners);
            }
            self.task.description.metrics = figures.iter().cloned().collect();
            if self.done == iterations || self.done.is_multiple_of(CHECKPOINT_EVERY) {
                self.save()?;
            }
            if stops {
                let (stage, folder) = (stage.name(), self.task.out.to_path_buf());
                let step = self.done - self.done % CHECKPOINT_EVERY;
                return Err(TrainError::Stopped { stage, step, folder });
            }
        }
        Ok(())
    }

    /// Begins new episodes, drawn by the seed and the iterations that are done.
    fn begin_anew<L: Learner>(&self, learners: &mut [L], settings: &L::Settings) -> Result<(), TrainError> {
        learners.par_iter_mut().enumerate().try_for_each(|(number, learner)| {
            learner.begin_with(settings, (number, self.done), self.seen.help)
        })
    }

    /// The policy as it is.
    pub fn policy(&self) -> Policy {
        let [mean, deviation] = self.seen.scales();
        let description = PolicyDescription { mean, deviation, ..self.task.description.clone() };
        Policy { kind: self.task.kind, description, network: self.networks.actor.valid(), file_sha256: None }
    }

    /// Writes a checkpoint, and the policy so far.
    fn save(&self) -> Result<(), TrainError> {
        let text = serde_json::to_string(&self.seen).expect("plain data");
        pomp_formats::write_atomically(&self.folder.join("seen.json"), |file| {
            file.write_all(text.as_bytes())
        })?;
        self.checkpoint.save(self.done, &self.networks, &self.networks, &self.optimizer, None, &[])?;
        let file = self.task.out.join(self.task.kind.file());
        self.policy().save(&file).map_err(pomp_model::ModelError::from)?;
        Ok(())
    }

    /// The decisions of all bodies by the policy as it is.
    fn collect<L: Learner>(
        &self,
        learners: &mut [L],
        settings: &L::Settings,
    ) -> Result<Vec<Decisions>, TrainError> {
        let policy = PackedPolicy::new(&self.policy()).map_err(pomp_model::ModelError::from)?;
        let deviations: Vec<f32> = self.log_deviations().iter().map(|log| log.exp()).collect();
        let count = self.task.learning.decisions;
        let decided = |learner: &mut L| decide(learner, settings, &policy, &deviations, count);
        learners.par_iter_mut().map(decided).collect()
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
        let values = critic.forward(matrix(seen.to_vec(), self.seen.mean.len(), &device));
        values.into_data().try_to_vec().expect("values are f32")
    }

    /// Advantages and returns of decisions.
    fn rows(&self, decisions: &[Decisions]) -> Rows {
        let learning = &self.task.learning;
        let log_deviations = self.log_deviations();
        let actions = log_deviations.len();
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
            .chunks_exact(actions)
            .zip(rows.means.chunks_exact(actions))
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
                    (End::Failed, _) => 0.0,
                    (End::Reached, _) => 1.0,
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
        let learning = self.task.learning;
        let mut rng = step_rng(self.task.seed, self.task.stage, self.done);
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
        let deviations = self.log_deviations();
        let deviation = deviations.iter().map(|log| log.exp()).sum::<f32>() / deviations.len() as f32;
        Ok(vec![
            ("actor_loss".to_owned(), actor_loss / batches),
            ("critic_loss".to_owned(), critic_loss / batches),
            ("divergence".to_owned(), divergence),
            ("deviation".to_owned(), deviation),
        ])
    }

    /// A step on the `chosen` rows: losses of actor and critic, and divergence from the policy that drew them.
    fn step(&mut self, rows: &Rows, chosen: &[usize]) -> [f32; 3] {
        let learning = self.task.learning;
        let pick = |values: &[f32], width: usize| {
            let picked = chosen.iter().flat_map(|row| &values[row * width..(row + 1) * width]);
            matrix(picked.copied().collect(), width, &self.device)
        };
        let [observations, actions] = self.task.kind.widths();
        let seen = pick(&rows.seen, observations);
        let (drawn, before) = (pick(&rows.drawn, actions), pick(&rows.log_probability, 1));
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

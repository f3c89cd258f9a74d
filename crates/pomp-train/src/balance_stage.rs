//! Training of a balance policy.

use crate::balance_walker::Walker;
use crate::ppo::{Decisions, End, Ppo, Task};
use crate::progress::{OnEvent, Stage};
use crate::{BalanceTraining, Start, TrainError};
use burn::tensor::Device;
use pomp_generator::GeneratorConfig;
use pomp_model::Model;
use pomp_policy::{Policy, PolicyDescription, PolicyKind};
use pomp_tensors::keep_freed_memory;
use std::collections::BTreeMap;
use std::path::Path;

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
) -> Result<Policy, TrainError> {
    config.validate()?;
    let mut with_policy = settings.clone();
    with_policy.layers.balance_policy.enabled = true;
    with_policy.validate()?;
    keep_freed_memory();
    let mut told = config.clone();
    told.learning.iterations = 0;
    let told = serde_json::to_string(&(&told, settings)).expect("a config is plain data");
    let model_sha256 = model.files_sha256.clone().unwrap_or_default();
    let told = format!("{told}\n{model_sha256}");
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
    let task = Task {
        kind: PolicyKind::Balance,
        stage: Stage::Balance,
        seed: config.seed,
        critic_hidden: &config.critic_hidden,
        help: 0.0,
        learning: config.learning,
        description,
        out,
    };
    let mut training = Ppo::new(task, &told, start, device)?;
    let mut walkers = Walker::all(model, settings, config)?;
    training.run(&mut walkers, config, |walkers, of| figures(config, walkers, of), on_event)?;
    Ok(training.policy())
}

/// Rewards and falls of an iteration, in all and by scene.
fn figures(config: &BalanceTraining, walkers: &[Walker], decisions: &[Decisions]) -> Vec<(String, f32)> {
    let of = |chosen: &dyn Fn(&Walker) -> bool| {
        let chosen: Vec<&Decisions> =
            walkers.iter().zip(decisions).filter(|(walker, _)| chosen(walker)).map(|(_, of)| of).collect();
        let count: usize = chosen.iter().map(|of| of.rewards.len()).sum();
        let reward: f32 = chosen.iter().flat_map(|of| &of.rewards).sum();
        let falls = chosen.iter().flat_map(|of| &of.ends).filter(|end| **end == End::Failed).count();
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

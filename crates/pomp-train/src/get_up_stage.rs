//! Training of a get-up policy.

use crate::get_up_body::FallenBody;
use crate::ppo::{Decisions, End, Ppo, Task};
use crate::progress::{OnEvent, Stage};
use crate::{GetUpTraining, Start, TrainError};
use burn::tensor::Device;
use pomp_generator::GeneratorConfig;
use pomp_model::Model;
use pomp_policy::{Policy, PolicyDescription, PolicyKind};
use pomp_tensors::keep_freed_memory;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;

/// Trains a get-up policy for the body of `model` in a loop with these `settings`, into the model folder `out`, and gives it. Its file is
/// `get_up_policy.safetensors`; metrics and checkpoints are in `get-up`.
///
/// # Errors
/// A setting outside its range, or `settings` in which nobody gets up; pushes that fell nobody; a policy that is there already, unless it is resumed or overwritten; a checkpoint of other settings; a
/// ground that is refused; a folder that cannot be written. [`TrainError::Stopped`] when `on_event` asks for it.
pub fn train_get_up(
    model: &Model,
    settings: &GeneratorConfig,
    config: &GetUpTraining,
    start: Start,
    out: &Path,
    device: &Device,
    on_event: OnEvent<'_>,
) -> Result<Policy, TrainError> {
    config.validate()?;
    settings.validate()?;
    pomp_config::Fields::root().holds(
        settings.layers.fall_recovery.get_up.enabled,
        "layers.fall_recovery.get_up.enabled",
        "false",
        "true in the loop of the training: its bodies get up",
    )?;
    keep_freed_memory();
    let mut told = config.clone();
    told.learning.iterations = 0;
    let skeleton = &model.description.skeleton;
    let told = serde_json::to_string(&(&told, settings, skeleton)).expect("a config is plain data");
    let description = PolicyDescription {
        made_by: format!("pomp {}", env!("CARGO_PKG_VERSION")),
        config: serde_json::to_value(config).expect("a config is plain data"),
        seed: config.seed,
        model_sha256: model.files_sha256.clone().unwrap_or_default(),
        sizes: config.sizes.clone(),
        mean: Vec::new(),
        deviation: Vec::new(),
        metrics: BTreeMap::new(),
    };
    let task = Task {
        kind: PolicyKind::GetUp,
        stage: Stage::GetUp,
        seed: config.seed,
        critic_hidden: &config.critic_hidden,
        help: config.assist,
        learning: config.learning,
        description,
        out,
    };
    let mut training = Ppo::new(task, &told, start, device)?;
    let of_grounds = config.grounds.iter().enumerate();
    let asked: Vec<_> = of_grounds
        .flat_map(|(index, ground)| std::iter::repeat_n((index, &ground.terrain), ground.bodies))
        .collect();
    let mut bodies = asked
        .into_par_iter()
        .enumerate()
        .map(|(number, of)| FallenBody::new(skeleton, settings, config, of, number as u64))
        .collect::<Result<Vec<_>, _>>()?;
    training.run(&mut bodies, config, |bodies, of| figures(config, bodies, of), on_event)?;
    Ok(training.policy())
}

/// Rewards, and the share of attempts that got a fallen body up, in all and by ground.
fn figures(config: &GetUpTraining, bodies: &[FallenBody], decisions: &[Decisions]) -> Vec<(String, f32)> {
    let count: usize = decisions.iter().map(|of| of.rewards.len()).sum();
    let reward: f32 = decisions.iter().flat_map(|of| &of.rewards).sum();
    let ended = |wanted: &dyn Fn(&End) -> bool| {
        decisions.iter().flat_map(|of| &of.ends).filter(|end| wanted(end)).count() as f32
    };
    let (up, down) = (ended(&|end| *end == End::Reached), ended(&|end| *end == End::Failed));
    let share = |chosen: &dyn Fn(&FallenBody) -> bool| {
        let attempts = |which: usize| -> usize {
            bodies.iter().filter(|body| chosen(body)).map(|body| body.attempts[which]).sum()
        };
        attempts(1) as f32 / attempts(0).max(1) as f32
    };
    let mut figures = vec![
        ("reward".to_owned(), reward / count.max(1) as f32),
        ("up".to_owned(), up / (up + down).max(1.0)),
        ("up_after_falls".to_owned(), share(&|_| true)),
    ];
    let attempts: usize = bodies.iter().map(|body| body.attempts[0]).sum();
    let shares: f32 = bodies.iter().map(|body| body.shares).sum();
    figures.push(("share_after_falls".to_owned(), shares / attempts.max(1) as f32));
    for index in 0..config.grounds.len() {
        figures.push((format!("up_after_falls_{index}"), share(&|body| body.ground == index)));
    }
    figures
}

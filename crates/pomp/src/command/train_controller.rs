//! `pomp train controller`.

use super::train::{reported, start};
use crate::cli::TrainArguments;
use crate::errors::INTERRUPTED;
use crate::{default_model, device};
use anyhow::{Result, bail};
use pomp_config::resolve;
use pomp_controllers::ControllerKind;
use pomp_train::{
    ControllerConfig, Dataset, LearnedConfig, MatchingConfig, train_controller, train_learned_matching,
    train_matching,
};
use std::collections::BTreeMap;
use std::process::ExitCode;

pub fn run(arguments: &TrainArguments, kind: ControllerKind) -> Result<ExitCode> {
    if arguments.dry_run || arguments.fine_tune {
        bail!("--dry-run and --fine-tune are for the stages of a model; a controller has neither");
    }
    if matches!(kind, ControllerKind::Matching | ControllerKind::MatchingPhase) {
        return run_matching(arguments, kind);
    }
    if kind == ControllerKind::LearnedMatching {
        return run_learned_matching(arguments);
    }
    let Some(origin) = default_model::controller_origin(kind, arguments.config.as_deref()) else {
        bail!(
            "{kind} is not trained as a controller; controllers are: phase, pfnn, mann, local-phases, nsm, matching, matching-phase, \
             learned-matching"
        );
    };
    let mut config: ControllerConfig = resolve(origin, &arguments.set)?.checked()?;
    if config.kind != kind {
        bail!("the configuration is of the controller {}, not {kind}: give the one of {kind}", config.kind);
    }
    if let Some(seed) = arguments.seed {
        config.seed = seed;
    }
    config.validate()?;
    let device = device::open(arguments.device)?;
    let mut dataset = Dataset::load(arguments.data()?, config.held_out_every, &config.exclude)?;
    let trained = reported(arguments.json, |on_event| {
        train_controller(&mut dataset, &config, start(arguments), &arguments.out, &device, on_event)
    })?;
    let Some(model) = trained else { return Ok(ExitCode::from(INTERRUPTED)) };
    tell(arguments, kind, &model.description.metrics);
    Ok(ExitCode::SUCCESS)
}

fn run_matching(arguments: &TrainArguments, kind: ControllerKind) -> Result<ExitCode> {
    let config: MatchingConfig =
        resolve(default_model::matching_origin(kind, arguments.config.as_deref()), &arguments.set)?
            .checked()?;
    if config.kind != kind {
        bail!("the configuration is of the controller {}, not {kind}: give the one of {kind}", config.kind);
    }
    if arguments.seed.is_some() {
        bail!("--seed is for trainings; motion matching draws no random numbers");
    }
    config.validate()?;
    let dataset = Dataset::load(arguments.data()?, config.held_out_every, &config.exclude)?;
    let model = train_matching(&dataset, &config, start(arguments), &arguments.out)?;
    tell(arguments, kind, &model.description.metrics);
    Ok(ExitCode::SUCCESS)
}

fn run_learned_matching(arguments: &TrainArguments) -> Result<ExitCode> {
    let mut config: LearnedConfig =
        resolve(default_model::learned_origin(arguments.config.as_deref()), &arguments.set)?.checked()?;
    if let Some(seed) = arguments.seed {
        config.seed = seed;
    }
    config.validate()?;
    let device = device::open(arguments.device)?;
    let dataset = Dataset::load(arguments.data()?, config.held_out_every, &config.exclude)?;
    let trained = reported(arguments.json, |on_event| {
        train_learned_matching(&dataset, &config, start(arguments), &arguments.out, &device, on_event)
    })?;
    let Some(model) = trained else { return Ok(ExitCode::from(INTERRUPTED)) };
    tell(arguments, ControllerKind::LearnedMatching, &model.description.metrics);
    Ok(ExitCode::SUCCESS)
}

/// Says where a controller is, and how good.
fn tell(arguments: &TrainArguments, kind: ControllerKind, metrics: &BTreeMap<String, f32>) {
    if arguments.json {
        return;
    }
    println!("the controller {kind} is in {}:", arguments.out.display());
    for (name, value) in metrics {
        println!("  {name} {value:.4}");
    }
    println!("next: pomp generate --model {} --controller {kind}", arguments.out.display());
}

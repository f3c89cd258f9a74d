//! `pomp train balance`.

use super::train::{reported, start};
use crate::cli::TrainArguments;
use crate::errors::INTERRUPTED;
use crate::{default_model, device};
use anyhow::{Result, bail};
use pomp_config::{Origin, resolve, resolve_whole};
use pomp_generator::GeneratorConfig;
use pomp_train::{BalanceTraining, train_balance};
use std::process::ExitCode;

pub fn run(arguments: &TrainArguments) -> Result<ExitCode> {
    if arguments.dry_run || arguments.fine_tune || arguments.data.is_some() || arguments.a.is_some() {
        bail!(
            "--dry-run, --fine-tune, --data and --a are for other trainings; a balance policy learns from the model's own motion"
        );
    }
    let mut config: BalanceTraining =
        resolve_whole(default_model::balance_origin(arguments.config.as_deref()), &arguments.set)?.config;
    if let Some(seed) = arguments.seed {
        config.seed = seed;
    }
    config.validate()?;
    let own_feet =
        Origin::BuiltIn { name: "configs/own_feet.toml", text: include_str!("../../configs/own_feet.toml") };
    let closed_loop = arguments.closed_loop.as_deref().map_or(own_feet, Origin::File);
    let settings: GeneratorConfig = resolve(closed_loop, &[])?.checked()?;
    let device = device::open(arguments.device)?;
    let folder = arguments.out.join("model.json").is_file().then_some(arguments.out.as_path());
    let model = default_model::find_whole(folder, &device)?;
    let trained = reported(arguments.json, |on_event| {
        train_balance(&model, &settings, &config, start(arguments), &arguments.out, &device, on_event)
    })?;
    let Some(policy) = trained else { return Ok(ExitCode::from(INTERRUPTED)) };
    if !arguments.json {
        println!("the balance policy is in {}:", arguments.out.display());
        for (name, value) in &policy.description.metrics {
            println!("  {name} {value:.4}");
        }
    }
    Ok(ExitCode::SUCCESS)
}

//! `pomp train balance` and `pomp train get-up`.

use super::train::{reported, start};
use crate::cli::TrainArguments;
use crate::errors::INTERRUPTED;
use crate::{default_model, device};
use anyhow::{Result, bail};
use pomp_config::{Origin, resolve, resolve_whole};
use pomp_generator::GeneratorConfig;
use pomp_policy::PolicyKind;
use pomp_train::{BalanceTraining, GetUpTraining, train_balance, train_get_up};
use std::process::ExitCode;

pub fn run(arguments: &TrainArguments, kind: PolicyKind) -> Result<ExitCode> {
    if arguments.dry_run || arguments.fine_tune || arguments.data.is_some() || arguments.a.is_some() {
        bail!(
            "--dry-run, --fine-tune, --data and --a are for other trainings; a policy learns from the model's own motion and body"
        );
    }
    let own_feet =
        Origin::BuiltIn { name: "configs/own_feet.toml", text: include_str!("../../configs/own_feet.toml") };
    let closed_loop = arguments.closed_loop.as_deref().map_or(own_feet, Origin::File);
    let settings: GeneratorConfig = resolve(closed_loop, &[])?.checked()?;
    let device = device::open(arguments.device)?;
    let folder = arguments.out.join("model.json").is_file().then_some(arguments.out.as_path());
    let model = default_model::find_whole(folder, &device)?;
    let (path, set) = (arguments.config.as_deref(), &arguments.set);
    let (start, out) = (start(arguments), &arguments.out);
    let trained = match kind {
        PolicyKind::Balance => {
            let mut config: BalanceTraining = resolve_whole(default_model::balance_origin(path), set)?.config;
            config.seed = arguments.seed.unwrap_or(config.seed);
            config.validate()?;
            reported(arguments.json, |on_event| {
                train_balance(&model, &settings, &config, start, out, &device, on_event)
            })?
        }
        PolicyKind::GetUp => {
            let mut config: GetUpTraining = resolve_whole(default_model::get_up_origin(path), set)?.config;
            config.seed = arguments.seed.unwrap_or(config.seed);
            config.validate()?;
            reported(arguments.json, |on_event| {
                train_get_up(&model, &settings, &config, start, out, &device, on_event)
            })?
        }
    };
    let Some(policy) = trained else { return Ok(ExitCode::from(INTERRUPTED)) };
    if !arguments.json {
        println!("{} is in {}:", kind.file(), out.display());
        for (name, value) in &policy.description.metrics {
            println!("  {name} {value:.4}");
        }
    }
    Ok(ExitCode::SUCCESS)
}

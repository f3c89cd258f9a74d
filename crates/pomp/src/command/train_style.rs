//! `pomp train style`.

use super::train::{reported, start};
use crate::cli::TrainArguments;
use crate::errors::INTERRUPTED;
use crate::{default_model, device};
use anyhow::{Result, bail};
use pomp_config::resolve_whole;
use pomp_train::{Dataset, StyleTraining, train_styles};
use std::process::ExitCode;

pub fn run(arguments: &TrainArguments) -> Result<ExitCode> {
    if arguments.dry_run || arguments.fine_tune || arguments.closed_loop.is_some() {
        bail!("--dry-run, --fine-tune and --loop are for other trainings");
    }
    let mut config: StyleTraining =
        resolve_whole(default_model::style_origin(arguments.config.as_deref()), &arguments.set)?.config;
    if let Some(seed) = arguments.seed {
        config.seed = seed;
    }
    config.validate()?;
    let device = device::open(arguments.device)?;
    let folder = arguments.out.join("model.json").is_file().then_some(arguments.out.as_path());
    let model = default_model::find_whole(folder, &device)?;
    let mut dataset = Dataset::load(arguments.data()?, 0, &[])?;
    let trained = reported(arguments.json, |on_event| {
        train_styles(&model, &mut dataset, &config, start(arguments), &arguments.out, &device, on_event)
    })?;
    let Some(styles) = trained else { return Ok(ExitCode::from(INTERRUPTED)) };
    if !arguments.json {
        println!("the style adapter is in {}:", arguments.out.display());
        for style in &styles.description.styles {
            println!("  {}: {:.0} s of motion, pace {:.2}", style.name, style.seconds, style.pace);
        }
        for (name, value) in &styles.description.metrics {
            println!("  {name} {value:.4}");
        }
        if let (Some(folder), Some(style)) = (folder, styles.names().next()) {
            println!("next: pomp generate --model {} --style {style}:0.7", folder.display());
        }
    }
    Ok(ExitCode::SUCCESS)
}

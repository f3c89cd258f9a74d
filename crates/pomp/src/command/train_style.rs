//! `pomp train style`.

use super::train::{reported, start};
use crate::cli::TrainArguments;
use crate::errors::INTERRUPTED;
use crate::{default_model, device};
use anyhow::{Result, bail};
use pomp_config::{ConfigError, resolve_whole};
use pomp_train::{Dataset, StyleTraining, train_styles};
use std::process::ExitCode;

pub fn run(arguments: &TrainArguments) -> Result<ExitCode> {
    if arguments.dry_run || arguments.fine_tune || arguments.closed_loop.is_some() {
        bail!("--dry-run, --fine-tune and --loop are for other trainings");
    }
    let resolved = resolve_whole::<StyleTraining>(
        default_model::style_origin(arguments.config.as_deref()),
        &arguments.set,
    );
    let mut config = match (resolved, &arguments.config) {
        (Ok(resolved), _) => resolved.config,
        (Err(error @ ConfigError::Invalid { .. }), Some(_))
            if error.to_string().contains("missing field") =>
        {
            bail!(
                "{error}; `pomp config show style-adapter` prints a whole configuration; a file of your own may begin with \
                 extends = \"STYLE_ADAPTER.toml\" and name neutral and styles (docs/style.md)"
            )
        }
        (Err(error), _) => return Err(error.into()),
    };
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
    if folder.is_none() {
        pomp_front::model::write_embedded(&arguments.out)?;
    }
    if !arguments.json {
        println!("the style adapter is in {}:", arguments.out.display());
        for style in &styles.description.styles {
            println!("  {}: {:.0} s of motion, pace {:.2}", style.name, style.seconds, style.pace);
        }
        for (name, value) in &styles.description.metrics {
            println!("  {name} {value:.4}");
        }
        if let Some(style) = styles.names().next() {
            let out = arguments.out.display();
            println!("next: pomp generate --model {out} --terrain flat --style {style}:0.7");
        }
    }
    Ok(ExitCode::SUCCESS)
}

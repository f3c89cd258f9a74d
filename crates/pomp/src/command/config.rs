//! `pomp config`: configurations, and where their values come from.

use crate::cli::{ConfigKind, ConfigShowArguments};
use crate::command::{bench, generate_batch};
use crate::{config_file, default_model};
use anyhow::Result;
use pomp_batch::RandomScenes;
use pomp_bench::BenchConfig;
use pomp_config::{Resolved, resolve, resolve_whole};
use pomp_generator::GeneratorConfig;
use pomp_physics::DynamicConfig;
use pomp_preprocess::PreprocessConfig;
use pomp_studio::StudioConfig;
use pomp_train::TrainConfig;
use std::process::ExitCode;

pub fn show(arguments: &ConfigShowArguments) -> Result<ExitCode> {
    let (path, set) = (arguments.config.as_deref(), &arguments.set);
    let shown = match arguments.kind {
        ConfigKind::Preprocess => config_file::over_defaults::<PreprocessConfig>(path, set)?.show(),
        ConfigKind::Train => {
            let resolved: Resolved<TrainConfig> = resolve(default_model::origin(path), set)?;
            resolved.show()
        }
        ConfigKind::Generate => config_file::over_defaults::<GeneratorConfig>(path, set)?.show(),
        ConfigKind::Batch => resolve_whole::<RandomScenes>(generate_batch::origin(path), set)?.show(),
        ConfigKind::Bench => resolve_whole::<BenchConfig>(bench::origin(path), set)?.show(),
        ConfigKind::Studio => config_file::over_defaults::<StudioConfig>(path, set)?.show(),
        ConfigKind::Physics => config_file::over_defaults::<DynamicConfig>(path, set)?.show(),
    };
    print!("{shown}");
    Ok(ExitCode::SUCCESS)
}

//! `pomp config`: configurations, where their values come from, and their schemas.

use crate::cli::{ConfigKind, ConfigSchemaArguments, ConfigShowArguments, SchemaKind};
use crate::command::{bench, generate_scene};
use crate::{config_file, default_model};
use anyhow::Result;
use pomp_batch::RandomScenes;
use pomp_bench::BenchConfig;
use pomp_bench::performance::PerformanceConfig;
use pomp_config::{Origin, Resolved, resolve, resolve_whole, schema, schema_of_alone, schema_of_whole};
use pomp_controllers::ControllerKind;
use pomp_generator::{GeneratorConfig, PathFile};
use pomp_motion::retarget::RigMap;
use pomp_physics::DynamicConfig;
use pomp_preprocess::PreprocessConfig;
use pomp_skeletal::SkeletalConfig;
use pomp_studio::StudioConfig;
use pomp_style::StyleConfig;
use pomp_terrain::TerrainSpec;
use pomp_train::{
    BalanceTraining, ControllerConfig, LearnedConfig, MatchingConfig, StyleTraining, TrainConfig,
};
use std::process::ExitCode;

pub fn show(arguments: &ConfigShowArguments) -> Result<ExitCode> {
    let (path, set) = (arguments.config.as_deref(), &arguments.set);
    let shown = match arguments.kind {
        ConfigKind::Preprocess => config_file::over_defaults::<PreprocessConfig>(path, set)?.show(),
        ConfigKind::Train => {
            let resolved: Resolved<TrainConfig> = resolve(default_model::origin(path), set)?;
            resolved.show()
        }
        ConfigKind::Controller => {
            let origin = default_model::controller_origin(ControllerKind::Phase, path);
            let resolved: Resolved<ControllerConfig> = resolve(origin.unwrap_or(Origin::Defaults), set)?;
            resolved.show()
        }
        ConfigKind::Matching => {
            let resolved: Resolved<MatchingConfig> =
                resolve(default_model::matching_origin(ControllerKind::Matching, path), set)?;
            resolved.show()
        }
        ConfigKind::LearnedMatching => {
            let resolved: Resolved<LearnedConfig> = resolve(default_model::learned_origin(path), set)?;
            resolved.show()
        }
        ConfigKind::Generate => config_file::over_defaults::<GeneratorConfig>(path, set)?.show(),
        ConfigKind::Batch => resolve_whole::<RandomScenes>(pomp_front::batch::origin(path), set)?.show(),
        ConfigKind::Bench => resolve_whole::<BenchConfig>(bench::origin(path), set)?.show(),
        ConfigKind::Performance => config_file::over_defaults::<PerformanceConfig>(path, set)?.show(),
        ConfigKind::Balance => {
            resolve_whole::<BalanceTraining>(default_model::balance_origin(path), set)?.show()
        }
        ConfigKind::Studio => config_file::over_defaults::<StudioConfig>(path, set)?.show(),
        ConfigKind::Style => config_file::over_defaults::<StyleConfig>(path, set)?.show(),
        ConfigKind::StyleAdapter => {
            resolve_whole::<StyleTraining>(default_model::style_origin(path), set)?.show()
        }
        ConfigKind::Retarget => config_file::over_defaults::<SkeletalConfig>(path, set)?.show(),
        ConfigKind::Physics => config_file::over_defaults::<DynamicConfig>(path, set)?.show(),
    };
    print!("{shown}");
    Ok(ExitCode::SUCCESS)
}

pub fn print_schema(arguments: &ConfigSchemaArguments) -> Result<ExitCode> {
    let schema = match arguments.kind {
        SchemaKind::Preprocess => schema::<PreprocessConfig>(),
        SchemaKind::Train => schema::<TrainConfig>(),
        SchemaKind::Controller => schema::<ControllerConfig>(),
        SchemaKind::Matching => schema::<MatchingConfig>(),
        SchemaKind::LearnedMatching => schema::<LearnedConfig>(),
        SchemaKind::Generate => schema::<GeneratorConfig>(),
        SchemaKind::Batch => schema_of_whole::<RandomScenes>(),
        SchemaKind::Bench => schema_of_whole::<BenchConfig>(),
        SchemaKind::Performance => schema::<PerformanceConfig>(),
        SchemaKind::Balance => schema_of_whole::<BalanceTraining>(),
        SchemaKind::Studio => schema::<StudioConfig>(),
        SchemaKind::Style => schema::<StyleConfig>(),
        SchemaKind::StyleAdapter => schema_of_whole::<StyleTraining>(),
        SchemaKind::Retarget => schema::<SkeletalConfig>(),
        SchemaKind::Physics => schema::<DynamicConfig>(),
        SchemaKind::Terrain => schema_of_alone::<TerrainSpec>(),
        SchemaKind::Rig => schema_of_alone::<RigMap>(),
        SchemaKind::Scene => schema_of_whole::<generate_scene::SceneFile>(),
        SchemaKind::Path => schema_of_whole::<PathFile>(),
    };
    println!("{}", serde_json::to_string_pretty(&schema)?);
    Ok(ExitCode::SUCCESS)
}

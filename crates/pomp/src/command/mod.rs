//! One module per command.

mod bench;
mod completions;
mod config;
mod evaluate;
mod export;
mod generate;
mod generate_batch;
mod generate_scene;
mod inspect;
mod inspect_dataset;
mod inspect_source;
mod kinematic_report;
mod performance;
mod phase;
mod phase_report;
mod preprocess;
mod render;
mod replay;
mod retarget;
mod retarget_networks;
mod retarget_pairs;
mod rig;
mod studio;
mod style;
mod style_clips;
mod synthesize;
mod terrain;
mod terrain_validate;
mod train;
mod train_balance;
mod train_controller;
mod train_retarget;
mod train_style;
mod validate_impulses;

use crate::cli::{
    Arguments, Command, ConfigCommand, KinematicCommand, PhaseCommand, RigCommand, StyleCommand,
    TerrainCommand,
};
use anyhow::Result;
use pomp_front::pushes;
use std::process::ExitCode;

/// Runs what was asked for.
pub fn run(arguments: Arguments) -> Result<ExitCode> {
    match arguments.command {
        None => generate::run(&arguments.generate),
        Some(Command::Inspect(arguments)) => inspect::run(&arguments),
        Some(Command::Rig(RigCommand::Infer(arguments))) => rig::infer_rig(&arguments),
        Some(Command::Retarget(arguments)) => retarget::run(&arguments),
        Some(Command::Terrain(TerrainCommand::Make(arguments))) => terrain::make(&arguments),
        Some(Command::Terrain(TerrainCommand::Validate(arguments))) => terrain_validate::run(&arguments),
        Some(Command::Preprocess(arguments)) => preprocess::run(&arguments),
        Some(Command::Export(arguments)) => export::run(&arguments),
        Some(Command::ValidateImpulses(arguments)) => validate_impulses::run(&arguments),
        Some(Command::Train(arguments)) => train::run(&arguments),
        Some(Command::Phase(PhaseCommand::Annotate(arguments))) => phase::annotate(&arguments),
        Some(Command::Phase(PhaseCommand::Report(arguments))) => phase_report::run(&arguments),
        Some(Command::Kinematic(KinematicCommand::Report(arguments))) => kinematic_report::run(&arguments),
        Some(Command::Generate(arguments)) => generate::run(&arguments),
        Some(Command::Replay(arguments)) => replay::run(&arguments),
        Some(Command::Render(arguments)) => render::run(&arguments),
        Some(Command::Evaluate(arguments)) => evaluate::run(&arguments),
        Some(Command::Bench(arguments)) => bench::run(&arguments),
        Some(Command::Studio(arguments)) => studio::run(&arguments),
        Some(Command::Synthesize(arguments)) => synthesize::run(&arguments),
        Some(Command::Style(StyleCommand::Fit(arguments))) => style::fit(&arguments),
        Some(Command::Style(StyleCommand::Blend(arguments))) => style::blend(&arguments),
        Some(Command::Style(StyleCommand::Edit(arguments))) => style::edit(&arguments),
        Some(Command::Style(StyleCommand::Report(arguments))) => style::report(&arguments),
        Some(Command::Config(ConfigCommand::Show(arguments))) => config::show(&arguments),
        Some(Command::Config(ConfigCommand::Schema(arguments))) => config::print_schema(&arguments),
        Some(Command::Completions(arguments)) => completions::completions(&arguments),
        Some(Command::Man(arguments)) => completions::man(&arguments),
    }
}

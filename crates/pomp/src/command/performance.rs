//! `pomp bench performance`: what a frame costs on this machine.

use crate::cli::PerformanceArguments;
use crate::{default_model, json};
use anyhow::{Context, Result};
use burn::tensor::Device;
use pomp_bench::performance::{NamedModel, PerformanceConfig, measure, read_peers};
use pomp_config::{Origin, resolve};
use pomp_report::performance as report;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The quick measurement.
const QUICK: &str = include_str!("../../configs/bench/performance_quick.toml");
/// A model that is measured where it is there.
const PAPER_SIZE: &str = "data/models/paper_size";

/// Where the configuration of a measurement comes from.
fn origin(path: Option<&Path>, quick: bool) -> Origin<'_> {
    match (path, quick) {
        (Some(path), _) => Origin::File(path),
        (None, true) => Origin::BuiltIn { name: "configs/bench/performance_quick.toml", text: QUICK },
        (None, false) => Origin::Defaults,
    }
}

pub fn run(arguments: &PerformanceArguments) -> Result<ExitCode> {
    let origin = origin(arguments.config.as_deref(), arguments.quick);
    let config: PerformanceConfig = resolve(origin, &arguments.set)?.checked()?;
    let peers = arguments.peers.as_deref().map(read_peers).transpose()?.unwrap_or_default();
    let models = models(&arguments.model)?;
    let device = Device::flex();
    let of_folder = arguments.controllers.as_deref();
    let of_folder = of_folder.map(|folder| default_model::find_whole(Some(folder), &device)).transpose()?;
    let controllers_of = of_folder.as_ref().unwrap_or(&models[0].model);
    let command = command(std::env::args().skip(1));
    let progress = |what: &str| tracing::info!("measuring {what}");
    let figures =
        measure(&models, controllers_of, &config, command, arguments.remark.clone(), peers, &progress)?;
    report::write(&figures, &arguments.out)?;
    if arguments.json {
        json::print("performance", &figures)?;
    } else {
        println!("{}", report::markdown(&figures));
        println!(
            "performance.md, performance.json and images/performance_*.svg are in {}",
            arguments.out.display()
        );
    }
    Ok(ExitCode::SUCCESS)
}

/// The embedded model, and those of `folders` by their names.
fn models(folders: &[PathBuf]) -> Result<Vec<NamedModel>> {
    let device = Device::flex();
    let compact = NamedModel { name: "compact".to_owned(), model: default_model::find_whole(None, &device)? };
    let beside = [PathBuf::from(PAPER_SIZE)];
    let folders = match folders {
        [] if beside[0].is_dir() => &beside[..],
        folders => folders,
    };
    let others = folders.iter().map(|folder| -> Result<NamedModel> {
        let name = folder.file_name().context("a model folder has a name")?.to_string_lossy().into_owned();
        Ok(NamedModel { name, model: default_model::find_whole(Some(folder), &device)? })
    });
    [Ok(compact)].into_iter().chain(others).collect()
}

/// The command line as the page shows it, with words in quotes where a shell needs them.
fn command(words: impl Iterator<Item = String>) -> String {
    let plain = |word: &str| word.chars().all(|c| c.is_alphanumeric() || "-_./=,:".contains(c));
    let quoted = words.map(|word| {
        if plain(&word) && !word.is_empty() { word } else { format!("'{}'", word.replace('\'', "'\\''")) }
    });
    ["pomp".to_owned()].into_iter().chain(quoted).collect::<Vec<_>>().join(" ")
}

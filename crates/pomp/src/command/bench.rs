use crate::cli::{BenchArguments, BenchCommand, MethodsArguments};
use crate::command::performance;
use crate::progress::Progress;
use crate::{default_model, errors, json};
use anyhow::{Result, ensure};
use burn::tensor::Device;
use pomp_bench::{BenchConfig, Mocap, Progress as BenchProgress, Report, World};
use pomp_config::{Origin, resolve_whole};
use pomp_report::bench as report;
use std::path::Path;
use std::process::ExitCode;

/// The quick bench, which runs where no configuration is given.
const QUICK: &str = include_str!("../../configs/bench/quick.toml");

/// Where the configuration of a bench comes from.
pub fn origin(path: Option<&Path>) -> Origin<'_> {
    path.map_or(Origin::BuiltIn { name: "configs/bench/quick.toml", text: QUICK }, Origin::File)
}

pub fn run(arguments: &BenchArguments) -> Result<ExitCode> {
    match (&arguments.command, &arguments.methods) {
        (Some(BenchCommand::Performance(arguments)), _) => performance::run(arguments),
        (None, Some(arguments)) => run_methods(arguments),
        (None, None) => unreachable!("without a command, --out is required"),
    }
}

fn run_methods(arguments: &MethodsArguments) -> Result<ExitCode> {
    let config: BenchConfig =
        resolve_whole(origin(arguments.config.as_deref()), &arguments.set)?.checked()?;
    let mut config = config.expanded()?;
    select(&mut config, arguments)?;
    config.validate()?;
    let threads =
        arguments.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let device = Device::flex();
    let model = default_model::find_whole(arguments.model.as_deref(), &device)?;
    let model_id = model.files_sha256.as_deref().expect("it was read from files")[..16].to_owned();
    let mocap = arguments.data.as_deref().map(|folder| Mocap::load(folder, &model)).transpose()?;
    let world = World::new(model, model_id, mocap);
    let progress = Progress::new("bench", "runs", 0);
    let runs = pomp_bench::run(&world, &config, &arguments.out, threads, &|event| match event {
        BenchProgress::Planned { runs } => progress.set_length(*runs),
        BenchProgress::Done { result } => {
            if let Some(failure) = &result.failure {
                tracing::warn!("{} in {}, run {}: {failure}", result.method, result.scenario, result.run);
            }
            progress.step();
        }
    })?;
    drop(progress);
    ensure!(
        !runs.results.is_empty(),
        "nothing was run: every method left needs a dataset; give one with --data"
    );
    let figures = Report::new(&world, &config, &runs)?;
    report::write(&figures, &runs, &arguments.out)?;
    if arguments.json {
        json::print("bench", &figures)?;
    } else {
        println!("{}", report::markdown(&figures));
        println!("report.html, report.md, report.json and timing.md are in {}", arguments.out.display());
    }
    let failed = runs.results.iter().filter(|run| run.failure.is_some()).count();
    Ok(errors::code_of(runs.results.len() - failed, failed))
}

/// Leaves the methods and scenarios that were asked for.
fn select(config: &mut BenchConfig, arguments: &MethodsArguments) -> Result<()> {
    let check = |what: &str, wanted: &[String], known: Vec<&str>| match wanted
        .iter()
        .find(|name| !known.contains(&name.as_str()))
    {
        Some(name) => Err(errors::unknown("", what, name, known)),
        None => Ok(()),
    };
    let (methods, scenarios) = (&arguments.only, &arguments.scenario);
    check("method", methods, config.method.iter().map(|m| m.name.as_str()).collect())?;
    check("scenario", scenarios, config.scenario.iter().map(|s| s.name.as_str()).collect())?;
    if !scenarios.is_empty() {
        config.scenario.retain(|scenario| scenarios.contains(&scenario.name));
    }
    if !methods.is_empty() {
        // In this order: a list of a scenario's own that became empty would mean all methods.
        config.scenario.retain(|scenario| {
            scenario.methods.is_empty() || scenario.methods.iter().any(|name| methods.contains(name))
        });
        config.method.retain(|method| methods.contains(&method.name));
        for scenario in &mut config.scenario {
            scenario.methods.retain(|name| methods.contains(name));
        }
        ensure!(!config.scenario.is_empty(), "no scenario runs {}", methods.join(", "));
    }
    Ok(())
}

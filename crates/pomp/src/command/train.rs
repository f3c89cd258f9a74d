use super::{train_balance, train_controller, train_retarget, train_style};
use crate::cli::{TrainArguments, TrainStage};
use crate::errors::INTERRUPTED;
use crate::interrupt::{Interrupt, resuming};
use crate::progress::{self, Progress};
use crate::{default_model, device};
use anyhow::{Result, bail};
use pomp_config::resolve;
use pomp_train::{
    Dataset, OnEvent, Rehearsal, Stage, Start, TrainConfig, TrainError, TrainEvent, is_fine_tuning_begun,
    join_thread_pool, rehearse, train,
};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::ExitCode;

pub fn run(arguments: &TrainArguments) -> Result<ExitCode> {
    join_thread_pool();
    if !arguments.then.is_empty() && !matches!(arguments.stage, TrainStage::All | TrainStage::Kinematic) {
        bail!(
            "--then fine-tunes the kinematic module; write `pomp train all` or `pomp train kinematic`, or leave it out"
        );
    }
    match (arguments.stage, arguments.kind) {
        (TrainStage::Controller, Some(kind)) => return train_controller::run(arguments, kind),
        (TrainStage::Retarget, None) => return train_retarget::run(arguments),
        (TrainStage::Balance, None) => return train_balance::run(arguments),
        (TrainStage::Style, None) => return train_style::run(arguments),
        (_, Some(kind)) => bail!(
            "\"{kind}\" names a controller; write `pomp train controller {kind} …`, or leave it out to train a stage"
        ),
        (_, None) => {}
    }
    let configs = configs(arguments)?;
    let device = device::open(arguments.device)?;
    let data = arguments.data()?;
    if arguments.dry_run {
        for (training, config) in configs.iter().enumerate() {
            let dataset = Dataset::open(data, config)?;
            describe(&dataset, config, arguments.json);
            say(&rehearse(dataset, config, stages(arguments, training), &device)?, arguments.json);
        }
        if !arguments.json {
            println!("nothing was written; leave --dry-run out to train");
        }
        return Ok(ExitCode::SUCCESS);
    }
    let interrupt = listen()?;
    let first = first_training(arguments, &configs, data)?;
    for (training, config) in configs.iter().enumerate().skip(first) {
        let mut dataset = Dataset::open(data, config)?;
        describe(&dataset, config, arguments.json);
        let start = match training {
            0 => start(arguments),
            _ if training == first => Start::ResumeFineTune,
            _ => Start::FineTune,
        };
        let trained = reported_until(&interrupt, arguments.json, |on_event| {
            let stages = stages(arguments, training);
            train(&mut dataset, config, stages, start, &arguments.out, &device, on_event)
        })?;
        let Some(model) = trained else { return Ok(ExitCode::from(INTERRUPTED)) };
        if !arguments.json {
            println!("the model is in {}:", arguments.out.display());
            for (name, value) in &model.description.metrics {
                println!("  {name} {value:.4}");
            }
        }
    }
    if !arguments.json {
        println!("{}", next_step(arguments, data));
    }
    Ok(ExitCode::SUCCESS)
}

/// The configurations of the training and of the fine-tunings after it.
fn configs(arguments: &TrainArguments) -> Result<Vec<TrainConfig>> {
    let files = std::iter::once(arguments.config.as_deref())
        .chain(arguments.then.iter().map(|file| Some(file.as_path())));
    files
        .map(|file| {
            let mut config: TrainConfig = resolve(default_model::origin(file), &arguments.set)?.checked()?;
            if let Some(seed) = arguments.seed {
                config.seed = seed;
            }
            config.validate()?;
            Ok(config)
        })
        .collect()
}

/// The number of the training that a call begins with: where it resumes, the last one that has been begun.
fn first_training(arguments: &TrainArguments, configs: &[TrainConfig], data: &Path) -> Result<usize> {
    if arguments.resume {
        for (training, config) in configs.iter().enumerate().skip(1).rev() {
            if is_fine_tuning_begun(&Dataset::open(data, config)?, config, &arguments.out) {
                return Ok(training);
            }
        }
    }
    Ok(0)
}

/// Trains with reports on the terminal; nothing when it was stopped, which is said.
pub(super) fn reported<T>(
    as_json: bool,
    train: impl FnOnce(OnEvent<'_>) -> Result<T, TrainError>,
) -> Result<Option<T>> {
    reported_until(&listen()?, as_json, train)
}

/// Listens for Ctrl-C, which a process can do once.
fn listen() -> Result<Interrupt> {
    Interrupt::listen("stopping after this step; a second Ctrl-C ends at once")
}

fn reported_until<T>(
    interrupt: &Interrupt,
    as_json: bool,
    train: impl FnOnce(OnEvent<'_>) -> Result<T, TrainError>,
) -> Result<Option<T>> {
    let progress = Progress::new("train", "steps", 0);
    let trained = train(&mut |event: &TrainEvent<'_>| -> ControlFlow<()> {
        report(event, &progress, as_json);
        interrupt.flow()
    });
    drop(progress);
    match trained {
        Err(TrainError::Stopped { stage, step, folder }) => {
            eprintln!(
                "stopped after step {step} of the {stage} stage; its checkpoint is in {}. This goes on:\n  {}",
                folder.display(),
                resuming(std::env::args().skip(1))
            );
            Ok(None)
        }
        trained => Ok(Some(trained?)),
    }
}

/// What the training of this number trains; all but the first one are fine-tunings.
fn stages(arguments: &TrainArguments, training: usize) -> &'static [Stage] {
    if training > 0 {
        return &[Stage::Kinematic];
    }
    match arguments.stage {
        TrainStage::Phase => &[Stage::Phase],
        TrainStage::AlignedPhase => &[Stage::AlignedPhase],
        TrainStage::Kinematic => &[Stage::Kinematic],
        TrainStage::All
        | TrainStage::Controller
        | TrainStage::Retarget
        | TrainStage::Balance
        | TrainStage::Style => &[Stage::Phase, Stage::AlignedPhase, Stage::Kinematic],
    }
}

pub(super) fn start(arguments: &TrainArguments) -> Start {
    match (arguments.resume, arguments.fine_tune) {
        (true, true) => Start::ResumeFineTune,
        (true, false) => Start::Resume,
        (false, true) => Start::FineTune,
        (false, false) if arguments.overwrite => Start::Overwrite,
        (false, false) => Start::Anew,
    }
}

/// Prints what there is to learn from.
fn describe(dataset: &Dataset, config: &TrainConfig, as_json: bool) {
    if !as_json {
        let [recordings, frames, held_out] = dataset.totals();
        let minutes = frames as f32 / pomp_train::FRAME_RATE_HZ / 60.0;
        let excluded = dataset.excluded;
        println!(
            "{recordings} recordings, {minutes:.1} min, {held_out} held out; {excluded} others excluded by name"
        );
        if config.resident_recordings > 0 {
            println!("{} of them in memory at a time", dataset.clips.len());
        }
    }
    let holds_out = config.held_out_every > 0 || !config.held_out.is_empty();
    if holds_out && dataset.measured_on() == "training" {
        eprintln!(
            "warning: no clip is held out, so errors are measured on training clips; add clips, lower held_out_every (now {}: \
             about one clip in so many), or check held_out (now {:?}: the beginnings of names)",
            config.held_out_every, config.held_out
        );
    }
}

/// Prints the figures of a step, where it has any, and moves the progress bar on.
fn report(event: &TrainEvent<'_>, progress: &Progress, as_json: bool) {
    let (stage, step, steps) = (event.stage.name(), event.step, event.steps);
    if as_json {
        if !event.figures.is_empty() {
            let figures: serde_json::Map<String, serde_json::Value> =
                event.figures.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect();
            println!(
                "{}",
                serde_json::json!({ "stage": stage, "step": step, "steps": steps, "figures": figures })
            );
        }
        return;
    }
    progress.set_length(steps);
    progress.set_position(step);
    if !event.figures.is_empty() {
        let figures: Vec<String> =
            event.figures.iter().map(|(name, value)| format!("{name} {value:.4}")).collect();
        progress::between(|| println!("{stage} {step}/{steps}: {}", figures.join(", ")));
    }
}

/// Prints what training would take.
fn say(rehearsal: &Rehearsal, as_json: bool) {
    let memory_bytes = rehearsal.data_bytes + rehearsal.stage_bytes;
    if as_json {
        let stages: Vec<serde_json::Value> = rehearsal
            .stages
            .iter()
            .map(|stage| {
                let modules: serde_json::Map<String, serde_json::Value> =
                    stage.modules.iter().map(|(name, count)| (name.clone(), (*count).into())).collect();
                serde_json::json!({
                    "stage": stage.stage.name(), "modules": modules, "examples": stage.examples,
                    "steps": stage.steps, "step_s": stage.step_s,
                })
            })
            .collect();
        println!(
            "{}",
            serde_json::json!({
                "stages": stages, "reading_phases_s": rehearsal.reading_phases_s,
                "memory_bytes": memory_bytes, "seconds": rehearsal.seconds(),
            })
        );
        return;
    }
    for stage in &rehearsal.stages {
        let weights: usize = stage.modules.iter().map(|(_, count)| count).sum();
        let modules: Vec<String> =
            stage.modules.iter().map(|(name, count)| format!("{name} {}", grouped(*count))).collect();
        println!("{}: {} weights ({})", stage.stage.name(), grouped(weights), modules.join(", "));
        println!(
            "  {} steps on {} examples, {:.1} ms each: {}",
            grouped(stage.steps),
            grouped(stage.examples),
            stage.step_s * 1e3,
            duration(stage.steps as f64 * stage.step_s)
        );
    }
    if rehearsal.reading_phases_s > 0.0 {
        println!("reading the phases of all frames: {}", duration(rehearsal.reading_phases_s));
    }
    println!(
        "about {} in all; measuring on held-out clips and checkpoints come on top",
        duration(rehearsal.seconds())
    );
    println!(
        "about {} MB of memory: {} for the data, {} for the largest stage; what a batch needs comes on top",
        grouped(memory_bytes >> 20),
        rehearsal.data_bytes >> 20,
        rehearsal.stage_bytes >> 20
    );
}

/// A count with its thousands apart.
fn grouped(count: usize) -> String {
    let digits = count.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// A time in the unit that a person would take.
fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 90.0 => format!("{s:.0} s"),
        s if s < 5400.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

/// What the folder of the model is good for now.
fn next_step(arguments: &TrainArguments, data: &Path) -> String {
    let (data, out) = (data.display(), arguments.out.display());
    let annotate = format!("pomp phase annotate {data} --model {out}");
    match arguments.stage {
        TrainStage::Phase => {
            format!(
                "next: pomp train aligned-phase --data {data} --out {out}; phases into the data: {annotate}"
            )
        }
        TrainStage::AlignedPhase => format!("next: pomp train kinematic --data {data} --out {out}"),
        _ => {
            format!("next: pomp generate --model {out}; phases into the data: {annotate}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_times_read_as_people_write_them() {
        assert_eq!([0, 999, 1000, 2_230_017].map(grouped), ["0", "999", "1,000", "2,230,017"]);
        assert_eq!([12.4, 600.0, 9000.0].map(duration), ["12 s", "10 min", "2.5 h"]);
    }
}

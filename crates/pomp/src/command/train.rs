use crate::cli::{TrainArguments, TrainStage};
use crate::{config_file, default_model, terminal};
use anyhow::Result;
use burn::tensor::Device;
use pomp_train::{Dataset, Stage, Start, TrainConfig, TrainEvent, train};
use std::process::ExitCode;

pub fn run(arguments: &TrainArguments) -> Result<ExitCode> {
    let mut config: TrainConfig = match &arguments.config {
        Some(path) => config_file::read(path)?,
        None => config_file::parse(default_model::CONFIG, "the built-in compact configuration")?,
    };
    if let Some(seed) = arguments.seed {
        config.seed = seed;
    }
    config.validate()?;
    let stages: &[Stage] = match arguments.stage {
        TrainStage::Phase => &[Stage::Phase],
        TrainStage::AlignedPhase => &[Stage::AlignedPhase],
        TrainStage::Kinematic => &[Stage::Kinematic],
        TrainStage::All => &[Stage::Phase, Stage::AlignedPhase, Stage::Kinematic],
    };
    let start = if arguments.resume { Start::Resume } else { Start::Anew };
    let mut dataset = Dataset::load(&arguments.data, config.held_out_every, &config.exclude)?;
    if !arguments.json {
        let frames: usize = dataset.clips.iter().map(pomp_train::TrainingClip::frames).sum();
        println!(
            "{} recordings, {:.1} min, {} held out",
            dataset.clips.len(),
            frames as f32 / pomp_train::FRAME_RATE_HZ / 60.0,
            dataset.clips.iter().filter(|clip| clip.held_out).count()
        );
    }
    let bar = terminal::bar(0, "train");
    let mut report = |event: &TrainEvent<'_>| {
        if arguments.json {
            if !event.figures.is_empty() {
                let figures: serde_json::Map<String, serde_json::Value> =
                    event.figures.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect();
                println!(
                    "{}",
                    serde_json::json!({ "stage": event.stage.name(), "step": event.step, "steps": event.steps, "figures": figures })
                );
            }
            return;
        }
        bar.set_length(event.steps as u64);
        bar.set_position(event.step as u64);
        if !event.figures.is_empty() {
            let figures: Vec<String> =
                event.figures.iter().map(|(name, value)| format!("{name} {value:.4}")).collect();
            let line =
                format!("{} {}/{}: {}", event.stage.name(), event.step, event.steps, figures.join(", "));
            bar.suspend(|| println!("{line}"));
        }
    };
    let model = train(&mut dataset, &config, stages, start, &arguments.out, &Device::flex(), &mut report)?;
    bar.finish_and_clear();
    if !arguments.json {
        println!("the model is in {}:", arguments.out.display());
        for (name, value) in &model.description.metrics {
            println!("  {name} {value:.4}");
        }
    }
    Ok(ExitCode::SUCCESS)
}

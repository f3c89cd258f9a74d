use crate::cli::PreprocessArguments;
use crate::errors::misuse;
use crate::progress::{self, Progress};
use crate::{config_file, errors, json, motion_file};
use anyhow::{Result, bail};
use pomp_motion::Gait;
use pomp_preprocess::{Manifest, OnFailure, Part, PreprocessConfig, Progress as Event, find_inputs};
use std::ops::ControlFlow;
use std::process::ExitCode;
use std::time::Instant;

pub fn run(arguments: &PreprocessArguments) -> Result<ExitCode> {
    let reading = &arguments.reading;
    let config =
        config_file::over_defaults::<PreprocessConfig>(reading.config.as_deref(), &reading.set)?.checked()?;
    let rigs = motion_file::rigs(&reading.rig)?;
    let part = match (arguments.rank, arguments.ranks) {
        (Some(rank), Some(ranks)) => Part::new(rank, ranks).map_err(|error| misuse!("{error}"))?,
        _ => Part::WHOLE,
    };
    let mut inputs = find_inputs(&arguments.inputs)?;
    inputs.retain(|input| part.holds(input));
    if inputs.is_empty() {
        tracing::info!("none of the clips belongs to this rank");
        return Ok(ExitCode::SUCCESS);
    }
    let on_failure = if arguments.strict { OnFailure::Stop } else { OnFailure::Skip };
    let progress = Progress::new("preprocess", "clips", inputs.len());
    let started = Instant::now();
    let report = |event: &Event| {
        if let Event::Failed(failure) = event {
            tracing::warn!("skipped: {}", failure.error);
        }
        progress.step();
        ControlFlow::Continue(())
    };
    let out = &arguments.out;
    let manifest = pomp_preprocess::run_part(&inputs, part, out, &config, &rigs, on_failure, &report)?;
    drop(progress);
    if arguments.json {
        json::print("preprocess", &manifest)?;
    } else if !manifest.clips.is_empty() {
        summarise(&manifest, arguments, started.elapsed().as_secs_f32());
    }
    if manifest.clips.is_empty() {
        bail!("none of the {} clips could be preprocessed; the reasons are above", inputs.len());
    }
    Ok(errors::code_of(manifest.clips.len(), manifest.failures.len()))
}

fn summarise(manifest: &Manifest, arguments: &PreprocessArguments, seconds: f32) {
    let frames: usize = manifest.clips.iter().map(|clip| clip.frames).sum();
    let motion = frames as f32 / manifest.config.frame_rate_hz;
    println!(
        "{} recordings, {:.1} min of motion in {} ({:.1} times real time), in {}",
        manifest.clips.len(),
        motion / 60.0,
        progress::duration(seconds.into()),
        motion / seconds.max(1e-3),
        arguments.out.display()
    );
    let minutes: Vec<String> = Gait::ALL
        .iter()
        .map(|gait| {
            let frames: usize = manifest.clips.iter().map(|clip| clip.gait_frames[gait.index()]).sum();
            format!("{} {:.1}", gait.name(), frames as f32 / manifest.config.frame_rate_hz / 60.0)
        })
        .collect();
    println!("minutes by gait: {}", minutes.join(", "));
    let (mut closed, mut corrected, mut resets) = (0, 0, 0);
    let closes = |closure: f32| usize::from((closure - 1.0).abs() <= 0.03);
    for clip in &manifest.clips {
        closed += closes(clip.impulses.vertical_closure);
        corrected += closes(clip.impulses.corrected_closure);
        resets += usize::from(clip.replay.resets > 0);
    }
    println!(
        "vertical contact impulse within 3 % of m g T in {closed} of {}, less the momentum gained between their ends in \
         {corrected}; the ragdoll lost the clip at least once in {resets}",
        manifest.clips.len()
    );
    let warned = manifest.clips.iter().filter(|clip| !clip.warnings.is_empty()).count();
    if warned > 0 {
        println!("{warned} recordings have warnings: see `pomp inspect` of the folder, or manifest.json");
    }
    if !manifest.failures.is_empty() {
        println!("{} clips were skipped, see above", manifest.failures.len());
    }
}

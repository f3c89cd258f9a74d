//! `pomp retarget`: a motion on a target skeleton.

use super::{retarget_networks, retarget_pairs};
use crate::cli::{ReadingArguments, RetargetArguments, RetargetCommand};
use crate::{config_file, json, motion_file};
use anyhow::{Context, Result, anyhow, bail};
use pomp_motion::retarget::{Proportions, RigLibrary};
use pomp_motion::{GlobalPose, Recording};
use pomp_preprocess::PreprocessConfig;
use pomp_retarget::{OntoOptions, OntoReport, TargetSkeleton, onto_skeleton};
use serde_json::json;
use std::path::Path;
use std::process::ExitCode;

/// Most joints of a kind that are listed by name.
const LISTED: usize = 8;

pub fn run(arguments: &RetargetArguments) -> Result<ExitCode> {
    match &arguments.command {
        Some(RetargetCommand::Pairs(arguments)) => return retarget_pairs::run(arguments),
        Some(RetargetCommand::Report(arguments)) => return retarget_networks::report(arguments),
        None => {}
    }
    let (Some(source), Some(to)) = (&arguments.clip, &arguments.to) else {
        bail!("give the motion and --to SKELETON.bvh");
    };
    match &arguments.model {
        Some(model) => retarget_networks::retarget(arguments, [source, to], model),
        None => by_rules(arguments, source, to),
    }
}

fn by_rules(arguments: &RetargetArguments, source: &Path, to: &Path) -> Result<ExitCode> {
    let rigs = motion_file::rigs(&arguments.reading.rig)?;
    let target = TargetSkeleton::read(to, &rigs)?;
    let recording = read(source, &arguments.reading, &rigs)?;
    let recording = if arguments.simulated { simulated(source, &recording)? } else { recording };
    let told = || source.display().to_string();
    let clip = recording.to_clip().with_context(told)?;
    let options = OntoOptions { plant_feet: arguments.plant_feet, ..OntoOptions::default() };
    let result = onto_skeleton(&clip, &recording.foot_contact, &target, options).with_context(told)?;
    if let Some(out) = &arguments.out {
        result.write(out)?;
    }
    if arguments.json {
        let mut value = json::plain(&result.report)?;
        value["path"] = json!(source);
        value["to"] = json!(to);
        value["out"] = json!(arguments.out);
        value["frames"] = json!(clip.frames());
        value["frame_rate_hz"] = json::plain(&clip.frame_rate_hz)?;
        value["inference"] = json::plain(&target.inference())?;
        json::print("retarget", &value)?;
        return Ok(ExitCode::SUCCESS);
    }
    println!("{} on the skeleton of {}", source.display(), to.display());
    println!("  {} frames at {} Hz", clip.frames(), clip.frame_rate_hz);
    if let Some(inference) = target.inference() {
        println!(
            "  no known rig map fits; the joints are inferred {}, confidence {:.2} (`pomp rig infer {}` shows them)",
            inference.method,
            inference.confidence,
            to.display()
        );
    }
    show(&result.report);
    if let Some(out) = &arguments.out {
        println!("  wrote {}", out.display());
    }
    Ok(ExitCode::SUCCESS)
}

/// The motion on the project skeleton. A motion file keeps its own bone lengths, unless the configuration states others: the
/// fewer bodies a motion passes through, the less of it is lost.
fn read(path: &Path, reading: &ReadingArguments, rigs: &RigLibrary) -> Result<Recording> {
    let mut config =
        config_file::over_defaults::<PreprocessConfig>(reading.config.as_deref(), &reading.set)?.checked()?;
    if reading.config.is_none() && !reading.set.iter().any(|set| set.starts_with("retarget.proportions")) {
        config.retarget.proportions = Proportions::Source;
    }
    motion_file::read(path, &config, rigs)
}

/// The recording with the motion of its simulated body, and the contacts that it felt.
fn simulated(path: &Path, recording: &Recording) -> Result<Recording> {
    let Some(track) = &recording.simulation else {
        bail!(
            "{}: it holds no simulated motion; leave --simulated out, or give a recording that `pomp preprocess` has written",
            path.display()
        );
    };
    let poses: Option<Vec<GlobalPose>> =
        (0..recording.frames()).map(|frame| recording.simulated_pose(frame)).collect();
    let poses =
        poses.ok_or_else(|| anyhow!("{}: its simulated motion is shorter than its clip", path.display()))?;
    let mut simulated = Recording::of_global_poses(
        &recording.name,
        recording.skeleton.clone(),
        recording.frame_rate_hz,
        &poses,
    );
    simulated.foot_contact = track.foot_contact().unwrap_or_else(|| recording.foot_contact.clone());
    Ok(simulated)
}

fn show(report: &OntoReport) {
    let frame = &report.source_frame;
    println!(
        "  rig {}, unit {}, {} up, legs {:.2} m: {:.2} times the clip's",
        report.rig,
        frame.unit.name(),
        frame.up_axis.name(),
        frame.leg_length_m,
        report.scale
    );
    println!(
        "  ankles of standing feet at {:.1} cm: {}; {} carries the body",
        100.0 * report.ankle_height_m,
        report.ankle_height_reason,
        report.carrier
    );
    let followers: Vec<String> = report
        .followers
        .iter()
        .map(|follower| format!("{} ({} {:.0} %)", follower.joint, follower.shares, 100.0 * follower.share))
        .collect();
    list("share the motion of others", &followers);
    list("keep their rest pose", &report.at_rest);
    list("joints of the project that the skeleton lacks", &report.missing);
    for short in &report.short_joints {
        println!(
            "  {} has {} rotation channels and loses {:.1}° on average",
            short.joint, short.channels, short.lost_degrees
        );
    }
    let feet = &report.planted_feet;
    println!(
        "  planted feet ({:.0} % of the time) move at {:.3} m/s, in the clip at {:.3} m/s",
        100.0 * feet.planted,
        feet.target_m_s,
        feet.clip_m_s
    );
    for warning in &report.warnings {
        println!("  warning: {warning}");
    }
}

fn list(what: &str, names: &[String]) {
    if names.is_empty() {
        return;
    }
    let more = names.len().saturating_sub(LISTED);
    let listed = names[..names.len() - more].join(", ");
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    println!("  {what}: {listed}{more}");
}

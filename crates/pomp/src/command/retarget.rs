//! `pomp retarget`: a motion on a target skeleton.

use super::{retarget_networks, retarget_pairs};
use crate::cli::{RetargetArguments, RetargetCommand};
use crate::json;
use anyhow::{Result, bail};
use pomp_front::retarget::{Motion, RetargetRequest, Rules};
use pomp_retarget::OntoReport;
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
        bail!("give the motion and --to SKELETON");
    };
    match &arguments.model {
        Some(model) => retarget_networks::retarget(arguments, [source, to], model),
        None => by_rules(arguments, source, to),
    }
}

fn by_rules(arguments: &RetargetArguments, source: &Path, to: &Path) -> Result<ExitCode> {
    let rules = Rules {
        plant_feet: arguments.plant_feet,
        simulated: arguments.simulated,
        rigs: &arguments.reading.rig,
        config: arguments.reading.config.as_deref(),
        settings: &arguments.reading.set,
    };
    let request = RetargetRequest { motion: Motion::File(source), to, out: arguments.out.as_deref() };
    let result = request.by_rules(&rules)?;
    if arguments.json {
        let mut value = json::plain(&result)?;
        value["path"] = json!(source);
        value["to"] = json!(to);
        value["out"] = json!(arguments.out);
        json::print("retarget", &value)?;
        return Ok(ExitCode::SUCCESS);
    }
    println!("{} on the skeleton of {}", source.display(), to.display());
    println!("  {} frames at {} Hz", result.frames, result.frame_rate_hz);
    if let Some(inference) = &result.inference {
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

/// A line with the first names of a kind, where there are any.
pub fn list(what: &str, names: &[String]) {
    if names.is_empty() {
        return;
    }
    let more = names.len().saturating_sub(LISTED);
    let listed = names[..names.len() - more].join(", ");
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    println!("  {what}: {listed}{more}");
}

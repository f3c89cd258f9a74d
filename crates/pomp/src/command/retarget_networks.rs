//! `pomp retarget --model`, and `pomp retarget report`.

use super::retarget::list;
use crate::cli::{RetargetArguments, RetargetReportArguments};
use crate::json;
use anyhow::Result;
use burn::tensor::Device;
use pomp_front::retarget::{Motion, RetargetRequest};
use pomp_report::retargeting;
use pomp_skeletal::SkeletalModel;
use serde_json::json;
use std::path::Path;
use std::process::ExitCode;

/// A motion on a skeleton by networks.
pub fn retarget(arguments: &RetargetArguments, [source, to]: [&Path; 2], model: &Path) -> Result<ExitCode> {
    let request = RetargetRequest { motion: Motion::File(source), to, out: arguments.out.as_deref() };
    let result = request.by_networks(model)?;
    if arguments.json {
        let mut value = json::plain(&result)?;
        value["path"] = json!(source);
        value["to"] = json!(to);
        value["out"] = json!(arguments.out);
        value["model"] = json!(model);
        json::print("retarget-networks", &value)?;
        return Ok(ExitCode::SUCCESS);
    }
    println!(
        "{} on the skeleton of {} by the networks of {}",
        source.display(),
        to.display(),
        model.display()
    );
    println!(
        "  {} frames at {} Hz, from the {} skeleton onto the {}",
        result.frames, result.frame_rate_hz, result.from_skeleton, result.to_skeleton
    );
    list("keep their mean rotation", &result.at_mean);
    if let Some(out) = &arguments.out {
        println!("  wrote {}", out.display());
    }
    Ok(ExitCode::SUCCESS)
}

pub fn report(arguments: &RetargetReportArguments) -> Result<ExitCode> {
    let mut models = Vec::new();
    for path in &arguments.models {
        models.push((path.display().to_string(), SkeletalModel::open(path, &Device::flex())?));
    }
    let report = retargeting::measure(&arguments.pairs, &models)?;
    if let Some(out) = &arguments.out {
        report.write(out)?;
    }
    if arguments.json {
        json::print("retarget-report", &json::plain(&report)?)?;
    } else {
        print!("{}", report.text());
    }
    Ok(ExitCode::SUCCESS)
}

//! `pomp kinematic report`: the kinematic module of a model, measured on held-out clips.

use crate::cli::KinematicReportArguments;
use crate::progress::Progress;
use crate::{default_model, json};
use anyhow::Result;
use burn::tensor::Device;
use std::process::ExitCode;

pub fn run(arguments: &KinematicReportArguments) -> Result<ExitCode> {
    let (model, name) = default_model::find_named(arguments.model.as_deref(), &Device::flex())?;
    let (data, steps) = (&arguments.data, &arguments.steps);
    let progress = Progress::new("kinematic report", "", 0);
    let figures = pomp_report::kinematic::measure(&model, &name, data, steps, arguments.seed)?;
    drop(progress);
    figures.write(&arguments.out)?;
    if arguments.json {
        json::print("kinematic-report", &figures.found)?;
    } else {
        println!("{}\nreport.md and report.json are in {}", figures.text, arguments.out.display());
    }
    Ok(ExitCode::SUCCESS)
}

//! `pomp phase report`: the phase manifold of a model, seen and measured on recordings.

use crate::cli::PhaseReportArguments;
use crate::progress::Progress;
use crate::{default_model, json};
use anyhow::Result;
use burn::tensor::Device;
use std::process::ExitCode;

pub fn run(arguments: &PhaseReportArguments) -> Result<ExitCode> {
    let (model, name) = default_model::find_named(arguments.model.as_deref(), &Device::flex())?;
    let progress = Progress::new("phase report", "", 0);
    let report = pomp_report::phase::measure(&model, &name, &arguments.data, arguments.plain_steps)?;
    drop(progress);
    report.write(&arguments.out)?;
    if arguments.json {
        json::print("phase-report", &report)?;
    } else {
        let (pictures, out) = (report.pictures.len(), arguments.out.display());
        println!("{}\nreport.md, report.json and {pictures} pictures are in {out}", report.tables());
    }
    Ok(ExitCode::SUCCESS)
}

use crate::cli::TerrainValidateArguments;
use crate::progress::Progress;
use crate::{config_file, errors, json, motion_file};
use anyhow::Result;
use pomp_preprocess::{PreprocessConfig, find_inputs};
use std::process::ExitCode;

pub fn run(arguments: &TerrainValidateArguments) -> Result<ExitCode> {
    let reading = &arguments.reading;
    let config =
        config_file::over_defaults::<PreprocessConfig>(reading.config.as_deref(), &reading.set)?.checked()?;
    let inputs = if arguments.clips.is_empty() { Vec::new() } else { find_inputs(&arguments.clips)? };
    let rigs = motion_file::rigs(&reading.rig)?;
    let progress = Progress::new("terrain", "clips", arguments.count as usize + inputs.len());
    let drawn = (arguments.seed, arguments.count);
    let report = pomp_report::terrain::measure(drawn, &inputs, &config, &rigs, &|| progress.step())?;
    drop(progress);
    if arguments.json {
        json::print("terrain-validate", &report)?;
    } else {
        print!("{}", report.tables());
    }
    Ok(match report.passed {
        true => errors::code_of(1, report.refused.len()),
        false => ExitCode::from(errors::FAILED),
    })
}

use crate::cli::TerrainValidateArguments;
use crate::{config_file, motion_file, terminal};
use anyhow::Result;
use pomp_preprocess::{PreprocessConfig, find_inputs};
use std::process::ExitCode;

pub fn run(arguments: &TerrainValidateArguments) -> Result<ExitCode> {
    let config = config_file::over_defaults::<PreprocessConfig>(arguments.config.as_deref(), &arguments.set)?
        .checked()?;
    let inputs = if arguments.clips.is_empty() { Vec::new() } else { find_inputs(&arguments.clips)? };
    let rigs = motion_file::rigs(&arguments.rig)?;
    let bar = terminal::bar(arguments.count + inputs.len() as u64, "terrain");
    let drawn = (arguments.seed, arguments.count);
    let report = pomp_report::terrain::measure(drawn, &inputs, &config, &rigs, &|| bar.inc(1))?;
    bar.finish_and_clear();
    if arguments.json {
        println!("{}", report.json());
    } else {
        print!("{}", report.tables());
    }
    Ok(if report.passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

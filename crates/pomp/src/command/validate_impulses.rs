use crate::cli::ValidateImpulsesArguments;
use crate::progress::Progress;
use crate::{config_file, errors, json, motion_file};
use anyhow::{Result, bail};
use pomp_preprocess::PreprocessConfig;
use pomp_report::impulses::{self, ImpulseProgress};
use std::process::ExitCode;

pub fn run(arguments: &ValidateImpulsesArguments) -> Result<ExitCode> {
    let reading = &arguments.reading;
    let config =
        config_file::over_defaults::<PreprocessConfig>(reading.config.as_deref(), &reading.set)?.checked()?;
    let rigs = motion_file::rigs(&reading.rig)?;
    if !arguments.folder.is_dir() {
        bail!(
            "{}: there is no such folder; give one with manifest.csv and the trials",
            arguments.folder.display()
        );
    }
    let progress = Progress::new("validate", "trials", 0);
    let mut on_progress = |event: ImpulseProgress<'_>| match event {
        ImpulseProgress::Planned { trials } => progress.set_length(trials),
        ImpulseProgress::Done { failure } => {
            if let Some(error) = failure {
                tracing::warn!("skipped: {error}");
            }
            progress.step();
        }
        _ => {}
    };
    let report =
        impulses::measure(&arguments.folder, &config, &rigs, arguments.out.as_deref(), &mut on_progress)?;
    drop(progress);
    if arguments.json {
        json::print("validate-impulses", &report)?;
    } else if !report.trials.is_empty() {
        print!("{}", report.tables());
    }
    if report.trials.is_empty() {
        bail!(
            "none of the trials in {} could be compared; the reasons are above",
            arguments.folder.display()
        );
    }
    Ok(errors::code_of(report.trials.len(), report.failures.len()))
}

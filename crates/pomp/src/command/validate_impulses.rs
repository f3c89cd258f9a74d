use crate::cli::ValidateImpulsesArguments;
use crate::{config_file, motion_file, terminal};
use anyhow::{Result, bail};
use pomp_preprocess::PreprocessConfig;
use pomp_report::impulses::{self, ImpulseProgress};
use std::process::ExitCode;

pub fn run(arguments: &ValidateImpulsesArguments) -> Result<ExitCode> {
    let config = config_file::over_defaults::<PreprocessConfig>(arguments.config.as_deref(), &arguments.set)?
        .checked()?;
    let rigs = motion_file::rigs(&arguments.rig)?;
    let bar = terminal::bar(0, "validate");
    let mut on_progress = |progress: ImpulseProgress<'_>| match progress {
        ImpulseProgress::Planned { trials } => bar.set_length(trials as u64),
        ImpulseProgress::Done { failure } => {
            if let Some(error) = failure {
                bar.suspend(|| eprintln!("skipped: {error}"));
            }
            bar.inc(1);
        }
        _ => {}
    };
    let report =
        impulses::measure(&arguments.folder, &config, &rigs, arguments.out.as_deref(), &mut on_progress)?;
    bar.finish_and_clear();
    if arguments.json {
        println!("{}", report.json());
    } else if !report.trials.is_empty() {
        print!("{}", report.tables());
    }
    if report.trials.is_empty() {
        bail!(
            "none of the trials in {} could be compared; the reasons are above",
            arguments.folder.display()
        );
    }
    Ok(if report.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

use crate::cli::PhaseAnnotateArguments;
use crate::{default_model, terminal};
use anyhow::Result;
use burn::tensor::Device;
use pomp_train::{annotate_phases, count_recordings};
use std::process::ExitCode;

pub fn annotate(arguments: &PhaseAnnotateArguments) -> Result<ExitCode> {
    let recordings = count_recordings(&arguments.data)?;
    let device = Device::flex();
    let model = default_model::find(arguments.model.as_deref(), &device)?;
    let bar = terminal::bar(recordings as u64, "phases");
    let done = annotate_phases(&arguments.data, &model, &mut |_| bar.inc(1))?;
    bar.finish_and_clear();
    let first = done.first().expect("a folder without recordings is refused");
    let frames: usize = done.iter().map(|one| one.frames).sum();
    let written = done.iter().filter(|one| one.written).count();
    if arguments.json {
        println!(
            "{}",
            serde_json::json!({
                "recordings": done.len(),
                "written": written,
                "frames": frames,
                "numbers_per_frame": first.columns,
                "phase_model": first.phase_model,
            })
        );
    } else {
        println!(
            "{written} of {} recordings were given phases, {} numbers for each of {frames} frames; the others had them",
            done.len(),
            first.columns
        );
        println!("phase_model {}, of model {}", first.phase_model, model.description.config_name);
    }
    Ok(ExitCode::SUCCESS)
}

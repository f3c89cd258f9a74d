use crate::cli::PhaseAnnotateArguments;
use crate::progress::Progress;
use crate::{default_model, json};
use anyhow::Result;
use burn::tensor::Device;
use pomp_train::{annotate_phases, count_recordings};
use std::process::ExitCode;

pub fn annotate(arguments: &PhaseAnnotateArguments) -> Result<ExitCode> {
    let recordings = count_recordings(&arguments.data)?;
    let device = Device::flex();
    let model = default_model::find(arguments.model.as_deref(), &device)?;
    let progress = Progress::new("phases", "recordings", recordings);
    let done = annotate_phases(&arguments.data, &model, &mut |_| progress.step())?;
    drop(progress);
    let first = done.first().expect("a folder without recordings is refused");
    let frames: usize = done.iter().map(|one| one.frames).sum();
    let written = done.iter().filter(|one| one.written).count();
    if arguments.json {
        let told = serde_json::json!({
            "recordings": done.len(),
            "written": written,
            "frames": frames,
            "numbers_per_frame": first.columns,
            "phase_model": first.phase_model,
        });
        json::print("phase-annotate", &told)?;
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

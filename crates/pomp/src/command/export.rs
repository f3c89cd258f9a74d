use crate::cli::{ExportArguments, ExportFormat};
use crate::json;
use crate::progress::Progress;
use anyhow::Result;
use pomp_dataset::{Dataset, Format, export};
use std::process::ExitCode;

pub fn run(arguments: &ExportArguments) -> Result<ExitCode> {
    let dataset = Dataset::open(&arguments.data)?;
    let format = match arguments.format {
        ExportFormat::Shards => Format::Shards,
        ExportFormat::Parquet => Format::Parquet,
        ExportFormat::Protomotions => Format::ProtoMotions,
        ExportFormat::Mimickit => Format::MimicKit,
        ExportFormat::Glb => Format::Glb,
        ExportFormat::Bvh => Format::Bvh,
    };
    let progress = Progress::new("export", "recordings", dataset.recordings.len());
    let exported = export(&dataset, format, &arguments.out, &mut || progress.step())?;
    drop(progress);
    if arguments.json {
        json::print("export", &exported)?;
    } else {
        println!(
            "{} files of {} recordings are in {}; {} of them were written now",
            exported.files.len(),
            dataset.recordings.len(),
            arguments.out.display(),
            exported.written
        );
    }
    Ok(ExitCode::SUCCESS)
}

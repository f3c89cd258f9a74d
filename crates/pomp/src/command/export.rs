use crate::cli::{ExportArguments, ExportFormat};
use crate::terminal;
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
    let bar = terminal::bar(dataset.recordings.len() as u64, "export");
    let exported = export(&dataset, format, &arguments.out, &mut || bar.inc(1))?;
    bar.finish_and_clear();
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&exported)?);
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

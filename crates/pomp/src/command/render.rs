use crate::cli::RenderArguments;
use crate::motion_file;
use crate::progress::Progress;
use anyhow::Result;
use pomp_formats::write_atomically;
use pomp_front::picture::PictureKind;
use pomp_preprocess::PreprocessConfig;
use std::process::ExitCode;

pub fn run(arguments: &RenderArguments) -> Result<ExitCode> {
    let kind = PictureKind::of(&arguments.out, arguments.side_by_side)?;
    let rigs = motion_file::rigs(&arguments.rig)?;
    let recording = motion_file::read(&arguments.motion, &PreprocessConfig::default(), &rigs)?;
    let progress = Progress::new("render", "", 0);
    let bytes = kind.draw(&recording, arguments.side_by_side)?;
    write_atomically(&arguments.out, |file| file.write_all(&bytes))?;
    drop(progress);
    Ok(ExitCode::SUCCESS)
}

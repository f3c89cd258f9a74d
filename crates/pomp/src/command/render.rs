use crate::cli::RenderArguments;
use crate::motion_file;
use anyhow::{Result, bail};
use pomp_formats::write_atomically;
use pomp_preprocess::PreprocessConfig;
use pomp_render::{RenderOptions, View, render_contact_sheet, render_gif};
use std::process::ExitCode;

pub fn run(arguments: &RenderArguments) -> Result<ExitCode> {
    let moving = match arguments.out.extension().and_then(|extension| extension.to_str()) {
        Some("gif") => true,
        Some("png") => false,
        _ => bail!("{}: name the picture .gif (moving) or .png (contact sheet)", arguments.out.display()),
    };
    let rigs = motion_file::rigs(&arguments.rig)?;
    let recording = motion_file::read(&arguments.motion, &PreprocessConfig::default(), &rigs)?;
    let mut options = RenderOptions::default();
    if arguments.side_by_side {
        options = RenderOptions { view: View::SideBySide, width: 2 * options.width, ..options };
    }
    let mut bytes = Vec::new();
    if moving {
        render_gif(&recording, &options, &mut bytes)?;
    } else {
        let small = RenderOptions { width: options.width * 2 / 3, height: options.height * 2 / 3, ..options };
        render_contact_sheet(&recording, &small, 4, 3, &mut bytes)?;
    }
    write_atomically(&arguments.out, |file| file.write_all(&bytes))?;
    Ok(ExitCode::SUCCESS)
}

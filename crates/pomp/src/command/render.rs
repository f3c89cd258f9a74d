use crate::cli::RenderArguments;
use crate::motion_file;
use anyhow::{Result, bail};
use pomp_formats::write_atomically;
use pomp_preprocess::PreprocessConfig;
use pomp_render::{RenderOptions, View, render_contact_sheet, render_gif};
use std::process::ExitCode;

/// What is drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Gif,
    Png,
    Html,
}

pub fn run(arguments: &RenderArguments) -> Result<ExitCode> {
    let kind = match arguments.out.extension().and_then(|extension| extension.to_str()) {
        Some("gif") => Kind::Gif,
        Some("png") => Kind::Png,
        Some("html") => Kind::Html,
        _ => bail!(
            "{}: name the picture .gif (moving), .png (contact sheet) or .html (a page that plays it)",
            arguments.out.display()
        ),
    };
    if kind == Kind::Html && arguments.side_by_side {
        bail!("--side-by-side: a page shows clip and simulation by itself; leave it out for .html");
    }
    let rigs = motion_file::rigs(&arguments.rig)?;
    let recording = motion_file::read(&arguments.motion, &PreprocessConfig::default(), &rigs)?;
    let mut options = RenderOptions::default();
    if arguments.side_by_side {
        options = RenderOptions { view: View::SideBySide, width: 2 * options.width, ..options };
    }
    let mut bytes = Vec::new();
    match kind {
        Kind::Gif => render_gif(&recording, &options, &mut bytes)?,
        Kind::Png => {
            let small =
                RenderOptions { width: options.width * 2 / 3, height: options.height * 2 / 3, ..options };
            render_contact_sheet(&recording, &small, 4, 3, &mut bytes)?;
        }
        Kind::Html => bytes = pomp_studio::standalone_html(&recording)?,
    }
    write_atomically(&arguments.out, |file| file.write_all(&bytes))?;
    Ok(ExitCode::SUCCESS)
}

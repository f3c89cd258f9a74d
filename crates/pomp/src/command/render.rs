use crate::cli::RenderArguments;
use crate::errors::misuse;
use crate::motion_file;
use crate::progress::Progress;
use anyhow::Result;
#[cfg(not(feature = "rerun"))]
use anyhow::bail;
use pomp_formats::write_atomically;
use pomp_motion::Recording;
use pomp_preprocess::PreprocessConfig;
use pomp_render::{RenderOptions, View, render_contact_sheet, render_gif};
use std::process::ExitCode;

/// What is drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Gif,
    Png,
    Html,
    Rrd,
}

pub fn run(arguments: &RenderArguments) -> Result<ExitCode> {
    let kind = match arguments.out.extension().and_then(|extension| extension.to_str()) {
        Some("gif") => Kind::Gif,
        Some("png") => Kind::Png,
        Some("html") => Kind::Html,
        Some("rrd") => Kind::Rrd,
        _ => {
            return Err(misuse!(
                "{}: name the picture .gif (moving), .png (contact sheet), .html (a page that plays it) or .rrd (for the rerun \
             viewer)",
                arguments.out.display()
            ));
        }
    };
    if matches!(kind, Kind::Html | Kind::Rrd) && arguments.side_by_side {
        return Err(misuse!(
            "--side-by-side: a page and a viewer show clip and simulation by themselves; leave it out"
        ));
    }
    let rigs = motion_file::rigs(&arguments.rig)?;
    let recording = motion_file::read(&arguments.motion, &PreprocessConfig::default(), &rigs)?;
    let mut options = RenderOptions::default();
    if arguments.side_by_side {
        options = RenderOptions { view: View::SideBySide, width: 2 * options.width, ..options };
    }
    let progress = Progress::new("render", "", 0);
    let mut bytes = Vec::new();
    match kind {
        Kind::Gif => render_gif(&recording, &options, &mut bytes)?,
        Kind::Png => {
            let small =
                RenderOptions { width: options.width * 2 / 3, height: options.height * 2 / 3, ..options };
            render_contact_sheet(&recording, &small, 4, 3, &mut bytes)?;
        }
        Kind::Html => bytes = pomp_studio::standalone_html(&recording)?,
        Kind::Rrd => bytes = rrd(&recording)?,
    }
    write_atomically(&arguments.out, |file| file.write_all(&bytes))?;
    drop(progress);
    Ok(ExitCode::SUCCESS)
}

#[cfg(feature = "rerun")]
fn rrd(recording: &Recording) -> Result<Vec<u8>> {
    Ok(pomp_render::rrd_bytes(recording)?)
}

#[cfg(not(feature = "rerun"))]
fn rrd(_recording: &Recording) -> Result<Vec<u8>> {
    bail!(
        ".rrd: this program was built without the rerun exporter; build it with `cargo build --release --features rerun`, \
         or write .html, which any browser plays"
    )
}

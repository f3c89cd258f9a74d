//! A [`crate::Report`] as JSON, Markdown and HTML, and frame times beside it.

mod base64;
mod columns;
mod html;
mod markdown;
mod svg;
mod timing;

use crate::{BenchError, Report, Runs};
use pomp_formats::write_atomically;
use std::path::Path;

pub use markdown::markdown;

/// Writes `report.json`, `report.md` and `report.html` into `out`, where the previews of the runs are, and `timing.md`.
///
/// All but `timing.md` are the same for the same runs.
///
/// # Errors
/// A file that cannot be written, or a preview that cannot be read.
pub fn write(report: &Report, runs: &Runs, out: &Path) -> Result<(), BenchError> {
    let json = serde_json::to_string_pretty(report).expect("a report is plain data");
    let page = html::page(report, out)?;
    let files = [
        ("report.json", json),
        ("report.md", markdown(report)),
        ("report.html", page),
        ("timing.md", timing::markdown(report, runs, out)),
    ];
    for (name, text) in files {
        write_atomically(&out.join(name), |file| file.write_all(text.as_bytes()))?;
    }
    Ok(())
}

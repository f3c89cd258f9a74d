//! The figures of a bench as JSON, Markdown and HTML, and frame times beside them.

mod columns;
mod html;
mod markdown;
mod timing;

use crate::ReportError;
use crate::output::{json, write as write_file};
use pomp_bench::{Report, Runs};
use std::path::Path;

pub use markdown::markdown;

/// Writes `report.json`, `report.md` and `report.html` into `out`, where the previews of the runs are, and `timing.md`.
///
/// All but `timing.md` are the same for the same runs.
///
/// # Errors
/// A file that cannot be written, or a preview that cannot be read.
pub fn write(report: &Report, runs: &Runs, out: &Path) -> Result<(), ReportError> {
    let files = [
        ("report.json", json(report)),
        ("report.md", markdown(report)),
        ("report.html", html::page(report, out)?),
        ("timing.md", timing::markdown(report, runs, out)),
    ];
    files.iter().try_for_each(|(name, text)| write_file(&out.join(name), text.as_bytes()))
}

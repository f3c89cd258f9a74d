//! The page that says what a frame costs, with its figures as JSON and its charts.

mod charts;
mod markdown;

use crate::ReportError;
use crate::output::{json, make_folder, write as write_file};
use pomp_bench::performance::PerformanceReport;
use std::path::Path;

pub use markdown::markdown;

/// Writes `performance.md`, `performance.json` and the charts, `images/performance_*.svg`, into `out`, which is made.
///
/// # Errors
/// A file that cannot be written, and a chart that cannot be drawn.
pub fn write(report: &PerformanceReport, out: &Path) -> Result<(), ReportError> {
    make_folder(&out.join("images"))?;
    write_file(&out.join("performance.json"), (json(report) + "\n").as_bytes())?;
    for chart in charts::all(report) {
        let svg = chart.plot.svg(charts::WIDTH, chart.height)?;
        write_file(&out.join(chart.file()), (svg + "\n").as_bytes())?;
    }
    write_file(&out.join("performance.md"), markdown(report).as_bytes())
}

//! What frames cost: clock readings, apart from everything that is reproducible.

use super::columns::number;
use pomp_bench::{Report, Runs, read_times};
use pomp_motion::statistics::mean;
use std::fmt::Write;
use std::path::Path;

pub(super) fn markdown(report: &Report, runs: &Runs, out: &Path) -> String {
    let mut text = "# Frame times\n\nWall time on the machine that ran the bench, with whatever else it did, other runs of the bench among it (`--threads 1` \
keeps those away): mean over runs.\n\n\
| scenario | method | p50, ms | p99, ms |\n|---|---|---|---|\n"
        .to_owned();
    for cell in &report.cells {
        let times: Vec<_> = runs
            .results
            .iter()
            .filter(|run| run.scenario == cell.scenario && run.method == cell.method)
            .filter_map(|run| read_times(out, run))
            .collect();
        let p50 = mean(&times.iter().map(|t| t.p50_ms).collect::<Vec<_>>());
        let p99 = mean(&times.iter().map(|t| t.p99_ms).collect::<Vec<_>>());
        if let (Some(p50), Some(p99)) = (p50, p99) {
            let (p50, p99) = (number(p50), number(p99));
            writeln!(text, "| {} | {} | {p50} | {p99} |", cell.scenario, cell.method)
                .expect("a string takes all text");
        }
    }
    text
}

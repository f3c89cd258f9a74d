use super::columns::{self, number};
use pomp_bench::{Cell, Report};
use std::fmt::Write;

/// The report as Markdown: one table per scenario, methods in rows.
pub fn markdown(report: &Report) -> String {
    let mut text = String::new();
    let mut line =
        |parts: std::fmt::Arguments<'_>| writeln!(text, "{parts}").expect("a string takes all text");
    line(format_args!("# Bench\n"));
    line(format_args!(
        "Made by {} with the model \"{}\" ({}, trained on data {}){}.",
        report.made_by,
        report.model_name,
        report.model,
        report.model_data,
        match &report.data {
            Some(data) => format!(" against the dataset {data}"),
            None => ", without a dataset".to_owned(),
        }
    ));
    line(format_args!("\n{HOW_TO_READ}\n"));
    if report.data.is_some() && !report.data_held_out {
        line(format_args!("The dataset has no held-out clip: training clips stand in for them.\n"));
    }
    line(format_args!("| method | what it is |\n|---|---|"));
    for method in &report.config.method {
        line(format_args!("| {} | {} |", method.name, method.about));
    }
    for scenario in &report.config.scenario {
        let cells: Vec<&Cell> = report.of_scenario(&scenario.name).collect();
        if cells.is_empty() {
            continue;
        }
        line(format_args!("\n## {}\n\n{}", scenario.name, scenario.about));
        if let Some(floor) = report.floors.get(&scenario.name) {
            line(format_args!(
                "Mocap against mocap (Fréchet², {} windows of training clips to {} of held-out ones): {}.",
                floor.training_windows,
                floor.held_out_windows,
                number(floor.frechet)
            ));
        }
        let columns = columns::of(&cells, scenario.push.is_some());
        let titles: Vec<String> = columns
            .iter()
            .map(|column| {
                let unit = if column.unit.is_empty() { String::new() } else { format!(", {}", column.unit) };
                format!("{}{unit} {}", column.title, column.better).trim_end().to_owned()
            })
            .collect();
        line(format_args!("\n| method | {} |", titles.join(" | ")));
        line(format_args!("|---|{}", "---|".repeat(columns.len())));
        for cell in &cells {
            let values: Vec<String> = columns.iter().map(|column| columns::text(cell, column)).collect();
            line(format_args!("| {} | {} |", cell.method, values.join(" | ")));
        }
        for cell in cells.iter().filter(|cell| !cell.failures.is_empty()) {
            line(format_args!(
                "\n{} gave no motion in {} of {} runs: {}",
                cell.method,
                cell.failures.len(),
                cell.runs,
                cell.failures[0]
            ));
        }
        drift(&cells, &mut line);
    }
    if !report.not_run.is_empty() {
        line(format_args!("\n## Not run\n"));
        for left in &report.not_run {
            line(format_args!("- {} in {}: {}", left.method, left.scenario, left.reason));
        }
    }
    text
}

/// What the figures mean.
pub(super) const HOW_TO_READ: &str = "Means over runs with 95 % intervals: Student's t after ±, Wilson's for shares, a \
bootstrap over runs in brackets. Falls and pushes are those of whole runs; everything else is measured until half a second \
before the first fall, in what is left when that is two seconds or more. Fréchet² compares phase features of the clean \
periodic autoencoder (codes, amplitudes, frequencies, offsets, in standard deviations of held-out mocap) with held-out \
mocap of the scenario's gaits. Diversity is the root mean square distance of such features between runs. Slip in contact \
depends on how contacts are found (by force in simulated motion, by speed and height elsewhere): compare it within a \
kind only; sliding does not.";

fn drift(cells: &[&Cell], line: &mut impl FnMut(std::fmt::Arguments<'_>)) {
    if cells.iter().all(|cell| cell.drift.is_empty()) {
        return;
    }
    line(format_args!("\nFrom the first minute to the last, runs without a fall:\n"));
    line(format_args!("| method | metric | first | last | change, % |\n|---|---|---|---|---|"));
    for cell in cells {
        for drift in &cell.drift {
            let change = drift.relative_change;
            let percent = |share: f64| format!("{:.1}", 100.0 * share);
            let interval = match change.interval_95 {
                Some([low, high]) => format!(" [{}, {}]", percent(low), percent(high)),
                None => String::new(),
            };
            line(format_args!(
                "| {} | {} | {} | {} | {}{interval} |",
                cell.method,
                drift.metric,
                number(drift.first),
                number(drift.last),
                percent(change.value)
            ));
        }
    }
}

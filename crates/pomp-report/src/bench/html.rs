//! The report as one page that needs nothing else: charts are SVG in it, previews are in it as data.

use super::columns::{self, Column, PUSHED, QUALITY, Source, figure, number};
use super::markdown::HOW_TO_READ;
use crate::ReportError;
use askama::Template;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use pomp_bench::{Cell, Floor, Interval, Report, Scenario};
use pomp_render::{Plot, RenderError};
use std::borrow::Borrow;
use std::path::Path;

/// Columns that are drawn as well as written.
const DRAWN: [&str; 9] = [
    "without a fall",
    "upright",
    "aside of the path",
    "sliding",
    "penetration, p95",
    "jerk",
    "joint rotation",
    "Fréchet²",
    "assist, mean",
];
/// Width of a chart of bars, pixels; height without bars and their legend, of the legend, and of a bar.
const BARS: [u32; 4] = [400, 66, 22, 22];
/// Least height of a chart that can be drawn, pixels: one or two bars stand with room around them.
const LEAST_HEIGHT: u32 = 120;
/// Width and height of a chart over pushes, pixels.
const LINES: [u32; 2] = [500, 300];

#[derive(Template)]
#[template(path = "bench.html")]
struct Page<'a> {
    report: &'a Report,
    how_to_read: &'a str,
    /// Charts over pushes of all sizes, as SVG.
    pushes: Vec<String>,
    parts: Vec<Part<'a>>,
}

/// What a page says of a scenario.
struct Part<'a> {
    scenario: &'a Scenario,
    cells: Vec<&'a Cell>,
    columns: Vec<&'static Column>,
    previews: Vec<Preview<'a>>,
    /// SVG.
    charts: Vec<String>,
    floor: Option<&'a Floor>,
}

struct Preview<'a> {
    method: &'a str,
    /// Base64.
    gif: String,
}

impl Page<'_> {
    /// A figure as it stands in tables.
    fn number(&self, value: impl Borrow<f64>) -> String {
        number(*value.borrow())
    }
}

impl Part<'_> {
    fn drifts(&self) -> bool {
        self.cells.iter().any(|cell| !cell.drift.is_empty())
    }
}

pub(super) fn page(report: &Report, out: &Path) -> Result<String, ReportError> {
    let mut parts = Vec::new();
    for scenario in &report.config.scenario {
        let cells: Vec<&Cell> = report.of_scenario(&scenario.name).collect();
        if !cells.is_empty() {
            parts.push(Part {
                scenario,
                columns: columns::of(&cells, scenario.push.is_some()),
                previews: previews(scenario, &cells, out)?,
                charts: charts(report, scenario, &cells)?,
                floor: report.floors.get(&scenario.name),
                cells,
            });
        }
    }
    let page = Page { report, how_to_read: HOW_TO_READ, pushes: over_pushes(report)?, parts };
    Ok(page.render().expect("a string takes all text"))
}

/// An empty chart of a column, with its unit and which way is better.
fn plot(column: &Column) -> Plot {
    let Column { title, unit, better, source } = column;
    if matches!(source, Source::WithoutFall | Source::Recovered) {
        return Plot::new(format!("{title}, share of runs {better}")).percent();
    }
    let unit = if unit.is_empty() { String::new() } else { format!(", {unit}") };
    Plot::new(format!("{title}{unit} {better}"))
}

fn charts(report: &Report, scenario: &Scenario, cells: &[&Cell]) -> Result<Vec<String>, RenderError> {
    let all: &[Column] = if scenario.push.is_some() { &PUSHED } else { &QUALITY };
    let drawn = all.iter().filter(|column| scenario.push.is_some() || DRAWN.contains(&column.title));
    let mut charts = Vec::new();
    for column in drawn {
        let rows: Vec<(&str, Interval)> =
            cells.iter().filter_map(|cell| Some((cell.method.as_str(), figure(cell, column)?))).collect();
        if rows.is_empty() {
            continue;
        }
        let mut plot = plot(column).highlight_first();
        for (method, Interval { value, interval_95 }) in &rows {
            plot = plot.bar_of("", *method, *value, *interval_95);
        }
        let [width, mut height, legend, row] = BARS;
        let floor = report.floors.get(&scenario.name).filter(|_| column.title == "Fréchet²");
        if let Some(floor) = floor {
            plot = plot.reference(floor.frechet, "mocap against mocap");
            height += legend;
        }
        charts.push(plot.svg(width, (height + row * rows.len() as u32).max(LEAST_HEIGHT))?);
    }
    Ok(charts)
}

fn previews<'a>(
    scenario: &Scenario,
    cells: &[&'a Cell],
    out: &Path,
) -> Result<Vec<Preview<'a>>, ReportError> {
    let mut found = Vec::new();
    for cell in cells.iter().filter(|_| scenario.preview) {
        let path = out.join("runs").join(&scenario.name).join(&cell.method).join("0000.gif");
        match std::fs::read(&path) {
            Ok(bytes) => found.push(Preview { method: &cell.method, gif: STANDARD.encode(&bytes) }),
            // A run that gave no motion has none.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(source) => return Err(ReportError::Unreadable { path, source }),
        }
    }
    Ok(found)
}

/// What methods make of pushes of all sizes, where there are at least two sizes.
fn over_pushes(report: &Report) -> Result<Vec<String>, RenderError> {
    let pushed: Vec<(&Scenario, f64)> = report
        .config
        .scenario
        .iter()
        .filter_map(|scenario| Some((scenario, f64::from(scenario.push.as_ref()?.impulse_ns))))
        .collect();
    if pushed.len() < 2 {
        return Ok(Vec::new());
    }
    let mut charts = Vec::new();
    for column in PUSHED.iter().take(6) {
        let mut plot = plot(column).x_label("push (N·s)");
        let mut is_empty = true;
        for method in &report.config.method {
            let point = |(scenario, impulse): &(&Scenario, f64)| {
                let cell = report.of_scenario(&scenario.name).find(|cell| cell.method == method.name)?;
                let figure = figure(cell, column)?;
                Some((*impulse, figure.value, figure.interval_95))
            };
            let points: Vec<_> = pushed.iter().filter_map(point).collect();
            if !points.is_empty() {
                plot = plot.series_with_intervals(&method.name, &points);
                is_empty = false;
            }
        }
        if !is_empty {
            charts.push(plot.svg(LINES[0], LINES[1])?);
        }
    }
    Ok(charts)
}

//! The report as one page that needs nothing else: charts are SVG in it, previews are in it as data.

use super::columns::{self, Column, PUSHED, QUALITY, figure};
use super::markdown::HOW_TO_READ;
use super::svg::{bars, escape, lines};
use super::{base64, columns::number};
use crate::config::Scenario;
use crate::summary::Interval;
use crate::{BenchError, Cell, Report};
use std::fmt::Write;
use std::path::Path;

const STYLE: &str = "body{font:15px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:78rem;padding:0 1rem;color:#262e3a}\
h1,h2{line-height:1.2}h2{margin-top:2.5rem;border-top:1px solid #e4e8ec;padding-top:1.2rem}\
table{border-collapse:collapse;font-size:13px}.scroll{overflow-x:auto}th,td{padding:.25rem .6rem;text-align:right;\
border-bottom:1px solid #e4e8ec;white-space:nowrap}th:first-child,td:first-child{text-align:left;position:sticky;left:0;\
background:#fff}tr:nth-child(2) td{font-weight:600}.charts,.previews{display:flex;flex-wrap:wrap;gap:1rem;margin:1rem 0}\
figure{margin:0}figcaption{font-size:12px;color:#606a78}img{border-radius:4px;display:block}svg text{font:11px system-ui,\
sans-serif;fill:#262e3a}svg .title{font-weight:600;font-size:12px}svg .name{text-anchor:end}svg .tick{text-anchor:middle}\
svg .first{fill:#266eb8}svg .bar{fill:#b4c8dc}svg .whisker{stroke:#262e3a;fill:none}svg .mark{stroke:#c4325c;\
stroke-width:2;stroke-dasharray:4 3}svg .grid{stroke:#e4e8ec}.note{color:#606a78;font-size:13px;max-width:60rem}";

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

pub(super) fn page(report: &Report, out: &Path) -> Result<String, BenchError> {
    let mut page = format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width\"><title>Bench of {}</title><style>{STYLE}</style></head><body><h1>Bench</h1>",
        escape(&report.model_name)
    );
    let mut put = |parts: std::fmt::Arguments<'_>| page.write_fmt(parts).expect("a string takes all text");
    put(format_args!(
        "<p>Made by {} with the model “{}” ({}, trained on data {}){}.</p><p class=\"note\">{HOW_TO_READ}</p>",
        escape(&report.made_by),
        escape(&report.model_name),
        escape(&report.model),
        escape(&report.model_data),
        match &report.data {
            Some(data) => format!(" against the dataset {}", escape(data)),
            None => ", without a dataset".to_owned(),
        }
    ));
    put(format_args!("<table><tr><th>method</th><th style=\"text-align:left\">what it is</th></tr>"));
    for method in &report.config.method {
        put(format_args!(
            "<tr><td>{}</td><td style=\"text-align:left;font-weight:400;white-space:normal\">{}</td></tr>",
            escape(&method.name),
            escape(&method.about)
        ));
    }
    put(format_args!("</table>{}", over_pushes(report)));
    for scenario in &report.config.scenario {
        let cells: Vec<&Cell> = report.of_scenario(&scenario.name).collect();
        if cells.is_empty() {
            continue;
        }
        put(format_args!("<h2>{}</h2><p>{}</p>", escape(&scenario.name), escape(&scenario.about)));
        put(format_args!("{}", previews(scenario, &cells, out)?));
        put(format_args!("{}", table(scenario, &cells)));
        put(format_args!("{}", charts(report, scenario, &cells)));
        put(format_args!("{}", notes(report, scenario, &cells)));
    }
    if !report.not_run.is_empty() {
        put(format_args!("<h2>Not run</h2><ul>"));
        for left in &report.not_run {
            put(format_args!(
                "<li>{} in {}: {}</li>",
                escape(&left.method),
                escape(&left.scenario),
                escape(&left.reason)
            ));
        }
        put(format_args!("</ul>"));
    }
    page.push_str("</body></html>\n");
    Ok(page)
}

fn table(scenario: &Scenario, cells: &[&Cell]) -> String {
    let columns = columns::of(cells, scenario.push.is_some());
    let head: String = columns
        .iter()
        .map(|column| {
            format!("<th>{}<br>{} {}</th>", escape(column.title), escape(column.unit), column.better)
        })
        .collect();
    let rows: String = cells
        .iter()
        .map(|cell| {
            let values: String =
                columns.iter().map(|column| format!("<td>{}</td>", columns::text(cell, column))).collect();
            format!("<tr><td>{}</td>{values}</tr>", escape(&cell.method))
        })
        .collect();
    format!("<div class=\"scroll\"><table><tr><th>method</th>{head}</tr>{rows}</table></div>")
}

fn charts(report: &Report, scenario: &Scenario, cells: &[&Cell]) -> String {
    let all: &[Column] = if scenario.push.is_some() { &PUSHED } else { &QUALITY };
    let floor = report.floors.get(&scenario.name).map(|floor| (floor.frechet, "mocap against mocap"));
    let drawn = all.iter().filter(|column| scenario.push.is_some() || DRAWN.contains(&column.title));
    let charts: String = drawn
        .filter_map(|column| {
            let rows: Vec<(String, Interval)> =
                cells.iter().filter_map(|cell| Some((cell.method.clone(), figure(cell, column)?))).collect();
            let unit = if column.unit.is_empty() { String::new() } else { format!(", {}", column.unit) };
            let title = format!("{}{unit} {}", column.title, column.better);
            let mark = if column.title == "Fréchet²" { floor } else { None };
            (!rows.is_empty()).then(|| bars(&title, &rows, mark))
        })
        .collect();
    format!("<div class=\"charts\">{charts}</div>")
}

fn previews(scenario: &Scenario, cells: &[&Cell], out: &Path) -> Result<String, BenchError> {
    if !scenario.preview {
        return Ok(String::new());
    }
    let mut figures = String::new();
    for cell in cells {
        let path = out.join("runs").join(&scenario.name).join(&cell.method).join("0000.gif");
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            // A run that gave no motion has none.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(source) => {
                let (action, remedy) = ("reading the preview", "remove it and run the same command again");
                return Err(BenchError::Io { action, path, source, remedy });
            }
        };
        write!(
            figures,
            "<figure><img alt=\"{0}\" src=\"data:image/gif;base64,{1}\"><figcaption>{0}</figcaption></figure>",
            escape(&cell.method),
            base64::encode(&bytes)
        )
        .expect("a string takes all text");
    }
    Ok(format!("<div class=\"previews\">{figures}</div>"))
}

fn notes(report: &Report, scenario: &Scenario, cells: &[&Cell]) -> String {
    let mut notes = String::new();
    let mut put = |parts: std::fmt::Arguments<'_>| notes.write_fmt(parts).expect("a string takes all text");
    if let Some(floor) = report.floors.get(&scenario.name) {
        put(format_args!(
            "<p class=\"note\">Mocap against mocap (Fréchet², {} windows of training clips to {} of held-out ones): {}.</p>",
            floor.training_windows,
            floor.held_out_windows,
            number(floor.frechet)
        ));
    }
    for cell in cells.iter().filter(|cell| !cell.failures.is_empty()) {
        put(format_args!(
            "<p class=\"note\">{} gave no motion in {} of {} runs: {}</p>",
            escape(&cell.method),
            cell.failures.len(),
            cell.runs,
            escape(&cell.failures[0])
        ));
    }
    if cells.iter().any(|cell| !cell.drift.is_empty()) {
        put(format_args!(
            "<p>From the first minute to the last, runs without a fall:</p><div class=\"scroll\"><table><tr><th>method</th><th>metric</th><th>first</th><th>last</th><th>change, %</th></tr>"
        ));
        for cell in cells {
            for drift in &cell.drift {
                put(format_args!(
                    "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{:.1}</td></tr>",
                    escape(&cell.method),
                    drift.metric,
                    number(drift.first),
                    number(drift.last),
                    100.0 * drift.relative_change.value
                ));
            }
        }
        put(format_args!("</table></div>"));
    }
    notes
}

/// What methods make of pushes of all sizes, where there are at least two sizes.
fn over_pushes(report: &Report) -> String {
    let pushed: Vec<(&Scenario, f64)> = report
        .config
        .scenario
        .iter()
        .filter_map(|scenario| Some((scenario, f64::from(scenario.push.as_ref()?.impulse_ns))))
        .collect();
    if pushed.len() < 2 {
        return String::new();
    }
    let series = |column: &Column| -> Vec<(String, Vec<(f64, Interval)>)> {
        report
            .config
            .method
            .iter()
            .filter_map(|method| {
                let points: Vec<(f64, Interval)> = pushed
                    .iter()
                    .filter_map(|(scenario, impulse)| {
                        let cell =
                            report.of_scenario(&scenario.name).find(|cell| cell.method == method.name)?;
                        Some((*impulse, figure(cell, column)?))
                    })
                    .collect();
                (!points.is_empty()).then(|| (method.name.clone(), points))
            })
            .collect()
    };
    let charts: String = PUSHED
        .iter()
        .take(6)
        .map(|column| {
            let unit = if column.unit.is_empty() { String::new() } else { format!(", {}", column.unit) };
            let title = format!("{}{unit}", column.title);
            lines(&title, "push, N·s", &series(column), column.title == "recovered")
        })
        .collect();
    format!("<h2>Pushes</h2><div class=\"charts\">{charts}</div>")
}

//! Tables of pages that are written from what a bench reports: of docs/layers.md, of docs/results.md and
//! of docs/controllers.md.

use super::{assert_current, read};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;

const LAYERS: &str = "<!-- results: written by the test `documents` from docs/layers.json -->\n";
const END_OF_LAYERS: &str = "<!-- end of results -->";
const LAYERS_REPORT: &str = "POMP_LAYERS_REPORT";

/// What a page shows of a report of a bench: runs without a fall and these metrics of each method in each scenario.
fn shown_of_report(report: &Value, metrics: &[&str]) -> Value {
    let metric = |cell: &Value, key: &str| -> Value {
        let rows = cell["metrics"]["rows"].as_array().cloned().unwrap_or_default();
        let row = rows.into_iter().find(|row| row["name"] == key);
        row.map_or(Value::Null, |row| row["estimate"]["mean"].clone())
    };
    let cells: Vec<Value> = report["cells"]
        .as_array()
        .expect("a report has cells")
        .iter()
        .map(|cell| {
            let mut shown = json!({
                "method": cell["method"],
                "scenario": cell["scenario"],
                "runs": cell["runs"],
                "without_fall": cell["without_fall"]["hits"],
            });
            for key in metrics {
                shown[*key] = metric(cell, key);
            }
            shown
        })
        .collect();
    json!({
        "made_by": report["made_by"],
        "model": report["model"],
        "first_seed": report["config"]["first_seed"],
        "cells": cells,
    })
}

/// The table of docs/layers.md: runs without a fall for each method and scenario, jerk and sliding on level ground.
fn layers_table(results: &Value) -> String {
    let cells = results["cells"].as_array().expect("results have cells");
    let names = |key: &str| {
        let mut found: Vec<&str> = Vec::new();
        for name in cells.iter().map(|cell| cell[key].as_str().expect("a name")) {
            if !found.contains(&name) {
                found.push(name);
            }
        }
        found
    };
    let scenarios = names("scenario");
    let at = |method: &str, scenario: &str| {
        cells.iter().find(|cell| cell["method"] == method && cell["scenario"] == scenario)
    };
    let mut methods = names("method");
    methods.sort_by_key(|name| match *name {
        "full" => 0,
        name if name.starts_with("no_") => 1,
        "bare" => 2,
        _ => 3,
    });
    let mut table = format!("| loop | {} | jerk, m/s³ | sliding, cm/frame |\n|---|", scenarios.join(" | "));
    table.push_str(&"---|".repeat(scenarios.len() + 2));
    table.push('\n');
    for method in methods {
        let falls = scenarios.iter().map(|scenario| {
            at(method, scenario).map_or_else(
                || "–".to_owned(),
                |cell| format!("{}", cell["without_fall"].as_u64().unwrap_or(0)),
            )
        });
        let flat = |key: &str, digits: usize| {
            at(method, "flat")
                .and_then(|cell| cell[key].as_f64())
                .map_or_else(|| "–".to_owned(), |value| format!("{value:.digits$}"))
        };
        let falls: Vec<String> = falls.collect();
        let (jerk, sliding) = (flat("jerk_mean_m_s3", 0), flat("foot_sliding_cm_per_frame", 2));
        writeln!(table, "| `{method}` | {} | {jerk} | {sliding} |", falls.join(" | ")).unwrap();
    }
    table
}

#[test]
fn the_table_of_the_layers_is_that_of_the_bench() {
    if let Some(report) = std::env::var_os(LAYERS_REPORT) {
        let report: Value = serde_json::from_str(&fs::read_to_string(report).unwrap()).unwrap();
        let metrics = ["jerk_mean_m_s3", "foot_sliding_cm_per_frame"];
        let shown = serde_json::to_string_pretty(&shown_of_report(&report, &metrics)).unwrap();
        assert_current("docs/layers.json", &(shown + "\n"));
    }
    let results: Value = serde_json::from_str(&read("docs/layers.json")).unwrap();
    let page = read("docs/layers.md");
    let (head, rest) = page.split_once(LAYERS).expect("docs/layers.md has the mark before the results");
    let (_, tail) = rest.split_once(END_OF_LAYERS).expect("docs/layers.md has the mark after the results");
    assert_current(
        "docs/layers.md",
        &format!("{head}{LAYERS}{}{END_OF_LAYERS}{tail}", layers_table(&results)),
    );
}

const ASSIST: &str = "<!-- assist: written by the test `documents` from docs/assist.json -->\n";
const END_OF_ASSIST: &str = "<!-- end of assist -->";
const ASSIST_REPORT: &str = "POMP_ASSIST_REPORT";

/// The table of the bounds of the root assist: runs without a fall, and when the others fell first.
fn assist_table(results: &Value) -> String {
    let cells = results["cells"].as_array().expect("results have cells");
    let bounds = |cell: &Value| -> (u32, u32) {
        let name = cell["method"].as_str().expect("a name");
        let bounds = name.strip_prefix("assist_force").and_then(|rest| rest.split_once("_torque"));
        let (force, torque) = bounds.expect("a method of the grid");
        (force.parse().expect("percent"), torque.parse().expect("percent"))
    };
    let shown: BTreeMap<(u32, u32), String> = cells
        .iter()
        .map(|cell| {
            let upright = cell["without_fall"].as_u64().expect("a count");
            let fall = cell["first_fall_s"].as_f64().map_or(String::new(), |time| format!(", {time:.1} s"));
            (bounds(cell), format!("{upright}{fall}"))
        })
        .collect();
    let torques: BTreeSet<u32> = shown.keys().map(|(_, torque)| *torque).collect();
    let forces: BTreeSet<u32> = shown.keys().map(|(force, _)| *force).collect();
    let heads: Vec<String> = torques.iter().map(|torque| format!("torque {torque} %")).collect();
    let mut table = format!("| force | {} |\n|---|{}\n", heads.join(" | "), "---|".repeat(torques.len()));
    for force in forces {
        let row = torques.iter().map(|torque| shown.get(&(force, *torque)).map_or("–", String::as_str));
        writeln!(table, "| {force} % | {} |", row.collect::<Vec<_>>().join(" | ")).unwrap();
    }
    table
}

#[test]
fn the_table_of_the_root_assist_is_that_of_the_bench() {
    if let Some(report) = std::env::var_os(ASSIST_REPORT) {
        let report: Value = serde_json::from_str(&fs::read_to_string(report).unwrap()).unwrap();
        let metrics = ["first_fall_s", "stance_vertical_r", "braking_feet_share"];
        let shown = serde_json::to_string_pretty(&shown_of_report(&report, &metrics)).unwrap();
        assert_current("docs/assist.json", &(shown + "\n"));
    }
    let results: Value = serde_json::from_str(&read("docs/assist.json")).unwrap();
    let page = read("docs/results.md");
    let (head, rest) = page.split_once(ASSIST).expect("docs/results.md has the mark before the table");
    let (_, tail) = rest.split_once(END_OF_ASSIST).expect("docs/results.md has the mark after the table");
    let wanted = format!("{head}{ASSIST}{}{END_OF_ASSIST}{tail}", assist_table(&results));
    assert_current("docs/results.md", &wanted);
}

const RESIDUAL: &str = "<!-- residual: written by the test `documents` from docs/own_feet.json -->\n";
const END_OF_RESIDUAL: &str = "<!-- end of residual -->";
const OWN_FEET_REPORT: &str = "POMP_OWN_FEET_REPORT";
/// The largest residual of configs/bench/own_feet.toml, body weights and N·m.
const LARGEST_RESIDUAL: (f64, f64) = (0.2, 100.0);
/// A ground holds with a residual when this share of the runs does.
const HOLDS: f64 = 0.9;

/// A ground, and of each residual (percent of the largest) the runs without a fall and all runs.
type ResidualRow<'a> = (&'a str, BTreeMap<u32, (u64, u64)>);

/// The table of the residual wrench on own feet: for each ground the runs without a fall, and the smallest residual that holds.
fn residual_table(results: &Value) -> String {
    let cells = results["cells"].as_array().expect("results have cells");
    let mut rows: Vec<ResidualRow<'_>> = Vec::new();
    for cell in cells {
        let (scenario, method) = (cell["scenario"].as_str().unwrap(), cell["method"].as_str().unwrap());
        let percent = method.strip_prefix("own_feet_residual").expect("a method of the grid");
        let counts = (cell["without_fall"].as_u64().unwrap(), cell["runs"].as_u64().unwrap());
        let known = rows.iter().position(|(name, _)| *name == scenario);
        let row = known.unwrap_or_else(|| {
            rows.push((scenario, BTreeMap::new()));
            rows.len() - 1
        });
        rows[row].1.insert(percent.parse().expect("percent"), counts);
    }
    let bound = |percent: u32| {
        let (force, torque) = LARGEST_RESIDUAL;
        let share = f64::from(percent) / 100.0;
        if percent == 0 {
            "none".to_owned()
        } else {
            format!("{:.2} BW, {:.0} N·m", force * share, torque * share)
        }
    };
    let percents: BTreeSet<u32> = rows.iter().flat_map(|(_, row)| row.keys().copied()).collect();
    let heads: Vec<String> = percents.iter().map(|percent| bound(*percent)).collect();
    let mut table = format!(
        "| | {} | smallest that holds |\n|---|{}---|\n",
        heads.join(" | "),
        "---|".repeat(percents.len())
    );
    for (scenario, row) in rows {
        let shown =
            percents.iter().map(|percent| row.get(percent).map_or("–".to_owned(), |c| c.0.to_string()));
        let holds = |(held, runs): &(u64, u64)| *held as f64 >= HOLDS * *runs as f64;
        let smallest =
            row.iter().find(|(_, counts)| holds(counts)).map_or("more".to_owned(), |(p, _)| bound(*p));
        let shown: Vec<String> = shown.collect();
        writeln!(table, "| {} | {} | {smallest} |", scenario.replace('_', " "), shown.join(" | ")).unwrap();
    }
    table
}

#[test]
fn the_table_of_the_residual_on_own_feet_is_that_of_the_bench() {
    if let Some(report) = std::env::var_os(OWN_FEET_REPORT) {
        let report: Value = serde_json::from_str(&fs::read_to_string(report).unwrap()).unwrap();
        let metrics = ["first_fall_s", "assist_force_mean_bw", "assist_torque_mean_nm"];
        let shown = serde_json::to_string_pretty(&shown_of_report(&report, &metrics)).unwrap();
        assert_current("docs/own_feet.json", &(shown + "\n"));
    }
    let results: Value = serde_json::from_str(&read("docs/own_feet.json")).unwrap();
    let page = read("docs/results.md");
    let (head, rest) = page.split_once(RESIDUAL).expect("docs/results.md has the mark before the table");
    let (_, tail) = rest.split_once(END_OF_RESIDUAL).expect("docs/results.md has the mark after the table");
    let wanted = format!("{head}{RESIDUAL}{}{END_OF_RESIDUAL}{tail}", residual_table(&results));
    assert_current("docs/results.md", &wanted);
}

/// Reports of `pomp bench --config configs/bench/controllers.toml`, or of parts of it, separated as the paths of PATH are. Their cells
/// take the place of those of docs/controllers.json.
const CONTROLLERS_REPORTS: &str = "POMP_CONTROLLERS_REPORTS";

fn marks(table: &str) -> [String; 2] {
    [
        format!("<!-- {table}: written by the test `documents` from docs/controllers.json -->\n"),
        format!("<!-- end of {table} -->"),
    ]
}

/// The cells that docs/controllers.json keeps of a report of the controllers.
fn cells_of_controllers(report: &Value) -> Vec<Value> {
    let metrics = [
        "path_error_mean_m",
        "foot_sliding_cm_per_frame",
        "joint_rotation_deg_s",
        "goal_error_m",
        "goal_heading_error_deg",
        "response_start_s",
        "response_stop_s",
        "response_turn_s",
        "responses_reached_percent",
        "jerk_mean_m_s3",
    ];
    let shown = shown_of_report(report, &metrics);
    let mut cells = shown["cells"].as_array().expect("a report has cells").clone();
    for (cell, whole) in cells.iter_mut().zip(report["cells"].as_array().expect("a report has cells")) {
        cell["frechet"] = whole["frechet"]["value"].clone();
        cell["diversity"] = whole["diversity"]["value"].clone();
        let rows = whole["metrics"]["rows"].as_array().cloned().unwrap_or_default();
        let runs_with = |name: &str| {
            let row = rows.iter().find(|row| row["name"] == name);
            row.map_or(Value::Null, |row| row["estimate"]["count"].clone())
        };
        cell["arrived"] = runs_with("goal_error_m");
        for kind in ["start", "stop", "turn"] {
            cell[format!("response_{kind}_runs")] = runs_with(&format!("response_{kind}_s"));
        }
        cell["made_by"] = report["made_by"].clone();
        cell["first_seed"] = report["config"]["first_seed"].clone();
    }
    cells
}

/// Takes over the cells of a report, each in the place of that of the same method and scenario.
fn take_over(cells: &mut Vec<Value>, report: &Value) {
    let place = |cell: &Value| [cell["scenario"].to_string(), cell["method"].to_string()];
    for cell in cells_of_controllers(report) {
        cells.retain(|other| place(other) != place(&cell));
        cells.push(cell);
    }
    cells.sort_by_key(place);
}

/// The cells of the controllers, with the names of the methods as they are on the command line.
struct Controllers<'a>(&'a [Value]);

impl<'a> Controllers<'a> {
    /// What a method does, `None` where the bench does not run it.
    fn cell(&self, scenario: &str, method: &str) -> Option<&'a Value> {
        self.0.iter().find(|cell| cell["scenario"] == scenario && cell["method"] == method)
    }

    fn number(&self, scenario: &str, method: &str, key: &str, digits: usize) -> String {
        let value = self.cell(scenario, method).and_then(|cell| cell[key].as_f64());
        value.map_or_else(|| "–".to_owned(), |value| format!("{value:.digits$}"))
    }

    fn upright(&self, scenario: &str, method: &str) -> String {
        let count = self.cell(scenario, method).and_then(|cell| cell["without_fall"].as_u64());
        count.map_or_else(|| "–".to_owned(), |count| count.to_string())
    }

    /// Runs without a fall, and the mean path error.
    fn walked(&self, scenario: &str, method: &str) -> String {
        let upright = self.upright(scenario, method);
        format!("{upright}, {}", self.number(scenario, method, "path_error_mean_m", 2))
    }

    fn table(heads: &[&str], row: impl Fn(&str, &str) -> Vec<String>, last: Option<Vec<String>>) -> String {
        let mut table = format!("| | {} |\n|---|{}\n", heads.join(" | "), "---|".repeat(heads.len()));
        for kind in pomp_controllers::ControllerKind::ALL {
            let method = kind.name().replace('-', "_");
            writeln!(table, "| `{kind}` | {} |", row(&method, &format!("{method}_alone")).join(" | "))
                .unwrap();
        }
        if let Some(last) = last {
            writeln!(table, "| held-out mocap | {} |", last.join(" | ")).unwrap();
        }
        table
    }

    fn without_physics(&self) -> String {
        let scenarios = ["walk", "circle", "slalom", "stop_and_go", "jog"];
        let qualities = |method: &str| {
            vec![
                self.number("walk", method, "foot_sliding_cm_per_frame", 2),
                self.number("walk", method, "joint_rotation_deg_s", 0),
                self.number("walk", method, "frechet", 0),
            ]
        };
        let mut mocap = vec![String::new(); scenarios.len()];
        mocap.extend(qualities("mocap"));
        let row = |_: &str, alone: &str| {
            let mut row: Vec<String> =
                scenarios.iter().map(|scenario| self.walked(scenario, alone)).collect();
            row.extend(qualities(alone));
            row
        };
        let heads = [
            "walk 60 s",
            "circle 60 s",
            "slalom 60 s",
            "stop and go 60 s",
            "jog 20 s",
            "sliding, cm/frame",
            "joints, °/s",
            "Fréchet²",
        ];
        Self::table(&heads, row, Some(mocap))
    }

    fn goals(&self) -> String {
        let row = |_: &str, alone: &str| {
            vec![
                self.upright("reach", alone),
                self.number("reach", alone, "arrived", 0),
                self.number("reach", alone, "goal_error_m", 3),
                self.number("reach", alone, "goal_heading_error_deg", 1),
                self.number("reach", alone, "path_error_mean_m", 2),
                self.number("reach", alone, "foot_sliding_cm_per_frame", 2),
            ]
        };
        let heads = [
            "without a fall",
            "arrived",
            "distance from the goal, m",
            "angle at the goal, °",
            "path error, m",
            "sliding, cm/frame",
        ];
        Self::table(&heads, row, None)
    }

    /// The time of a response, with the number of runs that it is of where these are not all.
    fn response(&self, scenario: &str, method: &str, kind: &str) -> String {
        let time = self.number(scenario, method, &format!("response_{kind}_s"), 2);
        let Some(cell) = self.cell(scenario, method) else { return time };
        match cell[format!("response_{kind}_runs")].as_u64() {
            Some(runs) if cell["runs"] != runs => format!("{time} ({runs} of {})", cell["runs"]),
            _ => time,
        }
    }

    /// Times of starts, stops and turns, with the shares of the changes that were reached, and the path error in corners.
    fn responses(&self, method: &str) -> Vec<String> {
        vec![
            self.response("stop_and_go", method, "start"),
            self.response("stop_and_go", method, "stop"),
            self.number("stop_and_go", method, "responses_reached_percent", 0),
            self.upright("corners", method),
            self.response("corners", method, "turn"),
            self.number("corners", method, "responses_reached_percent", 0),
            self.number("corners", method, "path_error_mean_m", 2),
        ]
    }

    fn responses_without_physics(&self) -> String {
        let walk = |method: &str| {
            vec![
                self.number("walk", method, "jerk_mean_m_s3", 0),
                self.number("walk", method, "diversity", 2),
            ]
        };
        let heads: Vec<&str> = RESPONSES.into_iter().chain(["walk: jerk, m/s³", "diversity"]).collect();
        let mut mocap = vec![String::new(); RESPONSES.len()];
        mocap.extend(walk("mocap"));
        Self::table(&heads, |_, alone| [self.responses(alone), walk(alone)].concat(), Some(mocap))
    }

    fn responses_with_physics(&self) -> String {
        Self::table(&RESPONSES, |method, _| self.responses(method), None)
    }

    fn with_physics(&self) -> String {
        let scenarios = ["walk", "circle", "stop_and_go", "corners", "jog", "hills", "stairs", "push_075"];
        let heads = ["walk", "circle", "stop and go", "corners", "jog", "hills", "stairs", "push of 75 N·s"];
        let row = |method: &str, _: &str| scenarios.iter().map(|s| self.upright(s, method)).collect();
        Self::table(&heads, row, None)
    }
}

/// What [`Controllers::responses`] shows.
const RESPONSES: [&str; 7] = [
    "stop and go: start, s",
    "stop, s",
    "reached, %",
    "corners: without a fall",
    "turn, s",
    "reached, %",
    "path error, m",
];

#[test]
fn the_tables_of_the_controllers_are_those_of_the_bench() {
    let mut results: Value = serde_json::from_str(&read("docs/controllers.json")).unwrap();
    if let Some(reports) = std::env::var_os(CONTROLLERS_REPORTS) {
        let cells = results["cells"].as_array_mut().expect("results have cells");
        for report in std::env::split_paths(&reports) {
            take_over(cells, &serde_json::from_str(&fs::read_to_string(report).unwrap()).unwrap());
        }
        assert_current("docs/controllers.json", &(serde_json::to_string_pretty(&results).unwrap() + "\n"));
    }
    let cells = Controllers(results["cells"].as_array().expect("results have cells"));
    let mut page = read("docs/controllers.md");
    for (name, table) in [
        ("without physics", cells.without_physics()),
        ("goals", cells.goals()),
        ("with physics", cells.with_physics()),
        ("responses without physics", cells.responses_without_physics()),
        ("responses with physics", cells.responses_with_physics()),
    ] {
        let [begin, end] = marks(name);
        let (head, rest) =
            page.split_once(&begin).expect("docs/controllers.md has the mark before the table");
        let (_, tail) = rest.split_once(&end).expect("docs/controllers.md has the mark after the table");
        page = format!("{head}{begin}{table}{end}{tail}");
    }
    assert_current("docs/controllers.md", &page);
}

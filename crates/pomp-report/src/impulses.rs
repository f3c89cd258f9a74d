//! Contact impulses, as preprocessing estimates them, beside those that force plates measured.

use crate::ReportError;
use crate::output::{json, make_folder, write};
use pomp_estimate::ImpulseConfig;
use pomp_motion::retarget::RigLibrary;
use pomp_motion::statistics::median;
use pomp_preprocess::validation::{ESTIMATORS, Forces, Scores, Trial, TrialResult, trials, validate};
use pomp_preprocess::{PreprocessConfig, PreprocessError};
use pomp_render::Plot;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// Everything that was compared.
#[derive(Debug, Serialize)]
pub struct ImpulseReport {
    /// How contact impulses were estimated.
    pub config: ImpulseConfig,
    /// The estimators, in the order of each trial's scores.
    pub estimators: [&'static str; ESTIMATORS.len()],
    /// Trials that could not be compared.
    pub failures: Vec<FailedTrial>,
    /// Treadmill trials that were left out for their twins over ground.
    pub left_out: Vec<String>,
    /// The trials.
    pub trials: Vec<TrialResult>,
}

/// A trial that could not be compared.
#[derive(Debug, Serialize)]
pub struct FailedTrial {
    /// Its name.
    pub name: String,
    /// Why.
    pub error: String,
}

/// What happens while trials are compared.
#[derive(Debug)]
#[non_exhaustive]
pub enum ImpulseProgress<'a> {
    /// So many trials will be compared.
    Planned {
        /// Number of trials.
        trials: usize,
    },
    /// One is done, or could not be compared.
    Done {
        /// Why not.
        failure: Option<&'a PreprocessError>,
    },
}

/// Compares the trials in `folder`; charts of them go into the folder `out`, which is made.
///
/// # Errors
/// The folder holds no trials, or a chart cannot be written.
pub fn measure(
    folder: &Path,
    config: &PreprocessConfig,
    rigs: &RigLibrary,
    out: Option<&Path>,
    on_progress: &mut dyn FnMut(ImpulseProgress<'_>),
) -> Result<ImpulseReport, ReportError> {
    let all = trials(folder)?;
    let (chosen, left_out): (Vec<&Trial>, Vec<&Trial>) = all.iter().partition(|trial| {
        let twin = format!("{}_overground", trial.name);
        !all.iter().any(|other| other.name == twin)
    });
    if let Some(out) = out {
        make_folder(out)?;
    }
    let mut report = ImpulseReport {
        config: config.impulses.clone(),
        estimators: ESTIMATORS,
        failures: Vec::new(),
        left_out: left_out.iter().map(|trial| trial.name.clone()).collect(),
        trials: Vec::new(),
    };
    on_progress(ImpulseProgress::Planned { trials: chosen.len() });
    for trial in chosen {
        match validate(trial, config, rigs) {
            Ok(result) => {
                if let Some(out) = out {
                    plot(&result, out)?;
                }
                report.trials.push(result);
                on_progress(ImpulseProgress::Done { failure: None });
            }
            Err(error) => {
                on_progress(ImpulseProgress::Done { failure: Some(&error) });
                report.failures.push(FailedTrial { name: trial.name.clone(), error: error.to_string() });
            }
        }
    }
    if let Some(out) = out {
        write(&out.join("impulses.json"), report.json().as_bytes())?;
    }
    Ok(report)
}

impl ImpulseReport {
    /// The report as JSON.
    pub fn json(&self) -> String {
        json(self)
    }

    /// Tables of trials and of activities, with what the plates say against a trial.
    pub fn tables(&self) -> String {
        tables(&self.trials)
    }
}

fn cell(value: Option<f64>, width: usize, digits: usize) -> String {
    value.map_or_else(|| format!("{:>width$}", "–"), |value| format!("{value:>width$.digits$}"))
}

const HEADER: &str = "  vert. rmse     r  forward  sideways  per foot    peak (plates)  stances  impulse  on ms  off ms  CoP cm";

fn row(scores: &Scores) -> String {
    [
        cell(scores.vertical_rmse_bw, 12, 3),
        cell(scores.correlation, 6, 3),
        cell(scores.forward_rmse_bw, 9, 3),
        cell(scores.sideways_rmse_bw, 10, 3),
        cell(scores.foot_vertical_rmse_bw, 10, 3),
        format!("{} ({})", cell(scores.peak_bw, 8, 2), cell(scores.measured_peak_bw, 5, 2)),
        format!("{:>10}", scores.stances),
        cell(scores.stance_impulse_error.map(|e| 100.0 * e), 8, 1) + "%",
        cell(scores.onset_ms, 7, 0),
        cell(scores.offset_ms, 8, 0),
        cell(scores.pressure_center_cm, 8, 1),
    ]
    .concat()
}

fn tables(results: &[TrialResult]) -> String {
    let mut text = String::new();
    let mut line =
        |parts: std::fmt::Arguments<'_>| writeln!(text, "{parts}").expect("a string takes all text");
    line(format_args!("Forces in body weights; medians over stances. What is stored, trial by trial:"));
    line(format_args!("{:<42}{HEADER}  closure  assist", ""));
    for result in results {
        let stored = &result.scores[0];
        line(format_args!(
            "{:<42}{}{:>9.3}{:>8.3}",
            result.name,
            row(stored),
            result.closure,
            result.vertical_assist
        ));
    }
    let mut activities: BTreeMap<(&str, bool), Vec<&TrialResult>> = BTreeMap::new();
    for result in results {
        activities.entry((&result.activity, result.complete)).or_default().push(result);
    }
    for ((activity, complete), of_it) in activities {
        let partial = if complete { "" } else { ", plates that miss contacts: stances only" };
        line(format_args!("\n{activity} (median of {}{partial})", of_it.len()));
        line(format_args!("{:<42}{HEADER}", ""));
        for (index, name) in ESTIMATORS.iter().enumerate() {
            let scores: Vec<&Scores> = of_it.iter().map(|result| &result.scores[index]).collect();
            line(format_args!("{name:<42}{}", row(&medians(&scores))));
        }
        let by_shown: Vec<&Scores> =
            of_it.iter().filter_map(|result| result.stored_by_shown_weight.as_ref()).collect();
        if !by_shown.is_empty() {
            line(format_args!(
                "{:<42}{}",
                "stored, by the weight that the plates show",
                row(&medians(&by_shown))
            ));
        }
    }
    for result in results {
        if let Some(weight) = result.shown_weight.filter(|weight| (weight - 1.0).abs() > 0.02) {
            line(format_args!(
                "{}: the plates bear {:+.1} % more than the clip's momentum asks of the manifest's mass",
                result.name,
                100.0 * (weight - 1.0)
            ));
        }
        for warning in result.warnings.iter().filter(|w| w.starts_with("mass")) {
            line(format_args!("{}: {warning}", result.name));
        }
    }
    text
}

fn medians(scores: &[&Scores]) -> Scores {
    let of = |value: fn(&Scores) -> Option<f64>| {
        median(&scores.iter().filter_map(|s| value(s)).collect::<Vec<_>>())
    };
    Scores {
        vertical_rmse_bw: of(|s| s.vertical_rmse_bw),
        vertical_rmse_unbiased_bw: of(|s| s.vertical_rmse_unbiased_bw),
        forward_rmse_bw: of(|s| s.forward_rmse_bw),
        sideways_rmse_bw: of(|s| s.sideways_rmse_bw),
        correlation: of(|s| s.correlation),
        foot_vertical_rmse_bw: of(|s| s.foot_vertical_rmse_bw),
        peak_bw: of(|s| s.peak_bw),
        measured_peak_bw: of(|s| s.measured_peak_bw),
        stances: scores.iter().map(|s| s.stances).sum(),
        stance_impulse_error: of(|s| s.stance_impulse_error),
        onset_ms: of(|s| s.onset_ms),
        offset_ms: of(|s| s.offset_ms),
        pressure_center_cm: of(|s| s.pressure_center_cm),
    }
}

/// Vertical force over time: plates, what is stored, and the raw replay.
fn plot(result: &TrialResult, folder: &Path) -> Result<(), ReportError> {
    let curves = &result.curves;
    let frames = curves.measured.total_bw.len();
    let time: Vec<f32> = (0..frames).map(|t| (t as f64 / curves.rate_hz) as f32).collect();
    let foot = |of: &Forces, foot: usize| -> Vec<f32> {
        of.feet_bw.as_ref().map_or_else(Vec::new, |feet| feet.iter().map(|f| f[foot].y as f32).collect())
    };
    let total = |of: &Forces| -> Vec<f32> { of.total_bw.iter().map(|f| f.y as f32).collect() };
    let picture = Plot::new(format!("{}: vertical force", result.name))
        .x_label("time (s)")
        .y_label("force (body weights)")
        .series("plates, left", &time, &foot(&curves.measured, 0))
        .series("plates, right", &time, &foot(&curves.measured, 1))
        .series("stored, left", &time, &foot(&curves.predicted[0], 0))
        .series("stored, right", &time, &foot(&curves.predicted[0], 1))
        .series("raw replay, both", &time, &total(&curves.predicted[1]))
        .png(1100, 460)?;
    write(&folder.join(format!("{}.png", result.name)), &picture)
}

use crate::cli::ValidateImpulsesArguments;
use crate::{config_file, motion_file, terminal};
use anyhow::{Context, Result, bail};
use pomp_formats::write_atomically;
use pomp_motion::statistics::median;
use pomp_preprocess::PreprocessConfig;
use pomp_preprocess::validation::{ESTIMATORS, Scores, Trial, TrialResult, trials, validate};
use pomp_render::Plot;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

/// A trial that could not be compared.
#[derive(serde::Serialize)]
struct Failed {
    name: String,
    error: String,
}

pub fn run(arguments: &ValidateImpulsesArguments) -> Result<ExitCode> {
    let config = config_file::over_defaults::<PreprocessConfig>(arguments.config.as_deref(), &arguments.set)?
        .checked()?;
    let rigs = motion_file::rigs(&arguments.rig)?;
    let all = trials(&arguments.folder)?;
    let (chosen, left_out): (Vec<&Trial>, Vec<&Trial>) = all.iter().partition(|trial| {
        let twin = format!("{}_overground", trial.name);
        !all.iter().any(|other| other.name == twin)
    });
    if let Some(out) = &arguments.out {
        std::fs::create_dir_all(out).with_context(|| format!("making the folder {}", out.display()))?;
    }
    let bar = terminal::bar(chosen.len() as u64, "validate");
    let (mut results, mut failed) = (Vec::new(), Vec::new());
    for trial in chosen {
        match validate(trial, &config, &rigs) {
            Ok(result) => {
                if let Some(out) = &arguments.out {
                    plot(&result, out)?;
                }
                results.push(result);
            }
            Err(error) => {
                bar.suspend(|| eprintln!("skipped: {error}"));
                failed.push(Failed { name: trial.name.clone(), error: error.to_string() });
            }
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    let json = serde_json::to_string_pretty(&serde_json::json!({
        "estimators": ESTIMATORS,
        "config": config.impulses,
        "trials": results,
        "failures": failed,
        "left_out": left_out.iter().map(|trial| &trial.name).collect::<Vec<_>>(),
    }))?;
    if let Some(out) = &arguments.out {
        write_atomically(&out.join("impulses.json"), |file| file.write_all(json.as_bytes()))?;
    }
    if arguments.json {
        println!("{json}");
    } else if !results.is_empty() {
        print(&results);
    }
    if results.is_empty() {
        bail!(
            "none of the trials in {} could be compared; the reasons are above",
            arguments.folder.display()
        );
    }
    Ok(if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
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

fn print(results: &[TrialResult]) {
    println!("Forces in body weights; medians over stances. What is stored, trial by trial:");
    println!("{:<42}{HEADER}  closure  assist", "");
    for result in results {
        let stored = &result.scores[0];
        println!("{:<42}{}{:>9.3}{:>8.3}", result.name, row(stored), result.closure, result.vertical_assist);
    }
    let mut activities: BTreeMap<(&str, bool), Vec<&TrialResult>> = BTreeMap::new();
    for result in results {
        activities.entry((&result.activity, result.complete)).or_default().push(result);
    }
    for ((activity, complete), of_it) in activities {
        let partial = if complete { "" } else { ", plates that miss contacts: stances only" };
        println!("\n{activity} (median of {}{partial})", of_it.len());
        println!("{:<42}{HEADER}", "");
        for (index, name) in ESTIMATORS.iter().enumerate() {
            let scores: Vec<&Scores> = of_it.iter().map(|result| &result.scores[index]).collect();
            println!("{name:<42}{}", row(&medians(&scores)));
        }
        let by_shown: Vec<&Scores> =
            of_it.iter().filter_map(|result| result.stored_by_shown_weight.as_ref()).collect();
        if !by_shown.is_empty() {
            println!("{:<42}{}", "stored, by the weight that the plates show", row(&medians(&by_shown)));
        }
    }
    for result in results {
        if let Some(weight) = result.shown_weight.filter(|weight| (weight - 1.0).abs() > 0.02) {
            println!(
                "{}: the plates bear {:+.1} % more than the clip's momentum asks of the manifest's mass",
                result.name,
                100.0 * (weight - 1.0)
            );
        }
        for warning in result.warnings.iter().filter(|w| w.starts_with("mass")) {
            println!("{}: {warning}", result.name);
        }
    }
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
fn plot(result: &TrialResult, folder: &Path) -> Result<()> {
    let curves = &result.curves;
    let frames = curves.measured.total_bw.len();
    let time: Vec<f32> = (0..frames).map(|t| (t as f64 / curves.rate_hz) as f32).collect();
    let foot = |of: &pomp_preprocess::validation::Forces, foot: usize| -> Vec<f32> {
        of.feet_bw.as_ref().map_or_else(Vec::new, |feet| feet.iter().map(|f| f[foot].y as f32).collect())
    };
    let total = |of: &pomp_preprocess::validation::Forces| -> Vec<f32> {
        of.total_bw.iter().map(|f| f.y as f32).collect()
    };
    let picture = Plot::new(format!("{}: vertical force", result.name))
        .x_label("s")
        .y_label("body weights")
        .series("plates, left", &time, &foot(&curves.measured, 0))
        .series("plates, right", &time, &foot(&curves.measured, 1))
        .series("stored, left", &time, &foot(&curves.predicted[0], 0))
        .series("stored, right", &time, &foot(&curves.predicted[0], 1))
        .series("raw replay, both", &time, &total(&curves.predicted[1]))
        .render(1100, 460)?;
    write_atomically(&folder.join(format!("{}.png", result.name)), |file| file.write_all(&picture))?;
    Ok(())
}

//! `pomp style`.

use crate::cli::{
    StyleBlendArguments, StyleEditArguments, StyleFitArguments, StyleReportArguments, StyleWalkArguments,
};
use crate::command::style_clips;
use crate::errors::misuse;
use crate::{config_file, json, motion_file};
use anyhow::{Context, Result, bail};
use pomp_formats::{BvhWriteOptions, write_bvh, write_glb, write_recording};
use pomp_style::{
    Constraint, EditSettings, ErrorFigures, FitReport, Measures, Scope, StyleConfig, StyleModel,
};
use serde_json::json;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

pub fn fit(arguments: &StyleFitArguments) -> Result<ExitCode> {
    let config =
        config_file::over_defaults::<StyleConfig>(arguments.config.as_deref(), &arguments.set)?.checked()?;
    let rigs = motion_file::rigs(&arguments.labels.rig)?;
    let reference = style_clips::read(&arguments.reference, &rigs)?;
    let labelled = style_clips::read_all(&arguments.clips, &arguments.labels)?;
    let started = Instant::now();
    let (model, report) = pomp_style::fit(&labelled.clips, &reference, &config, labelled.data)?;
    let seconds = started.elapsed().as_secs_f32();
    for reason in &report.reasons {
        tracing::info!("left out: {reason}");
    }
    pomp_style::save(&model, &report, &arguments.out)?;
    if arguments.json {
        let value = json!({
            "out": arguments.out, "fit_s": seconds, "data": model.data(), "config": model.config(), "report": report,
        });
        json::print("style-fit", &value)?;
        return Ok(ExitCode::SUCCESS);
    }
    tell(&model, &report);
    println!("fitted in {seconds:.1} s; the styles are in {}", arguments.out.display());
    let styles = model.styles();
    println!(
        "next: pomp style blend {} --content {} --weights {}=0.7 --out walk.bvh",
        arguments.out.display(),
        styles[0],
        styles[styles.len() - 1]
    );
    Ok(ExitCode::SUCCESS)
}

pub fn report(arguments: &StyleReportArguments) -> Result<ExitCode> {
    let (model, report) = pomp_style::open(&arguments.styles)?;
    let measured = if arguments.clips.is_empty() {
        None
    } else {
        let labelled = style_clips::read_all(&arguments.clips, &arguments.labels)?;
        let (measures, reasons) = pomp_style::measure_clips(&model, &labelled.clips)?;
        for reason in &reasons {
            tracing::info!("left out: {reason}");
        }
        Some(measures)
    };
    if arguments.json {
        let cycles: Vec<_> =
            model.cycles().iter().map(|cycle| json!({ "name": cycle.name, "style": cycle.style })).collect();
        let value = json!({
            "styles": arguments.styles, "data": model.data(), "config": model.config(), "report": report,
            "cycles": cycles, "measured": measured,
        });
        json::print("style-report", &value)?;
        return Ok(ExitCode::SUCCESS);
    }
    tell(&model, &report);
    if let Some(measures) = measured {
        println!();
        print_measures("the clips given", &measures);
    }
    println!("seed {}, data {}", model.config().seed, model.data().hash);
    for (style, licenses) in &model.data().licenses {
        println!("licences of {style}: {}", licenses.join("; "));
    }
    Ok(ExitCode::SUCCESS)
}

fn tell(model: &StyleModel, report: &FitReport) {
    println!("style         clips  fitted  held out");
    for (style, count) in &report.styles {
        println!("{style:<12} {:>6} {:>7} {:>9}", count.clips, count.fitted, count.held_out);
    }
    println!("{} strides are left out (-v lists them)", report.left_out);
    println!("reference: {}, {} frames", report.reference, report.reference_frames);
    println!(
        "variance kept: posture {:.1} % by {} components, timing {:.1} % by {}",
        100.0 * report.posture_variance_kept,
        model.config().posture_components,
        100.0 * report.timing_variance_kept,
        model.config().timing_components
    );
    println!(
        "subspace  differs from the reference by  between styles over within  carries of their differences"
    );
    for (number, subspace) in report.subspaces.iter().enumerate() {
        let mark = if number == report.style_subspace { "  the style subspace" } else { "" };
        println!(
            "{number:>8}  {:>30.2}  {:>26.2}  {:>28.0} %{mark}",
            subspace.difference_from_reference,
            subspace.between_over_within,
            100.0 * subspace.share_of_differences
        );
    }
    print_measures("cycles of the fit", &report.held_in);
    if let Some(held_out) = &report.held_out {
        print_measures("clips held out", held_out);
    }
    if let Some(validated) = &report.cross_validation {
        print_measures("clips left out of the fit in turn", validated);
    }
}

fn print_measures(title: &str, measures: &Measures) {
    let Measures { cycles, reconstruction_m, even_time_reconstruction_m, accuracy, .. } = measures;
    let told = |error: &ErrorFigures| {
        format!(
            "mean {:.2}, 95 % {:.2}, most {:.2} cm",
            100.0 * error.mean,
            100.0 * error.p95,
            100.0 * error.largest
        )
    };
    println!("{title}, {cycles} cycles:");
    println!("  restored joints: {}", told(reconstruction_m));
    if let Some(even) = even_time_reconstruction_m {
        println!("  by as many components without alignment: {}", told(even));
    }
    println!(
        "  nearest style is right: style subspace {:.0} %, all subspaces {:.0} %, s {:.0} %, posture u {:.0} %, first of u {:.0} %; \
         largest style {:.0} %",
        100.0 * accuracy.style_subspace,
        100.0 * accuracy.code,
        100.0 * accuracy.components,
        100.0 * accuracy.posture,
        100.0 * accuracy.posture_of_equal_size,
        100.0 * accuracy.chance
    );
}

pub fn blend(arguments: &StyleBlendArguments) -> Result<ExitCode> {
    let walk = &arguments.walk;
    let (model, _) = pomp_style::open(&walk.styles)?;
    let (code, weights) = blended(&model, walk)?;
    write(&model, &code, walk, &weights)?;
    if walk.json {
        let value = json!({ "out": walk.out, "content": walk.content, "weights": weights, "scope": scope(walk), "seconds": walk.seconds });
        json::print("style-blend", &value)?;
    }
    Ok(ExitCode::SUCCESS)
}

pub fn edit(arguments: &StyleEditArguments) -> Result<ExitCode> {
    let walk = &arguments.walk;
    let constraints = arguments
        .constraint
        .iter()
        .map(|text| text.parse::<Constraint>().map_err(|error| misuse!("--constraint {error}")))
        .collect::<Result<Vec<_>>>()?;
    let (model, _) = pomp_style::open(&walk.styles)?;
    let (code, weights) = blended(&model, walk)?;
    let settings = EditSettings {
        scope: scope(walk),
        stiffness_m: arguments.stiffness.into(),
        iterations: arguments.iterations,
    };
    let edited = pomp_style::edit(&model, &code, &constraints, settings)?;
    write(&model, &edited.code, walk, &weights)?;
    if walk.json {
        let value = json!({
            "out": walk.out, "content": walk.content, "weights": weights, "scope": scope(walk), "seconds": walk.seconds,
            "constraints": constraints, "iterations": edited.iterations, "before_m": edited.before_m, "after_m": edited.after_m,
            "moved": edited.moved,
        });
        json::print("style-edit", &value)?;
        return Ok(ExitCode::SUCCESS);
    }
    for (text, (before, after)) in
        arguments.constraint.iter().zip(edited.before_m.iter().zip(&edited.after_m))
    {
        println!("{text}: {:.1} cm away before, {:.1} cm after", 100.0 * before, 100.0 * after);
    }
    println!("{} steps; moved by {:.1} standard deviations", edited.iterations, edited.moved);
    Ok(ExitCode::SUCCESS)
}

fn scope(walk: &StyleWalkArguments) -> Scope {
    if walk.all { Scope::All } else { Scope::Style }
}

/// The code that was asked for, and the weights of styles.
fn blended(model: &StyleModel, walk: &StyleWalkArguments) -> Result<(pomp_style::Code, Vec<(String, f64)>)> {
    let weights = walk
        .weights
        .iter()
        .map(|text| {
            let (style, weight) =
                text.rsplit_once('=').ok_or_else(|| misuse!("--weights {text}: write STYLE=WEIGHT"))?;
            let weight: f64 =
                weight.trim().parse().map_err(|_| misuse!("--weights {text}: the weight is not a number"))?;
            Ok((style.trim().to_owned(), weight))
        })
        .collect::<Result<Vec<_>>>()?;
    let content = model.code_of(&walk.content)?;
    let styles = weights
        .iter()
        .map(|(style, weight)| Ok((*weight, model.code_of(style)?)))
        .collect::<Result<Vec<_>>>()?;
    Ok((pomp_style::blend(model, &content, &styles, scope(walk))?, weights))
}

/// Writes the walk of a code.
fn write(
    model: &StyleModel,
    code: &pomp_style::Code,
    arguments: &StyleWalkArguments,
    weights: &[(String, f64)],
) -> Result<()> {
    let out: &Path = &arguments.out;
    let kind = out.extension().map(|kind| kind.to_string_lossy().to_lowercase()).unwrap_or_default();
    if !["bvh", "glb", "npz"].contains(&kind.as_str()) {
        return Err(misuse!(
            "--out {}: the ending says what is written; give .bvh, .glb or .npz",
            out.display()
        ));
    }
    let name = out.file_stem().unwrap_or_default().to_string_lossy();
    let mut recording = pomp_style::walk(model, code, arguments.seconds, !arguments.free_feet, &name)
        .with_context(|| format!("{}: the walk is too far from all cycles", out.display()))?;
    let mut licenses: Vec<&str> = model.data().licenses.values().flatten().map(String::as_str).collect();
    licenses.sort_unstable();
    licenses.dedup();
    let mix: Vec<String> = weights.iter().map(|(style, weight)| format!("{style} {weight}")).collect();
    recording.source = format!(
        "pomp style, data {}: {} in the style {}",
        model.data().hash,
        arguments.content,
        mix.join(", ")
    );
    recording.license = licenses.join("; ");
    match kind.as_str() {
        "npz" => write_recording(out, &recording)?,
        "bvh" => write_bvh(out, &recording.to_clip()?, &BvhWriteOptions::default())?,
        "glb" => write_glb(out, &recording.to_clip()?)?,
        _ => bail!("{}: no such format", out.display()),
    }
    if !arguments.json {
        println!(
            "{:.1} s in {}; licences of the clips behind it: {}",
            (recording.frames() - 1) as f32 / recording.frame_rate_hz,
            out.display(),
            recording.license
        );
    }
    Ok(())
}

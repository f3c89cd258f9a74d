use crate::cli::GenerateArguments;
use crate::command::terrain;
use crate::{config_file, default_model, motion_file, terminal};
use anyhow::{Context, Result, anyhow, bail, ensure};
use burn::tensor::Device;
use glam::Vec3;
use pomp_eval::{Comparison, Summary, Track, evaluate};
use pomp_formats::{BvhWriteOptions, write_atomically, write_bvh, write_glb, write_recording};
use pomp_generator::{
    ControlPlan, FRAME_RATE_HZ, Generator, GeneratorConfig, PathFile, Preset, ScheduledPush, record,
};
use pomp_model::Model;
use pomp_motion::Recording;
use pomp_preprocess::PreprocessConfig;
use pomp_render::{RenderOptions, render_contact_sheet, render_gif};
use pomp_terrain::HeightMap;
use sha2::{Digest, Sha256};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

/// Longest run that is served, seconds: what fits into memory with room to spare.
const LONGEST_S: f32 = 3600.0;

/// Ground beyond the farthest point of the plan, metres.
const TERRAIN_MARGIN_M: f32 = 8.0;
/// A preset goes on beyond the run, so that the character does not slow down before the end.
const PLAN_BEYOND_S: f32 = 3.0;

pub fn run(arguments: &GenerateArguments) -> Result<ExitCode> {
    ensure!(
        arguments.seconds > 0.0 && arguments.seconds <= LONGEST_S,
        "--seconds {} is outside 0 to {LONGEST_S}",
        arguments.seconds
    );
    let config: GeneratorConfig = match &arguments.config {
        Some(path) => config_file::read(path)?,
        None => GeneratorConfig::default(),
    };
    let device = Device::flex();
    let model = match &arguments.model {
        Some(folder) => Model::load(folder, &device)?,
        None => default_model::load(&device)?,
    };
    let plan = control(&arguments.control, arguments.seconds + PLAN_BEYOND_S)?;
    let ground =
        terrain::find_reaching(&arguments.terrain, arguments.seed, plan.reach_m() + TERRAIN_MARGIN_M)?;
    let start = plan.at(0.0).gait;
    let mut generator = Generator::new(&model, ground, &config, start, arguments.seed)?;
    let pushes = pushes(arguments, &generator)?;

    let frames = (arguments.seconds * FRAME_RATE_HZ).round().max(1.0) as usize;
    let bar = terminal::bar(frames as u64, "generate");
    let mut clock = Instant::now();
    let recording = record(&mut generator, "rollout", &plan, &pushes, frames, |_| {
        let elapsed = clock.elapsed().as_secs_f32() * 1e6;
        clock = Instant::now();
        bar.inc(1);
        elapsed
    })?;
    bar.finish_and_clear();
    let recording = Recording {
        source: format!(
            "pomp {} generate --terrain {} --control {} --seconds {} --seed {}; model {} trained on data {}",
            env!("CARGO_PKG_VERSION"),
            arguments.terrain,
            arguments.control,
            arguments.seconds,
            arguments.seed,
            model.description.config_name,
            model.description.data_hash
        ),
        license: "as the model's training data: see its model card".to_owned(),
        config_hash: config_hash(&config)?,
        ..recording
    };
    write(arguments, recording, generator.terrain())
}

/// Hash of the resolved settings of the loop.
fn config_hash(config: &GeneratorConfig) -> Result<String> {
    let digest = Sha256::digest(serde_json::to_vec(config)?);
    Ok(digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect())
}

fn write(arguments: &GenerateArguments, mut recording: Recording, ground: &HeightMap) -> Result<ExitCode> {
    let out = &arguments.out;
    std::fs::create_dir_all(out)
        .with_context(|| format!("{}: cannot create the folder; give another with --out", out.display()))?;
    let metrics = evaluate(&recording, ground, Track::Simulated)?;
    // What was measured is told; only a run that asks for it pays with bytes that no other run repeats.
    if let (Some(generation), false) = (&mut recording.generation, arguments.clock) {
        generation.frame_time_us = None;
    }
    write_recording(&out.join("rollout.npz"), &recording)?;
    let clip = recording.to_clip()?;
    write_bvh(&out.join("motion.bvh"), &clip, &BvhWriteOptions::default())?;
    write_glb(&out.join("motion.glb"), &clip)?;
    if !arguments.no_pictures {
        pictures(&recording, &out.join("preview.gif"), &out.join("preview.png"))?;
    }
    let json = serde_json::to_string_pretty(&metrics)?;
    write_atomically(&out.join("metrics.json"), |file| file.write_all(json.as_bytes()))?;
    if arguments.json {
        println!("{json}");
    } else {
        println!("{}", Comparison::new().with("generated", Summary::from(&metrics)));
        let previews = if arguments.no_pictures { "" } else { ", preview.gif and preview.png" };
        println!("motion.bvh, motion.glb, rollout.npz, metrics.json{previews} are in {}", out.display());
    }
    Ok(ExitCode::SUCCESS)
}

fn pictures(recording: &Recording, gif: &Path, sheet: &Path) -> Result<()> {
    let options = RenderOptions::default();
    let mut moving = Vec::new();
    render_gif(recording, &options, &mut moving)?;
    write_atomically(gif, |file| file.write_all(&moving))?;
    let mut still = Vec::new();
    let small = RenderOptions { width: 320, height: 240, ..options };
    render_contact_sheet(recording, &small, 4, 3, &mut still)?;
    Ok(write_atomically(sheet, |file| file.write_all(&still))?)
}

/// A plan from a preset's name, a path file or a clip.
fn control(name: &str, seconds: f32) -> Result<ControlPlan> {
    let path = Path::new(name);
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("toml") => {
            let file: PathFile = config_file::read(path)?;
            ControlPlan::path(&file, FRAME_RATE_HZ).with_context(|| path.display().to_string())
        }
        Some("bvh" | "npz") => {
            let rigs = motion_file::rigs(&[])?;
            let clip = motion_file::read(path, &PreprocessConfig::default(), &rigs)?;
            Ok(ControlPlan::of_recording(&clip, FRAME_RATE_HZ)?)
        }
        _ => Ok(ControlPlan::preset(name.parse::<Preset>()?, seconds, FRAME_RATE_HZ)),
    }
}

/// The pushes asked for; a plain run gets one, so that a newcomer sees what the physics is for.
fn pushes(arguments: &GenerateArguments, generator: &Generator) -> Result<Vec<ScheduledPush>> {
    if arguments.push.iter().any(|text| text == "none") {
        ensure!(arguments.push.len() == 1, "--push none stands alone");
        return Ok(Vec::new());
    }
    let plain = arguments.terrain == "hills" && arguments.control == "walk" && arguments.config.is_none();
    if arguments.push.is_empty() && plain {
        let default = format!("{},Spine2,50,0,0", arguments.seconds * 0.5);
        return Ok(vec![push(&default, generator)?]);
    }
    arguments.push.iter().map(|text| push(text, generator)).collect()
}

fn push(text: &str, generator: &Generator) -> Result<ScheduledPush> {
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    let [time, body, x, y, z] = parts[..] else {
        bail!("--push \"{text}\": give five values, time,body,Jx,Jy,Jz, such as 5,Spine2,50,0,0");
    };
    let number = |what: &str, value: &str| -> Result<f32> {
        let number: f32 =
            value.parse().map_err(|_| anyhow!("--push \"{text}\": {what} \"{value}\" is not a number"))?;
        ensure!(number.is_finite(), "--push \"{text}\": {what} is not finite");
        Ok(number)
    };
    let names = generator.body_names();
    let body = names.iter().position(|name| name.eq_ignore_ascii_case(body)).ok_or_else(|| {
        anyhow!("--push \"{text}\": there is no body \"{body}\"; the bodies are {}", names.join(", "))
    })?;
    let time_s = number("time", time)?;
    ensure!(time_s >= 0.0, "--push \"{text}\": the time is negative");
    let impulse_ns = Vec3::new(number("Jx", x)?, number("Jy", y)?, number("Jz", z)?);
    Ok(ScheduledPush { time_s, body, impulse_ns })
}

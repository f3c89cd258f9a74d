use crate::cli::GenerateArguments;
use crate::command::{generate_batch, generate_scene, terrain};
use crate::{config_file, default_model, motion_file, terminal};
use anyhow::{Context, Result, anyhow, ensure};
use burn::tensor::Device;
use glam::Vec3;
use pomp_batch::{BEYOND_S, LONGEST_S, TERRAIN_MARGIN_M};
use pomp_eval::{Comparison, Metrics, Summary, Track, evaluate};
use pomp_formats::{BvhWriteOptions, write_atomically, write_bvh, write_glb, write_recording};
use pomp_generator::layers::StatureConfig;
use pomp_generator::{
    ControlPlan, FRAME_RATE_HZ, GeneratorConfig, PathFile, Preset, RolloutRecipe, ScheduledPush,
    ScheduledThrow,
};
use pomp_motion::Recording;
use pomp_physics::ThrownBox;
use pomp_preprocess::PreprocessConfig;
use pomp_render::{RenderOptions, render_contact_sheet, render_gif};
use pomp_terrain::HeightMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub fn run(arguments: &GenerateArguments) -> Result<ExitCode> {
    ensure!(
        arguments.seconds > 0.0 && arguments.seconds <= LONGEST_S,
        "--seconds {} is outside 0 to {LONGEST_S}",
        arguments.seconds
    );
    let mut settings: GeneratorConfig =
        config_file::over_defaults(arguments.config.as_deref(), &arguments.set)?.config;
    set_body(&mut settings, arguments.stature, arguments.mass);
    let model = default_model::find(arguments.model.as_deref(), &Device::flex())?;
    if let Some(scene) = &arguments.scene {
        return generate_scene::run(arguments, &model, &settings, scene);
    }
    if let Some(count) = arguments.count {
        return generate_batch::run(arguments, &model, settings, count);
    }
    let plan = control(&arguments.control, arguments.seconds + BEYOND_S)?;
    let recipe = RolloutRecipe {
        model_sha256: model.files_sha256.clone().expect("it was read from files"),
        start: settings.start_gait(&plan, &model),
        seed: arguments.seed,
        pushes: pushes(arguments, &model.description.body_names)?,
        throws: throws_of(&arguments.throw, &model.description.body_names)?,
        terrain: terrain::find_reaching(
            &arguments.terrain,
            arguments.seed,
            plan.reach_m() + TERRAIN_MARGIN_M,
        )?,
        frames: (arguments.seconds * FRAME_RATE_HZ).round().max(1.0) as usize,
        settings,
        plan,
    };
    let border_m = recipe.settings.dynamic.contact.border_m;
    terrain::warn_of_edge(&arguments.terrain, &recipe.terrain, &recipe.plan, arguments.seconds, border_m);
    let bar = terminal::bar(recipe.frames as u64, "generate");
    let mut clock = terminal::frame_clock(&bar);
    let recording = recipe.run(&model, "rollout", |_| clock())?;
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
        ..recording
    };
    write(arguments, recording, &recipe.terrain)
}

/// What is given of a body replaces what the settings say.
pub fn set_body(settings: &mut GeneratorConfig, stature_m: Option<f32>, mass_kg: Option<f32>) {
    if stature_m.is_some() {
        settings.layers.stature = StatureConfig::of_height(stature_m);
    }
    settings.dynamic.mass_kg = mass_kg.unwrap_or(settings.dynamic.mass_kg);
}

pub fn create_folder(out: &Path) -> Result<()> {
    std::fs::create_dir_all(out)
        .with_context(|| format!("{}: cannot create the folder; give another with --out", out.display()))
}

/// Writes a rollout as npz, BVH and GLB, and its metrics as JSON, each to the path that `named` gives for its extension.
pub fn write_rollout(
    recording: &mut Recording,
    ground: &HeightMap,
    clock: bool,
    named: impl Fn(&str) -> PathBuf,
) -> Result<Metrics> {
    let metrics = evaluate(recording, ground, Track::Simulated)?;
    // What was measured is told; only a run that asks for it pays with bytes that no other run repeats.
    if let (Some(generation), false) = (&mut recording.generation, clock) {
        generation.frame_time_us = None;
    }
    write_recording(&named("npz"), recording)?;
    let clip = recording.to_clip()?;
    write_bvh(&named("bvh"), &clip, &BvhWriteOptions::default())?;
    write_glb(&named("glb"), &clip)?;
    let json = serde_json::to_string_pretty(&metrics)?;
    write_atomically(&named("json"), |file| file.write_all(json.as_bytes()))?;
    Ok(metrics)
}

fn write(arguments: &GenerateArguments, mut recording: Recording, ground: &HeightMap) -> Result<ExitCode> {
    let out = &arguments.out;
    create_folder(out)?;
    let metrics = write_rollout(&mut recording, ground, arguments.clock, |extension| match extension {
        "npz" => out.join("rollout.npz"),
        "json" => out.join("metrics.json"),
        motion => out.join("motion").with_extension(motion),
    })?;
    if !arguments.no_pictures {
        pictures(&recording, &out.join("preview.gif"), &out.join("preview.png"))?;
    }
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&metrics)?);
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
pub fn control(name: &str, seconds: f32) -> Result<ControlPlan> {
    let path = Path::new(name);
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("toml") => {
            let file: PathFile = config_file::read(path)?;
            ControlPlan::path(&file, FRAME_RATE_HZ).with_context(|| path.display().to_string())
        }
        Some("bvh" | "glb" | "npz") => {
            let rigs = motion_file::rigs(&[])?;
            let clip = motion_file::read(path, &PreprocessConfig::default(), &rigs)?;
            Ok(ControlPlan::of_recording(&clip, FRAME_RATE_HZ)?)
        }
        _ => Ok(ControlPlan::preset(name.parse::<Preset>()?, seconds, FRAME_RATE_HZ)),
    }
}

/// The pushes asked for; a plain run gets one, so that a newcomer sees what the physics is for.
fn pushes(arguments: &GenerateArguments, bodies: &[String]) -> Result<Vec<ScheduledPush>> {
    let walks_over_hills = arguments.terrain == "hills" && arguments.control == "walk";
    let as_it_is = arguments.config.is_none() && arguments.stature.is_none() && arguments.mass.is_none();
    if walks_over_hills && as_it_is && arguments.push.is_empty() && arguments.throw.is_empty() {
        let default = format!("{},Spine2,50,0,0", arguments.seconds * 0.5);
        return Ok(vec![push(&default, bodies)?]);
    }
    pushes_of(&arguments.push, bodies)
}

/// The pushes that are named.
pub fn pushes_of(texts: &[String], bodies: &[String]) -> Result<Vec<ScheduledPush>> {
    if texts.iter().any(|text| text == "none") {
        ensure!(texts.len() == 1, "--push none stands alone");
        return Ok(Vec::new());
    }
    texts.iter().map(|text| push(text, bodies)).collect()
}

fn push(text: &str, names: &[String]) -> Result<ScheduledPush> {
    let given = Given { option: "--push", text };
    let [time, body, x, y, z] = given.five("time,body,Jx,Jy,Jz, such as 5,Spine2,50,0,0")?;
    let body = given.body(body, names)?;
    let time_s = given.time(time)?;
    let impulse_ns = Vec3::new(given.number("Jx", x)?, given.number("Jy", y)?, given.number("Jz", z)?);
    Ok(ScheduledPush { time_s, body, impulse_ns })
}

/// The boxes that are named.
pub fn throws_of(texts: &[String], names: &[String]) -> Result<Vec<ScheduledThrow>> {
    let throw = |text: &String| -> Result<ScheduledThrow> {
        let given = Given { option: "--throw", text };
        let [time, body, mass, speed, from] =
            given.five("time,body,kg,m/s,degrees, such as 4,Spine2,8,9,90")?;
        let throw = ScheduledThrow {
            time_s: given.time(time)?,
            body: given.body(body, names)?,
            mass_kg: given.number("mass", mass)?,
            speed_m_s: given.number("speed", speed)?,
            from_deg: given.number("direction", from)?,
        };
        ensure!(throw.time_s * FRAME_RATE_HZ >= 0.5, "--throw \"{text}\": give a time above 0");
        ensure!(
            (ThrownBox::MASS_KG[0]..=ThrownBox::MASS_KG[1]).contains(&throw.mass_kg),
            "--throw \"{text}\": the mass is outside {} to {} kg",
            ThrownBox::MASS_KG[0],
            ThrownBox::MASS_KG[1]
        );
        ensure!(
            (2.0..=20.0).contains(&throw.speed_m_s),
            "--throw \"{text}\": the speed is outside 2 to 20 m/s"
        );
        Ok(throw)
    };
    texts.iter().map(throw).collect()
}

/// An option of values between commas.
#[derive(Clone, Copy)]
struct Given<'a> {
    option: &'a str,
    text: &'a str,
}

impl<'a> Given<'a> {
    fn five(self, form: &str) -> Result<[&'a str; 5]> {
        let Self { option, text } = self;
        let parts: Vec<&str> = text.split(',').map(str::trim).collect();
        parts.try_into().map_err(|_| anyhow!("{option} \"{text}\": give five values, {form}"))
    }

    fn number(self, what: &str, value: &str) -> Result<f32> {
        let Self { option, text } = self;
        let number: f32 =
            value.parse().map_err(|_| anyhow!("{option} \"{text}\": {what} \"{value}\" is not a number"))?;
        ensure!(number.is_finite(), "{option} \"{text}\": {what} is not finite");
        Ok(number)
    }

    fn time(self, value: &str) -> Result<f32> {
        let time_s = self.number("time", value)?;
        ensure!(time_s >= 0.0, "{} \"{}\": the time is negative", self.option, self.text);
        Ok(time_s)
    }

    fn body(self, body: &str, names: &[String]) -> Result<usize> {
        let Self { option, text } = self;
        names.iter().position(|name| name.eq_ignore_ascii_case(body)).ok_or_else(|| {
            anyhow!("{option} \"{text}\": there is no body \"{body}\"; the bodies are {}", names.join(", "))
        })
    }
}

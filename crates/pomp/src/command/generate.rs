use crate::cli::GenerateArguments;
use crate::command::generate_scene::{self, Scene};
use crate::command::{generate_batch, pushes, terrain};
use crate::json;
use crate::progress::Progress;
use anyhow::{Context, Result, bail};
use burn::tensor::Device;
use pomp_batch::Loop;
use pomp_eval::{Comparison, Metrics, Summary, Track, evaluate};
use pomp_formats::{BvhWriteOptions, write_atomically, write_bvh, write_glb, write_recording};
use pomp_front::model::Models;
use pomp_front::pushes::{PushRequest, pushes_of, throws_of};
use pomp_front::rollout::{RolloutRequest, set_body};
use pomp_front::support::{Chosen, LoopSettings, Situation, Supports};
use pomp_generator::GeneratorConfig;
use pomp_motion::Recording;
use pomp_render::{RenderOptions, render_contact_sheet, render_gif};
use pomp_terrain::HeightMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub fn run(arguments: &GenerateArguments) -> Result<ExitCode> {
    let models = Models::find(arguments.model.as_deref(), &Device::flex())?;
    if let Some(count) = arguments.count {
        let supports = supports(arguments, &models)?;
        // Before a batch, in which every rollout would fail alike.
        for Loop { model, settings } in supports.loops.values() {
            model.style_change(&settings.style)?;
        }
        return generate_batch::run(arguments, &models.first.description.body_names, &supports, count);
    }
    if let Some(scene) = &arguments.scene {
        let scene = Scene::read(scene, arguments.seconds)?;
        let situation = Situation::Together {
            terrain: &arguments.terrain,
            plans: &scene.plans,
            styled: scene.is_styled(),
        };
        let Chosen { model, settings, .. } = chosen(arguments, &models, situation)?;
        model.style_change(&settings.style)?;
        return generate_scene::run(arguments, model, &settings, &scene);
    }
    let Chosen { model, settings, .. } = chosen(arguments, &models, given(arguments))?;
    let bodies = &model.description.body_names;
    let requests = pushes(arguments, bodies)?;
    let request = RolloutRequest {
        terrain: &arguments.terrain,
        control: &arguments.control,
        seconds: arguments.seconds,
        seed: arguments.seed,
        settings,
        pushes: &requests,
        throws: throws_of(&arguments.throw, bodies, arguments.seconds)?,
    };
    let recipe = request.recipe(model)?;
    let border_m = recipe.settings.dynamic.contact.border_m;
    terrain::warn_of_edge(&arguments.terrain, &recipe.terrain, &recipe.plan, arguments.seconds, border_m);
    if arguments.seed != 0 && !pushes::depend_on_seed(&requests) {
        terrain::say_what_a_seed_changes(&arguments.terrain)?;
    }
    let progress = Progress::new("generate", "frames", recipe.frames);
    let recording = {
        let mut clock = progress.frame_clock();
        recipe.run(model, "rollout", |_| clock())?
    };
    drop(progress);
    let recording = Recording { source: request.source(model), ..recording };
    write(arguments, recording, &recipe.terrain)
}

/// The only command and ground that were given.
fn given(arguments: &GenerateArguments) -> Situation<'_> {
    Situation::Given { terrain: &arguments.terrain, control: &arguments.control, seconds: arguments.seconds }
}

/// The loop. What helps the character from outside although nobody asked for it is told.
fn chosen<'m>(
    arguments: &GenerateArguments,
    models: &'m Models,
    situation: Situation<'_>,
) -> Result<Chosen<'m>> {
    let chosen = asked(arguments).choose(models, situation, |settings| change(settings, arguments))?;
    tell_note(chosen.note.as_deref());
    Ok(chosen)
}

/// The loops of the characters of a batch, told of as that of one.
fn supports<'m>(arguments: &GenerateArguments, models: &'m Models) -> Result<Supports<'m>> {
    if arguments.random.is_none() {
        return Ok(chosen(arguments, models, given(arguments))?.into());
    }
    let supports = asked(arguments).choose_drawn(models, |settings| change(settings, arguments))?;
    tell_note(supports.note.as_deref());
    Ok(supports)
}

fn asked(arguments: &GenerateArguments) -> LoopSettings<'_> {
    LoopSettings { config: arguments.config.as_deref(), set: &arguments.set, support: arguments.support }
}

/// What options of their own change in the settings.
fn change(settings: &mut GeneratorConfig, arguments: &GenerateArguments) -> Result<()> {
    set_body(settings, arguments.stature, arguments.mass);
    if let Some(controller) = arguments.controller {
        settings.controller = controller;
    }
    if let Some(style) = &arguments.style {
        settings.style.clone_from(style);
    }
    Ok(())
}

fn tell_note(note: Option<&str>) {
    if let Some(note) = note {
        tracing::info!("note: {note}; --support own-feet leaves it out");
    }
}

pub fn create_folder(out: &Path) -> Result<()> {
    if out.is_file() {
        bail!(
            "{}: this is a file, and a folder is needed for the results; give another with --out",
            out.display()
        );
    }
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
        let _drawing = Progress::new("pictures", "", 0);
        pictures(&recording, &out.join("preview.gif"), &out.join("preview.png"))?;
    }
    if arguments.json {
        json::print("generate", &serde_json::json!({ "seed": arguments.seed, "metrics": metrics }))?;
    } else {
        println!("{}", Comparison::new().with("generated", Summary::from(&metrics)));
        let previews = if arguments.no_pictures { "" } else { ", preview.gif and preview.png" };
        println!("motion.bvh, motion.glb, rollout.npz, metrics.json{previews} are in {}", out.display());
    }
    Ok(ExitCode::SUCCESS)
}

pub fn pictures(recording: &Recording, gif: &Path, sheet: &Path) -> Result<()> {
    let options = RenderOptions::default();
    let mut moving = Vec::new();
    render_gif(recording, &options, &mut moving)?;
    write_atomically(gif, |file| file.write_all(&moving))?;
    let mut still = Vec::new();
    let small = RenderOptions { width: 320, height: 240, ..options };
    render_contact_sheet(recording, &small, 4, 3, &mut still)?;
    Ok(write_atomically(sheet, |file| file.write_all(&still))?)
}

/// The pushes asked for; a plain run gets one, so that a newcomer sees what the physics is for.
fn pushes(arguments: &GenerateArguments, bodies: &[String]) -> Result<Vec<PushRequest>> {
    let walks_over_hills = arguments.terrain == "hills" && arguments.control == "walk";
    let as_it_is = arguments.config.is_none() && arguments.stature.is_none() && arguments.mass.is_none();
    if walks_over_hills && as_it_is && arguments.push.is_empty() && arguments.throw.is_empty() {
        let default = format!("{},Spine2,50,0,0", arguments.seconds * 0.5);
        return pushes_of(&[default], bodies, arguments.seconds);
    }
    pushes_of(&arguments.push, bodies, arguments.seconds)
}

//! `pomp generate --scene FILE`: several characters in one world.

use crate::cli::GenerateArguments;
use crate::command::{generate, pushes, terrain};
use crate::progress::Progress;
use crate::{config_file, default_model, errors, json};
use anyhow::{Result, anyhow, ensure};
use glam::Vec2;
use pomp_batch::{BEYOND_S, TERRAIN_MARGIN_M};
use pomp_eval::{Comparison, Summary};
use pomp_front::control;
use pomp_front::rollout::set_body;
use pomp_generator::{
    CharacterRecipe, CharacterSetup, ControlPlan, EnsembleRecipe, FRAME_RATE_HZ, GeneratorConfig,
};
use pomp_model::Model;
use pomp_motion::Recording;
use pomp_motion::rotation::wrap_angle;
use pomp_terrain::HeightMap;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

/// The scene that has a name.
const MEET: &str = include_str!("../../configs/scenes/meet.toml");

/// A scene file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SceneFile {
    /// The characters, all in one world.
    character: Vec<CharacterEntry>,
}

/// One character of a scene file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CharacterEntry {
    /// World x and z of the start, metres.
    at: [f32; 2],
    /// 0 faces +Z, 90 faces +X.
    heading_deg: f32,
    /// As `--control`, relative to the start.
    control: String,
    /// Seed; by default that of the command line, plus one for each further character.
    seed: Option<u64>,
    /// As `--stature`.
    stature_m: Option<f32>,
    /// As `--mass`.
    mass_kg: Option<f32>,
    /// Weights of styles by name, in place of those of `--style` and the configuration.
    style: Option<BTreeMap<String, f32>>,
    /// As `--push`, each.
    #[serde(default)]
    push: Vec<String>,
    /// As `--throw`, each.
    #[serde(default)]
    throw: Vec<String>,
}

/// A scene file, read.
pub struct Scene {
    /// Its name, or that of its file.
    name: String,
    entries: Vec<CharacterEntry>,
    /// The command of each character, from its start.
    pub plans: Vec<ControlPlan>,
}

impl Scene {
    /// The scene of a name or a file, with commands for `seconds`.
    pub fn read(name: &str, seconds: f32) -> Result<Self> {
        let SceneFile { character: entries } = match name {
            "meet" => config_file::parse(MEET, "configs/scenes/meet.toml")?,
            path => config_file::read(Path::new(path))?,
        };
        let plans = entries.iter().enumerate();
        let plans = plans.map(|(i, entry)| in_scene(name, i, entry.plan(seconds))).collect::<Result<_>>()?;
        Ok(Self { name: name.to_owned(), entries, plans })
    }

    /// Whether a character has a style of its own.
    pub fn is_styled(&self) -> bool {
        let mut weights =
            self.entries.iter().filter_map(|entry| entry.style.as_ref()).flat_map(BTreeMap::values);
        weights.any(|weight| *weight != 0.0)
    }
}

impl CharacterEntry {
    fn start(&self) -> (Vec2, f32) {
        (Vec2::from_array(self.at), wrap_angle(self.heading_deg.to_radians()))
    }

    fn plan(&self, seconds: f32) -> Result<ControlPlan> {
        ensure!(
            self.at.iter().all(|coordinate| coordinate.abs() <= 1000.0),
            "at = {:?} is outside −1000 to 1000 m",
            self.at
        );
        ensure!(self.heading_deg.abs() <= 360.0, "heading_deg = {} is outside −360 to 360", self.heading_deg);
        let (position, yaw) = self.start();
        Ok(control::find(&self.control, seconds + BEYOND_S)?.moved(position, yaw))
    }
}

/// What is wrong with a character of a scene, with its place. Its values are in a file, so it is no misuse of the command line.
fn in_scene<T>(scene: &str, index: usize, result: Result<T>) -> Result<T> {
    result.map_err(|error| anyhow!("{scene}: character {}: {}", index + 1, errors::told(&error)))
}

pub fn run(
    arguments: &GenerateArguments,
    model: &Model,
    settings: &GeneratorConfig,
    scene: &Scene,
) -> Result<ExitCode> {
    let recipe = recipe(arguments, model, settings, scene)?;
    let progress = Progress::new("generate", "frames", recipe.frames);
    let recordings = {
        let mut clock = progress.frame_clock();
        recipe.run(model, |_| clock())?
    };
    drop(progress);
    write(arguments, recordings, &recipe.terrain)
}

fn recipe(
    arguments: &GenerateArguments,
    model: &Model,
    settings: &GeneratorConfig,
    scene: &Scene,
) -> Result<EnsembleRecipe> {
    let cast = scene.entries.iter().zip(&scene.plans).enumerate().map(|(i, (entry, plan))| {
        in_scene(&scene.name, i, character(arguments, model, settings, i, (entry, plan)))
    });
    let cast = cast.collect::<Result<Vec<CharacterRecipe>>>()?;
    let reach_m = cast.iter().map(|character| character.plan.reach_m()).fold(0.0, f32::max);
    let ground = terrain::find_reaching(&arguments.terrain, arguments.seed, reach_m + TERRAIN_MARGIN_M)?;
    let border_m = settings.dynamic.contact.border_m;
    for character in &cast {
        terrain::warn_of_edge(&arguments.terrain, &ground, &character.plan, arguments.seconds, border_m);
    }
    let mut recipe = EnsembleRecipe {
        model_sha256: String::new(),
        terrain: ground,
        frames: (arguments.seconds * FRAME_RATE_HZ).round().max(1.0) as usize,
        characters: cast,
    };
    recipe.model_sha256 = default_model::hash(model, recipe.used_parts())?;
    Ok(recipe)
}

fn character(
    arguments: &GenerateArguments,
    model: &Model,
    settings: &GeneratorConfig,
    index: usize,
    (entry, plan): (&CharacterEntry, &ControlPlan),
) -> Result<CharacterRecipe> {
    let mut settings = settings.clone();
    set_body(&mut settings, entry.stature_m, entry.mass_kg);
    if let Some(style) = &entry.style {
        settings.style.clone_from(style);
        settings.validate()?;
        model.style_change(style)?;
    }
    let (position, yaw) = entry.start();
    let (bodies, seconds) = (&model.description.body_names, arguments.seconds);
    let seed = entry.seed.unwrap_or_else(|| arguments.seed.wrapping_add(index as u64));
    Ok(CharacterRecipe {
        pushes: pushes::draw(&pushes::pushes_of(&entry.push, bodies, seconds)?, plan, seed),
        throws: pushes::throws_of(&entry.throw, bodies, seconds)?,
        setup: CharacterSetup { start: plan.start_gait(), settings, seed, position, yaw },
        plan: plan.clone(),
    })
}

fn write(arguments: &GenerateArguments, recordings: Vec<Recording>, ground: &HeightMap) -> Result<ExitCode> {
    let out = &arguments.out;
    generate::create_folder(out)?;
    let mut told: Vec<Value> = Vec::new();
    let mut table = Comparison::new();
    for mut recording in recordings {
        let name = recording.name.clone();
        let metrics = generate::write_rollout(&mut recording, ground, arguments.clock, |extension| {
            out.join(format!("{name}.{extension}"))
        })?;
        table = table.with(&name, Summary::from(&metrics));
        told.push(json!({ "character": name, "metrics": serde_json::to_value(&metrics)? }));
    }
    if arguments.json {
        json::print("generate-scene", &json!({ "characters": told }))?;
    } else {
        println!("{table}");
        println!(
            "per character an .npz, a .bvh, a .glb and a .json with its metrics are in {}",
            out.display()
        );
    }
    Ok(ExitCode::SUCCESS)
}

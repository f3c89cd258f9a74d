use super::ground::Bump;
use super::style::check_weight;
use crate::StudioError;
use glam::{Quat, Vec2, Vec3};
use pomp_controllers::ControllerKind;
use pomp_generator::{GeneratorConfig, Steering};
use pomp_model::Model;
use pomp_motion::Gait;
use pomp_motion::features::BlockName;
use pomp_physics::ThrownBox;
use pomp_terrain::{HeightMap, PRESET_NAMES, Shape};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use ts_rs::TS;

/// Events that one scene may have.
const MOST_EVENTS: usize = 20_000;
/// Boxes and bumps of the page that may wait for the next frame.
const MOST_WAITING: usize = 16;
/// Largest seed: what a browser's numbers hold.
const LARGEST_SEED: u64 = u32::MAX as u64;

/// Side of level ground, metres, and the distance between its heights: fine enough to draw bumps on.
const FLAT_SIZE_M: f32 = 200.0;
const FLAT_CELL_M: f32 = 0.25;
/// A gait is offered that has at least this share of the training: a minute in an hour and a quarter is a clip or two.
const SEEN_SHARE: f32 = 0.02;
/// How fast a thrown cube turns, rad/s.
const TUMBLE_RAD_S: f32 = 3.0;
/// Side of any other ground, metres: minutes of walking, and still sent in an instant.
const SIZE_M: f32 = 72.0;
/// Side of stairs, whose heights lie closer together.
const STAIRS_SIZE_M: f32 = 44.0;

/// A world to begin: what a link reproduces.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct SceneRequest {
    /// Name of the model that moves the character; without one the first of the program's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub model: Option<String>,
    /// Name of the controller that proposes its motion, one that the model holds; without one that of the program's settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, as = "Option<String>")]
    pub controller: Option<ControllerKind>,
    /// Name of a terrain preset.
    pub terrain: String,
    /// Seed of terrain and noise, up to 2³² − 1.
    #[ts(type = "number")]
    pub seed: u64,
    /// Friction of the ground, 0.02 to 2.
    pub friction: f32,
    /// Mass of the body, 40 to 150 kg.
    pub mass_kg: f32,
    /// Share of the configured root assist, 0 to 1.
    pub assist: f32,
    /// Steps of the sampler.
    pub denoising_steps: usize,
    /// Weights of the styles that it begins in, by name; without them those of the program's settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub style: Option<BTreeMap<String, f32>>,
    /// What happens in it, in the order of frames.
    #[serde(default)]
    #[ts(optional, as = "Option<Vec<Event>>")]
    pub events: Vec<Event>,
}

/// Something that a person did, with the frame in which it began to act.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// Frame, direction (world x and z), gait.
    Steer(u32, f32, f32, #[ts(type = "string")] Gait),
    /// As `Steer`, and where it faces meanwhile (world x and z).
    SteerFacing(u32, f32, f32, #[ts(type = "string")] Gait, [f32; 2]),
    /// Frame, body, impulse (N·s, world), point (body's frame, metres).
    Push(u32, usize, [f32; 3], [f32; 3]),
    /// Frame, share of the root assist.
    Assist(u32, f32),
    /// Frame, steps of the sampler.
    Denoise(u32, usize),
    /// Frame, number of a style of the model, its weight; the weights of the others give way.
    Style(u32, usize, f32),
    /// Frame, side (metres), mass (kg), centre (world, metres), velocity (m/s) of a cube.
    Throw(u32, f32, f32, [f32; 3], [f32; 3]),
    /// Frame, x, z, radius and height (metres) of a bump on the ground; a negative height digs.
    Bump(u32, f32, f32, f32, f32),
}

impl Event {
    /// The frame in which it begins to act.
    pub fn frame(&self) -> u32 {
        match self {
            Self::Steer(frame, ..)
            | Self::SteerFacing(frame, ..)
            | Self::Push(frame, ..)
            | Self::Assist(frame, ..)
            | Self::Denoise(frame, ..)
            | Self::Style(frame, ..)
            | Self::Throw(frame, ..)
            | Self::Bump(frame, ..) => *frame,
        }
    }

    pub(super) fn steer(frame: u32, steering: Steering) -> Self {
        let Steering { direction: Vec2 { x, y: z }, gait, facing } = steering;
        match facing {
            None => Self::Steer(frame, x, z, gait),
            Some(facing) => Self::SteerFacing(frame, x, z, gait, facing.to_array()),
        }
    }

    /// The steering that begins with it; none of another event.
    pub(super) fn steering(&self) -> Option<Steering> {
        match *self {
            Self::Steer(_, x, z, gait) => Some(Steering::toward(Vec2::new(x, z), gait)),
            Self::SteerFacing(_, x, z, gait, facing) => {
                Some(Steering { facing: Some(facing.into()), ..Steering::toward(Vec2::new(x, z), gait) })
            }
            _ => None,
        }
    }
}

impl SceneRequest {
    /// The scene that a model is shown in first: its own mass, the defaults of the loop.
    pub fn first(model: &Model, config: &GeneratorConfig, terrain: &str, seed: u64) -> Self {
        Self {
            model: None,
            controller: None,
            terrain: terrain.to_owned(),
            seed,
            friction: config.dynamic.friction,
            mass_kg: model.description.mass_kg,
            assist: 1.0,
            denoising_steps: config.sampler.steps,
            style: None,
            events: Vec::new(),
        }
    }

    /// The scene led by another model, from a loop of settings `before` into one of `after`: denoising steps that nobody chose are those
    /// of the settings.
    pub fn led_by(self, before: &GeneratorConfig, after: &GeneratorConfig) -> Self {
        let chosen = self.denoising_steps != before.sampler.steps;
        Self { denoising_steps: if chosen { self.denoising_steps } else { after.sampler.steps }, ..self }
    }

    /// Checks every value against its range and against the model; `base` are the program's settings.
    ///
    /// # Errors
    /// [`StudioError::BadScene`] with the first value out of range.
    pub fn validate(&self, model: &Model, base: &GeneratorConfig) -> Result<(), StudioError> {
        let bad = |field: &'static str, value: String, range: String| {
            Err(StudioError::BadScene { field, value, range })
        };
        if !PRESET_NAMES.contains(&self.terrain.as_str()) {
            let shown: String = self.terrain.chars().take(40).collect();
            return bad("terrain", format!("\"{shown}\""), PRESET_NAMES.join(", "));
        }
        if self.seed > LARGEST_SEED {
            return bad("seed", self.seed.to_string(), format!("0 to {LARGEST_SEED}"));
        }
        in_range("friction", self.friction, 0.02, 2.0)?;
        in_range("mass_kg", self.mass_kg, 40.0, 150.0)?;
        check_controller(self.controller, model)?;
        check_assist(self.assist)?;
        check_steps(self.denoising_steps, model)?;
        self.check_style(model, base)?;
        if self.events.len() > MOST_EVENTS {
            return bad("number of events", self.events.len().to_string(), format!("0 to {MOST_EVENTS}"));
        }
        let mut last = 0;
        for event in &self.events {
            if event.frame() < last {
                return bad("frame of an event", event.frame().to_string(), format!("{last} or later"));
            }
            last = event.frame();
            match *event {
                Event::Steer(_, x, z, gait) => check_steering(Vec2::new(x, z), gait, model)?,
                Event::SteerFacing(_, x, z, gait, facing) => {
                    check_steering(Vec2::new(x, z), gait, model)?;
                    check_direction(facing.into())?;
                }
                Event::Push(_, body, impulse, point) => {
                    if body >= model.description.body_names.len() {
                        let last = model.description.body_names.len() - 1;
                        return bad("body of a push", body.to_string(), format!("0 to {last}"));
                    }
                    in_range("impulse of a push", Vec3::from(impulse).length(), 0.0, 2000.0)?;
                    in_range("point of a push", Vec3::from(point).length(), 0.0, 1.0)?;
                }
                Event::Assist(_, scale) => check_assist(scale)?,
                Event::Denoise(_, steps) => check_steps(steps, model)?,
                Event::Style(_, style, weight) => {
                    check_weight(style, weight, model, self.controller_over(base))?;
                }
                Event::Throw(_, side_m, mass_kg, position, velocity) => {
                    cube(side_m, mass_kg, position.into(), velocity.into()).validate()?;
                }
                Event::Bump(_, x, z, radius_m, height_m) => Bump { x, z, radius_m, height_m }.validate()?,
            }
        }
        Ok(())
    }

    /// The controller that moves the character, over that of the program's settings.
    pub fn controller_over(&self, base: &GeneratorConfig) -> ControllerKind {
        self.controller.unwrap_or(base.controller)
    }

    /// The settings of the loop in this scene.
    pub(super) fn generator_config(&self, base: &GeneratorConfig) -> GeneratorConfig {
        let mut config = base.clone();
        config.dynamic.friction = self.friction;
        config.dynamic.mass_kg = self.mass_kg;
        config.sampler.steps = self.denoising_steps;
        config.controller = self.controller_over(base);
        config.style = self.style_over(base);
        config
    }

    /// The ground, large enough to walk about.
    pub(super) fn ground(&self) -> Result<HeightMap, StudioError> {
        let Some(mut spec) = pomp_terrain::preset(&self.terrain) else {
            let (field, value) = ("terrain", format!("\"{}\"", self.terrain));
            return Err(StudioError::BadScene { field, value, range: PRESET_NAMES.join(", ") });
        };
        match spec.shape {
            Shape::Flat { .. } => {
                spec.size_m = FLAT_SIZE_M;
                spec.cell_m = FLAT_CELL_M;
            }
            Shape::Stairs { .. } => spec.size_m = STAIRS_SIZE_M,
            _ => spec.size_m = SIZE_M,
        }
        Ok(pomp_terrain::generate(&spec, self.seed)?)
    }
}

/// The scene in words, for people who see a recording of it; its events and the rest stand in the recipe.
impl std::fmt::Display for SceneRequest {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { terrain, seed, friction, mass_kg, .. } = self;
        write!(out, "{terrain} ground, seed {seed}, friction {friction}, {mass_kg:.1} kg")?;
        self.controller.map_or(Ok(()), |controller| write!(out, ", controller {controller}"))
    }
}

/// A cube that flies with a face ahead and tumbles a little.
pub(super) fn cube(side_m: f32, mass_kg: f32, position: Vec3, velocity: Vec3) -> ThrownBox {
    let rotation = Quat::from_rotation_y(velocity.x.atan2(velocity.z));
    let spin = rotation * Vec3::new(TUMBLE_RAD_S, 0.0, 0.0);
    ThrownBox { size_m: Vec3::splat(side_m), mass_kg, position, rotation, velocity, spin }
}

/// Gaits that a character can begin a scene in.
pub(super) fn starting_gaits(model: &Model) -> Vec<Gait> {
    let starts = model.description.kinematic.as_ref().map(|kinematic| &kinematic.starts);
    Gait::ALL
        .into_iter()
        .filter(|gait| starts.is_some_and(|starts| starts.contains_key(gait.name())))
        .collect()
}

/// Gaits that a model can be asked for: those it can start with, and crouching and jumping where it has seen enough of them.
pub fn offered_gaits(model: &Model) -> Vec<Gait> {
    let starting = starting_gaits(model);
    let seen =
        |gait: Gait| matches!(gait, Gait::Crouch | Gait::Jump) && share_seen(model, gait) >= SEEN_SHARE;
    Gait::ALL.into_iter().filter(|gait| starting.contains(gait) || seen(*gait)).collect()
}

/// Share of the frames that the kinematic module was trained on that a gait has: the mean of its inputs.
fn share_seen(model: &Model, gait: Gait) -> f32 {
    let Some(kinematic) = &model.description.kinematic else { return 0.0 };
    let weights = &kinematic.x.mean()[model.description.layout.x_range(BlockName::Gait)];
    let keys = weights.chunks_exact(Gait::COUNT);
    let count = keys.len().max(1) as f32;
    keys.map(|weights| weights[gait.index()]).sum::<f32>() / count
}

fn check_steering(direction: Vec2, gait: Gait, model: &Model) -> Result<(), StudioError> {
    check_direction(direction)?;
    check_gait(gait, model)
}

fn check_direction(direction: Vec2) -> Result<(), StudioError> {
    in_range("length of a direction", direction.length(), 0.0, 1.02)
}

pub(super) fn check_gait(gait: Gait, model: &Model) -> Result<(), StudioError> {
    let offered = offered_gaits(model);
    if offered.contains(&gait) {
        return Ok(());
    }
    let range = offered.iter().map(|gait| gait.name()).collect::<Vec<_>>().join(", ");
    Err(StudioError::BadScene { field: "gait", value: gait.name().to_owned(), range })
}

/// Controllers that a model can be moved by: its kinematic module, where it has one, and those that it holds beside it.
pub fn offered_controllers(model: &Model) -> Vec<ControllerKind> {
    let own = model.kinematic.is_some().then_some(ControllerKind::Pomp);
    own.into_iter().chain(model.controllers.keys().copied()).collect()
}

fn check_controller(controller: Option<ControllerKind>, model: &Model) -> Result<(), StudioError> {
    let offered = offered_controllers(model);
    let Some(missing) = controller.filter(|kind| !offered.contains(kind)) else { return Ok(()) };
    let range = offered.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", ");
    let range = format!("{range}, which the model holds");
    Err(StudioError::BadScene { field: "controller", value: missing.name().to_owned(), range })
}

pub(super) fn check_assist(scale: f32) -> Result<(), StudioError> {
    in_range("assist", scale, 0.0, 1.0)
}

pub(super) fn check_steps(steps: usize, model: &Model) -> Result<(), StudioError> {
    let most = model.description.kinematic.as_ref().map_or(1, |kinematic| kinematic.config.diffusion_steps);
    if (1..=most).contains(&steps) {
        return Ok(());
    }
    let range = format!("1 to {most}");
    Err(StudioError::BadScene { field: "denoising_steps", value: steps.to_string(), range })
}

/// Whether one more of the page's boxes or bumps may wait for the next frame beside `waiting` others.
pub(super) fn check_waiting(field: &'static str, waiting: usize) -> Result<(), StudioError> {
    if waiting < MOST_WAITING {
        return Ok(());
    }
    let (value, range) = ((waiting + 1).to_string(), format!("1 to {MOST_WAITING}"));
    Err(StudioError::BadScene { field, value, range })
}

pub(super) fn in_range(field: &'static str, value: f32, low: f32, high: f32) -> Result<(), StudioError> {
    if (low..=high).contains(&value) {
        return Ok(());
    }
    Err(StudioError::BadScene { field, value: value.to_string(), range: format!("{low} to {high}") })
}

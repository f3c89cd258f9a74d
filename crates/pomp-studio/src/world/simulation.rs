use super::ground::Original;
use super::scene::{check_assist, check_gait, check_steps, check_waiting, cube, starting_gaits};
use super::scene_recipe::recipe_of;
use super::style::{check_weight, offered_styles, with_weight};
use super::{Bump, Event, Patch, RecordingBuffer, SceneRequest};
use crate::StudioError;
use crate::protocol::{FrameMessage, PushRequest, ThrowRequest};
use glam::{Vec2, Vec3};
use pomp_controllers::ControllerKind;
use pomp_generator::{
    FRAME_RATE_HZ, Generator, GeneratorConfig, GeneratorSnapshot, LiveControl, SteeredStep, Steering,
};
use pomp_model::Model;
use pomp_motion::features::FUTURE_KEYS;
use pomp_motion::{Gait, Recording};
use pomp_physics::{BoxState, Push};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Instant;

/// Frames over which a push is spread: a tenth of a second, as a shove with the hand lasts.
const PUSH_FRAMES: u32 = 6;
/// Pushes that may act at once.
const MOST_PUSHES: usize = 16;
/// Frames between two snapshots: going back simulates at most these anew.
const SNAPSHOT_FRAMES: u32 = 30;
/// Steering and other events that a scene remembers; more make no link any more.
const MOST_LOGGED: usize = 20_000;

/// How much a world may keep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorldLimits {
    /// Length of the recording, seconds.
    pub recording_s: f32,
    /// How far one can go back, seconds.
    pub rewind_s: f32,
}

/// A push that has begun.
#[derive(Clone, Copy, Debug)]
struct ActivePush {
    body: usize,
    impulse_per_frame_ns: Vec3,
    point_local: Vec3,
    frames_left: u32,
}

/// What a frame changes and a rewind takes back, besides the generator's own.
#[derive(Clone, Debug)]
struct Kept {
    generator: GeneratorSnapshot,
    now: Now,
}

/// The state of the command.
#[derive(Clone, Debug)]
struct Now {
    control: LiveControl,
    steering: Steering,
    pushes: Vec<ActivePush>,
    assist: f32,
    denoising_steps: usize,
    style: BTreeMap<String, f32>,
    /// Bumps pressed so far.
    bumps: usize,
}

/// A character in its world.
pub struct World {
    model: Arc<Model>,
    scene: SceneRequest,
    pub(crate) config: GeneratorConfig,
    limits: WorldLimits,
    generator: Generator,
    original: Original,
    now: Now,
    /// Bumps of the frame that begins.
    fresh_bumps: Vec<Bump>,
    /// What of the ground the page does not know yet.
    changed: Option<Patch>,
    /// Why something asked for was not done.
    refusals: Vec<String>,
    /// What the page asks for; taken over at the next frame.
    asked: Steering,
    asked_pushes: Vec<PushRequest>,
    asked_throws: Vec<ThrowRequest>,
    asked_bumps: Vec<Bump>,
    asked_assist: Option<f32>,
    asked_steps: Option<usize>,
    asked_styles: Vec<(usize, f32)>,
    log: Vec<Event>,
    log_is_whole: bool,
    replay: VecDeque<Event>,
    snapshots: VecDeque<Kept>,
    recording: RecordingBuffer,
    last: Option<Shown>,
}

/// The last frame, as it is shown again while the clock stands.
struct Shown {
    step: SteeredStep,
    boxes: Vec<BoxState>,
    center_of_mass: Vec3,
    gates: Vec<f32>,
    path: [(Vec2, f32); FUTURE_KEYS],
    step_ms: f32,
}

impl World {
    /// Begins `scene` with `model`; `config` is the loop's, apart from what the scene sets.
    ///
    /// # Errors
    /// A scene out of range, or a model that cannot move.
    pub fn new(
        model: Arc<Model>,
        config: &GeneratorConfig,
        mut scene: SceneRequest,
        limits: WorldLimits,
    ) -> Result<Self, StudioError> {
        scene.validate(&model, config)?;
        let starting = starting_gaits(&model);
        let start = [Gait::Stand, Gait::Walk].into_iter().find(|gait| starting.contains(gait));
        let start = start.or(starting.first().copied()).unwrap_or(Gait::Stand);
        let loop_config = scene.generator_config(config);
        let mut generator = Generator::new(&model, scene.ground()?, &loop_config, start, scene.seed)?;
        generator.set_assist_scale(scene.assist);
        let replay: VecDeque<Event> = std::mem::take(&mut scene.events).into();
        let now = Now {
            control: LiveControl::new(generator.terrain().bounds(), 0.0, FRAME_RATE_HZ),
            steering: Steering::STILL,
            pushes: Vec::new(),
            assist: scene.assist,
            denoising_steps: scene.denoising_steps,
            style: loop_config.style,
            bumps: 0,
        };
        Ok(Self {
            original: Original::of(generator.terrain()),
            fresh_bumps: Vec::new(),
            changed: None,
            refusals: Vec::new(),
            asked_throws: Vec::new(),
            asked_bumps: Vec::new(),
            asked: Steering::STILL,
            asked_pushes: Vec::new(),
            asked_assist: None,
            asked_steps: None,
            asked_styles: Vec::new(),
            log: Vec::new(),
            log_is_whole: true,
            snapshots: VecDeque::new(),
            recording: RecordingBuffer::new(limits.recording_s),
            last: None,
            config: config.clone(),
            model,
            scene,
            limits,
            generator,
            now,
            replay,
        })
    }

    /// The same scene from its beginning, without its events.
    ///
    /// # Errors
    /// As [`Self::new`]; this world is unharmed then.
    pub fn begin_again(&self) -> Result<Self, StudioError> {
        Self::new(Arc::clone(&self.model), &self.config, self.scene.clone(), self.limits)
    }

    /// The scene as it began.
    pub fn scene(&self) -> &SceneRequest {
        &self.scene
    }

    /// The controller that moves the character.
    pub fn controller(&self) -> ControllerKind {
        self.scene.controller_over(&self.config)
    }

    /// The loop.
    pub fn generator(&self) -> &Generator {
        &self.generator
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Frames done.
    pub fn frame(&self) -> u32 {
        self.generator.frames() as u32
    }

    /// Whether events of a link are still to come.
    pub fn is_replaying(&self) -> bool {
        !self.replay.is_empty()
    }

    /// Share of the root assist asked for.
    pub fn assist(&self) -> f32 {
        self.asked_assist.unwrap_or(self.now.assist)
    }

    /// Steps of the sampler asked for.
    pub fn denoising_steps(&self) -> usize {
        self.asked_steps.unwrap_or(self.now.denoising_steps)
    }

    /// Names of the styles that the character can move in.
    pub fn offered_styles(&self) -> Vec<String> {
        offered_styles(&self.model, self.controller())
    }

    /// Weights of [`Self::offered_styles`] asked for.
    pub fn style_weights(&self) -> Vec<f32> {
        let names = self.offered_styles();
        let asked = self.asked_styles.iter();
        let style = asked.fold(self.now.style.clone(), |style, &(index, weight)| {
            with_weight(style, &names[index], weight)
        });
        names.iter().map(|name| style.get(name).copied().unwrap_or(0.0)).collect()
    }

    /// Seconds that can be taken back.
    pub fn can_rewind_s(&self) -> f32 {
        let oldest = self.snapshots.front().map_or(self.frame(), |kept| kept.generator.frames() as u32);
        ((self.frame() - oldest) as f32 / FRAME_RATE_HZ).min(self.limits.rewind_s)
    }

    /// Seconds recorded.
    pub fn recorded_s(&self) -> f32 {
        self.recording.len() as f32 / FRAME_RATE_HZ
    }

    /// Goes where `steering` says from the next frame on. A hand on the controls ends the replay of a link.
    ///
    /// # Errors
    /// A gait that the model does not have.
    pub fn steer(&mut self, steering: Steering) -> Result<(), StudioError> {
        check_gait(steering.gait, &self.model)?;
        let turns = steering.facing.is_some();
        if steering.direction != Vec2::ZERO || turns || matches!(steering.gait, Gait::Crouch | Gait::Jump) {
            self.replay.clear();
        }
        self.asked = steering;
        Ok(())
    }

    /// Pushes a body in the next frames.
    ///
    /// # Errors
    /// A body that does not exist, or more pushes than can act at once.
    pub fn push(&mut self, push: PushRequest) -> Result<(), StudioError> {
        let bodies = self.generator.body_names().len();
        let bad = |field, value: usize, range| {
            Err(StudioError::BadScene { field, value: value.to_string(), range })
        };
        if push.body >= bodies {
            return bad("body of a push", push.body, format!("0 to {}", bodies - 1));
        }
        let acting = self.asked_pushes.len() + self.now.pushes.len();
        if acting >= MOST_PUSHES {
            return bad("pushes at once", acting + 1, format!("1 to {MOST_PUSHES}"));
        }
        self.replay.clear();
        self.asked_pushes.push(push);
        Ok(())
    }

    /// Throws a cube in the next frame; [`Self::take_refusals`] tells why it did not fly.
    ///
    /// # Errors
    /// A cube out of range, or too many at once.
    pub fn throw(&mut self, throw: ThrowRequest) -> Result<(), StudioError> {
        cube(throw.side_m, throw.mass_kg, throw.position, throw.velocity).validate()?;
        check_waiting("boxes at once", self.asked_throws.len())?;
        self.replay.clear();
        self.asked_throws.push(throw);
        Ok(())
    }

    /// Presses a bump on the ground, or out of it, in the next frame.
    ///
    /// # Errors
    /// A bump out of range, or too many at once.
    pub fn bump(&mut self, bump: Bump) -> Result<(), StudioError> {
        bump.validate()?;
        check_waiting("bumps at once", self.asked_bumps.len())?;
        self.replay.clear();
        self.asked_bumps.push(bump);
        Ok(())
    }

    /// What of the ground has changed since this was last asked.
    pub fn take_changed_ground(&mut self) -> Option<Patch> {
        self.changed.take()
    }

    /// Why something asked for was not done, since this was last asked.
    pub fn take_refusals(&mut self) -> Vec<String> {
        std::mem::take(&mut self.refusals)
    }

    /// Scales the root assist from the next frame on.
    ///
    /// # Errors
    /// A share outside 0 to 1.
    pub fn set_assist(&mut self, scale: f32) -> Result<(), StudioError> {
        check_assist(scale)?;
        self.asked_assist = Some(scale);
        Ok(())
    }

    /// Samples the kinematic module in `steps` steps from the next frame on.
    ///
    /// # Errors
    /// More steps than the model has, or none.
    pub fn set_denoising_steps(&mut self, steps: usize) -> Result<(), StudioError> {
        check_steps(steps, &self.model)?;
        self.asked_steps = Some(steps);
        Ok(())
    }

    /// Moves in a style of the model, by its number, with this weight from the next frame on; the weights of the others give way.
    ///
    /// # Errors
    /// A style that the model does not have, or a weight outside 0 to 1.
    pub fn set_style(&mut self, style: usize, weight: f32) -> Result<(), StudioError> {
        check_weight(style, weight, &self.model, self.controller())?;
        // The last word on a style counts: a slider that is drawn says many in a frame.
        self.asked_styles.retain(|(asked, _)| *asked != style);
        self.asked_styles.push((style, weight));
        Ok(())
    }

    /// One frame.
    ///
    /// # Errors
    /// What the loop refuses.
    pub fn step(&mut self) -> Result<(), StudioError> {
        let events = self.events_of_this_frame();
        if self.frame().is_multiple_of(SNAPSHOT_FRAMES) {
            self.keep();
        }
        let mut done = Vec::with_capacity(events.len());
        for event in events {
            match self.apply(event) {
                Ok(()) => done.push(event),
                Err(StudioError::Generator(error)) if matches!(event, Event::Throw(..)) => {
                    self.refusals.push(error.to_string());
                }
                Err(error) => return Err(error),
            }
        }
        self.press_bumps()?;
        if self.log.len() + done.len() <= MOST_LOGGED {
            self.log.extend(done);
        } else {
            self.log_is_whole = false;
        }
        self.simulate()
    }

    /// Presses the bumps of this frame all at once: each ground is a new collider.
    fn press_bumps(&mut self) -> Result<(), StudioError> {
        let bumps = std::mem::take(&mut self.fresh_bumps);
        if bumps.is_empty() {
            return Ok(());
        }
        self.now.bumps += bumps.len();
        if let Some((terrain, patch)) = self.original.bumped(self.generator.terrain(), &bumps)? {
            self.generator.set_terrain(terrain)?;
            self.changed = Some(patch);
        }
        Ok(())
    }

    /// What begins now: of a link's events while there are any, then what the page has asked for.
    fn events_of_this_frame(&mut self) -> Vec<Event> {
        let frame = self.frame();
        let mut events = Vec::new();
        if self.is_replaying() {
            while self.replay.front().is_some_and(|event| event.frame() <= frame) {
                events.extend(self.replay.pop_front());
            }
            // What the hand asks for stays as the link left it.
            for event in &events {
                self.asked = event.steering().unwrap_or(self.asked);
            }
        } else if self.asked != self.now.steering {
            events.push(Event::steer(frame, self.asked));
        }
        let pushes = self.asked_pushes.drain(..);
        events.extend(pushes.map(|push| {
            let (impulse, point) = (push.impulse_ns.to_array(), push.point_local.to_array());
            Event::Push(frame, push.body, impulse, point)
        }));
        let throws = self.asked_throws.drain(..);
        events.extend(throws.map(|throw| {
            let (position, velocity) = (throw.position.to_array(), throw.velocity.to_array());
            Event::Throw(frame, throw.side_m, throw.mass_kg, position, velocity)
        }));
        let bumps = self.asked_bumps.drain(..);
        events.extend(bumps.map(|bump| Event::Bump(frame, bump.x, bump.z, bump.radius_m, bump.height_m)));
        events.extend(self.asked_assist.take().map(|scale| Event::Assist(frame, scale)));
        events.extend(self.asked_steps.take().map(|steps| Event::Denoise(frame, steps)));
        let styles = self.asked_styles.drain(..);
        events.extend(styles.map(|(style, weight)| Event::Style(frame, style, weight)));
        events
    }

    fn apply(&mut self, event: Event) -> Result<(), StudioError> {
        match event {
            Event::Steer(..) | Event::SteerFacing(..) => {
                self.now.steering = event.steering().unwrap_or(self.now.steering);
            }
            Event::Push(frame, body, impulse, point) => {
                let (impulse_ns, point_local) = (Vec3::from(impulse), Vec3::from(point));
                let impulse_per_frame_ns = impulse_ns / PUSH_FRAMES as f32;
                let frames_left = PUSH_FRAMES;
                self.now.pushes.push(ActivePush { body, impulse_per_frame_ns, point_local, frames_left });
                let at = self.world_point(body, point_local).unwrap_or(point_local);
                self.recording.push_began(frame, body, impulse_ns, at);
            }
            Event::Assist(_, scale) => {
                self.now.assist = scale;
                self.generator.set_assist_scale(scale);
            }
            Event::Denoise(_, steps) => self.take_steps(steps)?,
            Event::Style(_, style, weight) => {
                let name = &self.offered_styles()[style];
                self.take_style(with_weight(self.now.style.clone(), name, weight))?;
            }
            Event::Throw(_, side_m, mass_kg, position, velocity) => {
                self.generator.throw(&cube(side_m, mass_kg, position.into(), velocity.into()))?;
            }
            Event::Bump(_, x, z, radius_m, height_m) => {
                self.fresh_bumps.push(Bump { x, z, radius_m, height_m });
            }
        }
        Ok(())
    }

    fn take_steps(&mut self, steps: usize) -> Result<(), StudioError> {
        let sampler = pomp_kinematic::SamplerConfig { steps, ..self.config.sampler };
        self.generator.set_sampler(&self.model, &sampler)?;
        self.now.denoising_steps = steps;
        Ok(())
    }

    fn take_style(&mut self, style: BTreeMap<String, f32>) -> Result<(), StudioError> {
        if style != self.now.style {
            self.generator.set_style(&self.model, &style)?;
            self.now.style = style;
        }
        Ok(())
    }

    /// A point of a body in the world, once there is a frame.
    fn world_point(&self, body: usize, point_local: Vec3) -> Option<Vec3> {
        let pose = self.recording.last_pose()?;
        Some(pose.positions[body] + pose.rotations[body] * point_local)
    }

    fn simulate(&mut self) -> Result<(), StudioError> {
        let pushes: Vec<Push> = self
            .now
            .pushes
            .iter()
            .map(|push| Push {
                body: push.body,
                impulse_ns: push.impulse_per_frame_ns,
                point: self.world_point(push.body, push.point_local),
            })
            .collect();
        let began = Instant::now();
        let step = self.generator.step_steered(&mut self.now.control, self.now.steering, &pushes)?;
        let step_ms = began.elapsed().as_secs_f32() * 1e3;
        for push in &mut self.now.pushes {
            push.frames_left -= 1;
        }
        self.now.pushes.retain(|push| push.frames_left > 0);
        self.recording.push(step.output.clone(), step_ms * 1e3);
        self.last = Some(Shown {
            boxes: self.generator.boxes(),
            center_of_mass: self.generator.center_of_mass(),
            gates: self.generator.expert_gates().to_vec(),
            path: self.generator.predicted_path().expect("a frame that is done has a prediction"),
            step,
            step_ms,
        });
        Ok(())
    }

    fn keep(&mut self) {
        self.snapshots.push_back(Kept { generator: self.generator.save(), now: self.now.clone() });
        let reach = (self.limits.rewind_s * FRAME_RATE_HZ) as u32 + SNAPSHOT_FRAMES;
        let oldest = self.frame().saturating_sub(reach);
        while self.snapshots.front().is_some_and(|kept| (kept.generator.frames() as u32) < oldest) {
            self.snapshots.pop_front();
        }
    }

    /// Goes `seconds` back, or as far as it can; what happened since is forgotten.
    ///
    /// # Errors
    /// A time that is not a positive number. What the loop refuses.
    pub fn rewind(&mut self, seconds: f32) -> Result<(), StudioError> {
        if !(seconds > 0.0 && seconds.is_finite()) {
            let (value, range) = (seconds.to_string(), "above 0".to_owned());
            return Err(StudioError::BadScene { field: "seconds", value, range });
        }
        let back = (seconds.min(self.can_rewind_s()) * FRAME_RATE_HZ).round() as u32;
        // The first frame is kept, so that there is something to show.
        let target = (self.frame() - back).max(1);
        let before = |kept: &Kept| (kept.generator.frames() as u32) < target;
        let Some(at) = self.snapshots.iter().rposition(before) else { return Ok(()) };
        self.snapshots.truncate(at + 1);
        let kept = self.snapshots[at].clone();
        let bumps = self.now.bumps;
        let from = kept.generator.frames() as u32;
        self.generator.restore(&kept.generator)?;
        self.take_steps(kept.now.denoising_steps)?;
        self.take_style(kept.now.style.clone())?;
        self.now = kept.now;
        self.recording.truncate(from);
        self.replay.clear();
        self.log.retain(|event| event.frame() < target);
        let again: Vec<Event> = self.log.iter().filter(|event| event.frame() >= from).copied().collect();
        while self.frame() < target {
            let frame = self.frame();
            for event in again.iter().filter(|event| event.frame() == frame) {
                self.apply(*event)?;
            }
            self.press_bumps()?;
            self.simulate()?;
        }
        let grid = self.generator.terrain().grid();
        let whole = Patch { rows: 0..grid.heights.frames(), columns: 0..grid.heights.columns() };
        self.changed = (self.now.bumps != bumps).then_some(whole);
        self.asked = self.now.steering;
        self.asked_pushes.clear();
        self.asked_throws.clear();
        self.asked_bumps.clear();
        self.asked_styles.clear();
        (self.asked_assist, self.asked_steps) = (None, None);
        Ok(())
    }

    /// The scene with all that happened in it so far; `None` when too much happened for a link.
    pub fn scene_with_events(&self) -> Option<SceneRequest> {
        self.log_is_whole.then(|| SceneRequest { events: self.log.clone(), ..self.scene.clone() })
    }

    /// All that is recorded, with what makes it again ([`super::replay`]).
    ///
    /// # Errors
    /// [`StudioError::NothingRecorded`] before the first frame.
    pub fn recording(&self) -> Result<Recording, StudioError> {
        let description = &self.model.description;
        let source = format!(
            "pomp {} studio; {}; model {} trained on data {}",
            env!("CARGO_PKG_VERSION"),
            self.scene,
            description.config_name,
            description.data_hash
        );
        let recording = self.recording.to_recording(&self.generator, source)?;
        Ok(Recording {
            recipe: recipe_of(self, recording.frames()),
            config_hash: self.scene.generator_config(&self.config).hash(),
            ..recording
        })
    }

    /// The last frame as the page is told of it, apart from what only its clock knows (epoch, sequence, pause). `None` before
    /// the first frame.
    pub fn frame_message(&self) -> Option<FrameMessage> {
        let shown = self.last.as_ref()?;
        let SteeredStep { output, plan } = &shown.step;
        let (gates, path) = (&shown.gates, &shown.path);
        Some(FrameMessage {
            frame: self.frame(),
            step_ms: shown.step_ms,
            replaying: self.is_replaying(),
            ..FrameMessage::of_step(output, plan, shown.center_of_mass, gates, path, &shown.boxes)
        })
    }
}

use super::Shared;
use super::outbox::{CloseAtEnd, Outbox};
use crate::StudioError;
use crate::protocol::{
    Command, FrameFlags, FrameHeader, FromPage, KIND_LINK, KIND_SCENE, KIND_STATE, Level, json_message,
    notice_message, patch_message, terrain_message,
};
use crate::skeleton_json::{joints_json, shapes_json};
use crate::world::{SceneRequest, World, WorldLimits, offered_gaits};
use pomp_generator::FRAME_RATE_HZ;
use pomp_motion::features::FUTURE_KEYS;
use pomp_motion::{Gait, Recording};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::time::{Duration, Instant};

/// Requests that may wait for a world.
const WAITING_REQUESTS: usize = 256;
/// Frames of delay that a world tries to make up for; beyond these it goes on from now, more slowly than real time.
const MOST_LATE_FRAMES: u32 = 3;
/// How often the state is told while nothing changes.
const STATE_EVERY: Duration = Duration::from_millis(500);

/// Something for a world's thread.
enum Request {
    Page(FromPage),
    Record(SyncSender<Result<Recording, StudioError>>),
    Scene(SyncSender<Option<(SceneRequest, u32)>>),
}

/// A world on its thread; the thread ends when every handle is gone.
#[derive(Clone)]
pub(super) struct WorldHandle {
    requests: SyncSender<Request>,
}

impl WorldHandle {
    /// Hands on what the page said. `false` when the page says more than the world can hear.
    pub fn tell(&self, message: FromPage) -> bool {
        let is_steering = matches!(message, FromPage::Steer { .. });
        match self.requests.try_send(Request::Page(message)) {
            Ok(()) => true,
            // The next steering says the same and more.
            Err(TrySendError::Full(_)) => is_steering,
            Err(TrySendError::Disconnected(_)) => false,
        }
    }

    /// What the world has recorded.
    pub fn recording(&self) -> Result<Recording, StudioError> {
        let (sender, answer) = sync_channel(1);
        if self.requests.try_send(Request::Record(sender)).is_err() {
            return Err(StudioError::NothingRecorded);
        }
        answer.recv().unwrap_or(Err(StudioError::NothingRecorded))
    }

    /// The scene with all that was done in it, and how many frames it has lasted.
    pub fn scene(&self) -> Result<(SceneRequest, u32), StudioError> {
        let (sender, answer) = sync_channel(1);
        if self.requests.try_send(Request::Scene(sender)).is_err() {
            return Err(StudioError::NothingRecorded);
        }
        let told = answer.recv().map_err(|_| StudioError::NothingRecorded)?;
        told.ok_or(StudioError::TooMuchHappened)
    }
}

/// Starts a world for a page that is told by `outbox` and named `name`.
pub(super) fn start(
    shared: Arc<Shared>,
    name: String,
    outbox: Arc<Outbox>,
) -> Result<WorldHandle, StudioError> {
    let (requests, waiting) = sync_channel(WAITING_REQUESTS);
    std::thread::Builder::new()
        .name("world".to_owned())
        .spawn(move || {
            let _closing = CloseAtEnd(Arc::clone(&outbox));
            let _obituary = Obituary(Arc::clone(&outbox));
            run(&shared, &name, &outbox, &waiting);
        })
        .map_err(|source| StudioError::System { action: "starting a world's thread", source })?;
    Ok(WorldHandle { requests })
}

/// Tells the page of a world that has ended by a fault.
struct Obituary(Arc<Outbox>);

impl Drop for Obituary {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let text = "The simulation has stopped by a fault of the program. Reload the page to begin anew.";
            self.0.message(notice_message(Level::Error, text));
        }
    }
}

fn run(shared: &Shared, name: &str, outbox: &Outbox, requests: &Receiver<Request>) {
    let first = shared.model(None).and_then(|model| {
        let scene = SceneRequest::first(&model, &shared.generator, &shared.terrain, shared.seed);
        World::new(model, &shared.generator, scene, limits(shared))
    });
    let world = match first {
        Ok(world) => world,
        Err(error) => {
            outbox.message(notice_message(Level::Error, &format!("The world cannot begin: {error}")));
            return;
        }
    };
    let mut clock = Clock {
        world,
        outbox,
        shared,
        name,
        paused: false,
        stopped: false,
        pace: 1.0,
        epoch: 0,
        sequence: 0,
        next: Instant::now(),
        told: Instant::now(),
    };
    clock.begin_scene();
    while clock.turn(requests) {}
}

fn limits(shared: &Shared) -> WorldLimits {
    WorldLimits { recording_s: shared.config.recording_s, rewind_s: shared.config.rewind_s }
}

/// Moves a world on in real time.
struct Clock<'a> {
    world: World,
    outbox: &'a Outbox,
    shared: &'a Shared,
    name: &'a str,
    paused: bool,
    /// Something failed; only a new scene goes on.
    stopped: bool,
    pace: f32,
    epoch: u32,
    sequence: u32,
    next: Instant,
    told: Instant,
}

impl Clock<'_> {
    /// Waits for the next frame or request. `false` when the page has gone.
    fn turn(&mut self, requests: &Receiver<Request>) -> bool {
        let standing = self.paused || self.stopped;
        let now = Instant::now();
        let wait = if standing { STATE_EVERY } else { self.next.saturating_duration_since(now) };
        match requests.recv_timeout(wait) {
            Ok(Request::Page(message)) => self.hear(message),
            Ok(Request::Record(answer)) => {
                // Nobody waits for it any more when this fails.
                let _gone = answer.send(self.world.recording());
            }
            Ok(Request::Scene(answer)) => {
                let scene = self.world.scene_with_events();
                let _gone = answer.send(scene.map(|scene| (scene, self.world.frame())));
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return false,
        }
        let now = Instant::now();
        if !(self.paused || self.stopped) && now >= self.next {
            self.step();
            let period = Duration::from_secs_f32(1.0 / (FRAME_RATE_HZ * self.pace));
            self.next += period;
            if self.next + period * MOST_LATE_FRAMES < now {
                self.next = now;
            }
        }
        if self.told.elapsed() > STATE_EVERY {
            self.tell_state();
        }
        true
    }

    fn step(&mut self) {
        let was_replaying = self.world.is_replaying();
        if let Err(error) = self.world.step() {
            self.stopped = true;
            let text = format!("The simulation has stopped: {error}. Reset to go on.");
            self.outbox.message(notice_message(Level::Error, &text));
            self.tell_state();
            return;
        }
        for text in self.world.take_refusals() {
            self.outbox.message(notice_message(Level::Warning, &format!("Not thrown: {text}.")));
        }
        self.tell_ground();
        self.show();
        if was_replaying && !self.world.is_replaying() {
            self.tell_state();
        }
    }

    fn show(&self) {
        let flags = FrameFlags { paused: self.paused, ..FrameFlags::default() };
        let header =
            FrameHeader { flags, epoch: self.epoch, input_sequence: self.sequence, ..FrameHeader::default() };
        if let Some(bytes) = self.world.frame_message(header) {
            self.outbox.frame(bytes);
        }
    }

    fn hear(&mut self, message: FromPage) {
        let done = match message {
            FromPage::Steer { sequence, steering } => {
                self.sequence = sequence;
                self.world.steer(steering)
            }
            FromPage::Push(push) => self.world.push(push),
            FromPage::Throw(throw) => self.world.throw(throw),
            FromPage::Bump(bump) => self.world.bump(bump),
            FromPage::Command(command) => self.obey(command),
        };
        if let Err(error) = done {
            self.outbox.message(notice_message(Level::Warning, &format!("Not done: {error}.")));
        }
    }

    fn obey(&mut self, command: Command) -> Result<(), StudioError> {
        match command {
            Command::Reset { scene } => {
                self.world = match scene {
                    None => self.world.begin_again()?,
                    Some(scene) => {
                        let model = self.shared.model(scene.model.as_deref())?;
                        World::new(model, &self.shared.generator, scene, limits(self.shared))?
                    }
                };
                self.stopped = false;
                self.paused = false;
                self.epoch += 1;
                self.next = Instant::now();
                self.begin_scene();
            }
            Command::Pause {} => self.paused = true,
            Command::Resume {} => {
                self.paused = false;
                self.next = Instant::now();
            }
            Command::Step {} => {
                self.paused = true;
                if !self.stopped {
                    self.step();
                }
            }
            Command::Pace { factor } => {
                if !(0.05..=1.0).contains(&factor) {
                    let (value, range) = (factor.to_string(), "0.05 to 1".to_owned());
                    return Err(StudioError::BadScene { field: "pace", value, range });
                }
                self.pace = factor;
                self.next = Instant::now();
            }
            Command::Rewind { seconds } => {
                self.paused = true;
                self.world.rewind(seconds)?;
                self.stopped = false;
                self.tell_ground();
                self.show();
            }
            Command::Assist { scale } => self.world.set_assist(scale)?,
            Command::Denoise { steps } => self.world.set_denoising_steps(steps)?,
            Command::Link {} => match self.world.scene_with_events() {
                Some(scene) => self.outbox.message(json_message(KIND_LINK, &json!({ "scene": scene }))),
                None => {
                    let text = "Too much has happened in this scene for a link: reset, and keep it shorter.";
                    self.outbox.message(notice_message(Level::Warning, text));
                }
            },
        }
        self.tell_state();
        Ok(())
    }

    /// Shows what of the ground has changed.
    fn tell_ground(&mut self) {
        if let Some(patch) = self.world.take_changed_ground() {
            let grid = self.world.generator().terrain().grid();
            self.outbox.message(patch_message(self.epoch, grid, &patch));
        }
    }

    fn begin_scene(&mut self) {
        self.outbox.message(json_message(KIND_SCENE, &self.scene()));
        self.outbox.message(terrain_message(self.epoch, self.world.generator().terrain().grid()));
        self.tell_state();
    }

    fn tell_state(&mut self) {
        self.told = Instant::now();
        let state = json!({
            "epoch": self.epoch,
            "paused": self.paused,
            "stopped": self.stopped,
            "pace": self.pace,
            "assist": self.world.assist(),
            "denoising_steps": self.world.denoising_steps(),
            "replaying": self.world.is_replaying(),
            "recorded_s": self.world.recorded_s(),
            "can_rewind_s": self.world.can_rewind_s(),
            "dropped_frames": self.outbox.dropped(),
        });
        self.outbox.message(json_message(KIND_STATE, &state));
    }

    /// All that the page has to know before the first frame.
    fn scene(&self) -> Value {
        let (world, config) = (&self.world, &self.shared.config);
        let (generator, description) = (world.generator(), &world.model().description);
        let skeleton = generator.skeleton();
        let kinematic = description.kinematic.as_ref();
        let mass_kg: f32 = generator.body_masses().iter().sum();
        json!({
            "protocol": 1,
            "version": env!("CARGO_PKG_VERSION"),
            "epoch": self.epoch,
            "world": self.name,
            "model": { "name": description.config_name, "data_hash": description.data_hash },
            "models": self.shared.models.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
            "frame_rate_hz": FRAME_RATE_HZ,
            "joints": joints_json(skeleton),
            "shapes": shapes_json(skeleton),
            "bodies": generator.body_names(),
            "body_mass_kg": generator.body_masses(),
            "weight_n": mass_kg * self.shared.generator.dynamic.gravity_m_s2,
            "standing_height_m": generator.standing_height_m(),
            "gait_names": Gait::ALL.map(Gait::name),
            "gaits": offered_gaits(world.model()),
            "phase_channels": description.layout.channels(),
            "experts": generator.expert_gates().len(),
            "path_keys": FUTURE_KEYS,
            "terrains": pomp_terrain::PRESET_NAMES,
            "most_denoising_steps": kinematic.map_or(1, |kinematic| kinematic.config.diffusion_steps),
            "rewind_s": config.rewind_s,
            "recording_s": config.recording_s,
            "max_upload_mb": config.max_upload_mb,
            "scene": world.scene(),
        })
    }
}

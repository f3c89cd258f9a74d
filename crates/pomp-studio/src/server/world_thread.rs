use super::outbox::{CloseAtEnd, Outbox};
use super::{Leader, Shared};
use crate::StudioError;
use crate::protocol::{
    FromPage, Ground, Level, ModelInfo, SceneInfo, TerrainPatch, ToPage, WorldState, joints, shapes,
};
use crate::world::{SceneRequest, World, WorldLimits, offered_controllers, offered_gaits};
use pomp_generator::{FRAME_RATE_HZ, Steering};
use pomp_motion::features::FUTURE_KEYS;
use pomp_motion::{Gait, Recording};
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
            self.0.message(ToPage::notice(Level::Error, text).to_bytes());
        }
    }
}

fn run(shared: &Shared, name: &str, outbox: &Outbox, requests: &Receiver<Request>) {
    let first = shared.model(None).and_then(|leader| {
        let Leader { model, generator, .. } = leader;
        let scene = SceneRequest::first(model, generator, &shared.terrain, shared.seed);
        World::new(Arc::clone(model), generator, scene, limits(shared))
    });
    let world = match first {
        Ok(world) => world,
        Err(error) => {
            let text = format!("The world cannot begin: {error}");
            outbox.message(ToPage::notice(Level::Error, text).to_bytes());
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
            self.notice(Level::Error, text);
            self.tell_state();
            return;
        }
        for text in self.world.take_refusals() {
            self.notice(Level::Warning, format!("Not thrown: {text}."));
        }
        self.tell_ground();
        self.show();
        if was_replaying && !self.world.is_replaying() {
            self.tell_state();
        }
    }

    fn show(&self) {
        if let Some(mut frame) = self.world.frame_message() {
            (frame.epoch, frame.input_sequence, frame.paused) = (self.epoch, self.sequence, self.paused);
            self.outbox.frame(ToPage::Frame(Box::new(frame)).to_bytes());
        }
    }

    fn tell(&self, message: &ToPage) {
        self.outbox.message(message.to_bytes());
    }

    fn notice(&self, level: Level, text: impl Into<String>) {
        self.tell(&ToPage::notice(level, text));
    }

    fn hear(&mut self, message: FromPage) {
        if let Err(error) = self.obey(message) {
            self.notice(Level::Warning, format!("Not done: {error}."));
        }
    }

    fn obey(&mut self, message: FromPage) -> Result<(), StudioError> {
        match message {
            // The next frame shows what these do.
            FromPage::Steer { sequence, direction, gait, facing } => {
                self.sequence = sequence;
                return self.world.steer(Steering { direction, gait, facing });
            }
            FromPage::Push(push) => return self.world.push(push),
            FromPage::Throw(throw) => return self.world.throw(throw),
            FromPage::Bump(bump) => return self.world.bump(bump),
            FromPage::Reset { scene } => {
                self.world = match scene {
                    None => self.world.begin_again()?,
                    Some(scene) => {
                        let before = self.shared.model(self.world.scene().model.as_deref())?;
                        let Leader { model, generator, .. } = self.shared.model(scene.model.as_deref())?;
                        let scene = scene.led_by(&before.generator, generator);
                        World::new(Arc::clone(model), generator, scene, limits(self.shared))?
                    }
                };
                self.stopped = false;
                self.paused = false;
                self.epoch += 1;
                self.next = Instant::now();
                self.begin_scene();
            }
            FromPage::Pause {} => self.paused = true,
            FromPage::Resume {} => {
                self.paused = false;
                self.next = Instant::now();
            }
            FromPage::Step {} => {
                self.paused = true;
                if !self.stopped {
                    self.step();
                }
            }
            FromPage::Pace { factor } => {
                if !(0.05..=1.0).contains(&factor) {
                    let (value, range) = (factor.to_string(), "0.05 to 1".to_owned());
                    return Err(StudioError::BadScene { field: "pace", value, range });
                }
                self.pace = factor;
                self.next = Instant::now();
            }
            FromPage::Rewind { seconds } => {
                self.paused = true;
                self.world.rewind(seconds)?;
                self.stopped = false;
                self.tell_ground();
                self.show();
            }
            FromPage::Assist { scale } => self.world.set_assist(scale)?,
            FromPage::Denoise { steps } => self.world.set_denoising_steps(steps)?,
            FromPage::Style { style, weight } => self.world.set_style(style, weight)?,
            FromPage::Link {} => match self.world.scene_with_events() {
                Some(scene) => self.tell(&ToPage::Link { scene }),
                None => {
                    let text = "Too much has happened in this scene for a link: reset, and keep it shorter.";
                    self.notice(Level::Warning, text);
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
            self.tell(&ToPage::Patch(TerrainPatch::of(self.epoch, grid, &patch)));
        }
    }

    fn begin_scene(&mut self) {
        self.tell(&ToPage::Scene(Box::new(self.scene())));
        let terrain = Ground::of(self.world.generator().terrain().grid());
        self.tell(&ToPage::Terrain { epoch: self.epoch, terrain });
        self.tell_state();
    }

    fn tell_state(&mut self) {
        self.told = Instant::now();
        self.tell(&ToPage::State(WorldState {
            epoch: self.epoch,
            paused: self.paused,
            stopped: self.stopped,
            pace: self.pace,
            assist: self.world.assist(),
            denoising_steps: self.world.denoising_steps(),
            style_weights: self.world.style_weights(),
            replaying: self.world.is_replaying(),
            recorded_s: self.world.recorded_s(),
            can_rewind_s: self.world.can_rewind_s(),
            dropped_frames: self.outbox.dropped(),
        }));
    }

    fn scene(&self) -> SceneInfo {
        let (world, config) = (&self.world, &self.shared.config);
        let (generator, description) = (world.generator(), &world.model().description);
        let skeleton = generator.skeleton();
        let kinematic = description.kinematic.as_ref();
        let mass_kg: f32 = generator.body_masses().iter().sum();
        SceneInfo {
            version: env!("CARGO_PKG_VERSION"),
            epoch: self.epoch,
            world: self.name.to_owned(),
            model: ModelInfo {
                name: description.config_name.clone(),
                data_hash: description.data_hash.clone(),
            },
            models: self.shared.models.iter().map(|leader| leader.name.clone()).collect(),
            controller: world.controller().name(),
            controllers: self
                .shared
                .models
                .iter()
                .map(|leader| offered_controllers(&leader.model).iter().map(|kind| kind.name()).collect())
                .collect(),
            frame_rate_hz: FRAME_RATE_HZ,
            joints: joints(skeleton),
            shapes: shapes(skeleton),
            bodies: generator.body_names().to_vec(),
            body_mass_kg: generator.body_masses().to_vec(),
            weight_n: mass_kg * world.config.dynamic.gravity_m_s2,
            standing_height_m: generator.standing_height_m(),
            gait_names: Gait::ALL.map(Gait::name).to_vec(),
            gaits: offered_gaits(world.model()),
            phase_channels: description.layout.channels(),
            experts: generator.expert_gates().len(),
            path_keys: FUTURE_KEYS,
            terrains: pomp_terrain::PRESET_NAMES.to_vec(),
            most_denoising_steps: kinematic.map_or(1, |kinematic| kinematic.config.diffusion_steps),
            styles: world.offered_styles(),
            rewind_s: config.rewind_s,
            recording_s: config.recording_s,
            max_upload_mb: config.max_upload_mb,
            scene: world.scene().clone(),
        }
    }
}

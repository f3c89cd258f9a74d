//! One frame of the loop (docs/method.md §1): kinematic module, dynamic module, phase encoding module.

mod live;
mod regain;
mod snapshot;

pub use live::SteeredStep;
pub use snapshot::GeneratorSnapshot;

use crate::character::Character;
use crate::control::{ControlCursor, ControlPlan, ControlSample, Rejoin};
use crate::gait_cycle::{CycleKeeper, GaitCycles};
use crate::phase_feedback::PhaseReader;
use crate::start::read_start;
use crate::stature::Stature;
use crate::stride_memory::StrideMemory;
use crate::trajectory::{Blend, History, ground_position, window_keys};
use crate::upright::share_of_upright;
use crate::{Dynamics, GeneratorConfig, GeneratorError, GroundMotion, PhaseFeedback, Role};
use glam::{Vec2, Vec3};
use pomp_kinematic::{CoherentNoise, KinematicInference, ReverseProcess};
use pomp_model::{KinematicDescription, Model};
use pomp_motion::features::{FeatureLayout, InputFrame, KEYS, OutputFrame, PAST_KEYS, Rotations, WindowKey};
use pomp_motion::{Gait, GlobalPose, RootFrame, Skeleton};
use pomp_physics::{DynamicModule, FallDetector, Fallen, Frame, Leader, Push, Recovery};
use pomp_terrain::HeightMap;

/// Frame rate of the loop, Hz: that of keys and windows.
pub const FRAME_RATE_HZ: f32 = 60.0;
const FRAME_S: f32 = 1.0 / FRAME_RATE_HZ;

/// What one frame of the loop gave.
#[derive(Clone, Debug)]
pub struct StepOutput {
    /// What the simulator made of the target.
    pub simulated: Frame,
    /// The target that the kinematic module set.
    pub target: GlobalPose,
    /// Gait weights that it predicted; `lie` and `get_up` after a fall.
    pub gait: [f32; Gait::COUNT],
    /// Phase code of the frame, 2C.
    pub phase_code: Vec<f32>,
    /// What was asked for.
    pub control: ControlSample,
    /// Whether the character has fallen: it lies or is getting up, and follows no command.
    pub fallen: bool,
}

/// A character in a world, moved one frame at a time.
pub struct Generator {
    config: GeneratorConfig,
    character: Character,
    layout: FeatureLayout,
    description: KinematicDescription,
    stature: Stature,
    inference: KinematicInference,
    phase_reader: PhaseReader,
    falls: FallDetector,
    noise: CoherentNoise,
    weight_impulse_ns: f32,

    history: History,
    future_codes: Vec<f32>,
    cycles: GaitCycles,
    cycle_keeper: CycleKeeper,
    stride_memory: StrideMemory,
    contact_impulse: Vec<Vec3>,
    prediction: Option<OutputFrame>,
    cursor: ControlCursor,
    down_frames: usize,
    recovery: Recovery,
    /// Leads back to the plan after getting up.
    rejoin: Option<Rejoin>,
    /// Share of the root assist that the user leaves.
    assist_share: f32,
    frame: usize,
    x: Vec<f32>,
    normalised_x: Vec<f32>,
    y: Vec<f32>,
}

impl Generator {
    /// A character at the origin of `terrain`, facing +Z, in the model's start `gait`.
    ///
    /// # Errors
    /// A model without its parts or of another skeleton, a setting outside its range, or a terrain that the
    /// simulator refuses.
    pub fn new(
        model: &Model,
        terrain: HeightMap,
        config: &GeneratorConfig,
        start: Gait,
        seed: u64,
    ) -> Result<Self, GeneratorError> {
        let role = Role { settings: config.clone(), start, seed, position: Vec2::ZERO, yaw: 0.0 };
        Self::with_body(model, terrain, &role, None)
    }

    /// A character as `role` says, with a `body` that is there already or one of its own.
    pub(crate) fn with_body(
        model: &Model,
        terrain: HeightMap,
        role: &Role,
        body: Option<DynamicModule>,
    ) -> Result<Self, GeneratorError> {
        let Role { settings: config, start, seed, position, yaw } = role;
        config.validate()?;
        let (network, gamma, kinematic) = model.kinematic()?;
        let description = &model.description;
        let layout = description.layout.clone();
        if layout.rotations() == Rotations::None {
            return Err(GeneratorError::BadModel {
                reason: "it predicts no joint rotations (rotations = \"none\"), which the drives of the ragdoll follow; \
                         train it with rotations = \"six_d\""
                    .to_owned(),
            });
        }
        let process = ReverseProcess::new(network.schedule(), layout.y_len(), &config.sampler, Some(gamma))?;
        let inference = KinematicInference::new(network, process)?;
        let x = kinematic.starts.get(start.name()).ok_or_else(|| GeneratorError::BadModel {
            reason: format!(
                "it has no start for the gait \"{}\"; it starts with {}: choose a command that begins so, or train \
                 on clips of that gait",
                start.name(),
                kinematic.starts.keys().map(String::as_str).collect::<Vec<_>>().join(", ")
            ),
        })?;
        let ground = terrain.smoothed_height(position.x, position.y);
        let origin = RootFrame { origin: Vec3::new(position.x, ground, position.y), yaw: *yaw };
        let start = read_start(&layout, x, origin);
        let stature = Stature::of(config, &description.skeleton)?;
        let skeleton = stature.skeleton(&description.skeleton);
        let phase_reader = PhaseReader::new(model, config.phase_feedback, &start.state)?;
        let start = stature.start(start);
        let character = match body {
            Some(body) => Character::with_body(&skeleton, terrain, config, start.state, body),
            None => Character::new(&skeleton, terrain, config, start.state)?,
        };
        if character.body().body_names() != description.body_names {
            return Err(GeneratorError::BadModel {
                reason: "it was trained with other bodies than this version simulates; train it again"
                    .to_owned(),
            });
        }
        let cycles = GaitCycles::of_starts(&layout, &kinematic.starts, FRAME_S);
        let mass_kg: f32 = character.body().body_masses().iter().sum();
        let weight_impulse_ns = mass_kg * config.dynamic.gravity_m_s2 * FRAME_S;
        Ok(Self {
            weight_impulse_ns,
            description: kinematic.clone(),
            falls: FallDetector::new(&skeleton, config.fall_height, config.fall_tilt_deg),
            stature,
            config: config.clone(),
            contact_impulse: start.contact_force_bw.iter().map(|force| *force * weight_impulse_ns).collect(),
            x: vec![0.0; layout.x_len()],
            normalised_x: vec![0.0; layout.x_len()],
            y: vec![0.0; layout.y_len()],
            layout,
            phase_reader,
            noise: CoherentNoise::new(*seed, inference.draws(), FRAME_S, config.noise_memory_s),
            inference,
            history: History::new(start.history),
            future_codes: start.future_phase_codes,
            cycles,
            cycle_keeper: CycleKeeper::default(),
            stride_memory: StrideMemory::new(character.body().body_height_m()),
            prediction: None,
            cursor: ControlCursor::default(),
            down_frames: 0,
            recovery: Recovery::new(
                config.get_up,
                character.body().body_height_m(),
                config.fallen_strength,
                FRAME_S,
            ),
            character,
            rejoin: None,
            assist_share: 1.0,
            frame: 0,
        })
    }

    /// The character, to be moved with others.
    pub(crate) fn character_mut(&mut self) -> &mut Character {
        &mut self.character
    }

    /// Names of the bodies, in the order of contact impulses and pushes.
    pub fn body_names(&self) -> &[String] {
        self.character.body().body_names()
    }

    /// Masses of the bodies, kg.
    pub fn body_masses(&self) -> &[f32] {
        self.character.body().body_masses()
    }

    /// The skeleton that moves.
    pub fn skeleton(&self) -> &Skeleton {
        self.character.skeleton()
    }

    /// The ground.
    pub fn terrain(&self) -> &HeightMap {
        self.character.terrain()
    }

    /// What moves the body.
    pub fn dynamics(&self) -> Dynamics {
        self.config.dynamics
    }

    /// How the ground moves under it.
    pub fn ground_motion(&self) -> &GroundMotion {
        &self.config.ground_motion
    }

    /// Frames done.
    pub fn frames(&self) -> usize {
        self.frame
    }

    /// Moves on by one frame along `plan`, with `pushes` during it.
    ///
    /// # Errors
    /// A push that is refused, or a network whose output is not finite.
    pub fn step(&mut self, plan: &ControlPlan, pushes: &[Push]) -> Result<StepOutput, GeneratorError> {
        let control = self.lead(plan)?;
        let simulated = self.character.simulate(pushes, self.frame)?;
        self.follow(plan, control, simulated, !pushes.is_empty())
    }

    /// The part of a frame before it is simulated: the next target. Returns what was asked for.
    pub(crate) fn lead(&mut self, plan: &ControlPlan) -> Result<ControlSample, GeneratorError> {
        let control = plan.at(self.cursor.frame());
        self.character.accelerate_ground(self.config.ground_motion.acceleration_m_s2(self.frame))?;
        match self.who_leads() {
            Leader::Module => {
                self.set_target(plan)?;
                self.pass_over();
            }
            Leader::ModuleAnew { stance, target } => {
                self.character.lead(target);
                self.character.hand_back(stance);
                self.begin_anew(stance, plan);
                self.set_target(plan)?;
            }
            Leader::Recovery { from, to } => {
                if let Some(from) = from {
                    self.character.place_target(from);
                }
                self.character.lead(to);
            }
        }
        if let Some((stood, share)) = self.recovery.fade() {
            self.character.mix_target(stood, share);
        }
        self.character.set_help(self.recovery.help(), self.assist_share);
        Ok(control)
    }

    fn who_leads(&mut self) -> Leader {
        if !self.recovery.is_down() {
            return Leader::Module;
        }
        let character = &self.character;
        self.recovery.lead(&Fallen {
            skeleton: character.skeleton(),
            pose: &character.body().pose(),
            mean_joint_speed_m_s: character.mean_joint_speed_m_s(),
            target: character.target_pose(),
            terrain: character.terrain(),
            led_over: character.surface(),
        })
    }

    /// The part of a frame after it was `simulated`; `control` is what [`Self::lead`] gave, and `pushed` whether it was pushed.
    pub(crate) fn follow(
        &mut self,
        plan: &ControlPlan,
        control: ControlSample,
        simulated: Frame,
        pushed: bool,
    ) -> Result<StepOutput, GeneratorError> {
        self.take_over(&simulated, control.gait)?;
        self.cursor.advance(plan, ground_position(&self.character.state().frame), self.ease(plan));
        self.frame += 1;

        let down = self.falls.is_down(&simulated.pose, self.character.state().frame.origin.y);
        self.down_frames = if down { self.down_frames + 1 } else { 0 };
        // A blow that the simulator could not follow has felled it, in whatever pose it was caught.
        let struck = simulated.recovered.is_some() && pushed;
        let fell = !self.recovery.is_down() && self.down_frames as f32 * FRAME_S > self.config.fall_after_s;
        if struck || fell {
            self.recovery.fall(self.character.target_pose().clone());
            self.character.let_go();
        }
        let predicted = self.prediction.as_ref().map_or(self.history.at(0).key.gait, |output| output.gait);
        let gait = self.recovery.gait().map_or(predicted, Gait::one_hot);
        Ok(StepOutput {
            target: self.character.target(),
            simulated,
            gait,
            phase_code: self.history.at(0).phase_codes.clone(),
            control,
            fallen: self.recovery.is_down(),
        })
    }

    /// Share of the plan's pace that the ground ahead allows.
    fn ease(&self, plan: &ControlPlan) -> f32 {
        let now = plan.at(self.cursor.frame());
        self.character.ease(Vec2::from(now.yaw.sin_cos()))
    }

    /// The kinematic module: x from the simulated state, y sampled, the next target pose.
    fn set_target(&mut self, plan: &ControlPlan) -> Result<(), GeneratorError> {
        let (plan_frame, root) = (self.cursor.frame(), ground_position(&self.character.state().frame));
        let ease = self.ease(plan);
        let led = self.rejoin.as_mut().and_then(|rejoin| rejoin.plan(plan, plan_frame, root));
        if led.is_none() {
            self.rejoin = None;
        }
        let (plan, plan_frame) = led.as_ref().map_or((plan, plan_frame), |led| (led, 0.0));
        let blend =
            Blend { position_bias: self.config.position_bias, direction_bias: self.config.direction_bias };
        let keys = window_keys(
            &self.history,
            self.character.target_frame(),
            self.prediction.as_ref(),
            plan,
            plan_frame,
            ease,
            blend,
        );
        let keys = self.stature.keys_to_module(keys);
        let codes = self.window_codes();
        let state = self.stature.state_to_module(self.character.state());
        let input = InputFrame {
            state: &state,
            keys: &keys,
            phase_codes: &codes,
            contact_impulse: &self.contact_impulse,
            weight_impulse_ns: self.weight_impulse_ns,
        };
        let character = &self.character;
        let ground = |x, z| self.stature.ground_to_module(|x, z| character.shown_ground(x, z), x, z);
        self.layout.write_x(&input, ground, &mut self.x);
        self.normalised_x.copy_from_slice(&self.x);
        self.description.x.normalise(&mut self.normalised_x);
        self.inference.sample(&self.normalised_x, &mut self.y, &mut self.noise)?;
        self.description.output_to_y(&self.layout, &self.x, &mut self.y);
        if self.y.iter().any(|v| !v.is_finite()) {
            return Err(GeneratorError::NotFinite { frame: self.frame });
        }
        let output = self.stature.output_to_body(self.layout.read_y(&self.y));

        let (yaw, velocity) = (self.character.state().frame.yaw, self.character.state().root_velocity);
        let share = share_of_upright(self.config.stand_upright_s, plan, plan_frame, yaw, velocity);
        self.character.aim_upright(&output, share);
        self.prediction = Some(output);
        Ok(())
    }

    /// The kinematic module begins again, for a character that stands in `frame`. The past that it is given is that of a walk
    /// when `plan` moves: who is to walk and remembers standing whirls round.
    fn begin_anew(&mut self, frame: RootFrame, plan: &ControlPlan) {
        let now = plan.at(self.cursor.frame());
        let starts = &self.description.starts;
        let wanted =
            if now.gait == Gait::Stand { [Gait::Stand, Gait::Walk] } else { [Gait::Walk, Gait::Stand] };
        let start = wanted.iter().find_map(|gait| starts.get(gait.name())).or_else(|| starts.values().next());
        let start = start.expect("a generator is made from one of the model's starts");
        let start = read_start(&self.layout, start, frame);
        self.phase_reader.restart(&start.state);
        let start = self.stature.start(start);
        self.history = History::new(start.history);
        self.future_codes = start.future_phase_codes;
        self.prediction = None;
        let bounds = self.character.terrain().bounds();
        self.rejoin = Some(Rejoin::new(&frame, now.speed_mps, bounds, FRAME_RATE_HZ));
    }

    /// Takes the simulated state over into history, phases and the root that the next target starts from; the `wanted`
    /// gait says which cycle its phases are on.
    fn take_over(&mut self, simulated: &Frame, wanted: Gait) -> Result<(), GeneratorError> {
        let body = self.character.take_over(simulated);
        self.phase_reader.push(&self.stature.state_to_module(&body));
        self.contact_impulse.copy_from_slice(&simulated.contact_impulse);

        let frame = self.character.state().frame;
        let gait = self.prediction.as_ref().map_or(self.history.at(0).key.gait, |output| output.gait);
        let key = WindowKey { position: ground_position(&frame), yaw: frame.yaw, gait };
        let code = self.next_code(wanted)?;
        self.history.push(key, &code);
        self.regain_stride(&body);
        Ok(())
    }

    /// Phase codes of all keys: past from history, present and future from the last frame's update.
    fn window_codes(&self) -> Vec<f32> {
        let width = 2 * self.layout.channels();
        let mut codes = Vec::with_capacity(KEYS * width);
        for offset in &pomp_motion::features::KEY_OFFSETS[..=PAST_KEYS] {
            codes.extend_from_slice(&self.history.at(*offset).phase_codes);
        }
        codes.extend_from_slice(&self.future_codes[width..]);
        codes
    }

    /// The present's phase code by the configured feedback; future codes follow the prediction.
    fn next_code(&mut self, wanted: Gait) -> Result<Vec<f32>, GeneratorError> {
        let width = 2 * self.layout.channels();
        let old = &self.history.at(0).phase_codes;
        if self.config.phase_feedback == PhaseFeedback::Constant {
            return Ok(old.clone());
        }
        let Some(output) = &self.prediction else { return Ok(old.clone()) };
        self.future_codes.copy_from_slice(&output.phase_codes);
        let mut code = self.phase_reader.update(old, output)?;
        if self.recovery.is_down() {
            self.cycle_keeper.leave();
        } else {
            let (share, future) = (self.config.cycle_keeping, &mut self.future_codes);
            self.cycle_keeper.keep(&self.cycles, wanted, share, &mut code, future, FRAME_S);
        }
        self.future_codes[..width].copy_from_slice(&code);
        Ok(code)
    }

    /// See [`PhaseReader::differences_from_general`].
    #[cfg(test)]
    pub(crate) fn differences_from_general(
        &mut self,
        model: &Model,
    ) -> Result<Option<[f32; 2]>, GeneratorError> {
        self.phase_reader.differences_from_general(model)
    }

    /// Whether the character has fallen and does not stand again yet.
    pub fn has_fallen(&self) -> bool {
        self.recovery.is_down()
    }

    /// Pelvis height of standing, metres.
    pub fn standing_height_m(&self) -> f32 {
        self.falls.standing_height_m()
    }

    /// Root on the ground plane, world x and z.
    pub fn root_position(&self) -> Vec2 {
        ground_position(&self.character.state().frame)
    }
}

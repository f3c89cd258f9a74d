//! One frame of the loop (docs/method.md §1): window → kinematic module → target → dynamic module → phase encoding module →
//! history.
//!
//! This file is the paper's loop. What acts beside it are layers ([`crate::layers`]), called at the named points
//! `before_sample`, `on_target`, `after_simulation` and `reset`.

mod build;
mod get_up_planning;
mod live;
mod planning;
mod snapshot;
mod stage;
mod trials;

pub use live::SteeredStep;
pub use snapshot::GeneratorSnapshot;
pub use stage::Stage;

use crate::character::Character;
use crate::control::{ControlPlan, ControlSample};
use crate::kinematic_module::KinematicModule;
use crate::layers::Layers;
use crate::layers::standing_posture::silence;
use crate::loop_state::{Blend, LoopState, ground_position, window_keys};
use crate::networks::Networks;
use crate::phase_feedback::PhaseWindow;
use crate::start::read_start;
use crate::{GeneratorConfig, GeneratorError, PhaseFeedback, unhindered};
use glam::{Vec2, Vec3};
use pomp_lanes::Work;
use pomp_model::Model;
use pomp_motion::features::{CharacterState, InputFrame, OutputFrame, PhaseCode, WindowKey};
use pomp_motion::{Gait, GlobalPose, RootFrame};
use pomp_physics::{Frame, Leader, Push};
use std::collections::BTreeMap;

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
    pub phase_code: PhaseCode,
    /// What was asked for.
    pub control: ControlSample,
    /// Whether the character has fallen: it lies or is getting up, and follows no command.
    pub fallen: bool,
}

/// A character in a world, moved one frame at a time.
pub struct Generator {
    networks: Networks,
    inner: ClosedLoop,
}

/// The loop of one character without its networks, which may be those of many.
pub(crate) struct ClosedLoop {
    config: GeneratorConfig,
    /// What goes into the network and comes out.
    kinematic: KinematicModule,
    /// The dynamic module and its target.
    character: Character,
    phase_window: PhaseWindow,
    layers: Layers,
    state: LoopState,
    /// Weight times the duration of a frame, N·s.
    weight_impulse_ns: f32,
    under_way: UnderWay,
    /// What plans its balance, when something does.
    planner: Option<planning::Planner>,
    /// What plans how it gets up, when something does.
    get_up_planner: Option<get_up_planning::GetUpPlanner>,
}

/// What the stages of one frame hand on beside the character and the state.
#[derive(Default)]
struct UnderWay {
    /// What is asked for. Written and read by all stages.
    control: Option<ControlSample>,
    /// Whether a stride that was left gives way to the prediction. Written where the window is filled; read by the target.
    mixes_stride: bool,
    /// Share of the way to an upright posture. Written where the window is filled; read by the target.
    upright: f32,
    /// The simulated body as it would be on the shown ground. Written after the simulation; read by the history.
    body: Option<CharacterState>,
}

impl Generator {
    /// Moves on by one frame along `plan`, with `pushes` during it.
    ///
    /// # Errors
    /// A push that is refused, or a network whose output is not finite.
    pub fn step(&mut self, plan: &ControlPlan, pushes: &[Push]) -> Result<StepOutput, GeneratorError> {
        self.step_in_stages(plan, pushes, |_| {})
    }

    /// [`Self::step`], which calls `after` at the end of each stage: to see what a stage costs, with a clock of the caller.
    ///
    /// # Errors
    /// As [`Self::step`].
    pub fn step_in_stages(
        &mut self,
        plan: &ControlPlan,
        pushes: &[Push],
        mut after: impl FnMut(Stage),
    ) -> Result<StepOutput, GeneratorError> {
        let Self { networks, inner } = self;
        networks.begin();
        inner.fill_window(plan, networks)?;
        after(Stage::Window);
        networks.kinematic.run_in_parts(|part| after(part.into()));
        inner.set_target(networks)?;
        after(Stage::Target);
        let simulated = inner.simulate(pushes)?;
        after(Stage::Dynamics);
        inner.observe(&simulated, networks)?;
        after(Stage::Observation);
        networks.phase.decode();
        after(Stage::PhaseDecoder);
        inner.stitch(networks)?;
        networks.phase.encode();
        after(Stage::PhaseEncoder);
        let output = inner.take_over(plan, simulated, !pushes.is_empty(), networks);
        after(Stage::History);
        output
    }

    /// What the networks of the last frame cost, in the order of their stages; the denoising steps count together.
    pub fn work(&self) -> [(Stage, Work); 4] {
        let Networks { kinematic, phase, .. } = &self.networks;
        let [encoder, step] = kinematic.work();
        let [phase_decoder, phase_encoder] = phase.work();
        [
            (Stage::Encoder, encoder),
            (Stage::DenoisingStep, step * kinematic.steps() as u64),
            (Stage::PhaseDecoder, phase_decoder),
            (Stage::PhaseEncoder, phase_encoder),
        ]
    }

    /// Moves on by one frame along `plan`; gives the prediction, and the share of the way to an upright posture of its target.
    pub(crate) fn step_predicting(
        &mut self,
        plan: &ControlPlan,
    ) -> Result<(OutputFrame, f32), GeneratorError> {
        let Self { networks, inner } = self;
        inner.step_predicting(plan, networks)
    }

    /// Networks that share its weights, when they are those of `model` that `config` asks for.
    pub(crate) fn networks_for(&self, model: &Model, config: &GeneratorConfig) -> Option<Networks> {
        self.networks.check(model, config).is_ok().then(|| self.networks.clone())
    }

    /// The loop, to be run with others.
    pub(crate) fn inner_mut(&mut self) -> &mut ClosedLoop {
        &mut self.inner
    }

    /// The networks and the loop.
    pub(crate) fn parts_mut(&mut self) -> (&mut Networks, &mut ClosedLoop) {
        (&mut self.networks, &mut self.inner)
    }
}

/// The stages of a frame. Between them the networks run, for this character or for all whose stages go on together.
impl ClosedLoop {
    /// See [`Generator::step_predicting`].
    fn step_predicting(
        &mut self,
        plan: &ControlPlan,
        networks: &mut Networks,
    ) -> Result<(OutputFrame, f32), GeneratorError> {
        networks.begin();
        self.fill_window(plan, networks)?;
        networks.kinematic.run();
        self.set_target(networks)?;
        let (prediction, upright) = (self.state.prediction.clone(), self.under_way.upright);
        let simulated = self.simulate(&[])?;
        self.observe(&simulated, networks)?;
        networks.phase.decode();
        self.stitch(networks)?;
        networks.phase.encode();
        self.take_over(plan, simulated, false, networks)?;
        let frame = self.state.frame;
        Ok((prediction.ok_or(GeneratorError::NotFinite { frame })?, upright))
    }

    /// First stage: fills the window around the present, which the kinematic module samples next; a character that lies or gets
    /// up has a target at once.
    pub fn fill_window(&mut self, plan: &ControlPlan, networks: &mut Networks) -> Result<(), GeneratorError> {
        self.plan_balance(plan)?;
        self.plan_getting_up()?;
        self.under_way =
            UnderWay { control: Some(plan.at(self.state.cursor.frame())), ..UnderWay::default() };
        self.kinematic.begin();
        self.character.accelerate_ground(self.config.ground_motion.acceleration_m_s2(self.state.frame))?;
        match self.layers.fall_recovery.leader(&self.character) {
            Leader::Module => {
                self.under_way.mixes_stride = true;
                self.add_window(plan, networks)
            }
            Leader::ModuleAnew { stance, target } => {
                self.character.lead(target);
                self.character.hand_back(stance);
                self.restart(stance, plan);
                self.add_window(plan, networks)
            }
            Leader::Recovery { from, to } => {
                self.character.lead_from(from, to);
                Ok(())
            }
        }
    }

    fn add_window(&mut self, plan: &ControlPlan, networks: &mut Networks) -> Result<(), GeneratorError> {
        let command = self.layers.before_sample(plan, &self.state, &self.character, self.kinematic.pace());
        let stature = self.layers.stature;
        let blend =
            Blend { position_bias: self.config.position_bias, direction_bias: self.config.direction_bias };
        let keys = window_keys(&self.state, self.character.target_frame(), &command, blend);
        let goes_on = self.goes_on_from_prediction();
        if goes_on && self.state.shown.is_none() {
            self.state.shown = Some(self.character.state().clone());
        }
        let state = self.state.shown.as_ref().filter(|_| goes_on).unwrap_or_else(|| self.character.state());
        let input = InputFrame {
            state: &stature.state_to_module(state),
            keys: &stature.keys_to_module(keys),
            phase_codes: &self.state.window_codes(self.kinematic.code_width()),
            contact_impulse: &self.state.contact_impulse,
            weight_impulse_ns: self.weight_impulse_ns,
        };
        let character = &self.character;
        let ground = |x, z| stature.ground_to_module(|x, z| character.shown_ground(x, z), x, z);
        match &mut self.state.controller {
            None => self.kinematic.add(&input, ground, &mut self.state.noise, &mut networks.kinematic)?,
            Some(controller) => self.kinematic.ask(controller.as_mut(), &input, ground)?,
        }
        let (yaw, velocity) = (self.character.state().frame.yaw, self.character.state().root_velocity);
        self.under_way.upright =
            self.layers.standing_posture.share(&command.plan, command.frame, yaw, velocity);
        Ok(())
    }

    /// Whether the kinematic module, or a controller in its place, is shown its own last prediction instead of the body or of the target,
    /// which layers have changed.
    fn goes_on_from_prediction(&self) -> bool {
        let is_shown_body = self.character.has_body() && !self.character.goes_on_from_target();
        let wants = self.state.controller.is_some() || self.config.layers.reference_tracking.shows_prediction;
        wants && !is_shown_body
    }

    /// Moves on to the last prediction, where that is shown.
    fn go_on_from_prediction(&mut self) {
        if self.goes_on_from_prediction()
            && let (Some(before), Some(output)) = (&self.state.shown, &self.state.prediction)
        {
            let frame = self.character.state().frame;
            self.state.shown = Some(unhindered(self.character.skeleton(), before, output, frame));
        }
    }

    /// Second stage, after the kinematic module: sets its prediction as the target.
    pub fn set_target(&mut self, networks: &Networks) -> Result<(), GeneratorError> {
        if let Some(output) = self.kinematic.take(&networks.kinematic, self.state.frame)? {
            let output = self.layers.stature.output_to_body(output);
            self.character.aim_upright(&output, self.under_way.upright);
            self.state.prediction = Some(output);
        }
        if self.under_way.mixes_stride {
            self.layers.gait_recovery.on_target(&mut self.character);
        }
        self.layers.fall_recovery.on_target(&mut self.character, self.state.assist_share);
        Ok(())
    }

    /// Moves in the style of these weights from the next frame on.
    pub fn set_style(&mut self, model: &Model, style: &BTreeMap<String, f32>) -> Result<(), GeneratorError> {
        let walk_codes = self.kinematic.set_style(model, style)?;
        self.layers.phase_stabiliser.set_style(&walk_codes);
        Ok(())
    }

    /// The character, to be moved with others.
    pub fn character_mut(&mut self) -> &mut Character {
        &mut self.character
    }

    /// Third stage, the dynamic module: simulates one frame towards the target.
    pub fn simulate(&mut self, pushes: &[Push]) -> Result<Frame, GeneratorError> {
        self.character.simulate(pushes, self.state.frame)
    }

    /// Fourth stage, the phase encoding module: takes the simulated frame over into the state, and adds the predicted keys to
    /// what the networks decode.
    pub fn observe(&mut self, simulated: &Frame, networks: &mut Networks) -> Result<(), GeneratorError> {
        self.rate();
        let body = self.character.take_over(simulated);
        if self.character.goes_on_from_target() {
            // A target that is taken for the body feels no ground.
            self.state.contact_impulse.fill(Vec3::ZERO);
        } else {
            self.state.contact_impulse.copy_from_slice(&simulated.contact_impulse);
        }
        let speed_mps = self.under_way.control.map_or(0.0, |control| control.speed_mps);
        self.displace(self.character.displaced(), speed_mps);
        self.go_on_from_prediction();
        let is_read_off_shown = self.state.controller.is_none() && self.goes_on_from_prediction();
        let read = self.state.shown.as_ref().filter(|_| is_read_off_shown);
        self.phase_window.push(&self.layers.stature.state_to_module(read.unwrap_or(&body)));
        self.under_way.body = Some(body);
        if self.config.feedback() != PhaseFeedback::Constant
            && let Some(output) = &self.state.prediction
        {
            self.state.future_codes.copy_from_slice(&output.phase_codes);
            let channels = self.kinematic.code_width() / 2;
            self.phase_window.add_keys(output, channels, &mut networks.phase)?;
        }
        Ok(())
    }

    /// Fifth stage: adds the window that is stitched from the simulated past and the decoded future to what the networks read.
    pub fn stitch(&mut self, networks: &mut Networks) -> Result<(), GeneratorError> {
        self.phase_window.add_window(&mut networks.phase)
    }

    /// Last stage: appends the frame with its phase code to the history, and moves on along the plan.
    pub fn take_over(
        &mut self,
        plan: &ControlPlan,
        simulated: Frame,
        pushed: bool,
        networks: &Networks,
    ) -> Result<StepOutput, GeneratorError> {
        let UnderWay { control, body, upright, .. } = std::mem::take(&mut self.under_way);
        let control = control.expect("the window of the frame was filled");
        let body = body.expect("the frame was observed");
        self.append(&body, (control.gait, upright), networks)?;
        let pace = self.kinematic.pace();
        let speed_scale = pace * self.layers.speed_scale(plan, &self.state, &self.character);
        let position = ground_position(&self.character.state().frame);
        self.state.cursor.advance(plan, position - self.state.aside, speed_scale);
        self.state.frame += 1;
        self.layers.fall_recovery.after_simulation(&simulated, pushed, &mut self.character);
        Ok(StepOutput {
            target: self.character.target(),
            simulated,
            gait: self.layers.fall_recovery.gait().map_or_else(|| self.predicted_gait(), Gait::one_hot),
            phase_code: self.state.history.at(0).phase_codes.as_slice().into(),
            control,
            fallen: self.layers.fall_recovery.has_fallen(),
        })
    }

    /// The target has been moved by `way` along the ground with the body: its past and its path go along.
    fn displace(&mut self, way: Vec2, speed_mps: f32) {
        self.state.aside = self.config.layers.reference_tracking.displaced(self.state.aside, way, speed_mps);
        if way != Vec2::ZERO {
            self.state.history.each_key(|key| key.position += way);
            if let Some(shown) = &mut self.state.shown {
                shown.frame.origin += Vec3::new(way.x, 0.0, way.y);
            }
        }
    }

    /// Appends the frame to the history. The `wanted` gait says which cycle its phases are on; with it comes the share of the way to an
    /// upright posture.
    fn append(
        &mut self,
        body: &CharacterState,
        wanted: (Gait, f32),
        networks: &Networks,
    ) -> Result<(), GeneratorError> {
        let frame = self.character.state().frame;
        let key =
            WindowKey { position: ground_position(&frame), yaw: frame.yaw, gait: self.predicted_gait() };
        let code = self.next_code(wanted, networks)?;
        self.state.history.push(key, &code);

        let is_down = self.layers.fall_recovery.is_released();
        let tracker = &mut self.layers.phase_stabiliser.tracker;
        let (state, phase_window) = (&mut self.state, &mut self.phase_window);
        let character = &mut self.character;
        self.layers.gait_recovery.after_simulation(is_down, body, tracker, state, phase_window, character);
        Ok(())
    }

    /// The present's phase code by the configured feedback; future codes follow the prediction.
    fn next_code(
        &mut self,
        (wanted, upright): (Gait, f32),
        networks: &Networks,
    ) -> Result<PhaseCode, GeneratorError> {
        let mut code = PhaseCode::from_slice(&self.state.history.at(0).phase_codes);
        if self.config.feedback() == PhaseFeedback::Constant || self.state.prediction.is_none() {
            return Ok(code);
        }
        self.phase_window.update(&mut code, &networks.phase)?;
        let is_down = self.layers.fall_recovery.is_released();
        let future = &mut self.state.future_codes;
        self.layers.phase_stabiliser.after_simulation(wanted, is_down, &mut code, future);
        if !is_down {
            silence(code.iter_mut().chain(future.iter_mut()), upright);
        }
        self.state.future_codes[..code.len()].copy_from_slice(&code);
        Ok(code)
    }

    /// The kinematic module begins again, for a character that stands in `frame`. The past that it is given is that of a walk
    /// when `plan` moves: with a past of standing it whirls round.
    fn restart(&mut self, frame: RootFrame, plan: &ControlPlan) {
        let now = plan.at(self.state.cursor.frame());
        let gaits =
            if now.gait == Gait::Stand { [Gait::Stand, Gait::Walk] } else { [Gait::Walk, Gait::Stand] };
        let start = read_start(self.kinematic.layout(), self.kinematic.any_start(gaits), frame);
        self.phase_window.restart(&start.state);
        self.state.restart(self.layers.stature.start(start));
        self.layers.reset(&frame, now.speed_mps, &self.character);
    }

    /// Gait weights of the last prediction; before there is one, those of the start.
    fn predicted_gait(&self) -> [f32; Gait::COUNT] {
        let LoopState { prediction, history, .. } = &self.state;
        prediction.as_ref().map_or(history.at(0).key.gait, |output| output.gait)
    }
}

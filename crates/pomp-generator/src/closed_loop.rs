//! One frame of the loop (docs/method.md §1): window → kinematic module → target → dynamic module → phase encoding module →
//! history.
//!
//! This file is the paper's loop. What acts beside it are layers ([`crate::layers`]), called at the named points
//! `before_sample`, `on_target`, `after_simulation` and `reset`.

mod build;
mod live;
mod snapshot;

pub use live::SteeredStep;
pub use snapshot::GeneratorSnapshot;

use crate::character::Character;
use crate::control::{ControlPlan, ControlSample};
use crate::kinematic_module::KinematicModule;
use crate::layers::Layers;
use crate::loop_state::{Blend, LoopState, ground_position, window_keys};
use crate::phase_feedback::PhaseReader;
use crate::start::read_start;
use crate::{GeneratorConfig, GeneratorError, PhaseFeedback};
use pomp_motion::features::{InputFrame, WindowKey};
use pomp_motion::{Gait, GlobalPose, RootFrame};
use pomp_physics::{Frame, Leader, Push};

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
    /// Fixed after construction but for the sampler.
    kinematic: KinematicModule,
    /// The dynamic module and its target.
    character: Character,
    phase_reader: PhaseReader,
    layers: Layers,
    state: LoopState,
    /// Weight times the duration of a frame, N·s.
    weight_impulse_ns: f32,
}

impl Generator {
    /// Moves on by one frame along `plan`, with `pushes` during it.
    ///
    /// # Errors
    /// A push that is refused, or a network whose output is not finite.
    pub fn step(&mut self, plan: &ControlPlan, pushes: &[Push]) -> Result<StepOutput, GeneratorError> {
        let control = self.set_target(plan)?;
        let simulated = self.character.simulate(pushes, self.state.frame)?;
        self.take_over(plan, control, simulated, !pushes.is_empty())
    }

    /// The part of a frame before it is simulated. Returns what is asked for.
    pub(crate) fn set_target(&mut self, plan: &ControlPlan) -> Result<ControlSample, GeneratorError> {
        let control = plan.at(self.state.cursor.frame());
        self.character.accelerate_ground(self.config.ground_motion.acceleration_m_s2(self.state.frame))?;
        match self.layers.fall_recovery.leader(&self.character) {
            Leader::Module => {
                self.predict_target(plan)?;
                self.layers.gait_recovery.on_target(&mut self.character);
            }
            Leader::ModuleAnew { stance, target } => {
                self.character.lead(target);
                self.character.hand_back(stance);
                self.restart(stance, plan);
                self.predict_target(plan)?;
            }
            Leader::Recovery { from, to } => self.character.lead_from(from, to),
        }
        self.layers.fall_recovery.on_target(&mut self.character, self.state.assist_share);
        Ok(control)
    }

    /// The part of a frame after it was `simulated`; `control` is what [`Self::set_target`] gave, and `pushed` whether it was
    /// pushed.
    pub(crate) fn take_over(
        &mut self,
        plan: &ControlPlan,
        control: ControlSample,
        simulated: Frame,
        pushed: bool,
    ) -> Result<StepOutput, GeneratorError> {
        self.encode_phase(&simulated, control.gait)?;
        let speed_scale = self.layers.speed_scale(plan, &self.state, &self.character);
        self.state.cursor.advance(plan, self.root_position(), speed_scale);
        self.state.frame += 1;
        self.layers.fall_recovery.after_simulation(&simulated, pushed, &mut self.character);
        Ok(StepOutput {
            target: self.character.target(),
            simulated,
            gait: self.layers.fall_recovery.gait().map_or_else(|| self.predicted_gait(), Gait::one_hot),
            phase_code: self.state.history.at(0).phase_codes.clone(),
            control,
            fallen: self.has_fallen(),
        })
    }

    /// Fills the window around the present, samples the kinematic module, and sets its prediction as the target.
    fn predict_target(&mut self, plan: &ControlPlan) -> Result<(), GeneratorError> {
        let command = self.layers.before_sample(plan, &self.state, &self.character);
        let stature = self.layers.stature;
        let blend =
            Blend { position_bias: self.config.position_bias, direction_bias: self.config.direction_bias };
        let keys = window_keys(&self.state, self.character.target_frame(), &command, blend);
        let input = InputFrame {
            state: &stature.state_to_module(self.character.state()),
            keys: &stature.keys_to_module(keys),
            phase_codes: &self.state.window_codes(self.kinematic.code_width()),
            contact_impulse: &self.state.contact_impulse,
            weight_impulse_ns: self.weight_impulse_ns,
        };
        let character = &self.character;
        let ground = |x, z| stature.ground_to_module(|x, z| character.shown_ground(x, z), x, z);
        let output = self.kinematic.predict(&input, ground, &mut self.state.noise, self.state.frame)?;
        let output = stature.output_to_body(output);

        let (yaw, velocity) = (self.character.state().frame.yaw, self.character.state().root_velocity);
        let upright = self.layers.standing_posture.share(&command.plan, command.frame, yaw, velocity);
        self.character.aim_upright(&output, upright);
        self.state.prediction = Some(output);
        Ok(())
    }

    /// The phase encoding module: reads the present's phase code off the simulated motion, and appends the frame to the
    /// history. The `wanted` gait says which cycle its phases are on.
    fn encode_phase(&mut self, simulated: &Frame, wanted: Gait) -> Result<(), GeneratorError> {
        let body = self.character.take_over(simulated);
        self.phase_reader.push(&self.layers.stature.state_to_module(&body));
        self.state.contact_impulse.copy_from_slice(&simulated.contact_impulse);

        let frame = self.character.state().frame;
        let key =
            WindowKey { position: ground_position(&frame), yaw: frame.yaw, gait: self.predicted_gait() };
        let code = self.next_code(wanted)?;
        self.state.history.push(key, &code);

        let is_down = self.layers.fall_recovery.is_released();
        let tracker = &mut self.layers.phase_stabiliser.tracker;
        let (state, phase_reader) = (&mut self.state, &mut self.phase_reader);
        let character = &mut self.character;
        self.layers.gait_recovery.after_simulation(is_down, &body, tracker, state, phase_reader, character);
        Ok(())
    }

    /// The present's phase code by the configured feedback; future codes follow the prediction.
    fn next_code(&mut self, wanted: Gait) -> Result<Vec<f32>, GeneratorError> {
        let old = &self.state.history.at(0).phase_codes;
        if self.config.phase_feedback == PhaseFeedback::Constant {
            return Ok(old.clone());
        }
        let Some(output) = &self.state.prediction else { return Ok(old.clone()) };
        self.state.future_codes.copy_from_slice(&output.phase_codes);
        let mut code = self.phase_reader.update(old, output)?;
        let is_down = self.layers.fall_recovery.is_released();
        let future = &mut self.state.future_codes;
        self.layers.phase_stabiliser.after_simulation(wanted, is_down, &mut code, future);
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
        self.phase_reader.restart(&start.state);
        self.state.restart(self.layers.stature.start(start));
        self.layers.reset(&frame, now.speed_mps, &self.character);
    }

    /// Gait weights of the last prediction; before there is one, those of the start.
    fn predicted_gait(&self) -> [f32; Gait::COUNT] {
        let LoopState { prediction, history, .. } = &self.state;
        prediction.as_ref().map_or(history.at(0).key.gait, |output| output.gait)
    }
}

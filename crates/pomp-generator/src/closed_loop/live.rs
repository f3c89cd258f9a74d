//! The loop steered by hand: one frame at a time, with settings that may change while it runs.

use super::{Generator, StepOutput};
use crate::config::check_style;
use crate::control::{ControlCursor, LiveControl, Steering};
use crate::{ControlPlan, GeneratorError};
use glam::{Vec2, Vec3};
use pomp_config::Fields;
use pomp_controllers::ControllerKind;
use pomp_kinematic::SamplerConfig;
use pomp_model::Model;
use pomp_motion::features::FUTURE_KEYS;
use pomp_motion::rotation::wrap_angle;
use pomp_physics::{BoxState, Push, ThrownBox};
use pomp_terrain::HeightMap;
use std::collections::BTreeMap;

/// A step of a steered character, with what it was going to do.
#[derive(Clone, Debug)]
pub struct SteeredStep {
    /// What the frame gave.
    pub output: StepOutput,
    /// The second that the command looked ahead.
    pub plan: ControlPlan,
}

impl Generator {
    /// Moves on by one frame as `steering` says, with `pushes` during it.
    ///
    /// # Errors
    /// What [`Generator::step`] says, and a steering that is not finite.
    pub fn step_steered(
        &mut self,
        control: &mut LiveControl,
        steering: Steering,
        pushes: &[Push],
    ) -> Result<SteeredStep, GeneratorError> {
        let plan = self.steered_plan(control, steering)?;
        let output = self.step(&plan, pushes)?;
        Ok(SteeredStep { output, plan })
    }

    /// The plan of the next frame as `steering` says, for [`Generator::step`] or [`crate::Worlds::step`].
    ///
    /// # Errors
    /// A steering that is not finite.
    pub fn steered_plan(
        &mut self,
        control: &mut LiveControl,
        steering: Steering,
    ) -> Result<ControlPlan, GeneratorError> {
        if !steering.is_finite() {
            return Err(GeneratorError::BadControl {
                reason: "the direction or the facing is not finite".to_owned(),
            });
        }
        control.limit_turns(self.inner.config.layers.turn_limit);
        let plan = control.plan(steering, self.root_position());
        // The plan is new each frame, and begins now.
        self.begin_plan();
        Ok(plan)
    }

    /// The plan of the next frame begins there, not where the plan before it was left.
    pub fn begin_plan(&mut self) {
        self.inner.state.cursor = ControlCursor::default();
    }

    /// Samples the kinematic module otherwise from the next frame on. `model` is the one that the loop was built from.
    ///
    /// # Errors
    /// A sampler that does not fit the model's schedule.
    pub fn set_sampler(&mut self, model: &Model, sampler: &SamplerConfig) -> Result<(), GeneratorError> {
        self.networks.set_sampler(model, sampler)?;
        self.inner.config.sampler = *sampler;
        if let Some(planner) = &mut self.inner.planner {
            planner.networks = self.networks.clone();
        }
        Ok(())
    }

    /// Moves in the style of these weights from the next frame on, as [`crate::GeneratorConfig::style`]. `model` is the one that the
    /// loop was built from.
    ///
    /// # Errors
    /// Weights outside their range, a model without such styles, and another controller than the kinematic module; nothing is
    /// changed then.
    pub fn set_style(&mut self, model: &Model, style: &BTreeMap<String, f32>) -> Result<(), GeneratorError> {
        check_style(style, &Fields::root())?;
        if self.inner.config.controller != ControllerKind::Pomp {
            return Err(GeneratorError::BadModel {
                reason: format!(
                    "styles change the kinematic module, and the controller is {}; choose the controller pomp",
                    self.inner.config.controller
                ),
            });
        }
        self.inner.set_style(model, style)?;
        self.inner.config.style.clone_from(style);
        Ok(())
    }

    /// Weights of the styles in which the character moves.
    pub fn style(&self) -> &BTreeMap<String, f32> {
        &self.inner.config.style
    }

    /// Scales the root assist from the next frame on, 0 to 1; one that lies gets none.
    pub fn set_assist_scale(&mut self, scale: f32) {
        self.inner.state.assist_share = if scale.is_nan() { 0.0 } else { scale.clamp(0.0, 1.0) };
    }

    /// Share of the configured root assist in force in the last frame.
    pub fn assist_scale(&self) -> f32 {
        self.inner.character.body().assist_scale()
    }

    /// Throws a box, which begins to fly with the next frame; its number is given back.
    ///
    /// # Errors
    /// A box that the simulator refuses, and any box where nothing is simulated.
    pub fn throw(&mut self, thrown: &ThrownBox) -> Result<u32, GeneratorError> {
        self.inner.character.throw(thrown, self.inner.state.frame)
    }

    /// The boxes in the world.
    pub fn boxes(&self) -> Vec<BoxState> {
        self.inner.character.body().boxes()
    }

    /// Exchanges the ground, from the next frame on: contacts, features and the heights that targets stand on. A snapshot
    /// holds the ground that it was taken on.
    ///
    /// # Errors
    /// A terrain that the simulator refuses; nothing is changed then.
    pub fn set_terrain(&mut self, terrain: HeightMap) -> Result<(), GeneratorError> {
        self.inner.character.set_terrain(terrain)
    }

    /// α of the experts in the last frame; zeros before the first.
    pub fn expert_gates(&self) -> &[f32] {
        self.inner.kinematic.gates()
    }

    /// Centre of mass of the ragdoll, metres, world.
    pub fn center_of_mass(&self) -> Vec3 {
        self.inner.character.body().center_of_mass()
    }

    /// Where the kinematic module expects the root at the future keys of its window: position (world x, z) and heading,
    /// radians. `None` before the first frame.
    pub fn predicted_path(&self) -> Option<[(Vec2, f32); FUTURE_KEYS]> {
        let (prediction, frame) =
            (self.inner.state.prediction.as_ref()?, self.inner.character.target_frame());
        Some(
            prediction.trajectory.map(|(at, turn)| (frame.ground_to_world(at), wrap_angle(frame.yaw + turn))),
        )
    }
}

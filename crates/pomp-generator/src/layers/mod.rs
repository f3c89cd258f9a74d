//! What acts on a character beside the loop of the paper.
//!
//! The loop itself is `closed_loop.rs`. Each layer here is a module with one configuration (`enabled` first) and a state
//! of its own, called at named points of the loop. With every layer off ([`LayersConfig::off`], `configs/paper_loop.toml`) the
//! paper's loop runs alone. What each is worth is measured by `pomp bench --config configs/bench/layers.toml`, whose
//! table is in docs/layers.md; each header states the cost as a share of a frame. Costs are counted instructions (callgrind, 90 frames of
//! a walk on level ground): all layers together take 1 % of a frame, less than the scatter of its time.
//! `cargo bench -p pomp-generator --bench layers` measures the time of each in pairs of loops with it and without it.
//!
//! | point of the loop | layers, in the order in which they act |
//! |---|---|
//! | start of a rollout | `stature` |
//! | command (`step_steered` alone) | `turn_limit` |
//! | before the window of a frame is filled | `balance_planning`, `get_up_planning` |
//! | `before_sample`: the window of x is filled | `speed_adaptation`, `path_rejoining`, `stature`, `shown_surface` |
//! | `on_target`: y becomes the target | `stature`, `foot_placement` (root), `standing_posture`, `foot_locking`, `foot_placement`, `gait_recovery`, `fall_recovery` |
//! | before the simulation | `balance_policy` |
//! | `after_simulation`: the simulated frame becomes the next x | `terrain_adaptation` (inverse), `pose_blending`, `root_following`, `reference_tracking`, `phase_stabiliser`, `standing_posture` (phases), `gait_recovery`, `fall_recovery` |
//! | `reset`: the module leads again after getting up | `path_rejoining`, `foot_locking`, `foot_placement` |
//!
//! Layers of the target (`terrain_adaptation`, `pose_blending`, `root_following`, `reference_tracking`) belong to [`crate::Character`], so that
//! in-loop fine-tuning moves its characters by the same code; the others belong to the generator and are held by `Layers`.

pub(crate) mod balance_planning;
pub(crate) mod balance_policy;
pub(crate) mod fall_recovery;
pub(crate) mod foot_locking;
pub(crate) mod foot_placement;
pub(crate) mod gait_recovery;
pub(crate) mod get_up_planning;
pub(crate) mod path_rejoining;
pub(crate) mod phase_stabiliser;
pub(crate) mod pose_blending;
pub(crate) mod reference_tracking;
pub(crate) mod root_following;
pub(crate) mod shown_surface;
pub(crate) mod sole;
pub(crate) mod speed_adaptation;
pub(crate) mod standing_posture;
pub(crate) mod stature;
pub(crate) mod terrain_adaptation;
pub(crate) mod turn_limit;

pub use balance_planning::BalancePlanningConfig;
pub use balance_policy::BalancePolicyConfig;
pub use fall_recovery::FallRecoveryConfig;
pub use foot_locking::FootLockingConfig;
pub use foot_placement::FootPlacementConfig;
pub use gait_recovery::GaitRecoveryConfig;
pub use get_up_planning::GetUpPlanningConfig;
pub use path_rejoining::PathRejoiningConfig;
pub use phase_stabiliser::PhaseStabiliserConfig;
pub use pose_blending::PoseBlendingConfig;
pub use reference_tracking::ReferenceTrackingConfig;
pub use root_following::RootFollowingConfig;
pub use shown_surface::ShownSurfaceConfig;
pub use speed_adaptation::SpeedAdaptationConfig;
pub use standing_posture::StandingPostureConfig;
pub use stature::StatureConfig;
pub use turn_limit::TurnLimitConfig;

use crate::GeneratorConfig;
use crate::character::Character;
use crate::control::ControlPlan;
use crate::kinematic_module::KinematicModule;
use crate::loop_state::{LoopState, ground_position};
use fall_recovery::FallRecovery;
use gait_recovery::GaitRecovery;
use glam::Vec2;
use path_rejoining::PathRejoining;
use phase_stabiliser::PhaseStabiliser;
use pomp_config::{Fields, OutOfRange, Validate};
use pomp_motion::RootFrame;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use speed_adaptation::SpeedAdaptation;
use standing_posture::StandingPosture;
use stature::Stature;
use std::borrow::Cow;

/// The switches and settings of all layers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LayersConfig {
    /// Puts the ankles at the predicted joint positions, holds standing feet in place, and lifts swinging feet clear of the ground.
    pub foot_locking: FootLockingConfig,
    /// Puts the feet on footholds of the terrain, and the pelvis above them.
    pub foot_placement: FootPlacementConfig,
    /// Simplifies the terrain that is shown to the kinematic module: bridges trenches, smooths risers and limits slopes.
    pub shown_surface: ShownSurfaceConfig,
    /// Slows the character down on steep ground and stairs, and stops it before ground that it cannot walk on.
    pub speed_adaptation: SpeedAdaptationConfig,
    /// Draws a standing character back to an upright posture.
    pub standing_posture: StandingPostureConfig,
    /// Shows the kinematic module a mixture of the simulated pose and its own target.
    pub pose_blending: PoseBlendingConfig,
    /// Makes the root of the target follow the simulated root gradually instead of at once.
    pub root_following: RootFollowingConfig,
    /// Lets the kinematic module continue from its own target, which the body tracks; pose blending and root following are then inactive.
    pub reference_tracking: ReferenceTrackingConfig,
    /// Lets a learned policy step and correct beside the balance by the legs.
    pub balance_policy: BalancePolicyConfig,
    /// Plans corrections that keep the body up, by trying them in the simulator.
    pub balance_planning: BalancePlanningConfig,
    /// Leads phase codes that have left the cycle of their gait back to it.
    pub phase_stabiliser: PhaseStabiliserConfig,
    /// Restarts a lost gait from its last good stride.
    pub gait_recovery: GaitRecoveryConfig,
    /// Makes a fallen character relax, get up and return control to the kinematic module.
    pub fall_recovery: FallRecoveryConfig,
    /// Plans how a fallen character gets up by its own joints, by trying it in the simulator.
    pub get_up_planning: GetUpPlanningConfig,
    /// Leads the character back to its path after getting up.
    pub path_rejoining: PathRejoiningConfig,
    /// Limits the turning rate of steering commands to that of the mocap.
    pub turn_limit: TurnLimitConfig,
    /// Scales the model to a character of a different height.
    pub stature: StatureConfig,
}

impl LayersConfig {
    /// Names of all layers, as in the configuration.
    pub const NAMES: [&str; 17] = [
        "foot_locking",
        "foot_placement",
        "shown_surface",
        "speed_adaptation",
        "standing_posture",
        "pose_blending",
        "root_following",
        "reference_tracking",
        "balance_policy",
        "balance_planning",
        "phase_stabiliser",
        "gait_recovery",
        "fall_recovery",
        "get_up_planning",
        "path_rejoining",
        "turn_limit",
        "stature",
    ];

    /// The paper's loop: every layer off, its other settings at their defaults.
    pub fn off() -> Self {
        let mut layers = Self::default();
        for name in Self::NAMES {
            *layers.enabled_mut(name).expect("the names are those of the fields") = false;
        }
        layers
    }

    /// The switch of the layer `name`; `None` for a name that no layer has.
    pub fn enabled_mut(&mut self, name: &str) -> Option<&mut bool> {
        Some(match name {
            "foot_locking" => &mut self.foot_locking.enabled,
            "foot_placement" => &mut self.foot_placement.enabled,
            "shown_surface" => &mut self.shown_surface.enabled,
            "speed_adaptation" => &mut self.speed_adaptation.enabled,
            "standing_posture" => &mut self.standing_posture.enabled,
            "pose_blending" => &mut self.pose_blending.enabled,
            "root_following" => &mut self.root_following.enabled,
            "reference_tracking" => &mut self.reference_tracking.enabled,
            "balance_policy" => &mut self.balance_policy.enabled,
            "balance_planning" => &mut self.balance_planning.enabled,
            "phase_stabiliser" => &mut self.phase_stabiliser.enabled,
            "gait_recovery" => &mut self.gait_recovery.enabled,
            "fall_recovery" => &mut self.fall_recovery.enabled,
            "get_up_planning" => &mut self.get_up_planning.enabled,
            "path_rejoining" => &mut self.path_rejoining.enabled,
            "turn_limit" => &mut self.turn_limit.enabled,
            "stature" => &mut self.stature.enabled,
            _ => return None,
        })
    }
}

impl Validate for LayersConfig {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        self.foot_locking.check(&fields.section("foot_locking"))?;
        self.foot_placement.check(&fields.section("foot_placement"))?;
        self.shown_surface.check(&fields.section("shown_surface"))?;
        self.speed_adaptation.check(&fields.section("speed_adaptation"))?;
        self.standing_posture.check(&fields.section("standing_posture"))?;
        self.pose_blending.check(&fields.section("pose_blending"))?;
        self.root_following.check(&fields.section("root_following"))?;
        self.reference_tracking.check(&fields.section("reference_tracking"))?;
        self.balance_planning.check(&fields.section("balance_planning"))?;
        self.phase_stabiliser.check(&fields.section("phase_stabiliser"))?;
        self.fall_recovery.check(&fields.section("fall_recovery"))?;
        self.get_up_planning.check(&fields.section("get_up_planning"))?;
        self.turn_limit.check(&fields.section("turn_limit"))?;
        self.stature.check(&fields.section("stature"))
    }
}

/// The layers of one generator. A clone is what a snapshot keeps of them.
#[derive(Clone)]
pub(crate) struct Layers {
    pub stature: Stature,
    pub speed_adaptation: SpeedAdaptation,
    pub path_rejoining: PathRejoining,
    pub standing_posture: StandingPosture,
    pub phase_stabiliser: PhaseStabiliser,
    pub gait_recovery: GaitRecovery,
    pub fall_recovery: FallRecovery,
}

/// What the window of a frame is filled from.
pub(crate) struct Command<'a> {
    pub plan: Cow<'a, ControlPlan>,
    /// Place on the plan, frames.
    pub frame: f32,
    /// Share of the plan's pace, 0 to 1.
    pub speed_scale: f32,
}

impl Layers {
    pub fn new(
        config: &GeneratorConfig,
        module: &KinematicModule,
        stature: Stature,
        character: &Character,
    ) -> Self {
        let layers = &config.layers;
        let height_m = character.body().body_height_m();
        Self {
            stature,
            speed_adaptation: SpeedAdaptation::new(layers.speed_adaptation),
            path_rejoining: PathRejoining::new(layers.path_rejoining),
            standing_posture: StandingPosture::new(layers.standing_posture),
            phase_stabiliser: PhaseStabiliser::new(layers.phase_stabiliser, module.gait_cycles()),
            gait_recovery: GaitRecovery::new(layers.gait_recovery, height_m),
            fall_recovery: FallRecovery::new(layers, character.skeleton(), height_m),
        }
    }

    /// `before_sample`: the command that the window shows to the kinematic module, at `pace`, the style's share of its speed.
    pub fn before_sample<'a>(
        &mut self,
        plan: &'a ControlPlan,
        state: &LoopState,
        character: &Character,
        pace: f32,
    ) -> Command<'a> {
        let speed_scale = pace * self.speed_scale(plan, state, character);
        let frame = state.cursor.frame();
        match self.path_rejoining.plan(plan, frame, ground_position(&character.state().frame)) {
            Some(led) => Command { plan: Cow::Owned(led), frame: 0.0, speed_scale },
            None => Command { plan: Cow::Borrowed(plan), frame, speed_scale },
        }
    }

    /// Share of the plan's pace that the ground ahead allows, 0 to 1.
    pub fn speed_scale(&self, plan: &ControlPlan, state: &LoopState, character: &Character) -> f32 {
        let now = plan.at(state.cursor.frame());
        let place = ground_position(&character.state().frame);
        self.speed_adaptation.scale(character.shown_surface(), place, Vec2::from(now.yaw.sin_cos()))
    }

    /// `reset`: the kinematic module leads again, from standing in `frame`, at `speed_mps`.
    pub fn reset(&mut self, frame: &RootFrame, speed_mps: f32, character: &Character) {
        self.path_rejoining.reset(frame, speed_mps, character.terrain().bounds());
    }
}

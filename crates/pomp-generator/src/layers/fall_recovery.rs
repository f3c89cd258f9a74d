//! Fall recovery: a fallen character relaxes, lies, gets up by its own joints and hands back to the kinematic module (ours; the
//! paper says only that one falls, lies and gets up).
//!
//! Acts at `after_simulation`, where a fall is detected, and at `on_target` until the character stands again: a route of
//! postures ([`pomp_physics::Recovery`]) sets the targets in place of the kinematic module, and the drives are weak while it
//! lies. Switched off, the module leads a fallen body as if it stood.
//!
//! Cost: below 0.2 % of a frame until a fall; the kinematic module does not run while the character lies and gets up.
//!
//! Evidence: `pomp bench --config configs/bench/layers.toml`, with its figures in docs/layers.md. Without it no fallen character gets up.

use super::LayersConfig;
use crate::character::Character;
use pomp_config::{Fields, OutOfRange, Validate};
use pomp_motion::{Gait, Skeleton};
use pomp_physics::{FallDetector, Fallen, Frame, GetUpConfig, Leader, Recovery, RisingProgress};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const FRAME_S: f32 = 1.0 / pomp_motion::FRAME_RATE_HZ;

/// Settings of fall recovery.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FallRecoveryConfig {
    /// If off, falls are reported but not acted on. Default true.
    pub enabled: bool,
    /// Tilt of the trunk from upright beyond which the character has fallen, degrees, 10 to 180. Default 65.
    pub tilt_deg: f32,
    /// Height of the pelvis above the ground below which the character has fallen, fraction of standing height, 0 to 1. Default
    /// 0.5.
    pub height: f32,
    /// Time that this must last before it counts as a fall, seconds, 0 to 5: the character may still recover from a stumble.
    /// Default 0.3.
    pub after_s: f32,
    /// Strength of the joints while fallen, fraction of the gains, 0.001 to 1. Default 0.05.
    pub strength: f32,
    /// How the character gets up.
    pub get_up: GetUpConfig,
}

impl Default for FallRecoveryConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            tilt_deg: pomp_motion::FALL_TILT_DEG,
            height: pomp_motion::FALL_HEIGHT,
            after_s: pomp_motion::FALL_AFTER_S,
            strength: 0.05,
            get_up: GetUpConfig::default(),
        }
    }
}

impl Validate for FallRecoveryConfig {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        fields.within("tilt_deg", self.tilt_deg, 10.0..=180.0)?;
        fields.within("height", self.height, 0.0..=1.0)?;
        fields.within("after_s", self.after_s, 0.0..=5.0)?;
        fields.within("strength", self.strength, 0.001..=1.0)?;
        self.get_up.check(&fields.section("get_up"))
    }
}

/// What plans do to a body, seen from its way up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Rising {
    /// It does not get up, or without plans.
    #[default]
    Unplanned,
    /// Rotations are added to its postures.
    Turned,
    /// It balances by its legs.
    OnItsFeet,
}

/// The layer.
#[derive(Clone)]
pub(crate) struct FallRecovery {
    enabled: bool,
    /// Whether get-up planning leads a body that gets up.
    plans: bool,
    after_s: f32,
    detector: FallDetector,
    down_frames: usize,
    /// The simulation diverged in the last frame, and the body was put back.
    was_restored: bool,
    recovery: Recovery,
}

impl FallRecovery {
    pub fn new(layers: &LayersConfig, skeleton: &Skeleton, body_height_m: f32) -> Self {
        let config = layers.fall_recovery;
        let plans = layers.get_up_planning.enabled;
        let recovery = Recovery::new(config.get_up, body_height_m, config.strength, FRAME_S);
        Self {
            enabled: config.enabled,
            plans,
            after_s: config.after_s,
            detector: FallDetector::new(skeleton, config.height, config.tilt_deg),
            down_frames: 0,
            was_restored: false,
            recovery: if plans { recovery.rolling_over() } else { recovery },
        }
    }

    /// `on_target`, first half: what sets the target of this frame.
    pub fn leader(&mut self, character: &Character) -> Leader {
        if !self.recovery.is_down() {
            return Leader::Module;
        }
        self.recovery.lead(&Fallen {
            skeleton: character.skeleton(),
            pose: &character.body().pose(),
            mean_joint_speed_m_s: character.mean_joint_speed_m_s(),
            target: character.target_pose(),
            terrain: character.terrain(),
            led_over: character.surface(),
        })
    }

    /// How far the character has come on a way up over key postures.
    pub fn progress(&self) -> Option<RisingProgress> {
        self.recovery.rising()
    }

    /// What planned rotations do to a body that gets up: they are added until it is on its feet, and then it balances by its legs.
    pub fn rising(&self) -> Rising {
        match self.progress().filter(|_| self.plans) {
            None => Rising::Unplanned,
            Some(progress) if progress.is_on_its_feet() => Rising::OnItsFeet,
            Some(_) => Rising::Turned,
        }
    }

    /// `on_target`, second half: after getting up the stood posture gives way to the module's target, and drives and assist are
    /// as strong as lying, getting up or standing asks for. `assist_share` scales the assist besides.
    pub fn on_target(&mut self, character: &mut Character, assist_share: f32) {
        if let Some((stood, share)) = self.recovery.fade() {
            character.mix_target(stood, share);
        }
        let mut help = self.recovery.help();
        let rising = self.rising();
        if rising == Rising::Turned {
            (help.assist, help.held) = (0.0, true);
        } else if self.plans {
            // On its feet, or onto an edge: by its legs alone.
            help.held = false;
        }
        character.set_rising(rising);
        character.set_help(help, assist_share);
    }

    /// `after_simulation`: counts frames in which the body is down, and releases a body that has fallen. A push that the
    /// simulator could not follow (`pushed` in a frame that was recovered) has felled it, in whatever pose it was caught, and so has what it
    /// cannot follow in two frames on end: a body that is put back again and again would hang in the air.
    pub fn after_simulation(&mut self, simulated: &Frame, pushed: bool, character: &mut Character) {
        let down = self.detector.is_down(&simulated.pose, character.state().frame.origin.y);
        self.down_frames = if down { self.down_frames + 1 } else { 0 };
        let restored = simulated.recovered.is_some();
        let struck = restored && (pushed || self.was_restored && !self.recovery.is_down());
        self.was_restored = restored;
        let fell = !self.recovery.is_down() && self.has_been_down();
        if self.enabled && (struck || fell) {
            self.recovery.fall(character.target_pose().clone());
            character.release();
        }
    }

    fn has_been_down(&self) -> bool {
        self.down_frames as f32 * FRAME_S > self.after_s
    }

    /// Whether the character lies or gets up and follows no command.
    pub fn is_released(&self) -> bool {
        self.recovery.is_down()
    }

    /// Whether the character has fallen and does not stand again yet.
    pub fn has_fallen(&self) -> bool {
        if self.enabled { self.recovery.is_down() } else { self.has_been_down() }
    }

    /// `lie` and `get_up` after a fall.
    pub fn gait(&self) -> Option<Gait> {
        self.recovery.gait()
    }

    /// Height of the pelvis of a standing character, metres.
    pub fn standing_height_m(&self) -> f32 {
        self.detector.standing_height_m()
    }
}

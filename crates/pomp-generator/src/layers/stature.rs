//! Stature: a character of another height than the one that the model was trained on (ours).
//!
//! Acts at `before_sample` and `on_target`, on everything that goes into the kinematic module and comes out of it. Off by
//! default: the character then has the model's lengths.
//!
//! The kinematic module knows one skeleton. Its lengths are scaled on their way in and out: positions, velocities, root
//! motion, trajectory and the heights of the ground; ragdoll, target, feet and recordings have the character's own lengths
//! throughout. Angles, gaits, phases and forces in body weights have no length in them.
//!
//! Cost: below 0.1 % of a frame.
//!
//! Time is not scaled. Bodies of like form move alike at equal speed² / (gravity × height) with times that grow with the
//! square root of the height (Froude's law of similarity); a frame of the loop, and with it that of two characters in one
//! world, is a sixtieth of a second for every character. So at an equal command a small character is to the module a person in a
//! hurry: one of 1.5 m that is to walk at 1.2 m/s walks as the module's of 1.75 m does at 1.4 m/s, with a step rate some
//! 4 % below what similarity asks for.

use crate::GeneratorError;
use crate::start::Start;
use glam::{Vec2, Vec3};
use pomp_config::{Fields, OutOfRange, Validate};
use pomp_motion::features::{CharacterState, KEYS, OutputFrame, WindowKey};
use pomp_motion::{RootFrame, Skeleton};
use pomp_physics::body_height;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Heights that are served, metres.
const SERVED_M: std::ops::RangeInclusive<f32> = 1.5..=2.0;

/// Settings of the stature.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StatureConfig {
    /// If off, the character has the height of the model's skeleton. Default false.
    pub enabled: bool,
    /// Height of the character, metres, 1.5 to 2.0; its mass is `dynamic.mass_kg`. Commands stay in m/s: a stroll for a tall
    /// character is a brisk walk for a small one. Default 1.75.
    pub height_m: f32,
}

impl Default for StatureConfig {
    fn default() -> Self {
        Self { enabled: false, height_m: 1.75 }
    }
}

impl Validate for StatureConfig {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        fields.within("height_m", self.height_m, SERVED_M)
    }
}

impl StatureConfig {
    /// A character of `height_m`, or, without one, of the model's height.
    pub fn of_height(height_m: Option<f32>) -> Self {
        height_m.map_or_else(Self::default, |height_m| Self { enabled: true, height_m })
    }
}

/// Lengths of a character over those of the model's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stature {
    factor: f32,
}

impl Stature {
    /// That of `config` for a model of `skeleton`.
    pub fn of(config: StatureConfig, skeleton: &Skeleton) -> Result<Self, GeneratorError> {
        if !config.enabled {
            return Ok(Self { factor: 1.0 });
        }
        let model_m = body_height(skeleton);
        if !(model_m.is_finite() && model_m > 0.1) {
            return Err(GeneratorError::BadModel {
                reason: format!("its skeleton is {model_m} m high by its legs; no stature can be made of it"),
            });
        }
        Ok(Self { factor: config.height_m / model_m })
    }

    fn is_the_models(self) -> bool {
        self.factor == 1.0
    }

    /// The model's skeleton at this stature.
    pub fn skeleton(self, skeleton: &Skeleton) -> Skeleton {
        skeleton.scaled(self.factor)
    }

    /// A start of the model at this stature; it stands in the same place.
    pub fn start(self, start: Start) -> Start {
        if self.is_the_models() {
            return start;
        }
        let origin = Vec2::new(start.state.frame.origin.x, start.state.frame.origin.z);
        let mut history = start.history;
        for past in &mut history {
            past.key.position = origin + (past.key.position - origin) * self.factor;
        }
        let frame = start.state.frame;
        Start { state: scaled(&start.state, frame, self.factor), history, ..start }
    }

    /// A state of the body as the module would have it.
    pub fn state_to_module(self, state: &CharacterState) -> Cow<'_, CharacterState> {
        if self.is_the_models() {
            return Cow::Borrowed(state);
        }
        let frame = RootFrame { origin: state.frame.origin / self.factor, ..state.frame };
        Cow::Owned(scaled(state, frame, 1.0 / self.factor))
    }

    /// Keys of the world as the module would have them.
    pub fn keys_to_module(self, mut keys: [WindowKey; KEYS]) -> [WindowKey; KEYS] {
        if !self.is_the_models() {
            for key in &mut keys {
                key.position /= self.factor;
            }
        }
        keys
    }

    /// Height of the ground in the module's lengths, of `ground` in the world's.
    pub fn ground_to_module(self, ground: impl Fn(f32, f32) -> f32, x: f32, z: f32) -> f32 {
        ground(x * self.factor, z * self.factor) / self.factor
    }

    /// What the module says, in the character's lengths.
    pub fn output_to_body(self, mut output: OutputFrame) -> OutputFrame {
        if !self.is_the_models() {
            scale(&mut output.positions_root, self.factor);
            scale(&mut output.velocities_root, self.factor);
            output.root_velocity *= self.factor;
            for (position, _) in &mut output.trajectory {
                *position *= self.factor;
            }
        }
        output
    }
}

/// `state` in `frame`, its lengths multiplied by `factor`.
fn scaled(state: &CharacterState, frame: RootFrame, factor: f32) -> CharacterState {
    let mut scaled = CharacterState { frame, ..state.clone() };
    scale(&mut scaled.positions_root, factor);
    scale(&mut scaled.velocities_root, factor);
    scaled.root_velocity *= factor;
    scaled
}

fn scale(vectors: &mut [Vec3], factor: f32) {
    for vector in vectors {
        *vector *= factor;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pomp_motion::Gait;

    #[test]
    fn what_a_character_is_shown_to_be_is_the_model_that_it_was_made_of() {
        let model = pomp_embedded::load(&pomp_embedded::Device::flex()).expect("the embedded model loads");
        let (_, _, kinematic) = model.kinematic().expect("it is whole");
        let config = StatureConfig::of_height(Some(1.5));
        let stature = Stature::of(config, &model.description.skeleton).expect("it is served");
        let frame = RootFrame { origin: Vec3::new(3.0, 0.6, -1.5), yaw: 0.7 };
        let read = || crate::start::read_start(&model.description.layout, &kinematic.starts["walk"], frame);
        let (plain, small) = (read(), stature.start(read()));
        let shown = stature.state_to_module(&small.state);
        let near = |a: &[Vec3], b: &[Vec3]| a.iter().zip(b).all(|(a, b)| (*a - *b).length() < 1e-5);
        assert!(near(&shown.positions_root, &plain.state.positions_root));
        assert!(near(&shown.velocities_root, &plain.state.velocities_root));
        assert!(!near(&small.state.positions_root, &plain.state.positions_root), "the control");
        assert!((shown.frame.origin * stature.factor - frame.origin).length() < 1e-5);
        let key = |past: &crate::loop_state::Past| past.key;
        for (own, of_model) in small.history.iter().map(key).zip(plain.history.iter().map(key)) {
            let keys = stature.keys_to_module([WindowKey { gait: Gait::Walk.one_hot(), ..own }; KEYS]);
            let relative = shown.frame.ground_to_root(keys[0].position.x, keys[0].position.y);
            let expected = frame.ground_to_root(of_model.position.x, of_model.position.y);
            assert!((relative - expected).length() < 1e-4);
        }
    }
}

//! Jog start: a rollout that begins with a jog begins with a step of a walk (ours).
//!
//! Acts once, at the start of a rollout. The start window of a jog is a landing at full pace, and a body that is set down in it
//! is behind its target at once: of 30 jogs 11 fell within two seconds; of 30 that began with a step of a walk none did.
//!
//! Cost: none after the start of the rollout.
//!
//! Evidence (`pomp bench --config configs/bench/layers.toml`, runs without a fall of 30 with the layer and without): jogs 27
//! and 7.

use crate::GeneratorConfig;
use crate::control::ControlPlan;
use pomp_model::Model;
use pomp_motion::Gait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings of the start of a jog.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct JogStartConfig {
    /// If off, a jog begins with the start window of a jog. Default true.
    pub enabled: bool,
}

impl Default for JogStartConfig {
    fn default() -> Self {
        Self { enabled: true }
    }
}

impl GeneratorConfig {
    /// The gait in which a character of `model` begins `plan`: that of the first frame; with `layers.jog_start`, a walk where
    /// that is a jog and the model has a start window of a walk.
    pub fn start_gait(&self, plan: &ControlPlan, model: &Model) -> Gait {
        let gait = plan.at(0.0).gait;
        let walks = model
            .description
            .kinematic
            .as_ref()
            .is_some_and(|kinematic| kinematic.starts.contains_key(Gait::Walk.name()));
        if self.layers.jog_start.enabled && gait == Gait::Jog && walks { Gait::Walk } else { gait }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FRAME_RATE_HZ, LayersConfig, Preset};

    #[test]
    fn a_jog_begins_with_a_walk_unless_the_layer_is_off_and_nothing_else_changes() {
        let model = pomp_embedded::load(&pomp_embedded::Device::flex()).expect("the embedded model loads");
        let on = GeneratorConfig::default();
        let off = GeneratorConfig { layers: LayersConfig::off(), ..GeneratorConfig::default() };
        let start = |config: &GeneratorConfig, preset| {
            config.start_gait(&ControlPlan::preset(preset, 2.0, FRAME_RATE_HZ), &model)
        };
        assert_eq!([start(&on, Preset::Jog), start(&off, Preset::Jog)], [Gait::Walk, Gait::Jog]);
        for (preset, gait) in [(Preset::Walk, Gait::Walk), (Preset::Stand, Gait::Stand)] {
            assert_eq!([start(&on, preset), start(&off, preset)], [gait; 2]);
        }
    }
}

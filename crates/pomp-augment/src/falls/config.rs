use crate::bumps::check_bodies;
use pomp_config::{Fields, OutOfRange, Validate};
use pomp_physics::GetUpConfig;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The motion that the body tracks while it gets up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WayUp {
    /// A sequence of designed postures, as in the closed loop. Default.
    #[default]
    Physics,
    /// The motion file, or mirror image of one, whose beginning is nearest to the lying pose. Each file shows a person who lies, gets
    /// up and stands on level ground. The results also carry the licences of these files.
    Clips(Vec<PathBuf>),
}

/// Variants of standing and walking clips that fall, lie, get up and continue. Each pair of numbers is a range to draw from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FallConfig {
    /// Variants with a fall per clip and mirror image. Default 0: none.
    pub variants: usize,
    /// Share of trips among the strikes, 0 to 1; the others are pushes. If no foot swings, every strike is a push. Default 0.5.
    pub trip_share: f32,
    /// Impulse of a trip, against the motion of a swinging foot, over a tenth of a second, N·s. Default 15 to 40.
    pub trip_ns: [f32; 2],
    /// Impulse of a push, over a tenth of a second, horizontal, in any direction, N·s. Default 120 to 250.
    pub impulse_ns: [f32; 2],
    /// Bodies that are pushed, by joint name. Default chest, waist and pelvis; an impulse of this size on an arm moves little except
    /// the arm.
    pub bodies: Vec<String>,
    /// Time in which the drives weaken after the strike, seconds; the root assist is switched off at once. Default 0.3 to 0.8. With a
    /// short time the body collapses, with a long one it topples stiffly.
    pub give_way_s: [f32; 2],
    /// Strength of the drives while the body lies, fraction of their gains, above 0 to 1. Default 0.05.
    pub limp: f32,
    /// Time at rest on the ground, seconds. Default 0.5 to 3.
    pub lie_s: [f32; 2],
    /// Motion tracked while getting up: `"physics"` or `{ clips = [...] }`. Default physics.
    pub get_up: WayUp,
    /// Pace of getting up, 0.2 to 3; at 1 it takes 3 to 4 s. Default 0.8 to 1.2.
    pub pace: [f32; 2],
    /// Share of the root assist while it gets up, 0 to 1. Default 0.83: that of the closed loop.
    pub assist: f32,
    /// Time after the strike within which the body must stand again, seconds; otherwise there is no result. Default 15.
    pub up_within_s: f32,
    /// Time in which the clip's pace and the root assist return to their full values, seconds. Default 0.8.
    pub return_s: f32,
    /// Least share of standing and walking that a clip must have. Default 0.9.
    pub least_steady_share: f32,
    /// Seed of the strikes. Default 1.
    pub seed: u64,
}

impl Default for FallConfig {
    fn default() -> Self {
        Self {
            variants: 0,
            trip_share: 0.5,
            trip_ns: [15.0, 40.0],
            impulse_ns: [120.0, 250.0],
            bodies: ["Spine2", "Spine1", "Hips"].map(str::to_owned).to_vec(),
            give_way_s: [0.3, 0.8],
            limp: 0.05,
            lie_s: [0.5, 3.0],
            get_up: WayUp::Physics,
            pace: [0.8, 1.2],
            assist: 0.83,
            up_within_s: 15.0,
            return_s: 0.8,
            least_steady_share: 0.9,
            seed: 1,
        }
    }
}

impl Validate for FallConfig {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        fields.within("variants", self.variants, 0..=100)?;
        check_bodies(&self.bodies, fields)?;
        fields.holds(
            self.get_up != WayUp::Clips(Vec::new()),
            "get_up.clips",
            "[]",
            "at least one file that shows a person getting up; or get_up = \"physics\"",
        )?;
        fields.within("trip_share", self.trip_share, 0.0..=1.0)?;
        fields.pair_within("trip_ns", self.trip_ns, 0.0..=1000.0)?;
        fields.pair_within("impulse_ns", self.impulse_ns, 0.0..=1000.0)?;
        fields.pair_within("give_way_s", self.give_way_s, 0.0..=5.0)?;
        fields.within("limp", self.limp, 0.001..=1.0)?;
        fields.pair_within("lie_s", self.lie_s, 0.0..=60.0)?;
        fields.pair_within("pace", self.pace, 0.2..=3.0)?;
        fields.within("assist", self.assist, 0.0..=1.0)?;
        fields.within("up_within_s", self.up_within_s, 1.0..=600.0)?;
        fields.within("return_s", self.return_s, 0.05..=10.0)?;
        fields.within("least_steady_share", self.least_steady_share, 0.0..=1.0)
    }
}

impl FallConfig {
    /// Files of recorded get-up motions; none where they are not used.
    pub fn clips(&self) -> &[PathBuf] {
        match &self.get_up {
            WayUp::Clips(paths) if self.variants > 0 => paths,
            _ => &[],
        }
    }

    /// Settings of a get-up after `lie_s` seconds of rest.
    pub(super) fn get_up(lie_s: f32, pace: f32) -> GetUpConfig {
        let ordinary = GetUpConfig::default();
        GetUpConfig { rest_s: lie_s, longest_rest_s: ordinary.longest_rest_s + lie_s, pace, ..ordinary }
    }
}

use pomp_config::{Fields, OutOfRange, Validate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Variants of standing and walking clips that are pushed at random. Each pair of numbers is a range to draw from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BumpConfig {
    /// Pushed variants per clip and mirror image. Default 0: none.
    pub variants: usize,
    /// Size of a push, N·s, horizontal, in any direction. Default 30 to 130: at 75 kg, 50 displaces the pelvis by
    /// centimetres, 100 by decimetres, and 200 causes a fall.
    pub impulse_ns: [f32; 2],
    /// Time between pushes, seconds. Default 2.5 to 4.5; less than 2 pushes a body that has not recovered.
    pub interval_s: [f32; 2],
    /// Bodies that are pushed, by joint name. Default chest, waist, pelvis and shoulders.
    pub bodies: Vec<String>,
    /// Share of the distance by which the target's root moves towards the pushed body in each frame, 0 to 1. Default
    /// 0.15. At 0 the body returns to its old path; at 1 it follows every disturbance.
    pub follow: f32,
    /// Time in which the pelvis returns over its feet, seconds. Default 0.8.
    pub return_s: f32,
    /// Least share of standing and walking that a clip must have. Default 0.9.
    pub least_steady_share: f32,
    /// Seed of the pushes. Default 1.
    pub seed: u64,
}

impl Default for BumpConfig {
    fn default() -> Self {
        Self {
            variants: 0,
            impulse_ns: [30.0, 130.0],
            interval_s: [2.5, 4.5],
            bodies: ["Spine2", "Spine1", "Hips", "LeftArm", "RightArm"].map(str::to_owned).to_vec(),
            follow: 0.15,
            return_s: 0.8,
            least_steady_share: 0.9,
            seed: 1,
        }
    }
}

impl Validate for BumpConfig {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        fields.within("variants", self.variants, 0..=100)?;
        check_bodies(&self.bodies, fields)?;
        fields.pair_within("impulse_ns", self.impulse_ns, 0.0..=1000.0)?;
        fields.pair_within("interval_s", self.interval_s, 0.5..=600.0)?;
        fields.within("follow", self.follow, 0.0..=1.0)?;
        fields.within("return_s", self.return_s, 0.05..=60.0)?;
        fields.within("least_steady_share", self.least_steady_share, 0.0..=1.0)
    }
}

/// Checks that `bodies` names joints of the project skeleton, at least one.
pub(crate) fn check_bodies(bodies: &[String], fields: &Fields) -> Result<(), OutOfRange> {
    fields.holds(!bodies.is_empty(), "bodies", "[]", "at least one joint")?;
    let skeleton = pomp_motion::Skeleton::humanoid(1.75);
    match bodies.iter().find(|name| skeleton.index_of(name).is_none()) {
        Some(name) => fields.holds(false, "bodies", format!("\"{name}\""), "joints of the project skeleton"),
        None => Ok(()),
    }
}

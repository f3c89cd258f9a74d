use serde::{Deserialize, Serialize};

/// Variants of standing and walking clips that are pushed at random. Each pair of numbers is a range to draw from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BumpConfig {
    /// Pushed variants per clip and mirror image. Default 0: none.
    pub variants: usize,
    /// Size of a push, N·s, horizontal, in any direction. Default 30 to 130: at 75 kg 50 moves the pelvis by
    /// centimetres, 100 by decimetres, 200 fells.
    pub impulse_ns: [f32; 2],
    /// Time between pushes, seconds. Default 2.5 to 4.5; less than 2 pushes a body that has not recovered.
    pub interval_s: [f32; 2],
    /// Bodies that are pushed, by joint name. Default chest, waist, pelvis and shoulders.
    pub bodies: Vec<String>,
    /// Share of the way to the pushed body that the target's root moves each frame, 0 to 1. Default 0.15. 0 springs
    /// back as if nothing had been; 1 gives way to everything.
    pub follow: f32,
    /// Time in which the pelvis comes back over its feet, seconds. Default 0.8.
    pub return_s: f32,
    /// Least share of standing and walking in a clip. Default 0.9.
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

impl BumpConfig {
    /// Checks every field; the message names the first one out of range.
    ///
    /// # Errors
    /// The field, its value and its range.
    pub fn validate(&self) -> Result<(), String> {
        if self.variants > 100 {
            return Err(format!("variants = {} is not 0 to 100", self.variants));
        }
        if self.bodies.is_empty() {
            return Err("bodies is empty; name at least one joint".to_owned());
        }
        let skeleton = pomp_motion::Skeleton::humanoid(1.75);
        if let Some(name) = self.bodies.iter().find(|name| skeleton.index_of(name).is_none()) {
            return Err(format!("bodies: \"{name}\" is no joint of the project skeleton"));
        }
        let ranges = [
            ("impulse_ns", self.impulse_ns, 0.0, 1000.0),
            ("interval_s", self.interval_s, 0.5, 600.0),
            ("follow", [self.follow; 2], 0.0, 1.0),
            ("return_s", [self.return_s; 2], 0.05, 60.0),
            ("least_steady_share", [self.least_steady_share; 2], 0.0, 1.0),
        ];
        for (field, [low, high], least, most) in ranges {
            if !(least <= low && low <= high && high <= most) {
                return Err(format!(
                    "{field} = [{low}, {high}] is not a range within {least} and {most}, the smaller number first"
                ));
            }
        }
        Ok(())
    }
}

//! Settings of training with gradients through time.

use pomp_config::{Fields, OutOfRange, Validate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Windows of clips in which the network goes on by itself for some frames, besides the examples of single frames. The gradient of every
/// frame's error reaches the weights through all frames before it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Unrolling {
    /// Windows of a batch; 0 for none.
    pub windows: usize,
    /// Frames of a window at the end of the training; it begins with two, and they grow over its first half.
    pub frames: usize,
    /// Weight of their loss beside that of single frames.
    pub weight: f64,
    /// Weight, beside that of the poses, of how much less or more the characters move over a window than the clips: of the deviation of
    /// every column of the pose over its frames. The pose alone asks for the mean of what may come, which moves less than each.
    pub spread_weight: f64,
    /// Weight, beside that of one number of the pose, of every m/s by which an ankle or toe that stands in the clip is faster than there.
    pub standing_weight: f64,
    /// Largest deviation of the angles by which the joints are turned away from the clip where a rollout begins, radians: it learns to
    /// come back from poses that no clip has.
    pub astray_rad: f32,
    /// Farthest, in frames, that the pose of the clip that a character is led to is before or after the place on the path; each window
    /// begins with the nearest one. 0 leads it to the poses of the clip at their time, also where its steps have become quicker or slower.
    pub retimed_frames: usize,
    /// Share of the characters at the end of their clip that are led on along another clip, from the nearest frame that is found, with the
    /// pose, the phases and the window that they have come to; the others begin anew. With 0 nothing that takes longer than a clip to
    /// build up is learned to be mended.
    pub carried_share: f64,
    /// Share of the characters that keep to the gait and the direction of travel in which they begin: where their clip leaves them, they
    /// are led on along another one that has them, as at its end. For what the clips never do for long.
    pub kept_share: f64,
    /// Whether characters that begin standing or walking ahead, as most of what is recorded does, are kept at it too.
    pub keeps_common: bool,
}

impl Validate for Unrolling {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        fields.within("windows", self.windows, 0..=4096)?;
        fields.within("frames", self.frames, 1..=300)?;
        fields.within("weight", self.weight, 0.0..=1e6)?;
        fields.within("spread_weight", self.spread_weight, 0.0..=1e6)?;
        fields.within("standing_weight", self.standing_weight, 0.0..=1e6)?;
        fields.within("astray_rad", self.astray_rad, 0.0..=1.0)?;
        fields.within("retimed_frames", self.retimed_frames, 0..=600)?;
        fields.within("carried_share", self.carried_share, 0.0..=1.0)?;
        fields.within("kept_share", self.kept_share, 0.0..=1.0)
    }
}

impl Default for Unrolling {
    fn default() -> Self {
        Self {
            windows: 0,
            frames: 16,
            weight: 1.0,
            spread_weight: 0.0,
            standing_weight: 0.0,
            astray_rad: 0.2,
            retimed_frames: 40,
            carried_share: 0.9,
            kept_share: 0.0,
            keeps_common: true,
        }
    }
}

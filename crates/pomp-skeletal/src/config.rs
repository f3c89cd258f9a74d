use crate::SkeletalError;
use pomp_config::{Fields, OutOfRange, Validate};
use pomp_motion::retarget::UpAxis;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// All settings of skeleton-aware networks and of their training: `configs/retarget.toml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SkeletalConfig {
    /// Seed of weights and batches; the same seed and data give the same bytes. Default 1.
    pub seed: u64,
    /// One clip in so many of each folder is held out and measured; 0 holds out none. Default 10.
    pub held_out_every: usize,
    /// Frames of a window in training, at 30 Hz; a multiple of 4. Default 64; longer ones cost more. Of shorter ones
    /// most frames are near an end, where a convolution sees nothing beyond.
    pub window_frames: usize,
    /// Axis of the files that points to the sky.
    pub up_axis: UpAxes,
    /// Joints that the networks do not see.
    pub leave_out: LeaveOut,
    /// Sizes of the networks.
    pub sizes: SkeletalSizes,
    /// Whether encoders and decoders are told the bone lengths of the bodies (static branch). Default true; without it, one decoder
    /// serves bodies of other proportions only as far as rotations do.
    pub static_branch: bool,
    /// Weights of the loss.
    pub loss: SkeletalWeights,
    /// Optimiser and schedule.
    pub training: SkeletalTraining,
}

impl Default for SkeletalConfig {
    fn default() -> Self {
        Self {
            seed: 1,
            held_out_every: 10,
            window_frames: 64,
            up_axis: UpAxes::default(),
            leave_out: LeaveOut::default(),
            sizes: SkeletalSizes::default(),
            static_branch: true,
            loss: SkeletalWeights::default(),
            training: SkeletalTraining::default(),
        }
    }
}

/// Axis that points to the sky in the files of each skeleton; of recordings (.npz) it is y.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct UpAxes {
    /// Of the first skeleton. Default y.
    pub a: UpAxis,
    /// Of the second skeleton. Default y.
    pub b: UpAxis,
}

impl Default for UpAxes {
    fn default() -> Self {
        Self { a: UpAxis::Y, b: UpAxis::Y }
    }
}

/// Joints that the networks do not see. They keep their mean rotation of the motions learned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LeaveOut {
    /// Whether limbs are left out that branch off together and are short, such as the fingers of a hand, the eyes of a head and the
    /// toes of a foot: those of a joint below which no line of bones is a fifth as long as the longest from the root. Default true;
    /// with false, both skeletons need the same fingers.
    pub small_limbs: bool,
    /// Joints of the first skeleton by name, each with all that hangs from it. Default none. For twist bones and props, and for joints
    /// at the end of a limb that the other skeleton lacks, such as toes: ends of limbs are matched by their velocity.
    pub a: Vec<String>,
    /// The same of the second skeleton.
    pub b: Vec<String>,
}

impl Default for LeaveOut {
    fn default() -> Self {
        Self { small_limbs: true, a: Vec::new(), b: Vec::new() }
    }
}

impl LeaveOut {
    /// Names of the first skeleton, 0, or the second, 1.
    pub(crate) fn names(&self, side: usize) -> &[String] {
        if side == 0 { &self.a } else { &self.b }
    }
}

/// Sizes of the networks; those of both skeletons are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SkeletalSizes {
    /// Channels per joint after the first convolution, and per primal joint after the second. Default 8 and 16, doubling from the 4 of
    /// a quaternion; less blurs the motion.
    pub channels: [usize; 2],
    /// Channels per node of the deep static features. Default 6.
    pub static_channels: usize,
    /// Channels per node in the discriminator. Default 8 and 16.
    pub discriminator_channels: [usize; 2],
    /// Frames that a convolution sees, odd. Default 7; the published networks have 15, for windows of 64 frames.
    pub kernel_frames: usize,
    /// Steps along the tree that a node sees. Default 2; 0 sees a node alone.
    pub neighbourhood: usize,
}

impl Default for SkeletalSizes {
    fn default() -> Self {
        Self {
            channels: [8, 16],
            static_channels: 6,
            discriminator_channels: [8, 16],
            kernel_frames: 7,
            neighbourhood: 2,
        }
    }
}

/// Weights of the parts of the loss; 0 leaves a part out.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SkeletalWeights {
    /// Features of a motion through its own encoder and decoder, mean square of deviations. Default 5.
    pub reconstruction: f32,
    /// Joint positions of the same over height, mean square. Default 500.
    pub positions: f32,
    /// Latent code of a retargeted motion against that of its source, mean magnitude. Default 2.5.
    pub cycle: f32,
    /// Velocities of end effectors over height of a retargeted motion against those of its source, mean square. Default 50; without
    /// it nothing says which latent motion of one skeleton is which of the other, but for the shared shape of the networks.
    pub end_effectors: f32,
    /// From where each limb and the trunk begins to where it ends, over the length of its bones, of a retargeted motion against its source,
    /// mean square. Default 100; velocities alone leave open how a limb that moves little is held. 0 as published.
    pub reaches: f32,
    /// Least squares of the discriminator on retargeted motion. Default 1.
    pub adversarial: f32,
}

impl Default for SkeletalWeights {
    fn default() -> Self {
        Self {
            reconstruction: 5.0,
            positions: 500.0,
            cycle: 2.5,
            end_effectors: 50.0,
            reaches: 100.0,
            adversarial: 1.0,
        }
    }
}

/// Optimiser and schedule.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SkeletalTraining {
    /// Optimiser steps. Default 3000.
    pub steps: usize,
    /// Windows of each skeleton per step. Default 8.
    pub batch_size: usize,
    /// Peak learning rate, which falls along a cosine. Default 0.002.
    pub learning_rate: f64,
}

impl Default for SkeletalTraining {
    fn default() -> Self {
        Self { steps: 3000, batch_size: 8, learning_rate: 2e-3 }
    }
}

impl Validate for SkeletalConfig {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        fields.holds(self.held_out_every != 1, "held_out_every", self.held_out_every, "0, or 2 or more")?;
        fields.within("held_out_every", self.held_out_every, 0..=1000)?;
        fields.within("window_frames", self.window_frames, 8..=512)?;
        let is_even = self.window_frames.is_multiple_of(4);
        fields.holds(is_even, "window_frames", self.window_frames, "a multiple of 4")?;
        self.sizes.check(&fields.section("sizes"))?;
        self.loss.check(&fields.section("loss"))?;
        self.training.check(&fields.section("training"))
    }
}

impl Validate for SkeletalSizes {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        for (name, pair) in
            [("channels", self.channels), ("discriminator_channels", self.discriminator_channels)]
        {
            fields.within(name, pair[0], 1..=256)?;
            fields.within(name, pair[1], 1..=256)?;
        }
        fields.within("static_channels", self.static_channels, 1..=64)?;
        fields.within("kernel_frames", self.kernel_frames, 1..=31)?;
        fields.holds(self.kernel_frames % 2 == 1, "kernel_frames", self.kernel_frames, "an odd number")?;
        fields.within("neighbourhood", self.neighbourhood, 0..=16)
    }
}

impl Validate for SkeletalWeights {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        for (name, weight) in [
            ("reconstruction", self.reconstruction),
            ("positions", self.positions),
            ("cycle", self.cycle),
            ("end_effectors", self.end_effectors),
            ("reaches", self.reaches),
            ("adversarial", self.adversarial),
        ] {
            fields.within(name, weight, 0.0..=1e6)?;
        }
        Ok(())
    }
}

impl Validate for SkeletalTraining {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        fields.within("steps", self.steps, 1..=100_000_000)?;
        fields.within("batch_size", self.batch_size, 1..=65_536)?;
        fields.within("learning_rate", self.learning_rate, 1e-8..=1.0)
    }
}

impl SkeletalConfig {
    /// Checks every range.
    ///
    /// # Errors
    /// [`SkeletalError::OutOfRange`] with the first field outside its range.
    pub fn validate(&self) -> Result<(), SkeletalError> {
        Ok(self.check(&Fields::root())?)
    }
}

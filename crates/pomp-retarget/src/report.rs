use pomp_motion::retarget::SourceFrame;
use serde::Serialize;

/// A joint of the target that plays no project joint, and moves all the same.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Follower {
    /// The joint.
    pub joint: String,
    /// What it shares: `bend`, `twist` or `pelvis`.
    pub shares: &'static str,
    /// Its share, 0 to 1.
    pub share: f32,
}

/// A joint whose channels cannot state every rotation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ShortJoint {
    /// The joint.
    pub joint: String,
    /// Its number of rotation channels.
    pub channels: usize,
    /// Angle between the rotation that the motion asks for and the one that is written, mean over the frames, degrees.
    pub lost_degrees: f32,
}

/// What feet do while they are planted, in the clip and on the target, scaled to the clip's size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PlantedFeet {
    /// Mean horizontal speed of planted heels and toes in the clip, m/s.
    pub clip_m_s: f32,
    /// The same on the target, m/s of the clip's size.
    pub target_m_s: f32,
    /// Share of the frames in which a heel or toe is planted, mean of the four.
    pub planted: f32,
}

/// Everything that retargeting onto a skeleton found out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OntoReport {
    /// Rig map used.
    pub rig: String,
    /// Unit and up axis of the target with the reasons.
    pub source_frame: SourceFrame,
    /// Leg length of the target over that of the clip (both in metres).
    pub scale: f32,
    /// Height of the ankle of a standing foot above y = 0 of the target's file, metres.
    pub ankle_height_m: f32,
    /// How this height was found.
    pub ankle_height_reason: String,
    /// Joint whose position channels carry the body.
    pub carrier: String,
    /// Project joints that the target lacks; their rotations are lost.
    pub missing: Vec<String>,
    /// Joints that share the motion of mapped ones.
    pub followers: Vec<Follower>,
    /// Joints that keep their rest pose.
    pub at_rest: Vec<String>,
    /// Joints with fewer than three rotation channels that lose something.
    pub short_joints: Vec<ShortJoint>,
    /// Planted feet.
    pub planted_feet: PlantedFeet,
    /// What a person should know before trusting the motion.
    pub warnings: Vec<String>,
}

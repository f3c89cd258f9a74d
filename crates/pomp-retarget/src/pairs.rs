//! Exact pairs: clips told on bodies of two skeletons.

use crate::altered::Altered;
use glam::Quat;
use pomp_motion::random::Draws;
use pomp_motion::{Clip, MotionError, SourceMotion};

/// Which of the two skeletons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairSkeleton {
    /// The project's, 22 joints.
    Own,
    /// Thighs and forearms split, one spine joint less.
    Split,
    /// The same with every joint frame turned.
    Turned,
}

/// Factors of bone lengths of a body, 1 for the first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairBody {
    /// Its number.
    pub number: usize,
    /// Of legs and hips, and of the way.
    pub legs: f32,
    /// Of spine and neck.
    pub trunk: f32,
    /// Of collar bones.
    pub shoulders: f32,
    /// Of arms.
    pub arms: f32,
}

impl PairBody {
    /// The first body, as the clip's, or one drawn: every factor between 0.75 and 1.3.
    pub fn drawn(number: usize, seed: u64) -> Self {
        let mut draws = Draws::new(seed, number as u64);
        let mut factor = || if number == 0 { 1.0 } else { draws.within([0.75, 1.3]) };
        Self { number, legs: factor(), trunk: factor(), shoulders: factor(), arms: factor() }
    }

    fn factor(&self, joint: &str) -> f32 {
        let is_one_of = |words: &[&str]| words.iter().any(|word| joint.contains(word));
        if is_one_of(&["Leg", "Foot", "Toe", "Thigh"]) {
            self.legs
        } else if is_one_of(&["Shoulder"]) {
            self.shoulders
        } else if is_one_of(&["Arm", "Hand"]) {
            self.arms
        } else {
            self.trunk
        }
    }
}

/// A clip of the project's topology on a body of one of the skeletons: the same rotations in the world, the way in proportion to the
/// legs.
///
/// # Errors
/// A clip that lacks joints of the project skeleton.
pub fn told(clip: &Clip, skeleton: PairSkeleton, body: &PairBody) -> Result<SourceMotion, MotionError> {
    let motion = SourceMotion {
        name: clip.name.clone(),
        skeleton: clip.skeleton.as_ref().clone(),
        end_sites: Vec::new(),
        frame_rate_hz: clip.frame_rate_hz,
        poses: clip.poses.clone(),
        joint_translations: None,
    };
    let stretched = Altered::new(motion)?.stretched(body.legs, |joint| body.factor(joint))?;
    if skeleton == PairSkeleton::Own {
        return Ok(stretched.motion());
    }
    let split = stretched
        .split("LeftLeg", "LeftThighHalf", 0.4)?
        .split("RightLeg", "RightThighHalf", 0.4)?
        .split("LeftHand", "LeftForeArmHalf", 0.5)?
        .split("RightHand", "RightForeArmHalf", 0.5)?
        .merged("Spine1")?;
    if skeleton == PairSkeleton::Split {
        return Ok(split.motion());
    }
    let joints = split.clone().motion().skeleton.len();
    split.reoriented(&turns(joints)).map(Altered::motion)
}

/// A rotation for every joint that is different for each.
fn turns(joints: usize) -> Vec<Quat> {
    let turn = |joint: usize| {
        let t = joint as f32;
        Quat::from_scaled_axis(glam::Vec3::new((1.7 * t).sin(), (2.3 * t).cos(), (0.9 * t + 1.0).sin()) * 1.3)
    };
    (0..joints).map(turn).collect()
}

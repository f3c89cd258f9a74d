//! What a step is worth.

use super::observation::BodyState;
use pomp_motion::{JointIndex, Skeleton, rotation};

/// How far a body is from the clip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Errors {
    /// Mean square angle between the rotations of the joints relative to their parents, without the root, rad².
    pub rotation_rad2: f32,
    /// Mean square distance of the joints, each measured from its pelvis, without the root, m².
    pub position_m2: f32,
    /// Square distance of the pelvises, m².
    pub root_m2: f32,
    /// Square angle between their rotations, rad².
    pub root_rad2: f32,
    /// Mean square difference of the velocities of the joints, m²/s².
    pub velocity_m2_s2: f32,
}

/// The reward, 0 to 1:
///
/// 0.35 exp(−20 rotation) + 0.2 exp(−50 position) + 0.3 exp(−10 root distance² − 5 root angle²) + 0.15 exp(−velocity)
pub fn reward(errors: &Errors) -> f32 {
    let Errors { rotation_rad2, position_m2, root_m2, root_rad2, velocity_m2_s2 } = *errors;
    0.35 * (-20.0 * rotation_rad2).exp()
        + 0.2 * (-50.0 * position_m2).exp()
        + 0.3 * (-10.0 * root_m2 - 5.0 * root_rad2).exp()
        + 0.15 * (-velocity_m2_s2).exp()
}

/// The errors of a body beside the clip's state.
pub(super) fn errors(skeleton: &Skeleton, body: &BodyState, clip: &BodyState) -> Errors {
    let joints = skeleton.len();
    let driven = (joints - 1) as f32;
    let angle2 = |a: glam::Quat, b: glam::Quat| rotation::log(a * b.inverse()).length_squared();
    let local = |state: &BodyState, joint: usize| {
        let parent = skeleton.parent(JointIndex(joint)).map_or(0, |parent| parent.0);
        state.pose.rotations[parent].inverse() * state.pose.rotations[joint]
    };
    let (own, to) = (&body.pose.positions, &clip.pose.positions);
    let position = |joint: usize| ((own[joint] - own[0]) - (to[joint] - to[0])).length_squared();
    let velocity = |joint: usize| (body.linear[joint] - clip.linear[joint]).length_squared();
    Errors {
        rotation_rad2: (1..joints).map(|joint| angle2(local(body, joint), local(clip, joint))).sum::<f32>()
            / driven,
        position_m2: (1..joints).map(position).sum::<f32>() / driven,
        root_m2: own[0].distance_squared(to[0]),
        root_rad2: angle2(body.pose.rotations[0], clip.pose.rotations[0]),
        velocity_m2_s2: (0..joints).map(velocity).sum::<f32>() / joints as f32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: Errors =
        Errors { rotation_rad2: 0.0, position_m2: 0.0, root_m2: 0.0, root_rad2: 0.0, velocity_m2_s2: 0.0 };

    #[test]
    fn a_body_on_the_clip_gets_1_and_each_error_lowers_it() {
        assert!((reward(&NONE) - 1.0).abs() < 1e-6);
        let worse = [
            Errors { rotation_rad2: 0.05, ..NONE },
            Errors { position_m2: 0.01, ..NONE },
            Errors { root_m2: 0.04, ..NONE },
            Errors { root_rad2: 0.1, ..NONE },
            Errors { velocity_m2_s2: 1.0, ..NONE },
        ];
        for errors in worse {
            assert!((0.6..0.95).contains(&reward(&errors)), "{errors:?}: {}", reward(&errors));
        }
    }
}

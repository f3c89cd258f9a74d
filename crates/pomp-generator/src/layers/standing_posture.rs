//! Standing upright: what keeps one who stands from sinking into a bow.
//!
//! Among what is labelled as standing in mocap are people who bend, reach and crouch a little, and the kinematic module,
//! fed with its own poses, wanders among all of it: within seconds the trunk of one who only stands may hang forward by 80°.
//! So while the command is to stand, trunk, head, arms and pelvis are drawn back to an upright posture, slower than people
//! sway; legs and feet follow.

use crate::ControlPlan;
use glam::Vec2;
use pomp_motion::rotation::wrap_angle;
use pomp_motion::{Pose, humanoid};

const FRAME_S: f32 = 1.0 / crate::FRAME_RATE_HZ;
/// How far ahead the command counts, frames: who is about to walk moves already.
const AHEAD_FRAMES: [f32; 3] = [0.0, 15.0, 30.0];
/// Between these it begins to move in earnest: commanded speed, m/s; the body's own speed, m/s, by which it answers a push;
/// and the angle to the commanded heading, radians.
const COMMANDED_M_S: (f32, f32) = (0.1, 0.4);
const MOVING_M_S: (f32, f32) = (0.4, 0.8);
const TURNED_RAD: (f32, f32) = (0.5, 0.9);

/// Share of the way back to an upright posture that one who stands goes in a frame, for a time constant of `time_s`
/// seconds: 0 for one who moves, is to move, or is pushed, and for a time of 0.
pub(crate) fn share_of_upright(
    time_s: f32,
    plan: &ControlPlan,
    plan_frame: f32,
    yaw: f32,
    body_velocity: Vec2,
) -> f32 {
    if time_s <= 0.0 {
        return 0.0;
    }
    let ahead = AHEAD_FRAMES.map(|frames| plan.at(plan_frame + frames));
    let commanded = ahead.iter().map(|sample| sample.speed_mps).fold(0.0, f32::max);
    let turned = ahead.iter().map(|sample| wrap_angle(sample.yaw - yaw).abs()).fold(0.0, f32::max);
    let between = |value: f32, (low, high): (f32, f32)| ((value - low) / (high - low)).clamp(0.0, 1.0);
    let moving = between(commanded, COMMANDED_M_S)
        .max(between(turned, TURNED_RAD))
        .max(between(body_velocity.length(), MOVING_M_S));
    (1.0 - (-FRAME_S / time_s).exp()) * (1.0 - moving)
}

/// Takes `pose` a `share` of the way to `upright`: its trunk, head and arms, and the pelvis's tilt and height. Legs and place
/// stay.
pub(crate) fn straighten(pose: &mut Pose, upright: &Pose, share: f32) {
    let joints = std::iter::once(humanoid::HIPS.0).chain(humanoid::SPINE.0..humanoid::JOINTS);
    for joint in joints {
        let (from, to) = (pose.local_rotations[joint], upright.local_rotations[joint]);
        pose.local_rotations[joint] = from.slerp(to, share);
    }
    pose.root_position.y += (upright.root_position.y - pose.root_position.y) * share;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Preset;

    #[test]
    fn who_walks_turns_or_is_pushed_is_left_alone_and_who_stands_is_not() {
        let (stand, walk) =
            (ControlPlan::preset(Preset::Stand, 5.0, 60.0), ControlPlan::preset(Preset::Walk, 5.0, 60.0));
        let share = |plan: &ControlPlan, yaw, speed| share_of_upright(0.2, plan, 60.0, yaw, Vec2::X * speed);
        assert_eq!(share(&walk, 0.0, 1.2), 0.0);
        assert_eq!(share(&walk, 0.0, 0.0), 0.0);
        assert_eq!(share(&stand, 1.5, 0.0), 0.0);
        assert_eq!(share(&stand, 0.0, 1.0), 0.0);
        assert!((share(&stand, 0.1, 0.1) - 0.08).abs() < 0.01);
        assert_eq!(share_of_upright(0.0, &stand, 0.0, 0.0, Vec2::ZERO), 0.0);
    }

    #[test]
    fn it_lets_go_before_the_command_moves() {
        let plan = ControlPlan::preset(Preset::StopAndGo, 10.0, 60.0);
        let goes = (400..600).find(|frame| plan.at(*frame as f32).speed_mps > 0.05).unwrap();
        let share = share_of_upright(0.2, &plan, goes as f32 - 12.0, 0.0, Vec2::ZERO);
        assert!(share < 0.04, "a fifth of a second before it goes the share is {share}");
    }
}

//! A posture on the ground: where pelvis, hands and feet are, and the pose that puts them there.

use pomp_motion::glam::{Quat, Vec3};
use pomp_motion::rotation::from_yaw;
use pomp_motion::two_bone_ik::{Limb, LimbShape, reach};
use pomp_motion::{GlobalPose, JointIndex, Pose, RootFrame, Skeleton, humanoid};
use pomp_terrain::HeightMap;
use std::f32::consts::FRAC_PI_2;

/// Lengths are fractions of body height in a root frame: x left, y over the ground below that point, z ahead. Angles are
/// radians.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Posture {
    pub pelvis: Vec3,
    /// Of the pelvis from upright, forward positive.
    pub pitch: f32,
    /// Of the spine, forward, over its three joints together.
    pub bend: f32,
    /// Of neck and head, forward, together.
    pub nod: f32,
    /// Where the knees go that have the choice: up of straight ahead.
    pub knees_up: f32,
    /// Left, right.
    pub feet: [FootPlace; 2],
    /// Left, right.
    pub hands: [HandPlace; 2],
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct FootPlace {
    pub ankle: Vec3,
    /// Of the foot from flat, toes down positive.
    pub pitch: f32,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct HandPlace {
    pub wrist: Vec3,
    /// 1 when the palm is on the ground, 0 when the hand goes on straight from the forearm.
    pub planted: f32,
    /// Where the fingers of a planted hand point: 0 outwards, 1 ahead.
    pub ahead: f32,
}

/// Hip, knee, ankle; left, right.
const LEGS: [[JointIndex; 3]; 2] = [
    [humanoid::LEFT_UP_LEG, humanoid::LEFT_LEG, humanoid::LEFT_FOOT],
    [humanoid::RIGHT_UP_LEG, humanoid::RIGHT_LEG, humanoid::RIGHT_FOOT],
];
/// Shoulder, elbow, wrist; left, right.
const ARMS: [[JointIndex; 3]; 2] = [
    [humanoid::LEFT_ARM, humanoid::LEFT_FORE_ARM, humanoid::LEFT_HAND],
    [humanoid::RIGHT_ARM, humanoid::RIGHT_FORE_ARM, humanoid::RIGHT_HAND],
];
/// +1 on the left, −1 on the right.
const SIDES: [f32; 2] = [1.0, -1.0];
/// Where an elbow goes that has the choice: out, down and back, in the frame of the chest, on the left.
const ELBOW: Vec3 = Vec3::new(0.4, -0.6, -0.5);

impl Posture {
    /// The posture `t` of the way to `other`, every number on its straight line.
    pub fn lerp(&self, other: &Self, t: f32) -> Self {
        let mix = |a: f32, b: f32| a + (b - a) * t;
        let feet = |side: usize| {
            let (a, b) = (self.feet[side], other.feet[side]);
            FootPlace { ankle: a.ankle.lerp(b.ankle, t), pitch: mix(a.pitch, b.pitch) }
        };
        let hands = |side: usize| {
            let (a, b) = (self.hands[side], other.hands[side]);
            HandPlace {
                wrist: a.wrist.lerp(b.wrist, t),
                planted: mix(a.planted, b.planted),
                ahead: mix(a.ahead, b.ahead),
            }
        };
        Self {
            pelvis: self.pelvis.lerp(other.pelvis, t),
            pitch: mix(self.pitch, other.pitch),
            bend: mix(self.bend, other.bend),
            nod: mix(self.nod, other.nod),
            knees_up: mix(self.knees_up, other.knees_up),
            feet: [feet(0), feet(1)],
            hands: [hands(0), hands(1)],
        }
    }

    /// Left and right exchanged.
    pub fn mirrored(&self) -> Self {
        let flip = |v: Vec3| Vec3::new(-v.x, v.y, v.z);
        let [left_foot, right_foot] = self.feet;
        let [left_hand, right_hand] = self.hands;
        let foot = |foot: FootPlace| FootPlace { ankle: flip(foot.ankle), ..foot };
        let hand = |hand: HandPlace| HandPlace { wrist: flip(hand.wrist), ..hand };
        Self {
            pelvis: flip(self.pelvis),
            feet: [foot(right_foot), foot(left_foot)],
            hands: [hand(right_hand), hand(left_hand)],
            ..*self
        }
    }

    /// The pose of a body of `height_m` in this posture, in `frame` on `terrain`.
    pub fn pose(&self, skeleton: &Skeleton, height_m: f32, frame: &RootFrame, terrain: &HeightMap) -> Pose {
        let below_pelvis = |x, z| terrain.smoothed_height(x, z);
        self.pose_over(skeleton, height_m, frame, [&below_pelvis, &|x, z| terrain.height(x, z)])
    }

    /// The same where all heights are over the level of `frame`, whatever lies below.
    pub fn pose_over_level(&self, skeleton: &Skeleton, height_m: f32, frame: &RootFrame) -> Pose {
        let level = |_, _| frame.origin.y;
        self.pose_over(skeleton, height_m, frame, [&level, &level])
    }

    /// The pose over the grounds of pelvis, and of hands and feet.
    fn pose_over(
        &self,
        skeleton: &Skeleton,
        height_m: f32,
        frame: &RootFrame,
        [below_pelvis, ground]: [&dyn Fn(f32, f32) -> f32; 2],
    ) -> Pose {
        let place = |at: Vec3, ground: &dyn Fn(f32, f32) -> f32| {
            let world = frame.to_world(at * height_m);
            Vec3::new(world.x, ground(world.x, world.z) + at.y * height_m, world.z)
        };
        let facing = from_yaw(frame.yaw);
        let mut pose = Pose::rest(skeleton);
        pose.root_position = place(self.pelvis, below_pelvis);
        pose.local_rotations[humanoid::HIPS.0] = facing * Quat::from_rotation_x(self.pitch);
        for joint in [humanoid::SPINE, humanoid::SPINE1, humanoid::SPINE2] {
            pose.local_rotations[joint.0] = Quat::from_rotation_x(self.bend / 3.0);
        }
        for joint in [humanoid::NECK, humanoid::HEAD] {
            pose.local_rotations[joint.0] = Quat::from_rotation_x(self.nod / 2.0);
        }
        let world = skeleton.forward_kinematics(&pose);
        for (side, leg) in LEGS.into_iter().enumerate() {
            let foot = &self.feet[side];
            let to = place(foot.ankle, ground);
            let limb = Limb { upper_rotation: facing, lower_rotation: facing };
            let knee = facing * Vec3::new(0.1 * SIDES[side], self.knees_up, 1.0);
            let end = facing * Quat::from_rotation_x(foot.pitch);
            bend(skeleton, &mut pose, &world, leg, limb, (to, knee, Vec3::Z), |_| end);
        }
        for (side, arm) in ARMS.into_iter().enumerate() {
            let hand = &self.hands[side];
            let to = place(hand.wrist, ground);
            let chest = world.rotations[humanoid::SPINE2.0];
            let reaching = chest * Quat::from_rotation_y(-SIDES[side] * FRAC_PI_2);
            let limb = Limb { upper_rotation: reaching, lower_rotation: reaching };
            let elbow = chest * (ELBOW * Vec3::new(SIDES[side], 1.0, 1.0));
            let palm = facing * Quat::from_rotation_y(-SIDES[side] * FRAC_PI_2 * hand.ahead);
            bend(skeleton, &mut pose, &world, arm, limb, (to, elbow, Vec3::NEG_Y), |forearm| {
                forearm.slerp(palm, hand.planted)
            });
        }
        pose
    }
}

/// Turns the limb of `joints` from `limb` so that its end comes to the place `to`, its middle joint towards
/// `middle`; `end` gives the rotation of the end in the world from that of the lower bone.
fn bend(
    skeleton: &Skeleton,
    pose: &mut Pose,
    world: &GlobalPose,
    joints: [JointIndex; 3],
    limb: Limb,
    (to, middle, bend_local): (Vec3, Vec3, Vec3),
    end: impl Fn(Quat) -> Quat,
) {
    let [upper, lower, last] = joints.map(|joint| joint.0);
    let offset = |joint: usize| skeleton.joints()[joint].offset;
    let shape = LimbShape { upper_bone: offset(lower), lower_bone: offset(last), bend_local };
    let root = world.positions[upper];
    let bent = reach(root, to, root + middle, limb, &shape);
    let parent = skeleton.parent(joints[0]).map_or(Quat::IDENTITY, |parent| world.rotations[parent.0]);
    let local = |parent: Quat, child: Quat| (parent.inverse() * child).normalize();
    pose.local_rotations[upper] = local(parent, bent.upper_rotation);
    pose.local_rotations[lower] = local(bent.upper_rotation, bent.lower_rotation);
    pose.local_rotations[last] = local(bent.lower_rotation, end(bent.lower_rotation));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::get_up::route::{Route, Side};

    #[test]
    fn feet_and_planted_hands_are_where_the_posture_says_on_any_ground() {
        let skeleton = Skeleton::humanoid(1.75);
        let slope = HeightMap::from_fn(101, 101, [-5.0, -5.0], 0.1, |x, z| 0.1 * x - 0.05 * z).unwrap();
        let frame = RootFrame { origin: Vec3::new(1.0, 0.05, -2.0), yaw: 0.8 };
        for route in [Route::prone(Side::Left), Route::prone(Side::Right), Route::supine()] {
            for key in 0..=40 {
                let posture = route.posture(route.duration_s() * key as f32 / 40.0);
                let world = skeleton.forward_kinematics(&posture.pose(&skeleton, 1.75, &frame, &slope));
                for side in 0..2 {
                    let ankle = world.positions[LEGS[side][2].0];
                    let wanted = frame.to_world(posture.feet[side].ankle * 1.75);
                    let over = ankle.y - slope.height(ankle.x, ankle.z);
                    let away = (ankle - wanted).with_y(0.0).length();
                    assert!(away < 0.03, "key {key}: foot {side} is {away} m away");
                    assert!(
                        (over - posture.feet[side].ankle.y * 1.75).abs() < 0.02,
                        "foot {side} at {over} m"
                    );
                    if posture.hands[side].planted > 0.99 {
                        let wrist = world.positions[ARMS[side][2].0];
                        let away =
                            (wrist - frame.to_world(posture.hands[side].wrist * 1.75)).with_y(0.0).length();
                        assert!(away < 0.05, "key {key}: hand {side} is {away} m away");
                    }
                }
            }
        }
    }
}

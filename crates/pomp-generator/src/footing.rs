//! Feet of a target pose, set right before the drives get it (ours).
//!
//! The kinematic module is right to a centimetre or two. That is enough for the eye, but a swinging toe clears the
//! ground by less, and one that touches it is held there by friction and trips the body. So the ankles go where the
//! module's joint positions have them (its rotations add their errors along the leg), a swinging foot is lifted to a
//! stated clearance over the standing one, and the lower foot is set on the ground.

use glam::{Quat, Vec3};
use pomp_motion::two_bone_ik::{Limb, LimbShape, reach};
use pomp_motion::{Gait, GlobalPose, JointIndex, Pose, Skeleton, humanoid};
use pomp_terrain::HeightMap;

/// Length of the toes before the toe joint, fraction of body height: foot length 0.152 H (Drillis and Contini 1966)
/// less heel and ball.
const TOE_LENGTH: f32 = 0.035;
/// How much faster than the other one a foot is while it passes from standing to swinging, m/s.
const SWING_FROM_MPS: f32 = 0.4;
const SWING_FULLY_MPS: f32 = 1.2;
/// Farthest that the pelvis is moved to set the lower foot on the ground, metres.
const LARGEST_SHIFT_M: f32 = 0.1;

/// Hip, knee, ankle, toe of both legs.
const LEGS: [[JointIndex; 4]; 2] = [
    [humanoid::LEFT_UP_LEG, humanoid::LEFT_LEG, humanoid::LEFT_FOOT, humanoid::LEFT_TOE],
    [humanoid::RIGHT_UP_LEG, humanoid::RIGHT_LEG, humanoid::RIGHT_FOOT, humanoid::RIGHT_TOE],
];

/// What the feet of one skeleton need.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Footing {
    body_height_m: f32,
    clearance_m: f32,
}

impl Footing {
    pub fn new(body_height_m: f32, clearance_m: f32) -> Self {
        Self { body_height_m, clearance_m }
    }

    /// Sets the feet of `target`. `ankles` are the module's own positions of both ankles in the world; `before` is the
    /// last target `dt_s` ago; `gait` tells whether a foot is on the ground at all.
    #[allow(clippy::too_many_arguments, reason = "the pose, what is known of it, and the world around it")]
    pub fn set(
        &self,
        skeleton: &Skeleton,
        target: &mut Pose,
        ankles: [Vec3; 2],
        before: &GlobalPose,
        gait: &[f32; Gait::COUNT],
        terrain: &HeightMap,
        dt_s: f32,
    ) {
        let world = skeleton.forward_kinematics(target);
        let lowest: [f32; 2] =
            std::array::from_fn(|leg| self.lowest(&world, LEGS[leg], ankles[leg], terrain));
        let speeds: [f32; 2] = std::array::from_fn(|leg| {
            let moved = ankles[leg] - before.positions[LEGS[leg][2].0];
            moved.x.hypot(moved.z) / dt_s
        });
        for (leg, [hip, knee, ankle, _]) in LEGS.into_iter().enumerate() {
            // Only the faster foot swings: lifting both would lift the body, frame after frame.
            let faster = speeds[leg] - speeds[1 - leg];
            let swing = ((faster - SWING_FROM_MPS) / (SWING_FULLY_MPS - SWING_FROM_MPS)).clamp(0.0, 1.0);
            let lift = (lowest[1 - leg] + self.clearance_m * swing - lowest[leg]).max(0.0);
            let lift = if swing > 0.0 { lift } else { 0.0 };
            bend_leg(skeleton, target, &world, [hip, knee, ankle], ankles[leg] + Vec3::Y * lift);
        }
        let standing = if speeds[0] < speeds[1] { lowest[0] } else { lowest[1] };
        let grounded = gait[Gait::Stand.index()] + gait[Gait::Walk.index()] + gait[Gait::Crouch.index()];
        target.root_position.y -= standing.clamp(-LARGEST_SHIFT_M, LARGEST_SHIFT_M) * grounded.min(1.0);
    }

    /// Height above the ground of the lowest of heel, ball and toe tip when the ankle is at `at`.
    fn lowest(&self, world: &GlobalPose, leg: [JointIndex; 4], at: Vec3, terrain: &HeightMap) -> f32 {
        let [_, _, ankle, toe] = leg;
        let shift = at - world.positions[ankle.0];
        let (foot, toes) = (world.rotations[ankle.0], world.rotations[toe.0]);
        let h = self.body_height_m;
        let sole = |joint: Vec3, rotation: Quat, below: f32, ahead: f32| {
            let point = joint + shift + rotation * Vec3::new(0.0, -below * h, ahead * h);
            point.y - terrain.height(point.x, point.z)
        };
        let heel = sole(world.positions[ankle.0], foot, humanoid::ANKLE_HEIGHT, 0.0);
        let ball = sole(world.positions[toe.0], toes, humanoid::TOE_HEIGHT, 0.0);
        let tip = sole(world.positions[toe.0], toes, humanoid::TOE_HEIGHT, TOE_LENGTH);
        heel.min(ball).min(tip)
    }
}

/// Turns hip and knee so that the ankle comes to `to`; the foot keeps its rotation in the world.
fn bend_leg(skeleton: &Skeleton, target: &mut Pose, world: &GlobalPose, leg: [JointIndex; 3], to: Vec3) {
    let [hip, knee, ankle] = leg.map(|joint| joint.0);
    let joints = skeleton.joints();
    let shape =
        LimbShape { upper_bone: joints[knee].offset, lower_bone: joints[ankle].offset, bend_local: Vec3::Z };
    let limb = Limb { upper_rotation: world.rotations[hip], lower_rotation: world.rotations[knee] };
    let bent = reach(world.positions[hip], to, world.positions[knee], limb, &shape);
    let pelvis = world.rotations[humanoid::HIPS.0];
    target.local_rotations[hip] = (pelvis.inverse() * bent.upper_rotation).normalize();
    target.local_rotations[knee] = (bent.upper_rotation.inverse() * bent.lower_rotation).normalize();
    target.local_rotations[ankle] = (bent.lower_rotation.inverse() * world.rotations[ankle]).normalize();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walking_pose(skeleton: &Skeleton) -> Pose {
        let mut pose = Pose::rest(skeleton);
        let bend = |degrees: f32| Quat::from_rotation_x(degrees.to_radians());
        pose.local_rotations[humanoid::LEFT_UP_LEG.0] = bend(-20.0);
        pose.local_rotations[humanoid::LEFT_LEG.0] = bend(22.0);
        pose
    }

    #[test]
    fn a_dragging_swing_foot_is_lifted_and_the_standing_one_set_down() {
        let skeleton = Skeleton::humanoid(1.75);
        let ground = HeightMap::flat(10.0, 1.0).unwrap();
        let mut target = walking_pose(&skeleton);
        target.root_position.y += 0.03;
        let world = skeleton.forward_kinematics(&target);
        let ankles = [world.positions[3], world.positions[7]];
        let mut before = world.clone();
        before.positions[3].z -= 3.0 / 60.0;
        let footing = Footing::new(1.75, 0.04);
        let lowest = |pose: &Pose, leg: usize| {
            let world = skeleton.forward_kinematics(pose);
            footing.lowest(&world, LEGS[leg], world.positions[LEGS[leg][2].0], &ground)
        };
        let dragging = lowest(&target, 0) - lowest(&target, 1);
        footing.set(&skeleton, &mut target, ankles, &before, &Gait::Walk.one_hot(), &ground, 1.0 / 60.0);
        let (left, right) = (lowest(&target, 0), lowest(&target, 1));
        println!(
            "clearance {dragging:.3} m before, {:.3} m after; standing foot at {right:.4} m",
            left - right
        );
        assert!(dragging < 0.035, "the test starts with a foot that is too low");
        assert!((left - right - 0.04).abs() < 2e-3);
        assert!(right.abs() < 1e-3, "the standing foot is on the ground");
    }

    #[test]
    fn a_foot_that_stands_is_not_lifted() {
        let skeleton = Skeleton::humanoid(1.75);
        let ground = HeightMap::flat(10.0, 1.0).unwrap();
        let mut target = Pose::rest(&skeleton);
        let before = skeleton.forward_kinematics(&target);
        let ankles = [before.positions[3], before.positions[7]];
        Footing::new(1.75, 0.04).set(
            &skeleton,
            &mut target,
            ankles,
            &before,
            &Gait::Stand.one_hot(),
            &ground,
            1.0 / 60.0,
        );
        let after = skeleton.forward_kinematics(&target);
        // Knees of straight legs may give by a millimetre or two: a leg is never stretched to its very length.
        for joint in [humanoid::HIPS, humanoid::LEFT_FOOT, humanoid::LEFT_TOE, humanoid::RIGHT_FOOT] {
            let moved = after.positions[joint.0].distance(before.positions[joint.0]);
            assert!(moved < 1e-3, "joint {} moved by {moved} m", joint.0);
        }
    }
}

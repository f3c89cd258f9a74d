//! The edge of a hole that a character stands in.

use super::fallen::Fallen;
use pomp_motion::glam::Vec3;
use pomp_motion::rotation::{from_yaw, wrap_angle, yaw_of_direction};
use pomp_motion::{RootFrame, humanoid};
use pomp_terrain::HeightMap;
use std::f32::consts::TAU;

/// Heights over the floor that one steps up to, in body heights: from where no stride goes to what a foot is lifted onto.
const RISE: (f32, f32) = (0.08, 0.34);
/// Distances from the pelvis at which it may come to stand, in body heights, and their step.
const AHEAD: (f32, f32) = (0.15, 0.40);
const AHEAD_STEP: f32 = 0.02;
const DIRECTIONS: usize = 16;
/// What a turn by one radian is worth in distance, in body heights.
const TURN: f32 = 0.06;
/// Where the feet will stand: half the width of the stance, and from heel to toe, in body heights.
const HALF_WIDTH: f32 = 0.07;
const HEEL: f32 = -0.06;
const TOE: f32 = 0.10;
/// Ground on which feet stand rises or falls by no more than this between the corners and the middle, in body heights.
const UNEVEN: f32 = 0.06;

/// A place above a hole, one step away.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    /// Where one stands on it, facing away from the hole.
    pub stance: RootFrame,
    /// Height over the floor of the hole, metres.
    pub below_m: f32,
    /// Distance from the pelvis, metres.
    pub ahead_m: f32,
}

impl Edge {
    /// The nearest one to a body of `height_m` metres that stands; to turn costs too.
    pub fn nearest(fallen: &Fallen<'_>, height_m: f32) -> Option<Self> {
        let at = |joint: pomp_motion::JointIndex| fallen.pose.positions[joint.0];
        let under = |p: Vec3| fallen.terrain.height(p.x, p.z);
        let floor = under(at(humanoid::LEFT_FOOT)).min(under(at(humanoid::RIGHT_FOOT)));
        let hips = at(humanoid::HIPS);
        let facing = yaw_of_direction(fallen.pose.rotations[humanoid::HIPS.0] * Vec3::Z);
        let steps = ((AHEAD.1 - AHEAD.0) / AHEAD_STEP) as usize;
        let found = (0..DIRECTIONS).filter_map(|direction| {
            let yaw = wrap_angle(facing + direction as f32 * (TAU / DIRECTIONS as f32));
            let edge = (0..=steps).find_map(|step| {
                let ahead = AHEAD.0 + AHEAD_STEP * step as f32;
                let place = hips + from_yaw(yaw) * Vec3::Z * (ahead * height_m);
                let stance = RootFrame { origin: place.with_y(under(place)), yaw };
                let below_m = stance.origin.y - floor;
                let in_reach = (RISE.0..=RISE.1).contains(&(below_m / height_m));
                let edge = Self { stance, below_m, ahead_m: ahead * height_m };
                (in_reach && is_even(&stance, height_m, fallen.terrain)).then_some(edge)
            })?;
            Some((edge.ahead_m / height_m + TURN * wrap_angle(yaw - facing).abs(), edge))
        });
        found.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, edge)| edge)
    }
}

/// Whether both feet have ground to stand on.
fn is_even(stance: &RootFrame, height_m: f32, terrain: &HeightMap) -> bool {
    [-HALF_WIDTH, HALF_WIDTH].into_iter().all(|x| {
        [HEEL, 0.0, TOE].into_iter().all(|z| {
            let corner = stance.to_world(Vec3::new(x, 0.0, z) * height_m);
            (terrain.height(corner.x, corner.z) - stance.origin.y).abs() < UNEVEN * height_m
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::get_up::standing_pose;
    use pomp_motion::{GlobalPose, Skeleton};

    const HEIGHT_M: f32 = 1.75;

    /// A body that stands at the origin and looks along `yaw`.
    fn stands(terrain: &HeightMap, yaw: f32) -> (Skeleton, GlobalPose) {
        let skeleton = Skeleton::humanoid(HEIGHT_M);
        let frame = RootFrame { origin: Vec3::new(0.0, terrain.height(0.0, 0.0), 0.0), yaw };
        let pose = skeleton.forward_kinematics(&standing_pose(&skeleton, HEIGHT_M, &frame, terrain));
        (skeleton, pose)
    }

    fn edge(terrain: &HeightMap, yaw: f32) -> Option<Edge> {
        let (skeleton, pose) = stands(terrain, yaw);
        let target = pose.to_local(&skeleton);
        let fallen = Fallen {
            skeleton: &skeleton,
            pose: &pose,
            mean_joint_speed_m_s: 0.0,
            target: &target,
            terrain,
            led_over: terrain,
        };
        Edge::nearest(&fallen, HEIGHT_M)
    }

    fn trench(width_m: f32, depth_m: f32) -> HeightMap {
        HeightMap::from_fn(
            81,
            81,
            [-4.0, -4.0],
            0.1,
            |_, z| {
                if z.abs() < 0.5 * width_m { -depth_m } else { 0.0 }
            },
        )
        .unwrap()
    }

    #[test]
    fn both_feet_will_stand_on_the_edge_and_whoever_looks_along_the_trench_turns() {
        for yaw in [0.0, 0.4, 1.5, 3.0, -2.0] {
            let map = trench(0.5, 0.5);
            let edge = edge(&map, yaw).expect("the edge is half a metre up");
            assert!((edge.below_m - 0.5).abs() < 1e-3 && edge.stance.origin.y.abs() < 1e-3);
            let away = edge.stance.origin.z;
            assert!(away.abs() > 0.25 && away.abs() < 0.7, "{away} m across the trench");
            let out = from_yaw(edge.stance.yaw) * Vec3::Z;
            assert!(out.z * away.signum() > 0.7, "it looks away from the trench: {out}");
            let turn = wrap_angle(edge.stance.yaw - yaw).abs();
            assert!(turn < 0.3 * TAU, "it turns by {turn}");
            assert!(is_even(&edge.stance, HEIGHT_M, &map));
        }
    }

    #[test]
    fn there_is_none_on_level_ground_nor_above_what_a_foot_is_lifted_onto_nor_out_of_reach() {
        for map in [HeightMap::flat(8.0, 0.1).unwrap(), trench(0.5, 0.9), trench(2.5, 0.5), trench(0.5, -0.5)]
        {
            assert!(edge(&map, 0.3).is_none());
        }
    }
}

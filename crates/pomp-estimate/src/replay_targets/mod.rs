//! Targets of a replay that a body without external support can follow: the clip without its fast noise, with feet that reach the ground
//! when they are expected to bear.
//!
//! A body that only its feet hold up turns every error of its target into a force of the ground: noise of the joints shakes it, a sole that
//! is a centimetre too low lands some frames early, and one that is too high takes the load late and with a blow.

use crate::impulses::filter::{smoothed, smoothest};
use pomp_config::{Fields, OutOfRange, Validate};
use pomp_motion::glam::{DVec3, Quat, Vec3};
use pomp_motion::legs::{LEGS, bend_leg};
use pomp_motion::statistics::median;
use pomp_motion::{Clip, GlobalPose, Pose, TerrainGrid};
use pomp_physics::{BodyShape, Expectation, PhysicsError, body_shapes};
use pomp_terrain::HeightMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How targets are made of a clip.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ReplayTargetsConfig {
    /// Bandwidth of the low-pass filter over root and joints, Hz; default 0, none. The filter has no delay. The feed-forward is estimated
    /// from the clip with the same filter; the stored contact impulses are not.
    pub bandwidth_hz: f32,
    /// Most that a foot is raised or lowered, metres: so that its sole is on the ground when it begins to bear, not above it in the median of
    /// a stance, and over it while it is not expected to bear. Default 0, none. Without `feed_forward` nothing is expected, and no foot is moved.
    pub most_moved_m: f32,
    /// Height over the ground below which a sole that is not expected to bear is raised, metres; default 0.01. It counts in full from 0.1 s
    /// before and after the foot bears.
    pub clearance_m: f32,
}

impl Default for ReplayTargetsConfig {
    fn default() -> Self {
        Self { bandwidth_hz: 0.0, most_moved_m: 0.0, clearance_m: 0.01 }
    }
}

impl Validate for ReplayTargetsConfig {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        fields.within("bandwidth_hz", self.bandwidth_hz, 0.0..=1000.0)?;
        fields.within("most_moved_m", self.most_moved_m, 0.0..=0.2)?;
        fields.within("clearance_m", self.clearance_m, 0.0..=0.1)
    }
}

/// A foot that is expected to bear more than this share of what both bear is on the ground.
const BEARS: f32 = 0.02;
/// Time for which a foot that begins to bear lands, seconds.
const LANDING_S: f32 = 0.05;
/// Weight of the clip's height of a foot, less its [`stance_gaps`], relative to that of the ground under a foot that lands.
const OF_CLIP: f64 = 10.0;
/// Bandwidth of the moves of a foot, Hz.
const MOVES_HZ: f64 = 6.0;
/// Time from a foot's bearing at which the whole clearance is asked for, seconds.
const CLEARS_S: f32 = 0.1;

/// The targets of a replay of `clip` on `terrain` `[T]`; `expected` says when the feet bear.
///
/// # Errors
/// A skeleton or a terrain that the simulator refuses.
pub(crate) fn targets(
    clip: &Clip,
    terrain: &TerrainGrid,
    expected: &[Expectation],
    config: &ReplayTargetsConfig,
) -> Result<Vec<Pose>, PhysicsError> {
    let mut poses = smooth_poses(clip, config);
    if config.most_moved_m > 0.0 && expected.len() == poses.len() {
        move_feet(clip, &mut poses, terrain, expected, config)?;
    }
    Ok(poses)
}

/// The poses of a clip without their fast noise `[T]`.
pub(crate) fn smooth_poses(clip: &Clip, config: &ReplayTargetsConfig) -> Vec<Pose> {
    let (bandwidth_hz, rate_hz) = (f64::from(config.bandwidth_hz), f64::from(clip.frame_rate_hz));
    // The filter passes everything from half of the frame rate.
    if bandwidth_hz == 0.0 || bandwidth_hz >= 0.5 * rate_hz {
        return clip.poses.clone();
    }
    let smooth = |values: Vec<DVec3>| smoothed(&values, bandwidth_hz, rate_hz).position;
    let mut poses = clip.poses.clone();
    let roots = smooth(clip.poses.iter().map(|pose| pose.root_position.as_dvec3()).collect());
    for (pose, root) in poses.iter_mut().zip(roots) {
        pose.root_position = root.as_vec3();
    }
    for joint in 0..clip.skeleton.len() {
        let mut turns: Vec<Quat> = Vec::with_capacity(poses.len());
        for pose in &clip.poses {
            let turn = pose.local_rotations[joint];
            let before = turns.last().copied().unwrap_or(turn);
            turns.push(if before.dot(turn) < 0.0 { -turn } else { turn });
        }
        let axes = smooth(turns.iter().map(|turn| turn.xyz().as_dvec3()).collect());
        let reals = smooth(turns.iter().map(|turn| DVec3::splat(f64::from(turn.w))).collect());
        for (pose, (axis, real)) in poses.iter_mut().zip(axes.into_iter().zip(reals)) {
            pose.local_rotations[joint] = Quat::from_vec4(axis.as_vec3().extend(real.x as f32)).normalize();
        }
    }
    poses
}

/// Raises and lowers the feet of `poses`.
fn move_feet(
    clip: &Clip,
    poses: &mut [Pose],
    terrain: &TerrainGrid,
    expected: &[Expectation],
    config: &ReplayTargetsConfig,
) -> Result<(), PhysicsError> {
    let map = HeightMap::from_grid(terrain.clone())
        .map_err(|error| PhysicsError::BadTerrain { reason: error.to_string() })?;
    let skeleton = &clip.skeleton;
    let shapes = body_shapes(skeleton)?;
    let worlds: Vec<GlobalPose> = poses.iter().map(|pose| skeleton.forward_kinematics(pose)).collect();
    for (leg, joints) in LEGS.into_iter().enumerate() {
        let foot = joints[2].0;
        // Heel and ball alone: toes that many clips hold straight reach below the ground, and give way in the simulator.
        let corners: Vec<Vec3> = corners(&shapes[foot]).collect();
        let lowest = |world: &GlobalPose| {
            let height = |corner: &Vec3| {
                let point = world.positions[foot] + world.rotations[foot] * *corner;
                point.y - map.height(point.x, point.z)
            };
            corners.iter().map(height).fold(f32::INFINITY, f32::min)
        };
        let lowest: Vec<f32> = worlds.iter().map(lowest).collect();
        let bears: Vec<bool> = expected.iter().map(|expected| bears(expected, leg)).collect();
        for (frame, up) in moves(&lowest, &bears, config, clip.frame_rate_hz).into_iter().enumerate() {
            let world = &worlds[frame];
            let ankle = world.positions[foot] + Vec3::Y * up;
            bend_leg(skeleton, &mut poses[frame], world, joints, ankle, Quat::IDENTITY);
        }
    }
    Ok(())
}

fn bears(expected: &Expectation, leg: usize) -> bool {
    let loads_n = expected.foot_loads_n.unwrap_or_default();
    loads_n[leg] > BEARS * (loads_n[0] + loads_n[1])
}

/// How far a foot is raised `[T]`, metres, the lowest part of whose sole is at the heights `lowest` over the ground.
fn moves(lowest: &[f32], bears: &[bool], config: &ReplayTargetsConfig, rate_hz: f32) -> Vec<f32> {
    let landing = (LANDING_S * rate_hz).round() as usize;
    let lands = |frame: usize| bears[frame] && bears[frame.saturating_sub(landing)..frame].contains(&false);
    let gaps = stance_gaps(lowest, bears);
    let (wanted, weights): (Vec<f64>, Vec<f64>) = (0..lowest.len())
        .map(|frame| if lands(frame) { (-lowest[frame], 1.0) } else { (-gaps[frame], OF_CLIP) })
        .map(|(wanted, weight)| (f64::from(wanted), weight))
        .unzip();
    let bandwidth = MOVES_HZ / f64::from(rate_hz);
    let landed = smoothest(&wanted, &weights, bandwidth);
    let most = f64::from(config.most_moved_m);
    let cleared: Vec<f64> = landed
        .into_iter()
        .zip(clearances(bears, config.clearance_m, rate_hz))
        .zip(lowest)
        .map(|((landed, clearance), lowest)| landed.max(f64::from(clearance - lowest)).clamp(-most, most))
        .collect();
    let smooth = smoothest(&cleared, &vec![1.0; cleared.len()], bandwidth);
    smooth.into_iter().map(|up| up.clamp(-most, most) as f32).collect()
}

/// Median height of the sole over the ground in the stance that a frame belongs to `[T]`, metres, where it is above the ground; 0 in swing.
/// A sole below it is left to the simulator, which lifts it.
fn stance_gaps(lowest: &[f32], bears: &[bool]) -> Vec<f32> {
    let frames: Vec<(bool, f32)> = bears.iter().copied().zip(lowest.iter().copied()).collect();
    let gaps = |frames: &[(bool, f32)]| {
        let heights: Vec<f32> = frames.iter().map(|&(_, lowest)| lowest).collect();
        let gap = if frames[0].0 { median(&heights).map_or(0.0, |gap| gap.max(0.0)) } else { 0.0 };
        vec![gap as f32; frames.len()]
    };
    frames.chunk_by(|before, after| before.0 == after.0).flat_map(gaps).collect()
}

/// Clearance that is asked of a foot `[T]`, metres; −∞ while it bears.
fn clearances(bears: &[bool], clearance_m: f32, rate_hz: f32) -> Vec<f32> {
    let since = frames_since(bears.iter());
    let until = frames_since(bears.iter().rev());
    let clearance = |(since, until): (usize, usize)| match since.min(until) {
        0 => f32::NEG_INFINITY,
        frames => clearance_m * (frames as f32 / (CLEARS_S * rate_hz)).min(1.0),
    };
    since.into_iter().zip(until.into_iter().rev()).map(clearance).collect()
}

/// Frames since the last one in which a foot bears.
fn frames_since<'a>(bears: impl Iterator<Item = &'a bool>) -> Vec<usize> {
    let count = |since: &mut usize, bears: &bool| {
        *since = if *bears { 0 } else { since.saturating_add(1) };
        Some(*since)
    };
    bears.scan(usize::MAX, count).collect()
}

/// Corners of the shape of a foot, in its body's frame.
fn corners(shape: &BodyShape) -> impl Iterator<Item = Vec3> {
    let (profile, ends) = match shape {
        BodyShape::Prism { profile, from_x, to_x } => (profile.as_slice(), [*from_x, *to_x]),
        BodyShape::Capsule { .. } => (&[][..], [0.0; 2]),
    };
    profile.iter().flat_map(move |point| ends.map(|x| Vec3::new(x, point.x, point.y)))
}

#[cfg(test)]
mod tests;

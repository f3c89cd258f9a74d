//! Poses, motions and grounds of the tests.

use pomp_motion::glam::{Quat, Vec3};
use pomp_motion::rotation::log;
use pomp_motion::{FrameTable, GlobalPose, Pose, Skeleton, TerrainGrid, humanoid};
use pomp_physics::{DynamicConfig, DynamicModule, Frame, PoseVelocity, Push};
use std::f32::consts::TAU;

pub const HEIGHT_M: f32 = 1.75;
pub const DT: f32 = 1.0 / 60.0;

pub fn skeleton() -> Skeleton {
    Skeleton::humanoid(HEIGHT_M)
}

/// A grid of 0.1 m cells over x in ±`half_x`, z from `z0` to `z1`, with heights `height(x, z)`.
pub fn ground(half_x: f32, z0: f32, z1: f32, height: impl Fn(f32, f32) -> f32) -> TerrainGrid {
    let cell_m = 0.1;
    let columns = (2.0 * half_x / cell_m).round() as usize + 1;
    let rows = ((z1 - z0) / cell_m).round() as usize + 1;
    let mut heights = FrameTable::with_columns(columns);
    for i in 0..rows {
        let row: Vec<f32> =
            (0..columns).map(|j| height(j as f32 * cell_m - half_x, i as f32 * cell_m + z0)).collect();
        heights.push(&row);
    }
    TerrainGrid { heights, origin: [-half_x, z0], cell_m }
}

pub fn flat() -> TerrainGrid {
    ground(3.0, -3.0, 3.0, |_, _| 0.0)
}

pub fn module_with(config: &DynamicConfig, terrain: &TerrainGrid) -> DynamicModule {
    DynamicModule::new(&skeleton(), config, terrain).expect("a valid config and terrain")
}

pub fn module(terrain: &TerrainGrid) -> DynamicModule {
    module_with(&DynamicConfig::default(), terrain)
}

/// Standing with the arms down.
pub fn stand() -> Pose {
    let mut pose = Pose::rest(&skeleton());
    pose.local_rotations[humanoid::LEFT_ARM.0] = Quat::from_rotation_z(-1.3);
    pose.local_rotations[humanoid::RIGHT_ARM.0] = Quat::from_rotation_z(1.3);
    pose
}

/// Both legs bent so that the ankles are `ankle` (y, z) below the hips; the feet stay level.
fn bend_leg(pose: &mut Pose, first: usize, ankle: (f32, f32)) {
    let skeleton = skeleton();
    let thigh = skeleton.joints()[first + 1].offset.length();
    let shank = skeleton.joints()[first + 2].offset.length();
    let (dy, dz) = ankle;
    let reach = (dy * dy + dz * dz).sqrt().min(0.9999 * (thigh + shank));
    let knee =
        ((reach * reach - thigh * thigh - shank * shank) / (2.0 * thigh * shank)).clamp(-1.0, 1.0).acos();
    let hip = (-dz).atan2(-dy) - (shank * knee.sin()).atan2(thigh + shank * knee.cos());
    pose.local_rotations[first] = Quat::from_rotation_x(hip);
    pose.local_rotations[first + 1] = Quat::from_rotation_x(knee);
    pose.local_rotations[first + 2] = Quat::from_rotation_x(-hip - knee);
}

/// Hips lowered by `down`, knees bent, feet level and where they stand.
pub fn crouch(down: f32) -> Pose {
    let mut pose = stand();
    pose.root_position.y -= down;
    let hip_to_ankle = 0.491 * HEIGHT_M;
    for first in [humanoid::LEFT_UP_LEG.0, humanoid::RIGHT_UP_LEG.0] {
        bend_leg(&mut pose, first, (-(hip_to_ankle - down), 0.0));
    }
    pose
}

/// Knees and arms moving slowly over planted feet.
pub fn sway(t: f32) -> Pose {
    let mut pose = crouch(0.06 + 0.03 * (TAU * 0.5 * t).sin());
    let lean = 0.1 * (TAU * 0.4 * t).sin();
    pose.local_rotations[humanoid::SPINE.0] = Quat::from_rotation_x(lean);
    let swing = 0.4 * (TAU * 0.7 * t).sin();
    pose.local_rotations[humanoid::LEFT_ARM.0] = Quat::from_rotation_x(swing) * Quat::from_rotation_z(-1.3);
    pose.local_rotations[humanoid::RIGHT_ARM.0] = Quat::from_rotation_x(-swing) * Quat::from_rotation_z(1.3);
    pose
}

pub const WALK_SPEED: f32 = 1.2;

/// A level walk along +z with planted feet.
pub fn walk(t: f32) -> Pose {
    let (period, stance, lift) = (1.1, 0.62, 0.10);
    let mut pose = stand();
    let down = 0.045 - 0.012 * (2.0 * TAU * t / period).cos();
    pose.root_position += Vec3::new(0.0, -down, WALK_SPEED * t);
    let hip_height = 0.491 * HEIGHT_M - down;
    for (first, offset) in [(humanoid::LEFT_UP_LEG.0, 0.0), (humanoid::RIGHT_UP_LEG.0, 0.5)] {
        let phase = (t / period + offset).rem_euclid(1.0);
        let half = 0.5 * WALK_SPEED * period * stance;
        let (ahead, up) = if phase < stance {
            (half * (1.0 - 2.0 * phase / stance), 0.0)
        } else {
            let s = (phase - stance) / (1.0 - stance);
            let smooth = s - (TAU * s).sin() / TAU;
            // Relative to the hip the foot leaves and arrives with the speed of the ground.
            let linear = -2.0 * half / stance * (1.0 - stance);
            (-half + linear * s + (2.0 * half - linear) * smooth, lift * (0.5 - 0.5 * (TAU * s).cos()))
        };
        bend_leg(&mut pose, first, (up - hip_height, ahead));
    }
    let swing = 0.4 * (TAU * t / period).cos();
    pose.local_rotations[humanoid::LEFT_ARM.0] = Quat::from_rotation_x(swing) * Quat::from_rotation_z(-1.3);
    pose.local_rotations[humanoid::RIGHT_ARM.0] = Quat::from_rotation_x(-swing) * Quat::from_rotation_z(1.3);
    pose
}

/// Starts in the first pose of `motion` and follows it for `frames`; `pushes(frame)` act.
pub fn follow(
    module: &mut DynamicModule,
    frames: usize,
    motion: impl Fn(f32) -> Pose,
    pushes: impl Fn(usize) -> Vec<Push>,
) -> Vec<Frame> {
    let (a, b) = (motion(0.0), motion(DT));
    module.reset(&a, &PoseVelocity::between(&a, &b, DT)).expect("finite poses");
    (0..frames)
        .map(|i| {
            let t = i as f32 * DT;
            module.step(&motion(t), &motion(t + DT), &pushes(i)).expect("finite targets and pushes")
        })
        .collect()
}

pub fn no_pushes(_: usize) -> Vec<Push> {
    Vec::new()
}

/// Root mean square angle between simulated and target joints, degrees, root apart.
pub fn joint_error_deg(pose: &GlobalPose, target: &Pose) -> f32 {
    let simulated = pose.to_local(&skeleton());
    let sum: f32 = (1..simulated.local_rotations.len())
        .map(|i| log(target.local_rotations[i] * simulated.local_rotations[i].inverse()).length_squared())
        .sum();
    (sum / (simulated.local_rotations.len() - 1) as f32).sqrt().to_degrees()
}

pub fn mean(values: impl ExactSizeIterator<Item = f32>) -> f32 {
    let n = values.len();
    values.sum::<f32>() / n as f32
}

pub fn vertical_impulse(frames: &[Frame]) -> f32 {
    frames.iter().map(|f| f.contact_impulse.iter().map(|j| j.y).sum::<f32>()).sum()
}

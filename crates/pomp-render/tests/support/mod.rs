//! Hand-made recordings: a walker with everything that can be drawn.

use glam::{Quat, Vec3};
use pomp_motion::{
    Clip, FrameTable, Gait, GenerationTrack, Pose, PushRecord, Recording, SimulationTrack, Skeleton,
    TerrainGrid, humanoid as h,
};
use std::f32::consts::TAU;
use std::sync::Arc;

const SPEED: f32 = 1.3;
const STEPS_PER_S: f32 = 0.95;
const MASS_KG: f32 = 72.0;

/// A walk along a gentle bend, posed by sines; its lowest toe or ankle touches the ground of `height`.
pub fn walk(seconds: f32, height: impl Fn(f32, f32) -> f32) -> Clip {
    let skeleton = Arc::new(Skeleton::humanoid(1.75));
    let rate_hz = 60.0;
    let frames = (seconds * rate_hz) as usize + 1;
    let (mut x, mut z) = (0.0f32, 0.0f32);
    let poses = (0..frames)
        .map(|frame| {
            let t = frame as f32 / rate_hz;
            let yaw = 0.35 * (t * 0.5).sin();
            x += yaw.sin() * SPEED / rate_hz;
            z += yaw.cos() * SPEED / rate_hz;
            let mut pose = Pose::rest(&skeleton);
            let rotate =
                |pose: &mut Pose, joint: pomp_motion::JointIndex, q: Quat| pose.local_rotations[joint.0] = q;
            let phase = TAU * STEPS_PER_S * t;
            rotate(
                &mut pose,
                h::HIPS,
                Quat::from_rotation_y(yaw)
                    * Quat::from_rotation_y(0.12 * phase.sin())
                    * Quat::from_rotation_x(0.05),
            );
            rotate(&mut pose, h::SPINE1, Quat::from_rotation_y(-0.22 * phase.sin()));
            for (side, hip, knee, ankle, toe, arm, elbow) in [
                (1.0, h::LEFT_UP_LEG, h::LEFT_LEG, h::LEFT_FOOT, h::LEFT_TOE, h::LEFT_ARM, h::LEFT_FORE_ARM),
                (
                    -1.0,
                    h::RIGHT_UP_LEG,
                    h::RIGHT_LEG,
                    h::RIGHT_FOOT,
                    h::RIGHT_TOE,
                    h::RIGHT_ARM,
                    h::RIGHT_FORE_ARM,
                ),
            ] {
                let p = if side > 0.0 { phase } else { phase + TAU / 2.0 };
                let swing = 0.45 * p.sin() + 0.08;
                let bend = 0.12 + 0.95 * (0.5 + 0.5 * (p - 0.25 * TAU + 1.35).cos()).powi(3);
                rotate(&mut pose, hip, Quat::from_rotation_x(-swing));
                rotate(&mut pose, knee, Quat::from_rotation_x(bend));
                rotate(&mut pose, ankle, Quat::from_rotation_x(swing - bend + 0.25 * (p + 0.5).sin() - 0.05));
                rotate(&mut pose, toe, Quat::from_rotation_x(-0.3 * (-(p).sin()).max(0.0)));
                rotate(
                    &mut pose,
                    arm,
                    Quat::from_rotation_x(0.5 * p.sin()) * Quat::from_rotation_z(-side * 1.38),
                );
                rotate(&mut pose, elbow, Quat::from_rotation_y(-side * (0.45 - 0.25 * p.sin())));
            }
            pose.root_position = Vec3::new(x, 1.0, z);
            let world = skeleton.forward_kinematics(&pose);
            let sink =
                [(h::LEFT_FOOT, 0.068), (h::RIGHT_FOOT, 0.068), (h::LEFT_TOE, 0.023), (h::RIGHT_TOE, 0.023)]
                    .map(|(joint, sole)| {
                        let p = world.positions[joint.0];
                        p.y - sole - height(p.x, p.z)
                    })
                    .into_iter()
                    .fold(f32::MAX, f32::min);
            pose.root_position.y -= sink;
            pose
        })
        .collect();
    Clip::new("walk", skeleton, rate_hz, poses).expect("sines are finite")
}

/// Hills and four stairs.
pub fn terrain() -> TerrainGrid {
    let (cells, cell_m) = (300, 0.1);
    let origin = [-15.0, -10.0];
    let mut heights = FrameTable::with_columns(cells);
    for i in 0..cells {
        let row: Vec<f32> = (0..cells)
            .map(|j| {
                let (x, z) = (origin[0] + j as f32 * cell_m, origin[1] + i as f32 * cell_m);
                let stairs = (((z - 4.0) / 0.5).floor() + 1.0).clamp(0.0, 4.0) * 0.15;
                stairs
                    + 0.22
                        * (0.8 * x).sin()
                        * (0.55 * z + 0.5).cos()
                        * (1.0 - (-(x - 0.6).powi(2) / 3.0).exp())
            })
            .collect();
        heights.push(&row);
    }
    TerrainGrid { heights, origin, cell_m }
}

/// The walk as a rollout: simulated with a lag, feet loaded in turn, pushed once at `push_s`.
pub fn rollout(clip: &Clip, push_s: f32) -> Recording {
    let mut recording = Recording::of_clip(clip);
    let frames = recording.frames();
    recording.gait = vec![Gait::Walk.one_hot(); frames];
    let skeleton = Arc::clone(&recording.skeleton);
    let body_names: Vec<String> = skeleton.joints().iter().map(|j| j.name.clone()).collect();
    let mut contact_impulse = FrameTable::with_columns(body_names.len());
    let mut simulated = FrameTable::with_columns(skeleton.len());
    let push = Vec3::new(-32.0, 0.0, 50.0);
    for frame in 0..frames {
        let t = frame as f32 / clip.frame_rate_hz;
        let mut row = vec![Vec3::ZERO; body_names.len()];
        let swing = (TAU * STEPS_PER_S * t).sin();
        let rising = (TAU * STEPS_PER_S * t).cos();
        let left = (0.5 - 0.8 * rising).clamp(0.0, 1.0);
        let newtons = MASS_KG * 9.81 / clip.frame_rate_hz;
        row[h::LEFT_FOOT.0] = Vec3::new(0.05, 1.0, -0.18 * swing) * newtons * left;
        row[h::RIGHT_FOOT.0] = Vec3::new(-0.05, 1.0, 0.18 * swing) * newtons * (1.0 - left);
        contact_impulse.push(&row);
        let since = (t - push_s).max(0.0);
        let sway = push / MASS_KG * since * (-since * 3.0).exp();
        let row: Vec<Vec3> = recording.positions[frame]
            .iter()
            .map(|&p| p + sway * ((p.y - recording.positions[frame][0].y + 0.8) / 0.9).max(0.0))
            .collect();
        simulated.push(&row);
    }
    recording.simulation = Some(SimulationTrack {
        body_mass_kg: vec![MASS_KG / body_names.len() as f32; body_names.len()],
        body_names,
        contact_impulse: contact_impulse.clone(),
        impulse_estimator: "simulation".to_owned(),
        sim_contact_impulse: contact_impulse,
        positions: simulated.clone(),
        quaternions: recording.quaternions.clone(),
        velocities: recording.velocities.clone(),
        assist_force: vec![Vec3::new(0.0, 40.0, 20.0); frames],
        assist_torque: vec![Vec3::ZERO; frames],
    });
    let at = (push_s * clip.frame_rate_hz).round() as usize;
    let pushes = if at < frames {
        let point = simulated[at][h::SPINE2.0] + Vec3::new(0.06, 0.05, -0.1);
        vec![PushRecord { time_s: push_s, body: h::SPINE2.0, impulse_ns: push, point }]
    } else {
        Vec::new()
    };
    recording.generation = Some(GenerationTrack {
        target_positions: recording.positions.clone(),
        pushes,
        control: recording.root.iter().map(|r| [r[0] + 0.1, r[1], r[2], SPEED]).collect(),
        frame_time_us: Some(vec![900.0; frames]),
        ground_offset: None,
    });
    recording
}

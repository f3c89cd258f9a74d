//! Feed-forward of the drives for a clip: the estimated ground forces, before the replay.

use super::estimate::solve;
use super::feet;
use super::replay_loads::ReplayLoads;
use crate::PhysicsSettings;
use crate::replay_targets::smooth_poses;
use pomp_motion::glam::Vec3;
use pomp_motion::{Clip, GlobalPose, humanoid};
use pomp_physics::{Expectation, GainScale, PhysicsError, Support};

/// Least load on a part of a foot, newtons; smaller ones are left out.
const NOTHING_N: f32 = 1e-3;
/// Share of a foot's load on the toe above which the toe bears all of it.
const ALL: f32 = 0.99;

/// Forces of the ground and accelerations for every frame of `clip` `[T]`, by the estimate of
/// [`estimate`](super::estimate()) with nothing but the feet on the ground. `contact` are the clip's foot contacts `[T]`.
/// The drives keep their gains. None where `settings` do not feed forward.
///
/// # Errors
/// A skeleton that is not the ragdoll's.
pub fn expectations(
    clip: &Clip,
    contact: &[[bool; 4]],
    settings: PhysicsSettings<'_>,
) -> Result<Vec<Expectation>, PhysicsError> {
    if !settings.replay.feed_forward {
        return Ok(Vec::new());
    }
    let dynamic = settings.dynamic;
    let masses = pomp_physics::body_masses(&clip.skeleton, dynamic.mass_kg)?;
    let clip = &clip.with_poses(smooth_poses(clip, &settings.replay.targets));
    let poses = clip.global_poses();
    let alone = ReplayLoads::none(poses.len(), masses.len());
    let (estimate, body) =
        solve(clip, &poses, contact, &masses, &alone, dynamic.gravity_m_s2, settings.impulses);
    let feet = [humanoid::LEFT_FOOT.0, humanoid::RIGHT_FOOT.0];
    let expected = poses.iter().zip(body.accelerations).enumerate().map(|(frame, (pose, accelerations))| {
        let soles = feet::soles(&clip.skeleton, pose);
        let mut supports = Vec::new();
        let mut loads_n = [0.0; 2];
        for (side, foot) in feet.into_iter().enumerate() {
            let force = |body: usize| estimate.contact_impulse[frame][body] * clip.frame_rate_hz;
            let (behind, toes) = (force(foot), force(foot + 1));
            loads_n[side] = behind.y + toes.y;
            let share = toes.y / (behind.y + toes.y).max(NOTHING_N);
            let ball = soles[side].ball.as_vec3();
            let at_toes = ball.lerp(soles[side].tip.as_vec3(), 0.5);
            let center = estimate.pressure_center[frame][side];
            // Both together act in the centre of pressure.
            let at_foot = if share < ALL { (center - at_toes * share) / (1.0 - share) } else { ball };
            supports.extend(support(pose, foot, at_foot, behind));
            supports.extend(support(pose, foot + 1, at_toes, toes));
        }
        Expectation {
            supports,
            foot_loads_n: Some(loads_n),
            accelerations,
            gains: vec![GainScale::NONE; masses.len()],
            torques: Vec::new(),
        }
    });
    Ok(expected.collect())
}

/// A force at a place of the world, fixed to a body; none below the least load.
fn support(pose: &GlobalPose, body: usize, at: Vec3, force_n: Vec3) -> Option<Support> {
    let point = pose.rotations[body].inverse() * (at - pose.positions[body]);
    (force_n.length() > NOTHING_N).then_some(Support { body, point, force_n })
}

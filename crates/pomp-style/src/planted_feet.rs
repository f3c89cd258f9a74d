//! Feet that stand are held where they stand.

use glam::{Quat, Vec3};
use pomp_motion::legs::{LEGS, bend_leg};
use pomp_motion::{GlobalPose, Pose, Skeleton, smoothstep};

/// Holds planted feet: while a foot is in contact, its heel or toe that bears stays at one place on the ground; between stances the
/// foot goes over smoothly from one correction to the next.
pub(crate) fn hold_planted_feet(skeleton: &Skeleton, poses: &mut [Pose], contact: &[[bool; 4]]) {
    let worlds: Vec<GlobalPose> = poses.iter().map(|pose| skeleton.forward_kinematics(pose)).collect();
    for (foot, leg) in LEGS.into_iter().enumerate() {
        let [_, _, ankle, toe] = leg.map(|joint| joint.0);
        let corrections = corrections(
            &worlds.iter().map(|world| world.positions[ankle]).collect::<Vec<_>>(),
            &worlds.iter().map(|world| world.positions[toe]).collect::<Vec<_>>(),
            &contact.iter().map(|row| [row[2 * foot], row[2 * foot + 1]]).collect::<Vec<_>>(),
        );
        for ((pose, world), correction) in poses.iter_mut().zip(&worlds).zip(corrections) {
            bend_leg(skeleton, pose, world, leg, world.positions[ankle] + correction, Quat::IDENTITY);
        }
    }
}

/// What a foot is moved by on the ground in each frame.
fn corrections(ankle: &[Vec3], toe: &[Vec3], contact: &[[bool; 2]]) -> Vec<Vec3> {
    let mut corrections: Vec<Option<Vec3>> = vec![None; contact.len()];
    let mut frame = 0;
    while frame < contact.len() {
        let begin = frame;
        while frame < contact.len() && contact[frame] != [false; 2] {
            frame += 1;
        }
        if frame > begin {
            for (place, correction) in
                stance(&ankle[begin..frame], &toe[begin..frame], &contact[begin..frame])
                    .into_iter()
                    .enumerate()
            {
                corrections[begin + place] = Some(correction);
            }
        }
        frame += 1;
    }
    bridged(&corrections)
}

/// The corrections of one stance: what holds the toe while it is down, else the heel, without a jump where they change, and as little
/// as possible on average.
fn stance(ankle: &[Vec3], toe: &[Vec3], contact: &[[bool; 2]]) -> Vec<Vec3> {
    let ground = Vec3::new(1.0, 0.0, 1.0);
    let mut correction = Vec3::ZERO;
    let mut found = vec![correction];
    for frame in 1..ankle.len() {
        let point = if contact[frame][1] { toe } else { ankle };
        correction -= (point[frame] - point[frame - 1]) * ground;
        found.push(correction);
    }
    let mean = found.iter().sum::<Vec3>() / found.len() as f32;
    found.into_iter().map(|correction| correction - mean).collect()
}

/// Corrections between stances: a smooth way from the last to the next.
fn bridged(known: &[Option<Vec3>]) -> Vec<Vec3> {
    (0..known.len())
        .map(|frame| {
            if let Some(correction) = known[frame] {
                return correction;
            }
            let before = (0..frame).rev().find_map(|at| known[at].map(|value| (at, value)));
            let after = (frame + 1..known.len()).find_map(|at| known[at].map(|value| (at, value)));
            match (before, after) {
                (Some((from, a)), Some((to, b))) => {
                    a.lerp(b, smoothstep((frame - from) as f32 / (to - from) as f32))
                }
                (Some((_, value)), None) | (None, Some((_, value))) => value,
                (None, None) => Vec3::ZERO,
            }
        })
        .collect()
}

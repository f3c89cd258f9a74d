//! Level walks at a slower pace (ours): mocap holds walking and standing, but hardly any slow walks.
//!
//! A walk at a share s of its speed has steps √s as long, √s as often: the ratio of step length and cadence is constant over walking
//! speeds (Sekiya and Nagasaki 1998). So the path on the ground plane shrinks by √s, and with it the places of the feet but for
//! their distance from the line of travel; the pelvis rises as far as the shorter steps allow; inverse kinematics bends the
//! legs; and time runs slower by √s. Planted feet stay planted.

mod config;
#[cfg(test)]
mod tests;

pub use config::PaceConfig;

use crate::smoothing::gaussian;
use glam::{Quat, Vec2, Vec3};
use pomp_estimate::terrain_fit::{FitInput, stances};
use pomp_motion::legs::{LEGS, bend_leg};
use pomp_motion::random::Draws;
use pomp_motion::statistics::percentile;
use pomp_motion::{Clip, Gait, GlobalPose, Pose, Recording, smoothstep};

/// Standard deviation of the smoothing of the facing direction, seconds: most of a step.
const FACING_S: f32 = 0.35;
/// Standard deviation of the smoothing of the pelvis's rise, seconds.
const RISE_S: f32 = 0.08;
/// Slowest walk that is slowed further, m/s: mean speed of the clip while it walks.
const LEAST_SPEED_MPS: f32 = 0.7;
/// Largest angle between travel and facing, on average, as a cosine: walks sideways and backwards are not slowed.
const LEAST_AHEAD: f32 = 0.9;
/// Least share of standing and walking of a clip whose steps are shortened.
const LEAST_STEADY: f32 = 0.95;
/// Shorter ways from foothold to foothold are no steps ahead, metres.
const LEAST_STEP_M: f32 = 0.2;
/// Frames over which the distance from the line of travel changes from stance to stance at the least.
const LEAST_BLEND_FRAMES: usize = 6;
/// A leg is stretched to this share of its length at most, or as far as the clip stretches it.
const STRETCH: f32 = 0.985;

/// A walk at another pace.
#[derive(Clone, Debug)]
pub struct Paced {
    /// The clip; its frames do not correspond to those of the source.
    pub clip: Clip,
    /// Its pace over that of the clip.
    pub share: f32,
}

/// Slows `clip`, whose contacts and gaits `recording` has, as the `variant`th (from 0) of the configured variants, or gives
/// the reason why that is not possible.
pub fn pace(
    clip: &Clip,
    recording: &Recording,
    config: &PaceConfig,
    variant: usize,
    stream: &str,
) -> Result<Paced, String> {
    let Walk { poses, facing } = Walk::ahead(clip, recording, config.least_steady_share)?;
    // Each variant has its own part of the range, so that a few of them cover it.
    let [low, high] = config.share;
    let part = (high - low) / config.variants.max(1) as f32;
    let least = low + part * variant as f32;
    let share = Draws::of_name(config.seed, stream).within([least, least + part]);
    let shorter = share.sqrt();
    let poses = shortened(clip, recording, &poses, &facing, shorter);
    Ok(Paced { clip: clip.with_poses(slowed(&poses, shorter)), share })
}

/// `clip`, whose contacts `recording` has, with steps of `step_m` on average in the same time, or the reason why that is not possible.
/// Frames and contacts correspond.
pub(crate) fn with_steps(clip: &Clip, recording: &Recording, step_m: f32) -> Result<Clip, String> {
    let Walk { poses, facing } = Walk::ahead(clip, recording, LEAST_STEADY)?;
    let footholds = stances(&FitInput::of_recording(recording));
    let lengths: Vec<f32> = footholds
        .windows(2)
        .filter(|pair| pair[0].foot != pair[1].foot)
        .map(|pair| pair[0].centre().distance(pair[1].centre()))
        .filter(|length| *length > LEAST_STEP_M)
        .collect();
    let own_m = percentile(&lengths, 0.5).ok_or("it makes no steps")? as f32;
    if own_m < step_m {
        return Err(format!("its steps have {own_m:.2} m, {step_m:.2} are wanted"));
    }
    Ok(clip.with_poses(shortened(clip, recording, &poses, &facing, step_m / own_m)))
}

/// A walk ahead on level ground.
struct Walk {
    poses: Vec<GlobalPose>,
    /// Facing direction of each frame.
    facing: Vec<Vec2>,
}

impl Walk {
    /// `clip` as one, if it stands and walks for `least_steady_share` of its time at the least.
    fn ahead(clip: &Clip, recording: &Recording, least_steady_share: f32) -> Result<Self, String> {
        let frames = recording.frames() as f32;
        let steady =
            |weights: &&[f32; Gait::COUNT]| matches!(Gait::dominant(weights), Gait::Stand | Gait::Walk);
        if (recording.gait.iter().filter(steady).count() as f32) < least_steady_share * frames {
            return Err("it does more than stand and walk".to_owned());
        }
        let poses = clip.global_poses();
        let facing = facing(&poses, FACING_S * clip.frame_rate_hz);
        let walks: Vec<usize> =
            (1..poses.len()).filter(|t| Gait::dominant(&recording.gait[*t]) == Gait::Walk).collect();
        let moves = |t: usize| ground(poses[t].positions[0] - poses[t - 1].positions[0]);
        let gone: f32 = walks.iter().map(|t| moves(*t).length()).sum();
        let ahead: f32 = walks.iter().map(|t| moves(*t).dot(facing[*t])).sum();
        if gone * clip.frame_rate_hz < LEAST_SPEED_MPS * walks.len() as f32 || walks.is_empty() {
            return Err("it does not walk, or slowly already".to_owned());
        }
        if ahead < LEAST_AHEAD * gone {
            return Err("it does not walk ahead".to_owned());
        }
        Ok(Self { poses, facing })
    }
}

/// The clip with steps `share` as long.
fn shortened(
    clip: &Clip,
    recording: &Recording,
    poses: &[GlobalPose],
    facing: &[Vec2],
    share: f32,
) -> Vec<Pose> {
    let origin = ground(poses[0].positions[0]);
    let course = shrunk_course(poses, FACING_S * clip.frame_rate_hz);
    let beside = |place: Vec2, t: usize| {
        let aside = facing[t].perp();
        aside * (place - course[t]).dot(aside)
    };
    let moved = |place: Vec2, beside: Vec2| origin + (place - origin) * share + beside * (1.0 - share);
    let feet: [Vec<Vec3>; 2] = std::array::from_fn(|foot| {
        let ankle = LEGS[foot][2].0;
        let places: Vec<Vec3> = poses.iter().map(|pose| pose.positions[ankle]).collect();
        let planted: Vec<bool> =
            recording.foot_contact.iter().map(|contact| contact[2 * foot] || contact[2 * foot + 1]).collect();
        let asides: Vec<Vec2> =
            places.iter().enumerate().map(|(t, place)| beside(ground(*place), t)).collect();
        let asides = held(&asides, &planted);
        places
            .iter()
            .zip(asides)
            .map(|(place, aside)| {
                let to = moved(ground(*place), aside);
                Vec3::new(to.x, place.y, to.y)
            })
            .collect()
    });
    let hips: Vec<Vec3> = poses
        .iter()
        .enumerate()
        .map(|(t, pose)| {
            let hips = pose.positions[0];
            let to = moved(ground(hips), beside(ground(hips), t));
            Vec3::new(to.x, hips.y, to.y)
        })
        .collect();
    let room: Vec<f32> = (0..poses.len())
        .map(|t| {
            let moved = hips[t] - poses[t].positions[0];
            (0..2)
                .map(|foot| room_above(clip, &poses[t], foot, moved, feet[foot][t]))
                .fold(f32::MAX, f32::min)
        })
        .collect();
    let rise = gaussian(&room, RISE_S * clip.frame_rate_hz);
    (0..poses.len())
        .map(|t| {
            let mut pose = clip.poses[t].clone();
            pose.root_position = hips[t] + Vec3::Y * rise[t];
            for (leg, path) in LEGS.into_iter().zip(&feet) {
                bend_leg(&clip.skeleton, &mut pose, &poses[t], leg, path[t], Quat::IDENTITY);
            }
            pose
        })
        .collect()
}

/// How far the pelvis, moved by `moved`, can rise until a leg whose ankle comes to `to` is as long as the clip has it, metres.
fn room_above(clip: &Clip, pose: &GlobalPose, foot: usize, moved: Vec3, to: Vec3) -> f32 {
    let [hip, knee, ankle, _] = LEGS[foot].map(|joint| joint.0);
    let joints = clip.skeleton.joints();
    let whole = joints[knee].offset.length() + joints[ankle].offset.length();
    let before = pose.positions[hip].distance(pose.positions[ankle]);
    let longest = before.max((STRETCH * whole).min(before + 0.01));
    let line = pose.positions[hip] + moved - to;
    (longest * longest - line.x * line.x - line.z * line.z).max(0.0).sqrt() - line.y
}

/// Position of the body on the ground plane, without its sway from foot to foot.
fn shrunk_course(poses: &[GlobalPose], sigma: f32) -> Vec<Vec2> {
    let axis = |pick: fn(Vec3) -> f32| -> Vec<f32> {
        let values: Vec<f32> = poses.iter().map(|pose| pick(pose.positions[0])).collect();
        // A straight line is removed before and added after the smoothing, which pulls the ends inwards.
        let last = values.len() - 1;
        let slope = (values[last] - values[0]) / last.max(1) as f32;
        let rest: Vec<f32> =
            values.iter().enumerate().map(|(t, value)| value - values[0] - slope * t as f32).collect();
        let smooth = gaussian(&rest, sigma);
        smooth.iter().enumerate().map(|(t, value)| value + values[0] + slope * t as f32).collect()
    };
    axis(|p| p.x).into_iter().zip(axis(|p| p.z)).map(|(x, z)| Vec2::new(x, z)).collect()
}

/// Facing direction on the ground plane, of length 1.
fn facing(poses: &[GlobalPose], sigma: f32) -> Vec<Vec2> {
    let ahead: Vec<Vec2> =
        poses.iter().map(|pose| ground(pose.rotations[0] * Vec3::Z).normalize_or(Vec2::Y)).collect();
    let axis = |pick: fn(&Vec2) -> f32| gaussian(&ahead.iter().map(pick).collect::<Vec<f32>>(), sigma);
    axis(|v| v.x).into_iter().zip(axis(|v| v.y)).map(|(x, z)| Vec2::new(x, z).normalize_or(Vec2::Y)).collect()
}

/// `values` with one value for each stance, its mean, and a smooth way from stance to stance.
fn held(values: &[Vec2], planted: &[bool]) -> Vec<Vec2> {
    let mut stances: Vec<(usize, usize, Vec2)> = Vec::new();
    let mut t = 0;
    while t < planted.len() {
        let start = t;
        while t < planted.len() && planted[t] {
            t += 1;
        }
        if t > start {
            let mean = values[start..t].iter().sum::<Vec2>() / (t - start) as f32;
            stances.push((start, t - 1, mean));
        }
        t += 1;
    }
    let mut next = 0;
    (0..values.len())
        .map(|t| {
            while next < stances.len() && t > stances[next].1 {
                next += 1;
            }
            let before = next.checked_sub(1).map(|k| stances[k]);
            match (before, stances.get(next)) {
                (Some((_, end, from)), Some(&(start, _, to))) if t < start => {
                    let length = (start - end).max(LEAST_BLEND_FRAMES) as f32;
                    from.lerp(to, smoothstep((t - end) as f32 / length))
                }
                (_, Some((_, _, to))) => *to,
                (Some((_, _, from)), None) => from,
                (None, None) => values[t],
            }
        })
        .collect()
}

/// The poses with time running at `rate`.
fn slowed(poses: &[Pose], rate: f32) -> Vec<Pose> {
    let last = poses.len() - 1;
    let frames = (last as f32 / rate).floor() as usize + 1;
    (0..frames)
        .map(|frame| {
            let at = frame as f32 * rate;
            let here = (at as usize).min(last);
            poses[here].lerp(&poses[(here + 1).min(last)], at - here as f32)
        })
        .collect()
}

fn ground(v: Vec3) -> Vec2 {
    Vec2::new(v.x, v.z)
}

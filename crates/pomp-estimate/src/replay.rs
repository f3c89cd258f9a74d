//! Physics replay (docs/method.md §6.4): the ragdoll tracks a clip on its ground, and all the simulator knows
//! is recorded.

use crate::replay_planning::Planner;
use crate::replay_targets::targets;
use crate::{ReplayConfig, ReplayReport, Stage};
use pomp_motion::glam::Vec2;
use pomp_motion::{Clip, GRAVITY_M_S2, GlobalPose, Pose, SimulationTrack, TerrainGrid, rotation};
use pomp_physics::{DynamicConfig, Expectation, PhysicsError, Push};

/// What may happen to a replay: targets other than the clip's, and pushes.
pub trait Course {
    /// The target of a frame of the clip, from the clip's pose.
    fn target(&mut self, frame: usize, clip: &Pose) -> Pose;
    /// The pushes during a frame of the clip, before which the ragdoll is in `pose`.
    fn pushes(&mut self, frame: usize, pose: &GlobalPose) -> Vec<Push>;
    /// What the simulator made of a frame of the clip.
    fn observe(&mut self, frame: usize, simulated: &GlobalPose);
}

/// The clip as it is.
struct Undisturbed;

impl Course for Undisturbed {
    fn target(&mut self, _frame: usize, clip: &Pose) -> Pose {
        clip.clone()
    }

    fn pushes(&mut self, _frame: usize, _pose: &GlobalPose) -> Vec<Push> {
        Vec::new()
    }

    fn observe(&mut self, _frame: usize, _simulated: &GlobalPose) {}
}

/// Tracks `clip` on `terrain`. `expected` is the feed-forward of the drives per frame `[T]`
/// ([`expectations`](crate::expectations)); empty for none.
///
/// # Errors
/// An error of the simulator: a bad config, a terrain or a target that is not finite.
pub fn replay(
    clip: &Clip,
    terrain: &TerrainGrid,
    dynamic: &DynamicConfig,
    config: &ReplayConfig,
    expected: &[Expectation],
) -> Result<(SimulationTrack, ReplayReport), PhysicsError> {
    let planner = config.planning.enabled.then(|| Planner::new(&config.planning, 1.0 / clip.frame_rate_hz));
    follow(clip, terrain, (dynamic, config), expected, &mut Undisturbed, planner)
}

/// Tracks `clip`, as `course` changes it, on `terrain`; see [`replay()`]. Nothing is planned, because plans would not foresee the changes.
///
/// # Errors
/// Those of [`replay()`].
pub fn replay_on(
    clip: &Clip,
    terrain: &TerrainGrid,
    dynamic: &DynamicConfig,
    config: &ReplayConfig,
    expected: &[Expectation],
    course: &mut dyn Course,
) -> Result<(SimulationTrack, ReplayReport), PhysicsError> {
    follow(clip, terrain, (dynamic, config), expected, course, None)
}

fn follow(
    clip: &Clip,
    terrain: &TerrainGrid,
    (dynamic, config): (&DynamicConfig, &ReplayConfig),
    expected: &[Expectation],
    course: &mut dyn Course,
    mut planner: Option<Planner<'_>>,
) -> Result<(SimulationTrack, ReplayReport), PhysicsError> {
    let poses = targets(clip, terrain, expected, &config.targets)?;
    let clip = &clip.with_poses(poses);
    let approach = approach(clip, config.warm_up_frames.max(1));
    let mut stage = Stage::new(clip, terrain, dynamic, config, (&approach[0], &approach[1]))?;
    let poses: Vec<&Pose> = approach.iter().chain(&clip.poses[1..]).collect();
    let first_recorded = approach.len() - 1;
    let expected = |step: usize| expected.get(step.saturating_sub(first_recorded));
    for (step, target) in poses.iter().enumerate().skip(1) {
        let at = step.checked_sub(first_recorded);
        let target = &at.map_or_else(|| (*target).clone(), |at| course.target(at, target));
        let pushes = at.map_or_else(Vec::new, |at| course.pushes(at, stage.body()));
        if let Some(planner) = &mut planner {
            planner.before(&mut stage, (step..poses.len()).map(|step| (poses[step], expected(step))))?;
        }
        let frame = stage.step(target, &pushes, expected(step))?;
        if let Some(planner) = &mut planner {
            planner.after(&stage, target);
        }
        if let Some(at) = at {
            course.observe(at, &frame.pose);
        }
        if stage.has_lost(&frame) {
            stage.put_back()?;
            if let Some(planner) = &mut planner {
                planner.begin_again();
            }
        }
        if at.is_some() {
            stage.record(&frame);
        }
    }
    Ok(stage.finish())
}

/// The clip's first motion continued backwards at constant velocity for `frames` frames, ending with its first frame; for one frame where
/// the clip begins in the air, because no contact has to settle there.
pub fn approach(clip: &Clip, frames: usize) -> Vec<Pose> {
    let first = &clip.poses[0];
    let second = &clip.poses[1.min(clip.frames() - 1)];
    let fall = initial_fall(clip);
    let frames = if fall.is_some() { 1 } else { frames };
    (0..=frames)
        .rev()
        .map(|back| {
            let t = -(back as f32);
            let local_rotations = first
                .local_rotations
                .iter()
                .zip(&second.local_rotations)
                .map(|(a, b)| rotation::exp(rotation::log(*b * a.inverse()) * t) * *a)
                .collect();
            let mut root_position = first.root_position + (second.root_position - first.root_position) * t;
            // The height is held: a body that was sinking would otherwise start above the ground. One that flies
            // has to arrive at its speed.
            root_position.y = first.root_position.y;
            if let Some(fall) = fall {
                root_position.y += fall.x * t + 0.5 * fall.y * t * t;
            }
            Pose { root_position, local_rotations }
        })
        .collect()
}

/// Vertical speed and acceleration of the root at the start, metres per frame and per frame², when the clip begins in
/// the air: over its first two tenths of a second the root is accelerated downward by more than [`FALLING`] of gravity.
fn initial_fall(clip: &Clip) -> Option<Vec2> {
    let frames = (0.1 * clip.frame_rate_hz).round().max(2.0) as usize;
    if clip.frames() <= 2 * frames {
        return None;
    }
    let height = |frame: usize| clip.poses[frame].root_position.y;
    let span = frames as f32;
    let acceleration = (height(2 * frames) - 2.0 * height(frames) + height(0)) / (span * span);
    let speed = (height(frames) - height(0)) / span - 0.5 * acceleration * span;
    let gravity = GRAVITY_M_S2 as f32 / (clip.frame_rate_hz * clip.frame_rate_hz);
    (acceleration < -FALLING * gravity).then_some(Vec2::new(speed, acceleration))
}

/// Share of gravity from which on a clip begins in the air.
const FALLING: f32 = 0.7;

#[cfg(test)]
mod tests {
    use super::*;
    use pomp_motion::Skeleton;
    use pomp_motion::glam::Vec3;
    use std::sync::Arc;

    /// The root goes up with a speed, m/s, and is accelerated.
    fn clip(speed: f32, acceleration: f32) -> Clip {
        let skeleton = Arc::new(Skeleton::humanoid(1.75));
        let at = |frame: usize| {
            let t = frame as f32 / 60.0;
            let mut pose = Pose::rest(&skeleton);
            pose.root_position = Vec3::new(t, 1.4 + speed * t + 0.5 * acceleration * t * t, 0.0);
            pose
        };
        let poses = (0..30).map(at).collect();
        Clip { name: "flies".to_owned(), skeleton, frame_rate_hz: 60.0, poses }
    }

    #[test]
    fn a_replay_that_begins_in_the_air_begins_with_the_speed_of_its_clip() {
        for speed in [-2.0, 0.3] {
            let approach = approach(&clip(speed, -9.81), 6);
            assert_eq!(approach.len(), 2, "no contact has to settle");
            let begins = (approach[1].root_position - approach[0].root_position) * 60.0;
            println!("a clip of {speed} m/s: its approach has {begins} m/s");
            assert!((begins.y - speed).abs() < 0.2 && (begins.x - 1.0).abs() < 1e-3);
        }
        let on_the_ground = approach(&clip(-0.5, 0.0), 6);
        assert_eq!(on_the_ground.len(), 7);
        assert!(on_the_ground.iter().all(|pose| pose.root_position.y == 1.4));
    }
}

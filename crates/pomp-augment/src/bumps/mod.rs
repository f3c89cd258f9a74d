//! Clips that are pushed during their replay (docs/method.md §6.6): mocap has no push, and the gait "bump" has to be
//! learned from simulation.
//!
//! The target follows the body: a displacement by a push, measured against the undisturbed replay of the same frame, is
//! kept. A standing foot stays in place, the next swing moves it along, and the pelvis returns over the feet. The recorded clip
//! is thus a walk that continues beside its old path.

mod config;
#[cfg(test)]
mod tests;

pub use config::BumpConfig;
pub(crate) use config::check_bodies;

use crate::Source;
use crate::smoothing::gaussian;
use glam::{Quat, Vec3};
use pomp_estimate::{Course, PhysicsSettings, ReplayReport, replay_on};
use pomp_motion::legs::{LEGS, bend_leg};
use pomp_motion::random::Draws;
use pomp_motion::{
    Clip, Gait, GenerationTrack, GlobalPose, Pose, PushRecord, Recording, SimulationTrack, TerrainGrid,
    humanoid,
};
use pomp_physics::{PhysicsError, Push};

/// No push before this time, nor in the last of it, seconds: the window of the features is one second to each side.
const CALM_S: f32 = 1.0;
/// A pelvis whose velocity differs by more than this from the undisturbed one still reacts, m/s.
const REACTING_M_S: f32 = 0.2;
/// A trunk whose orientation differs by more than this from the undisturbed one still reacts, radians: 8 degrees.
const REACTING_RAD: f32 = 0.14;
/// Shortest and longest reaction, seconds.
const REACTION_S: [f32; 2] = [0.4, 2.0];
/// Standard deviation of the smoothing of the labels, seconds.
const LABEL_SMOOTHING_S: f32 = 0.1;
/// Largest distance of a standing foot from its place in the clip, metres, relative to the root; beyond it the foot is dragged.
const FARTHEST_M: f32 = 0.35;

/// A clip that was pushed.
#[derive(Clone, Debug)]
pub struct Bumped {
    /// The targets as they were: positions, velocities, gaits.
    pub recording: Recording,
    /// Figures of the replay.
    pub report: ReplayReport,
}

/// Pushes the clip of `source`, whose replay on `terrain` is `undisturbed`, or gives the reason why it is not possible. `stream` names the
/// pushes that are drawn.
///
/// # Errors
/// What the simulator refuses.
pub fn bump(
    source: Source<'_>,
    undisturbed: &SimulationTrack,
    terrain: &TerrainGrid,
    settings: PhysicsSettings<'_>,
    config: &BumpConfig,
    stream: &str,
) -> Result<Result<Bumped, String>, PhysicsError> {
    let Source { clip, recording, expected } = source;
    let pushes = match plan(recording, config, &mut Draws::of_name(config.seed, stream)) {
        Ok(pushes) => pushes,
        Err(reason) => return Ok(Err(reason)),
    };
    let mut course = Pushed {
        clip,
        contacts: &recording.foot_contact,
        undisturbed,
        config,
        pushes,
        offset: Vec3::ZERO,
        feet: [Vec3::ZERO; 2],
        targets: Vec::with_capacity(clip.frames()),
        records: Vec::new(),
    };
    let (track, report) = replay_on(clip, terrain, settings.dynamic, settings.replay, expected, &mut course)?;
    let Pushed { targets, records, .. } = course;
    let moved = clip.with_poses(targets);
    let mut bumped = Recording::of_clip(&moved);
    bumped.foot_contact.clone_from(&recording.foot_contact);
    bumped.gait = labels(&recording.gait, undisturbed, &track, &records, clip.frame_rate_hz);
    let control = recording
        .root
        .iter()
        .zip(recording.velocities.rows())
        .map(|(&[x, z, yaw, _], row)| [x, z, yaw, row[0].x.hypot(row[0].z)])
        .collect();
    bumped.generation = Some(GenerationTrack {
        target_positions: bumped.positions.clone(),
        pushes: records,
        control,
        frame_time_us: None,
        ground_offset: None,
    });
    bumped.simulation = Some(track);
    Ok(Ok(Bumped { recording: bumped, report }))
}

/// A push to come.
#[derive(Clone, Copy, Debug)]
struct Planned {
    frame: usize,
    body: usize,
    impulse_ns: Vec3,
}

/// Pushes at random times at which the body stands or walks.
fn plan(recording: &Recording, config: &BumpConfig, draws: &mut Draws) -> Result<Vec<Planned>, String> {
    let rate = recording.frame_rate_hz;
    let steady: Vec<bool> = recording
        .gait
        .iter()
        .map(|weights| matches!(Gait::dominant(weights), Gait::Stand | Gait::Walk))
        .collect();
    let share = steady.iter().filter(|&&s| s).count() as f32 / steady.len() as f32;
    if share < config.least_steady_share {
        return Err(format!("only {:.0} % of it is standing and walking", 100.0 * share));
    }
    let bodies: Vec<usize> = config
        .bodies
        .iter()
        .filter_map(|name| recording.skeleton.index_of(name))
        .map(|joint| joint.0)
        .collect();
    let calm = (CALM_S * rate) as usize;
    let mut pushes = Vec::new();
    let mut at = calm + (draws.share() * config.interval_s[0] * rate) as usize;
    // A short clip is pushed once, in its middle.
    if recording.frames() >= 2 * calm && at + calm >= recording.frames() {
        at = recording.frames() / 2;
    }
    while at + calm <= recording.frames() {
        let body = bodies[draws.below(bodies.len())];
        let direction = Quat::from_rotation_y(draws.centred() * std::f32::consts::PI) * Vec3::Z;
        let impulse_ns = direction * draws.within(config.impulse_ns);
        if steady[at - calm / 2..(at + calm / 2).min(steady.len())].iter().all(|&s| s) {
            pushes.push(Planned { frame: at, body, impulse_ns });
        }
        at += (draws.within(config.interval_s) * rate) as usize;
    }
    if pushes.is_empty() {
        return Err("there is no time for a push".to_owned());
    }
    Ok(pushes)
}

/// A replay in which the target follows the pushed body.
struct Pushed<'a> {
    clip: &'a Clip,
    contacts: &'a [[bool; 4]],
    undisturbed: &'a SimulationTrack,
    config: &'a BumpConfig,
    pushes: Vec<Planned>,
    /// Horizontal offset of the target's root from the clip's, metres.
    offset: Vec3,
    /// Offset of the target's feet from the clip's.
    feet: [Vec3; 2],
    targets: Vec<Pose>,
    records: Vec<PushRecord>,
}

impl Pushed<'_> {
    fn touches(&self, frame: usize, foot: usize) -> bool {
        self.contacts[frame][2 * foot] || self.contacts[frame][2 * foot + 1]
    }

    /// A standing foot keeps its offset; a swinging foot reaches the root's offset by the time it lands.
    fn step_feet(&mut self, frame: usize) {
        for foot in 0..2 {
            if !self.touches(frame, foot) {
                let left = (frame..self.contacts.len()).take_while(|&f| !self.touches(f, foot)).count();
                let gap = self.offset - self.feet[foot];
                self.feet[foot] += gap / left as f32;
            }
            let behind = self.offset - self.feet[foot];
            if behind.length() > FARTHEST_M {
                self.feet[foot] = self.offset - behind.clamp_length_max(FARTHEST_M);
            }
        }
    }
}

impl Course for Pushed<'_> {
    fn target(&mut self, frame: usize, clip: &Pose) -> Pose {
        self.step_feet(frame);
        let mut target = clip.clone();
        let begun = self.pushes.first().is_some_and(|push| frame >= push.frame);
        if begun {
            target.root_position += self.offset;
            let world = self.clip.skeleton.forward_kinematics(clip);
            for (foot, leg) in LEGS.into_iter().enumerate() {
                let ankle = world.positions[leg[2].0] + self.feet[foot];
                bend_leg(&self.clip.skeleton, &mut target, &world, leg, ankle, Quat::IDENTITY);
            }
        }
        self.targets.push(target.clone());
        target
    }

    fn pushes(&mut self, frame: usize, pose: &GlobalPose) -> Vec<Push> {
        let now: Vec<Planned> = self.pushes.iter().copied().filter(|push| push.frame == frame).collect();
        self.records.extend(now.iter().map(|push| PushRecord {
            time_s: frame as f32 / self.clip.frame_rate_hz,
            body: push.body,
            impulse_ns: push.impulse_ns,
            point: pose.positions[push.body],
        }));
        now.iter().map(|push| Push { body: push.body, impulse_ns: push.impulse_ns, point: None }).collect()
    }

    fn observe(&mut self, frame: usize, simulated: &GlobalPose) {
        let moved = simulated.positions[0] - self.undisturbed.positions[frame][0];
        let ahead = Vec3::new(moved.x, 0.0, moved.z) - self.offset;
        self.offset += ahead * self.config.follow;
        let feet = 0.5 * (self.feet[0] + self.feet[1]);
        let back = (1.0 / (self.config.return_s * self.clip.frame_rate_hz)).min(1.0);
        self.offset += (feet - self.offset) * back;
    }
}

/// Gait labels, with "bump" from each push until the body moves like the undisturbed one.
fn labels(
    gait: &[[f32; Gait::COUNT]],
    undisturbed: &SimulationTrack,
    pushed: &SimulationTrack,
    records: &[PushRecord],
    frame_rate_hz: f32,
) -> Vec<[f32; Gait::COUNT]> {
    let reacts = |frame: usize| {
        let faster = pushed.velocities[frame][0] - undisturbed.velocities[frame][0];
        let chest = humanoid::SPINE2.0;
        let turned = pushed.quaternions[frame][chest].angle_between(undisturbed.quaternions[frame][chest]);
        faster.x.hypot(faster.z) > REACTING_M_S || turned > REACTING_RAD
    };
    let [shortest, longest] = REACTION_S.map(|seconds| (seconds * frame_rate_hz).round() as usize);
    let mut share = vec![0.0f32; gait.len()];
    for record in records {
        let start = (record.time_s * frame_rate_hz).round() as usize;
        let window = start..(start + longest).min(gait.len());
        let last = window.clone().rev().find(|&frame| reacts(frame)).unwrap_or(start);
        let end = (last + 1).max(start + shortest).min(gait.len());
        share[start..end].fill(1.0);
    }
    let sigma = LABEL_SMOOTHING_S * frame_rate_hz;
    let smooth = gaussian(&share, sigma);
    gait.iter()
        .zip(smooth)
        .map(|(weights, bump)| {
            let mut weights = weights.map(|weight| weight * (1.0 - bump));
            weights[Gait::Bump.index()] += bump;
            weights
        })
        .collect()
}

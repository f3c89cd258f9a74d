//! Physics replay (docs/method.md §6.4): the ragdoll tracks a clip on its ground, and all the simulator knows
//! is recorded.

use pomp_motion::glam::{Vec2, Vec3};
use pomp_motion::{
    Clip, ESTIMATED_BY_SIMULATION, FrameTable, GlobalPose, Pose, SimulationTrack, TerrainGrid, humanoid,
    rotation,
};
use pomp_physics::{
    DynamicConfig, DynamicModule, Expectation, GainScale, PhysicsError, PoseVelocity, Push, Support,
};
use serde::{Deserialize, Serialize};

/// How the replay treats clips that the ragdoll cannot follow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ReplayConfig {
    /// Frames of constant-velocity approach before the first frame, so that contacts have settled when
    /// recording begins. Default 6.
    pub warm_up_frames: usize,
    /// When the simulated pelvis is farther than this from the clip's, the ragdoll has lost the clip and is
    /// put back onto it, metres. Such frames are counted as resets. Too small hides stumbling; too large
    /// records long falls. Default 0.5.
    pub lost_beyond_m: f32,
    /// Whether the drives are told beforehand which forces and accelerations the clip asks for, by the estimate of its
    /// contact impulses. Default true. Without it, how the legs share the weight hangs on millimetres of the clip, and
    /// a heel takes in three frames what a person's takes in eight.
    pub feed_forward: bool,
    /// Stiffness of knee and ankle of a leg that is expected to bear, over that of the drives. Default 0.15; 1 leaves
    /// it. Such a leg has its torque beforehand; a stiff one only adds the errors of the clip's soles.
    pub bearing_stiffness: f32,
    /// The same of their damping. Default 0.6.
    pub bearing_damping: f32,
}

impl Default for ReplayConfig {
    fn default() -> Self {
        Self {
            warm_up_frames: 6,
            lost_beyond_m: 0.5,
            feed_forward: true,
            bearing_stiffness: 0.15,
            bearing_damping: 0.6,
        }
    }
}

/// Figures of one replay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReplayReport {
    /// Σ vertical contact impulse over m g T.
    pub vertical_closure: f32,
    /// Mean vertical assist force over body weight.
    pub vertical_assist: f32,
    /// Mean size of the assist force over body weight.
    pub mean_assist: f32,
    /// Root mean square of the joints' rotation error, degrees.
    pub rms_joint_error_deg: f32,
    /// Mean distance of the simulated pelvis from the clip's, metres.
    pub mean_root_error_m: f32,
    /// Largest total vertical contact force, body weights.
    pub peak_force_bw: f32,
    /// How often the ragdoll was put back onto the clip.
    pub resets: usize,
    /// How often the simulation diverged and was restored.
    pub divergences: usize,
}

/// What may happen to a replay: targets other than the clip's, and pushes.
pub(crate) trait Course {
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

/// Tracks `clip` on `terrain`. `expected` is what the clip asks of the drives in each frame `[T]`
/// ([`expectations`](crate::impulses::expectations)); empty, they know nothing of it.
///
/// # Errors
/// What the simulator refuses: a bad config, a terrain or a target that is not finite.
pub fn replay(
    clip: &Clip,
    terrain: &TerrainGrid,
    dynamic: &DynamicConfig,
    config: &ReplayConfig,
    expected: &[Expectation],
) -> Result<(SimulationTrack, ReplayReport), PhysicsError> {
    replay_on(clip, terrain, dynamic, config, expected, &mut Undisturbed)
}

/// Tracks what `course` makes of `clip` on `terrain`; see [`replay`].
pub(crate) fn replay_on(
    clip: &Clip,
    terrain: &TerrainGrid,
    dynamic: &DynamicConfig,
    config: &ReplayConfig,
    expected: &[Expectation],
    course: &mut dyn Course,
) -> Result<(SimulationTrack, ReplayReport), PhysicsError> {
    let dt = 1.0 / clip.frame_rate_hz;
    let mut module = DynamicModule::new(&clip.skeleton, dynamic, terrain)?;
    let (joints, bodies) = (clip.skeleton.len(), module.body_names().len());
    let mass: f32 = module.body_masses().iter().sum();
    let weight = mass * dynamic.gravity_m_s2;

    let mut track = SimulationTrack {
        body_names: module.body_names().to_vec(),
        body_mass_kg: module.body_masses().to_vec(),
        contact_impulse: FrameTable::with_columns(bodies),
        impulse_estimator: ESTIMATED_BY_SIMULATION.to_owned(),
        sim_contact_impulse: FrameTable::with_columns(bodies),
        positions: FrameTable::with_columns(joints),
        quaternions: FrameTable::with_columns(joints),
        velocities: FrameTable::with_columns(joints),
        assist_force: Vec::with_capacity(clip.frames()),
        assist_torque: Vec::with_capacity(clip.frames()),
    };
    let approach = approach(clip, config.warm_up_frames.max(1));
    module.reset(&approach[0], &PoseVelocity::between(&approach[0], &approach[1], dt))?;

    let (mut square_error, mut root_error, mut peak) = (0.0f64, 0.0f64, 0.0f32);
    let (mut resets, mut divergences) = (0, 0);
    let targets = approach.iter().chain(&clip.poses[1..]);
    let mut before = approach[0].clone();
    let mut body = clip.skeleton.forward_kinematics(&before);
    let first_recorded = approach.len() - 1;
    let mut bore_n = vec![Vec3::ZERO; bodies];
    for (step, target) in targets.enumerate().skip(1) {
        let at = step.checked_sub(first_recorded);
        let target = &at.map_or_else(|| target.clone(), |at| course.target(at, target));
        let pushes = at.map_or_else(Vec::new, |at| course.pushes(at, &body));
        let from = &std::mem::replace(&mut before, target.clone());
        let told = expected.get(at.unwrap_or(0)).map(|expected| told(expected, &bore_n, weight, config));
        let frame = module.step_expecting(from, target, &pushes, told.as_ref())?;
        body.clone_from(&frame.pose);
        bore_n = frame.contact_impulse.iter().map(|j| *j / dt).collect();
        if let Some(at) = at {
            course.observe(at, &frame.pose);
        }
        divergences += usize::from(frame.recovered.is_some());
        let lost = frame.pose.positions[0].distance(target.root_position);
        if lost > config.lost_beyond_m {
            module.reset(target, &PoseVelocity::between(from, target, dt))?;
            resets += 1;
        }
        if step < first_recorded {
            continue;
        }
        let simulated = frame.pose.to_local(&clip.skeleton);
        for (a, b) in simulated.local_rotations.iter().zip(&target.local_rotations).skip(1) {
            square_error += f64::from(rotation::log(*a * b.inverse()).length_squared());
        }
        root_error += f64::from(lost);
        let vertical: f32 = frame.contact_impulse.iter().map(|j| j.y).sum();
        peak = peak.max(vertical / (weight * dt));
        track.sim_contact_impulse.push(&frame.contact_impulse);
        track.positions.push(&frame.pose.positions);
        track.quaternions.push(&frame.pose.rotations);
        track.velocities.push(&frame.velocities);
        track.assist_force.push(frame.assist_force);
        track.assist_torque.push(frame.assist_torque);
    }

    let frames = track.assist_force.len() as f32;
    track.contact_impulse = track.sim_contact_impulse.clone();
    let total: f32 = track.sim_contact_impulse.values().iter().map(|j| j.y).sum();
    let assist: Vec3 = track.assist_force.iter().sum();
    let report = ReplayReport {
        vertical_closure: total / (weight * dt * frames),
        vertical_assist: assist.y / (weight * frames),
        mean_assist: track.assist_force.iter().map(|f| f.length()).sum::<f32>() / (weight * frames),
        rms_joint_error_deg: ((square_error / (f64::from(frames) * (joints - 1) as f64)).sqrt() as f32)
            .to_degrees(),
        mean_root_error_m: (root_error / f64::from(frames)) as f32,
        peak_force_bw: peak,
        resets,
        divergences,
    };
    Ok((track, report))
}

/// A foot that bore less than this share of the weight in the frame before is not down yet, or no longer: told to bear,
/// its leg would be thrust at the ground.
const BEARS: f32 = 0.01;
/// A leg that is expected to bear more than this share of the weight is soft.
const EXPECTED_TO_BEAR: f32 = 0.02;

/// What the drives are told of a frame: what is `expected`, but for feet that do not bear. `bore_n` are the forces of
/// the ground in the frame before, N.
fn told(expected: &Expectation, bore_n: &[Vec3], weight_n: f32, config: &ReplayConfig) -> Expectation {
    let mut told = expected.clone();
    let soft = GainScale { stiffness: config.bearing_stiffness, damping: config.bearing_damping };
    for foot in [humanoid::LEFT_FOOT.0, humanoid::RIGHT_FOOT.0] {
        let (knee, toe) = (foot - 1, foot + 1);
        let of_foot = |support: &Support| support.body == foot || support.body == toe;
        let load: f32 = told.supports.iter().filter(|s| of_foot(s)).map(|s| s.force_n.y).sum();
        if load > EXPECTED_TO_BEAR * weight_n {
            (told.gains[knee], told.gains[foot]) = (soft, soft);
        }
        if bore_n[foot].y + bore_n[toe].y < BEARS * weight_n {
            told.supports.retain(|support| !of_foot(support));
        }
    }
    told
}

/// The clip's first motion continued backwards at constant velocity, ending with its first frame.
fn approach(clip: &Clip, frames: usize) -> Vec<Pose> {
    let first = &clip.poses[0];
    let second = &clip.poses[1.min(clip.frames() - 1)];
    let fall = initial_fall(clip);
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
            // The height is held: a body that was sinking would otherwise start above the ground. One that falls
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
/// free fall: over its first two tenths of a second the root falls with more than [`FALLING`] of gravity.
fn initial_fall(clip: &Clip) -> Option<Vec2> {
    let frames = (0.1 * clip.frame_rate_hz).round().max(2.0) as usize;
    if clip.frames() <= 2 * frames {
        return None;
    }
    let height = |frame: usize| clip.poses[frame].root_position.y;
    let span = frames as f32;
    let acceleration = (height(2 * frames) - 2.0 * height(frames) + height(0)) / (span * span);
    let speed = (height(frames) - height(0)) / span - 0.5 * acceleration * span;
    let gravity = 9.81 / (clip.frame_rate_hz * clip.frame_rate_hz);
    (acceleration < -FALLING * gravity && speed < 0.0).then_some(Vec2::new(speed, acceleration))
}

/// Share of gravity from which on a clip begins in free fall.
const FALLING: f32 = 0.7;

//! Planning of a replay: corrections of the balance that keep a ragdoll on its clip, found by trying them in the simulator (ours; predictive
//! sampling, a model predictive control).
//!
//! Acts on a ragdoll that balances by its legs (`dynamic.balance`). A few times per second it looks how well the ragdoll has followed the
//! clip. If that was not well enough, the simulator runs ahead along the clip. Where the ragdoll would leave it, constant corrections are drawn
//! and tried likewise, and the best one is in force until the next look. Corrections are places of the feet and accelerations of the
//! body ([`Reaction`]); they become torques of the joints, so nothing acts on the body from outside.
//!
//! Cost and evidence: docs/experiments/0103-replays-on-their-own-feet.md.

use crate::Stage;
use crate::stage::Kept;
use pomp_config::{Fields, OutOfRange, Validate};
use pomp_motion::glam::{Quat, Vec3};
use pomp_motion::legs::LEGS;
use pomp_motion::rotation::from_yaw;
use pomp_motion::{GlobalPose, Pose};
use pomp_physics::{Expectation, PhysicsError, Reaction};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Numbers of a correction: displacement of both feet, acceleration of the centre of mass, angular acceleration of the pelvis, three each.
const COMPONENTS: usize = 12;
/// Those that displace the feet; they come first.
const FEET: usize = 6;
/// What a component of 1 means: displacement along the ground and upward, metres; accelerations, m/s² and rad/s².
const STEP_M: f32 = 0.2;
const LIFT_M: f32 = 0.1;
const ACCELERATION_M_S2: f32 = 2.0;
const ANGULAR_RAD_S2: f32 = 15.0;
/// Components are limited to this many units.
const MOST: f32 = 3.0;
/// Share of the way to a correction that is gone in a frame.
const APPROACH: f32 = 0.5;
/// Share of the candidates that differ in the places of the feet, and share of those that differ in nothing else.
const FEET_DIFFER: f32 = 0.8;
const FEET_ALONE: f32 = 0.5;
/// Half of the candidates are this much nearer to the best one so far.
const NEARER: f32 = 0.4;
/// Scales of the errors: place and height of the centre of mass, m; its velocity, m/s; rotations of the pelvis and of the legs' joints, rad.
const PLACE_M: f32 = 0.1;
const HEIGHT_M: f32 = 0.05;
const VELOCITY_M_S: f32 = 0.3;
const PELVIS_RAD: f32 = 0.25;
const LEGS_RAD: f32 = 0.25;

/// Settings of the planning of a replay.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ReplayPlanningConfig {
    /// If on, corrections are planned. Default false.
    pub enabled: bool,
    /// Time between two looks at the body, seconds; default 0.1.
    pub interval_s: f32,
    /// How far a plan looks ahead, seconds; default 0.8. Less than a step does not see where the next foot lands.
    pub horizon_s: f32,
    /// Rounds of a search; default 2. Each draws around the best candidate of the rounds before.
    pub rounds: usize,
    /// Candidates of a round; default 16.
    pub candidates: usize,
    /// Standard deviation of a candidate's components; default 0.5. With 1, feet are displaced by 20 cm.
    pub deviation: f32,
    /// A ragdoll without a correction that has followed its clip with at least this rating in every frame since the last look is left alone;
    /// default 0.9. The rating of a frame is 1 for one that follows exactly.
    pub calm: f32,
    /// A motion that scores at least this needs no search; default 0.85. The score is the mean rating over the horizon, in which frames
    /// after a fall count nothing.
    pub content: f32,
    /// Cost of the mean square of a correction's components; default 0.03.
    pub cost: f32,
    /// Seed of the candidates; default 1.
    pub seed: u64,
}

impl Default for ReplayPlanningConfig {
    fn default() -> Self {
        Self {
            enabled: false,
            interval_s: 0.1,
            horizon_s: 0.8,
            rounds: 2,
            candidates: 16,
            deviation: 0.5,
            calm: 0.9,
            content: 0.85,
            cost: 0.03,
            seed: 1,
        }
    }
}

impl Validate for ReplayPlanningConfig {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        fields.within("interval_s", self.interval_s, 0.01..=2.0)?;
        fields.within("horizon_s", self.horizon_s, 0.05..=3.0)?;
        fields.within("rounds", self.rounds, 0..=100)?;
        fields.within("candidates", self.candidates, 1..=1000)?;
        fields.within("deviation", self.deviation, 0.01..=3.0)?;
        fields.within("calm", self.calm, 0.0..=1.0)?;
        fields.within("content", self.content, 0.0..=1.0)?;
        fields.within("cost", self.cost, 0.0..=10.0)
    }
}

/// A correction, in units of its scales, in the heading frame of the body.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Correction([f32; COMPONENTS]);

impl Correction {
    /// This one a frame later, when `decided` has been decided on.
    fn towards(&self, decided: &Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] + (decided.0[i] - self.0[i]) * APPROACH))
    }

    fn mean_square(&self) -> f32 {
        self.0.iter().map(|component| component * component).sum::<f32>() / COMPONENTS as f32
    }

    /// What a body whose pelvis is turned so does.
    fn reaction(&self, pelvis: Quat) -> Reaction {
        let ahead = pelvis * Vec3::Z;
        let heading = from_yaw(ahead.x.atan2(ahead.z));
        let vector = |first: usize| Vec3::from_slice(&self.0[first..first + 3]);
        let step = |first: usize| {
            let way = vector(first);
            heading * (Vec3 { y: 0.0, ..way } * STEP_M) + Vec3::Y * (way.y * LIFT_M).max(0.0)
        };
        Reaction {
            steps: [step(0), step(3)],
            acceleration: heading * vector(6) * ACCELERATION_M_S2,
            angular: heading * vector(9) * ANGULAR_RAD_S2,
        }
    }
}

/// A frame of the clip that is still to come.
struct Ahead<'a> {
    target: &'a Pose,
    expected: Option<&'a Expectation>,
    pose: GlobalPose,
    /// Place and velocity of its centre of mass.
    center: Vec3,
    velocity: Vec3,
}

/// What plans for a replay.
pub(crate) struct Planner<'a> {
    config: &'a ReplayPlanningConfig,
    frame_s: f32,
    rng: ChaCha8Rng,
    decided: Correction,
    in_force: Correction,
    /// Least rating of the frames since the last look.
    followed: f32,
    frames: usize,
}

impl<'a> Planner<'a> {
    pub fn new(config: &'a ReplayPlanningConfig, frame_s: f32) -> Self {
        Self {
            config,
            frame_s,
            rng: ChaCha8Rng::seed_from_u64(config.seed),
            decided: Correction::default(),
            in_force: Correction::default(),
            followed: 1.0,
            frames: 0,
        }
    }

    /// Before a frame is simulated: decides on a correction when that is due, and lets the ragdoll do what is in force. `ahead` are the
    /// targets from this frame on, with their feed-forward.
    pub fn before<'b>(
        &mut self,
        stage: &mut Stage<'_>,
        ahead: impl Iterator<Item = (&'b Pose, Option<&'b Expectation>)>,
    ) -> Result<(), PhysicsError> {
        let interval = (self.config.interval_s / self.frame_s).round().max(1.0) as usize;
        let due = self.frames.is_multiple_of(interval);
        self.frames += 1;
        if due {
            let followed = std::mem::replace(&mut self.followed, 1.0);
            if followed < self.config.calm || self.decided != Correction::default() {
                self.search(stage, ahead)?;
            }
        }
        self.in_force = self.in_force.towards(&self.decided);
        stage.react(&self.in_force.reaction(stage.body().rotations[0]));
        Ok(())
    }

    /// After a frame towards `target` was simulated.
    pub fn after(&mut self, stage: &Stage<'_>, target: &Pose) {
        self.followed = self.followed.min(rating(stage, &self.see(stage, stage.from(), target, None)));
    }

    /// The ragdoll was put back onto its clip.
    pub fn begin_again(&mut self) {
        (self.decided, self.in_force, self.followed) = (Correction::default(), Correction::default(), 1.0);
    }

    fn see<'b>(
        &self,
        stage: &Stage<'_>,
        from: &Pose,
        target: &'b Pose,
        expected: Option<&'b Expectation>,
    ) -> Ahead<'b> {
        let place = |pose: &Pose| {
            let pose = stage.skeleton().forward_kinematics(pose);
            (stage.ragdoll().center_of_mass_in(&pose), pose)
        };
        let ((before, _), (center, pose)) = (place(from), place(target));
        Ahead { target, expected, pose, center, velocity: (center - before) / self.frame_s }
    }

    fn search<'b>(
        &mut self,
        stage: &mut Stage<'_>,
        ahead: impl Iterator<Item = (&'b Pose, Option<&'b Expectation>)>,
    ) -> Result<(), PhysicsError> {
        let frames = (self.config.horizon_s / self.frame_s).round().max(1.0) as usize;
        let mut from = stage.target().clone();
        let ahead: Vec<Ahead<'_>> = ahead
            .take(frames)
            .map(|(target, expected)| {
                let seen = self.see(stage, &from, target, expected);
                from.clone_from(target);
                seen
            })
            .collect();
        let now = stage.keep();
        let mut best = (Correction::default(), f32::NEG_INFINITY);
        for correction in [Correction::default(), self.decided] {
            let is_new = best.1 == f32::NEG_INFINITY || correction != best.0;
            if is_new && best.1 < self.config.content {
                self.attempt(stage, &now, &ahead, correction, &mut best)?;
            }
        }
        let rounds = if best.1 < self.config.content { self.config.rounds } else { 0 };
        for _ in 0..rounds {
            let center = best.0;
            for _ in 0..self.config.candidates {
                let candidate = self.draw(&center);
                self.attempt(stage, &now, &ahead, candidate, &mut best)?;
            }
        }
        stage.take_up(&now)?;
        self.decided = best.0;
        Ok(())
    }

    /// A candidate near `center`.
    fn draw(&mut self, center: &Correction) -> Correction {
        let rng = &mut self.rng;
        let nearness = if rng.random::<f32>() < 0.5 { NEARER } else { 1.0 };
        let feet_differ = rng.random::<f32>() < FEET_DIFFER;
        let rest_differs = !feet_differ || rng.random::<f32>() >= FEET_ALONE;
        Correction(std::array::from_fn(|i| {
            let normal: f32 = rng.sample(StandardNormal);
            let differs = if i < FEET { feet_differ } else { rest_differs };
            let added = if differs { self.config.deviation * nearness * normal } else { 0.0 };
            (center.0[i] + added).clamp(-MOST, MOST)
        }))
    }

    /// Lets the ragdoll follow what is `ahead` from `now` on with `correction`, and keeps it when it is the best.
    fn attempt(
        &self,
        stage: &mut Stage<'_>,
        now: &Kept,
        ahead: &[Ahead<'_>],
        correction: Correction,
        best: &mut (Correction, f32),
    ) -> Result<(), PhysicsError> {
        stage.take_up(now)?;
        let mut in_force = self.in_force;
        let mut score = -self.config.cost * correction.mean_square();
        let frames = ahead.len() as f32;
        // The most that the frames ahead can still give.
        let mut left = 1.0;
        for (at, seen) in ahead.iter().enumerate() {
            if score + left <= best.1 {
                return Ok(());
            }
            in_force = in_force.towards(&correction);
            stage.react(&in_force.reaction(stage.body().rotations[0]));
            let frame = stage.step(seen.target, &[], seen.expected)?;
            if stage.has_lost(&frame) || frame.recovered.is_some() {
                break;
            }
            let share = weight((at as f32 + 0.5) / frames) / frames;
            score += share * rating(stage, seen);
            left -= share;
        }
        if score > best.1 {
            *best = (correction, score);
        }
        Ok(())
    }
}

/// Weight of a frame at this share of the horizon, 1 on average: where the body ends counts more than how it gets there.
fn weight(elapsed: f32) -> f32 {
    0.5 + elapsed
}

/// 0 to 1: how well the ragdoll follows the frame that it has come to.
fn rating(stage: &Stage<'_>, seen: &Ahead<'_>) -> f32 {
    let (ragdoll, pose) = (stage.ragdoll(), stage.body());
    let mass_kg: f32 = ragdoll.body_masses().iter().sum();
    let missed = ragdoll.center_of_mass() - seen.center;
    let slip = ragdoll.momentum() / mass_kg - seen.velocity;
    let pelvis = pose.rotations[0].angle_between(seen.pose.rotations[0]);
    let legs = LEGS.into_iter().flat_map(|leg| leg.into_iter().take(3)).map(|joint| {
        let relative = |pose: &GlobalPose| pose.rotations[0].inverse() * pose.rotations[joint.0];
        relative(pose).angle_between(relative(&seen.pose)).powi(2)
    });
    let legs = (legs.sum::<f32>() / 6.0).sqrt();
    let near = |error: f32, scale: f32| 1.0 / (1.0 + (error / scale).powi(2));
    0.1 + 0.2 * near(Vec3 { y: 0.0, ..missed }.length(), PLACE_M)
        + 0.2 * near(Vec3 { y: 0.0, ..slip }.length(), VELOCITY_M_S)
        + 0.1 * near(missed.y, HEIGHT_M)
        + 0.2 * near(pelvis, PELVIS_RAD)
        + 0.2 * near(legs, LEGS_RAD)
}

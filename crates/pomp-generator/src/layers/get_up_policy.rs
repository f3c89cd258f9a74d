//! Get-up policy: a small network that brings a fallen body to its feet (ours).
//!
//! Acts before the simulation of a frame, on the drives of a body that gets up over key postures. It sees body, target and ground, and adds
//! rotations of limbs and spine to the target ([`pomp_policy::GetUpAction`]). The drives are softer than those of a body that is led.
//! All of it is inner torque: nothing acts on the body from outside.

use super::balance_policy::{Followed, Sight};
use super::get_up_planning::GetUpPlan;
use pomp_motion::Pose;
use pomp_motion::glam::Vec3;
use pomp_physics::{DynamicModule, Expectation, Frame, GainScale, RisingProgress, rising_lag};
use pomp_policy::{FRAMES_PER_DECISION, GetUpAction, RisingBody, observe_get_up};
use pomp_terrain::HeightMap;

/// Drives of a body that a policy or a plan leads, as a share of those of a body that is led by a target alone. With softer ones, or with the
/// whole damping, fewer bodies get up.
const GAINS: GainScale = GainScale { stiffness: 1.0, damping: 0.75 };

/// What the policy has done and sees.
#[derive(Clone, Debug, Default)]
pub struct GetUpReflexes {
    /// The action in force, and the one that was decided on.
    action: GetUpAction,
    decided: GetUpAction,
    /// Frames that it has led.
    frames: usize,
    /// What get-up planning makes of the decisions.
    pub(crate) plan: GetUpPlan,
    /// Vertical force of the ground on every body in the last frame, body weights.
    ground_bw: Vec<f32>,
    /// The target with the rotations of the action, at the start of the frame under way and at its end.
    driven: Option<(Pose, Pose)>,
}

impl GetUpReflexes {
    /// Whether a decision is due.
    pub fn decides(&self) -> bool {
        self.frames.is_multiple_of(FRAMES_PER_DECISION)
    }

    /// What the policy sees of a body that has come as far as `progress` says, into `out`.
    pub fn observe(
        &self,
        body: &DynamicModule,
        [from, to]: [&Pose; 2],
        terrain: &HeightMap,
        progress: &RisingProgress,
        out: &mut Vec<f32>,
    ) {
        let lag = rising_lag(&body.pose(), to).min(1.0);
        let sight = Sight::of(&Followed { body, from, to, terrain });
        let [from, to] = sight.ends();
        let body = sight.body();
        let none = vec![0.0; body.pose.positions.len()];
        let rising = RisingBody {
            body,
            ground_bw: if self.ground_bw.is_empty() { &none } else { &self.ground_bw },
            from,
            to,
            stance: progress.stance,
            progress: [progress.share, lag],
            terrain,
            action: &self.action,
        };
        observe_get_up(&rising, out);
    }

    /// From now on `action` is approached.
    pub fn decide(&mut self, action: GetUpAction) {
        self.decided = action;
    }

    /// Moves on by a frame in which the target goes from a pose to another.
    pub fn advance(&mut self, from: &Pose, to: &Pose) {
        let before = self.action;
        self.action = before.towards(&self.plan.applied_to(&self.decided));
        self.plan.advance();
        self.frames += 1;
        let (mut from, mut to) = (from.clone(), to.clone());
        before.turn(&mut from);
        self.action.turn(&mut to);
        self.driven = Some((from, to));
    }

    /// What the drives follow in the frame under way, where that is not the target itself.
    pub fn driven(&self) -> Option<(&Pose, &Pose)> {
        self.driven.as_ref().map(|(from, to)| (from, to))
    }

    /// What a frame asks of the drives of a body with so many `joints`.
    pub fn expectation(joints: usize, gravity_m_s2: f32) -> Expectation {
        let gains = vec![GAINS; joints];
        Expectation { gains, ..Expectation::of_torques(vec![Vec3::ZERO; joints], gravity_m_s2) }
    }

    /// Notes what the ground did to a body of weight `weight_n` in a frame of `frame_s` seconds.
    pub fn note(&mut self, simulated: &Frame, weight_n: f32, frame_s: f32) {
        self.ground_bw.clear();
        let of = |impulse: &Vec3| impulse.y / (weight_n * frame_s);
        self.ground_bw.extend(simulated.contact_impulse.iter().map(of));
    }

    /// Nothing is done any more.
    pub fn rest(&mut self) {
        if self.frames > 0 {
            *self = Self::default();
        }
    }
}

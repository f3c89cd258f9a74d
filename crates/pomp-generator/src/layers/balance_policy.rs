//! Balance policy: a small network that steps and corrects where the balance by the legs falls short (ours).
//!
//! Acts before the simulation of a frame, on the drives of a body that balances by its legs (`dynamic.balance`). It sees body, target
//! and ground, and adds displacements of the feet, accelerations and rotations of the trunk to what the balance does
//! ([`pomp_policy`]). All of it is inner torque: nothing acts on the body from outside. While the body lies or gets up it rests.
//!
//! Cost and evidence: docs/experiments/0090-balance-policy.md.

use pomp_motion::Pose;
use pomp_motion::features::FUTURE_KEYS;
use pomp_motion::glam::Vec2;
use pomp_physics::{DynamicModule, Reaction};
use pomp_policy::{
    Action, FRAMES_PER_DECISION, Observed, PackedPolicy, SeenBody, SeenTarget, heading, observe,
};
use pomp_terrain::HeightMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings of the balance policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BalancePolicyConfig {
    /// If on, the model's balance policy reacts beside the balance by the legs. Default false.
    pub enabled: bool,
}

/// What the policy has done and sees.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reflexes {
    /// The action in force, and the one that was decided on.
    action: Action,
    decided: Action,
    /// What balance planning makes of the decisions.
    pub planned: Correction,
    /// Frames since the last decision.
    frames: usize,
    /// The predicted trajectory, relative to the target's root.
    pub ahead: [(Vec2, f32); FUTURE_KEYS],
    /// The target with the rotations of the action, at the start of the frame under way and at its end.
    driven: Option<(Pose, Pose)>,
}

/// What balance planning makes of the decisions of the policy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Correction {
    /// Whether the policy is listened to.
    pub heeds_policy: bool,
    /// What is added.
    pub added: Action,
}

impl Default for Correction {
    fn default() -> Self {
        Self { heeds_policy: true, ..Self::NONE }
    }
}

impl Correction {
    /// Nothing is done, whatever the policy says.
    pub const NONE: Self = Self { heeds_policy: false, added: Action::NONE };

    fn applied_to(&self, decided: &Action) -> Action {
        if self.heeds_policy { decided.plus(&self.added) } else { self.added }
    }
}

/// A body with the target that it follows in a frame.
#[derive(Clone, Copy)]
pub(crate) struct Followed<'a> {
    pub body: &'a DynamicModule,
    pub from: &'a Pose,
    pub to: &'a Pose,
    pub terrain: &'a HeightMap,
}

impl Reflexes {
    /// Whether a decision is due.
    pub fn decides(&self) -> bool {
        self.frames.is_multiple_of(FRAMES_PER_DECISION)
    }

    /// What the policy sees, into `out`.
    pub fn observe(&self, followed: &Followed<'_>, out: &mut Vec<f32>) {
        let Followed { body, from, to, terrain } = *followed;
        let (pose, velocity, feet) = (body.pose(), body.velocity(), body.balancing_feet());
        let mass_kg: f32 = body.body_masses().iter().sum();
        let ends = [from, to].map(|local| {
            let pose = body.skeleton().forward_kinematics(local);
            (local, body.center_of_mass_in(&pose), pose)
        });
        let [from, to] =
            ends.each_ref().map(|(local, center_m, pose)| SeenTarget { local, pose, center_m: *center_m });
        let body = SeenBody {
            pose: &pose,
            local_rotations: body.local_rotations(),
            center_m: body.center_of_mass(),
            velocity_m_s: body.momentum() / mass_kg,
            joint_velocities: body.joint_velocities(),
            pelvis_angular: body.angular_velocities()[0],
            relative_angular: &velocity.angular,
            displaced_m: feet.map(|foot| foot.displaced),
            loads_bw: feet.map(|foot| foot.load_bw),
        };
        observe(&Observed { body, from, to, ahead: &self.ahead, terrain, action: &self.action }, out);
    }

    /// From now on `action` is approached.
    pub fn decide(&mut self, action: Action) {
        self.decided = action;
    }

    /// Lets `policy` decide, when that is due.
    pub fn ask(&mut self, policy: &PackedPolicy, followed: &Followed<'_>) {
        if self.decides() {
            let mut seen = Vec::new();
            self.observe(followed, &mut seen);
            policy.normalise(&mut seen);
            self.decide(policy.decide(&seen));
        }
    }

    /// Nothing is done any more.
    pub fn rest(&mut self) {
        *self = Self { ahead: self.ahead, ..Self::default() };
    }

    /// Moves on by a frame in which the target goes from a pose to another; gives the action in force when there is one.
    pub fn advance(&mut self, from: &Pose, to: &Pose) -> Option<Action> {
        let before = self.action;
        self.action = before.towards(&self.planned.applied_to(&self.decided));
        self.frames += 1;
        let idle = before == Action::default() && self.action == Action::default();
        self.driven = (!idle).then(|| {
            let (mut from, mut to) = (from.clone(), to.clone());
            before.turn(&mut from);
            self.action.turn(&mut to);
            (from, to)
        });
        (!idle).then_some(self.action)
    }

    /// What the drives follow in the frame under way, where that is not the target itself.
    pub fn driven(&self) -> Option<(&Pose, &Pose)> {
        self.driven.as_ref().map(|(from, to)| (from, to))
    }
}

/// What the balance of a body that follows its target does beside that, when `action` is in force.
pub(crate) fn reaction(action: &Action, body: &DynamicModule) -> Reaction {
    let heading = heading(body.local_rotations()[0]);
    Reaction {
        steps: action.steps_m(heading),
        acceleration: action.acceleration_m_s2(heading),
        angular: action.angular_rad_s2(heading),
    }
}

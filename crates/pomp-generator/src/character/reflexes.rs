//! What the balance policy sees of a character and does with it.

use super::{Character, Motion};
use crate::GeneratorError;
use crate::layers::balance_policy::{Correction, Followed, reaction};
use crate::layers::fall_recovery::Rising;
use crate::layers::get_up_planning::{GetUpPlan, GetUpReflexes};
use pomp_motion::Pose;
use pomp_physics::Expectation;
use pomp_policy::{Action, PackedPolicy};
use std::sync::Arc;

impl Motion {
    /// What the drives follow in the frame under way.
    pub(super) fn driven(&self) -> (&Pose, &Pose) {
        let turned = self.get_up.driven().filter(|_| self.rising == Rising::Turned);
        turned.or_else(|| self.reflexes.driven()).unwrap_or((&self.from, &self.target.world.0))
    }
}

impl Character {
    /// Lets `policy` react from the next frame on; with none, only what [`Self::decide`] says is done.
    pub fn set_policy(&mut self, policy: Option<Arc<PackedPolicy>>) {
        self.policy = policy;
    }

    /// Says what plans do to the body as it gets up.
    pub(crate) fn set_rising(&mut self, rising: Rising) {
        self.motion.rising = rising;
        if rising == Rising::OnItsFeet {
            // It goes nowhere.
            self.motion.reflexes.ahead = Default::default();
        }
    }

    /// What the frame under way asks of the drives, where plans turn the joints of a body that gets up.
    pub(super) fn expected(&self) -> Option<Expectation> {
        let config = self.dynamic.config();
        let turned = self.motion.rising == Rising::Turned;
        turned.then(|| GetUpReflexes::expectation(self.skeleton.len(), config.gravity_m_s2))
    }

    /// Whether a decision of a balance policy is due in the frame under way.
    pub fn decision_is_due(&self) -> bool {
        self.motion.reflexes.decides()
    }

    /// What a balance policy sees before the frame under way is simulated, into `out`.
    ///
    /// # Errors
    /// A start that the simulator refuses.
    pub fn observe_balance(&mut self, out: &mut Vec<f32>) -> Result<(), GeneratorError> {
        self.begin()?;
        self.motion.reflexes.observe(&self.followed(), out);
        Ok(())
    }

    /// Lets the body approach `action` from the frame under way on.
    pub fn decide(&mut self, action: Action) {
        self.motion.reflexes.decide(action);
    }

    /// Whether a policy reacts.
    pub(crate) fn has_policy(&self) -> bool {
        self.policy.is_some()
    }

    /// What balance planning makes of the decisions.
    pub(crate) fn planned(&self) -> Correction {
        self.motion.reflexes.planned
    }

    /// Makes `correction` of the decisions from now on.
    pub(crate) fn set_planned(&mut self, correction: Correction) {
        self.motion.reflexes.planned = correction;
    }

    /// The plan by which the body gets up.
    pub(crate) fn get_up_plan(&self) -> &GetUpPlan {
        &self.motion.get_up.plan
    }

    /// Lets the body get up by `plan` from now on.
    pub(crate) fn set_get_up_plan(&mut self, plan: &GetUpPlan) {
        self.motion.get_up.plan = *plan;
    }

    fn followed(&self) -> Followed<'_> {
        Followed {
            body: &self.dynamic,
            from: &self.motion.from,
            to: &self.motion.target.world.0,
            terrain: &self.terrain,
        }
    }

    /// Before a frame is simulated: the policy decides, and what it does is prepared.
    pub(super) fn react(&mut self) {
        let mut reflexes = std::mem::take(&mut self.motion.reflexes);
        if self.motion.released && self.motion.rising != Rising::OnItsFeet {
            reflexes.rest();
        } else if let Some(policy) = &self.policy {
            reflexes.ask(policy, &self.followed());
        }
        let action = reflexes.advance(&self.motion.from, &self.motion.target.world.0);
        self.motion.reflexes = reflexes;
        self.rise();
        let reaction = reaction(&action.unwrap_or_default(), &self.dynamic);
        self.dynamic.set_reaction(&reaction);
    }

    /// The same of a body that gets up by plans.
    fn rise(&mut self) {
        let mut get_up = std::mem::take(&mut self.motion.get_up);
        if self.motion.rising == Rising::Turned {
            get_up.advance(&self.motion.from, &self.motion.target.world.0);
        } else {
            get_up.rest();
        }
        self.motion.get_up = get_up;
    }
}

//! What the balance policy sees of a character and does with it.

use super::{Character, Motion};
use crate::GeneratorError;
use crate::layers::balance_policy::{Correction, Followed, reaction};
use pomp_motion::Pose;
use pomp_policy::{Action, PackedPolicy};
use std::sync::Arc;

impl Motion {
    /// What the drives follow in the frame under way.
    pub(super) fn driven(&self) -> (&Pose, &Pose) {
        self.reflexes.driven().unwrap_or((&self.from, &self.target.world.0))
    }
}

impl Character {
    /// Lets `policy` react from the next frame on; with none, only what [`Self::decide`] says is done.
    pub fn set_policy(&mut self, policy: Option<Arc<PackedPolicy>>) {
        self.policy = policy;
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
        if self.motion.released {
            reflexes.rest();
        } else if let Some(policy) = &self.policy {
            reflexes.ask(policy, &self.followed());
        }
        let action = reflexes.advance(&self.motion.from, &self.motion.target.world.0);
        self.motion.reflexes = reflexes;
        let reaction = reaction(&action.unwrap_or_default(), &self.dynamic);
        self.dynamic.set_reaction(&reaction);
    }
}

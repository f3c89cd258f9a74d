//! What the balance policy sees of a character and does with it.

use super::{Character, Motion};
use crate::GeneratorError;
use crate::layers::balance_policy::{Correction, Followed, reaction};
use crate::layers::get_up_planning::GetUpPlan;
use crate::layers::get_up_policy::GetUpReflexes;
use pomp_motion::Pose;
use pomp_physics::{Expectation, RisingProgress};
use pomp_policy::{Action, GetUpAction, PackedPolicy};
use std::sync::Arc;

impl Motion {
    /// What the drives follow in the frame under way.
    pub(super) fn driven(&self) -> (&Pose, &Pose) {
        let rising = self.rising.and_then(|_| self.get_up.driven());
        rising.or_else(|| self.reflexes.driven()).unwrap_or((&self.from, &self.target.world.0))
    }
}

impl Character {
    /// Lets `policy` react from the next frame on; with none, only what [`Self::decide`] says is done.
    pub fn set_policy(&mut self, policy: Option<Arc<PackedPolicy>>) {
        self.policy = policy;
    }

    /// Lets `policy` lead the drives while the body gets up.
    pub(crate) fn set_get_up_policy(&mut self, policy: Option<Arc<PackedPolicy>>) {
        self.get_up_policy = policy;
    }

    /// Says how far the body has come on its way up, if a get-up policy or a plan leads it there, and whether it is on its feet again after that.
    pub(crate) fn set_rising(&mut self, rising: Option<RisingProgress>, stands_up: bool) {
        self.motion.rising = rising;
        self.motion.stands_up = stands_up;
        if stands_up {
            // It goes nowhere.
            self.motion.reflexes.ahead = Default::default();
        }
    }

    /// What the frame under way asks of the drives, where a get-up policy leads them.
    pub(super) fn expected(&self) -> Option<Expectation> {
        let config = self.dynamic.config();
        self.motion.rising.map(|_| GetUpReflexes::expectation(self.skeleton.len(), config.gravity_m_s2))
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

    /// Whether a get-up policy leads the drives while the body gets up.
    pub(crate) fn has_get_up_policy(&self) -> bool {
        self.get_up_policy.is_some()
    }

    /// What get-up planning makes of the decisions.
    pub(crate) fn get_up_plan(&self) -> &GetUpPlan {
        &self.motion.get_up.plan
    }

    /// Makes `plan` of the decisions of the get-up policy from now on.
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
        if self.motion.released && !self.motion.stands_up {
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

    /// The same of a body that a get-up policy leads.
    fn rise(&mut self) {
        let mut get_up = std::mem::take(&mut self.motion.get_up);
        match &self.motion.rising {
            Some(progress) => {
                let Followed { body, from, to, terrain } = self.followed();
                if let Some(policy) = &self.get_up_policy
                    && get_up.decides()
                    && get_up.plan.heeds_policy
                {
                    let mut seen = Vec::new();
                    get_up.observe(body, [from, to], terrain, progress, &mut seen);
                    policy.normalise(&mut seen);
                    get_up.decide(GetUpAction::of_slice(&policy.outputs(&seen)));
                }
                get_up.advance(from, to);
            }
            None => get_up.rest(),
        }
        self.motion.get_up = get_up;
    }
}

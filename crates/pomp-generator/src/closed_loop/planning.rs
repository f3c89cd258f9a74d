//! The search of balance planning ([`crate::layers::balance_planning`]).

use super::{ClosedLoop, GeneratorSnapshot};
use crate::GeneratorError;
use crate::character::Tracking;
use crate::control::ControlPlan;
use crate::layers::BalancePlanningConfig;
use crate::networks::Networks;
use pomp_motion::features::OutputFrame;
use pomp_policy::{ACTIONS, Action};

/// What plans for one character.
pub(crate) struct Planner {
    /// Those of the kinematic module that runs ahead: others' samples may be under way in the networks of the loop.
    pub networks: Networks,
    pub seed: u64,
    pub config: BalancePlanningConfig,
}

/// A prediction, and the share of the way to an upright posture of its target.
type Foreseen = (OutputFrame, f32);

/// What has been tried.
struct Best {
    action: Action,
    score: f32,
}

impl ClosedLoop {
    /// Plans the corrections of the next frames, when that is due.
    pub(super) fn plan_balance(&mut self, plan: &ControlPlan) -> Result<(), GeneratorError> {
        let Some(mut planner) = self.planner.take() else { return Ok(()) };
        let due = planner.config.is_due(self.state.frame) && !self.character.is_released();
        let planned = if due { self.search(plan, &mut planner) } else { Ok(()) };
        self.planner = Some(planner);
        planned
    }

    fn search(&mut self, plan: &ControlPlan, planner: &mut Planner) -> Result<(), GeneratorError> {
        let now = self.keep();
        let before = self.character.planned();
        let foreseen = self.foresee(plan, planner);
        self.take_up(&now)?;
        let foreseen = foreseen?;
        let config = planner.config;
        let mut best = Best { action: Action::default(), score: f32::NEG_INFINITY };
        for action in [Action::default(), before] {
            if best.score < config.content {
                self.attempt(&now, &foreseen, &config, action, &mut best)?;
            }
        }
        let mut rng = BalancePlanningConfig::random(planner.seed, self.state.frame);
        let rounds = if best.score < config.content { config.rounds } else { 0 };
        for _ in 0..rounds {
            let center = best.action;
            for _ in 0..config.candidates {
                let candidate = config.draw(&mut rng, &center);
                self.attempt(&now, &foreseen, &config, candidate, &mut best)?;
            }
        }
        self.character.restore(&now.character)?;
        self.character.set_planned(best.action);
        Ok(())
    }

    /// What the kinematic module will predict along `plan` if the body follows its target exactly.
    fn foresee(
        &mut self,
        plan: &ControlPlan,
        planner: &mut Planner,
    ) -> Result<Vec<Foreseen>, GeneratorError> {
        let networks = &mut planner.networks;
        let mut foreseen = Vec::with_capacity(planner.config.frames());
        let dynamics = self.character.without_body();
        let run_ahead = (0..planner.config.frames()).try_for_each(|_| {
            foreseen.push(self.step_predicting(plan, networks)?);
            Ok(())
        });
        self.character.set_dynamics(dynamics);
        run_ahead.map(|()| foreseen)
    }

    /// Lets the body follow what is `foreseen` from `now` on with the correction `action`, and keeps it when it is the best.
    fn attempt(
        &mut self,
        now: &GeneratorSnapshot,
        foreseen: &[Foreseen],
        config: &BalancePlanningConfig,
        action: Action,
        best: &mut Best,
    ) -> Result<(), GeneratorError> {
        let character = &mut self.character;
        character.restore(&now.character)?;
        character.set_planned(action);
        let mut followed = 0.0;
        for (prediction, upright) in foreseen {
            character.aim_upright(prediction, *upright);
            let simulated = character.simulate(&[], self.state.frame)?;
            if character.is_down(&simulated) {
                break;
            }
            followed += score(&character.tracking(prediction));
            character.take_over(&simulated);
        }
        let squares: f32 = action.components().iter().map(|component| component * component).sum();
        let score = followed / foreseen.len() as f32 - config.cost * squares / ACTIONS as f32;
        if score > best.score {
            *best = Best { action, score };
        }
        Ok(())
    }
}

/// 0 to 1, for a frame in which the body is up: the reward that the balance policy learns by (configs/balance.toml).
fn score(tracking: &Tracking) -> f32 {
    0.2 + 0.3 * tracking.velocity + 0.1 * tracking.height + 0.2 * tracking.pelvis + 0.2 * tracking.legs
}

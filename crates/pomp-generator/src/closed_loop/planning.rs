//! The search of balance planning ([`crate::layers::balance_planning`]).

use super::{ClosedLoop, GeneratorSnapshot};
use crate::GeneratorError;
use crate::character::Tracking;
use crate::control::ControlPlan;
use crate::layers::BalancePlanningConfig;
use crate::layers::balance_policy::Correction;
use crate::networks::Networks;
use pomp_motion::features::OutputFrame;
use pomp_policy::ACTIONS;

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
    correction: Correction,
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

    /// Rates the frame that was simulated, before it is taken over.
    pub(super) fn rate(&mut self) {
        if self.planner.is_some()
            && let Some(prediction) = &self.state.prediction
        {
            let rating = rating(&self.character.tracking(prediction));
            self.state.followed = self.state.followed.min(rating);
        }
    }

    fn search(&mut self, plan: &ControlPlan, planner: &mut Planner) -> Result<(), GeneratorError> {
        let before = self.character.planned();
        let followed = std::mem::replace(&mut self.state.followed, 1.0);
        if followed >= planner.config.calm && before == Correction::NONE {
            return Ok(());
        }
        let now = self.keep();
        let foreseen = self.foresee(plan, planner);
        self.take_up(&now)?;
        let foreseen = foreseen?;
        let config = planner.config;
        let policy = self.character.has_policy();
        let mut best = Best { correction: Correction::NONE, score: f32::NEG_INFINITY };
        let heeding = Correction { heeds_policy: policy, ..Correction::NONE };
        for correction in [Correction::NONE, heeding, before] {
            let is_new = best.score == f32::NEG_INFINITY || correction != best.correction;
            if is_new && best.score < config.content {
                self.attempt(&now, &foreseen, &config, correction, &mut best)?;
            }
        }
        let mut rng = BalancePlanningConfig::random(planner.seed, self.state.frame);
        let rounds = if best.score < config.content { config.rounds } else { 0 };
        for _ in 0..rounds {
            let center = best.correction;
            for _ in 0..config.candidates {
                let candidate = config.draw(&mut rng, &center, policy);
                self.attempt(&now, &foreseen, &config, candidate, &mut best)?;
            }
        }
        self.character.restore(&now.character)?;
        self.character.set_planned(best.correction);
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

    /// Lets the body follow what is `foreseen` from `now` on with `correction`, and keeps it when it is the best.
    fn attempt(
        &mut self,
        now: &GeneratorSnapshot,
        foreseen: &[Foreseen],
        config: &BalancePlanningConfig,
        correction: Correction,
        best: &mut Best,
    ) -> Result<(), GeneratorError> {
        let squares: f32 = correction.added.components().iter().map(|component| component * component).sum();
        let frames = foreseen.len() as f32;
        let mut score = -config.cost * squares / ACTIONS as f32;
        // The most that the frames ahead can still give.
        let mut ahead = 1.0;
        let character = &mut self.character;
        character.restore(&now.character)?;
        character.set_planned(correction);
        for (at, (prediction, upright)) in foreseen.iter().enumerate() {
            if score + ahead <= best.score {
                return Ok(());
            }
            character.aim_upright(prediction, *upright);
            let simulated = character.simulate(&[], self.state.frame)?;
            if character.is_down(&simulated) {
                break;
            }
            let share = weight((at as f32 + 0.5) / frames) / frames;
            score += share * rating(&character.tracking(prediction));
            ahead -= share;
            character.take_over(&simulated);
        }
        if score > best.score {
            *best = Best { correction, score };
        }
        Ok(())
    }
}

/// Weight of a frame at this share of the horizon, 1 on average: where the body ends counts more than how it gets there.
fn weight(elapsed: f32) -> f32 {
    0.5 + elapsed
}

/// 0 to 1, for a frame in which the body is up. The parts are those of the reward that the balance policy learns by (configs/balance.toml), but
/// fall off slowly: of two bodies that are both far from their target, the nearer one still counts more.
fn rating(tracking: &Tracking) -> f32 {
    let [velocity, height, pelvis, legs] = tracking.squares().map(|square| 1.0 / (1.0 + square));
    0.2 + 0.3 * velocity + 0.1 * height + 0.2 * pelvis + 0.2 * legs
}

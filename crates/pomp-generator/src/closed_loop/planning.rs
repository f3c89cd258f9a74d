//! The search of balance planning ([`crate::layers::balance_planning`]).

use super::ClosedLoop;
use super::trials::{Highest, Trials, Tried, weight};
use crate::GeneratorError;
use crate::character::{Character, CharacterSnapshot, Tracking};
use crate::control::ControlPlan;
use crate::layers::BalancePlanningConfig;
use crate::layers::balance_planning::plan_random;
use crate::layers::balance_policy::Correction;
use crate::networks::Networks;
use pomp_motion::features::OutputFrame;
use pomp_policy::ACTIONS;

/// What plans for one character.
pub(crate) struct Planner {
    /// Those of the kinematic module that runs ahead: others' samples may be under way in the networks of the loop.
    pub networks: Networks,
    seed: u64,
    config: BalancePlanningConfig,
    trials: Trials,
}

/// A prediction, and the share of the way to an upright posture of its target.
type Foreseen = (OutputFrame, f32);

impl Planner {
    pub fn new(networks: Networks, seed: u64, config: BalancePlanningConfig) -> Self {
        Self { networks, seed, config, trials: Trials::default() }
    }
}

impl ClosedLoop {
    /// Plans the corrections of the next frames, when that is due.
    pub(super) fn plan_balance(&mut self, plan: &ControlPlan) -> Result<(), GeneratorError> {
        let Some(mut planner) = self.planner.take() else { return Ok(()) };
        let due = planner.config.is_due(self.state.frame) && !self.character.is_released();
        let planned = if due { self.look(plan, &mut planner) } else { Ok(()) };
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

    /// Looks whether a plan is needed, and makes it.
    fn look(&mut self, plan: &ControlPlan, planner: &mut Planner) -> Result<(), GeneratorError> {
        let before = self.character.planned();
        let followed = std::mem::replace(&mut self.state.followed, 1.0);
        if followed >= planner.config.calm && before == Correction::NONE {
            return Ok(());
        }
        let now = self.keep();
        let foreseen = self.foresee(plan, planner);
        self.take_up_led(&now);
        let search =
            Search { planner, character: &self.character, from: &now.character, foreseen: &foreseen? };
        let correction = search.run(self.state.frame, before)?;
        self.character.set_planned(correction);
        Ok(())
    }

    /// What the kinematic module will predict along `plan` if the body follows its target exactly.
    fn foresee(
        &mut self,
        plan: &ControlPlan,
        planner: &mut Planner,
    ) -> Result<Vec<Foreseen>, GeneratorError> {
        let dynamics = self.character.without_body();
        let frames = 0..planner.config.frames();
        let foreseen = frames.map(|_| self.step_predicting(plan, &mut planner.networks)).collect();
        self.character.set_dynamics(dynamics);
        foreseen
    }
}

/// A search for a correction.
struct Search<'a> {
    planner: &'a Planner,
    /// Bodies are made like this one.
    character: &'a Character,
    from: &'a CharacterSnapshot,
    foreseen: &'a [Foreseen],
}

impl Search<'_> {
    /// The best correction, before `frame`, where the one `before` is in force.
    fn run(&self, frame: usize, before: Correction) -> Result<Correction, GeneratorError> {
        let config = &self.planner.config;
        let policy = self.character.has_policy();
        let heeding = Correction { heeds_policy: policy, ..Correction::NONE };
        let mut best = (Correction::NONE, f32::NEG_INFINITY);
        for correction in [Correction::NONE, heeding, before] {
            let is_new = best.1 == f32::NEG_INFINITY || correction != best.0;
            if is_new && best.1 < config.content {
                best = self.best_of(vec![correction], best)?;
            }
        }
        let mut random = plan_random(self.planner.seed, frame);
        let rounds = if best.1 < config.content { config.rounds } else { 0 };
        for _ in 0..rounds {
            let draw = |_| config.draw(&mut random, &best.0, policy);
            best = self.best_of((0..config.candidates).map(draw).collect(), best)?;
        }
        Ok(best.0)
    }

    /// The best of `candidates` and `best`; of equals the first.
    fn best_of(
        &self,
        candidates: Vec<Correction>,
        best: Tried<Correction>,
    ) -> Result<Tried<Correction>, GeneratorError> {
        let attempt = |body: &mut Character, correction: &Correction, highest: &Highest| {
            self.attempt(body, correction, highest)
        };
        self.planner.trials.best_of(self.character, candidates, best, attempt)
    }

    /// Lets `body` follow what is foreseen with `correction`; its score, or less than the `highest` where it cannot reach that.
    fn attempt(
        &self,
        body: &mut Character,
        correction: &Correction,
        highest: &Highest,
    ) -> Result<f32, GeneratorError> {
        let squares: f32 = correction.added.components().iter().map(|component| component * component).sum();
        let frames = self.foreseen.len() as f32;
        let mut score = -self.planner.config.cost * squares / ACTIONS as f32;
        // The most that the frames ahead can still give.
        let mut ahead = 1.0;
        body.restore(self.from)?;
        body.set_planned(*correction);
        for (at, (prediction, upright)) in self.foreseen.iter().enumerate() {
            if score + ahead < highest.get() {
                return Ok(f32::NEG_INFINITY);
            }
            body.aim_upright(prediction, *upright);
            let simulated = body.simulate(&[], at)?;
            if body.is_down(&simulated) {
                break;
            }
            let share = weight((at as f32 + 0.5) / frames) / frames;
            score += share * rating(&body.tracking(prediction));
            ahead -= share;
            body.take_over(&simulated);
        }
        highest.raise(score);
        Ok(score)
    }
}

/// 0 to 1, for a frame in which the body is up. The parts are those of the reward that the balance policy learns by (configs/balance.toml), but
/// fall off slowly: of two bodies that are both far from their target, the nearer one still counts more.
fn rating(tracking: &Tracking) -> f32 {
    let [velocity, height, pelvis, legs] = tracking.squares().map(|square| 1.0 / (1.0 + square));
    0.2 + 0.3 * velocity + 0.1 * height + 0.2 * pelvis + 0.2 * legs
}

//! The search of get-up planning ([`crate::layers::get_up_planning`]).

use super::ClosedLoop;
use super::trials::{Highest, Trials, Tried, weight};
use crate::GeneratorError;
use crate::character::{Character, CharacterSnapshot};
use crate::layers::balance_planning::plan_random;
use crate::layers::balance_policy::Correction;
use crate::layers::fall_recovery::{FallRecovery, Rising};
use crate::layers::get_up_planning::{GetUpPlan, rising_nearness};
use crate::layers::{BalancePlanningConfig, GetUpPlanningConfig};
use pomp_physics::Leader;
use pomp_policy::ACTIONS;

/// Rating of a body that is where the target is when the way begins; it is 1 where the way ends.
const START: f32 = 0.3;
/// Weights of the height of the pelvis, its rotation, the place of the centre of mass and the joints.
const WEIGHTS: [f32; 4] = [0.35, 0.3, 0.2, 0.15];
/// Share of the rating that depends on the velocity of the centre of mass where the way ends, and the error of that velocity, m/s, at which half
/// of that is left.
const STILLNESS: f32 = 0.3;
const VELOCITY_M_S: f32 = 0.4;
const FRAME_S: f32 = 1.0 / pomp_motion::FRAME_RATE_HZ;

/// What plans how one character gets up.
pub(crate) struct GetUpPlanner {
    seed: u64,
    config: GetUpPlanningConfig,
    trials: Trials,
}

impl GetUpPlanner {
    /// One that plans as `config` says, if it says so.
    pub fn new(seed: u64, config: GetUpPlanningConfig) -> Option<Self> {
        config.enabled.then(|| Self { seed, config, trials: Trials::default() })
    }
}

impl ClosedLoop {
    /// Plans the next rotations of a body that gets up, or the corrections of its balance once it is on its feet, when that is due.
    pub(super) fn plan_getting_up(&mut self) -> Result<(), GeneratorError> {
        let recovery = &self.layers.fall_recovery;
        if let Some(planner) = &self.get_up_planner
            && recovery.progress().is_some()
            && planner.config.is_due(self.state.frame)
        {
            let from = self.character.save();
            let assist_share = self.state.assist_share;
            let search = Search { planner, character: &self.character, from: &from, recovery, assist_share };
            if recovery.rising() == Rising::OnItsFeet {
                let correction =
                    search.corrections(self.state.frame, &self.config.layers.balance_planning)?;
                self.character.set_planned(correction);
            } else {
                let plan = search.rotations(self.state.frame)?;
                self.character.set_get_up_plan(&plan);
            }
        }
        Ok(())
    }
}

/// A search for a plan.
struct Search<'a> {
    planner: &'a GetUpPlanner,
    /// Bodies are made like this one.
    character: &'a Character,
    from: &'a CharacterSnapshot,
    /// How the body gets up.
    recovery: &'a FallRecovery,
    assist_share: f32,
}

/// What a search tries.
trait Candidate: Copy + Send + PartialEq {
    fn set(&self, body: &mut Character);
    fn mean_square(&self) -> f32;
}

impl Candidate for GetUpPlan {
    fn set(&self, body: &mut Character) {
        body.set_get_up_plan(self);
    }

    fn mean_square(&self) -> f32 {
        self.mean_square()
    }
}

impl Candidate for Correction {
    fn set(&self, body: &mut Character) {
        body.set_planned(*self);
    }

    fn mean_square(&self) -> f32 {
        let squares: f32 = self.added.components().iter().map(|component| component * component).sum();
        squares / ACTIONS as f32
    }
}

impl Search<'_> {
    /// The best rotations before `frame`.
    fn rotations(&self, frame: usize) -> Result<GetUpPlan, GeneratorError> {
        let config = &self.planner.config;
        let first = vec![self.character.get_up_plan().rest(), config.nothing()];
        let mut random = plan_random(self.planner.seed, frame);
        self.best(first, (config.rounds, config.candidates), |center, round| {
            config.draw(&mut random, center, round)
        })
    }

    /// The best corrections of the balance before `frame`, drawn as `config` says.
    fn corrections(
        &self,
        frame: usize,
        config: &BalancePlanningConfig,
    ) -> Result<Correction, GeneratorError> {
        let policy = self.character.has_policy();
        let first = vec![
            Correction::NONE,
            Correction { heeds_policy: policy, ..Correction::NONE },
            self.character.planned(),
        ];
        let mut random = plan_random(self.planner.seed, frame);
        self.best(first, (config.rounds, config.candidates), |center, _| {
            config.draw(&mut random, center, policy)
        })
    }

    fn best<C: Candidate + Sync>(
        &self,
        first: Vec<C>,
        (rounds, candidates): (usize, usize),
        mut draw: impl FnMut(&C, usize) -> C,
    ) -> Result<C, GeneratorError> {
        let nothing = first[0];
        let mut best = self.best_of(first, (nothing, f32::NEG_INFINITY))?;
        for round in 0..rounds {
            if best.1 < self.planner.config.content {
                best = self.best_of((0..candidates).map(|_| draw(&best.0, round)).collect(), best)?;
            }
        }
        Ok(best.0)
    }

    fn best_of<C: Candidate + Sync>(
        &self,
        candidates: Vec<C>,
        best: Tried<C>,
    ) -> Result<Tried<C>, GeneratorError> {
        let attempt = |body: &mut Character, plan: &C, highest: &Highest| self.attempt(body, plan, highest);
        self.planner.trials.best_of(self.character, candidates, best, attempt)
    }

    /// Lets `body` get up by `plan`; its score, or less than the `highest` where it cannot reach that.
    fn attempt<C: Candidate>(
        &self,
        body: &mut Character,
        plan: &C,
        highest: &Highest,
    ) -> Result<f32, GeneratorError> {
        let config = &self.planner.config;
        let frames = config.frames();
        let mut score = -config.cost * plan.mean_square();
        // The most that the frames ahead can still give.
        let mut ahead = 1.0;
        body.restore(self.from)?;
        plan.set(body);
        let mut recovery = self.recovery.clone();
        let mut center = None;
        for at in 0..frames {
            if score + ahead < highest.get() {
                return Ok(f32::NEG_INFINITY);
            }
            match recovery.leader(body) {
                Leader::Recovery { from, to } => body.lead_from(from, to),
                // It stands.
                Leader::Module | Leader::ModuleAnew { .. } => {
                    score += ahead;
                    break;
                }
            }
            let Some(progress) = recovery.progress() else { break };
            recovery.on_target(body, self.assist_share);
            let simulated = body.simulate(&[], at)?;
            if simulated.recovered.is_some() {
                break;
            }
            let share = weight((at as f32 + 0.5) / frames as f32) / frames as f32;
            let wanted = body.body().center_of_mass_in(&body.target());
            let moves = (wanted - center.unwrap_or(wanted)) / FRAME_S;
            center = Some(wanted);
            let mass_kg: f32 = body.body().body_masses().iter().sum();
            let slip = (body.body().momentum() / mass_kg - moves).length() / VELOCITY_M_S;
            let nearness = rising_nearness(body.body(), body.skeleton(), body.target_pose());
            let near: f32 = nearness.into_iter().zip(WEIGHTS).map(|(near, weight)| near * weight).sum();
            let hurry = progress.share * (1.0 - 1.0 / (1.0 + slip * slip));
            let near = near * (1.0 - STILLNESS * hurry);
            score += share * (START + (1.0 - START) * progress.share) * near;
            ahead -= share;
            body.take_over(&simulated);
        }
        highest.raise(score);
        Ok(score)
    }
}

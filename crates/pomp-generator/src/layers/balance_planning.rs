//! Balance planning: corrections that keep the body up over the next second, found by trying them in the simulator (ours; predictive
//! sampling, a model predictive control).
//!
//! Acts before the window of a frame is filled, on a body that balances by its legs (`dynamic.balance`). A few times per second it looks how well
//! the body has followed its target. If that was not well enough, the kinematic module runs ahead without a body, and the simulator repeats that
//! motion with the body as it is now. Where the body would follow its target badly, or fall, constant corrections are drawn and tried
//! likewise, and the best one is in force until the next plan. Corrections are actions of the balance policy ([`pomp_policy::Action`]):
//! places of the feet, accelerations, rotations of the trunk. Where the model has a policy, a plan also decides whether it is listened to: a body
//! that follows its target without either is left alone. All of it is inner torque: nothing acts on the body from outside. It does not
//! foresee pushes or what the ground will do. While the body lies or gets up nothing is planned.
//!
//! Cost and evidence: docs/experiments/0097-balance-planning.md, 0102-plans-where-they-are-needed.md and 0105-plans-in-time.md.

use super::balance_policy::Correction;
use pomp_config::{Fields, OutOfRange, Validate};
use pomp_motion::FRAME_RATE_HZ;
use pomp_policy::{ACTIONS, Action};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Components of an action that displace the feet; they come first.
const FEET: usize = 6;
/// Share of the candidates that differ in the places of the feet, and share of those that differ in nothing else.
const FEET_DIFFER: f32 = 0.8;
const FEET_ALONE: f32 = 0.5;
/// Share of the candidates that listen to the policy where the best one so far does not, and the reverse.
const POLICY_DIFFERS: f32 = 0.25;
/// Half of the candidates are this much nearer to the best one so far.
const NEARER: f32 = 0.4;

/// Settings of balance planning.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BalancePlanningConfig {
    /// If on, corrections of the balance are planned. Default false.
    pub enabled: bool,
    /// Time between two plans, seconds; default 0.1. Shorter times react earlier and cost more.
    pub interval_s: f32,
    /// How far a plan looks ahead, seconds; default 0.8. Less than a step does not see where the next foot lands.
    pub horizon_s: f32,
    /// Rounds of a search; default 2. Each draws around the best candidate of the rounds before.
    pub rounds: usize,
    /// Candidates of a round; default 12. The cost of a search is proportional to rounds and candidates. The candidates of a round are tried on
    /// all processor cores.
    pub candidates: usize,
    /// Standard deviation of a candidate's components; default 0.7. With 1, feet are displaced by 20 cm.
    pub deviation: f32,
    /// A body that does nothing beside following its target, and has followed it with at least this rating in every frame since it was last
    /// looked at, is left alone; default 0.85. The rating of a frame is 1 for a body that follows its target exactly.
    pub calm: f32,
    /// A motion that scores at least this needs no search; default 0.75. The score is the mean rating over the horizon, in which frames after
    /// a fall count nothing; with 1 every plan searches.
    pub content: f32,
    /// Cost of the mean square of a correction's components; default 0.03.
    pub cost: f32,
}

impl Default for BalancePlanningConfig {
    fn default() -> Self {
        Self {
            enabled: false,
            interval_s: 0.1,
            horizon_s: 0.8,
            rounds: 2,
            candidates: 12,
            deviation: 0.7,
            calm: 0.85,
            content: 0.75,
            cost: 0.03,
        }
    }
}

impl Validate for BalancePlanningConfig {
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

/// The random numbers of the plan before `frame`: they depend on nothing else, so that a loop goes on from a snapshot bit for bit.
pub(crate) fn plan_random(seed: u64, frame: usize) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(1 + frame as u64);
    rng
}

impl BalancePlanningConfig {
    /// Whether a plan is made before `frame`.
    pub(crate) fn is_due(&self, frame: usize) -> bool {
        frame.is_multiple_of((self.interval_s * FRAME_RATE_HZ).round().max(1.0) as usize)
    }

    /// Frames that a plan looks ahead.
    pub(crate) fn frames(&self) -> usize {
        (self.horizon_s * FRAME_RATE_HZ).round().max(1.0) as usize
    }

    /// A candidate near `center`; with `policy`, it may listen to the policy where `center` does not, and the reverse.
    pub(crate) fn draw(&self, rng: &mut ChaCha8Rng, center: &Correction, policy: bool) -> Correction {
        let nearness = if rng.random::<f32>() < 0.5 { NEARER } else { 1.0 };
        let feet_differ = rng.random::<f32>() < FEET_DIFFER;
        let rest_differs = !feet_differ || rng.random::<f32>() >= FEET_ALONE;
        let components = center.added.components();
        let drawn: [f32; ACTIONS] = std::array::from_fn(|i| {
            let normal: f32 = rng.sample(StandardNormal);
            let differs = if i < FEET { feet_differ } else { rest_differs };
            components[i] + if differs { self.deviation * nearness * normal } else { 0.0 }
        });
        let turns = policy && rng.random::<f32>() < POLICY_DIFFERS;
        Correction { heeds_policy: center.heeds_policy != turns, added: Action::new(&drawn) }
    }
}

//! Get-up planning: rotations of the joints that bring a fallen body to its feet, found by trying them in the simulator (ours; predictive
//! sampling, a model predictive control).
//!
//! Acts before the window of a frame is filled, on a body that gets up over key postures. A few times per second rotations of limbs and spine
//! ([`pomp_policy::GetUpAction`]) over a short time ahead are drawn and tried on the body as it is now; those with which it follows the
//! postures best are added to them, until the next plan. Where the model has a get-up policy, a plan also decides whether it is
//! listened to. Once the body is on its feet it balances by its legs, and corrections of that balance are planned likewise
//! ([`super::balance_planning`]). All of it is inner torque: nothing acts on the body from outside.
//!
//! Cost and evidence: docs/experiments/0114-getting-up-by-trying.md.

use pomp_config::{Fields, OutOfRange, Validate};
use pomp_motion::rotation::log;
use pomp_motion::{FRAME_RATE_HZ, Pose, Skeleton};
use pomp_physics::DynamicModule;
use pomp_policy::{GET_UP_ACTIONS, GetUpAction};
use rand::{Rng, RngExt};
use rand_distr::StandardNormal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Actions of a plan, at equal distances over its horizon; between them it is interpolated.
const KEYS: usize = 4;
/// Share of the candidates that listen to the policy where the best one so far does not, and the reverse.
const POLICY_DIFFERS: f32 = 0.25;
/// Each round draws this much nearer to the best candidate so far than the one before.
const NEARER: f32 = 0.5;
/// Correlation of the actions of a candidate with what they have in common: independent ones average out over the horizon.
const WHOLE: f32 = 0.9;
/// Errors at which half of the rating is left: metres below the target, radians of the pelvis, metres beside it, radians of the joints.
const SCALES: [f32; 4] = [0.12, 0.6, 0.2, 0.5];

/// Settings of get-up planning.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GetUpPlanningConfig {
    /// If on, a fallen character gets up by plans. It rolls over from its back, and the root assist has the share
    /// `fall_recovery.led_assist` alone. Default false.
    pub enabled: bool,
    /// Time between two plans, seconds; default 0.1.
    pub interval_s: f32,
    /// How far a plan looks ahead, seconds; default 0.7.
    pub horizon_s: f32,
    /// Rounds of a search; default 2. Each draws around the best candidate of the rounds before.
    pub rounds: usize,
    /// Candidates of a round; default 16. The cost of a search is proportional to rounds and candidates. The candidates of a round are tried on
    /// all processor cores.
    pub candidates: usize,
    /// Standard deviation of a candidate's components in the first round; default 0.4. With 1, joints are turned by 0.25 rad.
    pub deviation: f32,
    /// A motion that scores at least this needs no search; default 0.9. The score is the mean rating over the horizon, 1 for a body that stands
    /// as its target does.
    pub content: f32,
    /// Cost of the mean square of a candidate's components; default 0.02.
    pub cost: f32,
}

impl Default for GetUpPlanningConfig {
    fn default() -> Self {
        Self {
            enabled: false,
            interval_s: 0.1,
            horizon_s: 0.7,
            rounds: 2,
            candidates: 16,
            deviation: 0.4,
            content: 0.9,
            cost: 0.02,
        }
    }
}

impl Validate for GetUpPlanningConfig {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        fields.within("interval_s", self.interval_s, 0.01..=2.0)?;
        fields.within("horizon_s", self.horizon_s, 0.05..=3.0)?;
        fields.within("rounds", self.rounds, 0..=100)?;
        fields.within("candidates", self.candidates, 1..=1000)?;
        fields.within("deviation", self.deviation, 0.01..=3.0)?;
        fields.within("content", self.content, 0.0..=1.0)?;
        fields.within("cost", self.cost, 0.0..=10.0)
    }
}

impl GetUpPlanningConfig {
    /// Whether a plan is made before `frame`.
    pub(crate) fn is_due(&self, frame: usize) -> bool {
        frame.is_multiple_of((self.interval_s * FRAME_RATE_HZ).round().max(1.0) as usize)
    }

    /// Frames that a plan looks ahead.
    pub(crate) fn frames(&self) -> usize {
        (self.horizon_s * FRAME_RATE_HZ).round().max(1.0) as usize
    }

    /// The plan that does nothing beside the policy, or instead of it.
    pub(crate) fn nothing(&self, heeds_policy: bool) -> GetUpPlan {
        GetUpPlan { heeds_policy, keys: [GetUpAction::default(); KEYS], elapsed: 0.0, frame: self.frame() }
    }

    /// A frame, as a share of the horizon.
    fn frame(&self) -> f32 {
        1.0 / self.frames() as f32
    }

    /// A candidate near `center` in a round; with `policy`, it may listen to the policy where `center` does not, and the reverse.
    pub(crate) fn draw(
        &self,
        rng: &mut impl Rng,
        center: &GetUpPlan,
        round: usize,
        policy: bool,
    ) -> GetUpPlan {
        let deviation = self.deviation * NEARER.powi(round as i32);
        let whole = normals(rng);
        let keys = center.keys.map(|key| {
            let own = normals(rng);
            let drawn: [f32; GET_UP_ACTIONS] = std::array::from_fn(|i| {
                key.components()[i] + deviation * (WHOLE * whole[i] + (1.0 - WHOLE * WHOLE).sqrt() * own[i])
            });
            GetUpAction::of_slice(&drawn)
        });
        let turns = policy && rng.random::<f32>() < POLICY_DIFFERS;
        GetUpPlan { heeds_policy: center.heeds_policy != turns, keys, ..*center }
    }
}

fn normals(rng: &mut impl Rng) -> [f32; GET_UP_ACTIONS] {
    std::array::from_fn(|_| rng.sample(StandardNormal))
}

/// What get-up planning makes of the decisions of the policy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct GetUpPlan {
    /// Whether the policy is listened to.
    pub heeds_policy: bool,
    /// What is added.
    keys: [GetUpAction; KEYS],
    /// Time since it was made, and that of a frame, as shares of its horizon.
    elapsed: f32,
    frame: f32,
}

impl Default for GetUpPlan {
    /// The policy alone.
    fn default() -> Self {
        Self { heeds_policy: true, keys: [GetUpAction::default(); KEYS], elapsed: 0.0, frame: 0.0 }
    }
}

impl GetUpPlan {
    /// What is added at a share of the horizon.
    fn at(&self, share: f32) -> [f32; GET_UP_ACTIONS] {
        let place = share.clamp(0.0, 1.0) * (KEYS - 1) as f32;
        let before = (place as usize).min(KEYS - 2);
        let (a, b, between) =
            (self.keys[before].components(), self.keys[before + 1].components(), place - before as f32);
        std::array::from_fn(|i| a[i] + (b[i] - a[i]) * between)
    }

    /// What is to be done now, where the policy has `decided`.
    pub fn applied_to(&self, decided: &GetUpAction) -> GetUpAction {
        let added = self.at(self.elapsed);
        let heeded = if self.heeds_policy { 1.0 } else { 0.0 };
        let both: [f32; GET_UP_ACTIONS] =
            std::array::from_fn(|i| heeded * decided.components()[i] + added[i]);
        GetUpAction::of_slice(&both)
    }

    /// A frame has gone by.
    pub fn advance(&mut self) {
        self.elapsed += self.frame;
    }

    /// What is left of it, as a plan of now for as long a time; the last action goes on.
    pub fn rest(&self) -> Self {
        let key = |number: usize| self.at(self.elapsed + number as f32 / (KEYS - 1) as f32);
        Self {
            keys: std::array::from_fn(|number| GetUpAction::of_slice(&key(number))),
            elapsed: 0.0,
            ..*self
        }
    }

    /// Mean square of what is added.
    pub fn mean_square(&self) -> f32 {
        let squares =
            self.keys.iter().flat_map(GetUpAction::components).map(|component| component * component);
        squares.sum::<f32>() / (KEYS * GET_UP_ACTIONS) as f32
    }
}

/// How near a body that gets up is to its target, each 0 to 1: the height of the pelvis, its rotation, the place of the centre of mass and
/// the joints. They fall off slowly: of two bodies that are both far from their target, the nearer one still counts more.
pub fn rising_nearness(body: &DynamicModule, skeleton: &Skeleton, to: &Pose) -> [f32; 4] {
    let pose = body.pose();
    let target = skeleton.forward_kinematics(to);
    let sink = (target.positions[0].y - pose.positions[0].y).max(0.0);
    let turn = log(target.rotations[0] * pose.rotations[0].inverse()).length();
    let away = (body.center_of_mass_in(&target) - body.center_of_mass()).with_y(0.0).length();
    let rotations = body.local_rotations();
    let errors = (1..rotations.len())
        .map(|joint| log(to.local_rotations[joint] * rotations[joint].inverse()).length_squared());
    let joints = (errors.sum::<f32>() / (rotations.len() - 1) as f32).sqrt();
    let errors = [sink, turn, away, joints];
    std::array::from_fn(|i| 1.0 / (1.0 + (errors[i] / SCALES[i]).powi(2)))
}

//! Get-up planning: rotations of the joints that bring a fallen body to its feet, found by trying them in the simulator (ours; predictive
//! sampling, a model predictive control).
//!
//! Acts before the window of a frame is filled, on a body that gets up over key postures. A few times per second rotations of limbs and spine
//! ([`Turns`]) over a short time ahead are drawn and tried on the body as it is now; those with which it follows the postures best are added
//! to them, until the next plan. Once the body is on its feet it balances by its legs, and corrections of that balance are planned likewise
//! ([`super::balance_planning`]). All of it is inner torque: nothing acts on the body from outside.
//!
//! Cost and evidence: docs/experiments/0114-getting-up-by-trying.md.

use pomp_config::{Fields, OutOfRange, Validate};
use pomp_motion::glam::Vec3;
use pomp_motion::humanoid::{
    LEFT_ARM, LEFT_FOOT, LEFT_FORE_ARM, LEFT_LEG, LEFT_UP_LEG, RIGHT_ARM, RIGHT_FOOT, RIGHT_FORE_ARM,
    RIGHT_LEG, RIGHT_UP_LEG, SPINE, SPINE1, SPINE2,
};
use pomp_motion::rotation::{exp, log};
use pomp_motion::{FRAME_RATE_HZ, JointIndex, Pose, Skeleton};
use pomp_physics::{DynamicModule, Expectation, GainScale};
use rand::{Rng, RngExt};
use rand_distr::StandardNormal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Joints that are turned; the spine is turned besides, as a whole.
const LIMBS: [JointIndex; 10] = [
    LEFT_UP_LEG,
    LEFT_LEG,
    LEFT_FOOT,
    LEFT_ARM,
    LEFT_FORE_ARM,
    RIGHT_UP_LEG,
    RIGHT_LEG,
    RIGHT_FOOT,
    RIGHT_ARM,
    RIGHT_FORE_ARM,
];
const TRUNK: [JointIndex; 3] = [SPINE, SPINE1, SPINE2];
/// Numbers of a rotation of every limb and of the spine; three each.
const TURNS: usize = 3 * (LIMBS.len() + 1);
/// What a number of 1 means, radians, and how many of these a joint is turned at most.
const ROTATION_RAD: f32 = 0.25;
const MOST: f32 = 3.0;
/// Share of the way to the rotations that are planned that is gone in a frame.
const APPROACH: f32 = 0.5;
/// Drives of a body that plans lead, as a share of those of a body that is led by a target alone. With softer ones, or with the whole
/// damping, fewer bodies get up.
const GAINS: GainScale = GainScale { stiffness: 1.0, damping: 0.75 };
/// Rotations of a plan, at equal distances over its horizon; between them it is interpolated.
const KEYS: usize = 4;
/// Each round draws this much nearer to the best candidate so far than the one before.
const NEARER: f32 = 0.5;
/// Correlation of the rotations of a candidate with what they have in common: independent ones average out over the horizon.
const WHOLE: f32 = 0.9;
/// Errors at which half of the rating is left: metres below the target, radians of the pelvis, metres beside it, radians of the joints.
const SCALES: [f32; 4] = [0.12, 0.6, 0.2, 0.5];

/// Settings of get-up planning.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GetUpPlanningConfig {
    /// If on, a fallen character gets up by plans. It rolls over from its back, and the root assist is off
    /// meanwhile. Default false.
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

    /// The plan that does nothing.
    pub(crate) fn nothing(&self) -> GetUpPlan {
        GetUpPlan { frame: 1.0 / self.frames() as f32, ..GetUpPlan::default() }
    }

    /// A candidate near `center` in a round.
    pub(crate) fn draw(&self, rng: &mut impl Rng, center: &GetUpPlan, round: usize) -> GetUpPlan {
        let deviation = self.deviation * NEARER.powi(round as i32);
        let whole = normals(rng);
        let keys = center.keys.map(|key| {
            let own = normals(rng);
            Turns::new(std::array::from_fn(|i| {
                key.0[i] + deviation * (WHOLE * whole[i] + (1.0 - WHOLE * WHOLE).sqrt() * own[i])
            }))
        });
        GetUpPlan { keys, ..*center }
    }
}

fn normals(rng: &mut impl Rng) -> [f32; TURNS] {
    std::array::from_fn(|_| rng.sample(StandardNormal))
}

/// Rotations that are added to the target of a body that gets up, in units of 0.25 rad and in the frames of the joints' parents.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Turns([f32; TURNS]);

impl Default for Turns {
    fn default() -> Self {
        Self([0.0; TURNS])
    }
}

impl Turns {
    /// Those of these numbers, each limited to ±3.
    fn new(numbers: [f32; TURNS]) -> Self {
        Self(numbers.map(|number| number.clamp(-MOST, MOST)))
    }

    /// These a frame later, when `planned` ones are approached.
    fn towards(&self, planned: &Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] + (planned.0[i] - self.0[i]) * APPROACH))
    }

    /// Turns the joints of a target.
    fn turn(&self, pose: &mut Pose) {
        let limbs = LIMBS.map(|joint| (joint, 1.0));
        let trunk = TRUNK.map(|joint| (joint, 1.0 / TRUNK.len() as f32));
        let parts = limbs.into_iter().enumerate().chain(trunk.map(|joint| (LIMBS.len(), joint)));
        for (at, (joint, share)) in parts {
            let vector = Vec3::from_slice(&self.0[3 * at..3 * at + 3]);
            let rotation = &mut pose.local_rotations[joint.0];
            *rotation = (exp(vector * ROTATION_RAD * share) * *rotation).normalize();
        }
    }
}

/// Rotations over a horizon.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct GetUpPlan {
    keys: [Turns; KEYS],
    /// Time since it was made, and that of a frame, as shares of its horizon.
    elapsed: f32,
    frame: f32,
}

impl GetUpPlan {
    /// The rotations at a share of the horizon.
    fn at(&self, share: f32) -> Turns {
        let place = share.clamp(0.0, 1.0) * (KEYS - 1) as f32;
        let before = (place as usize).min(KEYS - 2);
        let (a, b, between) = (&self.keys[before].0, &self.keys[before + 1].0, place - before as f32);
        Turns::new(std::array::from_fn(|i| a[i] + (b[i] - a[i]) * between))
    }

    /// What is left of it, as a plan of now for as long a time; the last rotations go on.
    pub fn rest(&self) -> Self {
        let key = |number: usize| self.at(self.elapsed + number as f32 / (KEYS - 1) as f32);
        Self { keys: std::array::from_fn(key), elapsed: 0.0, ..*self }
    }

    /// Mean square of its numbers.
    pub fn mean_square(&self) -> f32 {
        let squares = self.keys.iter().flat_map(|turns| turns.0).map(|number| number * number);
        squares.sum::<f32>() / (KEYS * TURNS) as f32
    }
}

/// What a plan has done to a body that gets up.
#[derive(Clone, Debug, Default)]
pub(crate) struct GetUpReflexes {
    /// The rotations in force.
    turns: Turns,
    /// The plan in force.
    pub plan: GetUpPlan,
    /// The target with the rotations, at the start of the frame under way and at its end.
    driven: Option<(Pose, Pose)>,
}

impl GetUpReflexes {
    /// Moves on by a frame in which the target goes from a pose to another.
    pub fn advance(&mut self, from: &Pose, to: &Pose) {
        let before = self.turns;
        self.turns = before.towards(&self.plan.at(self.plan.elapsed));
        self.plan.elapsed += self.plan.frame;
        let (mut from, mut to) = (from.clone(), to.clone());
        before.turn(&mut from);
        self.turns.turn(&mut to);
        self.driven = Some((from, to));
    }

    /// What the drives follow in the frame under way, where that is not the target itself.
    pub fn driven(&self) -> Option<(&Pose, &Pose)> {
        self.driven.as_ref().map(|(from, to)| (from, to))
    }

    /// What a frame asks of the drives of a body with so many `joints`.
    pub fn expectation(joints: usize, gravity_m_s2: f32) -> Expectation {
        let gains = vec![GAINS; joints];
        Expectation { gains, ..Expectation::of_torques(vec![Vec3::ZERO; joints], gravity_m_s2) }
    }

    /// Nothing is done any more.
    pub fn rest(&mut self) {
        if self.driven.is_some() {
            *self = Self::default();
        }
    }
}

/// How near a body that gets up is to its target, each 0 to 1: the height of the pelvis, its rotation, the place of the centre of mass and
/// the joints. They fall off slowly: of two bodies that are both far from their target, the nearer one still counts more.
pub(crate) fn rising_nearness(body: &DynamicModule, skeleton: &Skeleton, to: &Pose) -> [f32; 4] {
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

//! Bodies that follow the kinematic module's own motion on their own feet, for a balance policy to learn from.

use crate::rows::normal;
use crate::{BalanceScene, BalanceTraining, TrainError};
use glam::Vec3;
use pomp_generator::{Character, ControlPlan, FRAME_RATE_HZ, GeneratorConfig, PredictedMotion};
use pomp_model::Model;
use pomp_motion::humanoid;
use pomp_motion::rotation::from_yaw;
use pomp_physics::Push;
use pomp_policy::{ACTIONS, Action, FRAMES_PER_DECISION, Mirror, OBSERVATIONS, PackedPolicy};
use pomp_terrain::generate;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// An episode ends this far from the edge of its ground, metres.
const EDGE_M: f32 = 1.5;
/// An episode begins at least so many frames before the end of its motion.
const LEAST_FRAMES: usize = 60;
/// A body with the motion that it follows.
pub(crate) struct Walker {
    /// Which scene it is of.
    pub scene: usize,
    character: Character,
    motion: PredictedMotion,
    rng: ChaCha8Rng,
    /// Frame of the motion that is under way, and the one at which the episode ends.
    frame: usize,
    last: usize,
    pushed: bool,
    /// Whether the policy sees the episode in a mirror, and acts in it: what it learns holds for both sides.
    mirrored: bool,
    mirrors: [Mirror; 2],
    decided: Action,
    /// What is seen now, in SI units.
    seen: Vec<f32>,
}

/// How a decision ended.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum End {
    /// The episode goes on.
    None,
    /// The body fell.
    Fell,
    /// The episode was long enough; what was seen then, normalised.
    Cut(Vec<f32>),
}

/// The decisions of one walker in an iteration.
pub(crate) struct Decisions {
    /// What was seen, normalised, `[T, OBSERVATIONS]`.
    pub seen: Vec<f32>,
    /// What was drawn, `[T, ACTIONS]`.
    pub drawn: Vec<f32>,
    /// The means that it was drawn around.
    pub means: Vec<f32>,
    pub rewards: Vec<f32>,
    pub ends: Vec<End>,
    /// What is seen after the last, normalised.
    pub after: Vec<f32>,
    /// Sums and sums of squares of what was seen, SI units.
    pub sums: [Vec<f64>; 2],
}

/// The random numbers of a walker.
fn random(config: &BalanceTraining, number: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(config.seed.wrapping_mul(1_000_003).wrapping_add(number))
}

impl Walker {
    /// The walkers of all scenes, each with a ground and a motion of its own.
    pub fn all(
        model: &Model,
        settings: &GeneratorConfig,
        config: &BalanceTraining,
    ) -> Result<Vec<Self>, TrainError> {
        let of_scenes = config.scenes.iter().enumerate();
        let asked: Vec<(usize, &BalanceScene)> =
            of_scenes.flat_map(|(index, scene)| std::iter::repeat_n((index, scene), scene.walkers)).collect();
        asked
            .into_par_iter()
            .enumerate()
            .map(|(number, scene)| Self::new(model, settings, config, scene, number as u64))
            .collect()
    }

    fn new(
        model: &Model,
        settings: &GeneratorConfig,
        config: &BalanceTraining,
        (index, scene): (usize, &BalanceScene),
        number: u64,
    ) -> Result<Self, TrainError> {
        let mut rng = random(config, number);
        let plan = ControlPlan::preset(scene.control, config.motion_s, FRAME_RATE_HZ);
        let farthest = plan.samples().iter().map(|sample| sample.position.length()).fold(0.0, f32::max);
        let spec = scene.terrain.clone().reaching(farthest + 5.0);
        let terrain = generate(&spec, rng.random())?;
        let frames = (config.motion_s * FRAME_RATE_HZ) as usize;
        let start = plan.at(0.0).gait;
        let motion =
            PredictedMotion::new(model, terrain.clone(), settings, (&plan, start, rng.random()), frames)?;
        let skeleton = &model.description.skeleton;
        let character = Character::new(skeleton, terrain, settings, motion.states[0].clone())?;
        let mut walker = Self {
            scene: index,
            character,
            motion,
            rng,
            frame: 0,
            last: 0,
            pushed: false,
            mirrored: false,
            mirrors: [Mirror::of_observations(), Mirror::of_actions()],
            decided: Action::default(),
            seen: Vec::new(),
        };
        walker.begin(config)?;
        Ok(walker)
    }

    /// Begins an episode with random numbers that depend on the seed, the `number` of the walker and the iterations that are `done`.
    pub fn begin_with(
        &mut self,
        config: &BalanceTraining,
        number: usize,
        done: usize,
    ) -> Result<(), TrainError> {
        self.rng = random(config, number as u64);
        self.rng.set_stream(1 + done as u64);
        self.begin(config)
    }

    /// Begins an episode with the motion or anywhere in it.
    fn begin(&mut self, config: &BalanceTraining) -> Result<(), TrainError> {
        let frames = self.motion.states.len();
        let anywhere = self.rng.random::<f32>() >= config.from_start;
        self.frame = if anywhere { self.rng.random_range(0..frames - LEAST_FRAMES) } else { 0 };
        let longest = (config.episode_s * FRAME_RATE_HZ) as usize;
        self.last = (self.frame + longest).min(frames - 1);
        self.pushed = self.rng.random();
        self.mirrored = self.rng.random();
        self.decided = Action::default();
        self.character.begin_anew(self.motion.states[self.frame].clone());
        self.aim();
        self.observe()
    }

    fn aim(&mut self) {
        let (output, upright) = &self.motion.predictions[self.frame];
        self.character.aim_upright(output, *upright);
    }

    fn observe(&mut self) -> Result<(), TrainError> {
        let mut seen = std::mem::take(&mut self.seen);
        self.character.observe_balance(&mut seen)?;
        self.seen = if self.mirrored { self.mirrors[0].rows(&seen) } else { seen };
        Ok(())
    }

    /// Takes so many decisions by `policy`, with noise of these `deviations`.
    pub fn run(
        &mut self,
        config: &BalanceTraining,
        policy: &PackedPolicy,
        deviations: &[f32],
    ) -> Result<Decisions, TrainError> {
        let count = config.learning.decisions;
        let mut decisions = Decisions {
            seen: Vec::with_capacity(count * OBSERVATIONS),
            drawn: Vec::with_capacity(count * ACTIONS),
            means: Vec::with_capacity(count * ACTIONS),
            rewards: Vec::with_capacity(count),
            ends: Vec::with_capacity(count),
            after: Vec::new(),
            sums: [vec![0.0; OBSERVATIONS], vec![0.0; OBSERVATIONS]],
        };
        for _ in 0..count {
            let [sums, squares] = &mut decisions.sums;
            for ((sum, square), value) in sums.iter_mut().zip(squares).zip(&self.seen) {
                *sum += f64::from(*value);
                *square += f64::from(*value).powi(2);
            }
            let seen = self.normalised(policy);
            let means = policy.outputs(&seen);
            let drawn: [f32; ACTIONS] =
                std::array::from_fn(|i| means[i] + deviations[i] * normal(&mut self.rng));
            let (reward, end) = self.decide(config, Action::new(&drawn), policy)?;
            decisions.seen.extend(seen);
            decisions.drawn.extend(drawn);
            decisions.means.extend(means);
            decisions.rewards.push(reward);
            decisions.ends.push(end);
        }
        decisions.after = self.normalised(policy);
        Ok(decisions)
    }

    fn normalised(&self, policy: &PackedPolicy) -> Vec<f32> {
        let mut seen = self.seen.clone();
        policy.normalise(&mut seen);
        seen
    }

    /// Runs the frames of one decision; when the episode ends, another one has begun afterwards.
    fn decide(
        &mut self,
        config: &BalanceTraining,
        action: Action,
        policy: &PackedPolicy,
    ) -> Result<(f32, End), TrainError> {
        let mean_square = |value: &dyn Fn(usize) -> f32| {
            (0..ACTIONS).map(|i| value(i).powi(2)).sum::<f32>() / ACTIONS as f32
        };
        let (now, before) = (action.components(), self.decided.components());
        let cost = config.reward.action * mean_square(&|i| now[i])
            + config.reward.change * mean_square(&|i| now[i] - before[i]);
        self.decided = action;
        self.character.decide(self.in_world(action));
        let mut reward = -cost;
        for _ in 0..FRAMES_PER_DECISION {
            let pushes = self.draw_pushes(config);
            let frame = self.character.simulate(&pushes, self.frame)?;
            reward += self.tracking(config) / FRAMES_PER_DECISION as f32;
            if self.character.is_down(&frame) {
                self.begin(config)?;
                return Ok((reward, End::Fell));
            }
            self.character.take_over(&frame);
            self.frame += 1;
            self.aim();
        }
        self.observe()?;
        let at = self.character.body().pose().positions[0];
        let bounds = self.character.terrain().bounds();
        let on_ground = [(-EDGE_M, -EDGE_M), (-EDGE_M, EDGE_M), (EDGE_M, -EDGE_M), (EDGE_M, EDGE_M)]
            .iter()
            .all(|(x, z)| bounds.contains(at.x + x, at.z + z));
        if self.frame + FRAMES_PER_DECISION > self.last || !on_ground {
            let seen = self.normalised(policy);
            self.begin(config)?;
            return Ok((reward, End::Cut(seen)));
        }
        Ok((reward, End::None))
    }

    /// An action of the policy as it is done.
    fn in_world(&self, action: Action) -> Action {
        if !self.mirrored {
            return action;
        }
        let mut components = [0.0; ACTIONS];
        components.copy_from_slice(&self.mirrors[1].rows(action.components()));
        Action::new(&components)
    }

    fn draw_pushes(&mut self, config: &BalanceTraining) -> Vec<Push> {
        if !self.pushed || self.rng.random::<f32>() * FRAME_RATE_HZ >= config.pushes.per_s {
            return Vec::new();
        }
        let [least, most] = config.pushes.impulse_ns;
        let impulse = least + (most - least) * self.rng.random::<f32>();
        let way = from_yaw(self.rng.random_range(0.0..std::f32::consts::TAU)) * Vec3::Z;
        vec![Push { body: humanoid::SPINE2.0, impulse_ns: way * impulse, point: None }]
    }

    /// How well the body follows its target after a frame.
    fn tracking(&self, config: &BalanceTraining) -> f32 {
        let (prediction, _) = &self.motion.predictions[self.frame];
        let squares = self.character.tracking(prediction).squares();
        let [velocity, height, pelvis, legs] = squares.map(|square| (-square).exp());
        let reward = &config.reward;
        reward.upright
            + reward.velocity * velocity
            + reward.height * height
            + reward.pelvis * pelvis
            + reward.legs * legs
    }
}

//! Bodies that have fallen, for a get-up policy to learn from.

use crate::ppo::{End, Learner};
use crate::{GetUpTraining, TrainError};
use glam::Vec3;
use pomp_generator::{FRAME_RATE_HZ, GeneratorConfig, GetUpReflexes, rising_nearness};
use pomp_motion::rotation::{exp, from_yaw};
use pomp_motion::{Pose, RootFrame, Skeleton, humanoid};
use pomp_physics::{
    DynamicModule, Fallen, Leader, PoseVelocity, Push, Recovery, WayUp, WorldSnapshot, rising_lag,
    standing_pose,
};
use pomp_policy::{FRAMES_PER_DECISION, GET_UP_ACTIONS, GetUpAction, Mirror};
use pomp_terrain::{HeightMap, TerrainSpec, generate};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const FRAME_S: f32 = 1.0 / FRAME_RATE_HZ;
/// Bodies begin within this distance of the middle of their ground, metres.
const AROUND_M: f32 = 3.0;
/// How far the ground reaches, metres.
const REACH_M: f32 = 8.0;
/// A body that has been hopelessly behind its target for so long does not get up, seconds.
const HOPELESS_S: f32 = 2.0;
/// A body whose target stands has got up when it has stood for so long, seconds: trunk this upright, pelvis no more than this below the
/// target's, metres. The loop asks for stillness besides, which the noise of a training does not allow.
const STANDS_S: f32 = 0.5;
const UPRIGHT_COSINE: f32 = 0.94;
const SINK_M: f32 = 0.08;
/// Strength of the joints of a body that falls.
const LIMP: f32 = 0.05;
/// Pushes per fall after which too few bodies fall.
const MOST_PUSHES: usize = 20;
/// Time in which a body that is pushed falls, seconds.
const FALLS_S: f32 = 1.0;
/// Random rotations of the joints at the beginning, and random velocities, radians, m/s and rad/s.
const JITTER: f32 = 0.06;
const SPEED: f32 = 0.15;

/// How a body lies that begins to get up.
struct Fall {
    world: WorldSnapshot,
    recovery: Recovery,
    from: Pose,
    to: Pose,
}

/// A body that gets up, again and again.
pub(crate) struct FallenBody {
    /// On which ground it is.
    pub ground: usize,
    /// Episodes that began with a fall and have ended, and those of them that ended with a body that stands.
    pub attempts: [usize; 2],
    /// Sum of the shares of the way at which those ended.
    pub shares: f32,
    skeleton: Skeleton,
    terrain: HeightMap,
    body: DynamicModule,
    weight_n: f32,
    gravity_m_s2: f32,
    recovery: Recovery,
    reflexes: GetUpReflexes,
    falls: Vec<Fall>,
    from: Pose,
    to: Pose,
    /// Share of the external root assist.
    assist: f32,
    hopeless_s: f32,
    stood_s: f32,
    fell: bool,
    rng: ChaCha8Rng,
    mirrored: bool,
    mirrors: [Mirror; 2],
    decided: Vec<f32>,
    seen: Vec<f32>,
}

fn random(config: &GetUpTraining, number: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(config.seed.wrapping_mul(1_000_003).wrapping_add(number))
}

/// A vector whose components are at most `size`.
fn small(rng: &mut ChaCha8Rng, size: f32) -> Vec3 {
    Vec3::from_array(std::array::from_fn(|_| rng.random_range(-1.0..1.0))) * size
}

impl FallenBody {
    /// A body on ground of the kind `ground`, with its falls.
    pub fn new(
        skeleton: &Skeleton,
        settings: &GeneratorConfig,
        config: &GetUpTraining,
        (ground, spec): (usize, &TerrainSpec),
        number: u64,
    ) -> Result<Self, TrainError> {
        let mut rng = random(config, number);
        let terrain = generate(&spec.clone().reaching(REACH_M), rng.random())?;
        let body = DynamicModule::new(skeleton, &settings.dynamic, terrain.grid())?;
        let get_up = settings.layers.fall_recovery.get_up;
        let recovery = Recovery::new(get_up, body.body_height_m(), LIMP, FRAME_S).rolling_over();
        let rest = Pose::rest(skeleton);
        let mut fallen = Self {
            ground,
            attempts: [0; 2],
            shares: 0.0,
            skeleton: skeleton.clone(),
            terrain,
            weight_n: settings.dynamic.body_weight_n(),
            gravity_m_s2: settings.dynamic.gravity_m_s2,
            body,
            recovery,
            reflexes: GetUpReflexes::default(),
            falls: Vec::new(),
            from: rest.clone(),
            to: rest,
            assist: config.assist,
            hopeless_s: 0.0,
            stood_s: 0.0,
            fell: false,
            rng,
            mirrored: false,
            mirrors: [Mirror::of_get_up_observations(), Mirror::of_get_up_actions()],
            decided: vec![0.0; GET_UP_ACTIONS],
            seen: Vec::new(),
        };
        for _ in 0..config.falls * MOST_PUSHES {
            if fallen.falls.len() < config.falls {
                let fall = fallen.fall(config)?;
                fallen.falls.extend(fall);
            }
        }
        if fallen.falls.len() < config.falls {
            let [least, most] = config.impulse_ns;
            return Err(TrainError::TooFewFalls { pushes: config.falls * MOST_PUSHES, least, most });
        }
        fallen.begin(config)?;
        Ok(fallen)
    }

    /// Where a body may stand.
    fn stance(&mut self) -> RootFrame {
        let [x, z] = [0, 1].map(|_| self.rng.random_range(-AROUND_M..AROUND_M));
        let origin = Vec3::new(x, self.terrain.smoothed_height(x, z), z);
        RootFrame { origin, yaw: self.rng.random_range(0.0..std::f32::consts::TAU) }
    }

    fn stir(&mut self, pose: &mut Pose) {
        for rotation in &mut pose.local_rotations {
            *rotation = (exp(small(&mut self.rng, JITTER)) * *rotation).normalize();
        }
    }

    /// Pushes a standing body over; it lies until it begins to get up. None if it does not fall.
    fn fall(&mut self, config: &GetUpTraining) -> Result<Option<Fall>, TrainError> {
        let stance = self.stance();
        let height_m = self.body.body_height_m();
        let mut pose = standing_pose(&self.skeleton, height_m, &stance, &self.terrain);
        self.stir(&mut pose);
        let way = |rng: &mut ChaCha8Rng| from_yaw(rng.random_range(0.0..std::f32::consts::TAU)) * Vec3::Z;
        let mut motion = PoseVelocity::zero(self.skeleton.len());
        motion.root_linear = way(&mut self.rng) * self.rng.random_range(0.0..1.5);
        self.body.reset(&pose, &motion)?;
        self.body.set_assist_scale(0.0);
        let [least, most] = config.impulse_ns;
        let impulse_ns = way(&mut self.rng) * self.rng.random_range(least..=most);
        let push = [Push { body: humanoid::SPINE2.0, impulse_ns, point: None }];
        let limp = self.rng.random_range(0.0..0.6);
        for frame in 0..(FALLS_S * FRAME_RATE_HZ) as usize {
            let strong = (frame as f32) * FRAME_S < limp;
            self.body.set_strength_scale(if strong { 0.3 } else { LIMP });
            self.body.step(&pose, &pose, if frame == 0 { &push } else { &[] })?;
        }
        self.recovery.fall(pose.clone());
        (self.from, self.to) = (pose.clone(), pose);
        loop {
            if !self.lead() {
                return Ok(None);
            }
            if self.recovery.rising().is_some() {
                break;
            }
            self.body.set_strength_scale(self.recovery.help().strength);
            self.body.step(&self.from, &self.to, &[])?;
            self.from.clone_from(&self.to);
        }
        let lies = self.body.pose().positions[0];
        let low = lies.y - self.terrain.height(lies.x, lies.z) < 0.3 * height_m;
        Ok(low.then(|| Fall {
            world: self.body.save(),
            recovery: self.recovery.clone(),
            from: self.from.clone(),
            to: self.to.clone(),
        }))
    }

    /// The next target; says whether there is one: none when it stands or no attempt is under way.
    fn lead(&mut self) -> bool {
        let velocities = self.body.joint_velocities();
        let mean_joint_speed_m_s =
            velocities.iter().map(|velocity| velocity.length()).sum::<f32>() / velocities.len() as f32;
        let led = self.recovery.lead(&Fallen {
            skeleton: &self.skeleton,
            pose: &self.body.pose(),
            mean_joint_speed_m_s,
            target: &self.to,
            terrain: &self.terrain,
            led_over: &self.terrain,
        });
        match led {
            Leader::Module => false,
            Leader::ModuleAnew { target, .. } => {
                self.to = target;
                false
            }
            Leader::Recovery { from, to } => {
                if let Some(from) = from {
                    self.from = from;
                }
                self.to = to;
                true
            }
        }
    }

    /// Begins an episode with a fall or on the way up.
    fn begin(&mut self, config: &GetUpTraining) -> Result<(), TrainError> {
        self.fell = self.rng.random::<f32>() < config.from_fall;
        self.mirrored = self.rng.random();
        (self.hopeless_s, self.stood_s) = (0.0, 0.0);
        self.reflexes = GetUpReflexes::default();
        self.decided.fill(0.0);
        if self.fell {
            let at = self.rng.random_range(0..self.falls.len());
            let fall = &self.falls[at];
            self.body.restore(&fall.world)?;
            self.recovery.clone_from(&fall.recovery);
            self.from.clone_from(&fall.from);
            self.to.clone_from(&fall.to);
        } else {
            let way = if self.rng.random() { WayUp::ProneLeft } else { WayUp::ProneRight };
            let time_s = way.duration_s() * self.rng.random_range(0.2..1.0);
            let (stance, height_m) = (self.stance(), self.body.body_height_m());
            let pose = |at: f32| way.pose(at, &self.skeleton, height_m, &stance, &self.terrain);
            let (before, mut lay) = (pose(time_s - FRAME_S), pose(time_s));
            let mut motion = PoseVelocity::between(&before, &lay, FRAME_S);
            self.stir(&mut lay);
            motion.root_linear += small(&mut self.rng, SPEED);
            for angular in &mut motion.angular {
                *angular += small(&mut self.rng, SPEED);
            }
            self.body.reset(&lay, &motion)?;
            self.recovery.rise_from(way, time_s, stance, lay.clone());
            (self.from, self.to) = (lay.clone(), lay);
            self.lead();
        }
        self.observe();
        Ok(())
    }

    fn observe(&mut self) {
        let mut seen = std::mem::take(&mut self.seen);
        let progress = self.recovery.rising().expect("a body that is seen gets up");
        self.reflexes.observe(&self.body, [&self.from, &self.to], &self.terrain, &progress, &mut seen);
        self.seen = if self.mirrored { self.mirrors[0].rows(&seen) } else { seen };
    }

    /// Simulates the frame under way; says how the episode ended.
    fn frame(&mut self) -> Result<End, TrainError> {
        let help = self.recovery.help();
        self.body.set_assist_scale(self.assist * help.assist);
        self.body.set_held(true);
        self.body.set_strength_scale(help.strength);
        self.reflexes.advance(&self.from, &self.to);
        let (from, to) = self.reflexes.driven().expect("it has advanced");
        let expected = GetUpReflexes::expectation(self.skeleton.len(), self.gravity_m_s2);
        let simulated = self.body.step_expecting(from, to, &[], Some(&expected))?;
        self.reflexes.note(&simulated, self.weight_n, FRAME_S);
        if simulated.recovered.is_some() {
            return Ok(End::Failed);
        }
        let hopeless = rising_lag(&simulated.pose, &self.to) >= 1.0;
        self.hopeless_s = if hopeless { self.hopeless_s + FRAME_S } else { 0.0 };
        if self.hopeless_s > HOPELESS_S {
            return Ok(End::Failed);
        }
        let trunk = simulated.pose.positions[humanoid::NECK.0] - simulated.pose.positions[0];
        let stands = self.recovery.rising().is_some_and(|rising| rising.share >= 1.0)
            && trunk.normalize_or_zero().y > UPRIGHT_COSINE
            && self.to.root_position.y - simulated.pose.positions[0].y < SINK_M;
        self.stood_s = if stands { self.stood_s + FRAME_S } else { 0.0 };
        if self.stood_s >= STANDS_S {
            return Ok(End::Reached);
        }
        self.from.clone_from(&self.to);
        let goes_on = self.lead();
        Ok(match self.recovery.rising() {
            Some(_) => End::None,
            None if goes_on => End::Failed,
            None => End::Reached,
        })
    }

    /// How well the body follows its target, 0 to the sum of the weights.
    fn tracking(&self, config: &GetUpTraining) -> f32 {
        let reward = &config.reward;
        let share = self.recovery.rising().map_or(0.0, |rising| rising.share);
        let weights = [reward.height, reward.pelvis, reward.place, reward.joints];
        let nearness = rising_nearness(&self.body, &self.skeleton, &self.to);
        let followed: f32 = nearness.iter().zip(weights).map(|(near, weight)| near * weight).sum();
        (reward.start + (1.0 - reward.start) * share) * followed
    }
}

impl Learner for FallenBody {
    type Settings = GetUpTraining;

    fn attempts(&self) -> [usize; 2] {
        self.attempts
    }

    fn begin_with(
        &mut self,
        config: &GetUpTraining,
        (number, done): (usize, usize),
        help: f32,
    ) -> Result<(), TrainError> {
        self.rng = random(config, number as u64);
        self.rng.set_stream(1 + done as u64);
        self.attempts = [0; 2];
        self.shares = 0.0;
        self.assist = help;
        self.begin(config)
    }

    fn seen(&self) -> &[f32] {
        &self.seen
    }

    fn random(&mut self) -> &mut ChaCha8Rng {
        &mut self.rng
    }

    fn decide(&mut self, config: &GetUpTraining, drawn: &[f32]) -> Result<(f32, End), TrainError> {
        let action = GetUpAction::of_slice(drawn);
        let now = action.components();
        let mean_square = |value: &dyn Fn(usize) -> f32| {
            (0..now.len()).map(|i| value(i).powi(2)).sum::<f32>() / now.len() as f32
        };
        let cost = config.reward.action * mean_square(&|i| now[i])
            + config.reward.change * mean_square(&|i| now[i] - self.decided[i]);
        self.decided.copy_from_slice(now);
        let done = if self.mirrored { GetUpAction::of_slice(&self.mirrors[1].rows(now)) } else { action };
        self.reflexes.decide(done);
        let mut reward = -cost;
        for _ in 0..FRAMES_PER_DECISION {
            reward += self.tracking(config) / FRAMES_PER_DECISION as f32;
            let end = self.frame()?;
            if end != End::None {
                if self.fell {
                    self.attempts[0] += 1;
                    self.attempts[1] += usize::from(end == End::Reached);
                    self.shares += self.recovery.rising().map_or(1.0, |rising| rising.share);
                }
                self.begin(config)?;
                return Ok((reward, end));
            }
        }
        self.observe();
        Ok((reward, End::None))
    }
}

use crate::PhysicsError;
use pomp_config::{Fields, OutOfRange, Validate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Largest stiffness, force or torque, in the field's own unit.
const MOST: f32 = 1e6;

/// All settings of the dynamic module; `configs/physics.toml` contains the defaults.
///
/// A file must contain every field: no field is filled in silently.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DynamicConfig {
    /// Body mass, kg; default 75. Drives, torque limits and the assist scale with it.
    pub mass_kg: f32,
    /// Control frames per second; default 60. One [`crate::DynamicModule::step`] lasts one frame.
    pub frame_rate_hz: f32,
    /// Engine steps per frame, 1 to 16; default 1. The cost is proportional to the number; tracking hardly improves with more steps, since
    /// the drives are implicit, but contact peaks get sharper.
    pub steps_per_frame: usize,
    /// Largest number of Gauss-Seidel sweeps over the contacts in each step, 1 to 64; the solver stops earlier once it has converged. With
    /// too few, standing feet creep; more only cost time. Default 16.
    pub contact_sweeps: usize,
    /// Gravity, m/s² along −Y; default 9.81.
    pub gravity_m_s2: f32,
    /// Coulomb friction between bodies and the ground, and between bodies; default 0.6, a shoe on a dry floor. With low values feet slide;
    /// with high values a swinging foot that touches the ground early sticks and trips the body.
    pub friction: f32,
    /// Contact compliance.
    pub contact: ContactConfig,
    /// Joint drives.
    pub drives: DriveConfig,
    /// Joint limits.
    pub limits: LimitConfig,
    /// The root assist (docs/method.md §4.2).
    pub assist: AssistConfig,
    /// Limits beyond which a state counts as diverged.
    pub guard: GuardConfig,
    /// Balance by the legs, in place of the root assist. Off if left out.
    #[serde(default)]
    pub balance: BalanceConfig,
}

/// Balance by the legs: the feet alone exert on the ground the forces that keep the body upright. It replaces the root assist, whose
/// settings then have no effect. It is tuned for four steps per frame; `configs/own_feet.toml` is the complete configuration.
///
/// The body is controlled by proportional-derivative (PD) laws, each with the natural frequency `..._rad_s` and the damping ratio
/// `..._damping`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BalanceConfig {
    /// If off, the root assist supports the body. Default false.
    pub enabled: bool,
    /// Natural frequency of the PD law for the horizontal position of the centre of mass, rad/s; default 4.
    pub horizontal_rad_s: f32,
    /// Damping ratio of the same law. Default 1.3.
    pub horizontal_damping: f32,
    /// Largest acceleration that the law demands, m/s²; default 8.
    pub horizontal_most_m_s2: f32,
    /// Natural frequency of the PD law for the height of the centre of mass, rad/s; default 18.
    pub vertical_rad_s: f32,
    /// Damping ratio of the same law. Default 1.
    pub vertical_damping: f32,
    /// Largest acceleration that the law demands, m/s²; default 7.
    pub vertical_most_m_s2: f32,
    /// Rate at which the mean height of the centre of mass is estimated from the target, rad/s. The body then follows this mean height
    /// plus one wave per step, which has the amplitude and phase of the target's wave and whose acceleration is the feed-forward. With 0,
    /// the default, the body follows the target's height as it is, including its jitter.
    pub level_rad_s: f32,
    /// Natural frequency of the PD law for the rotation of the pelvis, rad/s; default 20.
    pub pelvis_rad_s: f32,
    /// Damping ratio of the same law. Default 1.
    pub pelvis_damping: f32,
    /// Largest angular acceleration that the law demands, rad/s²; default 150.
    pub pelvis_most_rad_s2: f32,
    /// Share with which the target position of the centre of mass is taken relative to the standing feet; the rest is taken from the
    /// target's position in the world. Default 0.75.
    pub by_feet: f32,
    /// Speed of the target below which the body is pulled back over its feet, more strongly at lower speeds, m/s; default 1.2.
    pub standing_below_m_s: f32,
    /// A target stands only where none of its feet has swung for this time, seconds: one that steps slowly or on the spot walks. 0, the
    /// default, lets its speed alone decide.
    pub stepping_hold_s: f32,
    /// Natural frequency of the PD law for the horizontal position of the centre of mass while the body stands, rad/s; default 5.
    pub standing_rad_s: f32,
    /// Time constant of the smoothing of the target's velocities, seconds; default 0.04.
    pub smoothing_s: f32,
    /// If on, the body follows the motion of a frame's expectation, where it has one: the target's velocities without smoothing and the
    /// expectation's accelerations, upward too. Replays of clips have expectations, which know what comes. Default false.
    pub follows_expectation: bool,
    /// Stiffness of the drives of a standing leg, as a share of that of a leg in the air. Stiff legs work against the contact forces that
    /// the balance demands, and bounce. Default 0.03.
    pub stance_stiffness: f32,
    /// Damping of the drives of a standing leg, likewise. Default 0.1.
    pub stance_damping: f32,
    /// How far the drives of a leg yield like those of a standing one while its foot touches the ground without standing, 0 to 1: a foot
    /// that lands stiffly strikes the ground and bounces. It applies to an undisturbed walk; steps that catch the body land stiffly. Default 0.
    pub touch_yielding: f32,
    /// Height of the target's sole above the ground from which the foot no longer counts as standing, metres; default 0.027.
    pub stance_height_m: f32,
    /// Speed of the target's sole from which the foot no longer counts as standing, m/s; default 1.
    pub stance_speed_m_s: f32,
    /// Clearance of a swinging sole above the ground, metres: a swinging sole that touches the ground trips the body. Default 0.06.
    pub clearance_m: f32,
    /// Largest clearance of a swinging sole that is ahead of the other foot, for each (m/s)² of its speed, s²/m: a foot that slows down lands.
    /// With 0, the default, it has the clearance above until it is slower than `stance_speed_m_s`.
    pub landing_clearance_s2_m: f32,
    /// Depth below the ground to which the target's sole may sink while its foot lands, metres: a deeper one presses the foot on the ground
    /// before it bears. Default 0.1.
    pub landing_depth_m: f32,
    /// Displacement of a swinging foot along the heading for each m/s by which the body is too fast, seconds; default 0.1.
    pub step_along_s: f32,
    /// Displacement of a swinging foot across the heading, likewise; default 0.25.
    pub step_across_s: f32,
    /// Largest speed of this displacement, m/s; default 3.
    pub step_speed_m_s: f32,
    /// Time constant with which the displacement of a standing foot's target decays, seconds; default 0.4.
    pub step_return_s: f32,
    /// Duration of the step that a standing body takes when it is about to fall, seconds; with 0 it takes none.
    pub catching_step_s: f32,
    /// Weight of an error in the horizontal force relative to one in the vertical force, where the feet cannot supply both; default 0.33.
    pub horizontal_weight: f32,
    /// Weight of an error in the moment about the vertical axis relative to one about the other axes; default 0.5.
    pub yaw_weight: f32,
    /// Cost of the square of a contact force relative to that of an equal error in the force on the body; default 1e-4. Higher values distribute
    /// the load more evenly and meet less of what the balance demands.
    pub force_cost: f64,
    /// The same while the target stands or the body is carried off the target's motion, when everything depends on the balance. Default 1e-4.
    pub recovery_force_cost: f64,
    /// Time over which a foot takes up its full load after landing, seconds; default 0, at once.
    pub load_time_s: f32,
    /// Weight of the toes in the distribution of the load, relative to heel and ball, 0.05 to 1; default 0.3.
    pub toe_share: f32,
    /// A point of a sole bears the less, the higher the target has it above the lowest of the points with which that foot touches the ground,
    /// and least from this height on, metres: a foot whose heel the target lifts bears on its ball and pushes off. Default 0: all points
    /// bear, however the target's foot is turned.
    pub bearing_height_m: f32,
    /// If on, the ground under a foot is taken where the body has that foot; otherwise, the default, where the target has it. On steps the two
    /// can be different treads: a foot of a body that lags behind its target then lands on the tread that is below it, and stands there.
    pub footing_at_body: bool,
    /// Share of the available friction that the balance uses; default 0.9.
    pub friction_share: f32,
    /// Largest external force that replaces what the feet cannot supply, body weights; default 0, none.
    pub residual_force_bw: f32,
    /// Largest external torque, likewise, body weights × metres; default 0, none.
    pub residual_torque_bw_m: f32,
}

impl Default for BalanceConfig {
    fn default() -> Self {
        Self {
            enabled: false,
            horizontal_rad_s: 4.0,
            horizontal_damping: 1.3,
            horizontal_most_m_s2: 8.0,
            vertical_rad_s: 18.0,
            vertical_damping: 1.0,
            vertical_most_m_s2: 7.0,
            level_rad_s: 0.0,
            pelvis_rad_s: 20.0,
            pelvis_damping: 1.0,
            pelvis_most_rad_s2: 150.0,
            by_feet: 0.75,
            standing_below_m_s: 1.2,
            stepping_hold_s: 0.0,
            standing_rad_s: 5.0,
            smoothing_s: 0.04,
            follows_expectation: false,
            stance_stiffness: 0.03,
            stance_damping: 0.1,
            touch_yielding: 0.0,
            stance_height_m: 0.027,
            stance_speed_m_s: 1.0,
            clearance_m: 0.06,
            landing_clearance_s2_m: 0.0,
            landing_depth_m: 0.1,
            step_along_s: 0.1,
            step_across_s: 0.25,
            step_speed_m_s: 3.0,
            step_return_s: 0.4,
            catching_step_s: 0.0,
            horizontal_weight: 0.33,
            yaw_weight: 0.5,
            force_cost: 1e-4,
            recovery_force_cost: 1e-4,
            load_time_s: 0.0,
            toe_share: 0.3,
            bearing_height_m: 0.0,
            footing_at_body: false,
            friction_share: 0.9,
            residual_force_bw: 0.0,
            residual_torque_bw_m: 0.0,
        }
    }
}

impl Validate for BalanceConfig {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        for (field, value) in [
            ("horizontal_rad_s", self.horizontal_rad_s),
            ("vertical_rad_s", self.vertical_rad_s),
            ("level_rad_s", self.level_rad_s),
            ("pelvis_rad_s", self.pelvis_rad_s),
            ("standing_rad_s", self.standing_rad_s),
        ] {
            fields.within(field, value, 0.0..=100.0)?;
        }
        for (field, value) in [
            ("horizontal_damping", self.horizontal_damping),
            ("vertical_damping", self.vertical_damping),
            ("pelvis_damping", self.pelvis_damping),
            ("horizontal_weight", self.horizontal_weight),
            ("yaw_weight", self.yaw_weight),
            ("step_along_s", self.step_along_s),
            ("step_across_s", self.step_across_s),
            ("smoothing_s", self.smoothing_s),
            ("load_time_s", self.load_time_s),
            ("standing_below_m_s", self.standing_below_m_s),
            ("stepping_hold_s", self.stepping_hold_s),
        ] {
            fields.within(field, value, 0.0..=10.0)?;
        }
        for (field, value) in [
            ("horizontal_most_m_s2", self.horizontal_most_m_s2),
            ("vertical_most_m_s2", self.vertical_most_m_s2),
            ("pelvis_most_rad_s2", self.pelvis_most_rad_s2),
            ("residual_force_bw", self.residual_force_bw),
            ("residual_torque_bw_m", self.residual_torque_bw_m),
        ] {
            fields.within(field, value, 0.0..=MOST)?;
        }
        for (field, value) in [
            ("by_feet", self.by_feet),
            ("stance_stiffness", self.stance_stiffness),
            ("stance_damping", self.stance_damping),
            ("touch_yielding", self.touch_yielding),
            ("friction_share", self.friction_share),
        ] {
            fields.within(field, value, 0.0..=1.0)?;
        }
        fields.within("stance_height_m", self.stance_height_m, 1e-3..=0.5)?;
        fields.within("stance_speed_m_s", self.stance_speed_m_s, 1e-2..=100.0)?;
        fields.within("clearance_m", self.clearance_m, 0.0..=0.2)?;
        fields.within("landing_clearance_s2_m", self.landing_clearance_s2_m, 0.0..=0.1)?;
        fields.within("step_speed_m_s", self.step_speed_m_s, 0.0..=100.0)?;
        fields.within("step_return_s", self.step_return_s, 0.02..=100.0)?;
        fields.within("catching_step_s", self.catching_step_s, 0.0..=2.0)?;
        fields.within("landing_depth_m", self.landing_depth_m, 0.0..=0.1)?;
        fields.within("force_cost", self.force_cost, 1e-6..=1.0)?;
        fields.within("recovery_force_cost", self.recovery_force_cost, 1e-6..=1.0)?;
        fields.within("toe_share", self.toe_share, 0.05..=1.0)?;
        fields.within("bearing_height_m", self.bearing_height_m, 0.0..=1.0)
    }
}

/// Compliance of contacts, as the spring and damper of a mass on the ground. The mass is that of the whole body (for contacts between two
/// bodies, of both in series), and all contact points of a pair share the spring.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContactConfig {
    /// Natural frequency, Hz; default 10. A lower value is softer: impact peaks are blunter and feet sink in deeper; below 8, swinging
    /// feet catch the ground. Compared with force plates for walks, 10 is slightly better than 15.
    pub frequency_hz: f32,
    /// Damping ratio; default 1. Rapier's own value of 10 (at 60 Hz) is nearly rigid and doubles the error of the vertical force against
    /// force plates for walks and squats; near 1, contacts yield like flesh and shoe.
    pub damping_ratio: f32,
    /// Distance below which an approaching pair already counts as a contact, metres; default 0.005. At 0.02, feet are stopped before they
    /// touch the ground: strikes come early and hard.
    pub prediction_m: f32,
    /// Extra look-ahead for fast bodies, metres, so that they cannot pass through the ground in one step; default 0.3.
    pub fast_body_prediction_m: f32,
    /// Width of the flat border, metres, that repeats the terrain's edge heights around it; default 4.
    pub border_m: f32,
}

/// Stiffness and strength of one group of joints, for a body of 75 kg; both scale with body mass.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Drive {
    /// Kp, N·m/rad. If too low, the joint is limp and lags behind its target; if too high, it is rigid and absorbs pushes without a
    /// visible response.
    pub stiffness_nm_per_rad: f32,
    /// Largest torque the drive may exert, N·m.
    pub torque_limit_nm: f32,
}

/// Joint drives: implicit PD control, τ = Kp · log(q_target q⁻¹) + Kd · (ω_target − ω).
///
/// With the default stiffnesses, recorded walks stay upright and the vertical force is closest to force plates. A third of them tracks
/// half as well and lets legs sag; twice the values bring no gain. The torque limits are of the order of the largest isokinetic torques of
/// athletes (hip and knee extension 300 to 350 N·m, ankle 250 N·m, shoulder 150 N·m, elbow 100 N·m); ours, rounded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DriveConfig {
    /// Kd as a multiple of Kp, seconds; default 0.02. At 0.05 the motion of the closed loop has a quarter more jerk and more foot sliding.
    pub damping_s: f32,
    /// Damping of the passive tissue, which remains when the strength is scaled to 0, as a multiple of Kp, seconds. At 0 a limp ragdoll is
    /// numerically unstable.
    pub passive_damping_s: f32,
    /// Thigh to pelvis.
    pub hip: Drive,
    /// Shank to thigh.
    pub knee: Drive,
    /// Foot to shank.
    pub ankle: Drive,
    /// Toes to foot. Soft (15 N·m/rad by default), as real toes are: many recordings hold the toes straight
    /// through push-off, and stiff ones then lift the whole body off the ground.
    pub toe: Drive,
    /// Spine, Spine1 and Spine2.
    pub spine: Drive,
    /// Neck.
    pub neck: Drive,
    /// Head.
    pub head: Drive,
    /// Shoulder girdle to Spine2.
    pub clavicle: Drive,
    /// Upper arm to shoulder girdle.
    pub shoulder: Drive,
    /// Forearm to upper arm.
    pub elbow: Drive,
    /// Hand to forearm.
    pub wrist: Drive,
}

/// Joint limits: ranges of swing and twist per joint, see [`crate::JointLimit`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LimitConfig {
    /// Whether targets are clamped to the joint ranges, and joints beyond their range are pulled back.
    pub enabled: bool,
    /// Spring that pulls back a joint beyond its range, N·m/rad for 75 kg, on top of the drive and without a
    /// torque limit: ligaments and bone, not muscle.
    pub stiffness_nm_per_rad: f32,
    /// Damping of that spring as a multiple of its stiffness, seconds.
    pub damping_s: f32,
}

/// The root assist: a bounded wrench on the pelvis towards the target root. Always reported.
///
/// With the defaults, a push of 100 N·s on the chest within 0.1 s displaces a walker's pelvis by 10 cm, one of 200 N·s displaces it by
/// half a metre, and one of 300 N·s makes the walker fall.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AssistConfig {
    /// Horizontal stiffness, body weights per metre; default 5 (3.7 kN/m at 75 kg). Damping is critical for the body mass; on the vertical
    /// axis it is scaled together with the stiffness.
    pub horizontal_stiffness_bw_per_m: f32,
    /// Cap of the horizontal force, body weights; default 0.544 (400 N at 75 kg).
    pub horizontal_limit_bw: f32,
    /// Largest amount by which the horizontal force may exceed its own running mean after an impact (a push, a box or another character),
    /// body weights; default 0.544, which has no effect. With a smaller value, the assist still carries a steady load, such as that of a
    /// slope, but leaves the response to the impact to the feet. An impact that changes the velocity by 0.5 m/s or more counts in full, a
    /// weaker one in proportion.
    pub struck_limit_bw: f32,
    /// Time constant of that running mean, and of the return to `horizontal_limit_bw` after an impact, seconds; default 1.
    pub settle_s: f32,
    /// Vertical stiffness, damping and cap as a share of the horizontal ones; default 0.1. Near 1 the assist carries the weight that the
    /// feet should carry.
    pub vertical_share: f32,
    /// Angular stiffness, body weights × metre per radian; default 12 (8.8 kN·m/rad at 75 kg).
    pub angular_stiffness_bw_m_per_rad: f32,
    /// Angular damping as a multiple of the stiffness, seconds; default 0.1.
    pub angular_damping_s: f32,
    /// Cap of the torque, body weights × metre; default 0.6 (441 N·m at 75 kg). At 0.4 a walker falls after a push of 200 N·s, but so do
    /// recorded walks whose feet are centimetres off the ground.
    pub angular_limit_bw_m: f32,
}

/// Bounds of a plausible state. If a state exceeds them, the last good state is restored.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GuardConfig {
    /// Largest speed of the root, m/s; default 30.
    pub max_root_speed_m_s: f32,
    /// Largest rate of any joint, rad/s; default 400.
    pub max_joint_rate_rad_s: f32,
    /// Largest distance of the root below the lowest point of the ground, metres; default 2.
    pub max_fall_below_ground_m: f32,
    /// Largest depth of a joint's origin in the ground, metres along the ground's normal; default 0.05. Only the surface of the ground
    /// supports bodies, so a body that has passed through it may stay below.
    pub max_depth_in_ground_m: f32,
    /// Longest time that a joint may be deeper than that, seconds; default 0.2. A body that its own joints drive below the surface for a
    /// shorter time comes back by itself.
    pub max_time_in_ground_s: f32,
}

impl Drive {
    const fn new(stiffness_nm_per_rad: f32, torque_limit_nm: f32) -> Self {
        Self { stiffness_nm_per_rad, torque_limit_nm }
    }
}

impl Default for DynamicConfig {
    fn default() -> Self {
        Self {
            mass_kg: 75.0,
            frame_rate_hz: 60.0,
            steps_per_frame: 1,
            contact_sweeps: 16,
            gravity_m_s2: pomp_motion::GRAVITY_M_S2 as f32,
            friction: 0.6,
            contact: ContactConfig {
                frequency_hz: 10.0,
                damping_ratio: 1.0,
                prediction_m: 0.005,
                fast_body_prediction_m: 0.3,
                border_m: 4.0,
            },
            drives: DriveConfig {
                damping_s: 0.02,
                passive_damping_s: 0.0007,
                hip: Drive::new(3000.0, 350.0),
                knee: Drive::new(3000.0, 350.0),
                ankle: Drive::new(2400.0, 250.0),
                toe: Drive::new(15.0, 60.0),
                spine: Drive::new(6000.0, 400.0),
                neck: Drive::new(600.0, 60.0),
                head: Drive::new(600.0, 60.0),
                clavicle: Drive::new(2400.0, 200.0),
                shoulder: Drive::new(2400.0, 150.0),
                elbow: Drive::new(1800.0, 100.0),
                wrist: Drive::new(180.0, 30.0),
            },
            limits: LimitConfig { enabled: true, stiffness_nm_per_rad: 3000.0, damping_s: 0.05 },
            assist: AssistConfig {
                horizontal_stiffness_bw_per_m: 5.0,
                horizontal_limit_bw: 0.544,
                struck_limit_bw: 0.544,
                settle_s: 1.0,
                vertical_share: 0.1,
                angular_stiffness_bw_m_per_rad: 12.0,
                angular_damping_s: 0.1,
                angular_limit_bw_m: 0.6,
            },
            guard: GuardConfig {
                max_root_speed_m_s: 30.0,
                max_joint_rate_rad_s: 400.0,
                max_fall_below_ground_m: 2.0,
                max_depth_in_ground_m: 0.05,
                max_time_in_ground_s: 0.2,
            },
            balance: BalanceConfig::default(),
        }
    }
}

impl Validate for DynamicConfig {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        fields.within("mass_kg", self.mass_kg, 5.0..=500.0)?;
        fields.within("frame_rate_hz", self.frame_rate_hz, 20.0..=1000.0)?;
        fields.within("steps_per_frame", self.steps_per_frame, 1..=16)?;
        fields.within("contact_sweeps", self.contact_sweeps, 1..=64)?;
        fields.within("gravity_m_s2", self.gravity_m_s2, 0.0..=100.0)?;
        fields.within("friction", self.friction, 0.0..=10.0)?;
        self.contact.check(&fields.section("contact"))?;
        self.drives.check(&fields.section("drives"))?;
        let limits = fields.section("limits");
        limits.within("stiffness_nm_per_rad", self.limits.stiffness_nm_per_rad, 0.0..=MOST)?;
        limits.within("damping_s", self.limits.damping_s, 0.0..=10.0)?;
        self.assist.check(&fields.section("assist"))?;
        self.guard.check(&fields.section("guard"))?;
        self.balance.check(&fields.section("balance"))
    }
}

impl Validate for ContactConfig {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        fields.within("frequency_hz", self.frequency_hz, 1.0..=1e6)?;
        fields.within("damping_ratio", self.damping_ratio, 0.01..=1e3)?;
        fields.within("prediction_m", self.prediction_m, 1e-4..=1.0)?;
        fields.within("fast_body_prediction_m", self.fast_body_prediction_m, 0.0..=10.0)?;
        fields.within("border_m", self.border_m, 0.0..=100.0)
    }
}

impl Validate for DriveConfig {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        fields.within("damping_s", self.damping_s, 0.0..=10.0)?;
        fields.within("passive_damping_s", self.passive_damping_s, 1e-5..=10.0)?;
        for (name, drive) in self.named() {
            let fields = fields.section(name);
            fields.within("stiffness_nm_per_rad", drive.stiffness_nm_per_rad, 1e-3..=MOST)?;
            fields.within("torque_limit_nm", drive.torque_limit_nm, 1e-3..=MOST)?;
        }
        Ok(())
    }
}

impl Validate for AssistConfig {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        for (field, value) in [
            ("horizontal_stiffness_bw_per_m", self.horizontal_stiffness_bw_per_m),
            ("horizontal_limit_bw", self.horizontal_limit_bw),
            ("struck_limit_bw", self.struck_limit_bw),
            ("vertical_share", self.vertical_share),
            ("angular_stiffness_bw_m_per_rad", self.angular_stiffness_bw_m_per_rad),
            ("angular_limit_bw_m", self.angular_limit_bw_m),
        ] {
            fields.within(field, value, 0.0..=MOST)?;
        }
        fields.within("settle_s", self.settle_s, 0.01..=1e3)?;
        fields.within("angular_damping_s", self.angular_damping_s, 0.0..=10.0)
    }
}

impl Validate for GuardConfig {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        fields.within("max_root_speed_m_s", self.max_root_speed_m_s, 1e-3..=300.0)?;
        fields.within("max_joint_rate_rad_s", self.max_joint_rate_rad_s, 1e-3..=1e4)?;
        fields.within("max_fall_below_ground_m", self.max_fall_below_ground_m, 0.0..=1e3)?;
        fields.within("max_depth_in_ground_m", self.max_depth_in_ground_m, 0.0..=1e3)?;
        fields.within("max_time_in_ground_s", self.max_time_in_ground_s, 0.0..=1e3)
    }
}

impl DynamicConfig {
    /// Reads a config; every field has to be there, unknown ones are refused.
    ///
    /// # Errors
    /// [`PhysicsError::ConfigSyntax`] with line and column, [`PhysicsError::OutOfRange`] with the field out of
    /// range.
    pub fn from_toml(text: &str) -> Result<Self, PhysicsError> {
        let config: Self =
            toml::from_str(text).map_err(|e| PhysicsError::ConfigSyntax { message: e.to_string() })?;
        config.validate()?;
        Ok(config)
    }

    /// Checks every range.
    ///
    /// # Errors
    /// [`PhysicsError::OutOfRange`] with the first field out of range.
    pub fn validate(&self) -> Result<(), PhysicsError> {
        Ok(self.check(&Fields::root())?)
    }

    /// The defaults where recorded motion is followed: half of the friction, 0.3, since recorded feet are a centimetre off, and one that
    /// swings into the ground has to slide on. Feet that walk on level ground use less.
    pub fn for_recorded_motion() -> Self {
        Self { friction: 0.3, ..Self::default() }
    }

    /// Largest horizontal force (N) and largest torque (N·m) from outside on the root: of the assist, or of what balance leaves to it.
    pub fn external_limits(&self) -> [f32; 2] {
        let limits = if self.balance.enabled {
            [self.balance.residual_force_bw, self.balance.residual_torque_bw_m]
        } else {
            [self.assist.horizontal_limit_bw, self.assist.angular_limit_bw_m]
        };
        limits.map(|limit| limit * self.body_weight_n())
    }

    /// Body weight, newtons.
    pub fn body_weight_n(&self) -> f32 {
        self.mass_kg * self.gravity_m_s2
    }
}

impl DriveConfig {
    fn named(&self) -> [(&'static str, Drive); 11] {
        macro_rules! rows {
            ($($group:ident),*) => {
                [$((stringify!($group), self.$group)),*]
            };
        }
        rows!(hip, knee, ankle, toe, spine, neck, head, clavicle, shoulder, elbow, wrist)
    }
}

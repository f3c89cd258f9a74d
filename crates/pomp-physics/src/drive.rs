//! Implicit springs that hold every joint on its target, and the root assist, which is one more spring.
//!
//! A spring over a step of length h is an implicit drive: its effort is
//!
//!   τ = k_a (e_a + h (ω_t − v⁺)) + d_a (ω_t − v⁺) + k_p (e_p − h v⁺) − d_p v⁺
//!
//! with the velocity v⁺ at the *end* of the step, contact impulses included: backward Euler, stable at any gain. Its active part is
//! the PD law towards the moving target, the rest is passive. Since v⁺ is known after the step, so is the effort that acted,
//! exactly; a step whose efforts exceed a limit is solved again with softer drives.

use crate::limit::JointLimit;
use crate::motion::Motion;
use crate::ragdoll::Ragdoll;
use crate::{AssistConfig, Drive, DriveConfig, DynamicConfig, GainScale, LimitConfig, PoseVelocity};
use pomp_articulated::Drive as ImplicitDrive;
use pomp_motion::glam::{DMat3, Quat, Vec3};
use pomp_motion::rotation::log;
use pomp_motion::{PerJoint, Pose, humanoid};

/// Mass for which the configured gains hold, kg.
const REFERENCE_MASS_KG: f32 = 75.0;

/// A spring towards a moving target plus a passive one, on three axes: those of the joint's parent, the world's for the root.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spring {
    /// Active stiffness and damping per axis.
    pub(crate) stiffness: Vec3,
    pub(crate) damping: Vec3,
    /// Error of the active part at the start of the step, and the target's velocity.
    pub(crate) error: Vec3,
    pub(crate) target_velocity: Vec3,
    /// Effort of the active part that needs no error.
    pub(crate) expected: Vec3,
    /// Passive stiffness, damping and error.
    pub(crate) passive_stiffness: f32,
    pub(crate) passive_damping: f32,
    pub(crate) passive_error: Vec3,
}

impl Spring {
    /// The spring as a drive over a step of length `h`, in world axes; its own are turned by `axes`. A spring that differs from axis
    /// to axis has those of the world.
    fn as_drive(&self, h: f32, axes: Quat) -> ImplicitDrive {
        let pull = self.stiffness * self.error
            + self.expected
            + self.passive_error * self.passive_stiffness
            + (self.damping + self.stiffness * h) * self.target_velocity;
        let impedance = (self.stiffness + Vec3::splat(self.passive_stiffness)) * h
            + self.damping
            + Vec3::splat(self.passive_damping);
        ImplicitDrive {
            pull: (axes * pull).as_dvec3(),
            impedance: DMat3::from_diagonal(impedance.as_dvec3()),
        }
    }

    /// Force or torque of the active part over a step that ended with velocity `after`.
    pub(crate) fn active(&self, h: f32, after: Vec3) -> Vec3 {
        let slip = self.target_velocity - after;
        self.stiffness * (self.error + slip * h) + self.damping * slip + self.expected
    }

    fn scaled(&self, scale: Vec3) -> Self {
        Self {
            stiffness: self.stiffness * scale,
            damping: self.damping * scale,
            expected: self.expected * scale,
            ..*self
        }
    }
}

/// All springs of one step at full strength, with their limits.
#[derive(Clone, Debug)]
pub(crate) struct DrivePlan {
    /// Root translation (world axes).
    assist_force: Spring,
    /// Root rotation (world axes).
    assist_torque: Spring,
    horizontal_limit: f32,
    vertical_limit: f32,
    torque_limit: f32,
    /// Joints from 1; entry 0 is unused.
    joints: PerJoint<Spring>,
    joint_limits: PerJoint<f32>,
    scale: Scale,
}

/// By how much each bounded drive is softened.
#[derive(Clone, Debug)]
struct Scale {
    horizontal: Softening,
    vertical: Softening,
    torque: Softening,
    joints: PerJoint<Softening>,
}

/// The scale of one drive on its way to an effort at its limit.
#[derive(Clone, Copy, Debug)]
struct Softening {
    scale: f32,
    /// Scale and effort of the attempt before.
    last: Option<(f32, f32)>,
}

impl Softening {
    const NONE: Self = Self { scale: 1.0, last: None };

    /// As soft as an effort that does not depend on the softness would need.
    fn to_limit(limit: f32, effort: f32) -> Self {
        Self { scale: if effort > limit { limit / effort } else { 1.0 }, last: None }
    }

    /// Softens a drive whose `effort` at the present scale is above `limit`.
    ///
    /// A spring of scale s that works against a yielding body has the effort s F / (1 + s G), so 1/effort is a straight
    /// line over 1/s: two attempts tell where it meets the limit. One alone only scales.
    fn soften(&mut self, limit: f32, effort: f32) {
        if effort <= limit {
            return;
        }
        let aim = AIM * limit;
        let scaled = self.scale * aim / effort;
        let met = self.last.and_then(|(scale, before)| {
            let slope = (1.0 / effort - 1.0 / before) / (1.0 / self.scale - 1.0 / scale);
            let inverse = 1.0 / self.scale + (1.0 / aim - 1.0 / effort) / slope;
            (slope > 0.0 && inverse.is_finite()).then(|| 1.0 / inverse)
        });
        self.last = Some((self.scale, effort));
        // Other drives soften at the same time; the line is trusted within a factor of the plain scaling.
        self.scale = met.map_or(scaled, |scale| scale.clamp(scaled * 0.25, scaled));
    }
}

/// What the drives did in a step.
#[derive(Clone, Debug)]
pub(crate) struct DriveOutcome {
    pub(crate) assist_force: Vec3,
    pub(crate) assist_torque: Vec3,
    pub(crate) joint_torque: PerJoint<Vec3>,
    /// A limit was exceeded by more than the tolerance.
    pub(crate) exceeded: bool,
}

/// A torque may exceed its limit by this share before the step is taken again.
const TOLERANCE: f32 = 1.01;
/// Masses of the body per step with which a held root resists.
const HOLD: f32 = 100.0;
/// Softening aims below the limit, since a softer drive lets the velocity error grow.
const AIM: f32 = 0.99;

/// Share of a drive's torque limit that an expectation may take, so that the spring keeps the rest.
const MOST_EXPECTED: f32 = 0.8;

/// What the drives know of a step: torque in the parent's frame and gains of every joint.
pub(crate) struct ExpectedDrives {
    pub(crate) torques: Vec<Vec3>,
    pub(crate) gains: Vec<GainScale>,
}

/// Gains, limits and scales of a run.
#[derive(Clone, Debug)]
pub(crate) struct Drives {
    drives: Vec<Drive>,
    passive_damping: Vec<f32>,
    damping_s: f32,
    limits: Vec<Option<JointLimit>>,
    limit_config: LimitConfig,
    assist: AssistConfig,
    mass_kg: f32,
    body_weight_n: f32,
}

/// State that the springs act on.
pub(crate) struct DriveState<'a> {
    pub(crate) root_position: Vec3,
    /// Size of the mean horizontal force that the assist has given, N.
    pub(crate) assist_given_n: f32,
    /// How much of a blow there is to get over, 0 to 1.
    pub(crate) struck: f32,
    pub(crate) local_rotations: &'a [Quat],
}

impl Drives {
    pub(crate) fn new(config: &DynamicConfig, limits: Vec<Option<JointLimit>>) -> Self {
        let ratio = config.mass_kg / REFERENCE_MASS_KG;
        let drives: Vec<Drive> = (0..humanoid::JOINTS)
            .map(|joint| {
                let drive = drive_of_joint(&config.drives, joint);
                Drive {
                    stiffness_nm_per_rad: drive.stiffness_nm_per_rad * ratio,
                    torque_limit_nm: drive.torque_limit_nm * ratio,
                }
            })
            .collect();
        let passive_damping =
            drives.iter().map(|d| d.stiffness_nm_per_rad * config.drives.passive_damping_s).collect();
        let limit_config =
            LimitConfig { stiffness_nm_per_rad: config.limits.stiffness_nm_per_rad * ratio, ..config.limits };
        Self {
            drives,
            passive_damping,
            damping_s: config.drives.damping_s,
            limits,
            limit_config,
            assist: config.assist,
            mass_kg: config.mass_kg,
            body_weight_n: config.body_weight_n(),
        }
    }

    /// Most that an expectation may take of a joint's drive, N·m.
    pub(crate) fn feed_forward_limit_nm(&self, joint: usize) -> f32 {
        MOST_EXPECTED * self.drives[joint].torque_limit_nm
    }

    /// The target pose with every joint within its limits.
    pub(crate) fn allowed_pose(&self, pose: &Pose) -> Pose {
        let local_rotations =
            pose.local_rotations.iter().enumerate().map(|(i, q)| self.allowed(i, q.normalize())).collect();
        Pose { root_position: pose.root_position, local_rotations }
    }

    /// The target rotation that a joint can take.
    fn allowed(&self, joint: usize, rotation: Quat) -> Quat {
        match self.limits[joint] {
            Some(limit) if self.limit_config.enabled => limit.clamp(rotation),
            _ => rotation,
        }
    }

    /// Springs for one step from `target`, an allowed pose at the start of the step, with velocity
    /// `velocity`. `scales` are strength and assist; `expected` is what the drives know of the step.
    pub(crate) fn plan(
        &self,
        state: &DriveState<'_>,
        target: &Pose,
        velocity: &PoseVelocity,
        scales: (f32, f32),
        expected: Option<&ExpectedDrives>,
    ) -> DrivePlan {
        let (strength, assist) = scales;
        let mut joints = PerJoint::from_elem(Spring::default(), self.drives.len());
        let mut joint_limits = PerJoint::from_elem(f32::INFINITY, self.drives.len());
        for i in 1..self.drives.len() {
            joint_limits[i] = self.drives[i].torque_limit_nm * strength;
            joints[i] = self.joint_spring(i, state, target, velocity, strength, expected);
        }
        let weight = self.body_weight_n * assist;
        let (assist_force, assist_torque) = self.root_springs(state, target, velocity, assist);
        let full_limit = self.assist.horizontal_limit_bw * weight;
        let struck_limit = full_limit.min(state.assist_given_n + self.assist.struck_limit_bw * weight);
        let mut plan = DrivePlan {
            assist_force,
            assist_torque,
            horizontal_limit: full_limit + (struck_limit - full_limit) * state.struck,
            vertical_limit: full_limit * self.assist.vertical_share,
            torque_limit: self.assist.angular_limit_bw_m * weight,
            joints,
            joint_limits,
            scale: Scale {
                horizontal: Softening::NONE,
                vertical: Softening::NONE,
                torque: Softening::NONE,
                joints: PerJoint::from_elem(Softening::NONE, self.drives.len()),
            },
        };
        plan.soften_for_static_errors();
        plan
    }

    /// The spring of joint `i` with the share `strength` of its drive, from joint 1 on.
    fn joint_spring(
        &self,
        i: usize,
        state: &DriveState<'_>,
        target: &Pose,
        velocity: &PoseVelocity,
        strength: f32,
        expected: Option<&ExpectedDrives>,
    ) -> Spring {
        let current = state.local_rotations[i];
        let drive = self.drives[i];
        let stiffness = drive.stiffness_nm_per_rad * strength;
        let limit = drive.torque_limit_nm * strength;
        let (gains, torque) = match expected {
            Some(expected) => {
                (expected.gains[i], (expected.torques[i] * strength).clamp_length_max(MOST_EXPECTED * limit))
            }
            None => (GainScale::NONE, Vec3::ZERO),
        };
        let back = log(self.allowed(i, current) * current.inverse());
        let beyond = back.length_squared() > 1e-8;
        let (limit_stiffness, limit_damping) = if beyond {
            let k = self.limit_config.stiffness_nm_per_rad;
            (k, k * self.limit_config.damping_s)
        } else {
            (0.0, 0.0)
        };
        Spring {
            stiffness: Vec3::splat(stiffness * gains.stiffness),
            damping: Vec3::splat(stiffness * self.damping_s * gains.damping),
            error: log(target.local_rotations[i] * current.inverse()),
            target_velocity: velocity.angular[i],
            expected: torque,
            passive_stiffness: limit_stiffness,
            passive_damping: self.passive_damping[i] + limit_damping,
            passive_error: back,
        }
    }

    /// The springs of the root's translation and rotation, of which the assist has the share `assist`.
    fn root_springs(
        &self,
        state: &DriveState<'_>,
        target: &Pose,
        velocity: &PoseVelocity,
        assist: f32,
    ) -> (Spring, Spring) {
        let weight = self.body_weight_n * assist;
        let linear = self.assist.horizontal_stiffness_bw_per_m * self.body_weight_n;
        let critical = 2.0 * (linear * self.mass_kg).sqrt();
        let per_axis = Vec3::new(1.0, self.assist.vertical_share, 1.0) * assist;
        let angular = self.assist.angular_stiffness_bw_m_per_rad * weight;
        let current = state.local_rotations[0];
        let force = Spring {
            stiffness: per_axis * linear,
            damping: per_axis * critical,
            error: target.root_position - state.root_position,
            target_velocity: velocity.root_linear,
            ..Spring::default()
        };
        let torque = Spring {
            stiffness: Vec3::splat(angular),
            damping: Vec3::splat(angular * self.assist.angular_damping_s),
            error: log(target.local_rotations[0] * current.inverse()),
            target_velocity: velocity.angular[0],
            ..Spring::default()
        };
        (force, torque)
    }
}

impl DrivePlan {
    /// First guess of the scales from the elastic part alone, which is a lower bound of the drives' efforts
    /// for a body at rest relative to its target; it saves most of the second attempts of a body far from its
    /// target.
    fn soften_for_static_errors(&mut self) {
        let force = self.assist_force.stiffness * self.assist_force.error;
        let torque = self.assist_torque.stiffness * self.assist_torque.error;
        self.scale.horizontal = Softening::to_limit(self.horizontal_limit, horizontal(force).length());
        self.scale.vertical = Softening::to_limit(self.vertical_limit, force.y.abs());
        self.scale.torque = Softening::to_limit(self.torque_limit, torque.length());
        for i in 1..self.joints.len() {
            let spring = &self.joints[i];
            let effort = (spring.stiffness * spring.error + spring.expected).length();
            self.scale.joints[i] = Softening::to_limit(self.joint_limits[i], effort);
        }
    }

    /// The same with the root held at these velocities at the end of the step, m/s and rad/s, whatever it takes.
    pub(crate) fn holding_root(&self, mass_kg: f32, h: f32, linear: Vec3, angular: Vec3) -> Self {
        let hold = |velocity| Spring {
            damping: Vec3::splat(HOLD * mass_kg / h),
            target_velocity: velocity,
            ..Spring::default()
        };
        let mut held = self.clone();
        held.replace_root(hold(linear), hold(angular));
        held
    }

    /// Lets a force and a torque from outside act on the root in place of its springs, N and N·m, and adds `torques` to the joints,
    /// N·m, each in the frame of its parent.
    pub(crate) fn balance_by(&mut self, force: Vec3, torque: Vec3, torques: &[Vec3]) {
        let constant = |effort| Spring { expected: effort, ..Spring::default() };
        self.replace_root(constant(force), constant(torque));
        for (joint, torque) in self.joints.iter_mut().zip(torques).skip(1) {
            joint.expected += *torque;
        }
    }

    /// Other springs of the root, without bounds.
    fn replace_root(&mut self, force: Spring, torque: Spring) {
        self.assist_force = force;
        self.assist_torque = torque;
        self.horizontal_limit = f32::INFINITY;
        self.vertical_limit = f32::INFINITY;
        self.torque_limit = f32::INFINITY;
        self.scale.horizontal = Softening::NONE;
        self.scale.vertical = Softening::NONE;
        self.scale.torque = Softening::NONE;
    }

    /// The springs of a ragdoll in the state `motion` for a step of length `h`, as softened, into `drives`.
    pub(crate) fn drives(&self, h: f32, ragdoll: &Ragdoll, motion: &Motion, drives: &mut Vec<ImplicitDrive>) {
        let (force, torque) = self.root();
        drives.clear();
        drives.extend([force, torque].map(|spring| spring.as_drive(h, Quat::IDENTITY)));
        drives.extend(
            (1..self.joints.len())
                .map(|i| self.joint(i).as_drive(h, motion.pose.rotations[ragdoll.parent(i)])),
        );
    }

    /// The root's springs for translation and rotation, as softened.
    fn root(&self) -> (Spring, Spring) {
        let s = &self.scale;
        (
            self.assist_force.scaled(Vec3::new(s.horizontal.scale, s.vertical.scale, s.horizontal.scale)),
            self.assist_torque.scaled(Vec3::splat(s.torque.scale)),
        )
    }

    /// The spring of joint `i`, as softened.
    fn joint(&self, i: usize) -> Spring {
        self.joints[i].scaled(Vec3::splat(self.scale.joints[i].scale))
    }

    /// Efforts of a step that ended with these generalised velocities (root linear, then angular per joint).
    pub(crate) fn outcome(&self, h: f32, root_linear: Vec3, angular: &[Vec3]) -> DriveOutcome {
        let (force, torque) = self.root();
        let assist_force = force.active(h, root_linear);
        let assist_torque = torque.active(h, angular[0]);
        let joint_torque: PerJoint<Vec3> = (0..self.joints.len())
            .map(|i| if i == 0 { Vec3::ZERO } else { self.joint(i).active(h, angular[i]) })
            .collect();
        let exceeded = horizontal(assist_force).length() > self.horizontal_limit * TOLERANCE
            || assist_force.y.abs() > self.vertical_limit * TOLERANCE
            || assist_torque.length() > self.torque_limit * TOLERANCE
            || joint_torque.iter().zip(&self.joint_limits).any(|(t, limit)| t.length() > limit * TOLERANCE);
        DriveOutcome { assist_force, assist_torque, joint_torque, exceeded }
    }

    /// Softens what exceeded its limit.
    pub(crate) fn soften(&mut self, outcome: &DriveOutcome) {
        let scale = &mut self.scale;
        scale.horizontal.soften(self.horizontal_limit, horizontal(outcome.assist_force).length());
        scale.vertical.soften(self.vertical_limit, outcome.assist_force.y.abs());
        scale.torque.soften(self.torque_limit, outcome.assist_torque.length());
        for (i, torque) in outcome.joint_torque.iter().enumerate() {
            scale.joints[i].soften(self.joint_limits[i], torque.length());
        }
    }

    /// Number of joints that run softened.
    pub(crate) fn saturated_joints(&self) -> usize {
        self.scale.joints.iter().filter(|s| s.scale < 1.0).count()
    }
}

/// The part of `v` across gravity.
pub(crate) fn horizontal(v: Vec3) -> Vec3 {
    Vec3::new(v.x, 0.0, v.z)
}

fn drive_of_joint(drives: &DriveConfig, joint: usize) -> Drive {
    match joint {
        1 | 5 => drives.hip,
        2 | 6 => drives.knee,
        3 | 7 => drives.ankle,
        4 | 8 => drives.toe,
        12 => drives.neck,
        13 => drives.head,
        14 | 18 => drives.clavicle,
        15 | 19 => drives.shoulder,
        16 | 20 => drives.elbow,
        17 | 21 => drives.wrist,
        // The root has no drive; its entry is never read.
        _ => drives.spine,
    }
}

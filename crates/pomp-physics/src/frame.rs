use pomp_motion::glam::Vec3;
use pomp_motion::rotation::angular_velocity;
use pomp_motion::{GlobalPose, PerJoint, Pose};

/// Rates of change of a [`Pose`].
#[derive(Clone, Debug, PartialEq)]
pub struct PoseVelocity {
    /// Velocity of the root joint, m/s, world.
    pub root_linear: Vec3,
    /// Angular velocity of each joint relative to its parent, in the parent's frame; the root's in the world.
    /// rad/s.
    pub angular: PerJoint<Vec3>,
}

impl PoseVelocity {
    /// No motion of a skeleton with `joints` joints.
    pub fn zero(joints: usize) -> Self {
        Self { root_linear: Vec3::ZERO, angular: PerJoint::from_elem(Vec3::ZERO, joints) }
    }

    /// The constant velocity that takes pose `a` to pose `b` in `dt` seconds.
    pub fn between(a: &Pose, b: &Pose, dt: f32) -> Self {
        Self {
            root_linear: (b.root_position - a.root_position) / dt,
            angular: a
                .local_rotations
                .iter()
                .zip(&b.local_rotations)
                .map(|(&from, &to)| angular_velocity(from, to, dt))
                .collect(),
        }
    }
}

/// An impulse on a body, spread evenly over one frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Push {
    /// Index of the body, which is that of its joint.
    pub body: usize,
    /// Impulse, N·s, world.
    pub impulse_ns: Vec3,
    /// Where it acts, world, metres; `None` for the body's centre of mass.
    pub point: Option<Vec3>,
}

/// Why a state was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DivergenceReason {
    /// A NaN or an infinity in the state.
    NotFinite,
    /// The root moved faster than [`crate::GuardConfig::max_root_speed_m_s`].
    RootSpeed,
    /// A joint turned faster than [`crate::GuardConfig::max_joint_rate_rad_s`].
    JointRate,
    /// The root fell below all ground, by [`crate::GuardConfig::max_fall_below_ground_m`].
    BelowGround,
    /// A joint was deeper in the ground than [`crate::GuardConfig::max_depth_in_ground_m`], for longer than
    /// [`crate::GuardConfig::max_time_in_ground_s`].
    InGround,
    /// The ground did so much work on the body that it threw it off, where ground that stands still does none: what frees a
    /// limb that a blow has driven through a wall.
    ThrownOff,
}

/// The simulation diverged in this frame, and the pose at its start was restored at rest, on the ground and out of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// What was out of bounds.
    pub reason: DivergenceReason,
    /// How many frames have diverged since the last reset, this one included.
    pub count: u32,
}

/// The outcome of one control frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// Simulated pose at the end of the frame; joint i is body i.
    pub pose: GlobalPose,
    /// Velocities of the joint origins at the end of the frame, m/s, world.
    pub velocities: PerJoint<Vec3>,
    /// Velocity of the root joint, m/s, world.
    pub root_linear_velocity: Vec3,
    /// Angular velocity of the root, rad/s, world.
    pub root_angular_velocity: Vec3,
    /// Impulse of the ground on each body during the frame, N·s, world.
    pub contact_impulse: PerJoint<Vec3>,
    /// Where the ground pushed each body, world, metres: the mean of its contact points by their vertical impulses; its joint where
    /// none pushed it up.
    pub contact_point: PerJoint<Vec3>,
    /// Impulse of thrown boxes on each body during the frame, N·s, world. It is no part of `contact_impulse`, which says
    /// what bears the body: networks and metrics know of ground alone.
    pub box_impulse: PerJoint<Vec3>,
    /// Impulse of the bodies of other characters in the world on each body during the frame, N·s, world; no part of
    /// `contact_impulse` either.
    pub character_impulse: PerJoint<Vec3>,
    /// Force of the root assist, mean over the frame, N, world.
    pub assist_force: Vec3,
    /// Torque of the root assist, mean over the frame, N·m, world.
    pub assist_torque: Vec3,
    /// Torque of each joint's drive, mean over the frame, N·m, magnitude; 0 for the root.
    pub joint_torque: PerJoint<f32>,
    /// Number of joints whose drive was cut back to its torque limit.
    pub saturated_joints: usize,
    /// Set when the simulation diverged and was restored.
    pub recovered: Option<Divergence>,
}

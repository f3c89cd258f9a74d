use pomp_motion::glam::{Quat, Vec3};
use pomp_motion::humanoid;
use pomp_motion::rotation::{exp, log, swing_twist};
use std::f32::consts::PI;

/// Allowed rotations of one joint relative to its T-pose, as ranges of swing and twist.
///
/// The rotation is split into `swing · twist` about the bone's axis. The range of that axis bounds the twist
/// angle; the ranges of the other two bound the components of the swing's rotation vector. The ranges are
/// wider than those of the American Academy of Orthopaedic Surgeons (*Joint Motion*, 1965), because motion
/// capture puts some of one joint's motion into its neighbours; they keep out what no body does, and let pass
/// what was recorded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointLimit {
    /// Bone axis in the joint's frame: 0 is X, 1 is Y.
    pub twist_axis: usize,
    /// Lower bounds about X, Y, Z, radians.
    pub low: Vec3,
    /// Upper bounds about X, Y, Z, radians.
    pub high: Vec3,
}

const X: usize = 0;
const Y: usize = 1;

/// Bounds in degrees about X, Y, Z for the left side and the midline; the right side is the mirror image.
///
/// In the T-pose a leg's flexion is about X (knee and toes-down positive, hip flexion negative), an arm's
/// swing down is −Z, forward is −Y. The elbow's hinge direction depends on how a recording twists the upper
/// arm, so its swing is bounded by angle alone.
const TABLE: [(&str, usize, [f32; 3], [f32; 3]); 13] = [
    ("UpLeg", Y, [-145.0, -70.0, -50.0], [50.0, 70.0, 90.0]),
    ("Leg", Y, [-12.0, -45.0, -25.0], [165.0, 45.0, 25.0]),
    ("Foot", Y, [-55.0, -50.0, -50.0], [75.0, 50.0, 50.0]),
    ("Toe", Y, [-85.0, -25.0, -25.0], [60.0, 25.0, 25.0]),
    ("Spine", Y, [-50.0, -50.0, -50.0], [70.0, 50.0, 50.0]),
    ("Spine1", Y, [-50.0, -50.0, -50.0], [70.0, 50.0, 50.0]),
    ("Spine2", Y, [-50.0, -50.0, -50.0], [70.0, 50.0, 50.0]),
    ("Neck", Y, [-70.0, -80.0, -60.0], [70.0, 80.0, 60.0]),
    ("Head", Y, [-70.0, -80.0, -60.0], [70.0, 80.0, 60.0]),
    ("Shoulder", X, [-60.0, -60.0, -45.0], [60.0, 60.0, 60.0]),
    ("Arm", X, [-150.0, -165.0, -135.0], [150.0, 110.0, 150.0]),
    ("ForeArm", X, [-130.0, -165.0, -165.0], [130.0, 165.0, 165.0]),
    ("Hand", X, [-120.0, -100.0, -100.0], [120.0, 100.0, 100.0]),
];

impl JointLimit {
    /// The limit of a joint of the project skeleton; `None` for the root.
    pub fn of_joint(name: &str) -> Option<Self> {
        let (side, bone) = match (name.strip_prefix("Left"), name.strip_prefix("Right")) {
            (Some(bone), _) => (1.0, bone),
            (_, Some(bone)) => (-1.0, bone),
            _ => (1.0, name),
        };
        let &(_, twist_axis, low, high) = TABLE.iter().find(|row| row.0 == bone)?;
        let (low, high) = (Vec3::from(low) * (PI / 180.0), Vec3::from(high) * (PI / 180.0));
        if side > 0.0 {
            return Some(Self { twist_axis, low, high });
        }
        // Mirroring in x = 0 keeps rotations about X and reverses those about Y and Z.
        Some(Self {
            twist_axis,
            low: Vec3::new(low.x, -high.y, -high.z),
            high: Vec3::new(high.x, -low.y, -low.z),
        })
    }

    /// The nearest allowed rotation in the sense of the ranges; `rotation` itself when it is allowed.
    pub fn clamp(&self, rotation: Quat) -> Quat {
        let axis = if self.twist_axis == X { Vec3::X } else { Vec3::Y };
        let (swing, twist) = swing_twist(rotation, axis);
        let (swing, twist) = (log(swing), log(twist).dot(axis));
        let mut low = self.low;
        let mut high = self.high;
        let (twist_low, twist_high) = (low[self.twist_axis], high[self.twist_axis]);
        // The swing has no component about the twist axis beyond rounding.
        low[self.twist_axis] = -1e-3;
        high[self.twist_axis] = 1e-3;
        let allowed_swing = swing.clamp(low, high);
        let allowed_twist = twist.clamp(twist_low, twist_high);
        if allowed_swing == swing && allowed_twist == twist {
            rotation
        } else {
            exp(allowed_swing) * exp(axis * allowed_twist)
        }
    }
}

/// Limits of all joints of the project skeleton, in its order.
pub(crate) fn humanoid_limits(names: &[String]) -> Vec<Option<JointLimit>> {
    debug_assert_eq!(names.len(), humanoid::JOINTS);
    names.iter().map(|name| JointLimit::of_joint(name)).collect()
}

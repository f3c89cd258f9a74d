use crate::MotionError;
use glam::Vec3;
use serde::{Deserialize, Serialize};

/// Index of a joint in its [`Skeleton`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct JointIndex(pub usize);

/// One joint: a name, a parent and the offset from it in the rest pose.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Joint {
    /// Name, LaFAN1 style for the project skeleton.
    pub name: String,
    /// Parent joint; `None` for the root, which is joint 0.
    pub parent: Option<JointIndex>,
    /// Position relative to the parent in the parent's frame, metres. For the root: its position in the rest pose.
    pub offset: Vec3,
}

/// A tree of joints, parents before children, joint 0 the only root; also as it is read from a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "UncheckedSkeleton")]
pub struct Skeleton {
    joints: Vec<Joint>,
}

/// What a file says of a skeleton.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UncheckedSkeleton {
    joints: Vec<Joint>,
}

impl TryFrom<UncheckedSkeleton> for Skeleton {
    type Error = MotionError;
    fn try_from(found: UncheckedSkeleton) -> Result<Self, MotionError> {
        Self::new(found.joints)
    }
}

impl Skeleton {
    /// Checks that parents come before children, that names are unique and offsets finite.
    ///
    /// # Errors
    /// [`MotionError::BadSkeleton`] with the first joint that breaks a rule.
    pub fn new(joints: Vec<Joint>) -> Result<Self, MotionError> {
        let bad = |joint: usize, name: &str, reason: String| MotionError::BadSkeleton {
            joint,
            name: name.to_owned(),
            reason,
        };
        if joints.is_empty() {
            return Err(bad(0, "", "a skeleton needs at least one joint".to_owned()));
        }
        for (i, joint) in joints.iter().enumerate() {
            match joint.parent {
                None if i > 0 => return Err(bad(i, &joint.name, "only joint 0 may be a root".to_owned())),
                Some(_) if i == 0 => return Err(bad(i, &joint.name, "joint 0 must be the root".to_owned())),
                Some(parent) if parent.0 >= i => {
                    return Err(bad(
                        i,
                        &joint.name,
                        format!("its parent {} does not come before it", parent.0),
                    ));
                }
                _ => {}
            }
            if !joint.offset.is_finite() {
                return Err(bad(i, &joint.name, "its offset is not finite".to_owned()));
            }
            if joints[..i].iter().any(|other| other.name == joint.name) {
                return Err(bad(i, &joint.name, "another joint has the same name".to_owned()));
            }
        }
        Ok(Self { joints })
    }

    /// All joints, parents before children.
    pub fn joints(&self) -> &[Joint] {
        &self.joints
    }

    /// Number of joints, J.
    pub fn len(&self) -> usize {
        self.joints.len()
    }

    /// Never true: a skeleton has at least its root.
    pub fn is_empty(&self) -> bool {
        self.joints.is_empty()
    }

    /// The joint of this name.
    pub fn index_of(&self, name: &str) -> Option<JointIndex> {
        self.joints.iter().position(|joint| joint.name == name).map(JointIndex)
    }

    /// Parent of `joint`, `None` for the root.
    pub fn parent(&self, joint: JointIndex) -> Option<JointIndex> {
        self.joints[joint.0].parent
    }

    /// The same skeleton with every offset multiplied by `factor`.
    pub fn scaled(&self, factor: f32) -> Self {
        let joints = self.joints.iter().map(|j| Joint { offset: j.offset * factor, ..j.clone() }).collect();
        Self { joints }
    }

    /// For each joint its mirror image: `Left…` and `Right…` swapped, itself on the midline.
    pub fn mirror_map(&self) -> Vec<JointIndex> {
        let swapped = |name: &str| {
            if let Some(rest) = name.strip_prefix("Left") {
                Some(format!("Right{rest}"))
            } else {
                name.strip_prefix("Right").map(|rest| format!("Left{rest}"))
            }
        };
        (0..self.len())
            .map(|i| swapped(&self.joints[i].name).and_then(|n| self.index_of(&n)).unwrap_or(JointIndex(i)))
            .collect()
    }

    /// The project skeleton: LaFAN1's 22 joints, T-pose facing +Z, for a person of `height_m`.
    ///
    /// Legs and feet have the lengths of the average adult of Drillis and Contini (1966), as reprinted in Winter,
    /// *Biomechanics and Motor Control of Human Movement*, fig. 4.1: hip height 0.530 H, ankle 0.039 H, foot length
    /// 0.152 H. How a leg divides, and trunk, girdles and arms by the length of the leg, are the mean of the skeletons that
    /// mocap comes on (`cargo run -p pomp-formats --example retarget_families` prints them): their joints lie
    /// farther inside the body than the landmarks of anthropometry (shoulder 0.109 H from the middle, upper arm 0.186 H,
    /// forearm 0.146 H), and a skeleton between them all can take the poses of each.
    pub fn humanoid(height_m: f32) -> Self {
        let joints = humanoid::TABLE
            .iter()
            .map(|&(name, parent, [x, y, z])| Joint {
                name: name.to_owned(),
                parent: parent.map(JointIndex),
                offset: Vec3::new(x, y, z) * height_m,
            })
            .collect();
        Self::new(joints).expect("the table lists parents before children, unique names and finite offsets")
    }
}

/// Joint indices of the project skeleton.
pub mod humanoid {
    use super::JointIndex;

    pub(super) type Row = (&'static str, Option<usize>, [f32; 3]);

    /// Name, parent, offset from the parent in fractions of body height.
    pub(super) const TABLE: [Row; 22] = [
        ("Hips", None, [0.0, 0.545, 0.0]),
        ("LeftUpLeg", Some(0), [0.050, -0.015, 0.0]),
        ("LeftLeg", Some(1), [0.0, -0.238, 0.0]),
        ("LeftFoot", Some(2), [0.0, -0.253, 0.0]),
        ("LeftToe", Some(3), [0.0, -0.026, 0.080]),
        ("RightUpLeg", Some(0), [-0.050, -0.015, 0.0]),
        ("RightLeg", Some(5), [0.0, -0.238, 0.0]),
        ("RightFoot", Some(6), [0.0, -0.253, 0.0]),
        ("RightToe", Some(7), [0.0, -0.026, 0.080]),
        ("Spine", Some(0), [0.0, 0.055, 0.0]),
        ("Spine1", Some(9), [0.0, 0.060, 0.0]),
        ("Spine2", Some(10), [0.0, 0.060, 0.0]),
        ("Neck", Some(11), [0.0, 0.132, 0.0]),
        ("Head", Some(12), [0.0, 0.055, 0.010]),
        ("LeftShoulder", Some(11), [0.022, 0.086, 0.0]),
        ("LeftArm", Some(14), [0.074, 0.002, 0.0]),
        ("LeftForeArm", Some(15), [0.162, 0.0, 0.0]),
        ("LeftHand", Some(16), [0.135, 0.0, 0.0]),
        ("RightShoulder", Some(11), [-0.022, 0.086, 0.0]),
        ("RightArm", Some(18), [-0.074, 0.002, 0.0]),
        ("RightForeArm", Some(19), [-0.162, 0.0, 0.0]),
        ("RightHand", Some(20), [-0.135, 0.0, 0.0]),
    ];

    macro_rules! joints {
        ($($name:ident = $index:literal),* $(,)?) => {
            $(
                #[doc = concat!("Joint ", stringify!($index), " of the project skeleton.")]
                pub const $name: JointIndex = JointIndex($index);
            )*
        };
    }
    joints! {
        HIPS = 0, LEFT_UP_LEG = 1, LEFT_LEG = 2, LEFT_FOOT = 3, LEFT_TOE = 4,
        RIGHT_UP_LEG = 5, RIGHT_LEG = 6, RIGHT_FOOT = 7, RIGHT_TOE = 8,
        SPINE = 9, SPINE1 = 10, SPINE2 = 11, NECK = 12, HEAD = 13,
        LEFT_SHOULDER = 14, LEFT_ARM = 15, LEFT_FORE_ARM = 16, LEFT_HAND = 17,
        RIGHT_SHOULDER = 18, RIGHT_ARM = 19, RIGHT_FORE_ARM = 20, RIGHT_HAND = 21,
    }

    /// Height of the ankle joint above the sole, as a fraction of body height (Drillis and Contini 1966).
    pub const ANKLE_HEIGHT: f32 = 0.039;
    /// Height of the toe joint above the sole, as a fraction of body height: ankle height less the toe offset.
    pub const TOE_HEIGHT: f32 = 0.013;
    /// Number of joints, J.
    pub const JOINTS: usize = TABLE.len();

    /// Percent of body mass per joint of the project skeleton.
    ///
    /// Segments after de Leva, "Adjustments to Zatsiorsky-Seluyanov's segment inertia parameters", J.
    /// Biomechanics 29 (1996), table 4, males: head with neck 6.94, upper trunk 15.96, middle trunk 16.33, lower
    /// trunk 11.17, upper arm 2.71, forearm 1.62, hand 0.61, thigh 14.16, shank 4.33, foot 1.37. They add up to
    /// 100. Ours, where the skeleton is finer than the segments: lower trunk to Hips; middle trunk in halves to
    /// Spine and Spine1; upper trunk to Spine2 less 1.2 for each shoulder girdle; a fifth of head with neck to
    /// Neck; a fifth of the foot to Toe.
    pub const MASS_PERCENT: [f32; JOINTS] = {
        let (thigh, shank, foot, toe) = (14.16, 4.33, 1.10, 0.27);
        let (girdle, upper_arm, forearm, hand) = (1.20, 2.71, 1.62, 0.61);
        [
            11.17, thigh, shank, foot, toe, thigh, shank, foot, toe, 8.165, 8.165, 13.56, 1.39, 5.55, girdle,
            upper_arm, forearm, hand, girdle, upper_arm, forearm, hand,
        ]
    };
}

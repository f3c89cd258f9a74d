use crate::PhysicsError;
use pomp_motion::glam::{Vec2, Vec3};
use pomp_motion::{JointIndex, Skeleton, humanoid};

/// Shape of a body in its joint's frame, metres.
#[derive(Clone, Debug, PartialEq)]
pub enum BodyShape {
    /// Capsule between two points.
    Capsule {
        /// Centre of one cap.
        from: Vec3,
        /// Centre of the other.
        to: Vec3,
        /// Its radius.
        radius: f32,
    },
    /// Convex prism: a profile in the plane of y and z, stretched along x.
    Prism {
        /// Corners of the profile, y and z.
        profile: Vec<Vec2>,
        /// Where it begins.
        from_x: f32,
        /// Where it ends.
        to_x: f32,
    },
}

/// Shapes of the bodies of a skeleton, one per joint.
///
/// # Errors
/// A skeleton without the joints of [`Skeleton::humanoid`].
pub fn body_shapes(skeleton: &Skeleton) -> Result<Vec<BodyShape>, PhysicsError> {
    check_skeleton(skeleton)?;
    Ok(bodies(skeleton, 1.0).into_iter().map(|body| body.shape).collect())
}

/// Masses of the bodies of a skeleton, one per joint, kg.
///
/// # Errors
/// A skeleton without the joints of [`Skeleton::humanoid`].
pub fn body_masses(skeleton: &Skeleton, mass_kg: f32) -> Result<Vec<f32>, PhysicsError> {
    check_skeleton(skeleton)?;
    Ok(bodies(skeleton, mass_kg).into_iter().map(|body| body.mass_kg).collect())
}

/// One body of the ragdoll: it hangs on the joint of the same index.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Body {
    pub(crate) shape: BodyShape,
    pub(crate) mass_kg: f32,
}

/// Leg length (hip to ankle) as a fraction of body height in the project skeleton (Drillis and Contini 1966).
const LEG_LENGTH: f32 = 0.491;

/// Body height of a person with this skeleton's legs, metres.
pub fn body_height(skeleton: &Skeleton) -> f32 {
    let length = |joint: JointIndex| skeleton.joints()[joint.0].offset.length();
    let legs = length(humanoid::LEFT_LEG)
        + length(humanoid::LEFT_FOOT)
        + length(humanoid::RIGHT_LEG)
        + length(humanoid::RIGHT_FOOT);
    0.5 * legs / LEG_LENGTH
}

/// Checks names, parents and bone lengths against the project skeleton.
pub(crate) fn check_skeleton(skeleton: &Skeleton) -> Result<(), PhysicsError> {
    let reference = Skeleton::humanoid(1.0);
    let describe = |name: &str, parent: Option<JointIndex>| match parent {
        None => format!("{name} without a parent"),
        Some(p) => format!("{name} under joint {}", p.0),
    };
    for (i, wanted) in reference.joints().iter().enumerate() {
        let found = skeleton.joints().get(i);
        if found.is_none_or(|j| j.name != wanted.name || j.parent != wanted.parent) {
            return Err(PhysicsError::UnsupportedSkeleton {
                joint: i,
                expected: describe(&wanted.name, wanted.parent),
                found: found.map_or_else(|| "no joint".to_owned(), |j| describe(&j.name, j.parent)),
            });
        }
    }
    if skeleton.len() > reference.len() {
        return Err(PhysicsError::UnsupportedSkeleton {
            joint: reference.len(),
            expected: "no further joint".to_owned(),
            found: skeleton.joints()[reference.len()].name.clone(),
        });
    }
    for (i, joint) in skeleton.joints().iter().enumerate().skip(1) {
        let length_m = joint.offset.length();
        if !(0.001..=5.0).contains(&length_m) {
            return Err(PhysicsError::BadBone { joint: i, name: joint.name.clone(), length_m });
        }
    }
    Ok(())
}

/// Bodies of a checked skeleton, one per joint. Widths and radii are fractions of body height (ours, from the
/// breadths of Drillis and Contini 1966 and the volumes that the segment masses imply); lengths are those of
/// the bones.
pub(crate) fn bodies(skeleton: &Skeleton, mass_kg: f32) -> Vec<Body> {
    let height = body_height(skeleton);
    (0..skeleton.len())
        .map(|i| Body {
            shape: shape(skeleton, JointIndex(i), height),
            mass_kg: humanoid::MASS_PERCENT[i] * 0.01 * mass_kg,
        })
        .collect()
}

fn shape(skeleton: &Skeleton, joint: JointIndex, height: f32) -> BodyShape {
    let offset = |j: JointIndex| skeleton.joints()[j.0].offset;
    let along = |child: JointIndex, from: f32, to: f32, radius: f32| BodyShape::Capsule {
        from: offset(child) * from,
        to: offset(child) * to,
        radius: radius * height,
    };
    let across = |center: Vec3, half_length: f32, radius: f32| BodyShape::Capsule {
        from: center - Vec3::X * (half_length * height),
        to: center + Vec3::X * (half_length * height),
        radius: radius * height,
    };
    match joint {
        // The lower trunk's centre of mass is close to the root.
        humanoid::HIPS => across(Vec3::ZERO, 0.045, 0.058),
        humanoid::LEFT_UP_LEG | humanoid::RIGHT_UP_LEG => along(JointIndex(joint.0 + 1), 0.12, 0.88, 0.042),
        humanoid::LEFT_LEG | humanoid::RIGHT_LEG => along(JointIndex(joint.0 + 1), 0.08, 0.85, 0.030),
        humanoid::LEFT_FOOT | humanoid::RIGHT_FOOT => foot(offset(JointIndex(joint.0 + 1))),
        humanoid::LEFT_TOE | humanoid::RIGHT_TOE => toe(offset(joint)),
        humanoid::SPINE => across(offset(humanoid::SPINE1) * 0.5, 0.040, 0.055),
        humanoid::SPINE1 => across(offset(humanoid::SPINE2) * 0.5, 0.040, 0.055),
        humanoid::SPINE2 => across(offset(humanoid::NECK) * 0.45, 0.045, 0.060),
        humanoid::NECK => along(humanoid::HEAD, 0.1, 0.9, 0.030),
        humanoid::HEAD => BodyShape::Capsule {
            from: Vec3::new(0.0, 0.040, 0.010) * height,
            to: Vec3::new(0.0, 0.048, 0.010) * height,
            radius: 0.047 * height,
        },
        humanoid::LEFT_SHOULDER | humanoid::RIGHT_SHOULDER => along(JointIndex(joint.0 + 1), 0.2, 0.8, 0.026),
        humanoid::LEFT_ARM | humanoid::RIGHT_ARM => along(JointIndex(joint.0 + 1), 0.1, 0.9, 0.027),
        humanoid::LEFT_FORE_ARM | humanoid::RIGHT_FORE_ARM => {
            along(JointIndex(joint.0 + 1), 0.08, 0.92, 0.021)
        }
        _ => {
            // A hand is 0.108 H long (Drillis and Contini 1966), in the direction of the forearm.
            let direction = offset(joint).normalize();
            BodyShape::Capsule {
                from: direction * (0.02 * height),
                to: direction * (0.09 * height),
                radius: 0.017 * height,
            }
        }
    }
}

/// Height of the person whose foot this is: the toe joint lies 0.080 H before and 0.026 H below the ankle.
fn foot_scale(toe_offset: Vec3) -> f32 {
    toe_offset.length() / (0.080f32 * 0.080 + 0.026 * 0.026).sqrt()
}

/// From the heel, 0.040 H behind the ankle, to the ball under the toe joint, 0.055 H wide; the sole lies
/// [`humanoid::TOE_HEIGHT`] below the toe joint, hence [`humanoid::ANKLE_HEIGHT`] below the ankle.
///
/// Heel and ball are round, as heel pad and metatarsal heads are: a foot that strikes with the toe up or leaves
/// with the heel up rolls over them. Square ends reach a centimetre farther down and strike early and hard.
fn foot(toe_offset: Vec3) -> BodyShape {
    let scale = foot_scale(toe_offset);
    let sole = toe_offset.y - humanoid::TOE_HEIGHT * scale;
    let (heel, ball) = (-0.040 * scale, toe_offset.z.max(0.02 * scale));
    let (heel_radius, ball_radius) = (HEEL_RADIUS * scale, humanoid::TOE_HEIGHT * scale);
    let mut profile = arc(Vec2::new(sole + heel_radius, heel + heel_radius), -heel_radius);
    profile.extend(arc(Vec2::new(sole + ball_radius, ball), ball_radius));
    let top = sole + 0.045 * scale;
    profile.extend([Vec2::new(top, heel), Vec2::new(top, 0.3 * ball)]);
    let middle = toe_offset.x * 0.5;
    BodyShape::Prism { profile, from_x: middle - 0.0275 * scale, to_x: middle + 0.0275 * scale }
}

/// 0.032 H long: with heel and ball the foot is 0.152 H (Drillis and Contini 1966).
fn toe(toe_offset: Vec3) -> BodyShape {
    let scale = foot_scale(toe_offset);
    let sole = -humanoid::TOE_HEIGHT * scale;
    let tip_radius = 0.008 * scale;
    let mut profile = arc(Vec2::new(sole + tip_radius, 0.032 * scale - tip_radius), tip_radius);
    let top = sole + 0.020 * scale;
    profile.extend([Vec2::new(sole, 0.0), Vec2::new(top, 0.0), Vec2::new(top, 0.020 * scale)]);
    BodyShape::Prism { profile, from_x: -0.0265 * scale, to_x: 0.0265 * scale }
}

/// Radius of the heel, as a fraction of body height.
const HEEL_RADIUS: f32 = 0.020;

/// A quarter of a circle (y, z) in three chords, from its lowest point to the end in the direction of z that the
/// radius's sign gives.
fn arc(center: Vec2, radius: f32) -> Vec<Vec2> {
    (0..=3)
        .map(|k| {
            let (sine, cosine) = (k as f32 * std::f32::consts::FRAC_PI_6).sin_cos();
            center + Vec2::new(-cosine * radius.abs(), sine * radius)
        })
        .collect()
}

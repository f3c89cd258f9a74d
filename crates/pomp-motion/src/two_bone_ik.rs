//! Two-bone inverse kinematics: a leg or an arm that reaches for a place.

use glam::{Quat, Vec3};

/// World rotations of the two bones of a limb that reaches for a target.
#[derive(Clone, Copy, Debug)]
pub struct Limb {
    /// Rotation of the upper bone's joint (hip, shoulder).
    pub upper_rotation: Quat,
    /// Rotation of the lower bone's joint (knee, elbow).
    pub lower_rotation: Quat,
}

/// What the limb looks like before it reaches.
#[derive(Clone, Copy, Debug)]
pub struct LimbShape {
    /// Upper bone in its joint's frame.
    pub upper_bone: Vec3,
    /// Lower bone in its joint's frame.
    pub lower_bone: Vec3,
    /// Direction that the middle joint bends to, in the upper joint's frame (a knee: forward).
    pub bend_local: Vec3,
}

/// How far the middle joint's known anatomical direction counts against the measured one, metres: only an
/// almost straight limb, whose measured direction is noise, follows it.
const BEND_PRIOR_M: f32 = 0.02;

/// Turns the bones by the smallest rotations that bring the end to `target`.
///
/// `middle_hint` is where the source has the middle joint: it chooses the plane. A target beyond reach is
/// approached as far as the limb goes.
pub fn reach(root: Vec3, target: Vec3, middle_hint: Vec3, pose: Limb, shape: &LimbShape) -> Limb {
    let (a, b) = (shape.upper_bone.length(), shape.lower_bone.length());
    let to_target = target - root;
    let upper_now = pose.upper_rotation * shape.upper_bone;
    let direction = to_target.try_normalize().unwrap_or_else(|| upper_now.normalize_or(Vec3::NEG_Y));
    let distance = to_target.length().clamp((a - b).abs() + 1e-4, a + b - 1e-5);
    let across = |v: Vec3| v - direction * v.dot(direction);
    let prior = across(pose.upper_rotation * shape.bend_local).normalize_or_zero() * BEND_PRIOR_M;
    let bend = (across(middle_hint - root) + prior)
        .try_normalize()
        .or_else(|| prior.try_normalize())
        .unwrap_or_else(|| direction.any_orthonormal_vector());
    let along = (a * a - b * b + distance * distance) / (2.0 * distance);
    let middle = root + direction * along + bend * (a * a - along * along).max(0.0).sqrt();
    let end = root + direction * distance;
    let turn = |from: Vec3, to: Vec3| Quat::from_rotation_arc(from.normalize(), to.normalize());
    Limb {
        upper_rotation: (turn(upper_now, middle - root) * pose.upper_rotation).normalize(),
        lower_rotation: (turn(pose.lower_rotation * shape.lower_bone, end - middle) * pose.lower_rotation)
            .normalize(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: LimbShape = LimbShape {
        upper_bone: Vec3::new(0.0, -0.45, 0.0),
        lower_bone: Vec3::new(0.0, -0.4, 0.0),
        bend_local: Vec3::Z,
    };
    const STRAIGHT: Limb = Limb { upper_rotation: Quat::IDENTITY, lower_rotation: Quat::IDENTITY };

    fn joints(root: Vec3, limb: Limb) -> (Vec3, Vec3) {
        let middle = root + limb.upper_rotation * SHAPE.upper_bone;
        (middle, middle + limb.lower_rotation * SHAPE.lower_bone)
    }

    #[test]
    fn a_reachable_target_is_met_and_the_knee_bends_forward() {
        for target in [Vec3::new(0.1, -0.7, 0.2), Vec3::new(-0.2, -0.3, -0.3), Vec3::new(0.0, -0.84, 0.0)] {
            // A hint on the line says nothing about the side.
            let limb = reach(Vec3::ZERO, target, target * 0.5, STRAIGHT, &SHAPE);
            let (knee, ankle) = joints(Vec3::ZERO, limb);
            assert!((ankle - target).length() < 1e-4, "{ankle} is not {target}");
            let line = target.normalize() * knee.dot(target.normalize());
            assert!((knee - line).dot(Vec3::Z) > 0.0, "the knee {knee} is behind the line to {target}");
        }
    }

    #[test]
    fn a_target_out_of_reach_is_approached_with_a_straight_limb() {
        let target = Vec3::new(0.0, -2.0, 0.5);
        let (_, ankle) =
            joints(Vec3::ZERO, reach(Vec3::ZERO, target, Vec3::new(0.0, -0.45, 0.0), STRAIGHT, &SHAPE));
        assert!((ankle.length() - 0.85).abs() < 1e-3);
        assert!(ankle.normalize().dot(target.normalize()) > 0.9999);
    }

    #[test]
    fn a_target_at_the_root_gives_finite_rotations() {
        let limb = reach(Vec3::ZERO, Vec3::ZERO, Vec3::ZERO, STRAIGHT, &SHAPE);
        assert!(limb.upper_rotation.is_finite() && limb.lower_rotation.is_finite());
    }
}

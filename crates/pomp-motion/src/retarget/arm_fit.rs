use glam::{Mat3, Quat, Vec3};

/// Most that an arm turns as a whole, radians.
const MAX_ARM_TURN: f32 = 0.35;
/// Weight of the turn against the distances, m²: keeps a straight arm, whose turn about itself moves nothing,
/// from spinning.
const DAMPING_M2: f32 = 0.003;

/// The rotation about the shoulder that brings elbow and wrist nearest to where they are wanted: damped least
/// squares (Gauss–Newton, two steps). The bend of the elbow stays. All positions relative to the shoulder, metres.
pub fn arm_turn(now: [Vec3; 2], wanted: [Vec3; 2]) -> Quat {
    let mut turn = Vec3::ZERO;
    for _ in 0..2 {
        let rotation = Quat::from_scaled_axis(turn);
        let mut matrix = Mat3::from_diagonal(Vec3::splat(DAMPING_M2));
        let mut right = -turn * DAMPING_M2;
        for (from, to) in now.into_iter().zip(wanted) {
            let at = rotation * from;
            let outer = Mat3::from_cols(at * at.x, at * at.y, at * at.z);
            matrix += Mat3::from_diagonal(Vec3::splat(at.length_squared())) - outer;
            right += at.cross(to);
        }
        turn += matrix.inverse() * right;
    }
    Quat::from_scaled_axis(softly_limited(turn, MAX_ARM_TURN))
}

/// `turn` shortened smoothly so that its length stays below `limit`; short ones hardly change. A hard limit
/// would make joints jerk where it begins.
pub fn softly_limited(turn: Vec3, limit: f32) -> Vec3 {
    let length = turn.length();
    if length < 1e-6 { turn } else { turn * (limit * (length / limit).tanh() / length) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arm_that_is_turned_away_is_turned_back() {
        let now = [Vec3::new(0.05, -0.28, 0.0), Vec3::new(0.1, -0.5, 0.1)];
        let away = Quat::from_scaled_axis(Vec3::new(0.1, -0.02, 0.08));
        let turn = arm_turn(now, now.map(|p| away * p));
        let left = now.map(|p| (turn * p).distance(away * p));
        assert!(left[0] < 0.01 && left[1] < 0.01, "{left:?}");
    }

    #[test]
    fn an_arm_in_its_place_stays_and_a_straight_one_does_not_spin() {
        let now = [Vec3::new(0.0, -0.28, 0.0), Vec3::new(0.0, -0.5, 0.0)];
        assert!(arm_turn(now, now).angle_between(Quat::IDENTITY) < 1e-3);
        let turn = arm_turn(now, now.map(|p| p + Vec3::new(0.03, 0.02, 0.0)));
        assert!(turn.to_scaled_axis().y.abs() < 1e-3, "{turn}");
    }

    #[test]
    fn no_turn_exceeds_the_limit() {
        let now = [Vec3::new(0.0, -0.28, 0.0), Vec3::new(0.0, -0.5, 0.0)];
        let turn = arm_turn(now, now.map(|p| Quat::from_rotation_x(1.5) * p));
        assert!(turn.angle_between(Quat::IDENTITY) <= MAX_ARM_TURN + 1e-3);
    }
}

//! How high the pelvis goes when the feet have been carried to the ground.

/// Time in which the pelvis follows the feet by default, seconds: a quarter of a step.
pub(super) const FOLLOWS_S: f32 = 0.12;
/// Time in which it comes down for a leg that does not reach, and goes up again, seconds. In a quarter of it the body drops off
/// the first tread of a way down, and the foot slips off the next.
const REACHES_S: f32 = 0.2;
/// Farthest that it comes down for a leg, metres.
const LOWEST_M: f32 = 0.25;

/// Height of the pelvis over that of the kinematic module's pose.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pelvis {
    raised_m: f32,
    rate_mps: f32,
    dropped_m: f32,
}

impl Pelvis {
    /// Where it is, metres.
    pub fn height_m(&self) -> f32 {
        self.raised_m - self.dropped_m
    }

    /// Moves on in `follows_s` towards `feet_m`, by how much the feet are higher on the whole; `missing_m` says how much lower it has to
    /// be, when raised by its argument, for both legs to reach.
    pub fn advance(&mut self, feet_m: f32, follows_s: f32, missing_m: impl Fn(f32) -> f32, dt_s: f32) {
        // Critically damped, implicit: stable for any step.
        let pull = 2.0 / follows_s;
        let slowed = self.rate_mps + dt_s * pull * pull * (feet_m - self.raised_m);
        self.rate_mps = slowed / (1.0 + dt_s * pull * (2.0 + dt_s * pull));
        self.raised_m += dt_s * self.rate_mps;
        let wanted = missing_m(self.raised_m).clamp(0.0, LOWEST_M);
        self.dropped_m += (wanted - self.dropped_m) * (1.0 - (-dt_s / REACHES_S).exp());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pelvis_follows_the_feet_without_overshoot_and_comes_down_for_a_short_leg() {
        let mut pelvis = Pelvis::default();
        let mut highest = 0.0f32;
        for _ in 0..120 {
            pelvis.advance(0.2, FOLLOWS_S, |_| 0.0, 1.0 / 60.0);
            highest = highest.max(pelvis.height_m());
        }
        assert!(highest < 0.201 && pelvis.height_m() > 0.199, "{highest}");
        let mut slow = Pelvis::default();
        (0..10).for_each(|_| slow.advance(0.2, 0.5, |_| 0.0, 1.0 / 60.0));
        assert!(slow.height_m() < 0.05, "{}", slow.height_m());
        for _ in 0..80 {
            pelvis.advance(0.2, FOLLOWS_S, |raised| raised - 0.1, 1.0 / 60.0);
        }
        assert!((pelvis.height_m() - 0.1).abs() < 1e-3, "{}", pelvis.height_m());
    }
}

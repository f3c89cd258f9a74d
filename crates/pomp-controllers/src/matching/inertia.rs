//! Offsets that decay like a critically damped spring.

use glam::Vec3;

/// Time in which an offset halves, about, seconds. Shorter snaps, longer slides.
const HALF_LIFE_S: f32 = 0.1;

/// What is left of the difference between what was shown and what the new clip shows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Offset {
    pub value: Vec3,
    pub rate: Vec3,
}

impl Offset {
    /// Takes over a seam: `value` and `rate` are those of the old motion less those of the new one.
    pub fn add(&mut self, value: Vec3, rate: Vec3) {
        self.value += value;
        self.rate += rate;
    }

    /// Moves on by `dt` seconds: the exact solution of x'' = −2 ω x' − ω² x.
    pub fn decay(&mut self, dt: f32) {
        // (1 + ω t) e^(−ω t) is one half at ω t = 1.678.
        let omega = 1.678 / HALF_LIFE_S;
        let slope = self.rate + self.value * omega;
        let left = (-omega * dt).exp();
        self.rate = (self.rate - slope * (omega * dt)) * left;
        self.value = (self.value + slope * dt) * left;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offset_at_rest_halves_in_its_half_life() {
        let mut offset = Offset { value: Vec3::X, rate: Vec3::ZERO };
        (0..60).for_each(|_| offset.decay(HALF_LIFE_S / 60.0));
        assert!((offset.value.x - 0.5).abs() < 1e-3, "{}", offset.value.x);
    }

    #[test]
    fn small_steps_and_one_large_step_agree() {
        let start = Offset { value: Vec3::new(0.2, -1.0, 0.0), rate: Vec3::new(3.0, 0.0, -2.0) };
        let (mut small, mut large) = (start, start);
        (0..10).for_each(|_| small.decay(0.01));
        large.decay(0.1);
        assert!(small.value.distance(large.value) < 1e-5 && small.rate.distance(large.rate) < 1e-4);
    }
}

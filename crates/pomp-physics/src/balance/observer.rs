//! Height of the target's centre of mass as a walk has it: a level that rises or sinks slowly, and one wave a step.
//!
//! A target trembles, and its centre of mass is thrown up in the frame in which a foot comes to stand. A body that is led by it
//! passes all of that on to the ground. What it is led by here is observed from the target, and follows it without delay: the phase
//! of the stride from the distance of the feet, by a phase-locked loop, and the first wave at twice that phase. Until that is known,
//! at the start of a walk and after a stumble, the wave would be out of step with the target's legs: the worse it foretells the height,
//! the more the body is led by the target itself.

use crate::DynamicModule;
use pomp_motion::GlobalPose;
use pomp_motion::glam::Vec3;
use pomp_motion::humanoid::{LEFT_FOOT, RIGHT_FOOT};
use serde::{Deserialize, Serialize};

/// Farther from what is observed than this the height has jumped, and is observed anew, metres.
const JUMP_M: f32 = 0.2;
/// Angular velocity of the stride to begin with, and its bounds, rad/s.
const STRIDE_RAD_S: f32 = 5.6;
const STRIDE_BOUNDS_RAD_S: (f32, f32) = (3.5, 10.0);
/// Half of a step to begin with, and at least: feet that are closer do not walk, metres.
const REACH_M: f32 = 0.3;
const LEAST_REACH_M: f32 = 0.1;
/// How fast the phase follows the feet, and how fast its rate and the size of the steps do, 1/s.
const PHASE_RATE: f32 = 3.0;
const REACH_RATE: f32 = 1.5;
/// How fast the wave is learned, 1/s, and its largest size, metres.
const WAVE_RATE: f32 = 1.5;
const LARGEST_WAVE_M: f32 = 0.025;
/// Root mean square of what the foretold height lacks: up to the first the wave alone leads, from the second on the target, metres.
const LACKING_M: (f32, f32) = (0.006, 0.01);
/// What it is to begin with, and the time over which it is averaged, seconds.
const LACKING_AT_FIRST_M: f32 = 0.02;
const LACKING_OVER_S: f32 = 0.7;

/// What is known of the height.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct HeightWave {
    /// Phase of the stride, radians: 0 where the left foot is farthest ahead. Its rate, rad/s.
    phase: f32,
    rate: f32,
    /// Half of the way between the feet where they are farthest apart, metres.
    reach_m: f32,
    /// Height without the wave, metres, and its rate, m/s.
    level: f32,
    climb: f32,
    /// The wave: its cosine and sine at twice the phase, metres.
    wave: [f32; 2],
    /// Mean square of what the foretold height lacks, m².
    lacking_m2: f32,
}

/// Height of a centre of mass, m, with its rate, m/s, and its acceleration, m/s².
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Height {
    pub(crate) value: f32,
    pub(crate) rate: f32,
    pub(crate) acceleration: f32,
}

impl HeightWave {
    fn at_level(level: f32) -> Self {
        Self {
            phase: 0.0,
            rate: STRIDE_RAD_S,
            reach_m: REACH_M,
            level,
            climb: 0.0,
            wave: [0.0; 2],
            lacking_m2: LACKING_AT_FIRST_M * LACKING_AT_FIRST_M,
        }
    }

    /// How far the wave leads the body, 0 to 1; the target leads the rest.
    pub(crate) fn leads(&self) -> f32 {
        let (known, unknown) = LACKING_M;
        ((unknown - self.lacking_m2.sqrt()) / (unknown - known)).clamp(0.0, 1.0)
    }

    /// What it foretells for a time after the last observation, seconds.
    pub(crate) fn after(self, time_s: f32) -> Height {
        let (sine, cosine) = (2.0 * (self.phase + self.rate * time_s)).sin_cos();
        let ([a, b], rate) = (self.wave, 2.0 * self.rate);
        Height {
            value: self.level + self.climb * time_s + a * cosine + b * sine,
            rate: self.climb + rate * (b * cosine - a * sine),
            acceleration: -rate * rate * (a * cosine + b * sine),
        }
    }

    /// The same a time `dt_s` later, when the left foot is `apart` metres ahead of the right one and the height is `measured`. The level
    /// follows at `level_rad_s`, critically damped.
    fn observed(mut self, apart: f32, measured: f32, level_rad_s: f32, dt_s: f32) -> Self {
        let lacking = measured - self.after(dt_s).value;
        self.lacking_m2 += dt_s / LACKING_OVER_S * (lacking * lacking - self.lacking_m2);
        self.phase = (self.phase + self.rate * dt_s).rem_euclid(std::f32::consts::TAU);
        let (sine, cosine) = self.phase.sin_cos();
        let reach = self.reach_m.max(LEAST_REACH_M);
        let error = apart - self.reach_m * cosine;
        let ahead = (-2.0 * error * sine / reach).clamp(-1.0, 1.0);
        self.reach_m = (self.reach_m + 2.0 * REACH_RATE * dt_s * error * cosine).max(0.0);
        // Feet that stand side by side tell no phase.
        let told = (self.reach_m / LEAST_REACH_M).min(1.0);
        self.phase += PHASE_RATE * dt_s * ahead * told;
        let (slowest, fastest) = STRIDE_BOUNDS_RAD_S;
        self.rate =
            (self.rate + 0.25 * PHASE_RATE * PHASE_RATE * dt_s * ahead * told).clamp(slowest, fastest);

        self.level += self.climb * dt_s + 2.0 * level_rad_s * dt_s * lacking;
        self.climb += level_rad_s * level_rad_s * dt_s * lacking;
        let (sine, cosine) = (2.0 * self.phase).sin_cos();
        let [a, b] = &mut self.wave;
        *a += 2.0 * WAVE_RATE * dt_s * lacking * cosine;
        *b += 2.0 * WAVE_RATE * dt_s * lacking * sine;
        let size = a.hypot(*b);
        if size > LARGEST_WAVE_M {
            self.wave = self.wave.map(|part| part * LARGEST_WAVE_M / size);
        }
        self
    }
}

impl DynamicModule {
    /// What is known of the height of the target's centre of mass at the start of a frame, at whose end the target is `to`, and its
    /// centre of mass at the height `measured`.
    pub(super) fn observe_height(&mut self, to: &GlobalPose, measured: f32) -> HeightWave {
        let (rad_s, dt_s) = (self.config.balance.level_rad_s, self.frame_s());
        let ahead = to.rotations[0] * Vec3::Z;
        let ahead = Vec3::new(ahead.x, 0.0, ahead.z).normalize_or(Vec3::Z);
        let apart = (to.positions[LEFT_FOOT.0] - to.positions[RIGHT_FOOT.0]).dot(ahead);
        let known = self.controls.height.unwrap_or_else(|| HeightWave::at_level(measured));
        let jumped = (known.after(dt_s).value - measured).abs() > JUMP_M;
        let known = if jumped { HeightWave::at_level(measured) } else { known };
        self.controls.height = Some(known.observed(apart, measured, rad_s, dt_s));
        known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wave_of_a_walk_is_found_on_a_slope_through_tremble_and_without_delay() {
        let (dt_s, stride, climb, size) = (1.0 / 60.0, 5.2f32, 0.15f32, 0.017f32);
        let height = |t: f32| 0.9 + climb * t + size * (2.0 * stride * t - 2.5).cos();
        let mut known = HeightWave::at_level(0.9);
        let (mut worst, mut worst_acceleration) = (0.0f32, 0.0f32);
        for frame in 1..900 {
            let t = frame as f32 * dt_s;
            if frame > 400 {
                let wave = -4.0 * stride * stride * size * (2.0 * stride * (t - dt_s) - 2.5).cos();
                worst = worst.max((known.after(0.0).value - height(t - dt_s)).abs());
                worst_acceleration = worst_acceleration.max((known.after(0.0).acceleration - wave).abs());
            }
            let tremble = if frame % 2 == 0 { 0.002 } else { -0.002 };
            let apart = 0.32 * (stride * t + 0.4).cos() + 0.03 * (3.0 * stride * t).cos();
            known = known.observed(apart, height(t) + tremble, 4.0, dt_s);
        }
        println!("height within {worst:.4} m, acceleration within {worst_acceleration:.2} m/s²");
        assert!(worst < 0.004 && worst_acceleration < 0.5);
    }

    #[test]
    fn a_wave_leads_once_it_foretells_the_height_and_not_while_it_is_out_of_step() {
        let (dt_s, stride, size) = (1.0 / 60.0, 5.2f32, 0.02f32);
        let mut known = HeightWave::at_level(0.9);
        assert_eq!(known.leads(), 0.0);
        let mut led = vec![];
        for frame in 1..900 {
            // After ten seconds the stride jumps by a quarter, which turns the wave upside down.
            let phase = stride * frame as f32 * dt_s + if frame > 600 { 1.57 } else { 0.0 };
            known = known.observed(0.32 * phase.cos(), 0.9 - size * (2.0 * phase).cos(), 4.0, dt_s);
            led.push(known.leads());
        }
        println!("{:?}", led.iter().step_by(30).collect::<Vec<_>>());
        assert!(led[30] < 0.2 && led[400..600].iter().all(|led| *led == 1.0));
        assert!(led[600..700].iter().any(|led| *led < 0.2) && led[898] == 1.0);
    }

    #[test]
    fn a_body_that_stands_has_no_wave() {
        let mut known = HeightWave { wave: [0.02, 0.0], ..HeightWave::at_level(0.95) };
        for _ in 0..300 {
            known = known.observed(0.02, 0.93, 4.0, 1.0 / 60.0);
        }
        let Height { value, rate, acceleration } = known.after(0.0);
        assert!((value - 0.93).abs() < 1e-3 && rate.abs() < 5e-3 && acceleration.abs() < 0.05);
    }
}

//! Smoothing without delay.

use nalgebra::{DMatrix, DVector};
use pomp_motion::glam::DVec3;

/// Frames by which a path is continued at either end.
const PADDING: usize = 30;
/// Frames from which the velocity at an end is found.
pub(super) const END_FRAMES: usize = 9;

/// Butterworth filter of second order, forwards and backwards: no delay, −6 dB at `bandwidth_hz`.
///
/// Gives the frames −3 to T + 2, so that differences can be taken at the ends. There a path continues with its
/// velocity, `shifts` (per frame, towards the middle) added to it, and its accelerations mirrored in time: a point
/// reflection would make every end weightless or at rest.
fn low_pass_beyond(values: &[DVec3], shifts: [DVec3; 2], bandwidth_hz: f64, rate_hz: f64) -> Vec<DVec3> {
    let count = values.len();
    let at = |frame: i64| values[(frame.max(0) as usize).min(count - 1)];
    if count < 4 {
        return (-(BEYOND as i64)..(count + BEYOND) as i64).map(at).collect();
    }
    let padding = PADDING.min(count - 1);
    let reversed: Vec<DVec3> = values.iter().rev().copied().collect();
    let (first, last) = (end_velocity(values) + shifts[0], end_velocity(&reversed) + shifts[1]);
    let beyond = |values: &[DVec3], velocity: DVec3, k: usize| values[k] - velocity * (2.0 * k as f64);
    let mut padded: Vec<DVec3> = (1..=padding).rev().map(|k| beyond(values, first, k)).collect();
    padded.extend_from_slice(values);
    padded.extend((1..=padding).map(|k| beyond(&reversed, last, k)));
    one_way(&mut padded, bandwidth_hz, rate_hz);
    padded.reverse();
    one_way(&mut padded, bandwidth_hz, rate_hz);
    padded.reverse();
    let at = |frame: i64| padded[(padding as i64 + frame).clamp(0, padded.len() as i64 - 1) as usize];
    (-(BEYOND as i64)..(count + BEYOND) as i64).map(at).collect()
}

/// Frames beyond either end that [`low_pass_beyond`] gives.
const BEYOND: usize = 3;

/// A path without its fast parts, and its velocity.
pub(crate) struct Smoothed {
    /// At the frames 0 to T − 1.
    pub(crate) position: Vec<DVec3>,
    /// At the frames −1 to T − 1, per second, by differences of fourth order.
    pub(super) velocity: Vec<DVec3>,
}

/// Smooths a path without delay.
pub(crate) fn smoothed(values: &[DVec3], bandwidth_hz: f64, rate_hz: f64) -> Smoothed {
    smoothed_between(values, [DVec3::ZERO; 2], bandwidth_hz, rate_hz)
}

/// As [`smoothed`], with velocities that are added at the first end and taken away at the last one, per second.
pub(super) fn smoothed_between(
    values: &[DVec3],
    shifts: [DVec3; 2],
    bandwidth_hz: f64,
    rate_hz: f64,
) -> Smoothed {
    let wide = low_pass_beyond(values, shifts.map(|shift| shift / rate_hz), bandwidth_hz, rate_hz);
    let velocity = (BEYOND - 1..BEYOND + values.len())
        .map(|i| ((wide[i + 1] - wide[i - 1]) * 8.0 - (wide[i + 2] - wide[i - 2])) * (rate_hz / 12.0))
        .collect();
    Smoothed { position: wide[BEYOND..BEYOND + values.len()].to_vec(), velocity }
}

/// Velocity at the first value, per frame: that of the cubic nearest to the first values, and of the parabola or the line
/// through fewer than four.
pub(super) fn end_velocity(values: &[DVec3]) -> DVec3 {
    let count = END_FRAMES.min(values.len());
    let terms = count.min(4);
    if terms < 2 {
        return DVec3::ZERO;
    }
    // Rows of 1, t, t², t³: the weights of the slope at 0 are the second column of P (PᵀP)⁻¹.
    let powers = DMatrix::from_fn(count, terms, |t, power| (t as f64).powi(power as i32));
    let slope = DVector::from_fn(terms, |power, _| f64::from(u8::from(power == 1)));
    let normal = powers.tr_mul(&powers).cholesky().expect("powers of different numbers are independent");
    let weights = powers * normal.solve(&slope);
    values.iter().zip(weights.iter()).map(|(value, weight)| *value * *weight).sum()
}

fn one_way(values: &mut [DVec3], bandwidth_hz: f64, rate_hz: f64) {
    let w = (std::f64::consts::PI * bandwidth_hz / rate_hz).tan();
    let scale = 1.0 / (1.0 + std::f64::consts::SQRT_2 * w + w * w);
    let b = w * w * scale;
    let a1 = 2.0 * (w * w - 1.0) * scale;
    let a2 = (1.0 - std::f64::consts::SQRT_2 * w + w * w) * scale;
    let (mut x1, mut x2) = (values[0], values[0]);
    let (mut y1, mut y2) = (values[0], values[0]);
    for value in values {
        let x = *value;
        let y = (x + x1 * 2.0 + x2) * b - y1 * a1 - y2 * a2;
        (x2, x1, y2, y1) = (x1, x, y1, y);
        *value = y;
    }
}

/// The smoothest series near `wanted`: least squares with a penalty on second differences that passes changes slower
/// than `bandwidth` (cycles per frame). `weight` is the weight of each value; all are positive.
///
/// Its elimination is written out because nalgebra has none for banded systems: a dense one would take time with the cube
/// of the number of frames.
pub(crate) fn smoothest(wanted: &[f64], weight: &[f64], bandwidth: f64) -> Vec<f64> {
    let count = wanted.len();
    if count < 3 {
        return wanted.to_vec();
    }
    let penalty = (2.0 * (std::f64::consts::PI * bandwidth).sin()).powi(-4);
    // Normal equations: symmetric, five diagonals; solved by LDLᵀ.
    let mut diagonals = [weight.to_vec(), vec![0.0; count], vec![0.0; count]];
    for i in 0..count - 2 {
        let row = [1.0, -2.0, 1.0];
        for a in 0..3 {
            for b in a..3 {
                diagonals[b - a][i + a] += penalty * row[a] * row[b];
            }
        }
    }
    let [mut d, mut e, mut f] = diagonals;
    let mut x: Vec<f64> = wanted.iter().zip(weight).map(|(s, w)| s * w).collect();
    for i in 0..count {
        let (near, far) = (e[i] / d[i], f[i] / d[i]);
        if i + 1 < count {
            d[i + 1] -= near * e[i];
            e[i + 1] -= near * f[i];
            x[i + 1] -= near * x[i];
        }
        if i + 2 < count {
            d[i + 2] -= far * f[i];
            x[i + 2] -= far * x[i];
        }
        (e[i], f[i]) = (near, far);
    }
    for i in (0..count).rev() {
        let mut value = x[i] / d[i];
        if i + 1 < count {
            value -= e[i] * x[i + 1];
        }
        if i + 2 < count {
            value -= f[i] * x[i + 2];
        }
        x[i] = value;
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_oscillation_passes_and_a_fast_one_does_not() {
        let wave = |hz: f64| -> Vec<DVec3> {
            (0..240).map(|t| DVec3::Y * (std::f64::consts::TAU * hz * f64::from(t) / 60.0).sin()).collect()
        };
        let peak = |values: &[DVec3]| values[60..180].iter().map(|v| v.y.abs()).fold(0.0, f64::max);
        assert!((peak(&smoothed(&wave(1.0), 10.0, 60.0).position) - 1.0).abs() < 0.01);
        assert!(peak(&smoothed(&wave(28.0), 10.0, 60.0).position) < 0.01);
    }

    #[test]
    fn constant_acceleration_stays_constant_to_the_ends() {
        let fall: Vec<DVec3> = (0..40)
            .map(|t| {
                let t = f64::from(t) / 60.0;
                DVec3::new(2.0 * t, 1.0 + 3.0 * t - 4.905 * t * t, 0.0)
            })
            .collect();
        let velocity = smoothed(&fall, 6.0, 60.0).velocity;
        assert_eq!(velocity.len(), 41);
        for pair in velocity.windows(2) {
            let acceleration = (pair[1] - pair[0]) * 60.0;
            assert!((acceleration - DVec3::new(0.0, -9.81, 0.0)).length() < 0.05, "{acceleration}");
        }
    }

    #[test]
    fn the_velocity_at_an_end_is_that_of_the_polynomial_through_the_values() {
        let of = |count: usize, path: fn(f64) -> f64| {
            let values: Vec<DVec3> = (0..count).map(|t| DVec3::Y * path(t as f64)).collect();
            end_velocity(&values).y
        };
        assert!((of(20, |t| 1.0 + 2.0 * t - 0.3 * t * t + 0.01 * t * t * t) - 2.0).abs() < 1e-9);
        assert!((of(3, |t| 2.0 * t - 0.3 * t * t) - 2.0).abs() < 1e-9);
        assert!((of(2, |t| 2.0 * t) - 2.0).abs() < 1e-9);
        assert_eq!((of(1, |_| 3.0), of(0, |_| 3.0)), (0.0, 0.0));
    }

    #[test]
    fn the_smoothest_series_keeps_what_weighs_and_rounds_what_does_not() {
        let wanted: Vec<f64> = (0..60).map(|t| f64::from(u8::from(t >= 30))).collect();
        let weight: Vec<f64> = (0..60).map(|t| if (26..34).contains(&t) { 1e-3 } else { 1e3 }).collect();
        let smooth = smoothest(&wanted, &weight, 4.0 / 60.0);
        assert!((smooth[10], smooth[50]).0.abs() < 1e-3 && (smooth[50] - 1.0).abs() < 1e-3);
        let steepest = smooth.windows(2).map(|w| w[1] - w[0]).fold(0.0, f64::max);
        assert!(steepest > 0.1 && steepest < 0.3, "{steepest}");
        // The control: followed to the frame, it jumps.
        let followed = smoothest(&wanted, &vec![1e6; 60], 4.0 / 60.0);
        assert!(followed[30] - followed[29] > 0.9);
    }
}

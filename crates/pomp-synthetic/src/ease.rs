//! Scalar curves in time: ramps, Hermite pieces, smoothing.

use std::ops::{Add, Mul};

/// Integral of [`smoothstep`](pomp_motion::smoothstep) from 0 to `u`.
pub(crate) fn smoothstep_integral(u: f32) -> f32 {
    if u <= 0.0 {
        0.0
    } else if u >= 1.0 {
        u - 0.5
    } else {
        u * u * u * (1.0 - 0.5 * u)
    }
}

/// Cubic through values `a`, `b` with slopes `da`, `db` per unit of `u` at u = 0 and 1.
pub(crate) fn hermite<T>(a: T, da: T, b: T, db: T, u: f32) -> T
where
    T: Add<Output = T> + Mul<f32, Output = T>,
{
    let (u2, u3) = (u * u, u * u * u);
    a * (2.0 * u3 - 3.0 * u2 + 1.0) + da * (u3 - 2.0 * u2 + u) + b * (3.0 * u2 - 2.0 * u3) + db * (u3 - u2)
}

/// Position, velocity and acceleration at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Knot {
    pub(crate) time: f32,
    pub(crate) value: f32,
    pub(crate) velocity: f32,
    pub(crate) acceleration: f32,
}

/// Quintic pieces through the knots, which lie in order of time; constant before the first and after the last.
pub(crate) fn quintic(knots: &[Knot], time: f32) -> f32 {
    let next = knots.partition_point(|k| k.time <= time);
    if next == 0 {
        return knots[0].value;
    }
    let a = knots[next - 1];
    let Some(b) = knots.get(next) else { return a.value };
    let h = b.time - a.time;
    let u = (time - a.time) / h;
    let (v0, v1) = (a.velocity * h, b.velocity * h);
    let (a0, a1) = (a.acceleration * h * h, b.acceleration * h * h);
    let d = b.value - a.value;
    let c3 = 10.0 * d - 6.0 * v0 - 4.0 * v1 - 1.5 * a0 + 0.5 * a1;
    let c4 = -15.0 * d + 8.0 * v0 + 7.0 * v1 + 1.5 * a0 - a1;
    let c5 = 6.0 * d - 3.0 * v0 - 3.0 * v1 - 0.5 * a0 + 0.5 * a1;
    a.value + u * (v0 + u * (0.5 * a0 + u * (c3 + u * (c4 + u * c5))))
}

/// `values` smoothed with a raised cosine of ±`radius` frames; ends are held.
pub(crate) fn smoothed(values: &[f32], radius: usize) -> Vec<f32> {
    let weight = |k: isize| 1.0 + (std::f32::consts::PI * k as f32 / (radius + 1) as f32).cos();
    let r = radius as isize;
    let total: f32 = (-r..=r).map(weight).sum();
    let last = values.len() as isize - 1;
    (0..=last)
        .map(|i| (-r..=r).map(|k| weight(k) * values[(i + k).clamp(0, last) as usize]).sum::<f32>() / total)
        .collect()
}

/// Smooth curve that is nowhere below `values`: the running maximum over ±`radius` frames, smoothed over the same.
///
/// Every term of the average at frame i is a maximum over a window that contains i.
pub(crate) fn smooth_above(values: &[f32], radius: usize) -> Vec<f32> {
    let highest: Vec<f32> = (0..values.len())
        .map(|i| {
            let window = &values[i.saturating_sub(radius)..(i + radius + 1).min(values.len())];
            window.iter().copied().fold(f32::MIN, f32::max)
        })
        .collect();
    smoothed(&highest, radius)
}

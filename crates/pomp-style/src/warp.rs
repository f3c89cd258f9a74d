//! Time warps as logarithms of their steps.
//!
//! A warp w(t) says at which frame of a cycle frame t of the reference is; w(0) = 0. h(t) = ln(w(t) − w(t − 1)) may take any value, and
//! what it stands for is strictly rising: linear operations on h, such as principal components, never turn time back.

/// The logarithms of the steps of a strictly rising warp, one fewer than its frames.
///
/// # Panics
/// When a step is not positive.
pub fn log_steps(warp: &[f64]) -> Vec<f64> {
    warp.windows(2)
        .map(|pair| {
            let step = pair[1] - pair[0];
            assert!(step > 0.0, "a warp rises strictly");
            step.ln()
        })
        .collect()
}

/// Smallest and largest logarithm of a step that [`warp_of`] takes: beyond, sums of steps lose the smaller ones.
const LOG_STEP: [f64; 2] = [-12.0, 6.0];

/// The warp whose steps have these logarithms: the inverse of [`log_steps`].
pub fn warp_of(log_steps: &[f64]) -> Vec<f64> {
    let mut warp = Vec::with_capacity(log_steps.len() + 1);
    let mut at = 0.0;
    warp.push(at);
    for &step in log_steps {
        at += step.clamp(LOG_STEP[0], LOG_STEP[1]).exp();
        warp.push(at);
    }
    warp
}

/// The steps smoothed by a Gaussian of this standard deviation (in steps) and none below `least`, with the same sum.
pub(crate) fn smoothed(steps: &[f64], sigma: f64, least: f64) -> Vec<f64> {
    let total: f64 = steps.iter().sum();
    let reach = (3.0 * sigma).ceil() as usize;
    let mut smooth: Vec<f64> = (0..steps.len())
        .map(|i| {
            let (mut sum, mut weights) = (0.0, 0.0);
            for (j, step) in steps.iter().enumerate().take(i + reach + 1).skip(i.saturating_sub(reach)) {
                let distance = i.abs_diff(j) as f64;
                let weight = if sigma > 0.0 { (-0.5 * (distance / sigma).powi(2)).exp() } else { 1.0 };
                sum += weight * step;
                weights += weight;
            }
            (sum / weights).max(least)
        })
        .collect();
    let scale = total / smooth.iter().sum::<f64>();
    for step in &mut smooth {
        *step *= scale;
    }
    smooth
}

/// The time t at which a strictly rising warp reaches `at`, within its ends.
pub(crate) fn time_at(warp: &[f64], at: f64) -> f64 {
    let last = warp.len() - 1;
    let after = warp.partition_point(|&w| w <= at).clamp(1, last);
    let (low, high) = (warp[after - 1], warp[after]);
    ((after - 1) as f64 + (at - low) / (high - low)).clamp(0.0, last as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pomp_motion::random::Draws;

    #[test]
    fn a_warp_and_its_logarithms_are_each_others_inverse() {
        let warp = [0.0, 0.5, 2.0, 2.001, 4.0];
        let back = warp_of(&log_steps(&warp));
        assert!(warp.iter().zip(&back).all(|(a, b)| (a - b).abs() < 1e-12), "{back:?}");
    }

    #[test]
    fn any_numbers_make_a_strictly_rising_warp() {
        let mut draws = Draws::new(7, 0);
        for _ in 0..1000 {
            let steps: Vec<f64> = (0..70).map(|_| f64::from(draws.within([-30.0, 30.0]))).collect();
            assert!(warp_of(&steps).windows(2).all(|pair| pair[1] > pair[0]));
        }
    }

    #[test]
    fn smoothing_keeps_the_length_and_leaves_no_step_of_no_length() {
        let steps = [0.0, 0.0, 3.0, 0.0, 1.0, 1.0, 0.0];
        for sigma in [0.0, 1.0, 2.0] {
            let smooth = smoothed(&steps, sigma, 1e-3);
            assert!((smooth.iter().sum::<f64>() - 5.0).abs() < 1e-12);
            assert!(smooth.iter().all(|&step| step > 9e-4), "{smooth:?}");
        }
    }

    #[test]
    fn the_time_of_a_frame_is_found_between_the_frames_of_the_reference() {
        let warp = [0.0, 2.0, 3.0];
        assert_eq!([0.0, 1.0, 2.0, 2.5, 3.0].map(|at| time_at(&warp, at)), [0.0, 0.5, 1.0, 1.5, 2.0]);
    }
}

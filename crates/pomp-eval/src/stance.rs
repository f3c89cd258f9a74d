//! Whole stances, and the force of the ground in one.

use crate::statistics::correlation;
use std::ops::{Range, RangeInclusive};

/// Points that a stance is resampled to.
pub const STANCE_POINTS: usize = 64;

/// A foot that bears more stands, body weights.
const LOADED_BW: f64 = 0.05;
/// A shorter gap in the load does not end a stance, seconds.
const GAP_S: f64 = 0.05;
/// How long a stance of walking lasts, seconds.
const LENGTH_S: RangeInclusive<f64> = 0.35..=1.0;
/// Time over which the load rises for the loading rate, seconds.
const RISE_S: f64 = 0.05;

/// The stances of a foot under this vertical force (body weights, one per frame) that begin and end within it and last 0.35 to
/// 1.0 s. A foot stands while it bears more than 0.05 body weights; gaps of less than 0.05 s do not end a stance.
pub fn whole_stances(vertical_bw: &[f64], rate_hz: f64) -> Vec<Range<usize>> {
    let gap = GAP_S * rate_hz;
    let mut loaded: Vec<Range<usize>> = Vec::new();
    for (frame, force) in vertical_bw.iter().enumerate() {
        if *force <= LOADED_BW {
            continue;
        }
        match loaded.last_mut() {
            Some(last) if ((frame - last.end) as f64) < gap => last.end = frame + 1,
            _ => loaded.push(frame..frame + 1),
        }
    }
    let whole = |stance: &Range<usize>| {
        stance.start > 0
            && stance.end < vertical_bw.len()
            && LENGTH_S.contains(&(stance.len() as f64 / rate_hz))
    };
    loaded.retain(whole);
    loaded
}

/// The force of the ground on a foot in one stance.
#[derive(Clone, Debug, PartialEq)]
pub struct StanceForces {
    /// Vertical force over its mean, at [`STANCE_POINTS`] points from the first frame to the last.
    pub vertical: Vec<f64>,
    /// Force ahead over the same mean, at the same points.
    pub forward: Vec<f64>,
    /// Largest vertical force, body weights.
    pub vertical_peak_bw: f64,
    /// Steepest rise of the vertical force over 0.05 s that begins before the middle of the stance, body weights per second.
    pub loading_rate_bw_s: f64,
    /// Largest force back, body weights.
    pub braking_peak_bw: f64,
    /// Largest force ahead, body weights.
    pub propulsion_peak_bw: f64,
}

impl StanceForces {
    /// Those of the frames `stance` of a foot, both forces in body weights.
    ///
    /// # Panics
    /// When `stance` is empty or leaves the forces.
    pub fn new(vertical_bw: &[f64], forward_bw: &[f64], rate_hz: f64, stance: Range<usize>) -> Self {
        let (vertical, forward) = (&vertical_bw[stance.clone()], &forward_bw[stance.clone()]);
        let resampled = resample(vertical);
        let mean = resampled.iter().sum::<f64>() / STANCE_POINTS as f64;
        let over_mean = |points: Vec<f64>| points.into_iter().map(|force| force / mean).collect();
        let before = (RISE_S * rate_hz).ceil() as usize;
        let first = stance.start.saturating_sub(before);
        let rises = (first..=stance.start.midpoint(stance.end - 1)).map(|frame| {
            let end = at(vertical_bw, frame as f64 + RISE_S * rate_hz);
            (end - vertical_bw[frame]) / RISE_S
        });
        Self {
            forward: over_mean(resample(forward)),
            vertical: over_mean(resampled),
            vertical_peak_bw: vertical.iter().copied().fold(0.0, f64::max),
            loading_rate_bw_s: rises.fold(0.0, f64::max),
            braking_peak_bw: forward.iter().map(|force| -force).fold(0.0, f64::max),
            propulsion_peak_bw: forward.iter().copied().fold(0.0, f64::max),
        }
    }

    /// Mean size of the second difference of [`Self::vertical`].
    pub fn roughness(&self) -> f64 {
        let bends = self.vertical.windows(3).map(|three| (three[0] - 2.0 * three[1] + three[2]).abs());
        bends.sum::<f64>() / (STANCE_POINTS - 2) as f64
    }

    /// Correlation of the vertical force with a curve of [`STANCE_POINTS`] points; `None` where one of them is constant.
    pub fn vertical_r(&self, curve: &[f64]) -> Option<f64> {
        correlation(&self.vertical, curve)
    }

    /// Correlation of the force ahead with a curve of [`STANCE_POINTS`] points; `None` where one of them is constant.
    pub fn forward_r(&self, curve: &[f64]) -> Option<f64> {
        correlation(&self.forward, curve)
    }
}

/// The values at [`STANCE_POINTS`] evenly spaced places from the first to the last, linear between neighbours.
fn resample(values: &[f64]) -> Vec<f64> {
    let step = (values.len() - 1) as f64 / (STANCE_POINTS - 1) as f64;
    (0..STANCE_POINTS).map(|point| at(values, point as f64 * step)).collect()
}

/// The value at a place between two, and the last beyond the end.
fn at(values: &[f64], place: f64) -> f64 {
    let last = values.len() - 1;
    let below = (place.floor() as usize).min(last);
    let above = (below + 1).min(last);
    values[below] + (values[above] - values[below]) * (place - below as f64).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE_HZ: f64 = 60.0;

    /// A load of so many frames between two seconds without, shaped by `force` of 0 to 1.
    fn loaded(frames: usize, force: impl Fn(f64) -> f64) -> Vec<f64> {
        let mut all = vec![0.0; 120];
        all.extend((0..frames).map(|frame| force(frame as f64 / (frames - 1) as f64)));
        all.extend(vec![0.0; 120]);
        all
    }

    #[test]
    fn a_stance_is_a_load_of_a_third_of_a_second_to_a_second_that_begins_and_ends() {
        let found = |frames| whole_stances(&loaded(frames, |_| 1.0), RATE_HZ);
        assert_eq!(found(36), std::slice::from_ref(&(120..156)));
        assert_eq!((found(20), found(61)), (vec![], vec![]), "a flicker and standing");
        assert_eq!(whole_stances(&loaded(36, |_| 0.04), RATE_HZ), []);
        assert_eq!(whole_stances(&loaded(36, |_| 1.0)[130..], RATE_HZ), [], "its beginning is not seen");
        assert_eq!(whole_stances(&loaded(36, |_| 1.0)[..150], RATE_HZ), [], "its end is not seen");
    }

    #[test]
    fn a_gap_of_two_frames_does_not_end_a_stance_and_one_of_three_does() {
        let mut forces = loaded(50, |_| 1.0);
        forces[145..147].fill(0.0);
        assert_eq!(whole_stances(&forces, RATE_HZ), std::slice::from_ref(&(120..170)));
        forces[147] = 0.0;
        assert_eq!(whole_stances(&forces, RATE_HZ), [120..145, 148..170]);
    }

    #[test]
    fn a_curve_correlates_with_itself_and_opposes_its_mirror_image() {
        let arch = |share: f64| 0.2 + (std::f64::consts::PI * share).sin();
        let curve: Vec<f64> = (0..STANCE_POINTS).map(|k| arch(k as f64 / 63.0)).collect();
        let dip: Vec<f64> = curve.iter().map(|force| 2.0 - force).collect();
        let vertical = loaded(64, arch);
        let stance = StanceForces::new(&vertical, &vec![0.0; vertical.len()], RATE_HZ, 120..184);
        assert!((stance.vertical_r(&curve).unwrap() - 1.0).abs() < 1e-12);
        assert!((stance.vertical_r(&dip).unwrap() + 1.0).abs() < 1e-12);
        assert_eq!(stance.forward_r(&curve), None, "a force that is zero throughout");
        let mean = stance.vertical.iter().sum::<f64>() / 64.0;
        assert!((mean - 1.0).abs() < 1e-12);
    }

    #[test]
    fn peaks_and_loading_rate_are_those_of_a_ramp() {
        // Up to 1.2 body weights in 12 frames: 6 body weights per second, more than over any 0.05 s about it.
        let vertical = loaded(40, |share| (share * 39.0 / 12.0).min(1.0) * 1.2);
        let forward: Vec<f64> =
            vertical.iter().enumerate().map(|(k, f)| f * if k < 140 { -0.1 } else { 0.2 }).collect();
        let stance = StanceForces::new(&vertical, &forward, RATE_HZ, 121..160);
        assert!((stance.vertical_peak_bw - 1.2).abs() < 1e-12);
        assert!((stance.loading_rate_bw_s - 6.0).abs() < 1e-9, "{}", stance.loading_rate_bw_s);
        assert!((stance.braking_peak_bw - 0.12).abs() < 1e-12);
        assert!((stance.propulsion_peak_bw - 0.24).abs() < 1e-12);
    }

    #[test]
    fn roughness_is_the_mean_bend_and_a_trembling_force_has_more() {
        // Every other point 0 and 2: each second difference is 4.
        let trembling = StanceForces {
            vertical: (0..STANCE_POINTS).map(|k| (k % 2) as f64 * 2.0).collect(),
            forward: vec![0.0; STANCE_POINTS],
            vertical_peak_bw: 2.0,
            loading_rate_bw_s: 0.0,
            braking_peak_bw: 0.0,
            propulsion_peak_bw: 0.0,
        };
        assert!((trembling.roughness() - 4.0).abs() < 1e-12);
        let straight = StanceForces { vertical: (0..64).map(f64::from).collect(), ..trembling };
        assert!(straight.roughness() < 1e-12);
    }
}

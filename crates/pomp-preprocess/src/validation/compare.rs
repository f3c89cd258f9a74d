//! Errors of predicted forces against measured ones.

use pomp_motion::glam::DVec3;
use pomp_motion::statistics::median;
use serde::Serialize;

/// A foot is on the ground when it bears more than this, body weights.
pub(super) const LOADED_BW: f64 = 0.03;
/// A centre of pressure is compared when the plate bears more than this, body weights: below it is noise.
const PRESSURE_BW: f64 = 0.2;
/// Share of the trial at each end that is not compared: filters and warm-up settle there.
const MARGIN: f64 = 0.05;
/// Time around a stance in which a predicted impulse counts for it, s.
const AROUND_STANCE_S: f64 = 0.07;
/// Shorter stances are left out, s.
const LEAST_STANCE_S: f64 = 0.1;

/// Forces of one trial over body weight, frame by frame; forward, up and left of the person.
#[derive(Clone, Debug, Default)]
pub struct Forces {
    /// Whole force `[T]`: x to the left, y up, z forward.
    pub total_bw: Vec<DVec3>,
    /// Force on each foot, left first `[T]`; `None` when the feet are not told apart.
    pub feet_bw: Option<Vec<[DVec3; 2]>>,
    /// Centre of pressure under each foot, metres, world `[T]`; `None` when it is not known.
    pub pressure_center_m: Option<Vec<[DVec3; 2]>>,
}

impl Forces {
    /// The same forces times `factor`.
    pub(super) fn scaled(&self, factor: f64) -> Self {
        Self {
            total_bw: self.total_bw.iter().map(|f| *f * factor).collect(),
            feet_bw: self.feet_bw.as_ref().map(|feet| feet.iter().map(|f| f.map(|f| f * factor)).collect()),
            pressure_center_m: self.pressure_center_m.clone(),
        }
    }
}

/// Errors of one estimator against the plates in one trial. Medians are over stances or frames; `None` where nothing
/// can be compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scores {
    /// Root mean square error of the total vertical force, body weights.
    pub vertical_rmse_bw: Option<f64>,
    /// The same without the mean error, which a wrong mass causes.
    pub vertical_rmse_unbiased_bw: Option<f64>,
    /// Of the total forward force.
    pub forward_rmse_bw: Option<f64>,
    /// Of the total sideways force.
    pub sideways_rmse_bw: Option<f64>,
    /// Correlation of the total vertical force with the measured one.
    pub correlation: Option<f64>,
    /// Root mean square error of the vertical force on each foot, body weights.
    pub foot_vertical_rmse_bw: Option<f64>,
    /// Largest total vertical force, body weights.
    pub peak_bw: Option<f64>,
    /// Largest measured one.
    pub measured_peak_bw: Option<f64>,
    /// Whole stances that both the plate and the clip have.
    pub stances: usize,
    /// Median error of a stance's vertical impulse, as a share of it.
    pub stance_impulse_error: Option<f64>,
    /// Median error of the moment at which a foot takes load, ms, without sign.
    pub onset_ms: Option<f64>,
    /// Of the moment at which it leaves.
    pub offset_ms: Option<f64>,
    /// Median horizontal distance between the centres of pressure under a foot, cm, at the size of the project's
    /// skeleton, while the plate bears more than a fifth of the weight.
    pub pressure_center_cm: Option<f64>,
}

/// The frames that are compared: those in which the plates have `seen` every contact, less a margin at the ends.
pub(super) fn compared_frames(seen: &[bool]) -> Vec<usize> {
    let margin = margin(seen.len());
    (margin..seen.len().saturating_sub(margin)).filter(|t| seen[*t]).collect()
}

fn margin(frames: usize) -> usize {
    ((frames as f64 * MARGIN) as usize).max(2)
}

/// Compares `predicted` with `measured`. Totals are compared in the frames in which the plates have `seen` every contact,
/// less a margin at the ends; whole stances of a foot everywhere.
pub fn compare(predicted: &Forces, measured: &Forces, seen: &[bool], rate_hz: f64) -> Scores {
    let frames = measured.total_bw.len();
    let margin = margin(frames);
    let range = compared_frames(seen);
    let usable = range.len() > 2;
    let error = |axis: fn(&DVec3) -> f64| -> Vec<f64> {
        range.iter().map(|&t| axis(&predicted.total_bw[t]) - axis(&measured.total_bw[t])).collect()
    };
    let rms = |errors: Vec<f64>| usable.then(|| root_mean_square(&errors));
    let vertical = error(|f| f.y);
    let mean = vertical.iter().sum::<f64>() / vertical.len().max(1) as f64;
    let column = |forces: &Forces| -> Vec<f64> { range.iter().map(|&t| forces.total_bw[t].y).collect() };
    let peak = |forces: &Forces| usable.then(|| column(forces).into_iter().fold(0.0, f64::max));
    let mut scores = Scores {
        vertical_rmse_unbiased_bw: rms(vertical.iter().map(|e| e - mean).collect()),
        vertical_rmse_bw: rms(vertical),
        forward_rmse_bw: rms(error(|f| f.z)),
        sideways_rmse_bw: rms(error(|f| f.x)),
        correlation: usable.then(|| correlation(&column(predicted), &column(measured))).flatten(),
        foot_vertical_rmse_bw: None,
        peak_bw: peak(predicted),
        measured_peak_bw: peak(measured),
        stances: 0,
        stance_impulse_error: None,
        onset_ms: None,
        offset_ms: None,
        pressure_center_cm: None,
    };
    let (Some(ours), Some(theirs)) = (&predicted.feet_bw, &measured.feet_bw) else { return scores };
    if usable {
        let errors: Vec<f64> =
            range.iter().flat_map(|&t| [0, 1].map(|foot| ours[t][foot].y - theirs[t][foot].y)).collect();
        scores.foot_vertical_rmse_bw = Some(root_mean_square(&errors));
    }
    compare_stances(ours, theirs, rate_hz, &mut scores);
    if let (Some(ours), Some(measured)) = (&predicted.pressure_center_m, &measured.pressure_center_m) {
        let mut distances = Vec::new();
        for t in margin..frames.saturating_sub(margin) {
            for foot in 0..2 {
                if theirs[t][foot].y > PRESSURE_BW {
                    let apart = ours[t][foot] - measured[t][foot];
                    distances.push(100.0 * apart.x.hypot(apart.z));
                }
            }
        }
        scores.pressure_center_cm = median(&distances);
    }
    scores
}

fn compare_stances(ours: &[[DVec3; 2]], theirs: &[[DVec3; 2]], rate_hz: f64, scores: &mut Scores) {
    let frames = theirs.len();
    let around = (AROUND_STANCE_S * rate_hz).round() as usize;
    let (mut impulse, mut onset, mut offset) = (Vec::new(), Vec::new(), Vec::new());
    for foot in 0..2 {
        let measured: Vec<f64> = theirs.iter().map(|f| f[foot].y).collect();
        let predicted: Vec<f64> = ours.iter().map(|f| f[foot].y).collect();
        let found = loaded(&predicted);
        for stance in loaded(&measured) {
            let whole = stance.start > around && stance.end + around < frames;
            if !whole || (stance.len() as f64) < LEAST_STANCE_S * rate_hz {
                continue;
            }
            scores.stances += 1;
            let window = stance.start - around..stance.end + around;
            let sum = |values: &[f64]| values[window.clone()].iter().sum::<f64>();
            impulse.push((sum(&predicted) / sum(&measured) - 1.0).abs());
            let same: Vec<_> =
                found.iter().filter(|run| run.start < stance.end && run.end > stance.start).collect();
            if let (Some(first), Some(last)) = (same.first(), same.last()) {
                let begin = rises(&predicted, first.start) - rises(&measured, stance.start);
                let end = falls(&predicted, last.end) - falls(&measured, stance.end);
                onset.push(begin.abs() * 1000.0 / rate_hz);
                offset.push(end.abs() * 1000.0 / rate_hz);
            }
        }
    }
    scores.stance_impulse_error = median(&impulse);
    scores.onset_ms = median(&onset);
    scores.offset_ms = median(&offset);
}

/// Ranges of frames in which a foot bears load.
fn loaded(values: &[f64]) -> Vec<std::ops::Range<usize>> {
    let mut found = Vec::new();
    let mut start = None;
    for (t, value) in values.iter().chain(&[0.0]).enumerate() {
        match (start, *value > LOADED_BW) {
            (None, true) => start = Some(t),
            (Some(from), false) => {
                found.push(from..t);
                start = None;
            }
            _ => {}
        }
    }
    found
}

/// When the load rises through the threshold before frame `at`, in frames.
fn rises(values: &[f64], at: usize) -> f64 {
    if at == 0 {
        return 0.0;
    }
    let (before, after) = (values[at - 1], values[at]);
    (at - 1) as f64 + (LOADED_BW - before) / (after - before).max(1e-9)
}

/// When it falls through the threshold before frame `at`, in frames.
fn falls(values: &[f64], at: usize) -> f64 {
    let (before, after) = (values[at - 1], values.get(at).copied().unwrap_or(0.0));
    (at - 1) as f64 + (before - LOADED_BW) / (before - after).max(1e-9)
}

fn root_mean_square(errors: &[f64]) -> f64 {
    (errors.iter().map(|e| e * e).sum::<f64>() / errors.len().max(1) as f64).sqrt()
}

/// Pearson's correlation; `None` when one of the two hardly varies (quiet standing).
fn correlation(a: &[f64], b: &[f64]) -> Option<f64> {
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
    let (ma, mb) = (mean(a), mean(b));
    let (mut ab, mut aa, mut bb) = (0.0, 0.0, 0.0);
    for (x, y) in a.iter().zip(b) {
        ab += (x - ma) * (y - mb);
        aa += (x - ma) * (x - ma);
        bb += (y - mb) * (y - mb);
    }
    let least = 0.01 * 0.01 * a.len() as f64;
    (aa > least && bb > least).then(|| ab / (aa * bb).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two steps of one foot, the second half as heavy, then nothing.
    fn steps(scale: f64, late: usize) -> Forces {
        let load = |t: usize| match t.saturating_sub(late) {
            20..50 => 1.0,
            60..90 => 0.5,
            _ => 0.0,
        };
        let feet: Vec<[DVec3; 2]> = (0..120).map(|t| [DVec3::Y * (load(t) * scale), DVec3::ZERO]).collect();
        Forces {
            total_bw: feet.iter().map(|f| f[0]).collect(),
            pressure_center_m: Some(vec![[DVec3::X * 0.01 * late as f64, DVec3::ZERO]; 120]),
            feet_bw: Some(feet),
        }
    }

    #[test]
    fn equal_forces_have_no_error() {
        let scores = compare(&steps(1.0, 0), &steps(1.0, 0), &[true; 120], 60.0);
        assert_eq!(scores.stances, 2);
        assert_eq!(scores.vertical_rmse_bw, Some(0.0));
        assert_eq!(scores.stance_impulse_error, Some(0.0));
        assert!(scores.correlation.unwrap() > 0.999_999);
    }

    #[test]
    fn a_late_and_light_prediction_is_late_and_light() {
        let scores = compare(&steps(0.9, 3), &steps(1.0, 0), &[true; 120], 60.0);
        assert!((scores.onset_ms.unwrap() - 50.0).abs() < 1.0, "{scores:?}");
        assert!((scores.offset_ms.unwrap() - 50.0).abs() < 1.0);
        assert!((scores.stance_impulse_error.unwrap() - 0.1).abs() < 0.01);
        assert!((scores.pressure_center_cm.unwrap() - 3.0).abs() < 1e-9);
        assert!(scores.vertical_rmse_bw.unwrap() > 0.1);
    }

    #[test]
    fn plates_that_miss_contacts_are_compared_by_stances_alone() {
        let scores = compare(&steps(0.9, 0), &steps(1.0, 0), &[false; 120], 60.0);
        assert_eq!((scores.vertical_rmse_bw, scores.stances), (None, 2));
    }
}

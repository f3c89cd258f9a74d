//! What is kept of a run.

use crate::BenchError;
use crate::config::Method;
use crate::cut::cut;
use crate::mocap::poses;
use crate::phase_space::PhaseSpace;
use crate::rollout::Rollout;
use pomp_eval::{FeatureSums, Metrics, Track, evaluate};
use pomp_motion::{GlobalPose, Recording};
use serde::{Deserialize, Serialize};

/// Time before a fall that no longer counts as motion, seconds.
const BEFORE_FALL_S: f64 = 0.5;
/// Least time that qualities of motion are measured over, seconds.
const LEAST_S: f64 = 2.0;
/// Length of the first and last parts that are compared in long runs, seconds.
const PART_S: f64 = 60.0;
/// Length from which a run is long, seconds.
const LONG_S: f64 = 180.0;

/// What one run of one method in one scenario gave: a file of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunResult {
    /// Hash of everything that decides the result; a result of another key is made again.
    pub key: String,
    /// The scenario.
    pub scenario: String,
    /// The method.
    pub method: String,
    /// The run of the scenario, from 0.
    pub run: usize,
    /// The seed.
    pub seed: u64,
    /// The clip that was shown, for methods that show clips.
    pub clip: Option<String>,
    /// Why the run gave no motion, if it did not.
    pub failure: Option<String>,
    /// Falls and pushes are those of the whole run. Everything else is measured until half a second before the first
    /// fall, and absent when that leaves less than two seconds: who lies still neither slides nor trembles.
    pub metrics: Metrics,
    /// Phase features of the time before a fall.
    pub features: FeatureSums,
    /// The first minute of a run of three minutes or more without a fall, and the last.
    pub first_and_last_minute: Option<(Metrics, Metrics)>,
}

/// Metrics that are those of the whole run.
macro_rules! whole_run {
    ($target:expr, $source:expr, $($name:ident),*) => { $($target.$name = $source.$name;)* };
}

/// The measures of a rollout, as [`RunResult`] keeps them.
pub(crate) struct Measured {
    pub metrics: Metrics,
    pub features: FeatureSums,
    pub first_and_last_minute: Option<(Metrics, Metrics)>,
}

/// Measures a rollout; the caller fills in what it is.
pub(crate) fn measure(
    rollout: &Rollout,
    method: &Method,
    space: &PhaseSpace,
) -> Result<Measured, BenchError> {
    let recording = &rollout.recording;
    let track = if method.is_simulated() { Track::Simulated } else { Track::Character };
    let of = |recording: &Recording| evaluate(recording, &rollout.terrain, track);
    let whole = of(recording)?;
    let rate = f64::from(recording.frame_rate_hz);
    let frames = whole
        .first_fall_s
        .map_or(recording.frames(), |fall| ((fall - BEFORE_FALL_S).max(0.0) * rate) as usize);
    let least = (LEAST_S * rate) as usize;
    let mut metrics = if frames < least.min(recording.frames()) {
        Metrics::default()
    } else if frames < recording.frames() {
        of(&cut(recording, 0..frames))?
    } else {
        whole.clone()
    };
    whole_run!(
        metrics,
        whole,
        duration_s,
        upright_s,
        upright_percent,
        first_fall_s,
        falls,
        falls_per_minute,
        falls_recovered,
        down_s,
        get_up_s,
        get_up_assist_mean_bw,
        get_up_assist_peak_bw,
        get_up_assist_vertical_bw,
        get_up_assist_torque_nm,
        push_recovered_percent,
        push_fell_percent,
        push_recovery_s,
        push_displacement_m,
        push_steps,
        push_assist_peak_bw
    );
    let shown: Vec<GlobalPose> = poses(recording).into_iter().take(frames).collect();
    let features = space.features(&shown)?;
    let part = (PART_S * rate) as usize;
    let long = recording.frames() as f64 >= LONG_S * rate && whole.first_fall_s.is_none();
    let parts = if long {
        let last = recording.frames() - part;
        Some((of(&cut(recording, 0..part))?, of(&cut(recording, last..recording.frames()))?))
    } else {
        None
    };
    Ok(Measured { metrics, features, first_and_last_minute: parts })
}

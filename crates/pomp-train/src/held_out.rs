//! What the kinematic module gets wrong on clips that it has not seen, beside what doing nothing gets wrong.

use crate::dataset::{Dataset, FRAME_RATE_HZ};
use crate::example::{StateSource, mean_distance};
use crate::kinematic_stage::predict;
use crate::progress::Stage;
use crate::rollout_pool::Rollout;
use crate::rows::{Batch, Rows};
use crate::sampler::Sampler;
use crate::step_rng::step_rng;
use crate::{TrainConfig, TrainError};
use burn::tensor::Device;
use glam::Vec3;
use pomp_kinematic::KinematicModel;
use pomp_motion::features::CharacterState;
use serde::Serialize;

/// Starts that rollouts are measured from.
const STARTS: usize = 128;
/// Length of the measured rollouts, frames: half a second.
const FRAMES: usize = 30;

/// Errors on held-out clips; distances are means over joints in the world.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeldOutErrors {
    /// One frame ahead, centimetres.
    pub one_frame_cm: f32,
    /// One frame ahead when the pose is held, centimetres.
    pub one_frame_hold_cm: f32,
    /// Half a second ahead on its own, centimetres.
    pub half_second_cm: f32,
    /// Half a second ahead when the pose is held, centimetres.
    pub half_second_hold_cm: f32,
    /// Half a second ahead when all joints keep their velocity, centimetres.
    pub half_second_coast_cm: f32,
}

impl HeldOutErrors {
    /// Names and values, for files and terminals. `measured_on` says which clips they are of.
    pub fn figures(&self, measured_on: &str) -> [(String, f32); 5] {
        [
            (format!("{measured_on}_1_frame_cm"), self.one_frame_cm),
            (format!("{measured_on}_1_frame_hold_cm"), self.one_frame_hold_cm),
            (format!("{measured_on}_half_second_cm"), self.half_second_cm),
            (format!("{measured_on}_half_second_hold_cm"), self.half_second_hold_cm),
            (format!("{measured_on}_half_second_coast_cm"), self.half_second_coast_cm),
        ]
    }
}

/// Errors so many frames ahead, on the module's own output; distances are means over joints in the world.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct HorizonErrors {
    /// Frames ahead.
    pub frames: usize,
    /// The module, centimetres: one denoising step per frame, which gives the mean of what may come.
    pub module_cm: f32,
    /// The pose held, centimetres.
    pub hold_cm: f32,
    /// All joints keeping their velocity, centimetres.
    pub coast_cm: f32,
}

/// Rolls the model out along held-out clips, one denoising step per frame, and measures.
pub(crate) fn held_out_errors(
    model: &KinematicModel,
    rows: &Rows<'_>,
    sampler: &Sampler,
    device: &Device,
    config: &TrainConfig,
) -> Result<HeldOutErrors, TrainError> {
    let mut rng = step_rng(config.seed, Stage::Kinematic, usize::MAX);
    let mut predict = |batch: &Batch| predict(model, batch.x.clone(), rows.layout, device, &mut rng);
    measure_held_out(&mut predict, rows, sampler, config)
}

/// Predicts the normalised outputs of a batch.
pub(crate) type Predict<'a> = &'a mut dyn FnMut(&Batch) -> Vec<f32>;

/// As [`held_out_errors`], of whatever predicts.
pub(crate) fn measure_held_out(
    predict: Predict<'_>,
    rows: &Rows<'_>,
    sampler: &Sampler,
    config: &TrainConfig,
) -> Result<HeldOutErrors, TrainError> {
    let starts = starts(rows.dataset, sampler, FRAMES, config.margin_frames, STARTS)?;
    let errors = rollout_errors(predict, rows, &starts, &[1, FRAMES]);
    let (one_frame, half_second) = (errors[0], errors[1]);
    Ok(HeldOutErrors {
        one_frame_cm: one_frame.module_cm,
        one_frame_hold_cm: one_frame.hold_cm,
        half_second_cm: half_second.module_cm,
        half_second_hold_cm: half_second.hold_cm,
        half_second_coast_cm: half_second.coast_cm,
    })
}

/// At most `most` evenly spread frames of `sampler` that so many frames of the clip follow, none of them lost by the replay.
///
/// # Errors
/// There is none.
pub(crate) fn starts(
    dataset: &Dataset,
    sampler: &Sampler,
    frames: usize,
    margin: usize,
    most: usize,
) -> Result<Vec<(usize, usize)>, TrainError> {
    let room = |&(clip, frame): &(usize, usize)| {
        let clip = &dataset.clips[clip];
        let end = frame + frames + 2;
        end + margin < clip.frames() && !clip.supported[frame..end].contains(&false)
    };
    let possible: Vec<(usize, usize)> = (0..sampler.len()).map(|i| sampler.at(i)).filter(room).collect();
    if possible.is_empty() {
        return Err(TrainError::TooLittleData { stage: "held-out", examples: 0 });
    }
    let stride = possible.len().div_ceil(most).max(1);
    Ok(possible.into_iter().step_by(stride).collect())
}

/// Errors at each of `horizons` (frames ahead, rising) of rollouts from `starts`.
pub(crate) fn rollout_errors(
    predict: Predict<'_>,
    rows: &Rows<'_>,
    starts: &[(usize, usize)],
    horizons: &[usize],
) -> Vec<HorizonErrors> {
    let dataset = rows.dataset;
    let last = horizons.last().copied().unwrap_or(0);
    let sources: Vec<_> = starts.iter().map(|&(clip, frame)| (clip, frame, StateSource::Clean)).collect();
    let first = rows.fill(&sources, None);
    let mut rollouts: Vec<Rollout> = starts
        .iter()
        .zip(first.raw_x.chunks_exact(rows.layout.x_len()))
        .map(|(&start, x)| Rollout::start_of_length(dataset, rows.layout, start, last + 1, x))
        .collect();
    let baseline = |ahead: usize, coast: f32| {
        let sum: f32 = starts
            .iter()
            .map(|&(clip, frame)| {
                let clip = &dataset.clips[clip];
                let (from, to) = (&clip.clean[frame], &clip.clean[frame + ahead]);
                let time = coast * ahead as f32 / FRAME_RATE_HZ;
                mean_distance(&world(from, time), &world(to, 0.0))
            })
            .sum();
        100.0 * sum / starts.len() as f32
    };
    let mut errors = Vec::with_capacity(horizons.len());
    for ahead in 1..=last {
        let examples: Vec<_> = rollouts.iter().map(|r| (r.clip, r.frame, r.source())).collect();
        let batch = rows.fill(&examples, None);
        drop(examples);
        let mut predicted = predict(&batch);
        rows.outputs_to_y(&batch.raw_x, &mut predicted);
        for (rollout, y) in rollouts.iter_mut().zip(predicted.chunks_exact(rows.layout.y_len())) {
            rollout.advance(dataset, rows.layout, y, 0);
        }
        if horizons.contains(&ahead) {
            errors.push(HorizonErrors {
                frames: ahead,
                module_cm: rollout_error_cm(dataset, &rollouts),
                hold_cm: baseline(ahead, 0.0),
                coast_cm: baseline(ahead, 1.0),
            });
        }
    }
    errors
}

fn rollout_error_cm(dataset: &Dataset, rollouts: &[Rollout]) -> f32 {
    let sum: f32 = rollouts
        .iter()
        .map(|rollout| {
            let clean = &dataset.clips[rollout.clip].clean[rollout.frame];
            mean_distance(&world(&rollout.state, 0.0), &world(clean, 0.0))
        })
        .sum();
    100.0 * sum / rollouts.len() as f32
}

/// World positions of a state's joints, each moved along its velocity for `seconds`.
fn world(state: &CharacterState, seconds: f32) -> Vec<Vec3> {
    state
        .positions_root
        .iter()
        .zip(&state.velocities_root)
        .map(|(p, v)| state.frame.to_world(*p + *v * seconds))
        .collect()
}

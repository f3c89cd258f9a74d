//! The inputs at which the closed loop may start, which a model carries with it.

use crate::dataset::Dataset;
use crate::example::{StateSource, write_example};
use crate::rows::weight_impulse_ns;
use crate::sampler::Sampler;
use pomp_motion::Gait;
use pomp_motion::features::FeatureLayout;
use std::collections::BTreeMap;
use std::ops::Range;

/// Inputs at which a rollout may start: for each gait the frame whose surroundings are most purely of it and whose
/// speed is nearest to the gait's own.
pub(crate) fn gait_starts(
    dataset: &Dataset,
    layout: &FeatureLayout,
    sampler: &Sampler,
) -> BTreeMap<String, Vec<f32>> {
    let wanted = [(Gait::Stand, 0.0), (Gait::Walk, 1.2), (Gait::Jog, 2.4)];
    let mut starts = BTreeMap::new();
    for (gait, speed) in wanted {
        if let Some(x) = start(dataset, layout, sampler, gait, speed) {
            starts.insert(gait.name().to_owned(), x);
        }
    }
    starts
}

/// The input at which a rollout in `gait` at this speed (m/s) may start; `None` where no frame is near it.
pub(crate) fn start(
    dataset: &Dataset,
    layout: &FeatureLayout,
    sampler: &Sampler,
    gait: Gait,
    speed: f32,
) -> Option<Vec<f32>> {
    let cost = |index: usize| {
        let (clip, frame) = sampler.at(index);
        let clip = &dataset.clips[clip];
        let window: Range<usize> = frame.saturating_sub(60)..(frame + 60).min(clip.frames());
        let foreign: f32 = window.clone().map(|f| 1.0 - clip.recording.gait[f][gait.index()]).sum::<f32>()
            / window.len() as f32;
        let beyond = (120 - window.len()) as f32 / 120.0;
        let state = &clip.clean[frame];
        let level = clip.terrain.min_max();
        foreign * 10.0
            + beyond * 2.0
            + (state.root_velocity.length() - speed).abs()
            + 0.3 * state.yaw_rate.abs()
            + 3.0 * (level.1 - level.0).min(1.0)
    };
    let best = (0..sampler.len()).map(|i| (cost(i), i)).min_by(|a, b| a.0.total_cmp(&b.0));
    let (_, index) = best.filter(|(cost, _)| *cost <= 6.0)?;
    let (clip, frame) = sampler.at(index);
    let (mut x, mut y) = (vec![0.0; layout.x_len()], vec![0.0; layout.y_len()]);
    let clip = &dataset.clips[clip];
    write_example(layout, clip, frame, &StateSource::Clean, weight_impulse_ns(dataset), &mut x, &mut y);
    Some(x)
}

//! The inputs at which the closed loop may start, which a model carries with it.

use crate::dataset::Dataset;
use crate::example::{StateSource, write_example};
use crate::rows::weight_impulse_ns;
use crate::sampler::Sampler;
use glam::Vec3;
use pomp_motion::features::FeatureLayout;
use pomp_motion::retarget::sole_heights;
use pomp_motion::{Gait, humanoid};
use std::collections::BTreeMap;
use std::ops::Range;

/// Frames of standing whose cost is greater than the least by no more than this are as good to start at.
const AS_GOOD: f32 = 0.1;

/// Inputs at which a rollout may start: for each gait the frame whose surroundings are most purely of it and whose speed is nearest to
/// the gait's own. Standing has its feet on the ground, and of the frames that are as good it is the one whose pose is nearest to their mean;
/// the mean of the frames of a cycle is no pose of it.
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
    let sole_m = sole_heights(&dataset.skeleton).0;
    let cost = |index: usize| {
        let (clip, frame) = sampler.at(index);
        let clip = &dataset.clips[clip];
        let window: Range<usize> = frame.saturating_sub(60)..(frame + 60).min(clip.frames());
        let foreign: f32 = window.clone().map(|f| 1.0 - clip.recording.gait[f][gait.index()]).sum::<f32>()
            / window.len() as f32;
        let beyond = (120 - window.len()) as f32 / 120.0;
        let state = &clip.clean[frame];
        let level = clip.terrain.min_max();
        let ankles = [humanoid::LEFT_FOOT, humanoid::RIGHT_FOOT].map(|ankle| state.positions_root[ankle.0].y);
        let off_ground: f32 = ankles.iter().map(|height| (height - sole_m).abs()).sum();
        foreign * 10.0
            + beyond * 2.0
            + (state.root_velocity.length() - speed).abs()
            + 0.3 * state.yaw_rate.abs()
            + 3.0 * (level.1 - level.0).min(1.0)
            + if gait == Gait::Stand { 10.0 * off_ground } else { 0.0 }
    };
    let costs: Vec<f32> = (0..sampler.len()).map(cost).collect();
    let least = costs.iter().copied().min_by(f32::total_cmp).filter(|least| *least <= 6.0)?;
    let worst = least + if gait == Gait::Stand { AS_GOOD } else { 0.0 };
    let as_good: Vec<usize> = (0..sampler.len()).filter(|index| costs[*index] <= worst).collect();
    let poses: Vec<&[Vec3]> = as_good
        .iter()
        .map(|index| {
            let (clip, frame) = sampler.at(*index);
            &dataset.clips[clip].clean[frame].positions_root[..]
        })
        .collect();
    let index = as_good[most_typical(&poses)?];
    let (clip, frame) = sampler.at(index);
    let (mut x, mut y) = (vec![0.0; layout.x_len()], vec![0.0; layout.y_len()]);
    let clip = &dataset.clips[clip];
    write_example(layout, clip, frame, &StateSource::Clean, weight_impulse_ns(dataset), &mut x, &mut y);
    Some(x)
}

/// Which of the `poses` is nearest to their mean, joint by joint; `None` of none.
fn most_typical(poses: &[&[Vec3]]) -> Option<usize> {
    let mut mean = vec![Vec3::ZERO; poses.first()?.len()];
    for pose in poses {
        for (sum, position) in mean.iter_mut().zip(*pose) {
            *sum += *position / poses.len() as f32;
        }
    }
    let distance = |pose: &[Vec3]| -> f32 {
        pose.iter().zip(&mean).map(|(position, mean)| position.distance_squared(*mean)).sum()
    };
    (0..poses.len()).min_by(|a, b| distance(poses[*a]).total_cmp(&distance(poses[*b])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_typical_pose_is_neither_the_widest_nor_the_narrowest() {
        let ankles = |width_m: f32| [Vec3::X * width_m / 2.0, Vec3::NEG_X * width_m / 2.0];
        let stances = [0.09, 0.2, 0.25, 0.34].map(ankles);
        let poses: Vec<&[Vec3]> = stances.iter().map(|pose| &pose[..]).collect();
        assert_eq!(most_typical(&poses), Some(1));
        assert_eq!(most_typical(&[]), None);
    }
}

//! Do frames that a feature calls alike look alike? The pose error of nearest neighbours (DeepPhase, §5).

use super::phases::ClipPhases;
use super::principal::Principal;
use glam::Vec3;
use nalgebra::DVectorView;
use pomp_motion::Gait;
use rayon::prelude::*;
use serde::Serialize;
use std::collections::BTreeMap;

/// Neighbours per frame.
pub const NEIGHBOURS: usize = 10;
/// Frames that look for neighbours, and frames to be found, at most.
const QUERIES: usize = 1500;
/// Rounds in which the principal components are found.
const ROUNDS: usize = 30;
const CANDIDATES: usize = 15_000;
/// Steps farther apart than this are no cycle, frames.
const LONGEST_CYCLE: usize = 120;

/// Features that frames are compared by.
const FEATURES: [&str; 4] =
    ["phase manifold", "contact phases", "principal components of raw velocities", "raw velocities"];

/// Mean distance of joints between a frame and its neighbours, centimetres.
#[derive(Clone, Debug, Serialize)]
pub struct PoseError {
    /// The feature.
    pub feature: String,
    /// Numbers that it has.
    pub numbers: usize,
    /// Over all frames.
    pub all_cm: f32,
    /// Per gait.
    pub gaits_cm: BTreeMap<&'static str, f32>,
}

struct Frame<'a> {
    gait: Gait,
    pose: &'a [Vec3],
    features: [Vec<f32>; FEATURES.len()],
}

/// Looks for neighbours of frames of `queries` among frames of `candidates`. The last entry takes frames at random: what
/// a feature that knows nothing would reach.
pub fn pose_errors(candidates: &[ClipPhases<'_>], queries: &[ClipPhases<'_>]) -> Vec<PoseError> {
    let (mut candidates, mut queries) = (frames(candidates, CANDIDATES), frames(queries, QUERIES));
    let velocities: Vec<&[f32]> = candidates.iter().map(|frame| frame.features[3].as_slice()).collect();
    let principal = Principal::of(&velocities, candidates[0].features[0].len(), ROUNDS);
    for frame in candidates.iter_mut().chain(&mut queries) {
        frame.features[2] = principal.coordinates(&frame.features[3]);
    }
    let mut results: Vec<PoseError> = FEATURES
        .iter()
        .enumerate()
        .map(|(at, name)| {
            let errors: Vec<f32> = queries
                .par_iter()
                .map(|query| {
                    let mut distances: Vec<(f32, usize)> = candidates
                        .iter()
                        .enumerate()
                        .map(|(index, other)| (distance(&query.features[at], &other.features[at]), index))
                        .collect();
                    let nearest = NEIGHBOURS.min(distances.len());
                    distances
                        .select_nth_unstable_by(nearest - 1, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                    let found = distances[..nearest].iter().map(|&(_, index)| candidates[index].pose);
                    found.map(|pose| pose_distance_cm(query.pose, pose)).sum::<f32>() / nearest as f32
                })
                .collect();
            summary(name, queries[0].features[at].len(), &queries, &errors)
        })
        .collect();
    let random: Vec<f32> = queries
        .iter()
        .enumerate()
        .map(|(at, query)| pose_distance_cm(query.pose, candidates[at * 7919 % candidates.len()].pose))
        .collect();
    results.push(summary("chance", 0, &queries, &random));
    results
}

fn summary(name: &str, numbers: usize, queries: &[Frame<'_>], errors: &[f32]) -> PoseError {
    let mean = |wanted: Option<Gait>| {
        let chosen: Vec<f32> = queries
            .iter()
            .zip(errors)
            .filter(|(query, _)| wanted.is_none_or(|gait| gait == query.gait))
            .map(|(_, error)| *error)
            .collect();
        (!chosen.is_empty()).then(|| chosen.iter().sum::<f32>() / chosen.len() as f32)
    };
    PoseError {
        feature: name.to_owned(),
        numbers,
        all_cm: mean(None).expect("there are queries"),
        gaits_cm: Gait::ALL.iter().filter_map(|&gait| Some((gait.name(), mean(Some(gait))?))).collect(),
    }
}

fn frames<'a>(clips: &'a [ClipPhases<'a>], most: usize) -> Vec<Frame<'a>> {
    let count: usize = clips.iter().map(|clip| clip.frames().count()).sum();
    let every = count.div_ceil(most).max(1);
    let mut frames = Vec::new();
    let mut at = 0usize;
    for clip in clips {
        let contact = contact_phases(&clip.clip.recording.foot_contact);
        for (frame, gait, state) in clip.frames() {
            if at.is_multiple_of(every) {
                let velocities = clip.velocities[frame].iter().flat_map(Vec3::to_array).collect();
                let pose = &clip.clip.clean[frame].positions_root;
                frames.push(Frame {
                    gait,
                    pose,
                    features: [state.code(), contact[frame].to_vec(), Vec::new(), velocities],
                });
            }
            at += 1;
        }
    }
    frames
}

/// For either foot the direction of a phase that goes round once from touch-down to touch-down; zero outside of cycles.
fn contact_phases(contacts: &[[bool; 4]]) -> Vec<[f32; 4]> {
    let mut phases = vec![[0.0; 4]; contacts.len()];
    for foot in 0..2 {
        let down = |frame: usize| contacts[frame][2 * foot] || contacts[frame][2 * foot + 1];
        let touches: Vec<usize> = (1..contacts.len()).filter(|&f| down(f) && !down(f - 1)).collect();
        for pair in touches.windows(2).filter(|pair| pair[1] - pair[0] <= LONGEST_CYCLE) {
            let cycle = &mut phases[pair[0]..pair[1]];
            let frames = cycle.len() as f32;
            for (at, phase) in cycle.iter_mut().enumerate() {
                let (sine, cosine) = (std::f32::consts::TAU * at as f32 / frames).sin_cos();
                phase[2 * foot..2 * foot + 2].copy_from_slice(&[cosine, sine]);
            }
        }
    }
    phases
}

fn distance(a: &[f32], b: &[f32]) -> f32 {
    let [a, b] = [a, b].map(|values| DVectorView::from_slice(values, values.len()));
    a.norm_squared() + b.norm_squared() - 2.0 * a.dot(&b)
}

fn pose_distance_cm(a: &[Vec3], b: &[Vec3]) -> f32 {
    100.0 * a.iter().zip(b).map(|(a, b)| a.distance(*b)).sum::<f32>() / a.len() as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contact_phases_turn_once_from_touch_down_to_touch_down() {
        let contacts: Vec<[bool; 4]> =
            (0..100).map(|frame| [frame % 40 >= 20, false, false, frame >= 50]).collect();
        let phases = contact_phases(&contacts);
        // The left foot touches down at 20 and 60.
        assert_eq!(phases[20][..2], [1.0, 0.0]);
        assert!((phases[30][0]).abs() < 1e-6 && (phases[30][1] - 1.0).abs() < 1e-6);
        assert!((phases[40][0] + 1.0).abs() < 1e-6);
        assert_eq!(phases[10], [0.0; 4], "before the first touch-down there is no cycle");
        assert!(phases.iter().all(|phase| phase[2..] == [0.0, 0.0]), "one touch-down makes no cycle");
    }
}

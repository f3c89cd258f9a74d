//! Does a feature tell where a motion goes on? The rank of the frame that truly follows among all frames (DeepPhase, §5).

use super::phases::ClipPhases;
use super::principal::Principal;
use glam::Vec3;
use pomp_train::FRAME_RATE_HZ;
use rayon::prelude::*;
use serde::Serialize;

/// Frames after the query whose ranks are told.
pub const AHEAD: [usize; 4] = [1, 10, 20, 30];
/// Frames that look for those after them, at most.
const QUERIES: usize = 1500;
/// Rounds in which the principal components are found.
const ROUNDS: usize = 30;

/// Features that frames are compared by, the first of which is turned on to the time that is looked for.
const FEATURES: [&str; 5] = [
    "phase manifold, turned on",
    "phase manifold",
    "principal components of joint positions",
    "joint positions",
    "raw velocities",
];
/// Values of [`Frame::features`] that each of [`FEATURES`] compares.
const COMPARED: [usize; FEATURES.len()] = [0, 0, 1, 2, 3];

/// Ranks of the frame that truly follows, by nearness to the query; 1 is the nearest.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ranks {
    /// The feature.
    pub feature: String,
    /// Numbers that it has.
    pub numbers: usize,
    /// Number of queries, per time ahead.
    pub queries: [usize; AHEAD.len()],
    /// Median rank of the frame 1, 10, 20 and 30 frames after the query; 0 without queries.
    pub median: [usize; AHEAD.len()],
    /// Rank that nine of ten such frames have or are better than.
    pub nine_of_ten: [usize; AHEAD.len()],
    /// Frames that a rank is among.
    pub candidates: usize,
}

struct Frame {
    clip: usize,
    frame: usize,
    frequencies_hz: Vec<f32>,
    features: [Vec<f32>; 4],
}

/// Looks, from frames of `clips`, for the frames after them among all frames of `clips` but the one that looks. Clips that were laid on
/// other ground, paced or pushed are left out: the same moment would be there several times. Empty without any other clip.
pub fn ranks(clips: &[ClipPhases<'_>]) -> Vec<Ranks> {
    let frames = frames(clips);
    if frames.is_empty() {
        return Vec::new();
    }
    let at = |clip: usize, frame: usize| {
        frames.binary_search_by_key(&(clip, frame), |found| (found.clip, found.frame)).ok()
    };
    let every = frames.len().div_ceil(QUERIES).max(1);
    // Per query, feature and time ahead.
    let found: Vec<[[Option<usize>; AHEAD.len()]; FEATURES.len()]> = (0..frames.len())
        .into_par_iter()
        .step_by(every)
        .map(|query| {
            let after = AHEAD.map(|ahead| at(frames[query].clip, frames[query].frame + ahead));
            std::array::from_fn(|feature| ranks_of(&frames, query, feature, &after))
        })
        .collect();
    FEATURES
        .iter()
        .enumerate()
        .map(|(feature, name)| {
            let sorted = std::array::from_fn(|ahead| {
                let ranks = found.iter().filter_map(|query: &[[_; AHEAD.len()]; _]| query[feature][ahead]);
                let mut ranks: Vec<usize> = ranks.collect();
                ranks.sort_unstable();
                ranks
            });
            summary(name, frames[0].features[COMPARED[feature]].len(), frames.len() - 1, &sorted)
        })
        .collect()
}

fn summary(name: &str, numbers: usize, candidates: usize, sorted: &[Vec<usize>; AHEAD.len()]) -> Ranks {
    let quantile = |share: f32| {
        std::array::from_fn(|ahead: usize| {
            let ranks: &[usize] = &sorted[ahead];
            let last = ranks.len().saturating_sub(1);
            ranks.get((share * last as f32).round() as usize).copied().unwrap_or(0)
        })
    };
    Ranks {
        feature: name.to_owned(),
        numbers,
        queries: std::array::from_fn(|ahead| sorted[ahead].len()),
        median: quantile(0.5),
        nine_of_ten: quantile(0.9),
        candidates,
    }
}

/// Ranks of the frames `after` a query, where they were read.
fn ranks_of(
    frames: &[Frame],
    query: usize,
    feature: usize,
    after: &[Option<usize>; AHEAD.len()],
) -> [Option<usize>; AHEAD.len()] {
    let values = |frame: usize| &frames[frame].features[COMPARED[feature]];
    std::array::from_fn(|ahead| {
        let truth = after[ahead]?;
        let seconds = if feature == 0 { AHEAD[ahead] as f32 / FRAME_RATE_HZ } else { 0.0 };
        let asked = turned(values(query), &frames[query].frequencies_hz, seconds);
        let wanted = distance(&asked, values(truth));
        let nearer = |frame: &usize| *frame != query && distance(&asked, values(*frame)) < wanted;
        Some(1 + (0..frames.len()).filter(nearer).count())
    })
}

/// A code, each pair turned by its frequency for so many seconds; any feature as it is for none.
fn turned(values: &[f32], frequencies_hz: &[f32], seconds: f32) -> Vec<f32> {
    if seconds == 0.0 {
        return values.to_vec();
    }
    pomp_phase::extrapolate_code(values, frequencies_hz, seconds).expect("a code has a pair per frequency")
}

fn frames(clips: &[ClipPhases<'_>]) -> Vec<Frame> {
    let plain = clips.iter().enumerate().filter(|(_, clip)| !clip.clip.recording.name.contains("_terrain"));
    let mut frames: Vec<Frame> = plain
        .flat_map(|(index, clip)| {
            clip.frames().map(move |(frame, _, state)| {
                let pose = &clip.clip.clean[frame].positions_root;
                let flat = |vectors: &[Vec3]| vectors.iter().flat_map(Vec3::to_array).collect();
                Frame {
                    clip: index,
                    frame,
                    frequencies_hz: state.frequencies_hz(),
                    features: [state.code(), Vec::new(), flat(pose), flat(&clip.velocities[frame])],
                }
            })
        })
        .collect();
    let Some(count) = frames.first().map(|frame| frame.features[0].len()) else { return frames };
    let rows: Vec<&[f32]> = frames.iter().map(|frame| frame.features[2].as_slice()).collect();
    let principal = Principal::of(&rows, count, ROUNDS);
    for frame in &mut frames {
        frame.features[1] = principal.coordinates(&frame.features[2]);
    }
    frames
}

fn distance(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frames of two clips that go round a circle once a second in their codes; in their other features they lie at random.
    fn circling() -> Vec<Frame> {
        let circle = |clip: usize, frame: usize| {
            let (sine, cosine) =
                (std::f32::consts::TAU * (frame as f32 / FRAME_RATE_HZ + 0.3 * clip as f32)).sin_cos();
            let code = vec![(1.0 + 0.5 * clip as f32) * cosine, (1.0 + 0.5 * clip as f32) * sine];
            let anywhere = vec![((clip * 57 + frame) * 7919 % 101) as f32];
            let features = [code, anywhere.clone(), anywhere.clone(), anywhere];
            Frame { clip, frame, frequencies_hz: vec![1.0], features }
        };
        (0..2).flat_map(|clip| (0..57).map(move |frame| circle(clip, frame))).collect()
    }

    #[test]
    fn a_code_that_is_turned_on_finds_the_frame_that_follows_first() {
        let frames = circling();
        let after = AHEAD.map(|ahead| Some(5 + ahead));
        assert_eq!(ranks_of(&frames, 5, 0, &after), [Some(1); AHEAD.len()]);
        // As it is, the frame before it is as near as the one after it, and so on outwards.
        let held = ranks_of(&frames, 5, 1, &after);
        assert!(held[0].is_some_and(|rank| rank <= 2), "{held:?}");
        assert!(held[1].is_some_and(|rank| (10..40).contains(&rank)), "{held:?}");
        // What says nothing of time finds it nowhere.
        let random: Vec<usize> =
            (0..50).filter_map(|query| ranks_of(&frames, query, 3, &[Some(query + 1); 4])[0]).collect();
        assert!(random.iter().sum::<usize>() / random.len() > 20, "{random:?}");
    }

    #[test]
    fn without_a_clip_as_it_was_recorded_there_are_no_ranks() {
        assert_eq!(ranks(&[]), Vec::new());
    }

    #[test]
    fn a_frame_that_was_not_read_has_no_rank() {
        let ranks = ranks_of(&circling(), 5, 1, &[Some(6), None, None, None]);
        assert!(ranks[0].is_some() && ranks[1..] == [None; 3]);
    }
}

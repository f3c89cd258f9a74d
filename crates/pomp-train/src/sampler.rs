//! Which frames of which clips are learned from.

use crate::dataset::{Dataset, TrainingClip};
use crate::{TrainConfig, TrainError};
use pomp_motion::Gait;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Below this speed the direction of a walk is that of its sway.
const SLOW_MPS: f32 = 0.3;

/// Where examples are drawn from, with their odds.
#[derive(Debug)]
pub(crate) struct Sampler {
    /// Clip, frame.
    examples: Vec<(u32, u32)>,
    /// Running sum of odds.
    odds: Vec<f64>,
}

impl Sampler {
    pub fn new(
        dataset: &Dataset,
        clips: impl Iterator<Item = usize>,
        margin: usize,
        rare_factor: f32,
    ) -> Self {
        Self::among(dataset, clips, margin, rare_factor, |_, _| true)
    }

    /// As [`Self::new`], of the frames that `is_wanted`.
    pub fn among(
        dataset: &Dataset,
        clips: impl Iterator<Item = usize>,
        margin: usize,
        rare_factor: f32,
        is_wanted: impl Fn(&TrainingClip, usize) -> bool,
    ) -> Self {
        let (mut examples, mut odds, mut total) = (Vec::new(), Vec::new(), 0.0);
        for index in clips {
            let clip = &dataset.clips[index];
            for frame in margin..clip.frames().saturating_sub(margin + 1) {
                if !clip.supported[frame] || !is_wanted(clip, frame) {
                    continue;
                }
                total += if is_common(clip, frame) { 1.0 } else { f64::from(rare_factor) };
                examples.push((index as u32, frame as u32));
                odds.push(total);
            }
        }
        Self { examples, odds }
    }

    /// The examples of all `samplers`, each of which is as likely as every other one.
    pub fn balanced(samplers: Vec<Self>) -> Self {
        let (mut examples, mut odds, mut total) = (Vec::new(), Vec::new(), 0.0);
        for sampler in samplers {
            let of_sampler = sampler.odds.last().copied().unwrap_or(1.0);
            odds.extend(sampler.odds.iter().map(|odd| total + odd / of_sampler));
            total += if sampler.odds.is_empty() { 0.0 } else { 1.0 };
            examples.extend(sampler.examples);
        }
        Self { examples, odds }
    }

    pub fn len(&self) -> usize {
        self.examples.len()
    }

    pub fn draw(&self, rng: &mut ChaCha8Rng) -> (usize, usize) {
        let at = rng.random_range(0.0..self.odds[self.odds.len() - 1]);
        let index = self.odds.partition_point(|odd| *odd <= at).min(self.examples.len() - 1);
        self.at(index)
    }

    pub fn at(&self, index: usize) -> (usize, usize) {
        let (clip, frame) = self.examples[index];
        (clip as usize, frame as usize)
    }
}

/// Whether most clips are full of what a clip does in `frame`: standing, or walking ahead.
fn is_common(clip: &TrainingClip, frame: usize) -> bool {
    let (aside, ahead) = clip.clean[frame].root_velocity.into();
    match Gait::dominant(&clip.recording.gait[frame]) {
        Gait::Stand => true,
        Gait::Walk => ahead > f32::abs(aside) || f32::hypot(ahead, aside) < SLOW_MPS,
        _ => false,
    }
}

/// All that training clips give, rare gaits more often.
pub(crate) fn training_sampler(dataset: &Dataset, config: &TrainConfig) -> Sampler {
    let clips = dataset.training().map(|(index, _)| index);
    Sampler::new(dataset, clips, config.margin_frames, config.kinematic.states.rare_gait_factor)
}

/// All that held-out clips give.
pub(crate) fn held_out_sampler(dataset: &Dataset, config: &TrainConfig) -> Sampler {
    let clips: Vec<usize> = dataset.held_out().into_iter().map(|(index, _)| index).collect();
    Sampler::new(dataset, clips.into_iter(), config.margin_frames, 1.0)
}

/// The frames that rollouts in the simulator begin at; none where there are no such rollouts.
pub(crate) fn practised_sampler(dataset: &Dataset, config: &TrainConfig) -> Result<Sampler, TrainError> {
    if config.kinematic.simulated_rollouts.share == 0.0 {
        return Ok(Sampler { examples: Vec::new(), odds: Vec::new() });
    }
    let clips = dataset.training().map(|(index, _)| index);
    let jogs = config.kinematic.simulated_rollouts.jogs;
    let sampler = Sampler::among(dataset, clips, config.margin_frames, 1.0, |clip, frame| {
        clip.is_practised(frame, jogs)
    });
    if sampler.len() == 0 {
        return Err(TrainError::NothingToPractise);
    }
    Ok(sampler)
}

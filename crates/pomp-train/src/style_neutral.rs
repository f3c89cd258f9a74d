//! States of plain walks at which styled rollouts begin: a character turns to a style from where it is.

use crate::dataset::Dataset;
use crate::rollout_pool::{Rollout, RolloutKind};
use pomp_motion::Gait;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Frames between two states that are remembered.
const STRIDE: usize = 2;

/// States of the plain walks of a dataset, by their phase codes.
pub(crate) struct NeutralStates {
    /// Clip and frame.
    places: Vec<(usize, usize)>,
    /// Phase codes of unit length, one after the other.
    codes: Vec<f32>,
}

impl NeutralStates {
    /// The walking frames of these clips, `margin` frames inside them.
    pub fn of(dataset: &Dataset, clips: impl Iterator<Item = usize>, margin: usize) -> Self {
        let (mut places, mut codes) = (Vec::new(), Vec::new());
        for index in clips {
            let clip = &dataset.clips[index];
            for frame in (margin..clip.frames().saturating_sub(margin + 1)).step_by(STRIDE) {
                if clip.supported[frame] && Gait::dominant(&clip.recording.gait[frame]) == Gait::Walk {
                    places.push((index, frame));
                    codes.extend(unit(&clip.phase_codes[frame]));
                }
            }
        }
        Self { places, codes }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Lets a share of the rollouts that have just begun, but for those with a body, begin in the plain walk whose phase is
    /// nearest to theirs. The root stays where it is.
    pub fn begin_there(
        &self,
        dataset: &Dataset,
        rollouts: &mut [Rollout],
        is_new: impl Fn(usize, &Rollout) -> bool,
        share: f32,
        rng: &mut ChaCha8Rng,
    ) {
        if self.is_empty() {
            return;
        }
        for (number, rollout) in rollouts.iter_mut().enumerate() {
            if rollout.kind() != RolloutKind::Unhindered
                || !is_new(number, rollout)
                || rng.random::<f32>() >= share
            {
                continue;
            }
            let Some((clip, frame)) = self.nearest(dataset, (rollout.clip, rollout.frame)) else { continue };
            let mut state = dataset.clips[clip].clean[frame].clone();
            state.frame.clone_from(&rollout.state.frame);
            rollout.state = state;
        }
    }

    /// Clip and frame of the state whose phase is nearest to that of another clip and frame; `None` where there is none.
    pub fn nearest(&self, dataset: &Dataset, (clip, frame): (usize, usize)) -> Option<(usize, usize)> {
        let code = &dataset.clips[clip].phase_codes[frame];
        let agreement = |other: &[f32]| code.iter().zip(other).map(|(a, b)| a * b).sum::<f32>();
        let codes = self.codes.chunks_exact(code.len()).map(agreement).enumerate();
        let (nearest, _) = codes.max_by(|a, b| a.1.total_cmp(&b.1))?;
        Some(self.places[nearest])
    }
}

fn unit(code: &[f32]) -> impl Iterator<Item = f32> + '_ {
    let length = code.iter().map(|value| value * value).sum::<f32>().sqrt().max(f32::EPSILON);
    code.iter().map(move |value| value / length)
}

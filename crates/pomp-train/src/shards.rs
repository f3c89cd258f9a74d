//! Recordings that take turns in memory, so that training needs no more of it when there are more of them.

use crate::TrainError;
use crate::dataset::{Dataset, TrainingClip};
use crate::split::Split;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use std::path::{Path, PathBuf};

/// Of so many recordings in memory one is to measure with.
const MEASURED_SHARE: usize = 4;

/// What a dataset knows of the recordings that are not in memory.
#[derive(Debug)]
pub(crate) struct Shards {
    /// Recordings to learn from.
    training: Vec<PathBuf>,
    /// As many of them as are in memory at a time.
    resident: usize,
    seed: u64,
    split: Split,
    /// Which of them are: turn 0, 1, 2, …
    turn: usize,
    /// All recordings, all frames, all held-out recordings.
    pub totals: [usize; 3],
    /// Sources with their licences and seconds.
    pub provenance: Vec<(String, f32)>,
}

impl Shards {
    /// Divides recordings, each with whether it is held out, into those that take turns and a fixed few to measure with.
    /// Gives the latter too. Without any that is held out, or with nothing else, all take turns.
    pub fn new(
        recordings: Vec<(PathBuf, bool)>,
        resident: usize,
        seed: u64,
        split: Split,
    ) -> (Self, Vec<PathBuf>) {
        let none_to_learn_from = recordings.iter().all(|(_, held_out)| *held_out);
        let (held_out, training): (Vec<_>, Vec<_>) =
            recordings.into_iter().partition(|(_, held_out)| *held_out && !none_to_learn_from);
        let [held_out, training] =
            [held_out, training].map(|part| part.into_iter().map(|(path, _)| path).collect::<Vec<_>>());
        let measured = (resident / MEASURED_SHARE).max(1);
        let stride = held_out.len().div_ceil(measured).max(1);
        let held_out = held_out.into_iter().step_by(stride).collect();
        let split = if none_to_learn_from { split.without_held_out() } else { split };
        let shards = Self {
            resident: resident.min(training.len()),
            training,
            seed,
            split,
            turn: 0,
            totals: [0; 3],
            provenance: Vec::new(),
        };
        (shards, held_out)
    }

    /// As the configuration says; nothing is held out where nothing else would be left.
    pub fn split(&self) -> &Split {
        &self.split
    }

    /// The recordings of a turn: the next of a sequence of shuffles of all, so that all come equally often.
    pub fn of_turn(&self, turn: usize) -> Vec<&Path> {
        let count = self.training.len();
        let (first, mut chosen) = (turn * self.resident, Vec::with_capacity(self.resident));
        let (mut cycle, mut order) = (usize::MAX, Vec::new());
        for at in first..first + self.resident {
            if at / count != cycle {
                cycle = at / count;
                order = (0..count).collect();
                let mut rng = ChaCha8Rng::seed_from_u64(self.seed ^ (cycle as u64).rotate_left(32));
                order.shuffle(&mut rng);
            }
            chosen.push(order[at % count]);
        }
        // Across two shuffles one recording may come twice; once is enough.
        chosen.sort_unstable();
        chosen.dedup();
        chosen.into_iter().map(|index| self.training[index].as_path()).collect()
    }
}

impl Dataset {
    /// Whether recordings take turns in memory.
    pub(crate) fn is_streamed(&self) -> bool {
        self.shards.is_some()
    }

    /// Brings the recordings of `turn` into memory in place of those of another one; does nothing when they are there, or when
    /// all are. Phases of what was read are not.
    ///
    /// # Errors
    /// A recording that can no longer be read.
    pub(crate) fn turn_to(&mut self, turn: usize) -> Result<(), TrainError> {
        let Some(shards) = self.shards.as_mut().filter(|shards| shards.turn != turn) else {
            return Ok(());
        };
        shards.turn = turn;
        let shards = self.shards.as_ref().expect("it was there a line ago");
        // The old ones go before the new ones come.
        let mut clips = std::mem::take(&mut self.clips);
        clips.retain(|clip| clip.held_out);
        for read in TrainingClip::read_all(&shards.of_turn(turn), &shards.split) {
            clips.push(read?.0);
        }
        self.clips = clips;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one_in(held_out_every: usize) -> Split {
        Split { held_out_every, ..Split::default() }
    }

    fn shards(count: usize, resident: usize) -> (Shards, Vec<PathBuf>) {
        let recordings = (0..count).map(|i| (PathBuf::from(format!("{i}")), i % 5 == 4)).collect();
        Shards::new(recordings, resident, 7, one_in(5))
    }

    #[test]
    fn every_recording_has_its_turn_equally_often_and_no_turn_is_too_large() {
        let (shards, held_out) = shards(50, 8);
        assert_eq!((shards.training.len(), held_out.len()), (40, 2));
        let mut counts = std::collections::BTreeMap::new();
        for turn in 0..10 {
            let chosen = shards.of_turn(turn);
            assert!(chosen.len() <= 8);
            for path in chosen {
                *counts.entry(path.to_owned()).or_insert(0) += 1;
            }
        }
        assert_eq!(counts.len(), 40);
        assert!(counts.values().all(|count| *count == 2), "two whole shuffles: {counts:?}");
    }

    #[test]
    fn a_turn_depends_on_the_seed_and_its_number_alone() {
        let [a, b] = [0, 1].map(|_| shards(30, 7).0);
        assert_eq!(a.of_turn(0), b.of_turn(0));
        assert_eq!(a.of_turn(9), b.of_turn(9));
        assert_ne!(a.of_turn(0), a.of_turn(1));
    }

    #[test]
    fn nothing_is_held_out_when_everything_would_be() {
        let recordings = vec![(PathBuf::from("a"), true), (PathBuf::from("b"), true)];
        let (shards, held_out) = Shards::new(recordings, 5, 1, one_in(2));
        assert!(held_out.is_empty());
        assert_eq!(shards.of_turn(3).len(), 2);
    }
}

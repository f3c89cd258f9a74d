//! Candidates that are tried on bodies of their own.

use crate::GeneratorError;
use crate::character::Character;
use rayon::prelude::*;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

const WHOLE: &str = "no thread panics with the list in its hands";

/// A candidate that has been tried, and its score.
pub(super) type Tried<C> = (C, f32);

/// Bodies on which candidates are tried, as many as there have been threads at once.
#[derive(Default)]
pub(super) struct Trials(Mutex<Vec<Character>>);

impl Trials {
    /// The best of `candidates` and `best` by the score that `attempt` gives them; of equals the first. Bodies are made like `character`. An
    /// attempt need not go on when it cannot reach the [`Highest`] score any more.
    pub fn best_of<C: Send>(
        &self,
        character: &Character,
        candidates: Vec<C>,
        best: Tried<C>,
        attempt: impl Fn(&mut Character, &C, &Highest) -> Result<f32, GeneratorError> + Sync,
    ) -> Result<Tried<C>, GeneratorError> {
        let highest = Highest(AtomicU32::new(best.1.to_bits()));
        let attempts = candidates.into_par_iter().with_max_len(1).map(|candidate| {
            let mut body = self.body(character)?;
            let score = attempt(&mut body, &candidate, &highest);
            self.0.lock().expect(WHOLE).push(body);
            Ok((candidate, score?))
        });
        let tried: Vec<Tried<C>> = attempts.collect::<Result<_, GeneratorError>>()?;
        Ok(tried.into_iter().fold(best, |best, other| if other.1 > best.1 { other } else { best }))
    }

    /// A body that no other thread has.
    fn body(&self, character: &Character) -> Result<Character, GeneratorError> {
        let free = self.0.lock().expect(WHOLE).pop();
        free.map_or_else(|| character.another(), Ok)
    }
}

/// Weight of a frame of an attempt at this share of the horizon, 1 on average: where the body ends counts more than how it gets there.
pub(super) fn weight(elapsed: f32) -> f32 {
    0.5 + elapsed
}

/// The highest score of all threads so far.
pub(super) struct Highest(AtomicU32);

impl Highest {
    pub fn get(&self) -> f32 {
        f32::from_bits(self.0.load(Ordering::Relaxed))
    }

    pub fn raise(&self, score: f32) {
        let raised = |bits| (score > f32::from_bits(bits)).then(|| score.to_bits());
        // An error says that there is a higher one.
        let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, raised);
    }
}

//! Queries that the projector learns to answer.

use crate::learned_frames::Frames;
use crate::rows::normal;
use pomp_controllers::matching::{MatchingDatabase, Place};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// Values of the features that say where the way leads: the last ones.
const WAY: usize = 12;
/// Deviation of the noise on the way of another frame, in features' units.
const NOISE: f32 = 0.1;

/// Draws queries over the entries of a database.
pub(crate) struct Queries<'a> {
    database: &'a MatchingDatabase,
    frames: &'a Frames,
    /// Rows of the entries.
    entries: Vec<usize>,
    /// First row of every clip.
    first_rows: Vec<usize>,
    deviation: Vec<f32>,
}

/// Queries, row-major, and the row of the entry that is nearest to each.
pub(crate) struct Drawn {
    pub values: Vec<f32>,
    pub nearest: Vec<usize>,
}

impl<'a> Queries<'a> {
    pub fn new(database: &'a MatchingDatabase, frames: &'a Frames) -> Self {
        let mut first_rows = vec![0; database.clips().len()];
        for (row, place) in frames.places.iter().enumerate() {
            if place.frame == 0 {
                first_rows[place.clip] = row;
            }
        }
        let row = |place: Place| first_rows[place.clip] + place.frame;
        let entries = (0..database.entries()).map(|entry| row(database.place(entry))).collect();
        Self { database, frames, entries, first_rows, deviation: frames.features.scales().deviation }
    }

    /// By turns an entry with noise of any size (Holden et al. 2020, §5.3), and one whose way is another's, as a command asks.
    pub fn draw(&self, count: usize, rng: &mut ChaCha8Rng) -> Drawn {
        let queries =
            (0..count).map(|number| if number % 2 == 0 { self.noisy(rng) } else { self.asked(rng) });
        self.answered(&queries.collect::<Vec<_>>())
    }

    /// Queries whose way is that of another entry.
    pub fn draw_asked(&self, count: usize, rng: &mut ChaCha8Rng) -> Drawn {
        self.answered(&(0..count).map(|_| self.asked(rng)).collect::<Vec<_>>())
    }

    fn any(&self, rng: &mut ChaCha8Rng) -> &[f32] {
        self.frames.features.row(self.entries[rng.random_range(0..self.entries.len())])
    }

    fn noisy(&self, rng: &mut ChaCha8Rng) -> Vec<f32> {
        let size = rng.random::<f32>();
        let entry = self.any(rng);
        entry
            .iter()
            .zip(&self.deviation)
            .map(|(value, own)| value + size * (own + 1.0) * normal(rng))
            .collect()
    }

    fn asked(&self, rng: &mut ChaCha8Rng) -> Vec<f32> {
        let mut query = self.any(rng).to_vec();
        let start = query.len() - WAY;
        query[start..].copy_from_slice(&self.any(rng)[start..]);
        query[start..].iter_mut().for_each(|value| *value += NOISE * normal(rng));
        query
    }

    fn answered(&self, queries: &[Vec<f32>]) -> Drawn {
        let nearest = queries.par_iter().map(|query| {
            let found = self.database.nearest(query, None, f32::INFINITY);
            let (place, _) = found.expect("a database has entries, and a query is finite");
            self.first_rows[place.clip] + place.frame
        });
        Drawn { nearest: nearest.collect(), values: queries.concat() }
    }
}

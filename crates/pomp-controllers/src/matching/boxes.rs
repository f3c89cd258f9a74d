//! Nearest vectors, found by bounding boxes over successive ones (Holden et al. 2020).

use std::ops::Range;

/// Vectors in a small box, and small boxes in a large one: boxes hold 16 and 64 successive vectors.
const SMALL: usize = 16;
const PER_LARGE: usize = 4;
const LARGE: usize = SMALL * PER_LARGE;
/// Values that are compared at a time.
const LANES: usize = 8;

type Lane = [f32; LANES];

/// Vectors of one width with their bounding boxes.
#[derive(Clone, Debug)]
pub(super) struct Boxes {
    /// Lanes of a vector.
    lanes: usize,
    rows: Vec<Lane>,
    /// Lowest and highest values of each box, one after the other.
    small: Vec<Lane>,
    large: Vec<Lane>,
}

/// What a search has found so far.
trait Found {
    /// A vector that may be taken.
    fn offer(&mut self, distance: f32, row: usize);

    /// Whether no vector from `row` on whose distance is at least `bound` can be better.
    ///
    /// A bound is summed up as distances are, of gaps that are no larger: rounding keeps the order, so that it exceeds the
    /// distance of no vector in its box.
    fn rules_out(&self, bound: f32, row: usize) -> bool;
}

/// The best vectors so far, nearest first, the first among equals first; no more than `count`.
struct Few {
    count: usize,
    found: Vec<(usize, f32)>,
}

impl Found for Few {
    fn offer(&mut self, distance: f32, row: usize) {
        let at = self.found.partition_point(|(other, nearer)| (*nearer, *other) < (distance, row));
        if at < self.count {
            self.found.truncate(self.count - 1);
            self.found.insert(at, (row, distance));
        }
    }

    fn rules_out(&self, bound: f32, row: usize) -> bool {
        self.found.len() == self.count
            && self.found.last().is_none_or(|(last, farthest)| (bound, row) >= (*farthest, *last))
    }
}

/// The best vector so far: the first among equals.
#[derive(Clone, Copy)]
struct Best {
    distance: f32,
    row: usize,
    is_found: bool,
}

impl Best {
    /// Nothing yet; only what is nearer than `below` will be taken.
    fn below(distance: f32) -> Self {
        Self { distance, row: 0, is_found: false }
    }
}

impl Found for Best {
    fn offer(&mut self, distance: f32, row: usize) {
        if distance < self.distance || (distance == self.distance && row < self.row) {
            *self = Self { distance, row, is_found: true };
        }
    }

    fn rules_out(&self, bound: f32, row: usize) -> bool {
        bound > self.distance || (bound == self.distance && row >= self.row)
    }
}

impl Boxes {
    /// Boxes over vectors of `width` values, row-major.
    pub fn new(values: &[f32], width: usize) -> Self {
        let lanes = width.div_ceil(LANES);
        let rows: Vec<Lane> = values.chunks_exact(width).flat_map(padded).collect();
        let bounds = |per_box: usize| {
            rows.chunks(per_box * lanes)
                .flat_map(|inside| {
                    let mut low_high =
                        [vec![[f32::INFINITY; LANES]; lanes], vec![[f32::NEG_INFINITY; LANES]; lanes]];
                    for (index, lane) in inside.iter().enumerate() {
                        for (at, value) in lane.iter().enumerate() {
                            let [low, high] = &mut low_high;
                            low[index % lanes][at] = low[index % lanes][at].min(*value);
                            high[index % lanes][at] = high[index % lanes][at].max(*value);
                        }
                    }
                    low_high.into_iter().flatten()
                })
                .collect()
        };
        Self { small: bounds(SMALL), large: bounds(LARGE), lanes, rows }
    }

    /// Number of vectors.
    pub fn len(&self) -> usize {
        self.rows.len() / self.lanes
    }

    /// The vector nearest to `query` of those outside `excluded` whose squared distance is less than `below`, and that distance; the
    /// first among equals.
    pub fn nearest(&self, query: &[f32], excluded: &Range<usize>, below: f32) -> Option<(usize, f32)> {
        let mut best = Best::below(below);
        self.search(query, excluded, &mut best);
        best.is_found.then_some((best.row, best.distance))
    }

    /// The `count` vectors nearest to `query` of those outside `excluded`, nearest first, with their squared distances; fewer when
    /// there are fewer. Of equals the first ones.
    pub fn nearest_few(&self, query: &[f32], excluded: &Range<usize>, count: usize) -> Vec<(usize, f32)> {
        let mut few = Few { count, found: Vec::with_capacity(count) };
        self.search(query, excluded, &mut few);
        few.found
    }

    fn search(&self, query: &[f32], excluded: &Range<usize>, best: &mut impl Found) {
        let query: Vec<Lane> = padded(query).collect();
        let bounds: Vec<f32> =
            self.large.chunks_exact(2 * self.lanes).map(|bounds| box_distance(bounds, &query)).collect();
        let Some(nearest) = (0..bounds.len()).min_by(|a, b| bounds[*a].total_cmp(&bounds[*b])) else {
            return;
        };
        for large in std::iter::once(nearest).chain((0..bounds.len()).filter(|large| *large != nearest)) {
            if !best.rules_out(bounds[large], large * LARGE) {
                self.look_into(large, &query, excluded, best);
            }
        }
    }

    fn look_into(&self, large: usize, query: &[Lane], excluded: &Range<usize>, best: &mut impl Found) {
        let boxes = self.small.chunks_exact(2 * self.lanes).enumerate();
        for (small, bounds) in boxes.skip(large * PER_LARGE).take(PER_LARGE) {
            if best.rules_out(box_distance(bounds, query), small * SMALL) {
                continue;
            }
            for row in small * SMALL..((small + 1) * SMALL).min(self.len()) {
                if !excluded.contains(&row) {
                    best.offer(self.row_distance(row, query), row);
                }
            }
        }
    }

    /// As [`Self::nearest`], by comparing all vectors.
    pub fn nearest_of_all(&self, query: &[f32], excluded: &Range<usize>, below: f32) -> Option<(usize, f32)> {
        let query: Vec<Lane> = padded(query).collect();
        let mut best = Best::below(below);
        for row in (0..self.len()).filter(|row| !excluded.contains(row)) {
            best.offer(self.row_distance(row, &query), row);
        }
        best.is_found.then_some((best.row, best.distance))
    }

    /// Squared distance of two vectors, as those of a search.
    pub fn distance_between(a: &[f32], b: &[f32]) -> f32 {
        let b: Vec<Lane> = padded(b).collect();
        distance(&padded(a).collect::<Vec<_>>(), &b)
    }

    /// The values of a vector.
    pub fn row(&self, row: usize) -> impl Iterator<Item = f32> {
        self.rows[row * self.lanes..(row + 1) * self.lanes].iter().flatten().copied()
    }

    /// Squared distance of a vector from `query`, as that of a search.
    pub fn distance(&self, row: usize, query: &[f32]) -> f32 {
        self.row_distance(row, &padded(query).collect::<Vec<_>>())
    }

    fn row_distance(&self, row: usize, query: &[Lane]) -> f32 {
        distance(&self.rows[row * self.lanes..(row + 1) * self.lanes], query)
    }
}

/// Lanes of a vector, filled up with zeros.
fn padded(values: &[f32]) -> impl Iterator<Item = Lane> {
    values.chunks(LANES).map(|part| {
        let mut lane = [0.0; LANES];
        lane[..part.len()].copy_from_slice(part);
        lane
    })
}

fn distance(row: &[Lane], query: &[Lane]) -> f32 {
    let mut sums = [0.0; LANES];
    for (row, query) in row.iter().zip(query) {
        for at in 0..LANES {
            let gap = row[at] - query[at];
            sums[at] += gap * gap;
        }
    }
    sums.iter().sum()
}

/// Squared distance of a box, its lowest values followed by its highest ones.
fn box_distance(bounds: &[Lane], query: &[Lane]) -> f32 {
    let (low, high) = bounds.split_at(bounds.len() / 2);
    let mut sums = [0.0; LANES];
    for ((low, high), query) in low.iter().zip(high).zip(query) {
        for at in 0..LANES {
            let gap = (low[at] - query[at]).max(query[at] - high[at]).max(0.0);
            sums[at] += gap * gap;
        }
    }
    sums.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pomp_motion::random::Draws;
    use std::time::Instant;

    const WIDTH: usize = 27;

    /// Vectors as clips have them: some values swing about once a second, the others wander, and every few seconds there is a cut. The
    /// last ones say the first ones again.
    fn wandering(rows: usize, seed: u64) -> Vec<f32> {
        let mut draws = Draws::new(seed, 0);
        let mut values: Vec<f32> = Vec::with_capacity(rows * WIDTH);
        let (mut walks, mut phases, mut rate) = ([0.0f32; WIDTH], [0.0f32; WIDTH], 0.0);
        for row in 0..rows - 100 {
            if row % 400 == 0 {
                walks = std::array::from_fn(|_| normal(&mut draws));
                phases = std::array::from_fn(|_| normal(&mut draws));
                rate = 0.1 + 0.03 * normal(&mut draws);
            }
            for value in 0..WIDTH {
                walks[value] = walks[value] * 0.998 + 0.06 * normal(&mut draws);
                let swing =
                    if value < 15 { 1.4 * (phases[value] + rate * row as f32).sin() } else { walks[value] };
                values.push(swing + 0.1 * walks[value]);
            }
        }
        values.extend_from_within(..100 * WIDTH);
        values
    }

    /// About normal: the sum of twelve uniform numbers.
    fn normal(draws: &mut Draws) -> f32 {
        (0..12).map(|_| draws.share()).sum::<f32>() - 6.0
    }

    /// A query near a vector, at a vector, or anywhere.
    fn query(values: &[f32], number: usize, draws: &mut Draws) -> Vec<f32> {
        let row = (draws.share() * (values.len() / WIDTH - 1) as f32) as usize;
        let noise = [0.3, 0.0, 1.0][number % 3];
        values[row * WIDTH..(row + 1) * WIDTH].iter().map(|value| value + noise * normal(draws)).collect()
    }

    #[test]
    fn boxes_find_what_a_search_through_all_vectors_finds() {
        let values = wandering(5_003, 1);
        let boxes = Boxes::new(&values, WIDTH);
        assert_eq!(boxes.len(), 5_003);
        let mut draws = Draws::new(2, 0);
        let mut ties = 0;
        for number in 0..10_000 {
            let query = query(&values, number, &mut draws);
            let start = (draws.share() * 5_000.0) as usize;
            let excluded = [0..0, start..start + 41][number % 2].clone();
            let below = [f32::INFINITY, 4.0, 0.0][number % 7 % 3];
            let found = boxes.nearest(&query, &excluded, below);
            assert_eq!(found, boxes.nearest_of_all(&query, &excluded, below), "query {number}");
            ties += usize::from(found.is_some_and(|(row, _)| row < 100));
        }
        assert!(ties > 20, "{ties} queries had two answers");
    }

    #[test]
    fn the_few_nearest_are_the_first_of_all_in_order() {
        let values = wandering(2_003, 6);
        let boxes = Boxes::new(&values, WIDTH);
        let mut draws = Draws::new(7, 0);
        for number in 0..600 {
            let query = query(&values, number, &mut draws);
            let start = (draws.share() * 2_000.0) as usize;
            let excluded = [0..0, start..start + 41][number % 2].clone();
            let mut all: Vec<(usize, f32)> = (0..boxes.len())
                .filter(|row| !excluded.contains(row))
                .map(|row| (row, boxes.distance(row, &query)))
                .collect();
            all.sort_by(|a, b| a.1.total_cmp(&b.1));
            let count = [1, 20, 5_000][number % 3];
            let found = boxes.nearest_few(&query, &excluded, count);
            assert_eq!(found, all[..count.min(all.len())], "query {number}");
        }
    }

    #[test]
    fn a_vector_is_nearest_to_itself() {
        let values = wandering(3_000, 3);
        let boxes = Boxes::new(&values, WIDTH);
        for row in 0..2_900 {
            let query = &values[row * WIDTH..(row + 1) * WIDTH];
            assert_eq!(boxes.nearest(query, &(0..0), f32::INFINITY), Some((row, 0.0)));
            assert!(boxes.row(row).zip(query).all(|(a, b)| a == *b));
            // Nothing is nearer than nothing.
            assert_eq!(boxes.nearest(query, &(0..0), 0.0), None);
        }
    }

    #[test]
    fn boxes_are_three_times_as_fast_as_all_vectors_at_50_000() {
        let values = wandering(50_000, 4);
        let boxes = Boxes::new(&values, WIDTH);
        let mut draws = Draws::new(5, 0);
        let queries: Vec<Vec<f32>> = (0..300).map(|number| query(&values, number, &mut draws)).collect();
        let time = |search: &dyn Fn(&[f32]) -> bool| {
            // The best of three rounds: other work on the machine slows rounds, it speeds none up.
            let round = |_| {
                let clock = Instant::now();
                let found = queries.iter().filter(|query| search(query)).count();
                assert_eq!(found, queries.len());
                clock.elapsed().as_secs_f64() * 1e3 / queries.len() as f64
            };
            (0..3).map(round).fold(f64::INFINITY, f64::min)
        };
        let all = time(&|query| boxes.nearest_of_all(query, &(0..0), f32::INFINITY).is_some());
        let by_boxes = time(&|query| boxes.nearest(query, &(0..0), f32::INFINITY).is_some());
        println!("all vectors {all:.3} ms, boxes {by_boxes:.3} ms: {:.1} times", all / by_boxes);
        if !cfg!(debug_assertions) {
            assert!(all > 3.0 * by_boxes, "{all} ms against {by_boxes} ms");
        }
    }
}

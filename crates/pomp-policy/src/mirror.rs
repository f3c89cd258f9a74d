//! What the policy sees and does, of a body and a world that are mirrored at the median plane of the heading.

use crate::observation::{ACROSS_M, AHEAD_M, KEYS_AHEAD, SPINE};
use crate::{ACTIONS, OBSERVATIONS};
use pomp_motion::legs::LEGS;

/// Mirrors rows of numbers: which number takes the place of each, and with which sign.
#[derive(Clone, Debug, PartialEq)]
pub struct Mirror {
    parts: Vec<(usize, f32)>,
}

/// Builds a mirror number by number.
#[derive(Default)]
struct Builder {
    parts: Vec<(usize, f32)>,
}

/// Signs of the components of a vector that points somewhere, and of one about which something turns: X points to the left.
const POINTS: [f32; 3] = [-1.0, 1.0, 1.0];
const TURNS: [f32; 3] = [1.0, -1.0, -1.0];

impl Builder {
    /// Numbers with these signs, that stay on their side.
    fn middle(&mut self, signs: &[f32]) {
        let first = self.parts.len();
        self.parts.extend(signs.iter().enumerate().map(|(at, sign)| (first + at, *sign)));
    }

    /// Numbers with these signs of the left side, then as many of the right.
    fn sides(&mut self, signs: &[f32]) {
        let (first, count) = (self.parts.len(), signs.len());
        for from in [first + count, first] {
            self.parts.extend(signs.iter().enumerate().map(|(at, sign)| (from + at, *sign)));
        }
    }

    /// The components of an action.
    fn action(&mut self) {
        self.sides(&POINTS);
        self.middle(&POINTS);
        self.middle(&TURNS);
        self.middle(&TURNS);
        self.sides(&TURNS);
    }
}

impl Mirror {
    /// That of observations.
    pub fn of_observations() -> Self {
        let mut builder = Builder::default();
        builder.middle(&[POINTS; 6].concat());
        builder.middle(&[TURNS; 3].concat());
        builder.sides(&[POINTS; 4].concat());
        builder.sides(&[POINTS; 2].concat());
        builder.sides(&POINTS);
        builder.sides(&[1.0]);
        builder.sides(&[1.0; 2]);
        builder.middle(&[[-1.0, 1.0, -1.0]; KEYS_AHEAD.len()].concat());
        for _ in AHEAD_M {
            let first = builder.parts.len();
            builder.parts.extend((0..ACROSS_M.len()).rev().map(|at| (first + at, 1.0)));
        }
        builder.sides(&[TURNS; 3 * LEGS[0].len()].concat());
        builder.middle(&[TURNS; SPINE.len()].concat());
        builder.action();
        assert_eq!(builder.parts.len(), OBSERVATIONS, "every number is mirrored");
        let first = OBSERVATIONS - ACTIONS;
        debug_assert!(builder.parts[first..].iter().all(|(from, _)| *from >= first));
        Self { parts: builder.parts }
    }

    /// That of actions.
    pub fn of_actions() -> Self {
        let mut builder = Builder::default();
        builder.action();
        Self { parts: builder.parts }
    }

    /// Mirrored rows.
    pub fn rows(&self, rows: &[f32]) -> Vec<f32> {
        let width = self.parts.len();
        let mirrored =
            |row: &[f32]| -> Vec<f32> { self.parts.iter().map(|(from, sign)| row[*from] * sign).collect() };
        rows.chunks_exact(width).flat_map(mirrored).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_is_mirrored_twice_is_itself() {
        for (mirror, width) in [(Mirror::of_observations(), OBSERVATIONS), (Mirror::of_actions(), ACTIONS)] {
            let row: Vec<f32> = (0..width).map(|at| at as f32 + 0.5).collect();
            assert_eq!(mirror.rows(&mirror.rows(&row)), row);
            assert_ne!(mirror.rows(&row), row);
        }
    }
}

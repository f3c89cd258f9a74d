//! When a stage ends before its last step, and which of its weights are kept then.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How long each stage continues without improving on held-out clips before it ends.
///
/// With 0, a stage runs all its steps and keeps its last weights. Otherwise it keeps the weights with the best
/// measurement, even if it runs to its end, so a large number keeps the best weights without ending early. With too
/// small a number, a temporary setback ends the training.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EarlyStopping {
    /// Number of epochs of the periodic autoencoder, which is measured by its reconstruction error.
    pub phase: usize,
    /// Number of epochs of the aligned encoder, which is measured by the distance of its phase codes from the clean
    /// ones.
    pub aligned_phase: usize,
    /// Number of measurements of the kinematic module, one every 1000 steps; it is measured by its error half a
    /// second ahead.
    pub kinematic: usize,
}

/// The best measurement so far.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Best {
    /// Step at which it was measured.
    pub step: usize,
    /// What was measured; less is better.
    pub value: f32,
    /// Measurements since then.
    pub since: usize,
}

/// The measurements of one stage.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Course {
    patience: usize,
    best: Option<Best>,
}

impl Course {
    /// `patience` as in [`EarlyStopping`], `best` as the checkpoint has it.
    pub fn new(patience: usize, best: Option<Best>) -> Self {
        Self { patience, best: best.filter(|_| patience > 0) }
    }

    /// The best so far; none when the last weights are kept.
    pub fn best(&self) -> Option<Best> {
        self.best
    }

    /// Whether patience is at its end.
    pub fn is_over(&self) -> bool {
        self.best.is_some_and(|best| best.since >= self.patience)
    }

    /// Takes a measurement in; says whether its weights are the ones to keep.
    pub fn measured(&mut self, step: usize, value: f32) -> bool {
        if self.patience == 0 {
            return false;
        }
        match &mut self.best {
            Some(best) if value >= best.value => {
                best.since += 1;
                false
            }
            best => {
                *best = Some(Best { step, value, since: 0 });
                true
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_ends_when_its_patience_does_and_keeps_the_best() {
        let mut course = Course::new(2, None);
        let new: Vec<bool> =
            [3.0, 2.0, 2.5, 1.0, 1.0].iter().zip(1..).map(|(v, step)| course.measured(step, *v)).collect();
        assert_eq!(new, [true, true, false, true, false]);
        assert!(!course.is_over());
        course.measured(6, 9.0);
        assert!(course.is_over());
        assert_eq!(course.best(), Some(Best { step: 4, value: 1.0, since: 2 }));
        assert!(Course::new(2, course.best()).is_over(), "a resumed stage knows it too");
    }

    #[test]
    fn without_patience_nothing_ends_early() {
        let mut course = Course::new(0, None);
        assert!((0..100).all(|step| !course.measured(step, step as f32)));
        assert!(!course.is_over() && course.best().is_none());
    }
}

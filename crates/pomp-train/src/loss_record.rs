//! The loss of a stage between two reports, and its smoothed course.

use serde::{Deserialize, Serialize};

/// Share of the smoothed loss that one step leaves in place: it is a mean over about 500 steps.
const MEMORY: f32 = 0.998;

/// What is noted of a loss. Checkpoints hold it, so that a resumed stage reports what an uninterrupted one does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LossRecord {
    /// Sum since the last report.
    sum: f32,
    /// Steps since the last report.
    count: usize,
    /// Exponential moving average that begins at 0.
    average: f32,
    /// How much of the average the steps so far make up; 1 after many.
    weight: f32,
}

impl LossRecord {
    /// Takes the loss of a step in.
    pub fn add(&mut self, loss: f32) {
        self.sum += loss;
        self.count += 1;
        self.average = MEMORY * self.average + (1.0 - MEMORY) * loss;
        self.weight = MEMORY * self.weight + (1.0 - MEMORY);
    }

    /// The mean over the steps since the last report and the smoothed loss. The next mean begins here.
    pub fn report(&mut self) -> [f32; 2] {
        let mean = self.sum / self.count.max(1) as f32;
        (self.sum, self.count) = (0.0, 0);
        [mean, if self.weight > 0.0 { self.average / self.weight } else { mean }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_is_of_its_own_steps_and_the_smoothed_loss_of_many() {
        let mut record = LossRecord::default();
        for _ in 0..100 {
            record.add(3.0);
        }
        let [mean, smoothed] = record.report();
        assert!((mean - 3.0).abs() < 1e-5 && (smoothed - 3.0).abs() < 1e-3, "no pull towards 0: {smoothed}");
        for _ in 0..100 {
            record.add(1.0);
        }
        let [mean, smoothed] = record.report();
        assert!((mean - 1.0).abs() < 1e-5, "{mean}");
        // 100 of 200 steps, the later half: a little more than half of the way.
        assert!((1.85..1.95).contains(&smoothed), "{smoothed}");
    }

    #[test]
    fn the_smoothed_loss_scatters_less_than_the_means_do() {
        let mut record = LossRecord::default();
        let spread = |values: &[f32]| {
            let mean = values.iter().sum::<f32>() / values.len() as f32;
            (values.iter().map(|value| (value - mean).powi(2)).sum::<f32>() / values.len() as f32).sqrt()
        };
        let reports: Vec<[f32; 2]> = (0..200)
            .map(|report| {
                for step in 0..10 {
                    record.add(1.0 + ((report * 37 + step * 11) % 17) as f32 * 0.1);
                }
                record.report()
            })
            .collect();
        let late = &reports[100..];
        let [means, smoothed] = [0, 1].map(|at| spread(&late.iter().map(|r| r[at]).collect::<Vec<_>>()));
        assert!(smoothed < 0.2 * means, "{smoothed} of {means}");
    }
}

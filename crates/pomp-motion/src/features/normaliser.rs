use super::{Block, BlockName};
use serde::{Deserialize, Serialize};

/// Smallest standard deviation that is divided by, in the block's own unit.
const FLOOR: f32 = 1e-2;

/// Mean and standard deviation per feature, over a training split.
///
/// One-hots, phase codes and contact impulses share one deviation per block, so that a silent channel or a
/// body that rarely touches the ground does not explode; positions, rotations and heights are floored by a
/// tenth of their block's deviation for the same reason.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "UncheckedNormaliser")]
pub struct Normaliser {
    mean: Vec<f32>,
    deviation: Vec<f32>,
}

/// What a file says of a normalisation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UncheckedNormaliser {
    mean: Vec<f32>,
    deviation: Vec<f32>,
}

impl TryFrom<UncheckedNormaliser> for Normaliser {
    type Error = String;
    fn try_from(UncheckedNormaliser { mean, deviation }: UncheckedNormaliser) -> Result<Self, String> {
        if mean.len() != deviation.len() {
            return Err(format!(
                "a normalisation has {} means, but {} deviations",
                mean.len(),
                deviation.len()
            ));
        }
        if let Some(feature) = mean.iter().position(|mean| !mean.is_finite()) {
            return Err(format!("the mean of feature {feature} is {}; it must be finite", mean[feature]));
        }
        let bad = |deviation: &f32| !(deviation.is_normal() && *deviation > 0.0);
        if let Some(feature) = deviation.iter().position(bad) {
            return Err(format!(
                "the deviation of feature {feature} is {}; it must be finite and above 0",
                deviation[feature]
            ));
        }
        Ok(Self { mean, deviation })
    }
}

impl Normaliser {
    /// Fits the features of `rows` (each of the blocks' total length).
    ///
    /// # Panics
    /// When there is no row or a row is shorter than the blocks.
    pub fn fit<'a>(blocks: &[Block], rows: impl Iterator<Item = &'a [f32]>) -> Self {
        let len = blocks.last().map_or(0, |block| block.range.end);
        let (mut sum, mut square, mut count) = (vec![0.0f64; len], vec![0.0f64; len], 0usize);
        for row in rows {
            for ((s, q), v) in sum.iter_mut().zip(&mut square).zip(&row[..len]) {
                *s += f64::from(*v);
                *q += f64::from(*v) * f64::from(*v);
            }
            count += 1;
        }
        assert!(count > 0, "normalisation needs at least one row");
        let n = count as f64;
        let mean: Vec<f32> = sum.iter().map(|s| (s / n) as f32).collect();
        let variance: Vec<f64> =
            square.iter().zip(&sum).map(|(q, s)| (q / n - (s / n) * (s / n)).max(0.0)).collect();
        let mut deviation = vec![0.0; len];
        for block in blocks {
            let range = block.range.clone();
            let pooled =
                (variance[range.clone()].iter().sum::<f64>() / range.len().max(1) as f64).sqrt() as f32;
            for i in range {
                let own = variance[i].sqrt() as f32;
                deviation[i] = match block.name {
                    BlockName::Gait
                    | BlockName::PhaseCodes
                    | BlockName::PhaseParameters
                    | BlockName::ContactImpulses => pooled,
                    BlockName::JointPositions
                    | BlockName::JointVelocities
                    | BlockName::JointRotations
                    | BlockName::RootMotion
                    | BlockName::TerrainHeights
                    | BlockName::Trajectory => own.max(0.1 * pooled),
                }
                .max(FLOOR);
            }
        }
        Self { mean, deviation }
    }

    /// Number of features.
    pub fn len(&self) -> usize {
        self.mean.len()
    }

    /// Whether there are no features.
    pub fn is_empty(&self) -> bool {
        self.mean.is_empty()
    }

    /// Standard deviations, in the features' own units.
    pub fn deviation(&self) -> &[f32] {
        &self.deviation
    }

    /// Means, in the features' own units.
    pub fn mean(&self) -> &[f32] {
        &self.mean
    }

    /// (v − mean) / deviation, in place.
    pub fn normalise(&self, values: &mut [f32]) {
        for ((v, m), d) in values.iter_mut().zip(&self.mean).zip(&self.deviation) {
            *v = (*v - m) / d;
        }
    }

    /// v · deviation + mean, in place.
    pub fn denormalise(&self, values: &mut [f32]) {
        for ((v, m), d) in values.iter_mut().zip(&self.mean).zip(&self.deviation) {
            *v = *v * d + m;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_a_normalisation_of_a_file_that_divides_by_zero_or_is_not_finite() {
        let read = |json: &str| serde_json::from_str::<Normaliser>(json);
        assert_eq!(read("{\"mean\":[1.0],\"deviation\":[2.0]}").unwrap().len(), 1);
        for (json, words) in [
            ("{\"mean\":[1.0],\"deviation\":[]}", "1 means, but 0 deviations"),
            ("{\"mean\":[0.0,1e39],\"deviation\":[1.0,1.0]}", "mean of feature 1 is inf"),
            ("{\"mean\":[0.0],\"deviation\":[0.0]}", "deviation of feature 0 is 0"),
            ("{\"mean\":[0.0],\"deviation\":[-1.0]}", "above 0"),
            ("{\"mean\":[0.0],\"deviation\":[1e39]}", "deviation of feature 0 is inf"),
        ] {
            let said = read(json).unwrap_err().to_string();
            assert!(said.contains(words), "{json}: {said}");
        }
    }
}

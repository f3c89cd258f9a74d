//! The unit of length, by the length of a human leg.

use super::LengthUnit;

/// A unit with its confidence and the reason.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct UnitFinding {
    pub unit: LengthUnit,
    /// 0 to 1.
    pub confidence: f32,
    pub reason: String,
}

/// Length of thigh plus shin of adults and children from about six years on, metres.
const HUMAN_LEG_M: std::ops::Range<f32> = 0.55..1.10;
/// Of an adult, and half the width within which most are, metres.
const ADULT_LEG_M: f32 = 0.83;
const ADULT_HALF_WIDTH_M: f32 = 0.16;
/// Confidence in a scale that is no unit.
const OWN_SCALE: f32 = 0.4;

/// The first unit in which the leg is a human one; where there is none, the scale at which it is an adult's.
pub(super) fn find_unit(leg_length: f32) -> UnitFinding {
    let named = LengthUnit::ALL.into_iter().find(|unit| HUMAN_LEG_M.contains(&(leg_length * unit.metres())));
    let unit = named.unwrap_or(LengthUnit::Metres(ADULT_LEG_M / leg_length));
    let leg_m = leg_length * unit.metres();
    let reason = match named {
        Some(unit) => {
            format!("thigh and shin are {leg_length:.3} file units, a leg of {leg_m:.2} m in {}", unit.name())
        }
        None => format!(
            "thigh and shin are {leg_length:.3} file units, a human leg in no known unit; taken as an adult's of {leg_m:.2} m"
        ),
    };
    let off = ((leg_m - ADULT_LEG_M) / ADULT_HALF_WIDTH_M).abs();
    let confidence = if named.is_some() { 0.95 - 0.3 * (off - 1.0).clamp(0.0, 1.0) } else { OWN_SCALE };
    UnitFinding { unit, confidence, reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn legs_of_adults_are_told_in_every_unit() {
        for unit in LengthUnit::ALL {
            let found = find_unit(0.83 / unit.metres());
            assert_eq!(found.unit, unit, "{}", found.reason);
            assert!(found.confidence > 0.9);
        }
    }

    #[test]
    fn a_scale_that_is_no_unit_is_taken_by_an_adults_leg_with_little_confidence() {
        let found = find_unit(4150.0);
        assert!((found.unit.metres() - 0.0002).abs() < 1e-6, "{found:?}");
        assert!(found.confidence < 0.5 && found.reason.contains("no known unit"));
    }
}

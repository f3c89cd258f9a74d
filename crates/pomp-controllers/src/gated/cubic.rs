//! The cyclic cubic of a phase-functioned network.

/// Control points on the cycle.
pub const CONTROL_POINTS: usize = 4;

/// Weights of the four control points at a phase in turns: the cyclic Catmull-Rom spline through them (PFNN §5). They sum to 1.
///
/// The phase may be any number; whole turns change nothing, to the bit.
pub fn cubic_weights(phase_turns: f32) -> [f32; CONTROL_POINTS] {
    let turns = phase_turns - phase_turns.floor();
    let place = turns * CONTROL_POINTS as f32;
    // A phase just below 1 may round up to the next control point, which is the first one.
    let whole = place.floor();
    let (first, w) = (whole as usize % CONTROL_POINTS, place - whole);
    let (w2, w3) = (w * w, w * w * w);
    let spline = [
        -0.5 * w + w2 - 0.5 * w3,
        1.0 - 2.5 * w2 + 1.5 * w3,
        0.5 * w + 2.0 * w2 - 1.5 * w3,
        -0.5 * w2 + 0.5 * w3,
    ];
    let mut weights = [0.0; CONTROL_POINTS];
    for (place, weight) in spline.into_iter().enumerate() {
        weights[(first + CONTROL_POINTS - 1 + place) % CONTROL_POINTS] = weight;
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spline_is_cyclic_to_the_bit_passes_through_its_points_and_has_no_kink() {
        for step in 0..64 {
            let phase = step as f32 / 64.0;
            for turns in [1.0, 2.0, -1.0] {
                assert_eq!(cubic_weights(phase), cubic_weights(phase + turns), "{phase}");
            }
            assert!((cubic_weights(phase).iter().sum::<f32>() - 1.0).abs() < 1e-6);
        }
        for point in 0..CONTROL_POINTS {
            let mut expected = [0.0; CONTROL_POINTS];
            expected[point] = 1.0;
            assert_eq!(cubic_weights(point as f32 / CONTROL_POINTS as f32), expected);
        }
        let slope = |at: f32| {
            let (a, b) = (cubic_weights(at - 1e-3), cubic_weights(at));
            std::array::from_fn::<f32, CONTROL_POINTS, _>(|i| (b[i] - a[i]) / 1e-3)
        };
        for point in 0..CONTROL_POINTS {
            let at = point as f32 / CONTROL_POINTS as f32;
            for (before, after) in slope(at).into_iter().zip(slope(at + 1e-3)) {
                assert!((before - after).abs() < 0.1, "{before} {after}");
            }
        }
    }
}

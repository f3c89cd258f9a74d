//! Laws of the phase manifold.

use pomp_phase::{ChannelPhase, PhaseState, codes_between, extrapolate_code, update_code};
use std::f32::consts::TAU;

fn channel(amplitude: f32, frequency_hz: f32, shift_turns: f32) -> ChannelPhase {
    ChannelPhase { amplitude, frequency_hz, offset: 0.3, shift_turns }
}

fn assert_near(found: &[f32], expected: &[f32], tolerance: f32) {
    assert_eq!(found.len(), expected.len());
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() <= tolerance, "{found:?} is not {expected:?}");
    }
}

#[test]
fn the_shift_of_a_window_that_slides_forward_advances_at_its_frequency() {
    for (frequency, shift) in [(0.7, -0.2), (1.9, 0.49), (3.3, 0.1)] {
        let now = channel(1.4, frequency, shift);
        let later = now.advanced(0.05);
        let turns = later.shift_turns - now.shift_turns;
        assert!(((turns - frequency * 0.05) - (turns - frequency * 0.05).round()).abs() < 1e-5);
        assert!(later.shift_turns > -0.5 && later.shift_turns <= 0.5);
        for step in -20..20_i16 {
            let t = f32::from(step) / 20.0;
            assert!((later.curve(t) - now.curve(t + 0.05)).abs() < 1e-4, "both centres see one curve");
        }
    }
}

#[test]
fn codes_and_channels_hold_the_same_amplitude_and_angle() {
    let state = PhaseState { channels: vec![channel(2.0, 1.0, 0.125), channel(0.5, 2.0, -0.4)] };
    let code = state.code();
    assert_near(&code[..2], &[2.0 * (TAU / 8.0).cos(), 2.0 * (TAU / 8.0).sin()], 1e-6);
    let back = PhaseState::from_code(&code, &state.frequencies_hz(), &state.offsets()).expect("sizes agree");
    for (a, b) in state.channels.iter().zip(&back.channels) {
        assert!((a.amplitude - b.amplitude).abs() < 1e-6 && (a.shift_turns - b.shift_turns).abs() < 1e-6);
    }
}

#[test]
fn a_prediction_takes_the_angle_from_the_code_and_the_amplitude_from_the_amplitude() {
    let state = PhaseState::from_prediction(&[0.0, 3.0, 1.0, 0.0], &[1.5, -0.2], &[1.0, 1.0], &[0.0, 0.0])
        .expect("sizes agree");
    assert!((state.channels[0].amplitude - 1.5).abs() < 1e-6);
    assert!((state.channels[0].shift_turns - 0.25).abs() < 1e-6);
    assert!(state.channels[1].amplitude.abs() < 1e-6, "a negative amplitude counts as none");
}

#[test]
fn an_extrapolated_code_is_the_code_of_the_advanced_state() {
    let state = PhaseState { channels: vec![channel(2.0, 1.3, 0.125), channel(0.5, 2.0, -0.4)] };
    let extrapolated = extrapolate_code(&state.code(), &state.frequencies_hz(), 0.4).expect("sizes agree");
    assert_near(&extrapolated, &state.advanced(0.4).code(), 1e-5);
}

#[test]
fn a_prediction_that_agrees_with_the_rotation_is_returned() {
    let (frequency, step) = ([1.5, 0.8], 1.0 / 60.0);
    let code = [1.0, 0.0, 0.0, -2.0];
    let expected = extrapolate_code(&code, &frequency, step).expect("sizes agree");
    let updated = update_code(&code, &expected, &[1.0, 2.0], &frequency, step).expect("sizes agree");
    assert_near(&updated, &expected, 1e-6);
}

#[test]
fn the_update_goes_half_the_way_and_takes_the_predicted_amplitude() {
    let at = |turns: f32| [(TAU * turns).cos(), (TAU * turns).sin()];
    // From a tenth of a turn ahead of the last code to half a turn after it: the middle is at 0.3 turns,
    // whatever the lengths of the two.
    let far = at(0.5).map(|value| 7.0 * value);
    let updated = update_code(&at(0.0), &far, &[0.6], &[6.0], 1.0 / 60.0).expect("sizes agree");
    assert_near(&updated, &at(0.3).map(|value| 0.6 * value), 1e-5);
}

#[test]
fn phase_advances_even_when_the_network_predicts_that_it_stands_still() {
    let (mut code, mut turned) = (vec![1.0_f32, 0.0], 0.0);
    for _ in 0..60 {
        let next = update_code(&code, &code, &[1.0], &[2.0], 1.0 / 60.0).expect("sizes agree");
        turned += (code[0] * next[1] - code[1] * next[0]).atan2(code[0] * next[0] + code[1] * next[1]) / TAU;
        code = next;
    }
    assert!((turned - 1.0).abs() < 1e-3, "half of 2 Hz in one second, not {turned} turns");
}

#[test]
fn silent_and_opposite_codes_are_decided_as_documented() {
    let update = |code: [f32; 2], predicted: [f32; 2]| {
        update_code(&code, &predicted, &[2.0], &[0.0], 1.0 / 60.0).expect("sizes agree")
    };
    assert_near(&update([0.0, 0.0], [0.0, 5.0]), &[0.0, 2.0], 1e-6);
    assert_near(&update([0.0, 5.0], [0.0, 0.0]), &[0.0, 2.0], 1e-6);
    assert_near(&update([0.0, 0.0], [0.0, 0.0]), &[0.0, 0.0], 0.0);
    assert_near(&update([1.0, 0.0], [-1.0, 0.0]), &[2.0, 0.0], 1e-6);
    assert_near(
        &update_code(&[1.0, 0.0], &[1.0, 0.0], &[-1.0], &[1.0], 0.1).expect("sizes agree"),
        &[0.0, 0.0],
        0.0,
    );
}

#[test]
fn rejects_codes_of_another_number_of_channels() {
    assert!(update_code(&[1.0, 0.0], &[1.0, 0.0, 0.0, 1.0], &[1.0], &[1.0], 0.1).is_err());
    assert!(update_code(&[1.0, 0.0], &[1.0, 0.0], &[1.0, 1.0], &[1.0], 0.1).is_err());
    assert!(extrapolate_code(&[1.0, 0.0, 1.0], &[1.0], 0.1).is_err());
    assert!(PhaseState::from_code(&[1.0, 0.0], &[1.0, 2.0], &[0.0, 0.0]).is_err());
}

#[test]
fn rejects_states_that_are_not_finite() {
    let state = PhaseState { channels: vec![channel(1.0, 1.0, 0.0), channel(1.0, f32::NAN, 0.0)] };
    let message = state.check_finite().expect_err("a NaN is an error").to_string();
    assert!(message.contains("row 1, column 1"), "{message}");
}

#[test]
fn codes_between_two_turn_along_the_shorter_arc_and_change_their_amplitude_evenly() {
    let code = |amplitude: f32, degrees: f32| {
        let (sin, cos) = degrees.to_radians().sin_cos();
        [amplitude * cos, amplitude * sin]
    };
    let from = [code(1.0, 170.0), code(0.0, 0.0)].concat();
    let to = [code(2.0, -130.0), code(0.5, 90.0)].concat();
    assert_near(&codes_between(&from, &to, 0.25), &[code(1.25, -175.0), code(0.125, 90.0)].concat(), 1e-5);
    assert_near(&codes_between(&from, &to, 0.0), &from, 1e-6);
    assert_near(&codes_between(&from, &to, 1.0), &to, 1e-6);
}

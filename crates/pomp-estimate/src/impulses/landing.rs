//! Landings: frames in which the fast band of the body's motion exceeds the noise of the recording.

use pomp_motion::glam::DVec3;

/// Shortest flight after which a contact is a landing, s.
const FLIGHT_S: f64 = 0.05;
/// How long before its first contact a body may have begun to land, s: labels come late.
const EARLY_S: f64 = 0.1;
/// Speeds of the fall, m/s: steps and runs stay below the first, above the second a landing counts in full.
const FALL_M_S: [f64; 2] = [0.8, 1.6];
/// From how long before the first contact to how long after it a landing counts in full, s.
const FULL_S: [f64; 2] = [0.05, 0.085];
/// How long it takes to count before that and after, s.
const FADE_S: f64 = 0.07;

/// How much each frame from −1 to T − 1 belongs to a landing, 0 to 1 `[T + 1]`. `velocity` is that of the centre of mass
/// at these frames, m/s; `contact` the contacts of the frames 0 to T − 1.
///
/// What fast motion has beyond a filter's band is noise while people walk, and mostly the impact while they land: the
/// noise is the same, and the impact grows with the speed of the fall.
pub(super) fn landings(velocity: &[DVec3], contact: &[[bool; 4]], rate_hz: f64) -> Vec<f64> {
    let frames = contact.len();
    let stands = |frame: usize| contact[frame].contains(&true);
    let early = (EARLY_S * rate_hz).round() as usize;
    let mut share = vec![0.0f64; velocity.len()];
    let mut flight = 0usize;
    for frame in 0..frames {
        if !stands(frame) {
            flight += 1;
            continue;
        }
        let lands = flight as f64 >= FLIGHT_S * rate_hz;
        flight = 0;
        if !lands {
            continue;
        }
        // Entry i of `velocity` is that of frame i − 1.
        let fall =
            velocity[(frame + 1).saturating_sub(early)..=frame + 1].iter().map(|v| -v.y).fold(0.0, f64::max);
        let counts = ((fall - FALL_M_S[0]) / (FALL_M_S[1] - FALL_M_S[0])).clamp(0.0, 1.0);
        for (entry, slot) in share.iter_mut().enumerate() {
            let after_s = (entry as f64 - 1.0 - frame as f64) / rate_hz;
            let away_s = (-FULL_S[0] - after_s).max(after_s - FULL_S[1]).max(0.0);
            let fades = 0.5 + 0.5 * (std::f64::consts::PI * (away_s / FADE_S).min(1.0)).cos();
            *slot = slot.max(counts * fades);
        }
    }
    share
}

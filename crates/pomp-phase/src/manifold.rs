use crate::PhaseError;
use std::f32::consts::{PI, TAU};

/// Below this amplitude a channel is silent: its angle says nothing.
const SILENT_AMPLITUDE: f32 = 1e-6;
/// Directions closer than this to opposite (radians) have no shortest way between them.
const OPPOSITE_MARGIN: f32 = 1e-4;

/// The sinusoid of one phase channel around the centre of its window.
///
/// With t in seconds from the window's centre the channel reads
/// `L(t) = amplitude · sin(2π (frequency_hz · t + shift_turns)) + offset`. With this sign the shift of a
/// window that slides forward in time *advances* at the rate `+frequency_hz` turns per second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ChannelPhase {
    /// Amplitude a, at least 0, in units of the latent curve.
    pub amplitude: f32,
    /// Frequency f, Hz, at least 0.
    pub frequency_hz: f32,
    /// Offset b, in units of the latent curve.
    pub offset: f32,
    /// Shift s at the window's centre, turns in (−0.5, 0.5].
    pub shift_turns: f32,
}

impl ChannelPhase {
    /// The curve at `time_s` seconds from the window's centre.
    pub fn curve(&self, time_s: f32) -> f32 {
        self.amplitude * (TAU * (self.frequency_hz * time_s + self.shift_turns)).sin() + self.offset
    }

    /// The channel's point on the manifold: `[a cos 2πs, a sin 2πs]`.
    pub fn code(&self) -> [f32; 2] {
        let (sin, cos) = (TAU * self.shift_turns).sin_cos();
        [self.amplitude * cos, self.amplitude * sin]
    }

    /// The channel whose point is `code`: amplitude and shift follow from it. The shift of the origin is 0.
    pub fn from_code(code: [f32; 2], frequency_hz: f32, offset: f32) -> Self {
        Self {
            amplitude: code[0].hypot(code[1]),
            frequency_hz,
            offset,
            shift_turns: code[1].atan2(code[0]) / TAU,
        }
    }

    /// The same curve seen from a centre `time_s` later.
    pub fn advanced(&self, time_s: f32) -> Self {
        let turns = self.shift_turns + self.frequency_hz * time_s;
        Self { shift_turns: turns - (turns - 0.5).ceil(), ..*self }
    }
}

/// The phases of one frame: C channels.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PhaseState {
    /// The channels in the order of the network.
    pub channels: Vec<ChannelPhase>,
}

impl PhaseState {
    /// The phase code pe ∈ R^{2C} (DeepPhase eq. 8 with cosine first): pe(2c) = a_c cos 2πs_c,
    /// pe(2c+1) = a_c sin 2πs_c.
    pub fn code(&self) -> Vec<f32> {
        self.channels.iter().flat_map(ChannelPhase::code).collect()
    }

    /// The state of a phase code pe ∈ R^{2C} with frequencies f (Hz) and offsets b, C each.
    ///
    /// # Errors
    /// [`PhaseError::SizeMismatch`].
    pub fn from_code(code: &[f32], frequency_hz: &[f32], offset: &[f32]) -> Result<Self, PhaseError> {
        expect_size("phase code", 2 * frequency_hz.len(), code.len())?;
        expect_size("phase offsets", frequency_hz.len(), offset.len())?;
        let (pairs, _) = code.as_chunks::<2>();
        let channels = pairs
            .iter()
            .zip(frequency_hz.iter().zip(offset))
            .map(|(&pair, (&frequency_hz, &offset))| ChannelPhase::from_code(pair, frequency_hz, offset))
            .collect();
        Ok(Self { channels })
    }

    /// The state of predicted a, f, b and pe, where amplitude comes from `amplitude` (negative counts as 0) and
    /// only the angle from the code: a network predicts the four separately and they need not agree.
    ///
    /// # Errors
    /// [`PhaseError::SizeMismatch`].
    pub fn from_prediction(
        code: &[f32],
        amplitude: &[f32],
        frequency_hz: &[f32],
        offset: &[f32],
    ) -> Result<Self, PhaseError> {
        let mut state = Self::default();
        state.set_prediction(code, amplitude, frequency_hz, offset)?;
        Ok(state)
    }

    /// As [`Self::from_prediction`], in the place of what was there; asks for no memory when the channels are as many. When
    /// it fails nothing is changed.
    ///
    /// # Errors
    /// [`PhaseError::SizeMismatch`].
    pub fn set_prediction(
        &mut self,
        code: &[f32],
        amplitude: &[f32],
        frequency_hz: &[f32],
        offset: &[f32],
    ) -> Result<(), PhaseError> {
        expect_size("phase amplitudes", frequency_hz.len(), amplitude.len())?;
        expect_size("phase code", 2 * frequency_hz.len(), code.len())?;
        expect_size("phase offsets", frequency_hz.len(), offset.len())?;
        let (pairs, _) = code.as_chunks::<2>();
        let parts = pairs.iter().zip(amplitude).zip(frequency_hz.iter().zip(offset));
        self.channels.clear();
        self.channels.extend(parts.map(|((&pair, &amplitude), (&frequency_hz, &offset))| ChannelPhase {
            amplitude: amplitude.max(0.0),
            ..ChannelPhase::from_code(pair, frequency_hz, offset)
        }));
        Ok(())
    }

    /// [`update_code`] of `code`, in its place, with this state as what is predicted for `time_step_s` later.
    ///
    /// # Errors
    /// [`PhaseError::SizeMismatch`]; nothing is changed then.
    pub fn update_in_place(&self, code: &mut [f32], time_step_s: f32) -> Result<(), PhaseError> {
        expect_size("phase code", 2 * self.channels.len(), code.len())?;
        for (old, channel) in code.as_chunks_mut::<2>().0.iter_mut().zip(&self.channels) {
            let predicted = (channel.code(), channel.amplitude, channel.frequency_hz);
            *old = updated_channel(*old, predicted, time_step_s);
        }
        Ok(())
    }

    /// Amplitudes a, per channel.
    pub fn amplitudes(&self) -> Vec<f32> {
        self.channels.iter().map(|channel| channel.amplitude).collect()
    }

    /// Frequencies f, per channel, Hz.
    pub fn frequencies_hz(&self) -> Vec<f32> {
        self.channels.iter().map(|channel| channel.frequency_hz).collect()
    }

    /// Offsets b, per channel.
    pub fn offsets(&self) -> Vec<f32> {
        self.channels.iter().map(|channel| channel.offset).collect()
    }

    /// Every channel advanced by `time_s` at its own frequency.
    pub fn advanced(&self, time_s: f32) -> Self {
        Self { channels: self.channels.iter().map(|channel| channel.advanced(time_s)).collect() }
    }

    /// The first value that is NaN or infinite, as an error.
    ///
    /// # Errors
    /// [`PhaseError::NotFinite`] with the channel as row, and as column a, f, b, s in this order.
    pub fn check_finite(&self) -> Result<(), PhaseError> {
        for (row, c) in self.channels.iter().enumerate() {
            let values = [c.amplitude, c.frequency_hz, c.offset, c.shift_turns];
            if let Some(column) = values.iter().position(|value| !value.is_finite()) {
                return Err(PhaseError::NotFinite { what: "phase state", row, column });
            }
        }
        Ok(())
    }
}

/// Rotates a phase code by f·Δt turns per channel: the future of the code when nothing changes.
///
/// # Errors
/// [`PhaseError::SizeMismatch`] when `code` does not have two values per frequency.
pub fn extrapolate_code(code: &[f32], frequency_hz: &[f32], time_s: f32) -> Result<Vec<f32>, PhaseError> {
    expect_size("phase code", 2 * frequency_hz.len(), code.len())?;
    let (pairs, _) = code.as_chunks::<2>();
    Ok(pairs.iter().zip(frequency_hz).flat_map(|(&pair, &f)| rotate(pair, TAU * f * time_s)).collect())
}

/// The phase update of the closed loop (DeepPhase eq. 9): `P' = A · I(R(2π f Δt) P_t, P_{t+Δt})`.
///
/// `code` is P_t, `predicted_code` P_{t+Δt}, both R^{2C}; `predicted_amplitude` is A and
/// `predicted_frequency_hz` f of t+Δt, R^C each. I goes half the shortest arc from the rotated old direction to
/// the predicted one; its length is always the predicted amplitude (negative counts as 0). Where directions
/// do not decide: a silent code (amplitude below 1e-6) leaves the decision to the other one, two silent codes
/// stay at the origin, and opposite codes follow the rotated old one, so that phase never stands still
/// or runs backwards for lack of a decision.
///
/// # Errors
/// [`PhaseError::SizeMismatch`] when the parts differ in the number of channels.
pub fn update_code(
    code: &[f32],
    predicted_code: &[f32],
    predicted_amplitude: &[f32],
    predicted_frequency_hz: &[f32],
    time_step_s: f32,
) -> Result<Vec<f32>, PhaseError> {
    let channels = predicted_frequency_hz.len();
    expect_size("phase code", 2 * channels, code.len())?;
    expect_size("predicted phase code", 2 * channels, predicted_code.len())?;
    expect_size("predicted amplitudes", channels, predicted_amplitude.len())?;
    let (old, _) = code.as_chunks::<2>();
    let (new, _) = predicted_code.as_chunks::<2>();
    let mut updated = Vec::with_capacity(2 * channels);
    for channel in 0..channels {
        let predicted = (new[channel], predicted_amplitude[channel], predicted_frequency_hz[channel]);
        updated.extend(updated_channel(old[channel], predicted, time_step_s));
    }
    Ok(updated)
}

/// One channel of [`update_code`] of a predicted code, amplitude and frequency (Hz).
fn updated_channel(
    old: [f32; 2],
    (code, amplitude, frequency_hz): ([f32; 2], f32, f32),
    time_step_s: f32,
) -> [f32; 2] {
    let turned = rotate(old, TAU * frequency_hz * time_step_s);
    let amplitude = amplitude.max(0.0);
    direction_between(turned, code, 0.5).map(|value| amplitude * value)
}

/// Phase codes at `share`, 0 to 1, of the way from `from` to `to`, all channels (A·cos 2πS, A·sin 2πS) one after the other: phases along
/// the shorter arc, amplitudes linearly.
pub fn codes_between(from: &[f32], to: &[f32], share: f32) -> Vec<f32> {
    let (from, _) = from.as_chunks::<2>();
    let (to, _) = to.as_chunks::<2>();
    let length = |code: &[f32; 2]| code[0].hypot(code[1]);
    from.iter()
        .zip(to)
        .flat_map(|(from, to)| {
            let amplitude = length(from) + share * (length(to) - length(from));
            direction_between(*from, *to, share).map(|value| amplitude * value)
        })
        .collect()
}

/// Unit direction at `share` of the shorter arc between two vectors; zero when both are silent.
fn direction_between(from: [f32; 2], to: [f32; 2], share: f32) -> [f32; 2] {
    let (from_length, to_length) = (from[0].hypot(from[1]), to[0].hypot(to[1]));
    let unit = |v: [f32; 2], length: f32| [v[0] / length, v[1] / length];
    match (from_length < SILENT_AMPLITUDE, to_length < SILENT_AMPLITUDE) {
        (true, true) => [0.0, 0.0],
        (true, false) => unit(to, to_length),
        (false, true) => unit(from, from_length),
        (false, false) => {
            let arc = (from[0] * to[1] - from[1] * to[0]).atan2(from[0] * to[0] + from[1] * to[1]);
            if arc.abs() > PI - OPPOSITE_MARGIN {
                return unit(from, from_length);
            }
            rotate(unit(from, from_length), share * arc)
        }
    }
}

fn rotate(v: [f32; 2], angle: f32) -> [f32; 2] {
    let (sin, cos) = angle.sin_cos();
    [cos * v[0] - sin * v[1], sin * v[0] + cos * v[1]]
}

pub(crate) fn expect_size(what: &'static str, expected: usize, found: usize) -> Result<(), PhaseError> {
    if expected == found { Ok(()) } else { Err(PhaseError::SizeMismatch { what, expected, found }) }
}

use super::plain_convolution::PlainConvolution;
use super::{load, store};
use crate::PhaseState;
use pomp_lanes::{LANES, LaneLoop, Lanes, Wide};
use std::f32::consts::TAU;

/// A convolution of sinusoids a sin(2π(f t + s)) + b, one per channel, that end with the window.
///
/// With φ the angle of a frame and ψ that of the shift, the tap j frames ahead of frame t sees
/// a sin(φt + ψ) cos φj + a cos(φt + ψ) sin φj + b. So a frame needs three sums over the taps that reach into the window: of
/// w cos φj, of w sin φj and of w. From one frame to the next such a sum gains or loses one tap: all frames together cost as
/// much as one.
#[derive(Clone, Debug)]
pub(super) struct WaveConvolution {
    radius: usize,
    frame_rate_hz: f32,
    weights: PlainConvolution,
    /// What the offset 1 of a channel gives: `[channel][frame][padded outputs]`.
    offset_shares: Vec<f32>,
    waves: Waves,
}

/// The sinusoids of all windows, window by window.
#[derive(Clone, Debug)]
struct Waves {
    /// cos φj and sin φj for j = 0 … radius: `[j][wave]`.
    cosines: Vec<f32>,
    sines: Vec<f32>,
    /// cos φ, sin φ, cos φj and sin φj of the next j. In f64, so that steps of one angle do not drift.
    turns: Vec<[f64; 4]>,
    /// a cos ψ, a sin ψ, b.
    shares: Vec<[f32; 3]>,
}

impl WaveConvolution {
    /// For windows of `radius` frames on each side; taps may not reach further than that.
    pub(super) fn new(weights: PlainConvolution, radius: usize, frame_rate_hz: f32, windows: usize) -> Self {
        let (inputs, outputs) = (weights.inputs, weights.bias.len());
        let frames = 2 * radius + 1;
        let (reach, last) = (weights.reach.cast_signed(), radius.cast_signed());
        let mut offset_shares = vec![0.0; inputs * frames * outputs];
        for (frame, place) in (-last..=last).enumerate() {
            for ahead in (-reach).max(-last - place)..=reach.min(last - place) {
                let tap = weights.tap(ahead);
                for (input, tap) in tap.chunks_exact(outputs).enumerate() {
                    let cells = &mut offset_shares[(input * frames + frame) * outputs..][..outputs];
                    cells.iter_mut().zip(tap).for_each(|(cell, tap)| *cell += tap);
                }
            }
        }
        let count = windows * inputs;
        let waves = Waves {
            cosines: vec![0.0; count * (radius + 1)],
            sines: vec![0.0; count * (radius + 1)],
            turns: vec![[0.0; 4]; count],
            shares: vec![[0.0; 3]; count],
        };
        Self { radius, frame_rate_hz, weights, offset_shares, waves }
    }

    /// Writes the convolved curves of `states`: `[frame][window][padded outputs]`.
    pub(super) fn apply<'a>(
        &mut self,
        lanes: Lanes,
        states: impl Iterator<Item = &'a PhaseState>,
        out: &mut [f32],
    ) {
        self.waves.draw(states, self.frame_rate_hz);
        for cells in out.chunks_exact_mut(self.weights.bias.len()) {
            cells.copy_from_slice(&self.weights.bias);
        }
        lanes.run(Sums { convolution: self, out });
    }
}

impl Waves {
    fn draw<'a>(&mut self, states: impl Iterator<Item = &'a PhaseState>, frame_rate_hz: f32) {
        let channels = states.flat_map(|state| &state.channels);
        for ((turn, share), channel) in self.turns.iter_mut().zip(&mut self.shares).zip(channels) {
            let angle = std::f64::consts::TAU * f64::from(channel.frequency_hz) / f64::from(frame_rate_hz);
            let (sin, cos) = angle.sin_cos();
            *turn = [cos, sin, 1.0, 0.0];
            let (sin, cos) = (TAU * channel.shift_turns).sin_cos();
            *share = [channel.amplitude * cos, channel.amplitude * sin, channel.offset];
        }
        let count = self.turns.len();
        let rows = self.cosines.chunks_exact_mut(count).zip(self.sines.chunks_exact_mut(count));
        for (cosines, sines) in rows {
            for ((cosine, sine), turn) in cosines.iter_mut().zip(sines).zip(&mut self.turns) {
                let [step_cos, step_sin, cos, sin] = *turn;
                (*cosine, *sine) = (cos as f32, sin as f32);
                turn[2] = cos * step_cos - sin * step_sin;
                turn[3] = sin * step_cos + cos * step_sin;
            }
        }
    }
}

struct Sums<'a> {
    convolution: &'a WaveConvolution,
    out: &'a mut [f32],
}

impl LaneLoop for Sums<'_> {
    #[inline(always)]
    fn run<W: Wide>(self, wide: W) {
        let Self { convolution, out } = self;
        let outputs = convolution.weights.bias.len();
        for wave in 0..convolution.waves.turns.len() {
            let mut column = 0;
            while column < outputs {
                let strip = Strip { convolution, wave, column };
                let vectors = match (outputs - column) / LANES {
                    0 | 1 => strip.run::<W, 1>(wide, out),
                    2 => strip.run::<W, 2>(wide, out),
                    _ => strip.run::<W, 3>(wide, out),
                };
                column += vectors * LANES;
            }
        }
    }
}

/// Some of the outputs that one wave adds to.
#[derive(Clone, Copy)]
struct Strip<'a> {
    convolution: &'a WaveConvolution,
    wave: usize,
    column: usize,
}

/// Σ w cos φj and Σ w sin φj over some taps.
#[derive(Clone, Copy)]
struct TapSums<V> {
    cosine: V,
    sine: V,
}

/// On which side of the middle tap, or of the window's centre.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Before,
    After,
}

impl Strip<'_> {
    /// What the wave adds to all frames of its window; gives V.
    #[inline(always)]
    fn run<W: Wide, const V: usize>(self, wide: W, out: &mut [f32]) -> usize {
        let (radius, reach) = (self.convolution.radius, self.convolution.weights.reach);
        let none = [TapSums { cosine: wide.splat(0.0), sine: wide.splat(0.0) }; V];
        // Before the centre all later taps reach into the window, and with every frame one more of the earlier ones.
        let mut sums = none;
        for taps in 1..=reach {
            self.add(wide, &mut sums, taps, Side::After);
        }
        for frames in 0..=radius {
            if frames <= reach {
                self.add(wide, &mut sums, frames, Side::Before);
            }
            self.write(wide, &sums, radius - frames, Side::Before, out);
        }
        // After it the same, from the last frame back.
        let mut sums = none;
        for taps in 0..=reach {
            self.add(wide, &mut sums, taps, Side::Before);
        }
        for frames in 0..radius {
            if (1..=reach).contains(&frames) {
                self.add(wide, &mut sums, frames, Side::After);
            }
            self.write(wide, &sums, radius - frames, Side::After, out);
        }
        V
    }

    /// cos and sin of the wave's angle so many frames to a side.
    #[inline(always)]
    fn turn(self, frames: usize, side: Side) -> (f32, f32) {
        let waves = &self.convolution.waves;
        let at = frames * waves.turns.len() + self.wave;
        let (cos, sin) = (waves.cosines[at], waves.sines[at]);
        (cos, if side == Side::Before { -sin } else { sin })
    }

    /// Adds the tap that lies so many frames to a side of the middle one.
    #[inline(always)]
    fn add<W: Wide, const V: usize>(
        self,
        wide: W,
        sums: &mut [TapSums<W::Vector>; V],
        frames: usize,
        side: Side,
    ) {
        let weights = &self.convolution.weights;
        let (cos, sin) = self.turn(frames, side);
        let (cos, sin) = (wide.splat(cos), wide.splat(sin));
        let index = if side == Side::Before { weights.reach - frames } else { weights.reach + frames };
        let channel = self.wave % weights.inputs;
        let tap = &weights.taps[(index * weights.inputs + channel) * weights.bias.len() + self.column..];
        for (sums, tap) in sums.iter_mut().zip(load::<W, V>(wide, tap)) {
            sums.cosine = wide.multiply_add(tap, cos, sums.cosine);
            sums.sine = wide.multiply_add(tap, sin, sums.sine);
        }
    }

    /// Adds to the frame that lies so many frames to a side of the centre.
    #[inline(always)]
    fn write<W: Wide, const V: usize>(
        self,
        wide: W,
        sums: &[TapSums<W::Vector>; V],
        frames: usize,
        side: Side,
        out: &mut [f32],
    ) {
        let WaveConvolution { radius, weights, offset_shares, waves, .. } = self.convolution;
        let (inputs, outputs) = (weights.inputs, weights.bias.len());
        let [amplitude_cos, amplitude_sin, offset] = waves.shares[self.wave];
        let (cos, sin) = self.turn(frames, side);
        let swing = wide.splat(amplitude_cos * sin + amplitude_sin * cos);
        let slope = wide.splat(amplitude_cos * cos - amplitude_sin * sin);
        let offset = wide.splat(offset);
        let frame = if side == Side::Before { radius - frames } else { radius + frames };
        let channel = self.wave % inputs;
        let shares = &offset_shares[(channel * (2 * radius + 1) + frame) * outputs + self.column..];
        let width = waves.turns.len() / inputs * outputs;
        let cells = &mut out[frame * width + self.wave / inputs * outputs + self.column..];
        let mut values = load::<W, V>(wide, cells);
        for ((value, share), sums) in values.iter_mut().zip(load::<W, V>(wide, shares)).zip(sums) {
            *value = wide.multiply_add(share, offset, *value);
            *value = wide.multiply_add(sums.cosine, swing, *value);
            *value = wide.multiply_add(sums.sine, slope, *value);
        }
        store(wide, values, cells);
    }
}

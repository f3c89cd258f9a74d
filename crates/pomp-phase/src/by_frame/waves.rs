use super::plain_convolution::PlainConvolution;
use crate::ChannelPhase;
use pomp_lanes::{LANES, LaneLoop, Lanes, Wide, Work};
use std::f32::consts::TAU;

/// Vectors of outputs that a strip has at most.
const STRIP: usize = 3;

/// A convolution of sinusoids a sin(2π(f t + s)) + b, one per channel, that end with the window.
///
/// With φ the angle of a frame and ψ that of the shift, the tap j frames ahead of frame t sees
/// a sin(φt + ψ) cos φj + a cos(φt + ψ) sin φj + b. So a frame needs three sums over the taps that reach into the window: of
/// w cos φj, of w sin φj and of w. From one frame to the next such a sum gains or loses one tap: all frames together cost as
/// much as one.
#[derive(Debug)]
pub(super) struct WaveConvolution {
    radius: usize,
    reach: usize,
    frame_rate_hz: f32,
    channels: usize,
    /// Outputs, padded to whole vectors.
    outputs: usize,
    /// Sinusoids of a character.
    waves: usize,
    bias: Vec<f32>,
    /// `[channel][strip][tap][outputs of the strip]`, strips of three vectors as far as there are.
    taps: Vec<f32>,
    /// What the offset 1 of a channel gives: `[channel][strip][frame][outputs of the strip]`.
    offset_shares: Vec<f32>,
}

/// The sinusoids of all windows of a character, window by window.
#[derive(Clone, Debug)]
pub(super) struct Waves {
    /// cos φj and sin φj for j = 0 … radius: `[wave][j]`.
    turns: Vec<[f32; 2]>,
    /// a sin(φ + ψ) and a cos(φ + ψ) of every frame: `[wave][frame]`.
    swings: Vec<[f32; 2]>,
    /// b.
    offsets: Vec<f32>,
}

impl WaveConvolution {
    /// For windows of `radius` frames on each side; taps may not reach further than that.
    pub(super) fn new(weights: &PlainConvolution, radius: usize, frame_rate_hz: f32, windows: usize) -> Self {
        let (channels, outputs) = (weights.inputs, weights.bias.len());
        let frames = 2 * radius + 1;
        let (reach, last) = (weights.reach.cast_signed(), radius.cast_signed());
        let mut offset_shares = vec![0.0; channels * frames * outputs];
        for (frame, place) in (-last..=last).enumerate() {
            for ahead in (-reach).max(-last - place)..=reach.min(last - place) {
                let tap = weights.tap(ahead);
                for (channel, tap) in tap.chunks_exact(outputs).enumerate() {
                    let cells = &mut offset_shares[(channel * frames + frame) * outputs..][..outputs];
                    cells.iter_mut().zip(tap).for_each(|(cell, tap)| *cell += tap);
                }
            }
        }
        Self {
            radius,
            reach: weights.reach,
            frame_rate_hz,
            channels,
            outputs,
            waves: windows * channels,
            bias: weights.bias.clone(),
            taps: by_strips(channels, 2 * weights.reach + 1, outputs, |channel, tap| {
                &weights.taps[(tap * channels + channel) * outputs..][..outputs]
            }),
            offset_shares: by_strips(channels, frames, outputs, |channel, frame| {
                &offset_shares[(channel * frames + frame) * outputs..][..outputs]
            }),
        }
    }

    /// Room for the sinusoids of a character.
    pub(super) fn scratch(&self) -> Waves {
        Waves {
            turns: vec![[0.0; 2]; self.waves * (self.radius + 1)],
            swings: vec![[0.0; 2]; self.waves * (2 * self.radius + 1)],
            offsets: vec![0.0; self.waves],
        }
    }

    /// Values of a character's result.
    pub(super) fn output_size(&self) -> usize {
        (2 * self.radius + 1) * self.waves / self.channels * self.outputs
    }

    /// What [`Self::apply`] costs: two products per tap and three per frame of every wave.
    pub(super) fn work(&self) -> Work {
        let windows = (self.waves / self.channels) as u64;
        let (taps, shares) = (self.taps.len() as u64, self.offset_shares.len() as u64);
        Work {
            multiply_adds: windows * (2 * taps + 3 * shares),
            weight_bytes: windows * (taps + shares) * size_of::<f32>() as u64,
        }
    }

    /// Writes the convolved curves of a character's channels, window by window: `[frame][window][outputs]`.
    pub(super) fn apply(&self, lanes: Lanes, channels: &[ChannelPhase], waves: &mut Waves, out: &mut [f32]) {
        waves.draw(channels, self.frame_rate_hz, self.radius);
        for cells in out.chunks_exact_mut(self.outputs) {
            cells.copy_from_slice(&self.bias);
        }
        lanes.run(Sums { convolution: self, waves, out });
    }
}

/// Rows of `outputs` values, `count` per channel, strip by strip.
fn by_strips<'a>(
    channels: usize,
    count: usize,
    outputs: usize,
    row: impl Fn(usize, usize) -> &'a [f32],
) -> Vec<f32> {
    let mut values = Vec::with_capacity(channels * count * outputs);
    for channel in 0..channels {
        for first in (0..outputs).step_by(STRIP * LANES) {
            let columns = first..(first + STRIP * LANES).min(outputs);
            for index in 0..count {
                values.extend_from_slice(&row(channel, index)[columns.clone()]);
            }
        }
    }
    values
}

impl Waves {
    fn draw(&mut self, channels: &[ChannelPhase], frame_rate_hz: f32, radius: usize) {
        let waves = self.turns.chunks_exact_mut(radius + 1).zip(self.swings.chunks_exact_mut(2 * radius + 1));
        for (((turns, swings), offset), channel) in waves.zip(&mut self.offsets).zip(channels) {
            let angle = std::f64::consts::TAU * f64::from(channel.frequency_hz) / f64::from(frame_rate_hz);
            let (step_sin, step_cos) = angle.sin_cos();
            // In f64, so that steps of one angle do not drift.
            let (mut cos, mut sin) = (1.0_f64, 0.0_f64);
            for turn in &mut *turns {
                *turn = [cos as f32, sin as f32];
                (cos, sin) = (cos * step_cos - sin * step_sin, sin * step_cos + cos * step_sin);
            }
            let (sin, cos) = (TAU * channel.shift_turns).sin_cos();
            let (along, across) = (channel.amplitude * cos, channel.amplitude * sin);
            let swing = |[cos, sin]: [f32; 2]| [along * sin + across * cos, along * cos - across * sin];
            let (before, after) = swings.split_at_mut(radius);
            for (cell, turn) in after.iter_mut().zip(&*turns) {
                *cell = swing(*turn);
            }
            for (cell, [cos, sin]) in before.iter_mut().rev().zip(&turns[1..]) {
                *cell = swing([*cos, -sin]);
            }
            *offset = channel.offset;
        }
    }
}

struct Sums<'a> {
    convolution: &'a WaveConvolution,
    waves: &'a Waves,
    out: &'a mut [f32],
}

impl LaneLoop for Sums<'_> {
    #[inline(always)]
    fn run<W: Wide>(self, wide: W) {
        let Self { convolution, waves, out } = self;
        let WaveConvolution { radius, reach, channels, outputs, .. } = *convolution;
        let (frames, taps) = (2 * radius + 1, 2 * reach + 1);
        let width = convolution.waves / channels * outputs / LANES;
        let turns = waves.turns.chunks_exact(radius + 1).zip(waves.swings.chunks_exact(frames));
        for (wave, ((turns, swings), &offset)) in turns.zip(&waves.offsets).enumerate() {
            let (window, channel) = (wave / channels, wave % channels);
            let mut column = 0;
            while column < outputs {
                let strip = Strip {
                    turns,
                    swings,
                    offset,
                    taps: &convolution.taps[(channel * outputs + column) * taps..],
                    offset_shares: &convolution.offset_shares[(channel * outputs + column) * frames..],
                };
                let out = out.as_chunks_mut().0;
                let at = (window * outputs + column) / LANES;
                column += LANES
                    * match (outputs - column) / LANES {
                        0 | 1 => strip.run::<W, 1>(wide, taps, (out, width, at)),
                        2 => strip.run::<W, 2>(wide, taps, (out, width, at)),
                        _ => strip.run::<W, STRIP>(wide, taps, (out, width, at)),
                    };
            }
        }
    }
}

/// Some of the outputs that one wave adds to.
#[derive(Clone, Copy)]
struct Strip<'a> {
    turns: &'a [[f32; 2]],
    swings: &'a [[f32; 2]],
    offset: f32,
    taps: &'a [f32],
    offset_shares: &'a [f32],
}

/// Σ w cos φj and Σ w sin φj over some taps.
#[derive(Clone, Copy)]
struct TapSums<V> {
    cosine: V,
    sine: V,
}

impl Strip<'_> {
    /// What the wave adds to all frames of its window, vectors `at` of rows of `width` vectors; gives V.
    #[inline(always)]
    fn run<W: Wide, const V: usize>(
        self,
        wide: W,
        taps: usize,
        (out, width, at): (&mut [[f32; LANES]], usize, usize),
    ) -> usize {
        let Self { turns, swings, offset, taps: weights, offset_shares } = self;
        let radius = turns.len() - 1;
        let weights = &weights.as_chunks::<LANES>().0.as_chunks::<V>().0[..taps];
        let shares = &offset_shares.as_chunks::<LANES>().0.as_chunks::<V>().0[..swings.len()];
        let (before, from_middle) = weights.split_at(taps / 2);
        let (middle, after) = from_middle.split_first().expect("there is a middle tap");
        // The middle tap and those before it, back from it.
        let back = || std::iter::once(middle).chain(before.iter().rev()).zip(turns);
        let ahead = || after.iter().zip(&turns[1..]);
        let none = [TapSums { cosine: wide.splat(0.0), sine: wide.splat(0.0) }; V];
        let offset = wide.splat(offset);
        let write = |sums: &[TapSums<W::Vector>; V],
                     row: &mut [[f32; LANES]],
                     shares: &[[f32; LANES]; V],
                     &[swing, slope]: &[f32; 2]| {
            let (swing, slope) = (wide.splat(swing), wide.splat(slope));
            let cells: &mut [[f32; LANES]; V] =
                row[at..].first_chunk_mut().expect("a strip ends with its row");
            for ((cell, share), sums) in cells.iter_mut().zip(shares).zip(sums) {
                let value = wide.multiply_add(wide.load(share), offset, wide.load(cell));
                let value = wide.multiply_add(sums.cosine, swing, value);
                *cell = wide.store(wide.multiply_add(sums.sine, slope, value));
            }
        };
        let (rows_before, rows_after) = out.split_at_mut((radius + 1) * width);
        let (shares_before, shares_after) = shares.split_at(radius + 1);
        let (swings_before, swings_after) = swings.split_at(radius + 1);

        // Before the centre all later taps reach into the window, and with every frame one more of the earlier ones.
        let mut sums = none;
        for (tap, turn) in ahead() {
            add(wide, &mut sums, tap, *turn);
        }
        let mut taps = back();
        for ((row, shares), swing) in
            rows_before.chunks_exact_mut(width).zip(shares_before).zip(swings_before)
        {
            if let Some((tap, &[cos, sin])) = taps.next() {
                add(wide, &mut sums, tap, [cos, -sin]);
            }
            write(&sums, row, shares, swing);
        }
        // After it the same, from the last frame back.
        let mut sums = none;
        for (tap, &[cos, sin]) in back() {
            add(wide, &mut sums, tap, [cos, -sin]);
        }
        let mut taps = ahead();
        let rows = rows_after.chunks_exact_mut(width).zip(shares_after).zip(swings_after);
        for (index, ((row, shares), swing)) in rows.rev().enumerate() {
            if index > 0
                && let Some((tap, turn)) = taps.next()
            {
                add(wide, &mut sums, tap, *turn);
            }
            write(&sums, row, shares, swing);
        }
        V
    }
}

/// Adds a tap that the wave has turned so far at.
#[inline(always)]
fn add<W: Wide, const V: usize>(
    wide: W,
    sums: &mut [TapSums<W::Vector>; V],
    tap: &[[f32; LANES]; V],
    [cos, sin]: [f32; 2],
) {
    let (cos, sin) = (wide.splat(cos), wide.splat(sin));
    for (sums, tap) in sums.iter_mut().zip(tap) {
        let tap = wide.load(tap);
        sums.cosine = wide.multiply_add(tap, cos, sums.cosine);
        sums.sine = wide.multiply_add(tap, sin, sums.sine);
    }
}

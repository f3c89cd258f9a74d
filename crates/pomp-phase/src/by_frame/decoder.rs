use super::plain_convolution::PlainConvolution;
use super::spectral_convolution::SpectralConvolution;
use super::waves::WaveConvolution;
use super::{load, store};
use crate::manifold::expect_size;
use crate::{PeriodicAutoencoderConfig, PeriodicDecoder, PhaseError, PhaseState};
use pomp_config::Fields;
use pomp_lanes::{LANES, LaneLoop, Lanes, Wide};
use pomp_motion::FrameTable;
use pomp_motion::glam::Vec3;
use pomp_tensors::{Tanh, nonlinear_in_place};

/// Which target velocities a [`FrameDecoder`] gives: those of i+`first_frame` … i+`last_frame`, from keys at i, i+`spacing`,
/// i+2·`spacing`, …
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TargetSpan {
    /// Frames from one key to the next; at least 1.
    pub key_spacing: usize,
    /// First frame after i, at least 1; none is given when it lies behind the last.
    pub first_frame: usize,
    /// Last frame after i.
    pub last_frame: usize,
}

/// A trained decoder as the closed loop runs it: target velocities of one frame's far future, no allocation.
///
/// Agrees with [`WindowDecoder::target_velocities`](crate::WindowDecoder::target_velocities) to f32 rounding.
#[derive(Clone, Debug)]
pub struct FrameDecoder {
    pub(super) lanes: Lanes,
    channels: usize,
    joints: usize,
    radius: usize,
    /// First and number of the keys whose windows hold target frames.
    first_key: usize,
    needed_keys: usize,
    /// Frames on each side of a window's centre that are decoded.
    decoded: usize,
    waves: WaveConvolution,
    convolution: SpectralConvolution,
    /// The layer of `convolution` as it is, for the mean over the past.
    weights: PlainConvolution,
    /// Where each target frame is found.
    places: Vec<Place>,
    /// `[frame][window][intermediate]`, the window of key 0 first.
    hidden: Vec<f32>,
    /// What each tap sees of the frames that the past's mean is made of: `[tap][intermediate]`.
    seen: Vec<f32>,
    running: Vec<f32>,
    level: Vec<f32>,
    decoded_frames: Vec<f32>,
    targets: FrameTable<Vec3>,
}

/// A target frame between two keys.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// Window (0 for the first key that is decoded) and frame in it, on both sides.
    before: [usize; 2],
    after: [usize; 2],
    /// 0 at the key before, 1 at the one after.
    nearness: f32,
}

impl FrameDecoder {
    /// Packs a trained decoder; `config` is the one that it was made with.
    ///
    /// # Errors
    /// [`PhaseError::OutOfRange`] for a span that begins at frame 0 or has no spacing, and for kernels longer than the window;
    /// [`PhaseError::SizeMismatch`] when the decoder has other sizes; [`PhaseError::NotFinite`] for a weight that is
    /// not finite.
    pub fn new(
        decoder: &PeriodicDecoder,
        config: &PeriodicAutoencoderConfig,
        span: TargetSpan,
    ) -> Result<Self, PhaseError> {
        config.validate()?;
        let fields = Fields::root();
        let TargetSpan { key_spacing, first_frame, last_frame } = span;
        for (field, value) in
            [("key_spacing", key_spacing), ("first_frame", first_frame), ("last_frame", last_frame)]
        {
            fields.within(field, value, 1..)?;
        }
        let radius = config.window.radius_frames;
        let frames = config.window.frames();
        // The loop needs kernels that are no longer than the window.
        fields.within("kernel", config.kernel, ..=frames)?;
        let first = PlainConvolution::new(&decoder.first, Some(&decoder.first_norm))?;
        let second = PlainConvolution::new(&decoder.second, None)?;
        expect_size("channels of a decoder", config.channels, first.inputs)?;
        expect_size("rows of a decoder's windows", 3 * config.joints, second.outputs)?;
        expect_size("taps of a decoder's kernels", config.kernel, 2 * first.reach + 1)?;
        expect_size("taps of a decoder's kernels", config.kernel, 2 * second.reach + 1)?;

        let needed_keys = last_frame.div_ceil(key_spacing) + 1;
        let first_key = (first_frame / key_spacing).clamp(1, needed_keys - 1);
        let windows = needed_keys - first_key;
        let place = |key: usize, ahead: usize| {
            [key - first_key, (radius + ahead).saturating_sub(key * key_spacing).min(2 * radius)]
        };
        let places = (first_frame..=last_frame).map(|ahead| {
            let key = (ahead / key_spacing).max(first_key);
            let nearness = (ahead as f32 / key_spacing as f32 - key as f32).clamp(0.0, 1.0);
            let before = place(key, ahead);
            // At a key itself the next one has no say, and need not be decoded so far from its centre.
            let after = if nearness > 0.0 { place((key + 1).min(needed_keys - 1), ahead) } else { before };
            Place { before, after, nearness }
        });
        let places: Vec<Place> = places.collect();
        let distances = places.iter().flat_map(|place| [place.before[1], place.after[1]]);
        let decoded = distances.map(|frame| frame.abs_diff(radius)).max().unwrap_or(0);
        let convolution = SpectralConvolution::new(&second, radius, decoded, windows);
        let intermediate = first.bias.len();
        Ok(Self {
            lanes: Lanes::detect(),
            channels: config.channels,
            joints: config.joints,
            radius,
            first_key,
            needed_keys,
            decoded,
            waves: WaveConvolution::new(first, radius, config.window.frame_rate_hz, 1 + windows),
            hidden: vec![0.0; frames * (1 + windows) * intermediate],
            seen: vec![0.0; config.kernel * second.inputs],
            running: vec![0.0; (frames + 1) * intermediate],
            level: vec![0.0; second.bias.len()],
            decoded_frames: vec![0.0; (2 * decoded + 1) * convolution.output_width()],
            targets: FrameTable::filled(places.len(), config.joints, Vec3::ZERO),
            convolution,
            weights: second,
            places,
        })
    }

    /// Target velocities of the span, m/s, one row per frame, from the phases predicted at its keys.
    ///
    /// A frame between two keys takes from both decoded windows, in proportion to nearness. The decoder knows velocities up
    /// to their mean over a window only: `past_mean` is the mean simulated velocity of each joint over i−radius … i, and what
    /// the window decoded at key 0 lacks to it there is added to all frames, so that past and far future of a stitched
    /// window share one level.
    ///
    /// # Errors
    /// [`PhaseError::SizeMismatch`] when the keys do not reach the span's end, or when sizes differ.
    pub fn target_velocities(
        &mut self,
        keys: &[PhaseState],
        past_mean: &[Vec3],
    ) -> Result<&FrameTable<Vec3>, PhaseError> {
        if keys.len() < self.needed_keys {
            return Err(PhaseError::SizeMismatch {
                what: "predicted phase keys",
                expected: self.needed_keys,
                found: keys.len(),
            });
        }
        expect_size("joints of the past mean", self.joints, past_mean.len())?;
        let windows = || keys[..1].iter().chain(&keys[self.first_key..self.needed_keys]);
        for key in windows() {
            expect_size("phase channels", self.channels, key.channels.len())?;
        }
        self.waves.apply(self.lanes, windows(), &mut self.hidden);
        nonlinear_in_place::<Tanh>(self.lanes, &mut self.hidden);
        self.find_level();

        let intermediate = self.running.len() / (2 * self.radius + 2);
        let stride = (1 + self.needed_keys - self.first_key) * intermediate;
        let windows = (&self.hidden[intermediate..], stride);
        self.convolution.apply(self.lanes, windows, &mut self.decoded_frames);

        let (width, outputs) = (self.convolution.output_width(), self.level.len());
        let skipped = self.radius - self.decoded;
        for (frame, place) in self.places.iter().enumerate() {
            let row = |[window, frame]: [usize; 2]| {
                &self.decoded_frames[(frame - skipped) * width + window * outputs..][..outputs]
            };
            let pairs = row(place.before).chunks_exact(3).zip(row(place.after).chunks_exact(3));
            let levels = self.level.chunks_exact(3).zip(past_mean);
            for ((target, (before, after)), (level, past)) in
                self.targets[frame].iter_mut().zip(pairs).zip(levels)
            {
                let decoded = Vec3::from_slice(before).lerp(Vec3::from_slice(after), place.nearness);
                *target = decoded + (*past - Vec3::from_slice(level));
            }
        }
        Ok(&self.targets)
    }

    /// The mean of what key 0 decodes to over i−radius … i.
    ///
    /// The mean of outputs is the product of the weights with means of what their taps see, and those are differences of
    /// running sums: one pass over the weights, as for a single frame.
    fn find_level(&mut self) {
        let intermediate = self.running.len() / (2 * self.radius + 2);
        let frames = 2 * self.radius + 1;
        let stride = self.hidden.len() / frames;
        for frame in 0..frames {
            let (done, next) = self.running.split_at_mut((frame + 1) * intermediate);
            let hidden = &self.hidden[frame * stride..][..intermediate];
            let sums = done[frame * intermediate..].iter().zip(hidden);
            for (next, (sum, hidden)) in next.iter_mut().zip(sums) {
                *next = sum + hidden;
            }
        }
        let inputs = self.weights.inputs;
        for (tap, seen) in self.seen.chunks_exact_mut(inputs).enumerate() {
            // Frame n of i−radius … i sees with this tap frame n + tap − reach, when it lies in the window.
            let end = (self.radius + tap + 1).saturating_sub(self.weights.reach).min(frames);
            let start = tap.saturating_sub(self.weights.reach).min(end);
            let sums = |frame: usize| &self.running[frame * intermediate..][..inputs];
            for (seen, (end, start)) in seen.iter_mut().zip(sums(end).iter().zip(sums(start))) {
                *seen = (end - start) / (self.radius + 1) as f32;
            }
        }
        self.level.copy_from_slice(&self.weights.bias);
        self.lanes.run(Level { weights: &self.weights.taps, seen: &self.seen, level: &mut self.level });
    }
}

/// level += seen · weights.
struct Level<'a> {
    weights: &'a [f32],
    seen: &'a [f32],
    level: &'a mut [f32],
}

impl LaneLoop for Level<'_> {
    #[inline(always)]
    fn run<W: Wide>(mut self, wide: W) {
        let mut column = 0;
        while column < self.level.len() {
            let vectors = match (self.level.len() - column) / LANES {
                0..3 => self.strip::<W, 1>(wide, column),
                3..9 => self.strip::<W, 3>(wide, column),
                _ => self.strip::<W, 9>(wide, column),
            };
            column += vectors * LANES;
        }
    }
}

impl Level<'_> {
    #[inline(always)]
    fn strip<W: Wide, const V: usize>(&mut self, wide: W, column: usize) -> usize {
        let mut sums = load::<W, V>(wide, &self.level[column..]);
        for (weights, seen) in self.weights.chunks_exact(self.level.len()).zip(self.seen) {
            let seen = wide.splat(*seen);
            for (sum, weight) in sums.iter_mut().zip(load::<W, V>(wide, &weights[column..])) {
                *sum = wide.multiply_add(weight, seen, *sum);
            }
        }
        store(wide, sums, &mut self.level[column..]);
        V
    }
}

use super::level::LevelWeights;
use super::plain_convolution::PlainConvolution;
use super::spectral_convolution::{ConvolutionScratch, SpectralConvolution, Windows};
use super::waves::{WaveConvolution, Waves};
use super::{CHARACTERS_AT_ONCE, grow};
use crate::manifold::expect_size;
use crate::{ChannelPhase, PeriodicAutoencoderConfig, PeriodicDecoder, PhaseError, PhaseState};
use pomp_config::Fields;
use pomp_lanes::{Lanes, Work};
use pomp_motion::FrameTable;
use pomp_motion::glam::Vec3;
use pomp_tensors::{Tanh, nonlinear_in_place};
use std::sync::Arc;

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
/// Agrees with [`WindowDecoder::target_velocities`](crate::WindowDecoder::target_velocities) to f32 rounding. A clone shares
/// the packed weights.
///
/// [`Self::target_velocities`] decodes the keys of one character. For many at once each adds its keys with [`Self::add`], one
/// [`Self::run`] reads the weights for all of them, and each takes its velocities with [`Self::targets`]. Velocities are the
/// same bytes in any company.
#[derive(Clone, Debug)]
pub struct FrameDecoder {
    pub(super) lanes: Lanes,
    weights: Arc<Weights>,
    /// Characters that were added.
    count: usize,
    /// Channels of the windows of each, that of key 0 first.
    channels: Vec<ChannelPhase>,
    past_means: Vec<Vec3>,
    targets: Vec<FrameTable<Vec3>>,
    waves: Waves,
    /// Of each character `[frame][window][intermediate]`.
    hidden: Vec<f32>,
    /// What each tap sees of the frames that the past's mean is made of: of each character `[tap][intermediate]`.
    seen: Vec<f32>,
    running: Vec<f32>,
    levels: Vec<f32>,
    convolution: ConvolutionScratch,
    decoded_frames: Vec<f32>,
}

/// What no frame changes.
#[derive(Debug)]
struct Weights {
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
    level: LevelWeights,
    /// Inputs of that layer, and the same padded to whole vectors.
    inputs: usize,
    intermediate: usize,
    kernel: usize,
    /// Values of an output of that layer.
    outputs: usize,
    /// Where each target frame is found.
    places: Vec<Place>,
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
        let waves = WaveConvolution::new(&first, radius, config.window.frame_rate_hz, 1 + windows);
        Ok(Self {
            lanes: Lanes::detect(),
            count: 0,
            channels: Vec::new(),
            past_means: Vec::new(),
            targets: Vec::new(),
            waves: waves.scratch(),
            hidden: Vec::new(),
            seen: Vec::new(),
            running: vec![0.0; (frames + 1) * first.bias.len()],
            levels: Vec::new(),
            convolution: ConvolutionScratch::default(),
            decoded_frames: Vec::new(),
            weights: Arc::new(Weights {
                channels: config.channels,
                joints: config.joints,
                radius,
                first_key,
                needed_keys,
                decoded,
                waves,
                convolution: SpectralConvolution::new(&second, radius, decoded, windows),
                level: LevelWeights::new(&second),
                inputs: second.inputs,
                intermediate: first.bias.len(),
                kernel: config.kernel,
                outputs: second.bias.len(),
                places,
            }),
        })
    }

    /// Target velocities of the span, m/s, one row per frame, from the phases predicted at its keys: [`Self::begin`],
    /// [`Self::add`], [`Self::run`] and [`Self::targets`].
    ///
    /// A frame between two keys takes from both decoded windows, in proportion to nearness. The decoder knows velocities up
    /// to their mean over a window only: `past_mean` is the mean simulated velocity of each joint over i−radius … i, and what
    /// the window decoded at key 0 lacks to it there is added to all frames, so that past and far future of a stitched
    /// window share one level.
    ///
    /// # Errors
    /// As [`Self::add`].
    pub fn target_velocities(
        &mut self,
        keys: &[PhaseState],
        past_mean: &[Vec3],
    ) -> Result<&FrameTable<Vec3>, PhaseError> {
        self.begin();
        let character = self.add(keys, past_mean)?;
        self.run();
        Ok(self.targets(character))
    }

    /// Forgets the characters of the last run.
    pub fn begin(&mut self) {
        self.count = 0;
        self.channels.clear();
        self.past_means.clear();
    }

    /// Adds the keys of a character and the mean of its past to the next run, as in [`Self::target_velocities`]; gives its
    /// number.
    ///
    /// # Errors
    /// [`PhaseError::SizeMismatch`] when the keys do not reach the span's end, or when sizes differ. Nothing is added then.
    pub fn add(&mut self, keys: &[PhaseState], past_mean: &[Vec3]) -> Result<usize, PhaseError> {
        let Weights { channels, joints, first_key, needed_keys, places, .. } = &*self.weights;
        if keys.len() < *needed_keys {
            return Err(PhaseError::SizeMismatch {
                what: "predicted phase keys",
                expected: *needed_keys,
                found: keys.len(),
            });
        }
        expect_size("joints of the past mean", *joints, past_mean.len())?;
        let windows = || keys[..1].iter().chain(&keys[*first_key..*needed_keys]);
        for key in windows() {
            expect_size("phase channels", *channels, key.channels.len())?;
        }
        for key in windows() {
            self.channels.extend_from_slice(&key.channels);
        }
        self.past_means.extend_from_slice(past_mean);
        if self.targets.len() == self.count {
            self.targets.push(FrameTable::filled(places.len(), *joints, Vec3::ZERO));
        }
        self.count += 1;
        Ok(self.count - 1)
    }

    /// Decodes the keys of all characters that were added.
    pub fn run(&mut self) {
        let Weights { waves, convolution, level, inputs, intermediate, kernel, .. } = &*self.weights;
        let together = self.count.min(CHARACTERS_AT_ONCE);
        let (hidden_size, seen_size) = (waves.output_size(), kernel * inputs);
        grow(&mut self.hidden, together * hidden_size);
        grow(&mut self.seen, together * seen_size);
        grow(&mut self.levels, together * level.width());
        grow(&mut self.decoded_frames, together * convolution.output_size());
        for from in (0..self.count).step_by(CHARACTERS_AT_ONCE) {
            let count = (self.count - from).min(CHARACTERS_AT_ONCE);
            let hidden = &mut self.hidden[..count * hidden_size];
            let seen = &mut self.seen[..count * seen_size];
            let levels = &mut self.levels[..count * level.width()];
            let size = self.channels.len() / self.count;
            let keys = self.channels[from * size..].chunks_exact(size);
            for (channels, hidden) in keys.zip(hidden.chunks_exact_mut(hidden_size)) {
                waves.apply(self.lanes, channels, &mut self.waves, hidden);
            }
            nonlinear_in_place::<Tanh>(self.lanes, hidden);
            for (hidden, seen) in hidden.chunks_exact(hidden_size).zip(seen.chunks_exact_mut(seen_size)) {
                self.weights.see_past(hidden, &mut self.running, seen);
            }
            level.apply(self.lanes, seen, levels);
            let stride = hidden_size / (2 * self.weights.radius + 1);
            let values = &hidden[*intermediate..];
            let windows = Windows { values, stride, character: hidden_size };
            convolution.apply(self.lanes, count, windows, &mut self.convolution, &mut self.decoded_frames);
            for character in 0..count {
                let level = &levels[character * level.width()..];
                let decoded = &self.decoded_frames[character * convolution.output_size()..];
                let joints = self.weights.joints;
                let past = &self.past_means[(from + character) * joints..][..joints];
                self.weights.place(decoded, level, past, &mut self.targets[from + character]);
            }
        }
    }

    /// What a run costs for one character, apart from hyperbolic tangents.
    pub fn work(&self) -> Work {
        self.weights.waves.work() + self.weights.level.work() + self.weights.convolution.work()
    }

    /// Target velocities of a character of the last run, m/s, one row per frame of the span.
    ///
    /// # Panics
    /// When there is no such character.
    pub fn targets(&self, character: usize) -> &FrameTable<Vec3> {
        assert!(character < self.count, "character {character} of {}", self.count);
        &self.targets[character]
    }
}

impl Weights {
    /// What the taps see of key 0 over i−radius … i.
    ///
    /// The mean of outputs is the product of the weights with means of what their taps see, and those are differences of
    /// running sums: one pass over the weights, as for a single frame.
    fn see_past(&self, hidden: &[f32], running: &mut [f32], seen: &mut [f32]) {
        let Self { radius, inputs, intermediate, kernel, .. } = *self;
        let frames = 2 * radius + 1;
        let stride = hidden.len() / frames;
        for frame in 0..frames {
            let (done, next) = running.split_at_mut((frame + 1) * intermediate);
            let hidden = &hidden[frame * stride..][..intermediate];
            let sums = done[frame * intermediate..].iter().zip(hidden);
            for (next, (sum, hidden)) in next.iter_mut().zip(sums) {
                *next = sum + hidden;
            }
        }
        let reach = kernel / 2;
        for (tap, seen) in seen.chunks_exact_mut(inputs).enumerate() {
            // Frame n of i−radius … i sees with this tap frame n + tap − reach, when it lies in the window.
            let end = (radius + tap + 1).saturating_sub(reach).min(frames);
            let start = tap.saturating_sub(reach).min(end);
            let sums = |frame: usize| &running[frame * intermediate..][..inputs];
            for (seen, (end, start)) in seen.iter_mut().zip(sums(end).iter().zip(sums(start))) {
                *seen = (end - start) / (radius + 1) as f32;
            }
        }
    }

    /// Puts target frames together from decoded ones.
    fn place(&self, decoded: &[f32], level: &[f32], past_mean: &[Vec3], targets: &mut FrameTable<Vec3>) {
        let (width, outputs) = (self.convolution.output_width(), self.outputs);
        let skipped = self.radius - self.decoded;
        for (frame, place) in self.places.iter().enumerate() {
            let row = |[window, frame]: [usize; 2]| {
                &decoded[(frame - skipped) * width + window * outputs..][..outputs]
            };
            let pairs = row(place.before).chunks_exact(3).zip(row(place.after).chunks_exact(3));
            let levels = level.chunks_exact(3).zip(past_mean);
            for ((target, (before, after)), (level, past)) in targets[frame].iter_mut().zip(pairs).zip(levels)
            {
                let decoded = Vec3::from_slice(before).lerp(Vec3::from_slice(after), place.nearness);
                *target = decoded + (*past - Vec3::from_slice(level));
            }
        }
    }
}

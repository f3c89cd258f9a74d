use crate::autoencoder::{KernelSpectra, signal_of};
use crate::manifold::expect_size;
use crate::{
    PeriodicDecoder, PeriodicEncoder, PhaseError, PhaseParameters, PhaseState, VelocityWindow, WindowConfig,
};
use burn::module::Module;
use burn::tensor::{Device, Tensor, TensorData};
use pomp_motion::FrameTable;
use pomp_motion::glam::Vec3;

/// A trained encoder, clean or aligned, that reads one window at a time.
#[derive(Clone, Debug)]
pub struct WindowEncoder {
    encoder: PeriodicEncoder,
    kernels: KernelSpectra,
    device: Device,
}

impl WindowEncoder {
    /// Prepares a trained encoder: gradients off, kernels transformed once.
    pub fn new(encoder: &PeriodicEncoder) -> Self {
        let encoder = encoder.valid();
        let device = encoder.devices().into_iter().next().expect("an encoder has tensors");
        Self { kernels: encoder.kernel_spectra(), encoder, device: device.without_autodiff() }
    }

    /// The phases of a window.
    ///
    /// # Errors
    /// [`PhaseError::NotFinite`] when the weights or velocities are so large that the result is not finite.
    pub fn encode(&self, window: &VelocityWindow) -> Result<PhaseState, PhaseError> {
        let mut states = self.encode_all(&[window])?;
        Ok(states.pop().expect("one window has one state"))
    }

    /// The phases of several windows at once; quicker than one by one.
    ///
    /// # Errors
    /// As [`Self::encode`]; [`PhaseError::SizeMismatch`] when windows differ in size.
    pub fn encode_all(&self, windows: &[&VelocityWindow]) -> Result<Vec<PhaseState>, PhaseError> {
        let batch = crate::training::window_batch(windows, &self.device)?;
        let latent = self.encoder.latent_with(signal_of(batch), &self.kernels);
        let states = states_of(&self.encoder.parameters(latent));
        states.iter().try_for_each(PhaseState::check_finite)?;
        Ok(states)
    }
}

/// A trained decoder that turns predicted phases into target velocities.
#[derive(Clone, Debug)]
pub struct WindowDecoder {
    decoder: PeriodicDecoder,
    kernels: KernelSpectra,
    window: WindowConfig,
    device: Device,
}

impl WindowDecoder {
    /// Prepares a trained decoder; `window` is the one of its configuration.
    pub fn new(decoder: &PeriodicDecoder, window: WindowConfig) -> Self {
        let decoder = decoder.valid();
        let device = decoder.devices().into_iter().next().expect("a decoder has tensors");
        Self { kernels: decoder.kernel_spectra(), decoder, window, device: device.without_autodiff() }
    }

    /// Velocities over the windows of several states, m/s, without their mean: one table `[N, J]` per state.
    ///
    /// # Errors
    /// [`PhaseError::SizeMismatch`] when states differ in channels or there is none.
    pub fn decode_all(&self, states: &[PhaseState]) -> Result<Vec<FrameTable<Vec3>>, PhaseError> {
        let parameters = parameters_of(states, &self.device)?;
        let decoded = self.decoder.decode_with(&parameters, &self.kernels);
        let [_, rows, frames] = decoded.dims();
        let values = floats(decoded);
        Ok(values.chunks_exact(rows * frames).map(|window| table_of_rows(window, frames)).collect())
    }

    /// Target velocities of the far future of frame i, from the phases predicted at its future keys.
    ///
    /// `keys` are the states at i, i+`spacing`, i+2·`spacing`, … ; the result has one row per frame of
    /// i+`first` … i+`last`. A frame between two keys takes from both decoded windows, in proportion to nearness.
    ///
    /// The decoder knows velocities up to their mean over a window only. `past_mean` is the mean simulated
    /// velocity of each joint over i−radius … i; what the window decoded at key 0 lacks to it there is added to all
    /// frames, so that past and far future of a stitched window share one level.
    ///
    /// # Errors
    /// [`PhaseError::SizeMismatch`] when the keys do not reach `last`, or when sizes differ.
    pub fn target_velocities(
        &self,
        keys: &[PhaseState],
        spacing: usize,
        first: usize,
        last: usize,
        past_mean: &[Vec3],
    ) -> Result<FrameTable<Vec3>, PhaseError> {
        let spacing = spacing.max(1);
        let needed = last.div_ceil(spacing) + 1;
        if keys.len() < needed {
            return Err(PhaseError::SizeMismatch {
                what: "predicted phase keys",
                expected: needed,
                found: keys.len(),
            });
        }
        // Key 0 tells the level of the past; the others start at the last key before the first frame.
        let first_key = (first / spacing).max(1);
        let radius = self.window.radius_frames;
        // The keys on both sides of a frame, and where in their windows it lies.
        let places = |ahead: usize| {
            let key = (ahead / spacing).max(first_key);
            [key, (key + 1).min(needed - 1)].map(|key| {
                (key - first_key + 1, (radius + ahead).saturating_sub(key * spacing).min(2 * radius))
            })
        };
        let indices = || (first..=last).flat_map(|ahead| places(ahead).map(|(_, index)| index));
        let (low, high) = (indices().min().unwrap_or(0), indices().max().unwrap_or(0));

        let mut states = vec![keys[0].clone()];
        states.extend_from_slice(&keys[first_key.min(needed)..needed]);
        let parameters = parameters_of(&states, &self.device)?;
        let decoded =
            self.decoder.decode_frames_with(&parameters, &self.kernels, low..high + 1, 0..radius + 1);
        let [rows, windows, columns] = decoded.dims();
        let values = floats(decoded);
        let at = |row: usize, window: usize, joint: usize| {
            Vec3::from_slice(&values[(row * windows + window) * columns + 3 * joint..])
        };
        let joints = columns / 3;
        expect_size("joints of the past mean", joints, past_mean.len())?;
        let level: Vec<Vec3> =
            past_mean.iter().enumerate().map(|(joint, &past)| past - at(rows - 1, 0, joint)).collect();
        let mut velocities = FrameTable::with_columns(joints);
        for ahead in first..=last {
            let [(before, before_index), (after, after_index)] = places(ahead);
            let key = (ahead / spacing).max(first_key);
            let nearness = (ahead as f32 / spacing as f32 - key as f32).clamp(0.0, 1.0);
            let row: Vec<Vec3> = (0..joints)
                .map(|joint| {
                    let (before, after) =
                        (at(before_index - low, before, joint), at(after_index - low, after, joint));
                    before.lerp(after, nearness) + level[joint]
                })
                .collect();
            velocities.push(&row);
        }
        Ok(velocities)
    }
}

/// Parameters of a batch as plain states, one per window.
pub fn states_of(parameters: &PhaseParameters) -> Vec<PhaseState> {
    let [_, channels] = parameters.amplitude.dims();
    let (amplitude, frequency, offset) = (
        floats(parameters.amplitude.clone()),
        floats(parameters.frequency_hz.clone()),
        floats(parameters.offset.clone()),
    );
    let shift = floats(parameters.shift_xy.clone());
    let (shift, _) = shift.as_chunks::<2>();
    let channel = |at: usize| crate::ChannelPhase {
        amplitude: amplitude[at],
        frequency_hz: frequency[at],
        offset: offset[at],
        shift_turns: shift[at][1].atan2(shift[at][0]) / std::f32::consts::TAU,
    };
    (0..amplitude.len() / channels)
        .map(|window| PhaseState {
            channels: (window * channels..(window + 1) * channels).map(channel).collect(),
        })
        .collect()
}

/// Plain states as parameters of a batch, one window per state.
///
/// # Errors
/// [`PhaseError::SizeMismatch`] when states differ in channels or there is none.
pub fn parameters_of(states: &[PhaseState], device: &Device) -> Result<PhaseParameters, PhaseError> {
    let channels = states.first().map_or(0, |state| state.channels.len());
    if channels == 0 {
        return Err(PhaseError::SizeMismatch { what: "phase channels", expected: 1, found: 0 });
    }
    let mut values = [const { Vec::new() }; 3];
    let mut shift = Vec::with_capacity(2 * channels * states.len());
    for state in states {
        expect_size("phase channels", channels, state.channels.len())?;
        for channel in &state.channels {
            values[0].push(channel.amplitude);
            values[1].push(channel.frequency_hz);
            values[2].push(channel.offset);
            let (sin, cos) = (std::f32::consts::TAU * channel.shift_turns).sin_cos();
            shift.extend([cos, sin]);
        }
    }
    let [amplitude, frequency_hz, offset] =
        values.map(|values| Tensor::from_data(TensorData::new(values, [states.len(), channels]), device));
    let shift_xy = Tensor::from_data(TensorData::new(shift, [states.len(), channels, 2]), device);
    Ok(PhaseParameters { amplitude, frequency_hz, offset, shift_xy })
}

fn floats<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.try_into_vec_as::<f32>().expect("float tensors convert to f32")
}

fn table_of_rows(window: &[f32], frames: usize) -> FrameTable<Vec3> {
    let joints = window.len() / (3 * frames);
    let mut table = FrameTable::with_columns(joints);
    for frame in 0..frames {
        let at = |row: usize| window[row * frames + frame];
        let row: Vec<Vec3> =
            (0..joints).map(|joint| Vec3::new(at(3 * joint), at(3 * joint + 1), at(3 * joint + 2))).collect();
        table.push(&row);
    }
    table
}

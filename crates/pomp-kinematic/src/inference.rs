use crate::config::{Blend, KinematicConfig, Precision, Prediction};
use crate::error::{KinematicError, check_finite, check_size};
use crate::inference_buffers::{Buffers, Weights, add, blend_rows};
use crate::inference_encoder::{InferenceEncoder, grow};
use crate::model::KinematicModel;
use crate::noise::NoiseSource;
use crate::packing::pack_linear;
use crate::reverse::{ReverseProcess, StepNoise};
use crate::style::StyleModulation;
use pomp_config::Fields;
use pomp_lanes::{Lanes, Work, row_stride};
use std::sync::Arc;

/// Experts whose α is below this do not run in the decoder.
pub const DEFAULT_GATE_THRESHOLD: f32 = 1e-3;

/// A part of [`KinematicInference::run`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InferencePart {
    /// The encoder, with the part of the decoder's first layer that no step changes.
    Encoder,
    /// One denoising step of the decoder.
    DenoisingStep,
}

/// The kinematic module as the closed loop runs it: some samples at a time, no allocation per frame.
///
/// Holds its own packed copy of the weights of a [`KinematicModel`] and needs no device; a clone shares that copy, and
/// computes by itself. It agrees with [`KinematicModel::sample`] for the same generator state to f32 rounding, apart from
/// experts that are skipped because their share of the blend is below the threshold; the shares of the others are scaled to
/// sum to 1.
///
/// [`Self::sample`] draws one sample. For many characters at once each adds its x with [`Self::add`], one [`Self::run`] reads
/// every weight once for all of them, and each takes its y with [`Self::sample_of`]. A sample is the same bytes in any
/// company.
#[derive(Clone, Debug)]
pub struct KinematicInference {
    weights: Arc<Weights>,
    lanes: Lanes,
    gate_threshold: f32,
    process: ReverseProcess,
    /// Samples that were added.
    samples: usize,
    buffers: Buffers,
}

impl KinematicInference {
    /// Packs the weights of `model` to run `process`.
    ///
    /// # Errors
    /// [`KinematicError::NotFinite`] for a weight that is not finite, [`KinematicError::SizeMismatch`] when the
    /// process was planned for another number of features, [`KinematicError::OutOfRange`] when it was planned
    /// for more steps than the module has.
    pub fn new(model: &KinematicModel, process: ReverseProcess) -> Result<Self, KinematicError> {
        Self::in_precision(model, process, Precision::Float32)
    }

    /// As [`Self::new`], whose numbers have 32 bits, in this precision. In bfloat16 a sample of the embedded compact model is off by about
    /// a hundredth of its size.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn in_precision(
        model: &KinematicModel,
        process: ReverseProcess,
        precision: Precision,
    ) -> Result<Self, KinematicError> {
        let config = model.config().clone();
        let (lanes, precision) = (Lanes::detect(), precision.into());
        let decoder = &model.decoder;
        let time_input = pack_linear("the decoder's time layer", &decoder.time_input, precision)?;
        let noisy_input = pack_linear("the decoder's first layer", &decoder.noisy_input, precision)?;
        let condition_input =
            pack_linear("the decoder's condition layer", &decoder.condition_input, precision)?;
        let state_input = match &decoder.state_input {
            Some(layer) => Some(pack_linear("the decoder's state layer", layer, precision)?),
            None => None,
        };
        let hidden = decoder.hidden.iter().enumerate();
        let hidden = hidden
            .map(|(index, layer)| pack_linear(&format!("decoder layer {}", index + 2), layer, precision))
            .collect::<Result<Vec<_>, _>>()?;
        let output = pack_linear("the decoder's last layer", &decoder.output, precision)?;
        let first = noisy_input.padded();
        let steps = model.schedule().steps();
        let mut time_shares = vec![0.0; steps * first];
        for (index, share) in time_shares.chunks_exact_mut(first).enumerate() {
            time_input.apply(lanes, decoder.time_code(index + 1), share);
        }
        let schedule = model.schedule();
        let mixes = (1..=steps).map(|n| (schedule.signal(n) as f32, schedule.noise(n) as f32)).collect();
        let weights = Weights {
            encoder: InferenceEncoder::new(&model.encoder, &config, precision)?,
            stride: row_stride(config.decoder_hidden.iter().copied().fold(0, usize::max)),
            condition_stride: row_stride(config.condition_size),
            output_stride: row_stride(config.output_size),
            config,
            condition_input,
            noisy_input,
            state_input,
            hidden,
            output,
            time_shares,
            mixes,
        };
        let mut inference = Self {
            weights: Arc::new(weights),
            lanes,
            gate_threshold: DEFAULT_GATE_THRESHOLD,
            process: ReverseProcess { initial: 1.0, transitions: Vec::new() },
            samples: 0,
            buffers: Buffers::new(),
        };
        inference.set_process(process)?;
        // Without a sample there are gates to be asked for, zeros.
        inference.weights.encoder.reserve(&mut inference.buffers.encoder, 1);
        Ok(inference)
    }

    /// Replaces the reverse process, for instance to change the number of steps at run time.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn set_process(&mut self, process: ReverseProcess) -> Result<(), KinematicError> {
        let steps = self.weights.mixes.len();
        for transition in &process.transitions {
            Fields::root().within("step of the reverse process", transition.from, 1..=steps)?;
            if let StepNoise::PerFeature(sigmas) = &transition.noise {
                check_size("the reverse process's noise", self.weights.config.output_size, sigmas.len())?;
            }
        }
        self.process = process;
        Ok(())
    }

    /// Changes the α below which an expert does not run in the decoder
    /// ([`DEFAULT_GATE_THRESHOLD`] at first). 0 runs all of them.
    ///
    /// # Errors
    /// [`KinematicError::OutOfRange`] unless it lies in [0, 1/K), where at least one expert always runs.
    pub fn set_gate_threshold(&mut self, threshold: f32) -> Result<(), KinematicError> {
        let largest = 1.0 / self.weights.config.experts as f32;
        // Below 1/K, so that an expert is always left.
        Fields::root().within("gate_threshold", threshold, 0.0..largest)?;
        self.gate_threshold = threshold;
        Ok(())
    }

    /// The configuration of the module.
    pub fn config(&self) -> &KinematicConfig {
        &self.weights.config
    }

    /// α of the first sample of the last run, one per expert, before experts were skipped; zeros before the first run.
    pub fn gates(&self) -> &[f32] {
        self.gates_of(0)
    }

    /// α of a sample of the last run, as [`Self::gates`].
    ///
    /// # Panics
    /// When there never were so many samples.
    pub fn gates_of(&self, sample: usize) -> &[f32] {
        self.weights.encoder.gates(&self.buffers.encoder, sample)
    }

    /// Draws one sample of y for x: [`Self::begin`], [`Self::add`], [`Self::run`] and [`Self::sample_of`].
    ///
    /// Draws from `noise` what [`KinematicModel::sample`] draws for one row: y_N, then the noise of every
    /// transition that has any.
    ///
    /// # Errors
    /// [`KinematicError::SizeMismatch`] for the length of x or y, [`KinematicError::NotFinite`] for a value of
    /// x, or of the result, that is not finite; `y` is then unspecified.
    pub fn sample<N: NoiseSource>(
        &mut self,
        x: &[f32],
        y: &mut [f32],
        noise: &mut N,
    ) -> Result<(), KinematicError> {
        check_size("y", self.weights.config.output_size, y.len())?;
        self.begin();
        let sample = self.add(x, None, noise)?;
        self.run();
        y.copy_from_slice(self.sample_of(sample)?);
        Ok(())
    }

    /// Forgets the samples of the last run.
    pub fn begin(&mut self) {
        self.samples = 0;
        self.buffers.styles.clear();
    }

    /// Adds a sample to the next run, in a style or as the module was trained, and draws its noise; gives its number.
    ///
    /// # Errors
    /// [`KinematicError::SizeMismatch`] for the length of x, or a style of a module of other sizes;
    /// [`KinematicError::NotFinite`] for a value of x that is not finite; nothing is added or drawn then.
    pub fn add<N: NoiseSource>(
        &mut self,
        x: &[f32],
        style: Option<&Arc<StyleModulation>>,
        noise: &mut N,
    ) -> Result<usize, KinematicError> {
        if let Some(style) = style {
            style.check(&self.weights.config)?;
        }
        let (sample, draws) = (self.add_x(x, style)?, self.draws());
        let Buffers { y, noise: drawn, .. } = &mut self.buffers;
        grow(drawn, self.samples * draws);
        let drawn = &mut drawn[sample * draws..][..draws];
        drawn.fill_with(|| noise.draw());
        let y = &mut y[sample * self.weights.output_stride..][..self.weights.config.output_size];
        for (y, drawn) in y.iter_mut().zip(drawn) {
            *y = *drawn * self.process.initial;
        }
        Ok(sample)
    }

    /// Draws y for all samples that were added.
    pub fn run(&mut self) {
        self.run_in_parts(|_| {});
    }

    /// [`Self::run`], which calls `after` at the end of each part: to see what a part costs, with a clock of the caller.
    pub fn run_in_parts(&mut self, mut after: impl FnMut(InferencePart)) {
        if self.samples == 0 {
            return;
        }
        self.prepare();
        after(InferencePart::Encoder);
        let (size, stride, draws) =
            (self.weights.config.output_size, self.weights.output_stride, self.draws());
        let mut drawn_before = size;
        for index in 0..self.process.transitions.len() {
            self.denoise(self.process.transitions[index].from);
            let transition = &self.process.transitions[index];
            let Buffers { y, last, noise, .. } = &mut self.buffers;
            let samples = y.chunks_exact_mut(stride).zip(last.chunks_exact(stride)).take(self.samples);
            for (sample, (y, clean)) in samples.enumerate() {
                let y = &mut y[..size];
                for (y, clean) in y.iter_mut().zip(clean) {
                    *y = clean * transition.clean + *y * transition.noisy;
                }
                let noise = || noise[sample * draws + drawn_before..][..size].iter();
                match &transition.noise {
                    StepNoise::None => {}
                    StepNoise::Scalar(sigma) => {
                        for (y, noise) in y.iter_mut().zip(noise()) {
                            *y += noise * sigma;
                        }
                    }
                    StepNoise::PerFeature(sigmas) => {
                        for ((y, noise), sigma) in y.iter_mut().zip(noise()).zip(sigmas) {
                            *y += noise * sigma;
                        }
                    }
                }
            }
            if !matches!(transition.noise, StepNoise::None) {
                drawn_before += size;
            }
            after(InferencePart::DenoisingStep);
        }
    }

    /// What the encoder of the last run cost, and each of its denoising steps: with the experts that ran.
    pub fn work(&self) -> [Work; 2] {
        let Weights { encoder, condition_input, noisy_input, state_input, hidden, output, .. } =
            &*self.weights;
        let (samples, rows) = (self.samples, self.buffers.blend_weights.len());
        let state = state_input.iter().map(|layer| layer.work(samples));
        let encoder = encoder.work(samples) + condition_input.work(rows) + state.sum();
        let hidden: Work = hidden.iter().map(|layer| layer.work(rows)).sum();
        [encoder, noisy_input.work(samples) + hidden + output.work(samples)]
    }

    /// Number of denoising steps of a run.
    pub fn steps(&self) -> usize {
        self.process.transitions.len()
    }

    /// y of a sample of the last run.
    ///
    /// # Errors
    /// [`KinematicError::NotFinite`] for a value of it, or a share of an expert, that is not finite.
    ///
    /// # Panics
    /// When there is no such sample.
    pub fn sample_of(&self, sample: usize) -> Result<&[f32], KinematicError> {
        assert!(sample < self.samples, "sample {sample} of {}", self.samples);
        let size = self.weights.config.output_size;
        let y = &self.buffers.y[sample * self.weights.output_stride..][..size];
        check_finite("the shares of the experts", self.weights.config.experts, self.gates_of(sample))?;
        check_finite("the sampled y", size, y)?;
        Ok(y)
    }

    /// How many times a sample draws from its noise source.
    pub fn draws(&self) -> usize {
        let noisy = self.process.transitions.iter().filter(|t| !matches!(t.noise, StepNoise::None)).count();
        (1 + noisy) * self.weights.config.output_size
    }

    /// ŷ_0 for x, y_n and n: one run of the module outside the reverse process, for inspection.
    ///
    /// # Errors
    /// As [`Self::sample`], and [`KinematicError::OutOfRange`] for n outside 1..=N.
    pub fn predict_clean(
        &mut self,
        x: &[f32],
        noisy: &[f32],
        n: usize,
        clean: &mut [f32],
    ) -> Result<(), KinematicError> {
        let size = self.weights.config.output_size;
        check_size("y_n", size, noisy.len())?;
        check_size("the clean y", size, clean.len())?;
        let steps = self.weights.mixes.len();
        Fields::root().within("n", n, 1..=steps)?;
        check_finite("y_n", size, noisy)?;
        self.begin();
        self.add_x(x, None)?;
        self.prepare();
        self.buffers.y[..size].copy_from_slice(noisy);
        self.denoise(n);
        clean.copy_from_slice(&self.buffers.last[..size]);
        check_finite("the clean y", size, clean)
    }

    /// Adds the x of a sample and makes room for what is computed from it.
    fn add_x(&mut self, x: &[f32], style: Option<&Arc<StyleModulation>>) -> Result<usize, KinematicError> {
        let config = &self.weights.config;
        check_size("x", config.input_size, x.len())?;
        check_finite("x", config.input_size, x)?;
        let sample = self.samples;
        self.samples += 1;
        self.buffers.reserve(&self.weights, self.samples);
        self.buffers.x[sample * config.input_size..][..x.len()].copy_from_slice(x);
        self.buffers.styles.push(style.cloned());
        Ok(sample)
    }

    /// Runs the encoder and the part of the decoder's first layer that no step changes.
    fn prepare(&mut self) {
        let (lanes, samples) = (self.lanes, self.samples);
        let Weights { config, encoder, condition_input, state_input, stride, condition_stride, .. } =
            &*self.weights;
        let Buffers {
            x,
            styles,
            encoder: encoded,
            rows_of,
            blend_weights,
            conditions,
            shares,
            state_shares,
            scratch,
            ..
        } = &mut self.buffers;
        encoder.run(lanes, styles, x, encoded, scratch);
        rows_of.clear();
        blend_weights.clear();
        for sample in 0..samples {
            let first = blend_weights.len();
            for (expert, &gate) in encoder.gates(encoded, sample).iter().enumerate() {
                if gate >= self.gate_threshold {
                    let row = blend_weights.len() * condition_stride;
                    let condition = encoder.condition(encoded, sample, expert);
                    conditions[row..row + config.condition_size].copy_from_slice(condition);
                    blend_weights.push(gate);
                }
            }
            let of_sample = &mut blend_weights[first..];
            let total: f32 = of_sample.iter().sum();
            for weight in of_sample.iter_mut() {
                *weight /= total;
            }
            if config.blend == Blend::BeforeDecoder && !of_sample.is_empty() {
                blend_rows(&mut conditions[first * condition_stride..], *condition_stride, of_sample);
                blend_weights.truncate(first);
                blend_weights.push(1.0);
            }
            rows_of.push(blend_weights.len() - first);
        }
        let rows = blend_weights.len();
        let conditions = (&conditions[..], *condition_stride);
        condition_input.apply_rows(lanes, rows, conditions, (shares, *stride), scratch);
        if let Some(state_input) = state_input {
            let x = (&x[..], config.input_size);
            state_input.apply_rows(lanes, samples, x, (state_shares, *stride), scratch);
            let mut shares = shares.chunks_exact_mut(*stride);
            for (&rows, state_share) in rows_of.iter().zip(state_shares.chunks_exact(*stride)) {
                for share in shares.by_ref().take(rows) {
                    add(share, state_share);
                }
            }
        }
    }

    /// Writes ŷ_0 for the y_n in the buffers.
    fn denoise(&mut self, n: usize) {
        let (lanes, samples) = (self.lanes, self.samples);
        let Weights {
            config, noisy_input, hidden, output, time_shares, mixes, stride, output_stride, ..
        } = &*self.weights;
        let (stride, output_stride) = (*stride, *output_stride);
        let Buffers {
            y,
            styles,
            rows_of,
            blend_weights,
            shares,
            rows,
            next_rows,
            common,
            blend,
            last,
            scratch,
            ..
        } = &mut self.buffers;
        let count = blend_weights.len();
        let mut width = noisy_input.padded();
        noisy_input.apply_rows(lanes, samples, (y, output_stride), (common, stride), scratch);
        let time_share = &time_shares[(n - 1) * width..n * width];
        let mut cells = rows.chunks_exact_mut(stride).zip(shares.chunks_exact(stride));
        for ((&rows, common), style) in rows_of.iter().zip(common.chunks_exact_mut(stride)).zip(styles.iter())
        {
            add(common, time_share);
            for (row, share) in cells.by_ref().take(rows) {
                for ((row, share), common) in row[..width].iter_mut().zip(share).zip(common.iter()) {
                    *row = share + common;
                }
                if let Some(style) = style {
                    style.decoder[0].apply(0, row);
                }
                config.activation.apply(lanes, &mut row[..width]);
            }
        }
        let widths = config.decoder_hidden.windows(2);
        for (index, (layer, pair)) in hidden.iter().zip(widths).enumerate() {
            layer.apply_rows(lanes, count, (rows, stride), (next_rows, stride), scratch);
            width = layer.padded();
            let mut of_samples = next_rows.chunks_exact_mut(stride);
            for (&rows, style) in rows_of.iter().zip(styles.iter()) {
                for next in of_samples.by_ref().take(rows) {
                    if let Some(style) = style {
                        style.decoder[index + 1].apply(0, next);
                    }
                }
            }
            let cells = next_rows.chunks_exact_mut(stride).zip(rows.chunks_exact(stride));
            for (next, row) in cells.take(count) {
                config.activation.apply(lanes, &mut next[..width]);
                if pair[0] == pair[1] {
                    add(&mut next[..width], row);
                }
            }
            std::mem::swap(rows, next_rows);
        }
        let mut cells = rows.chunks_exact(stride).zip(blend_weights.iter());
        for (&rows, blend) in rows_of.iter().zip(blend.chunks_exact_mut(stride)) {
            let blend = &mut blend[..width];
            blend.fill(0.0);
            for (row, weight) in cells.by_ref().take(rows) {
                for (blend, value) in blend.iter_mut().zip(row) {
                    *blend += weight * value;
                }
            }
        }
        output.apply_rows(lanes, samples, (blend, stride), (last, output_stride), scratch);
        for (last, style) in last.chunks_exact_mut(output_stride).zip(styles.iter()) {
            if let Some(style) = style {
                add(&mut last[..config.output_size], &style.output);
            }
        }
        if config.prediction == Prediction::Velocity {
            let (signal, noise) = mixes[n - 1];
            let samples = last.chunks_exact_mut(output_stride).zip(y.chunks_exact(output_stride));
            for (last, y) in samples.take(self.samples) {
                for (last, y) in last[..config.output_size].iter_mut().zip(y) {
                    *last = y * signal + *last * noise;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;

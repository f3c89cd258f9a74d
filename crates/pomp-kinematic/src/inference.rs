use crate::config::{Blend, KinematicConfig, Prediction};
use crate::error::{KinematicError, check_finite, check_size};
use crate::inference_encoder::InferenceEncoder;
use crate::model::KinematicModel;
use crate::noise::NoiseSource;
use crate::packed::{PackedLinear, padded_rows};
use crate::reverse::{ReverseProcess, StepNoise};
use pomp_config::Fields;
use pomp_lanes::Lanes;

/// Experts whose α is below this do not run in the decoder.
pub const DEFAULT_GATE_THRESHOLD: f32 = 1e-3;

/// The kinematic module as the closed loop runs it: one character, one frame, no allocation per frame.
///
/// Holds its own packed copy of the weights of a [`KinematicModel`] and needs no device. It agrees with
/// [`KinematicModel::sample`] for the same generator state to f32 rounding, apart from experts that are
/// skipped because their share of the blend is below the threshold; the shares of the others are scaled to
/// sum to 1.
#[derive(Clone, Debug)]
pub struct KinematicInference {
    config: KinematicConfig,
    lanes: Lanes,
    gate_threshold: f32,
    process: ReverseProcess,
    encoder: InferenceEncoder,
    condition_input: PackedLinear,
    noisy_input: PackedLinear,
    state_input: Option<PackedLinear>,
    hidden: Vec<PackedLinear>,
    output: PackedLinear,
    /// The share of n in the first layer, row n − 1.
    time_shares: Vec<f32>,
    /// √ᾱ_n and √(1−ᾱ_n), entry n − 1.
    mixes: Vec<(f32, f32)>,
    buffers: Buffers,
}

/// Scratch of one frame; contents do not carry over.
#[derive(Clone, Debug)]
struct Buffers {
    conditions: Vec<f32>,
    blend_weights: Vec<f32>,
    shares: Vec<f32>,
    common: Vec<f32>,
    state_share: Vec<f32>,
    rows: Vec<f32>,
    next_rows: Vec<f32>,
    scratch: Vec<f32>,
    blend: Vec<f32>,
    last: Vec<f32>,
    y: Vec<f32>,
}

impl KinematicInference {
    /// Packs the weights of `model` to run `process`.
    ///
    /// # Errors
    /// [`KinematicError::NotFinite`] for a weight that is not finite, [`KinematicError::SizeMismatch`] when the
    /// process was planned for another number of features, [`KinematicError::OutOfRange`] when it was planned
    /// for more steps than the module has.
    pub fn new(model: &KinematicModel, process: ReverseProcess) -> Result<Self, KinematicError> {
        let config = model.config().clone();
        let lanes = Lanes::detect();
        let decoder = &model.decoder;
        let time_input = PackedLinear::from_linear("the decoder's time layer", &decoder.time_input)?;
        let noisy_input = PackedLinear::from_linear("the decoder's first layer", &decoder.noisy_input)?;
        let condition_input =
            PackedLinear::from_linear("the decoder's condition layer", &decoder.condition_input)?;
        let state_input = match &decoder.state_input {
            Some(layer) => Some(PackedLinear::from_linear("the decoder's state layer", layer)?),
            None => None,
        };
        let hidden = decoder.hidden.iter().enumerate();
        let hidden = hidden
            .map(|(index, layer)| PackedLinear::from_linear(&format!("decoder layer {}", index + 2), layer))
            .collect::<Result<Vec<_>, _>>()?;
        let output = PackedLinear::from_linear("the decoder's last layer", &decoder.output)?;
        let first = noisy_input.padded();
        let steps = model.schedule().steps();
        let mut time_shares = vec![0.0; steps * first];
        for (index, share) in time_shares.chunks_exact_mut(first).enumerate() {
            time_input.apply(lanes, &decoder.time_code(index + 1), share);
        }
        let schedule = model.schedule();
        let mixes = (1..=steps).map(|n| (schedule.signal(n) as f32, schedule.noise(n) as f32)).collect();
        let rows = padded_rows(config.experts);
        let widest = hidden.iter().map(PackedLinear::padded).fold(first, usize::max);
        let buffers = Buffers {
            conditions: vec![0.0; rows * config.condition_size],
            blend_weights: Vec::with_capacity(config.experts),
            shares: vec![0.0; rows * first],
            common: vec![0.0; first],
            state_share: vec![0.0; first],
            rows: vec![0.0; rows * widest],
            next_rows: vec![0.0; rows * widest],
            scratch: vec![0.0; rows * widest.max(config.condition_size)],
            blend: vec![0.0; widest],
            last: vec![0.0; output.padded()],
            y: vec![0.0; config.output_size],
        };
        let mut inference = Self {
            encoder: InferenceEncoder::new(&model.encoder, &config)?,
            gate_threshold: DEFAULT_GATE_THRESHOLD,
            process: ReverseProcess { initial: 1.0, transitions: Vec::new() },
            config,
            lanes,
            condition_input,
            noisy_input,
            state_input,
            hidden,
            output,
            time_shares,
            mixes,
            buffers,
        };
        inference.set_process(process)?;
        Ok(inference)
    }

    /// Replaces the reverse process, for instance to change the number of steps at run time.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn set_process(&mut self, process: ReverseProcess) -> Result<(), KinematicError> {
        let steps = self.mixes.len();
        for transition in &process.transitions {
            Fields::root().within("step of the reverse process", transition.from, 1..=steps)?;
            if let StepNoise::PerFeature(sigmas) = &transition.noise {
                check_size("the reverse process's noise", self.config.output_size, sigmas.len())?;
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
        let largest = 1.0 / self.config.experts as f32;
        // Below 1/K, so that an expert is always left.
        Fields::root().within("gate_threshold", threshold, 0.0..largest)?;
        self.gate_threshold = threshold;
        Ok(())
    }

    /// The configuration of the module.
    pub fn config(&self) -> &KinematicConfig {
        &self.config
    }

    /// α of the last frame, one per expert, before experts were skipped; zeros before the first frame.
    pub fn gates(&self) -> &[f32] {
        self.encoder.gates()
    }

    /// Draws one sample of y for x.
    ///
    /// Draws from `rng` what [`KinematicModel::sample`] draws for one row: y_N, then the noise of every
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
        check_size("y", self.config.output_size, y.len())?;
        self.prepare(x)?;
        for value in &mut self.buffers.y {
            *value = noise.draw() * self.process.initial;
        }
        for index in 0..self.process.transitions.len() {
            self.denoise(self.process.transitions[index].from);
            let transition = &self.process.transitions[index];
            let Buffers { y, last, .. } = &mut self.buffers;
            for (y, clean) in y.iter_mut().zip(last.iter()) {
                *y = clean * transition.clean + *y * transition.noisy;
            }
            match &transition.noise {
                StepNoise::None => {}
                StepNoise::Scalar(sigma) => {
                    for y in y {
                        *y += noise.draw() * sigma;
                    }
                }
                StepNoise::PerFeature(sigmas) => {
                    for (y, sigma) in y.iter_mut().zip(sigmas) {
                        *y += noise.draw() * sigma;
                    }
                }
            }
        }
        y.copy_from_slice(&self.buffers.y);
        check_finite("the sampled y", self.config.output_size, y)
    }

    /// How many times [`Self::sample`] draws from its noise source.
    pub fn draws(&self) -> usize {
        let noisy = self.process.transitions.iter().filter(|t| !matches!(t.noise, StepNoise::None)).count();
        (1 + noisy) * self.config.output_size
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
        check_size("y_n", self.config.output_size, noisy.len())?;
        check_size("the clean y", self.config.output_size, clean.len())?;
        let steps = self.mixes.len();
        Fields::root().within("n", n, 1..=steps)?;
        check_finite("y_n", self.config.output_size, noisy)?;
        self.prepare(x)?;
        self.buffers.y.copy_from_slice(noisy);
        self.denoise(n);
        clean.copy_from_slice(&self.buffers.last[..clean.len()]);
        check_finite("the clean y", self.config.output_size, clean)
    }

    /// Runs the encoder and the part of the decoder's first layer that no step changes.
    fn prepare(&mut self, x: &[f32]) -> Result<(), KinematicError> {
        check_size("x", self.config.input_size, x.len())?;
        check_finite("x", self.config.input_size, x)?;
        self.encoder.run(self.lanes, x);
        let size = self.config.condition_size;
        let Buffers { conditions, blend_weights, shares, state_share, scratch, .. } = &mut self.buffers;
        blend_weights.clear();
        for (expert, &gate) in self.encoder.gates().iter().enumerate() {
            if gate >= self.gate_threshold {
                let row = blend_weights.len() * size;
                conditions[row..row + size].copy_from_slice(self.encoder.condition(expert));
                blend_weights.push(gate);
            }
        }
        let total: f32 = blend_weights.iter().sum();
        for weight in blend_weights.iter_mut() {
            *weight /= total;
        }
        if self.config.blend == Blend::BeforeDecoder {
            blend_rows(conditions, size, blend_weights);
        }
        let active = blend_weights.len();
        let first = self.condition_input.padded();
        self.condition_input.apply_rows(self.lanes, active, (conditions, size), (shares, first), scratch);
        if let Some(state_input) = &self.state_input {
            state_input.apply(self.lanes, x, state_share);
            for row in shares.chunks_exact_mut(first).take(active) {
                add(row, state_share);
            }
        }
        Ok(())
    }

    /// Writes ŷ_0 for the y_n in the buffers.
    fn denoise(&mut self, n: usize) {
        let lanes = self.lanes;
        let Buffers { blend_weights, shares, common, rows, next_rows, scratch, blend, last, y, .. } =
            &mut self.buffers;
        let active = blend_weights.len();
        let mut width = self.noisy_input.padded();
        self.noisy_input.apply(lanes, y, common);
        add(common, &self.time_shares[(n - 1) * width..n * width]);
        let cells = rows.chunks_exact_mut(width).zip(shares.chunks_exact(width)).take(active);
        for (row, share) in cells {
            for ((row, share), common) in row.iter_mut().zip(share).zip(common.iter()) {
                *row = share + common;
            }
        }
        self.config.activation.apply(lanes, &mut rows[..active * width]);
        let widths = self.config.decoder_hidden.windows(2);
        for (layer, pair) in self.hidden.iter().zip(widths) {
            let next_width = layer.padded();
            layer.apply_rows(lanes, active, (rows, width), (next_rows, next_width), scratch);
            self.config.activation.apply(lanes, &mut next_rows[..active * next_width]);
            if pair[0] == pair[1] {
                add(&mut next_rows[..active * next_width], &rows[..active * width]);
            }
            std::mem::swap(rows, next_rows);
            width = next_width;
        }
        blend[..width].fill(0.0);
        for (row, weight) in rows.chunks_exact(width).zip(blend_weights.iter()) {
            for (blend, value) in blend.iter_mut().zip(row) {
                *blend += weight * value;
            }
        }
        self.output.apply(lanes, blend, last);
        if self.config.prediction == Prediction::Velocity {
            let (signal, noise) = self.mixes[n - 1];
            for (last, y) in last.iter_mut().zip(y.iter()) {
                *last = y * signal + *last * noise;
            }
        }
    }
}

/// Puts the weighted sum of the rows in place of the first, which is then the only one.
fn blend_rows(rows: &mut [f32], size: usize, weights: &mut Vec<f32>) {
    let (blended, others) = rows.split_at_mut(size);
    for value in blended.iter_mut() {
        *value *= weights[0];
    }
    for (row, weight) in others.chunks_exact(size).zip(&weights[1..]) {
        for (blended, value) in blended.iter_mut().zip(row) {
            *blended += weight * value;
        }
    }
    weights.clear();
    weights.push(1.0);
}

fn add(target: &mut [f32], other: &[f32]) {
    for (target, other) in target.iter_mut().zip(other) {
        *target += other;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::GateInput;
    use crate::reverse::SamplerConfig;
    use burn::tensor::Device;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;

    #[test]
    fn a_frame_is_the_same_bytes_on_all_instruction_sets_that_agree_in_fusing_and_close_on_the_others() {
        const X: usize = 83;
        const Y: usize = 61;
        let x: Vec<f32> = (0..X).map(|at| (at as f32 * 0.37).sin()).collect();
        for blend in [Blend::AfterDecoder, Blend::BeforeDecoder] {
            let config =
                KinematicConfig { blend, ..KinematicConfig::compact(X, Y, GateInput { start: 3, len: 40 }) };
            let model = KinematicModel::new(&config, 5, &Device::flex()).unwrap();
            let process = ReverseProcess::new(model.schedule(), Y, &SamplerConfig::ddim(4), None).unwrap();
            let mut packed = KinematicInference::new(&model, process).unwrap();
            packed.sample(&x, &mut [0.0; Y], &mut ChaCha8Rng::seed_from_u64(2)).unwrap();
            let mut gates = packed.gates().to_vec();
            gates.sort_by(f32::total_cmp);
            let between = |left: usize| 0.5 * (gates[left - 1] + gates[left]);
            // Eight, seven and four experts run: rows in eights, in eights with one to spare, and in fours.
            for threshold in [0.0, between(1), between(4)] {
                let mut of_set: Vec<(Lanes, Vec<f32>)> = Vec::new();
                for lanes in Lanes::all() {
                    let mut inference = KinematicInference { lanes, ..packed.clone() };
                    inference.set_gate_threshold(threshold).unwrap();
                    let mut y = vec![0.0; Y];
                    inference.sample(&x, &mut y, &mut ChaCha8Rng::seed_from_u64(2)).unwrap();
                    for (other, expected) in &of_set {
                        let worst = y.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
                        println!("{other:?} and {lanes:?} differ by {worst:e}");
                        assert!(worst < 1e-4);
                        if other.fused() == lanes.fused() {
                            assert_eq!(&y, expected, "{other:?} and {lanes:?}");
                        }
                    }
                    of_set.push((lanes, y));
                }
            }
        }
    }
}

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::{Device, Tensor, TensorData};
use pomp_tensors::blend;
use rand_chacha::ChaCha8Rng;

use crate::config::{Blend, Conditioning, KinematicConfig, Prediction};
use crate::encoder::Encoding;
use crate::error::KinematicError;
use crate::linear::{linear, product_of};
use crate::schedule::DiffusionSchedule;
use crate::seeded;
use crate::style::{Modulation, StyleTensors};

/// The part of the decoder's first layer that does not change over the denoising steps, with the blend.
#[derive(Clone, Debug)]
pub struct DecoderContext {
    /// Share of the condition (and of x, if configured): `[K, B, H]`, or `[1, B, H]` of the blended condition.
    share: Tensor<3>,
    /// α as `[K, B, 1]`; 1 as `[1, B, 1]` where the conditions were blended.
    gates: Tensor<3>,
    /// What styles change.
    style: Option<StyleTensors>,
}

/// The network shared by the experts, D(y_n, w_k, n) → z_k, and the blend Σ_k α_k z_k (docs/method.md §3.2).
///
/// The first layer is a sum of shares: of y_n and of n once per sample, of w_k once per expert and frame. The
/// last layer is linear and Σ α_k = 1, so blending before it is the same as after it, at an eighth of the cost.
#[derive(Module, Debug)]
pub struct DiffusionDecoder {
    /// Share of y_n, with the first layer's bias.
    pub noisy_input: Linear,
    /// Share of w_k.
    pub condition_input: Linear,
    /// Share of the code of n.
    pub time_input: Linear,
    /// Share of x, for [`Conditioning::ExpertsAndState`].
    pub state_input: Option<Linear>,
    /// Layers between the first and the last; residual where the widths agree.
    pub hidden: Vec<Linear>,
    /// The last layer.
    pub output: Linear,
    #[module(skip)]
    config: KinematicConfig,
    #[module(skip)]
    schedule: DiffusionSchedule,
    /// The codes of n = 1, 2, …, one after the other.
    #[module(skip)]
    codes: Vec<f32>,
}

/// The last layer starts small, so that an untrained module guesses the mean instead of noise.
const OUTPUT_GAIN: f64 = 0.1;

impl DecoderContext {
    /// Samples that were encoded.
    pub fn rows(&self) -> usize {
        self.share.dims()[1]
    }

    /// The same with what styles change in the decoder.
    pub(crate) fn styled(self, style: &StyleTensors) -> Self {
        Self { style: Some(style.clone()), ..self }
    }
}

impl DiffusionDecoder {
    /// A decoder with weights drawn from `rng`.
    ///
    /// # Errors
    /// [`KinematicError::OutOfRange`].
    pub fn new(
        config: &KinematicConfig,
        device: &Device,
        rng: &mut ChaCha8Rng,
    ) -> Result<Self, KinematicError> {
        config.validate()?;
        let schedule = config.schedule()?;
        let first = config.decoder_hidden[0];
        // Each share is given an equal part of the first layer's variance.
        let shares = match config.conditioning {
            Conditioning::Experts => 3.0f64,
            Conditioning::ExpertsAndState => 4.0,
        };
        let part = shares.sqrt().recip();
        let noisy_input = seeded::linear(config.output_size, first, part, device, rng);
        let condition_input = seeded::linear_without_bias(config.condition_size, first, part, device, rng);
        // A sinusoidal code has mean square 1/2.
        let time_part = part * std::f64::consts::SQRT_2;
        let time_input = seeded::linear_without_bias(config.time_embedding, first, time_part, device, rng);
        let state_input = match config.conditioning {
            Conditioning::Experts => None,
            Conditioning::ExpertsAndState => {
                Some(seeded::linear_without_bias(config.input_size, first, part, device, rng))
            }
        };
        let gain = config.activation.gain();
        let mut hidden = Vec::new();
        for pair in config.decoder_hidden.windows(2) {
            hidden.push(seeded::linear(pair[0], pair[1], gain, device, rng));
        }
        let last = config.decoder_hidden[config.decoder_hidden.len() - 1];
        let output = seeded::linear(last, config.output_size, OUTPUT_GAIN, device, rng);
        let codes = time_codes(schedule.steps(), config.time_embedding);
        let config = config.clone();
        Ok(Self {
            noisy_input,
            condition_input,
            time_input,
            state_input,
            hidden,
            output,
            config,
            schedule,
            codes,
        })
    }

    /// ᾱ_n of the steps this decoder was made for.
    pub fn schedule(&self) -> &DiffusionSchedule {
        &self.schedule
    }

    /// Computes what stays the same over the denoising steps of one frame. `x` is `[B, X]`.
    pub fn context(&self, encoding: Encoding, x: &Tensor<2>) -> DecoderContext {
        let gates = encoding.gates.swap_dims(0, 1).unsqueeze_dim::<3>(2);
        let (conditions, gates) = match self.config.blend {
            Blend::AfterDecoder => (encoding.conditions, gates),
            Blend::BeforeDecoder => {
                ((encoding.conditions * gates.clone()).sum_dim(0), gates.narrow(0, 0, 1).ones_like())
            }
        };
        let [experts, batch, size] = conditions.dims();
        let rows = conditions.reshape([experts * batch, size]);
        let width = self.config.decoder_hidden[0];
        let mut share = linear(&self.condition_input, rows).reshape([experts, batch, width]);
        if let Some(state_input) = &self.state_input {
            share = share + linear(state_input, x.clone()).unsqueeze::<3>();
        }
        DecoderContext { share, gates, style: None }
    }

    /// ŷ_0 = Σ_k α_k D(y_n, w_k, n): `[B, Y]` from y_n, `[B, Y]`, and one step n in 1..=N per sample.
    ///
    /// # Panics
    /// When a step lies outside 1..=N, or the rows disagree in number.
    pub fn forward(&self, context: &DecoderContext, noisy: Tensor<2>, steps: &[usize]) -> Tensor<2> {
        let hidden = self.hidden_rows(context, &noisy, steps);
        let last = linear(&self.output, blend(hidden, context.gates.clone()));
        let last = match &context.style {
            Some(style) => last + style.output.clone(),
            None => last,
        };
        self.read_out(last, noisy, steps)
    }

    /// z_k = D(y_n, w_k, n) of every expert: `[K, B, Y]`, K times the cost of [`Self::forward`]'s last layer. With
    /// [`Blend::BeforeDecoder`] there is one, of the blended condition: `[1, B, Y]`.
    ///
    /// # Panics
    /// As [`Self::forward`].
    pub fn forward_each(&self, context: &DecoderContext, noisy: &Tensor<2>, steps: &[usize]) -> Tensor<3> {
        let hidden = self.hidden_rows(context, noisy, steps);
        let [experts, batch, width] = hidden.dims();
        let rows = linear(&self.output, hidden.reshape([experts * batch, width]));
        let rows = match &context.style {
            Some(style) => rows + style.output.clone().repeat_dim(0, experts),
            None => rows,
        };
        let noisy_rows = noisy.clone().repeat_dim(0, experts);
        let steps_rows = steps.repeat(experts);
        self.read_out(rows, noisy_rows, &steps_rows).reshape([experts, batch, self.config.output_size])
    }

    fn hidden_rows(&self, context: &DecoderContext, noisy: &Tensor<2>, steps: &[usize]) -> Tensor<3> {
        let [experts, batch, _] = context.share.dims();
        assert_eq!(noisy.dims(), [batch, self.config.output_size], "y_n has one row per encoded sample");
        assert_eq!(steps.len(), batch, "every sample has its step n");
        let codes: Vec<f32> = steps.iter().flat_map(|&n| self.time_code(n)).copied().collect();
        let codes = TensorData::new(codes, [batch, self.config.time_embedding]);
        let codes = Tensor::<2>::from_data(codes, &noisy.device());
        let common = linear(&self.noisy_input, noisy.clone()) + linear(&self.time_input, codes);
        let activation = self.config.activation;
        let share = context.share.clone();
        let mut hidden = match &context.style {
            Some(style) => activation.forward(style.decoder[0].apply(share + common.unsqueeze::<3>())),
            None => {
                let width = self.config.decoder_hidden[0];
                let bias = common.unsqueeze::<3>();
                activation
                    .biased(share.reshape([1, experts * batch, width]), bias)
                    .reshape([experts, batch, width])
            }
        };
        for (index, layer) in self.hidden.iter().enumerate() {
            let style = context.style.as_ref().map(|style| &style.decoder[index + 1]);
            hidden = self.hidden_layer(layer, hidden, style);
        }
        hidden
    }

    /// A layer of every expert's rows, `[K, B, in]`, and the nonlinearity; residual where the widths agree.
    fn hidden_layer(&self, layer: &Linear, input: Tensor<3>, style: Option<&Modulation>) -> Tensor<3> {
        let activation = self.config.activation;
        let [experts, batch, width] = input.dims();
        let rows = input.clone().reshape([experts * batch, width]);
        if let (None, Some(bias)) = (style, &layer.bias) {
            let product = product_of(layer, rows).unsqueeze::<3>();
            let bias = bias.val().reshape([1, 1, -1]);
            let [_, rows, next_width] = product.dims();
            let next = if next_width == width {
                activation.biased_residual(input.reshape([1, rows, width]), product, bias)
            } else {
                activation.biased(product, bias)
            };
            return next.reshape([experts, batch, next_width]);
        }
        let next = linear(layer, rows);
        let next_width = next.dims()[1];
        let next = next.reshape([experts, batch, next_width]);
        let next = match style {
            Some(style) => style.apply(next),
            None => next,
        };
        let next = activation.forward(next);
        if next_width == width { input + next } else { next }
    }

    /// The code of step n: sines, then cosines, of n at geometrically spaced frequencies.
    ///
    /// # Panics
    /// When `n` lies outside 1..=N.
    pub fn time_code(&self, n: usize) -> &[f32] {
        let steps = self.schedule.steps();
        assert!((1..=steps).contains(&n), "step {n} lies outside 1..={steps}");
        let size = self.config.time_embedding;
        &self.codes[(n - 1) * size..n * size]
    }

    fn read_out(&self, last: Tensor<2>, noisy: Tensor<2>, steps: &[usize]) -> Tensor<2> {
        match self.config.prediction {
            Prediction::Clean => last,
            Prediction::Velocity => {
                let column = |values: Vec<f32>| {
                    Tensor::<2>::from_data(TensorData::new(values, [steps.len(), 1]), &noisy.device())
                };
                let signal = column(steps.iter().map(|&n| self.schedule.signal(n) as f32).collect());
                let noise = column(steps.iter().map(|&n| self.schedule.noise(n) as f32).collect());
                noisy * signal + last * noise
            }
        }
    }
}

/// The codes of the steps 1 to `steps`, `size` values each: see [`DiffusionDecoder::time_code`].
fn time_codes(steps: usize, size: usize) -> Vec<f32> {
    let half = size / 2;
    let frequencies: Vec<f64> = (0..half).map(|i| 10_000f64.powf(-(i as f64) / half as f64)).collect();
    let code = |n: usize| {
        let time = 1000.0 * n as f64 / steps as f64;
        let angles: Vec<f64> = frequencies.iter().map(|frequency| time * frequency).collect();
        let sines = angles.iter().map(|angle| angle.sin() as f32);
        sines.chain(angles.iter().map(|angle| angle.cos() as f32)).collect::<Vec<f32>>()
    };
    (1..=steps).flat_map(code).collect()
}

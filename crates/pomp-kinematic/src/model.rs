use burn::module::Module;
use burn::tensor::{Device, Tensor, TensorData};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::config::KinematicConfig;
use crate::decoder::{DecoderContext, DiffusionDecoder};
use crate::encoder::OrthoMoeEncoder;
use crate::error::KinematicError;
use crate::schedule::DiffusionSchedule;
use crate::seeded;
use crate::style::StyleTensors;

/// The kinematic module: x_i → a sample of y_i (docs/method.md §3).
///
/// An ordinary burn module. Built on `device.autodiff()` it trains; `valid()` takes the gradients off.
#[derive(Module, Debug)]
pub struct KinematicModel {
    /// x → (α, w_k).
    pub encoder: OrthoMoeEncoder,
    /// (y_n, w_k, n) → z_k.
    pub decoder: DiffusionDecoder,
    #[module(skip)]
    config: KinematicConfig,
}

/// Samples y_n drawn for a loss or for Γ.
pub(crate) struct Noised {
    /// y_n = √ᾱ_n y_0 + √(1−ᾱ_n) ε, `[B, Y]`.
    pub(crate) noisy: Tensor<2>,
    /// n of every row.
    pub(crate) steps: Vec<usize>,
}

impl KinematicModel {
    /// A module with weights drawn from `seed`: the same seed gives the same bytes.
    ///
    /// # Errors
    /// [`KinematicError::OutOfRange`].
    pub fn new(config: &KinematicConfig, seed: u64, device: &Device) -> Result<Self, KinematicError> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let encoder = OrthoMoeEncoder::new(config, device, &mut rng)?;
        let decoder = DiffusionDecoder::new(config, device, &mut rng)?;
        Ok(Self { encoder, decoder, config: config.clone() })
    }

    /// The configuration that the module was built from.
    pub fn config(&self) -> &KinematicConfig {
        &self.config
    }

    /// ᾱ_n of the training steps.
    pub fn schedule(&self) -> &DiffusionSchedule {
        self.decoder.schedule()
    }

    /// Number of weights and biases.
    pub fn parameter_count(&self) -> usize {
        self.num_params()
    }

    /// Encodes x, `[B, X]`, once per frame. A generator turns dropout on, as in training.
    ///
    /// # Panics
    /// When x does not have `input_size` columns.
    pub fn encode(&self, x: &Tensor<2>, dropout: Option<&mut ChaCha8Rng>) -> DecoderContext {
        self.decoder.context(self.encoder.forward(x, dropout), x)
    }

    /// [`Self::encode`] with what styles change; [`Self::predict_clean`] then follows them too.
    ///
    /// # Panics
    /// When x does not have `input_size` columns, or the styles not as many rows.
    pub fn encode_styled(
        &self,
        x: &Tensor<2>,
        style: &StyleTensors,
        dropout: Option<&mut ChaCha8Rng>,
    ) -> DecoderContext {
        let encoding = self.encoder.forward_modulated(x, dropout, &style.experts);
        self.decoder.context(encoding, x).styled(style)
    }

    /// ŷ_0 from y_n, both `[B, Y]`, and one step n in 1..=N per sample.
    ///
    /// # Panics
    /// When a step lies outside 1..=N, or the rows disagree in number.
    pub fn predict_clean(&self, context: &DecoderContext, noisy: Tensor<2>, steps: &[usize]) -> Tensor<2> {
        self.decoder.forward(context, noisy, steps)
    }

    /// L = mean over samples and features of (w ∘ (y_0 − ŷ_0))², with n uniform in 1..=N per sample and ε
    /// standard normal, both from `rng`; a scalar tensor `[1]`.
    ///
    /// `feature_weights` is w, `[Y]`. The mean instead of the sum over features keeps the learning rate free of
    /// the layout's size.
    ///
    /// # Panics
    /// When x, y and the weights do not have the configured columns or x and y not the same rows.
    pub fn loss(
        &self,
        x: &Tensor<2>,
        y: &Tensor<2>,
        feature_weights: &Tensor<1>,
        rng: &mut ChaCha8Rng,
    ) -> Tensor<1> {
        let context = self.encode(x, Some(rng));
        self.loss_of(&context, y, feature_weights, rng)
    }

    /// [`Self::loss`] with the styles of the rows.
    ///
    /// # Panics
    /// As [`Self::loss`] and [`Self::encode_styled`].
    pub fn styled_loss(
        &self,
        x: &Tensor<2>,
        style: &StyleTensors,
        y: &Tensor<2>,
        feature_weights: &Tensor<1>,
        rng: &mut ChaCha8Rng,
    ) -> Tensor<1> {
        let context = self.encode_styled(x, style, Some(rng));
        self.loss_of(&context, y, feature_weights, rng)
    }

    fn loss_of(
        &self,
        context: &DecoderContext,
        y: &Tensor<2>,
        feature_weights: &Tensor<1>,
        rng: &mut ChaCha8Rng,
    ) -> Tensor<1> {
        let [batch, size] = y.dims();
        assert_eq!(
            [context.rows(), self.config.output_size],
            [batch, size],
            "y has a row for every row of x"
        );
        assert_eq!(feature_weights.dims(), [size], "every feature of y has a weight");
        let steps = (0..batch).map(|_| rng.random_range(1..=self.schedule().steps())).collect();
        let Noised { noisy, steps } = self.add_noise(y, steps, rng);
        let clean = self.predict_clean(context, noisy, &steps);
        let weighted = (y.clone() - clean) * feature_weights.clone().unsqueeze::<2>();
        weighted.square().mean()
    }

    /// The share of the blend that each expert has on these samples: the mean of α over x, `[B, X]`. The
    /// shares sum to 1; an expert near 0 everywhere is dead.
    pub fn expert_use(&self, x: &Tensor<2>) -> Vec<f32> {
        self.encoder.gates(x).mean_dim(0).into_data().iter::<f32>().collect()
    }

    pub(crate) fn add_noise(&self, y: &Tensor<2>, steps: Vec<usize>, rng: &mut ChaCha8Rng) -> Noised {
        let [batch, size] = y.dims();
        let device = y.device();
        let column = |value: &dyn Fn(usize) -> f64| {
            let values: Vec<f32> = steps.iter().map(|&n| value(n) as f32).collect();
            Tensor::<2>::from_data(TensorData::new(values, [batch, 1]), &device)
        };
        let signal = column(&|n| self.schedule().signal(n));
        let noise = column(&|n| self.schedule().noise(n));
        let draw = seeded::normal_rows(batch, size, &device, rng);
        Noised { noisy: y.clone() * signal + draw * noise, steps }
    }
}

use burn::module::{Module, Param};
use burn::nn::Linear;
use burn::tensor::{Device, Tensor, activation};
use pomp_tensors::product;
use rand_chacha::ChaCha8Rng;

use crate::config::{Activation, ExpertOutputs, KinematicConfig};
use crate::error::KinematicError;
use crate::linear::linear;
use crate::orthonormal::orthonormalise;
use crate::seeded;
use crate::style::Modulation;

/// One layer of all experts: `[K, B, in]` → `[K, B, out]` as one batched product.
#[derive(Module, Debug)]
pub struct ExpertLinear {
    /// `[K, in, out]`.
    pub weight: Param<Tensor<3>>,
    /// `[K, 1, out]`.
    pub bias: Param<Tensor<3>>,
}

impl ExpertLinear {
    /// Uniform weights of variance `gain`² / `inputs` drawn from `rng`, and biases of zero.
    pub fn new(
        experts: usize,
        inputs: usize,
        outputs: usize,
        gain: f64,
        device: &Device,
        rng: &mut ChaCha8Rng,
    ) -> Self {
        Self {
            weight: seeded::weights([experts, inputs, outputs], inputs, gain, device, rng),
            bias: seeded::zeros([experts, 1, outputs], device),
        }
    }

    /// The layer for `[K, B, in]`, or for `[1, B, in]` shared by all experts.
    pub fn forward(&self, input: Tensor<3>) -> Tensor<3> {
        product(input, self.weight.val()) + self.bias.val()
    }

    /// The layer and a nonlinearity.
    fn activated(&self, input: Tensor<3>, activation: Activation) -> Tensor<3> {
        activation.biased(product(input, self.weight.val()), self.bias.val())
    }
}

/// What the encoder hands to the decoder, one row per sample.
#[derive(Clone, Debug)]
pub struct Encoding {
    /// w_k: `[K, B, D]`; orthogonal over k and of length √D unless they are [`ExpertOutputs::Plain`].
    pub conditions: Tensor<3>,
    /// α: `[B, K]`, non-negative, summing to 1.
    pub gates: Tensor<2>,
}

/// The gate and the eight experts: x → (α, w_1 … w_K) (docs/method.md §3.1, POMP §"OrthoMoE").
#[derive(Module, Debug)]
pub struct OrthoMoeEncoder {
    /// Layers of the gate, phase block → K.
    pub gate: Vec<Linear>,
    /// Layers of the experts, x → D.
    pub experts: Vec<ExpertLinear>,
    #[module(skip)]
    config: KinematicConfig,
}

impl OrthoMoeEncoder {
    /// An encoder with weights drawn from `rng`.
    ///
    /// # Errors
    /// [`KinematicError::OutOfRange`].
    pub fn new(
        config: &KinematicConfig,
        device: &Device,
        rng: &mut ChaCha8Rng,
    ) -> Result<Self, KinematicError> {
        config.validate()?;
        let gain = config.activation.gain();
        let mut gate = Vec::new();
        for (index, pair) in
            widths(config.gate_input.len, &config.gate_hidden, config.experts).windows(2).enumerate()
        {
            gate.push(seeded::linear(pair[0], pair[1], if index == 0 { 1.0 } else { gain }, device, rng));
        }
        let mut experts = Vec::new();
        for (index, pair) in
            widths(config.input_size, &config.expert_hidden, config.condition_size).windows(2).enumerate()
        {
            let gain = if index == 0 { 1.0 } else { gain };
            experts.push(ExpertLinear::new(config.experts, pair[0], pair[1], gain, device, rng));
        }
        Ok(Self { gate, experts, config: config.clone() })
    }

    /// α, `[B, K]`, from x, `[B, X]`.
    pub fn gates(&self, x: &Tensor<2>) -> Tensor<2> {
        let block = self.config.gate_input;
        let mut hidden = x.clone().slice([0..x.dims()[0], block.start..block.start + block.len]);
        for (index, layer) in self.gate.iter().enumerate() {
            hidden = linear(layer, hidden);
            if index + 1 < self.gate.len() {
                hidden = self.config.activation.forward(hidden);
            }
        }
        activation::softmax(hidden, 1)
    }

    /// α and w_k from x, `[B, X]`. A generator turns dropout on, as in training.
    ///
    /// # Panics
    /// When x does not have `input_size` columns.
    pub fn forward(&self, x: &Tensor<2>, dropout: Option<&mut ChaCha8Rng>) -> Encoding {
        self.forward_modulated(x, dropout, &[])
    }

    /// [`Self::forward`] with the modulations of a style, one for each hidden layer, or none.
    pub(crate) fn forward_modulated(
        &self,
        x: &Tensor<2>,
        mut dropout: Option<&mut ChaCha8Rng>,
        style: &[Modulation],
    ) -> Encoding {
        assert_eq!(x.dims()[1], self.config.input_size, "x has `input_size` columns");
        let gates = self.gates(x);
        let mut hidden = x.clone().unsqueeze::<3>();
        for (index, layer) in self.experts.iter().enumerate() {
            if index + 1 == self.experts.len() {
                hidden = layer.forward(hidden);
            } else {
                let activation = self.config.activation;
                hidden = match style.get(index) {
                    Some(style) => activation.forward(style.apply(layer.forward(hidden))),
                    None => layer.activated(hidden, activation),
                };
                if let Some(rng) = dropout.as_deref_mut()
                    && self.config.expert_dropout > 0.0
                {
                    let (shape, device) = (hidden.dims(), hidden.device());
                    hidden = hidden * seeded::dropout_mask(shape, self.config.expert_dropout, &device, rng);
                }
            }
        }
        let conditions = match self.config.expert_outputs {
            ExpertOutputs::Orthonormal => orthonormalise(hidden, self.config.independence),
            ExpertOutputs::Plain => hidden,
        };
        Encoding { conditions, gates }
    }
}

fn widths(input: usize, hidden: &[usize], output: usize) -> Vec<usize> {
    let mut widths = vec![input];
    widths.extend_from_slice(hidden);
    widths.push(output);
    widths
}

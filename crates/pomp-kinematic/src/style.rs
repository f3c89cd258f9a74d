//! The style adapter: a code of a few numbers changes gains and shifts of the hidden layers of a frozen kinematic module.

use crate::config::KinematicConfig;
use crate::error::{KinematicError, check_finite, check_size};
use crate::packing::values;
use crate::seeded;
use burn::module::{Module, Param};
use burn::nn::Linear;
use burn::tensor::{Device, Tensor, TensorData};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// Linear maps from a style code to feature-wise linear modulations (FiLM: Perez and others, AAAI 2018) of the hidden layers of a
/// [`KinematicModel`](crate::KinematicModel), and the codes of the styles that it was trained on.
///
/// A hidden layer φ(h) of the experts and of the decoder becomes φ((1 + γ) ∘ h + β), and the last layer gets a shift. γ, β and the
/// shift are linear in the code, so the code 0 changes nothing, a scaled code is a weaker style, and a sum of codes is a blend. The
/// gate is not modulated: styles have no influence on which phases an expert is responsible for.
#[derive(Module, Debug)]
pub struct StyleAdapter {
    /// Codes of the styles, `[S, C]`.
    pub codes: Param<Tensor<2>>,
    /// Code → γ, then β, of each hidden layer of all experts, `[C, 2 · K · width]`.
    pub experts: Vec<Linear>,
    /// Code → γ, then β, of each hidden layer of the decoder, `[C, 2 · width]`.
    pub decoder: Vec<Linear>,
    /// Code → shift of the last layer, `[C, Y]`.
    pub output: Linear,
}

impl StyleAdapter {
    /// An adapter for `styles` codes of `channels` numbers that changes nothing yet: codes are drawn from `seed`, all maps are 0.
    ///
    /// # Errors
    /// A configuration of the module that is out of range.
    pub fn new(
        config: &KinematicConfig,
        [styles, channels]: [usize; 2],
        seed: u64,
        device: &Device,
    ) -> Result<Self, KinematicError> {
        config.validate()?;
        let zeros =
            |outputs: usize| Linear { weight: seeded::zeros([channels, outputs], device), bias: None };
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        Ok(Self {
            codes: seeded::weights([styles, channels], channels, 1.0, device, &mut rng),
            experts: config.expert_hidden.iter().map(|width| zeros(2 * config.experts * width)).collect(),
            decoder: config.decoder_hidden.iter().map(|width| zeros(2 * width)).collect(),
            output: zeros(config.output_size),
        })
    }

    /// Number of styles and length of a code.
    pub fn sizes(&self) -> [usize; 2] {
        self.codes.val().dims()
    }

    /// What the codes of the rows of a batch, the sum of each row of `weights` (`[B, S]`, row-major) over the styles, change in a
    /// module with `experts` experts.
    ///
    /// # Panics
    /// When the weights are no whole number of rows.
    pub fn modulate(&self, weights: &[f32], experts: usize, device: &Device) -> StyleTensors {
        let [styles, _] = self.sizes();
        let batch = weights.len() / styles;
        assert_eq!(batch * styles, weights.len(), "every row has a weight for every style");
        let weights = Tensor::<2>::from_data(TensorData::new(weights.to_vec(), [batch, styles]), device);
        let code = weights.matmul(self.codes.val());
        let halves = |layer: &Linear, experts: usize| {
            let both = layer.forward(code.clone());
            let width = both.dims()[1] / (2 * experts);
            let both = both.reshape([batch, 2 * experts, width]).swap_dims(0, 1);
            Modulation {
                gain: both.clone().narrow(0, 0, experts).add_scalar(1.0),
                shift: both.narrow(0, experts, experts),
            }
        };
        StyleTensors {
            experts: self.experts.iter().map(|layer| halves(layer, experts)).collect(),
            decoder: self.decoder.iter().map(|layer| halves(layer, 1)).collect(),
            output: self.output.forward(code),
        }
    }

    /// What the weighted sum of the codes changes, for [`KinematicInference`](crate::KinematicInference); `None` when every weight is
    /// 0.
    ///
    /// # Errors
    /// Another number of weights than of styles, and a number that is not finite.
    pub fn modulation(&self, weights: &[f32]) -> Result<Option<StyleModulation>, KinematicError> {
        let [styles, channels] = self.sizes();
        check_size("the weights of the styles", styles, weights.len())?;
        check_finite("the weights of the styles", styles, weights)?;
        if weights.iter().all(|weight| *weight == 0.0) {
            return Ok(None);
        }
        let mut code = vec![0.0; channels];
        add_rows(&values(self.codes.val()), weights, &mut code);
        let mapped = |layer: &Linear| -> Result<Vec<f32>, KinematicError> {
            let [_, outputs] = layer.weight.val().dims();
            let mut mapped = vec![0.0; outputs];
            add_rows(&values(layer.weight.val()), &code, &mut mapped);
            check_finite("the modulation of a style", outputs, &mapped)?;
            Ok(mapped)
        };
        let halves = |layer: &Linear| {
            let mut gain = mapped(layer)?;
            let shift = gain.split_off(gain.len() / 2);
            gain.iter_mut().for_each(|gain| *gain += 1.0);
            Ok(LayerModulation { gain, shift })
        };
        Ok(Some(StyleModulation {
            experts: self.experts.iter().map(halves).collect::<Result<_, KinematicError>>()?,
            decoder: self.decoder.iter().map(halves).collect::<Result<_, KinematicError>>()?,
            output: mapped(&self.output)?,
        }))
    }
}

/// Adds the rows of a matrix, row-major, each times its weight.
fn add_rows(matrix: &[f32], weights: &[f32], sum: &mut [f32]) {
    for (row, weight) in matrix.chunks_exact(sum.len()).zip(weights) {
        for (sum, value) in sum.iter_mut().zip(row) {
            *sum += weight * value;
        }
    }
}

/// 1 + γ and β of a layer, `[K, B, width]` or `[1, B, width]`.
#[derive(Clone, Debug)]
pub(crate) struct Modulation {
    gain: Tensor<3>,
    shift: Tensor<3>,
}

impl Modulation {
    /// The hidden values of a layer before its nonlinearity, modulated.
    pub(crate) fn apply(&self, hidden: Tensor<3>) -> Tensor<3> {
        hidden * self.gain.clone() + self.shift.clone()
    }
}

/// What the styles of a batch change in a module, as tensors, through which gradients flow to the adapter.
#[derive(Clone, Debug)]
pub struct StyleTensors {
    pub(crate) experts: Vec<Modulation>,
    pub(crate) decoder: Vec<Modulation>,
    /// Shift of the last layer, `[B, Y]`.
    pub(crate) output: Tensor<2>,
}

/// 1 + γ and β of the values of a layer, of all experts one after the other.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LayerModulation {
    gain: Vec<f32>,
    shift: Vec<f32>,
}

impl LayerModulation {
    /// Modulates values in place, from the `first` of the layer on.
    pub(crate) fn apply(&self, first: usize, values: &mut [f32]) {
        let (gain, shift) = (&self.gain[first..], &self.shift[first..]);
        for ((value, gain), shift) in values.iter_mut().zip(gain).zip(shift) {
            *value = *value * gain + shift;
        }
    }
}

/// What a style changes in a module, as [`KinematicInference`](crate::KinematicInference) runs it.
#[derive(Clone, Debug, PartialEq)]
pub struct StyleModulation {
    pub(crate) experts: Vec<LayerModulation>,
    pub(crate) decoder: Vec<LayerModulation>,
    pub(crate) output: Vec<f32>,
}

impl StyleModulation {
    /// A share of the change, 0 to 1.
    pub fn scaled(&self, share: f32) -> Self {
        let each = |layers: &[LayerModulation]| -> Vec<LayerModulation> {
            let gains = |gain: &[f32]| gain.iter().map(|gain| 1.0 + (gain - 1.0) * share).collect();
            let shifts = |shift: &[f32]| shift.iter().map(|shift| shift * share).collect();
            layers
                .iter()
                .map(|layer| LayerModulation { gain: gains(&layer.gain), shift: shifts(&layer.shift) })
                .collect()
        };
        Self {
            experts: each(&self.experts),
            decoder: each(&self.decoder),
            output: self.output.iter().map(|shift| shift * share).collect(),
        }
    }

    /// That it was made for a module of these sizes.
    ///
    /// # Errors
    /// [`KinematicError::SizeMismatch`].
    pub(crate) fn check(&self, config: &KinematicConfig) -> Result<(), KinematicError> {
        let each = |what: &str, layers: &[LayerModulation], widths: &[usize], experts: usize| {
            check_size(what, widths.len(), layers.len())?;
            let mut pairs = widths.iter().zip(layers);
            pairs.try_for_each(|(width, layer)| check_size(what, width * experts, layer.gain.len()))
        };
        each("the style's modulation of the experts", &self.experts, &config.expert_hidden, config.experts)?;
        each("the style's modulation of the decoder", &self.decoder, &config.decoder_hidden, 1)?;
        check_size("the style's shift of y", config.output_size, self.output.len())
    }
}

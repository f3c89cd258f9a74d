use super::padded;
use crate::PhaseError;
use crate::long_convolution::LongConvolution;
use burn::nn::BatchNorm;
use burn::tensor::Tensor;

/// A convolution's weights as plain numbers, tap by tap.
#[derive(Clone, Debug)]
pub(super) struct PlainConvolution {
    /// `[taps][inputs][padded outputs]`.
    pub(super) taps: Vec<f32>,
    /// `[padded outputs]`.
    pub(super) bias: Vec<f32>,
    pub(super) inputs: usize,
    pub(super) outputs: usize,
    /// Taps on each side of the middle one.
    pub(super) reach: usize,
}

impl PlainConvolution {
    /// The weights of a layer and, when there is one, of the batch norm behind it: (w x + b − μ) γ / σ + β is a convolution too.
    ///
    /// # Errors
    /// [`PhaseError::NotFinite`] with the output as row and the tap (or, after the last one, the bias) as column.
    pub(super) fn new(layer: &LongConvolution, norm: Option<&BatchNorm>) -> Result<Self, PhaseError> {
        let (weight, bias) = layer.weights();
        let [outputs, inputs, count] = weight.dims();
        let (weight, mut bias) = (floats(weight), floats(bias));
        let mut scales = vec![1.0; outputs];
        if let Some(norm) = norm {
            let (mean, variance) = (floats(norm.running_mean.value()), floats(norm.running_var.value()));
            let (gamma, beta) = (floats(norm.gamma.val()), floats(norm.beta.val()));
            for output in 0..outputs {
                let scale = f64::from(gamma[output]) / (f64::from(variance[output]) + norm.epsilon).sqrt();
                let shift = f64::from(bias[output]) - f64::from(mean[output]);
                bias[output] = (shift * scale + f64::from(beta[output])) as f32;
                scales[output] = scale as f32;
            }
        }
        let stride = padded(outputs);
        let mut taps = vec![0.0; count * inputs * stride];
        for (at, value) in weight.iter().enumerate() {
            let (output, input, tap) = (at / (inputs * count), at / count % inputs, at % count);
            let value = scales[output] * value;
            if !value.is_finite() {
                return Err(PhaseError::NotFinite { what: "a phase network", row: output, column: tap });
            }
            taps[(tap * inputs + input) * stride + output] = value;
        }
        if let Some(row) = bias.iter().position(|value| !value.is_finite()) {
            return Err(PhaseError::NotFinite { what: "a phase network", row, column: count });
        }
        bias.resize(stride, 0.0);
        Ok(Self { taps, bias, inputs, outputs, reach: count / 2 })
    }

    /// The weights of the tap `ahead` frames after the middle one, `[inputs][padded outputs]`.
    pub(super) fn tap(&self, ahead: isize) -> &[f32] {
        let size = self.inputs * self.bias.len();
        let index = self.reach.checked_add_signed(ahead).expect("a tap lies within the reach");
        &self.taps[index * size..][..size]
    }
}

pub(super) fn floats<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.try_into_vec_as::<f32>().expect("float tensors convert to f32")
}

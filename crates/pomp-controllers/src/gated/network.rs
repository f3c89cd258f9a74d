//! A network whose weights are a blend of experts', as it is trained.

use super::cubic::CONTROL_POINTS;
use crate::{ControllerError, ControllerKind};
use burn::module::Module;
use burn::tensor::{Device, Tensor, TensorData, activation};
use pomp_config::{Fields, OutOfRange, Validate};
use pomp_kinematic::ExpertLinear;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Sizes of a [`GatedNetwork`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GatedSizes {
    /// Number of experts; control points of the cycle in a phase-functioned network, which has 4.
    pub experts: usize,
    /// Hidden widths of every expert.
    pub hidden: Vec<usize>,
    /// Hidden widths of the gate; a phase-functioned network has none.
    pub gate_hidden: Vec<usize>,
    /// Share of hidden units, and of inputs, that are silenced in training.
    pub dropout: f64,
}

impl GatedSizes {
    /// Those that the embedded controllers are trained with.
    pub fn of(kind: ControllerKind) -> Self {
        let (experts, hidden, gate) = match kind {
            ControllerKind::Pfnn => (CONTROL_POINTS, vec![192, 192], Vec::new()),
            ControllerKind::Nsm => (10, vec![128, 128], vec![64, 64]),
            ControllerKind::Mann => (8, vec![128, 128], vec![32, 32]),
            _ => (8, vec![128, 128], vec![64, 64]),
        };
        Self {
            experts,
            hidden,
            gate_hidden: gate,
            dropout: if kind == ControllerKind::Pfnn { 0.1 } else { 0.0 },
        }
    }
}

impl Validate for GatedSizes {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        fields.within("experts", self.experts, 1..=64)?;
        for width in self.hidden.iter().chain(&self.gate_hidden) {
            fields.within("hidden", *width, 1..=4096)?;
        }
        fields.within("dropout", self.dropout, 0.0..0.95)
    }
}

/// What decides the blend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    /// A network of its own over some of the inputs, so many.
    Learned(usize),
    /// Given from outside: the weights of the control points.
    Given,
}

/// x and what the gate reads → y, with weights that are blended for every row: W = Σ α_k W_k.
#[derive(Module, Debug)]
pub struct GatedNetwork {
    /// Layers of the gate; none where the blend is given.
    pub gate: Vec<ExpertLinear>,
    /// Layers of the experts.
    pub layers: Vec<ExpertLinear>,
    #[module(skip)]
    dropout: f64,
}

impl GatedNetwork {
    /// A network with weights from `seed`.
    ///
    /// # Errors
    /// Sizes outside their ranges, or a given blend of another number of experts than there are control points.
    pub fn new(
        sizes: &GatedSizes,
        gate: Gate,
        [inputs, outputs]: [usize; 2],
        seed: u64,
        device: &Device,
    ) -> Result<Self, ControllerError> {
        sizes.check(&Fields::root()).map_err(pomp_kinematic::KinematicError::from)?;
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        // ELU halves the variance, about.
        let mut stack = |experts: usize, input: usize, hidden: &[usize], output: usize| {
            let widths: Vec<usize> = [input].iter().chain(hidden).chain(&[output]).copied().collect();
            let layer = |(index, pair): (usize, &[usize])| {
                let gain = if index == 0 { 1.0 } else { std::f64::consts::SQRT_2 };
                ExpertLinear::new(experts, pair[0], pair[1], gain, device, &mut rng)
            };
            widths.windows(2).enumerate().map(layer).collect::<Vec<_>>()
        };
        let gate = match gate {
            Gate::Learned(read) => stack(1, read, &sizes.gate_hidden, sizes.experts),
            Gate::Given => Vec::new(),
        };
        Ok(Self {
            gate,
            layers: stack(sizes.experts, inputs, &sizes.hidden, outputs),
            dropout: sizes.dropout,
        })
    }

    /// α, `[B, K]`, from what the gate reads, `[B, G]`; a given blend as it is.
    pub fn blend(&self, gate: &Tensor<2>) -> Tensor<2> {
        let Some(last) = self.gate.len().checked_sub(1) else { return gate.clone() };
        let mut hidden = gate.clone().unsqueeze::<3>();
        for (index, layer) in self.gate.iter().enumerate() {
            hidden = layer.forward(hidden);
            if index < last {
                hidden = activation::elu(hidden, 1.0);
            }
        }
        activation::softmax(hidden.squeeze_dim::<2>(0), 1)
    }

    /// y, `[B, Y]`, from x, `[B, X]`, and what the gate reads, `[B, G]`. A generator turns dropout on, as in training.
    pub fn forward(
        &self,
        x: &Tensor<2>,
        gate: &Tensor<2>,
        mut dropout: Option<&mut ChaCha8Rng>,
    ) -> Tensor<2> {
        // [K, B, 1].
        let blend = self.blend(gate).transpose().unsqueeze_dim::<3>(2);
        let mut hidden = x.clone().unsqueeze::<3>();
        for (index, layer) in self.layers.iter().enumerate() {
            if let Some(rng) = dropout.as_deref_mut().filter(|_| self.dropout > 0.0) {
                hidden = hidden.clone() * mask(hidden.dims(), self.dropout, &hidden.device(), rng);
            }
            hidden = (layer.forward(hidden) * blend.clone()).sum_dim(0);
            if index + 1 < self.layers.len() {
                hidden = activation::elu(hidden, 1.0);
            }
        }
        hidden.squeeze_dim::<2>(0)
    }
}

/// 0 with the probability `dropped`, else what keeps the mean.
fn mask(shape: [usize; 3], dropped: f64, device: &Device, rng: &mut ChaCha8Rng) -> Tensor<3> {
    let kept = (1.0 / (1.0 - dropped)) as f32;
    let count = shape.iter().product();
    let values: Vec<f32> = (0..count).map(|_| if rng.random_bool(dropped) { 0.0 } else { kept }).collect();
    Tensor::from_data(TensorData::new(values, shape), device)
}

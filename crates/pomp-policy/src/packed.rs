//! A policy for one body at a time.

use crate::{ACTIONS, Action, BalancePolicy, PolicyError, PolicyNetwork};
use pomp_lanes::{Lanes, PackedLinear, Precision};
use pomp_tensors::{Tanh, nonlinear_in_place};

/// Observations are limited to this many deviations from their mean.
const MOST: f32 = 5.0;

/// The packed weights of a policy.
#[derive(Clone, Debug)]
pub struct PackedPolicy {
    mean: Vec<f32>,
    deviation: Vec<f32>,
    layers: Vec<PackedLinear>,
}

impl PackedPolicy {
    /// Packs a trained policy.
    ///
    /// # Errors
    /// A weight that is not finite.
    pub fn new(policy: &BalancePolicy) -> Result<Self, PolicyError> {
        Self::of_parts(&policy.network, &policy.description.mean, &policy.description.deviation)
    }

    /// Packs a network that sees observations with this mean and deviation.
    ///
    /// # Errors
    /// A weight that is not finite.
    pub fn of_parts(network: &PolicyNetwork, mean: &[f32], deviation: &[f32]) -> Result<Self, PolicyError> {
        let pack = |(index, layer): (usize, &burn::nn::Linear)| {
            let shape = layer.weight.val().dims();
            let bias: Vec<f32> = match &layer.bias {
                Some(bias) => bias.val().into_data().try_to_vec().expect("a bias is f32"),
                None => vec![0.0; shape[1]],
            };
            let weights: Vec<f32> = layer.weight.val().into_data().try_to_vec().expect("weights are f32");
            PackedLinear::pack(&weights, shape, Some(&bias), Precision::Float32)
                .map_err(|_| PolicyError::NotFinite { layer: index + 1 })
        };
        let layers = network.layers.iter().enumerate().map(pack).collect::<Result<_, _>>()?;
        Ok(Self { mean: mean.to_vec(), deviation: deviation.to_vec(), layers })
    }

    /// The normalised observation, in place.
    pub fn normalise(&self, observation: &mut [f32]) {
        for ((value, mean), deviation) in observation.iter_mut().zip(&self.mean).zip(&self.deviation) {
            *value = ((*value - mean) / deviation).clamp(-MOST, MOST);
        }
    }

    /// The action for a normalised observation.
    pub fn decide(&self, normalised: &[f32]) -> Action {
        Action::new(&self.outputs(normalised))
    }

    /// The components of the action for a normalised observation, without limits.
    pub fn outputs(&self, normalised: &[f32]) -> [f32; ACTIONS] {
        let lanes = Lanes::detect();
        let mut values = normalised.to_vec();
        for (index, layer) in self.layers.iter().enumerate() {
            let mut out = vec![0.0; layer.padded()];
            layer.apply(lanes, &values[..layer.inputs()], &mut out);
            if index + 1 < self.layers.len() {
                nonlinear_in_place::<Tanh>(lanes, &mut out);
            }
            values = out;
        }
        let mut components = [0.0; ACTIONS];
        components.copy_from_slice(&values[..ACTIONS]);
        components
    }
}

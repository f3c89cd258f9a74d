use burn::grad_clipping::GradientClippingConfig;
use burn::optim::{
    AdamW, AdamWConfig, AdamWState, AdaptiveMomentumState, LearningRate, ModuleOptimizer, Optimizer,
};
use burn::tensor::{DType, Device, Tensor, TensorData};
use pomp_lanes::{LaneLoop, Lanes, Wide};
use rayon::prelude::*;

use crate::AT_ONCE;

const BETA_1: f32 = 0.9;
const BETA_2: f32 = 0.999;

/// What distinguishes one [`adamw`] from another.
#[derive(Clone, Debug)]
pub struct AdamWSettings {
    /// Decoupled weight decay: the share of its weights that a step takes off, per unit of learning rate.
    pub weight_decay: f32,
    /// ε, added to the root of the mean square that a step is divided by. The larger, the less a weight moves whose
    /// gradients are hardly any.
    pub epsilon: f32,
    /// How gradients are bounded, if at all.
    pub clipping: Option<GradientClippingConfig>,
}

/// AdamW (Loshchilov & Hutter, ICLR 2019) with β of 0.9 and 0.999.
///
/// On the processor a step reads and writes every weight once. Made of tensor operations, as on other devices, it goes a
/// dozen times through arrays that no cache holds. Both give the same bytes.
pub fn adamw(settings: &AdamWSettings) -> ModuleOptimizer {
    let AdamWSettings { weight_decay, epsilon, clipping } = settings.clone();
    let config = AdamWConfig::new()
        .with_beta_1(BETA_1)
        .with_beta_2(BETA_2)
        .with_epsilon(epsilon)
        .with_weight_decay(weight_decay);
    let one_pass = AdamWInOnePass { by_operations: config.build(), weight_decay, epsilon };
    let optimizer = ModuleOptimizer::from(one_pass);
    match clipping {
        Some(clipping) => optimizer.with_grad_clipping(clipping.init()),
        None => optimizer,
    }
}

#[derive(Clone)]
struct AdamWInOnePass {
    by_operations: AdamW,
    weight_decay: f32,
    epsilon: f32,
}

impl Optimizer for AdamWInOnePass {
    type State<const D: usize> = AdamWState<D>;

    fn step<const D: usize>(
        &self,
        rate: LearningRate,
        weights: Tensor<D>,
        gradient: Tensor<D>,
        state: Option<Self::State<D>>,
    ) -> (Tensor<D>, Option<Self::State<D>>) {
        let device = weights.device();
        let on_host = device == Device::flex() && weights.dtype() == DType::F32;
        // The first step has no moments yet.
        let momentum = match state {
            Some(state) if on_host => state.momentum,
            state => return self.by_operations.step(rate, weights, gradient, state),
        };
        let AdaptiveMomentumState { time, moment_1, moment_2, max_moment_2 } = momentum;
        let time = time + 1;
        let update = Update::new(rate, self, time);
        let gradient = gradient.into_data();
        let [mut weights, mut mean, mut square] = [weights, moment_1, moment_2].map(Tensor::into_data);
        update.apply(
            values(&mut weights),
            values(&mut mean),
            values(&mut square),
            gradient_values(&gradient),
        );
        let [weights, moment_1, moment_2] =
            [weights, mean, square].map(|data| Tensor::from_data(data, &device));
        let momentum = AdaptiveMomentumState { time, moment_1, moment_2, max_moment_2 };
        (weights, Some(AdamWState { momentum }))
    }

    fn to_device<const D: usize>(state: Self::State<D>, device: &Device) -> Self::State<D> {
        AdamW::to_device(state, device)
    }
}

fn values(data: &mut TensorData) -> &mut [f32] {
    data.as_mut_slice().expect("weights and their moments are f32")
}

fn gradient_values(data: &TensorData) -> &[f32] {
    data.as_slice().expect("gradients are of their weights' type")
}

/// The factors of one step.
struct Update {
    rate: f32,
    kept: f32,
    correction_1: f32,
    correction_2: f32,
    epsilon: f32,
}

impl Update {
    fn new(rate: f64, settings: &AdamWInOnePass, time: usize) -> Self {
        let correction = |beta: f32| 1.0 - beta.powi(i32::try_from(time).unwrap_or(i32::MAX));
        Self {
            rate: rate as f32,
            kept: (1.0 - rate * f64::from(settings.weight_decay)) as f32,
            correction_1: correction(BETA_1),
            correction_2: correction(BETA_2),
            epsilon: settings.epsilon,
        }
    }

    fn apply(&self, weights: &mut [f32], mean: &mut [f32], square: &mut [f32], gradient: &[f32]) {
        let lanes = Lanes::detect();
        let parts = weights.par_chunks_mut(AT_ONCE).zip(mean.par_chunks_mut(AT_ONCE));
        let parts = parts.zip(square.par_chunks_mut(AT_ONCE)).zip(gradient.par_chunks(AT_ONCE));
        parts.for_each(|(((weights, mean), square), gradient)| {
            lanes.run(Part { update: self, weights, mean, square, gradient });
        });
    }
}

/// A step of some of the weights.
struct Part<'a> {
    update: &'a Update,
    weights: &'a mut [f32],
    mean: &'a mut [f32],
    square: &'a mut [f32],
    gradient: &'a [f32],
}

impl LaneLoop for Part<'_> {
    #[inline(always)]
    fn run<W: Wide>(self, _: W) {
        let Self { update, weights, mean, square, gradient } = self;
        for (((weight, mean), square), gradient) in weights.iter_mut().zip(mean).zip(square).zip(gradient) {
            // Each operation rounds by itself, in the order of burn's own AdamW.
            *mean = *mean * BETA_1 + gradient * (1.0 - BETA_1);
            *square = *square * BETA_2 + gradient * gradient * (1.0 - BETA_2);
            let step =
                (*mean / update.correction_1) / ((*square / update.correction_2).sqrt() + update.epsilon);
            *weight = *weight * update.kept - step * update.rate;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::nn::{Linear, LinearConfig};
    use burn::optim::GradientsParams;
    use burn::tensor::Distribution;

    fn bytes(module: &Linear) -> Vec<u32> {
        let bias = module.bias.as_ref().expect("it has one").val();
        let all = [module.weight.val().flatten::<1>(0, 1), bias];
        all.into_iter()
            .flat_map(|tensor| tensor.into_data().try_into_vec::<f32>().unwrap())
            .map(f32::to_bits)
            .collect()
    }

    #[test]
    fn one_pass_and_tensor_operations_give_the_same_bytes() {
        let device = Device::flex().autodiff();
        let start = LinearConfig::new(300, 171).init(&device);
        let inputs = Tensor::<2>::random([7, 300], Distribution::Normal(0.0, 1.0), &device);
        let clipping = Some(GradientClippingConfig::Norm(0.5));
        for settings in [
            AdamWSettings { weight_decay: 1e-3, epsilon: 1e-5, clipping },
            AdamWSettings { weight_decay: 0.0, epsilon: 1e-8, clipping: None },
        ] {
            let config = AdamWConfig::new()
                .with_weight_decay(settings.weight_decay)
                .with_epsilon(settings.epsilon)
                .with_grad_clipping(settings.clipping.clone());
            let (mut theirs, mut ours) = (config.init(), adamw(&settings));
            let (mut one, mut other) = (start.clone(), start.clone());
            for step in 0..12 {
                let rate = 3e-3 / (1.0 + f64::from(step));
                let stepped = |module: Linear, optimizer: &mut ModuleOptimizer| {
                    let gradients = module.forward(inputs.clone()).square().mean().backward();
                    let gradients = GradientsParams::from_grads(gradients, &module);
                    optimizer.step(rate, module, gradients)
                };
                let before = bytes(&one);
                (one, other) = (stepped(one, &mut theirs), stepped(other, &mut ours));
                assert_ne!(before, bytes(&one));
                assert_eq!(bytes(&one), bytes(&other), "step {step}");
            }
        }
    }
}

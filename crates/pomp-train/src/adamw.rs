use burn::grad_clipping::GradientClippingConfig;
use burn::optim::ModuleOptimizer;
use pomp_tensors::AdamWSettings;

/// AdamW of the kinematic module: an ε of 1e-5.
pub fn adamw(weight_decay: f32, clipping: Option<&GradientClippingConfig>) -> ModuleOptimizer {
    pomp_tensors::adamw(&AdamWSettings { weight_decay, epsilon: 1e-5, clipping: clipping.cloned() })
}

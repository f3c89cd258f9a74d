//! Encoder, decoder and discriminator of a skeleton.

use crate::config::SkeletalSizes;
use crate::kinematics::{FEATURES, PLACES, SILENT_PLACES};
use crate::layers::{Reach, SkeletalConvolution, SkeletalLinear, pooling, unpooling, upsampled};
use crate::tree::SkeletalTree;
use burn::module::Module;
use burn::tensor::activation::leaky_relu;
use burn::tensor::{Device, Tensor, TensorData};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// Slope of the nonlinearity below 0.
const LEAK: f64 = 0.2;
/// What keeps the variance through it.
const GAIN: f32 = 1.387;
/// Static features of a node that it is given: three coordinates of an offset.
const OFFSET: usize = 3;
/// Frames of a window for one of the latent code.
pub const FRAMES_PER_CODE: usize = 4;

/// A constant matrix between the nodes of two levels.
#[derive(Clone, Debug)]
struct Between(TensorData);

impl Between {
    fn of(&self, input: &Tensor<3>) -> Tensor<3> {
        let [batch, frames, width] = input.dims();
        let matrix = Tensor::<2>::from_data(self.0.clone(), &input.device());
        let columns = matrix.dims()[1];
        input.clone().reshape([batch * frames, width]).matmul(matrix).reshape([batch, frames, columns])
    }

    fn of_static(&self, input: &Tensor<2>) -> Tensor<2> {
        input.clone().matmul(Tensor::from_data(self.0.clone(), &input.device()))
    }
}

/// A convolution with the term of the static features that is added to it.
#[derive(Module, Debug)]
pub struct Layer {
    /// Over the features of frames.
    pub dynamic: SkeletalConvolution,
    /// Over the static features of the body.
    pub fixed: SkeletalLinear,
}

impl Layer {
    fn forward(&self, input: &Tensor<3>, statics: &Tensor<2>) -> Tensor<3> {
        self.dynamic.forward(input) + self.fixed.forward(statics).unsqueeze_dim::<3>(1)
    }
}

/// Static features of a body at the two levels where convolutions are.
#[derive(Clone, Debug)]
pub struct Statics([Tensor<2>; 2]);

/// The networks of one skeleton (Aberman et al. 2020).
#[derive(Module, Debug)]
pub struct SkeletonNetworks {
    /// Static features of the joints to those of pairs.
    pub static_encoder: SkeletalLinear,
    /// Joints to pairs, pairs to the primal skeleton; each takes every second frame.
    pub encoder: [Layer; 2],
    /// Pairs to joints, after the primal skeleton's features are given to pairs; in the order that they are used in.
    pub decoder: [Layer; 2],
    /// Whether places of joints are those of real motion.
    pub discriminator: Discriminator,
    #[module(skip)]
    pooled: [Between; 2],
    #[module(skip)]
    unpooled: [Between; 2],
    #[module(skip)]
    static_pooled: Between,
}

/// Places of joints to one value per primal node and four frames.
#[derive(Module, Debug)]
pub struct Discriminator {
    /// Joints to pairs, pairs to the primal skeleton, channels to one.
    pub layers: [SkeletalConvolution; 3],
    #[module(skip)]
    pooled: [Between; 2],
}

impl SkeletonNetworks {
    /// Networks with weights from a seed.
    pub fn new(tree: &SkeletalTree, sizes: &SkeletalSizes, seed: u64, device: &Device) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let [skin, pairs, primal] = &tree.levels;
        let [first, second] = sizes.channels;
        let steps = sizes.neighbourhood;
        // Neither the motion of the root nor the root has an offset.
        let silent: Vec<usize> = (0..2 * OFFSET).collect();
        let taps = sizes.kernel_frames;
        // Channels of the static features, and which of them say nothing.
        let of_skin: (usize, &[usize]) = (OFFSET, &silent);
        let of_pairs: (usize, &[usize]) = (sizes.static_channels, &[]);
        let mut layer = |level, (offsets, silent), channels: [usize; 2], stride, gain| {
            let dynamic = Reach { level, channels, steps, silent: &[] };
            let fixed = Reach { level, channels: [offsets, channels[1]], steps, silent };
            Layer {
                dynamic: SkeletalConvolution::new(dynamic, [taps, stride], gain, device, &mut rng),
                fixed: SkeletalLinear::new(fixed, 0.5 * gain, device, &mut rng),
            }
        };
        let encoder = [
            layer(skin, of_skin, [FEATURES, first], 2, GAIN),
            layer(pairs, of_pairs, [first, second], 2, GAIN),
        ];
        let decoder = [
            layer(pairs, of_pairs, [second, first], 1, GAIN),
            layer(skin, of_skin, [first, FEATURES], 1, 0.5),
        ];
        let fixed = Reach { level: skin, channels: [OFFSET, sizes.static_channels], steps, silent: &silent };
        Self {
            static_encoder: SkeletalLinear::new(fixed, GAIN, device, &mut rng),
            encoder,
            decoder,
            discriminator: Discriminator::new(tree, sizes, device, &mut rng),
            pooled: [
                Between(pooling(pairs, skin.len(), first)),
                Between(pooling(primal, pairs.len(), second)),
            ],
            unpooled: [
                Between(unpooling(primal, pairs.len(), second)),
                Between(unpooling(pairs, skin.len(), first)),
            ],
            static_pooled: Between(pooling(pairs, skin.len(), sizes.static_channels)),
        }
    }

    /// Static features of bodies, `[B, N 3]`, at the levels of the convolutions.
    pub fn statics(&self, offsets: &Tensor<2>) -> Statics {
        let deep = self.static_pooled.of_static(&self.static_encoder.forward(offsets));
        Statics([offsets.clone(), leaky_relu(deep, LEAK)])
    }

    /// Normalised features `[B, T, N 4]` to the code `[B, T / 4, P C]` of the P primal nodes; T is a multiple of 4.
    pub fn encode(&self, features: &Tensor<3>, statics: &Statics) -> Tensor<3> {
        let mut hidden = features.clone();
        for ((layer, pooled), statics) in self.encoder.iter().zip(&self.pooled).zip(&statics.0) {
            hidden = leaky_relu(pooled.of(&layer.forward(&hidden, statics)), LEAK);
        }
        hidden
    }

    /// The code to normalised features.
    pub fn decode(&self, code: &Tensor<3>, statics: &Statics) -> Tensor<3> {
        let [skin, pairs] = &statics.0;
        let hidden = upsampled(&self.unpooled[0].of(code));
        let hidden = leaky_relu(self.decoder[0].forward(&hidden, pairs), LEAK);
        self.decoder[1].forward(&upsampled(&self.unpooled[1].of(&hidden)), skin)
    }
}

impl Discriminator {
    fn new(tree: &SkeletalTree, sizes: &SkeletalSizes, device: &Device, rng: &mut ChaCha8Rng) -> Self {
        let [skin, pairs, primal] = &tree.levels;
        let [first, second] = sizes.discriminator_channels;
        let (steps, taps) = (sizes.neighbourhood, sizes.kernel_frames);
        let reach = |level, channels| Reach { level, channels, steps, silent: &[] };
        let seen = Reach { silent: &SILENT_PLACES, ..reach(skin, [PLACES, first]) };
        Self {
            layers: [
                SkeletalConvolution::new(seen, [taps, 2], GAIN, device, rng),
                SkeletalConvolution::new(reach(pairs, [first, second]), [taps, 2], GAIN, device, rng),
                SkeletalConvolution::new(reach(primal, [second, 1]), [1, 1], 1.0, device, rng),
            ],
            pooled: [
                Between(pooling(pairs, skin.len(), first)),
                Between(pooling(primal, pairs.len(), second)),
            ],
        }
    }

    /// Places `[B, T, N 3]` to patches `[B, T / 4, P]`: 1 where they are taken for real.
    pub fn forward(&self, places: &Tensor<3>) -> Tensor<3> {
        let mut hidden = places.clone();
        for (layer, pooled) in self.layers.iter().zip(&self.pooled) {
            hidden = leaky_relu(pooled.of(&layer.forward(&hidden)), LEAK);
        }
        self.layers[2].forward(&hidden)
    }
}

/// The networks of both skeletons.
#[derive(Module, Debug)]
pub struct SkeletalNetworks {
    /// Of the first.
    pub a: SkeletonNetworks,
    /// Of the second.
    pub b: SkeletonNetworks,
}

impl SkeletalNetworks {
    /// Networks with weights from a seed.
    pub fn new(trees: [&SkeletalTree; 2], sizes: &SkeletalSizes, seed: u64, device: &Device) -> Self {
        Self {
            a: SkeletonNetworks::new(trees[0], sizes, seed.wrapping_mul(2), device),
            b: SkeletonNetworks::new(trees[1], sizes, seed.wrapping_mul(2).wrapping_add(1), device),
        }
    }

    /// Of the first, 0, or the second, 1.
    pub fn of(&self, side: usize) -> &SkeletonNetworks {
        if side == 0 { &self.a } else { &self.b }
    }
}

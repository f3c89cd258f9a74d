//! What networks are trained by.

use crate::RATE_HZ;
use crate::config::SkeletalConfig;
use crate::corpus::{Corpus, SkeletalClip};
use crate::kinematics::{PLACES, loss_of_places, places_of};
use crate::networks::{SkeletalNetworks, Statics};
use crate::structure::{Body, Structure};
use burn::module::Module;
use burn::tensor::{Device, Tensor, TensorData};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// An end effector slower than this counts as standing, heights per second.
const STILL: f32 = 0.08;
/// How much more the error of a standing end effector counts.
const STANDING: f32 = 4.0;
/// Limbs are not taken for shorter, heights.
const SHORTEST: f32 = 0.01;

/// Windows of one skeleton.
pub struct Windows<'a> {
    structure: &'a Structure,
    /// Normalised features, `[B, T, N 4]`.
    features: Tensor<3>,
    /// Body of each window.
    bodies: Vec<&'a Body>,
    /// The body that each window of the other skeleton is put on.
    others: Vec<&'a Body>,
}

impl<'a> Windows<'a> {
    /// Windows at random places of random clips.
    pub fn draw(corpus: &'a Corpus, config: &SkeletalConfig, rng: &mut ChaCha8Rng, device: &Device) -> Self {
        let clips = &corpus.clips[0];
        let frames = config.window_frames;
        let places: usize = clips.iter().map(|clip| clip.frames + 1 - frames).sum();
        let chosen = (0..config.training.batch_size).map(|_| {
            let mut at = rng.random_range(0..places);
            let clip = clips.iter().find(|clip| {
                let own = clip.frames + 1 - frames;
                let is_here = at < own;
                at -= if is_here { 0 } else { own };
                is_here
            });
            (clip.expect("the place is below the sum"), at)
        });
        let chosen: Vec<(&SkeletalClip, usize)> = chosen.collect();
        let others =
            chosen.iter().map(|_| &corpus.bodies[rng.random_range(0..corpus.bodies.len())]).collect();
        Self { others, ..Self::of(corpus, &chosen, frames, device) }
    }

    /// The windows of so many frames from the given frames of clips.
    pub fn of(corpus: &'a Corpus, chosen: &[(&SkeletalClip, usize)], frames: usize, device: &Device) -> Self {
        let width = corpus.structure.width();
        let values: Vec<f32> = chosen
            .iter()
            .flat_map(|(clip, from)| &clip.features[from * width..(from + frames) * width])
            .copied()
            .collect();
        let bodies: Vec<&Body> = chosen.iter().map(|(clip, _)| &corpus.bodies[clip.body]).collect();
        Self {
            structure: &corpus.structure,
            features: Tensor::from_data(TensorData::new(values, [chosen.len(), frames, width]), device),
            others: bodies.clone(),
            bodies,
        }
    }
}

/// The parts of the loss, each with its weight; what is left out is nothing.
pub struct Loss {
    /// Their sum.
    pub total: Tensor<1>,
    /// Reconstruction, positions, cycle, end effectors, reaches, adversarial, and the discriminators' own, without weights.
    pub parts: Vec<(&'static str, Tensor<1>)>,
}

/// Loss of networks and discriminators on windows of both skeletons; those of discriminators have gradients for them alone.
pub fn loss(networks: &SkeletalNetworks, windows: [&Windows<'_>; 2], config: &SkeletalConfig) -> Loss {
    let sides = [0, 1].map(|side| Side::new(networks, side, windows[side], config));
    let mut sum = Sum::default();
    for side in &sides {
        side.reconstruct(config, &mut sum);
    }
    for (from, to) in [(0, 1), (1, 0)] {
        across(&sides[from], &sides[to], config, &mut sum);
    }
    let device = sides[0].windows.features.device();
    let total = sum
        .0
        .iter()
        .fold(Tensor::zeros([1], &device), |total, (_, weight, part)| total + part.clone() * *weight);
    let mut parts: Vec<(&'static str, Tensor<1>)> = Vec::new();
    for (name, _, part) in sum.0 {
        let part = part.without_autodiff();
        match parts.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => *known = known.clone() + part,
            None => parts.push((name, part)),
        }
    }
    Loss { total, parts }
}

#[derive(Default)]
struct Sum(Vec<(&'static str, f32, Tensor<1>)>);

impl Sum {
    fn add(&mut self, name: &'static str, weight: f32, part: impl FnOnce() -> Tensor<1>) {
        if weight > 0.0 {
            self.0.push((name, weight, part()));
        }
    }
}

/// One skeleton in a step.
struct Side<'a> {
    networks: &'a SkeletalNetworks,
    side: usize,
    windows: &'a Windows<'a>,
    own: Statics,
    other: Statics,
    code: Tensor<3>,
    places: Tensor<3>,
}

impl<'a> Side<'a> {
    fn new(
        networks: &'a SkeletalNetworks,
        side: usize,
        windows: &'a Windows<'a>,
        config: &SkeletalConfig,
    ) -> Self {
        let device = windows.features.device();
        let statics = |bodies: &[&Body]| {
            networks.of(side).statics(&offsets(windows.structure, bodies, config.static_branch, &device))
        };
        let (own, other) = (statics(&windows.bodies), statics(&windows.others));
        let code = networks.of(side).encode(&windows.features, &own);
        let places =
            places_of(windows.structure, &windows.bodies, &windows.structure.restored(&windows.features));
        Self { networks, side, windows, own, other, code, places }
    }

    fn reconstruct(&self, config: &SkeletalConfig, sum: &mut Sum) {
        let again = self.networks.of(self.side).decode(&self.code, &self.own);
        let Windows { structure, features, bodies, .. } = self.windows;
        sum.add("reconstruction", config.loss.reconstruction, || {
            (again.clone() - features.clone()).square().mean()
        });
        sum.add("positions", config.loss.positions, || {
            loss_of_places(structure, bodies, &structure.restored(&again), |places| {
                joints(&(places - self.places.clone())).square().mean()
            })
        });
    }
}

/// Positions of the joints among places.
fn joints(places: &Tensor<3>) -> Tensor<3> {
    let [batch, frames, width] = places.dims();
    places.clone().slice([0..batch, 0..frames, PLACES..width])
}

/// Static features of bodies, `[B, N 3]`; nothing but zeros without a static branch.
pub fn offsets(
    structure: &Structure,
    bodies: &[&Body],
    has_static_branch: bool,
    device: &Device,
) -> Tensor<2> {
    let values: Vec<f32> = bodies.iter().flat_map(|body| structure.statics(body)).collect();
    let width = values.len() / bodies.len();
    let tensor = Tensor::<2>::from_data(TensorData::new(values, [bodies.len(), width]), device);
    if has_static_branch { tensor } else { tensor.zeros_like() }
}

/// The motion of one skeleton on the bodies of the other.
fn across(from: &Side<'_>, to: &Side<'_>, config: &SkeletalConfig, sum: &mut Sum) {
    let (networks, target) = (to.networks.of(to.side), to.windows.structure);
    let shown = networks.decode(&from.code, &to.other);
    sum.add("cycle", config.loss.cycle, || {
        (networks.encode(&shown, &to.other) - from.code.clone()).abs().mean()
    });
    let features = target.restored(&shown);
    let bodies = &to.windows.others;
    sum.add("end_effectors", config.loss.end_effectors, || {
        let wanted = velocities(&from.places, &from.windows.structure.end_effectors());
        let ends = target.end_effectors();
        let weights = standing(&wanted);
        loss_of_places(target, bodies, &features, |places| {
            ((velocities(&places, &ends) - wanted).square() * weights).mean()
        })
    });
    sum.add("reaches", config.loss.reaches, || {
        let wanted = reaches(&from.places, from.windows.structure, &from.windows.bodies);
        loss_of_places(target, bodies, &features, |places| {
            (reaches(&places, target, bodies) - wanted).square().mean()
        })
    });
    // Weights that track no gradients: the networks learn from the discriminator, and it learns from what they made.
    sum.add("adversarial", config.loss.adversarial, || {
        let judge = networks.discriminator.valid();
        loss_of_places(target, bodies, &features, |places| (judge.forward(&places) - 1.0).square().mean())
    });
    sum.add("discriminator", if config.loss.adversarial > 0.0 { 1.0 } else { 0.0 }, || {
        let made = places_of(target, bodies, &features);
        let judged = |places: &Tensor<3>| networks.discriminator.forward(places);
        (judged(&to.places) - 1.0).square().mean() + judged(&made).square().mean()
    });
}

/// Velocities of joints in the frame that follows the root, over ground, heights per second: `[B, T - 1, E 3]`.
fn velocities(places: &Tensor<3>, ends: &[usize]) -> Tensor<3> {
    let [batch, frames, _] = places.dims();
    let column = |at: usize, from: usize, to: usize| places.clone().slice([0..batch, from..to, at..at + 1]);
    let last = frames - 1;
    let root = |at: usize| column(at, 0, last);
    let mut columns = Vec::with_capacity(PLACES * ends.len());
    for end in ends {
        let at = PLACES * (end + 1);
        let moved = |axis: usize| (column(at + axis, 1, frames) - column(at + axis, 0, last)) * RATE_HZ;
        let place = |axis: usize| column(at + axis, 0, last);
        columns.push(moved(0) + root(0) + root(2) * place(2));
        columns.push(moved(1));
        columns.push(moved(2) + root(1) - root(2) * place(0));
    }
    Tensor::cat(columns, 2)
}

/// From where each limb and the trunk begins to where it ends, over the length of its bones, in the frame that follows the root:
/// `[B, T, C 3]` for the C chains below that of the root, in the order of the primal skeleton. Bodies of other proportions in the same
/// pose have the same reaches.
pub fn reaches(places: &Tensor<3>, structure: &Structure, bodies: &[&Body]) -> Tensor<3> {
    let [batch, frames, _] = places.dims();
    let chains = structure.chains();
    let mut columns = Vec::new();
    for chain in structure.order.iter().map(|&chain| &chains[chain]) {
        let Some(parent) = chain.parent else { continue };
        let ends = [&chains[parent], chain].map(|chain| *chain.joints.last().expect("a chain has joints"));
        let lengths: Vec<f32> = bodies
            .iter()
            .map(|body| chain.joints.iter().map(|&joint| body.offsets[joint].length()).sum::<f32>())
            .map(|length| 1.0 / length.max(SHORTEST))
            .collect();
        let over_length = Tensor::<3>::from_data(TensorData::new(lengths, [batch, 1, 1]), &places.device());
        let place = |joint: usize| {
            let at = PLACES * (joint + 1);
            places.clone().slice([0..batch, 0..frames, at..at + PLACES])
        };
        columns.push((place(ends[1]) - place(ends[0])) * over_length);
    }
    Tensor::cat(columns, 2)
}

/// How much the error of each velocity counts: more where it stands.
fn standing(velocities: &Tensor<3>) -> Tensor<3> {
    let [batch, frames, width] = velocities.dims();
    let speed = velocities.clone().reshape([batch, frames, width / PLACES, PLACES]).square().sum_dim(3);
    let weight = (speed * (-1.0 / (STILL * STILL))).exp() * STANDING + 1.0;
    weight.repeat_dim(3, PLACES).reshape([batch, frames, width])
}

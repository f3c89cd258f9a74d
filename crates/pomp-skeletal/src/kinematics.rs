//! Where joints are by the features of a frame, and what an error of places says of the features.

use crate::structure::{Body, Structure};
use burn::tensor::{Tensor, TensorData};
use glam::{Quat, Vec3};

/// Features of a node: of the root's motion [along X, along Z, height, turn], of a joint a quaternion [x, y, z, w].
pub const FEATURES: usize = 4;
/// Places of a node: of the root's motion [along X, along Z, turn], of a joint its position.
pub const PLACES: usize = 3;

/// What of the places of a skeleton never changes: where the root is beside and before the frame that follows it.
pub const SILENT_PLACES: [usize; 2] = [PLACES, PLACES + 2];

/// One frame of a body, placed.
struct Frame {
    positions: Vec<Vec3>,
    rotations: Vec<Quat>,
}

fn quaternion(features: &[f32], joint: usize) -> Quat {
    let at = FEATURES * (joint + 1);
    let raw = Quat::from_slice(&features[at..at + FEATURES]);
    if raw.length_squared() > 1e-12 { raw.normalize() } else { Quat::IDENTITY }
}

fn placed(structure: &Structure, body: &Body, features: &[f32]) -> Frame {
    let joints = structure.parents.len();
    let (mut positions, mut rotations) = (Vec::with_capacity(joints), Vec::with_capacity(joints));
    for joint in 0..joints {
        let own = structure.mean_rotations[joint] * quaternion(features, joint);
        match structure.parents[joint] {
            None => {
                positions.push(Vec3::new(0.0, features[2], 0.0));
                rotations.push(own);
            }
            Some(parent) => {
                let above: Quat = rotations[parent];
                positions.push(positions[parent] + above * body.offsets[joint]);
                rotations.push((above * own).normalize());
            }
        }
    }
    Frame { positions, rotations }
}

/// The places of one frame, `[N 3]`: how the root moves (heights per second, radians per second), and where joints are in the frame
/// that follows the root along the ground and in its heading, heights.
pub fn places(structure: &Structure, body: &Body, features: &[f32], into: &mut Vec<f32>) {
    into.extend([features[0], features[1], features[3]]);
    into.extend(placed(structure, body, features).positions.iter().flat_map(Vec3::to_array));
}

/// The slopes of features, `[N 4]`, by those of places: the way back through [`places`].
fn slopes(structure: &Structure, body: &Body, features: &[f32], of_places: &[f32], into: &mut Vec<f32>) {
    let Frame { positions, rotations } = placed(structure, body, features);
    let joints = positions.len();
    let mut forces: Vec<Vec3> = of_places[PLACES..].chunks_exact(PLACES).map(Vec3::from_slice).collect();
    // Slopes by a small rotation, about axes of the world, of a joint with all that hangs from it.
    let mut torques = vec![Vec3::ZERO; joints];
    for joint in (1..joints).rev() {
        let parent = structure.parents[joint].expect("the root alone has no parent");
        let lever = (positions[joint] - positions[parent]).cross(forces[joint]);
        let (force, torque) = (forces[joint], torques[joint]);
        forces[parent] += force;
        torques[parent] += torque + lever;
    }
    into.extend([of_places[0], of_places[1], forces[0].y, of_places[2]]);
    for joint in 0..joints {
        let at = FEATURES * (joint + 1);
        let raw = Quat::from_slice(&features[at..at + FEATURES]);
        let length = raw.length();
        if length < 1e-6 {
            into.extend([0.0; FEATURES]);
            continue;
        }
        // A turn ε in the joint's own frame is the quaternion q (ε / 2, 1); the three products are orthonormal.
        let own = rotations[joint].inverse() * torques[joint];
        let turned = (raw / length) * Quat::from_vec4(own.extend(0.0));
        into.extend(glam::Vec4::from(turned).to_array().map(|value| 2.0 * value / length));
    }
}

/// A loss of places as a loss of features.
///
/// Forward kinematics is a chain of small products per frame, for which tensor operations are slow. Here the loss is differentiated as
/// far as the places, and the way from there to the features is computed directly; the result has the value of the loss and its
/// gradient by `features`, `[B, T, N 4]` in their own units. `bodies` has one body per window.
pub fn loss_of_places(
    structure: &Structure,
    bodies: &[&Body],
    features: &Tensor<3>,
    loss: impl FnOnce(Tensor<3>) -> Tensor<1>,
) -> Tensor<1> {
    let [batch, frames, width] = features.dims();
    let device = features.device();
    let values = features.clone().without_autodiff().try_into_vec_as::<f32>().expect("features are numbers");
    let nodes = width / FEATURES;
    let rows = || values.chunks_exact(width).enumerate().map(|(row, values)| (bodies[row / frames], values));
    let mut found = Vec::with_capacity(batch * frames * nodes * PLACES);
    rows().for_each(|(body, row)| places(structure, body, row, &mut found));
    let data = TensorData::new(found, [batch, frames, nodes * PLACES]);
    let leaf = Tensor::<3>::from_data(data, &device).require_grad();
    let value = loss(leaf.clone());
    let gradients = value.backward();
    let Some(of_places) = leaf.grad(&gradients) else { return value.without_autodiff() };
    let of_places = of_places.try_into_vec_as::<f32>().expect("slopes are numbers");
    let mut of_features = Vec::with_capacity(values.len());
    for ((body, row), slope) in rows().zip(of_places.chunks_exact(nodes * PLACES)) {
        slopes(structure, body, row, slope, &mut of_features);
    }
    let slope = Tensor::<3>::from_data(TensorData::new(of_features, [batch, frames, width]), &device.inner());
    let linear = (features.clone() * slope).sum();
    let offset = value.without_autodiff() - linear.clone().without_autodiff();
    linear + offset
}

/// The places of windows, `[B, T, N 3]`, without gradients.
pub fn places_of(structure: &Structure, bodies: &[&Body], features: &Tensor<3>) -> Tensor<3> {
    let [batch, frames, width] = features.dims();
    let values = features.clone().without_autodiff().try_into_vec_as::<f32>().expect("features are numbers");
    let nodes = width / FEATURES;
    let mut found = Vec::with_capacity(batch * frames * nodes * PLACES);
    for (row, values) in values.chunks_exact(width).enumerate() {
        places(structure, bodies[row / frames], values, &mut found);
    }
    let data = TensorData::new(found, [batch, frames, nodes * PLACES]);
    Tensor::from_data(data, &features.device().inner())
}

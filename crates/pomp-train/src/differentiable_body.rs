//! The state that follows a prediction, as the loop makes it of rotations and root motion, with gradients: bones keep their lengths,
//! and velocities are differences of positions.

use crate::rows::matrix;
use burn::tensor::{Device, Int, Tensor, TensorData};
use pomp_motion::features::{BlockName, FeatureLayout, Normaliser};
use pomp_motion::legs::LEGS;
use pomp_motion::{FRAME_RATE_HZ, Skeleton};
use std::ops::Range;

/// Keeps the length of a vector of zeros from 0.
const TINY: f32 = 1e-8;

/// A skeleton whose poses are tensors.
pub(crate) struct DifferentiableBody {
    /// Joints that are equally far from the root, after those nearer to it.
    levels: Vec<Level>,
    /// Where each joint is in the order of the levels.
    order: Tensor<1, Int>,
    joints: usize,
    positions: Range<usize>,
    rotations: Range<usize>,
    root: Range<usize>,
    /// Velocities of ankles and toes.
    feet: Vec<Range<usize>>,
    /// Mean and deviation of the state in x.
    mean: Tensor<2>,
    deviation: Tensor<2>,
}

/// Joints of one depth.
struct Level {
    joints: Tensor<1, Int>,
    /// Their parents' places in the level before.
    parents: Tensor<1, Int>,
    /// Their offsets, `[1, n, 3, 1]`.
    offsets: Tensor<4>,
}

/// Places along a dimension, to select.
pub(crate) fn indices(values: &[usize], device: &Device) -> Tensor<1, Int> {
    let values: Vec<i32> = values.iter().map(|&value| value as i32).collect();
    let count = values.len();
    Tensor::from_data(TensorData::new(values, [count]), device)
}

/// Columns of rows.
pub(crate) fn columns(of: &Tensor<2>, range: &Range<usize>) -> Tensor<2> {
    let rows = of.dims()[0];
    of.clone().slice([0..rows, range.clone()])
}

impl DifferentiableBody {
    /// That of a skeleton and a layout with rotations, whose x is normalised by `x`.
    pub fn new(skeleton: &Skeleton, layout: &FeatureLayout, x: &Normaliser, device: &Device) -> Self {
        let joints = skeleton.joints();
        let mut by_depth: Vec<Vec<usize>> = Vec::new();
        let mut depths: Vec<usize> = Vec::with_capacity(joints.len());
        for joint in joints {
            let depth = joint.parent.map_or(0, |parent| depths[parent.0] + 1);
            depths.push(depth);
            if by_depth.len() == depth {
                by_depth.push(Vec::new());
            }
            by_depth[depth].push(depths.len() - 1);
        }
        let place = |joint: usize| {
            by_depth[depths[joint]].iter().position(|&other| other == joint).expect("a joint has a depth")
        };
        let levels = by_depth.iter().map(|level| {
            let parents: Vec<usize> =
                level.iter().map(|&joint| joints[joint].parent.map_or(0, |parent| place(parent.0))).collect();
            let offsets: Vec<f32> = level.iter().flat_map(|&joint| joints[joint].offset.to_array()).collect();
            Level {
                joints: indices(level, device),
                parents: indices(&parents, device),
                offsets: Tensor::from_data(TensorData::new(offsets, [1, level.len(), 3, 1]), device),
            }
        });
        let levels = levels.collect();
        let sorted: Vec<usize> = by_depth.concat();
        let order: Vec<usize> = (0..joints.len())
            .map(|joint| sorted.iter().position(|&other| other == joint).expect("every joint is sorted"))
            .collect();
        let root = layout.x_range(BlockName::RootMotion);
        let velocities = layout.x_range(BlockName::JointVelocities).start;
        let feet = LEGS.iter().flat_map(|leg| &leg[2..]).map(|joint| {
            let start = velocities + 3 * joint.0;
            start..start + 3
        });
        let scale = |values: &[f32]| matrix(values[..root.end].to_vec(), root.end, device);
        Self {
            levels,
            order: indices(&order, device),
            joints: joints.len(),
            positions: layout.x_range(BlockName::JointPositions),
            rotations: layout.x_range(BlockName::JointRotations),
            mean: scale(x.mean()),
            deviation: scale(x.deviation()),
            root,
            feet: feet.collect(),
        }
    }

    /// Length of a state: positions, velocities and rotations of the joints, and the root's motion.
    pub fn state_len(&self) -> usize {
        self.root.end
    }

    /// The state after `state`, both normalised as in x, by a `predicted` one in the units of y.
    pub fn next(&self, state: &Tensor<2>, predicted: &Tensor<2>) -> Tensor<2> {
        let rows = state.dims()[0];
        let state = columns(state, &(0..self.state_len())) * self.deviation.clone() + self.mean.clone();
        let old: Tensor<3> = columns(&state, &self.positions).reshape([rows, self.joints, 3]);
        let [first, second, third] =
            axes(&columns(predicted, &self.rotations).reshape([rows, self.joints, 6]));
        let pelvis = self.positions.start..self.positions.start + 3;
        let pelvis = columns(predicted, &pelvis).reshape([rows, 1, 3]);
        let turns = Tensor::stack::<4>(vec![first.clone(), second.clone(), third], 3);
        let positions = self.positions_of(&turns, pelvis);

        let motion = columns(predicted, &self.root) * (1.0 / FRAME_RATE_HZ);
        let part = |of: &Tensor<3>, at: usize| {
            let joints = of.dims()[1];
            of.clone().slice([0..rows, 0..joints, at..at + 1])
        };
        let moved = |at: usize| columns(&motion, &(at..at + 1)).reshape([rows, 1, 1]);
        let (cos, sin) = (moved(2).cos(), moved(2).sin());
        let (x, z) = (part(&old, 0) - moved(0), part(&old, 2) - moved(1));
        let before = Tensor::cat(
            vec![x.clone() * cos.clone() - z.clone() * sin.clone(), part(&old, 1), x * sin + z * cos],
            2,
        );
        let velocities = (positions.clone() - before) * FRAME_RATE_HZ;
        let pelvis = velocities.clone().slice([0..rows, 0..1, 0..3]);
        let root = Tensor::cat(
            vec![
                part(&pelvis, 0).reshape([rows, 1]),
                part(&pelvis, 2).reshape([rows, 1]),
                columns(predicted, &(self.root.end - 1..self.root.end)),
            ],
            1,
        );
        let flat = |of: Tensor<3>| of.reshape([rows, 3 * self.joints]);
        let rotations = Tensor::cat(vec![first, second], 2).reshape([rows, 6 * self.joints]);
        let next = Tensor::cat(vec![flat(positions), flat(velocities), rotations, root], 1);
        (next - self.mean.clone()) / self.deviation.clone()
    }

    /// Speeds of ankles and toes in the world, m/s, `[B, 4]`, of poses normalised as in x.
    pub fn foot_speeds(&self, poses: &Tensor<2>) -> Tensor<2> {
        let speeds = self.feet.iter().map(|foot| {
            let velocity = columns(poses, foot) * columns(&self.deviation, foot) + columns(&self.mean, foot);
            ((velocity.clone() * velocity).sum_dim(1) + TINY).sqrt()
        });
        Tensor::cat(speeds.collect(), 1)
    }

    /// Positions of all joints, `[B, J, 3]`, of rotations `[B, J, 3, 3]` and the place of the pelvis, `[B, 1, 3]`.
    fn positions_of(&self, turns: &Tensor<4>, pelvis: Tensor<3>) -> Tensor<3> {
        let rows = pelvis.dims()[0];
        let mut above = turns.clone().select(1, self.levels[0].joints.clone());
        let mut places = pelvis;
        let mut all = vec![places.clone()];
        for level in &self.levels[1..] {
            let parents = above.select(1, level.parents.clone());
            let count = level.joints.dims()[0];
            let offsets = parents.clone().matmul(level.offsets.clone().repeat_dim(0, rows));
            places = places.select(1, level.parents.clone()) + offsets.reshape([rows, count, 3]);
            above = parents.matmul(turns.clone().select(1, level.joints.clone()));
            all.push(places.clone());
        }
        Tensor::cat(all, 1).select(1, self.order.clone())
    }
}

/// Axes of rotation matrices, `[B, J, 3]` each, from two columns that need not be orthonormal, `[B, J, 6]`.
fn axes(columns: &Tensor<3>) -> [Tensor<3>; 3] {
    let [rows, joints, _] = columns.dims();
    let part = |of: &Tensor<3>, from: usize, to: usize| of.clone().slice([0..rows, 0..joints, from..to]);
    let unit = |v: Tensor<3>| {
        let length = ((v.clone() * v.clone()).sum_dim(2) + TINY).sqrt();
        v / length
    };
    let first = unit(part(columns, 0, 3));
    let second = part(columns, 3, 6);
    let along = (first.clone() * second.clone()).sum_dim(2);
    let second = unit(second - first.clone() * along);
    let [a, b] = [&first, &second];
    let cross =
        |i: usize, j: usize| part(a, i, i + 1) * part(b, j, j + 1) - part(a, j, j + 1) * part(b, i, i + 1);
    let third = Tensor::cat(vec![cross(1, 2), cross(2, 0), cross(0, 1)], 2);
    [first, second, third]
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{Quat, Vec2, Vec3};
    use pomp_generator::unhindered;
    use pomp_motion::features::{CharacterState, Rotations};
    use pomp_motion::{Pose, RootFrame};

    fn state(skeleton: &Skeleton, lean: f32) -> CharacterState {
        let mut pose = Pose::rest(skeleton);
        for (joint, turn) in pose.local_rotations.iter_mut().enumerate() {
            *turn = Quat::from_scaled_axis(Vec3::new(lean, 0.02 * joint as f32, -lean));
        }
        let frame = RootFrame { origin: Vec3::ZERO, yaw: 0.0 };
        let positions = skeleton.forward_kinematics(&pose).positions;
        CharacterState {
            frame,
            positions_root: positions.iter().map(|place| frame.to_root(*place)).collect(),
            velocities_root: positions.iter().map(|_| Vec3::X).collect(),
            rotations_local: pose.local_rotations.iter().copied().collect(),
            root_velocity: Vec2::new(0.4, 1.1),
            yaw_rate: 0.8,
        }
    }

    #[test]
    fn it_makes_of_a_prediction_what_the_loop_makes_of_it() {
        let skeleton = Skeleton::humanoid(1.75);
        let layout = FeatureLayout::new(skeleton.len(), skeleton.len(), 1, Rotations::SixD);
        let device = Device::flex();
        let written = |state: &CharacterState| {
            let mut y = vec![0.0; layout.y_len()];
            layout.write_state_of_y(state, &mut y);
            y
        };
        let (before, wanted) = (state(&skeleton, 0.1), state(&skeleton, 0.25));
        let rows: Vec<Vec<f32>> = [0.1, 0.9].iter().map(|value| vec![*value; layout.x_len()]).collect();
        let x = Normaliser::fit(layout.x_blocks(), rows.iter().map(Vec::as_slice));
        let body = DifferentiableBody::new(&skeleton, &layout, &x, &device);
        let tensor = |row: &[f32]| matrix(row.to_vec(), row.len(), &device);
        let mut shown = written(&before);
        shown.resize(layout.x_len(), 0.0);
        x.normalise(&mut shown);
        let found = body.next(&tensor(&shown), &tensor(&written(&wanted)));
        let found = found.try_into_vec_as::<f32>().unwrap();

        let output = layout.read_y(&written(&wanted));
        let frame = output.next_frame(&before.frame, 1.0 / FRAME_RATE_HZ);
        let mut expected = written(&unhindered(&skeleton, &before, &output, frame));
        expected.resize(layout.x_len(), 0.0);
        x.normalise(&mut expected);
        for (column, (found, expected)) in found.iter().zip(&expected).enumerate() {
            assert!(
                (found - expected).abs() < 2e-3 * (1.0 + expected.abs()),
                "column {column}: {found}, {expected}"
            );
        }
    }

    #[test]
    fn feet_have_the_speeds_of_ankles_and_toes() {
        let skeleton = Skeleton::humanoid(1.75);
        let layout = FeatureLayout::new(skeleton.len(), skeleton.len(), 1, Rotations::SixD);
        let device = Device::flex();
        let rows: Vec<Vec<f32>> = [0.1, 0.9].iter().map(|value| vec![*value; layout.x_len()]).collect();
        let x = Normaliser::fit(layout.x_blocks(), rows.iter().map(Vec::as_slice));
        let body = DifferentiableBody::new(&skeleton, &layout, &x, &device);
        let mut walking = state(&skeleton, 0.1);
        walking.velocities_root = walking.velocities_root.iter().map(|_| Vec3::new(0.3, 0.0, 0.4)).collect();
        let speeds = |of: &CharacterState| {
            let mut row = vec![0.0; layout.y_len()];
            layout.write_state_of_y(of, &mut row);
            row.resize(layout.x_len(), 0.0);
            x.normalise(&mut row);
            body.foot_speeds(&matrix(row, layout.x_len(), &device)).try_into_vec_as::<f32>().unwrap()
        };
        let close = |found: Vec<f32>, wanted: [f32; 4]| {
            assert!(found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-3), "{found:?}, not {wanted:?}");
        };
        close(speeds(&walking), [0.5; 4]);
        walking.velocities_root[LEGS[1][1].0] = Vec3::ZERO;
        close(speeds(&walking), [0.5; 4]);
        walking.velocities_root[LEGS[1][3].0] = Vec3::new(0.0, 0.05, 0.0);
        close(speeds(&walking), [0.5, 0.5, 0.5, 0.05]);
    }
}

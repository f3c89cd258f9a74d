//! The result of a frame of many characters.

use crate::arrays::{array, flags};
use glam::{Quat, Vec3};
use numpy::PyArrayDyn;
use pomp_generator::StepOutput;
use pomp_motion::Gait;
use pyo3::prelude::*;

type Floats = Py<PyArrayDyn<f32>>;

/// The result of one frame of n characters in world space with Y up, in metres, seconds and newtons. J joints, one body per joint.
#[pyclass(frozen, get_all, module = "pomp", name = "VecStep")]
pub struct PyVecStep {
    /// Simulated joint positions, metres, of the shape (n, J, 3).
    positions: Floats,
    /// Simulated joint rotations, world, x y z w, of the shape (n, J, 4).
    quaternions: Floats,
    /// Simulated joint velocities, m/s, of the shape (n, J, 3).
    velocities: Floats,
    /// Impulse of the ground on each body during the frame, N·s, of the shape (n, J, 3).
    contact_impulse: Floats,
    /// Force of the root assist, mean over the frame, N, of the shape (n, 3).
    assist_force: Floats,
    /// Torque of the root assist, mean over the frame, N·m, of the shape (n, 3).
    assist_torque: Floats,
    /// Magnitude of the torque of each joint's drive, mean over the frame, N·m, of the shape (n, J).
    joint_torque: Floats,
    /// Joint positions of the kinematic module's targets, metres, of the shape (n, J, 3).
    target_positions: Floats,
    /// Weight of each gait of `pomp.GAITS`, of the shape (n, 8).
    gait: Floats,
    /// Phase codes, of the shape (n, 2 C).
    phase: Floats,
    /// The commands: root x and z (metres, world), heading (radians), speed (m/s), of the shape (n, 4).
    control: Floats,
    /// Whether each character has fallen (it lies or gets up), of the shape (n,).
    fallen: Py<PyArrayDyn<bool>>,
}

impl PyVecStep {
    /// The result of one frame of at least one character.
    pub fn of(py: Python<'_>, outputs: &[StepOutput]) -> PyResult<Self> {
        let (count, joints) = (outputs.len(), outputs[0].simulated.pose.positions.len());
        let table = |width: &[usize], of: &dyn Fn(&StepOutput, &mut Vec<f32>)| -> PyResult<Floats> {
            let mut values = Vec::with_capacity(count * width.iter().product::<usize>());
            for output in outputs {
                of(output, &mut values);
            }
            let shape: Vec<usize> = std::iter::once(count).chain(width.iter().copied()).collect();
            Ok(array(py, values, &shape)?.unbind())
        };
        let vectors = |of: &dyn Fn(&StepOutput) -> &[Vec3]| {
            table(&[joints, 3], &|output, values| values.extend(of(output).iter().flat_map(Vec3::to_array)))
        };
        let phase_width = outputs[0].phase_code.len();
        Ok(Self {
            positions: vectors(&|output| &output.simulated.pose.positions)?,
            quaternions: table(&[joints, 4], &|output, values| {
                values.extend(output.simulated.pose.rotations.iter().flat_map(Quat::to_array));
            })?,
            velocities: vectors(&|output| &output.simulated.velocities)?,
            contact_impulse: vectors(&|output| &output.simulated.contact_impulse)?,
            assist_force: table(&[3], &|output, values| {
                values.extend(output.simulated.assist_force.to_array());
            })?,
            assist_torque: table(&[3], &|output, values| {
                values.extend(output.simulated.assist_torque.to_array());
            })?,
            joint_torque: table(&[joints], &|output, values| values.extend(&output.simulated.joint_torque))?,
            target_positions: vectors(&|output| &output.target.positions)?,
            gait: table(&[Gait::COUNT], &|output, values| values.extend(output.gait))?,
            phase: table(&[phase_width], &|output, values| values.extend(&output.phase_code))?,
            control: table(&[4], &|output, values| {
                let control = output.control;
                values.extend([control.position.x, control.position.y, control.yaw, control.speed_mps]);
            })?,
            fallen: flags(py, outputs.iter().map(|output| output.fallen).collect(), &[count])?.unbind(),
        })
    }
}

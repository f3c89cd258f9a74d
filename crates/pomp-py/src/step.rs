//! The result of a frame of the closed loop.

use crate::arrays::{array, quaternions, vector, vectors};
use numpy::PyArrayDyn;
use pomp_generator::StepOutput;
use pyo3::prelude::*;

type Floats<'py> = PyResult<Bound<'py, PyArrayDyn<f32>>>;

/// The result of one frame (a sixtieth of a second) in world space with Y up, in metres, seconds and newtons. J joints, one body per joint.
#[pyclass(frozen, module = "pomp", name = "Step")]
pub struct PyStep {
    pub output: StepOutput,
}

#[pymethods]
impl PyStep {
    /// Simulated joint positions, metres, of the shape (J, 3).
    #[getter]
    fn positions<'py>(&self, py: Python<'py>) -> Floats<'py> {
        vectors(py, &self.output.simulated.pose.positions)
    }

    /// Simulated joint rotations, world, x y z w, of the shape (J, 4).
    #[getter]
    fn quaternions<'py>(&self, py: Python<'py>) -> Floats<'py> {
        quaternions(py, &self.output.simulated.pose.rotations)
    }

    /// Simulated joint velocities, m/s, of the shape (J, 3).
    #[getter]
    fn velocities<'py>(&self, py: Python<'py>) -> Floats<'py> {
        vectors(py, &self.output.simulated.velocities)
    }

    /// Impulse of the ground on each body during the frame, N·s, of the shape (J, 3).
    #[getter]
    fn contact_impulse<'py>(&self, py: Python<'py>) -> Floats<'py> {
        vectors(py, &self.output.simulated.contact_impulse)
    }

    /// Point where the ground pushed each body, metres, of the shape (J, 3); without contact, the position of its joint.
    #[getter]
    fn contact_point<'py>(&self, py: Python<'py>) -> Floats<'py> {
        vectors(py, &self.output.simulated.contact_point)
    }

    /// Force of the root assist, mean over the frame, N, of the shape (3,).
    #[getter]
    fn assist_force<'py>(&self, py: Python<'py>) -> Floats<'py> {
        vector(py, self.output.simulated.assist_force)
    }

    /// Torque of the root assist, mean over the frame, N·m, of the shape (3,).
    #[getter]
    fn assist_torque<'py>(&self, py: Python<'py>) -> Floats<'py> {
        vector(py, self.output.simulated.assist_torque)
    }

    /// Magnitude of the torque of each joint's drive, mean over the frame, N·m, of the shape (J,); 0 for the root.
    #[getter]
    fn joint_torque<'py>(&self, py: Python<'py>) -> Floats<'py> {
        let torques = self.output.simulated.joint_torque.clone();
        let shape = [torques.len()];
        array(py, torques.to_vec(), &shape)
    }

    /// Joint positions of the kinematic module's target, metres, of the shape (J, 3).
    #[getter]
    fn target_positions<'py>(&self, py: Python<'py>) -> Floats<'py> {
        vectors(py, &self.output.target.positions)
    }

    /// Joint rotations of the kinematic module's target, world, x y z w, of the shape (J, 4).
    #[getter]
    fn target_quaternions<'py>(&self, py: Python<'py>) -> Floats<'py> {
        quaternions(py, &self.output.target.rotations)
    }

    /// Weight of each gait of `pomp.GAITS`, of the shape (8,).
    #[getter]
    fn gait<'py>(&self, py: Python<'py>) -> Floats<'py> {
        array(py, self.output.gait.to_vec(), &[self.output.gait.len()])
    }

    /// Phase code of the frame, of the shape (2 C,).
    #[getter]
    fn phase<'py>(&self, py: Python<'py>) -> Floats<'py> {
        array(py, self.output.phase_code.to_vec(), &[self.output.phase_code.len()])
    }

    /// The command: root x and z (metres, world), heading (radians), speed (m/s).
    #[getter]
    fn control(&self) -> (f32, f32, f32, f32) {
        let control = self.output.control;
        (control.position.x, control.position.y, control.yaw, control.speed_mps)
    }

    /// Whether the character has fallen. A fallen character lies or gets up and ignores commands.
    #[getter]
    fn fallen(&self) -> bool {
        self.output.fallen
    }

    fn __repr__(&self) -> String {
        let at = self.output.simulated.pose.positions[0];
        format!("<pomp.Step: pelvis at {:.2}, {:.2}, {:.2} m>", at.x, at.y, at.z)
    }
}

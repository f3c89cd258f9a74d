//! ProtoMotions' motions: the fields of its robot state, one row per frame. Bodies are the joints of the skeleton;
//! quaternions `x y z w`; contact forces in newtons, the impulse of the frame over its time.

use super::frames::{check, local, quaternion, rotation_vector, vector};
use super::tensor_file::{self, Elements, Tensor};
use pomp_motion::glam::Quat;
use pomp_motion::{Recording, rotation};

/// A body is in contact when more than this acts on it, newtons.
const CONTACT_N: f32 = 1.0;

pub(super) fn bytes(recording: &Recording) -> Result<Vec<u8>, String> {
    check(recording)?;
    let Some(simulation) = &recording.simulation else {
        return Err("it has no physics replay, which contact forces come from; preprocess it".to_owned());
    };
    let names: Vec<&String> = recording.skeleton.joints().iter().map(|joint| &joint.name).collect();
    let body_of: Vec<Option<usize>> =
        names.iter().map(|name| simulation.body_names.iter().position(|body| body == *name)).collect();
    if let Some(body) = simulation.body_names.iter().find(|body| !names.contains(body)) {
        return Err(format!("its replay has a body {body} that is no joint; preprocess it again"));
    }
    let (frames, joints, rate) = (recording.frames(), names.len(), recording.frame_rate_hz);
    let each = |value: &dyn Fn(usize, usize) -> Vec<f32>, first: usize| -> Elements {
        let cells = (0..frames).flat_map(|frame| (first..joints).map(move |joint| (frame, joint)));
        Elements::Floats(cells.flat_map(|(frame, joint)| value(frame, joint)).collect())
    };
    // Rates of turning reach from a frame to the next one; the last frame repeats the one before.
    let turning = |from: &dyn Fn(usize) -> Quat, frame: usize, in_own_frame: bool| {
        let at = frame.min(frames - 2);
        let (a, b) = (from(at), from(at + 1));
        let step = if in_own_frame { a.inverse() * b } else { b * a.inverse() };
        (rotation::log(step) * rate).to_array().to_vec()
    };
    let world = |frame: usize, joint: usize| quaternion(recording.quaternions[frame][joint]);
    let force = |frame: usize, joint: usize| {
        body_of[joint].map_or([0.0; 3], |body| vector(simulation.contact_impulse[frame][body] * rate))
    };
    let contacts = (0..frames)
        .flat_map(|frame| (0..joints).map(move |joint| (frame, joint)))
        .map(|(frame, joint)| force(frame, joint).iter().map(|f| f * f).sum::<f32>() > CONTACT_N * CONTACT_N)
        .collect();
    let rotations = 3 * (joints - 1);
    let tensor = |name, shape: &[usize], elements| Tensor { name, shape: shape.to_vec(), elements };
    let tensors = [
        tensor(
            "rigid_body_pos",
            &[frames, joints, 3],
            each(&|frame, joint| vector(recording.positions[frame][joint]).to_vec(), 0),
        ),
        tensor(
            "rigid_body_rot",
            &[frames, joints, 4],
            each(&|frame, joint| world(frame, joint).to_array().to_vec(), 0),
        ),
        tensor(
            "rigid_body_vel",
            &[frames, joints, 3],
            each(&|frame, joint| vector(recording.velocities[frame][joint]).to_vec(), 0),
        ),
        tensor(
            "rigid_body_ang_vel",
            &[frames, joints, 3],
            each(&|frame, joint| turning(&|at| world(at, joint), frame, false), 0),
        ),
        tensor(
            "dof_pos",
            &[frames, rotations],
            each(&|frame, joint| rotation_vector(local(recording, frame, joint)).to_vec(), 1),
        ),
        tensor(
            "dof_vel",
            &[frames, rotations],
            each(&|frame, joint| turning(&|at| local(recording, at, joint), frame, true), 1),
        ),
        tensor(
            "local_rigid_body_rot",
            &[frames, joints, 4],
            each(&|frame, joint| local(recording, frame, joint).to_array().to_vec(), 0),
        ),
        tensor("rigid_body_contacts", &[frames, joints], Elements::Booleans(contacts)),
        tensor(
            "rigid_body_contact_forces",
            &[frames, joints, 3],
            each(&|frame, joint| force(frame, joint).to_vec(), 0),
        ),
    ];
    tensor_file::bytes(rate, &tensors)
}

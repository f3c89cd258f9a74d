//! MimicKit's motions: a pickled dictionary of `loop_mode` (0: stop at the end), `fps` and `frames`; each frame is the
//! root's position (m) and rotation vector, then the rotation vector of every other joint against its parent, in the
//! order of the character file.

use super::frames::{check, local, rotation_vector, vector};
use super::pickle::Pickle;
use pomp_motion::Recording;

pub(super) fn bytes(recording: &Recording) -> Result<Vec<u8>, String> {
    check(recording)?;
    let mut pickle = Pickle::new();
    pickle.dictionary(|pickle| {
        pickle.text("loop_mode");
        pickle.integer(0);
        pickle.text("fps");
        pickle.float(f64::from(recording.frame_rate_hz));
        pickle.text("frames");
        pickle.list(|pickle| {
            for frame in 0..recording.frames() {
                let mut numbers = vector(recording.positions[frame][0]).to_vec();
                for joint in 0..recording.skeleton.len() {
                    numbers.extend(rotation_vector(local(recording, frame, joint)));
                }
                pickle.floats(&numbers);
            }
        });
    });
    Ok(pickle.finish())
}

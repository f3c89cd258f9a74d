//! Clips that begin or end in mid-air.

use pomp_motion::{Clip, humanoid};
use pomp_terrain::HeightMap;

/// Height of the lowest joint of a standing body above the ground, and the least additional height that counts as airborne, m for a
/// body of 1.75 m.
const LOWEST_JOINT_M: f32 = humanoid::TOE_HEIGHT * 1.75;
const CLEARLY_M: f32 = 0.03;
/// Shorter flights are within the error of contact detection, s.
const SHORTEST_S: f32 = 0.05;

/// Warnings about a clip that begins or ends without ground contact. `contact` are its foot contacts `[T][4]`.
pub fn warnings(clip: &Clip, contact: &[[bool; 4]], ground: &HeightMap) -> Vec<String> {
    let height = |frame: usize| {
        let pose = clip.skeleton.forward_kinematics(&clip.poses[frame]);
        pose.positions.iter().map(|p| p.y - ground.height(p.x, p.z)).fold(f32::MAX, f32::min)
    };
    let flies =
        |frame: &usize| !contact[*frame].contains(&true) && height(*frame) > LOWEST_JOINT_M + CLEARLY_M;
    let frames = clip.frames();
    let told = |length: usize, end: usize, does: &str, unknown: &str| {
        (length as f32 / clip.frame_rate_hz >= SHORTEST_S).then(|| {
            format!(
                "it {does} in mid-air: nothing touches the ground for {length} frames ({:.2} s at {} Hz), the lowest joint of frame {end} is \
                 {:.2} m above it; {unknown}",
                length as f32 / clip.frame_rate_hz,
                clip.frame_rate_hz,
                height(end)
            )
        })
    };
    let rising = (0..frames).take_while(flies).count();
    let falling = (0..frames).rev().take_while(flies).count();
    let begins = told(
        rising,
        0,
        "begins",
        "what it left is not known, and the ground under it is extrapolated until it lands",
    );
    let ends = told(
        falling,
        frames - 1,
        "ends",
        "the impulse of its landing is not in it, so that its vertical sum is not m g T",
    );
    begins.into_iter().chain(ends).collect()
}

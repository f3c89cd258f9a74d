//! Feet that stand still while they are planted.

use glam::Vec3;
use pomp_motion::retarget::softly_limited;

/// Time in which a correction fades after a foot is lifted, and in which a height is taken up, seconds.
const FADE_S: f32 = 0.1;
/// Most that a foot is moved along the ground, as a share of the leg; a clip whose planted foot drifts farther slides.
const MAX_SHIFT: f32 = 0.12;

/// A foot over time: ankle and toe joint as they are without correction, and which of them is planted.
pub struct FootTrack {
    /// Ankle and toe, metres, world.
    pub points: Vec<[Vec3; 2]>,
    /// Height of ankle and toe that the clip asks for.
    pub heights: Vec<[f32; 2]>,
    /// Heel and toe contact.
    pub planted: Vec<[bool; 2]>,
}

impl FootTrack {
    /// How far the ankle has to be moved in every frame so that the planted point stays where it was put down.
    pub fn shifts(&self, leg: f32, frame_rate_hz: f32) -> Vec<Vec3> {
        let keep = (-1.0 / (FADE_S * frame_rate_hz)).exp();
        let mut anchor: Option<(usize, Vec3)> = None;
        let mut shift = Vec3::ZERO;
        (0..self.points.len())
            .map(|frame| {
                let planted = self.planted[frame].iter().position(|&planted| planted);
                let Some(point) = planted else {
                    anchor = None;
                    shift *= keep;
                    return shift;
                };
                let now = self.points[frame][point];
                // The first planted frame keeps the shift that it found, so that nothing jumps.
                let there = match anchor {
                    Some((same, there)) if same == point => there,
                    _ => now + shift,
                };
                anchor = Some((point, there));
                let along = softly_limited(Vec3::new(there.x - now.x, 0.0, there.z - now.z), MAX_SHIFT * leg);
                let height = self.heights[frame][point] - now.y;
                shift = Vec3::new(along.x, height + (shift.y - height) * keep, along.z);
                shift
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_planted_point_that_drifts_is_held_and_let_go_without_a_jump() {
        let frames = 60;
        let drifting = |frame: usize| Vec3::new(0.001 * frame as f32, 0.08, 0.0);
        let track = FootTrack {
            points: (0..frames).map(|f| [drifting(f), drifting(f)]).collect(),
            heights: vec![[0.08, 0.08]; frames],
            planted: (0..frames).map(|f| [(10..40).contains(&f), false]).collect(),
        };
        let shifts = track.shifts(0.9, 60.0);
        let held: Vec<Vec3> = (10..40).map(|f| drifting(f) + shifts[f]).collect();
        assert!(held.iter().all(|at| at.distance(held[0]) < 2e-3), "{held:?}");
        assert_eq!(shifts[9], Vec3::ZERO);
        let jump = shifts.windows(2).map(|pair| pair[0].distance(pair[1])).fold(0.0, f32::max);
        assert!(jump < 6e-3, "{jump}");
        assert!(shifts[59].length() < 2e-3);
    }
}

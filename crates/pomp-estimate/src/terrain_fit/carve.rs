//! Carving the ground under feet in swing.

use super::FitInput;
use super::ground::{Ground, GroundKind};
use super::input::lifted_points;
use super::stance::Stance;
use super::sweep::{FOOTPRINT_M, Sheet};
use glam::Vec2;
use pomp_motion::Gait;

/// A sole in swing may be this far inside the ground, metres: the scatter of recorded feet.
const INSIDE_M: f32 = 0.005;
/// A sole deeper than this passes through the ground, metres.
pub(super) const THROUGH_M: f32 = 0.01;
/// Level and inclined ground is left as it is while no larger share of the soles in swing passes through it.
const THROUGH_SHARE: f32 = 0.005;
/// Around a hollow the ground rises no steeper than this, except between treads.
const SLOPE: f32 = 0.6;
/// How far from a hollow the ground is levelled out so, metres.
const REACH_M: f32 = 0.25;

/// Soles in swing of frames in which the body is upright: those of a lying body rest on the sides of the feet.
fn swinging(input: &FitInput) -> impl Iterator<Item = glam::Vec3> + '_ {
    (0..input.frames())
        .filter(|&frame| !matches!(Gait::dominant(&input.gait[frame]), Gait::Lie | Gait::GetUp))
        .flat_map(move |frame| lifted_points(input, frame).map(move |point| input.soles[frame][point]))
}

/// Whether so many feet in swing pass through `ground`, a plane, that it cannot be one.
pub(super) fn is_passed_through(ground: &Ground, input: &FitInput) -> bool {
    let (mut through, mut all) = (0usize, 0usize);
    for sole in swinging(input) {
        all += 1;
        through += usize::from(ground.height(Vec2::new(sole.x, sole.z)) - sole.y > THROUGH_M);
    }
    through as f32 > THROUGH_SHARE * all as f32
}

impl Sheet {
    /// Lowers the ground wherever a sole in swing is inside it. Under standing feet it is lowered by at most
    /// `give_m`: lower ground there would contradict the stance. Planes are not lowered by more than
    /// `contradiction_m`.
    pub fn carve(
        &mut self,
        input: &FitInput,
        ground: &Ground,
        stances: &[Stance],
        contradiction_m: f32,
        give_m: f32,
    ) {
        let deepest = if ground.kind.is_plane() { contradiction_m } else { f32::INFINITY };
        let mut lowest: Vec<f32> = self.heights.iter().map(|height| height - deepest).collect();
        for stance in stances.iter().filter(|stance| stance.bearing) {
            let reach = FOOTPRINT_M[0] + 0.5 * stance.heel.distance(stance.toe);
            for cell in self.around(stance.centre(), reach) {
                if stance.distance(self.place(cell)) <= FOOTPRINT_M[0] {
                    lowest[cell] = lowest[cell].max(self.heights[cell] - give_m);
                }
            }
        }
        let mut hollows = Vec::new();
        for sole in swinging(input) {
            // A height between cells is a mean of its corners: with all of them below the sole, so is the ground.
            for cell in self.corners(Vec2::new(sole.x, sole.z)) {
                let height = (sole.y + INSIDE_M).max(lowest[cell]);
                if height < self.heights[cell] {
                    self.heights[cell] = height;
                    hollows.push(cell);
                }
            }
        }
        if ground.kind == GroundKind::Steps {
            return;
        }
        hollows.sort_unstable();
        hollows.dedup();
        let floors: Vec<(usize, f32)> = hollows.iter().map(|&cell| (cell, self.heights[cell])).collect();
        for (hollow, floor) in floors {
            let place = self.place(hollow);
            for cell in self.around(place, REACH_M) {
                let distance = self.place(cell).distance(place);
                if distance <= REACH_M {
                    let height = (floor + SLOPE * distance).max(lowest[cell]);
                    self.heights[cell] = self.heights[cell].min(height);
                }
            }
        }
    }

    /// The cells around a place, between which its height is interpolated.
    fn corners(&self, place: Vec2) -> [usize; 4] {
        let offset = (place - self.origin) / self.cell_m;
        let along = |at: f32, count: usize| (at.max(0.0) as usize).min(count - 2);
        let first = along(offset.y, self.rows) * self.columns + along(offset.x, self.columns);
        [first, first + 1, first + self.columns, first + self.columns + 1]
    }
}

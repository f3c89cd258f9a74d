//! Where a foot may stand.

use crate::layers::shown_surface::ShownSurface;
use crate::layers::sole::Sole;
use glam::Vec2;
use pomp_terrain::HeightMap;

/// Steepest ground that a foot leans with, as a tangent: 37°, with the shank ahead of it.
const STEEPEST: f32 = 0.75;
/// Unevenness that a sole takes as plane, metres.
const EVEN_M: f32 = 0.025;
/// A part of the sole carries when the ground is no farther below it than this, metres.
const CARRIES_M: f32 = 0.02;
/// Height of what the ends of the sole may touch without standing on it, metres.
const TOUCHES_M: f32 = 0.06;
/// Places along the sole at which the ground is felt.
const PLACES: usize = 9;

/// How a sole lies on the ground.
#[derive(Clone, Copy, Debug)]
pub(super) struct Support {
    /// Height of the sole below the ankle, world metres.
    pub height_m: f32,
    /// Angle of the sole, heel to toe, radians; up is positive.
    pub lean: f32,
    /// Share of its length that the ground carries.
    pub carried: f32,
    /// Whether the ball is carried.
    pub ball: bool,
}

/// The foot at `ankle` (world x and z), pointing `ahead`: parallel to even ground; level, on the highest of what is
/// below it, where there is an edge.
pub(super) fn support(terrain: &HeightMap, sole: Sole, ankle: Vec2, ahead: Vec2) -> Support {
    let ground = |along: f32| {
        let at = ankle + ahead * along;
        terrain.height(at.x, at.y)
    };
    let [heel, pad, ball, tip] = sole.length_m();
    let (at_pad, at_ball) = (ground(pad), ground(ball));
    let rise = (at_ball - at_pad) / (ball - pad);
    let places: [(f32, f32); PLACES] = std::array::from_fn(|i| {
        let along = heel + (tip - heel) * i as f32 / (PLACES - 1) as f32;
        (along, ground(along))
    });
    let (mut above, mut below) = (0.0f32, 0.0f32);
    for (along, height) in places {
        let over = height - (at_pad + rise * (along - pad));
        above = above.max(over);
        below = below.max(-over);
    }
    if rise.abs() <= STEEPEST && above < EVEN_M && below < EVEN_M {
        return Support {
            height_m: at_pad - rise * pad + above,
            lean: rise.atan(),
            carried: 1.0,
            ball: true,
        };
    }
    let inner = places[1..PLACES - 1].iter().map(|(_, height)| *height).fold(at_pad.max(at_ball), f32::max);
    // Heel and toes are round: a riser that they just touch does not carry them.
    let ends = places[0].1.max(places[PLACES - 1].1);
    let height_m = if ends > inner + TOUCHES_M { ends } else { inner };
    let carried = places.iter().filter(|(_, height)| *height > height_m - CARRIES_M).count();
    Support {
        height_m,
        lean: 0.0,
        carried: carried as f32 / PLACES as f32,
        ball: at_ball > height_m - CARRIES_M,
    }
}

/// How far a foothold is looked for, metres back and ahead of where the foot is about to land, and how finely.
const SEARCH_BACK: i32 = 9;
const SEARCH_AHEAD: i32 = 10;
const SEARCH_STEP_M: f32 = 0.03;
/// A shift of this length costs as much as the worth of one, metres.
const SHIFT_M: f32 = 0.15;
/// Longest comfortable distance between the feet, metres, and what it costs to go beyond.
const STEP_M: f32 = 0.72;
const OVERSTEP_M: f32 = 0.1;
/// Highest comfortable step, metres, and what it costs to climb more.
const CLIMB_M: f32 = 0.24;
const OVERCLIMB_M: f32 = 0.06;
/// Distance from the walking surface beyond which ground is not for standing: the bottom of a trench; metres.
const ASIDE_M: f32 = 0.14;
const FARTHER_ASIDE_M: f32 = 0.05;
/// A foothold that was chosen is kept unless another is this much nearer, metres.
const KEPT_M: f32 = 0.25;
/// By how much a simulated foot misses its place, metres.
const MISSES_M: f32 = 0.02;
/// Below this a place is as good as any.
const GOOD: f32 = 0.02;

/// What is known when a foothold is chosen.
#[derive(Clone, Copy)]
pub(super) struct Search<'a> {
    pub terrain: &'a HeightMap,
    pub surface: &'a ShownSurface,
    pub sole: Sole,
    /// Direction of the foot.
    pub ahead: Vec2,
    /// Direction in which footholds are looked for.
    pub along: Vec2,
    /// The other foot.
    pub other: Vec2,
}

impl Search<'_> {
    pub fn support(&self, at: Vec2) -> Support {
        support(self.terrain, self.sole, at, self.ahead)
    }

    /// What is wrong with a place and with those that a foot reaches when it misses the place a little.
    fn badness(&self, at: Vec2) -> f32 {
        let beside = self.along * MISSES_M;
        0.6 * self.badness_of(at) + 0.2 * (self.badness_of(at - beside) + self.badness_of(at + beside))
    }

    fn badness_of(&self, at: Vec2) -> f32 {
        let support = self.support(at);
        let bare = 2.5 * (1.0 - support.carried);
        let aside = (support.height_m - self.surface.height(at.x, at.y)).abs();
        let aside = (aside - ASIDE_M).max(0.0) / FARTHER_ASIDE_M;
        bare * bare + aside * aside + if support.ball { 0.0 } else { 2.0 }
    }

    /// The place nearest to `wanted` that carries the foot; `chosen` is what was chosen before for the same step.
    pub fn nearest(&self, wanted: Vec2, chosen: Option<Vec2>) -> Vec2 {
        if self.badness(wanted) < GOOD {
            return wanted;
        }
        let other_m = self.surface.height(self.other.x, self.other.y);
        let cost = |step: i32| {
            let shift = SEARCH_STEP_M * step as f32;
            let at = wanted + self.along * shift;
            let over = (at.distance(self.other) - STEP_M).max(0.0) / OVERSTEP_M;
            let climb = (self.support(at).height_m - other_m).abs();
            let climb = (climb - CLIMB_M).max(0.0) / OVERCLIMB_M;
            let left = chosen.map_or(0.0, |chosen| at.distance(chosen) / KEPT_M);
            self.badness(at) + (shift / SHIFT_M).powi(2) + over * over + climb * climb + left * left
        };
        let best = (-SEARCH_BACK..=SEARCH_AHEAD)
            .map(|step| (step, cost(step)))
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .map_or(0, |(step, _)| step);
        wanted + self.along * (SEARCH_STEP_M * best as f32)
    }

    /// Whether a foot that slides a little at `at` meets an edge.
    pub fn near_edge(&self, at: Vec2) -> bool {
        let height = |shift: f32| {
            let place = at + self.along * shift;
            self.support(place).height_m - self.surface.height(place.x, place.y)
        };
        let here = height(0.0);
        [-0.1, 0.1].into_iter().any(|shift| (height(shift) - here).abs() > EVEN_M)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pomp_terrain::{Shape, StartArea, TerrainSpec, generate};

    const SOLE: Sole = Sole { body_height_m: 1.75 };

    fn map(shape: Shape, cell_m: f32) -> HeightMap {
        let spec = TerrainSpec { size_m: 20.0, cell_m, start: StartArea::NONE, shape };
        generate(&spec, 1).unwrap()
    }

    #[test]
    fn a_foot_lies_parallel_to_a_slope_and_level_on_a_tread() {
        for angle_deg in [0.0f32, 8.0, 15.0, 25.0] {
            let slope = map(Shape::Slope { angle_deg, heading_deg: 0.0 }, 0.1);
            let found = support(&slope, SOLE, Vec2::new(0.3, 1.2), Vec2::Y);
            assert!((found.lean.to_degrees() - angle_deg).abs() < 0.05 && found.carried == 1.0);
            assert!((found.height_m - slope.height(0.3, 1.2)).abs() < 1e-3);
        }
        let stairs =
            map(Shape::Stairs { rise_m: 0.17, run_m: 0.3, count: 6, landing_m: 2.0, heading_deg: 0.0 }, 0.05);
        let found = support(&stairs, SOLE, Vec2::new(0.0, 2.4), Vec2::Y);
        assert!(found.lean == 0.0, "{found:?}");
    }

    #[test]
    fn a_foothold_always_carries_the_ball_and_is_never_in_a_trench() {
        let grounds = [
            (Shape::Stairs { rise_m: 0.15, run_m: 0.3, count: 6, landing_m: 2.0, heading_deg: 0.0 }, 0.05),
            (Shape::Stairs { rise_m: 0.2, run_m: 0.28, count: 6, landing_m: 2.0, heading_deg: 0.0 }, 0.04),
            (Shape::Gaps { width_m: 0.4, depth_m: 0.5, spacing_m: 2.0, heading_deg: 0.0 }, 0.1),
        ];
        for (shape, cell_m) in grounds {
            let kind = shape.kind();
            let terrain = map(shape, cell_m);
            let surface = ShownSurface::over(&terrain);
            let (mut least, mut farthest, mut deepest, mut hanging) = (1.0f32, 0.0f32, 0.0f32, 0);
            for forward in [1.0f32, -1.0] {
                for i in 0..200 {
                    let wanted = Vec2::new(0.1, 0.02 * i as f32 + 1.0);
                    let along = Vec2::Y * forward;
                    let search = Search {
                        terrain: &terrain,
                        surface: &surface,
                        sole: SOLE,
                        ahead: along,
                        along,
                        other: wanted - along * 0.4,
                    };
                    let at = search.nearest(wanted, None);
                    let found = search.support(at);
                    least = least.min(found.carried);
                    farthest = farthest.max(at.distance(wanted));
                    deepest = deepest.max((found.height_m - surface.height(at.x, at.y)).abs());
                    hanging += usize::from(!found.ball);
                }
            }
            println!(
                "{kind}: at least {least:.2} carried, moved by {farthest:.2} m, {deepest:.3} m aside; the ball hangs in the \
                 air {hanging} times of 400"
            );
            assert!(least >= 0.4 && farthest <= 0.31 && deepest < 0.2 && hanging == 0);
        }
    }
}

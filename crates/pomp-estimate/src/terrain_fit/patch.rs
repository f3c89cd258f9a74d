//! Patches of generated terrain and how well they fit a gait cycle (PFNN's fitting, docs/method.md §6.3).

use super::{FitInput, TerrainFitError};
use glam::Vec2;
use pomp_motion::Gait;
use pomp_motion::random::Draws;
use pomp_terrain::{HeightMap, Shape, StartArea, TerrainSpec, generate};
use std::ops::Range;

/// Side of the terrains that patches are cut from, metres.
const SOURCE_SIZE_M: f32 = 16.0;
/// Patches are centred at most this far from the middle of their terrain, metres.
const CENTRE_RANGE_M: f32 = 6.0;
/// Weight of the error at planted feet: the radial-basis correction removes it anyway.
const DOWN_WEIGHT: f32 = 0.1;
/// A jump wants ground within this below its feet, metres: something to jump over.
const OVER_CLEARANCE_M: f32 = 0.3;

/// Terrains that patches are cut from.
pub(super) struct PatchLibrary {
    terrains: Vec<HeightMap>,
    seed: u64,
}

/// A piece of a terrain laid on the ground at a place, turned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Patch {
    terrain: usize,
    centre: Vec2,
    turn: Vec2,
    /// Where the centre lies in the world.
    place: Vec2,
    /// Added to the heights, so that the patch meets the planted feet on average.
    lift: f32,
}

/// A gait cycle's frames and a patch scored for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Score {
    pub patch: Patch,
    pub error: f32,
}

impl PatchLibrary {
    pub fn new(seed: u64) -> Result<Self, TerrainFitError> {
        let hills = |amplitude_m, wavelength_m, seed| Shape::Hills { amplitude_m, wavelength_m, seed };
        let stairs =
            |rise_m, run_m, count| Shape::Stairs { rise_m, run_m, count, landing_m: 1.2, heading_deg: 0.0 };
        let slope = |angle_deg| Shape::Slope { angle_deg, heading_deg: 0.0 };
        let shapes = [
            hills(0.5, 4.0, 0),
            hills(0.25, 2.0, 1),
            hills(0.12, 1.0, 2),
            Shape::Rough { amplitude_m: 0.08, wavelength_m: 0.8, octaves: 3, seed: 3 },
            slope(5.0),
            slope(11.0),
            stairs(0.12, 0.4, 4),
            stairs(0.17, 0.3, 4),
            Shape::Gaps { width_m: 0.5, depth_m: 0.4, spacing_m: 1.2, heading_deg: 0.0 },
        ];
        let terrains = shapes
            .into_iter()
            .map(|shape| {
                let spec = TerrainSpec { size_m: SOURCE_SIZE_M, cell_m: 0.1, start: StartArea::NONE, shape };
                Ok(generate(&spec, seed)?)
            })
            .collect::<Result<_, TerrainFitError>>()?;
        Ok(Self { terrains, seed })
    }

    /// The `keep` best of `count` patches drawn for a cycle, best first.
    pub fn best(&self, input: &FitInput, cycle: &Range<usize>, count: usize, keep: usize) -> Vec<Score> {
        let place = {
            let rows = cycle.clone().flat_map(|frame| input.soles[frame].iter().map(|p| Vec2::new(p.x, p.z)));
            rows.sum::<Vec2>() / (4 * cycle.len()) as f32
        };
        let mut draws = Draws::new(self.seed, cycle.start as u64);
        let mut scores: Vec<Score> = (0..count)
            .map(|_| {
                let centre = Vec2::new(draws.centred(), draws.centred()) * CENTRE_RANGE_M;
                let terrain = draws.below(self.terrains.len());
                let turn = Vec2::from_angle(draws.centred() * std::f32::consts::PI);
                self.scored(Patch { terrain, centre, turn, place, lift: 0.0 }, input, cycle)
            })
            .collect();
        scores.sort_by(|a, b| a.error.total_cmp(&b.error));
        scores.truncate(keep);
        scores
    }

    /// Height of a laid patch at a place in the world.
    pub fn height(&self, patch: &Patch, place: Vec2) -> f32 {
        let at = patch.centre + patch.turn.rotate(place - patch.place);
        self.terrains[patch.terrain].height(at.x, at.y) + patch.lift
    }

    /// Lifts the patch to the planted feet and adds up the errors: planted feet off the ground, lifted feet
    /// in it, and, in a jump, ground that is nowhere near.
    fn scored(&self, mut patch: Patch, input: &FitInput, cycle: &Range<usize>) -> Score {
        let mut samples = Vec::with_capacity(4 * cycle.len());
        for frame in cycle.clone() {
            let airborne = input.contacts[frame] == [false; 4];
            let jumps = airborne && input.gait[frame][Gait::Jump.index()] > 0.5;
            for (point, p) in input.soles[frame].iter().enumerate() {
                let above = p.y - self.height(&patch, Vec2::new(p.x, p.z));
                samples.push(Sample { above, planted: input.contacts[frame][point], jumps });
            }
        }
        let mean_of = |value: &dyn Fn(&Sample) -> Option<f32>| {
            let values: Vec<f32> = samples.iter().filter_map(value).collect();
            if values.is_empty() { None } else { Some(values.iter().sum::<f32>() / values.len() as f32) }
        };
        let lift = mean_of(&|s| s.planted.then_some(s.above))
            .unwrap_or_else(|| samples.iter().map(|s| s.above).fold(f32::INFINITY, f32::min));
        patch.lift = lift;
        let down = mean_of(&|s| s.planted.then_some((s.above - lift).powi(2)));
        let up = mean_of(&|s| (!s.planted).then_some((lift - s.above).max(0.0).powi(2)));
        let over = mean_of(&|s| s.jumps.then_some((s.above - lift - OVER_CLEARANCE_M).max(0.0).powi(2)));
        let error = DOWN_WEIGHT * down.unwrap_or(0.0) + up.unwrap_or(0.0) + over.unwrap_or(0.0);
        Score { patch, error }
    }
}

/// A sole point over a patch.
struct Sample {
    /// Height above the patch, metres.
    above: f32,
    planted: bool,
    /// Whether the body is in the air, jumping.
    jumps: bool,
}

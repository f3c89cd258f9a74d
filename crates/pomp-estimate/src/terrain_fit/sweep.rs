//! Writing the ground and the patches of a variant into one map.

use super::ground::{Ground, GroundKind};
use super::input::lifted_points;
use super::patch::{PatchLibrary, Score};
use super::radial_basis::RadialBasis;
use super::stance::Stance;
use super::{FitInput, TerrainFitConfig, TerrainFitError};
use glam::Vec2;
use pomp_motion::{FrameTable, Gait, TerrainGrid, smoothstep_between};
use pomp_terrain::HeightMap;
use std::ops::Range;

/// Around a footprint the ground is fixed: no change within the first distance from the line from ankle to toe, any change beyond
/// the second, metres.
pub(super) const FOOTPRINT_M: [f32; 2] = [0.1, 0.3];
/// Distance from the soles of a cycle over which its patch fades out, metres.
const PATCH_FADES_M: [f32; 2] = [0.8, 1.4];
/// Room left below feet in swing, metres.
const SWING_CLEARANCE_M: f32 = 0.005;
/// Radius around a sole in swing that is kept below it, metres; on stairs the same along the flight.
const SWING_RADIUS_M: f32 = 0.08;
/// On stairs, how far to either side a riser moves with the foot that passes over it, metres.
const RISER_HALF_WIDTH_M: f32 = 0.4;
/// Radius around the feet of a lying body that stays as it is, metres.
const LYING_RADIUS_M: f32 = 1.5;

/// A grid being written.
#[derive(Clone)]
pub(super) struct Sheet {
    pub(super) origin: Vec2,
    pub(super) cell_m: f32,
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) heights: Vec<f32>,
}

impl Sheet {
    /// The ground over the extent of the clip and the margin.
    ///
    /// # Errors
    /// [`TerrainFitError::TooLarge`] when the clip spans more than the configuration allows.
    pub fn of_ground(
        ground: &Ground,
        input: &FitInput,
        config: &TerrainFitConfig,
        fine: bool,
    ) -> Result<Self, TerrainFitError> {
        let [low, high] = input.extent.map(Vec2::from_array);
        let span = high - low;
        if span.max_element() > config.max_span_m {
            return Err(TerrainFitError::TooLarge {
                name: input.name.clone(),
                span_m: span.max_element(),
                max_m: config.max_span_m,
            });
        }
        let coarse = ground.kind.is_plane() && !fine;
        let mut cell_m = if coarse { config.flat_cell_m } else { config.cell_m };
        let size = span + 2.0 * config.margin_m;
        let counts =
            |cell_m: f32| ((size.x / cell_m).ceil() as usize + 1, (size.y / cell_m).ceil() as usize + 1);
        while counts(cell_m).0 * counts(cell_m).1 > config.max_heights {
            cell_m *= 1.25;
        }
        let (columns, rows) = counts(cell_m);
        let grown = Vec2::new((columns - 1) as f32, (rows - 1) as f32) * cell_m - span;
        let mut sheet = Self {
            origin: low - 0.5 * grown,
            cell_m,
            rows,
            columns,
            heights: vec![ground.level; rows * columns],
        };
        if ground.kind != GroundKind::Flat {
            for i in 0..sheet.heights.len() {
                sheet.heights[i] = ground.height(sheet.place(i));
            }
        }
        Ok(sheet)
    }

    /// The finished map.
    ///
    /// # Errors
    /// Those of [`HeightMap::from_grid`].
    pub fn into_map(self) -> Result<HeightMap, TerrainFitError> {
        let heights = FrameTable::from_values(self.columns, self.heights).expect("rows × columns heights");
        Ok(HeightMap::from_grid(TerrainGrid {
            heights,
            origin: self.origin.to_array(),
            cell_m: self.cell_m,
        })?)
    }

    pub(super) fn place(&self, index: usize) -> Vec2 {
        self.origin + Vec2::new((index % self.columns) as f32, (index / self.columns) as f32) * self.cell_m
    }

    /// Indices of the cells in a square around a place.
    pub(super) fn around(&self, place: Vec2, radius: f32) -> impl Iterator<Item = usize> + use<> {
        let limits = |at: f32, count: usize| {
            let low = ((at - radius) / self.cell_m).floor().max(0.0) as usize;
            let high = ((at + radius) / self.cell_m).ceil().max(0.0) as usize;
            low.min(count)..(high + 1).min(count)
        };
        let offset = place - self.origin;
        let (across, along, columns) =
            (limits(offset.x, self.columns), limits(offset.y, self.rows), self.columns);
        along.flat_map(move |i| across.clone().map(move |j| i * columns + j))
    }

    /// Share of change allowed per cell: 0 under feet, 1 away from them.
    pub fn freedom(&self, stances: &[Stance]) -> Vec<f32> {
        let mut freedom = vec![1.0f32; self.heights.len()];
        for stance in stances {
            let reach = FOOTPRINT_M[1] + 0.5 * stance.heel.distance(stance.toe);
            for cell in self.around(stance.centre(), reach) {
                let distance = stance.distance(self.place(cell));
                freedom[cell] =
                    freedom[cell].min(smoothstep_between(FOOTPRINT_M[0], FOOTPRINT_M[1], distance));
            }
        }
        freedom
    }

    /// Lowers ground that reaches above feet in swing, except under stances. On stairs the whole riser moves.
    pub fn clear_swing(&mut self, input: &FitInput, ground: &Ground, freedom: &[f32]) {
        for frame in 0..input.frames() {
            for point in lifted_points(input, frame) {
                let p = input.soles[frame][point];
                let (place, limit) = (Vec2::new(p.x, p.z), p.y - SWING_CLEARANCE_M);
                let along = if ground.kind == GroundKind::Steps { ground.ascent(place) } else { None };
                let radius = if along.is_some() { RISER_HALF_WIDTH_M } else { SWING_RADIUS_M };
                for cell in self.around(place, radius) {
                    let offset = self.place(cell) - place;
                    let inside = match along {
                        Some(along) => {
                            offset.dot(along).abs() <= SWING_RADIUS_M
                                && offset.perp_dot(along).abs() <= RISER_HALF_WIDTH_M
                        }
                        None => offset.length() <= SWING_RADIUS_M,
                    };
                    if inside && freedom[cell] > 0.0 {
                        self.heights[cell] = self.heights[cell].min(limit);
                    }
                }
            }
        }
    }

    /// Writes the chosen patch of each cycle where no foot touches.
    ///
    /// Each patch is corrected by a radial-basis fit of what it misses at the stances near it, then its
    /// difference to the ground is added around the cycle's soles. Where cycles overlap, the differences
    /// are averaged with weights 1 / (0.1 m + distance to the nearest sole of the cycle)².
    pub fn add_patches(
        &mut self,
        library: &PatchLibrary,
        chosen: &[(Range<usize>, Score)],
        input: &FitInput,
        stances: &[Stance],
        ground: &Ground,
        freedom: &[f32],
    ) {
        let before = self.heights.clone();
        let mut sums = vec![[0.0f32; 3]; self.heights.len()];
        let mut distances = vec![f32::INFINITY; self.heights.len()];
        for (cycle, score) in chosen {
            let soles: Vec<Vec2> = cycle
                .clone()
                .step_by(3)
                .flat_map(|frame| input.soles[frame].iter().map(|p| Vec2::new(p.x, p.z)))
                .collect();
            let mut touched = Vec::new();
            for &sole in &soles {
                for cell in self.around(sole, PATCH_FADES_M[1]) {
                    if distances[cell].is_infinite() {
                        touched.push(cell);
                    }
                    distances[cell] = distances[cell].min(self.place(cell).distance(sole));
                }
            }
            let near =
                |stance: &&Stance| soles.iter().any(|sole| sole.distance(stance.centre()) < PATCH_FADES_M[1]);
            let (mut places, mut misses) = (Vec::new(), Vec::new());
            for stance in stances.iter().filter(near) {
                for place in [stance.heel, stance.toe] {
                    if places.iter().all(|other: &Vec2| other.distance(place) > 0.05) {
                        places.push(place);
                        misses.push(ground.height(place) - library.height(&score.patch, place));
                    }
                }
            }
            let correction = RadialBasis::fit(&places, &misses, &vec![1e-3; places.len()]);
            for cell in touched {
                let distance = std::mem::replace(&mut distances[cell], f32::INFINITY);
                let fade = 1.0 - smoothstep_between(PATCH_FADES_M[0], PATCH_FADES_M[1], distance);
                if fade > 0.0 && freedom[cell] > 0.0 {
                    let place = self.place(cell);
                    let height = library.height(&score.patch, place) + correction.at(place);
                    let weight = 1.0 / (0.1 + distance).powi(2);
                    sums[cell][0] += weight * (height - before[cell]);
                    sums[cell][1] += weight;
                    sums[cell][2] = sums[cell][2].max(fade);
                }
            }
        }
        for (cell, [difference, weight, fade]) in sums.into_iter().enumerate() {
            if weight > 0.0 {
                self.heights[cell] += freedom[cell] * fade * difference / weight;
            }
        }
        self.keep_clear(input, &before);
    }

    /// Reverts changes that a foot in swing or a lying body would touch.
    fn keep_clear(&mut self, input: &FitInput, before: &[f32]) {
        for frame in 0..input.frames() {
            let lying = matches!(Gait::dominant(&input.gait[frame]), Gait::Lie | Gait::GetUp);
            if lying && frame.is_multiple_of(6) {
                for p in &input.soles[frame] {
                    for cell in self.around(Vec2::new(p.x, p.z), LYING_RADIUS_M) {
                        self.heights[cell] = before[cell];
                    }
                }
            }
            for point in lifted_points(input, frame) {
                let p = input.soles[frame][point];
                let place = Vec2::new(p.x, p.z);
                for cell in self.around(place, SWING_RADIUS_M) {
                    if self.place(cell).distance(place) <= SWING_RADIUS_M {
                        let limit = (p.y - SWING_CLEARANCE_M).max(before[cell]);
                        self.heights[cell] = self.heights[cell].min(limit);
                    }
                }
            }
        }
    }
}

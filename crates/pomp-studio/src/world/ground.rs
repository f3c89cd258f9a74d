use super::scene::in_range;
use crate::StudioError;
use pomp_motion::TerrainGrid;
use pomp_terrain::HeightMap;
use serde::{Deserialize, Serialize};
use std::f32::consts::PI;
use std::ops::Range;
use std::sync::Arc;
use ts_rs::TS;

/// How far a hand may raise or lower the ground from what it was, metres.
const MOST_RAISED_M: f32 = 1.0;

/// Largest height of one bump, metres.
const LARGEST_M: f32 = 0.05;

/// A bump that is pressed on the ground, or out of it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct Bump {
    /// Middle, world, metres.
    pub x: f32,
    /// Middle, world, metres.
    pub z: f32,
    /// Where it ends, metres, 0.2 to 4.
    pub radius_m: f32,
    /// By how much it raises its middle, metres, within ±0.05: a ground that rises by more than a foot is thick in one frame
    /// leaves the foot below it.
    pub height_m: f32,
}

impl Bump {
    /// Checks every number against its range.
    ///
    /// # Errors
    /// [`StudioError::BadScene`] with the first one out of range.
    pub fn validate(&self) -> Result<(), StudioError> {
        in_range("x of a bump", self.x, -1e4, 1e4)?;
        in_range("z of a bump", self.z, -1e4, 1e4)?;
        in_range("radius of a bump", self.radius_m, 0.2, 4.0)?;
        in_range("height of a bump", self.height_m, -LARGEST_M, LARGEST_M)
    }
}

/// Rows and columns of a grid that have changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    /// Rows.
    pub rows: Range<usize>,
    /// Columns.
    pub columns: Range<usize>,
}

impl Patch {
    fn with(self, other: Self) -> Self {
        let both = |a: Range<usize>, b: Range<usize>| a.start.min(b.start)..a.end.max(b.end);
        Self { rows: both(self.rows, other.rows), columns: both(self.columns, other.columns) }
    }
}

/// The ground as it was made, from which bumps may lead only so far away.
#[derive(Clone, Debug)]
pub(super) struct Original {
    grid: Arc<TerrainGrid>,
}

impl Original {
    pub fn of(terrain: &HeightMap) -> Self {
        Self { grid: Arc::new(terrain.grid().clone()) }
    }

    /// `terrain` with `bumps`, and what of it has changed; `None` when they all lie beside it.
    pub fn bumped(
        &self,
        terrain: &HeightMap,
        bumps: &[Bump],
    ) -> Result<Option<(HeightMap, Patch)>, StudioError> {
        let mut grid = terrain.grid().clone();
        let mut changed: Option<Patch> = None;
        for bump in bumps {
            let Some(patch) = self.press(&mut grid, *bump) else { continue };
            changed = Some(match changed {
                Some(before) => before.with(patch),
                None => patch,
            });
        }
        changed.map(|patch| Ok((HeightMap::from_grid(grid)?, patch))).transpose()
    }

    fn press(&self, grid: &mut TerrainGrid, bump: Bump) -> Option<Patch> {
        let reach = |middle: f32, origin: f32, count: usize| {
            let first = ((middle - bump.radius_m - origin) / grid.cell_m).ceil().max(0.0);
            let last = ((middle + bump.radius_m - origin) / grid.cell_m).floor().min((count - 1) as f32);
            (first <= last).then(|| first as usize..last as usize + 1)
        };
        let rows = reach(bump.z, grid.origin[1], grid.heights.frames())?;
        let columns = reach(bump.x, grid.origin[0], grid.heights.columns())?;
        for row in rows.clone() {
            let dz = grid.origin[1] + row as f32 * grid.cell_m - bump.z;
            for column in columns.clone() {
                let dx = grid.origin[0] + column as f32 * grid.cell_m - bump.x;
                let away = dx.hypot(dz) / bump.radius_m;
                if away < 1.0 {
                    let was = self.grid.heights[row][column];
                    let raised = grid.heights[row][column] + bump.height_m * (0.5 + 0.5 * (PI * away).cos());
                    grid.heights[row][column] = raised.clamp(was - MOST_RAISED_M, was + MOST_RAISED_M);
                }
            }
        }
        Some(Patch { rows, columns })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bump(x: f32, z: f32, height_m: f32) -> Bump {
        Bump { x, z, radius_m: 1.0, height_m }
    }

    #[test]
    fn a_bump_raises_its_middle_by_its_height_and_nothing_outside_its_radius_or_its_patch() {
        let flat = HeightMap::flat(20.0, 0.25).unwrap();
        let original = Original::of(&flat);
        let (hill, patch) = original.bumped(&flat, &[bump(2.0, -3.0, 0.05); 4]).unwrap().unwrap();
        assert!((hill.height(2.0, -3.0) - 0.2).abs() < 1e-6);
        assert!(hill.height(2.5, -3.0) > 0.05 && hill.height(3.05, -3.0).abs() < 1e-6);
        for row in 0..hill.rows() {
            for column in 0..hill.columns() {
                let inside = patch.rows.contains(&row) && patch.columns.contains(&column);
                assert!(inside || hill.grid().heights[row][column] == 0.0, "{row}, {column}");
            }
        }
        let (level, _) = original.bumped(&hill, &[bump(2.0, -3.0, -0.05); 4]).unwrap().unwrap();
        assert!(level.min_max().1 < 1e-5 && level.min_max().0 > -1e-5);
    }

    #[test]
    fn no_number_of_bumps_leads_farther_than_a_metre_from_the_ground_that_was() {
        let flat = HeightMap::flat(20.0, 0.25).unwrap();
        let original = Original::of(&flat);
        let (tower, _) = original.bumped(&flat, &[bump(0.0, 0.0, 0.3); 50]).unwrap().unwrap();
        let (pit, _) = original.bumped(&tower, &[bump(0.0, 0.0, -0.3); 50]).unwrap().unwrap();
        assert_eq!((tower.min_max(), pit.min_max().0), ((0.0, MOST_RAISED_M), -MOST_RAISED_M));
    }

    #[test]
    fn bumps_beside_the_ground_change_nothing() {
        let flat = HeightMap::flat(20.0, 0.25).unwrap();
        let beside = [bump(500.0, 0.0, 0.3), bump(0.0, -12.0, 0.3)];
        assert!(Original::of(&flat).bumped(&flat, &beside).unwrap().is_none());
        let corner = Original::of(&flat).bumped(&flat, &[bump(10.0, 10.0, 0.3)]).unwrap();
        assert_eq!(corner.unwrap().1.rows.end, flat.rows());
    }

    #[test]
    fn rejects_bumps_out_of_range_by_the_name_of_the_field() {
        for (spoilt, field) in [
            (bump(f32::NAN, 0.0, 0.1), "x of"),
            (bump(0.0, f32::INFINITY, 0.1), "z of"),
            (bump(0.0, 0.0, 9.0), "height"),
            (Bump { radius_m: 0.0, ..bump(0.0, 0.0, 0.1) }, "radius"),
        ] {
            let message = spoilt.validate().unwrap_err().to_string();
            assert!(message.contains(field), "{message}");
        }
    }
}

use crate::TerrainError;
use glam::Vec3;
use pomp_motion::{FrameTable, TerrainGrid};

/// Offsets, in units of [`HeightMap::SMOOTHING_RADIUS_M`], of the samples of [`HeightMap::smoothed_height`].
///
/// The centre and a ring of eight at 3/4 of the radius. With equal weights this reproduces the mean of any
/// cubic polynomial over the disc (8/9 · r²/2 = R²/4). The ring starts at 22.5°, so that it is symmetric
/// under reflection in x, and its projections on either axis are evenly spaced: a riser enters the mean in
/// even steps as the character approaches it.
const DISC: [(f32, f32); 9] = {
    const A: f32 = 0.75 * 0.923_879_5;
    const B: f32 = 0.75 * 0.382_683_43;
    [(0.0, 0.0), (A, B), (B, A), (-B, A), (-A, B), (-A, -B), (-B, -A), (B, -A), (A, -B)]
};

/// The rectangle that a height map covers, world metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Smallest x.
    pub min_x: f32,
    /// Largest x.
    pub max_x: f32,
    /// Smallest z.
    pub min_z: f32,
    /// Largest z.
    pub max_z: f32,
}

impl Bounds {
    /// Whether the point lies inside or on the border.
    pub fn contains(&self, x: f32, z: f32) -> bool {
        x >= self.min_x && x <= self.max_x && z >= self.min_z && z <= self.max_z
    }
}

/// Ground heights on a regular grid, checked: at least 2 × 2, finite, with a positive cell.
///
/// Between grid points heights are bilinear; outside the grid they are those of the nearest border point.
#[derive(Clone, Debug, PartialEq)]
pub struct HeightMap {
    grid: TerrainGrid,
    min_m: f32,
    max_m: f32,
}

impl HeightMap {
    /// Most heights a map may have: 16 million, 64 MB, a square of 400 m at 0.1 m.
    pub const MAX_HEIGHTS: usize = 16_000_000;
    /// Radius of the disc of [`Self::smoothed_height`], metres: about half a step.
    pub const SMOOTHING_RADIUS_M: f32 = 0.3;

    /// Wraps a grid.
    ///
    /// # Errors
    /// [`TerrainError::BadGrid`] when it has fewer than 2 rows or columns, more than [`Self::MAX_HEIGHTS`]
    /// heights, or a cell or origin that is not a usable number; [`TerrainError::NotFinite`] with the first
    /// height that is NaN or infinite.
    pub fn from_grid(grid: TerrainGrid) -> Result<Self, TerrainError> {
        let (rows, columns) = (grid.heights.frames(), grid.heights.columns());
        check_size(rows, columns)?;
        if !(grid.cell_m.is_finite() && grid.cell_m > 0.0) {
            return Err(TerrainError::BadGrid {
                reason: format!("has a cell of {} m; it must be positive", grid.cell_m),
            });
        }
        if !grid.origin.iter().all(|v| v.is_finite()) {
            return Err(TerrainError::BadGrid {
                reason: format!("has its origin at {:?}; both numbers must be finite", grid.origin),
            });
        }
        let (mut min_m, mut max_m) = (f32::INFINITY, f32::NEG_INFINITY);
        for (i, &value) in grid.heights.values().iter().enumerate() {
            if !value.is_finite() {
                return Err(TerrainError::NotFinite { row: i / columns, column: i % columns, value });
            }
            min_m = min_m.min(value);
            max_m = max_m.max(value);
        }
        Ok(Self { grid, min_m, max_m })
    }

    /// A map of `rows` × `columns` heights, `height(x, z)` at each grid point, world metres.
    ///
    /// # Errors
    /// As [`Self::from_grid`]; the size is checked before anything is allocated.
    pub fn from_fn(
        rows: usize,
        columns: usize,
        origin: [f32; 2],
        cell_m: f32,
        mut height: impl FnMut(f32, f32) -> f32,
    ) -> Result<Self, TerrainError> {
        check_size(rows, columns)?;
        let mut values = Vec::with_capacity(rows * columns);
        for i in 0..rows {
            let z = origin[1] + i as f32 * cell_m;
            values.extend((0..columns).map(|j| height(origin[0] + j as f32 * cell_m, z)));
        }
        let heights = FrameTable::from_values(columns, values).expect("every row has `columns` heights");
        Self::from_grid(TerrainGrid { heights, origin, cell_m })
    }

    /// Level ground at height 0: a square with sides of `size_m`, centred on the origin.
    ///
    /// # Errors
    /// [`TerrainError::BadSpec`] when a size is not positive; [`TerrainError::BadGrid`] when it has too many cells.
    pub fn flat(size_m: f32, cell_m: f32) -> Result<Self, TerrainError> {
        let cells = square_cells(size_m, cell_m)?;
        let half = cells as f32 * cell_m * 0.5;
        Self::from_fn(cells + 1, cells + 1, [-half, -half], cell_m, |_, _| 0.0)
    }

    /// The plain grid, as recordings and colliders take it.
    pub fn grid(&self) -> &TerrainGrid {
        &self.grid
    }

    /// Gives the plain grid back.
    pub fn into_grid(self) -> TerrainGrid {
        self.grid
    }

    /// Number of rows, along z.
    pub fn rows(&self) -> usize {
        self.grid.heights.frames()
    }

    /// Number of columns, along x.
    pub fn columns(&self) -> usize {
        self.grid.heights.columns()
    }

    /// Distance between neighbouring heights, metres.
    pub fn cell_m(&self) -> f32 {
        self.grid.cell_m
    }

    /// The rectangle covered.
    pub fn bounds(&self) -> Bounds {
        let [min_x, min_z] = self.grid.origin;
        Bounds {
            min_x,
            max_x: min_x + (self.columns() - 1) as f32 * self.grid.cell_m,
            min_z,
            max_z: min_z + (self.rows() - 1) as f32 * self.grid.cell_m,
        }
    }

    /// Lowest and highest height, metres.
    pub fn min_max(&self) -> (f32, f32) {
        (self.min_m, self.max_m)
    }

    /// Height of the ground at a world point, metres: bilinear; outside the map, the nearest border height.
    ///
    /// NaN for a NaN coordinate.
    pub fn height(&self, x: f32, z: f32) -> f32 {
        let cell = self.cell_at(x, z);
        let near = cell.h00 + (cell.h10 - cell.h00) * cell.u;
        let far = cell.h01 + (cell.h11 - cell.h01) * cell.u;
        near + (far - near) * cell.v
    }

    /// Unit upward normal of the bilinear surface at a world point; straight up outside the map.
    pub fn normal(&self, x: f32, z: f32) -> Vec3 {
        if !self.bounds().contains(x, z) {
            return Vec3::Y;
        }
        let c = self.cell_at(x, z);
        let along_x = (c.h10 - c.h00) * (1.0 - c.v) + (c.h11 - c.h01) * c.v;
        let along_z = (c.h01 - c.h00) * (1.0 - c.u) + (c.h11 - c.h10) * c.u;
        Vec3::new(-along_x, self.grid.cell_m, -along_z).normalize_or(Vec3::Y)
    }

    /// Mean height of the disc of radius [`Self::SMOOTHING_RADIUS_M`] around a world point, metres, from nine samples.
    ///
    /// This is the ground height of a root frame (`RootFrame::origin.y`): continuous over stairs, where the
    /// plain height jumps by a whole rise.
    pub fn smoothed_height(&self, x: f32, z: f32) -> f32 {
        let sum: f32 = DISC
            .iter()
            .map(|(dx, dz)| self.height(x + dx * Self::SMOOTHING_RADIUS_M, z + dz * Self::SMOOTHING_RADIUS_M))
            .sum();
        sum / DISC.len() as f32
    }

    fn cell_at(&self, x: f32, z: f32) -> Cell {
        let place = |at: f32, origin: f32, count: usize| {
            let t = ((at - origin) / self.grid.cell_m).clamp(0.0, (count - 1) as f32);
            let index = (t as usize).min(count - 2);
            (index, t - index as f32)
        };
        let (j, u) = place(x, self.grid.origin[0], self.columns());
        let (i, v) = place(z, self.grid.origin[1], self.rows());
        let (near, far) = (&self.grid.heights[i], &self.grid.heights[i + 1]);
        Cell { h00: near[j], h10: near[j + 1], h01: far[j], h11: far[j + 1], u, v }
    }
}

/// Four corner heights (`h10` is one column on, `h01` one row on) and the place between them, in [0, 1].
struct Cell {
    h00: f32,
    h10: f32,
    h01: f32,
    h11: f32,
    u: f32,
    v: f32,
}

fn check_size(rows: usize, columns: usize) -> Result<(), TerrainError> {
    if rows < 2 || columns < 2 {
        return Err(TerrainError::BadGrid {
            reason: format!("has {rows} × {columns} heights; it needs at least 2 × 2"),
        });
    }
    match rows.checked_mul(columns) {
        Some(n) if n <= HeightMap::MAX_HEIGHTS => Ok(()),
        _ => Err(TerrainError::BadGrid {
            reason: format!(
                "has {rows} × {columns} heights, more than {}; use a larger cell or a smaller area",
                HeightMap::MAX_HEIGHTS
            ),
        }),
    }
}

/// Cells along the side of a square of `size_m`: the nearest whole number, at least 1.
pub(crate) fn square_cells(size_m: f32, cell_m: f32) -> Result<usize, TerrainError> {
    for (field, value) in [("size_m", size_m), ("cell_m", cell_m)] {
        if !(value.is_finite() && value > 0.0) {
            return Err(TerrainError::BadSpec {
                field: field.to_owned(),
                reason: format!("is {value}; it must be a positive number of metres"),
            });
        }
    }
    if cell_m > size_m {
        return Err(TerrainError::BadSpec {
            field: "cell_m".to_owned(),
            reason: format!("is {cell_m}, more than size_m, {size_m}; use a smaller cell"),
        });
    }
    // A float this large casts to a saturated integer, which the size check then refuses.
    Ok(((size_m / cell_m).round() as usize).clamp(1, usize::MAX - 1))
}

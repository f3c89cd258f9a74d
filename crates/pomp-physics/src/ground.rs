use crate::PhysicsError;
use pomp_motion::TerrainGrid;
use rapier3d::geometry::{ColliderBuilder, HeightFieldFlags};
use rapier3d::math::Vector;
use rapier3d::parry::utils::Array2;

/// Largest number of heights that a collider is built from, border included.
const MAX_HEIGHTS: usize = 64_000_000;

/// Checks a grid before it becomes a collider.
pub(crate) fn check_terrain(terrain: &TerrainGrid) -> Result<(), PhysicsError> {
    let (rows, columns) = (terrain.heights.frames(), terrain.heights.columns());
    let bad = |reason: String| Err(PhysicsError::BadTerrain { reason });
    if rows < 2 || columns < 2 {
        return bad(format!("it has {rows} rows and {columns} columns; it needs at least 2 of each"));
    }
    if !(terrain.cell_m.is_finite() && (0.001..=1000.0).contains(&terrain.cell_m)) {
        return bad(format!("its cells are {} m; they must be between 0.001 m and 1000 m", terrain.cell_m));
    }
    if !terrain.origin.iter().all(|v| v.is_finite() && v.abs() < 1e5) {
        return bad(format!("its origin is {:?}; it must be finite and within 100 km", terrain.origin));
    }
    for (row, heights) in terrain.heights.rows().enumerate() {
        if let Some(column) = heights.iter().position(|h| !h.is_finite() || h.abs() > 1e4) {
            return bad(format!(
                "the height at row {row}, column {column} is {}; it must be finite and within 10 km",
                heights[column]
            ));
        }
    }
    Ok(())
}

/// Heightfield collider of a checked grid: rows along z, columns along x, heights exact at the nodes, with a
/// border of `border_m` that repeats the edge.
///
/// Without [`HeightFieldFlags::FIX_INTERNAL_EDGES`] bodies that slide catch on the edges between triangles.
pub(crate) fn ground_collider(terrain: &TerrainGrid, border_m: f32) -> Result<ColliderBuilder, PhysicsError> {
    let (rows, columns) = (terrain.heights.frames(), terrain.heights.columns());
    let border = (border_m / terrain.cell_m).ceil() as usize;
    let (all_rows, all_columns) = (rows + 2 * border, columns + 2 * border);
    if all_rows.saturating_mul(all_columns) > MAX_HEIGHTS {
        return Err(PhysicsError::BadTerrain {
            reason: format!(
                "{all_rows} × {all_columns} heights are too many; use larger cells or a smaller border"
            ),
        });
    }
    let heights = Array2::from_fn(all_rows, all_columns, |i, j| {
        terrain.heights[i.saturating_sub(border).min(rows - 1)][j.saturating_sub(border).min(columns - 1)]
    });
    let size = |nodes: usize| (nodes - 1) as f32 * terrain.cell_m;
    let center =
        Vector::new(terrain.origin[0] + 0.5 * size(columns), 0.0, terrain.origin[1] + 0.5 * size(rows));
    let extent = Vector::new(size(all_columns), 1.0, size(all_rows));
    Ok(ColliderBuilder::heightfield_with_flags(heights, extent, HeightFieldFlags::FIX_INTERNAL_EDGES)
        .translation(center))
}

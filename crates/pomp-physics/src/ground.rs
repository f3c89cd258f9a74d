use crate::PhysicsError;
use pomp_motion::TerrainGrid;
use pomp_motion::glam::Vec3;
use rapier3d::geometry::{Collider, ColliderBuilder, HeightFieldFlags};
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

/// How deep `point` is in the `ground` that [`ground_collider`] made, metres along the normal of the face below or above it, and
/// that normal; above the ground the depth is negative. `None` beside the ground.
///
/// The engine's ground is a shell: what has come below it as a whole meets nothing more.
pub(crate) fn depth_in(ground: &Collider, point: Vec3) -> Option<(f32, Vec3)> {
    let field = ground.shape().as_heightfield()?;
    let point = point - ground.position().translation;
    let (row, column) = field.cell_at_point(point)?;
    let (near, far) = field.triangles_at(row, column);
    let (near, far) = (near?, far?);
    // The near face holds the corner of the cell with the least x and z; the cell's diagonal parts it from the far one.
    let along = (point - near.a) / (far.b - near.a);
    let face = if along.x + along.z <= 1.0 { near } else { far };
    let normal = (face.b - face.a).cross(face.c - face.a).normalize();
    Some(((face.a - point).dot(normal), normal))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pomp_motion::FrameTable;
    use rapier3d::parry::query::Ray;

    #[test]
    fn rays_from_above_meet_every_node_at_its_height_and_the_border_at_that_of_the_edge() {
        let (rows, columns, cell_m) = (7, 5, 0.25);
        let mut heights = FrameTable::with_columns(columns);
        for i in 0..rows {
            let row: Vec<f32> = (0..columns).map(|j| 0.3 * j as f32 - 0.05 * (i * i) as f32).collect();
            heights.push(&row);
        }
        let terrain = TerrainGrid { heights, origin: [-3.0, 8.0], cell_m };
        let map = pomp_terrain::HeightMap::from_grid(terrain.clone()).expect("a finite grid");
        let collider = ground_collider(&terrain, 1.0).expect("a finite grid").build();
        let height = |x: f32, z: f32| {
            // A ray through a vertex may pass between its triangles.
            let ray = Ray::new(Vector::new(x + 1e-3, 50.0, z + 1e-3), Vector::NEG_Y);
            let distance = collider.shape().cast_ray(collider.position(), &ray, 100.0, true);
            50.0 - distance.expect("there is ground below")
        };
        let node = |i: usize, j: usize| {
            (terrain.origin[0] + j as f32 * cell_m, terrain.origin[1] + i as f32 * cell_m)
        };
        let mut worst = 0.0f32;
        for i in 0..rows {
            for j in 0..columns {
                let (x, z) = node(i, j);
                worst = worst.max((height(x, z) - terrain.heights[i][j]).abs());
                worst = worst.max((height(x, z) - map.height(x, z)).abs());
            }
        }
        let (x, z) = node(rows - 1, columns - 1);
        let beyond = height(x + 0.9, z + 0.9) - terrain.heights[rows - 1][columns - 1];
        println!("worst node {worst} m, border {beyond} m");
        // Steepest slope, 2.2 + 1.2, times the millimetre beside the node.
        assert!(worst < 4e-3 && beyond.abs() < 1e-4);
        // The control: swapped axes would be metres off.
        assert!((height(x, z) - terrain.heights[columns - 1][columns - 1]).abs() > 0.5);

        for (x, z) in [(-2.93, 8.02), (-2.78, 8.22), (-2.1, 9.17), (-3.9, 8.6), (-2.4, 10.4)] {
            for below in [-0.3, 0.0, 0.02, 0.4] {
                let point = Vec3::new(x + 1e-3, height(x, z) - below, z + 1e-3);
                let (depth, normal) = depth_in(&collider, point).expect("there is ground");
                assert!(normal.is_normalized() && normal.y > 0.0);
                assert!((depth - below * normal.y).abs() < 1e-5, "{depth} m at {point}, {below} m below");
                let (out, _) = depth_in(&collider, point + normal * 1e-3).expect("there is ground");
                assert!((depth - out - 1e-3).abs() < 1e-5, "the normal leads out by the shortest way");
            }
        }
        assert!(depth_in(&collider, Vec3::new(-4.1, 0.0, 8.0)).is_none(), "beside the border");
    }
}

use crate::PhysicsError;
use pomp_motion::glam::Vec3;
use pomp_motion::{GlobalPose, TerrainGrid};
use rapier3d::math::{Pose as Placement, Vector};
use rapier3d::parry::bounding_volume::Aabb;
use rapier3d::parry::query::{Ray, RayCast};
use rapier3d::parry::shape::{HeightField, HeightFieldFlags};
use rapier3d::parry::utils::Array2;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

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

/// How far from its edge a body that has left the ground is put back, metres.
const FROM_EDGE_M: f32 = 1.0;
/// A pose is moved out of the ground in at most this many moves, each along the normal where it is deepest.
const LIFTS: usize = 8;

/// The height field that bodies stand on. A copy shares the heights.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Ground {
    field: Arc<HeightField>,
    position: Placement,
    /// The lowest height of the terrain, metres.
    lowest: f32,
}

impl Ground {
    /// Height field of a checked grid: rows along z, columns along x, heights exact at the nodes, with a border of `border_m` that
    /// repeats the edge.
    ///
    /// Without [`HeightFieldFlags::FIX_INTERNAL_EDGES`] bodies that slide catch on the edges between triangles.
    pub(crate) fn new(terrain: &TerrainGrid, border_m: f32) -> Result<Self, PhysicsError> {
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
        Ok(Self {
            field: Arc::new(HeightField::with_flags(heights, extent, HeightFieldFlags::FIX_INTERNAL_EDGES)),
            position: Placement::translation(center.x, center.y, center.z),
            lowest: terrain.heights.values().iter().copied().fold(f32::INFINITY, f32::min),
        })
    }

    /// The heights, in the frame at [`Self::position`].
    pub(crate) fn field(&self) -> &HeightField {
        &self.field
    }

    /// Where the middle of the height field is.
    pub(crate) fn position(&self) -> &Placement {
        &self.position
    }

    /// The lowest height of the terrain, metres.
    pub(crate) fn lowest(&self) -> f32 {
        self.lowest
    }

    fn bounds(&self) -> Aabb {
        let (field, offset) = (self.field.root_aabb(), self.position.translation);
        Aabb::new(field.mins + offset, field.maxs + offset)
    }

    /// Height at a place, metres; `None` beside the ground.
    pub(crate) fn height(&self, x: f32, z: f32) -> Option<f32> {
        let bounds = self.bounds();
        let above = bounds.maxs.y + 1.0;
        let ray = Ray::new(Vec3::new(x, above, z), Vec3::NEG_Y);
        let depth = above - bounds.mins.y + 1.0;
        Some(above - self.field.cast_ray(&self.position, &ray, depth, true)?)
    }

    /// How deep `point` is in the ground, metres along the normal of the face below or above it, and that normal; above the ground
    /// the depth is negative. `None` beside the ground.
    ///
    /// The ground is a shell: what has come below it as a whole meets nothing more.
    pub(crate) fn depth(&self, point: Vec3) -> Option<(f32, Vec3)> {
        let point = point - self.position.translation;
        let (row, column) = self.field.cell_at_point(point)?;
        let (near, far) = self.field.triangles_at(row, column);
        let (near, far) = (near?, far?);
        // The near face holds the corner of the cell with the least x and z; the cell's diagonal parts it from the far one.
        let along = (point - near.a) / (far.b - near.a);
        let face = if along.x + along.z <= 1.0 { near } else { far };
        let normal = (face.b - face.a).cross(face.c - face.a).normalize();
        Some(((face.a - point).dot(normal), normal))
    }

    /// Depth of the deepest of the points, metres, and the ground's normal there; see [`Self::depth`].
    pub(crate) fn deepest(&self, points: &[Vec3]) -> Option<(f32, Vec3)> {
        points.iter().filter_map(|point| self.depth(*point)).max_by(|a, b| a.0.total_cmp(&b.0))
    }

    /// Moves a pose whose root is beside the ground to the nearest place on it, a metre from its edge.
    pub(crate) fn bring_back(&self, pose: &mut GlobalPose) {
        let root = pose.positions[0];
        if self.depth(root).is_some() {
            return;
        }
        let Aabb { mins: low, maxs: high } = self.bounds();
        let inside = |low: f32, high: f32, value: f32| {
            let middle = 0.5 * (low + high);
            value.clamp((low + FROM_EDGE_M).min(middle), (high - FROM_EDGE_M).max(middle))
        };
        let way =
            Vec3::new(inside(low.x, high.x, root.x) - root.x, 0.0, inside(low.z, high.z, root.z) - root.z);
        pose.positions.iter_mut().for_each(|position| *position += way);
    }

    /// Moves a pose to where none of its joints is below the surface.
    pub(crate) fn lift_out(&self, pose: &mut GlobalPose) {
        for _ in 0..LIFTS {
            let Some((depth, normal)) = self.deepest(&pose.positions) else { return };
            if depth <= 0.0 {
                return;
            }
            pose.positions.iter_mut().for_each(|position| *position += normal * depth);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pomp_motion::FrameTable;

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
        let ground = Ground::new(&terrain, 1.0).expect("a finite grid");
        // A ray through a vertex may pass between its triangles.
        let height = |x: f32, z: f32| ground.height(x + 1e-3, z + 1e-3).expect("there is ground below");
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
                let (depth, normal) = ground.depth(point).expect("there is ground");
                assert!(normal.is_normalized() && normal.y > 0.0);
                assert!((depth - below * normal.y).abs() < 1e-5, "{depth} m at {point}, {below} m below");
                let (out, _) = ground.depth(point + normal * 1e-3).expect("there is ground");
                assert!((depth - out - 1e-3).abs() < 1e-5, "the normal leads out by the shortest way");
            }
        }
        assert!(ground.depth(Vec3::new(-4.1, 0.0, 8.0)).is_none(), "beside the border");
    }
}

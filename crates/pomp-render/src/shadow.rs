use crate::volume::Volume;
use glam::{Vec2, Vec3};
use pomp_motion::smoothstep_between;

const MOST_CELLS: usize = 400;

/// How much of a distant lamp's light volumes keep from points behind them: a small picture as the lamp sees it.
pub(crate) struct ShadowMask {
    to_lamp: Vec3,
    axes: [Vec3; 2],
    origin: Vec2,
    cell_m: f32,
    size: [usize; 2],
    /// Share of the light kept off, and how far towards the lamp the thing that does so lies.
    cells: Vec<(f32, f32)>,
}

/// Width of a shadow's edge: of things on the ground, and how it grows with their height, metres per metre.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Softness {
    pub least_m: f32,
    pub per_height: f32,
}

impl ShadowMask {
    /// The mask of `volumes` above ground of height `ground_y`.
    pub(crate) fn new(volumes: &[Volume], to_lamp: Vec3, softness: Softness, ground_y: f32) -> Self {
        // Two cells resolve the sharpest edge well enough.
        let cell_m = (0.8 * softness.least_m).max(0.02);
        let side = to_lamp.any_orthonormal_vector();
        let axes = [side, to_lamp.cross(side)];
        let flat = |p: Vec3| Vec2::new(p.dot(axes[0]), p.dot(axes[1]));
        let blur = |p: Vec3| softness.least_m + softness.per_height * (p.y - ground_y).max(0.0);
        let (mut low, mut high) = (Vec2::MAX, Vec2::MIN);
        for volume in volumes {
            for p in [volume.a, volume.b] {
                let reach = Vec2::splat(volume.largest_radius() + blur(p) + 2.0 * cell_m);
                low = low.min(flat(p) - reach);
                high = high.max(flat(p) + reach);
            }
        }
        let cells = |length: f32| ((length / cell_m).ceil().max(2.0) as usize).min(MOST_CELLS);
        let size = if volumes.is_empty() { [2, 2] } else { [cells(high.x - low.x), cells(high.y - low.y)] };
        let mut mask = Self {
            to_lamp,
            axes,
            origin: low,
            cell_m,
            size,
            cells: vec![(0.0, f32::MIN); size[0] * size[1]],
        };
        for volume in volumes {
            mask.add(volume, flat(volume.a), flat(volume.b), blur(volume.a).max(blur(volume.b)));
        }
        mask
    }

    fn add(&mut self, volume: &Volume, a: Vec2, b: Vec2, blur: f32) {
        let reach = volume.largest_radius() + blur;
        let cell = |v: f32, axis: usize| (v.max(0.0) as usize).min(self.size[axis]);
        let low = (a.min(b) - reach - self.origin) / self.cell_m;
        let high = (a.max(b) + reach - self.origin) / self.cell_m + 1.0;
        let along = b - a;
        let per_length = 1.0 / along.length_squared().max(1e-9);
        let (depth_a, depth_b) = (volume.a.dot(self.to_lamp), volume.b.dot(self.to_lamp));
        for row in cell(low.y, 1)..cell(high.y, 1) {
            for column in cell(low.x, 0)..cell(high.x, 0) {
                let p = self.origin + Vec2::new(column as f32 + 0.5, row as f32 + 0.5) * self.cell_m;
                let s = ((p - a).dot(along) * per_length).clamp(0.0, 1.0);
                let radius = volume.radius_a + (volume.radius_b - volume.radius_a) * s;
                let outside = (p - a - along * s).length() - 0.85 * radius;
                let cover = 1.0 - smoothstep_between(-blur, blur, outside);
                let entry = &mut self.cells[row * self.size[0] + column];
                entry.0 = entry.0.max(cover);
                if cover > 0.0 {
                    entry.1 = entry.1.max(depth_a + (depth_b - depth_a) * s);
                }
            }
        }
    }

    /// Share of the light that does not reach `point`, 0 to 1.
    pub(crate) fn cover(&self, point: Vec3) -> f32 {
        let x = (point.dot(self.axes[0]) - self.origin.x) / self.cell_m - 0.5;
        let y = (point.dot(self.axes[1]) - self.origin.y) / self.cell_m - 0.5;
        if !(x >= 0.0 && y >= 0.0 && x < (self.size[0] - 1) as f32 && y < (self.size[1] - 1) as f32) {
            return 0.0;
        }
        let (column, row) = (x as usize, y as usize);
        let (fx, fy) = (x - column as f32, y - row as f32);
        let depth = point.dot(self.to_lamp);
        let at = |column: usize, row: usize| {
            let (cover, caster) = self.cells[row * self.size[0] + column];
            if caster + 0.05 > depth { cover } else { 0.0 }
        };
        let upper = at(column, row) * (1.0 - fx) + at(column + 1, row) * fx;
        let lower = at(column, row + 1) * (1.0 - fx) + at(column + 1, row + 1) * fx;
        upper * (1.0 - fy) + lower * fy
    }
}

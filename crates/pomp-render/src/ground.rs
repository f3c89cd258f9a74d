use crate::camera::Camera;
use crate::canvas::{Canvas, SAMPLES, fill_triangle};
use crate::color::{Palette, encode};
use crate::shadow::ShadowMask;
use glam::{Vec2, Vec3};
use pomp_motion::{TerrainGrid, smoothstep_between};

/// Distance from the focus at which the ground begins to fade and is gone, metres.
const FADE_M: [f32; 2] = [4.5, 11.0];
/// Grid line spacing, half width (metres) and strength.
const LINES: [(f32, f32, f32); 2] = [(1.0, 0.013, 1.0), (0.5, 0.006, 0.4)];
/// Least difference of sunlight between a face and its corners that is drawn as an edge.
const CREASE: f32 = 0.12;

/// The ground: a height field, held constant beyond its border, or level at 0.
pub(crate) enum Ground<'a> {
    Level,
    Grid { grid: &'a TerrainGrid, low: f32, high: f32 },
}

impl<'a> Ground<'a> {
    pub(crate) fn new(terrain: Option<&'a TerrainGrid>) -> Self {
        terrain.map_or(Self::Level, |grid| {
            let (low, high) =
                grid.heights.values().iter().fold((f32::MAX, f32::MIN), |(l, h), &v| (l.min(v), h.max(v)));
            Self::Grid { grid, low, high }
        })
    }

    /// Height at world x, z; bilinear.
    pub(crate) fn height(&self, x: f32, z: f32) -> f32 {
        match self {
            Self::Level => 0.0,
            Self::Grid { grid, .. } => {
                let (rows, columns) = (grid.heights.frames(), grid.heights.columns());
                let u = ((x - grid.origin[0]) / grid.cell_m).clamp(0.0, (columns - 1) as f32);
                let v = ((z - grid.origin[1]) / grid.cell_m).clamp(0.0, (rows - 1) as f32);
                let (j, i) = ((u as usize).min(columns - 2), (v as usize).min(rows - 2));
                let (fu, fv) = (u - j as f32, v - i as f32);
                let h = |i: usize, j: usize| grid.heights[i][j];
                (h(i, j) * (1.0 - fu) + h(i, j + 1) * fu) * (1.0 - fv)
                    + (h(i + 1, j) * (1.0 - fu) + h(i + 1, j + 1) * fu) * fv
            }
        }
    }

    /// The point of the ground under `p`.
    pub(crate) fn under(&self, p: Vec3) -> Vec3 {
        Vec3::new(p.x, self.height(p.x, p.z), p.z)
    }

    /// Lattice of the mesh: origin and spacing, whole multiples of the cell, not too fine to see.
    fn lattice(&self) -> ([f32; 2], f32) {
        match self {
            Self::Level => ([0.0; 2], 1.0),
            Self::Grid { grid, .. } => (grid.origin, grid.cell_m * (0.075 / grid.cell_m).ceil().max(1.0)),
        }
    }

    /// Draws sky and ground over whatever is on the canvas.
    pub(crate) fn draw(&self, canvas: &mut Canvas, sunlight: &mut [f32], view: &GroundView) {
        canvas.nearness.fill(0.0);
        self.rasterize(canvas, view, sunlight);
        let [width, height] = canvas.size.map(|n| n / SAMPLES);
        for y in 0..height {
            let sky_share = (y as f32 + 0.5) / height as f32;
            let sky =
                view.palette.sky_top.lerp(view.palette.horizon, smoothstep_between(0.0, 0.55, sky_share));
            let sky_color = encode(sky);
            for x in 0..width {
                let first = y * SAMPLES * canvas.size[0] + x * SAMPLES;
                let samples = [first, first + 1, first + canvas.size[0], first + canvas.size[0] + 1];
                let near = samples.map(|i| canvas.nearness[i]);
                let light = samples.map(|i| sunlight[i]);
                let (low, high) = near.iter().fold((f32::MAX, 0.0f32), |(l, h), &v| (l.min(v), h.max(v)));
                let (dark, bright) =
                    light.iter().fold((f32::MAX, f32::MIN), |(l, h), &v| (l.min(v), h.max(v)));
                if high == 0.0 {
                    samples.iter().for_each(|&i| canvas.color[i] = sky_color);
                } else if low > 0.98 * high && bright - dark < 0.08 {
                    let (px, py) = ((x * SAMPLES + 1) as f32, (y * SAMPLES + 1) as f32);
                    let mean = |v: [f32; 4]| 0.25 * v.iter().sum::<f32>();
                    let color = encode(self.shade(view, [px, py], mean(near), mean(light), sky));
                    samples.iter().for_each(|&i| canvas.color[i] = color);
                } else {
                    // A jump in depth is the edge of a step or a hill: a thin dark line makes it visible.
                    let edge = if low > 0.97 * high { 0.0 } else { 0.4 };
                    for i in samples {
                        let (px, py) = ((i % canvas.size[0]) as f32 + 0.5, (i / canvas.size[0]) as f32 + 0.5);
                        canvas.color[i] = if canvas.nearness[i] > 0.0 {
                            let lit = self.shade(view, [px, py], canvas.nearness[i], sunlight[i], sky);
                            let near_focus = 1.0 - smoothstep_between(8.0, 16.0, 1.0 / canvas.nearness[i]);
                            encode(lit.lerp(view.palette.shadow, edge * near_focus))
                        } else {
                            sky_color
                        };
                    }
                }
            }
        }
    }

    /// Fills nearness and sunlight from the triangles around the focus.
    fn rasterize(&self, canvas: &mut Canvas, view: &GroundView, sunlight: &mut [f32]) {
        let (origin, step) = self.lattice();
        let reach = FADE_M[1] + step;
        let range = |centre: f32, origin: f32| {
            let low = ((centre - reach - origin) / step).floor() as i64;
            (low, ((2.0 * reach / step).ceil() as usize) + 1)
        };
        let (first_column, columns) = range(view.focus.x, origin[0]);
        let (first_row, rows) = range(view.focus.z, origin[1]);
        let screen = canvas.size.map(|n| n as f32);
        let vertex = |row: usize, column: usize| {
            let x = origin[0] + (first_column + column as i64) as f32 * step;
            let z = origin[1] + (first_row + row as i64) as f32 * step;
            let away = Vec2::new(x - view.focus.x, z - view.focus.z).length();
            if away > FADE_M[1] + step {
                return None;
            }
            let at = Vec3::new(x, self.height(x, z), z);
            let projected = view.camera.project(at)?;
            let seen = |v: f32, limit: f32| v > -0.3 * limit && v < 1.3 * limit;
            let sunlight = if seen(projected.x, screen[0]) && seen(projected.y, screen[1]) {
                let slope_x = self.height(x - step, z) - self.height(x + step, z);
                let slope_z = self.height(x, z - step) - self.height(x, z + step);
                Vec3::new(slope_x, 2.0 * step, slope_z).normalize().dot(view.to_sun)
            } else {
                view.to_sun.y
            };
            Some(Vertex { at, projected, sunlight })
        };
        let mut above: Vec<Option<Vertex>> = (0..columns).map(|column| vertex(0, column)).collect();
        for row in 1..rows {
            let below: Vec<Option<Vertex>> = (0..columns).map(|column| vertex(row, column)).collect();
            for column in 1..columns {
                let (Some(a), Some(b), Some(c), Some(d)) =
                    (above[column - 1], above[column], below[column], below[column - 1])
                else {
                    continue;
                };
                let corners = [a, b, c, d];
                let off = |beyond: &dyn Fn(Vec3) -> bool| corners.iter().all(|v| beyond(v.projected));
                if off(&|v| v.x < 0.0)
                    || off(&|v| v.x > screen[0])
                    || off(&|v| v.y < 0.0)
                    || off(&|v| v.y > screen[1])
                {
                    continue;
                }
                // Smooth slopes take their light from the corners, edges of steps from the face.
                let face = (d.at - b.at).cross(c.at - a.at).normalize().dot(view.to_sun);
                let smooth = corners.iter().all(|v| (v.sunlight - face).abs() < CREASE);
                let lit = corners.map(|v| (v.projected, if smooth { v.sunlight } else { face }));
                for triangle in [[lit[0], lit[1], lit[2]], [lit[0], lit[2], lit[3]]] {
                    fill_triangle(canvas.size, triangle, |index, near, light| {
                        if near > canvas.nearness[index] {
                            canvas.nearness[index] = near;
                            sunlight[index] = light;
                        }
                    });
                }
            }
            above = below;
        }
    }

    fn shade(&self, view: &GroundView, [x, y]: [f32; 2], near: f32, sunlight: f32, sky: Vec3) -> Vec3 {
        let camera = view.camera;
        let ray = camera.ray(x, y);
        let depth = 1.0 / near;
        let point = camera.eye + ray * depth;
        let distance = Vec2::new(point.x - view.focus.x, point.z - view.focus.z).length();
        let fade = smoothstep_between(FADE_M[0], FADE_M[1], distance);
        if fade >= 1.0 {
            return sky;
        }
        let palette = view.palette;
        let mut albedo = match self {
            Self::Level => palette.ground,
            Self::Grid { low, high, .. } => {
                let level = ((2.0 * point.y - low - high) / (high - low).max(1.5)).clamp(-1.0, 1.0);
                let towards = if level > 0.0 { palette.ground_high } else { palette.ground_low };
                palette.ground.lerp(towards, level.abs())
            }
        };
        // How far the point moves on level ground from one pixel to the next, to filter the lines.
        let scale = SAMPLES as f32 * depth / camera.focal;
        let across = camera.right * scale;
        let down = (-camera.up + ray * (camera.up.y / ray.y.min(-0.05))) * scale;
        let footprint = Vec2::new(across.x.abs() + down.x.abs(), across.z.abs() + down.z.abs());
        for (spacing, half_width, strength) in LINES {
            let line = line_cover(point.x, footprint.x, spacing, half_width).max(line_cover(
                point.z,
                footprint.y,
                spacing,
                half_width,
            ));
            // Lines too dense to follow only shimmer.
            let density = footprint.max_element() / spacing;
            albedo =
                albedo.lerp(palette.grid, line * strength * (1.0 - smoothstep_between(0.07, 0.14, density)));
        }
        let sun = (sunlight / view.to_sun.y).clamp(0.0, 1.25);
        let lit = albedo * (0.45 + 0.55 * sun);
        let shade = view.sun_shadow.cover(point) * 0.62 * sun.min(1.0);
        let shade = 1.0 - (1.0 - shade) * (1.0 - 0.30 * view.sky_shadow.cover(point));
        lit.lerp(palette.shadow, shade).lerp(sky, fade)
    }
}

/// A point of the mesh: in the world, on the screen, and its share of the sun.
#[derive(Clone, Copy)]
struct Vertex {
    at: Vec3,
    projected: Vec3,
    sunlight: f32,
}

/// What the ground is drawn with.
pub(crate) struct GroundView<'a> {
    pub camera: &'a Camera,
    pub focus: Vec3,
    pub to_sun: Vec3,
    pub palette: &'a Palette,
    pub sun_shadow: &'a ShadowMask,
    pub sky_shadow: &'a ShadowMask,
}

/// Share of a box of width `footprint` around `v` that lies on lines at the multiples of `spacing`.
fn line_cover(v: f32, footprint: f32, spacing: f32, half_width: f32) -> f32 {
    let footprint = footprint.max(1e-4);
    let off = v - (v / spacing).round() * spacing;
    let half = 0.5 * footprint;
    let overlap = (off + half).min(half_width) - (off - half).max(-half_width);
    (overlap / footprint).clamp(0.0, 1.0)
}

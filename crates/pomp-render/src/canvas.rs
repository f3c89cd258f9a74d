use crate::Image;
use crate::camera::Camera;
use crate::color::encode;
use crate::image::mix;
use crate::volume::{Material, Volume};
use glam::{Vec2, Vec3};
use pomp_motion::smoothstep_between;

/// Samples per pixel and axis.
pub(crate) const SAMPLES: usize = 2;

/// Samples of a picture: a colour and a nearness (1 / depth, 0 at infinity) each.
pub(crate) struct Canvas {
    pub size: [usize; 2],
    pub nearness: Vec<f32>,
    pub color: Vec<[u8; 3]>,
}

impl Canvas {
    pub(crate) fn new(size: [usize; 2]) -> Self {
        Self { size, nearness: vec![0.0; size[0] * size[1]], color: vec![[0; 3]; size[0] * size[1]] }
    }

    /// Draws volumes that hide what is behind them.
    pub(crate) fn draw_volumes(&mut self, camera: &Camera, volumes: &[Volume], light: &Light) {
        let Self { size, nearness, color } = self;
        trace(camera, *size, volumes, |index, near, volume, normal, ray| {
            if near > nearness[index] {
                nearness[index] = near;
                color[index] = encode(light.shade(&volume.material, normal, ray));
            }
        });
    }

    /// Draws a translucent band on the ground through `points`, in world space, `alpha` per point.
    pub(crate) fn draw_ribbon(&self, camera: &Camera, points: &[(Vec3, f32)], band: Band, layer: &mut Layer) {
        for pair in points.windows(2) {
            let ((a, alpha_a), (b, alpha_b)) = (pair[0], pair[1]);
            let along = b - a;
            let Some(side) = along.cross(Vec3::Y).try_normalize() else { continue };
            let side = side * (0.5 * band.width_m);
            // A little longer than the step, so that bends leave no gaps.
            let end = b + along.normalize_or_zero() * (0.25 * band.width_m);
            let corners = [a - side, a + side, end + side, end - side];
            let alpha = (255.0 * 0.5 * (alpha_a + alpha_b)).clamp(0.0, 255.0) as u8;
            self.fill_convex(camera, &corners, band.rgb, alpha, layer);
        }
    }

    /// Fills a convex polygon of the world into `layer` where nothing of the canvas is in front of it.
    pub(crate) fn fill_convex(
        &self,
        camera: &Camera,
        corners: &[Vec3],
        rgb: [u8; 3],
        alpha: u8,
        layer: &mut Layer,
    ) {
        let Some(projected) = corners.iter().map(|&c| camera.project(c)).collect::<Option<Vec<_>>>() else {
            return;
        };
        for i in 1..projected.len() - 1 {
            let triangle = [projected[0], projected[i], projected[i + 1]];
            fill_triangle(self.size, triangle.map(|v| (v, 0.0)), |index, near, _| {
                // Bands lie on the ground: a small bias keeps them above it.
                if near * 1.012 > self.nearness[index] {
                    layer.put(index, rgb, alpha.max(layer.rgba[index][3]));
                }
            });
        }
    }

    /// Mixes a layer over the canvas and empties it.
    pub(crate) fn composite(&mut self, layer: &mut Layer) {
        for index in layer.touched.clone() {
            let [r, g, b, alpha] = layer.rgba[index];
            if alpha > 0 {
                let alpha = f32::from(alpha) / 255.0;
                let under = &mut self.color[index];
                *under = [mix(under[0], r, alpha), mix(under[1], g, alpha), mix(under[2], b, alpha)];
            }
        }
        layer.clear();
    }

    /// Averages the samples of each pixel.
    pub(crate) fn to_image(&self) -> Image {
        let [width, height] = self.size.map(|n| n / SAMPLES);
        let mut rgba = Vec::with_capacity(width * height * 4);
        for y in 0..height {
            for x in 0..width {
                let mut sum = [0u16; 3];
                for sub in 0..SAMPLES {
                    let at = (y * SAMPLES + sub) * self.size[0] + x * SAMPLES;
                    for color in &self.color[at..at + SAMPLES] {
                        for channel in 0..3 {
                            sum[channel] += u16::from(color[channel]);
                        }
                    }
                }
                let samples = (SAMPLES * SAMPLES) as u16;
                rgba.extend(sum.map(|s| ((s + samples / 2) / samples) as u8));
                rgba.push(255);
            }
        }
        Image::from_rgba(width as u32, height as u32, rgba)
    }
}

/// Width and colour of a line on the ground.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Band {
    pub width_m: f32,
    pub rgb: [u8; 3],
}

/// The memory that a frame is drawn in; kept from frame to frame, since fresh pages cost more than drawing.
pub(crate) struct Workspace {
    pub canvas: Canvas,
    /// Share of the sun that each sample of the ground gets.
    pub sunlight: Vec<f32>,
    /// Empty between two uses.
    pub layer: Layer,
    /// The second figure; empty between two uses.
    pub glass: Layer,
}

impl Workspace {
    pub(crate) fn new(size: [usize; 2]) -> Self {
        let sunlight = vec![0.0; size[0] * size[1]];
        Self { canvas: Canvas::new(size), sunlight, layer: Layer::new(size), glass: Layer::new(size) }
    }
}

/// Translucent samples that are mixed over a canvas at the end.
pub(crate) struct Layer {
    size: [usize; 2],
    nearness: Vec<f32>,
    rgba: Vec<[u8; 4]>,
    touched: std::ops::Range<usize>,
}

impl Layer {
    pub(crate) fn new(size: [usize; 2]) -> Self {
        let samples = size[0] * size[1];
        Self { size, nearness: vec![0.0; samples], rgba: vec![[0; 4]; samples], touched: samples..samples }
    }

    fn clear(&mut self) {
        self.nearness[self.touched.clone()].fill(0.0);
        self.rgba[self.touched.clone()].fill([0; 4]);
        self.touched = self.rgba.len()..self.rgba.len();
    }

    fn put(&mut self, index: usize, [r, g, b]: [u8; 3], alpha: u8) {
        self.rgba[index] = [r, g, b, alpha];
        self.touch(index);
    }

    fn touch(&mut self, index: usize) {
        if self.touched.is_empty() {
            self.touched = index..index + 1;
        }
        self.touched = self.touched.start.min(index)..self.touched.end.max(index + 1);
    }

    /// Draws volumes with their own opacity, in front of everything.
    pub(crate) fn draw_volumes(&mut self, camera: &Camera, volumes: &[Volume], light: &Light) {
        trace(camera, self.size, volumes, |index, near, volume, normal, ray| {
            if near > self.nearness[index] {
                self.nearness[index] = near;
                let alpha = (volume.material.alpha * 255.0).round() as u8;
                self.put(index, encode(light.shade(&volume.material, normal, ray)), alpha);
            }
        });
    }

    /// Takes away what `canvas` hides, and fades what lies within a hand's breadth of its surface: a figure of
    /// glass then shows where it differs from the solid one.
    pub(crate) fn fade_near(&mut self, canvas: &Canvas) {
        for index in self.touched.clone() {
            if self.nearness[index] > 0.0 && canvas.nearness[index] > 0.0 {
                let gap_m = 1.0 / canvas.nearness[index] - 1.0 / self.nearness[index];
                let alpha = &mut self.rgba[index][3];
                *alpha = (f32::from(*alpha) * smoothstep_between(0.03, 0.10, gap_m)) as u8;
            }
        }
    }

    /// Draws volumes as of tinted glass: faint in the middle, strong at the rim.
    pub(crate) fn draw_glass(&mut self, camera: &Camera, volumes: &[Volume], behind: &Canvas) {
        trace(camera, self.size, volumes, |index, near, volume, normal, ray| {
            if near > self.nearness[index] && near > behind.nearness[index] {
                self.nearness[index] = near;
                let facing = -normal.dot(ray.normalize());
                let rim = (1.0 - facing.clamp(0.0, 1.0)).powi(2);
                let alpha = (volume.material.alpha * (0.28 + 0.72 * rim) * 255.0) as u8;
                self.put(index, encode(volume.material.albedo * (1.05 - 0.35 * rim)), alpha);
            }
        });
    }
}

/// Calls `visit` for each sample that a volume covers: sample, nearness, volume, normal, ray.
fn trace(
    camera: &Camera,
    size: [usize; 2],
    volumes: &[Volume],
    mut visit: impl FnMut(usize, f32, &Volume, Vec3, Vec3),
) {
    let mut order: Vec<&Volume> = volumes.iter().collect();
    let depth = |v: &Volume| ((v.a + v.b) * 0.5 - camera.eye).dot(camera.forward);
    order.sort_by(|a, b| depth(a).total_cmp(&depth(b)));
    for volume in order {
        let Some(outline) = volume.outline(camera) else { continue };
        let Some([left, top, right, bottom]) = outline.bounds(size) else { continue };
        let seen = volume.seen_from(camera.eye);
        let step = camera.right / camera.focal;
        for y in top..bottom {
            let Some([from, to]) = outline.row(y as f32 + 0.5, [left, right]) else { continue };
            let start = camera.ray(from as f32 + 0.5, y as f32 + 0.5);
            for x in from..to {
                let ray = start + step * (x - from) as f32;
                if let Some((depth, normal)) = seen.hit(ray) {
                    visit(y * size[0] + x, 1.0 / depth, volume, normal, ray);
                }
            }
        }
    }
}

/// Calls `visit` with sample, nearness and the interpolated value for each sample centre in a triangle of
/// (x, y, nearness) corners.
pub(crate) fn fill_triangle(
    size: [usize; 2],
    corners: [(Vec3, f32); 3],
    mut visit: impl FnMut(usize, f32, f32),
) {
    let [(a, va), (b, vb), (c, vc)] = corners;
    let (ab, ac) = (b - a, c - a);
    let area = ab.x * ac.y - ab.y * ac.x;
    if area.abs() < 1e-6 {
        return;
    }
    let slope = |fb: f32, fc: f32| Vec2::new((fb * ac.y - fc * ab.y) / area, (fc * ab.x - fb * ac.x) / area);
    let (near_slope, value_slope) = (slope(ab.z, ac.z), slope(vb - va, vc - va));
    let (low, high) = (a.y.min(b.y).min(c.y), a.y.max(b.y).max(c.y));
    let first = (low - 0.5).ceil().max(0.0) as usize;
    let last = ((high - 0.5).ceil().max(0.0) as usize).min(size[1]);
    for row in first..last {
        let y = row as f32 + 0.5;
        let (mut left, mut right) = (f32::MAX, f32::MIN);
        for (p, q) in [(a, b), (b, c), (c, a)] {
            if (p.y <= y) != (q.y <= y) {
                let x = p.x + (q.x - p.x) * ((y - p.y) / (q.y - p.y));
                left = left.min(x);
                right = right.max(x);
            }
        }
        let from = (left - 0.5).ceil().max(0.0) as usize;
        let to = ((right - 0.5).ceil().max(0.0) as usize).min(size[0]);
        let mut offset = Vec2::new(from as f32 + 0.5 - a.x, y - a.y);
        for column in from..to {
            visit(row * size[0] + column, a.z + near_slope.dot(offset), va + value_slope.dot(offset));
            offset.x += 1.0;
        }
    }
}

/// A sun, a sky and the light that the ground throws back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Light {
    /// Unit vector to the sun.
    pub to_sun: Vec3,
    /// Brightness of everything, 1 in the light theme.
    pub exposure: f32,
}

impl Light {
    /// Light that reaches the eye from a surface seen along `ray`.
    fn shade(&self, material: &Material, normal: Vec3, ray: Vec3) -> Vec3 {
        let view = -ray.normalize();
        let sun = (normal.dot(self.to_sun) * 0.85 + 0.15).max(0.0);
        let sky = 0.5 + 0.5 * normal.y;
        let albedo = match material.visor {
            Some((forward, up, color)) if normal.dot(forward) > 0.5 && normal.dot(up).abs() < 0.36 => color,
            _ => material.albedo,
        };
        let half = (view + self.to_sun).normalize_or(normal);
        let highlight = normal.dot(half).max(0.0).powi(40) * material.gloss * 0.35;
        let rim = (1.0 - normal.dot(view).clamp(0.0, 1.0)).powi(3) * 0.12 * sky;
        let ambient = Vec3::new(0.20, 0.19, 0.18).lerp(Vec3::new(0.40, 0.44, 0.50), sky);
        let sunlight = Vec3::new(0.74, 0.70, 0.64) * sun;
        (albedo * (ambient + sunlight) + Vec3::splat(highlight + rim)) * self.exposure
    }
}

use crate::camera::Camera;
use glam::{Mat3, Vec2, Vec3};

/// What a volume looks like.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Material {
    /// Linear reflectance.
    pub albedo: Vec3,
    /// 0 is matt, 1 is polished.
    pub gloss: f32,
    /// 0 is invisible, 1 opaque.
    pub alpha: f32,
    /// Direction in which the volume has a face, and the colour of its visor.
    pub visor: Option<(Vec3, Vec3, Vec3)>,
}

impl Material {
    pub(crate) fn matt(albedo: Vec3) -> Self {
        Self { albedo, gloss: 0.35, alpha: 1.0, visor: None }
    }
}

/// A round cone (all balls between two balls), optionally flattened along one or two directions.
///
/// Flattening is a linear map `shape_from_world` into a space where the volume is a plain round cone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Volume {
    pub a: Vec3,
    pub b: Vec3,
    pub radius_a: f32,
    pub radius_b: f32,
    pub shape_from_world: Mat3,
    pub material: Material,
}

impl Volume {
    pub(crate) fn new(a: Vec3, b: Vec3, radius_a: f32, radius_b: f32, material: Material) -> Self {
        Self { a, b, radius_a, radius_b, shape_from_world: Mat3::IDENTITY, material }
    }

    /// Flattens the volume to `factor` (0 to 1) of its thickness along the unit `axis`, ends in place.
    pub(crate) fn flattened(mut self, axis: Vec3, factor: f32) -> Self {
        let k = 1.0 / factor - 1.0;
        let stretch = Mat3::from_cols(
            Vec3::X + axis * (k * axis.x),
            Vec3::Y + axis * (k * axis.y),
            Vec3::Z + axis * (k * axis.z),
        );
        self.shape_from_world = stretch * self.shape_from_world;
        self
    }

    pub(crate) fn largest_radius(&self) -> f32 {
        self.radius_a.max(self.radius_b)
    }

    /// The volume as seen from one point.
    pub(crate) fn seen_from(&self, eye: Vec3) -> SeenVolume {
        let axis = self.shape_from_world * (self.b - self.a);
        let taper = self.radius_a - self.radius_b;
        let origin = self.shape_from_world * (eye - self.a);
        let cone = axis.length_squared() - taper * taper;
        let reference = axis.dot(origin) - taper * self.radius_a;
        SeenVolume {
            shape_from_world: self.shape_from_world,
            origin,
            axis,
            cone,
            reference,
            c_side: origin.length_squared() - self.radius_a.powi(2) - reference * reference / cone.max(1e-9),
            c_a: origin.length_squared() - self.radius_a.powi(2),
            c_b: (origin - axis).length_squared() - self.radius_b.powi(2),
        }
    }

    /// Two discs whose hull covers the volume on the screen; `None` when part of it is behind the camera.
    pub(crate) fn outline(&self, camera: &Camera) -> Option<Outline> {
        let disc = |centre: Vec3, radius: f32| {
            let p = camera.project(centre)?;
            // A ball of radius r at depth z covers at most r / (z - r) of slope around its centre, and a little
            // more where the view is oblique.
            let reach = camera.focal * radius / (1.0 / p.z - radius).max(0.05) * 1.1 + 1.0;
            Some((Vec2::new(p.x, p.y), reach))
        };
        let (a, reach_a) = disc(self.a, self.radius_a)?;
        let (b, reach_b) = disc(self.b, self.radius_b)?;
        Some(Outline { a, b, reach: reach_a.max(reach_b) })
    }
}

/// All points of the screen within `reach` of a segment, in samples.
pub(crate) struct Outline {
    a: Vec2,
    b: Vec2,
    reach: f32,
}

impl Outline {
    /// [left, top, right, bottom) on a screen of `size`; `None` when off screen.
    pub(crate) fn bounds(&self, size: [usize; 2]) -> Option<[usize; 4]> {
        let (low, high) = (self.a.min(self.b) - self.reach, self.a.max(self.b) + self.reach);
        let clip = |v: f32, limit: usize| v.clamp(0.0, limit as f32) as usize;
        let bounds =
            [clip(low.x, size[0]), clip(low.y, size[1]), clip(high.x, size[0]), clip(high.y, size[1])];
        (bounds[0] < bounds[2] && bounds[1] < bounds[3]).then_some(bounds)
    }

    /// Columns within `limits` that the outline covers at height `y`.
    pub(crate) fn row(&self, y: f32, limits: [usize; 2]) -> Option<[usize; 2]> {
        let (mut low, mut high) = (f32::MAX, f32::MIN);
        let mut reach_to = |x: f32| (low, high) = (low.min(x), high.max(x));
        for centre in [self.a, self.b] {
            let square = self.reach * self.reach - (y - centre.y).powi(2);
            if square >= 0.0 {
                reach_to(centre.x - square.sqrt());
                reach_to(centre.x + square.sqrt());
            }
        }
        let side = (self.b - self.a).perp().normalize_or_zero() * self.reach;
        for (from, to) in [(self.a - side, self.b - side), (self.a + side, self.b + side)] {
            if (from.y <= y) != (to.y <= y) {
                reach_to(from.x + (to.x - from.x) * (y - from.y) / (to.y - from.y));
            }
        }
        let clip = |x: f32| x.clamp(limits[0] as f32, limits[1] as f32) as usize;
        let columns = [clip(low), clip(high + 1.0)];
        (columns[0] < columns[1]).then_some(columns)
    }
}

/// A volume prepared for rays from one eye.
pub(crate) struct SeenVolume {
    shape_from_world: Mat3,
    origin: Vec3,
    axis: Vec3,
    cone: f32,
    reference: f32,
    c_side: f32,
    c_a: f32,
    c_b: f32,
}

impl SeenVolume {
    /// Depth and outward unit normal of the first point on the ray `eye + ray * depth`.
    ///
    /// A point q (from a) lies in the ball at s when |q - s·axis|² ≤ (radius_a - s·taper)². The least
    /// difference over all s is a quadratic form in q, and so in the depth along a ray: its roots are the sides;
    /// they count where their s lies between the two end balls. The entry into the union is the least of all.
    pub(crate) fn hit(&self, ray: Vec3) -> Option<(f32, Vec3)> {
        let d = self.shape_from_world * ray;
        let (dd, od, along) = (d.length_squared(), self.origin.dot(d), self.axis.dot(d));
        let mut depth = f32::MAX;
        let mut at = 0.0;
        let ball = |half_b: f32, c: f32| {
            let root = half_b * half_b - dd * c;
            (root >= 0.0).then(|| (-half_b - root.sqrt()) / dd)
        };
        if let Some(t) = ball(od, self.c_a)
            && t > 0.0
        {
            depth = t;
        }
        if let Some(t) = ball(od - along, self.c_b)
            && t > 0.0
            && t < depth
        {
            (depth, at) = (t, 1.0);
        }
        if self.cone > 1e-9 {
            let a = dd - along * along / self.cone;
            let half_b = od - self.reference * along / self.cone;
            let root = half_b * half_b - a * self.c_side;
            if root >= 0.0 && a.abs() > 1e-9 {
                let t = (-half_b - root.sqrt()) / a;
                let s = (self.reference + along * t) / self.cone;
                if t > 0.0 && t < depth && (0.0..=1.0).contains(&s) {
                    (depth, at) = (t, s);
                }
            }
        }
        if depth == f32::MAX {
            return None;
        }
        let outward = self.origin + d * depth - self.axis * at;
        Some((depth, (self.shape_from_world.transpose() * outward).normalize_or(Vec3::Y)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Distance from the balls along the axis, in the space of the shape.
    fn outside(volume: &Volume, point: Vec3) -> f32 {
        let q = volume.shape_from_world * (point - volume.a);
        let axis = volume.shape_from_world * (volume.b - volume.a);
        (0..=1000)
            .map(|i| i as f32 / 1000.0)
            .map(|s| (q - axis * s).length() - (volume.radius_a + (volume.radius_b - volume.radius_a) * s))
            .fold(f32::MAX, f32::min)
    }

    #[test]
    fn a_ray_meets_a_round_cone_on_its_surface_and_not_before() {
        let eye = Vec3::new(0.3, 0.2, 5.0);
        let volume = Volume::new(
            Vec3::new(-0.5, 0.1, 0.0),
            Vec3::new(0.6, 0.4, 0.3),
            0.4,
            0.15,
            Material::matt(Vec3::ONE),
        )
        .flattened(Vec3::Y, 0.6);
        let seen = volume.seen_from(eye);
        let mut hits = 0;
        for i in 0..40 {
            for j in 0..40 {
                let ray = Vec3::new(i as f32 * 0.01 - 0.2, j as f32 * 0.01 - 0.2, -1.0);
                let at = |depth: f32| outside(&volume, eye + ray * depth);
                if let Some((depth, normal)) = seen.hit(ray) {
                    hits += 1;
                    assert!(at(depth).abs() < 2e-3, "{} off the surface", at(depth));
                    assert!((0..50).all(|k| at(depth * k as f32 / 50.0) > -2e-3));
                    assert!(normal.dot(ray) < 1e-3);
                } else {
                    assert!((0..200).all(|k| at(k as f32 * 0.04) > -2e-3));
                }
            }
        }
        assert!(hits > 200, "only {hits} of 1600 rays hit");
    }
}

use crate::{Azimuth, CameraOptions};
use glam::{Vec2, Vec3};
use pomp_motion::Recording;
use std::f32::consts::TAU;

const NEAR_M: f32 = 0.1;

/// A perspective camera that maps the world to samples, the sub-pixels of a [`crate::canvas::Canvas`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Camera {
    pub eye: Vec3,
    pub forward: Vec3,
    pub right: Vec3,
    pub up: Vec3,
    /// Samples per unit of slope.
    pub focal: f32,
    pub centre: Vec2,
}

impl Camera {
    pub(crate) fn look_at(
        eye: Vec3,
        target: Vec3,
        field_of_view_rad: f32,
        [width, height]: [usize; 2],
    ) -> Self {
        let forward = (target - eye).normalize();
        let right = forward.cross(Vec3::Y).normalize();
        let up = right.cross(forward);
        let focal = 0.5 * height as f32 / (0.5 * field_of_view_rad).tan();
        Self { eye, forward, right, up, focal, centre: Vec2::new(0.5 * width as f32, 0.5 * height as f32) }
    }

    /// Sample x, y and nearness (1 / depth) of a world point; `None` behind the near plane.
    pub(crate) fn project(&self, point: Vec3) -> Option<Vec3> {
        let d = point - self.eye;
        let depth = d.dot(self.forward);
        if depth < NEAR_M {
            return None;
        }
        let nearness = 1.0 / depth;
        let scale = self.focal * nearness;
        Some(Vec3::new(
            self.centre.x + d.dot(self.right) * scale,
            self.centre.y - d.dot(self.up) * scale,
            nearness,
        ))
    }

    /// Direction through a sample, of depth 1: the world point at depth z is `eye + ray * z`.
    pub(crate) fn ray(&self, x: f32, y: f32) -> Vec3 {
        self.forward
            + self.right * ((x - self.centre.x) / self.focal)
            + self.up * ((self.centre.y - y) / self.focal)
    }
}

/// Where the camera looks in every frame.
pub(crate) struct CameraTrack {
    /// Smoothed root x and z, and ground height in y.
    pub focus: Vec<Vec3>,
    /// Side that the camera stands on, as in [`Azimuth::World`].
    pub azimuth: Vec<f32>,
}

impl CameraTrack {
    /// `roots` are the shown root positions with the height of the ground under them in y.
    pub(crate) fn new(recording: &Recording, roots: &[Vec3], options: &CameraOptions) -> Self {
        let rate_hz = recording.frame_rate_hz;
        let focus = smoothed(roots, options.smoothing_s * rate_hz);
        let headings: Vec<Vec3> =
            recording.root.iter().map(|r| Vec3::new(r[2].sin(), 0.0, r[2].cos())).collect();
        let azimuth = match options.azimuth {
            Azimuth::World(angle) => vec![angle; roots.len()],
            Azimuth::Travel(angle) => {
                let travel = roots[roots.len() - 1] - roots[0];
                let direction =
                    if Vec2::new(travel.x, travel.z).length() > 1.0 { travel } else { headings[0] };
                vec![direction.x.atan2(direction.z) + angle; roots.len()]
            }
            Azimuth::Heading(angle) => smoothed(&headings, 2.0 * options.smoothing_s * rate_hz)
                .iter()
                .map(|h| (h.x.atan2(h.z) + angle).rem_euclid(TAU))
                .collect(),
        };
        Self { focus, azimuth }
    }
}

/// Gaussian smoothing over time, `sigma` in frames; ends are held.
fn smoothed(points: &[Vec3], sigma: f32) -> Vec<Vec3> {
    if sigma < 0.1 {
        return points.to_vec();
    }
    let reach = (3.0 * sigma).ceil() as isize;
    let weights: Vec<f32> = (0..=reach).map(|i| (-0.5 * (i as f32 / sigma).powi(2)).exp()).collect();
    let total = weights[0] + 2.0 * weights[1..].iter().sum::<f32>();
    let last = points.len() as isize - 1;
    (0..=last)
        .map(|frame| {
            let sum: Vec3 = (-reach..=reach)
                .map(|i| points[(frame + i).clamp(0, last) as usize] * weights[i.unsigned_abs()])
                .sum();
            sum / total
        })
        .collect()
}

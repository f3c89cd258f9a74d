use crate::ease::smoothstep_integral;
use pomp_motion::glam::{Vec2, Vec3};
use pomp_motion::smoothstep;

/// One stretch of travelling: from rest to full speed and back to rest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bout {
    /// When the root begins to move.
    pub(crate) start_s: f32,
    /// When it is at rest again.
    pub(crate) end_s: f32,
    /// Duration of the ramps of speed.
    pub(crate) ramp_s: f32,
}

/// The root's path on the ground: a straight line or a circle, travelled in bouts.
#[derive(Clone, Debug)]
pub(crate) struct RootPath {
    pub(crate) start: Vec2,
    pub(crate) heading: f32,
    pub(crate) speed: f32,
    /// Turn per metre, rad/m, positive to the left.
    pub(crate) curvature: f32,
    /// In order of time; `None` stands for one endless bout at full speed.
    pub(crate) bouts: Option<Vec<Bout>>,
}

impl RootPath {
    /// Distance travelled since time 0, metres; negative before it.
    pub(crate) fn travelled(&self, time: f32) -> f32 {
        let Some(bouts) = &self.bouts else { return self.speed * time };
        let travelled = |bout: &Bout| {
            let up = smoothstep_integral((time - bout.start_s) / bout.ramp_s);
            let down = smoothstep_integral((time - bout.end_s + bout.ramp_s) / bout.ramp_s);
            self.speed * bout.ramp_s * (up - down)
        };
        bouts.iter().map(travelled).sum()
    }

    /// Speed as a share of the full one.
    pub(crate) fn effort(&self, time: f32) -> f32 {
        let Some(bouts) = &self.bouts else { return 1.0 };
        let effort = |bout: &Bout| {
            smoothstep((time - bout.start_s) / bout.ramp_s)
                - smoothstep((time - bout.end_s + bout.ramp_s) / bout.ramp_s)
        };
        bouts.iter().map(effort).sum()
    }

    /// Heading after `travelled` metres.
    pub(crate) fn heading_at(&self, travelled: f32) -> f32 {
        self.heading + self.curvature * travelled
    }

    /// World x and z after `travelled` metres.
    pub(crate) fn point_at(&self, travelled: f32) -> Vec2 {
        let turn = self.curvature * travelled;
        // (1 − cos a)/a and sin a/a, by half angles, so that small curvatures do not cancel.
        let half = 0.5 * turn;
        let sinc = if half.abs() < 1e-4 { 1.0 } else { half.sin() / half };
        let middle = self.heading + half;
        self.start + Vec2::new(middle.sin(), middle.cos()) * (travelled * sinc)
    }
}

/// Unit vectors to the left and forward of a heading, on the ground.
pub(crate) fn left_forward(heading: f32) -> (Vec3, Vec3) {
    let (s, c) = heading.sin_cos();
    (Vec3::new(c, 0.0, -s), Vec3::new(s, 0.0, c))
}

//! The sole of a foot: what of it may touch the ground, and where.

use glam::{Quat, Vec2, Vec3};
use pomp_motion::legs::Leg;
use pomp_motion::{GlobalPose, humanoid};

/// Length of the toes before the toe joint, fraction of body height: foot length 0.152 H (Drillis and Contini 1966)
/// less heel and ball.
const TOE_LENGTH: f32 = 0.035;
/// Heel behind the ankle, ball before it, fractions of body height: as the ragdoll's foot.
const HEEL: f32 = 0.040;
const BALL: f32 = 0.080;

/// The sole of a person of one height.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sole {
    pub body_height_m: f32,
}

impl Sole {
    /// Where the sole ends and what carries it, metres before the ankle: heel, heel pad, ball, tip of the toes.
    pub fn length_m(self) -> [f32; 4] {
        [-HEEL, -0.6 * HEEL, BALL, BALL + TOE_LENGTH].map(|part| part * self.body_height_m)
    }

    /// Lowest points when the ankle is at `at` and everything else as in `world`: below the ankle, below the ball, below
    /// the tip of the toes.
    pub fn points(self, world: &GlobalPose, [_, _, ankle, toe]: Leg, at: Vec3) -> [Vec3; 3] {
        let shift = at - world.positions[ankle.0];
        let (foot, toes) = (world.rotations[ankle.0], world.rotations[toe.0]);
        let h = self.body_height_m;
        let point = |joint: Vec3, rotation: Quat, below: f32, ahead: f32| {
            joint + shift + rotation * Vec3::new(0.0, -below * h, ahead * h)
        };
        [
            point(world.positions[ankle.0], foot, humanoid::ANKLE_HEIGHT, 0.0),
            point(world.positions[toe.0], toes, humanoid::TOE_HEIGHT, 0.0),
            point(world.positions[toe.0], toes, humanoid::TOE_HEIGHT, TOE_LENGTH),
        ]
    }

    /// Height of the lowest of [`Self::points`] above `ground`.
    pub fn lowest(self, world: &GlobalPose, leg: Leg, at: Vec3, ground: impl Fn(f32, f32) -> f32) -> f32 {
        self.points(world, leg, at).map(|p| p.y - ground(p.x, p.z)).into_iter().fold(f32::INFINITY, f32::min)
    }
}

/// Direction of a foot on the ground plane; that of its toes even where it points down.
pub(crate) fn direction(world: &GlobalPose, [_, _, ankle, toe]: Leg) -> Vec2 {
    let along = world.positions[toe.0] - world.positions[ankle.0];
    let up = world.rotations[ankle.0] * Vec3::Y;
    // A foot on tiptoe looks where its upper side leans to.
    let along = along + up * 0.1;
    Vec2::new(along.x, along.z).try_normalize().unwrap_or(Vec2::Y)
}

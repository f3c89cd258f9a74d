//! How well a body follows its target.

use super::Character;
use glam::Vec3;
use pomp_motion::GlobalPose;
use pomp_motion::features::OutputFrame;
use pomp_motion::legs::LEGS;
use pomp_motion::rotation::from_yaw;
use pomp_physics::Frame;

/// Errors at which a term has lost two thirds: m/s, m, rad, rad.
const VELOCITY_M_S: f32 = 0.4;
const HEIGHT_M: f32 = 0.08;
const PELVIS_RAD: f32 = 0.35;
const LEGS_RAD: f32 = 0.35;

/// How well a body follows its target in a frame, each 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tracking {
    /// The velocity of the centre of mass along the ground, beside that of the target's root; scale 0.4 m/s.
    pub velocity: f32,
    /// The height of the centre of mass; scale 8 cm.
    pub height: f32,
    /// The rotation of the pelvis; scale 0.35 rad.
    pub pelvis: f32,
    /// The joints of the legs; scale 0.35 rad.
    pub legs: f32,
}

impl Character {
    /// Whether the body is down after a frame that was simulated: it has left the numbers that a body can have, its pelvis is below 0.55 of
    /// its standing height, or its trunk is farther than 60° from upright.
    pub fn is_down(&self, simulated: &Frame) -> bool {
        let hips = simulated.pose.positions[0];
        let ground = self.terrain.height(hips.x, hips.z);
        simulated.recovered.is_some() || self.fall_detector.is_down(&simulated.pose, ground)
    }

    /// How well the body followed the target that `prediction` set, after the frame was simulated and before it is taken over.
    pub fn tracking(&self, prediction: &OutputFrame) -> Tracking {
        let (body, target) = (&self.dynamic, self.target());
        let mass_kg: f32 = body.body_masses().iter().sum();
        let velocity = body.momentum() / mass_kg;
        let root = Vec3::new(prediction.root_velocity.x, 0.0, prediction.root_velocity.y);
        let wanted = from_yaw(self.target_frame().yaw) * root;
        let slip = Vec3 { y: 0.0, ..velocity - wanted }.length();
        let height = body.center_of_mass().y - body.center_of_mass_in(&target).y;
        let pose = body.pose();
        let pelvis = pose.rotations[0].angle_between(target.rotations[0]);
        let legs = LEGS.into_iter().flat_map(|leg| leg.into_iter().take(3)).map(|joint| {
            let relative = |pose: &GlobalPose| pose.rotations[0].inverse() * pose.rotations[joint.0];
            relative(&pose).angle_between(relative(&target)).powi(2)
        });
        let legs = (legs.sum::<f32>() / 6.0).sqrt();
        let near = |error: f32, scale: f32| (-(error / scale).powi(2)).exp();
        Tracking {
            velocity: near(slip, VELOCITY_M_S),
            height: near(height, HEIGHT_M),
            pelvis: near(pelvis, PELVIS_RAD),
            legs: near(legs, LEGS_RAD),
        }
    }
}

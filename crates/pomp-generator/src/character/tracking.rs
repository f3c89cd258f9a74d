//! How far a body is from its target.

use super::Character;
use glam::Vec3;
use pomp_motion::GlobalPose;
use pomp_motion::features::OutputFrame;
use pomp_motion::legs::LEGS;
use pomp_motion::rotation::from_yaw;
use pomp_physics::Frame;

/// Scales of the errors: m/s, m, rad, rad.
const SCALES: [f32; 4] = [0.4, 0.08, 0.35, 0.35];

/// How far a body is from its target in a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tracking {
    /// The velocity of the centre of mass along the ground, beside that of the target's root, m/s.
    pub velocity_m_s: f32,
    /// The height of the centre of mass, m.
    pub height_m: f32,
    /// The rotation of the pelvis, rad.
    pub pelvis_rad: f32,
    /// The joints of the legs, root mean square, rad.
    pub legs_rad: f32,
}

impl Tracking {
    /// The errors in this order, each squared and in units of its scale: 0.4 m/s, 8 cm, 0.35 rad and 0.35 rad.
    pub fn squares(&self) -> [f32; 4] {
        let errors = [self.velocity_m_s, self.height_m, self.pelvis_rad, self.legs_rad];
        std::array::from_fn(|i| (errors[i] / SCALES[i]).powi(2))
    }
}

impl Character {
    /// Whether the body is down after a frame that was simulated: it has left the numbers that a body can have, its pelvis is below 0.55 of
    /// its standing height, or its trunk is farther than 60° from upright.
    pub fn is_down(&self, simulated: &Frame) -> bool {
        let hips = simulated.pose.positions[0];
        let ground = self.terrain.height(hips.x, hips.z);
        simulated.recovered.is_some() || self.fall_detector.is_down(&simulated.pose, ground)
    }

    /// How far the body was from the target that `prediction` set, after the frame was simulated and before it is taken over.
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
        Tracking {
            velocity_m_s: slip,
            height_m: height,
            pelvis_rad: pelvis,
            legs_rad: (legs.sum::<f32>() / 6.0).sqrt(),
        }
    }
}

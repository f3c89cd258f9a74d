use pomp_motion::glam::{Mat3, Quat, Vec3};
use pomp_motion::humanoid;
use pomp_terrain::HeightMap;

/// The foot's sole as the project skeleton has it: flat from under the ankle to under the toe joint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FootShape {
    /// Ankle above the sole, metres.
    pub(crate) ankle_height: f32,
    /// Toe joint above the sole, metres.
    pub(crate) toe_height: f32,
    /// From under the ankle to under the toe joint, metres.
    pub(crate) length: f32,
}

impl FootShape {
    pub(crate) fn of_height(body_height_m: f32, toe_offset: Vec3) -> Self {
        Self {
            ankle_height: humanoid::ANKLE_HEIGHT * body_height_m,
            toe_height: humanoid::TOE_HEIGHT * body_height_m,
            length: toe_offset.z,
        }
    }
}

/// Where the ankle is, and how the foot and the toes are turned, world.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FootPose {
    pub(crate) ankle: Vec3,
    pub(crate) foot: Quat,
    pub(crate) toe: Quat,
}

/// A foothold: the foot lying flat on the ground.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlantedFoot {
    shape: FootShape,
    /// Sole under the ankle, on the ground, world.
    pub(crate) heel: Vec3,
    /// The foot's rotation when flat.
    pub(crate) flat: Quat,
}

impl PlantedFoot {
    /// The foot on `terrain` with the sole under the ankle at x, z, pointing along `yaw`: both ends of the sole
    /// touch the ground, and the sole leans sideways with it.
    pub(crate) fn on(terrain: &HeightMap, shape: FootShape, x: f32, z: f32, yaw: f32) -> Self {
        let heel = Vec3::new(x, terrain.height(x, z), z);
        let (sin, cos) = yaw.sin_cos();
        let toe_at = |reach: f32| {
            let (tx, tz) = (x + reach * sin, z + reach * cos);
            Vec3::new(tx, terrain.height(tx, tz), tz)
        };
        // Bisection for the horizontal length that makes the sole span exactly the foot: too short at 0, at least
        // long enough at the foot's length.
        let (mut short, mut long) = (0.0, shape.length);
        for _ in 0..24 {
            let middle = 0.5 * (short + long);
            if heel.distance(toe_at(middle)) < shape.length {
                short = middle;
            } else {
                long = middle;
            }
        }
        let toe = toe_at(long);
        let forward = (toe - heel).normalize();
        let normal = terrain.normal(heel.x, heel.z) + terrain.normal(toe.x, toe.z);
        let up = (normal - forward * normal.dot(forward)).normalize();
        let flat = Quat::from_mat3(&Mat3::from_cols(up.cross(forward), up, forward)).normalize();
        Self { shape, heel, flat }
    }

    /// The foot rolled by `pitch`: negative about the heel (toes up), positive about the toe joint (heel up, toes flat).
    pub(crate) fn rolled(&self, pitch: f32) -> FootPose {
        let FootShape { ankle_height, toe_height, length } = self.shape;
        let foot = self.flat * Quat::from_rotation_x(pitch);
        if pitch <= 0.0 {
            return FootPose { ankle: self.heel + foot * (Vec3::Y * ankle_height), foot, toe: foot };
        }
        let toe_joint = self.heel + self.flat * Vec3::new(0.0, toe_height, length);
        let ankle = toe_joint + foot * Vec3::new(0.0, ankle_height - toe_height, -length);
        FootPose { ankle, foot, toe: self.flat }
    }
}

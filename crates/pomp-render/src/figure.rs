use crate::color::Palette;
use crate::volume::{Material, Volume};
use glam::{Quat, Vec3};
use pomp_motion::{JointIndex, Skeleton, humanoid as h};

/// Leg length (hip to ankle) of the project skeleton as a fraction of body height.
const LEG_HEIGHTS: f32 = 0.491;

/// How a skeleton becomes a body.
pub(crate) struct Figure {
    /// Body height, or the size of the skeleton if it is no humanoid, metres.
    pub height_m: f32,
    bones: Option<Vec<Bone>>,
}

/// A plain capsule between a joint and its parent.
struct Bone {
    parent: usize,
    child: usize,
    radius_m: f32,
    side: Side,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
    Middle,
}

/// Colours of a figure.
pub(crate) struct Skin {
    torso: Material,
    head: Material,
    left: Material,
    right: Material,
    visor: Option<Vec3>,
}

impl Skin {
    pub(crate) fn solid(palette: &Palette) -> Self {
        Self {
            torso: Material::matt(palette.torso),
            head: Material::matt(palette.head),
            left: Material::matt(palette.left),
            right: Material::matt(palette.right),
            visor: Some(palette.visor),
        }
    }

    /// One tint, translucent.
    pub(crate) fn glass(albedo: Vec3, alpha: f32) -> Self {
        let glass = Material { albedo, gloss: 0.0, alpha, visor: None };
        Self { torso: glass, head: glass, left: glass, right: glass, visor: None }
    }
}

impl Figure {
    pub(crate) fn new(skeleton: &Skeleton) -> Self {
        let template = Skeleton::humanoid(1.0);
        let joints = skeleton.joints();
        let humanoid = joints.len() == template.len()
            && joints.iter().zip(template.joints()).all(|(a, b)| a.name == b.name && a.parent == b.parent);
        let length = |joint: JointIndex| joints[joint.0].offset.length();
        if humanoid {
            let leg = length(h::LEFT_LEG) + length(h::LEFT_FOOT);
            return Self { height_m: (leg / LEG_HEIGHTS).clamp(0.3, 10.0), bones: None };
        }
        let rest = skeleton.forward_kinematics(&pomp_motion::Pose::rest(skeleton));
        let (low, high) =
            rest.positions.iter().fold((Vec3::MAX, Vec3::MIN), |(l, h), &p| (l.min(p), h.max(p)));
        let height_m = (high - low).max_element().clamp(0.3, 10.0);
        let bones = joints
            .iter()
            .enumerate()
            .filter_map(|(child, joint)| {
                let radius_m = (0.16 * joint.offset.length()).clamp(0.008 * height_m, 0.045 * height_m);
                joint.parent.map(|parent| Bone {
                    parent: parent.0,
                    child,
                    radius_m,
                    side: side_of(&joint.name),
                })
            })
            .collect();
        Self { height_m, bones: Some(bones) }
    }

    /// Volumes of a pose; without rotations the head and the hands are turned as the positions suggest.
    pub(crate) fn volumes(&self, positions: &[Vec3], rotations: Option<&[Quat]>, skin: &Skin) -> Vec<Volume> {
        match &self.bones {
            Some(bones) => bones
                .iter()
                .map(|bone| {
                    let material = match bone.side {
                        Side::Left => skin.left,
                        Side::Right => skin.right,
                        Side::Middle => skin.torso,
                    };
                    let (a, b) = (positions[bone.parent], positions[bone.child]);
                    Volume::new(a, b, bone.radius_m, 0.8 * bone.radius_m, material)
                })
                .collect(),
            None => Mannequin { unit: self.height_m, positions, rotations, skin }.volumes(),
        }
    }
}

/// Side from a name such as `LeftFoot`, `right_hand`, `lThigh` or `R_Foot`.
fn side_of(name: &str) -> Side {
    let lower = name.to_ascii_lowercase();
    let initial = |letters: [char; 2]| {
        name.strip_prefix(letters)
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase() || c == '_'))
    };
    if lower.contains("left") || initial(['l', 'L']) {
        Side::Left
    } else if lower.contains("right") || initial(['r', 'R']) {
        Side::Right
    } else {
        Side::Middle
    }
}

/// The body of the project skeleton; lengths are in body heights, thicknesses drawn by eye.
struct Mannequin<'a> {
    unit: f32,
    positions: &'a [Vec3],
    rotations: Option<&'a [Quat]>,
    skin: &'a Skin,
}

/// Axes of a body part.
#[derive(Clone, Copy)]
struct Axes {
    left: Vec3,
    up: Vec3,
    forward: Vec3,
}

impl Axes {
    /// `left` as given, `up` as near as it can be.
    fn new(left: Vec3, up: Vec3) -> Self {
        let left = left.normalize_or(Vec3::X);
        let forward = left.cross(up).normalize_or(left.any_orthonormal_vector());
        Self { left, up: forward.cross(left), forward }
    }
}

impl Mannequin<'_> {
    fn volumes(&self) -> Vec<Volume> {
        let at = |joint: JointIndex| self.positions[joint.0];
        let pelvis = Axes::new(at(h::LEFT_UP_LEG) - at(h::RIGHT_UP_LEG), at(h::SPINE) - at(h::HIPS));
        let chest = Axes::new(at(h::LEFT_ARM) - at(h::RIGHT_ARM), at(h::NECK) - at(h::SPINE1));
        let mut volumes = Vec::with_capacity(32);
        self.torso(pelvis, chest, &mut volumes);
        self.head(chest, &mut volumes);
        for (leg, material) in [
            ([h::LEFT_UP_LEG, h::LEFT_LEG, h::LEFT_FOOT, h::LEFT_TOE], self.skin.left),
            ([h::RIGHT_UP_LEG, h::RIGHT_LEG, h::RIGHT_FOOT, h::RIGHT_TOE], self.skin.right),
        ] {
            self.leg(leg, pelvis, material, &mut volumes);
        }
        for (arm, material) in [
            ([h::LEFT_ARM, h::LEFT_FORE_ARM, h::LEFT_HAND], self.skin.left),
            ([h::RIGHT_ARM, h::RIGHT_FORE_ARM, h::RIGHT_HAND], self.skin.right),
        ] {
            self.arm(arm, material, &mut volumes);
        }
        volumes
    }

    /// A volume with lengths in body heights.
    fn volume(&self, a: Vec3, b: Vec3, radius_a: f32, radius_b: f32, material: Material) -> Volume {
        Volume::new(a, b, radius_a * self.unit, radius_b * self.unit, material)
    }

    fn torso(&self, pelvis: Axes, chest: Axes, out: &mut Vec<Volume>) {
        let at = |joint: JointIndex| self.positions[joint.0];
        let (unit, material) = (self.unit, self.skin.torso);
        let hips = at(h::HIPS);
        let side = pelvis.left * (0.034 * unit);
        let low = hips - pelvis.up * (0.006 * unit);
        out.push(self.volume(low - side, low + side, 0.062, 0.062, material).flattened(pelvis.forward, 0.88));
        let waist = at(h::SPINE1);
        out.push(
            self.volume(hips + pelvis.up * (0.02 * unit), waist, 0.086, 0.076, material)
                .flattened(pelvis.forward, 0.66)
                .flattened(pelvis.up, 0.6),
        );
        let shoulders = (at(h::LEFT_ARM) + at(h::RIGHT_ARM)) * 0.5;
        let top = shoulders - chest.up * (0.034 * unit);
        out.push(
            self.volume(waist + chest.up * (0.01 * unit), top, 0.078, 0.098, material)
                .flattened(chest.forward, 0.66)
                .flattened(chest.up, 0.5),
        );
        out.push(
            self.volume(
                shoulders - chest.up * (0.012 * unit),
                at(h::NECK) + chest.up * (0.01 * unit),
                0.056,
                0.030,
                material,
            )
            .flattened(chest.forward, 0.72),
        );
    }

    fn head(&self, chest: Axes, out: &mut Vec<Volume>) {
        let (neck, head) = (self.positions[h::NECK.0], self.positions[h::HEAD.0]);
        let axes = self.rotations.map_or_else(
            || Axes::new(chest.left, head - neck),
            |rotations| {
                let q = rotations[h::HEAD.0];
                Axes { left: q * Vec3::X, up: q * Vec3::Y, forward: q * Vec3::Z }
            },
        );
        let unit = self.unit;
        out.push(self.volume(neck - chest.up * (0.01 * unit), head, 0.029, 0.027, self.skin.torso));
        let jaw = head + axes.up * (0.012 * unit) + axes.forward * (0.008 * unit);
        let skull = head + axes.up * (0.036 * unit) - axes.forward * (0.006 * unit);
        let material = Material {
            gloss: 0.8,
            visor: self.skin.visor.map(|color| (axes.forward, axes.up, color)),
            ..self.skin.head
        };
        out.push(self.volume(jaw, skull, 0.046, 0.058, material).flattened(axes.left, 0.86));
    }

    fn leg(
        &self,
        [hip, knee, ankle, toe]: [JointIndex; 4],
        pelvis: Axes,
        material: Material,
        out: &mut Vec<Volume>,
    ) {
        let unit = self.unit;
        let [hip, knee, ankle, ball] = [hip, knee, ankle, toe].map(|joint| self.positions[joint.0]);
        out.push(self.volume(hip, knee, 0.052, 0.035, material));
        let shank = (ankle - knee).normalize_or(-Vec3::Y);
        let back = -pelvis.left.cross(-shank).normalize_or(pelvis.forward);
        let calf = knee.lerp(ankle, 0.3) + back * (0.008 * unit);
        out.push(self.volume(knee, calf, 0.034, 0.037, material));
        out.push(self.volume(calf, ankle, 0.037, 0.022, material));
        let foot = foot_axes(ankle, ball, pelvis.left);
        let heel = ankle - foot.up * (0.0205 * unit) - foot.forward * (0.024 * unit);
        let toes = ball + foot.forward * (0.034 * unit);
        let sole = |a: Vec3, b: Vec3, radius_a: f32, radius_b: f32| {
            self.volume(a, b, radius_a, radius_b, material).flattened(foot.up, 0.62)
        };
        out.push(sole(heel, ball, 0.029, 0.024));
        out.push(sole(ball, toes, 0.024, 0.018));
        out.push(self.volume(ankle, ball, 0.023, 0.013, material));
    }

    fn arm(&self, [shoulder, elbow, wrist]: [JointIndex; 3], material: Material, out: &mut Vec<Volume>) {
        let unit = self.unit;
        let palm = self.rotations.map(|rotations| rotations[wrist.0] * Vec3::Y);
        let [shoulder, elbow, wrist] = [shoulder, elbow, wrist].map(|joint| self.positions[joint.0]);
        out.push(self.volume(shoulder, elbow, 0.037, 0.026, material));
        out.push(self.volume(elbow, wrist, 0.027, 0.018, material));
        let along = (wrist - elbow).normalize_or(-Vec3::Y) * unit;
        let hand = self.volume(wrist + along * 0.014, wrist + along * 0.062, 0.024, 0.019, material);
        out.push(match palm {
            Some(palm) => hand.flattened(palm, 0.62),
            None => hand,
        });
    }
}

/// Axes of a foot from ankle and toe joint: in the rest pose the toe joint lies 18° below the ankle's horizon.
fn foot_axes(ankle: Vec3, ball: Vec3, left: Vec3) -> Axes {
    let down_forward = (ball - ankle).normalize_or(Vec3::Z);
    let left =
        (left - down_forward * left.dot(down_forward)).normalize_or(down_forward.any_orthonormal_vector());
    let lift = down_forward.cross(left);
    let (sin, cos) = (0.026f32).atan2(0.080).sin_cos();
    Axes { left, up: lift * cos - down_forward * sin, forward: down_forward * cos + lift * sin }
}

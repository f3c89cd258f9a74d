//! What the policy sees.

use crate::{ACTIONS, Action};
use pomp_motion::glam::{Quat, Vec2, Vec3};
use pomp_motion::legs::LEGS;
use pomp_motion::rotation::{from_yaw, log, yaw_of_direction};
use pomp_motion::{FRAME_RATE_HZ, GlobalPose, Pose, humanoid};
use pomp_terrain::HeightMap;

/// Places ahead of the body whose height the policy sees: along the heading and across it, metres.
pub(crate) const AHEAD_M: [f32; 5] = [-0.3, 0.0, 0.3, 0.6, 0.9];
pub(crate) const ACROSS_M: [f32; 3] = [-0.3, 0.0, 0.3];
/// Points of the feet: ankles and toes.
const FOOT_POINTS: [usize; 4] =
    [humanoid::LEFT_FOOT.0, humanoid::LEFT_TOE.0, humanoid::RIGHT_FOOT.0, humanoid::RIGHT_TOE.0];
pub(crate) const SPINE: [usize; 3] = [humanoid::SPINE.0, humanoid::SPINE1.0, humanoid::SPINE2.0];
/// Keys of the predicted trajectory that the policy sees.
pub(crate) const KEYS_AHEAD: [usize; 3] = [2, 4, 6];

/// Numbers of an observation.
pub const OBSERVATIONS: usize = 9 + 18 + 36 + 12 + 9 + 15 + 72 + 9 + ACTIONS;

/// A body as the policy sees it, in the world; slices have an entry per joint.
#[derive(Clone, Copy)]
pub struct SeenBody<'a> {
    /// Positions and rotations of the joints.
    pub pose: &'a GlobalPose,
    /// Rotations relative to the parents.
    pub local_rotations: &'a [Quat],
    /// Centre of mass, metres, and its velocity, m/s.
    pub center_m: Vec3,
    /// Velocity of the centre of mass, m/s.
    pub velocity_m_s: Vec3,
    /// Velocities of the joints, m/s.
    pub joint_velocities: &'a [Vec3],
    /// Angular velocity of the pelvis, rad/s.
    pub pelvis_angular: Vec3,
    /// Angular velocities relative to the parents, rad/s.
    pub relative_angular: &'a [Vec3],
    /// How far each foot stands from where its target has it, metres; left, right.
    pub displaced_m: [Vec3; 2],
    /// Vertical force under each foot, body weights.
    pub loads_bw: [f32; 2],
}

/// A target at one end of a frame.
#[derive(Clone, Copy)]
pub struct SeenTarget<'a> {
    /// The pose.
    pub local: &'a Pose,
    /// The same pose in the world.
    pub pose: &'a GlobalPose,
    /// Its centre of mass, metres.
    pub center_m: Vec3,
}

/// What an observation is made of.
#[derive(Clone, Copy)]
pub struct Observed<'a> {
    /// The simulated body.
    pub body: SeenBody<'a>,
    /// Its target at the start of the frame.
    pub from: SeenTarget<'a>,
    /// The target at the end of the frame.
    pub to: SeenTarget<'a>,
    /// Trajectory that the kinematic module predicts: positions and headings of the future keys relative to the target's root.
    pub ahead: &'a [(Vec2, f32)],
    /// The ground.
    pub terrain: &'a HeightMap,
    /// The action in force.
    pub action: &'a Action,
}

/// How a body heads: the direction of its pelvis along the ground. Actions and observations are given in this frame.
pub fn heading(pelvis: Quat) -> Quat {
    from_yaw(yaw_of_direction(pelvis * Vec3::Z))
}

/// Writes what the policy sees into `out`, in place of what was there: [`OBSERVATIONS`] numbers in SI units, vectors in the heading frame
/// of the body, in this order: centre of mass relative to the target's, its velocity relative to the target's, the target's velocity;
/// rotation and angular velocity of the pelvis beside the target's; feet relative to the centre of mass and their velocities, of body and
/// target; loads, displacements and clearance of the feet; the trajectory ahead; heights of the ground; rotations of the legs, their
/// errors and rates; errors of the spine; the action in force.
pub fn observe(observed: &Observed<'_>, out: &mut Vec<f32>) {
    let Observed { body, from, to, ahead, terrain, action } = *observed;
    out.clear();
    let (before, target, pose) = (from.pose, to.pose, body.pose);
    let heading = heading(body.local_rotations[0]);
    let into = heading.inverse();
    let mut vector = |value: Vec3| out.extend((into * value).to_array());

    let (center, center_target, velocity) = (body.center_m, to.center_m, body.velocity_m_s);
    let led = (center_target - from.center_m) * FRAME_RATE_HZ;
    vector(center_target - center);
    vector(velocity - led);
    vector(led);

    let (pelvis, wanted) = (pose.rotations[0], target.rotations[0]);
    vector(pelvis * Vec3::Y);
    vector(pelvis * Vec3::Z);
    vector(wanted * Vec3::Y);
    vector(log(wanted * pelvis.inverse()));
    vector(body.pelvis_angular);
    vector(log(wanted * before.rotations[0].inverse()) * FRAME_RATE_HZ);

    for point in FOOT_POINTS {
        vector(pose.positions[point] - center);
        vector(target.positions[point] - center_target);
    }
    for ankle in [FOOT_POINTS[0], FOOT_POINTS[2]] {
        vector(body.joint_velocities[ankle] - velocity);
        vector((target.positions[ankle] - before.positions[ankle]) * FRAME_RATE_HZ - led);
    }
    let ground = |x: f32, z: f32| terrain.height(x, z);
    for displaced in body.displaced_m {
        vector(displaced);
    }
    let clearances = FOOT_POINTS.map(|point| {
        let at = pose.positions[point];
        at.y - ground(at.x, at.z)
    });
    out.extend(body.loads_bw);
    out.extend(clearances);
    for key in KEYS_AHEAD {
        let (position, yaw) = ahead.get(key).copied().unwrap_or_default();
        out.extend([position.x, position.y, yaw]);
    }
    let below = ground(center.x, center.z);
    for along in AHEAD_M {
        for across in ACROSS_M {
            let at = center + heading * Vec3::new(across, 0.0, along);
            out.push(ground(at.x, at.z) - below);
        }
    }
    let (rotations, relative) = (body.local_rotations, body.relative_angular);
    for joint in LEGS.into_iter().flatten() {
        let rotation = rotations[joint.0];
        out.extend(log(rotation).to_array());
        out.extend(log(to.local.local_rotations[joint.0] * rotation.inverse()).to_array());
        out.extend(relative[joint.0].to_array());
    }
    for joint in SPINE {
        out.extend(log(to.local.local_rotations[joint] * rotations[joint].inverse()).to_array());
    }
    out.extend(action.components());
    debug_assert_eq!(out.len(), OBSERVATIONS);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Mirror, SeenBody, SeenTarget};
    use pomp_motion::{PerJoint, Skeleton};

    /// Numbers that look like none in particular, -1 to 1.
    fn drawn(number: usize, axis: usize) -> f32 {
        ((number * 3 + axis) as f32 * 12.9898).sin()
    }

    fn vector(number: usize, size: f32) -> Vec3 {
        Vec3::new(drawn(number, 0), drawn(number, 1), drawn(number, 2)) * size
    }

    fn pose(skeleton: &Skeleton, number: usize) -> Pose {
        let mut pose = Pose::rest(skeleton);
        pose.root_position += vector(number, 0.2);
        for (joint, rotation) in pose.local_rotations.iter_mut().enumerate() {
            *rotation = pomp_motion::rotation::exp(vector(number + joint + 1, 0.4));
        }
        pose
    }

    /// A vector that points somewhere, and one about which something turns, in the mirror at x = 0.
    fn point(of: Vec3) -> Vec3 {
        Vec3::new(-of.x, of.y, of.z)
    }

    fn turn(of: Vec3) -> Vec3 {
        Vec3::new(of.x, -of.y, -of.z)
    }

    /// A body, its target and the ground, as the policy sees them; in the mirror if so asked.
    fn seen(mirrored: bool) -> Vec<f32> {
        let skeleton = Skeleton::humanoid(1.75);
        let map = skeleton.mirror_map();
        let mirror_pose = |pose: Pose| Pose {
            root_position: point(pose.root_position),
            local_rotations: map
                .iter()
                .map(|from| pomp_motion::rotation::exp(turn(log(pose.local_rotations[from.0]))))
                .collect(),
        };
        let side = |pose: Pose| if mirrored { mirror_pose(pose) } else { pose };
        let vectors = |number: usize, flip: fn(Vec3) -> Vec3| -> PerJoint<Vec3> {
            let all: Vec<Vec3> = (0..skeleton.len()).map(|joint| vector(number + joint, 1.0)).collect();
            if mirrored {
                map.iter().map(|from| flip(all[from.0])).collect()
            } else {
                all.into_iter().collect()
            }
        };
        let one = |of: Vec3, flip: fn(Vec3) -> Vec3| if mirrored { flip(of) } else { of };
        let two = |pair: [Vec3; 2]| if mirrored { [point(pair[1]), point(pair[0])] } else { pair };
        let loads = [0.3, 0.7];
        let (body, from, to) =
            (side(pose(&skeleton, 3)), side(pose(&skeleton, 40)), side(pose(&skeleton, 90)));
        let worlds = [&body, &from, &to].map(|pose| skeleton.forward_kinematics(pose));
        let (velocities, rates) = (vectors(200, point), vectors(300, turn));
        let height = |x: f32, z: f32| {
            let x = if mirrored { -x } else { x };
            0.05 * (2.0 * x).sin() + 0.1 * z * x
        };
        let terrain = HeightMap::from_fn(201, 201, [-5.0, -5.0], 0.05, height).unwrap();
        let keys: Vec<(Vec2, f32)> =
            (0..8).map(|key| (Vec2::new(drawn(key, 5), drawn(key, 6)), drawn(key, 7))).collect();
        let ahead: Vec<(Vec2, f32)> = match mirrored {
            true => keys.iter().map(|(at, yaw)| (Vec2::new(-at.x, at.y), -yaw)).collect(),
            false => keys,
        };
        let components: [f32; ACTIONS] = std::array::from_fn(|at| drawn(at, 11));
        let mut action = Action::new(&components);
        if mirrored {
            action = Action::new(&Mirror::of_actions().rows(&components).try_into().unwrap());
        }
        let observed = Observed {
            body: SeenBody {
                pose: &worlds[0],
                local_rotations: &body.local_rotations,
                center_m: one(vector(500, 0.1) + Vec3::Y, point),
                velocity_m_s: one(vector(501, 1.0), point),
                joint_velocities: &velocities,
                pelvis_angular: one(vector(502, 1.0), turn),
                relative_angular: &rates,
                displaced_m: two([vector(503, 0.1), vector(504, 0.1)]),
                loads_bw: if mirrored { [loads[1], loads[0]] } else { loads },
            },
            from: SeenTarget {
                local: &from,
                pose: &worlds[1],
                center_m: one(vector(505, 0.1) + Vec3::Y, point),
            },
            to: SeenTarget { local: &to, pose: &worlds[2], center_m: one(vector(506, 0.1) + Vec3::Y, point) },
            ahead: &ahead,
            terrain: &terrain,
            action: &action,
        };
        let mut out = Vec::new();
        observe(&observed, &mut out);
        out
    }

    #[test]
    fn what_is_seen_of_a_mirrored_world_is_the_mirror_of_what_is_seen() {
        let (plain, mirrored) = (seen(false), Mirror::of_observations().rows(&seen(true)));
        assert_eq!(plain.len(), OBSERVATIONS);
        for (at, (plain, mirrored)) in plain.iter().zip(&mirrored).enumerate() {
            assert!((plain - mirrored).abs() < 2e-3, "number {at}: {plain} and {mirrored}");
        }
    }
}

//! What the policy sees.

use crate::{ACTIONS, Action};
use pomp_motion::glam::{Quat, Vec2, Vec3};
use pomp_motion::legs::LEGS;
use pomp_motion::rotation::{from_yaw, log, yaw_of_direction};
use pomp_motion::{FRAME_RATE_HZ, Pose, humanoid};
use pomp_physics::DynamicModule;
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

/// What an observation is made of.
#[derive(Clone, Copy)]
pub struct Observed<'a> {
    /// The simulated body.
    pub body: &'a DynamicModule,
    /// Its target at the start of the frame and at its end.
    pub from: &'a Pose,
    /// The target at the end of the frame.
    pub to: &'a Pose,
    /// Trajectory that the kinematic module predicts: positions and headings of the future keys relative to the target's root.
    pub ahead: &'a [(Vec2, f32)],
    /// The ground.
    pub terrain: &'a HeightMap,
    /// The action in force.
    pub action: &'a Action,
}

/// How the body heads: the direction of its pelvis along the ground.
pub(crate) fn heading(rotation: Quat) -> Quat {
    from_yaw(yaw_of_direction(rotation * Vec3::Z))
}

impl Observed<'_> {
    /// How the body heads. Actions are given in this frame.
    pub fn heading(&self) -> Quat {
        heading(self.body.local_rotations()[0])
    }
}

/// Writes what the policy sees into `out`, in place of what was there: [`OBSERVATIONS`] numbers in SI units, vectors in the heading frame
/// of the body, in this order: centre of mass relative to the target's, its velocity relative to the target's, the target's velocity;
/// rotation and angular velocity of the pelvis beside the target's; feet relative to the centre of mass and their velocities, of body and
/// target; loads, displacements and clearance of the feet; the trajectory ahead; heights of the ground; rotations of the legs, their
/// errors and rates; errors of the spine; the action in force.
pub fn observe(observed: &Observed<'_>, out: &mut Vec<f32>) {
    let Observed { body, from, to, ahead, terrain, action } = *observed;
    out.clear();
    let skeleton = body.skeleton();
    let (before, target) = (skeleton.forward_kinematics(from), skeleton.forward_kinematics(to));
    let pose = body.pose();
    let into = observed.heading().inverse();
    let mut vector = |value: Vec3| out.extend((into * value).to_array());

    let (center, center_before, center_target) =
        (body.center_of_mass(), body.center_of_mass_in(&before), body.center_of_mass_in(&target));
    let mass_kg: f32 = body.body_masses().iter().sum();
    let velocity = body.momentum() / mass_kg;
    let led = (center_target - center_before) * FRAME_RATE_HZ;
    vector(center_target - center);
    vector(velocity - led);
    vector(led);

    let (pelvis, wanted) = (pose.rotations[0], target.rotations[0]);
    vector(pelvis * Vec3::Y);
    vector(pelvis * Vec3::Z);
    vector(wanted * Vec3::Y);
    vector(log(wanted * pelvis.inverse()));
    vector(body.angular_velocities()[0]);
    vector(log(wanted * before.rotations[0].inverse()) * FRAME_RATE_HZ);

    for point in FOOT_POINTS {
        vector(pose.positions[point] - center);
        vector(target.positions[point] - center_target);
    }
    for ankle in [FOOT_POINTS[0], FOOT_POINTS[2]] {
        vector(body.joint_velocities()[ankle] - velocity);
        vector((target.positions[ankle] - before.positions[ankle]) * FRAME_RATE_HZ - led);
    }
    let ground = |x: f32, z: f32| terrain.height(x, z);
    let feet = body.balancing_feet();
    for foot in feet {
        vector(foot.displaced);
    }
    let clearances = FOOT_POINTS.map(|point| {
        let at = pose.positions[point];
        at.y - ground(at.x, at.z)
    });
    out.extend(feet.map(|foot| foot.load_bw));
    out.extend(clearances);
    for key in KEYS_AHEAD {
        let (position, yaw) = ahead.get(key).copied().unwrap_or_default();
        out.extend([position.x, position.y, yaw]);
    }
    let heading = observed.heading();
    let below = ground(center.x, center.z);
    for along in AHEAD_M {
        for across in ACROSS_M {
            let at = center + heading * Vec3::new(across, 0.0, along);
            out.push(ground(at.x, at.z) - below);
        }
    }
    let (rotations, relative) = (body.local_rotations(), body.velocity().angular);
    for joint in LEGS.into_iter().flatten() {
        let rotation = rotations[joint.0];
        out.extend(log(rotation).to_array());
        out.extend(log(to.local_rotations[joint.0] * rotation.inverse()).to_array());
        out.extend(relative[joint.0].to_array());
    }
    for joint in SPINE {
        out.extend(log(to.local_rotations[joint] * rotations[joint].inverse()).to_array());
    }
    out.extend(action.components());
    debug_assert_eq!(out.len(), OBSERVATIONS);
}

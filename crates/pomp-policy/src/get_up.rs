//! What a policy sees and does of a body that gets up.

use crate::action::approach;
use crate::observation::SPINE;
use crate::{SeenBody, SeenTarget};
use pomp_motion::glam::Vec3;
use pomp_motion::humanoid::{
    HEAD, LEFT_ARM, LEFT_FOOT, LEFT_FORE_ARM, LEFT_HAND, LEFT_LEG, LEFT_TOE, LEFT_UP_LEG, RIGHT_ARM,
    RIGHT_FOOT, RIGHT_FORE_ARM, RIGHT_HAND, RIGHT_LEG, RIGHT_TOE, RIGHT_UP_LEG,
};
use pomp_motion::rotation::{exp, from_yaw, log};
use pomp_motion::{FRAME_RATE_HZ, Pose, RootFrame};
use pomp_terrain::HeightMap;

/// Joints that an action turns, left and right; it turns the spine besides.
pub(crate) const LIMBS: [[usize; 5]; 2] = [
    [LEFT_UP_LEG.0, LEFT_LEG.0, LEFT_FOOT.0, LEFT_ARM.0, LEFT_FORE_ARM.0],
    [RIGHT_UP_LEG.0, RIGHT_LEG.0, RIGHT_FOOT.0, RIGHT_ARM.0, RIGHT_FORE_ARM.0],
];
/// Joints whose places are seen, left and right; that of the head is seen besides.
pub(crate) const PLACES: [[usize; 4]; 2] = [
    [LEFT_FOOT.0, LEFT_TOE.0, LEFT_LEG.0, LEFT_HAND.0],
    [RIGHT_FOOT.0, RIGHT_TOE.0, RIGHT_LEG.0, RIGHT_HAND.0],
];
/// Bodies whose loads are seen together: foot, shank and arm.
const BEARERS: [[&[usize]; 3]; 2] = [
    [&[LEFT_FOOT.0, LEFT_TOE.0], &[LEFT_UP_LEG.0, LEFT_LEG.0], &[LEFT_FORE_ARM.0, LEFT_HAND.0]],
    [&[RIGHT_FOOT.0, RIGHT_TOE.0], &[RIGHT_UP_LEG.0, RIGHT_LEG.0], &[RIGHT_FORE_ARM.0, RIGHT_HAND.0]],
];
const PLACE_COUNT: usize = 2 * PLACES[0].len();
const JOINT_COUNT: usize = 2 * LIMBS[0].len();

/// Numbers of an action of a body that gets up: rotations of hip, knee, ankle, shoulder and elbow of both sides and of the spine; three
/// each.
pub const GET_UP_ACTIONS: usize = 3 * (JOINT_COUNT + 1);

/// Numbers of an observation of a body that gets up.
pub const GET_UP_OBSERVATIONS: usize =
    27 + 6 * PLACE_COUNT + 6 + PLACE_COUNT + 2 + 7 + 9 * JOINT_COUNT + 6 * SPINE.len() + GET_UP_ACTIONS + 6;

/// What a component of 1 means, radians.
const ROTATION_RAD: f32 = 0.25;
/// How far the ground is seen, metres.
const GROUND_M: f32 = 0.4;

/// Rotations that are added to the target of a body that gets up, in units of 0.25 rad and in the frames of the joints' parents; components
/// as in [`GET_UP_ACTIONS`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GetUpAction([f32; GET_UP_ACTIONS]);

impl Default for GetUpAction {
    fn default() -> Self {
        Self([0.0; GET_UP_ACTIONS])
    }
}

impl GetUpAction {
    /// The action of a slice of [`GET_UP_ACTIONS`] components, each limited to ±3; one that is not finite is 0.
    ///
    /// # Panics
    /// A slice of another length.
    pub fn of_slice(components: &[f32]) -> Self {
        let components: [f32; GET_UP_ACTIONS] =
            components.try_into().expect("an action has its number of components");
        Self(components.map(crate::action::limited))
    }

    /// Its components.
    pub fn components(&self) -> &[f32; GET_UP_ACTIONS] {
        &self.0
    }

    /// This action a frame later, when `decided` has been decided on.
    pub fn towards(&self, decided: &Self) -> Self {
        Self(std::array::from_fn(|i| approach(self.0[i], decided.0[i])))
    }

    /// Turns the joints of a target.
    pub fn turn(&self, pose: &mut Pose) {
        let limbs = LIMBS.into_iter().flatten().map(|joint| (joint, 1.0));
        let spine = SPINE.map(|joint| (joint, 1.0 / 3.0));
        let vector = |at: usize| Vec3::from_slice(&self.0[3 * at..3 * at + 3]);
        let turns = limbs.enumerate().chain(spine.into_iter().map(|joint| (JOINT_COUNT, joint)));
        for (at, (joint, share)) in turns {
            let rotation = &mut pose.local_rotations[joint];
            *rotation = (exp(vector(at) * ROTATION_RAD * share) * *rotation).normalize();
        }
    }
}

/// A body on its way up.
#[derive(Clone, Copy)]
pub struct RisingBody<'a> {
    /// The simulated body.
    pub body: SeenBody<'a>,
    /// Vertical force of the ground on every body, body weights.
    pub ground_bw: &'a [f32],
    /// Its target at the start of the frame.
    pub from: SeenTarget<'a>,
    /// The target at the end of the frame.
    pub to: SeenTarget<'a>,
    /// Where it will stand.
    pub stance: RootFrame,
    /// Share of the way up that the target has gone, and how far the pelvis is behind it: 0 close, 1 hopelessly.
    pub progress: [f32; 2],
    /// The ground.
    pub terrain: &'a HeightMap,
    /// The action in force.
    pub action: &'a GetUpAction,
}

/// Writes what the policy sees into `out`, in place of what was there: [`GET_UP_OBSERVATIONS`] numbers in SI units, vectors in a frame that
/// heads as the body will stand, in this order: centre of mass relative to the target's, its velocity, the target's velocity; axes of the
/// pelvis and of the target's; rotation of the pelvis to the target's and its angular velocity; places of ankles, toes, knees, hands and
/// head relative to the centre of mass, of body and target; their heights over the ground; loads of feet, shanks, arms and of all else;
/// rotations of the limbs, their errors and rates; rotations of the spine and their errors; the action in force; progress; heights of the
/// ground around.
pub fn observe_get_up(rising: &RisingBody<'_>, out: &mut Vec<f32>) {
    let RisingBody { body, ground_bw, from, to, stance, progress, terrain, action } = *rising;
    out.clear();
    let (pose, target) = (body.pose, to.pose);
    let facing = from_yaw(stance.yaw);
    let into = facing.inverse();
    let mut vector = |value: Vec3| out.extend((into * value).to_array());
    let (center, center_target) = (body.center_m, to.center_m);
    vector(center_target - center);
    vector(body.velocity_m_s);
    vector((center_target - from.center_m) * FRAME_RATE_HZ);
    let (pelvis, wanted) = (pose.rotations[0], target.rotations[0]);
    for rotation in [pelvis, wanted] {
        vector(rotation * Vec3::Y);
        vector(rotation * Vec3::Z);
    }
    vector(log(wanted * pelvis.inverse()));
    vector(body.pelvis_angular);
    let places = PLACES.into_iter().flatten().chain([HEAD.0]);
    for joint in places {
        vector(pose.positions[joint] - center);
        vector(target.positions[joint] - center_target);
    }
    let ground = |x: f32, z: f32| terrain.height(x, z);
    let over = |joint: usize| {
        let at = pose.positions[joint];
        at.y - ground(at.x, at.z)
    };
    out.extend(PLACES.into_iter().flatten().chain([0, HEAD.0]).map(over));
    let borne = |bodies: &[usize]| bodies.iter().map(|body| ground_bw[*body]).sum::<f32>();
    let loads = BEARERS.map(|side| side.map(borne));
    out.extend(loads.as_flattened());
    out.push(ground_bw.iter().sum::<f32>() - loads.as_flattened().iter().sum::<f32>());
    let error = |joint: usize| log(to.local.local_rotations[joint] * body.local_rotations[joint].inverse());
    for joint in LIMBS.into_iter().flatten() {
        out.extend(log(body.local_rotations[joint]).to_array());
        out.extend(error(joint).to_array());
        out.extend(body.relative_angular[joint].to_array());
    }
    for joint in SPINE {
        out.extend(log(body.local_rotations[joint]).to_array());
        out.extend(error(joint).to_array());
    }
    out.extend(action.components());
    out.extend(progress);
    let below = ground(center.x, center.z);
    for way in [Vec3::Z, Vec3::NEG_Z, Vec3::X, Vec3::NEG_X] {
        let at = center + facing * way * GROUND_M;
        out.push(ground(at.x, at.z) - below);
    }
    debug_assert_eq!(out.len(), GET_UP_OBSERVATIONS);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observation::tests::{drawn, seen};
    use crate::{Mirror, Observed};
    use pomp_motion::Skeleton;

    /// What is seen of a body that gets up; in the mirror if so asked.
    fn seen_rising(mirrored: bool) -> Vec<f32> {
        let skeleton = Skeleton::humanoid(1.75);
        let loads: Vec<f32> = (0..skeleton.len()).map(|body| drawn(body, 17)).collect();
        let map = skeleton.mirror_map();
        let loads: Vec<f32> = if mirrored { map.iter().map(|from| loads[from.0]).collect() } else { loads };
        let components: Vec<f32> = (0..GET_UP_ACTIONS).map(|at| drawn(at, 19)).collect();
        let components = if mirrored { Mirror::of_get_up_actions().rows(&components) } else { components };
        let action = GetUpAction::of_slice(&components);
        let stance = RootFrame { origin: Vec3::ZERO, yaw: if mirrored { -0.7 } else { 0.7 } };
        seen(mirrored, |observed: &Observed<'_>, out: &mut Vec<f32>| {
            let Observed { body, from, to, terrain, .. } = *observed;
            let progress = [0.4, 0.2];
            let rising =
                RisingBody { body, ground_bw: &loads, from, to, stance, progress, terrain, action: &action };
            observe_get_up(&rising, out);
        })
    }

    #[test]
    fn what_is_seen_of_a_mirrored_world_is_the_mirror_of_what_is_seen() {
        let plain = seen_rising(false);
        let mirrored = Mirror::of_get_up_observations().rows(&seen_rising(true));
        assert_eq!(plain.len(), GET_UP_OBSERVATIONS);
        for (at, (plain, mirrored)) in plain.iter().zip(&mirrored).enumerate() {
            assert!((plain - mirrored).abs() < 2e-3, "number {at}: {plain} and {mirrored}");
        }
    }

    #[test]
    fn an_action_turns_limbs_and_spine_and_is_approached() {
        let mut components = vec![0.0; GET_UP_ACTIONS];
        (components[0], components[3], components[GET_UP_ACTIONS - 3]) = (1.0, f32::NAN, 3.0);
        let decided = GetUpAction::of_slice(&components);
        let mut pose = Pose::rest(&Skeleton::humanoid(1.75));
        decided.turn(&mut pose);
        let turned = |joint: usize| log(pose.local_rotations[joint]).x;
        assert!((turned(LEFT_UP_LEG.0) - ROTATION_RAD).abs() < 1e-4 && turned(LEFT_LEG.0).abs() < 1e-6);
        for joint in SPINE {
            assert!((turned(joint) - ROTATION_RAD).abs() < 1e-4, "a third of three units");
        }
        let near = (0..12).fold(GetUpAction::default(), |action, _| action.towards(&decided));
        let apart = near.components().iter().zip(decided.components()).map(|(a, b)| (a - b).abs());
        assert!(apart.fold(0.0, f32::max) < 1e-3);
    }
}

//! Foot locking: ankles at the predicted joint positions, standing feet held, swinging feet cleared (ours).
//!
//! Acts at `on_target`, on the pose in module space. The kinematic module is accurate to a centimetre or two, with another error in
//! each frame. Contacts need more: a swinging toe that touches the ground is held there by friction and trips the body, and a standing
//! foot that moves by a centimetre at 60 Hz strikes the ground. So inverse kinematics puts the ankles at the module's joint
//! positions (its rotations add up their errors along the leg), keeps a standing foot where it landed until it swings, and lifts a
//! swinging foot to a configured clearance. Every correction fades in and out, because a jump of the target acts like a blow.
//!
//! The ground is the one that the module is shown; [`super::foot_placement`] takes the pose from there to the terrain itself.
//!
//! Cost: 0.1 % of a frame.
//!
//! Evidence: `pomp bench --config configs/bench/layers.toml`, with its figures in docs/layers.md.

use super::sole::Sole;
use glam::{Quat, Vec2, Vec3};
use pomp_config::{Fields, OutOfRange, Validate};
use pomp_motion::features::OutputFrame;
use pomp_motion::legs::{LEGS, bend_leg};
use pomp_motion::{Gait, JointIndex, Pose, RootFrame, Skeleton, humanoid};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much faster than the other one a foot is while it passes from standing to swinging, m/s.
const SWING_FROM_MPS: f32 = 0.4;
const SWING_FULLY_MPS: f32 = 1.2;
/// Speed of a foot that stands on nothing, however fast the other one is (the flight of a run), m/s.
const FLIGHT_FROM_MPS: f32 = 1.2;
const FLIGHT_FULLY_MPS: f32 = 2.4;
/// Speed of the root from which on, and at which fully, the clearance is that of fast motion, m/s.
const FAST_FROM_MPS: f32 = 1.4;
const FAST_FULLY_MPS: f32 = 2.4;
/// Time in which a foot passes from standing to swinging at the quickest, seconds.
const PASSAGE_S: f32 = 0.1;
/// Time constant with which the pelvis follows the height that its standing feet ask for, seconds.
const SHIFT_S: f32 = 0.1;
/// Farthest that the pelvis is moved to set the standing feet on the ground, metres.
const LARGEST_SHIFT_M: f32 = 0.1;
/// Farthest that a standing foot is held behind or ahead of the module's, metres; beyond, it is dragged along.
const LARGEST_HOLD_M: f32 = 0.06;

/// Settings of foot locking.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FootLockingConfig {
    /// If off, the feet are where the predicted rotations put them. Default true.
    pub enabled: bool,
    /// Clearance of a swinging foot above the ground, metres, 0 to 0.2. With too little the character trips over its toes; with too
    /// much it looks like marching. Default 0.05.
    pub swing_clearance_m: f32,
    /// Clearance at 2.4 m/s and faster, metres, 0 to 0.2; from 1.4 m/s on, the clearance increases towards this value. A body that is
    /// a few centimetres below its target in flight lands while the foot still swings forward, stays behind its target for the whole
    /// stance, and stumbles. Default 0.1.
    pub fast_swing_clearance_m: f32,
    /// Clearance of a swinging foot that is ahead of the other one, for each (m/s)² of its speed, s²/m, 0 to 0.1: a foot that slows down
    /// to land comes down meanwhile, as a person's does, and is not set down afterwards. With 0, the default, the whole swing has the
    /// clearance above.
    pub landing_clearance_s2_m: f32,
    /// Share of the toes, where they are slower than the ankle, in the speed by which a foot stands or swings, 0 to 1. The heel of a foot
    /// that pushes off rises while its toes still bear; by the ankle alone, with 0, the default, it swings from then on, and the load
    /// passes to the other foot in a moment.
    pub toe_speed_share: f32,
}

impl Default for FootLockingConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            swing_clearance_m: 0.05,
            fast_swing_clearance_m: 0.1,
            landing_clearance_s2_m: 0.0,
            toe_speed_share: 0.0,
        }
    }
}

impl FootLockingConfig {
    /// The speeds by which the feet stand or swing, m/s.
    fn speeds_mps(&self, predicted: &PredictedFeet) -> [f32; 2] {
        std::array::from_fn(|leg| {
            let (ankle, toes) = (predicted.speeds_mps[leg], predicted.toe_speeds_mps[leg]);
            ankle + self.toe_speed_share * (toes.min(ankle) - ankle)
        })
    }

    /// Clearance of a foot with the speed `foot_mps`, which is ahead of the other one or not, metres.
    fn clearance_m(&self, root_mps: f32, foot_mps: f32, ahead: bool) -> f32 {
        let fast = (root_mps - FAST_FROM_MPS) / (FAST_FULLY_MPS - FAST_FROM_MPS);
        let most = self.swing_clearance_m
            + (self.fast_swing_clearance_m - self.swing_clearance_m) * fast.clamp(0.0, 1.0);
        if ahead && self.landing_clearance_s2_m > 0.0 {
            most.min(self.landing_clearance_s2_m * foot_mps * foot_mps)
        } else {
            most
        }
    }
}

impl Validate for FootLockingConfig {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        fields.within("swing_clearance_m", self.swing_clearance_m, 0.0..=0.2)?;
        fields.within("fast_swing_clearance_m", self.fast_swing_clearance_m, 0.0..=0.2)?;
        fields.within("landing_clearance_s2_m", self.landing_clearance_s2_m, 0.0..=0.1)?;
        fields.within("toe_speed_share", self.toe_speed_share, 0.0..=1.0)
    }
}

/// What the kinematic module says of both feet, in the world.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PredictedFeet {
    /// Positions of the ankles, metres.
    pub ankles: [Vec3; 2],
    /// Their speeds along the ground, m/s.
    pub speeds_mps: [f32; 2],
    /// The same of the toes.
    pub toe_speeds_mps: [f32; 2],
    /// That of the root, m/s.
    pub root_speed_mps: f32,
    /// Which one is ahead of the other along the velocity of the root.
    pub ahead: [bool; 2],
}

impl PredictedFeet {
    /// Those of `output` with the root at `root`.
    pub fn of(output: &OutputFrame, root: &RootFrame) -> Self {
        let ankles = [humanoid::LEFT_FOOT, humanoid::RIGHT_FOOT];
        let [left, right] = ankles.map(|ankle| output.positions_root[ankle.0]);
        let lead = Vec2::new(left.x - right.x, left.z - right.z).dot(output.root_velocity);
        let speed = |joint: JointIndex| {
            let velocity = output.velocities_root[joint.0];
            velocity.x.hypot(velocity.z)
        };
        Self {
            ankles: ankles.map(|ankle| root.to_world(output.positions_root[ankle.0])),
            speeds_mps: ankles.map(speed),
            toe_speeds_mps: [humanoid::LEFT_TOE, humanoid::RIGHT_TOE].map(speed),
            root_speed_mps: output.root_velocity.length(),
            ahead: [lead > 0.0, lead < 0.0],
        }
    }
}

/// The feet of one character: what its skeleton needs, and what they are about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FootLocking {
    sole: Sole,
    config: FootLockingConfig,
    feet: [Foot; 2],
    /// Height that the pelvis is moved by, metres.
    shift_m: f32,
}

/// One foot.
#[derive(Clone, Copy, Debug, Default)]
struct Foot {
    /// How far it has left standing for the swing past the other one, 0 to 1.
    passing: f32,
    /// How far it stands on nothing, 0 to 1.
    flying: f32,
    /// Where its ball stands on the ground plane, while it stands.
    anchor: Option<Vec2>,
}

impl Foot {
    fn standing(&self) -> f32 {
        (1.0 - self.passing) * (1.0 - self.flying)
    }

    /// Lets the foot pass between standing and swinging as its speed asks.
    fn pass(&mut self, speed_mps: f32, other_mps: f32, dt_s: f32) {
        let step = dt_s / PASSAGE_S;
        let towards = |now: &mut f32, asked: f32| *now += (asked.clamp(0.0, 1.0) - *now).clamp(-step, step);
        towards(
            &mut self.passing,
            (speed_mps - other_mps - SWING_FROM_MPS) / (SWING_FULLY_MPS - SWING_FROM_MPS),
        );
        towards(&mut self.flying, (speed_mps - FLIGHT_FROM_MPS) / (FLIGHT_FULLY_MPS - FLIGHT_FROM_MPS));
    }

    /// The way along the ground from `ball`, where the module has it, to where it is held.
    fn hold(&mut self, ball: Vec2) -> Vec2 {
        // From half standing on, so that the hold begins and ends at nothing.
        let hold = (2.0 * self.standing() - 1.0).max(0.0);
        if hold == 0.0 {
            self.anchor = None;
            return Vec2::ZERO;
        }
        let anchor = self.anchor.get_or_insert(ball);
        let offset = (*anchor - ball).clamp_length_max(LARGEST_HOLD_M);
        *anchor = ball + offset;
        offset * hold
    }
}

impl FootLocking {
    pub fn new(body_height_m: f32, config: FootLockingConfig) -> Self {
        Self { sole: Sole { body_height_m }, config, feet: [Foot::default(); 2], shift_m: 0.0 }
    }

    /// Forgets where the feet stood.
    pub fn forget(&mut self) {
        *self = Self::new(self.sole.body_height_m, self.config);
    }

    /// The root and all that leads it is moved by `way` along the ground, so where the feet stand is.
    pub fn shift(&mut self, way: Vec2) {
        for foot in &mut self.feet {
            if let Some(anchor) = &mut foot.anchor {
                *anchor += way;
            }
        }
    }

    /// Sets the feet of `target`, `dt_s` after the last one. `gait` tells whether a foot is on the ground at all.
    pub fn set(
        &mut self,
        skeleton: &Skeleton,
        target: &mut Pose,
        predicted: &PredictedFeet,
        gait: &[f32; Gait::COUNT],
        ground: &impl Fn(f32, f32) -> f32,
        dt_s: f32,
    ) {
        let PredictedFeet { ankles, root_speed_mps, ahead, .. } = *predicted;
        let speeds_mps = self.config.speeds_mps(predicted);
        let grounded =
            (gait[Gait::Stand.index()] + gait[Gait::Walk.index()] + gait[Gait::Crouch.index()]).min(1.0);
        for (leg, foot) in self.feet.iter_mut().enumerate() {
            foot.pass(speeds_mps[leg], speeds_mps[1 - leg], dt_s);
        }
        let world = skeleton.forward_kinematics(target);
        let lowest: [f32; 2] =
            std::array::from_fn(|leg| self.sole.lowest(&world, LEGS[leg], ankles[leg], ground));

        let bearing = self.feet.map(|foot| foot.standing());
        let borne = bearing[0] + bearing[1];
        let asked =
            if borne > 0.0 { -(bearing[0] * lowest[0] + bearing[1] * lowest[1]) / borne } else { 0.0 };
        let asked = asked.clamp(-LARGEST_SHIFT_M, LARGEST_SHIFT_M) * grounded;
        self.shift_m += (asked - self.shift_m) * (dt_s / (SHIFT_S + dt_s));

        for (leg, joints) in LEGS.into_iter().enumerate() {
            let [_, _, ankle, toe] = joints;
            let height = lowest[leg] + self.shift_m;
            let foot = &mut self.feet[leg];
            let clearance_m = self.config.clearance_m(root_speed_mps, speeds_mps[leg], ahead[leg]);
            // Only the foot that passes the other is lifted: lifting both would lift the body, frame after frame.
            let lift = foot.passing * (clearance_m - height).max(0.0);
            let set_down = -foot.standing() * height.clamp(-LARGEST_SHIFT_M, LARGEST_SHIFT_M) * grounded;
            let ball = world.positions[toe.0] + ankles[leg] - world.positions[ankle.0];
            let hold = foot.hold(Vec2::new(ball.x, ball.z));
            let to = ankles[leg] + Vec3::new(hold.x, lift + set_down, hold.y);
            bend_leg(skeleton, target, &world, joints, to, Quat::IDENTITY);
        }
        target.root_position.y += self.shift_m;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DT_S: f32 = 1.0 / 60.0;

    fn clearance(swing_clearance_m: f32) -> FootLockingConfig {
        FootLockingConfig { swing_clearance_m, ..FootLockingConfig::default() }
    }

    fn walking_pose(skeleton: &Skeleton) -> Pose {
        let mut pose = Pose::rest(skeleton);
        let bend = |degrees: f32| Quat::from_rotation_x(degrees.to_radians());
        pose.local_rotations[humanoid::LEFT_UP_LEG.0] = bend(-20.0);
        pose.local_rotations[humanoid::LEFT_LEG.0] = bend(22.0);
        pose
    }

    fn flat() -> impl Fn(f32, f32) -> f32 {
        |_, _| 0.0
    }

    fn ankles_of(skeleton: &Skeleton, pose: &Pose) -> [Vec3; 2] {
        let world = skeleton.forward_kinematics(pose);
        LEGS.map(|leg| world.positions[leg[2].0])
    }

    #[test]
    fn a_dragging_swing_foot_is_lifted_and_the_standing_one_set_down() {
        let skeleton = Skeleton::humanoid(1.75);
        let ground = flat();
        let mut start = walking_pose(&skeleton);
        start.root_position.y += 0.03;
        let predicted = PredictedFeet {
            ankles: ankles_of(&skeleton, &start),
            speeds_mps: [3.0, 0.1],
            toe_speeds_mps: [3.0, 0.1],
            root_speed_mps: 1.0,
            ahead: [false; 2],
        };
        let mut footing = FootLocking::new(1.75, clearance(0.04));
        let lowest = |footing: &FootLocking, pose: &Pose, leg: usize| {
            let world = skeleton.forward_kinematics(pose);
            footing.sole.lowest(&world, LEGS[leg], world.positions[LEGS[leg][2].0], &ground)
        };
        let dragging = lowest(&footing, &start, 0) - lowest(&footing, &start, 1);
        let mut target = start.clone();
        for _ in 0..60 {
            target = start.clone();
            footing.set(&skeleton, &mut target, &predicted, &Gait::Walk.one_hot(), &ground, DT_S);
        }
        let (left, right) = (lowest(&footing, &target, 0), lowest(&footing, &target, 1));
        println!(
            "clearance {dragging:.3} m before, {:.3} m after; standing foot at {right:.4} m",
            left - right
        );
        assert!(dragging < 0.035, "the test starts with a foot that is too low");
        assert!((left - right - 0.04).abs() < 2e-3);
        assert!(right.abs() < 1e-3, "the standing foot is on the ground");
    }

    #[test]
    fn feet_that_stand_where_they_should_stay_there() {
        let skeleton = Skeleton::humanoid(1.75);
        let mut target = Pose::rest(&skeleton);
        let before = skeleton.forward_kinematics(&target);
        let predicted = PredictedFeet {
            ankles: ankles_of(&skeleton, &target),
            speeds_mps: [0.0, 0.0],
            toe_speeds_mps: [0.0, 0.0],
            root_speed_mps: 0.0,
            ahead: [false; 2],
        };
        let mut footing = FootLocking::new(1.75, clearance(0.04));
        footing.set(&skeleton, &mut target, &predicted, &Gait::Stand.one_hot(), &flat(), DT_S);
        let after = skeleton.forward_kinematics(&target);
        // Knees of straight legs may give by a millimetre or two: a leg is never stretched to its very length.
        for joint in [humanoid::HIPS, humanoid::LEFT_FOOT, humanoid::LEFT_TOE, humanoid::RIGHT_FOOT] {
            let moved = after.positions[joint.0].distance(before.positions[joint.0]);
            assert!(moved < 1e-3, "joint {} moved by {moved} m", joint.0);
        }
    }

    /// A walk in which the module's feet tremble: the left stands while the right passes, and the other way round.
    fn trembling_walk(skeleton: &Skeleton, frame: usize) -> (Pose, PredictedFeet) {
        let mut pose = Pose::rest(skeleton);
        let tremble = if frame.is_multiple_of(2) { 0.008 } else { -0.008 };
        pose.root_position += Vec3::new(0.0, tremble - 0.06, 0.01 * frame as f32 - 0.2);
        let mut ankles = ankles_of(skeleton, &Pose::rest(skeleton));
        let step = |frame: usize| 0.6 * (frame as f32 / 30.0).min(1.0);
        ankles[0].z += tremble;
        ankles[0].y += tremble;
        ankles[1].z += step(frame) - 0.3;
        ankles[1].y += 0.05 * (std::f32::consts::PI * step(frame) / 0.6).sin() + tremble;
        (
            pose,
            PredictedFeet {
                ankles,
                speeds_mps: [0.15, if frame < 30 { 1.2 } else { 0.2 }],
                toe_speeds_mps: [0.15, if frame < 30 { 1.2 } else { 0.2 }],
                root_speed_mps: 1.0,
                ahead: [false; 2],
            },
        )
    }

    #[test]
    fn a_standing_foot_is_still_though_the_module_trembles() {
        let skeleton = Skeleton::humanoid(1.75);
        let ground = flat();
        let mut footing = FootLocking::new(1.75, clearance(0.02));
        let mut places = Vec::new();
        for frame in 0..40 {
            let (mut target, predicted) = trembling_walk(&skeleton, frame);
            footing.set(&skeleton, &mut target, &predicted, &Gait::Walk.one_hot(), &ground, DT_S);
            places.push(ankles_of(&skeleton, &target));
        }
        for pair in places[15..30].windows(2) {
            let moved = pair[1][0].distance(pair[0][0]);
            assert!(moved < 2e-3, "the standing foot moves by {moved} m in a frame");
        }
        let lands = places[36..].windows(2).all(|pair| pair[1][1].distance(pair[0][1]) < 2e-3);
        assert!(lands, "the foot that has landed is held too");
    }

    #[test]
    fn a_foot_that_slows_down_ahead_of_the_other_comes_down() {
        let config = FootLockingConfig { landing_clearance_s2_m: 0.003, ..FootLockingConfig::default() };
        assert_eq!(config.clearance_m(1.0, 1.0, false), config.swing_clearance_m);
        assert_eq!(config.clearance_m(1.0, 6.0, true), config.swing_clearance_m);
        assert!((config.clearance_m(1.0, 2.0, true) - 0.012).abs() < 1e-6);
        assert_eq!(FootLockingConfig::default().clearance_m(1.0, 0.1, true), config.swing_clearance_m);
    }

    #[test]
    fn a_foot_whose_toes_rest_while_its_heel_rises_stands_on() {
        let mut predicted = trembling_walk(&Skeleton::humanoid(1.75), 0).1;
        (predicted.speeds_mps, predicted.toe_speeds_mps) = ([0.1, 1.3], [0.8, 0.1]);
        let by = |toe_speed_share| FootLockingConfig { toe_speed_share, ..FootLockingConfig::default() };
        assert_eq!(by(0.0).speeds_mps(&predicted), [0.1, 1.3]);
        let [left, right] = by(0.5).speeds_mps(&predicted);
        assert!(
            left == 0.1 && (right - 0.7).abs() < 1e-6,
            "{left}, which toes that are faster do not change, and {right} m/s"
        );
        let standing = |config: FootLockingConfig| {
            let mut foot = Foot::default();
            let [left, right] = config.speeds_mps(&predicted);
            (0..20).for_each(|_| foot.pass(right, left, DT_S));
            foot.standing()
        };
        assert!(standing(by(0.0)) < 1e-3);
        assert!(standing(by(1.0)) > 0.999);
    }

    #[test]
    fn a_foot_never_jumps_when_standing_and_swinging_change() {
        let skeleton = Skeleton::humanoid(1.75);
        let ground = flat();
        let mut footing = FootLocking::new(1.75, clearance(0.02));
        let mut last: Option<([Vec3; 2], [Vec3; 2])> = None;
        for frame in 0..60 {
            let (mut target, mut predicted) = trembling_walk(&skeleton, frame);
            if frame % 20 >= 10 {
                predicted.speeds_mps.swap(0, 1);
            }
            footing.set(&skeleton, &mut target, &predicted, &Gait::Walk.one_hot(), &ground, DT_S);
            let places = ankles_of(&skeleton, &target);
            if let Some((before, asked)) = last {
                for leg in 0..2 {
                    let moved = places[leg].distance(before[leg]);
                    let allowed = predicted.ankles[leg].distance(asked[leg]) + 0.02;
                    assert!(moved < allowed, "frame {frame}: {moved} m, the module's {allowed}");
                }
            }
            last = Some((places, predicted.ankles));
        }
    }
}

//! Which feet stand, and where those that swing are set.

use super::catching::Falling;
use super::reaction::LIFTS_FROM_M;
use super::standing::undisturbed;
use super::{Led, along_ground};
use crate::ground::Ground;
use crate::world::World;
use crate::{BalanceConfig, DynamicModule};
use pomp_articulated::Contact;
use pomp_motion::glam::{Quat, Vec3};
use pomp_motion::legs::{LEGS, Leg, bend_leg};
use pomp_motion::{GlobalPose, Pose, humanoid};
use serde::{Deserialize, Serialize};

/// Foot and toes of both legs.
pub(super) const FEET: [[usize; 2]; 2] =
    [[humanoid::LEFT_FOOT.0, humanoid::LEFT_TOE.0], [humanoid::RIGHT_FOOT.0, humanoid::RIGHT_TOE.0]];
/// Distance from the ground at which a foot does not touch it, metres.
const APART_M: f32 = 0.005;
/// A foot that bears less than this share of the weight swings.
pub(super) const SWING_LOAD: f32 = 0.1;
/// A foot that is expected to bear this share of the weight alone stands.
const BEARING_LOAD: f32 = 0.1;
/// Most that a swinging foot is lifted, metres.
const MOST_LIFT_M: f32 = 0.1;
/// Share of its length to which a leg is stretched at most by a move of its foot.
const STRETCH: f32 = 0.99;
/// Moves of a foot that are too small to set it anew, metres.
const SAME_M: f32 = 1e-4;

/// A foot whose target is moved so that the body is caught.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct MovedFoot {
    /// How far, world, metres.
    way: Vec3,
    /// How it is turned, world.
    turn: Quat,
    /// How much higher it is set because the ground is so much higher where the body has it, metres.
    relief_m: f32,
    /// Vertical force of the ground in the last frame, body weights.
    load: f32,
    /// How far it has come to bear since it landed, 0 to 1.
    bears: f32,
}

impl MovedFoot {
    /// How far its target is moved, world, metres.
    pub(super) fn way(&self) -> Vec3 {
        self.way
    }

    /// Vertical force of the ground in the last frame, body weights.
    pub(super) fn load(&self) -> f32 {
        self.load
    }
}

/// How a foot is on the ground.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Footing {
    /// How near it is to touching it, 0 to 1.
    pub(crate) touches: f32,
    /// How far it stands, 0 to [`Self::touches`].
    pub(crate) stands: f32,
}

/// Heel, ball and tip of the toes of a sole, world.
pub(super) fn sole(pose: &GlobalPose, height_m: f32, leg: usize) -> [Vec3; 3] {
    let [foot, toe] = FEET[leg];
    let below = |joint: usize, down: f32, ahead: f32| {
        pose.positions[joint] + pose.rotations[joint] * Vec3::new(0.0, -down, ahead) * height_m
    };
    [
        below(foot, humanoid::ANKLE_HEIGHT, -0.028),
        below(toe, humanoid::TOE_HEIGHT, 0.0),
        below(toe, humanoid::TOE_HEIGHT, 0.024),
    ]
}

/// How much higher the ground under a sole is when it is moved `aside`, metres. It is what the middle one of its three points has under it: an
/// end that hangs over an edge or touches a riser does not count.
fn relief(ground: &Ground, sole: [Vec3; 3], aside: Vec3) -> f32 {
    let under = |aside: Vec3| {
        let [a, b, c] = sole.map(|point| point.y - height(ground, point + aside));
        a.max(b).min(a.min(b).max(c))
    };
    under(aside) - under(Vec3::ZERO)
}

/// Height of a point over the ground, metres.
pub(super) fn height(ground: &Ground, point: Vec3) -> f32 {
    -ground.depth(point).map_or(0.0, |(depth, _)| depth)
}

impl World {
    /// How the feet of ragdoll `member` are on the ground, whose target is `led`. A foot stands where it touches the ground and a part of
    /// its sole rests on it in the target, and, where the frame's expectation is followed, as far as it is expected to bear.
    pub(crate) fn footing(&self, module: &DynamicModule, member: usize, led: &Led) -> [Footing; 2] {
        let (from, to) = (&led.from, &led.to);
        let config = &module.config.balance;
        let body = config.footing_at_body.then(|| self.motion(member).pose);
        let height_m = module.body_height_m();
        let falling = |value: f32, end: f32| ((end - value) / (0.5 * end)).clamp(0.0, 1.0);
        std::array::from_fn(|leg| {
            let on_foot =
                |contact: &&Contact| contact.on.body == member && FEET[leg].contains(&contact.on.link);
            let distances = self.contacts().iter().filter(on_foot).map(|contact| contact.distance as f32);
            let touches = (1.0 - distances.fold(f32::INFINITY, f32::min) / APART_M).clamp(0.0, 1.0);
            let ankle = FEET[leg][0];
            let aside = body
                .as_ref()
                .map_or(Vec3::ZERO, |body| along_ground(body.positions[ankle] - to.positions[ankle]));
            let rests =
                sole(from, height_m, leg).into_iter().zip(sole(to, height_m, leg)).map(|(from, to)| {
                    falling(height(&self.ground, to + aside), config.stance_height_m)
                        * falling(from.distance(to) / module.frame_s(), config.stance_speed_m_s)
                });
            let rests = rests.fold(0.0, f32::max);
            // Beside the other foot, as far as it is expected to bear.
            let bears = led.expected_loads_n().map_or(1.0, |loads_n| {
                (loads_n[leg] / loads_n[1 - leg].max(BEARING_LOAD * module.config.body_weight_n())).min(1.0)
            });
            Footing { touches, stands: touches * rests.min(bears) }
        })
    }
}

impl Led {
    /// Height over the ground, metres, at which the target has the point of the body where `contact` is, with the body in the pose `now` and
    /// the share `elapsed` of the frame over. The ground is that under the target or, if `at_body`, under the body.
    pub(super) fn height_of(
        &self,
        contact: &Contact,
        now: &GlobalPose,
        elapsed: f32,
        ground: &Ground,
        at_body: bool,
    ) -> f32 {
        let link = contact.on.link;
        let local = now.rotations[link].inverse() * (contact.point.as_vec3() - now.positions[link]);
        let place = |pose: &GlobalPose| pose.positions[link] + pose.rotations[link] * local;
        let target = place(&self.from).lerp(place(&self.to), elapsed);
        height(ground, if at_body { Vec3 { y: target.y, ..contact.point.as_vec3() } } else { target })
    }
}

impl BalanceConfig {
    /// How far a point of a sole bears that the target has `above_m` over the lowest point with which the foot touches the ground, 0 to 1.
    pub(super) fn rests(&self, above_m: f32) -> f32 {
        match self.bearing_height_m {
            0.0 => 1.0,
            height_m => (1.0 - above_m / height_m).max(0.0),
        }
    }

    /// How far a foot of the target swings whose slowest part has this speed, 0 to 1.
    fn swing(&self, slowest_m_s: f32) -> f32 {
        (slowest_m_s / self.stance_speed_m_s - 1.0).clamp(0.0, 1.0)
    }
}

impl DynamicModule {
    /// Moves the feet of the target that swing, which goes `from` a pose `to` another in this frame: over the ground, and to where
    /// they catch a body that is faster or slower than the target, whose centre of mass moves at `led`. To be called once a frame.
    pub(crate) fn move_feet(&mut self, world: &World, led: Vec3, from: &mut Pose, to: &mut Pose) {
        let config = self.config.balance;
        let ragdoll = &world.ragdolls[self.member];
        let motion = world.motion(self.member);
        let (at_start, at_end) =
            (self.skeleton().forward_kinematics(from), self.skeleton().forward_kinematics(to));
        let ahead = to.local_rotations[0] * Vec3::Z;
        let ahead = Vec3::new(ahead.x, 0.0, ahead.z).normalize_or(Vec3::Z);
        let side = Vec3::Y.cross(ahead);
        let velocity = ragdoll.momentum(&motion) / ragdoll.total_mass();
        let center = ragdoll.center_of_mass(&motion.pose);
        let error = velocity - led;
        let falling = Falling { motion: &motion, target: &at_end, center, slip: error, led, ahead };
        let caught = self.catching_step(&falling);
        let catching = ahead * (error.dot(ahead) * config.step_along_s)
            + side * (error.dot(side) * config.step_across_s);
        let missed = motion.pose.positions[0] - to.root_position;
        let undisturbed = undisturbed(config.standing_share(led, self.controls.stepping), error);
        // A leg that moves relative to a pelvis which is turned otherwise than the target's comes to the target's place in the world.
        let turned = at_end.rotations[0] * motion.pose.rotations[0].inverse();
        let (frame_s, height_m) = (self.frame_s(), self.body_height_m());
        for (leg, joints) in LEGS.into_iter().enumerate() {
            let MovedFoot { way: before, turn: turn_before, load, relief_m: relief_before_m, .. } =
                self.controls.feet[leg];
            let ankle = joints[2].0;
            let step = self.controls.reaction.steps[leg];
            let caught = caught.filter(|foot| foot.leg == leg);
            let slowest = self.slowest_of_sole((&at_start, &at_end), leg);
            let swing = config.swing(slowest);
            let target_sole = sole(&at_end, height_m, leg);
            let relief_m = if config.footing_at_body {
                let aside = if load < SWING_LOAD {
                    missed + before
                } else {
                    motion.pose.positions[ankle] - at_end.positions[ankle]
                };
                let relief_m = relief(&world.ground, target_sole, along_ground(aside)) * (1.0 - swing);
                let most_m = config.step_speed_m_s * frame_s;
                relief_before_m + (relief_m - relief_before_m).clamp(-most_m, most_m)
            } else {
                0.0
            };
            let (way, turn) = if load < SWING_LOAD || step.y > LIFTS_FROM_M || caught.is_some() {
                let aside = if config.footing_at_body {
                    missed + along_ground(before) + Vec3::Y * relief_m
                } else {
                    missed
                };
                let lowest = target_sole.map(|point| height(&world.ground, point + aside));
                let other = at_end.positions[LEGS[1 - leg][2].0];
                let ahead = (at_end.positions[ankle] - other).dot(along_ground(led)) > 0.0;
                let clearance_m = if ahead && config.landing_clearance_s2_m > 0.0 {
                    config.clearance_m.min(config.landing_clearance_s2_m * slowest * slowest)
                } else {
                    config.clearance_m
                };
                let lowest = lowest.into_iter().fold(f32::INFINITY, f32::min);
                let cleared = swing * (clearance_m - lowest).clamp(0.0, MOST_LIFT_M);
                let raised = undisturbed * (-config.landing_depth_m - lowest).clamp(0.0, MOST_LIFT_M);
                let lifted = cleared.max(raised).max(step.y);
                let (way, speed_m_s) =
                    caught.map_or((catching, config.step_speed_m_s), |foot| (foot.way, foot.speed_m_s));
                let wanted = Vec3 { y: lifted.max(way.y), ..way + step };
                let wanted = self.within_reach(&at_end, joints, turned, wanted);
                let leg = at_end.positions[ankle] - at_end.positions[0];
                let wanted = turned * (leg + wanted) - leg;
                (before + (wanted - before).clamp_length_max(speed_m_s * frame_s), turned)
            } else {
                let stays = (1.0 - frame_s / config.step_return_s).max(0.0);
                (before * stays, Quat::IDENTITY.slerp(turn_before, stays))
            };
            self.controls.feet[leg].way = way;
            self.controls.feet[leg].turn = turn;
            self.controls.feet[leg].relief_m = relief_m;
            let (before, way) = (before + Vec3::Y * relief_before_m, way + Vec3::Y * relief_m);
            for (pose, world, (way, turn)) in
                [(&mut *from, &at_start, (before, turn_before)), (&mut *to, &at_end, (way, turn))]
            {
                if way.length_squared() > SAME_M * SAME_M || turn != Quat::IDENTITY {
                    let place = world.positions[ankle] + way;
                    bend_leg(self.skeleton(), pose, world, joints, place, turn);
                }
            }
        }
    }

    /// How far the target, which goes `from` a pose `to` another in a frame, is stepping, 0 to 1: a foot swings, or did so lately.
    /// To be called once a frame.
    pub(super) fn observe_steps(&mut self, from: &GlobalPose, to: &GlobalPose) -> f32 {
        let config = self.config.balance;
        let swing = |leg| config.swing(self.slowest_of_sole((from, to), leg));
        let now = swing(0).max(swing(1));
        self.controls.stepping = match config.stepping_hold_s {
            0.0 => 0.0,
            hold_s => now.max(self.controls.stepping - self.frame_s() / hold_s),
        };
        self.controls.stepping
    }

    /// Speed of the slowest of heel, ball and toes of a foot of the target in a frame, m/s.
    fn slowest_of_sole(&self, (from, to): (&GlobalPose, &GlobalPose), leg: usize) -> f32 {
        let height_m = self.body_height_m();
        let points = sole(from, height_m, leg).into_iter().zip(sole(to, height_m, leg));
        points.map(|(from, to)| from.distance(to) / self.frame_s()).fold(f32::INFINITY, f32::min)
    }

    /// The `way` of an ankle from where the `target` has it, shortened along the ground to what the leg reaches with a pelvis from which
    /// the target's is `turned`: a foot that is sent farther hangs in the air, and bears nothing.
    fn within_reach(&self, target: &GlobalPose, leg: Leg, turned: Quat, way: Vec3) -> Vec3 {
        let [hip, knee, ankle, _] = leg.map(|joint| joint.0);
        let joints = self.skeleton().joints();
        let length_m = STRETCH * (joints[knee].offset.length() + joints[ankle].offset.length());
        let pelvis = target.positions[0];
        let straight =
            (target.positions[ankle] - pelvis) - turned.inverse() * (target.positions[hip] - pelvis);
        let moved = straight + way;
        let most = (length_m * length_m - moved.y * moved.y).max(0.0).sqrt();
        let shorter = along_ground(moved).clamp_length_max(most.max(along_ground(straight).length()));
        way + shorter - along_ground(moved)
    }

    /// How far the feet, which stand as `stance` says, bear in a step of `step_s`: they come to it over the time that the
    /// configuration gives them.
    pub(crate) fn bear(&mut self, stance: [f32; 2], step_s: f32) -> [f32; 2] {
        let more = step_s / self.config.balance.load_time_s.max(step_s);
        for (foot, stance) in self.controls.feet.iter_mut().zip(stance) {
            foot.bears = stance.min(foot.bears + more);
        }
        self.controls.feet.map(|foot| foot.bears)
    }

    /// Remembers how much weight the feet bore in a frame.
    pub(crate) fn note_loads(&mut self, from_ground: &[Vec3]) {
        let weight = self.config.body_weight_n() * self.frame_s();
        for (moved, foot) in self.controls.feet.iter_mut().zip(FEET) {
            moved.load = foot.iter().map(|body| from_ground[*body].y).sum::<f32>() / weight;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DynamicConfig, GainScale, PoseVelocity};
    use pomp_motion::{FrameTable, Skeleton, TerrainGrid};
    use std::sync::Arc;

    fn on_level_ground(skeleton: &Skeleton, config: &DynamicConfig) -> DynamicModule {
        let ground =
            TerrainGrid { heights: FrameTable::filled(21, 21, 0.0), origin: [-1.0, -1.0], cell_m: 0.1 };
        DynamicModule::new(skeleton, config, &ground).expect("a ragdoll")
    }

    #[test]
    fn a_foot_is_sent_no_farther_than_its_leg_reaches() {
        let skeleton = Skeleton::humanoid(1.75);
        let module = on_level_ground(&skeleton, &DynamicConfig::default());
        let target = skeleton.forward_kinematics(&Pose::rest(&skeleton));
        let [hip, knee, ankle, _] = LEGS[0].map(|joint| joint.0);
        let length_m: f32 = [knee, ankle].iter().map(|j| skeleton.joints()[*j].offset.length()).sum();
        let ends = |way: Vec3| (target.positions[ankle] + way).distance(target.positions[hip]);
        for turned in [Quat::IDENTITY, Quat::from_rotation_y(0.7)] {
            let near = Vec3::new(0.0, 0.15, 0.1);
            assert!(module.within_reach(&target, LEGS[0], turned, near).distance(near) < 1e-6);
            let far = module.within_reach(&target, LEGS[0], turned, Vec3::new(0.0, 0.15, 1.0));
            assert_eq!(far.y, 0.15);
            assert!(far.z > 0.2 && far.z < 0.9, "{far}");
            if turned == Quat::IDENTITY {
                assert!(ends(far) < length_m && ends(far) > 0.95 * length_m, "{}", ends(far));
            }
        }
    }

    /// Level with a riser of 15 cm at z = 0.2 m.
    fn on_a_tread(config: &DynamicConfig) -> DynamicModule {
        let mut heights = FrameTable::with_columns(21);
        (0..41).for_each(|row| heights.push(&[if row > 22 { 0.15 } else { 0.0 }; 21]));
        let ground = TerrainGrid { heights, origin: [-1.0, -2.0], cell_m: 0.1 };
        DynamicModule::new(&Skeleton::humanoid(1.75), config, &ground).expect("a ragdoll")
    }

    /// With bent legs and level feet on the ground at height 0.
    fn crouched(skeleton: &Skeleton) -> Pose {
        let mut pose = Pose::rest(skeleton);
        let ankle = |pose: &Pose| skeleton.forward_kinematics(pose).positions[LEGS[0][2].0].y;
        let straight = ankle(&pose);
        for joints in LEGS {
            for (joint, angle) in joints.into_iter().zip([-0.6, 1.2, -0.6]) {
                pose.local_rotations[joint.0] = Quat::from_rotation_x(angle);
            }
        }
        pose.root_position.y -= ankle(&pose) - straight;
        pose
    }

    #[test]
    fn a_foot_that_lands_beside_its_target_comes_down_to_the_ground_that_is_there_where_that_counts() {
        let lowered = |footing_at_body: bool, ahead_m: f32| {
            let mut config = DynamicConfig::default();
            config.balance.footing_at_body = footing_at_body;
            let mut module = on_a_tread(&config);
            let mut body = crouched(module.skeleton());
            let mut target = body.clone();
            let (low, high) = (Vec3::ZERO, Vec3::new(0.0, 0.15, 0.5));
            let [at_body, at_target] = if ahead_m > 0.0 { [low, high] } else { [high, low] };
            body.root_position += at_body;
            target.root_position += at_target;
            module.reset(&body, &PoseVelocity::zero(body.local_rotations.len())).expect("a finite pose");
            let ankle = LEGS[0][2].0;
            let before = module.skeleton().forward_kinematics(&target).positions[ankle].y;
            let mut moved = target.clone();
            let shared = Arc::clone(&module.world);
            let world = shared.lock().expect("nothing has failed in it");
            for _ in 0..20 {
                moved = target.clone();
                module.move_feet(&world, Vec3::ZERO, &mut target.clone(), &mut moved);
            }
            before - module.skeleton().forward_kinematics(&moved).positions[ankle].y
        };
        for (ahead_m, expected_m) in [(0.5, 0.15), (-0.5, -0.15)] {
            let (by_target, by_body) = (lowered(false, ahead_m), lowered(true, ahead_m));
            println!("a target {ahead_m} m ahead: {by_target:.3} m, {by_body:.3} m lower");
            assert!((by_body - expected_m).abs() < 0.01);
            assert!(ahead_m < 0.0 || by_target.abs() < 0.01);
        }
    }

    #[test]
    fn a_foot_that_has_landed_comes_to_bear_over_its_time_and_lets_go_at_once() {
        let skeleton = Skeleton::humanoid(1.75);
        let mut config = DynamicConfig::default();
        config.balance.load_time_s = 0.1;
        let mut module = on_level_ground(&skeleton, &config);
        let borne: Vec<f32> = (0..12).map(|_| module.bear([1.0, 0.0], 0.01)[0]).collect();
        assert!((borne[4] - 0.5).abs() < 1e-5 && borne[11] == 1.0, "{borne:?}");
        let [left, right] = module.bear([0.0, 0.3], 0.01);
        assert!(left == 0.0 && (right - 0.1).abs() < 1e-5, "{left} {right}");
        config.balance.load_time_s = 0.0;
        let mut at_once = on_level_ground(&skeleton, &config);
        assert_eq!(at_once.bear([1.0, 0.4], 0.01), [1.0, 0.4]);
    }

    #[test]
    fn a_target_that_has_swung_a_foot_lately_does_not_stand_however_slow_it_is() {
        let skeleton = Skeleton::humanoid(1.75);
        let still = Pose::rest(&skeleton);
        let mut stepping = still.clone();
        stepping.local_rotations[LEGS[0][0].0] = Quat::from_rotation_x(-0.1);
        let [still, stepping] = [still, stepping].map(|pose| skeleton.forward_kinematics(&pose));
        let mut config = DynamicConfig::default();
        config.balance.stepping_hold_s = 0.5;
        let mut module = on_level_ground(&skeleton, &config);
        let slow = Vec3::X * (0.5 * config.balance.standing_below_m_s);
        let stands = |module: &DynamicModule, stepping| module.config.balance.standing_share(slow, stepping);
        let now = module.observe_steps(&still, &still);
        assert_eq!((now, stands(&module, now)), (0.0, 0.5));
        let now = module.observe_steps(&still, &stepping);
        assert_eq!((now, stands(&module, now)), (1.0, 0.0));
        let later: Vec<f32> = (0..30).map(|_| module.observe_steps(&stepping, &stepping)).collect();
        assert!(later.windows(2).all(|pair| pair[1] < pair[0] || pair[1] == 0.0), "{later:?}");
        assert!((later[14] - 0.5).abs() < 1e-4 && later[29] < 1e-4, "{later:?}");
        let mut by_speed = on_level_ground(&skeleton, &DynamicConfig::default());
        assert_eq!(by_speed.observe_steps(&still, &stepping), 0.0);
    }

    #[test]
    fn a_leg_yields_as_far_as_its_foot_stands_or_touches() {
        let skeleton = Skeleton::humanoid(1.75);
        let mut config = DynamicConfig::default();
        (config.balance.stance_stiffness, config.balance.stance_damping) = (0.2, 0.4);
        let gains_in = |undisturbed: f32, touch_yielding: f32, touches: f32, stands: f32| {
            let mut config = config.clone();
            config.balance.touch_yielding = touch_yielding;
            let module = on_level_ground(&skeleton, &config);
            let mut gains = vec![GainScale::NONE; skeleton.joints().len()];
            module.soften_stance([Footing { touches, stands }, Footing::default()], undisturbed, &mut gains);
            assert_eq!(gains[LEGS[1][1].0], GainScale::NONE, "the other leg hangs in the air");
            gains[LEGS[0][1].0]
        };
        let gains = |touch_yielding, touches, stands| gains_in(1.0, touch_yielding, touches, stands);
        assert_eq!(gains_in(0.0, 0.5, 1.0, 0.0), GainScale::NONE, "a body is caught stiffly");
        assert_eq!(gains(0.5, 0.0, 0.0), GainScale::NONE);
        assert_eq!(gains(0.0, 1.0, 0.0), GainScale::NONE);
        let close = |a: GainScale, stiffness: f32, damping: f32| {
            assert!((a.stiffness - stiffness).abs() < 1e-6 && (a.damping - damping).abs() < 1e-6, "{a:?}");
        };
        close(gains(0.5, 1.0, 0.0), 0.6, 0.7);
        close(gains(0.5, 1.0, 0.2), 0.6, 0.7);
        close(gains(0.5, 1.0, 1.0), 0.2, 0.4);
    }
}

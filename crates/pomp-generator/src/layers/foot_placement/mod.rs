//! Terrain foot placement: feet on footholds of the terrain, the pelvis above them (ours).
//!
//! Acts at `on_target`, on the pose that [`super::foot_locking`] has left. The kinematic module walks on a smooth surface
//! ([`super::shown_surface`]); this layer takes its pose to the terrain: a foot lands where a tread carries it, stays there and
//! lies as the tread does; on its way it clears what lies between; the pelvis follows both feet as far as the legs reach. Where
//! the terrain is what the module is shown, it only lifts soles that are in the ground.
//!
//! Cost: 0.3 % of a frame on level ground.
//!
//! Evidence (`pomp bench --config configs/bench/layers.toml`, runs without a fall of 30 with the layer and without): level
//! ground 30 and 30, hills 30 and 29, stairs 30 and 7, gaps 30 and 29. Foot sliding on level ground: 0.11 and 0.11 cm/frame.

mod foot;
mod foothold;
mod pelvis;

use super::shown_surface::ShownSurface;
use super::sole::{self, Sole};
use super::speed_adaptation::steepness;
use foot::{Foot, Step};
use foothold::Search;
use glam::{Quat, Vec2, Vec3};
use pelvis::Pelvis;
use pomp_config::{Fields, OutOfRange, Validate};
use pomp_motion::legs::{LEGS, bend_leg};
use pomp_motion::{GlobalPose, JointIndex, Pose, RootFrame, Skeleton};
use pomp_terrain::HeightMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Time over which the velocity of the root is taken, seconds, and the speed below which it has no direction, m/s.
const TRAVEL_S: f32 = 0.3;
const STANDS_MPS: f32 = 0.2;
/// Farthest before the root that a foot lands, metres.
const LONGEST_REACH_M: f32 = 0.5;
/// A simulated foot that is so much lower than its target stands elsewhere, metres.
const SINKS_M: f32 = 0.05;
/// Farthest that the pelvis comes down for a foot that is not where it was meant to be, metres.
const LAG_M: f32 = 0.12;
/// Farthest that a foot is raised because a part of its sole is in the ground, metres.
const DEEPEST_M: f32 = 0.05;
/// Below these nothing is carried: inverse kinematics would only add its rounding.
const SAME_M: f32 = 1e-4;
const SAME_RAD: f32 = 1e-4;
/// A leg is stretched to this share of its length at most, or as far as the module stretches it.
const STRETCH: f32 = 0.985;

/// Settings of terrain foot placement.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FootPlacementConfig {
    /// If off, the target stands on the surface shown to the kinematic module, whatever the terrain is. Default true.
    pub enabled: bool,
    /// Share of the way that standing feet are carried to treads by which the root follows them each frame on stairs. Default 0.05;
    /// at 0 it goes where the module has it.
    pub root_follows: f32,
    /// Time in which the pelvis follows the mean height of the feet, seconds. Default 0.12, a quarter of a step.
    pub pelvis_follows_s: f32,
}

impl Default for FootPlacementConfig {
    fn default() -> Self {
        Self { enabled: true, root_follows: 0.05, pelvis_follows_s: pelvis::FOLLOWS_S }
    }
}

impl Validate for FootPlacementConfig {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        fields.within("root_follows", self.root_follows, 0.0..=1.0)?;
        fields.within("pelvis_follows_s", self.pelvis_follows_s, 0.01..=100.0)
    }
}

/// The feet of one skeleton, between two frames.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FootPlacement {
    config: FootPlacementConfig,
    sole: Sole,
    feet: [Foot; 2],
    pelvis: Pelvis,
    /// Velocity of the root over the last moments, world x and z, m/s.
    travel: Vec2,
    /// How far before the root the last feet have landed, metres.
    reach_m: Option<f32>,
}

/// The ground, and what the kinematic module is shown of it.
#[derive(Clone, Copy)]
pub(crate) struct Ground<'a> {
    pub terrain: &'a HeightMap,
    pub surface: &'a ShownSurface,
    /// Where the target's root goes.
    pub root: &'a RootFrame,
    /// Its velocity, world x and z, m/s.
    pub travel: Vec2,
}

impl Ground<'_> {
    /// The ground as the kinematic module is shown it.
    pub fn shown(&self, x: f32, z: f32) -> f32 {
        self.surface.shown(Vec2::new(self.root.origin.x, self.root.origin.z), x, z)
    }
}

impl FootPlacement {
    pub fn new(config: FootPlacementConfig, body_height_m: f32) -> Self {
        Self {
            config,
            sole: Sole { body_height_m },
            feet: [Foot::default(); 2],
            pelvis: Pelvis::default(),
            travel: Vec2::ZERO,
            reach_m: None,
        }
    }

    /// Forgets where the feet stood and how they are carried.
    pub fn reset(&mut self) {
        *self = Self::new(self.config, self.sole.body_height_m);
    }

    /// The way that the root goes to fall in with its feet, metres, world x and z. On stairs every foot is carried to a tread,
    /// and the module's steps, which know nothing of treads, soon lead the body away from its feet. So the root goes a part of
    /// the way that the standing feet are carried. A single trench is for a single step and does not turn the course.
    pub fn root_way(&self, surface: &ShownSurface, root: Vec2) -> Vec2 {
        self.aside() * steepness(surface, root, self.direction()) * self.config.root_follows
    }

    /// How far the feet that stand are carried along the ground, on average, metres.
    fn aside(&self) -> Vec2 {
        let stand = self.feet.iter().filter(|foot| foot.stands());
        let (count, sum) = stand.fold((0, Vec2::ZERO), |(n, sum), foot| (n + 1, sum + foot.carried().shift));
        if count == 0 { Vec2::ZERO } else { sum / count as f32 }
    }

    /// Direction in which the root goes, of length 1, or 0 when it stands.
    fn direction(&self) -> Vec2 {
        self.travel.normalize_or_zero()
    }

    /// The pose `level` of the module, carried from the ground that it is shown to the ground itself; `body` is the
    /// simulated body, where there is one.
    pub fn pose(
        &mut self,
        skeleton: &Skeleton,
        level: &Pose,
        before: &GlobalPose,
        body: Option<&GlobalPose>,
        ground: &Ground<'_>,
        dt_s: f32,
    ) -> Pose {
        let travel = if self.travel == Vec2::ZERO { ground.travel } else { self.travel };
        self.travel = travel.lerp(ground.travel, 1.0 - (-dt_s / TRAVEL_S).exp());
        let goes = self.travel.length() > STANDS_MPS;
        let world = skeleton.forward_kinematics(level);
        let ankles = LEGS.map(|leg| world.positions[leg[2].0]);
        let lowest: [f32; 2] = std::array::from_fn(|leg| {
            self.sole.lowest(&world, LEGS[leg], ankles[leg], |x, z| ground.shown(x, z))
        });
        let places = ankles.map(|ankle| Vec2::new(ankle.x, ankle.z));
        let mut goals = [(Vec3::ZERO, Quat::IDENTITY); 2];
        let mut raised = 0.0;
        for leg in 0..2 {
            let ahead = sole::direction(&world, LEGS[leg]);
            let last = before.positions[LEGS[leg][2].0];
            let shown_lean = |at: Vec2| self.shown_lean(ground, at, ahead);
            let step = Step {
                search: Search {
                    terrain: ground.terrain,
                    surface: ground.surface,
                    sole: self.sole,
                    ahead,
                    along: if goes { self.travel.normalize() } else { ahead },
                    other: places[1 - leg] + self.feet[1 - leg].carried().shift,
                },
                ankle: places[leg],
                before: Vec2::new(last.x, last.z),
                root: Vec2::new(level.root_position.x, level.root_position.z),
                reach_m: self.reach_m,
                travel: self.travel,
                body: body.map(|body| body.positions[LEGS[leg][2].0]),
                clearance_m: lowest[leg].max(0.0),
                dt_s,
                shown_lean: &shown_lean,
            };
            let mut foot = self.feet[leg];
            if let Some(reach) = foot.advance(&step) {
                let reach = reach.clamp(0.0, LONGEST_REACH_M);
                self.reach_m = Some(self.reach_m.map_or(reach, |before| 0.5 * (before + reach)));
            }
            self.feet[leg] = foot;
            let (goal, raised_m) = self.goal(leg, &world, ground, ahead);
            goals[leg] = goal;
            raised += 0.5 * raised_m;
        }
        let feet = self.feet;
        let missing = |up| missing_reach(skeleton, &world, goals, body, feet, up);
        self.pelvis.advance(raised, self.config.pelvis_follows_s, missing, dt_s);
        self.reaching(skeleton, level, &world, goals)
    }

    /// Where the ankle of a leg is to be and how its foot leans, and how much higher the ground is there than the shown ground.
    fn goal(&self, leg: usize, world: &GlobalPose, ground: &Ground<'_>, ahead: Vec2) -> ((Vec3, Quat), f32) {
        let (foot, ankle) = (self.feet[leg], world.positions[LEGS[leg][2].0]);
        let carried = foot.carried();
        let place = Vec2::new(ankle.x, ankle.z) + carried.shift;
        let shown = ground.shown(ankle.x, ankle.z);
        let sole = ground.surface.height(place.x, place.y) + carried.raise_m;
        let across = Vec3::new(ahead.x, 0.0, ahead.y).cross(Vec3::Y);
        let turn = Quat::from_axis_angle(across, carried.lean);
        let foot_on_ground = Vec3::new(place.x, sole + foot.lift_m(), place.y);
        let to = foot_on_ground + turn * (Vec3::Y * (ankle.y - shown));
        // A foot that does not lean as the shown ground does would be as deep in the ground as it is in that.
        let deepest = self
            .sole
            .points(world, LEGS[leg], ankle)
            .map(|point| to + turn * (point - ankle))
            .map(|point| ground.terrain.height(point.x, point.z) - point.y)
            .into_iter()
            .fold(0.0, f32::max);
        ((to + Vec3::Y * deepest.min(DEEPEST_M), turn), sole - shown)
    }

    /// The pose with the pelvis raised and both legs bent so that the ankles are at their goals; `level` itself where nothing
    /// moves.
    fn reaching(
        &self,
        skeleton: &Skeleton,
        level: &Pose,
        world: &GlobalPose,
        goals: [(Vec3, Quat); 2],
    ) -> Pose {
        let stays = |(leg, (to, turn)): ([JointIndex; 4], (Vec3, Quat))| {
            world.positions[leg[2].0].distance(to) < SAME_M && turn.to_scaled_axis().length() < SAME_RAD
        };
        if self.pelvis.height_m().abs() < SAME_M && LEGS.into_iter().zip(goals).all(stays) {
            return level.clone();
        }
        let mut pose = level.clone();
        pose.root_position.y += self.pelvis.height_m();
        for (leg, (to, turn)) in LEGS.into_iter().zip(goals) {
            bend_leg(skeleton, &mut pose, world, leg, to, turn);
        }
        pose
    }

    /// Angle of the shown ground along a foot, radians.
    fn shown_lean(&self, ground: &Ground<'_>, at: Vec2, ahead: Vec2) -> f32 {
        let [_, pad, ball, _] = self.sole.length_m();
        let height = |along: f32| {
            let place = at + ahead * along;
            ground.shown(place.x, place.y)
        };
        ((height(ball) - height(pad)) / (ball - pad)).atan()
    }
}

/// How much too high a pelvis raised by `up` is for the legs that bear weight.
fn missing_reach(
    skeleton: &Skeleton,
    world: &GlobalPose,
    goals: [(Vec3, Quat); 2],
    body: Option<&GlobalPose>,
    feet: [Foot; 2],
    up: f32,
) -> f32 {
    let missing = |leg: usize| {
        let [hip, knee, ankle, _] = LEGS[leg].map(|joint| joint.0);
        let joints = skeleton.joints();
        let whole = joints[knee].offset.length() + joints[ankle].offset.length();
        let longest =
            world.positions[hip].distance(world.positions[ankle]).clamp(STRETCH * whole, 0.9999 * whole);
        let above = |ankle: Vec3| {
            let line = world.positions[hip] - ankle;
            let across = line.x * line.x + line.z * line.z;
            line.y + up - (longest * longest - across).max(0.0).sqrt()
        };
        // A simulated foot that stands lower than its target is what the body can stand on.
        let stands = body
            .filter(|body| feet[leg].stands() && body.positions[ankle].y < goals[leg].0.y - SINKS_M)
            .map(|body| above(body.positions[ankle]).min(LAG_M));
        above(goals[leg].0).max(stands.unwrap_or(0.0))
    };
    (0..2).filter(|leg| feet[*leg].bears()).map(missing).fold(0.0, f32::max)
}

#[cfg(test)]
mod tests;

//! The body of a character and the target that leads it: what a prediction does to the world, and what the
//! kinematic module is shown of the result.
//!
//! The closed loop moves one with the control of a user; training moves many along clips, so that the kinematic module learns
//! from states that the loop itself has made.

mod feedback;
mod snapshot;
mod surroundings;
mod together;

pub(crate) use snapshot::CharacterSnapshot;

use crate::carry::{Carry, Ground};
use crate::footing::{Footing, PredictedFeet};
use crate::upright::straighten;
use crate::walking_surface::WalkingSurface;
use crate::{Dynamics, GeneratorConfig, GeneratorError};
use glam::{Vec2, Vec3};
use pomp_motion::features::{CharacterState, OutputFrame};
use pomp_motion::rotation::{from_yaw, wrap_angle};
use pomp_motion::{Gait, GlobalPose, Pose, RootFrame, Skeleton, humanoid};
use pomp_physics::{DynamicModule, Frame, Help, PoseVelocity, Push, standing_pose};
use pomp_terrain::HeightMap;
use std::sync::Arc;

const FRAME_S: f32 = 1.0 / crate::FRAME_RATE_HZ;
/// Share of the way that standing feet are carried to treads by which the root follows them each frame.
const FALLS_IN: f32 = 0.05;
/// Farther above the ground than this, the surface that a character walks on is a bridge, metres.
const BRIDGE_M: f32 = 0.1;

/// A ragdoll on a terrain with its moving target.
pub struct Character {
    skeleton: Skeleton,
    terrain: Arc<HeightMap>,
    surface: Arc<WalkingSurface>,
    dynamics: Dynamics,
    dynamic: DynamicModule,
    footing: Option<Footing>,
    carry: Carry,
    root_follow: f32,
    pose_feedback: f32,
    pose_feedback_jogging: f32,
    /// How far the last prediction jogs, 0 to 1.
    jogging: f32,
    state: CharacterState,
    /// Joints in the world of the body as it would stand on the shown ground, metres.
    uncarried: Vec<Vec3>,
    target_frame: RootFrame,
    /// The target at the start of the frame under way, and at its end.
    from: Pose,
    target_pose: Pose,
    /// The target on the ground that the kinematic module is shown, before it is carried to the ground.
    shown_pose: Pose,
    at_start: bool,
    /// Nobody's root motion leads the target: it lies or gets up, and targets are set in the world.
    let_go: bool,
}

impl Character {
    /// A character in the state `start` on `terrain`, its target in the same pose.
    ///
    /// # Errors
    /// A terrain or setting that the simulator refuses.
    pub fn new(
        skeleton: &Skeleton,
        terrain: HeightMap,
        config: &GeneratorConfig,
        start: CharacterState,
    ) -> Result<Self, GeneratorError> {
        let dynamic = DynamicModule::new(skeleton, &config.dynamic, terrain.grid())?;
        Ok(Self::with_body(skeleton, terrain, config, start, dynamic))
    }

    /// [`Self::new`] with a ragdoll that is there already.
    pub(crate) fn with_body(
        skeleton: &Skeleton,
        terrain: HeightMap,
        config: &GeneratorConfig,
        mut start: CharacterState,
        dynamic: DynamicModule,
    ) -> Self {
        let footing = (config.swing_clearance_m > 0.0)
            .then(|| Footing::new(dynamic.body_height_m(), config.swing_clearance_m));
        let surface = WalkingSurface::over(&terrain);
        // Who starts over a trench starts on its bridge, as every target is: to rise there in the first frame would be a leap.
        let bridge = surface.height(start.frame.origin.x, start.frame.origin.z);
        if bridge - start.frame.origin.y > BRIDGE_M {
            start.frame.origin.y = bridge;
        }
        let pose = start.to_pose();
        Self {
            skeleton: skeleton.clone(),
            surface: Arc::new(surface),
            carry: Carry::new(dynamic.body_height_m()),
            terrain: Arc::new(terrain),
            dynamics: config.dynamics,
            dynamic,
            footing,
            root_follow: config.root_follow,
            pose_feedback: config.pose_feedback,
            pose_feedback_jogging: config.pose_feedback_jogging,
            jogging: 0.0,
            uncarried: start.positions_root.iter().map(|joint| start.frame.to_world(*joint)).collect(),
            target_frame: start.frame,
            state: start,
            from: pose.clone(),
            shown_pose: pose.clone(),
            target_pose: pose,
            at_start: true,
            let_go: false,
        }
    }

    /// What the kinematic module is shown of the body.
    pub fn state(&self) -> &CharacterState {
        &self.state
    }

    /// Where the target stands; root motion in y leads on from here.
    pub fn target_frame(&self) -> &RootFrame {
        &self.target_frame
    }

    /// The target's joints in the world.
    pub fn target(&self) -> GlobalPose {
        self.skeleton.forward_kinematics(&self.target_pose)
    }

    /// The ground.
    pub fn terrain(&self) -> &HeightMap {
        &self.terrain
    }

    /// Height of the ground as the kinematic module is to be shown it, world metres: trenches bridged, risers smoothed,
    /// nothing steeper than what it walks well on.
    pub fn shown_ground(&self, x: f32, z: f32) -> f32 {
        self.surface.shown(ground_position(&self.state.frame), x, z)
    }

    /// The ground as it is led over it.
    pub(crate) fn surface(&self) -> &HeightMap {
        self.surface.map()
    }

    /// Share of its pace at which the character goes on in `direction` (of length 1) over the ground ahead.
    pub(crate) fn ease(&self, direction: Vec2) -> f32 {
        self.surface.ease(ground_position(&self.state.frame), direction)
    }

    /// The skeleton.
    pub fn skeleton(&self) -> &Skeleton {
        &self.skeleton
    }

    /// The simulated body.
    pub fn body(&self) -> &DynamicModule {
        &self.dynamic
    }

    /// The target at the end of the frame under way.
    pub(crate) fn target_pose(&self) -> &Pose {
        &self.target_pose
    }

    /// Mean speed of the joints that the module is shown, m/s: the body's own while it is let go.
    pub(crate) fn mean_joint_speed_m_s(&self) -> f32 {
        let speeds = self.state.velocities_root.iter().map(|velocity| velocity.length());
        speeds.sum::<f32>() / self.state.velocities_root.len() as f32
    }

    /// From now on targets come by [`Self::lead`], and the target's root follows nobody.
    pub(crate) fn let_go(&mut self) {
        self.let_go = true;
    }

    /// Root motion leads on again, from `frame`, where the target stands.
    pub(crate) fn hand_back(&mut self, frame: RootFrame) {
        self.let_go = false;
        self.target_frame = frame;
        if let Some(footing) = &mut self.footing {
            footing.forget();
        }
        self.carry = Carry::new(self.dynamic.body_height_m());
        self.shown_pose.clone_from(&self.target_pose);
    }

    /// Sets the next target in the world.
    pub(crate) fn lead(&mut self, pose: Pose) {
        self.shown_pose.clone_from(&pose);
        self.target_pose = pose;
    }

    /// Sets the present target in the world, so that the next one is reached from there.
    pub(crate) fn place_target(&mut self, pose: Pose) {
        self.from.clone_from(&pose);
        self.shown_pose.clone_from(&pose);
        self.target_pose = pose;
    }

    /// Leaves only `share` of the next target; the rest is `other`.
    pub(crate) fn mix_target(&mut self, other: &Pose, share: f32) {
        if share < 1.0 {
            self.target_pose = other.lerp(&self.target_pose, share);
            self.shown_pose = other.lerp(&self.shown_pose, share);
        }
    }

    /// Goes on from another state and target frame; the target stays where it is until the next one.
    pub(crate) fn go_on_from(&mut self, state: CharacterState, target_frame: RootFrame) {
        self.state = state;
        self.target_frame = target_frame;
        if let Some(footing) = &mut self.footing {
            footing.forget();
        }
    }

    /// Leaves only `share` of the next target; the rest is `other`, which the kinematic module is not shown.
    pub(crate) fn pass_over(&mut self, other: &Pose, share: f32) {
        self.target_pose = other.lerp(&self.target_pose, share);
    }

    /// Sets what drives and assist give; `assist_share` scales the assist besides.
    pub(crate) fn set_help(&mut self, help: Help, assist_share: f32) {
        self.dynamic.set_assist_scale(help.assist * assist_share);
        self.dynamic.set_strength_scale(help.strength);
    }

    /// Sets the next target from a prediction.
    pub fn aim(&mut self, output: &OutputFrame) {
        self.aim_upright(output, 0.0);
    }

    /// Sets the next target from a prediction, its trunk a `share` of the way to an upright posture.
    pub(crate) fn aim_upright(&mut self, output: &OutputFrame, share: f32) {
        // From a quarter of the gait's weight on: walks carry some per cent of it.
        self.jogging = ((output.gait[Gait::Jog.index()] - 0.25) / 0.5).clamp(0.0, 1.0);
        let mut next = output.next_frame(&self.target_frame, FRAME_S);
        next.origin += self.fall_in_with_treads();
        next.origin.y = self.surface.height(next.origin.x, next.origin.z);
        let moved = ground_position(&next) - ground_position(&self.target_frame);
        self.target_frame = next;
        let mut pose = output.state_in(next).to_pose();
        if share > 0.0 {
            let height_m = self.dynamic.body_height_m();
            let mut upright = standing_pose(&self.skeleton, height_m, &next, &self.terrain);
            // It stands as high over the surface that it walks on as the pose over the terrain's.
            upright.root_position.y +=
                next.origin.y - self.terrain.smoothed_height(next.origin.x, next.origin.z);
            straighten(&mut pose, &upright, share);
        }
        if let Some(footing) = &mut self.footing {
            let ankles = [humanoid::LEFT_FOOT, humanoid::RIGHT_FOOT];
            let predicted = PredictedFeet {
                ankles: ankles.map(|ankle| next.to_world(output.positions_root[ankle.0])),
                speeds_mps: ankles.map(|ankle| {
                    let velocity = output.velocities_root[ankle.0];
                    velocity.x.hypot(velocity.z)
                }),
            };
            let ground = Ground {
                terrain: &self.terrain,
                surface: &self.surface,
                root: &next,
                travel: moved / FRAME_S,
            };
            let shown = |x: f32, z: f32| ground.shown(x, z);
            footing.set(&self.skeleton, &mut pose, &predicted, &output.gait, &shown, FRAME_S);
            let before = self.skeleton.forward_kinematics(&self.shown_pose);
            let body = (!self.at_start && self.dynamics == Dynamics::Simulated).then(|| self.dynamic.pose());
            self.target_pose =
                self.carry.pose(&self.skeleton, &pose, &before, body.as_ref(), &ground, FRAME_S);
        } else {
            self.target_pose.clone_from(&pose);
        }
        self.shown_pose = pose;
    }

    /// On stairs every foot is carried to a tread, and the module's steps, which know nothing of treads, soon lead the body
    /// away from its feet. So the root goes a part of the way that the standing feet are carried, and all that it leads is
    /// moved alike. Returns that way. A single trench is for a single step and does not turn the course.
    fn fall_in_with_treads(&mut self) -> Vec3 {
        let Some(footing) = &mut self.footing else { return Vec3::ZERO };
        let place = ground_position(&self.target_frame);
        let way = self.carry.aside() * self.surface.steepness(place, self.carry.direction()) * FALLS_IN;
        footing.shift(way);
        let way = Vec3::new(way.x, 0.0, way.y);
        self.shown_pose.root_position += way;
        way
    }

    /// Simulates one frame towards the target.
    ///
    /// # Errors
    /// A push that is refused, or any push at all when nothing is simulated (`frame` names the place).
    pub fn simulate(&mut self, pushes: &[Push], frame: usize) -> Result<Frame, GeneratorError> {
        self.begin()?;
        match self.dynamics {
            Dynamics::Simulated => Ok(self.dynamic.step(&self.from, &self.target_pose, pushes)?),
            Dynamics::KinematicOnly if pushes.is_empty() => Ok(self.pose_of_target()),
            Dynamics::KinematicOnly => Err(GeneratorError::NothingToPush { frame }),
        }
    }

    /// Before the first frame, puts the ragdoll where it starts.
    fn begin(&mut self) -> Result<(), GeneratorError> {
        if self.at_start {
            // The ragdoll starts in the start's pose, moving as the first target asks.
            let motion = PoseVelocity::between(&self.from, &self.target_pose, FRAME_S);
            self.dynamic.reset(&self.from, &motion)?;
            self.at_start = false;
        }
        Ok(())
    }

    /// Takes a simulated frame over into the state that the kinematic module is shown, and lets the target give way to the body.
    /// Returns the state of the body as it would be on the shown ground, of which `pose_feedback` may show only a part.
    pub fn take_over(&mut self, simulated: &Frame) -> CharacterState {
        let hips = simulated.pose.positions[0];
        let ground = self.surface.height(hips.x, hips.z);
        let mut body =
            CharacterState::from_world(&self.skeleton, &simulated.pose, &simulated.velocities, 0.0, ground);
        body.yaw_rate = CharacterState::yaw_rate_between(&self.state.frame, &body.frame, FRAME_S);
        if self.let_go {
            self.uncarried.clone_from(&simulated.pose.positions);
            self.state = body.clone();
            self.target_frame = body.frame;
            self.from.clone_from(&self.target_pose);
            return body;
        }
        let body = self.on_shown_ground(body, simulated);
        let mut state = body.clone();
        let feedback = self.pose_feedback + (self.pose_feedback_jogging - self.pose_feedback) * self.jogging;
        if feedback < 1.0 {
            self.keep_part_of_target(&mut state, feedback);
        }
        self.state = state;

        let target = self.target_frame;
        let position = ground_position(&target).lerp(ground_position(&body.frame), self.root_follow);
        self.target_frame = RootFrame {
            origin: Vec3::new(position.x, self.surface.height(position.x, position.y), position.y),
            yaw: wrap_angle(target.yaw + wrap_angle(body.frame.yaw - target.yaw) * self.root_follow),
        };
        // The target pose moves with its root, so that the next frame's drive starts where the root is now.
        let turn = from_yaw(wrap_angle(self.target_frame.yaw - target.yaw));
        for pose in [&mut self.target_pose, &mut self.shown_pose] {
            pose.root_position += self.target_frame.origin - target.origin;
            pose.local_rotations[0] = (turn * pose.local_rotations[0]).normalize();
        }
        self.from.clone_from(&self.target_pose);
        body
    }

    /// The target as if a body had followed it, untouched by anything.
    fn pose_of_target(&self) -> Frame {
        let before = self.skeleton.forward_kinematics(&self.from);
        let pose = self.skeleton.forward_kinematics(&self.target_pose);
        let pairs = before.positions.iter().zip(&pose.positions);
        let velocities: Vec<Vec3> = pairs.map(|(a, b)| (*b - *a) / FRAME_S).collect();
        let motion = PoseVelocity::between(&self.from, &self.target_pose, FRAME_S);
        Frame {
            root_linear_velocity: motion.root_linear,
            root_angular_velocity: motion.angular[0],
            contact_impulse: vec![Vec3::ZERO; pose.positions.len()],
            box_impulse: vec![Vec3::ZERO; pose.positions.len()],
            character_impulse: vec![Vec3::ZERO; pose.positions.len()],
            assist_force: Vec3::ZERO,
            assist_torque: Vec3::ZERO,
            joint_torque: vec![0.0; pose.positions.len()],
            saturated_joints: 0,
            recovered: None,
            velocities,
            pose,
        }
    }
}

fn ground_position(frame: &RootFrame) -> Vec2 {
    Vec2::new(frame.origin.x, frame.origin.z)
}

//! The body of a character and the target that leads it: what a prediction does to the world, and what the
//! kinematic module is shown of the result.
//!
//! The closed loop moves one with the control of a user; training moves many along clips, so that the kinematic module learns
//! from states that the loop itself has made.

mod lead;
mod reflexes;
mod snapshot;
mod surroundings;
mod together;
mod tracking;

pub(crate) use snapshot::CharacterSnapshot;
pub use tracking::Tracking;

use crate::layers::LayersConfig;
use crate::layers::balance_policy::Reflexes;
use crate::layers::fall_recovery::Rising;
use crate::layers::get_up_planning::GetUpReflexes;
use crate::layers::pose_blending::PoseBlending;
use crate::layers::shown_surface::ShownSurface;
use crate::layers::standing_posture::straighten;
use crate::layers::terrain_adaptation::{AdaptedPose, TerrainAdaptation};
use crate::loop_state::ground_position;
use crate::{Dynamics, GeneratorConfig, GeneratorError};
use glam::{Vec2, Vec3};
use pomp_motion::features::{CharacterState, OutputFrame};
use pomp_motion::rotation::{from_yaw, wrap_angle};
use pomp_motion::{FRAME_RATE_HZ, FallDetector, GlobalPose, PerJoint, Pose, RootFrame, Skeleton};
use pomp_physics::{DynamicModule, Frame, PoseVelocity, Push, standing_pose};
use pomp_policy::PackedPolicy;
use pomp_terrain::HeightMap;
use std::sync::Arc;

/// A body is down with its pelvis below this share of its standing height, or its trunk farther from upright than this, degrees.
const DOWN_HEIGHT: f32 = 0.55;
const DOWN_TILT_DEG: f32 = 60.0;
const FRAME_S: f32 = 1.0 / FRAME_RATE_HZ;
/// Farther above the ground than this, the surface that a character walks on is a bridge, metres.
const BRIDGE_M: f32 = 0.1;

/// A ragdoll on a terrain with its moving target.
pub struct Character {
    skeleton: Skeleton,
    dynamics: Dynamics,
    /// Whether its root goes where the root motion leads while nothing is simulated, whatever the pose says: networks of blended experts,
    /// which learned to move so. The root of others follows their pose.
    leads_its_root: bool,
    layers: LayersConfig,
    terrain: Arc<HeightMap>,
    dynamic: DynamicModule,
    fall_detector: FallDetector,
    policy: Option<Arc<PackedPolicy>>,
    motion: Motion,
}

/// What a frame changes of a character beside its ragdoll. A clone is what a snapshot keeps of it.
#[derive(Clone)]
struct Motion {
    /// What the kinematic module is shown of the body. Written after the simulation; read into x.
    state: CharacterState,
    /// Where the target stands. Written by the prediction and after the simulation; root motion in y leads on from here.
    target_frame: RootFrame,
    /// The target at the start of the frame under way. Written after the simulation; read by the drives.
    from: Pose,
    /// The target at its end. Written by the prediction; read by the drives and after the simulation.
    target: AdaptedPose,
    adaptation: TerrainAdaptation,
    blending: PoseBlending,
    /// The ragdoll has not been put where it starts yet.
    at_start: bool,
    /// How far the target was moved with the body after the last frame, world x and z, metres.
    displaced: Vec2,
    /// What the balance policy does.
    reflexes: Reflexes,
    /// What plans do to the body as it gets up.
    rising: Rising,
    get_up: GetUpReflexes,
    /// No root motion leads the target: the character lies or gets up, and targets are set in the world.
    released: bool,
}

impl Motion {
    /// That of a character which begins in the state `start`, its target in the same pose.
    fn at(start: CharacterState, adaptation: TerrainAdaptation, blending: PoseBlending) -> Self {
        let pose = start.to_pose();
        Self {
            target_frame: start.frame,
            state: start,
            from: pose.clone(),
            target: AdaptedPose::unadapted(pose),
            adaptation,
            blending,
            at_start: true,
            displaced: Vec2::ZERO,
            reflexes: Reflexes::default(),
            rising: Rising::default(),
            get_up: GetUpReflexes::default(),
            released: false,
        }
    }
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
        let terrain = Arc::new(terrain);
        let surface = ShownSurface::new(config.layers.shown_surface, &terrain);
        // A start over a trench is on its bridge, as every target is: to rise there in the first frame would be a leap.
        let bridge = surface.height(start.frame.origin.x, start.frame.origin.z);
        if bridge - start.frame.origin.y > BRIDGE_M {
            start.frame.origin.y = bridge;
        }
        let joints = start.positions_root.iter().map(|joint| start.frame.to_world(*joint)).collect();
        let adaptation = TerrainAdaptation::new(&config.layers, surface, dynamic.body_height_m(), joints);
        Self {
            skeleton: skeleton.clone(),
            dynamics: config.dynamics,
            leads_its_root: config.controller.is_gated(),
            terrain,
            dynamic,
            fall_detector: FallDetector::new(skeleton, DOWN_HEIGHT, DOWN_TILT_DEG),
            policy: None,
            motion: Motion::at(start, adaptation, PoseBlending::new(config.layers.pose_blending)),
            layers: config.layers(),
        }
    }

    /// Another one in the same state, with a ragdoll of its own.
    pub(crate) fn another(&self) -> Result<Self, GeneratorError> {
        Ok(Self {
            skeleton: self.skeleton.clone(),
            dynamics: self.dynamics,
            leads_its_root: self.leads_its_root,
            layers: self.layers.clone(),
            terrain: Arc::clone(&self.terrain),
            dynamic: DynamicModule::new(&self.skeleton, self.dynamic.config(), self.terrain.grid())?,
            fall_detector: self.fall_detector.clone(),
            policy: self.policy.clone(),
            motion: self.motion.clone(),
        })
    }

    /// Begins again in the state `start`, on the same terrain, as a new character would.
    pub fn begin_anew(&mut self, start: CharacterState) {
        let joints = start.positions_root.iter().map(|joint| start.frame.to_world(*joint)).collect();
        let surface = self.shown_surface().clone();
        let adaptation = TerrainAdaptation::new(&self.layers, surface, self.dynamic.body_height_m(), joints);
        self.motion = Motion::at(start, adaptation, PoseBlending::new(self.layers.pose_blending));
    }

    /// What the kinematic module is shown of the body.
    pub fn state(&self) -> &CharacterState {
        &self.motion.state
    }

    /// Where the target stands; root motion in y leads on from here.
    pub fn target_frame(&self) -> &RootFrame {
        &self.motion.target_frame
    }

    /// The target's joints in the world.
    pub fn target(&self) -> GlobalPose {
        self.skeleton.forward_kinematics(self.target_pose())
    }

    /// The target at the end of the frame under way.
    pub(crate) fn target_pose(&self) -> &Pose {
        &self.motion.target.world.0
    }

    /// The ground.
    pub fn terrain(&self) -> &HeightMap {
        &self.terrain
    }

    /// Height of the ground as the kinematic module is to be shown it, world metres.
    pub fn shown_ground(&self, x: f32, z: f32) -> f32 {
        self.shown_surface().shown(ground_position(&self.motion.state.frame), x, z)
    }

    /// The ground that the kinematic module is shown.
    pub(crate) fn shown_surface(&self) -> &ShownSurface {
        self.motion.adaptation.surface()
    }

    /// Nothing is simulated from now on; gives what moved the body before.
    pub(crate) fn without_body(&mut self) -> Dynamics {
        std::mem::replace(&mut self.dynamics, Dynamics::KinematicOnly)
    }

    /// What moves the body from now on.
    pub(crate) fn set_dynamics(&mut self, dynamics: Dynamics) {
        self.dynamics = dynamics;
    }

    /// Whether no root motion leads the target: the character lies or gets up.
    pub(crate) fn is_released(&self) -> bool {
        self.motion.released
    }

    /// The skeleton.
    pub fn skeleton(&self) -> &Skeleton {
        &self.skeleton
    }

    /// The simulated body.
    pub fn body(&self) -> &DynamicModule {
        &self.dynamic
    }

    /// Sets the next target from a prediction.
    pub fn aim(&mut self, output: &OutputFrame) {
        self.aim_upright(output, 0.0);
    }

    /// Sets the next target from a prediction, its trunk a `share` of the way to an upright posture.
    pub fn aim_upright(&mut self, output: &OutputFrame, share: f32) {
        self.motion.reflexes.ahead = output.trajectory;
        let Motion { target_frame, target, adaptation, at_start, .. } = &mut self.motion;
        let mut next = output.next_frame(target_frame, FRAME_S);
        // The root falls in with feet that are carried to treads, and all that it leads is moved alike.
        let way = adaptation.root_way(target_frame);
        target.module.0.root_position += way;
        next.origin += way;
        next.origin.y = adaptation.surface().height(next.origin.x, next.origin.z);
        let moved = ground_position(&next) - ground_position(target_frame);
        *target_frame = next;
        let mut pose = output.state_in(next).to_pose();
        if share > 0.0 {
            let height_m = self.dynamic.body_height_m();
            let mut upright = standing_pose(&self.skeleton, height_m, &next, &self.terrain);
            // It stands as high over the surface that it walks on as the pose over the terrain's.
            upright.root_position.y +=
                next.origin.y - self.terrain.smoothed_height(next.origin.x, next.origin.z);
            straighten(&mut pose, &upright, share);
        }
        let body = (!*at_start && self.dynamics == Dynamics::Simulated).then(|| self.dynamic.pose());
        let moving = (&next, moved / FRAME_S);
        let (skeleton, terrain, last) = (&self.skeleton, &self.terrain, &target.module);
        *target = adaptation.world_from_module(skeleton, terrain, pose, output, moving, last, body.as_ref());
    }

    /// Simulates one frame towards the target.
    ///
    /// # Errors
    /// A push that is refused, or any push at all when nothing is simulated (`frame` names the place).
    pub fn simulate(&mut self, pushes: &[Push], frame: usize) -> Result<Frame, GeneratorError> {
        self.begin()?;
        match self.dynamics {
            Dynamics::Simulated => {
                self.react();
                let expected = self.expected();
                let Self { dynamic, motion, .. } = self;
                let (from, to) = motion.driven();
                Ok(dynamic.step_expecting(from, to, pushes, expected.as_ref())?)
            }
            Dynamics::KinematicOnly if pushes.is_empty() => Ok(self.pose_of_target()),
            Dynamics::KinematicOnly => Err(GeneratorError::NothingToPush { frame }),
        }
    }

    /// Before the first frame, puts the ragdoll where it starts.
    fn begin(&mut self) -> Result<(), GeneratorError> {
        let Motion { from, target, at_start, .. } = &mut self.motion;
        if *at_start {
            // The ragdoll starts in the start's pose, moving as the first target asks.
            let motion = PoseVelocity::between(from, &target.world.0, FRAME_S);
            let (pose, motion) = self.dynamic.balanced_start(from, &motion);
            self.dynamic.reset(&pose, &motion)?;
            *at_start = false;
        }
        Ok(())
    }

    /// Takes a simulated frame over into the state that the kinematic module is shown, and lets the target give way to the body.
    /// Returns the state of the body as it would be on the shown ground, of which pose blending may show only a part.
    pub fn take_over(&mut self, simulated: &Frame) -> CharacterState {
        self.motion.displaced = Vec2::ZERO;
        if self.goes_on_from_target() {
            return self.go_on_from_target(simulated.pose.positions[0]);
        }
        let Motion { state, target_frame, from, target, adaptation, blending, released, .. } =
            &mut self.motion;
        let hips = simulated.pose.positions[0];
        let ground = adaptation.surface().height(hips.x, hips.z);
        let mut body =
            CharacterState::from_world(&self.skeleton, &simulated.pose, &simulated.velocities, 0.0, ground);
        // A network that leads its own root has learned nothing of a pose that moves it.
        let is_led = self.leads_its_root && self.dynamics == Dynamics::KinematicOnly;
        let reached = if is_led { *target_frame } else { body.frame };
        body.yaw_rate = CharacterState::yaw_rate_between(&state.frame, &reached, FRAME_S);
        if *released {
            adaptation.stay_in_world(simulated);
            state.clone_from(&body);
            *target_frame = body.frame;
            from.clone_from(&target.world.0);
            return body;
        }
        let body = adaptation.module_from_world(&self.skeleton, body, simulated, target, target_frame);
        *state = blending.after_simulation(&self.skeleton, &body, &target.module.0, target_frame, state);
        let next = if is_led {
            state.frame = reached;
            reached
        } else {
            self.layers.root_following.follow(target_frame, &body.frame, adaptation.surface())
        };
        self.move_target(next);
        body
    }

    /// Takes the target over into the state that the kinematic module is shown, as if the body had followed it, and moves the target
    /// towards the body, whose pelvis is at `pelvis`. Returns the state.
    fn go_on_from_target(&mut self, pelvis: Vec3) -> CharacterState {
        let reached = self.pose_of_target();
        let Motion { state, target_frame, target, adaptation, .. } = &mut self.motion;
        let root = reached.pose.positions[0];
        let ground = adaptation.surface().height(root.x, root.z);
        let mut body =
            CharacterState::from_world(&self.skeleton, &reached.pose, &reached.velocities, 0.0, ground);
        body.yaw_rate = CharacterState::yaw_rate_between(&state.frame, &body.frame, FRAME_S);
        let mut body = adaptation.module_from_world(&self.skeleton, body, &reached, target, target_frame);
        let next = self.layers.reference_tracking.follow(target_frame, pelvis, adaptation.surface());
        let way = next.origin - target_frame.origin;
        adaptation.displace(Vec2::new(way.x, way.z));
        self.motion.displaced = Vec2::new(way.x, way.z);
        body.frame = next;
        self.motion.state.clone_from(&body);
        self.move_target(next);
        body
    }

    /// Whether the kinematic module is shown its own target instead of the simulated body.
    pub(crate) fn goes_on_from_target(&self) -> bool {
        self.layers.reference_tracking.enabled
            && self.dynamics == Dynamics::Simulated
            && !self.motion.released
    }

    /// Whether there is a simulated body.
    pub(crate) fn has_body(&self) -> bool {
        self.dynamics == Dynamics::Simulated
    }

    /// Moves the target with its root to `next`, so that the next frame's drive starts where the root is then.
    fn move_target(&mut self, next: RootFrame) {
        let Motion { target_frame, from, target, .. } = &mut self.motion;
        let way = next.origin - target_frame.origin;
        let turn = from_yaw(wrap_angle(next.yaw - target_frame.yaw));
        target.each(|pose| {
            pose.root_position += way;
            pose.local_rotations[0] = (turn * pose.local_rotations[0]).normalize();
        });
        from.clone_from(&target.world.0);
        *target_frame = next;
    }

    /// How far the target was moved with the body after the last frame, world x and z, metres.
    pub(crate) fn displaced(&self) -> Vec2 {
        self.motion.displaced
    }

    /// The target as if a body had followed it, untouched by anything.
    fn pose_of_target(&self) -> Frame {
        let Motion { from, target, .. } = &self.motion;
        let before = self.skeleton.forward_kinematics(from);
        let pose = self.skeleton.forward_kinematics(&target.world.0);
        let pairs = before.positions.iter().zip(&pose.positions);
        let velocities = pairs.map(|(a, b)| (*b - *a) / FRAME_S).collect();
        let motion = PoseVelocity::between(from, &target.world.0, FRAME_S);
        Frame {
            root_linear_velocity: motion.root_linear,
            root_angular_velocity: motion.angular[0],
            contact_impulse: PerJoint::from_elem(Vec3::ZERO, pose.positions.len()),
            contact_point: pose.positions.clone(),
            box_impulse: PerJoint::from_elem(Vec3::ZERO, pose.positions.len()),
            character_impulse: PerJoint::from_elem(Vec3::ZERO, pose.positions.len()),
            assist_force: Vec3::ZERO,
            assist_torque: Vec3::ZERO,
            joint_torque: PerJoint::from_elem(0.0, pose.positions.len()),
            saturated_joints: 0,
            recovered: None,
            velocities,
            pose,
        }
    }
}

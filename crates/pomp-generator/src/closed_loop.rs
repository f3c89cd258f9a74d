//! One frame of the loop (method §1): kinematic module, dynamic module, phase encoding module.

use crate::control::{ControlCursor, ControlPlan, ControlSample};
use crate::fall::FallDetector;
use crate::footing::Footing;
use crate::phase_feedback::PhaseReader;
use crate::start::read_start;
use crate::trajectory::{Blend, History, ground_position, window_keys};
use crate::{Dynamics, GeneratorConfig, GeneratorError, PhaseFeedback};
use glam::{Vec2, Vec3};
use pomp_kinematic::{KinematicInference, ReverseProcess};
use pomp_model::{KinematicDescription, Model};
use pomp_motion::features::{
    CharacterState, FeatureLayout, InputFrame, KEYS, OutputFrame, PAST_KEYS, WindowKey,
};
use pomp_motion::rotation::{from_yaw, wrap_angle};
use pomp_motion::{Gait, GlobalPose, Pose, RootFrame, Skeleton, humanoid};
use pomp_physics::{DynamicModule, Frame, PoseVelocity, Push};
use pomp_terrain::HeightMap;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// Frame rate of the loop, Hz: that of keys and windows.
pub const FRAME_RATE_HZ: f32 = 60.0;
const FRAME_S: f32 = 1.0 / FRAME_RATE_HZ;

/// What one frame of the loop gave.
#[derive(Clone, Debug)]
pub struct StepOutput {
    /// What the simulator made of the target.
    pub simulated: Frame,
    /// The target that the kinematic module set.
    pub target: GlobalPose,
    /// Gait weights that it predicted; `lie` once fallen.
    pub gait: [f32; Gait::COUNT],
    /// Phase code of the frame, 2C.
    pub phase_code: Vec<f32>,
    /// What was asked for.
    pub control: ControlSample,
    /// Whether the character lies where it fell.
    pub fallen: bool,
}

/// A character in a world, moved one frame at a time.
pub struct Generator {
    config: GeneratorConfig,
    skeleton: Skeleton,
    terrain: HeightMap,
    layout: FeatureLayout,
    description: KinematicDescription,
    inference: KinematicInference,
    phase_reader: PhaseReader,
    dynamic: DynamicModule,
    falls: FallDetector,
    footing: Option<Footing>,
    rng: ChaCha8Rng,
    weight_impulse_ns: f32,

    state: CharacterState,
    history: History,
    future_codes: Vec<f32>,
    contact_impulse: Vec<Vec3>,
    prediction: Option<OutputFrame>,
    target_frame: RootFrame,
    target_pose: Pose,
    cursor: ControlCursor,
    down_frames: usize,
    fallen: bool,
    frame: usize,
    x: Vec<f32>,
    normalised_x: Vec<f32>,
    y: Vec<f32>,
}

impl Generator {
    /// A character at the origin of `terrain`, facing +Z, in the model's start `gait`.
    ///
    /// # Errors
    /// A model without its parts or of another skeleton, a setting outside its range, or a terrain that the
    /// simulator refuses.
    pub fn new(
        model: &Model,
        terrain: HeightMap,
        config: &GeneratorConfig,
        start: Gait,
        seed: u64,
    ) -> Result<Self, GeneratorError> {
        config.validate()?;
        let (network, gamma, kinematic) = model.kinematic()?;
        let description = &model.description;
        let layout = description.layout.clone();
        let dynamic = DynamicModule::new(&description.skeleton, &config.dynamic, terrain.grid())?;
        if dynamic.body_names() != description.body_names {
            return Err(GeneratorError::BadModel {
                reason: "it was trained with other bodies than this version simulates; train it again"
                    .to_owned(),
            });
        }
        let process = ReverseProcess::new(network.schedule(), layout.y_len(), &config.sampler, Some(gamma))?;
        let inference = KinematicInference::new(network, process)?;
        let x = kinematic.starts.get(start.name()).ok_or_else(|| GeneratorError::BadModel {
            reason: format!(
                "it has no start for the gait \"{}\"; it starts with {}: choose a command that begins so, or train \
                 on clips of that gait",
                start.name(),
                kinematic.starts.keys().map(String::as_str).collect::<Vec<_>>().join(", ")
            ),
        })?;
        let ground = terrain.smoothed_height(0.0, 0.0);
        let origin = RootFrame { origin: Vec3::new(0.0, ground, 0.0), yaw: 0.0 };
        let start = read_start(&layout, x, origin);
        let pose = start.state.to_pose();
        let phase_reader = PhaseReader::new(model, config.phase_feedback, &start.state)?;
        let mass_kg: f32 = dynamic.body_masses().iter().sum();
        let weight_impulse_ns = mass_kg * config.dynamic.gravity_m_s2 * FRAME_S;
        Ok(Self {
            weight_impulse_ns,
            description: kinematic.clone(),
            footing: (config.swing_clearance_m > 0.0)
                .then(|| Footing::new(dynamic.body_height_m(), config.swing_clearance_m)),
            falls: FallDetector::new(&description.skeleton, config),
            config: config.clone(),
            skeleton: description.skeleton.clone(),
            contact_impulse: start.contact_force_bw.iter().map(|force| *force * weight_impulse_ns).collect(),
            x: vec![0.0; layout.x_len()],
            normalised_x: vec![0.0; layout.x_len()],
            y: vec![0.0; layout.y_len()],
            layout,
            terrain,
            inference,
            phase_reader,
            dynamic,
            rng: ChaCha8Rng::seed_from_u64(seed),
            state: start.state,
            history: History::new(start.history),
            future_codes: start.future_phase_codes,
            prediction: None,
            target_frame: origin,
            target_pose: pose,
            cursor: ControlCursor::default(),
            down_frames: 0,
            fallen: false,
            frame: 0,
        })
    }

    /// Names of the bodies, in the order of contact impulses and pushes.
    pub fn body_names(&self) -> &[String] {
        self.dynamic.body_names()
    }

    /// Masses of the bodies, kg.
    pub fn body_masses(&self) -> &[f32] {
        self.dynamic.body_masses()
    }

    /// The skeleton that moves.
    pub fn skeleton(&self) -> &Skeleton {
        &self.skeleton
    }

    /// The ground.
    pub fn terrain(&self) -> &HeightMap {
        &self.terrain
    }

    /// Frames done.
    pub fn frames(&self) -> usize {
        self.frame
    }

    /// Moves on by one frame along `plan`, with `pushes` during it.
    ///
    /// # Errors
    /// A push that is refused, or a network whose output is not finite.
    pub fn step(&mut self, plan: &ControlPlan, pushes: &[Push]) -> Result<StepOutput, GeneratorError> {
        let control = plan.at(self.cursor.frame());
        let from = self.target_pose.clone();
        if !self.fallen {
            self.set_target(plan)?;
        }
        if self.frame == 0 {
            // The ragdoll starts in the start's pose, moving as the first target asks.
            self.dynamic.reset(&from, &PoseVelocity::between(&from, &self.target_pose, FRAME_S))?;
        }
        let simulated = match self.config.dynamics {
            Dynamics::Simulated => self.dynamic.step(&from, &self.target_pose, pushes)?,
            Dynamics::KinematicOnly if pushes.is_empty() => self.pose_of_target(&from),
            Dynamics::KinematicOnly => return Err(GeneratorError::NothingToPush { frame: self.frame }),
        };
        self.take_over(&simulated)?;
        self.cursor.advance(plan, ground_position(&self.state.frame));
        self.frame += 1;

        let down = self.falls.is_down(&simulated.pose, self.state.frame.origin.y);
        self.down_frames = if down { self.down_frames + 1 } else { 0 };
        if !self.fallen && self.down_frames as f32 * FRAME_S > self.config.fall_after_s {
            self.fallen = true;
            self.dynamic.set_assist_scale(0.0);
            self.dynamic.set_strength_scale(self.config.fallen_strength);
        }
        let gait = match &self.prediction {
            Some(prediction) if !self.fallen => prediction.gait,
            _ => Gait::Lie.one_hot(),
        };
        Ok(StepOutput {
            target: self.skeleton.forward_kinematics(&self.target_pose),
            simulated,
            gait,
            phase_code: self.history.at(0).phase_codes.clone(),
            control,
            fallen: self.fallen,
        })
    }

    /// The target as if a body had followed it, untouched by anything.
    fn pose_of_target(&self, from: &Pose) -> Frame {
        let before = self.skeleton.forward_kinematics(from);
        let pose = self.skeleton.forward_kinematics(&self.target_pose);
        let pairs = before.positions.iter().zip(&pose.positions);
        let velocities: Vec<Vec3> = pairs.map(|(a, b)| (*b - *a) / FRAME_S).collect();
        let motion = PoseVelocity::between(from, &self.target_pose, FRAME_S);
        Frame {
            root_linear_velocity: motion.root_linear,
            root_angular_velocity: motion.angular[0],
            contact_impulse: vec![Vec3::ZERO; self.contact_impulse.len()],
            assist_force: Vec3::ZERO,
            assist_torque: Vec3::ZERO,
            joint_torque: vec![0.0; pose.positions.len()],
            saturated_joints: 0,
            recovered: None,
            velocities,
            pose,
        }
    }

    /// The kinematic module: x from the simulated state, y sampled, the next target pose.
    fn set_target(&mut self, plan: &ControlPlan) -> Result<(), GeneratorError> {
        let blend =
            Blend { position_bias: self.config.position_bias, direction_bias: self.config.direction_bias };
        let keys = window_keys(
            &self.history,
            &self.target_frame,
            self.prediction.as_ref(),
            plan,
            self.cursor.frame(),
            blend,
        );
        let codes = self.window_codes();
        let input = InputFrame {
            state: &self.state,
            keys: &keys,
            phase_codes: &codes,
            contact_impulse: &self.contact_impulse,
            weight_impulse_ns: self.weight_impulse_ns,
        };
        let terrain = &self.terrain;
        self.layout.write_x(&input, |x, z| terrain.height(x, z), &mut self.x);
        self.normalised_x.copy_from_slice(&self.x);
        self.description.x.normalise(&mut self.normalised_x);
        self.inference.sample(&self.normalised_x, &mut self.y, &mut self.rng)?;
        self.description.output_to_y(&self.layout, &self.x, &mut self.y);
        if self.y.iter().any(|v| !v.is_finite()) {
            return Err(GeneratorError::NotFinite { frame: self.frame });
        }
        let output = self.layout.read_y(&self.y);

        let mut next = output.next_frame(&self.target_frame, FRAME_S);
        next.origin.y = self.terrain.smoothed_height(next.origin.x, next.origin.z);
        self.target_frame = next;
        let before = self.skeleton.forward_kinematics(&self.target_pose);
        let mut pose = output.state_in(next).to_pose();
        if let Some(footing) = &self.footing {
            let ankles = [humanoid::LEFT_FOOT, humanoid::RIGHT_FOOT]
                .map(|ankle| next.to_world(output.positions_root[ankle.0]));
            footing.set(&self.skeleton, &mut pose, ankles, &before, &output.gait, &self.terrain, FRAME_S);
        }
        self.target_pose = pose;
        self.prediction = Some(output);
        Ok(())
    }

    /// Takes the simulated state over into history, phases and the root that the next target starts from.
    fn take_over(&mut self, simulated: &Frame) -> Result<(), GeneratorError> {
        let hips = simulated.pose.positions[0];
        let ground = self.terrain.smoothed_height(hips.x, hips.z);
        let before = self.state.frame;
        let mut state =
            CharacterState::from_world(&self.skeleton, &simulated.pose, &simulated.velocities, 0.0, ground);
        state.yaw_rate = CharacterState::yaw_rate_between(&before, &state.frame, FRAME_S);
        self.phase_reader.push(&state);
        if self.config.pose_feedback < 1.0 {
            self.keep_part_of_target(&mut state);
        }
        self.state = state;
        self.contact_impulse.copy_from_slice(&simulated.contact_impulse);

        let follow = self.config.root_follow;
        let (target, body) = (self.target_frame, self.state.frame);
        let position = ground_position(&target).lerp(ground_position(&body), follow);
        self.target_frame = RootFrame {
            origin: Vec3::new(position.x, self.terrain.smoothed_height(position.x, position.y), position.y),
            yaw: wrap_angle(target.yaw + wrap_angle(body.yaw - target.yaw) * follow),
        };
        // The target pose moves with its root, so that the next frame's drive starts where the root is now.
        let shift = self.target_frame.origin - target.origin;
        self.target_pose.root_position += shift;
        let turn = from_yaw(wrap_angle(self.target_frame.yaw - target.yaw));
        self.target_pose.local_rotations[0] = (turn * self.target_pose.local_rotations[0]).normalize();

        let gait = self.prediction.as_ref().map_or(self.history.at(0).key.gait, |output| output.gait);
        let key = WindowKey { position: ground_position(&self.state.frame), yaw: self.state.frame.yaw, gait };
        let code = self.next_code()?;
        self.history.push(key, &code);
        Ok(())
    }

    /// Moves a simulated state back towards the last target by what the pose feedback leaves out; its place and heading
    /// on the ground stay.
    fn keep_part_of_target(&self, state: &mut CharacterState) {
        let feedback = self.config.pose_feedback;
        let target = &self.target_pose;
        let tilt = self.target_frame.rotation_to_root(target.local_rotations[0]);
        state.rotations_local[0] = tilt.slerp(state.rotations_local[0], feedback);
        for (simulated, target) in state.rotations_local.iter_mut().zip(&target.local_rotations).skip(1) {
            *simulated = target.slerp(*simulated, feedback);
        }
        let height = target.root_position.y - self.target_frame.origin.y;
        state.positions_root[0].y = height + (state.positions_root[0].y - height) * feedback;
        let world = self.skeleton.forward_kinematics(&state.to_pose());
        // Velocities of what is fed back: the last fed state's joints, in the world, to these.
        for (joint, position) in world.positions.iter().enumerate() {
            let last = self.state.frame.to_world(self.state.positions_root[joint]);
            let fed = state.frame.vector_to_root((*position - last) / FRAME_S);
            state.velocities_root[joint] = fed.lerp(state.velocities_root[joint], feedback);
            state.positions_root[joint] = state.frame.to_root(*position);
        }
    }

    /// Phase codes of all keys: past from history, present and future from the last frame's update.
    fn window_codes(&self) -> Vec<f32> {
        let width = 2 * self.layout.channels();
        let mut codes = Vec::with_capacity(KEYS * width);
        for offset in &pomp_motion::features::KEY_OFFSETS[..=PAST_KEYS] {
            codes.extend_from_slice(&self.history.at(*offset).phase_codes);
        }
        codes.extend_from_slice(&self.future_codes[width..]);
        codes
    }

    /// The present's phase code by the configured feedback; future codes follow the prediction.
    fn next_code(&mut self) -> Result<Vec<f32>, GeneratorError> {
        let width = 2 * self.layout.channels();
        let old = &self.history.at(0).phase_codes;
        if self.config.phase_feedback == PhaseFeedback::Constant {
            return Ok(old.clone());
        }
        let Some(output) = &self.prediction else { return Ok(old.clone()) };
        self.future_codes.copy_from_slice(&output.phase_codes);
        let code = self.phase_reader.update(old, output)?;
        self.future_codes[..width].copy_from_slice(&code);
        Ok(code)
    }

    /// Whether the character lies where it fell.
    pub fn has_fallen(&self) -> bool {
        self.fallen
    }

    /// Pelvis height of standing, metres.
    pub fn standing_height_m(&self) -> f32 {
        self.falls.standing_height_m()
    }

    /// Root on the ground plane, world x and z.
    pub fn root_position(&self) -> Vec2 {
        ground_position(&self.state.frame)
    }
}

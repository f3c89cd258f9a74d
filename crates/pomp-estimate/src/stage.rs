//! A ragdoll that follows targets, and the record of what it does.

use crate::{ReplayConfig, ReplayReport};
use pomp_motion::glam::Vec3;
use pomp_motion::{Clip, GlobalPose, Pose, SimulationTrack, Skeleton, TerrainGrid, humanoid, rotation};
use pomp_physics::{
    DynamicConfig, DynamicModule, Expectation, Frame, GainScale, PhysicsError, PoseVelocity, Push, Reaction,
    SimulationRecorder, Support, WorldSnapshot,
};
use std::sync::Arc;

/// A stage between two frames; what was recorded is not part of it.
pub(crate) struct Kept {
    world: WorldSnapshot,
    from: Pose,
    target: Pose,
    body: GlobalPose,
    bore_n: Vec<Vec3>,
    divergences: usize,
}

/// A ragdoll on its ground. Each frame is one [`Self::step`], which [`Self::record`] records.
pub struct Stage<'a> {
    skeleton: Arc<Skeleton>,
    config: &'a ReplayConfig,
    module: DynamicModule,
    frame_s: f32,
    weight_n: f32,
    /// The target at the start of the last frame, and at its end.
    from: Pose,
    target: Pose,
    body: GlobalPose,
    bore_n: Vec<Vec3>,
    recorder: SimulationRecorder,
    square_error: f64,
    root_error: f64,
    peak_bw: f32,
    resets: usize,
    divergences: usize,
}

impl<'a> Stage<'a> {
    /// The ragdoll of `clip` on `terrain`, in the pose `at`, moving towards the pose `next`.
    ///
    /// # Errors
    /// What the simulator refuses.
    pub fn new(
        clip: &Clip,
        terrain: &TerrainGrid,
        dynamic: &DynamicConfig,
        config: &'a ReplayConfig,
        (at, next): (&Pose, &Pose),
    ) -> Result<Self, PhysicsError> {
        let frame_s = 1.0 / clip.frame_rate_hz;
        let mut module = DynamicModule::new(&clip.skeleton, dynamic, terrain)?;
        let bodies = module.body_names().len();
        let mass: f32 = module.body_masses().iter().sum();
        let recorder = SimulationRecorder::new(module.body_names(), module.body_masses(), clip.frames());
        module.reset(at, &PoseVelocity::between(at, next, frame_s))?;
        Ok(Self {
            body: clip.skeleton.forward_kinematics(at),
            skeleton: Arc::clone(&clip.skeleton),
            config,
            module,
            frame_s,
            weight_n: mass * dynamic.gravity_m_s2,
            from: at.clone(),
            target: at.clone(),
            bore_n: vec![Vec3::ZERO; bodies],
            recorder,
            square_error: 0.0,
            root_error: 0.0,
            peak_bw: 0.0,
            resets: 0,
            divergences: 0,
        })
    }

    /// Where the ragdoll is.
    pub fn body(&self) -> &GlobalPose {
        &self.body
    }

    /// The last target.
    pub fn target(&self) -> &Pose {
        &self.target
    }

    /// The ragdoll, to set the strength of drives and assist.
    pub fn module(&mut self) -> &mut DynamicModule {
        &mut self.module
    }

    pub(crate) fn ragdoll(&self) -> &DynamicModule {
        &self.module
    }

    pub(crate) fn skeleton(&self) -> &Skeleton {
        &self.skeleton
    }

    /// The target at the start of the last frame.
    pub(crate) fn from(&self) -> &Pose {
        &self.from
    }

    /// What the balance of the ragdoll does beside following the target, from the next frame on.
    pub(crate) fn react(&mut self, reaction: &Reaction) {
        self.module.set_reaction(reaction);
    }

    pub(crate) fn keep(&self) -> Kept {
        Kept {
            world: self.module.save(),
            from: self.from.clone(),
            target: self.target.clone(),
            body: self.body.clone(),
            bore_n: self.bore_n.clone(),
            divergences: self.divergences,
        }
    }

    pub(crate) fn take_up(&mut self, kept: &Kept) -> Result<(), PhysicsError> {
        self.module.restore(&kept.world)?;
        self.from.clone_from(&kept.from);
        self.target.clone_from(&kept.target);
        self.body.clone_from(&kept.body);
        self.bore_n.clone_from(&kept.bore_n);
        self.divergences = kept.divergences;
        Ok(())
    }

    /// Weight of the body, N.
    pub fn weight_n(&self) -> f32 {
        self.weight_n
    }

    /// Sets the last target anew, so that the next one is reached from there.
    pub fn place_target(&mut self, target: Pose) {
        self.target = target;
    }

    /// One frame towards `target`; `expected` is its feed-forward.
    ///
    /// # Errors
    /// What the simulator refuses.
    pub fn step(
        &mut self,
        target: &Pose,
        pushes: &[Push],
        expected: Option<&Expectation>,
    ) -> Result<Frame, PhysicsError> {
        self.from = std::mem::replace(&mut self.target, target.clone());
        let told = expected.map(|expected| told(expected, &self.bore_n, self.weight_n, self.config));
        let frame = self.module.step_expecting(&self.from, target, pushes, told.as_ref())?;
        self.body.clone_from(&frame.pose);
        self.bore_n = frame.contact_impulse.iter().map(|j| *j / self.frame_s).collect();
        self.divergences += usize::from(frame.recovered.is_some());
        Ok(frame)
    }

    /// Whether the body of a frame has lost its target.
    pub fn has_lost(&self, frame: &Frame) -> bool {
        frame.pose.positions[0].distance(self.target.root_position) > self.config.lost_beyond_m
    }

    /// Puts a body that has lost its target back onto it.
    ///
    /// # Errors
    /// A target that the simulator refuses.
    pub fn put_back(&mut self) -> Result<(), PhysicsError> {
        let motion = PoseVelocity::between(&self.from, &self.target, self.frame_s);
        self.module.reset(&self.target, &motion)?;
        self.resets += 1;
        Ok(())
    }

    /// Records a frame.
    pub fn record(&mut self, frame: &Frame) {
        let simulated = frame.pose.to_local(&self.skeleton);
        for (a, b) in simulated.local_rotations.iter().zip(&self.target.local_rotations).skip(1) {
            self.square_error += f64::from(rotation::log(*a * b.inverse()).length_squared());
        }
        self.root_error += f64::from(frame.pose.positions[0].distance(self.target.root_position));
        let vertical: f32 = frame.contact_impulse.iter().map(|j| j.y).sum();
        self.peak_bw = self.peak_bw.max(vertical / (self.weight_n * self.frame_s));
        self.recorder.record(frame);
    }

    /// What was recorded, and its figures.
    pub fn finish(self) -> (SimulationTrack, ReplayReport) {
        let track = self.recorder.finish();
        let (frames, joints) = (track.assist_force.len() as f32, self.skeleton.len());
        let total: f32 = track.sim_contact_impulse.values().iter().map(|j| j.y).sum();
        let assist: Vec3 = track.assist_force.iter().sum();
        let report = ReplayReport {
            vertical_closure: total / (self.weight_n * self.frame_s * frames),
            vertical_assist: assist.y / (self.weight_n * frames),
            mean_assist: track.assist_force.iter().map(|f| f.length()).sum::<f32>()
                / (self.weight_n * frames),
            rms_joint_error_deg: ((self.square_error / (f64::from(frames) * (joints - 1) as f64)).sqrt()
                as f32)
                .to_degrees(),
            mean_root_error_m: (self.root_error / f64::from(frames)) as f32,
            peak_force_bw: self.peak_bw,
            resets: self.resets,
            divergences: self.divergences,
        };
        (track, report)
    }
}

/// A foot with less than this share of the weight in the previous frame is not on the ground; with feed-forward its leg would be
/// thrust at the ground.
const BEARS: f32 = 0.01;
/// Share of the expected weight above which a leg gets soft gains.
const EXPECTED_TO_BEAR: f32 = 0.02;

/// The feed-forward of a frame: `expected` without feet that bear no load. `bore_n` are the ground forces of the previous frame,
/// N.
fn told(expected: &Expectation, bore_n: &[Vec3], weight_n: f32, config: &ReplayConfig) -> Expectation {
    let mut told = expected.clone();
    let soft = GainScale { stiffness: config.bearing_stiffness, damping: config.bearing_damping };
    for foot in [humanoid::LEFT_FOOT.0, humanoid::RIGHT_FOOT.0] {
        let (knee, toe) = (foot - 1, foot + 1);
        let of_foot = |support: &Support| support.body == foot || support.body == toe;
        let load: f32 = told.supports.iter().filter(|s| of_foot(s)).map(|s| s.force_n.y).sum();
        if load > EXPECTED_TO_BEAR * weight_n {
            (told.gains[knee], told.gains[foot]) = (soft, soft);
        }
        if bore_n[foot].y + bore_n[toe].y < BEARS * weight_n {
            told.supports.retain(|support| !of_foot(support));
        }
    }
    told
}

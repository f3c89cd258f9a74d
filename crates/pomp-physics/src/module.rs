use crate::body::{self, body_height};
use crate::boxes::{BoxState, ThrownBox};
use crate::drive::{DriveState, Drives, ExpectedDrives};
use crate::frame::{Divergence, DivergenceReason, Frame};
use crate::ground::{check_terrain, ground_collider};
use crate::limit::humanoid_limits;
use crate::snapshot::WorldSnapshot;
use crate::world::{Motion, World};
use crate::{DynamicConfig, Expectation, GuardConfig, PhysicsError, PoseVelocity, Push};
use pomp_motion::glam::{Quat, Vec3};
use pomp_motion::{GlobalPose, Pose, Skeleton, TerrainGrid};

/// A step whose drives exceed their limits is taken again, softer, at most this many times in all.
const ATTEMPTS: usize = 6;

/// The dynamic module (method §4): a ragdoll under PD control with a bounded root assist on a height map.
pub struct DynamicModule {
    skeleton: Skeleton,
    config: DynamicConfig,
    names: Vec<String>,
    masses: Vec<f32>,
    drives: Drives,
    world: World,
    controls: Controls,
}

/// What belongs to a snapshot besides the engine's state.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Controls {
    /// The ground may change, and a snapshot holds the ground.
    pub(crate) lowest_ground: f32,
    pub(crate) assist_scale: f32,
    pub(crate) strength_scale: f32,
    pub(crate) divergences: u32,
}

/// Sums over the engine steps of a frame.
struct Totals {
    contact_impulse: Vec<Vec3>,
    box_impulse: Vec<Vec3>,
    assist_impulse: Vec3,
    assist_angular_impulse: Vec3,
    joint_impulse: Vec<Vec3>,
    saturated: usize,
}

impl DynamicModule {
    /// Builds the ragdoll of `skeleton` on `terrain`, in its rest pose.
    ///
    /// # Errors
    /// A skeleton without the joints of [`Skeleton::humanoid`], a config out of range, terrain that is not
    /// finite or too large.
    pub fn new(
        skeleton: &Skeleton,
        config: &DynamicConfig,
        terrain: &TerrainGrid,
    ) -> Result<Self, PhysicsError> {
        config.validate()?;
        body::check_skeleton(skeleton)?;
        check_terrain(terrain)?;
        let bodies = body::bodies(skeleton, config.mass_kg);
        let ground = ground_collider(terrain, config.contact.border_m)?;
        let world = World::new(skeleton, config, &bodies, ground)?;
        let names: Vec<String> = skeleton.joints().iter().map(|j| j.name.clone()).collect();
        Ok(Self {
            drives: Drives::new(config, humanoid_limits(&names)),
            masses: bodies.iter().map(|b| b.mass_kg).collect(),
            skeleton: skeleton.clone(),
            config: config.clone(),
            names,
            world,
            controls: Controls {
                lowest_ground: lowest(terrain),
                assist_scale: 1.0,
                strength_scale: 1.0,
                divergences: 0,
            },
        })
    }

    /// Names of the B bodies, which are those of the joints, in the same order.
    pub fn body_names(&self) -> &[String] {
        &self.names
    }

    /// Masses of the bodies, kg.
    pub fn body_masses(&self) -> &[f32] {
        &self.masses
    }

    /// The skeleton that the ragdoll was made from.
    pub fn skeleton(&self) -> &Skeleton {
        &self.skeleton
    }

    /// The settings in force.
    pub fn config(&self) -> &DynamicConfig {
        &self.config
    }

    /// Height of the person, metres, from the length of the legs.
    pub fn body_height_m(&self) -> f32 {
        body_height(&self.skeleton)
    }

    /// Length of one frame, seconds.
    pub fn frame_s(&self) -> f32 {
        1.0 / self.config.frame_rate_hz
    }

    /// Share of the configured root assist in force, 0 to 1.
    pub fn assist_scale(&self) -> f32 {
        self.controls.assist_scale
    }

    /// Scales the root assist, gains and caps alike: 0 is none, 1 the configured one. Values outside are
    /// clamped.
    pub fn set_assist_scale(&mut self, scale: f32) {
        self.controls.assist_scale = unit(scale);
    }

    /// Share of the configured drives in force, 0 to 1.
    pub fn strength_scale(&self) -> f32 {
        self.controls.strength_scale
    }

    /// Scales the joint drives, gains and torque limits alike: 0 is a limp ragdoll. Values outside 0 to 1 are
    /// clamped.
    pub fn set_strength_scale(&mut self, scale: f32) {
        self.controls.strength_scale = unit(scale);
    }

    /// Throws a box, which begins to fly with the next frame; its number is given back. It stays for
    /// [`ThrownBox::LIFETIME_S`], or until it is far off or the module is reset.
    ///
    /// # Errors
    /// A box out of range, one that would begin within the body, or one too many.
    pub fn throw(&mut self, thrown: &ThrownBox) -> Result<u32, PhysicsError> {
        self.world.throw(thrown)
    }

    /// The boxes in the world, in the order in which they were thrown.
    pub fn boxes(&self) -> Vec<BoxState> {
        self.world.boxes()
    }

    /// Exchanges the ground under the body, from the next frame on; the scales, the pose and the boxes stay. A snapshot holds
    /// the ground that it was taken on.
    ///
    /// # Errors
    /// Terrain that is not finite or too large; nothing is changed then.
    pub fn set_terrain(&mut self, terrain: &TerrainGrid) -> Result<(), PhysicsError> {
        check_terrain(terrain)?;
        self.world.set_ground(&ground_collider(terrain, self.config.contact.border_m)?);
        self.controls.lowest_ground = lowest(terrain);
        Ok(())
    }

    /// Puts the ragdoll in `pose` with `velocities` and forgets contacts, divergences and flying boxes; the scales stay.
    ///
    /// # Errors
    /// When an input has the wrong size or is not finite.
    pub fn reset(&mut self, pose: &Pose, velocities: &PoseVelocity) -> Result<(), PhysicsError> {
        self.check_pose("reset pose", pose)?;
        if velocities.angular.len() != self.names.len() {
            return Err(PhysicsError::SizeMismatch {
                what: "angular velocities",
                expected: self.names.len(),
                found: velocities.angular.len(),
            });
        }
        if !velocities.root_linear.is_finite() {
            return Err(PhysicsError::NotFinite { what: "reset velocity of the root".to_owned() });
        }
        if let Some(i) = velocities.angular.iter().position(|v| !v.is_finite()) {
            return Err(PhysicsError::NotFinite {
                what: format!("reset angular velocity of joint {i} (\"{}\")", self.names[i]),
            });
        }
        self.controls.divergences = 0;
        self.world.reset(pose, velocities);
        Ok(())
    }

    /// World pose of the ragdoll.
    pub fn pose(&self) -> GlobalPose {
        self.world.motion().pose
    }

    /// Velocities of the ragdoll in the form that [`Self::reset`] takes.
    pub fn velocity(&self) -> PoseVelocity {
        let motion = self.world.motion();
        PoseVelocity { root_linear: motion.linear[0], angular: motion.relative }
    }

    /// Centre of mass of the ragdoll, metres, world.
    pub fn center_of_mass(&self) -> Vec3 {
        self.world.center_of_mass(&self.world.motion().pose)
    }

    /// Linear momentum of the ragdoll, N·s, world.
    pub fn momentum(&self) -> Vec3 {
        self.world.momentum(&self.world.motion())
    }

    /// Simulates one control frame; the target moves from `from` at its start to `to` at its end.
    ///
    /// A diverged simulation is no error: the pose at the start of the frame is restored at rest, and
    /// [`Frame::recovered`] says so. Nothing that is not finite comes out.
    ///
    /// # Errors
    /// When a target or push is not finite, has the wrong size or names no body. The state is then unchanged.
    pub fn step(&mut self, from: &Pose, to: &Pose, pushes: &[Push]) -> Result<Frame, PhysicsError> {
        self.step_expecting(from, to, pushes, None)
    }

    /// As [`Self::step`]; the drives begin with the torques that the `expected` forces and accelerations ask for in the
    /// present pose, at most four fifths of their limits, and with the gains that it scales. It is about this frame
    /// alone.
    ///
    /// # Errors
    /// Those of [`Self::step`], and an expectation of the wrong size, that is not finite or names no body.
    pub fn step_expecting(
        &mut self,
        from: &Pose,
        to: &Pose,
        pushes: &[Push],
        expected: Option<&Expectation>,
    ) -> Result<Frame, PhysicsError> {
        self.check_pose("target at the start of the frame", from)?;
        self.check_pose("target at the end of the frame", to)?;
        self.check_pushes(pushes)?;
        if let Some(expected) = expected {
            expected.check(self.names.len())?;
        }
        let frame_s = self.frame_s();
        let (from, to) = (self.drives.allowed_pose(from), self.drives.allowed_pose(to));
        let velocity = PoseVelocity::between(&from, &to, frame_s);
        let steps = self.config.steps_per_frame;
        let mut totals = Totals {
            contact_impulse: vec![Vec3::ZERO; self.names.len()],
            box_impulse: vec![Vec3::ZERO; self.names.len()],
            assist_impulse: Vec3::ZERO,
            assist_angular_impulse: Vec3::ZERO,
            joint_impulse: vec![Vec3::ZERO; self.names.len()],
            saturated: 0,
        };
        let before = self.world.motion();
        self.world.begin_frame(frame_s);
        for k in 0..steps {
            let target = if k == 0 { from.clone() } else { from.lerp(&to, k as f32 / steps as f32) };
            if let Err(reason) = self.substep(&target, &velocity, pushes, expected, &mut totals) {
                return Ok(self.recover(&before, reason));
            }
        }
        let motion = self.world.motion();
        Ok(Frame {
            velocities: motion.linear.clone(),
            root_linear_velocity: motion.linear[0],
            root_angular_velocity: motion.angular[0],
            pose: motion.pose,
            contact_impulse: totals.contact_impulse,
            box_impulse: totals.box_impulse,
            assist_force: totals.assist_impulse / frame_s,
            assist_torque: totals.assist_angular_impulse / frame_s,
            joint_torque: totals.joint_impulse.iter().map(|v| v.length() / frame_s).collect(),
            saturated_joints: totals.saturated,
            recovered: None,
        })
    }

    fn substep(
        &mut self,
        target: &Pose,
        velocity: &PoseVelocity,
        pushes: &[Push],
        expected: Option<&Expectation>,
        totals: &mut Totals,
    ) -> Result<(), DivergenceReason> {
        let h = self.world.step_s();
        let start = self.world.motion();
        let momentum = self.world.momentum(&start);
        let state =
            DriveState { root_position: start.pose.positions[0], local_rotations: &start.local_rotations };
        let scales = (self.controls.strength_scale, self.controls.assist_scale);
        let expected = expected.map(|expected| ExpectedDrives {
            torques: self.world.expected_torques(&start, expected),
            gains: &expected.gains,
        });
        let mut plan = self.drives.plan(&state, target, velocity, scales, expected.as_ref());
        let base = self.world.state.clone();
        let mut attempt = 1;
        let outcome = loop {
            self.world.step(&plan, pushes, self.frame_s());
            let motion = self.world.motion();
            self.check_state(&motion)?;
            let outcome = plan.outcome(h, motion.linear[0], &motion.relative);
            if !outcome.exceeded || attempt == ATTEMPTS {
                break outcome;
            }
            attempt += 1;
            plan.soften(&outcome);
            self.world.state = base.clone();
        };
        let mut contact = vec![Vec3::ZERO; self.names.len()];
        let mut boxes = vec![Vec3::ZERO; self.names.len()];
        self.world.add_contact_impulses(&mut contact, &mut boxes);
        let pushed: Vec3 =
            pushes.iter().map(|p| p.impulse_ns).sum::<Vec3>() / self.config.steps_per_frame as f32;
        // The engine's integration of a multibody loses momentum, to first order in the step.
        let expected = momentum
            + self.world.gravity_impulse()
            + outcome.assist_force * h
            + contact.iter().chain(&boxes).copied().sum::<Vec3>()
            + pushed;
        let found = self.world.momentum(&self.world.motion());
        self.world.shift_velocity((expected - found) / self.world.total_mass());
        if !expected.is_finite() {
            return Err(DivergenceReason::NotFinite);
        }
        self.check_state(&self.world.motion())?;

        let impulses = totals.contact_impulse.iter_mut().zip(&contact);
        for (total, j) in impulses.chain(totals.box_impulse.iter_mut().zip(&boxes)) {
            *total += *j;
        }
        totals.assist_impulse += outcome.assist_force * h;
        totals.assist_angular_impulse += outcome.assist_torque * h;
        for (total, torque) in totals.joint_impulse.iter_mut().zip(&outcome.joint_torque) {
            *total += *torque * h;
        }
        totals.saturated = totals.saturated.max(plan.saturated_joints());
        Ok(())
    }

    fn check_state(&self, motion: &Motion) -> Result<(), DivergenceReason> {
        let GuardConfig { max_root_speed_m_s, max_joint_rate_rad_s, max_fall_below_ground_m } =
            self.config.guard;
        let finite = motion.pose.positions.iter().all(|p| p.is_finite())
            && motion.pose.rotations.iter().all(|q| q.is_finite())
            && motion.linear.iter().chain(&motion.angular).all(|v| v.is_finite());
        if !finite || self.world.quarantined() {
            Err(DivergenceReason::NotFinite)
        } else if motion.linear[0].length() > max_root_speed_m_s {
            Err(DivergenceReason::RootSpeed)
        } else if motion.relative.iter().any(|w| w.length() > max_joint_rate_rad_s) {
            Err(DivergenceReason::JointRate)
        } else if motion.pose.positions[0].y < self.controls.lowest_ground - max_fall_below_ground_m {
            Err(DivergenceReason::BelowGround)
        } else {
            Ok(())
        }
    }

    /// Restores the pose `before` at rest. What made it diverge, its velocities and contacts, is not
    /// restored.
    fn recover(&mut self, before: &Motion, reason: DivergenceReason) -> Frame {
        let joints = self.names.len();
        let pose =
            Pose { root_position: before.pose.positions[0], local_rotations: before.local_rotations.clone() };
        self.world.reset(&pose, &PoseVelocity::zero(joints));
        self.controls.divergences += 1;
        Frame {
            pose: before.pose.clone(),
            velocities: vec![Vec3::ZERO; joints],
            root_linear_velocity: Vec3::ZERO,
            root_angular_velocity: Vec3::ZERO,
            contact_impulse: vec![Vec3::ZERO; joints],
            box_impulse: vec![Vec3::ZERO; joints],
            assist_force: Vec3::ZERO,
            assist_torque: Vec3::ZERO,
            joint_torque: vec![0.0; joints],
            saturated_joints: 0,
            recovered: Some(Divergence { reason, count: self.controls.divergences }),
        }
    }

    /// The whole state; [`Self::restore`] continues from it bit for bit.
    pub fn save(&self) -> WorldSnapshot {
        WorldSnapshot { joints: self.names.len(), controls: self.controls, state: self.world.state.clone() }
    }

    /// Continues from a snapshot of this module, or of one built from the same skeleton, config and terrain.
    ///
    /// # Errors
    /// [`PhysicsError::BadSnapshot`] when it holds other bodies.
    pub fn restore(&mut self, snapshot: &WorldSnapshot) -> Result<(), PhysicsError> {
        if snapshot.joints != self.names.len() || !self.world.fits(&snapshot.state) {
            return Err(PhysicsError::BadSnapshot { reason: "it holds another ragdoll".to_owned() });
        }
        self.controls = snapshot.controls;
        self.world.restore(snapshot.state.clone());
        Ok(())
    }

    fn check_pose(&self, what: &str, pose: &Pose) -> Result<(), PhysicsError> {
        if pose.local_rotations.len() != self.names.len() {
            return Err(PhysicsError::SizeMismatch {
                what: "local rotations of a pose",
                expected: self.names.len(),
                found: pose.local_rotations.len(),
            });
        }
        if !pose.root_position.is_finite() {
            return Err(PhysicsError::NotFinite { what: format!("{what}: root position") });
        }
        let usable = |q: Quat| q.is_finite() && (q.length() - 1.0).abs() < 1e-2;
        match pose.local_rotations.iter().position(|q| !usable(*q)) {
            None => Ok(()),
            Some(i) => Err(PhysicsError::NotFinite {
                what: format!(
                    "{what}: rotation of joint {i} (\"{}\") is no unit quaternion, it",
                    self.names[i]
                ),
            }),
        }
    }

    fn check_pushes(&self, pushes: &[Push]) -> Result<(), PhysicsError> {
        for (i, push) in pushes.iter().enumerate() {
            if push.body >= self.names.len() {
                return Err(PhysicsError::NoSuchBody { push: i, body: push.body, bodies: self.names.len() });
            }
            if !push.impulse_ns.is_finite() {
                return Err(PhysicsError::NotFinite { what: format!("impulse_ns of push {i}") });
            }
            if push.point.is_some_and(|p| !p.is_finite()) {
                return Err(PhysicsError::NotFinite { what: format!("point of push {i}") });
            }
        }
        Ok(())
    }
}

fn lowest(terrain: &TerrainGrid) -> f32 {
    terrain.heights.values().iter().copied().fold(f32::INFINITY, f32::min)
}

/// `scale` within 0 to 1; NaN becomes 0, no help and no strength.
fn unit(scale: f32) -> f32 {
    if scale.is_nan() { 0.0 } else { scale.clamp(0.0, 1.0) }
}

use crate::body::{self, body_height};
use crate::boxes::{BoxState, ThrownBox};
use crate::controls::Controls;
use crate::drive::{Drives, horizontal};
use crate::frame::DivergenceReason;
use crate::ground::{Ground, check_terrain};
use crate::limit::humanoid_limits;
use crate::motion::Motion;
use crate::ragdoll::Ragdoll;
use crate::snapshot::WorldSnapshot;
use crate::world::{RagdollParts, World};
use crate::{DynamicConfig, GuardConfig, PhysicsError, PoseVelocity, Push};
use pomp_motion::glam::{Quat, Vec3};
use pomp_motion::{GlobalPose, Pose, Skeleton, TerrainGrid};
use std::sync::{Arc, Mutex, MutexGuard};

/// The dynamic module (docs/method.md §4): a PD-controlled ragdoll with bounded root assist on a height map.
///
/// One made by [`Self::new`] has a world of its own. Those made by [`Self::together`] share one, and are stepped by
/// [`Self::step_together`].
pub struct DynamicModule {
    skeleton: Skeleton,
    pub(crate) config: DynamicConfig,
    pub(crate) names: Vec<String>,
    pub(crate) drives: Drives,
    pub(crate) ragdoll: Arc<Ragdoll>,
    /// The present pose and velocities, those of the world. Only what moves the ragdoll changes them: a step, a reset, a snapshot
    /// that is restored. The first two have the module, or all of its world, at hand, the last only one that is alone.
    pub(crate) motion: Motion,
    pub(crate) controls: Controls,
    /// Ground, boxes and contacts, which all ragdolls of a world share. It is locked once a frame and by calls about those, not to
    /// read the ragdoll.
    pub(crate) world: Arc<Mutex<World>>,
    /// Which ragdoll of its world it is.
    pub(crate) member: usize,
}

/// Why a world can be locked: no call leaves one half done.
pub(crate) const WHOLE: &str = "no thread panics while it steps";
/// Change of the body's speed by which a blow counts in full, m/s.
const FULL_BLOW_M_S: f32 = 0.5;

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
        let mut alone = Self::together(&[(skeleton, config)], terrain)?;
        Ok(alone.pop().expect("one ragdoll was asked for"))
    }

    /// Builds several ragdolls on one `terrain`, in their rest poses and out of each other's reach until they are reset. Their
    /// bodies may meet. Rates, steps, sweeps, gravity, friction and contacts have to be the same for all; masses, drives,
    /// limits, assists and guards are each one's own.
    ///
    /// # Errors
    /// Those of [`Self::new`], and [`PhysicsError::NotTogether`] for none at all or settings of the world that differ.
    pub fn together(
        parts: &[(&Skeleton, &DynamicConfig)],
        terrain: &TerrainGrid,
    ) -> Result<Vec<Self>, PhysicsError> {
        let Some((_, first)) = parts.first() else {
            return Err(PhysicsError::NotTogether { reason: "a world needs a ragdoll".to_owned() });
        };
        for (i, (skeleton, config)) in parts.iter().enumerate() {
            config.validate()?;
            body::check_skeleton(skeleton)?;
            if let Some(setting) = differing_setting(first, config) {
                return Err(PhysicsError::NotTogether {
                    reason: format!("ragdoll {i} has another {setting} than ragdoll 0"),
                });
            }
        }
        check_terrain(terrain)?;
        let bodies: Vec<_> =
            parts.iter().map(|(skeleton, config)| body::bodies(skeleton, config.mass_kg)).collect();
        let ground = Ground::new(terrain, first.contact.border_m)?;
        let ragdolls: Vec<RagdollParts<'_>> = parts
            .iter()
            .zip(&bodies)
            .map(|((skeleton, config), bodies)| RagdollParts { skeleton, config, bodies })
            .collect();
        let world = World::new(&ragdolls, ground)?;
        let members: Vec<_> =
            world.ragdolls.iter().enumerate().map(|(i, of)| (Arc::clone(of), world.motion(i))).collect();
        let world = Arc::new(Mutex::new(world));
        let modules = parts.iter().zip(members).enumerate();
        let modules = modules.map(|(member, ((skeleton, config), (ragdoll, motion)))| {
            let names: Vec<String> = skeleton.joints().iter().map(|j| j.name.clone()).collect();
            Self {
                drives: Drives::new(config, humanoid_limits(&names)),
                skeleton: (*skeleton).clone(),
                config: (*config).clone(),
                names,
                ragdoll,
                motion,
                controls: Controls::new(),
                world: Arc::clone(&world),
                member,
            }
        });
        Ok(modules.collect())
    }

    /// What the ragdolls of its world share.
    pub(crate) fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().expect(WHOLE)
    }

    /// Names of the B bodies, which are those of the joints, in the same order.
    pub fn body_names(&self) -> &[String] {
        &self.names
    }

    /// Masses of the bodies, kg.
    pub fn body_masses(&self) -> &[f32] {
        self.ragdoll.masses()
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

    /// Most torque that an [`crate::Expectation`] can ask of a joint's drive, N·m; that of the root means nothing.
    pub fn feed_forward_limit_nm(&self, joint: usize) -> f32 {
        self.drives.feed_forward_limit_nm(joint)
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

    /// Lets the root assist hold the body up even where it otherwise balances by its legs
    /// ([`BalanceConfig`](crate::BalanceConfig)), or no longer.
    pub fn set_held(&mut self, held: bool) {
        self.controls.held = held;
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
    /// A box out of range, one that would begin within a body, of whichever ragdoll, or one too many.
    pub fn throw(&mut self, thrown: &ThrownBox) -> Result<u32, PhysicsError> {
        self.world().throw(thrown)
    }

    /// The boxes in the world, in the order in which they were thrown.
    pub fn boxes(&self) -> Vec<BoxState> {
        self.world().boxes()
    }

    /// Exchanges the ground of the world, from the next frame on; the scales, poses and boxes stay. A snapshot holds the
    /// ground that it was taken on.
    ///
    /// # Errors
    /// Terrain that is not finite or too large; nothing is changed then.
    pub fn set_terrain(&mut self, terrain: &TerrainGrid) -> Result<(), PhysicsError> {
        check_terrain(terrain)?;
        let ground = Ground::new(terrain, self.config.contact.border_m)?;
        self.world().set_ground(ground);
        Ok(())
    }

    /// Lets the ground of the world accelerate, m/s², world, from the next frame on and until it is told otherwise. It stays where it
    /// is: all is told in the frame of the ground, in which its acceleration is taken from gravity. Impulses and forces are
    /// the same in every frame that does not turn.
    ///
    /// # Errors
    /// An acceleration that is not finite; nothing is changed then.
    pub fn accelerate_ground(&mut self, acceleration_m_s2: Vec3) -> Result<(), PhysicsError> {
        if !acceleration_m_s2.is_finite() {
            return Err(PhysicsError::NotFinite { what: "acceleration of the ground".to_owned() });
        }
        self.world().accelerate_ground(acceleration_m_s2);
        Ok(())
    }

    /// Puts the ragdoll in `pose` with `velocities`, out of the ground when joints are too deep in it, and forgets contacts, divergences, flying boxes and what the assist gave; the scales stay. Of
    /// several in a world one alone is moved, its divergences are forgotten, and the boxes fly on.
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
        self.controls = self.controls.after_reset();
        let mut pose = pose.clone();
        let mut world = self.world.lock().expect(WHOLE);
        let mut placed = self.skeleton.forward_kinematics(&pose);
        let deepest = world.ground.deepest(&placed.positions);
        if deepest.is_some_and(|(depth, _)| depth > self.config.guard.max_depth_in_ground_m) {
            world.ground.lift_out(&mut placed);
            pose.root_position = placed.positions[0];
        }
        if world.ragdolls.len() == 1 {
            world.reset(&[(pose, velocities.clone())]);
        } else {
            world.reset_one(self.member, &pose, velocities);
        }
        self.motion = world.motion(self.member);
        Ok(())
    }

    /// World pose of the ragdoll.
    pub fn pose(&self) -> GlobalPose {
        self.motion.pose.clone()
    }

    /// Velocities of the ragdoll in the form that [`Self::reset`] takes.
    pub fn velocity(&self) -> PoseVelocity {
        PoseVelocity { root_linear: self.motion.linear[0], angular: self.motion.relative.clone() }
    }

    /// Centre of mass of the ragdoll, metres, world.
    pub fn center_of_mass(&self) -> Vec3 {
        self.ragdoll.center_of_mass(&self.motion.pose)
    }

    /// Linear momentum of the ragdoll, N·s, world.
    pub fn momentum(&self) -> Vec3 {
        self.ragdoll.momentum(&self.motion)
    }

    /// Takes the assist's `force` of a frame, N, into its running mean, and gets over blows for as long.
    pub(crate) fn settle_assist(&mut self, force: Vec3) {
        let share = (self.frame_s() / self.config.assist.settle_s).min(1.0);
        let Controls { assist_given_n: given, struck, .. } = &mut self.controls;
        *given += (horizontal(force) - *given) * share;
        *struck *= 1.0 - share;
    }

    /// Takes in a blow, N·s.
    pub(crate) fn strike(&mut self, impulse: Vec3) {
        let change_m_s = impulse.length() / self.config.mass_kg;
        self.controls.struck = (self.controls.struck + change_m_s / FULL_BLOW_M_S).min(1.0);
    }

    pub(crate) fn check_state(&self, world: &World) -> Result<(), DivergenceReason> {
        let motion = &self.motion;
        let GuardConfig { max_root_speed_m_s, max_joint_rate_rad_s, max_fall_below_ground_m, .. } =
            self.config.guard;
        let finite = motion.pose.positions.iter().all(|p| p.is_finite())
            && motion.pose.rotations.iter().all(|q| q.is_finite())
            && motion.linear.iter().chain(&motion.angular).all(|v| v.is_finite());
        if !finite {
            Err(DivergenceReason::NotFinite)
        } else if motion.linear[0].length() > max_root_speed_m_s {
            Err(DivergenceReason::RootSpeed)
        } else if motion.relative.iter().any(|w| w.length() > max_joint_rate_rad_s) {
            Err(DivergenceReason::JointRate)
        } else if motion.pose.positions[0].y < world.ground.lowest() - max_fall_below_ground_m {
            Err(DivergenceReason::BelowGround)
        } else {
            Ok(())
        }
    }

    /// Counts the frames on end in which a joint was too deep in the ground; whether they are too many.
    pub(crate) fn is_lost_in_ground(&mut self, world: &World) -> bool {
        let GuardConfig { max_depth_in_ground_m, max_time_in_ground_s, .. } = self.config.guard;
        let deepest = world.ground.deepest(&self.motion.pose.positions);
        let deep = deepest.is_some_and(|(depth, _)| depth > max_depth_in_ground_m);
        self.controls.frames_in_ground = if deep { self.controls.frames_in_ground + 1 } else { 0 };
        self.controls.frames_in_ground as f32 * self.frame_s() > max_time_in_ground_s
    }

    /// The whole state, that of its world but for other ragdolls; [`Self::restore`] continues from it bit for bit, of one of several in a
    /// world as if the others were taken away.
    pub fn save(&self) -> WorldSnapshot {
        WorldSnapshot {
            joints: self.names.len(),
            controls: self.controls,
            state: self.world().save(self.member),
        }
    }

    /// Continues from a snapshot of this module, or of one built from the same skeleton, config and terrain.
    ///
    /// # Errors
    /// [`PhysicsError::BadSnapshot`] when it holds other bodies, [`PhysicsError::NotTogether`] for one of several in a world,
    /// which cannot go back alone.
    pub fn restore(&mut self, snapshot: &WorldSnapshot) -> Result<(), PhysicsError> {
        let mut world = self.world.lock().expect(WHOLE);
        if world.ragdolls.len() > 1 {
            return Err(PhysicsError::NotTogether {
                reason: "one of them cannot go back to a snapshot alone".to_owned(),
            });
        }
        if snapshot.joints != self.names.len() || !world.fits(&snapshot.state) {
            return Err(PhysicsError::BadSnapshot { reason: "it holds another ragdoll".to_owned() });
        }
        self.controls = snapshot.controls;
        world.restore(snapshot.state.clone());
        self.motion = world.motion(self.member);
        Ok(())
    }

    /// Takes over from a snapshot of this module what it was told and remembers; the ragdoll and its world stay as they are.
    pub fn restore_controls(&mut self, snapshot: &WorldSnapshot) {
        self.controls = snapshot.controls;
    }

    pub(crate) fn check_pose(&self, what: &str, pose: &Pose) -> Result<(), PhysicsError> {
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

    pub(crate) fn check_pushes(&self, pushes: &[Push]) -> Result<(), PhysicsError> {
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

/// The first setting of the world, and not of a ragdoll, in which two differ.
fn differing_setting(a: &DynamicConfig, b: &DynamicConfig) -> Option<&'static str> {
    // Every field is named, so that a new one is put on one side or the other.
    let DynamicConfig {
        frame_rate_hz,
        steps_per_frame,
        contact_sweeps,
        gravity_m_s2,
        friction,
        contact,
        mass_kg: _,
        drives: _,
        limits: _,
        assist: _,
        guard: _,
        balance: _,
    } = a;
    let settings = [
        ("frame_rate_hz", *frame_rate_hz == b.frame_rate_hz),
        ("steps_per_frame", *steps_per_frame == b.steps_per_frame),
        ("contact_sweeps", *contact_sweeps == b.contact_sweeps),
        ("gravity_m_s2", *gravity_m_s2 == b.gravity_m_s2),
        ("friction", *friction == b.friction),
        ("contact", *contact == b.contact),
    ];
    settings.into_iter().find_map(|(setting, same)| (!same).then_some(setting))
}

/// `scale` within 0 to 1; NaN becomes 0, no help and no strength.
fn unit(scale: f32) -> f32 {
    if scale.is_nan() { 0.0 } else { scale.clamp(0.0, 1.0) }
}

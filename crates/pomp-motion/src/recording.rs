use crate::clip::central_velocities;
use crate::root_frame::yaw_of_rotation;
use crate::{Clip, FrameTable, GlobalPose, Joint, JointIndex, MotionError, Pose, Skeleton, humanoid};
use glam::{Quat, Vec3};
use std::sync::Arc;

/// Heights on a regular grid: row i, column j lies at world x = `origin[0]` + j·`cell_m`, z = `origin[1]` + i·`cell_m`.
#[derive(Clone, Debug, PartialEq)]
pub struct TerrainGrid {
    /// Row-major heights, metres; `rows` × `columns`, both at least 2.
    pub heights: FrameTable<f32>,
    /// World x and z of the first height.
    pub origin: [f32; 2],
    /// Distance between neighbours, metres.
    pub cell_m: f32,
}

/// What the simulator made of a clip: the ragdoll's motion and the forces on it.
#[derive(Clone, Debug, PartialEq)]
pub struct SimulationTrack {
    /// Names of the B bodies.
    pub body_names: Vec<String>,
    /// Masses of the bodies, kg.
    pub body_mass_kg: Vec<f32>,
    /// Best estimate of the contact impulse on each body during the frame, N·s, world `[T, B]`; a frame's
    /// impulse acts from the frame before to this one.
    pub contact_impulse: FrameTable<Vec3>,
    /// What made the estimate: [`ESTIMATED_BY_SIMULATION`] when it is the simulator's own impulse.
    pub impulse_estimator: String,
    /// Contact impulse that the simulator itself reports, N·s, world `[T, B]`: sharper than people's. Training and
    /// the closed loop see this one, since the loop has no other.
    pub sim_contact_impulse: FrameTable<Vec3>,
    /// Simulated joint positions, metres, world `[T, J]`.
    pub positions: FrameTable<Vec3>,
    /// Simulated joint rotations, world `[T, J]`.
    pub quaternions: FrameTable<Quat>,
    /// Simulated joint velocities, m/s, world `[T, J]`.
    pub velocities: FrameTable<Vec3>,
    /// Force of the root assist, mean over the frame, N, world `[T]`.
    pub assist_force: Vec<Vec3>,
    /// Torque of the root assist, mean over the frame, N·m, world `[T]`.
    pub assist_torque: Vec<Vec3>,
}

impl SimulationTrack {
    /// Which of left heel, left toe, right heel and right toe feel a contact impulse, per frame: the heel is the foot's body.
    /// `None` where no bodies have the names of the four foot joints of the project skeleton.
    pub fn foot_contact(&self) -> Option<Vec<[bool; 4]>> {
        let project = Skeleton::humanoid(1.0);
        let body = |joint: JointIndex| {
            let name = &project.joints()[joint.0].name;
            self.body_names.iter().position(|body| body == name)
        };
        let bodies = [
            body(humanoid::LEFT_FOOT)?,
            body(humanoid::LEFT_TOE)?,
            body(humanoid::RIGHT_FOOT)?,
            body(humanoid::RIGHT_TOE)?,
        ];
        let impulses = self.sim_contact_impulse.rows();
        Some(impulses.map(|row| bodies.map(|body| row[body].length() > 0.0)).collect())
    }
}

/// What drives and root assist gave, and where the ground pushed: what [`SimulationTrack`] leaves out.
#[derive(Clone, Debug, PartialEq)]
pub struct EffortTrack {
    /// Torque of the drive at each body's joint, mean over the frame, N·m, magnitude `[T, B]`; 0 for the root.
    pub joint_torque: FrameTable<f32>,
    /// Largest horizontal force (N) and largest torque (N·m) that the root assist may give; 0 where there is none.
    pub assist_limit: [f32; 2],
    /// Where the ground's impulse of the frame acted on each body, world, metres `[T, B]`: the mean of its contact points,
    /// weighted by their vertical impulses; the joint where nothing touched. `None` where the simulator did not say.
    pub contact_point: Option<FrameTable<Vec3>>,
}

/// [`SimulationTrack::impulse_estimator`] of impulses as the simulator reports them.
pub const ESTIMATED_BY_SIMULATION: &str = "simulation";

/// One push that was applied: an impulse on a body at a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PushRecord {
    /// When, seconds from the start.
    pub time_s: f32,
    /// Which body, index into `body_names`.
    pub body: usize,
    /// Impulse, N·s, world.
    pub impulse_ns: Vec3,
    /// Where it acted, world, metres.
    pub point: Vec3,
}

/// What only a generated motion has: targets, commands, costs.
#[derive(Clone, Debug, PartialEq)]
pub struct GenerationTrack {
    /// Target joint positions of the kinematic module, world, metres `[T, J]`.
    pub target_positions: FrameTable<Vec3>,
    /// The pushes of the run.
    pub pushes: Vec<PushRecord>,
    /// Command per frame: desired root x, z (metres, world), heading (radians) and speed (m/s).
    pub control: Vec<[f32; 4]>,
    /// Wall time of each frame, microseconds; `None` when no clock was read, so that the same run gives the same bytes.
    pub frame_time_us: Option<Vec<f32>>,
    /// Where the ground is per frame, metres, from its place at the start; `None` for ground that rests. All positions are
    /// told in the frame of the ground; with this added they are in the world.
    pub ground_offset: Option<Vec<Vec3>>,
}

/// All that a rollout was made of besides its ground and its pushes: enough to make it again, bit for bit.
#[derive(Clone, Debug, PartialEq)]
pub struct Recipe {
    /// Program, model, seed and every setting, as TOML text; JSON in what the studio records, with the scene and its events.
    pub settings: String,
    /// The command at each frame of its own: desired root x, z (metres, world), heading (radians), speed (m/s), and
    /// gait as an index into [`crate::Gait::ALL`]. It may be longer than the rollout, which may follow it slower; none in what
    /// the studio records.
    pub plan: Vec<[f32; 5]>,
}

/// A motion in world space with everything known of it; one npz file.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    /// Name of the clip or rollout.
    pub name: String,
    /// Frames per second.
    pub frame_rate_hz: f32,
    /// Joint names, parents and offsets.
    pub skeleton: Arc<Skeleton>,
    /// Joint positions, world, metres `[T, J]`.
    pub positions: FrameTable<Vec3>,
    /// Joint rotations, world `[T, J]`.
    pub quaternions: FrameTable<Quat>,
    /// Joint velocities, world, m/s `[T, J]`.
    pub velocities: FrameTable<Vec3>,
    /// Root x, z, yaw and pelvis height above y = 0 per frame.
    pub root: Vec<[f32; 4]>,
    /// Weight of each [`crate::Gait`] per frame.
    pub gait: Vec<[f32; crate::Gait::COUNT]>,
    /// Ground contact of left heel, left toe, right heel, right toe per frame.
    pub foot_contact: Vec<[bool; 4]>,
    /// The ground.
    pub terrain: Option<TerrainGrid>,
    /// Physics replay, or the simulated side of a rollout.
    pub simulation: Option<SimulationTrack>,
    /// What the simulator's drives gave; in rollouts.
    pub efforts: Option<EffortTrack>,
    /// Phase codes pe, `[T, 2C]`, once phases are trained.
    pub phase: Option<FrameTable<f32>>,
    /// Hash of the model that read the phases of a clip. A rollout, whose phases are those of its loop, has none.
    pub phase_model: Option<String>,
    /// Present in rollouts only.
    pub generation: Option<GenerationTrack>,
    /// What makes a rollout again; others have none.
    pub recipe: Option<Recipe>,
    /// Where the motion comes from.
    pub source: String,
    /// Licence of that source.
    pub license: String,
    /// Hash of the configuration that made this file.
    pub config_hash: String,
}

impl Recording {
    /// A recording of a clip with gaits and contacts still to be filled in: standing, no contact.
    pub fn of_clip(clip: &Clip) -> Self {
        Self::of_global_poses(
            &clip.name,
            Arc::clone(&clip.skeleton),
            clip.frame_rate_hz,
            &clip.global_poses(),
        )
    }

    /// A recording of world poses; see [`Self::of_clip`].
    pub fn of_global_poses(
        name: &str,
        skeleton: Arc<Skeleton>,
        frame_rate_hz: f32,
        poses: &[GlobalPose],
    ) -> Self {
        let mut positions = FrameTable::with_columns(skeleton.len());
        let mut quaternions = FrameTable::with_columns(skeleton.len());
        for pose in poses {
            positions.push(&pose.positions);
            quaternions.push(&pose.rotations);
        }
        let root = poses
            .iter()
            .map(|pose| {
                let p = pose.positions[0];
                [p.x, p.z, yaw_of_rotation(pose.rotations[0]), p.y]
            })
            .collect();
        let velocities = central_velocities(&positions, frame_rate_hz);
        Self {
            name: name.to_owned(),
            frame_rate_hz,
            skeleton,
            positions,
            quaternions,
            velocities,
            root,
            gait: vec![crate::Gait::Stand.one_hot(); poses.len()],
            foot_contact: vec![[false; 4]; poses.len()],
            terrain: None,
            simulation: None,
            efforts: None,
            phase: None,
            phase_model: None,
            generation: None,
            recipe: None,
            source: String::new(),
            license: String::new(),
            config_hash: String::new(),
        }
    }

    /// Number of frames, T.
    pub fn frames(&self) -> usize {
        self.positions.frames()
    }

    /// World pose of a frame.
    pub fn global_pose(&self, frame: usize) -> GlobalPose {
        GlobalPose { positions: self.positions[frame].into(), rotations: self.quaternions[frame].into() }
    }

    /// World pose of a frame of the physics replay, if there is one.
    pub fn simulated_pose(&self, frame: usize) -> Option<GlobalPose> {
        self.simulation.as_ref().map(|simulation| GlobalPose {
            positions: simulation.positions[frame].into(),
            rotations: simulation.quaternions[frame].into(),
        })
    }

    /// The motion as a clip of local rotations.
    ///
    /// # Errors
    /// When a value is not finite.
    pub fn to_clip(&self) -> Result<Clip, MotionError> {
        let poses: Vec<Pose> =
            (0..self.frames()).map(|frame| self.global_pose(frame).to_local(&self.skeleton)).collect();
        Clip::new(self.name.clone(), Arc::clone(&self.skeleton), self.frame_rate_hz, poses)
    }

    /// Rebuilds a skeleton from names, parents and the world pose of one frame.
    ///
    /// # Errors
    /// [`MotionError::BadSkeleton`] when names and parents are no tree.
    pub fn skeleton_of_pose(
        names: &[String],
        parents: &[Option<JointIndex>],
        pose: &GlobalPose,
    ) -> Result<Skeleton, MotionError> {
        let joints = names
            .iter()
            .zip(parents)
            .enumerate()
            .map(|(i, (name, &parent))| Joint {
                name: name.clone(),
                parent,
                offset: match parent {
                    None => Vec3::new(0.0, pose.positions[i].y, 0.0),
                    Some(p) => pose.rotations[p.0].inverse() * (pose.positions[i] - pose.positions[p.0]),
                },
            })
            .collect();
        Skeleton::new(joints)
    }

    /// Checks that every array has T frames and that all numbers are finite.
    ///
    /// # Errors
    /// The first array that breaks the rule.
    pub fn validate(&self) -> Result<(), MotionError> {
        let bad =
            |reason: &str| Err(MotionError::BadClip { name: self.name.clone(), reason: reason.to_owned() });
        let check = ArrayCheck { name: &self.name, frames: self.frames() };
        let joints = self.skeleton.len();
        if check.frames == 0 {
            return bad("it has no frames");
        }
        check.vectors("positions", &self.positions, joints)?;
        check.vectors("velocities", &self.velocities, joints)?;
        check.frames("quaternions", self.quaternions.frames())?;
        check.all("quaternions", &self.quaternions, |q| q.is_finite())?;
        check.frames("root", self.root.len())?;
        check.frames("gait", self.gait.len())?;
        check.frames("foot_contact", self.foot_contact.len())?;
        if let Some(simulation) = &self.simulation {
            simulation.validate(&check, joints)?;
        }
        if let Some(efforts) = &self.efforts {
            let Some(simulation) = &self.simulation else {
                return bad("it tells the efforts of drives but has no simulation");
            };
            efforts.validate(&check, simulation.body_names.len())?;
        }
        if let Some(phase) = &self.phase {
            check.frames("phase", phase.frames())?;
        } else if self.phase_model.is_some() {
            return bad("it names a phase_model but has no phases");
        }
        if let Some(generation) = &self.generation {
            generation.validate(&check, joints)?;
        } else if self.recipe.is_some() {
            return bad("it has the recipe of a rollout but is none");
        }
        Ok(())
    }
}

impl SimulationTrack {
    fn validate(&self, check: &ArrayCheck<'_>, joints: usize) -> Result<(), MotionError> {
        let bodies = self.body_names.len();
        check.size("body_mass", self.body_mass_kg.len(), bodies)?;
        check.vectors("contact_impulse", &self.contact_impulse, bodies)?;
        check.vectors("sim_contact_impulse", &self.sim_contact_impulse, bodies)?;
        check.vectors("sim_positions", &self.positions, joints)?;
        check.vectors("sim_velocities", &self.velocities, joints)?;
        check.frames("sim_quaternions", self.quaternions.frames())?;
        check.frames("assist_force", self.assist_force.len())?;
        check.frames("assist_torque", self.assist_torque.len())
    }
}

impl EffortTrack {
    fn validate(&self, check: &ArrayCheck<'_>, bodies: usize) -> Result<(), MotionError> {
        check.frames("joint_torque", self.joint_torque.frames())?;
        check.size("columns of joint_torque", self.joint_torque.columns(), bodies)?;
        check.all("joint_torque", &self.joint_torque, |torque| torque.is_finite() && *torque >= 0.0)?;
        if let Some(at) = self.assist_limit.iter().position(|limit| !limit.is_finite() || *limit < 0.0) {
            return Err(MotionError::NotFinite {
                what: format!("assist_limit of \"{}\"", check.name),
                frame: 0,
                column: at,
            });
        }
        match &self.contact_point {
            Some(points) => check.vectors("contact_point", points, bodies),
            None => Ok(()),
        }
    }
}

impl GenerationTrack {
    fn validate(&self, check: &ArrayCheck<'_>, joints: usize) -> Result<(), MotionError> {
        check.vectors("target_positions", &self.target_positions, joints)?;
        check.frames("control", self.control.len())?;
        if let Some(times) = &self.frame_time_us {
            check.frames("frame_time_us", times.len())?;
        }
        if let Some(offsets) = &self.ground_offset {
            check.frames("ground_offset", offsets.len())?;
        }
        Ok(())
    }
}

/// What the arrays of a recording of this name and length have to be.
struct ArrayCheck<'a> {
    name: &'a str,
    frames: usize,
}

impl ArrayCheck<'_> {
    fn size(&self, what: &str, found: usize, expected: usize) -> Result<(), MotionError> {
        if found == expected {
            return Ok(());
        }
        Err(MotionError::SizeMismatch { what: format!("{what} of \"{}\"", self.name), expected, found })
    }

    fn frames(&self, what: &str, found: usize) -> Result<(), MotionError> {
        self.size(what, found, self.frames)
    }

    fn all<T: Copy>(
        &self,
        what: &str,
        table: &FrameTable<T>,
        is_finite: impl Fn(&T) -> bool,
    ) -> Result<(), MotionError> {
        for (frame, row) in table.rows().enumerate() {
            if let Some(column) = row.iter().position(|value| !is_finite(value)) {
                return Err(MotionError::NotFinite {
                    what: format!("{what} of \"{}\"", self.name),
                    frame,
                    column,
                });
            }
        }
        Ok(())
    }

    /// A finite vector in every frame and column.
    fn vectors(&self, what: &str, table: &FrameTable<Vec3>, columns: usize) -> Result<(), MotionError> {
        self.frames(what, table.frames())?;
        self.size(&format!("columns of {what}"), table.columns(), columns)?;
        self.all(what, table, |vector| vector.is_finite())
    }
}

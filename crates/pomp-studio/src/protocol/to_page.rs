use super::{Floats, JointInfo, Shape};
use crate::world::{Patch, SceneRequest};
use glam::{Vec2, Vec3};
use pomp_generator::{ControlPlan, StepOutput};
use pomp_motion::features::{FUTURE_KEYS, KEY_OFFSETS, PAST_KEYS};
use pomp_motion::{Gait, TerrainGrid};
use pomp_physics::BoxState;
use serde::Serialize;
use ts_rs::TS;

/// Something that the server tells the page. Epochs count the scenes since the page connected.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ToPage {
    /// A scene has begun.
    Scene(Box<SceneInfo>),
    /// The ground of a scene.
    Terrain {
        /// The scene.
        epoch: u32,
        /// The ground.
        terrain: Ground,
    },
    /// A part of the ground has changed.
    Patch(TerrainPatch),
    /// One frame of the world.
    Frame(Box<FrameMessage>),
    /// A text for the user.
    Notice(Notice),
    /// Clock and settings.
    State(WorldState),
    /// The scene with its events, for a link.
    Link {
        /// The scene.
        scene: SceneRequest,
    },
}

impl ToPage {
    /// The message as it is sent.
    pub fn to_bytes(&self) -> Vec<u8> {
        super::to_bytes(self)
    }

    /// A text for the user.
    pub fn notice(level: Level, text: impl Into<String>) -> Self {
        Self::Notice(Notice { level, text: text.into() })
    }
}

/// How much a notice matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Good to know.
    Info,
    /// Something asked for was not done.
    Warning,
    /// The world does not go on.
    Error,
}

/// A text for the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
pub struct Notice {
    /// How much it matters.
    pub level: Level,
    /// The text.
    pub text: String,
}

/// The model that moves the character.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
pub struct ModelInfo {
    /// Name of its training configuration.
    pub name: String,
    /// Hash of its training data.
    pub data_hash: String,
}

/// All that the page has to know before the first frame of a scene.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
pub struct SceneInfo {
    /// Version of the program.
    pub version: &'static str,
    /// The scene.
    pub epoch: u32,
    /// Name of the world in the server's addresses.
    pub world: String,
    /// The model that moves the character.
    pub model: ModelInfo,
    /// Names of the models that may.
    pub models: Vec<String>,
    /// The controller that proposes its motion.
    pub controller: &'static str,
    /// Controllers that each of the models holds, in the order of the models.
    pub controllers: Vec<Vec<&'static str>>,
    /// Frames per second.
    pub frame_rate_hz: f32,
    /// Joints of the character.
    pub joints: Vec<JointInfo>,
    /// Shapes of its bodies, one per joint.
    pub shapes: Vec<Shape>,
    /// Names of its bodies.
    pub bodies: Vec<String>,
    /// Masses of its bodies, kg.
    pub body_mass_kg: Vec<f32>,
    /// Weight of the character, N.
    pub weight_n: f32,
    /// Height of its root when it stands, metres.
    pub standing_height_m: f32,
    /// Names of the gait weights of a frame.
    pub gait_names: Vec<&'static str>,
    /// Gaits that the model can be asked for.
    #[ts(as = "Vec<String>")]
    pub gaits: Vec<Gait>,
    /// Channels of the phase code.
    pub phase_channels: usize,
    /// Experts of the network.
    pub experts: usize,
    /// Points of the paths.
    pub path_keys: usize,
    /// Names of the terrain presets.
    pub terrains: Vec<&'static str>,
    /// Most steps of the sampler.
    pub most_denoising_steps: usize,
    /// Names of the styles that the character can move in.
    pub styles: Vec<String>,
    /// How far one can go back, seconds.
    pub rewind_s: f32,
    /// Length of the recording, seconds.
    pub recording_s: f32,
    /// Largest upload, megabytes.
    pub max_upload_mb: usize,
    /// The scene as it was asked for.
    pub scene: SceneRequest,
}

/// Clock and settings of a world.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
pub struct WorldState {
    /// The scene.
    pub epoch: u32,
    /// The clock stands.
    pub paused: bool,
    /// An error ended the scene.
    pub stopped: bool,
    /// Share of real time.
    pub pace: f32,
    /// Share of the root assist.
    pub assist: f32,
    /// Steps of the sampler.
    pub denoising_steps: usize,
    /// Weights of the styles, in the order of the scene's.
    pub style_weights: Vec<f32>,
    /// The events of a link are being replayed.
    pub replaying: bool,
    /// Length of the recording so far, seconds.
    pub recorded_s: f32,
    /// How far one can go back now, seconds.
    pub can_rewind_s: f32,
    /// Frames that the page did not take in time.
    #[ts(type = "number")]
    pub dropped_frames: u64,
}

/// Heights on a grid.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[ts(rename = "TerrainGrid")]
pub struct Ground {
    /// Rows, along z.
    pub rows: usize,
    /// Columns, along x.
    pub columns: usize,
    /// x and z of the first height, metres.
    pub origin: [f32; 2],
    /// Distance between heights, metres.
    pub cell_m: f32,
    /// Heights row by row, metres.
    pub heights: Floats,
}

impl Ground {
    /// A whole grid.
    pub fn of(grid: &TerrainGrid) -> Self {
        Self {
            rows: grid.heights.frames(),
            columns: grid.heights.columns(),
            origin: grid.origin,
            cell_m: grid.cell_m,
            heights: Floats::of(grid.heights.values()),
        }
    }
}

/// Changed heights.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
pub struct TerrainPatch {
    /// The scene.
    pub epoch: u32,
    /// First row.
    pub row: usize,
    /// First column.
    pub column: usize,
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub columns: usize,
    /// Heights row by row, metres.
    pub heights: Floats,
}

impl TerrainPatch {
    /// A part of a grid.
    pub fn of(epoch: u32, grid: &TerrainGrid, patch: &Patch) -> Self {
        let rows = patch.rows.clone();
        Self {
            epoch,
            row: patch.rows.start,
            column: patch.columns.start,
            rows: patch.rows.len(),
            columns: patch.columns.len(),
            heights: rows.flat_map(|row| grid.heights[row][patch.columns.clone()].iter().copied()).collect(),
        }
    }
}

/// A box that was thrown.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, TS)]
pub struct ThrownBox {
    /// Its number: boxes are counted as they are thrown.
    pub number: u32,
    /// Lengths of its sides, metres.
    pub size_m: [f32; 3],
    /// Its centre, world, metres.
    pub position: [f32; 3],
    /// Its rotation, x y z w.
    pub rotation: [f32; 4],
}

impl ThrownBox {
    /// A box of the simulation.
    pub fn of(thrown: &BoxState) -> Self {
        Self {
            number: thrown.number,
            size_m: thrown.size_m.to_array(),
            position: thrown.position.to_array(),
            rotation: thrown.rotation.to_array(),
        }
    }
}

/// One frame of a world; J joints, B bodies, C channels of the phase code, E experts, K points of a path.
#[derive(Clone, Debug, Default, PartialEq, Serialize, TS)]
pub struct FrameMessage {
    /// The scene.
    pub epoch: u32,
    /// Frames since the scene began.
    pub frame: u32,
    /// The last steering message that this frame knows of.
    pub input_sequence: u32,
    /// Wall time that the frame took, milliseconds.
    pub step_ms: f32,
    /// Commanded speed, m/s.
    pub speed_mps: f32,
    /// The character lies where it fell, or gets up.
    pub fallen: bool,
    /// The clock stands.
    pub paused: bool,
    /// The events of a link are being replayed.
    pub replaying: bool,
    /// The simulation diverged in this frame, and was set back by one frame.
    pub recovered: bool,
    /// Joint positions, world, metres, 3 J.
    pub positions: Floats,
    /// Joint rotations, world, x y z w, 4 J.
    pub rotations: Floats,
    /// Joint positions of the target, 3 J.
    pub target_positions: Floats,
    /// Joint rotations of the target, 4 J.
    pub target_rotations: Floats,
    /// Contact impulses, N·s, world, 3 B.
    pub impulses: Floats,
    /// Force of the root assist, N, world, 3.
    pub assist_force: Floats,
    /// Centre of mass, world, metres, 3.
    pub center_of_mass: Floats,
    /// Weights of the gaits.
    pub gait: Floats,
    /// Phase code, 2 C.
    pub phase: Floats,
    /// Shares of the experts, E.
    pub gates: Floats,
    /// Predicted path: x, z, heading, 3 K.
    pub predicted_path: Floats,
    /// Wanted path: x, z, 2 K.
    pub wanted_path: Floats,
    /// Boxes that lie or fly about.
    pub boxes: Vec<ThrownBox>,
}

impl FrameMessage {
    /// The part of a frame that one step of the loop gives; the rest is as by default.
    pub fn of_step(
        step: &StepOutput,
        plan: &ControlPlan,
        center_of_mass: Vec3,
        gates: &[f32],
        predicted_path: &[(Vec2, f32); FUTURE_KEYS],
        boxes: &[BoxState],
    ) -> Self {
        let simulated = &step.simulated;
        let wanted = |key: usize| plan.at(KEY_OFFSETS[PAST_KEYS + key] as f32).position.to_array();
        Self {
            speed_mps: step.control.speed_mps,
            fallen: step.fallen,
            recovered: simulated.recovered.is_some(),
            positions: Floats::of_vectors(&simulated.pose.positions),
            rotations: Floats::of_rotations(&simulated.pose.rotations),
            target_positions: Floats::of_vectors(&step.target.positions),
            target_rotations: Floats::of_rotations(&step.target.rotations),
            impulses: Floats::of_vectors(&simulated.contact_impulse),
            assist_force: Floats::of(&simulated.assist_force.to_array()),
            center_of_mass: Floats::of(&center_of_mass.to_array()),
            gait: Floats::of(&step.gait),
            phase: Floats::of(&step.phase_code),
            gates: Floats::of(gates),
            predicted_path: predicted_path.iter().flat_map(|(at, yaw)| [at.x, at.y, *yaw]).collect(),
            wanted_path: (0..FUTURE_KEYS).flat_map(wanted).collect(),
            boxes: boxes.iter().map(ThrownBox::of).collect(),
            ..Self::default()
        }
    }
}

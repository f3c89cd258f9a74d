use crate::world::Patch;
use glam::{Quat, Vec2, Vec3};
use pomp_generator::{ControlPlan, StepOutput};
use pomp_motion::TerrainGrid;
use pomp_motion::features::{FUTURE_KEYS, KEY_OFFSETS, PAST_KEYS};
use pomp_physics::BoxState;
use serde::Serialize;

/// The scene has begun: JSON.
pub const KIND_SCENE: u8 = 1;
/// The ground.
pub const KIND_TERRAIN: u8 = 2;
/// One frame of the world.
pub const KIND_FRAME: u8 = 3;
/// Something that a person should read: JSON.
pub const KIND_NOTICE: u8 = 4;
/// Clock and settings, when they have changed: JSON.
pub const KIND_STATE: u8 = 5;
/// The scene with its events: JSON.
pub const KIND_LINK: u8 = 6;
/// A part of the ground that has changed.
pub const KIND_PATCH: u8 = 7;

/// Bytes before the numbers of a frame.
pub const FRAME_HEADER_BYTES: usize = 24;

/// How much a notice matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Good to know.
    Info,
    /// Something asked for was not done.
    Warning,
    /// It goes no further.
    Error,
}

/// Bits of a frame's header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameFlags {
    /// The character lies where it fell.
    pub fallen: bool,
    /// The clock stands.
    pub paused: bool,
    /// The events of a link are being replayed.
    pub replaying: bool,
    /// The simulation diverged in this frame, and was set back by one frame.
    pub recovered: bool,
}

impl FrameFlags {
    fn bits(self) -> u8 {
        u8::from(self.fallen)
            | u8::from(self.paused) << 1
            | u8::from(self.replaying) << 2
            | u8::from(self.recovered) << 3
    }
}

/// What a frame says before its numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FrameHeader {
    /// State of the world.
    pub flags: FrameFlags,
    /// Which scene since the page connected; frames of an older one may still be on their way.
    pub epoch: u32,
    /// Frames since the scene began.
    pub frame: u32,
    /// The last steering message that this frame knows of.
    pub input_sequence: u32,
    /// Wall time that the frame took, milliseconds.
    pub step_ms: f32,
}

/// A frame: header, then f32: joint positions 3J, rotations 4J (xyzw), target positions 3J, target rotations 4J, contact
/// impulses 3B (N·s), assist force 3 (N), assist torque 3 (N·m), centre of mass 3, gait weights 8, phase code 2C, α of the
/// experts E, predicted path 3 × keys (x, z, heading), wanted path 2 × keys (x, z); then for each box, whose count is in the
/// header: number, sides 3, centre 3, rotation 4 (xyzw).
pub fn frame_message(
    header: &FrameHeader,
    step: &StepOutput,
    plan: &ControlPlan,
    center_of_mass: Vec3,
    gates: &[f32],
    predicted_path: &[(Vec2, f32); FUTURE_KEYS],
    boxes: &[BoxState],
) -> Vec<u8> {
    let simulated = &step.simulated;
    let mut out = Vec::with_capacity(4096);
    out.extend([KIND_FRAME, header.flags.bits(), boxes.len() as u8, 0]);
    out.extend(header.epoch.to_le_bytes());
    out.extend(header.frame.to_le_bytes());
    out.extend(header.input_sequence.to_le_bytes());
    out.extend(header.step_ms.to_le_bytes());
    out.extend(step.control.speed_mps.to_le_bytes());
    vectors(&mut out, &simulated.pose.positions);
    rotations(&mut out, &simulated.pose.rotations);
    vectors(&mut out, &step.target.positions);
    rotations(&mut out, &step.target.rotations);
    vectors(&mut out, &simulated.contact_impulse);
    vectors(&mut out, &[simulated.assist_force, simulated.assist_torque, center_of_mass]);
    numbers(&mut out, &step.gait);
    numbers(&mut out, &step.phase_code);
    numbers(&mut out, gates);
    for (at, yaw) in predicted_path {
        numbers(&mut out, &[at.x, at.y, *yaw]);
    }
    for key in 0..FUTURE_KEYS {
        let wanted = plan.at(KEY_OFFSETS[PAST_KEYS + key] as f32).position;
        numbers(&mut out, &[wanted.x, wanted.y]);
    }
    for thrown in boxes {
        numbers(&mut out, &[thrown.number as f32]);
        vectors(&mut out, &[thrown.size_m, thrown.position]);
        rotations(&mut out, &[thrown.rotation]);
    }
    out
}

/// The ground: kind, three bytes of padding, rows and columns (u32), x and z of the first height, cell (f32), then the
/// heights row by row (f32).
pub fn terrain_message(epoch: u32, grid: &TerrainGrid) -> Vec<u8> {
    let mut out = Vec::with_capacity(28 + 4 * grid.heights.values().len());
    out.extend([KIND_TERRAIN, 0, 0, 0]);
    out.extend(epoch.to_le_bytes());
    out.extend((grid.heights.frames() as u32).to_le_bytes());
    out.extend((grid.heights.columns() as u32).to_le_bytes());
    numbers(&mut out, &[grid.origin[0], grid.origin[1], grid.cell_m]);
    numbers(&mut out, grid.heights.values());
    out
}

/// Changed ground: kind, three bytes of padding, epoch, first row, first column, rows and columns (u32), then the heights row
/// by row (f32).
pub fn patch_message(epoch: u32, grid: &TerrainGrid, patch: &Patch) -> Vec<u8> {
    let mut out = Vec::with_capacity(24 + 4 * patch.rows.len() * patch.columns.len());
    out.extend([KIND_PATCH, 0, 0, 0]);
    out.extend(epoch.to_le_bytes());
    for count in [patch.rows.start, patch.columns.start, patch.rows.len(), patch.columns.len()] {
        out.extend((count as u32).to_le_bytes());
    }
    for row in patch.rows.clone() {
        numbers(&mut out, &grid.heights[row][patch.columns.clone()]);
    }
    out
}

/// A message of a kind with JSON.
pub fn json_message(kind: u8, value: &serde_json::Value) -> Vec<u8> {
    let mut out = vec![kind];
    out.extend(value.to_string().into_bytes());
    out
}

/// Something for a person to read.
pub fn notice_message(level: Level, text: &str) -> Vec<u8> {
    json_message(KIND_NOTICE, &serde_json::json!({ "level": level, "text": text }))
}

fn numbers(out: &mut Vec<u8>, values: &[f32]) {
    out.extend(values.iter().flat_map(|value| value.to_le_bytes()));
}

fn vectors(out: &mut Vec<u8>, values: &[Vec3]) {
    out.extend(values.iter().flat_map(Vec3::to_array).flat_map(f32::to_le_bytes));
}

fn rotations(out: &mut Vec<u8>, values: &[Quat]) {
    out.extend(values.iter().flat_map(Quat::to_array).flat_map(f32::to_le_bytes));
}

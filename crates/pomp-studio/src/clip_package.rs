use crate::StudioError;
use crate::plate_curves::PlateCurves;
use crate::protocol::{Floats, Ground, JointInfo, Shape, joints, shapes, to_bytes};
use glam::{Quat, Vec3};
use pomp_motion::{FrameTable, Gait, Recording, TerrainGrid};
use serde::Serialize;
use ts_rs::TS;

/// Ground kept around the motion, metres.
const MARGIN_M: f32 = 10.0;

/// A recording as the page reads it, in MessagePack. Ground far from the motion is left out.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
pub struct ClipPackage {
    name: String,
    frame_rate_hz: f32,
    frames: usize,
    joints: Vec<JointInfo>,
    /// One per joint, or none.
    shapes: Vec<Shape>,
    gait_names: Vec<&'static str>,
    source: String,
    license: String,
    has_contacts: bool,
    /// The closed loop has made it.
    generated: bool,
    /// Names of the simulated bodies; empty without a simulation.
    bodies: Vec<String>,
    /// Masses of the simulated bodies.
    body_mass_kg: Vec<f32>,
    pushes: Vec<PackedPush>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    terrain: Option<Ground>,
    arrays: ClipArrays,
}

/// A push of a rollout.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
struct PackedPush {
    time_s: f32,
    body: usize,
    /// Impulse, N·s, world.
    impulse_ns: [f32; 3],
    /// Where it acted, world, metres.
    point: [f32; 3],
}

/// Numbers frame by frame; what a recording does not hold is absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, TS)]
#[ts(optional_fields)]
struct ClipArrays {
    /// Joint positions, world, metres, 3 per joint.
    positions: Floats,
    /// Joint rotations, world, x y z w, 4 per joint.
    quaternions: Floats,
    /// Weights of the gaits.
    gait: Floats,
    /// 1 for contact: left heel and toe, right heel and toe.
    foot_contact: Floats,
    /// Contact impulses, N·s, world, 3 per body.
    #[serde(skip_serializing_if = "Option::is_none")]
    contact_impulse: Option<Floats>,
    /// Force of the root assist, N, world, 3.
    #[serde(skip_serializing_if = "Option::is_none")]
    assist_force: Option<Floats>,
    /// Joint positions of the simulator's replay, where they differ from the motion.
    #[serde(skip_serializing_if = "Option::is_none")]
    sim_positions: Option<Floats>,
    /// Joint rotations of the simulator's replay.
    #[serde(skip_serializing_if = "Option::is_none")]
    sim_quaternions: Option<Floats>,
    /// Phase code, 2 per channel.
    #[serde(skip_serializing_if = "Option::is_none")]
    phase: Option<Floats>,
    /// Command: x, z, heading, speed.
    #[serde(skip_serializing_if = "Option::is_none")]
    control: Option<Floats>,
    /// Vertical force of each foot, body weights: plates left and right, predicted left and right; may end before the motion.
    #[serde(skip_serializing_if = "Option::is_none")]
    plates: Option<Floats>,
}

impl ClipPackage {
    /// Packs a recording.
    ///
    /// # Errors
    /// A recording that contradicts itself.
    pub fn of(recording: &Recording) -> Result<Self, StudioError> {
        Self::with_plates(recording, None)
    }

    /// Packs a recording with what force plates measured.
    pub(crate) fn with_plates(
        recording: &Recording,
        plates: Option<&PlateCurves>,
    ) -> Result<Self, StudioError> {
        recording.validate()?;
        let contacts = recording.foot_contact.iter().flatten();
        let simulation = recording.simulation.as_ref();
        // A rollout is its simulation; a replay has a motion beside it.
        let replay = simulation.filter(|simulation| simulation.positions != recording.positions);
        let generation = recording.generation.as_ref();
        let arrays = ClipArrays {
            positions: vectors(&recording.positions),
            quaternions: rotations(&recording.quaternions),
            gait: recording.gait.iter().flatten().copied().collect(),
            foot_contact: contacts.clone().map(|contact| f32::from(u8::from(*contact))).collect(),
            contact_impulse: simulation.map(|simulation| vectors(&simulation.contact_impulse)),
            assist_force: simulation.map(|simulation| Floats::of_vectors(&simulation.assist_force)),
            sim_positions: replay.map(|simulation| vectors(&simulation.positions)),
            sim_quaternions: replay.map(|simulation| rotations(&simulation.quaternions)),
            phase: recording.phase.as_ref().map(|phase| Floats::of(phase.values())),
            control: generation.map(|generation| generation.control.iter().flatten().copied().collect()),
            plates: plates.map(|plates| plates.rows.iter().flatten().copied().collect()),
        };
        let pushes = generation.map_or(&[][..], |generation| &generation.pushes).iter();
        Ok(Self {
            name: recording.name.clone(),
            frame_rate_hz: recording.frame_rate_hz,
            frames: recording.frames(),
            joints: joints(&recording.skeleton),
            shapes: shapes(&recording.skeleton),
            gait_names: Gait::ALL.map(Gait::name).to_vec(),
            source: recording.source.clone(),
            license: recording.license.clone(),
            has_contacts: contacts.copied().any(|contact| contact),
            generated: generation.is_some(),
            bodies: simulation.map(|simulation| simulation.body_names.clone()).unwrap_or_default(),
            body_mass_kg: simulation.map(|simulation| simulation.body_mass_kg.clone()).unwrap_or_default(),
            pushes: pushes
                .map(|push| PackedPush {
                    time_s: push.time_s,
                    body: push.body,
                    impulse_ns: push.impulse_ns.to_array(),
                    point: push.point.to_array(),
                })
                .collect(),
            terrain: recording.terrain.as_ref().map(|terrain| Ground::of(&cropped(terrain, recording))),
            arrays,
        })
    }

    /// The package as it is sent.
    pub fn to_bytes(&self) -> Vec<u8> {
        to_bytes(self)
    }
}

fn vectors(table: &FrameTable<Vec3>) -> Floats {
    Floats::of_vectors(table.values())
}

fn rotations(table: &FrameTable<Quat>) -> Floats {
    Floats::of_rotations(table.values())
}

/// The part of a grid that lies around a motion.
fn cropped(grid: &TerrainGrid, recording: &Recording) -> TerrainGrid {
    let (mut low, mut high) = (Vec3::splat(f32::INFINITY), Vec3::splat(f32::NEG_INFINITY));
    for position in recording.positions.values() {
        low = low.min(*position);
        high = high.max(*position);
    }
    let range = |first: f32, last: f32, origin: f32, count: usize| {
        let index = |at: f32| ((at - origin) / grid.cell_m).clamp(0.0, (count - 1) as f32);
        let begin = (index(first - MARGIN_M).floor() as usize).min(count - 2);
        let end = (index(last + MARGIN_M).ceil() as usize).max(begin + 1);
        begin..end + 1
    };
    let rows = range(low.z, high.z, grid.origin[1], grid.heights.frames());
    let columns = range(low.x, high.x, grid.origin[0], grid.heights.columns());
    let origin = [
        grid.origin[0] + columns.start as f32 * grid.cell_m,
        grid.origin[1] + rows.start as f32 * grid.cell_m,
    ];
    let mut heights = FrameTable::with_columns(columns.len());
    for row in rows {
        heights.push(&grid.heights[row][columns.clone()]);
    }
    TerrainGrid { heights, origin, cell_m: grid.cell_m }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::FLOATS_EXTENSION;
    use pomp_motion::{Clip, Pose, Skeleton};
    use std::sync::Arc;

    fn walk() -> Recording {
        let skeleton = Arc::new(Skeleton::humanoid(1.75));
        let poses = (0..30)
            .map(|frame| {
                let mut pose = Pose::rest(&skeleton);
                pose.root_position.z = frame as f32 * 0.02;
                pose
            })
            .collect();
        Recording::of_clip(&Clip::new("walk", skeleton, 60.0, poses).unwrap())
    }

    #[test]
    fn a_package_holds_every_number_of_the_recording_under_its_name() {
        let recording = walk();
        let package = ClipPackage::of(&recording).unwrap();
        let positions: Vec<f32> = package.arrays.positions.values().collect();
        assert_eq!(positions.len(), 30 * 22 * 3);
        let last = recording.positions[29][21];
        assert_eq!(positions[positions.len() - 3..], last.to_array());
        assert_eq!(package.arrays.quaternions.values().count(), 30 * 22 * 4);
        let gait: Vec<f32> = package.arrays.gait.values().collect();
        assert_eq!(gait[..8], Gait::Stand.one_hot());
        assert_eq!(package.shapes.len(), 22);
        let bytes = package.to_bytes();
        let read = rmpv::decode::read_value(&mut bytes.as_slice()).unwrap();
        let rmpv::Value::Ext(kind, data) = &read["arrays"]["positions"] else { panic!("{}", read["arrays"]) };
        let written: Vec<u8> = positions.iter().flat_map(|value| value.to_le_bytes()).collect();
        assert_eq!((*kind, data), (FLOATS_EXTENSION, &written));
        assert_eq!(read["frames"].as_u64(), Some(30));
        assert!(read["terrain"].is_nil() && read["arrays"]["plates"].is_nil(), "what is not there is absent");
    }

    #[test]
    fn ground_far_from_the_motion_is_left_out_and_the_rest_keeps_its_place() {
        let mut recording = walk();
        let cells = 401;
        let values = (0..cells * cells).map(|i| (i % cells) as f32 * 0.1).collect();
        let heights = FrameTable::from_values(cells, values).unwrap();
        let grid = TerrainGrid { heights, origin: [-20.0, -20.0], cell_m: 0.1 };
        let near = cropped(&grid, &recording);
        assert!(near.heights.columns() < 240, "{}", near.heights.columns());
        let column = ((0.0 - near.origin[0]) / near.cell_m).round() as usize;
        assert!((near.heights[0][column] - 20.0).abs() < 0.11, "height at x = 0");
        recording.terrain = Some(grid);
        let packed = ClipPackage::of(&recording).unwrap().terrain.unwrap();
        assert_eq!(packed, Ground::of(&near));
    }
}

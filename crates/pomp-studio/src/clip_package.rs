use crate::StudioError;
use crate::plate_curves::PlateCurves;
use crate::skeleton_json::{joints_json, shapes_json};
use glam::{Quat, Vec3};
use pomp_motion::{FrameTable, Gait, Recording, TerrainGrid};
use serde_json::{Map, Value, json};

/// First bytes of a package.
const MAGIC: &[u8; 8] = b"POMPCLIP";
const VERSION: u32 = 1;
/// Ground kept around the motion, metres.
const MARGIN_M: f32 = 10.0;

/// A recording as the page reads it: magic, version and length of the JSON (u32), JSON, then the arrays that it lists, f32,
/// all little-endian.
///
/// The JSON's `arrays` maps names to `[first, count]` in floats. Ground far from the motion is left out.
#[derive(Clone, Debug, PartialEq)]
pub struct ClipPackage {
    bytes: Vec<u8>,
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
        let mut arrays = Arrays::default();
        arrays.vectors("positions", &recording.positions);
        arrays.rotations("quaternions", &recording.quaternions);
        arrays.numbers("gait", recording.gait.iter().flatten().copied());
        let contacts = recording.foot_contact.iter().flatten().map(|contact| f32::from(u8::from(*contact)));
        arrays.numbers("foot_contact", contacts);
        let mut about = json!({
            "name": recording.name,
            "frame_rate_hz": recording.frame_rate_hz,
            "frames": recording.frames(),
            "joints": joints_json(&recording.skeleton),
            "shapes": shapes_json(&recording.skeleton),
            "gait_names": Gait::ALL.map(Gait::name),
            "source": recording.source,
            "license": recording.license,
            "has_contacts": recording.foot_contact.iter().flatten().any(|contact| *contact),
        });
        if let Some(simulation) = &recording.simulation {
            about["bodies"] = json!(simulation.body_names);
            about["body_mass_kg"] = json!(simulation.body_mass_kg);
            arrays.vectors("contact_impulse", &simulation.contact_impulse);
            arrays.numbers("assist_force", simulation.assist_force.iter().flat_map(Vec3::to_array));
            // A rollout is its simulation; a replay has a motion beside it.
            if simulation.positions != recording.positions {
                arrays.vectors("sim_positions", &simulation.positions);
                arrays.rotations("sim_quaternions", &simulation.quaternions);
            }
        }
        if let Some(phase) = &recording.phase {
            about["phase_channels"] = json!(phase.columns() / 2);
            arrays.numbers("phase", phase.values().iter().copied());
        }
        if let Some(generation) = &recording.generation {
            arrays.vectors("target_positions", &generation.target_positions);
            arrays.numbers("control", generation.control.iter().flatten().copied());
            if let Some(times) = &generation.frame_time_us {
                arrays.numbers("frame_time_us", times.iter().copied());
            }
            let pushes = generation.pushes.iter();
            about["pushes"] = pushes
                .map(|push| {
                    json!({ "time_s": push.time_s, "body": push.body, "impulse_ns": push.impulse_ns, "point": push.point })
                })
                .collect();
        }
        if let Some(terrain) = &recording.terrain {
            let near = cropped(terrain, recording);
            about["terrain"] = json!({
                "rows": near.heights.frames(),
                "columns": near.heights.columns(),
                "origin": near.origin,
                "cell_m": near.cell_m,
            });
            arrays.numbers("terrain_height", near.heights.values().iter().copied());
        }
        if let Some(plates) = plates {
            arrays.numbers("plates", plates.rows.iter().flatten().copied());
        }
        about["arrays"] = Value::Object(arrays.table);
        let mut json = about.to_string().into_bytes();
        // The arrays begin at a multiple of four bytes, where the page can look at them without copying.
        json.resize(json.len().next_multiple_of(4), b' ');
        let mut bytes = Vec::with_capacity(16 + json.len() + 4 * arrays.values.len());
        bytes.extend(MAGIC);
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend((json.len() as u32).to_le_bytes());
        bytes.extend(json);
        bytes.extend(arrays.values.iter().flat_map(|value| value.to_le_bytes()));
        Ok(Self { bytes })
    }

    /// The package.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

#[derive(Default)]
struct Arrays {
    table: Map<String, Value>,
    values: Vec<f32>,
}

impl Arrays {
    fn numbers(&mut self, name: &str, values: impl Iterator<Item = f32>) {
        let first = self.values.len();
        self.values.extend(values);
        self.table.insert(name.to_owned(), json!([first, self.values.len() - first]));
    }

    fn vectors(&mut self, name: &str, table: &FrameTable<Vec3>) {
        self.numbers(name, table.values().iter().flat_map(Vec3::to_array));
    }

    fn rotations(&mut self, name: &str, table: &FrameTable<Quat>) {
        self.numbers(name, table.values().iter().flat_map(Quat::to_array));
    }
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

    fn parsed(bytes: &[u8]) -> (Value, Vec<f32>) {
        assert_eq!(&bytes[..8], MAGIC);
        let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
        let json = serde_json::from_slice(&bytes[16..16 + length]).unwrap();
        assert_eq!((16 + length) % 4, 0);
        let floats = bytes[16 + length..].chunks_exact(4);
        (json, floats.map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect())
    }

    #[test]
    fn arrays_lie_where_the_table_says() {
        let recording = walk();
        let (about, floats) = parsed(&ClipPackage::of(&recording).unwrap().into_bytes());
        let place = |name: &str| {
            let place = &about["arrays"][name];
            let first = place[0].as_u64().unwrap() as usize;
            &floats[first..first + place[1].as_u64().unwrap() as usize]
        };
        let positions = place("positions");
        assert_eq!(positions.len(), 30 * 22 * 3);
        let last = recording.positions[29][21];
        assert_eq!(positions[positions.len() - 3..], last.to_array());
        assert_eq!(place("quaternions").len(), 30 * 22 * 4);
        assert_eq!(place("gait")[..8], Gait::Stand.one_hot());
        assert_eq!(about["shapes"].as_array().unwrap().len(), 22);
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
        let (about, _) = parsed(&ClipPackage::of(&recording).unwrap().into_bytes());
        assert_eq!(about["terrain"]["columns"], near.heights.columns());
    }
}

//! A recording for the rerun viewer: bodies, target, contact impulses, pushes and ground in space, and curves over time.

use crate::check::check;
use crate::{RenderError, RenderOptions};
use glam::Vec3;
use pomp_motion::{FrameTable, Gait, Recording, TerrainGrid};
use re_chunk::{Chunk, ChunkId, EntityPath, RowId, TimeColumn, Timeline, TimelineName};
use re_log_encoding::Encoder;
use re_log_types::{LogMsg, SetStoreInfo, StoreId, StoreInfo, StoreSource};
use re_sdk_types::archetypes::{Arrows3D, LineStrips3D, Mesh3D, Scalars, TextDocument, ViewCoordinates};
use re_sdk_types::{AsComponents, SerializedComponentColumn};
use std::fmt::Display;

/// Radius of a drawn bone and of an arrow, metres.
const BONE_M: f32 = 0.03;
const ARROW_M: f32 = 0.012;
/// Length of an arrow of one body weight, and of a push of one N·s, metres.
const METRES_PER_WEIGHT: f32 = 0.42;
const METRES_PER_NS: f32 = 1.0 / 160.0;
/// Impulses below this share of the body weight are not drawn.
const LEAST_WEIGHT: f32 = 0.04;
/// How long a push is seen, seconds.
const PUSH_SEEN_S: f32 = 0.3;
/// Rows and columns of the ground that are drawn at most.
const MOST_HEIGHTS: usize = 240;

/// Colours of what is simulated, aimed at and captured, red, green, blue (after Okabe and Ito).
const SIMULATED: [u8; 3] = [36, 112, 179];
const TARGET: [u8; 3] = [0, 158, 115];
const CLIP: [u8; 3] = [150, 150, 150];
const IMPULSE: [u8; 3] = [230, 159, 0];
const PUSH: [u8; 3] = [204, 51, 17];
const GROUND: [u8; 3] = [204, 211, 218];

/// The bytes of an `.rrd` file of a recording.
///
/// The same recording gives the same messages, with counted numbers where the format has random ones; only the index at the
/// end, which the viewer asks for, holds its columns in an order of its own.
///
/// # Errors
/// What the pictures refuse, and what the format does.
pub fn rrd_bytes(recording: &Recording) -> Result<Vec<u8>, RenderError> {
    check(recording, &RenderOptions::default())?;
    let mut file = File::begin(recording)?;
    file.about(recording)?;
    if let Some(terrain) = &recording.terrain {
        file.ground(terrain)?;
    }
    let simulation = recording.simulation.as_ref();
    match simulation {
        Some(simulation) => file.bones("world/simulated", recording, &simulation.positions, SIMULATED)?,
        None => file.bones("world/clip", recording, &recording.positions, CLIP)?,
    }
    match &recording.generation {
        Some(generation) => file.bones("world/target", recording, &generation.target_positions, TARGET)?,
        None if simulation.is_some() => file.bones("world/clip", recording, &recording.positions, CLIP)?,
        None => {}
    }
    file.forces(recording)?;
    file.gaits(recording)?;
    file.encoder.finish().map_err(refused)?;
    file.encoder.into_inner().map_err(refused)
}

fn refused(error: impl Display) -> RenderError {
    RenderError::Rerun { reason: error.to_string() }
}

/// A file that is being written.
struct File {
    encoder: Encoder<Vec<u8>>,
    store: StoreId,
    frames: usize,
    rate_hz: f32,
    chunks: u128,
    rows: u128,
}

impl File {
    fn begin(recording: &Recording) -> Result<Self, RenderError> {
        let store = StoreId::recording("pomp", recording.name.as_str());
        let mut encoder = Encoder::local().map_err(refused)?;
        let source = StoreSource::Other(format!("pomp {}", env!("CARGO_PKG_VERSION")));
        let info = StoreInfo::new(store.clone(), source);
        let row_id = RowId::from_u128(1).as_tuid();
        encoder.append(&LogMsg::SetStoreInfo(SetStoreInfo { row_id, info })).map_err(refused)?;
        Ok(Self {
            encoder,
            store,
            frames: recording.frames(),
            rate_hz: recording.frame_rate_hz,
            chunks: 0,
            rows: 1,
        })
    }

    /// What never changes.
    fn still(&mut self, entity: &str, what: &dyn AsComponents) -> Result<(), RenderError> {
        self.chunks += 1;
        self.rows += 1;
        let chunk = Chunk::builder_with_id(ChunkId::from_u128(self.chunks), entity)
            .with_archetype(RowId::from_u128(self.rows), re_log_types::TimePoint::STATIC, what)
            .build()
            .map_err(refused)?;
        self.append(&chunk)
    }

    /// One row for each of `frames`, which increase.
    fn moving(
        &mut self,
        entity: &str,
        frames: &[usize],
        columns: impl Iterator<Item = SerializedComponentColumn>,
    ) -> Result<(), RenderError> {
        self.chunks += 1;
        let ids: Vec<RowId> =
            (1..=frames.len() as u128).map(|row| RowId::from_u128(self.rows + row)).collect();
        self.rows += frames.len() as u128;
        let seconds = |frame: usize| (frame as f64 / f64::from(self.rate_hz) * 1e9).round() as i64;
        let timelines: [(Timeline, Vec<i64>); 2] = [
            (Timeline::new_sequence("frame"), frames.iter().map(|&frame| frame as i64).collect()),
            (Timeline::new_duration("time"), frames.iter().map(|&frame| seconds(frame)).collect()),
        ];
        let timelines = timelines.into_iter().map(|(timeline, times)| -> (TimelineName, TimeColumn) {
            (*timeline.name(), TimeColumn::new(Some(true), timeline, times.into()))
        });
        let chunk = Chunk::from_native_row_ids(
            ChunkId::from_u128(self.chunks),
            EntityPath::from(entity),
            Some(true),
            &ids,
            timelines.collect(),
            columns.collect(),
        );
        self.append(&chunk.map_err(refused)?)
    }

    fn append(&mut self, chunk: &Chunk) -> Result<(), RenderError> {
        let message = LogMsg::ArrowMsg(self.store.clone(), chunk.to_arrow_msg().map_err(refused)?);
        self.encoder.append(&message).map(|_bytes| ()).map_err(refused)
    }

    fn about(&mut self, recording: &Recording) -> Result<(), RenderError> {
        self.still("world", &ViewCoordinates::RIGHT_HAND_Y_UP())?;
        let Recording { name, source, license, .. } = recording;
        let text = format!("{name}\n\nFrom: {source}\n\nLicence: {license}");
        self.still("about", &TextDocument::new(text))
    }

    fn ground(&mut self, terrain: &TerrainGrid) -> Result<(), RenderError> {
        let (rows, columns) = (terrain.heights.frames(), terrain.heights.columns());
        let pick = |count: usize| -> Vec<usize> {
            let step = count.div_ceil(MOST_HEIGHTS);
            let mut picked: Vec<usize> = (0..count).step_by(step).collect();
            if picked.last() != Some(&(count - 1)) {
                picked.push(count - 1);
            }
            picked
        };
        let (rows, columns) = (pick(rows), pick(columns));
        let [x, z] = terrain.origin;
        let mut corners: Vec<[f32; 3]> = Vec::with_capacity(rows.len() * columns.len());
        for &row in &rows {
            corners.extend(columns.iter().map(|&column| {
                let (dx, dz) = (column as f32 * terrain.cell_m, row as f32 * terrain.cell_m);
                [x + dx, terrain.heights[row][column], z + dz]
            }));
        }
        let wide = columns.len() as u32;
        let mut triangles: Vec<[u32; 3]> = Vec::with_capacity(2 * corners.len());
        for row in 0..rows.len() as u32 - 1 {
            for column in 0..wide - 1 {
                let a = row * wide + column;
                triangles.extend([[a, a + wide, a + 1], [a + 1, a + wide, a + wide + 1]]);
            }
        }
        let [r, g, b] = GROUND;
        let mesh = Mesh3D::new(corners)
            .with_triangle_indices(triangles)
            .with_albedo_factor(re_sdk_types::datatypes::Rgba32::from_rgb(r, g, b));
        self.still("world/ground", &mesh)
    }

    /// The bones between joints, frame by frame.
    fn bones(
        &mut self,
        entity: &str,
        recording: &Recording,
        positions: &FrameTable<Vec3>,
        [r, g, b]: [u8; 3],
    ) -> Result<(), RenderError> {
        let bones: Vec<(usize, usize)> = recording
            .skeleton
            .joints()
            .iter()
            .enumerate()
            .filter_map(|(child, joint)| Some((joint.parent?.0, child)))
            .collect();
        let strips = (0..self.frames).flat_map(|frame| {
            let now = &positions[frame];
            bones.iter().map(|&(parent, child)| [now[parent].to_array(), now[child].to_array()])
        });
        let lines = LineStrips3D::update_fields().with_strips(strips.collect::<Vec<_>>());
        let frames: Vec<usize> = (0..self.frames).collect();
        let columns = lines.columns(vec![bones.len(); self.frames]).map_err(refused)?;
        self.moving(entity, &frames, columns)?;
        let looks = LineStrips3D::update_fields()
            .with_radii([BONE_M])
            .with_colors([re_sdk_types::components::Color::from_rgb(r, g, b)]);
        self.still(entity, &looks)
    }

    /// Contact impulses, pushes and the root assist.
    fn forces(&mut self, recording: &Recording) -> Result<(), RenderError> {
        let Some(simulation) = &recording.simulation else { return Ok(()) };
        let weight_n = simulation.body_mass_kg.iter().sum::<f32>() * pomp_motion::GRAVITY_M_S2 as f32;
        let weights = |impulse: Vec3| impulse * self.rate_hz / weight_n;
        let joint = |name: &String| recording.skeleton.index_of(name).map(|joint| joint.0);
        let joints: Vec<Option<usize>> = simulation.body_names.iter().map(joint).collect();

        let (mut vectors, mut origins, mut lengths) = (Vec::new(), Vec::new(), Vec::new());
        let mut sides = [Vec::new(), Vec::new()];
        for frame in 0..self.frames {
            let (mut drawn, mut load) = (0, [0.0_f64; 2]);
            for (body, &impulse) in simulation.contact_impulse[frame].iter().enumerate() {
                let force = weights(impulse);
                let name = &simulation.body_names[body];
                if name.ends_with("Foot") || name.ends_with("Toe") {
                    load[usize::from(name.starts_with("Right"))] += f64::from(force.y);
                }
                let Some(joint) = joints[body].filter(|_| force.length() > LEAST_WEIGHT) else { continue };
                vectors.push((force * METRES_PER_WEIGHT).to_array());
                origins.push(simulation.positions[frame][joint].to_array());
                drawn += 1;
            }
            lengths.push(drawn);
            for (side, load) in sides.iter_mut().zip(load) {
                side.push(load);
            }
        }
        let assist: Vec<f64> =
            simulation.assist_force.iter().map(|force| f64::from(force.length() / weight_n)).collect();
        let frames: Vec<usize> = (0..self.frames).collect();
        self.arrows("world/impulses", &frames, vectors, origins, lengths, IMPULSE)?;
        for (name, side) in ["left", "right"].iter().zip(sides) {
            self.curve(&format!("plots/vertical_impulse_body_weights/{name}"), side)?;
        }
        self.curve("plots/assist_body_weights", assist)?;
        self.pushes(recording, &joints)
    }

    fn pushes(&mut self, recording: &Recording, joints: &[Option<usize>]) -> Result<(), RenderError> {
        let Some(generation) = recording.generation.as_ref().filter(|track| !track.pushes.is_empty()) else {
            return Ok(());
        };
        let (mut vectors, mut origins, mut lengths) = (Vec::new(), Vec::new(), Vec::new());
        for frame in 0..self.frames {
            let now = frame as f32 / self.rate_hz;
            let acting =
                generation.pushes.iter().filter(|push| (0.0..PUSH_SEEN_S).contains(&(now - push.time_s)));
            let before = vectors.len();
            for push in acting {
                let joint = joints.get(push.body).copied().flatten();
                let at = joint.map_or(push.point, |joint| recording.positions[frame][joint]);
                vectors.push((push.impulse_ns * METRES_PER_NS).to_array());
                origins.push(at.to_array());
            }
            lengths.push(vectors.len() - before);
        }
        let frames: Vec<usize> = (0..self.frames).collect();
        self.arrows("world/pushes", &frames, vectors, origins, lengths, PUSH)
    }

    fn arrows(
        &mut self,
        entity: &str,
        frames: &[usize],
        vectors: Vec<[f32; 3]>,
        origins: Vec<[f32; 3]>,
        lengths: Vec<usize>,
        [r, g, b]: [u8; 3],
    ) -> Result<(), RenderError> {
        let arrows = Arrows3D::update_fields().with_vectors(vectors).with_origins(origins);
        let columns = arrows.columns(lengths).map_err(refused)?;
        self.moving(entity, frames, columns)?;
        let looks = Arrows3D::update_fields()
            .with_radii([ARROW_M])
            .with_colors([re_sdk_types::components::Color::from_rgb(r, g, b)]);
        self.still(entity, &looks)
    }

    fn curve(&mut self, entity: &str, values: Vec<f64>) -> Result<(), RenderError> {
        let frames: Vec<usize> = (0..values.len()).collect();
        let columns =
            Scalars::update_fields().with_scalars(values).columns_of_unit_batches().map_err(refused)?;
        self.moving(entity, &frames, columns)
    }

    /// The share of each gait that occurs.
    fn gaits(&mut self, recording: &Recording) -> Result<(), RenderError> {
        for gait in Gait::ALL {
            let shares: Vec<f64> = recording.gait.iter().map(|row| f64::from(row[gait.index()])).collect();
            if shares.iter().any(|share| *share > 0.0) {
                self.curve(&format!("plots/gait/{}", gait.name()), shares)?;
            }
        }
        Ok(())
    }
}

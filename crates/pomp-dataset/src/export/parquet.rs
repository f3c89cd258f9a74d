//! Parquet: one row per frame, one column per array; the other axes of an array are a list of fixed length, row by row.
//! Floats are split into byte streams, every page is compressed with gzip; nothing is a dictionary.

use super::thrift::{Compact, varint};
use flate2::Compression;
use flate2::write::GzEncoder;
use pomp_motion::glam::{Quat, Vec3};
use pomp_motion::{FrameTable, Recording};
use std::io::Write;

const MAGIC: &[u8] = b"PAR1";
/// Values of the format's enumerations.
const BOOLEAN: i32 = 0;
const FLOAT: i32 = 4;
const PLAIN: i32 = 0;
const RLE: i32 = 3;
const BYTE_STREAM_SPLIT: i32 = 9;
const GZIP: i32 = 2;
const REQUIRED: i32 = 0;
const REPEATED: i32 = 2;
const LIST: i32 = 3;

/// Values of a column, all rows one after another.
enum Values {
    Floats(Vec<f32>),
    Booleans(Vec<bool>),
}

impl Values {
    fn len(&self) -> usize {
        match self {
            Self::Floats(values) => values.len(),
            Self::Booleans(values) => values.len(),
        }
    }

    fn kind_and_encoding(&self) -> (i32, i32) {
        match self {
            Self::Floats(_) => (FLOAT, BYTE_STREAM_SPLIT),
            Self::Booleans(_) => (BOOLEAN, PLAIN),
        }
    }
}

struct Column {
    name: &'static str,
    values: Values,
}

pub(super) fn bytes(recording: &Recording) -> Result<Vec<u8>, String> {
    let columns = columns(recording);
    let rows = recording.frames();
    let mut file = MAGIC.to_vec();
    let mut chunks = Vec::with_capacity(columns.len());
    let mut total = 0;
    for column in &columns {
        let (chunk, size) = write_chunk(&mut file, column, rows)?;
        chunks.push(chunk);
        total += size;
    }
    let mut group = Compact::default();
    group.structures(1, chunks);
    group.i64(2, total);
    group.i64(3, rows);

    let mut footer = Compact::default();
    footer.i32(1, 1);
    footer.structures(2, schema(&columns));
    footer.i64(3, rows);
    footer.structures(4, vec![group]);
    footer.structures(5, metadata(recording));
    footer.text(6, concat!("pomp version ", env!("CARGO_PKG_VERSION")));
    let footer = footer.finish();
    file.extend_from_slice(&footer);
    let length = u32::try_from(footer.len()).map_err(|_| "its metadata are too large".to_owned())?;
    file.extend_from_slice(&length.to_le_bytes());
    file.extend_from_slice(MAGIC);
    Ok(file)
}

fn columns(recording: &Recording) -> Vec<Column> {
    let floats = |name, values: Vec<f32>| Column { name, values: Values::Floats(values) };
    let vectors = |name, table: &FrameTable<Vec3>| {
        floats(name, table.values().iter().flat_map(Vec3::to_array).collect())
    };
    let quaternions = |name, table: &FrameTable<Quat>| {
        floats(name, table.values().iter().flat_map(Quat::to_array).collect())
    };
    let list = |name, values: &[Vec3]| floats(name, values.iter().flat_map(Vec3::to_array).collect());
    let contacts = recording.foot_contact.iter().flatten().copied().collect();
    let mut columns = vec![
        vectors("positions", &recording.positions),
        quaternions("quaternions", &recording.quaternions),
        vectors("velocities", &recording.velocities),
        floats("root", recording.root.iter().flatten().copied().collect()),
        floats("gait", recording.gait.iter().flatten().copied().collect()),
        Column { name: "foot_contact", values: Values::Booleans(contacts) },
    ];
    if let Some(simulation) = &recording.simulation {
        columns.push(vectors("contact_impulse", &simulation.contact_impulse));
        columns.push(vectors("sim_contact_impulse", &simulation.sim_contact_impulse));
        columns.push(vectors("sim_positions", &simulation.positions));
        columns.push(quaternions("sim_quaternions", &simulation.quaternions));
        columns.push(vectors("sim_velocities", &simulation.velocities));
        columns.push(list("assist_force", &simulation.assist_force));
        columns.push(list("assist_torque", &simulation.assist_torque));
    }
    if let Some(phase) = &recording.phase {
        columns.push(floats("phase", phase.values().to_vec()));
    }
    columns
}

/// Texts about the whole recording; lists are JSON.
fn metadata(recording: &Recording) -> Vec<Compact> {
    let joints = recording.skeleton.joints();
    let names: Vec<&str> = joints.iter().map(|joint| joint.name.as_str()).collect();
    let parents: Vec<&str> =
        joints.iter().map(|joint| joint.parent.map_or("", |parent| names[parent.0])).collect();
    let offsets: Vec<[f32; 3]> = joints.iter().map(|joint| joint.offset.to_array()).collect();
    let mut told = vec![
        ("name", recording.name.clone()),
        ("framerate", recording.frame_rate_hz.to_string()),
        ("bone_names", serde_json::json!(names).to_string()),
        ("parent_names", serde_json::json!(parents).to_string()),
        ("bone_offsets", serde_json::json!(offsets).to_string()),
        ("source", recording.source.clone()),
        ("license", recording.license.clone()),
        ("config_hash", recording.config_hash.clone()),
    ];
    if let Some(simulation) = &recording.simulation {
        told.push(("impulse_estimator", simulation.impulse_estimator.clone()));
        told.push(("body_names", serde_json::json!(simulation.body_names).to_string()));
        told.push(("body_mass", serde_json::json!(simulation.body_mass_kg).to_string()));
    }
    if let Some(model) = &recording.phase_model {
        told.push(("phase_model", model.clone()));
    }
    let pair = |(key, value): (&str, String)| {
        let mut pair = Compact::default();
        pair.text(1, key);
        pair.text(2, &value);
        pair
    };
    told.into_iter().map(pair).collect()
}

/// The schema as a tree in depth-first order: each column is a list of required values, in the three levels that the
/// format prescribes.
fn schema(columns: &[Column]) -> Vec<Compact> {
    let mut root = Compact::default();
    root.text(4, "frames");
    root.i32(5, i32::try_from(columns.len()).expect("a recording has few arrays"));
    let mut tree = vec![root];
    for column in columns {
        let mut outer = Compact::default();
        outer.i32(3, REQUIRED);
        outer.text(4, column.name);
        outer.i32(5, 1);
        outer.i32(6, LIST);
        let mut middle = Compact::default();
        middle.i32(3, REPEATED);
        middle.text(4, "list");
        middle.i32(5, 1);
        let mut element = Compact::default();
        element.i32(1, column.values.kind_and_encoding().0);
        element.i32(3, REQUIRED);
        element.text(4, "element");
        tree.extend([outer, middle, element]);
    }
    tree
}

/// Appends a column of one page; gives its description and its size before compression.
fn write_chunk(file: &mut Vec<u8>, column: &Column, rows: usize) -> Result<(Compact, usize), String> {
    let (kind, encoding) = column.values.kind_and_encoding();
    let count = column.values.len();
    let page = page(&column.values, count / rows);
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(&page).map_err(|error| error.to_string())?;
    let compressed = encoder.finish().map_err(|error| error.to_string())?;
    let size = |length: usize| {
        i32::try_from(length).map_err(|_| format!("its {} are more than 2 GB; split it", column.name))
    };

    let mut data = Compact::default();
    data.i32(1, size(count)?);
    data.i32(2, encoding);
    data.i32(3, RLE);
    data.i32(4, RLE);
    let mut header = Compact::default();
    header.i32(1, 0);
    header.i32(2, size(page.len())?);
    header.i32(3, size(compressed.len())?);
    header.structure(5, data);
    let header = header.finish();

    let offset = file.len();
    file.extend_from_slice(&header);
    file.extend_from_slice(&compressed);

    let uncompressed = header.len() + page.len();
    let mut about = Compact::default();
    about.i32(1, kind);
    about.i32s(2, &[encoding, RLE]);
    about.texts(3, &[column.name, "list", "element"]);
    about.i32(4, GZIP);
    about.i64(5, count);
    about.i64(6, uncompressed);
    about.i64(7, header.len() + compressed.len());
    about.i64(9, offset);
    let mut chunk = Compact::default();
    chunk.i64(2, offset);
    chunk.structure(3, about);
    Ok((chunk, uncompressed))
}

/// Repetition levels, definition levels, values; `width` values per row.
fn page(values: &Values, width: usize) -> Vec<u8> {
    let count = values.len();
    // Level 0 begins a row, level 1 goes on with it; one bit each, in groups of eight.
    let mut repetition = Vec::new();
    varint(&mut repetition, (count.div_ceil(8) as u64) << 1 | 1);
    repetition.extend(bits((0..count).map(|index| !index.is_multiple_of(width))));
    // Every value is there: one run of level 1.
    let mut definition = Vec::new();
    varint(&mut definition, (count as u64) << 1);
    definition.push(1);

    let mut page = Vec::new();
    for levels in [repetition, definition] {
        let length =
            u32::try_from(levels.len()).expect("a bit per value is below 4 GB where a value is below 2");
        page.extend_from_slice(&length.to_le_bytes());
        page.extend(levels);
    }
    match values {
        Values::Booleans(values) => page.extend(bits(values.iter().copied())),
        Values::Floats(values) => {
            for byte in 0..4 {
                page.extend(values.iter().map(|value| value.to_le_bytes()[byte]));
            }
        }
    }
    page
}

/// Bits in bytes, the lowest first.
fn bits(flags: impl Iterator<Item = bool>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (index, flag) in flags.enumerate() {
        if index.is_multiple_of(8) {
            bytes.push(0);
        }
        if let (true, Some(last)) = (flag, bytes.last_mut()) {
            *last |= 1 << (index % 8);
        }
    }
    bytes
}

//! Parquet: one row per frame, one column per array; the other axes of an array are a list of fixed length, row by row, whose
//! shape is in the metadata of its field. Floats are split into byte streams, every page is compressed with zstd; nothing is
//! a dictionary. A row group has its own statistics, and no more than one of them is in memory.

use super::job::{Output, Trouble};
use arrow_array::{ArrayRef, BooleanArray, FixedSizeListArray, Float32Array, RecordBatch};
use arrow_schema::{DataType, Field, FieldRef, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;
use pomp_motion::glam::{Quat, Vec3};
use pomp_motion::{Gait, Recording};
use std::ops::Range;
use std::sync::Arc;

/// Frames of a row group: 4.5 minutes at 60 Hz, some 20 MB of a humanoid with a replay.
const GROUP_FRAMES: usize = 1 << 14;
/// zstd's own default.
const COMPRESSION_LEVEL: i32 = 3;
/// Names of the levels below a list, as the format prescribes them.
const LIST: &str = "list";
const ELEMENT: &str = "element";

/// Values of a column, all rows one after another.
enum Values<'a> {
    Numbers(&'a [f32]),
    Vectors(&'a [Vec3]),
    Quaternions(&'a [Quat]),
    Booleans(&'a [bool]),
}

struct Column<'a> {
    name: &'static str,
    /// Axes of a row.
    shape: Vec<usize>,
    values: Values<'a>,
}

impl Column<'_> {
    fn is_boolean(&self) -> bool {
        matches!(self.values, Values::Booleans(_))
    }

    /// Numbers or booleans in a row.
    fn width(&self) -> usize {
        self.shape.iter().product()
    }

    fn element(&self) -> FieldRef {
        let kind = if self.is_boolean() { DataType::Boolean } else { DataType::Float32 };
        Arc::new(Field::new(ELEMENT, kind, false))
    }

    fn list_size(&self) -> Result<i32, Trouble> {
        i32::try_from(self.width())
            .map_err(|_| Trouble::Unfit(format!("a frame of its {} has {} values", self.name, self.width())))
    }

    fn field(&self) -> Result<Field, Trouble> {
        let shape = [("shape".to_owned(), serde_json::json!(self.shape).to_string())];
        let list = DataType::FixedSizeList(self.element(), self.list_size()?);
        Ok(Field::new(self.name, list, false).with_metadata(shape.into()))
    }

    /// The rows of some frames.
    fn array(&self, frames: &Range<usize>) -> Result<ArrayRef, Trouble> {
        let of = |per_frame: usize| frames.start * per_frame..frames.end * per_frame;
        let width = self.width();
        let values: ArrayRef = match self.values {
            Values::Numbers(values) => {
                Arc::new(Float32Array::from_iter_values(values[of(width)].iter().copied()))
            }
            Values::Vectors(values) => {
                let numbers = values[of(width / 3)].iter().flat_map(Vec3::to_array);
                Arc::new(Float32Array::from_iter_values(numbers))
            }
            Values::Quaternions(values) => {
                let numbers = values[of(width / 4)].iter().flat_map(Quat::to_array);
                Arc::new(Float32Array::from_iter_values(numbers))
            }
            Values::Booleans(values) => Arc::new(BooleanArray::from(values[of(width)].to_vec())),
        };
        let list = FixedSizeListArray::try_new(self.element(), self.list_size()?, values, None);
        Ok(Arc::new(list.map_err(|error| Trouble::Unfit(error.to_string()))?))
    }
}

/// Writes a recording.
pub(super) fn write(recording: &Recording, out: &mut Output<'_>) -> Result<(), Trouble> {
    let columns = columns(recording);
    let fields = columns.iter().map(Column::field).collect::<Result<Vec<_>, _>>()?;
    // In the file, for every reader, and in Arrow's schema, which pyarrow takes a table's metadata from.
    let told = metadata(recording);
    let schema = Arc::new(Schema::new_with_metadata(fields, told.iter().cloned().collect()));
    let properties = properties(&columns, told);
    let mut writer = ArrowWriter::try_new(out, Arc::clone(&schema), Some(properties)).map_err(trouble)?;
    for start in (0..recording.frames()).step_by(GROUP_FRAMES) {
        let frames = start..recording.frames().min(start + GROUP_FRAMES);
        let arrays = columns.iter().map(|column| column.array(&frames)).collect::<Result<_, _>>()?;
        let batch = RecordBatch::try_new(Arc::clone(&schema), arrays);
        writer.write(&batch.map_err(|error| Trouble::Unfit(error.to_string()))?).map_err(trouble)?;
        writer.flush().map_err(trouble)?;
    }
    writer.close().map_err(trouble)?;
    Ok(())
}

fn trouble(error: ParquetError) -> Trouble {
    match error {
        ParquetError::External(source) => match source.downcast() {
            Ok(io) => Trouble::Io(*io),
            Err(other) => Trouble::Unfit(other.to_string()),
        },
        other => Trouble::Unfit(other.to_string()),
    }
}

fn properties(columns: &[Column<'_>], told: Vec<(String, String)>) -> WriterProperties {
    let told = told.into_iter().map(|(key, value)| KeyValue::new(key, value));
    let level = ZstdLevel::try_new(COMPRESSION_LEVEL).expect("zstd has levels up to 22");
    let properties = WriterProperties::builder()
        .set_created_by(concat!("pomp version ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_compression(Compression::ZSTD(level))
        .set_dictionary_enabled(false)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_key_value_metadata(Some(told.collect()));
    let floats = columns.iter().filter(|column| !column.is_boolean());
    let split = floats.fold(properties, |properties, column| {
        let path = ColumnPath::from([column.name, LIST, ELEMENT].map(str::to_owned).to_vec());
        properties.set_column_encoding(path, Encoding::BYTE_STREAM_SPLIT)
    });
    split.build()
}

fn columns(recording: &Recording) -> Vec<Column<'_>> {
    let numbers = |name, width, values| Column { name, shape: vec![width], values: Values::Numbers(values) };
    let vectors =
        |name, count, values| Column { name, shape: vec![count, 3], values: Values::Vectors(values) };
    let quaternions =
        |name, count, values| Column { name, shape: vec![count, 4], values: Values::Quaternions(values) };
    let one_vector = |name, values| Column { name, shape: vec![3], values: Values::Vectors(values) };
    let joints = recording.skeleton.len();
    let contacts = Values::Booleans(recording.foot_contact.as_flattened());
    let mut columns = vec![
        vectors("positions", joints, recording.positions.values()),
        quaternions("quaternions", joints, recording.quaternions.values()),
        vectors("velocities", joints, recording.velocities.values()),
        numbers("root", 4, recording.root.as_flattened()),
        numbers("gait", Gait::COUNT, recording.gait.as_flattened()),
        Column { name: "foot_contact", shape: vec![4], values: contacts },
    ];
    if let Some(simulation) = &recording.simulation {
        let bodies = simulation.body_names.len();
        columns.push(vectors("contact_impulse", bodies, simulation.contact_impulse.values()));
        columns.push(vectors("sim_contact_impulse", bodies, simulation.sim_contact_impulse.values()));
        columns.push(vectors("sim_positions", joints, simulation.positions.values()));
        columns.push(quaternions("sim_quaternions", joints, simulation.quaternions.values()));
        columns.push(vectors("sim_velocities", joints, simulation.velocities.values()));
        columns.push(one_vector("assist_force", &simulation.assist_force));
        columns.push(one_vector("assist_torque", &simulation.assist_torque));
    }
    if let Some(phase) = &recording.phase {
        columns.push(numbers("phase", phase.columns(), phase.values()));
    }
    columns
}

/// Texts about the whole recording; lists are JSON.
fn metadata(recording: &Recording) -> Vec<(String, String)> {
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
    told.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

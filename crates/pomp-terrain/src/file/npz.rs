use super::access::{bad, io, write_beside};
use crate::{HeightMap, TerrainError};
use npyz::npz::{NpzArchive, NpzWriter};
use npyz::zip::{CompressionMethod, DateTime, write::FileOptions};
use npyz::{DType, Order, WriterBuilder};
use pomp_motion::{FrameTable, TerrainGrid};
use std::fs::File;
use std::io::{BufReader, Cursor};
use std::path::Path;

const HEIGHT: &str = "terrain_height";
const ORIGIN: &str = "terrain_origin";
const CELL: &str = "terrain_cell";

pub(super) fn save(map: &HeightMap, path: &Path) -> Result<(), TerrainError> {
    let grid = map.grid();
    let mut archive = NpzWriter::new(Cursor::new(Vec::new()));
    // The clock stays out of the file: same heights, same bytes.
    let options = FileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .last_modified_time(DateTime::default());
    let mut write = |name: &str, shape: &[u64], values: &[f32]| -> std::io::Result<()> {
        let mut array = archive.array(name, options)?.default_dtype().shape(shape).begin_nd()?;
        array.extend(values.iter().copied())?;
        array.finish()
    };
    write(HEIGHT, &[map.rows() as u64, map.columns() as u64], grid.heights.values())
        .and_then(|()| write(ORIGIN, &[2], &grid.origin))
        .and_then(|()| write(CELL, &[], &[grid.cell_m]))
        .map_err(io("write", path))?;
    let bytes =
        archive.zip_writer().finish().map_err(|source| io("write", path)(source.into()))?.into_inner();
    write_beside(path, |file| file.write_all(&bytes))
}

pub(super) fn load(path: &Path) -> Result<TerrainGrid, TerrainError> {
    let file = File::open(path).map_err(io("read", path))?;
    let mut archive = NpzArchive::new(BufReader::new(file)).map_err(|source| {
        bad(path, format!("is not an npz archive: {source}"), "write it with numpy.savez")
    })?;
    let (shape, values) = array(&mut archive, path, HEIGHT)?;
    let &[_, columns] = shape.as_slice() else {
        let reason = format!("array {HEIGHT} has {} axes, not 2", shape.len());
        return Err(bad(path, reason, "store it as [rows, columns]"));
    };
    let heights = FrameTable::from_values(columns as usize, values)
        .ok_or_else(|| bad(path, format!("array {HEIGHT} is empty"), "store at least 2 × 2 heights"))?;
    let (_, origin) = array(&mut archive, path, ORIGIN)?;
    let &[x, z] = origin.as_slice() else {
        let reason = format!("array {ORIGIN} has {} numbers, not 2", origin.len());
        return Err(bad(path, reason, "store x and z of the first height"));
    };
    let (_, cell) = array(&mut archive, path, CELL)?;
    let &[cell_m] = cell.as_slice() else {
        return Err(bad(
            path,
            format!("array {CELL} has {} numbers, not 1", cell.len()),
            "store one length in metres",
        ));
    };
    Ok(TerrainGrid { heights, origin: [x, z], cell_m })
}

/// Shape and values of an array of 32- or 64-bit floats in C order.
fn array(
    archive: &mut NpzArchive<BufReader<File>>,
    path: &Path,
    name: &str,
) -> Result<(Vec<u64>, Vec<f32>), TerrainError> {
    let unreadable = |source: std::io::Error| {
        bad(path, format!("array {name} cannot be read: {source}"), "write it again with numpy.savez")
    };
    let Some(file) = archive.by_name(name).map_err(unreadable)? else {
        let remedy = format!("a terrain needs the arrays {HEIGHT}, {ORIGIN} and {CELL}");
        return Err(bad(path, format!("has no array {name}"), remedy));
    };
    let shape = file.shape().to_vec();
    if file.len() > HeightMap::MAX_HEIGHTS as u64 {
        let reason =
            format!("array {name} has shape {shape:?}, more than {} numbers", HeightMap::MAX_HEIGHTS);
        return Err(bad(path, reason, "use a larger cell or a smaller area"));
    }
    if shape.len() > 1 && file.order() == Order::Fortran {
        let reason = format!("array {name} is in Fortran order");
        return Err(bad(path, reason, "store numpy.ascontiguousarray of it"));
    }
    let values = match file.dtype() {
        DType::Plain(kind) if kind.to_string().ends_with("f4") => {
            file.into_vec::<f32>().map_err(unreadable)?
        }
        DType::Plain(kind) if kind.to_string().ends_with("f8") => {
            file.into_vec::<f64>().map_err(unreadable)?.into_iter().map(|value| value as f32).collect()
        }
        other => {
            let reason = format!("array {name} holds {}, not floats", other.descr());
            return Err(bad(path, reason, "store it as float32"));
        }
    };
    Ok((shape, values))
}

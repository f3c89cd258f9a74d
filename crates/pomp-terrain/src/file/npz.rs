use super::access::{bad, io, write_beside};
use crate::{HeightMap, TerrainError};
use npyz::WriterBuilder;
use npyz::npz::NpzWriter;
use npyz::zip::result::ZipError;
use npyz::zip::{CompressionMethod, DateTime, ZipArchive, write::FileOptions};
use pomp_motion::{FrameTable, TerrainGrid};
use pomp_npy::NpyArray;
use std::fs::File;
use std::io::{BufReader, Cursor, Read};
use std::path::Path;

const HEIGHT: &str = "terrain_height";
const ORIGIN: &str = "terrain_origin";
const CELL: &str = "terrain_cell";
/// Most bytes of an array: the heights of the largest map in double precision, and a header.
const MAX_BYTES: u64 = HeightMap::MAX_HEIGHTS as u64 * 8 + 4096;

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
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(|source| {
        bad(path, format!("is not an npz archive: {source}"), "write it with numpy.savez")
    })?;
    let (shape, values) = array(&mut archive, path, HEIGHT)?;
    let &[_, columns] = shape.as_slice() else {
        let reason = format!("array {HEIGHT} has {} axes, not 2", shape.len());
        return Err(bad(path, reason, "store it as [rows, columns]"));
    };
    let heights = FrameTable::from_values(columns, values)
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
    archive: &mut ZipArchive<BufReader<File>>,
    path: &Path,
    name: &str,
) -> Result<(Vec<usize>, Vec<f32>), TerrainError> {
    let unreadable = |reason: &dyn std::fmt::Display| {
        bad(path, format!("array {name} cannot be read: {reason}"), "write it again with numpy.savez")
    };
    let entry = match archive.by_name(&format!("{name}.npy")) {
        Ok(entry) => entry,
        Err(ZipError::FileNotFound) => {
            let remedy = format!("a terrain needs the arrays {HEIGHT}, {ORIGIN} and {CELL}");
            return Err(bad(path, format!("has no array {name}"), remedy));
        }
        Err(refusal) => return Err(unreadable(&refusal)),
    };
    // The size in the archive bounds nothing: the buffer grows with what is really unpacked.
    let mut bytes = Vec::new();
    entry.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|refusal| unreadable(&refusal))?;
    if bytes.len() as u64 > MAX_BYTES {
        let reason = format!("array {name} has more than {} numbers", HeightMap::MAX_HEIGHTS);
        return Err(bad(path, reason, "use a larger cell or a smaller area"));
    }
    let array = NpyArray::parse(&bytes).map_err(|reason| unreadable(&reason))?;
    drop(bytes);
    match array.numbers() {
        Ok(values) if array.kind.contains('f') => Ok((array.shape.clone(), values.to_vec())),
        _ => {
            let reason = format!("array {name} holds {}, not floats", array.kind);
            Err(bad(path, reason, "store it as float32"))
        }
    }
}

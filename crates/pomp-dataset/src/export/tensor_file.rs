//! PyTorch's file format since 1.6: an uncompressed zip of a pickle, `data.pkl`, and one entry of raw bytes per tensor.

use super::pickle::Pickle;
use std::io::{Cursor, Write};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

/// Elements of a tensor, in row-major order.
pub(super) enum Elements {
    Floats(Vec<f32>),
    Booleans(Vec<bool>),
}

/// A tensor.
pub(super) struct Tensor {
    pub name: &'static str,
    pub shape: Vec<usize>,
    pub elements: Elements,
}

/// The bytes of a file that holds a dictionary of `tensors` and a number called `fps`.
pub(super) fn bytes(fps: f32, tensors: &[Tensor]) -> Result<Vec<u8>, String> {
    let mut pickle = Pickle::new();
    pickle.dictionary(|pickle| {
        pickle.text("fps");
        pickle.float(f64::from(fps));
        for (key, tensor) in tensors.iter().enumerate() {
            pickle.text(tensor.name);
            write_tensor(pickle, key, tensor);
        }
    });
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .last_modified_time(DateTime::DEFAULT)
        .unix_permissions(0o644);
    let mut entry = |name: &str, contents: &[u8]| -> Result<(), String> {
        zip.start_file(format!("motion/{name}"), options).map_err(|error| error.to_string())?;
        zip.write_all(contents).map_err(|error| error.to_string())
    };
    entry("data.pkl", &pickle.finish())?;
    entry("byteorder", b"little")?;
    for (key, tensor) in tensors.iter().enumerate() {
        let contents: Vec<u8> = match &tensor.elements {
            Elements::Floats(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
            Elements::Booleans(values) => values.iter().map(|&value| u8::from(value)).collect(),
        };
        entry(&format!("data/{key}"), &contents)?;
    }
    entry("version", b"3\n")?;
    Ok(zip.finish().map_err(|error| error.to_string())?.into_inner())
}

fn write_tensor(pickle: &mut Pickle, key: usize, tensor: &Tensor) {
    let storage = match tensor.elements {
        Elements::Floats(_) => "FloatStorage",
        Elements::Booleans(_) => "BoolStorage",
    };
    pickle.global("torch._utils", "_rebuild_tensor_v2");
    pickle.tuple(|pickle| {
        pickle.tuple(|pickle| {
            pickle.text("storage");
            pickle.global("torch", storage);
            pickle.text(&key.to_string());
            pickle.text("cpu");
            pickle.integer(tensor.shape.iter().product());
        });
        pickle.persistent();
        pickle.integer(0);
        pickle.tuple(|pickle| tensor.shape.iter().for_each(|&size| pickle.integer(size)));
        pickle.tuple(|pickle| {
            for axis in 0..tensor.shape.len() {
                pickle.integer(tensor.shape[axis + 1..].iter().product());
            }
        });
        pickle.no();
        pickle.global("collections", "OrderedDict");
        pickle.tuple(|_| {});
        pickle.call();
    });
    pickle.call();
}

//! The container: JSON, bytes, and the numbers that accessors find in them.

use super::uri;
use crate::FormatError;
use serde_json::Value;
use std::borrow::Cow;
use std::path::Path;

const MAGIC: &[u8; 4] = b"glTF";
const CHUNK_JSON: u32 = u32::from_le_bytes(*b"JSON");
const CHUNK_BIN: u32 = u32::from_le_bytes(*b"BIN\0");

/// Component types of glTF accessors.
const BYTE: u64 = 5120;
const UNSIGNED_BYTE: u64 = 5121;
const SHORT: u64 = 5122;
const UNSIGNED_SHORT: u64 = 5123;
const FLOAT: u64 = 5126;

/// The parts of a GLB or glTF file.
pub(super) struct Container<'a> {
    file: &'a str,
    /// The document.
    pub document: Value,
    /// The text of the document.
    pub json: &'a [u8],
    /// The binary chunk; empty when there is none.
    pub binary: &'a [u8],
    /// Contents of the buffers with a URI, by index; empty unless the container was opened with them.
    pub linked: Vec<Option<Cow<'a, [u8]>>>,
}

impl<'a> Container<'a> {
    /// Takes a GLB file or a glTF document apart and reads the buffers that its URIs name: `data:` URIs, and files beside it where
    /// `folder` is given.
    pub fn with_buffers(bytes: &'a [u8], file: &'a str, folder: Option<&Path>) -> Result<Self, FormatError> {
        let is_document = bytes.trim_ascii_start().first() == Some(&b'{');
        let mut container =
            if is_document { Self::of_document(bytes, &[], file)? } else { Self::parse(bytes, file)? };
        let mut linked = Vec::new();
        for (index, buffer) in container.list("buffers").iter().enumerate() {
            let place = format!("buffer {index}");
            let contents = buffer.get("uri").map(|uri| {
                let uri = uri.as_str().ok_or_else(|| container.bad(&place, "its \"uri\" is no text"))?;
                uri::contents(uri, folder).map_err(|problem| container.bad(&place, &problem))
            });
            linked.push(contents.transpose()?.map(Cow::Owned));
        }
        container.linked = linked;
        Ok(container)
    }

    fn of_document(json: &'a [u8], binary: &'a [u8], file: &'a str) -> Result<Self, FormatError> {
        let document =
            serde_json::from_slice(json).map_err(|error| problem_at(file, "JSON", &error.to_string()))?;
        Ok(Self { file, document, json, binary, linked: Vec::new() })
    }

    /// Takes a GLB file apart.
    fn parse(bytes: &'a [u8], file: &'a str) -> Result<Self, FormatError> {
        let bad = |place: &str, problem: &str| problem_at(file, place, problem);
        let word = |at: usize| -> Option<u32> {
            let four = bytes.get(at..at.checked_add(4)?)?;
            Some(u32::from_le_bytes(four.try_into().expect("four bytes were taken")))
        };
        if bytes.get(..4) != Some(MAGIC) {
            return Err(bad("header", "it does not begin with \"glTF\"; give a binary glTF 2.0 file (.glb)"));
        }
        if word(4) != Some(2) {
            return Err(bad("header", "its version is not 2; export it as glTF 2.0"));
        }
        let chunk = |at: usize, kind: u32| -> Option<&'a [u8]> {
            let length = usize::try_from(word(at)?).ok()?;
            let first = at.checked_add(8)?;
            (word(at.checked_add(4)?)? == kind)
                .then(|| bytes.get(first..first.checked_add(length)?))
                .flatten()
        };
        let json = chunk(12, CHUNK_JSON).ok_or_else(|| bad("header", "its JSON is missing or cut off"))?;
        let binary = match 20 + json.len().next_multiple_of(4) {
            end if end >= bytes.len() => &[][..],
            at => chunk(at, CHUNK_BIN).ok_or_else(|| bad("header", "its binary chunk is cut off"))?,
        };
        Self::of_document(json, binary, file)
    }

    /// An error at a place of this file.
    pub fn bad(&self, place: &str, problem: &str) -> FormatError {
        problem_at(self.file, place, problem)
    }

    /// The objects of a list of the document; none when it has no such list.
    pub fn list(&self, name: &str) -> &[Value] {
        self.document[name].as_array().map_or(&[], Vec::as_slice)
    }

    /// An index that `object` holds under `key`, into a list of `count`.
    pub fn index(&self, object: &Value, key: &str, count: usize, place: &str) -> Result<usize, FormatError> {
        let found = object[key].as_u64().and_then(|index| usize::try_from(index).ok());
        found.filter(|index| *index < count).ok_or_else(|| {
            self.bad(place, &format!("its \"{key}\" is {}, which is no index below {count}", object[key]))
        })
    }

    /// The bytes of the buffer that a view lies in; `None` where they are not in this file.
    fn contents(&self, view: &Value) -> Option<&[u8]> {
        let index = usize::try_from(view["buffer"].as_u64()?).ok()?;
        if let Some(Some(linked)) = self.linked.get(index) {
            return Some(linked);
        }
        let has_uri = self.list("buffers").get(index).is_some_and(|buffer| buffer.get("uri").is_some());
        (index == 0 && !has_uri).then_some(self.binary)
    }

    /// The numbers of an accessor, `width` to a row: floats, or whole numbers that stand for shares of one.
    pub fn rows(&self, accessor: usize, width: usize) -> Result<Vec<f32>, FormatError> {
        let place = format!("accessor {accessor}");
        let bad = |problem: &str| self.bad(&place, problem);
        let about = self.list("accessors").get(accessor).ok_or_else(|| bad("there is none"))?;
        let kind = match width {
            1 => "SCALAR",
            3 => "VEC3",
            4 => "VEC4",
            _ => "MAT4",
        };
        if about["type"] != kind {
            return Err(bad(&format!("its type is {}, and {kind} was expected", about["type"])));
        }
        if about.get("sparse").is_some() {
            return Err(bad("it is sparse, which is not read; export it without"));
        }
        let size = match about["componentType"].as_u64() {
            Some(BYTE | UNSIGNED_BYTE) => 1,
            Some(SHORT | UNSIGNED_SHORT) => 2,
            Some(FLOAT) => 4,
            _ => return Err(bad(&format!("its component type {} is not read", about["componentType"]))),
        };
        let whole = |object: &Value, key: &str| -> Result<usize, FormatError> {
            match object.get(key) {
                None => Ok(0),
                Some(value) => value
                    .as_u64()
                    .and_then(|value| usize::try_from(value).ok())
                    .ok_or_else(|| bad(&format!("\"{key}\" is {value}, which is no length"))),
            }
        };
        let view = self.index(about, "bufferView", self.list("bufferViews").len(), &place)?;
        let view = &self.list("bufferViews")[view];
        let Some(contents) = self.contents(view) else {
            return Err(bad(if view["extensions"].is_object() {
                "its numbers are compressed; export without compression"
            } else {
                "its numbers are in another file; export everything into one .glb"
            }));
        };
        let (first, length) = (whole(view, "byteOffset")?, whole(view, "byteLength")?);
        let bytes = first.checked_add(length).and_then(|end| contents.get(first..end));
        let bytes = bytes.ok_or_else(|| bad("its bytes lie outside the file"))?;
        let count = whole(about, "count")?;
        let stride = match whole(view, "byteStride")? {
            0 => width * size,
            stride => stride,
        };
        let offset = whole(about, "byteOffset")?;
        let end = count.saturating_sub(1).checked_mul(stride).and_then(|last| last.checked_add(offset));
        let end = end.and_then(|last| last.checked_add(if count == 0 { 0 } else { width * size }));
        if end.is_none_or(|end| end > bytes.len()) {
            return Err(bad(&format!(
                "its {count} rows do not fit into the {} bytes of its view",
                bytes.len()
            )));
        }
        let mut numbers = Vec::with_capacity(count * width);
        for row in 0..count {
            for column in 0..width {
                let at = offset + row * stride + column * size;
                let value = component(&bytes[at..at + size], about["componentType"].as_u64());
                if !value.is_finite() {
                    return Err(bad(&format!("row {row}, number {column} is {value}")));
                }
                numbers.push(value);
            }
        }
        Ok(numbers)
    }
}

/// One number; whole ones stand for −1 to 1 or 0 to 1, as glTF has them in rotations.
fn component(bytes: &[u8], kind: Option<u64>) -> f32 {
    match (kind, bytes) {
        (Some(BYTE), &[a]) => (f32::from(a.cast_signed()) / 127.0).max(-1.0),
        (Some(UNSIGNED_BYTE), &[a]) => f32::from(a) / 255.0,
        (Some(SHORT), &[a, b]) => (f32::from(i16::from_le_bytes([a, b])) / 32767.0).max(-1.0),
        (Some(UNSIGNED_SHORT), &[a, b]) => f32::from(u16::from_le_bytes([a, b])) / 65535.0,
        (_, &[a, b, c, d]) => f32::from_le_bytes([a, b, c, d]),
        _ => f32::NAN,
    }
}

fn problem_at(file: &str, place: &str, problem: &str) -> FormatError {
    FormatError::Glb { file: file.to_owned(), place: place.to_owned(), problem: problem.to_owned() }
}

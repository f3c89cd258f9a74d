use super::Presence;
use super::arrays::{is_known, names_of};
use crate::FormatError;
use pomp_npy::NpyArray;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::path::Path;
use zip::ZipArchive;

/// The most a file may unpack to, about seven hours of a rollout at 60 Hz; a bound against archives that unpack without
/// end.
const MAX_BYTES: u64 = 4 << 30;

/// The arrays of an npz file, by name.
pub(super) struct Arrays {
    file: String,
    arrays: BTreeMap<String, NpyArray>,
}

impl Arrays {
    pub fn open(path: &Path) -> Result<Self, FormatError> {
        let file = File::open(path).map_err(|source| FormatError::Io {
            action: "read",
            path: path.to_owned(),
            source,
        })?;
        Self::read(BufReader::new(file), &path.display().to_string())
    }

    pub fn read(reader: impl Read + Seek, file: &str) -> Result<Self, FormatError> {
        let problem = |array: &str, problem: String| FormatError::Npz {
            file: file.to_owned(),
            array: array.to_owned(),
            problem,
        };
        let mut zip = ZipArchive::new(reader).map_err(|refusal| {
            problem("", format!("no npz archive, or one that was cut ({refusal}); write it again"))
        })?;
        let mut arrays = BTreeMap::new();
        let mut budget = MAX_BYTES;
        for index in 0..zip.len() {
            let unreadable = |array: &str, reason: &dyn std::fmt::Display| {
                problem(array, format!("cannot be unpacked ({reason}); the file may be damaged"))
            };
            let entry =
                zip.by_index(index).map_err(|refusal| unreadable(&format!("entry {index}"), &refusal))?;
            let entry_name = match entry.name() {
                Ok(name) => name.into_owned(),
                Err(refusal) => return Err(unreadable(&format!("entry {index}"), &refusal)),
            };
            let Some(name) = entry_name.strip_suffix(".npy") else {
                return Err(problem(&entry_name, "not a numpy array; take it out of the archive".to_owned()));
            };
            if !is_known(name) {
                return Err(problem(
                    name,
                    "not an array of a recording; take it out of the archive".to_owned(),
                ));
            }
            // The size in the header bounds nothing: the buffer grows with what is really unpacked.
            let mut bytes = Vec::new();
            entry.take(budget + 1).read_to_end(&mut bytes).map_err(|refusal| unreadable(name, &refusal))?;
            budget = budget.checked_sub(bytes.len() as u64).ok_or_else(|| {
                problem(name, format!("the file holds more than {MAX_BYTES} bytes; split the recording"))
            })?;
            let array = NpyArray::parse(&bytes).map_err(|reason| problem(name, reason))?;
            if arrays.insert(name.to_owned(), array).is_some() {
                return Err(problem(name, "it is in the archive twice".to_owned()));
            }
        }
        Ok(Self { file: file.to_owned(), arrays })
    }

    pub fn has(&self, name: &str) -> bool {
        self.arrays.contains_key(name)
    }

    /// Whether the file holds any array of a group.
    pub fn has_any(&self, group: Presence) -> bool {
        names_of(group).any(|name| self.has(name))
    }

    /// The error of one array.
    pub fn error(&self, array: &str, problem: impl Into<String>) -> FormatError {
        FormatError::Npz { file: self.file.clone(), array: array.to_owned(), problem: problem.into() }
    }

    /// The error of motion types that refuse the contents.
    pub fn invalid(&self, source: pomp_motion::MotionError) -> FormatError {
        FormatError::Motion { file: self.file.clone(), source }
    }

    pub fn get(&self, name: &str) -> Result<&NpyArray, FormatError> {
        self.arrays.get(name).ok_or_else(|| self.error(name, "it is missing"))
    }

    /// An array of exactly this shape.
    fn shaped(&self, name: &str, shape: &[usize]) -> Result<&NpyArray, FormatError> {
        let array = self.get(name)?;
        if array.shape == shape {
            Ok(array)
        } else {
            Err(self.error(name, format!("its shape is {:?}, expected {shape:?}", array.shape)))
        }
    }

    /// Finite numbers of exactly this shape.
    pub fn floats(&self, name: &str, shape: &[usize]) -> Result<&[f32], FormatError> {
        self.shaped(name, shape)?.floats().map_err(|problem| self.error(name, problem))
    }

    /// Finite numbers of exactly this shape, or `None` when every one is NaN: not recorded.
    pub fn floats_or_none(&self, name: &str, shape: &[usize]) -> Result<Option<Vec<f32>>, FormatError> {
        let array = self.shaped(name, shape)?;
        if array.is_all_nan() {
            return Ok(None);
        }
        array.floats().map(|values| Some(values.to_vec())).map_err(|problem| self.error(name, problem))
    }

    /// Finite numbers of `frames` rows of N.
    pub fn rows<const N: usize>(&self, name: &str, frames: usize) -> Result<Vec<[f32; N]>, FormatError> {
        Ok(self.floats(name, &[frames, N])?.as_chunks::<N>().0.to_vec())
    }

    /// Booleans of `frames` rows of N.
    pub fn boolean_rows<const N: usize>(
        &self,
        name: &str,
        frames: usize,
    ) -> Result<Vec<[bool; N]>, FormatError> {
        let values =
            self.shaped(name, &[frames, N])?.booleans().map_err(|problem| self.error(name, problem))?;
        Ok(values.as_chunks::<N>().0.to_vec())
    }

    /// One finite number.
    pub fn scalar(&self, name: &str) -> Result<f32, FormatError> {
        Ok(self.floats(name, &[])?[0])
    }

    /// One text.
    pub fn text(&self, name: &str) -> Result<String, FormatError> {
        let texts = self.shaped(name, &[])?.texts().map_err(|problem| self.error(name, problem))?;
        Ok(texts[0].clone())
    }

    /// A list of texts.
    pub fn texts(&self, name: &str) -> Result<Vec<String>, FormatError> {
        let array = self.get(name)?;
        if array.shape.len() != 1 {
            return Err(self.error(name, format!("its shape is {:?}, expected one dimension", array.shape)));
        }
        array.texts().map(<[String]>::to_vec).map_err(|problem| self.error(name, problem))
    }
}

//! Motion files to preprocess.

use crate::PreprocessError;
use crate::provenance::{Provenance, ProvenanceIndex};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// One motion file to preprocess.
#[derive(Clone, Debug)]
pub struct Input {
    /// The file.
    pub path: PathBuf,
    /// Name of its results.
    pub name: String,
    /// Source and licence.
    pub provenance: Provenance,
}

/// BVH files among `paths`: files as given, folders searched recursively, sorted by path.
///
/// # Errors
/// No such file, two files of one name, no file at all.
pub fn find_inputs(paths: &[PathBuf]) -> Result<Vec<Input>, PreprocessError> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            walk(path, &mut files)?;
        } else {
            std::fs::metadata(path).map_err(|source| PreprocessError::Io {
                action: "looking for the clip",
                path: path.clone(),
                source,
                remedy: "give an existing BVH file or a folder that holds some",
            })?;
            files.push(path.clone());
        }
    }
    files.sort();
    files.dedup();
    if files.is_empty() {
        let looked_at: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        return Err(PreprocessError::NoInput { looked_at: looked_at.join(", ") });
    }
    let mut index = ProvenanceIndex::default();
    let mut by_name: HashMap<String, PathBuf> = HashMap::new();
    let mut inputs = Vec::with_capacity(files.len());
    for path in files {
        let name = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        if let Some(first) = by_name.insert(name.clone(), path.clone()) {
            return Err(PreprocessError::SameName { name, first, second: path });
        }
        let provenance = index.of(&path)?;
        inputs.push(Input { path, name, provenance });
    }
    Ok(inputs)
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), PreprocessError> {
    let io = |source| PreprocessError::Io {
        action: "listing the folder",
        path: folder.to_path_buf(),
        source,
        remedy: "check that it can be read",
    };
    for entry in std::fs::read_dir(folder).map_err(io)? {
        let path = entry.map_err(io)?.path();
        if path.is_dir() {
            walk(&path, files)?;
        } else if pomp_formats::is_motion_file(&path) {
            files.push(path);
        }
    }
    Ok(())
}

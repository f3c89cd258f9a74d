use crate::StudioError;
use serde::Serialize;
use std::path::{Path, PathBuf};
use ts_rs::TS;

/// Clips that one library lists.
const MOST_ENTRIES: usize = 5000;

/// A clip that the page offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LibraryEntry {
    /// Name without ending.
    pub name: String,
    /// Folder, relative to what was given; empty for a single file.
    pub folder: String,
    /// The file.
    pub path: PathBuf,
    /// Its size, bytes.
    pub bytes: u64,
}

/// The clips that the page offers, as they were added, those of a folder by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Library {
    entries: Vec<LibraryEntry>,
    more: bool,
}

impl Library {
    /// Adds a file, or all BVH, GLB and npz files in a folder and below it.
    ///
    /// # Errors
    /// A path that cannot be read, a folder without any clip.
    pub fn add(&mut self, path: &Path) -> Result<(), StudioError> {
        let read = |source| StudioError::Read { path: path.to_path_buf(), source };
        let about = std::fs::metadata(path).map_err(read)?;
        if about.is_dir() {
            let mut found = Self::default();
            found.walk(path, path)?;
            found.entries.sort_by(|a, b| (&a.folder, &a.name, &a.path).cmp(&(&b.folder, &b.name, &b.path)));
            if found.entries.is_empty() {
                let source = std::io::Error::other("it holds no .bvh, .glb, .gltf or .npz file");
                return Err(StudioError::Read { path: path.to_path_buf(), source });
            }
            self.more |= found.more;
            self.entries.extend(found.entries);
        } else {
            self.entries.push(entry(path, String::new(), about.len()));
        }
        Ok(())
    }

    fn walk(&mut self, root: &Path, folder: &Path) -> Result<(), StudioError> {
        let read = |source| StudioError::Read { path: folder.to_path_buf(), source };
        for item in std::fs::read_dir(folder).map_err(read)? {
            let item = item.map_err(read)?;
            let path = item.path();
            let kind = item.file_type().map_err(read)?;
            // Links are not followed: they may lead round in circles.
            if kind.is_dir() {
                self.walk(root, &path)?;
            } else if kind.is_file() && is_clip(&path) {
                if self.entries.len() == MOST_ENTRIES {
                    self.more = true;
                    return Ok(());
                }
                let within = folder.strip_prefix(root).unwrap_or(folder).display().to_string();
                self.entries.push(entry(&path, within, item.metadata().map_err(read)?.len()));
            }
        }
        Ok(())
    }

    /// The clips.
    pub fn entries(&self) -> &[LibraryEntry] {
        &self.entries
    }

    /// The list as the page reads it.
    pub(crate) fn list(&self) -> LibraryList {
        let entries = self.entries.iter().enumerate();
        let entries = entries.map(|(number, entry)| {
            let kind = entry.path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
            let (name, folder) = (entry.name.clone(), entry.folder.clone());
            ListedClip { number, name, folder, kind: kind.unwrap_or_default(), bytes: entry.bytes }
        });
        LibraryList { entries: entries.collect(), more: self.more }
    }
}

/// The clips that the page lists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
pub(crate) struct LibraryList {
    /// The clips.
    pub entries: Vec<ListedClip>,
    /// A folder holds more clips than are listed.
    pub more: bool,
}

/// A clip of the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
pub(crate) struct ListedClip {
    /// Its number in the server's addresses.
    pub number: usize,
    /// Name without ending.
    pub name: String,
    /// Folder, relative to what was given; empty for a single file.
    pub folder: String,
    /// Ending of its name, in lower case.
    pub kind: String,
    /// Size of the file.
    #[ts(type = "number")]
    pub bytes: u64,
}

fn is_clip(path: &Path) -> bool {
    pomp_formats::is_motion_file(path)
        || path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("npz"))
}

fn entry(path: &Path, folder: String, bytes: u64) -> LibraryEntry {
    let name = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    LibraryEntry { name, folder, path: path.to_path_buf(), bytes }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_lists_its_clips_in_order_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("runs")).unwrap();
        for file in ["b.bvh", "a.NPZ", "notes.txt", "runs/c.npz"] {
            std::fs::write(folder.path().join(file), b"x").unwrap();
        }
        let mut library = Library::default();
        library.add(folder.path()).unwrap();
        let names: Vec<_> = library.entries().iter().map(|e| (e.folder.as_str(), e.name.as_str())).collect();
        assert_eq!(names, [("", "a"), ("", "b"), ("runs", "c")]);
    }

    #[test]
    fn rejects_what_is_not_there_and_folders_without_clips() {
        let folder = tempfile::tempdir().unwrap();
        let mut library = Library::default();
        assert!(library.add(folder.path()).unwrap_err().to_string().contains("no .bvh"));
        assert!(library.add(&folder.path().join("missing")).is_err());
        assert_eq!(library, Library::default());
    }
}

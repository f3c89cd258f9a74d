use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// What the names of unfinished files begin with.
pub(crate) const PREFIX: &str = ".partial-pomp-";

/// How many letters and digits follow.
pub(crate) const RANDOM_LETTERS: usize = 8;

/// Removes the unfinished files that killed processes have left in `folder`, and tells how many.
///
/// A file that a living process is writing is locked by it, and stays; so does one that cannot be locked, opened or removed.
/// Nothing but what [`crate::replace_file`] made is touched, and no folder below `folder` is looked into.
///
/// # Errors
/// The folder cannot be listed.
pub fn remove_abandoned(folder: &Path) -> io::Result<usize> {
    let mut removed = 0;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if is_ours(&entry.file_name()) && entry.file_type()?.is_file() {
            removed += usize::from(remove_unless_locked(&entry.path()));
        }
    }
    Ok(removed)
}

/// As [`remove_abandoned`], once per process and folder: folders of many files are not listed for each of them.
pub(crate) fn remove_abandoned_once(folder: &Path) {
    static LOOKED_AT: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let Ok(folder) = folder.canonicalize() else { return };
    let mut looked_at = LOOKED_AT.lock().unwrap_or_else(PoisonError::into_inner);
    if looked_at.insert(folder.clone()) {
        // A folder that can be written but not listed is no reason to write nothing: its leftovers stay.
        let _ = remove_abandoned(&folder);
    }
}

fn is_ours(name: &OsStr) -> bool {
    name.to_str().and_then(|name| name.strip_prefix(PREFIX)).is_some_and(|random| {
        random.len() == RANDOM_LETTERS && random.bytes().all(|letter| letter.is_ascii_alphanumeric())
    })
}

fn remove_unless_locked(path: &Path) -> bool {
    // Some network file systems lock only what is open for writing.
    let Ok(file) = OpenOptions::new().write(true).open(path) else { return false };
    // The lock is held while the name is removed: its writer, should it come just now, then sees that it is gone. If it was
    // renamed meanwhile, the name that is removed no longer exists.
    File::try_lock(&file).is_ok() && std::fs::remove_file(path).is_ok()
}

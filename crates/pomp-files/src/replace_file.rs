use crate::abandoned::{PREFIX, RANDOM_LETTERS, remove_abandoned_once};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use tempfile::NamedTempFile;

/// Writes a file so that its name never stands for half of its contents.
///
/// `write` fills a temporary file in the folder of `path`, which is then flushed to the disk and renamed over `path`. When
/// anything fails, the temporary file is removed and an older file at `path` stays as it was. The first write of a
/// process into a folder removes what killed processes have left there ([`crate::remove_abandoned`]). What `write` gives
/// back is given on.
///
/// # Errors
/// The folder is missing or cannot be written, the disk is full, `path` is a folder, or `write` fails.
pub fn replace_file<T, E: From<io::Error>>(
    path: &Path,
    write: impl FnOnce(&mut (dyn Write + Send)) -> Result<T, E>,
) -> Result<T, E> {
    if path.is_dir() {
        return Err(io::Error::from(io::ErrorKind::IsADirectory).into());
    }
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    remove_abandoned_once(folder);
    let mut file = locked_beside(folder)?;
    let mut buffered = BufWriter::with_capacity(1 << 16, file.as_file_mut());
    let given = write(&mut buffered)?;
    buffered.flush()?;
    drop(buffered);
    file.as_file().sync_all()?;
    file.persist(path).map_err(|refused| refused.error)?;
    Ok(given)
}

/// A new file in `folder` whose lock says that it is being written.
fn locked_beside(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX).rand_bytes(RANDOM_LETTERS);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The process's umask still applies: the result has the permissions of an ordinary new file, not
        // the owner-only ones of a temporary file.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    loop {
        let file = builder.tempfile_in(folder)?;
        // Where locks are not supported, no process can take one to remove the file either.
        let locked = file.as_file().lock().is_ok();
        // Between its creation and its lock another process may have taken it for abandoned.
        if !locked || file.path().exists() {
            return Ok(file);
        }
    }
}

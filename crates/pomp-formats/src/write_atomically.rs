use crate::FormatError;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use tempfile::NamedTempFile;

/// Writes a file so that its name never stands for half of its contents.
///
/// `write` fills a temporary file in the target's folder, which is then flushed to the disk and renamed over
/// `path`. When anything fails, the temporary file is removed and an older file at `path` stays as it was.
///
/// # Errors
/// [`FormatError::Io`] with `path` when the folder cannot be written, the disk is full, or `write` fails.
pub fn write_atomically(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), FormatError> {
    replace_file(path, write).map_err(|source| FormatError::Io {
        action: "write",
        path: path.to_owned(),
        source,
    })
}

fn replace_file(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    if path.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".partial-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The process's umask still applies: the result has the permissions of an ordinary new file, not
        // the owner-only ones of a temporary file.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let mut file: NamedTempFile = builder.tempfile_in(folder)?;
    let mut buffered = BufWriter::with_capacity(1 << 16, file.as_file_mut());
    write(&mut buffered)?;
    buffered.flush()?;
    drop(buffered);
    file.as_file().sync_all()?;
    file.persist(path).map_err(|refused| refused.error)?;
    Ok(())
}

use crate::FormatError;
use std::io::{self, Write};
use std::path::Path;

/// Writes a file so that its name never stands for half of its contents: [`pomp_files::replace_file`] with an error that
/// names the file.
///
/// # Errors
/// [`FormatError::Io`] with `path` when the folder cannot be written, the disk is full, or `write` fails.
pub fn write_atomically(
    path: &Path,
    write: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
) -> Result<(), FormatError> {
    pomp_files::replace_file(path, write).map_err(|source| FormatError::Io {
        action: "write",
        path: path.to_owned(),
        source,
    })
}

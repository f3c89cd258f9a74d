//! Files that are written whole or not at all, and the hashes that they are recognised by.
//!
//! [`replace_file`] is how every crate of the workspace that writes a file writes it: beside its place, synced and renamed,
//! so that a name never stands for half of its contents. A process that is killed in the midst leaves the file
//! beside; the next one that writes into the folder removes it ([`remove_abandoned`]), and leaves alone what a living process
//! is still writing.
//!
//! ```
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("a.txt");
//! pomp_files::replace_file(&path, |file| file.write_all(b"all of it"))?;
//! assert_eq!(std::fs::read(&path)?, b"all of it");
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! A [`Digest`] is the SHA-256 of a file, of settings or of data; it is the one place where hashes become text.
//!
//! It knows no format, and folders are the caller's to create.

mod abandoned;
mod digest;
mod replace_file;

pub use abandoned::remove_abandoned;
pub use digest::{Digest, Hasher};
pub use replace_file::replace_file;

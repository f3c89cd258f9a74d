//! What cannot be written or read is named, with what to do.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

use pomp_formats::{FormatError, read_bvh, write_atomically};
use std::io;
use std::path::Path;

#[test]
fn a_disk_that_fills_up_leaves_the_older_file_and_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.txt");
    write_atomically(&path, |out| out.write_all(b"old")).unwrap();
    let error = write_atomically(&path, |out| {
        out.write_all(b"half of the n")?;
        Err(io::ErrorKind::StorageFull.into())
    })
    .unwrap_err();
    assert_eq!(std::fs::read(&path).unwrap(), b"old");
    let message = error.to_string();
    assert!(message.contains("a.txt") && message.contains("free space"), "{message}");
}

#[test]
fn rejects_a_folder_that_is_missing_or_is_the_target_itself() {
    let folder = tempfile::tempdir().unwrap();
    for path in [folder.path().join("nowhere/a.txt"), folder.path().to_owned()] {
        let error = write_atomically(&path, |out| out.write_all(b"x")).unwrap_err();
        assert!(matches!(&error, FormatError::Io { action: "write", path: named, .. } if *named == path));
        assert!(error.to_string().contains("; "), "the remedy is missing: {error}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "it leaves something behind");
}

#[test]
fn rejects_a_file_that_is_not_there_with_its_path() {
    let error = read_bvh(Path::new("nowhere.bvh")).unwrap_err();
    assert!(error.to_string().starts_with("cannot read nowhere.bvh"), "{error}");
}

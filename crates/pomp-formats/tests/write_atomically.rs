//! A file's name never stands for half of its contents.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

use pomp_formats::{FormatError, read_bvh, write_atomically};
use std::io;
use std::path::Path;

fn names_in(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_finished_file_replaces_the_older_one_and_leaves_nothing_beside() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.txt");
    write_atomically(&path, |out| out.write_all(b"old")).unwrap();
    write_atomically(&path, |out| out.write_all(b"new")).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"new");
    assert_eq!(names_in(folder.path()), ["a.txt"]);
}

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
    assert_eq!(names_in(folder.path()), ["a.txt"]);
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
    assert_eq!(names_in(folder.path()), Vec::<String>::new());
}

#[test]
fn rejects_a_file_that_is_not_there_with_its_path() {
    let error = read_bvh(Path::new("nowhere.bvh")).unwrap_err();
    assert!(error.to_string().starts_with("cannot read nowhere.bvh"), "{error}");
}

#[cfg(unix)]
#[test]
fn a_new_file_has_the_permissions_of_any_new_file() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let (ours, plain) = (folder.path().join("ours"), folder.path().join("plain"));
    write_atomically(&ours, |out| out.write_all(b"x")).unwrap();
    std::fs::write(&plain, b"x").unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode(&ours), mode(&plain));
}

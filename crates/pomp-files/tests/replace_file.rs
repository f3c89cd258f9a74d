//! A file's name never stands for half of its contents; what killed writers leave is removed, and nothing that anybody
//! still needs.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

use pomp_files::{remove_abandoned, replace_file};
use std::fs::{self, File};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

fn names_in(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn the_first_write_into_a_folder_removes_what_was_abandoned_there_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let others =
        [".partial-1234abcd", ".partial-pomp-", ".partial-pomp-1234abcde", ".partial-pomp-12 4abcd", "a.npz"];
    for name in others.into_iter().chain([".partial-pomp-1234abcd", ".partial-pomp-ABCDEFGH"]) {
        fs::write(at(name), "half of").unwrap();
    }
    fs::create_dir(at(".partial-pomp-aFolder0")).unwrap();
    fs::write(at(".partial-pomp-written0"), "half of").unwrap();
    let living = File::options().write(true).open(at(".partial-pomp-written0")).unwrap();
    living.lock().unwrap();

    replace_file(&at("b.npz"), |file| file.write_all(b"whole")).unwrap();
    let mut kept: Vec<&str> =
        others.into_iter().chain([".partial-pomp-aFolder0", ".partial-pomp-written0", "b.npz"]).collect();
    kept.sort_unstable();
    assert_eq!(names_in(folder.path()), kept);

    assert_eq!(remove_abandoned(folder.path()).unwrap(), 0, "it is still being written");
    drop(living);
    assert_eq!(remove_abandoned(folder.path()).unwrap(), 1, "its writer is gone");
    assert!(!at(".partial-pomp-written0").exists());
}

#[test]
fn a_file_that_is_being_written_is_never_taken_for_abandoned() {
    let folder = tempfile::tempdir().unwrap();
    let finished = AtomicBool::new(false);
    let (mut sweeps, mut taken) = (0, 0);
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..3)
            .map(|writer| {
                let folder = folder.path();
                let path = move |number: usize| folder.join(format!("{writer}_{number}"));
                scope.spawn(move || {
                    for number in 0..200 {
                        replace_file(&path(number), |file| file.write_all(&[7; 1000])).unwrap();
                    }
                })
            })
            .collect();
        let sweeper = scope.spawn(|| {
            while !finished.load(Ordering::Relaxed) {
                // Files come and go while the folder is listed.
                taken += remove_abandoned(folder.path()).unwrap_or(0);
                sweeps += 1;
            }
        });
        for writer in writers {
            writer.join().unwrap();
        }
        finished.store(true, Ordering::Relaxed);
        sweeper.join().unwrap();
    });
    println!("{sweeps} sweeps took {taken} files before they were locked; their writers began again");
    assert!(sweeps > 10, "{sweeps}");
    let names = names_in(folder.path());
    assert_eq!(names.len(), 600, "every file is there and nothing else");
    assert!(names.iter().all(|name| fs::read(folder.path().join(name)).unwrap() == [7; 1000]));
}

#[test]
fn a_finished_file_replaces_the_older_one_and_leaves_nothing_beside() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.txt");
    replace_file(&path, |file| file.write_all(b"old")).unwrap();
    replace_file(&path, |file| file.write_all(b"new")).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert_eq!(names_in(folder.path()), ["a.txt"]);
}

#[test]
fn a_failed_write_leaves_the_older_file_and_nothing_beside() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.txt");
    replace_file(&path, |file| file.write_all(b"old")).unwrap();
    let failed: std::io::Result<()> = replace_file(&path, |file| {
        file.write_all(b"half of the n")?;
        Err(std::io::ErrorKind::StorageFull.into())
    });
    assert_eq!(failed.unwrap_err().kind(), std::io::ErrorKind::StorageFull);
    assert_eq!(names_in(folder.path()), ["a.txt"]);
    assert_eq!(fs::read(&path).unwrap(), b"old");
}

#[cfg(unix)]
#[test]
fn a_new_file_has_the_permissions_of_any_new_file() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let (ours, plain) = (folder.path().join("ours"), folder.path().join("plain"));
    replace_file(&ours, |file| file.write_all(b"x")).unwrap();
    fs::write(&plain, b"x").unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode(&ours), mode(&plain));
}

//! Disks that refuse: nothing that looks finished may stay behind.

use crate::pomp;
use crate::program::{clip, clips, names, recording, skipped};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

#[test]
fn rejects_folders_that_cannot_be_written() {
    // Below a regular file nothing can be written, not even by root.
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "in the way").unwrap();
    let inside = file.join("out");
    let named = [inside.to_str().unwrap()];
    pomp!("synthesize", "--out", inside).refuses(&named);
    pomp!("preprocess", clip("00_stand"), "--out", inside).refuses(&named);
    pomp!("terrain", "make", "flat", "--out", inside.join("flat.npz")).refuses(&named);
    pomp!("terrain", "make", "flat", "--out", inside.join("flat.png")).refuses(&named);
    pomp!("render", recording("00_stand"), "--out", inside.join("stand.png")).refuses(&named);
    pomp!("train", "phase", "--data", recording("00_stand").parent().unwrap(), "--out", inside)
        .refuses(&named);
    assert_eq!(fs::read_to_string(&file).unwrap(), "in the way");
}

/// A file system in memory of a given size, gone when dropped.
struct SmallDisk {
    folder: TempDir,
}

impl SmallDisk {
    /// `None`, with a line on the terminal, where it may not be mounted.
    fn of(kilobytes: u32, what: &str) -> Option<Self> {
        let folder = TempDir::new().unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={kilobytes}k"), "tmpfs"])
            .arg(folder.path())
            .output();
        match mounted {
            Ok(output) if output.status.success() => Some(Self { folder }),
            _ => {
                skipped(what, "a small disk can only be mounted by root");
                None
            }
        }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // A mount that stays would outlive the test; the terminal is the only place to report it.
        if !Command::new("umount").arg(self.folder.path()).status().is_ok_and(|status| status.success()) {
            skipped("unmounting", &self.folder.path().display().to_string());
        }
    }
}

/// Every file below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for name in names(folder) {
        let path = folder.join(name);
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found
}

#[test]
fn a_full_disk_keeps_an_older_picture_and_map_and_leaves_no_part_of_a_new_one() {
    let Some(disk) = SmallDisk::of(64, "a full disk under maps and pictures") else { return };
    let (map, picture) = (disk.path().join("hills.npz"), disk.path().join("stand.gif"));
    fs::write(&picture, "older").unwrap();
    pomp!("terrain", "make", "hills", "--out", map).refuses(&["hills.npz", "space"]);
    pomp!("render", recording("00_stand"), "--out", picture).refuses(&["stand.gif", "space"]);
    assert_eq!(names(disk.path()), ["stand.gif"]);
    assert_eq!(fs::read_to_string(&picture).unwrap(), "older");
}

#[test]
fn a_full_disk_under_synthesize_leaves_whole_clips_alone() {
    let Some(disk) = SmallDisk::of(700, "a full disk under synthesize") else { return };
    let out = disk.path().join("clips");
    pomp!("synthesize", "--seconds", "4", "--out", out).refuses(&[".bvh", "space"]);
    assert!(!names(&out).is_empty(), "the disk holds a few clips");
    for name in names(&out) {
        assert!(fs::read(out.join(&name)).unwrap() == fs::read(clips().join(&name)).unwrap(), "{name}");
    }
}

#[test]
fn a_full_disk_under_preprocess_leaves_whole_recordings_alone_and_the_run_can_go_on() {
    // Of the four recordings of half a megabyte, two or three fit beside the filler.
    let Some(disk) = SmallDisk::of(3000, "a full disk under preprocess") else { return };
    let (out, filler) = (disk.path().join("data"), disk.path().join("filler"));
    fs::write(&filler, vec![0; 1_500_000]).unwrap();
    let (stand, walk) = (clip("00_stand"), clip("03_walk"));
    let ran = pomp!("preprocess", stand, walk, "--out", out);
    assert!(ran.stderr.contains("skipped: ") && ran.stderr.contains("space"), "{ran:#?}");
    let finished: Vec<PathBuf> =
        files(&out).into_iter().filter(|path| path.extension().is_some_and(|end| end == "npz")).collect();
    assert!((1..4).contains(&finished.len()), "{finished:?}");
    for path in &finished {
        pomp_formats::read_recording(path).unwrap();
    }
    assert!(names(&out).iter().all(|name| !name.starts_with(".partial")), "{:?}", names(&out));

    fs::remove_file(&filler).unwrap();
    let ran = pomp!("preprocess", stand, walk, "--out", out).succeeds();
    assert!(ran.stdout.contains("4 recordings"), "{ran:#?}");
}

//! Runs that end by SIGKILL: run again, they give the bytes of a run that was not killed, and nothing else stays.

use crate::dataset::{npz, sample_clips};
use crate::model::tiny;
use crate::pomp;
use crate::program::{names, recordings};
use pomp_formats::read_recording;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// What unfinished files are called.
const UNFINISHED: &str = ".partial-";

/// Unfinished files in a folder and all below it.
pub fn unfinished(folder: &Path) -> usize {
    let count = |name: &String| {
        let path = folder.join(name);
        if path.is_dir() { unfinished(&path) } else { usize::from(name.starts_with(UNFINISHED)) }
    };
    names(folder).iter().map(count).sum()
}

/// Every file of a folder but journals and manifests of parts.
fn bytes(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let kept = |name: &String| !name.starts_with("journal") && !name.contains("_of_");
    let read = |name: String| (name.clone(), fs::read(folder.join(name)).unwrap());
    names(folder).into_iter().filter(kept).map(read).collect()
}

/// What a killed process may leave in a folder, whatever moment the signals of a test come at.
fn leave_unfinished(folder: &Path) {
    fs::write(folder.join(".partial-pomp-KILLED00"), "half of").unwrap();
}

fn started(arguments: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pomp"));
    command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts")
}

/// Whether a process ended by our signal, and not by itself.
fn by_signal(status: ExitStatus) -> bool {
    #[cfg(unix)]
    return std::os::unix::process::ExitStatusExt::signal(&status) == Some(9);
    #[cfg(not(unix))]
    !status.success()
}

/// Kills `child` (SIGKILL on Unix) as soon as `now` holds; whether it was still running then.
fn killed_when(mut child: Child, now: impl Fn() -> bool) -> bool {
    let begun = Instant::now();
    while !now() && child.try_wait().unwrap().is_none() {
        assert!(begun.elapsed() < Duration::from_secs(300), "the moment never came");
        std::thread::sleep(Duration::from_micros(100));
    }
    child.kill().unwrap();
    by_signal(child.wait().unwrap())
}

fn text(path: &Path) -> &str {
    path.to_str().expect("paths of tests are UTF-8")
}

#[test]
fn preprocessing_that_was_killed_at_any_moment_or_shared_among_ranks_gives_the_bytes_of_one_run() {
    let folder = TempDir::new().unwrap();
    let [whole, killed, shared] = ["whole", "killed", "shared"].map(|name| folder.path().join(name));
    let clips = sample_clips();
    let ran = pomp!("preprocess", clips, "--out", whole).succeeds();
    assert!(ran.stdout.contains("12 recordings"), "{ran:#?}");
    let recording = read_recording(&npz(&whole)[0]).unwrap();
    assert_eq!(recording.license, "CC0-1.0", "the manifest beside the clips is read");

    // At the first sign of life, then in the midst of writing, and whenever some more recordings are there.
    let there = |what: &dyn Fn(&str) -> bool| {
        if killed.exists() { names(&killed).iter().filter(|name| what(name)).count() } else { 0 }
    };
    let recordings = || there(&|name| name.ends_with(".npz"));
    let mut left = Vec::new();
    let mut kills = 0;
    for more in [0, 1, 1, 3, 4] {
        let before = recordings();
        let moment = || match more {
            0 => killed.exists(),
            more => recordings() >= before + more && there(&|name| name.starts_with(UNFINISHED)) > 0,
        };
        let child = started(&["preprocess", text(&clips), "--out", text(&killed)]);
        kills += usize::from(killed_when(child, moment));
        for path in npz(&killed) {
            read_recording(&path).expect("what bears a recording's name is whole");
        }
        left.push(unfinished(&killed));
    }
    println!("{kills} kills left {left:?} unfinished files");
    assert!(kills >= 3, "{kills} of 5 signals came in time");
    leave_unfinished(&killed);
    pomp!("preprocess", clips, "--out", killed).succeeds();
    assert!(bytes(&killed) == bytes(&whole), "{:?}", names(&killed));

    // One of two processes that work in one folder is killed and started again while the other goes on.
    let rank = |rank: &str| {
        started(&["preprocess", text(&clips), "--out", text(&shared), "--rank", rank, "--ranks", "2"])
    };
    let mut other = rank("0");
    let came_in_time = killed_when(rank("1"), || shared.exists() && !names(&shared).is_empty());
    assert!(came_in_time, "it had ended before");
    leave_unfinished(&shared);
    assert!(rank("1").wait().unwrap().success(), "it goes on beside the other");
    assert!(other.wait().unwrap().success(), "the other loses nothing");
    assert_eq!(npz(&shared).len(), 12);
    let before = fs::metadata(&npz(&shared)[0]).unwrap().modified().unwrap();
    pomp!("preprocess", clips, "--out", shared).succeeds();
    assert_eq!(fs::metadata(&npz(&shared)[0]).unwrap().modified().unwrap(), before, "nothing is made again");
    assert!(bytes(&shared) == bytes(&whole), "{:?}", names(&shared));
    pomp!("preprocess", clips, "--out", shared, "--rank", "2", "--ranks", "2").misuses(&["rank 2 of 2"]);
}

#[test]
fn a_batch_of_rollouts_that_was_killed_gives_the_bytes_of_one_that_was_not() {
    let folder = TempDir::new().unwrap();
    let [whole, killed] = ["whole", "killed"].map(|name| folder.path().join(name));
    let run = |out: &PathBuf| {
        let place = ["--model", text(tiny()), "--out", text(out)];
        started(&[&["generate", "--count", "4", "--random", "--seconds", "2"][..], &place].concat())
    };
    assert!(run(&whole).wait().unwrap().success());
    killed_when(run(&killed), || killed.exists() && unfinished(&killed) > 0);
    assert!(killed_when(run(&killed), || !npz(&killed).is_empty()), "it had ended before");
    leave_unfinished(&killed);
    assert!(run(&killed).wait().unwrap().success());
    assert!(bytes(&killed) == bytes(&whole), "{:?}", names(&killed));
}

#[test]
fn an_export_that_was_killed_gives_the_bytes_of_one_that_was_not() {
    let folder = TempDir::new().unwrap();
    for format in ["shards", "parquet"] {
        let [whole, killed] = ["whole", "killed"].map(|name| folder.path().join(format!("{name}_{format}")));
        let run =
            |out: &PathBuf| started(&["export", text(recordings()), "--format", format, "--out", text(out)]);
        assert!(run(&whole).wait().unwrap().success());
        // An export is over in a moment: not every signal comes in time.
        let came_in_time = (0..20).any(|_| {
            let _ = fs::remove_dir_all(&killed);
            killed_when(run(&killed), || killed.exists() && unfinished(&killed) > 0)
        });
        assert!(came_in_time, "it had ended before, twenty times");
        leave_unfinished(&killed);
        assert!(run(&killed).wait().unwrap().success());
        let files = |folder: &Path| -> Vec<_> {
            bytes(folder).into_iter().filter(|(name, _)| name != "export.jsonl").collect()
        };
        assert!(files(&killed) == files(&whole), "{format}: {:?}", names(&killed));
    }
}

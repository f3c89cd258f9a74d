//! The program under test, and clips to run it on.

use pomp_formats::bvh::{BvhWriteOptions, bvh_text};
use pomp_motion::{Clip, Pose, Skeleton};
pub use pomp_testing::{repository, skipped};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, OnceLock};

/// What a run said, and how it ended.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    #[track_caller]
    pub fn succeeds(self) -> Self {
        assert_eq!(self.code, Some(0), "{self:#?}");
        self
    }

    /// Ends with exit code 3: some inputs failed, the others are done.
    #[track_caller]
    pub fn ends_in_part(self) -> Self {
        assert_eq!(self.code, Some(3), "{self:#?}");
        self
    }

    /// Refuses with exit code 1 and an error that holds every one of `words`.
    #[track_caller]
    pub fn refuses(self, words: &[&str]) -> Self {
        self.ends_with(1, words)
    }

    /// Refuses with exit code 2, for a wrong command line, and an error that holds every one of `words`.
    #[track_caller]
    pub fn misuses(self, words: &[&str]) -> Self {
        self.ends_with(2, words)
    }

    #[track_caller]
    fn ends_with(self, code: i32, words: &[&str]) -> Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        assert!(self.stderr.contains("error: "), "{self:#?}");
        assert!(self.stderr.matches("os error").count() <= 1, "a cause is told twice: {self:#?}");
        for word in words {
            assert!(self.stderr.contains(word), "\"{word}\" is missing in {self:#?}");
        }
        self
    }

    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }
}

/// Runs `pomp`; whatever it is given, it must not panic.
#[track_caller]
pub fn pomp<A: AsRef<std::ffi::OsStr>>(arguments: impl IntoIterator<Item = A>) -> Ran {
    let output = Command::new(env!("CARGO_BIN_EXE_pomp"))
        .args(arguments)
        .env_remove("RUST_LOG")
        .output()
        .expect("the program starts");
    let ran = Ran {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("the program prints UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("the program prints UTF-8"),
    };
    assert!(!ran.stderr.contains("panicked"), "{ran:#?}");
    ran
}

/// `pomp` with words and paths.
#[macro_export]
macro_rules! pomp {
    ($($argument:expr),+ $(,)?) => {
        $crate::program::pomp([$(std::ffi::OsStr::new(&$argument)),+])
    };
}

/// Names of the files in a folder, sorted.
pub fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// The clips of `pomp synthesize --seconds 4`, made once.
pub fn clips() -> &'static Path {
    static CLIPS: OnceLock<PathBuf> = OnceLock::new();
    CLIPS.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("command_line_clips");
        if folder.exists() {
            std::fs::remove_dir_all(&folder).unwrap();
        }
        pomp!("synthesize", "--seconds", "4", "--out", folder).succeeds();
        folder
    })
}

/// The synthetic clip whose name begins so.
pub fn clip(prefix: &str) -> PathBuf {
    let name = names(clips()).into_iter().find(|name| name.starts_with(prefix));
    clips().join(name.unwrap_or_else(|| panic!("no clip is called {prefix}…")))
}

/// Half a second of standing as BVH text.
pub fn standing_bvh() -> String {
    let skeleton = Arc::new(Skeleton::humanoid(1.75));
    let mut pose = Pose::rest(&skeleton);
    let lowest = skeleton.forward_kinematics(&pose).positions.iter().map(|p| p.y).fold(f32::MAX, f32::min);
    pose.root_position.y -= lowest;
    let clip = Clip::new("standing", skeleton, 60.0, vec![pose; 30]).unwrap();
    bvh_text(&clip, &BvhWriteOptions::default()).unwrap()
}

/// Recordings of a stand and a walk, made once by `pomp preprocess`.
pub fn recordings() -> &'static Path {
    static RECORDINGS: OnceLock<PathBuf> = OnceLock::new();
    RECORDINGS.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("command_line_recordings");
        if folder.exists() {
            std::fs::remove_dir_all(&folder).unwrap();
        }
        pomp!("preprocess", clip("00_stand"), clip("11_walk"), clip("20_jog"), "--out", folder).succeeds();
        folder
    })
}

/// The recording whose name begins so.
pub fn recording(prefix: &str) -> PathBuf {
    let name = names(recordings()).into_iter().find(|name| name.starts_with(prefix));
    recordings().join(name.unwrap_or_else(|| panic!("no recording is called {prefix}…")))
}

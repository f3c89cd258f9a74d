//! What the tests of several crates share: where recorded motion lies, how readers in Python are run, and a line on the
//! terminal where a test cannot run because one of them is missing.
//!
//! [`recorded`] and [`python_can`] print that line with [`skipped`], past the capture of a test's output: a test that is
//! skipped is never silent. `POMP_DATA` names the folder of recorded motion, `POMP_PYTHON` the Python whose libraries are
//! used; `.ci/run` makes one with all of them.
//!
//! The crate is a development dependency alone: no program is built from it.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Prints on the terminal, past the capture of a test's output, that a check did not run.
pub fn skipped(what: &str, why: &str) {
    writeln!(std::io::stderr(), "skipped: {what}: {why}").expect("standard error is open");
}

/// The root of the repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository exists")
}

/// A file or folder of recorded motion, in the folder that `POMP_DATA` names, else in `../shared/data` beside the repository.
/// Prints a line that starts with `skipped:` where it is missing.
pub fn recorded(path: &str, what: &str) -> Option<PathBuf> {
    let folder =
        std::env::var_os("POMP_DATA").map_or_else(|| repository().join("../shared/data"), PathBuf::from);
    let path = folder.join(path);
    if !path.exists() {
        skipped(what, &format!("there is no {}; set POMP_DATA", path.display()));
        return None;
    }
    Some(path)
}

/// Whether Python runs the statements `imports`. Prints a line that starts with `skipped:` where it does not.
pub fn python_can(imports: &str, what: &str) -> bool {
    let can = command(Path::new("."), ["-c", imports]).output().is_ok_and(|output| output.status.success());
    if !can {
        let python = interpreter().display().to_string();
        skipped(what, &format!("\"{imports}\" fails in {python}; set POMP_PYTHON to a Python that can"));
    }
    can
}

/// Runs Python in `folder` and gives what it printed.
///
/// # Panics
/// When it fails, with what it said.
#[track_caller]
pub fn python<A: AsRef<OsStr>>(folder: &Path, arguments: impl IntoIterator<Item = A>) -> String {
    let output = command(folder, arguments).output().expect("python_can has run it before");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    said
}

fn command<A: AsRef<OsStr>>(folder: &Path, arguments: impl IntoIterator<Item = A>) -> Command {
    let mut command = Command::new(interpreter());
    command
        .args(arguments)
        .current_dir(folder)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("HF_HUB_OFFLINE", "1");
    command
}

fn interpreter() -> PathBuf {
    std::env::var_os("POMP_PYTHON").map_or_else(|| PathBuf::from("python3"), PathBuf::from)
}

//! `cargo run --release` and `cargo test --release --workspace` share one compilation of every dependency.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

use std::collections::BTreeSet;
use std::process::Command;

/// Every package outside the workspace that `cargo tree` lists with `arguments`, with version and features. One that build scripts
/// or macros use too may be there twice, with other features.
fn packages(arguments: &[&str]) -> BTreeSet<String> {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--locked", "--prefix", "none", "--format", "{p}|{f}"])
        .args(arguments)
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let lines = text.lines().map(|line| line.trim_end_matches(" (*)"));
    lines.filter(|line| line.contains('|') && !line.starts_with("pomp")).map(str::to_owned).collect()
}

#[test]
fn the_program_and_the_tests_want_the_same_features_of_every_dependency() {
    let program = packages(&["--package", "pomp", "--edges", "normal,build"]);
    let tests = packages(&["--workspace", "--edges", "all"]);
    assert!(program.len() > 100, "cargo lists {} packages only", program.len());
    let differ: Vec<&str> = program.difference(&tests).map(String::as_str).collect();
    assert!(
        differ.is_empty(),
        "these dependencies are compiled twice; name their features in crates/pomp/Cargo.toml:\n{}",
        differ.join("\n")
    );
}

#[test]
fn the_python_package_wants_what_the_tests_want_too() {
    // Built beside the program, as .ci/run does.
    let package = packages(&["--package", "pomp", "--package", "pomp-py", "--edges", "normal,build"]);
    let tests = packages(&["--workspace", "--edges", "all"]);
    assert!(package.iter().any(|line| line.starts_with("pyo3 ")));
    assert_eq!(package.difference(&tests).collect::<Vec<_>>(), Vec::<&String>::new());
}

//! `cargo run --release` and `cargo test --release --workspace` share one compilation of every dependency.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

use std::collections::BTreeMap;
use std::process::Command;

/// Version and features of every package outside the workspace that `cargo tree` lists with `arguments`.
fn packages(arguments: &[&str]) -> BTreeMap<String, String> {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--locked", "--prefix", "none", "--format", "{p}|{f}"])
        .args(arguments)
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let lines = text.lines().filter_map(|line| line.trim_end_matches(" (*)").split_once('|'));
    lines
        .filter(|(package, _)| !package.starts_with("pomp"))
        .map(|(package, features)| (package.to_owned(), features.to_owned()))
        .collect()
}

#[test]
fn the_program_and_the_tests_want_the_same_features_of_every_dependency() {
    let program = packages(&["--package", "pomp", "--edges", "normal,build"]);
    let tests = packages(&["--workspace", "--edges", "all"]);
    assert!(program.len() > 100, "cargo lists {} packages only", program.len());
    let differ: Vec<String> = program
        .iter()
        .filter(|(package, features)| tests.get(*package) != Some(features))
        .map(|(package, features)| {
            format!("{package}: the program has [{features}], the tests have {:?}", tests.get(package))
        })
        .collect();
    assert!(
        differ.is_empty(),
        "these dependencies are compiled twice; name their features in crates/pomp/Cargo.toml:\n{}",
        differ.join("\n")
    );
}

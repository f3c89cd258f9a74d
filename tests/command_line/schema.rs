//! Every command that prints figures prints one object with its schema, and the documentation lists it.

use crate::model::tiny;
use crate::pomp;
use crate::program::{clip, recording, recordings, repository};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use tempfile::TempDir;

/// Schemas in the table of docs/command_line.md.
fn documented() -> BTreeSet<String> {
    let page = fs::read_to_string(repository().join("docs/command_line.md")).unwrap();
    let cells = page.lines().filter_map(|line| line.split('|').nth(2)?.trim().strip_prefix("`pomp/"));
    cells.map(|rest| format!("pomp/{}", rest.trim_end_matches('`'))).collect()
}

#[test]
fn json_carries_the_schema_that_the_documentation_lists() {
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    let rollout = at("rollout");
    let (data, model) = (recordings(), tiny());
    let mut found = BTreeSet::new();
    let mut run = |arguments: &[&OsStr]| {
        let ran = crate::program::pomp(arguments.iter().chain(&[OsStr::new("--json")]));
        assert_eq!(ran.code, Some(0), "{ran:#?}");
        found.insert(ran.json()["schema"].as_str().unwrap_or_else(|| panic!("{arguments:?}")).to_owned());
    };
    macro_rules! run {
        ($($argument:expr),+ $(,)?) => { run(&[$(OsStr::new(&$argument)),+]) };
    }
    run!("inspect", clip("00_stand"));
    run!("preprocess", clip("00_stand"), "--out", at("data"));
    run!("export", data, "--format", "bvh", "--out", at("bvh"));
    run!("terrain", "validate", "--count", "4");
    run!("phase", "annotate", at("data"), "--model", model);
    run!("phase", "report", data, model, "--out", at("phases"), "--plain-steps", "10");
    run!("kinematic", "report", data, model, "--out", at("kinematic"), "--steps", "1");
    run!(
        "generate",
        "--model",
        model,
        "--seconds",
        "1",
        "--terrain",
        "flat",
        "--no-pictures",
        "--out",
        rollout
    );
    run!(
        "generate",
        "--model",
        model,
        "--seconds",
        "1",
        "--terrain",
        "flat",
        "--scene",
        "meet",
        "--out",
        at("scene")
    );
    run!(
        "generate",
        "--model",
        model,
        "--seconds",
        "1",
        "--terrain",
        "flat",
        "--count",
        "1",
        "--out",
        at("batch")
    );
    run!("replay", rollout.join("rollout.npz"), "--model", model);
    run!("evaluate", recording("00_stand"));
    // These need force plates, minutes, a quiet machine and a strange skeleton; their tests and their code name the schema.
    found.extend(
        ["validate-impulses", "bench", "performance", "rig-infer"].map(|command| format!("pomp/{command}/1")),
    );
    assert_eq!(found, documented());
}

#[test]
fn completions_know_every_command_in_every_shell() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = pomp!("completions", shell).succeeds().stdout;
        for word in ["preprocess", "validate-impulses", "side-by-side", "annotate"] {
            assert!(script.contains(word), "{shell} does not complete {word}");
        }
    }
}

#[test]
fn there_is_a_manual_page_for_every_command() {
    let folder = TempDir::new().unwrap();
    let told = pomp!("man", "--out", folder.path()).succeeds().stdout;
    assert!(told.contains("pomp-generate.1"), "{told}");
    let pages = crate::program::names(folder.path());
    for page in ["pomp.1", "pomp-inspect.1", "pomp-terrain-make.1", "pomp-phase-report.1", "pomp-man.1"] {
        assert!(pages.contains(&page.to_owned()), "{page} is missing in {pages:?}");
    }
    let page = fs::read_to_string(folder.path().join("pomp.1")).unwrap();
    assert!(page.contains("Exit codes: 0 success"), "{page}");
}

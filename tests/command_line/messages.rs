//! What goes to standard error and what to standard output.

use crate::model::tiny;
use crate::pomp;
use crate::program::{clip, recording, skipped, standing_bvh};
use std::fs;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// `pomp` with environment variables.
fn with(variables: &[(&str, &str)], arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_pomp"))
        .args(arguments)
        .env_remove("RUST_LOG")
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// Two rollouts of `seconds`, one after the other.
fn batch(folder: &TempDir, terrain: &str, seconds: &str) -> Vec<String> {
    let words =
        ["generate", "--count", "2", "--threads", "1", "--push", "none", "--control", "walk", "--out"];
    let out = folder.path().join(seconds);
    let own = [
        out.to_str().unwrap(),
        "--model",
        tiny().to_str().unwrap(),
        "--terrain",
        terrain,
        "--seconds",
        seconds,
    ];
    words.iter().chain(&own).map(|word| (*word).to_owned()).collect()
}

#[test]
fn progress_is_lines_on_standard_error_where_there_is_no_terminal() {
    let folder = TempDir::new().unwrap();
    let run = |more: &[&str], terrain: &str, seconds: &str| {
        let words = batch(&folder, terrain, seconds);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let (code, stdout, stderr) = with(&[], &[&words[..], more].concat());
        assert!(code == Some(0) && stdout.contains("2 rollouts of"), "{stdout}{stderr}");
        assert!(!stdout.contains(" of 2 rollouts, "), "{stdout}");
        stderr
    };
    // 36,000 frames: more than two seconds of work, on a fast machine too.
    let stderr = run(&[], "flat", "300");
    let lines: Vec<&str> = stderr.lines().filter(|line| line.starts_with("generate: ")).collect();
    assert!(!lines.is_empty() && lines[0].contains(" of 2 rollouts, "), "{stderr}");

    let small = folder.path().join("small.toml");
    fs::write(&small, "size_m = 4.0\n[shape]\nkind = \"flat\"\n").unwrap();
    let small = small.to_str().unwrap();
    let told = run(&[], small, "6");
    assert!(told.contains("warning: the path leads off") && told.contains("note: the ground"), "{told}");
    let told = run(&["-q"], small, "6");
    assert!(told.contains("warning: the path leads off") && !told.contains("note: "), "{told}");
    assert_eq!(run(&["-qq"], small, "6"), "");
}

#[test]
fn rust_log_stands_above_the_options_and_is_refused_when_it_is_no_list_of_levels() {
    let folder = TempDir::new().unwrap();
    let bad = folder.path().join("bad.bvh");
    fs::write(&bad, "no clip").unwrap();
    let (good, out) = (clip("00_stand"), folder.path().join("data"));
    let words = ["preprocess", good.to_str().unwrap(), bad.to_str().unwrap(), "--out", out.to_str().unwrap()];
    let (code, _, stderr) = with(&[], &words);
    assert!(code == Some(3) && stderr.contains("warning: skipped: "), "{stderr}");
    let (code, _, stderr) = with(&[("RUST_LOG", "off")], &[&words[..], &["-v"]].concat());
    assert_eq!((code, stderr.as_str()), (Some(3), ""));
    let (code, _, stderr) = with(&[("RUST_LOG", "pomp=loud")], &words);
    assert!(code == Some(2) && stderr.contains("RUST_LOG=\"pomp=loud\""), "{stderr}");
}

#[test]
fn details_say_which_clip_they_are_of() {
    let folder = TempDir::new().unwrap();
    let stand = clip("00_stand");
    let ran = pomp!("preprocess", stand, "--out", folder.path(), "-v");
    assert!(ran.code == Some(0) && ran.stderr.contains("debug: pomp_preprocess"), "{ran:#?}");
    assert!(ran.stderr.contains("00_stand"), "{ran:#?}");
}

/// Runs the program on a terminal that `script` makes; `None` where there is no such program.
fn on_a_terminal(variables: &[(&str, &str)], arguments: &str) -> Option<String> {
    let output = Command::new("script")
        .args(["-qec", &format!("{} {arguments}", env!("CARGO_BIN_EXE_pomp")), "/dev/null"])
        .env_remove("RUST_LOG")
        .env_remove("NO_COLOR")
        .env("TERM", "xterm")
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .output();
    match output {
        Ok(output) if output.status.success() => Some(String::from_utf8_lossy(&output.stdout).into_owned()),
        _ => {
            skipped("output on a terminal", "there is no working program `script`");
            None
        }
    }
}

#[test]
fn warnings_are_coloured_on_a_terminal_and_nothing_is_with_no_color() {
    let folder = TempDir::new().unwrap();
    let (small, out) = (folder.path().join("small.toml"), folder.path().join("out"));
    fs::write(&small, "size_m = 4.0\n[shape]\nkind = \"flat\"\n").unwrap();
    let arguments = format!(
        "generate --seconds 6 --no-pictures --terrain {} --model {} --out {}",
        small.display(),
        tiny().display(),
        out.display()
    );
    let Some(coloured) = on_a_terminal(&[], &arguments) else { return };
    assert!(coloured.contains("\u{1b}[1;33mwarning:\u{1b}[0m the path leads off"), "{coloured:?}");
    let Some(plain) = on_a_terminal(&[("NO_COLOR", "1")], &arguments) else { return };
    assert!(plain.contains("warning: the path leads off"), "{plain:?}");
    assert!(!plain.contains("\u{1b}[1;33m") && !plain.contains("\u{1b}[31m"), "{plain:?}");
}

#[test]
fn json_is_all_that_standard_output_holds() {
    let folder = TempDir::new().unwrap();
    let bad = folder.path().join("bad.bvh");
    fs::write(&bad, standing_bvh().replace("Frames: 30", "Frames: thirty")).unwrap();
    let ran = pomp!("inspect", "--json", bad, recording("00_stand")).ends_in_part();
    assert_eq!(ran.json()["files"].as_array().unwrap().len(), 1);
    assert!(ran.stderr.contains("bad.bvh:"), "{ran:#?}");
}

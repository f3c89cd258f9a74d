use crate::model::second_on_the_flat;
use crate::pomp;
use crate::program::{clip, pomp as run, repository};
use std::process::{Command, Stdio};
use tempfile::TempDir;

const COMMANDS: [&[&str]; 26] = [
    &[],
    &["inspect"],
    &["terrain"],
    &["terrain", "make"],
    &["terrain", "validate"],
    &["preprocess"],
    &["export"],
    &["train"],
    &["phase"],
    &["phase", "annotate"],
    &["phase", "report"],
    &["kinematic"],
    &["kinematic", "report"],
    &["generate"],
    &["replay"],
    &["render"],
    &["studio"],
    &["evaluate"],
    &["synthesize"],
    &["bench"],
    &["bench", "performance"],
    &["config"],
    &["config", "show"],
    &["config", "schema"],
    &["completions"],
    &["man"],
];

#[test]
fn every_command_explains_itself_with_examples() {
    for command in COMMANDS {
        let ran = run(command.iter().chain(&["--help"])).succeeds();
        let invocation = ["pomp"].iter().chain(command).copied().collect::<Vec<_>>().join(" ");
        let (usage, examples) = ran.stdout.split_once("Examples:").unwrap_or_else(|| panic!("{command:?}"));
        assert!(usage.contains(&format!("Usage: {invocation}")), "{command:?}: {usage}");
        assert!(examples.contains(&format!("  {invocation}")), "{command:?}: {examples}");
    }
}

#[test]
fn the_examples_name_existing_commands_and_options() {
    for command in COMMANDS {
        let help = run(command.iter().chain(&["--help"])).succeeds().stdout;
        let (_, examples) = help.split_once("Examples:").unwrap();
        for line in examples.lines().filter(|line| line.starts_with("  pomp ")) {
            // Two blanks separate an example from what it is for; `--help` makes it harmless to run.
            let example = line.trim_start().split("  ").next().unwrap().split(" > ").next().unwrap();
            for one in example.split("&&") {
                let words: Vec<&str> = one.split_whitespace().skip(1).collect();
                run(words.iter().chain(&["--help"])).succeeds();
                for file in words.iter().filter(|word| word.starts_with("configs/")) {
                    assert!(repository().join(file).is_file(), "{one}: there is no {file}");
                }
                let options: Vec<&&str> = words.iter().filter(|word| word.starts_with("--")).collect();
                let subcommand: Vec<&str> = words
                    .iter()
                    .copied()
                    .take_while(|word| COMMANDS.iter().any(|c| c.contains(word)))
                    .collect();
                let known = run(subcommand.iter().chain(&["--help"])).succeeds().stdout;
                for option in options {
                    assert!(known.contains(*option), "{one}: there is no {option}");
                }
            }
        }
    }
}

#[test]
fn the_path_that_the_help_shows_is_walked() {
    let help = pomp!("generate", "--help").succeeds().stdout;
    let lines = help.lines().skip_while(|line| !line.starts_with("  [[waypoint]]"));
    let path: Vec<&str> = lines.take_while(|line| line.starts_with("  ")).collect();
    let folder = TempDir::new().unwrap();
    let (file, out) = (folder.path().join("path.toml"), folder.path().join("out"));
    std::fs::write(&file, path.join("\n")).unwrap();
    second_on_the_flat("--control", &file, &out).succeeds();
}

#[test]
fn the_help_names_every_terrain() {
    let presets = pomp_terrain::PRESET_NAMES.join(", ");
    for command in [&["generate"] as &[&str], &["terrain", "make"], &["studio"]] {
        let help = run(command.iter().chain(&["--help"])).succeeds().stdout;
        let words = help.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(&presets), "{command:?} does not name {presets}: {help}");
    }
}

#[test]
fn unknown_commands_and_options_exit_with_2_and_say_how_to_get_help() {
    for arguments in [&["wander"] as &[&str], &["inspect"], &["inspect", "a.bvh", "--wander"], &["--wander"]]
    {
        let ran = run(arguments);
        assert_eq!(ran.code, Some(2), "{ran:#?}");
        assert!(ran.stderr.contains("--help"), "{ran:#?}");
    }
}

#[test]
fn the_version_is_the_packages() {
    assert_eq!(pomp!("--version").succeeds().stdout.trim(), format!("pomp {}", env!("CARGO_PKG_VERSION")));
}

#[test]
fn a_reader_that_leaves_early_is_no_failure() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_pomp"))
        .args(["inspect", "--json"])
        .arg(clip("00_stand"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}

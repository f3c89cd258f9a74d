//! Training that is asked to stop, and training that is extended.

use crate::pomp;
use crate::program::recordings;
use crate::tiny_model::{changed, tiny_changes};
use pomp_train::{Dataset, Stage, Start, TrainConfig, TrainError, TrainEvent};
use serde_json::Value;
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use tempfile::TempDir;
use toml::Value as Toml;

/// A training in this process, which is asked to stop after the `stop_after`-th event. Gives the stage and the step that it was
/// stopped at.
fn trained(
    stages: &[Stage],
    config: &TrainConfig,
    start: Start,
    out: &Path,
    stop_after: Option<usize>,
) -> Option<(&'static str, usize)> {
    let mut dataset = Dataset::open(recordings(), config).unwrap();
    let mut events = 0;
    let mut on_event = |_: &TrainEvent<'_>| {
        events += 1;
        if Some(events) == stop_after { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let device = burn::tensor::Device::flex();
    match pomp_train::train(&mut dataset, config, stages, start, out, &device, &mut on_event) {
        Ok(_) => None,
        Err(TrainError::Stopped { stage, step, .. }) => Some((stage, step)),
        Err(error) => panic!("{error}"),
    }
}

/// The tiny configuration with several epochs and `steps` of the kinematic stage.
fn config(steps: i64, more: &[(&[&str], Toml)]) -> TrainConfig {
    let changes: [(&[&str], Toml); 4] = [
        (&["phase", "training", "epochs"], 3.into()),
        (&["aligned_phase", "training", "epochs"], 3.into()),
        (&["kinematic", "training", "steps"], steps.into()),
        (&["kinematic", "training", "batch_size"], 8.into()),
    ];
    let all: Vec<(&[&str], Toml)> =
        tiny_changes().into_iter().chain(changes).chain(more.iter().cloned()).collect();
    toml::from_str(&changed(&all)).unwrap()
}

const ALL: [Stage; 3] = [Stage::Phase, Stage::AlignedPhase, Stage::Kinematic];
const NETWORKS: [&str; 3] = ["phase.safetensors", "aligned_phase.safetensors", "kinematic.safetensors"];

fn metrics(out: &Path) -> String {
    fs::read_to_string(out.join("metrics.csv")).unwrap()
}

#[track_caller]
fn assert_same(a: &Path, b: &Path, files: &[&str]) {
    for name in files {
        assert!(fs::read(a.join(name)).unwrap() == fs::read(b.join(name)).unwrap(), "{name} differs");
    }
}

#[test]
fn a_training_that_is_stopped_in_any_stage_and_resumed_equals_one_that_was_not() {
    let folder = TempDir::new().unwrap();
    // Without rollouts of its own, which begin anew where a kinematic stage is stopped.
    let no_rollouts: (&[&str], Toml) = (&["kinematic", "states", "rollout_share"], 0.0.into());
    let config = config(150, &[no_rollouts]);
    let [whole, stopped] = ["whole", "stopped"].map(|name| folder.path().join(name));
    assert_eq!(trained(&ALL, &config, Start::Anew, &whole, None), None);

    // By ones, and by a number that has no factor in common with an epoch: within epochs, at their ends, between reports.
    let mut stops = Vec::new();
    let mut start = Start::Anew;
    for stop_after in [1, 1, 7, 11, 13, 17, 19, 23, 29, 41, 53, 97].into_iter().cycle() {
        match trained(&ALL, &config, start, &stopped, Some(stop_after)) {
            Some(stop) => stops.push(stop),
            None => break,
        }
        start = Start::Resume;
        assert!(stops.len() < 200, "it does not get on: {stops:?}");
    }
    println!("stopped at {stops:?}");
    for stage in ALL {
        let steps: Vec<usize> =
            stops.iter().filter(|(name, _)| *name == stage.name()).map(|(_, step)| *step).collect();
        assert!(steps.len() >= 2 && steps.is_sorted(), "{}: {steps:?}", stage.name());
    }
    assert!(stops.iter().any(|(stage, step)| *stage == "kinematic" && step % 100 != 0), "{stops:?}");
    assert_same(&whole, &stopped, &NETWORKS);
    assert_eq!(metrics(&whole), metrics(&stopped));
}

#[test]
fn reports_hold_the_mean_and_the_smoothed_loss() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("model");
    assert_eq!(trained(&ALL, &config(150, &[]), Start::Anew, &out, None), None);
    let metrics = metrics(&out);
    for name in [
        "phase,train_mse",
        "aligned-phase,train_loss",
        "aligned-phase,train_code_distance",
        "kinematic,train_loss",
    ] {
        let (stage, name) = name.split_once(',').unwrap();
        let count = |name: &str| {
            let of_stage = metrics.lines().filter(|line| line.starts_with(&format!("{stage},")));
            of_stage.filter(|line| line.split(',').nth(2) == Some(name)).count()
        };
        let (means, smoothed) = (count(name), count(&format!("{name}_smoothed")));
        assert!(means > 1 && means == smoothed, "{stage} {name}: {means}, {smoothed}\n{metrics}");
    }
}

#[test]
fn more_epochs_extend_a_phase_stage_to_what_it_would_have_been() {
    let folder = TempDir::new().unwrap();
    let [whole, extended] = ["whole", "extended"].map(|name| folder.path().join(name));
    let long = config(12, &[]);
    let short = config(12, &[(&["phase", "training", "epochs"], 1.into())]);
    assert_eq!(trained(&[Stage::Phase], &long, Start::Anew, &whole, None), None);
    assert_eq!(trained(&[Stage::Phase], &short, Start::Anew, &extended, None), None);
    assert_ne!(metrics(&whole), metrics(&extended));
    assert_eq!(trained(&[Stage::Phase], &long, Start::Resume, &extended, None), None);
    assert_same(&whole, &extended, &["phase.safetensors", "metrics.csv", "model.json"]);
}

#[test]
fn more_steps_extend_a_kinematic_stage_and_other_changes_are_refused() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("model");
    assert_eq!(trained(&ALL, &config(150, &[]), Start::Anew, &out, None), None);
    let before = metrics(&out);
    let weights = fs::read(out.join("kinematic.safetensors")).unwrap();

    let path = folder.path().join("tiny.toml");
    let resumed = |config: &TrainConfig, stage: &str| {
        fs::write(&path, toml::to_string(config).unwrap()).unwrap();
        pomp!("train", stage, "--data", recordings(), "--out", out, "--config", path, "--resume")
    };
    resumed(&config(140, &[]), "kinematic").refuses(&["150 steps", "asks for 140", "--overwrite"]);
    resumed(&config(300, &[(&["kinematic", "training", "learning_rate"], 1e-5.into())]), "kinematic")
        .refuses(&["the kinematic stage", "another configuration", "--overwrite"]);
    // The later stages rest on the phases as they are.
    resumed(&config(150, &[(&["phase", "training", "epochs"], 4.into())]), "all").refuses(&[
        "the aligned-phase stage",
        "another configuration",
        "steps or epochs",
    ]);
    assert!(fs::read(out.join("kinematic.safetensors")).unwrap() == weights, "a refusal changes nothing");
    assert_eq!(metrics(&out), before);

    resumed(&config(300, &[]), "all").succeeds();
    let after = metrics(&out);
    let own = after.strip_prefix(&before).expect("what was noted before stays");
    let steps: Vec<usize> =
        own.lines().map(|line| line.split(',').nth(1).unwrap().parse().unwrap()).collect();
    assert!(steps.iter().all(|step| (151..=300).contains(step)) && steps.contains(&300), "{own}");
    assert!(own.lines().all(|line| line.starts_with("kinematic,")), "the other stages had ended: {own}");
    assert!(fs::read(out.join("kinematic.safetensors")).unwrap() != weights, "it has learned on");
    let model: Value = serde_json::from_slice(&fs::read(out.join("model.json")).unwrap()).unwrap();
    assert_eq!(model["config"]["kinematic"]["training"]["steps"], 300);
}

/// Also a fine-tuning, which still says what it began with.
#[test]
fn an_extended_fine_tuning_names_the_model_that_it_began_with() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("model");
    let tuning = |steps| config(steps, &[(&["name"], "tuned".into())]);
    assert_eq!(trained(&ALL, &config(20, &[]), Start::Anew, &out, None), None);
    assert_eq!(trained(&[Stage::Kinematic], &tuning(30), Start::FineTune, &out, None), None);
    assert_eq!(trained(&[Stage::Kinematic], &tuning(60), Start::ResumeFineTune, &out, None), None);
    let model: Value = serde_json::from_slice(&fs::read(out.join("model.json")).unwrap()).unwrap();
    assert_eq!(model["config"]["kinematic"]["training"]["steps"], 60);
    assert_eq!(model["fine_tuned_from"]["config_name"], "tiny");
    assert_eq!(model["fine_tuned_from"]["config"]["kinematic"]["training"]["steps"], 20);
}

/// What a shell does on Ctrl-C.
#[cfg(unix)]
#[test]
fn an_interrupt_saves_a_checkpoint_and_prints_the_command_that_goes_on() {
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    let folder = TempDir::new().unwrap();
    let (path, out) = (folder.path().join("it's tiny.toml"), folder.path().join("model"));
    fs::write(&path, toml::to_string(&config(1_000_000, &[])).unwrap()).unwrap();
    let training = Command::new(env!("CARGO_BIN_EXE_pomp"))
        .args(["train", "all", "--data"])
        .arg(recordings())
        .arg("--out")
        .arg(&out)
        .arg("--config")
        .arg(&path)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let begun = Instant::now();
    while !fs::read_to_string(out.join("metrics.csv")).is_ok_and(|text| text.contains("\nkinematic,100,")) {
        assert!(begun.elapsed() < Duration::from_secs(300), "the kinematic stage does not begin");
        std::thread::sleep(Duration::from_millis(2));
    }
    assert!(Command::new("kill").args(["-INT", &training.id().to_string()]).status().unwrap().success());
    let ended = training.wait_with_output().unwrap();
    let stderr = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(130), "{stderr}");
    let state = fs::read(out.join("checkpoints/kinematic/state.json")).expect("it has left a checkpoint");
    let step = serde_json::from_slice::<Value>(&state).unwrap()["step"].as_u64().unwrap();
    assert!((100..1_000_000).contains(&step), "{step}");
    assert!(stderr.contains(&format!("stopped after step {step} of the kinematic stage")), "{stderr}");

    // The command as it stands, in a shell, with an end that it reaches.
    let command = stderr.lines().rev().find(|line| line.contains("pomp train")).expect("a command").trim();
    let folder_of_pomp = Path::new(env!("CARGO_BIN_EXE_pomp")).parent().unwrap();
    let search = format!("{}:{}", folder_of_pomp.display(), std::env::var("PATH").unwrap());
    let shorter = format!("{command} --set kinematic.training.steps={}", step + 50);
    let resumed = Command::new("sh").args(["-c", &shorter]).env("PATH", search).output().unwrap();
    assert!(resumed.status.success(), "{}", String::from_utf8_lossy(&resumed.stderr));
    assert!(out.join("kinematic.safetensors").is_file());
    let told = String::from_utf8(resumed.stdout).unwrap();
    assert!(told.contains(&format!("kinematic {0}/{0}", step + 50)), "{told}");
}

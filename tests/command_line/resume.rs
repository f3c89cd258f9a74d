//! Training that is killed and goes on, training that ends early, and training that is only rehearsed. What the optimiser
//! and the averages hold lives in checkpoints alone, so the files of a run that was killed show whether all of it is there.

use crate::pomp;
use crate::program::{names, recordings};
use crate::tiny_model::{changed, tiny_changes};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use toml::Value as Toml;

/// A configuration in `folder` whose phase stage has 12 epochs and whose kinematic stage has a checkpoint at 1000 of
/// 1200 steps, with further changes.
fn config(folder: &Path, more: &[(&[&str], Toml)]) -> PathBuf {
    let changes: [(&[&str], Toml); 4] = [
        (&["phase", "training", "epochs"], 12.into()),
        (&["aligned_phase", "training", "epochs"], 4.into()),
        (&["kinematic", "training", "steps"], 1200.into()),
        (&["kinematic", "training", "batch_size"], 8.into()),
    ];
    let all: Vec<(&[&str], Toml)> =
        tiny_changes().into_iter().chain(changes).chain(more.iter().cloned()).collect();
    let path = folder.join("resumed.toml");
    fs::write(&path, changed(&all)).unwrap();
    path
}

fn patience_of_phase(epochs: i64) -> Toml {
    let patience = [("phase", epochs), ("aligned_phase", 0), ("kinematic", 0)];
    Toml::Table(patience.into_iter().map(|(stage, value)| (stage.to_owned(), value.into())).collect())
}

fn training(stage: &str, config: &Path, out: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pomp"));
    command
        .args(["train", stage, "--data"])
        .arg(recordings())
        .arg("--out")
        .arg(out)
        .arg("--config")
        .arg(config);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Kills a training as soon as its stage has a checkpoint, with a signal that it cannot see coming (9, on Unix). False
/// when it had ended before the signal came.
fn kill_at_checkpoint(training: Command, state: &Path) -> bool {
    kill_when(training, state, || state.exists())
}

/// The same as soon as its checkpoint, whose state is in the file `state`, is as asked for.
fn kill_when(mut training: Command, state: &Path, is_reached: impl Fn() -> bool) -> bool {
    let mut child: Child = training.spawn().expect("the program starts");
    let begun = Instant::now();
    while !is_reached() && child.try_wait().unwrap().is_none() {
        assert!(begun.elapsed() < Duration::from_secs(600), "no such checkpoint at {}", state.display());
        std::thread::sleep(Duration::from_millis(2));
    }
    assert!(state.exists(), "training ended without a checkpoint at {}", state.display());
    // It may have ended by itself meanwhile, which is no error.
    child.kill().unwrap();
    !child.wait().unwrap().success()
}

fn step_of(state: &Path) -> u64 {
    serde_json::from_slice::<Value>(&fs::read(state).unwrap()).unwrap()["step"].as_u64().unwrap()
}

#[track_caller]
fn assert_same_files(a: &Path, b: &Path, files: &[&str]) {
    for name in files {
        assert!(fs::read(a.join(name)).unwrap() == fs::read(b.join(name)).unwrap(), "{name} differs");
    }
}

#[test]
fn a_training_that_was_killed_and_resumed_equals_one_that_was_not() {
    let folder = TempDir::new().unwrap();
    let config = config(folder.path(), &[]);
    assert_killed_equals_whole(folder.path(), &config);

    // Another configuration would go on with weights that are not its own.
    let killed = folder.path().join("killed");
    let other = changed(&tiny_changes());
    let path = folder.path().join("other.toml");
    fs::write(&path, other).unwrap();
    pomp!("train", "all", "--data", recordings(), "--out", killed, "--config", path, "--resume")
        .refuses(&["another configuration", "checkpoints"]);
}

#[test]
fn so_does_one_whose_recordings_take_turns_in_memory() {
    let folder = TempDir::new().unwrap();
    // Every epoch, and steps 1001 to 1200 of the kinematic stage, see other recordings than those before.
    let config = config(folder.path(), &[(&["resident_recordings"], 1.into())]);
    assert_killed_equals_whole(folder.path(), &config);
    let out = folder.path().join("told");
    let told = pomp!("train", "phase", "--data", recordings(), "--out", out, "--config", config).succeeds();
    assert!(told.stdout.contains("\n1 of them in memory at a time\n"), "{}", told.stdout);
}

/// Also a fine-tuning in the closed loop, whose rollouts have bodies and grounds of their own, with gradients through time.
#[test]
fn so_does_a_fine_tuning_in_the_loop_and_it_says_what_it_began_with() {
    let folder = TempDir::new().unwrap();
    let [base, whole, killed] = ["base", "whole", "killed"].map(|name| folder.path().join(name));
    let short = config(folder.path(), &[(&["kinematic", "training", "steps"], 40.into())]);
    assert!(training("all", &short, &base).status().unwrap().success());
    let files = ["model.json", "phase.safetensors", "aligned_phase.safetensors", "kinematic.safetensors"];
    let begin_again = |out: &Path| {
        let _ = fs::remove_dir_all(out);
        fs::create_dir(out).unwrap();
        for name in files {
            fs::copy(base.join(name), out.join(name)).unwrap();
        }
    };
    let rollouts = ["kinematic", "simulated_rollouts"];
    let config = config(
        folder.path(),
        &[
            (&["name"], "practised".into()),
            (&["kinematic", "training", "kept_of_first"], 0.4.into()),
            (&[rollouts[0], rollouts[1], "share"], 0.3.into()),
            (&[rollouts[0], rollouts[1], "frames"], 20.into()),
            (&["kinematic", "unrolling", "windows"], 2.into()),
            (&["kinematic", "unrolling", "frames"], 3.into()),
        ],
    );
    let fine_tuning = |out: &Path, resumed: bool| {
        let mut command = training("kinematic", &config, out);
        command.arg("--fine-tune");
        if resumed {
            command.arg("--resume");
        }
        command
    };
    begin_again(&whole);
    assert!(fine_tuning(&whole, false).status().unwrap().success());
    let state = killed.join("checkpoints/kinematic/state.json");
    let on_its_way = (0..5).any(|_| {
        begin_again(&killed);
        kill_at_checkpoint(fine_tuning(&killed, false), &state) && step_of(&state) == 1000
    });
    assert!(on_its_way, "it was killed between its checkpoint and its end");
    pomp!("train", "kinematic", "--data", recordings(), "--out", killed, "--config", config, "--resume")
        .refuses(&["kinematic.training.kept_of_first", "--fine-tune"]);
    assert!(fine_tuning(&killed, true).status().unwrap().success());
    assert_same_files(&whole, &killed, &files);

    let model: Value = serde_json::from_slice(&fs::read(whole.join("model.json")).unwrap()).unwrap();
    assert_eq!(model["config_name"], "practised");
    let first = &model["fine_tuned_from"];
    assert_ne!(first["config_name"], "practised");
    assert_eq!(first["config"]["kinematic"]["training"]["steps"], 40);
    assert_eq!(first["files_sha256"].as_str().unwrap().len(), 64);
}

fn assert_killed_equals_whole(folder: &Path, config: &Path) {
    let [whole, killed] = ["whole", "killed"].map(|name| folder.join(name));
    assert!(training("all", config, &whole).status().unwrap().success());

    let state = |stage: &str| killed.join("checkpoints").join(stage).join("state.json");
    assert!(kill_at_checkpoint(training("all", config, &killed), &state("phase")));
    let first = step_of(&state("phase"));
    // On a busy machine the signal may come too late.
    let on_its_way = (0..5).any(|_| {
        let checkpoints = killed.join("checkpoints/kinematic");
        if checkpoints.exists() {
            fs::remove_dir_all(&checkpoints).unwrap();
        }
        let mut resumed = training("all", config, &killed);
        resumed.arg("--resume");
        kill_at_checkpoint(resumed, &state("kinematic")) && step_of(&state("kinematic")) == 1000
    });
    assert!(on_its_way, "the kinematic stage was killed between its checkpoint and its end");
    assert!(step_of(&state("phase")) > first, "the phase stage went on");
    assert!(training("all", config, &killed).arg("--resume").status().unwrap().success());

    let files = [
        "model.json",
        "phase.safetensors",
        "aligned_phase.safetensors",
        "kinematic.safetensors",
        "metrics.csv",
    ];
    assert_same_files(&whole, &killed, &files);
    // Also what the next step would start from.
    for stage in ["phase", "aligned-phase", "kinematic"] {
        let slot = |run: &Path| {
            let step = step_of(&run.join("checkpoints").join(stage).join("state.json"));
            run.join("checkpoints").join(stage).join(format!("step_{step}"))
        };
        assert_same_files(&slot(&whole), &slot(&killed), &["weights.safetensors", "average.safetensors"]);
    }

    assert_eq!(crate::killed::unfinished(&killed), 0, "what was being written when it was killed is gone");

    // Nothing is left to do, and nothing is lost by asking for it.
    assert!(training("all", config, &killed).arg("--resume").status().unwrap().success());
    assert_same_files(&whole, &killed, &files);
}

/// The walk is held out, the stand and the jog are not.
const HOLD_OUT_ONE: i64 = 3;

#[test]
fn early_stopping_keeps_the_weights_that_measured_best() {
    let folder = TempDir::new().unwrap();
    // A rate at which the error comes down unevenly.
    let config = config(
        folder.path(),
        &[
            (&["held_out_every"], HOLD_OUT_ONE.into()),
            (&["phase", "training", "learning_rate"], 3e-3.into()),
            (&["early_stopping"], patience_of_phase(1)),
        ],
    );
    let out = folder.path().join("model");
    assert!(training("phase", &config, &out).status().unwrap().success());
    let metrics = fs::read_to_string(out.join("metrics.csv")).unwrap();
    let errors: Vec<f32> = metrics
        .lines()
        .filter(|line| line.contains(",held_out_mse,"))
        .map(|line| line.rsplit(',').next().unwrap().parse().unwrap())
        .collect();
    let best = errors.iter().copied().fold(f32::INFINITY, f32::min);
    println!("held-out errors by epoch: {errors:?}");
    assert!(errors.len() < 12, "the stage ended before its 12 epochs: {errors:?}");
    assert!(errors.last().is_some_and(|last| *last > best), "{errors:?}");
    let model: Value = serde_json::from_slice(&fs::read(out.join("model.json")).unwrap()).unwrap();
    let kept = model["metrics"]["held_out_phase_mse"].as_f64().unwrap() as f32;
    assert_eq!(kept, best);
    let slot = out.join("checkpoints/phase");
    assert!(slot.join("best.safetensors").is_file());

    let before = fs::read(out.join("phase.safetensors")).unwrap();
    assert!(training("phase", &config, &out).arg("--resume").status().unwrap().success());
    assert!(fs::read(out.join("phase.safetensors")).unwrap() == before, "a stage that has ended stays so");
}

#[test]
fn rejects_early_stopping_with_nothing_to_measure_it_by() {
    let folder = TempDir::new().unwrap();
    let config = config(folder.path(), &[(&["early_stopping"], patience_of_phase(1))]);
    let out = folder.path().join("model");
    pomp!("train", "phase", "--data", recordings(), "--out", out, "--config", config)
        .refuses(&["early_stopping", "held_out_every"]);
}

#[test]
fn rejects_a_learning_rate_that_explodes_and_names_step_batch_and_weight() {
    let folder = TempDir::new().unwrap();
    let config = config(folder.path(), &[(&["phase", "training", "learning_rate"], 1e38.into())]);
    let out = folder.path().join("model");
    pomp!("train", "phase", "--data", recordings(), "--out", out, "--config", config).refuses(&[
        "step 2",
        "batch 2 of epoch 1, seed 1",
        "the largest is ",
        "no checkpoint yet",
        "learning_rate",
    ]);
}

#[test]
fn a_dry_run_tells_sizes_and_times_and_writes_nothing() {
    let folder = TempDir::new().unwrap();
    let config = config(folder.path(), &[]);
    let out = folder.path().join("model");
    let ran = pomp!(
        "train",
        "all",
        "--data",
        recordings(),
        "--out",
        out,
        "--config",
        config,
        "--dry-run",
        "--json"
    )
    .succeeds();
    assert_eq!(names(folder.path()), ["resumed.toml"], "nothing is written");
    let said = ran.stdout.lines().last().unwrap();
    let said: Value = serde_json::from_str(said).unwrap();
    let stages = said["stages"].as_array().unwrap();
    assert_eq!(stages.len(), 3);
    assert_eq!(stages[2]["steps"], 1200);
    for stage in stages {
        assert!(stage["step_s"].as_f64().unwrap() > 0.0, "{stage}");
        assert!(
            stage["modules"].as_object().unwrap().values().all(|count| count.as_u64().unwrap() > 0),
            "{stage}"
        );
    }
    assert!(said["seconds"].as_f64().unwrap() > 0.0 && said["memory_bytes"].as_u64().unwrap() > 0);

    // The steps that are promised are those that training reports.
    let trained = pomp!("train", "phase", "--data", recordings(), "--out", out, "--config", config, "--json")
        .succeeds();
    let report: Value = serde_json::from_str(trained.stdout.lines().last().unwrap()).unwrap();
    assert_eq!(report["steps"], stages[0]["steps"]);
}

#[test]
fn every_kind_of_ablation_trains() {
    let folder = TempDir::new().unwrap();
    let changes: [([&str; 2], Toml); 5] = [
        (["layout", "phases"], "none".into()),
        (["network", "experts"], 1.into()),
        (["network", "expert_outputs"], "plain".into()),
        (["network", "blend"], "before_decoder".into()),
        (["layout", "rotations"], "none".into()),
    ];
    for ([section, field], value) in changes {
        let path = ["kinematic", section, field];
        let off: (&[&str], Toml) = (&["kinematic", "simulated_rollouts", "share"], 0.0.into());
        let config = config(folder.path(), &[(&path, value), off]);
        let out = folder.path().join("model");
        pomp!("train", "kinematic", "--data", recordings(), "--out", out, "--config", config, "--dry-run")
            .succeeds();
    }
}

#[test]
fn rejects_simulated_rollouts_without_rotations_to_aim_at() {
    let folder = TempDir::new().unwrap();
    let (rotations, share): (&[&str], &[&str]) =
        (&["kinematic", "layout", "rotations"], &["kinematic", "simulated_rollouts", "share"]);
    let config = config(folder.path(), &[(rotations, "none".into()), (share, 0.3.into())]);
    let out = folder.path().join("model");
    pomp!("train", "all", "--data", recordings(), "--out", out, "--config", config)
        .refuses(&["kinematic.simulated_rollouts.share", "a simulated body needs rotations"]);
}

#[test]
fn rejects_gradients_through_time_where_the_next_state_is_not_made_of_rotations_and_changes() {
    let folder = TempDir::new().unwrap();
    let windows: &[&str] = &["kinematic", "unrolling", "windows"];
    for (field, value) in [("rotations", "none"), ("output", "absolute")] {
        let path = ["kinematic", "layout", field];
        let config = config(folder.path(), &[(&path, value.into()), (windows, 2.into())]);
        let out = folder.path().join("model");
        pomp!("train", "all", "--data", recordings(), "--out", out, "--config", config)
            .refuses(&["kinematic.unrolling.windows", "the next state is made of rotations and changes"]);
    }
}

/// Whether it is killed before the fine-tuning has a checkpoint, or after.
#[test]
fn a_training_and_its_fine_tuning_by_one_command_equal_those_by_two_also_when_resumed() {
    let folder = TempDir::new().unwrap();
    let [first, second, two, one] = ["first", "second", "two", "one"].map(|name| folder.path().join(name));
    for folder in [&first, &second] {
        fs::create_dir(folder).unwrap();
    }
    let short = config(&first, &[(&["kinematic", "training", "steps"], 40.into())]);
    let tuning = config(&second, &[(&["name"], "tuned".into())]);
    assert!(training("all", &short, &two).status().unwrap().success());
    assert!(training("kinematic", &tuning, &two).arg("--fine-tune").status().unwrap().success());

    let by_one = || {
        let mut command = training("all", &short, &one);
        command.arg("--then").arg(&tuning);
        command
    };
    let state = one.join("checkpoints/kinematic/state.json");
    for reached in [40, 1000] {
        let on_its_way = (0..5).any(|_| {
            let _ = fs::remove_dir_all(&one);
            kill_when(by_one(), &state, || state.exists() && step_of(&state) == reached)
                && step_of(&state) == reached
        });
        assert!(on_its_way, "it was killed after step {reached} and before the next checkpoint");
        let resumed = by_one().arg("--resume").stderr(Stdio::piped()).output().unwrap();
        assert!(resumed.status.success(), "{}", String::from_utf8_lossy(&resumed.stderr));
        let files = ["model.json", "phase.safetensors", "aligned_phase.safetensors", "kinematic.safetensors"];
        assert_same_files(&two, &one, &files);
    }
}

#[test]
fn a_dry_run_tells_the_fine_tunings_too_and_settings_go_to_all_trainings() {
    let folder = TempDir::new().unwrap();
    let config = config(folder.path(), &[]);
    let (set, out) = ("kinematic.training.steps=77", folder.path().join("model"));
    let ran = pomp!(
        "train",
        "all",
        "--data",
        recordings(),
        "--out",
        out,
        "--config",
        config,
        "--then",
        config,
        "--set",
        set,
        "--dry-run"
    )
    .succeeds();
    let told = |what: &str| ran.stdout.matches(what).count();
    assert_eq!([told("phase: "), told("kinematic: "), told(" 77 steps on ")], [2, 2, 2], "{}", ran.stdout);
    assert_eq!(names(folder.path()), ["resumed.toml"], "nothing is written");
}

#[test]
fn rejects_a_fine_tuning_after_a_training_without_a_kinematic_module() {
    pomp!("train", "phase", "--data", "nowhere", "--out", "nowhere", "--then", "some.toml")
        .refuses(&["--then", "pomp train all"]);
}

#[test]
fn rejects_keeping_first_weights_where_nothing_is_fine_tuned() {
    let folder = TempDir::new().unwrap();
    let config = config(folder.path(), &[(&["kinematic", "training", "kept_of_first"], 0.3.into())]);
    let out = folder.path().join("model");
    pomp!("train", "all", "--data", recordings(), "--out", out, "--config", config)
        .refuses(&["kinematic.training.kept_of_first", "--fine-tune"]);
}

#[cfg(not(feature = "cuda"))]
#[test]
fn rejects_a_card_when_it_was_built_for_none() {
    pomp!("train", "all", "--data", "nowhere", "--out", "nowhere", "--device", "cuda:1")
        .refuses(&["built without the cuda feature", "cargo build --release --features cuda"]);
}

#[cfg(feature = "cuda")]
#[test]
fn rejects_a_card_that_is_not_there() {
    pomp!("train", "all", "--data", "nowhere", "--out", "nowhere", "--device", "cuda:99")
        .refuses(&["card", "driver"]);
}

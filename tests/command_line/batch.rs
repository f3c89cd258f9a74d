//! `pomp generate --count` and `pomp replay`, as a person or a script runs them.

use crate::model::tiny;
use crate::pomp;
use crate::program::{Ran, names};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Rollouts of a second by the tiny model into `out`.
fn batch(out: &Path, more: &[&str]) -> Ran {
    let common = ["generate", "--model", tiny().to_str().unwrap()];
    let place = ["--out", out.to_str().unwrap()];
    let second = ["--seconds=1"];
    let length: &[&str] = if more.iter().any(|word| word.starts_with("--seconds")) { &[] } else { &second };
    crate::program::pomp(common.iter().chain(&place).chain(length).chain(more))
}

#[test]
fn a_batch_is_one_command_and_is_a_dataset_whose_rollouts_replay() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("rollouts");
    let told = batch(&out, &["--count", "3", "--random", "--threads", "2", "--json"]).succeeds().json();
    let made = &told["batch"];
    assert_eq!((&made["rollouts"], &made["made"], &made["threads"]), (&3.into(), &3.into(), &2.into()));
    assert!(made["characters_in_real_time_per_core"].as_f64().unwrap() > 0.0);
    assert_eq!(
        names(&out),
        ["manifest.json", "metrics.json", "rollout_0000.npz", "rollout_0001.npz", "rollout_0002.npz"]
    );
    let again = batch(&out, &["--count", "3", "--random"]).succeeds().stdout;
    assert!(again.contains("3 were there"), "{again}");

    let [first, third] = ["rollout_0000.npz", "rollout_0002.npz"].map(|name| out.join(name));
    let copy = folder.path().join("copy.npz");
    let replayed = pomp!("replay", first, third, "--model", tiny()).succeeds().stdout;
    assert_eq!(replayed.matches("bit for bit").count(), 2, "{replayed}");
    let told = pomp!("replay", first, "--model", tiny(), "--out", copy, "--json").succeeds().json();
    assert_eq!((&told["rollouts"][0]["same"], &told["rollouts"][0]["frames"]), (&true.into(), &60.into()));
    assert!(fs::read(first).unwrap() == fs::read(copy).unwrap());

    let inspected = pomp!("inspect", out).succeeds().stdout;
    assert!(inspected.contains("3 recordings"), "{inspected}");
}

#[test]
fn rejects_batches_that_make_no_sense() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    batch(&out, &["--count", "0"]).misuses(&["--count", "'0'"]);
    batch(&out, &["--count", "1", "--threads", "0"]).misuses(&["--threads", "'0'"]);
    batch(&out, &["--count", "1", "--seconds=-1"]).misuses(&["--seconds"]);
    let config = folder.path().join("batch.toml");
    fs::write(&config, "controls = [\"moonwalk\"]\nground = []\n").unwrap();
    batch(&out, &["--count", "1", "--random", config.to_str().unwrap()]).refuses(&["batch.toml", "moonwalk"]);
    fs::write(&config, "controls = [\"walk\"]\nground = []\n").unwrap();
    batch(&out, &["--count", "1", "--random", config.to_str().unwrap()]).refuses(&["ground"]);
    for usage in [
        &["--random"] as &[&str],
        &["--count", "1", "--random", "--terrain", "flat"],
        &["--count", "1", "--clock"],
        &["--count", "-1"],
        &["--threads", "2"],
    ] {
        assert_eq!(batch(&out, usage).code, Some(2), "{usage:?}");
    }
    assert!(!out.exists());
    batch(&out, &["--count", "1", "--terrain", "flat"]).succeeds();
    batch(&out, &["--count", "1", "--terrain", "flat", "--seed", "9"]).refuses(&[
        "first_seed",
        "0 there, 9 asked for",
        "--out",
    ]);
}

#[test]
fn rejects_a_replay_by_another_model_or_of_what_is_no_rollout() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    batch(&out, &["--no-pictures", "--terrain", "flat"]).succeeds();
    let rollout = out.join("rollout.npz");
    pomp!("replay", rollout).refuses(&["rollout.npz", "hash", "--model"]);
    pomp!("replay", crate::program::recording("00_stand"), "--model", tiny())
        .refuses(&["contains no recipe", "generate it again"]);
    pomp!("replay", rollout, rollout, "--model", tiny(), "--out", folder.path().join("x.npz"))
        .misuses(&["--out"]);

    let mut changed = pomp_formats::read_recording(&rollout).unwrap();
    changed.simulation.as_mut().unwrap().assist_torque[30].y += 1.0;
    pomp_formats::write_recording(&rollout, &changed).unwrap();
    let ran = pomp!("replay", rollout, "--model", tiny());
    assert_eq!(ran.code, Some(1), "{ran:#?}");
    assert!(ran.stdout.contains("from frame 30") && ran.stdout.contains("assist_torque"), "{ran:#?}");
}

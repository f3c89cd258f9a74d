//! `pomp evaluate` of files and folders side by side, and the metrics of batches.

use crate::model::tiny;
use crate::pomp;
use crate::program::{Ran, clip, names, recording};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Rollouts of two seconds by the tiny model.
fn batch(out: &Path, more: &[&str]) -> Ran {
    let common = ["generate", "--model", tiny().to_str().unwrap(), "--terrain", "flat", "--seconds", "2"];
    crate::program::pomp(common.iter().chain(&["--out", out.to_str().unwrap()]).chain(more))
}

#[test]
fn a_folder_is_a_column_of_means_and_columns_of_one_name_are_told_apart() {
    let folder = TempDir::new().unwrap();
    let [a, b] = ["a", "b"].map(|name| folder.path().join(name).join("walks"));
    batch(&a, &["--count", "3"]).succeeds();
    batch(&b, &["--count", "2", "--seed", "40"]).succeeds();
    let told = pomp!("evaluate", a, b, recording("11_walk")).succeeds().stdout;
    let head = told.lines().next().unwrap();
    for title in ["a/walks (n = 3)", "b/walks (n = 2)", "(n = 1)"] {
        assert!(head.contains(title), "{title} is missing in {head}");
    }
    assert!(told.lines().any(|line| line.starts_with("root_speed_m_s") && line.contains(" ± ")), "{told}");

    let json = pomp!("evaluate", a, b, "--json").succeeds().json();
    let column = &json["columns"][0];
    assert_eq!((&column["title"], json["columns"].as_array().unwrap().len()), (&"a/walks".into(), 2));
    let motions = column["motions"].as_array().unwrap();
    let speeds: Vec<f64> =
        motions.iter().map(|motion| motion["metrics"]["root_speed_m_s"].as_f64().unwrap()).collect();
    assert_eq!(speeds.len(), 3);
    let mean = &column["summary"]["root_speed_m_s"];
    assert!((mean["mean"].as_f64().unwrap() - speeds.iter().sum::<f64>() / 3.0).abs() < 1e-9, "{mean}");
    assert!(mean["half_interval_95"].as_f64().unwrap() >= 0.0 && mean["count"] == 3, "{mean}");
}

#[test]
fn a_preprocessed_clip_is_measured_as_it_is_or_as_its_replay() {
    let track = |more: &[&str]| {
        let ran = crate::program::pomp(
            ["evaluate", recording("11_walk").to_str().unwrap(), "--json"].iter().chain(more),
        );
        let json = ran.succeeds().json();
        let motion = &json["columns"][0]["motions"][0];
        (motion["track"].clone(), motion["metrics"]["propulsion_feet_share"].is_null())
    };
    assert_eq!(track(&[]), ("character".into(), true));
    assert_eq!(track(&["--simulated"]), ("simulated".into(), false));
    pomp!("evaluate", clip("00_stand"), "--simulated").refuses(&["simulated"]);
}

#[test]
fn a_folder_of_clips_is_measured_and_one_of_nothing_is_refused() {
    let folder = TempDir::new().unwrap();
    let inner = folder.path().join("clips/inner");
    fs::create_dir_all(&inner).unwrap();
    pomp!("evaluate", folder.path()).refuses(&["no recordings", ".bvh"]);
    fs::copy(clip("00_stand"), inner.join("stand.bvh")).unwrap();
    let told = pomp!("evaluate", folder.path().join("clips")).succeeds().stdout;
    assert!(told.contains("clips (n = 1)"), "{told}");
    fs::write(inner.join("bad.bvh"), "no clip").unwrap();
    let ran = pomp!("evaluate", folder.path().join("clips")).ends_in_part();
    assert!(ran.stdout.contains("clips (n = 1)") && ran.stderr.contains("bad.bvh:1:"), "{ran:#?}");
}

#[test]
fn a_batch_measures_each_rollout_and_draws_them_when_asked_also_later() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let json = batch(&out, &["--count", "2", "--json"]).succeeds().json();
    assert_eq!(names(&out), ["manifest.json", "metrics.json", "rollout_0000.npz", "rollout_0001.npz"]);
    let written: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(out.join("metrics.json")).unwrap()).unwrap();
    assert_eq!(written["schema"], "pomp/rollout-metrics/1");
    assert_eq!((&written["rollouts"], &written["summary"]), (&json["rollouts"], &json["summary"]));
    let evaluated = pomp!("evaluate", out.join("rollout_0001.npz"), "--json").succeeds().json();
    let own = &json["rollouts"][1];
    assert_eq!((&own["file"], &own["seed"]), (&"rollout_0001.npz".into(), &1.into()));
    assert_eq!(own["metrics"], evaluated["columns"][0]["motions"][0]["metrics"]);

    let told = batch(&out, &["--count", "2", "--pictures"]).succeeds().stdout;
    assert!(told.contains("2 were there") && told.contains("root_speed_m_s"), "{told}");
    for picture in ["rollout_0000.gif", "rollout_0000.png", "rollout_0001.gif", "rollout_0001.png"] {
        assert!(fs::metadata(out.join(picture)).unwrap().len() > 10_000, "{picture}");
    }
    batch(&out, &["--count", "2"]).succeeds();
}

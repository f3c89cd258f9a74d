//! What is made of a folder of recordings.

use crate::model::tiny;
use crate::pomp;
use crate::program::{names, recordings};
use pomp_formats::npz::bytes_without_phases;
use pomp_formats::read_recording;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A copy of the recordings, with manifest and journal.
pub fn copied() -> TempDir {
    let folder = TempDir::new().unwrap();
    for name in names(recordings()) {
        fs::copy(recordings().join(&name), folder.path().join(&name)).unwrap();
    }
    folder
}

/// The recordings of a folder.
pub fn npz(folder: &Path) -> Vec<PathBuf> {
    names(folder).iter().filter(|name| name.ends_with(".npz")).map(|name| folder.join(name)).collect()
}

fn data_hash(folder: &Path) -> String {
    pomp_train::Dataset::load(folder, 0, &[]).unwrap().hash
}

#[test]
fn phases_are_written_into_recordings_and_nothing_else_in_them_changes() {
    let (data, again) = (copied(), copied());
    let hash = data_hash(data.path());
    let ran = pomp!("phase", "annotate", data.path(), "--model", tiny(), "--json").succeeds().json();
    assert_eq!((&ran["recordings"], &ran["written"]), (&6.into(), &6.into()), "{ran}");
    let columns = ran["numbers_per_frame"].as_u64().unwrap() as usize;
    for path in npz(data.path()) {
        let before = fs::read(recordings().join(path.file_name().unwrap())).unwrap();
        let recording = read_recording(&path).unwrap();
        assert!(bytes_without_phases(&recording).unwrap() == before, "{}", path.display());
        assert_eq!(recording.phase_model.as_deref(), ran["phase_model"].as_str());
        let phase = recording.phase.unwrap();
        assert_eq!((phase.frames(), phase.columns()), (recording.positions.frames(), columns));
    }
    assert_eq!(data_hash(data.path()), hash, "training sees the same data");

    let annotated: Vec<Vec<u8>> = npz(data.path()).iter().map(|path| fs::read(path).unwrap()).collect();
    let ran = pomp!("phase", "annotate", data.path(), "--model", tiny()).succeeds();
    assert!(ran.stdout.starts_with("0 of 6 recordings"), "{ran:#?}");
    pomp!("phase", "annotate", again.path(), "--model", tiny()).succeeds();
    for folder in [data.path(), again.path()] {
        let bytes: Vec<Vec<u8>> = npz(folder).iter().map(|path| fs::read(path).unwrap()).collect();
        assert!(bytes == annotated, "the same model gives the same bytes");
    }
}

#[test]
fn phases_at_the_ends_of_a_clip_turn_on_evenly_with_the_amplitude_of_the_nearest_frame_that_was_read() {
    const EDGE: usize = 30;
    let data = copied();
    pomp!("phase", "annotate", data.path(), "--model", tiny()).succeeds();
    let walk = npz(data.path()).into_iter().find(|path| path.to_string_lossy().contains("11_walk")).unwrap();
    let phase = read_recording(&walk).unwrap().phase.unwrap();
    let last = phase.frames() - 1;
    for ends in [(0..=EDGE).collect::<Vec<_>>(), (last - EDGE..=last).collect()] {
        for channel in 0..phase.columns() / 2 {
            let code =
                |frame: usize| glam::Vec2::new(phase[frame][2 * channel], phase[frame][2 * channel + 1]);
            let amplitude = code(ends[0]).length();
            let turns: Vec<f32> = ends.windows(2).map(|pair| code(pair[0]).angle_to(code(pair[1]))).collect();
            for (frame, turn) in ends.iter().zip(&turns) {
                assert!((code(*frame).length() - amplitude).abs() < 1e-4 * (1.0 + amplitude), "{frame}");
                assert!(*turn >= -1e-4 && (turn - turns[0]).abs() < 1e-3, "{frame}: {turns:?}");
            }
        }
    }
}

#[test]
fn preprocessing_keeps_recordings_that_were_given_phases_and_makes_damaged_ones_again() {
    let data = copied();
    let manifest = fs::read(data.path().join("manifest.json")).unwrap();
    pomp!("phase", "annotate", data.path(), "--model", tiny()).succeeds();
    let before: Vec<Vec<u8>> = npz(data.path()).iter().map(|path| fs::read(path).unwrap()).collect();
    let clip = |prefix: &str| crate::program::clip(prefix);
    let inputs = [clip("00_stand"), clip("11_walk"), clip("20_jog")];
    pomp!("preprocess", inputs[0], inputs[1], inputs[2], "--out", data.path()).succeeds();
    let after: Vec<Vec<u8>> = npz(data.path()).iter().map(|path| fs::read(path).unwrap()).collect();
    assert!(before == after && fs::read(data.path().join("manifest.json")).unwrap() == manifest);

    let damaged = &npz(data.path())[0];
    let mut recording = read_recording(damaged).unwrap();
    recording.root[0][0] += 1.0;
    pomp_formats::write_recording(damaged, &recording).unwrap();
    pomp!("preprocess", inputs[0], inputs[1], inputs[2], "--out", data.path()).succeeds();
    let original = recordings().join(damaged.file_name().unwrap());
    assert!(fs::read(damaged).unwrap() == fs::read(original).unwrap());
}

#[test]
fn rejects_folders_without_recordings_and_recordings_of_another_kind_for_phases() {
    let folder = TempDir::new().unwrap();
    pomp!("phase", "annotate", folder.path(), "--model", tiny())
        .refuses(&["no recordings", "pomp preprocess"]);
    pomp!("phase", "annotate", folder.path().join("none"), "--model", tiny()).refuses(&["none"]);
    let mut slow = read_recording(&npz(recordings())[0]).unwrap();
    slow.frame_rate_hz = 30.0;
    pomp_formats::write_recording(&folder.path().join("slow.npz"), &slow).unwrap();
    pomp!("phase", "annotate", folder.path(), "--model", tiny())
        .refuses(&["slow.npz", "30 frames per second"]);
}

#[test]
fn inspecting_a_dataset_counts_minutes_forces_licences_and_what_was_not_made() {
    let data = copied();
    let json = pomp!("inspect", data.path(), "--json").succeeds().json();
    let counted = &json["files"][0]["dataset"];
    assert_eq!((&counted["recordings"], &counted["originals"]), (&6.into(), &3.into()), "{counted}");
    let minutes = counted["minutes"].as_f64().unwrap();
    let sum = |list: &str| -> f64 {
        counted[list].as_array().unwrap().iter().map(|row| row["minutes"].as_f64().unwrap()).sum()
    };
    for list in ["gaits", "grounds", "licences"] {
        assert!((sum(list) - minutes).abs() < 1e-9, "{list} add up to the whole: {counted}");
    }
    assert!((minutes - 6.0 * 241.0 / 3600.0).abs() < 1e-9);
    let jog = counted["stance_peaks"].as_array().unwrap().iter().find(|row| row["gait"] == "jog").unwrap();
    let walk = counted["stance_peaks"].as_array().unwrap().iter().find(|row| row["gait"] == "walk").unwrap();
    let stances = |row: &serde_json::Value| row["stances"].as_u64().unwrap();
    let counts = |row: &serde_json::Value| -> u64 {
        row["counts"].as_array().unwrap().iter().map(|count| count.as_u64().unwrap()).sum()
    };
    assert!(stances(walk) > 4 && stances(walk) == counts(walk), "{walk}");
    assert!(jog["median_bw"].as_f64() > walk["median_bw"].as_f64(), "running strikes harder: {counted}");

    let manifest = data.path().join("manifest.json");
    let mut told: serde_json::Value = serde_json::from_slice(&fs::read(&manifest).unwrap()).unwrap();
    told["failures"] = serde_json::json!([{ "input": "lost.bvh", "error": "it was lost" }]);
    fs::write(&manifest, told.to_string()).unwrap();
    let text = pomp!("inspect", data.path()).succeeds().stdout;
    for words in ["6 recordings", "walk", "licences", "lost.bvh: it was lost", "body weights"] {
        assert!(text.contains(words), "{words} is missing: {text}");
    }
    fs::write(&manifest, "{}").unwrap();
    pomp!("inspect", data.path()).refuses(&["manifest.json", "pomp preprocess"]);
    fs::remove_file(&manifest).unwrap();
    let text = pomp!("inspect", data.path()).succeeds().stdout;
    assert!(text.contains("no manifest.json"), "{text}");
    pomp!("inspect", TempDir::new().unwrap().path()).refuses(&["no recordings"]);
}

/// The clips that the repository carries.
pub fn sample_clips() -> PathBuf {
    crate::program::repository().join("data/clips")
}

#[test]
fn the_clips_of_the_repository_are_those_that_the_command_in_their_readme_makes() {
    let folder = TempDir::new().unwrap();
    pomp!("synthesize", "--sample", "--seed", "7", "--out", folder.path()).succeeds();
    let readme = fs::read_to_string(sample_clips().join("README.md")).unwrap();
    assert!(readme.contains("pomp synthesize --sample --seed 7 --out data/clips"), "{readme}");
    let carried: Vec<String> =
        names(&sample_clips()).into_iter().filter(|name| name != "README.md").collect();
    assert_eq!(names(folder.path()), carried);
    for name in carried {
        assert!(
            fs::read(folder.path().join(&name)).unwrap() == fs::read(sample_clips().join(&name)).unwrap(),
            "{name}"
        );
        assert!(readme.contains(&name) || name == "manifest.csv", "{name} is not in the readme");
    }
}

fn card() -> String {
    fs::read_to_string(crate::program::repository().join("docs/dataset.md")).unwrap()
}

/// Names in the first column of the card's table of arrays.
fn arrays_of_the_card() -> Vec<String> {
    let card = card();
    let (_, table) = card.split_once("## Arrays").unwrap();
    let (table, _) = table.split_once("\n## ").unwrap();
    let rows = table.lines().filter(|line| line.starts_with("| `"));
    let names = rows.flat_map(|row| row.split('|').nth(1).unwrap().split('`').skip(1).step_by(2));
    names.map(str::to_owned).collect()
}

#[test]
fn the_dataset_card_lists_every_array_that_recordings_and_rollouts_have_and_no_other() {
    let folder = TempDir::new().unwrap();
    let data = copied();
    let moving_ground = crate::program::repository().join("configs/moving_ground.toml");
    pomp!("phase", "annotate", data.path(), "--model", tiny()).succeeds();
    pomp!(
        "generate",
        "--model",
        tiny(),
        "--config",
        &moving_ground,
        "--seconds",
        "0.5",
        "--no-pictures",
        "--terrain",
        "flat",
        "--out",
        folder.path()
    )
    .succeeds();
    let mut found: Vec<String> = [npz(data.path())[0].clone(), folder.path().join("rollout.npz")]
        .iter()
        .flat_map(|path| {
            let mut archive = zip::ZipArchive::new(fs::File::open(path).unwrap()).unwrap();
            let mut arrays = Vec::new();
            for index in 0..archive.len() {
                let entry = archive.by_index(index).unwrap();
                arrays.push(entry.name().unwrap().trim_end_matches(".npy").to_owned());
            }
            arrays
        })
        .collect();
    found.sort();
    found.dedup();
    let mut listed = arrays_of_the_card();
    listed.sort();
    assert_eq!(found, listed);
}

#[test]
fn the_snippets_of_the_dataset_card_run() {
    let folder = TempDir::new().unwrap();
    let data = folder.path().join("out/data");
    fs::create_dir_all(&data).unwrap();
    for name in names(recordings()) {
        fs::copy(recordings().join(&name), data.join(&name)).unwrap();
    }
    let card = card();
    let snippets: Vec<&str> =
        card.split("```python\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert_eq!(snippets.len(), 3);
    for snippet in snippets {
        let import = snippet.lines().next().unwrap();
        if pomp_testing::python_can(import, "a snippet of the dataset card") {
            pomp_testing::python(folder.path(), ["-c", snippet]);
        }
    }
}

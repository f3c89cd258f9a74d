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

fn npz(folder: &Path) -> Vec<PathBuf> {
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

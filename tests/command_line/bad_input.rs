//! Everything but BVH text that can be wrong with what a person gives.

use crate::pomp;
use crate::program::{clip, names, recording, recordings};
use std::fs;
use tempfile::TempDir;

#[test]
fn rejects_a_folder_without_clips() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("data");
    pomp!("preprocess", folder.path(), "--out", out).refuses(&["no motion files", ".bvh, .glb, .gltf"]);
    pomp!("train", "all", "--data", folder.path(), "--out", out)
        .refuses(&[folder.path().to_str().unwrap(), "preprocess"]);
}

#[test]
fn rejects_files_that_are_not_there() {
    for arguments in [
        &["inspect", "nowhere.bvh"] as &[&str],
        &["inspect", "nowhere.npz"],
        &["preprocess", "nowhere.bvh", "--out", "nowhere"],
        &["evaluate", "nowhere.npz"],
        &["render", "nowhere.npz", "--out", "nowhere.gif"],
        &["studio", "nowhere"],
        &["studio", "--config", "nowhere.toml"],
        &["generate", "--model", "nowhere"],
        &["train", "all", "--data", "nowhere", "--out", "nowhere"],
        &["inspect", "a.bvh", "--rig", "nowhere.toml"],
        &["preprocess", "a.bvh", "--out", "nowhere", "--config", "nowhere.toml"],
    ] {
        let ran = crate::program::pomp(arguments);
        assert_eq!(ran.code, Some(1), "{arguments:?}: {ran:#?}");
        assert!(ran.stderr.contains("nowhere"), "{arguments:?}: {ran:#?}");
    }
    for arguments in [
        &["studio", "--terrain", "nowhere"] as &[&str],
        &["terrain", "make", "nowhere", "--out", "nowhere.npz"],
        &["generate", "--terrain", "nowhere"],
    ] {
        crate::program::pomp(arguments).misuses(&["nowhere", "stairs"]);
    }
    assert!(!std::path::Path::new("nowhere").exists());
}

#[test]
fn rejects_a_recording_cut_anywhere() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("cut.npz");
    let bytes = fs::read(recording("00_stand")).unwrap();
    for tenth in 0..10 {
        fs::write(&path, &bytes[..bytes.len() * tenth / 10]).unwrap();
        pomp!("inspect", path).refuses(&["cut.npz"]);
    }
    fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
    pomp!("evaluate", path).refuses(&["cut.npz"]);
}

#[test]
fn rejects_a_recording_with_changed_bytes() {
    // Every array is guarded by the archive's checksums.
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("changed.npz");
    let bytes = fs::read(recording("00_stand")).unwrap();
    for at in [bytes.len() / 3, bytes.len() / 2] {
        let mut changed = bytes.clone();
        changed[at] ^= 0xff;
        fs::write(&path, changed).unwrap();
        pomp!("inspect", path).refuses(&["changed.npz"]);
    }
}

#[test]
fn rejects_training_data_of_which_a_file_is_cut() {
    let folder = TempDir::new().unwrap();
    let data = folder.path().join("data");
    fs::create_dir(&data).unwrap();
    for name in names(recordings()) {
        fs::copy(recordings().join(&name), data.join(&name)).unwrap();
    }
    let victim = names(&data).into_iter().find(|name| name.ends_with(".npz")).unwrap();
    let bytes = fs::read(data.join(&victim)).unwrap();
    fs::write(data.join(&victim), &bytes[..bytes.len() / 2]).unwrap();
    pomp!("train", "phase", "--data", data, "--out", folder.path().join("model")).refuses(&[&victim]);
}

#[test]
fn rejects_configurations_with_unknown_keys() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("misspelt.toml");
    fs::write(&path, "# a comment\nmiror = true\n").unwrap();
    let named = ["misspelt.toml:2:1: unknown key `miror`", "the nearest known one is `mirror`"];
    pomp!("preprocess", clip("00_stand"), "--out", folder.path().join("data"), "--config", path)
        .refuses(&named);
    pomp!("inspect", clip("00_stand"), "--config", path).refuses(&named);
    pomp!("generate", "--config", path, "--out", folder.path().join("out"))
        .refuses(&["misspelt.toml:2:1: unknown key `miror`"]);
    pomp!("train", "all", "--data", recordings(), "--out", folder.path().join("model"), "--config", path)
        .refuses(&["misspelt.toml"]);
    assert_eq!(names(folder.path()), ["misspelt.toml"], "nothing is written for a bad configuration");
}

#[test]
fn rejects_configurations_out_of_range() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("strange.toml");
    let out = folder.path().join("data");
    for (line, word) in [
        ("frame_rate_hz = 0.0", "frame_rate_hz"),
        ("frame_rate_hz = nan", "frame_rate_hz"),
        ("frame_rate_hz = -60.0", "frame_rate_hz"),
        ("[terrain]\ncell_m = 0.0", "cell_m"),
        ("[terrain]\nmargin_m = inf", "margin_m"),
        ("frame_rate_hz = 30.0", "dynamic.frame_rate_hz"),
        ("terrain_variants = 0", "terrain_variants"),
        ("[replay]\nlost_beyond_m = nan", "lost_beyond_m"),
    ] {
        fs::write(&path, line).unwrap();
        pomp!("preprocess", clip("00_stand"), "--out", out, "--config", path).refuses(&[word]);
    }
    assert!(!out.exists());
}

#[test]
fn rejects_terrain_of_no_size_or_no_sense() {
    let folder = TempDir::new().unwrap();
    let (path, out) = (folder.path().join("odd.toml"), folder.path().join("odd.npz"));
    for (text, word) in [
        ("size_m = 0.0\n[shape]\nkind = \"flat\"\n", "size"),
        ("size_m = -3.0\n[shape]\nkind = \"flat\"\n", "size"),
        ("size_m = nan\n[shape]\nkind = \"flat\"\n", "size"),
        ("cell_m = 0.0\n[shape]\nkind = \"flat\"\n", "cell"),
        ("size_m = 1e9\n[shape]\nkind = \"flat\"\n", "smaller area"),
        ("[shape]\nkind = \"cliff\"\n", "cliff"),
        ("[shape]\nkind = \"flat\"\nheight = 3\n", "height"),
        ("size_m = \n", "line 1"),
        ("", "shape"),
    ] {
        fs::write(&path, text).unwrap();
        pomp!("terrain", "make", path, "--out", out).refuses(&["odd.toml", word]);
    }
    assert_eq!(names(folder.path()), ["odd.toml"]);
}

#[test]
fn rejects_results_of_an_unknown_kind() {
    let folder = TempDir::new().unwrap();
    pomp!("render", clip("00_stand"), "--out", folder.path().join("a.webp"))
        .misuses(&["a.webp", ".gif", ".png", ".html"]);
    pomp!("terrain", "make", "flat", "--out", folder.path().join("a.tiff"))
        .misuses(&["a.tiff", ".png", ".npz"]);
    pomp!("evaluate", folder.path().join("a.fbx")).refuses(&["a.fbx", ".bvh", ".npz"]);
    assert!(names(folder.path()).is_empty());
}

#[test]
fn rejects_lengths_that_are_none() {
    for seconds in ["0", "-1", "nan", "inf", "1e9"] {
        pomp!("generate", format!("--seconds={seconds}"))
            .misuses(&["--seconds", "above 0 and at most 3600 s"]);
        let folder = TempDir::new().unwrap();
        pomp!("synthesize", format!("--seconds={seconds}"), "--out", folder.path()).misuses(&["--seconds"]);
        assert!(names(folder.path()).is_empty());
    }
}

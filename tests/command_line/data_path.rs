//! From clips to recordings, pictures and figures.

use crate::pomp;
use crate::program::{clip, clips, names, recording, repository, standing_bvh};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Bytes and time of change of every file of a folder.
fn state(folder: &Path) -> Vec<(String, Vec<u8>, std::time::SystemTime)> {
    let of = |name: String| {
        let path = folder.join(&name);
        (name, fs::read(&path).unwrap(), fs::metadata(&path).unwrap().modified().unwrap())
    };
    names(folder).into_iter().map(of).collect()
}

#[test]
fn synthesize_writes_the_same_clips_for_the_same_seed_and_others_for_another() {
    let folder = TempDir::new().unwrap();
    let [again, other] = ["again", "other"].map(|name| folder.path().join(name));
    pomp!("synthesize", "--seconds", "4", "--out", again).succeeds();
    pomp!("synthesize", "--seconds", "4", "--seed", "9", "--out", other).succeeds();
    let bytes = |folder: &Path| -> Vec<Vec<u8>> {
        names(folder).iter().map(|name| fs::read(folder.join(name)).unwrap()).collect()
    };
    assert_eq!(names(clips()), names(&again));
    assert_eq!(bytes(clips()), bytes(&again));
    assert_ne!(bytes(clips()), bytes(&other));
}

#[test]
fn preprocess_makes_recordings_and_does_nothing_the_second_time() {
    let out = TempDir::new().unwrap();
    let (stand, walk) = (clip("00_stand"), clip("03_walk"));
    let ran = pomp!("preprocess", stand, walk, "--out", out.path()).succeeds();
    assert!(ran.stdout.contains("4 recordings"), "{ran:#?}");
    let made: Vec<String> = names(out.path()).into_iter().filter(|name| name.ends_with(".npz")).collect();
    assert_eq!(made.len(), 4, "two clips and their mirror images: {made:?}");
    for name in &made {
        let recording = pomp_formats::read_recording(&out.path().join(name)).unwrap();
        assert_eq!(format!("{}.npz", recording.name), *name);
        assert_eq!(recording.frame_rate_hz, 60.0);
        assert!(recording.simulation.is_some() && recording.terrain.is_some());
    }
    let manifest: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(out.path().join("manifest.json")).unwrap()).unwrap();
    let listed: Vec<&str> =
        manifest["clips"].as_array().unwrap().iter().map(|clip| clip["file"].as_str().unwrap()).collect();
    assert_eq!(listed, made);
    assert_eq!(manifest["failures"], serde_json::json!([]));

    let before = state(out.path());
    pomp!("preprocess", stand, walk, "--out", out.path()).succeeds();
    for (before, after) in before.iter().zip(&state(out.path())) {
        assert!(before.0 == after.0 && before.1 == after.1, "{} changed", before.0);
        assert!(before.2 == after.2 || !before.0.ends_with(".npz"), "{} was made again", before.0);
    }
}

#[test]
fn preprocess_makes_again_what_is_damaged_or_of_another_configuration() {
    let out = TempDir::new().unwrap();
    let stand = clip("00_stand");
    pomp!("preprocess", stand, "--out", out.path()).succeeds();
    let first = state(out.path());
    let result = out.path().join(&first[0].0);
    fs::write(&result, &first[0].1[..100]).unwrap();
    pomp!("preprocess", stand, "--out", out.path()).succeeds();
    assert_eq!(fs::read(&result).unwrap(), first[0].1, "the same clip gives the same bytes");

    let config = out.path().join("heavier.toml");
    let defaults = fs::read_to_string(repository().join("configs/preprocess.toml")).unwrap();
    fs::write(&config, defaults.replace("mass_kg = 75.0", "mass_kg = 90.0")).unwrap();
    pomp!("preprocess", stand, "--out", out.path(), "--config", config).succeeds();
    assert_ne!(fs::read(&result).unwrap(), first[0].1);
}

#[test]
fn the_default_configuration_file_changes_nothing() {
    let [plain, configured] = [TempDir::new().unwrap(), TempDir::new().unwrap()];
    let stand = clip("00_stand");
    pomp!("preprocess", stand, "--out", plain.path()).succeeds();
    let config = repository().join("configs/preprocess.toml");
    pomp!("preprocess", stand, "--out", configured.path(), "--config", config).succeeds();
    for name in names(plain.path()).iter().filter(|name| name.ends_with(".npz")) {
        assert!(
            fs::read(plain.path().join(name)).unwrap() == fs::read(configured.path().join(name)).unwrap()
        );
    }
}

#[test]
fn a_bad_clip_among_good_ones_is_reported_and_skipped() {
    let folder = TempDir::new().unwrap();
    let (bad, out) = (folder.path().join("bad.bvh"), folder.path().join("data"));
    fs::write(&bad, standing_bvh().replace("Frames: 30", "Frames: thirty")).unwrap();
    let ran = pomp!("preprocess", clip("00_stand"), bad, "--out", out).ends_in_part();
    assert!(ran.stderr.contains("skipped: ") && ran.stderr.contains("bad.bvh:"), "{ran:#?}");
    assert!(ran.stdout.contains("2 recordings") && ran.stdout.contains("1 clips were skipped"), "{ran:#?}");
    let manifest: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(out.join("manifest.json")).unwrap()).unwrap();
    assert_eq!(manifest["clips"].as_array().unwrap().len(), 2);
    assert!(manifest["failures"][0]["error"].as_str().unwrap().contains("the number of frames"));
}

#[test]
fn strict_preprocessing_stops_at_a_bad_clip() {
    let folder = TempDir::new().unwrap();
    let bad = folder.path().join("bad.bvh");
    fs::write(&bad, standing_bvh().replace("Frames: 30", "Frames: thirty")).unwrap();
    pomp!("preprocess", bad, "--strict", "--out", folder.path().join("data"))
        .refuses(&["bad.bvh:", "--strict", "thirty"]);
}

#[test]
fn inspect_tells_people_and_scripts_what_is_in_a_clip() {
    let ran = pomp!("inspect", "--json", clip("11_walk"), recording("11_walk")).succeeds().json();
    let [bvh, npz] = &ran["files"].as_array().unwrap()[..] else { panic!("{ran}") };
    for one in [bvh, npz] {
        assert_eq!(one["frames"], 241);
        assert_eq!(one["joints"], 22);
        assert!(one["gaits"]["walk"].as_f64().unwrap() > 0.9, "{}", one["gaits"]);
    }
    assert_eq!((&bvh["has_physics_replay"], &npz["has_physics_replay"]), (&false.into(), &true.into()));
    let text = pomp!("inspect", clip("11_walk")).succeeds().stdout;
    assert!(text.contains("walk 100 %") && text.contains("centimetres"), "{text}");
}

#[test]
fn the_programs_own_bvh_files_come_back_as_they_were() {
    let json = pomp!("inspect", "--json", clip("11_walk")).succeeds().json();
    for joint in json["files"][0]["mapping"]["joint_errors"].as_array().unwrap() {
        assert!(joint["scaled_m"].as_f64().unwrap() < 0.01, "{joint}");
    }
}

#[test]
fn the_ragdoll_follows_a_synthetic_walk_and_carries_its_weight() {
    let manifest = recording("11_walk").with_file_name("manifest.json");
    let manifest: serde_json::Value = serde_json::from_str(&fs::read_to_string(manifest).unwrap()).unwrap();
    for clip in manifest["clips"].as_array().unwrap() {
        let replay = &clip["replay"];
        println!("{}: {replay}", clip["name"]);
        assert_eq!((&replay["resets"], &replay["divergences"]), (&0.into(), &0.into()), "{}", clip["name"]);
        // In the jog toes and knees of swinging legs are off, where a foot touches the ground too early.
        let jogs = clip["name"].as_str().unwrap().contains("jog");
        assert!(replay["rms_joint_error_deg"].as_f64().unwrap() < if jogs { 15.0 } else { 2.0 }, "{replay}");
        assert!((replay["vertical_closure"].as_f64().unwrap() - 1.0).abs() < 0.1, "{replay}");
    }
}

#[test]
fn render_draws_a_gif_and_a_png_of_either_kind_of_file() {
    let folder = TempDir::new().unwrap();
    let (gif, png) = (folder.path().join("walk.gif"), folder.path().join("walk.png"));
    pomp!("render", recording("00_stand"), "--out", gif).succeeds();
    pomp!("render", clip("00_stand"), "--out", png).succeeds();
    let (gif, png) = (fs::read(gif).unwrap(), fs::read(png).unwrap());
    assert!(gif.starts_with(b"GIF89a") && gif.ends_with(b";") && gif.len() > 10_000);
    assert!(png.starts_with(b"\x89PNG\r\n\x1a\n") && png.ends_with(b"IEND\xaeB`\x82") && png.len() > 10_000);
    assert_eq!(names(folder.path()), ["walk.gif", "walk.png"]);
}

#[test]
fn render_writes_one_page_that_holds_the_recording() {
    let folder = TempDir::new().unwrap();
    let page = folder.path().join("walk.html");
    pomp!("render", recording("11_walk"), "--out", page).succeeds();
    let html = fs::read_to_string(page).unwrap();
    assert!(html.starts_with("<!doctype html>"));
    let (_, clip) = html.split_once("<script id=\"pomp-clip\" type=\"application/octet-stream\">").unwrap();
    // A gzip stream in base64.
    assert!(clip.starts_with("H4sI"), "{}", &clip[..40]);
    for foreign in ["<script src", "<link rel=\"stylesheet\""] {
        assert!(!html.contains(foreign), "the page loads {foreign}");
    }
}

#[test]
fn evaluate_prints_a_table_and_json() {
    let (walk, stand) = (recording("11_walk"), recording("00_stand"));
    let json = pomp!("evaluate", "--json", walk, stand).succeeds().json();
    let metrics = |index: usize| json["columns"][index]["motions"][0]["metrics"].clone();
    let turning = |index: usize| metrics(index)["joint_rotation_deg_s"].as_f64().unwrap();
    assert!(turning(0) > 10.0 * turning(1), "a walk turns its joints, a stand hardly: {json}");
    let table = pomp!("evaluate", walk, stand).succeeds().stdout;
    assert!(table.contains("joint_rotation_deg_s") && table.contains("11_walk"), "{table}");
}

#[test]
fn terrain_make_writes_maps_that_other_commands_read() {
    let folder = TempDir::new().unwrap();
    for name in ["hills.npz", "stairs.png"] {
        let path = folder.path().join(name);
        let ran = pomp!("terrain", "make", name.split('.').next().unwrap(), "--seed", "3", "--out", path)
            .succeeds();
        assert!(ran.stdout.contains(name) && ran.stdout.contains("heights"), "{ran:#?}");
        pomp!("evaluate", clip("00_stand"), "--terrain", path).succeeds();
    }
    assert_eq!(names(folder.path()), ["hills.npz", "stairs.png", "stairs.png.toml"]);
    let spec = repository().join("configs/terrain/stairs.toml");
    let again = folder.path().join("again.png");
    pomp!("terrain", "make", spec, "--seed", "3", "--out", again).succeeds();
    assert!(fs::read(again).unwrap() == fs::read(folder.path().join("stairs.png")).unwrap());
}

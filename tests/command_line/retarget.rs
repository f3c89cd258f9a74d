//! `pomp retarget`: a motion on the skeleton of another file.

#[path = "../../crates/pomp-formats/tests/character/mod.rs"]
mod character;

use crate::pomp;
use crate::program::repository;
use character::{Character, bytes_of, taken_apart};
use pomp_formats::{BvhWriteOptions, write_bvh};
use pomp_motion::{Clip, Skeleton};
use pomp_retarget::Altered;
use std::fs;
use std::sync::Arc;
use tempfile::TempDir;

#[test]
fn a_clip_goes_onto_a_strangers_skeleton_and_comes_back() {
    let folder = TempDir::new().unwrap();
    let stranger = repository().join("data/skeletons/stranger.bvh");
    let walk = repository().join("data/clips/01_walk.bvh");
    let there = folder.path().join("there.bvh");
    let told = pomp!("retarget", walk, "--to", stranger, "--out", there).succeeds().stdout;
    for words in
        ["241 frames at 60 Hz", "unit inches, Z up", "LeftElbowRoll (twist 50 %)", "LeftIndex1", "there.bvh"]
    {
        assert!(told.contains(words), "\"{words}\" is missing in {told}");
    }
    let (own, written) = (fs::read_to_string(&stranger).unwrap(), fs::read_to_string(&there).unwrap());
    let lines = |text: &str, word: &str| -> Vec<String> {
        text.lines().filter(|line| line.contains(word)).map(|line| line.trim().to_owned()).collect()
    };
    for word in ["ROOT", "JOINT", "CHANNELS"] {
        assert_eq!(lines(&own, word), lines(&written, word));
    }
    let again = folder.path().join("again.bvh");
    pomp!("retarget", walk, "--to", stranger, "--out", again).succeeds();
    assert_eq!(fs::read(&there).unwrap(), fs::read(&again).unwrap(), "the same input gives the same bytes");

    let back = folder.path().join("back.glb");
    let json =
        pomp!("retarget", there, "--to", walk, "--out", back, "--plant-feet", "--json").succeeds().json();
    assert_eq!(json["schema"], "pomp/retarget/1");
    let feet = &json["planted_feet"];
    assert!(feet["target_m_s"].as_f64().unwrap() < feet["clip_m_s"].as_f64().unwrap(), "{json}");
    let file = pomp_formats::read_glb(&back).unwrap();
    assert_eq!((file.motion.skeleton.len(), file.motion.frames()), (22, 241));
}

#[test]
fn rejects_targets_and_results_of_other_kinds_and_clips_without_a_simulation() {
    let folder = TempDir::new().unwrap();
    let stranger = repository().join("data/skeletons/stranger.bvh");
    let walk = repository().join("data/clips/01_walk.bvh");
    let figure = folder.path().join("figure.fbx");
    pomp!("retarget", walk, "--to", figure)
        .refuses(&["figure.fbx", "a target skeleton is a .bvh, .glb or .gltf file"]);
    let garbage = folder.path().join("garbage.glb");
    fs::write(&garbage, b"\x00garbage").unwrap();
    pomp!("retarget", walk, "--to", garbage).refuses(&["garbage.glb", "glTF"]);
    let fbx = folder.path().join("out.fbx");
    pomp!("retarget", walk, "--to", stranger, "--out", fbx).refuses(&["out.fbx", ".bvh and .glb"]);
    pomp!("retarget", walk, "--to", stranger, "--simulated").refuses(&["01_walk.bvh", "no simulated motion"]);
    let missing = folder.path().join("missing.bvh");
    pomp!("retarget", walk, "--to", missing).refuses(&["missing.bvh"]);
    let text = fs::read_to_string(&stranger).unwrap();
    let fixed = text
        .replace("CHANNELS 6 Xposition Yposition Zposition", "CHANNELS 3")
        .replace("\n0.0000 0.0000 36.6142 0", "\n0");
    fs::write(&missing, fixed).unwrap();
    pomp!("retarget", walk, "--to", missing).refuses(&["missing.bvh", "\"Hips\"", "six channels"]);
}

#[test]
fn a_clip_goes_onto_a_character_that_keeps_its_mesh() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("character.glb");
    let character = Character::new(&Skeleton::humanoid(1.9)).glb();
    fs::write(&path, &character).unwrap();
    let walk = repository().join("data/clips/01_walk.bvh");
    let out = folder.path().join("walking.glb");
    let told = pomp!("retarget", walk, "--to", path, "--out", out).succeeds().stdout;
    for words in ["241 frames at 60 Hz", "unit metres, Y up", "walking.glb"] {
        assert!(told.contains(words), "\"{words}\" is missing in {told}");
    }
    let ((own, own_bytes), (new, new_bytes)) =
        (taken_apart(&character), taken_apart(&fs::read(&out).unwrap()));
    for accessor in 0..own["accessors"].as_array().unwrap().len() {
        assert_eq!(bytes_of(&own, &own_bytes, accessor), bytes_of(&new, &new_bytes, accessor));
    }
    assert_eq!(new["animations"][0]["name"], "01_walk");
    assert_eq!(new["meshes"], own["meshes"]);
    // The character is a motion as any other, also for other commands.
    let file = pomp_formats::read_glb(&out).unwrap();
    assert_eq!((file.motion.skeleton.len(), file.motion.frames()), (22, 241));
    pomp!("inspect", out).succeeds();
    let told = pomp!("rig", "infer", path).succeeds().stdout;
    assert!(told.contains("22 joints of the project found"), "{told}");
}

/// Exact pairs of the clips of the repository, in a folder.
fn pairs(folder: &TempDir) -> std::path::PathBuf {
    let clips = ["00_stand", "01_walk", "02_jog", "03_jump", "04_walk_slope", "05_walk_stairs"];
    let clips = clips.map(|name| repository().join("data/clips").join(name).with_extension("bvh"));
    let [a, b, c, d, e, f] = clips;
    let pairs = folder.path().join("pairs");
    let told =
        pomp!("retarget", "pairs", a, b, c, d, e, f, "--out", pairs, "--bodies", "2").succeeds().stdout;
    assert!(told.contains("2 motions of a, 3 of b; held out 2 of a, 2 of b"), "{told}");
    pairs
}

#[test]
fn networks_are_trained_without_pairs_and_put_motions_on_either_skeleton() {
    let folder = TempDir::new().unwrap();
    let pairs = pairs(&folder);
    let [a, b, held_out] = ["a", "b", "held_out"].map(|name| pairs.join(name));
    let train = |out: &std::path::Path, steps: &str, how: &[&str]| {
        let mut arguments = vec!["train", "retarget", "--a", a.to_str().unwrap(), "--b", b.to_str().unwrap()];
        arguments.extend(["--out", out.to_str().unwrap(), "--set", "window_frames=16", "--set", steps]);
        arguments.extend(["--set", "training.batch_size=2"]);
        arguments.extend(how);
        crate::program::pomp(&arguments)
    };
    let [one, two] = ["one", "two"].map(|name| folder.path().join(name));
    let told = train(&one, "training.steps=2", &[]).succeeds().stdout;
    assert!(told.contains("training_reconstruction_a"), "{told}");
    train(&two, "training.steps=2", &[]).succeeds();
    let bytes = |folder: &std::path::Path| fs::read(folder.join("retarget.safetensors")).unwrap();
    assert_eq!(bytes(&one), bytes(&two), "the same seed and motions give the same bytes");
    train(&one, "training.steps=2", &[]).refuses(&["one", "--resume", "--overwrite"]);
    train(&one, "training.steps=3", &["--resume"]).succeeds();
    assert_ne!(bytes(&one), bytes(&two));
    train(&one, "training.steps=2", &["--overwrite"]).succeeds();
    assert_eq!(bytes(&one), bytes(&two));

    let first = |side: &str| {
        let mut files: Vec<_> =
            fs::read_dir(held_out.join(side)).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        files[0].clone()
    };
    let (walk, target) = (first("a"), first("b"));
    let out = folder.path().join("shown.bvh");
    let told = pomp!("retarget", walk, "--to", target, "--model", one, "--out", out).succeeds().stdout;
    assert!(told.contains("from the first skeleton onto the second"), "{told}");
    let (own, shown) = (pomp_formats::read_bvh(&walk).unwrap(), pomp_formats::read_bvh(&out).unwrap());
    assert_eq!(shown.motion.frames(), own.motion.frames());
    assert_eq!(shown.channels, pomp_formats::read_bvh(&target).unwrap().channels);
    let json = pomp!("retarget", target, "--to", walk, "--model", one, "--json").succeeds().json();
    assert_eq!(json["from_skeleton"], "second");
    networks_write_characters(&folder, [&walk, &target], &one, &shown.motion);

    let stranger = repository().join("data/skeletons/stranger.bvh");
    pomp!("retarget", walk, "--to", stranger, "--model", one).refuses(&[
        "stranger.bvh",
        "neither of the model's",
        "pomp train retarget",
    ]);
    pomp!("retarget", walk, "--to", target, "--model", walk).refuses(&[walk
        .file_name()
        .unwrap()
        .to_str()
        .unwrap()]);
    let json = pomp!("retarget", "report", one, "--pairs", held_out, "--json").succeeds().json();
    let rows = json["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 16, "{json}");
    let squared = |way: &str| -> f64 {
        let of_way = rows.iter().filter(|row| row["way"] == way);
        of_way.map(|row| row["squared_per_mille"].as_f64().unwrap()).fold(0.0, f64::max)
    };
    let (networks, rules) = (squared(one.to_str().unwrap()), squared("rules"));
    assert_eq!(squared("truth"), 0.0);
    assert!(rules < 2.0, "{rules}");
    assert!(networks > rules, "two steps teach nothing: {networks} {rules}");
}

/// The networks put the walk on the target as a character and write GLB files, with the joints where the BVH file has them.
fn networks_write_characters(
    folder: &TempDir,
    [walk, target]: [&std::path::Path; 2],
    model: &std::path::Path,
    shown: &pomp_motion::SourceMotion,
) {
    let own = pomp_formats::read_bvh(target).unwrap().motion;
    let joints = own
        .skeleton
        .joints()
        .iter()
        .map(|joint| pomp_motion::Joint { offset: joint.offset * 0.01, ..joint.clone() });
    let path = folder.path().join("character.glb");
    fs::write(&path, Character::new(&Skeleton::new(joints.collect()).unwrap()).glb()).unwrap();
    let distance = |out: &std::path::Path| {
        let read = pomp_formats::read_glb(out).unwrap().motion;
        assert_eq!(read.frames(), shown.frames());
        let far = (0..read.frames()).map(|frame| {
            let wanted = shown.global_pose(frame).positions;
            let found = read.global_pose(frame).positions;
            let place = |name: &str| found[read.skeleton.index_of(name).unwrap().0];
            let joints = shown.skeleton.joints().iter().zip(&wanted);
            joints.map(|(joint, at)| place(&joint.name).distance(*at * 0.01)).fold(0.0, f32::max)
        });
        far.fold(0.0, f32::max)
    };
    let plain = folder.path().join("plain.glb");
    pomp!("retarget", walk, "--to", target, "--model", model, "--out", plain).succeeds();
    assert!(distance(&plain) < 1e-3, "{}", distance(&plain));
    let out = folder.path().join("shown.glb");
    pomp!("retarget", walk, "--to", path, "--model", model, "--out", out).succeeds();
    assert!(distance(&out) < 1e-3, "{}", distance(&out));
    let (document, _) = taken_apart(&fs::read(&out).unwrap());
    assert_eq!(document["meshes"][0]["name"], "body");

    // Another rest pose is refused: the networks give rotations from that of the motions learned.
    let skeleton = Skeleton::new(
        own.skeleton
            .joints()
            .iter()
            .map(|joint| {
                let at = joint.offset * 0.01;
                let hangs = joint.name.contains("ForeArm");
                let offset = if hangs { glam::Vec3::NEG_Y * at.length() } else { at };
                pomp_motion::Joint { offset, ..joint.clone() }
            })
            .collect(),
    )
    .unwrap();
    fs::write(&path, Character::new(&skeleton).glb()).unwrap();
    pomp!("retarget", walk, "--to", path, "--model", model).refuses(&[
        "character.glb",
        "ForeArm",
        "rest pose",
    ]);
    let fbx = folder.path().join("out.fbx");
    pomp!("retarget", walk, "--to", target, "--model", model, "--out", fbx)
        .refuses(&["out.fbx", ".bvh and .glb"]);
}

#[test]
fn rejects_folders_that_networks_cannot_learn_from() {
    let folder = TempDir::new().unwrap();
    let pairs = pairs(&folder);
    let [a, b, empty, out] = ["a", "b", "empty", "out"].map(|name| pairs.join(name));
    fs::create_dir(&empty).unwrap();
    pomp!("train", "retarget", "--a", a, "--b", empty, "--out", out)
        .refuses(&["empty", "no motions (.bvh, .glb, .gltf, .npz)"]);
    let stranger = repository().join("data/skeletons/stranger.bvh");
    fs::copy(&stranger, b.join("stranger.bvh")).unwrap();
    pomp!("train", "retarget", "--a", a, "--b", b, "--out", out)
        .refuses(&["another skeleton", "folder of their own"]);
    let jog = fs::read_dir(&a).unwrap().map(|entry| entry.unwrap().path());
    let jog = jog.into_iter().find(|path| path.to_str().unwrap().contains("02_jog")).unwrap();
    let upright = pomp_formats::read_bvh(&jog).unwrap().motion;
    let headless = Altered::new(upright).unwrap().merged("Head").unwrap().merged("Neck").unwrap().motion();
    let headless =
        Clip::new("headless", Arc::new(headless.skeleton), headless.frame_rate_hz, headless.poses).unwrap();
    write_bvh(&empty.join("headless.bvh"), &headless, &BvhWriteOptions::default()).unwrap();
    pomp!("train", "retarget", "--a", a, "--b", empty, "--out", out, "--set", "up_axis.b=z")
        .refuses(&["empty", "up_axis"]);
    pomp!("train", "retarget", "--a", a, "--b", empty, "--out", out)
        .refuses(&["not homeomorphic", "\"Spine2\" of a has 3 branches, \"Spine2\" of b 2"]);
}

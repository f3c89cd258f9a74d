//! `pomp retarget`: a motion on the skeleton of another file.

use crate::pomp;
use crate::program::repository;
use std::fs;
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
    let glb = folder.path().join("figure.glb");
    pomp!("retarget", walk, "--to", glb).refuses(&["figure.glb", "a target skeleton is a .bvh file"]);
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

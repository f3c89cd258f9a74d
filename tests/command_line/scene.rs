//! `pomp generate --scene`, as a person or a script runs it.

use crate::model::{second_on_the_flat, tiny};
use crate::pomp;
use crate::program::{Ran, names};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

fn scene(scene: &Path, out: &Path) -> Ran {
    second_on_the_flat("--scene", scene, out)
}

#[test]
fn a_scene_gives_a_rollout_per_character_that_is_replayed_bit_for_bit() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("meet");
    let told = scene(Path::new("meet"), &out).succeeds().stdout;
    assert!(told.contains("character_1") && told.contains("character_2"), "{told}");
    let one = |n: usize| ["bvh", "glb", "json", "npz"].map(|kind| format!("character_{n}.{kind}"));
    assert_eq!(names(&out), [one(1), one(2)].concat());
    let files = [1, 2].map(|n| out.join(format!("character_{n}.npz")));
    let told = pomp!("replay", "--model", tiny(), files[0], files[1]).succeeds().stdout;
    assert_eq!(told.matches("bit for bit").count(), 2, "{told}");
    let again = folder.path().join("again");
    scene(Path::new("meet"), &again).succeeds();
    // The metrics tell how long a run took.
    for name in names(&out).into_iter().filter(|name| !name.ends_with(".json")) {
        assert!(fs::read(out.join(&name)).unwrap() == fs::read(again.join(&name)).unwrap(), "{name} differs");
    }
}

#[test]
fn rejects_scenes_that_are_none() {
    let folder = TempDir::new().unwrap();
    let (file, out) = (folder.path().join("scene.toml"), folder.path().join("out"));
    let one = "[[character]]\nat = [0.0, 0.0]\nheading_deg = 0.0\ncontrol = \"walk\"\n";
    for (text, words) in [
        (String::new(), &["scene.toml", "character"] as &[&str]),
        (format!("{one}speed = 3\n"), &["scene.toml", "speed"]),
        (one.replace("walk", "moonwalk"), &["character 1", "moonwalk", "slalom"]),
        (format!("{one}stature_m = 3.0\n"), &["layers.stature.height_m", "1.5 to 2"]),
        (format!("{one}mass_kg = 0.0\n"), &["mass_kg"]),
        (format!("{one}style = {{ zmobie = 0.5 }}\n"), &["character 1", "style"]),
        (format!("{one}style = {{ zombie = 2.0 }}\n"), &["character 1", "style.zombie"]),
        (format!("{one}push = [\"4,Tail,1,1,1\"]\n"), &["character 1", "Tail"]),
        (format!("{one}{one}"), &["characters 1 and 2", "0.8 m"]),
        (one.replace("0.0, 0.0", "nan, 0.0"), &["character 1", "at"]),
        (one.replace("heading_deg = 0.0", "heading_deg = 900.0"), &["character 1", "heading_deg"]),
    ] {
        fs::write(&file, text).unwrap();
        scene(&file, &out).refuses(words);
        assert!(!out.exists(), "nothing is written for a scene that is none");
    }
    scene(&folder.path().join("nowhere.toml"), &out).refuses(&["nowhere.toml"]);
}

#[test]
fn rejects_statures_and_masses_that_are_none() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    for (option, word) in
        [("--stature=0.5", "1.5 to 2 m"), ("--stature=nan", "1.5 to 2 m"), ("--mass=-3", "5 to 500 kg")]
    {
        pomp!("generate", "--model", tiny(), "--seconds", "1", option, "--out", out).misuses(&[word]);
        assert!(!out.exists());
    }
}

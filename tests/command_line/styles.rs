//! `pomp generate --style` and `pomp train style`.

use crate::pomp;
use crate::program::recordings;
use tempfile::TempDir;

const WALK: [&str; 9] =
    ["generate", "--terrain", "flat", "--push", "none", "--seconds", "0.5", "--no-pictures", "--out"];

#[test]
fn a_rollout_in_a_style_is_replayed_and_a_weight_of_0_writes_the_bytes_of_none() {
    let folder = TempDir::new().unwrap();
    let rollout = |name: &str, more: &[&str]| {
        let out = folder.path().join(name);
        let mut arguments: Vec<&std::ffi::OsStr> = WALK.iter().map(std::ffi::OsStr::new).collect();
        arguments.push(out.as_os_str());
        arguments.extend(more.iter().map(std::ffi::OsStr::new));
        crate::program::pomp(&arguments).succeeds();
        out
    };
    let [plain, zero, zombie] = [
        ("plain", &[] as &[&str]),
        ("zero", &["--style", "zombie:0"]),
        ("zombie", &["--style", "zombie:0.7"]),
    ]
    .map(|(name, more)| rollout(name, more));
    let motion = |out: &std::path::Path| std::fs::read(out.join("motion.bvh")).unwrap();
    assert_eq!(motion(&plain), motion(&zero));
    assert_ne!(motion(&plain), motion(&zombie));
    pomp!("replay", zombie.join("rollout.npz")).succeeds();
    let set = rollout("set", &["--set", "style.zombie=0.7"]);
    assert_eq!(motion(&zombie), motion(&set));
}

#[test]
fn rejects_styles_that_there_are_not_and_weights_that_are_none() {
    let out = TempDir::new().unwrap();
    let count = ["--count", "2"];
    for more in [&[] as &[&str], &count] {
        let mut arguments = WALK.to_vec();
        arguments.extend([out.path().to_str().unwrap(), "--style", "zmobie:0.5"]);
        arguments.extend(more);
        crate::program::pomp(&arguments).refuses(&["\"zmobie\"", "zombie", "stealthy"]);
    }
    pomp!("generate", "--style", "zombie:2").misuses(&["--style", "from 0 to 1"]);
    pomp!("generate", "--style", "zombie:0.8,stealthy:0.8", "--out", out.path())
        .refuses(&["style", "at most 1"]);
    pomp!("generate", "--style", "zombie", "--controller", "matching", "--out", out.path())
        .refuses(&["style", "controller"]);
}

#[test]
fn rejects_a_training_whose_clips_are_not_in_the_data() {
    let folder = TempDir::new().unwrap();
    let data = recordings();
    pomp!("train", "style", "--data", data, "--out", folder.path()).refuses(&[
        "\"zombie\"",
        "humanoid3d_long_zombie",
        "preprocess",
    ]);
    pomp!("train", "style", "--out", folder.path()).misuses(&["--data"]);
}

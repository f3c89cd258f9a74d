//! Pushes relative to the heading and drawn per rollout, and what is said of seeds.

use crate::model::tiny;
use crate::program::Ran;
use glam::Vec3;
use std::path::Path;
use tempfile::TempDir;

fn generate(out: &Path, more: &[&str]) -> Ran {
    let common = ["generate", "--model", tiny().to_str().unwrap(), "--no-pictures", "--seconds", "2"];
    crate::program::pomp(common.iter().chain(&["--out", out.to_str().unwrap()]).chain(more))
}

/// Time and impulse of the only push of a rollout.
fn push(rollout: &Path) -> (f32, Vec3) {
    let generation = pomp_formats::read_recording(rollout).unwrap().generation.unwrap();
    let [push] = generation.pushes[..] else { panic!("{:?}", generation.pushes) };
    (push.time_s, push.impulse_ns)
}

#[test]
fn a_push_to_the_left_is_across_the_commanded_heading() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    generate(&out, &["--terrain", "flat", "--control", "circle", "--push", "1.5,Spine2,10,left"]).succeeds();
    let (time_s, impulse) = push(&out.join("rollout.npz"));
    let recording = pomp_formats::read_recording(&out.join("rollout.npz")).unwrap();
    let [_, _, yaw, _] = recording.generation.unwrap().control[90];
    assert!(time_s == 1.5 && yaw > 0.3, "the circle turns: {yaw}");
    // At yaw 0 ahead is +Z and left is +X.
    let left = Vec3::new(yaw.cos(), 0.0, -yaw.sin());
    assert!((impulse - 10.0 * left).length() < 0.2, "{impulse} is not along {left}");
}

#[test]
fn every_rollout_of_a_batch_draws_its_own_push_and_draws_it_again() {
    let folder = TempDir::new().unwrap();
    let draw = |name: &str| {
        let out = folder.path().join(name);
        let words = ["--terrain", "flat", "--push", "0.5..1.5,Spine2,5..9,random", "--count", "3"];
        let words: Vec<&str> = words.into_iter().collect();
        let common = [
            "generate",
            "--model",
            tiny().to_str().unwrap(),
            "--seconds",
            "2",
            "--out",
            out.to_str().unwrap(),
        ];
        crate::program::pomp(common.iter().chain(&words)).succeeds();
        [0, 1, 2].map(|index| push(&out.join(format!("rollout_000{index}.npz"))))
    };
    let drawn = draw("a");
    for (time_s, impulse) in drawn {
        assert!(
            (0.49..1.51).contains(&time_s) && (4.9..9.1).contains(&impulse.length()),
            "{time_s} {impulse}"
        );
    }
    assert!(drawn[0] != drawn[1] && drawn[1] != drawn[2]);
    assert_eq!(drawn, draw("b"));
}

#[test]
fn it_is_said_where_a_seed_changes_the_noise_alone() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let note = |more: &[&str]| {
        generate(&out, more).succeeds().stderr.contains("changes the noise of the kinematic module alone")
    };
    assert!(note(&["--terrain", "flat", "--push", "none", "--seed", "3"]));
    assert!(note(&["--terrain", "stairs", "--push", "1,Hips,5,left", "--seed", "3"]));
    assert!(!note(&["--terrain", "flat", "--push", "1,Hips,5,random", "--seed", "3"]));
    assert!(!note(&["--terrain", "hills", "--push", "none", "--seed", "3"]));
    assert!(!note(&["--terrain", "flat", "--push", "none"]), "no seed was given");
}

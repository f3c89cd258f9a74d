//! Manifests of parts become that of the whole.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

use pomp_motion::retarget::RigLibrary;
use pomp_preprocess::{
    Failure, Input, Manifest, OnFailure, Part, PreprocessConfig, PreprocessError, find_inputs, run_part,
};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

fn done(inputs: &[Input], part: Part, out: &Path) -> Manifest {
    let config = PreprocessConfig { mirror: false, ..PreprocessConfig::default() };
    let on = |_: &pomp_preprocess::Progress| ControlFlow::Continue(());
    run_part(inputs, part, out, &config, &RigLibrary::builtin(), OnFailure::Skip, &on).unwrap()
}

#[test]
fn merged_manifests_of_parts_are_that_of_the_whole_and_the_last_to_tell_of_an_input_counts() {
    let folder = tempfile::tempdir().unwrap();
    let clips = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/clips");
    let paths: Vec<PathBuf> = ["00_stand.bvh", "02_jog.bvh"].map(|name| clips.join(name)).into();
    let inputs = find_inputs(&paths).unwrap();
    let whole = done(&inputs, Part::WHOLE, &folder.path().join("whole"));
    let out = folder.path().join("parts");
    let parts: Vec<Manifest> = (0..2).map(|rank| done(&inputs, Part::new(rank, 2).unwrap(), &out)).collect();
    for input in &inputs {
        let rank = Part::rank_of(&input.name, 2);
        assert!(parts[rank].clips.iter().any(|clip| clip.input == input.path), "{}", input.name);
    }
    assert_eq!(Manifest::merged(parts.clone(), None).unwrap().to_json(), whole.to_json());

    let of_first = Manifest::merged(parts, Some(&paths[..1])).unwrap();
    assert_eq!(of_first.clips.iter().map(|clip| &clip.input).collect::<Vec<_>>(), [&paths[0]]);

    let failure = Failure { input: paths[0].clone(), error: "broken".to_owned() };
    let failed = Manifest { clips: Vec::new(), failures: vec![failure], ..whole.clone() };
    let mended = Manifest::merged(vec![failed.clone(), whole.clone()], None).unwrap();
    assert_eq!(mended, whole);
    let broken = Manifest::merged(vec![whole.clone(), failed], None).unwrap();
    assert_eq!((broken.clips.len(), broken.failures.len()), (1, 1));

    let other = Manifest { config_hash: "another".to_owned(), ..whole.clone() };
    for wrong in [vec![], vec![whole, other]] {
        assert!(matches!(Manifest::merged(wrong, None), Err(PreprocessError::BadConfig { .. })));
    }
}

#[test]
fn a_run_removes_what_a_killed_worker_left_also_where_this_process_has_written_before() {
    let folder = tempfile::tempdir().unwrap();
    let clip = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/clips/00_stand.bvh");
    let inputs = find_inputs(&[clip]).unwrap();
    done(&inputs, Part::WHOLE, folder.path());
    let left = folder.path().join(".partial-pomp-aKilled0");
    std::fs::write(&left, "half of a clip").unwrap();
    done(&inputs, Part::WHOLE, folder.path());
    assert!(!left.exists());
}

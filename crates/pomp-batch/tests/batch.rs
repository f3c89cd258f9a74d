//! Batches: the same bytes whatever the threads and interruptions, and nothing mixed.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

use pomp_batch::{Batch, BatchError, BatchReport, Loop, Manifest, Progress, RandomScenes, Share, run};
use pomp_embedded::{Device, Model};
use pomp_generator::{ControlPlan, GeneratorConfig, replay};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

fn model() -> &'static Model {
    static MODEL: OnceLock<Model> = OnceLock::new();
    MODEL.get_or_init(|| pomp_embedded::load(&Device::flex()).unwrap())
}

fn unrolled() -> &'static Model {
    static MODEL: OnceLock<Model> = OnceLock::new();
    MODEL.get_or_init(|| pomp_embedded_unrolled::load(&Device::flex()).unwrap())
}

fn scenes() -> RandomScenes {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../configs/batch.toml");
    let mut scenes: RandomScenes = toml::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    // Half a second is long enough for a push.
    scenes.pushes.as_mut().unwrap().interval_s = [0.2, 0.3];
    scenes
}

fn batch(count: usize) -> Batch<'static> {
    Batch {
        loops: BTreeMap::from([
            ("assist".to_owned(), Loop { model: model(), settings: GeneratorConfig::default() }),
            (
                "own-feet".to_owned(),
                Loop { model: unrolled(), settings: GeneratorConfig::own_feet_unrolled() },
            ),
        ]),
        seconds: 0.5,
        first_seed: 5,
        count,
        scenes: scenes().to_json(),
    }
}

/// Both of them are among the first scenes.
fn support(ground: &str, _: &ControlPlan) -> String {
    if ground == "hills" { "assist" } else { "own-feet" }.to_owned()
}

fn make(batch: &Batch<'_>, out: &Path, threads: usize) -> Result<BatchReport, BatchError> {
    let scenes = scenes();
    let scene = |seed| scenes.draw(seed, batch.seconds, &model().description.body_names, &support);
    run(batch, &scene, &Share::whole(), out, threads, &|_| ControlFlow::Continue(()))
}

/// Every file of a folder.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    entries.map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap())).collect()
}

#[test]
fn threads_and_interruptions_change_no_byte_and_every_rollout_replays() {
    let folder = tempfile::tempdir().unwrap();
    let [one, three, broken] = ["one", "three", "broken"].map(|name| folder.path().join(name));
    let report = make(&batch(4), &one, 1).unwrap();
    assert_eq!((report.made, report.manifest.clips.len()), (4, 4));
    let whole = contents(&one);
    assert_eq!(
        whole.keys().map(String::as_str).collect::<Vec<_>>(),
        ["manifest.json", "rollout_0000.npz", "rollout_0001.npz", "rollout_0002.npz", "rollout_0003.npz"]
    );
    make(&batch(4), &three, 3).unwrap();
    assert!(contents(&three) == whole, "three threads give other bytes than one");

    // Interrupted: two rollouts were asked for, one of them is cut; then four are.
    make(&batch(2), &broken, 1).unwrap();
    let cut = broken.join("rollout_0001.npz");
    fs::write(&cut, &whole["rollout_0001.npz"][..20_000]).unwrap();
    let progress = [const { AtomicUsize::new(0) }; 3];
    let scenes = scenes();
    let scene = |seed| scenes.draw(seed, 0.5, &model().description.body_names, &support);
    let report = run(&batch(4), &scene, &Share::whole(), &broken, 2, &|now| {
        let at = match now {
            Progress::Made { .. } => 0,
            Progress::Kept { .. } => 1,
            Progress::Failed { .. } => 2,
        };
        progress[at].fetch_add(1, Ordering::Relaxed);
        ControlFlow::Continue(())
    })
    .unwrap();
    assert_eq!(progress.map(AtomicUsize::into_inner), [3, 1, 0]);
    assert_eq!(report.made, 3);
    assert!(contents(&broken) == whole, "a batch in two goes gives other bytes than one in one go");

    let rollout = pomp_formats::read_recording(&one.join("rollout_0003.npz")).unwrap();
    assert!(!rollout.generation.as_ref().unwrap().pushes.is_empty());
    let of_support = &report.manifest.clips[3].support;
    assert_eq!(replay(&rollout, batch(4).loops[of_support].model, |_| 0.0).unwrap().differences, []);
    let mut supports = BTreeSet::new();
    for (index, clip) in report.manifest.clips.iter().enumerate() {
        assert_eq!(clip.seed, 5 + index as u64);
        let rollout = pomp_formats::read_recording(&one.join(&clip.file)).unwrap();
        let settings = &batch(4).loops[&clip.support].settings;
        assert_eq!(rollout.config_hash, settings.hash(), "{} has other settings than it says", clip.file);
        supports.insert(&clip.support);
    }
    assert_eq!(supports.len(), 2, "both supports are seen");
}

#[test]
fn shares_of_several_processes_are_the_bytes_of_one() {
    let folder = tempfile::tempdir().unwrap();
    let [one, shared] = ["one", "shared"].map(|name| folder.path().join(name));
    make(&batch(5), &one, 2).unwrap();
    let scenes = scenes();
    let scene = |seed| scenes.draw(seed, 0.5, &model().description.body_names, &support);
    let is_second = |name: &str| name.ends_with(['1', '4']);
    let first: Share<'_> = Share { suffix: "_0_of_2".to_owned(), holds: &|name| !is_second(name) };
    let second: Share<'_> = Share { suffix: "_1_of_2".to_owned(), holds: &is_second };
    let on = |_: &Progress<'_>| ControlFlow::Continue(());
    let parts = [first, second].map(|share| run(&batch(5), &scene, &share, &shared, 2, &on).unwrap());
    assert_eq!(parts.each_ref().map(|part| part.made), [3, 2]);
    let merged = Manifest::merged(parts.map(|part| part.manifest).into()).unwrap();
    assert_eq!(merged.to_json().as_bytes(), contents(&one)["manifest.json"]);
    let whole = make(&batch(5), &shared, 1).unwrap();
    assert_eq!(whole.made, 0, "the whole finds what its shares have made");
    let mut there = contents(&shared);
    there.remove("manifest_0_of_2.json").unwrap();
    there.remove("manifest_1_of_2.json").unwrap();
    assert!(there == contents(&one));
    for wrong in [vec![], vec![whole.manifest.clone(), whole.manifest]] {
        let error = Manifest::merged(wrong).expect_err("not one batch");
        assert!(matches!(error, BatchError::OtherShares { .. }), "{error}");
    }
}

#[test]
fn a_batch_that_is_stopped_says_so_and_goes_on_the_next_time() {
    let folder = tempfile::tempdir().unwrap();
    let scenes = scenes();
    let scene = |seed| scenes.draw(seed, 0.5, &model().description.body_names, &support);
    let stop = |_: &Progress<'_>| ControlFlow::Break(());
    let stopped = run(&Batch { seconds: 0.1, ..batch(20) }, &scene, &Share::whole(), folder.path(), 1, &stop);
    assert!(matches!(stopped, Err(BatchError::Stopped)));
    let made = contents(folder.path()).len() - 1;
    assert!((1..20).contains(&made), "{made}");
    let on = |_: &Progress<'_>| ControlFlow::Continue(());
    let report =
        run(&Batch { seconds: 0.1, ..batch(20) }, &scene, &Share::whole(), folder.path(), 2, &on).unwrap();
    assert_eq!(report.made, 20 - made);
}

#[test]
fn rejects_a_folder_of_another_batch_naming_the_setting() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path();
    make(&batch(2), out, 2).unwrap();
    let before = contents(out);
    let refused = |batch: Batch<'_>, word: &str| {
        let error = make(&batch, out, 1).expect_err("another batch");
        assert!(matches!(error, BatchError::OtherBatch { .. }), "{error}");
        assert!(error.to_string().contains(word), "{error}");
    };
    refused(Batch { first_seed: 6, ..batch(2) }, "first_seed (5 there, 6 asked for)");
    refused(Batch { seconds: 0.25, ..batch(2) }, "seconds (0.5 there, 0.25 asked for)");
    refused(batch(1), "count (2 there, 1 asked for)");
    refused(Batch { scenes: json!({"other": 1}), ..batch(2) }, "scenes");
    let mut other = batch(2);
    other.loops.get_mut("assist").unwrap().settings.dynamic.friction = 0.5;
    refused(other, "generator.assist.dynamic.friction (0.6 there, 0.5 asked for)");
    // The scenes are other ones than the manifest says: a terrain file that was changed, for instance.
    let mut other = scenes();
    other.controls = vec![pomp_generator::Preset::Stand];
    let scene = |seed| other.draw(seed, 0.5, &model().description.body_names, &support);
    let error = run(&batch(2), &scene, &Share::whole(), out, 1, &|_| ControlFlow::Continue(()))
        .expect_err("other scenes");
    assert!(matches!(error, BatchError::OtherRollout { .. }), "{error}");
    assert_eq!(contents(out)["rollout_0001.npz"], before["rollout_0001.npz"]);
}

#[test]
fn a_scene_with_a_support_that_the_batch_lacks_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut only = batch(2);
    only.loops.remove("own-feet");
    let error = make(&only, folder.path(), 1).expect_err("one scene has another support");
    assert!(
        matches!(error, BatchError::BadScene { .. }) && error.to_string().contains("own-feet"),
        "{error}"
    );
}

#[test]
fn rejects_folders_that_hold_something_else_and_leaves_them_alone() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("diary.txt"), "dear").unwrap();
    let error = make(&batch(1), folder.path(), 1).expect_err("a diary");
    assert!(matches!(error, BatchError::NotABatch { .. }), "{error}");
    fs::write(folder.path().join("manifest.json"), "{\"clips\": []}").unwrap();
    let error = make(&batch(1), folder.path(), 1).expect_err("a dataset's manifest");
    assert!(matches!(error, BatchError::BadManifest { .. }), "{error}");
    assert_eq!(contents(folder.path()).len(), 2);
}

#[test]
fn rejects_batches_of_nothing_and_lengths_that_are_none() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    for bad in [
        batch(0),
        Batch { first_seed: u64::MAX, ..batch(1) },
        Batch { seconds: 0.0, ..batch(1) },
        Batch { seconds: -1.0, ..batch(1) },
        Batch { seconds: f32::NAN, ..batch(1) },
        Batch { seconds: 1e9, ..batch(1) },
    ] {
        let error = make(&bad, &out, 1).expect_err("nothing to make");
        assert!(matches!(error, BatchError::OutOfRange(_)), "{error}");
    }
    assert!(!out.exists());
}

#[test]
fn a_rollout_that_fails_is_told_and_the_others_are_made() {
    let folder = tempfile::tempdir().unwrap();
    let scenes = scenes();
    let scene = |seed| {
        let mut scene = scenes.draw(seed, 0.5, &model().description.body_names, &support)?;
        if seed == 6 {
            scene.pushes[0].impulse_ns.x = f32::NAN;
        }
        Ok(scene)
    };
    let report =
        run(&batch(3), &scene, &Share::whole(), folder.path(), 2, &|_| ControlFlow::Continue(())).unwrap();
    assert_eq!((report.made, report.manifest.failures.len()), (2, 1));
    assert_eq!(report.manifest.failures[0].input, "rollout_0001.npz");
    assert!(report.manifest.failures[0].error.contains("not finite"), "{:?}", report.manifest.failures);
}

#[test]
fn draws_are_of_their_seed_within_their_ranges_and_of_every_kind() {
    let (scenes, bodies) = (scenes(), &model().description.body_names);
    let drawn: Vec<_> = (0..60).map(|seed| scenes.draw(seed, 3.0, bodies, &support).unwrap()).collect();
    assert_eq!(scenes.draw(7, 3.0, bodies, &support).unwrap(), drawn[7]);
    let kinds = |of: &dyn Fn(usize) -> String| (0..60).map(of).collect::<BTreeSet<_>>();
    assert_eq!(
        kinds(&|i| drawn[i].ground.clone()).into_iter().collect::<Vec<_>>(),
        ["flat", "hills", "rough", "slope"]
    );
    assert_eq!(kinds(&|i| drawn[i].control.clone()).len(), 4);
    let random = scenes.pushes.as_ref().unwrap();
    let pushes: Vec<_> = drawn.iter().flat_map(|scene| &scene.pushes).collect();
    assert!(pushes.len() > 500, "{} pushes in three minutes, four a second", pushes.len());
    for push in pushes {
        let size = push.impulse_ns.length();
        assert!(size > random.impulse_ns[0] - 1e-3 && size < random.impulse_ns[1] + 1e-3, "{push:?}");
        assert!(push.impulse_ns.y == 0.0 && (0.2..3.0).contains(&push.time_s), "{push:?}");
        assert!(random.bodies.contains(&bodies[push.body]));
    }
}

#[test]
fn pushes_counted_from_the_heading_turn_with_it_and_are_the_same_otherwise() {
    let bodies = &model().description.body_names;
    let of = |from: &str| {
        let text = format!(
            "controls = [\"circle\"]\n[pushes]\ninterval_s = [1.0, 2.0]\nimpulse_ns = [10.0, 20.0]\ndirection_deg = [-20.0, 20.0]\n\
             {from}bodies = [\"Hips\"]\n[[ground]]\nshare = 1.0\nshape = {{ kind = \"flat\" }}\n"
        );
        let scenes: RandomScenes = toml::from_str(&text).unwrap();
        scenes.draw(3, 20.0, bodies, &support).unwrap()
    };
    let (plain, world, heading) =
        (of(""), of("direction_from = \"world\"\n"), of("direction_from = \"heading\"\n"));
    assert_eq!(plain, world);
    assert!(heading.pushes.len() > 8);
    for (world, heading_push) in world.pushes.iter().zip(&heading.pushes) {
        assert_eq!(world.time_s, heading_push.time_s);
        let yaw = heading.plan.at(world.time_s * heading.plan.frame_rate_hz()).yaw;
        let turned = glam::Quat::from_rotation_y(yaw) * world.impulse_ns;
        assert!(
            (turned - heading_push.impulse_ns).length() < 1e-3,
            "{turned} and {}",
            heading_push.impulse_ns
        );
    }
}

#[test]
fn rejects_scenes_that_make_no_sense() {
    let bodies = &model().description.body_names;
    let refused = |change: &str, word: &str| {
        let text = format!("controls = [\"walk\"]\n{change}");
        let scenes: RandomScenes = toml::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        let error = scenes.validate(bodies).expect_err(change).to_string();
        assert!(error.contains(word), "{error}");
    };
    let ground = "[[ground]]\nshare = 1.0\nshape = { kind = \"flat\" }\n";
    refused("ground = []", "ground");
    refused("[[ground]]\nshare = 0.0\nshape = { kind = \"flat\" }", "share");
    refused("[[ground]]\nshare = nan\nshape = { kind = \"flat\" }", "share");
    let hills = |range: &str| {
        format!(
            "[[ground]]\nshare = 1.0\nshape = {{ kind = \"hills\", amplitude_m = {range}, wavelength_m = [5.0, 6.0] }}"
        )
    };
    refused(&hills("[0.5, 0.1]"), "amplitude_m");
    refused(&hills("[0.5, inf]"), "amplitude_m");
    refused(&hills("[-1.0, 0.5]"), "amplitude_m");
    let pushes = |interval: &str, size: &str, body: &str| {
        format!(
            "[pushes]\ninterval_s = {interval}\nimpulse_ns = {size}\ndirection_deg = [0.0, 1.0]\nbodies = [{body}]\n{ground}"
        )
    };
    refused(&pushes("[0.0, 1.0]", "[1.0, 2.0]", "\"Hips\""), "interval_s");
    refused(&pushes("[1.0, 1.0]", "[1.0, 1e9]", "\"Hips\""), "impulse_ns");
    refused(&pushes("[1.0, 1.0]", "[1.0, nan]", "\"Hips\""), "impulse_ns");
    refused(&pushes("[1.0, 1.0]", "[1.0, 2.0]", "\"Tail\""), "Spine2");
    refused(&pushes("[1.0, 1.0]", "[1.0, 2.0]", ""), "bodies");
}

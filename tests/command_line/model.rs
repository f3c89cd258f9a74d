//! Training and the closed loop, on a model of a few hundred weights that is trained here in seconds, and on the model
//! that comes with the program where it is there.

use crate::pomp;
use crate::program::{Ran, names, recordings, repository, skipped};
use crate::tiny_model::{changed, tiny_changes};
use serde_json::Value;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use tempfile::TempDir;

fn train(out: &Path) -> Ran {
    let folder = TempDir::new().unwrap();
    let config = folder.path().join("tiny.toml");
    fs::write(&config, changed(&tiny_changes())).unwrap();
    pomp!("train", "all", "--data", recordings(), "--out", out, "--config", config, "--json")
}

/// The tiny model, trained once.
pub fn tiny() -> &'static Path {
    static TINY: OnceLock<PathBuf> = OnceLock::new();
    TINY.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("command_line_model");
        if folder.exists() {
            fs::remove_dir_all(&folder).unwrap();
        }
        train(&folder).succeeds();
        folder
    })
}

/// A second on flat ground by the tiny model, steered by the file or the preset `value` of `option`.
pub fn second_on_the_flat(option: &str, value: &Path, out: &Path) -> Ran {
    let common = ["generate", "--terrain", "flat", "--seconds", "1", "--model"].map(OsStr::new);
    let own =
        [tiny().as_os_str(), OsStr::new(option), value.as_os_str(), OsStr::new("--out"), out.as_os_str()];
    crate::program::pomp(common.iter().chain(&own))
}

/// The folder of the model that is embedded in the program, when it has been trained.
fn shipped(what: &str) -> Option<PathBuf> {
    let folder = repository().join("data/models/compact");
    let weights = fs::metadata(folder.join("kinematic.safetensors")).map_or(0, |file| file.len());
    if weights == 0 {
        skipped(what, "data/models/compact/kinematic.safetensors is empty");
        return None;
    }
    Some(folder)
}

/// A run of two seconds into `out`, with further arguments.
fn generate(out: &Path, more: &[&str]) -> Ran {
    let common = ["generate", "--seconds", "2", "--terrain", "flat", "--control", "walk"];
    let place = ["--out", out.to_str().unwrap()];
    crate::program::pomp(common.iter().chain(&place).chain(more))
}

/// Two runs give the same bytes of every file of `outputs`, and of them alone; metrics.json
/// tells how long a run took.
fn assert_repeatable(arguments: &[&str], outputs: &[&str]) {
    let folder = TempDir::new().unwrap();
    let [a, b] = ["a", "b"].map(|name| folder.path().join(name));
    for out in [&a, &b] {
        generate(out, &[arguments, &["--seed", "1"]].concat()).succeeds();
        assert_eq!(names(out), [&["metrics.json"], outputs].concat());
    }
    for name in outputs {
        assert!(fs::read(a.join(name)).unwrap() == fs::read(b.join(name)).unwrap(), "{name} differs");
    }
    let rollout = pomp_formats::read_recording(&a.join("rollout.npz")).unwrap();
    assert_eq!(rollout.frames(), 120);
    assert!(rollout.simulation.is_some() && rollout.terrain.is_some());
    assert_eq!(rollout.generation.unwrap().frame_time_us, None, "no clock was asked for");
    let evaluated = pomp!("evaluate", a.join("rollout.npz")).succeeds().stdout;
    assert!(evaluated.contains("frame times: not recorded"), "{evaluated}");
}

fn assert_survives_a_huge_push(model: &[&str]) {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("pushed");
    generate(
        &out,
        &[model, &["--no-pictures", "--push", "0.5,Spine2,10000,0,0", "--push", "1,hips,0,-10000,0"]]
            .concat(),
    )
    .succeeds();
    let rollout = pomp_formats::read_recording(&out.join("rollout.npz")).unwrap();
    assert_eq!(rollout.generation.unwrap().pushes.len(), 2);
}

#[test]
fn training_is_repeatable_and_reports_every_stage() {
    let folder = TempDir::new().unwrap();
    let again = folder.path().join("again");
    let ran = train(&again).succeeds();
    let stages: Vec<String> = ran
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["stage"].as_str().unwrap().to_owned())
        .collect();
    for stage in ["phase", "aligned-phase", "kinematic"] {
        assert!(stages.iter().any(|name| name.replace('_', "-") == stage), "{stage}: {stages:?}");
    }
    for name in ["phase.safetensors", "aligned_phase.safetensors", "kinematic.safetensors"] {
        assert!(
            fs::read(again.join(name)).unwrap() == fs::read(tiny().join(name)).unwrap(),
            "{name} differs"
        );
    }
}

#[test]
fn a_first_stage_trained_anew_leaves_nothing_of_the_model_before_it() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("model");
    copy(tiny(), &out);
    let config = folder.path().join("tiny.toml");
    fs::write(&config, changed(&tiny_changes())).unwrap();
    let train = |stage: &str| {
        let seed = ["--seed", "2", "--overwrite"];
        pomp!(
            "train",
            stage,
            "--data",
            recordings(),
            "--out",
            out,
            "--config",
            config,
            seed[0],
            seed[1],
            seed[2]
        )
    };
    train("phase").succeeds();
    assert_eq!(names(&out), ["checkpoints", "metrics.csv", "model.json", "phase.safetensors"]);

    // Trained in part, it does not generate, and the error says how to go on.
    let rollout = folder.path().join("rollout");
    let place = out.to_str().unwrap();
    generate(&rollout, &["--model", place]).refuses(&[
        place,
        "pomp train all --data DATA --out",
        "--resume",
        "kinematic module",
    ]);
    assert!(!rollout.exists());

    train("kinematic").succeeds();
    assert!(out.join("kinematic.safetensors").is_file());
}

#[test]
fn a_folder_with_a_model_is_trained_again_only_when_that_is_asked_for() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("model");
    let config = folder.path().join("tiny.toml");
    fs::write(&config, changed(&tiny_changes())).unwrap();
    let train = |stage: &str, more: &[&str]| {
        let common = ["train", stage, "--data"].map(OsStr::new);
        let paths = [recordings().as_os_str(), OsStr::new("--out"), out.as_os_str()];
        let config = [OsStr::new("--config"), config.as_os_str()];
        crate::program::pomp(
            common.into_iter().chain(paths).chain(config).chain(more.iter().copied().map(OsStr::new)),
        )
    };
    let networks = ["phase.safetensors", "aligned_phase.safetensors", "kinematic.safetensors"];
    let bytes = |of: &Path| networks.map(|name| fs::read(of.join(name)).unwrap());
    train("phase", &[]).succeeds();
    // The later stages are not in the folder yet.
    train("aligned-phase", &[]).succeeds();
    train("kinematic", &[]).succeeds();
    let first = bytes(&out);
    for stage in ["phase", "aligned-phase", "kinematic", "all"] {
        train(stage, &[]).refuses(&[out.to_str().unwrap(), "--resume", "--overwrite"]);
    }
    assert!(bytes(&out) == first, "a refusal changes nothing");
    train("kinematic", &["--resume"]).succeeds();
    assert!(bytes(&out) == first);

    // A checkpoint alone is a training that has been begun.
    for name in networks.iter().chain(&["model.json"]) {
        fs::remove_file(out.join(name)).unwrap();
    }
    train("all", &[]).refuses(&[out.to_str().unwrap(), "the phase stage", "--resume", "--overwrite"]);
    let place = out.to_str().unwrap();
    generate(&folder.path().join("rollout"), &["--model", place]).refuses(&[
        place,
        "its training has not ended",
        "--resume",
    ]);

    train("all", &["--seed", "2", "--overwrite"]).succeeds();
    assert!(bytes(&out) != bytes(tiny()), "another seed, another model");
    train("all", &["--overwrite"]).succeeds();
    assert!(bytes(&out) == bytes(tiny()), "it starts anew, as in an empty folder");
}

#[test]
fn a_training_with_no_clip_held_out_warns_and_says_what_to_do() {
    let folder = TempDir::new().unwrap();
    let config = folder.path().join("tiny.toml");
    // So rare that none of three clips is held out.
    let rare: (&[&str], toml::Value) = (&["held_out_every"], 1_000_000.into());
    fs::write(&config, changed(&tiny_changes().into_iter().chain([rare]).collect::<Vec<_>>())).unwrap();
    let out = folder.path().join("model");
    let ran = pomp!("train", "phase", "--data", recordings(), "--out", out, "--config", config).succeeds();
    assert!(ran.stderr.contains("no clip is held out") && ran.stderr.contains("held_out_every"), "{ran:?}");
}

#[cfg(unix)]
#[test]
fn everyone_may_read_a_model_who_may_read_other_new_files() {
    use std::os::unix::fs::PermissionsExt;
    let mode = |name: &str| fs::metadata(tiny().join(name)).unwrap().permissions().mode() & 0o777;
    // `metrics.csv` is created the ordinary way.
    for name in ["model.json", "phase.safetensors", "aligned_phase.safetensors", "kinematic.safetensors"] {
        assert_eq!(mode(name), mode("metrics.csv"), "{name}");
    }
}

#[test]
fn the_kinematic_report_measures_what_it_promises_and_is_repeatable() {
    let folder = TempDir::new().unwrap();
    let report = |name: &str| {
        let out = folder.path().join(name);
        pomp!("kinematic", "report", recordings(), tiny(), "--out", &out, "--steps", "1,2").succeeds();
        fs::read_to_string(out.join("report.json")).unwrap()
    };
    let text = report("one");
    assert_eq!(text, report("two"));
    let figures: Value = serde_json::from_str(&text).unwrap();
    let frames: Vec<u64> =
        figures["horizons"].as_array().unwrap().iter().map(|h| h["frames"].as_u64().unwrap()).collect();
    assert_eq!(frames, [1, 15, 30, 60]);
    let samplers = figures["samplers"].as_array().unwrap();
    assert_eq!(
        samplers.len(),
        1 + 5,
        "one step has no covariance, two have none, two estimates of a scalar and of each feature"
    );
    for gait in figures["experts"].as_array().unwrap() {
        let sum: f64 = gait["shares"].as_array().unwrap().iter().map(|share| share.as_f64().unwrap()).sum();
        assert!((sum - 1.0).abs() < 1e-4, "{gait}");
    }
    let refused =
        pomp!("kinematic", "report", recordings(), tiny(), "--out", folder.path(), "--steps", "1000");
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("step"), "it has fewer diffusion steps: {}", refused.stderr);
}

#[test]
fn the_phase_report_says_and_shows_what_it_promises_and_is_repeatable() {
    let folder = TempDir::new().unwrap();
    let report = |name: &str| {
        let out = folder.path().join(name);
        pomp!("phase", "report", recordings(), tiny(), "--out", &out, "--plain-steps", "3").succeeds();
        out
    };
    let (out, again) = (report("one"), report("two"));
    let written = names(&out);
    assert_eq!(written, names(&again));
    for name in &written {
        assert!(fs::read(out.join(name)).unwrap() == fs::read(again.join(name)).unwrap(), "{name}");
    }
    let text = fs::read_to_string(out.join("report.md")).unwrap();
    for heading in [
        "## Channels",
        "## Reconstruction",
        "## Nearest neighbours",
        "## Rank of the frame that follows",
        "## Alignment",
    ] {
        assert!(text.contains(heading), "{heading}");
    }
    for name in written.iter().filter(|name| name.ends_with(".png")) {
        assert!(text.contains(&format!("]({name})")), "{name} is not shown");
    }
    let json: Value = serde_json::from_slice(&fs::read(out.join("report.json")).unwrap()).unwrap();
    assert_eq!(
        json["measured_on"], "training",
        "the tiny model holds nothing out, and the report has to say so"
    );
    let methods = json["reconstruction"].as_array().unwrap();
    let weights = |at: usize| methods[at]["weights"].as_f64().unwrap();
    assert!(
        (weights(1) / weights(0) - 1.0).abs() < 0.1,
        "the plain autoencoder has another size: {methods:?}"
    );
    assert_eq!(methods[0]["numbers"], methods[1]["numbers"]);
}

#[test]
fn the_same_seed_generates_the_same_bytes() {
    let outputs = ["motion.bvh", "motion.glb", "preview.gif", "preview.png", "rollout.npz"];
    assert_repeatable(&["--model", tiny().to_str().unwrap()], &outputs);
}

#[test]
fn a_run_with_a_clock_records_the_time_of_every_frame_and_changes_nothing_else() {
    let folder = TempDir::new().unwrap();
    let [clocked, plain] = ["clocked", "plain"].map(|name| folder.path().join(name));
    let model = tiny().to_str().unwrap();
    let told = generate(&plain, &["--model", model, "--no-pictures"]).succeeds().stdout;
    assert!(told.contains("frame_time_p50_ms"), "the times are told without a clock too: {told}");
    generate(&clocked, &["--model", model, "--no-pictures", "--clock"]).succeeds();
    let read = |out: &Path| pomp_formats::read_recording(&out.join("rollout.npz")).unwrap();
    let (mut clocked, plain) = (read(&clocked), read(&plain));
    let times = clocked.generation.as_mut().unwrap().frame_time_us.take().unwrap();
    assert!(times.len() == 120 && times.iter().all(|time| *time > 0.0), "{times:?}");
    assert_eq!(clocked, plain);
}

#[test]
fn the_shipped_model_generates_the_same_bytes_for_the_same_seed() {
    if shipped("the embedded model, twice").is_some() {
        assert_repeatable(&["--no-pictures"], &["motion.bvh", "motion.glb", "rollout.npz"]);
    }
}

#[test]
fn a_push_of_ten_kilonewton_seconds_does_not_end_a_run() {
    assert_survives_a_huge_push(&["--model", tiny().to_str().unwrap()]);
}

#[test]
fn a_push_of_ten_kilonewton_seconds_does_not_end_a_run_of_the_shipped_model() {
    if shipped("the embedded model under a push").is_some() {
        assert_survives_a_huge_push(&[]);
    }
}

#[test]
fn a_path_that_leads_off_the_ground_of_a_file_is_warned_of_and_no_other() {
    let folder = TempDir::new().unwrap();
    let small = folder.path().join("small.toml");
    fs::write(&small, "size_m = 4.0\n[shape]\nkind = \"flat\"\n").unwrap();
    let told = |terrain: &str, seconds: &str, more: &[&str]| {
        let out = folder.path().join("out");
        let common = ["generate", "--control", "walk", "--model", tiny().to_str().unwrap(), "--no-pictures"];
        let own = ["--terrain", terrain, "--seconds", seconds, "--out", out.to_str().unwrap()];
        let ran = crate::program::pomp(common.iter().chain(&own).chain(more)).succeeds();
        fs::remove_dir_all(&out).unwrap();
        ran.stderr
    };
    let small = small.to_str().unwrap();
    // It walks at 1.2 m/s, and the ground ends 6 m from the start, 4 m of border included.
    for (terrain, seconds, more, warned) in [
        (small, "6", &[] as &[&str], true),
        (small, "6", &["--count", "2"], true),
        (small, "3", &[], false),
        ("flat", "6", &["--count", "2"], false),
    ] {
        let stderr = told(terrain, seconds, more);
        assert_eq!(stderr.contains("leads off the ground"), warned, "{terrain}, {seconds} s: {stderr}");
        assert!(!warned || (stderr.contains("small.toml") && stderr.contains("after 5.0 s")), "{stderr}");
        assert_eq!(stderr.matches("leads off").count(), usize::from(warned), "once: {stderr}");
    }
}

#[test]
fn rejects_pushes_that_are_none() {
    let folder = TempDir::new().unwrap();
    let model = tiny().to_str().unwrap();
    for (push, words) in [
        ("5,Spine2,50", &["T,BODY,JX,JY,JZ", "5,Spine2,50,left"] as &[&str]),
        ("1,2,3,4,5,6", &["T,BODY,JX,JY,JZ"]),
        ("", &["T,BODY,JX,JY,JZ"]),
        ("soon,Spine2,50,0,0", &["soon", "not a number"]),
        ("1,Spine2,nan,0,0", &["not finite"]),
        ("1,Spine2,1e99,0,0", &["not finite"]),
        ("-1,Spine2,50,0,0", &["below 0"]),
        ("1,Tail,50,0,0", &["Tail", "Spine2", "Hips"]),
    ] {
        let out = folder.path().join("out");
        generate(&out, &["--model", model, &format!("--push={push}")])
            .misuses(&[&[push] as &[&str], words].concat());
        assert!(!out.exists(), "nothing is written for a push that is none");
    }
}

#[test]
fn rejects_throws_that_are_none() {
    let folder = TempDir::new().unwrap();
    let model = tiny().to_str().unwrap();
    for (throw, words) in [
        ("4,Spine2,8,9", &["T,BODY,KG,M_S,FROM", "4,Spine2,8,9,90"] as &[&str]),
        ("0,Spine2,8,9,90", &["above 0"]),
        ("4,Spine2,800,9,90", &["mass", "kg"]),
        ("4,Spine2,8,99,90", &["speed", "m/s"]),
        ("4,Spine2,8,9,north", &["north", "not a number"]),
        ("4,Tail,8,9,0", &["Tail", "Spine2"]),
    ] {
        let out = folder.path().join("out");
        generate(&out, &["--model", model, &format!("--throw={throw}")])
            .misuses(&[&[throw] as &[&str], words].concat());
        assert!(!out.exists(), "nothing is written for a throw that is none");
    }
}

#[test]
fn rejects_controls_that_are_none() {
    let folder = TempDir::new().unwrap();
    let (model, out) = (tiny(), folder.path().join("out"));
    pomp!("generate", "--model", model, "--out", out, "--control", "moonwalk")
        .misuses(&["moonwalk", "slalom"]);
    let path = folder.path().join("path.toml");
    fs::write(&path, "nonsense = 1\n").unwrap();
    pomp!("generate", "--model", model, "--out", out, "--control", path).refuses(&["path.toml", "nonsense"]);
    assert!(!out.exists());
}

fn copy(model: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for name in names(model).iter().filter(|name| model.join(name).is_file()) {
        fs::copy(model.join(name), to.join(name)).unwrap();
    }
}

/// Copies a model with the first weight of a tensor of `prefix` made NaN; gives the tensor's name.
fn corrupted(model: &Path, to: &Path, file: &str, prefix: &str) -> String {
    copy(model, to);
    let mut bytes = fs::read(model.join(file)).unwrap();
    let header = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let tensors: Value = serde_json::from_slice(&bytes[8..8 + header]).unwrap();
    let (name, tensor) = tensors
        .as_object()
        .unwrap()
        .iter()
        .find(|(name, _)| name.starts_with(prefix))
        .expect("the file has weights");
    let at = 8 + header + tensor["data_offsets"][0].as_u64().unwrap() as usize;
    match tensor["dtype"].as_str().unwrap() {
        "F16" => bytes[at..at + 2].copy_from_slice(&0x7e00_u16.to_le_bytes()),
        "F32" => bytes[at..at + 4].copy_from_slice(&f32::NAN.to_le_bytes()),
        other => panic!("{name} holds {other}"),
    }
    fs::write(to.join(file), bytes).unwrap();
    name.clone()
}

fn assert_nan_is_named(model: &Path) {
    let folder = TempDir::new().unwrap();
    for (index, (file, prefix)) in [
        ("kinematic.safetensors", "kinematic."),
        ("kinematic.safetensors", "gamma."),
        ("phase.safetensors", "phase."),
    ]
    .into_iter()
    .enumerate()
    {
        let bad = folder.path().join(format!("bad{index}"));
        let tensor = corrupted(model, &bad, file, prefix);
        let out = folder.path().join("out");
        generate(&out, &["--model", bad.to_str().unwrap()]).refuses(&[&tensor, file, "not finite"]);
        assert!(!out.exists());
    }
}

#[test]
fn rejects_weights_that_are_not_numbers_and_names_the_tensor() {
    assert_nan_is_named(tiny());
}

#[test]
fn rejects_weights_of_the_shipped_model_that_are_not_numbers() {
    if let Some(model) = shipped("NaN among the embedded weights") {
        assert_nan_is_named(&model);
    }
}

#[test]
fn rejects_models_that_are_incomplete_or_cut() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    for (index, file) in ["model.json", "phase.safetensors", "kinematic.safetensors"].into_iter().enumerate()
    {
        for keep in [0.0, 0.5, 0.99] {
            let bad = folder.path().join(format!("cut{index}_{keep}"));
            copy(tiny(), &bad);
            let bytes = fs::read(tiny().join(file)).unwrap();
            fs::write(bad.join(file), &bytes[..(bytes.len() as f64 * keep) as usize]).unwrap();
            generate(&out, &["--model", bad.to_str().unwrap()]).refuses(&[file]);
        }
    }
    assert!(!out.exists());
}

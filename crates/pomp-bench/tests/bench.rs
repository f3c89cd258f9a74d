//! A bench in miniature with the model that comes with the program: two methods, one scenario, two seconds.

#![expect(clippy::unwrap_used, reason = "helpers of tests, outside the functions that clippy exempts")]

use burn::tensor::Device;
use pomp_bench::{BenchConfig, Progress, Report, RunResult, Runs, World, run};
use pomp_model::Model;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn world() -> World {
    let model = Model::load(&repository().join("data/models/compact"), &Device::flex()).unwrap();
    World::new(model, "test".to_owned(), None)
}

const MINIATURE: &str = include_str!("miniature.toml");

fn config() -> BenchConfig {
    toml::from_str(MINIATURE).unwrap()
}

fn bench(world: &World, out: &Path, threads: usize) -> (Runs, String) {
    let runs = run(world, &config(), out, threads, &|_| {}).unwrap();
    let figures = Report::new(world, &config(), &runs).unwrap();
    (runs, serde_json::to_string_pretty(&figures).unwrap())
}

#[test]
fn a_bench_is_the_same_with_any_number_of_threads_and_keeps_no_clock() {
    let world = world();
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (runs, report_of_one) = bench(&world, one.path(), 1);
    let (_, report_of_two) = bench(&world, two.path(), 2);
    assert_eq!(report_of_one, report_of_two);
    for file in ["runs/flat/ours/0000.json", "runs/flat/ours/0000.gif", "flat.png"] {
        assert_eq!(
            fs::read(one.path().join(file)).unwrap(),
            fs::read(two.path().join(file)).unwrap(),
            "{file}"
        );
    }
    assert_eq!(runs.results.len(), 4);
    assert!(runs.results.iter().all(|r| r.failure.is_none() && r.metrics.frame_time_p50_ms.is_none()));
    assert_eq!(runs.not_run[0].method, "mocap", "what needs data is named, not passed over");
    // No physics, no forces; with it the ground carries.
    let (ours, kinematic) = (&runs.results[0].metrics, &runs.results[2].metrics);
    assert_eq!(kinematic.contact_force_peak_bw, None);
    assert!(ours.contact_force_peak_bw.unwrap() > 0.5);
}

#[test]
fn a_bench_goes_on_where_it_stopped_and_makes_what_changed_again() {
    let world = world();
    let out = tempfile::tempdir().unwrap();
    let (_, whole) = bench(&world, out.path(), 2);
    let path = |run: &str| out.path().join("runs/flat/ours").join(run);
    let read = |run: &str| -> RunResult { serde_json::from_slice(&fs::read(path(run)).unwrap()).unwrap() };
    let write = |run: &str, result: &RunResult| {
        fs::write(path(run), serde_json::to_string_pretty(result).unwrap()).unwrap();
    };
    // A result of this key is kept, whatever it says; one of another key and one that is missing are made again.
    let mut kept = read("0000.json");
    kept.metrics.jerk_mean_m_s3 = Some(1.0);
    write("0000.json", &kept);
    let mut stale = read("0001.json");
    stale.key = "another version".to_owned();
    stale.metrics.jerk_mean_m_s3 = Some(2.0);
    write("0001.json", &stale);
    fs::remove_file(out.path().join("runs/flat/kinematic_only/0001.json")).unwrap();
    let done = AtomicUsize::new(0);
    let runs = run(&world, &config(), out.path(), 1, &|progress| {
        if matches!(progress, Progress::Done { .. }) {
            done.fetch_add(1, Ordering::Relaxed);
        }
    })
    .unwrap();
    assert_eq!(done.into_inner(), 4);
    assert_eq!(runs.results[0].metrics.jerk_mean_m_s3, Some(1.0));
    assert!(runs.results[1].metrics.jerk_mean_m_s3.unwrap() > 10.0);
    // Without the forgery it is the bench that was never stopped.
    fs::remove_file(path("0000.json")).unwrap();
    assert_eq!(bench(&world, out.path(), 2).1, whole);
}

#[test]
fn rejects_a_method_that_a_scenario_names_and_nobody_defines() {
    let mut config = config();
    config.scenario[0].methods = vec!["theirs".to_owned()];
    let error = config.validate().unwrap_err().to_string();
    assert!(error.contains("scenario[0].methods") && error.contains("\"theirs\""), "{error}");
}

#[test]
fn rejects_names_that_are_no_file_names_and_names_given_twice() {
    let mut config = config();
    config.scenario[0].name = "../flat".to_owned();
    assert!(config.validate().unwrap_err().to_string().contains("../flat"));
    let mut config = self::config();
    config.method[1].name = "ours".to_owned();
    assert!(config.validate().unwrap_err().to_string().contains("no other [[method]]"));
}

#[test]
fn rejects_pushes_on_bodies_that_are_not_there_and_too_late_to_be_judged() {
    let with_push = |body: &str, from: f32| -> BenchConfig {
        let push = format!(
            "push = {{ impulse_ns = 50.0, directions = 8, bodies = [\"{body}\"], from_s = {from:.1}, span_s = 0.5 }}\n"
        );
        toml::from_str(&(MINIATURE.replace("seconds = 2.0", "seconds = 5.0") + &push)).unwrap()
    };
    with_push("Hips", 2.0).validate().unwrap();
    assert!(with_push("Tail", 2.0).validate().unwrap_err().to_string().contains("Tail"));
    assert!(with_push("Hips", 4.0).validate().unwrap_err().to_string().contains("leaves a second"));
}

#[test]
fn the_benches_that_come_with_the_program_are_valid_and_strict() {
    for name in ["quick.toml", "full.toml", "check.toml", "layers.toml", "assist.toml", "own_feet.toml"] {
        let text = fs::read_to_string(repository().join("configs/bench").join(name)).unwrap();
        let config: BenchConfig = toml::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let expanded = config.expanded().unwrap_or_else(|error| panic!("{name}: {error}"));
        expanded.validate().unwrap_or_else(|error| panic!("{name}: {error}"));
        for table in ["[[method]]", "[[grid]]", "[[grid.axis]]", "[[scenario]]"] {
            if !text.contains(table) {
                continue;
            }
            let misspelt = text.replacen(table, &format!("{table}\nmisspelt = 1"), 1);
            assert!(toml::from_str::<BenchConfig>(&misspelt).is_err(), "{name}: {table} takes any key");
        }
    }
}

//! The bench that every change has to pass, `configs/bench/check.toml`: a broken loop falls, slides, trembles or sinks.

#![expect(clippy::unwrap_used, reason = "helpers of tests, outside the functions that clippy exempts")]

use burn::tensor::Device;
use pomp_bench::{BenchConfig, RunResult, World, run};
use pomp_eval::Metrics;
use pomp_model::Model;
use std::fs;
use std::path::{Path, PathBuf};

/// A bound of every run: about half as much again as the worst run gives today, and more where the figure is near 0. A loop without
/// foot locking and one with every layer off are run beside it as controls: both fall.
struct Bound {
    metric: &'static str,
    largest: f64,
}

const fn bound(metric: &'static str, largest: f64) -> Bound {
    Bound { metric, largest }
}

/// At most 0.13 cm/frame, 0.5 mm, 2.9 mm, 564 m/s³, 0.05 m, 0.16 BW today.
const ON_LEVEL_GROUND: [Bound; 6] = [
    bound("foot_sliding_cm_per_frame", 0.2),
    bound("penetration_p95_mm", 4.0),
    bound("float_mean_mm", 4.0),
    bound("jerk_mean_m_s3", 950.0),
    bound("path_error_mean_m", 0.1),
    bound("assist_force_mean_bw", 0.21),
];

/// Broken loops, for the scenario on level ground.
const CONTROLS: &str = r#"
[[method]]
name = "without_foot_locking"
about = "a loop whose feet slip"
kind = { closed_loop = { layers = { foot_locking = { enabled = false } } } }

[[method]]
name = "bare"
about = "every layer off but the external root assist"
kind = { closed_loop = { layers = { root_following = { enabled = false }, pose_blending = { enabled = false }, phase_stabiliser = { enabled = false }, foot_locking = { enabled = false }, shown_surface = { enabled = false }, foot_placement = { enabled = false }, speed_adaptation = { enabled = false }, standing_posture = { enabled = false }, gait_recovery = { enabled = false }, fall_recovery = { enabled = false }, path_rejoining = { enabled = false }, turn_limit = { enabled = false } } } }
"#;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn check_finite(result: &RunResult) {
    for (info, value) in Metrics::INFO.iter().zip(result.metrics.values()) {
        let place = format!("{} of {} in {}, run {}", info.name, result.method, result.scenario, result.run);
        assert!(value.is_none_or(f64::is_finite), "{place} is {value:?}");
    }
}

fn values(results: &[&RunResult], metric: &str) -> Vec<f64> {
    results.iter().map(|result| result.metrics.value(metric).unwrap()).collect()
}

#[test]
fn the_loop_walks_on_level_ground_without_a_fall_and_far_from_the_bounds_of_a_broken_one() {
    let text = fs::read_to_string(repository().join("configs/bench/check.toml")).unwrap();
    let config: BenchConfig = toml::from_str(&format!("{text}{CONTROLS}")).unwrap();
    let model = Model::load(&repository().join("data/models/compact"), &Device::flex()).unwrap();
    let world = World::new(model, "test".to_owned(), None);
    let out = tempfile::tempdir().unwrap();
    let runs = run(&world, &config, out.path(), 2, &|_| {}).unwrap();
    assert_eq!(runs.results.len(), 14 + 8);
    for result in &runs.results {
        assert_eq!(result.failure, None, "{} in {}", result.method, result.scenario);
        check_finite(result);
    }
    let of = |scenario: &str, method: &str| -> Vec<&RunResult> {
        runs.results.iter().filter(|r| r.scenario == scenario && r.method == method).collect()
    };

    let walks = of("flat", "ours");
    assert_eq!(values(&walks, "falls"), [0.0; 4], "no walk on level ground falls");
    for Bound { metric, largest } in ON_LEVEL_GROUND {
        let found = values(&walks, metric);
        println!("{metric}: {found:.3?}, at most {largest}");
        assert!(found.iter().all(|value| *value <= largest), "{metric}: {found:?} exceeds {largest}");
    }
    let speeds = values(&walks, "root_speed_m_s");
    println!("root_speed_m_s: {speeds:.3?}, asked for 1.2");
    assert!(speeds.iter().all(|speed| (1.15..1.25).contains(speed)), "{speeds:?}");

    // The bounds tell a broken loop from a whole one. Today all runs of both controls fall within 2.5 s, which leaves no figure.
    for control in ["without_foot_locking", "bare"] {
        let runs = of("flat", control);
        assert_eq!(runs.len(), walks.len());
        for metric in ["foot_sliding_cm_per_frame", "path_error_mean_m", "assist_force_mean_bw"] {
            let largest = ON_LEVEL_GROUND.iter().find(|bound| bound.metric == metric).unwrap().largest;
            // One that falls at once has no figure of its walk.
            let found: Vec<f64> = runs.iter().filter_map(|result| result.metrics.value(metric)).collect();
            println!("{control}: {metric} {found:.3?}");
            assert!(found.iter().all(|value| *value > largest), "{control} passes: {metric} {found:?}");
            let falls = values(&runs, "falls");
            assert!(
                found.len() + falls.iter().filter(|falls| **falls > 0.0).count() >= runs.len(),
                "{falls:?}"
            );
        }
    }

    // What disturbs may fell once in a while: not each time.
    for disturbed in [of("rough", "ours"), of("push_025", "ours")] {
        let falls = values(&disturbed, "falls");
        println!("{}: falls {falls:?}", disturbed[0].scenario);
        assert!(falls.iter().filter(|falls| **falls > 0.0).count() * 2 <= falls.len(), "{falls:?}");
    }
}

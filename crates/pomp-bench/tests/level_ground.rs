//! The bench that every change has to pass, `configs/bench/check.toml`: a broken loop falls, slides, trembles or sinks.

#![expect(clippy::unwrap_used, reason = "helpers of tests, outside the functions that clippy exempts")]

use burn::tensor::Device;
use pomp_bench::{BenchConfig, RunResult, World, run};
use pomp_eval::Metrics;
use pomp_model::Model;
use std::fs;
use std::path::{Path, PathBuf};

/// A bound of every run: two to ten times what the loop usually gives there, so that no seed crosses it by chance, and what
/// a loop that has come apart exceeds in the first seconds.
struct Bound {
    metric: &'static str,
    largest: f64,
}

const fn bound(metric: &'static str, largest: f64) -> Bound {
    Bound { metric, largest }
}

/// Usually 0.29 cm/frame, 2 mm, 2 mm, 550 m/s³, 0.04 m, 0.14 BW.
const ON_LEVEL_GROUND: [Bound; 6] = [
    bound("foot_sliding_cm_per_frame", 1.0),
    bound("penetration_p95_mm", 15.0),
    bound("float_mean_mm", 20.0),
    bound("jerk_mean_m_s3", 1_600.0),
    bound("path_error_mean_m", 0.5),
    bound("assist_force_mean_bw", 0.4),
];

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
    let config: BenchConfig = toml::from_str(&text).unwrap();
    let model = Model::load(&repository().join("data/models/compact"), &Device::flex()).unwrap();
    let world = World::new(model, "test".to_owned(), None);
    let out = tempfile::tempdir().unwrap();
    let runs = run(&world, &config, out.path(), 2, &|_| {}).unwrap();
    assert_eq!(runs.results.len(), 14);
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
    assert!(speeds.iter().all(|speed| (0.8..1.6).contains(speed)), "{speeds:?}");

    // What disturbs may fell once in a while: not each time.
    for disturbed in [of("rough", "ours"), of("push_025", "ours")] {
        let falls = values(&disturbed, "falls");
        println!("{}: falls {falls:?}", disturbed[0].scenario);
        assert!(falls.iter().filter(|falls| **falls > 0.0).count() * 2 <= falls.len(), "{falls:?}");
    }
}

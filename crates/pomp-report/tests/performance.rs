//! The page of the performance, of figures that are made up.

use pomp_bench::performance::{
    Bandwidth, CharacterGrowth, ControllerCost, EnsembleRate, GroundTimes, Limits, Machine, ModelTimes, Peer,
    PeerRow, PerformanceConfig, PerformanceReport, RolloutGrowth, Spread, StageTime, TerrainGrowth,
    TogetherTime,
};
use pomp_report::performance::{markdown, write};

fn spread(value: f64) -> Spread {
    Spread { median: value, least: 0.9 * value, most: 2.0 * value }
}

/// A frame of 1 ms, of which layers take 30 µs.
fn report() -> PerformanceReport {
    let stage = |stage: &str, us: f64, layers_us: f64| StageTime {
        stage: stage.to_owned(),
        us,
        without_layers_us: us - layers_us,
    };
    let stages = vec![
        stage("window", 20.0, 10.0),
        stage("kinematic encoder", 200.0, 0.0),
        stage("denoising steps", 400.0, 0.0),
        stage("target", 30.0, 20.0),
        stage("dynamics", 50.0, 0.0),
        stage("observation", 10.0, 0.0),
        stage("phase decoder", 150.0, 0.0),
        stage("phase encoder", 120.0, 0.0),
        stage("history", 20.0, 0.0),
    ];
    let ground = GroundTimes { ground: "flat".to_owned(), p50_ms: spread(1.0), p99_ms: spread(1.5), stages };
    let rates = [(1, 1000.0), (2, 1800.0)]
        .map(|(threads, rate)| EnsembleRate { threads, frames_per_s: spread(rate) });
    let work = [("kinematic encoder", 2_000_000, 2_000_000), ("denoising steps", 8_000_000, 4_000_000)];
    let model = ModelTimes {
        precision: pomp_bench::performance::Precision::Float32,
        name: "compact".to_owned(),
        sha256: "0".repeat(64),
        denoising_steps: 4,
        work: work.map(|(stage, products, bytes)| (stage.to_owned(), products, bytes)).to_vec(),
        grounds: vec![ground],
        ensembles: rates.to_vec(),
        together: [(1, 1000.0), (32, 500.0)]
            .map(|(characters, us)| TogetherTime { characters, frame_us: spread(us) })
            .to_vec(),
    };
    PerformanceReport {
        made_by: "pomp 0.0.0".to_owned(),
        command: "pomp bench performance --out docs".to_owned(),
        complete: true,
        config: PerformanceConfig::default(),
        machine: Machine {
            processor: "a processor".to_owned(),
            system: "linux x86_64".to_owned(),
            instruction_sets: vec!["AVX2".to_owned()],
            register_bits: 256,
            cores: 2,
            caches: Vec::new(),
            memory_bytes: None,
        },
        load_average: [Some(0.1), None],
        remark: None,
        models: vec![model],
        controllers: vec![ControllerCost {
            controller: "matching".to_owned(),
            frame_us: spread(10.0),
            shared_bytes: Some(3.0 * 1024.0 * 1024.0),
            bytes_each: None,
        }],
        characters: [1, 10]
            .map(|characters| CharacterGrowth { characters, frame_us: 700.0, bytes_each: None })
            .to_vec(),
        terrains: vec![TerrainGrowth {
            hectares: 1.0,
            heights: 100_000,
            frame_us: 1000.0,
            generate_s: 0.01,
            build_s: 0.02,
            bytes: Some(4.0 * 1024.0 * 1024.0),
        }],
        rollouts: vec![RolloutGrowth {
            minutes: 1.0,
            frame_us: 1000.0,
            first_frame_us: 990.0,
            bytes: Some(3_686_400.0),
        }],
        limits: Limits {
            bfloat16_multiply_adds_per_s: None,
            tile_multiply_adds_per_s: None,
            multiply_adds_per_s: spread(2e10),
            bandwidths: [1 << 20, 4 << 20]
                .map(|bytes| Bandwidth { bytes, bytes_per_s: spread(1e10) })
                .to_vec(),
        },
        degrees_of_freedom: 69,
        peers: vec![Peer {
            peer: "mujoco".to_owned(),
            version: "4.0".to_owned(),
            how: "One core.".to_owned(),
            rows: vec![PeerRow {
                what: "stand".to_owned(),
                unit: "µs".to_owned(),
                pomp: vec![30.0, 20.0, 40.0],
                peer: vec![120.0, 120.0, 110.0],
            }],
        }],
        wall_s: 1.0,
    }
}

#[test]
fn the_page_tells_shares_factors_and_ratios() {
    let page = markdown(&report());
    for row in [
        "| compact | flat | 1.00 (0.900–2.00) | 1.50 (1.35–3.00) | 16.7 |",
        "| compact | 2 | 1800 (1620–3600) | 900 | 1.80 |",
        // Layers take 30 µs of window and target, the rest 50.
        "| flat | 200 (20 %) | 400 (40 %) | 270 (27 %) | 50.0 (5 %) | 30.0 (3 %) | 50.0 (5 %) | 1000 |",
        // 2 million products at 40 thousand million a second, 2 MB at 20 GB/s.
        "| kinematic encoder | 200 | 2.00 | 1953 | 50.0 | 100 | 2.00 |",
        // Four steps of 1 MB each, with the same rate for all.
        "| denoising steps | 400 | 8.00 | 3906 | 200 | 200 | 2.00 |",
        "| 1.00 | 990 | 1000 | 3.52 | 1.00 |",
        "| `matching` | 10.0 (9.00–20.0) | 3.00 | – |",
        "| stand | µs | 30.0 (20.0–40.0) | 120 (110–120) | 0.250 |",
        "| load average before and after | 0.100, – |",
    ] {
        assert!(page.contains(row), "{row} is missing in\n{page}");
    }
    assert!(!page.contains("not the complete measurement"));
    assert!(!page.contains("Not measured here: a step of the dynamic module"));
    for peer in
        ["reading a BVH file", "a frame of the kinematic module", "training steps of the kinematic module"]
    {
        assert!(page.contains(&format!("Not measured here: {peer}")), "{peer}");
    }
}

#[test]
fn layers_that_cost_less_than_their_scatter_take_no_time_and_the_sum_stays() {
    let mut figures = report();
    for stage in &mut figures.models[0].grounds[0].stages {
        stage.without_layers_us = stage.us + 1.0;
    }
    let page = markdown(&figures);
    let row = "| flat | 200 (20 %) | 400 (40 %) | 270 (27 %) | 50.0 (5 %) | 0.00 (0 %) | 80.0 (8 %) | 1000 |";
    assert!(page.contains(row), "{page}");
}

#[test]
fn an_incomplete_measurement_is_told_and_growth_that_was_not_measured_is_left_out() {
    let figures =
        PerformanceReport { complete: false, characters: Vec::new(), controllers: Vec::new(), ..report() };
    let page = markdown(&figures);
    assert!(page.contains("not the complete measurement"));
    assert!(!page.contains("### Characters") && page.contains("### Terrain"));
    assert!(!page.contains("## Controllers") && markdown(&report()).contains("## Controllers"));
}

#[test]
fn every_chart_of_the_page_is_a_file_and_the_figures_are_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let figures = report();
    write(&figures, folder.path()).unwrap();
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let page = read("performance.md");
    let charts: Vec<&str> = page.split("](").skip(1).map(|rest| rest.split(')').next().unwrap()).collect();
    let charts: Vec<&&str> = charts.iter().filter(|file| file.ends_with(".svg")).collect();
    assert_eq!(charts.len(), 6, "no memory of the characters is known: {charts:?}");
    for chart in charts {
        assert!(read(chart).starts_with("<svg"));
    }
    let again: PerformanceReport = serde_json::from_str(&read("performance.json")).unwrap();
    assert_eq!(again, figures);
}

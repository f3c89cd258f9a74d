//! `pomp bench performance`, in less than its quick setting.

use crate::pomp;
use pomp_bench::performance::PerformanceReport;
use serde_json::Value;
use std::fs;
use tempfile::TempDir;

/// Settings that measure next to nothing, but something of all.
const LEAST: [&str; 10] = [
    "--quick",
    "--set",
    "grounds=[\"flat\"]",
    "--set",
    "characters=[1,2]",
    "--set",
    "terrain_ha=[0.1]",
    "--set",
    "rollout_min=[0.1]",
    "--json",
];

#[test]
fn the_page_of_the_performance_shows_the_figures_of_its_json() {
    let folder = TempDir::new().unwrap();
    let words = ["bench", "performance", "--remark", "a test", "--out", folder.path().to_str().unwrap()];
    let ran = crate::program::pomp(words.iter().chain(&LEAST)).succeeds();
    let mut told = ran.json();
    assert_eq!(told["schema"], "pomp/performance/1");
    told.as_object_mut().unwrap().remove("schema");
    let text = fs::read_to_string(folder.path().join("performance.json")).unwrap();
    let written: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(written, told);

    let report: PerformanceReport = serde_json::from_str(&text).unwrap();
    assert!(!report.complete);
    assert!(report.command.starts_with("pomp bench performance --remark 'a test' --out "));
    assert_eq!(report.made_by, concat!("pomp ", env!("CARGO_PKG_VERSION")));
    assert!(report.machine.cores > 0 && !report.machine.processor.is_empty());
    let compact = &report.models[0];
    assert_eq!(compact.name, "compact");
    let ground = &compact.grounds[0];
    assert!(ground.p50_ms.median > 0.0 && ground.p50_ms.median <= ground.p99_ms.median);
    assert_eq!(ground.stages.len(), 9);
    assert!(ground.stages.iter().all(|stage| stage.us > 0.0));
    // The stages are the frame: beside each other programs may slow one, but not tenfold.
    let sum: f64 = ground.stages.iter().map(|stage| stage.us).sum();
    let share = sum / (1e3 * ground.p50_ms.median);
    assert!((0.2..5.0).contains(&share), "the stages take {share} of a frame");
    assert_eq!(compact.ensembles.iter().map(|rate| rate.threads).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(report.characters.iter().map(|row| row.characters).collect::<Vec<_>>(), [1, 2]);
    let controllers: Vec<&str> = report.controllers.iter().map(|row| row.controller.as_str()).collect();
    let embedded = ["pomp", "phase", "pfnn", "mann", "local-phases", "nsm", "learned-matching"];
    assert_eq!(controllers, embedded);
    assert!(report.controllers.iter().all(|row| row.frame_us.median > 0.0));
    // Hypothetical machines apart, a denoising step of the compact model has 2.6 million products, and there are four.
    let steps = compact.work.iter().find(|(stage, ..)| stage == "denoising steps").unwrap();
    assert_eq!(compact.denoising_steps, 4);
    assert!((10_000_000..11_000_000).contains(&steps.1), "{steps:?}");
    assert!(report.limits.multiply_adds_per_s.median > 1e8);

    let page = fs::read_to_string(folder.path().join("performance.md")).unwrap();
    assert_eq!(page, pomp_report::performance::markdown(&report), "the page is a function of its figures");
    for wanted in [
        "This is not the complete measurement",
        "| beside it | a test |",
        "## A frame",
        "## Where the time of a frame goes",
        "### Characters",
        "### Terrain",
        "### Length of a rollout",
        "## What the machine can do",
        "## Other programs",
        "Not measured here: a step of the dynamic module",
        "peers.py mujoco",
    ] {
        assert!(page.contains(wanted), "\"{wanted}\" is missing in {page}");
    }
    let charts: Vec<&str> =
        page.split("](images/").skip(1).map(|rest| rest.split(')').next().unwrap()).collect();
    assert!(charts.contains(&"performance_frame.svg"), "{charts:?}");
    for chart in charts {
        let svg = fs::read_to_string(folder.path().join("images").join(chart)).unwrap();
        assert!(svg.starts_with("<svg"), "{chart}");
    }
}

#[test]
fn rejects_results_of_other_programs_that_cannot_be_used() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("peers.json");
    let row = |values: &str| {
        format!(
            r#"{{"peers": [{{"peer": "mujoco", "version": "1", "how": "", "rows": [{{"what": "a step", "unit": "µs", "pomp": [1.0], "peer": {values}}}]}}]}}"#
        )
    };
    for (text, reason) in [
        ("{".to_owned(), "EOF while parsing"),
        (r#"{"peers": [], "more": 1}"#.to_owned(), "unknown field `more`"),
        (
            row("[2.0]").replace("mujoco", "mujocco"),
            "there is no peer \"mujocco\"; there are mujoco, bvh_anim",
        ),
        (row("[]"), "each program has one positive number per turn"),
        (row("[-2.0]"), "\"a step\": each program has one positive number per turn"),
    ] {
        fs::write(&file, &text).unwrap();
        let ran =
            pomp!("bench", "performance", "--quick", "--peers", file, "--out", folder.path().join("out"));
        ran.refuses(&["peers.json", reason, "or leave --peers out"]);
    }
    let missing = folder.path().join("missing.json");
    let ran =
        pomp!("bench", "performance", "--quick", "--peers", missing, "--out", folder.path().join("out"));
    ran.refuses(&["reading", "missing.json", "--peers"]);
    assert!(!folder.path().join("out").exists(), "nothing is measured before the input is known to be good");
}

#[test]
fn rejects_settings_of_the_measurement_that_are_out_of_range() {
    for (setting, word) in [
        ("repetitions=0", "repetitions"),
        ("grounds=[\"moon\"]", "moon"),
        ("grounds=[]", "grounds"),
        ("characters=[0]", "characters"),
        ("rollout_min=[10,1]", "rollout_min"),
        ("frames=3", "frames"),
    ] {
        let ran = pomp!("bench", "performance", "--quick", "--set", setting, "--out", "x");
        assert_ne!(ran.code, Some(0), "{setting}");
        assert!(ran.stderr.contains(word), "{ran:#?}");
    }
    pomp!("bench", "performance").misuses(&["--out"]);
    pomp!("bench").misuses(&["--out"]);
    pomp!("bench", "--out", "x", "performance", "--out", "y").misuses(&["performance"]);
}

//! `docs/metrics.md` holds the definitions of the code, word for word.

use pomp_eval::{Better, HIGH_JERK_M_S3, Metrics};
use std::fmt::Write;
use std::path::Path;

/// Set to write the document anew.
const UPDATE: &str = "POMP_UPDATE_DOCS";

const HEAD: &str = "\
# Metrics

This page lists every metric that `pomp evaluate` prints, with its unit and formula. The definitions are those of `pomp_eval::Metrics`.
`POMP_UPDATE_DOCS=1 cargo test --release -p pomp-eval --test metrics_document` writes this page, and a test fails when it is stale.

For a rollout, the metrics describe the simulated motion. For any other recording they describe the clip, or with `--simulated` its
physics replay. Heights are measured from the ground of the recording. A motion without a ground uses `--terrain`, or flat ground at
y = 0. A metric that does not apply (no simulation, no command, no labelled contact, no push) is `–` in the table and `null` in JSON.

- T is the number of frames, f the frame rate in Hz, m the mass of all bodies, g = 9.81 m/s² and BW = m g (body weight).
- F is the force of the external root assist in a frame, and J the contact impulse of a body in a frame.
- The sole ends are the heel and the toe of each foot. h is the height of a sole end above the ground.
- In a simulation, a sole end is in contact if its body received a contact impulse in the frame. In other recordings, the contact labels
  count.
- The force plates are those of one person who walks on a treadmill at a comfortable speed (Fukuchi, Fukuchi and Duarte 2018, trial
  WBDS04walkT05, CC BY 4.0): 58 stances, averaged to 60 Hz, in [walking_forces.toml](../crates/pomp-eval/src/walking_forces.toml). Two
  other people on force plates (14 stances of `$POMP_DATA/grf`) have r = 0.93 with the person's vertical curve, r = 0.95 with the curve of
  the force ahead, and 0.85 of the roughness. `crates/pomp-eval/examples/walking_forces.rs` writes the file and this comparison.
- ↓ means that lower is better, ↑ that higher is better, and ~ that the metric should be compared with the data.

A column for several recordings shows the mean of their metrics, ± the half width of the 95 % confidence interval of the mean (Student's
t). Every recording has the same weight, whatever its length. For example, `falls_per_minute` of a folder is the mean of the recordings'
rates, not all falls divided by all minutes. Recordings to which a metric does not apply are left out of its mean.
";

fn document() -> String {
    let mut text = HEAD.to_owned();
    let mut group = "";
    for metric in Metrics::INFO {
        if metric.group != group {
            group = metric.group;
            write!(text, "\n## {group}\n\n| metric | unit | | definition |\n|---|---|---|---|\n")
                .expect("a String takes everything");
        }
        let direction = match metric.better {
            Better::Lower => "↓",
            Better::Higher => "↑",
            Better::AsData => "~",
        };
        let definition =
            metric.definition.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|");
        let unit = if metric.unit.is_empty() { "–" } else { metric.unit };
        writeln!(text, "| `{}` | {unit} | {direction} | {definition} |", metric.name)
            .expect("a String takes everything");
    }
    text
}

#[test]
fn the_page_of_metrics_is_what_the_code_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/metrics.md");
    let document = document();
    if std::env::var_os(UPDATE).is_some() {
        std::fs::write(&path, &document).expect("docs/metrics.md is written");
    }
    let page = std::fs::read_to_string(&path).expect("docs/metrics.md is there");
    assert!(page == document, "docs/metrics.md is stale: run this test with {UPDATE}=1");
}

#[test]
fn every_metric_is_defined_and_the_definitions_state_the_thresholds_of_the_code() {
    for metric in Metrics::INFO {
        assert!(
            metric.definition.trim().len() > 20 && metric.definition.trim().ends_with('.'),
            "{}",
            metric.name
        );
    }
    let of = |name: &str| Metrics::INFO.iter().find(|metric| metric.name == name).expect(name).definition;
    assert_eq!(HIGH_JERK_M_S3, 10_000.0);
    assert!(of("high_jerk_percent").contains("10,000 m/s³"));
}

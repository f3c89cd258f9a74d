//! Files of a bench in miniature: two methods, two seconds on level ground, and two sizes of pushes.

#![expect(clippy::unwrap_used, reason = "helpers of tests, outside the functions that clippy exempts")]

use pomp_bench::{BenchConfig, PushDesign, Report, Scenario, World, run};
use pomp_embedded::Device;
use std::fs;
use std::path::Path;

/// The miniature of pomp-bench with two sizes of pushes besides. Names of methods and scenarios are file names; what is said about
/// them is any text.
fn config() -> BenchConfig {
    let text = include_str!("../../pomp-bench/tests/miniature.toml");
    let mut config: BenchConfig = toml::from_str(text).unwrap();
    config.preview_s = 0.2;
    config.method[0].about = "the <b>closed</b> loop & \"friends\"".to_owned();
    let flat = &mut config.scenario[0];
    flat.about = "level <i>ground</i>".to_owned();
    flat.methods = config.method.iter().map(|method| method.name.clone()).collect();
    for (name, about, impulse_ns) in [("push_20", "small pushes", 20.0), ("push_40", "larger pushes", 40.0)] {
        let push = PushDesign {
            impulse_ns,
            directions: 2,
            turned_deg: 0.0,
            bodies: vec!["Hips".to_owned()],
            from_s: 1.5,
            span_s: 0.2,
        };
        config.scenario.push(Scenario {
            name: name.to_owned(),
            about: about.to_owned(),
            seconds: 3.5,
            methods: vec!["ours".to_owned()],
            push: Some(push),
            preview: false,
            ..config.scenario[0].clone()
        });
    }
    config.validate().unwrap();
    config
}

/// Runs the bench into `out` and writes its report there.
fn bench(out: &Path, threads: usize) {
    let config = config();
    let world = World::new(pomp_embedded::load(&Device::flex()).unwrap(), "test".to_owned(), None);
    let runs = run(&world, &config, out, threads, &|_| {}).unwrap();
    let figures = Report::new(&world, &config, &runs).unwrap();
    pomp_report::bench::write(&figures, &runs, out).unwrap();
}

#[test]
fn a_report_is_the_same_with_any_number_of_threads_and_shows_every_figure_as_text() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    bench(one.path(), 1);
    bench(two.path(), 2);
    let read = |folder: &Path, name: &str| fs::read_to_string(folder.join(name)).unwrap();
    for name in ["report.json", "report.md", "report.html"] {
        assert_eq!(read(one.path(), name), read(two.path(), name), "{name}");
    }
    assert!(read(one.path(), "timing.md").contains("| flat | ours |"));

    let page = read(one.path(), "report.html");
    let json: serde_json::Value = serde_json::from_str(&read(one.path(), "report.json")).unwrap();
    // A page in which a tag is not closed, or a text is taken for one, has not as many ends as beginnings.
    for tag in ["table", "tr", "td", "th", "svg", "text", "p", "h2", "ul", "figure", "div"] {
        let begun = page.matches(&format!("<{tag}>")).count() + page.matches(&format!("<{tag} ")).count();
        assert_eq!(begun, page.matches(&format!("</{tag}>")).count(), "<{tag}>");
        assert!(begun > 0, "no <{tag}>");
    }
    assert!(
        !page.contains("<b>") && !page.contains("<i>"),
        "what is said of methods and scenarios is no markup"
    );
    assert_eq!(page.matches("&#60;b&#62;closed&#60;/b&#62;").count(), 1, "it is text");
    assert_eq!(page.matches("src=\"data:image/gif;base64,R0lGODlh").count(), 2, "a preview of either method");
    // One chart per column that is drawn, and six over the sizes of pushes, less those without a figure.
    assert!(page.matches("<svg").count() > 12, "{} charts", page.matches("<svg").count());
    assert!(page.contains("push (N·s)"));
    let jerk = json["cells"][0]["metrics"].to_string();
    assert!(jerk.contains("jerk_mean_m_s3"), "{jerk}");
    assert!(page.contains("mocap in flat"), "what was not run is named");
}

//! The documents: every link leads somewhere, the book lists every page once, and what is generated is current: the
//! index of the experiments, here and in the book, the crates in ARCHITECTURE.md, and the references of commands, configurations and
//! arrays.
//! `POMP_UPDATE=1 cargo test --release -p pomp --test documents` writes these anew, and with `POMP_LAYERS_REPORT=FILE`, the
//! `report.json` of `pomp bench --config configs/bench/layers.toml`, the table of docs/layers.md too, and with POMP_ASSIST_REPORT
//! naming that of `configs/bench/assist.toml` the table of the root assist in docs/results.md, and with `POMP_OWN_FEET_REPORT` naming that
//! of `configs/bench/own_feet.toml` the table of the residual there, and with `POMP_CONTROLLERS_REPORTS` naming those of
//! `configs/bench/controllers.toml` the tables of docs/controllers.md.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

mod bench_tables;
mod commands;
mod configuration;
mod fields;

use configuration::Kind;
use pomp_batch::RandomScenes;
use pomp_bench::BenchConfig;
use pomp_bench::performance::{PerformanceConfig, PerformanceReport};
use pomp_generator::GeneratorConfig;
use pomp_physics::DynamicConfig;
use pomp_preprocess::PreprocessConfig;
use pomp_skeletal::SkeletalConfig;
use pomp_studio::StudioConfig;
use pomp_style::StyleConfig;
use pomp_train::{
    BalanceTraining, ControllerConfig, LearnedConfig, MatchingConfig, StyleTraining, TrainConfig,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Component, Path, PathBuf};

const UPDATE: &str = "POMP_UPDATE";

fn repository() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().unwrap()
}

/// Files below a folder of the repository that satisfy a rule, by their path from the root, in order. Links are passed over: what
/// crates link to for their packages lies elsewhere in the repository.
fn files_below(folder: &str, wanted: impl Fn(&str) -> bool) -> BTreeSet<String> {
    let root = repository();
    let mut found = BTreeSet::new();
    let mut open = vec![root.join(folder)];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_symlink() {
                continue;
            }
            let path = entry.path();
            let name = path.strip_prefix(&root).unwrap().to_str().unwrap().replace('\\', "/");
            if path.is_dir() {
                if !path.ends_with("target") && !path.ends_with("node_modules") {
                    open.push(path);
                }
            } else if wanted(&name) {
                found.insert(name);
            }
        }
    }
    found
}

fn is_markdown(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension == "md")
}

fn read(name: &str) -> String {
    let path = repository().join(name);
    fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        .replace("\r\n", "\n")
}

/// The lines of a page outside of code blocks.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut code = false;
    text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        code ^= fence;
        !code && !fence
    })
}

/// The anchors of a page's headings, as GitHub and mdBook make them: lower case, no punctuation, hyphens for spaces.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut seen = BTreeMap::<String, usize>::new();
    let headings = prose(text).filter(|line| line.starts_with('#'));
    headings
        .map(|heading| {
            let title = heading.trim_start_matches('#').trim();
            let kept = title.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
            let slug =
                kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect::<String>();
            let before = seen.entry(slug.clone()).or_default();
            *before += 1;
            if *before == 1 { slug } else { format!("{slug}-{}", *before - 1) }
        })
        .collect()
}

/// The targets of the links and pictures of a page: what stands in `](…)`, outside of code.
fn targets(text: &str) -> Vec<String> {
    let mut outside = String::new();
    for line in prose(text) {
        outside.push_str(line);
        outside.push('\n');
    }
    // A code span may hold what looks like a link, and a link's text may hold a code span.
    let without_code: String = outside.split('`').step_by(2).collect::<Vec<_>>().join("`");
    let links = without_code.split("](").skip(1);
    links.filter_map(|rest| rest.split_once(')')).map(|(target, _)| target.trim().to_owned()).collect()
}

/// A relative path with its `.` and `..` taken away; nothing when it leads out of the repository.
fn normal(path: &Path) -> Option<String> {
    let mut parts = Vec::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => _ = parts.pop()?,
            other => parts.push(other.as_os_str().to_str()?),
        }
    }
    Some(parts.join("/"))
}

/// What is wrong with the links of a page, given a way to read other pages and to know what exists.
fn broken_links(
    page: &str,
    text: &str,
    exists: impl Fn(&str) -> bool,
    read: impl Fn(&str) -> String,
) -> Vec<String> {
    let folder = Path::new(page).parent().unwrap();
    let mut broken = Vec::new();
    for target in targets(text) {
        if ["http://", "https://", "mailto:"].iter().any(|scheme| target.starts_with(scheme)) {
            continue;
        }
        let (path, anchor) = target.split_once('#').unwrap_or((&target, ""));
        let file = if path.is_empty() { Some(page.to_owned()) } else { normal(&folder.join(path)) };
        let Some(file) = file.filter(|file| exists(file)) else {
            broken.push(format!("{page}: no file {target}"));
            continue;
        };
        if !anchor.is_empty() && is_markdown(&file) {
            let linked = if file == page { text.to_owned() } else { read(&file) };
            if !anchors(&linked).contains(anchor) {
                broken.push(format!("{page}: no heading {target}"));
            }
        }
    }
    broken
}

fn pages_of_the_book() -> BTreeSet<String> {
    files_below("docs", |name| is_markdown(name) && name != "docs/SUMMARY.md")
}

#[test]
fn every_link_in_the_documents_leads_to_a_file_and_a_heading() {
    let mut pages = files_below("docs", is_markdown);
    pages.extend(files_below("data", |name| name.ends_with("README.md")));
    let at_the_top = fs::read_dir(repository()).unwrap().map(|entry| entry.unwrap().file_name());
    pages.extend(at_the_top.map(|name| name.into_string().unwrap()).filter(|name| is_markdown(name)));
    let exists = |file: &str| repository().join(file).exists();
    let broken: Vec<String> =
        pages.iter().flat_map(|page| broken_links(page, &read(page), exists, read)).collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    assert!(pages.len() > 80, "{pages:?}");
}

/// The tables of two configurations may have the same name.
#[test]
fn no_page_has_a_heading_twice() {
    for page in pages_of_the_book().iter().filter(|page| *page != "docs/reference_config.md") {
        let (text, mut seen) = (read(page), BTreeSet::new());
        for heading in prose(&text).filter(|line| line.starts_with('#')) {
            assert!(seen.insert(heading.to_owned()), "{page} has \"{heading}\" twice");
        }
    }
}

#[test]
fn every_page_that_sources_and_configurations_name_exists() {
    let text_file = |name: &str| [".rs", ".toml", ".py", ".ts"].iter().any(|kind| name.ends_with(kind));
    let mut files = files_below("crates", text_file);
    files.extend(files_below("configs", text_file));
    files.extend(files_below("tests", |name| text_file(name) && !name.starts_with("tests/documents/")));
    let mut missing = Vec::new();
    let mut count = 0;
    for file in files {
        for rest in read(&file).split("docs/").skip(1) {
            let end =
                rest.find(|c: char| !c.is_ascii_alphanumeric() && !"/_-.".contains(c)).unwrap_or(rest.len());
            let page = rest[..end].trim_end_matches('.');
            if is_markdown(page) {
                count += 1;
                if !repository().join("docs").join(page).exists() {
                    missing.push(format!("{file}: docs/{page}"));
                }
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
    assert!(count > 40, "{count}");
}

#[test]
fn the_book_lists_every_page_once() {
    let summary = summary(&read("docs/SUMMARY.md"), &experiments());
    let listed: Vec<String> = targets(&summary).iter().map(|target| format!("docs/{target}")).collect();
    let once: BTreeSet<String> = listed.iter().cloned().collect();
    assert_eq!(listed.len(), once.len(), "docs/SUMMARY.md lists a page twice");
    let pages = pages_of_the_book();
    let missing: Vec<&String> = pages.difference(&once).collect();
    let unknown: Vec<&String> = once.difference(&pages).collect();
    assert!(missing.is_empty(), "docs/SUMMARY.md does not list {missing:?}");
    assert!(unknown.is_empty(), "docs/SUMMARY.md lists what is no page of docs/: {unknown:?}");
}

#[test]
fn the_index_page_links_every_page() {
    let index = targets(&read("docs/README.md"));
    let pages = files_below("docs", |name| is_markdown(name) && !name.contains("experiments/"));
    let linked = |page: &String| index.iter().any(|target| *page == format!("docs/{target}"));
    let missing: Vec<&String> = pages
        .iter()
        .filter(|page| !linked(page) && !["docs/README.md", "docs/SUMMARY.md"].contains(&page.as_str()))
        .collect();
    assert!(missing.is_empty(), "docs/README.md does not link {missing:?}");
}

/// One file of `docs/experiments`.
#[derive(Debug, PartialEq)]
struct Experiment {
    number: String,
    file: String,
    title: String,
    date: String,
    status: String,
    verdict: String,
}

/// Reads the head of an experiment: a title, and date, status, question and verdict as a list of one line each.
fn experiment(file: &str, text: &str) -> Result<Experiment, String> {
    let field = |name: &str| {
        let start = format!("- **{name}:** ");
        let line = text.lines().find_map(|line| line.strip_prefix(start.as_str()));
        line.filter(|value| !value.is_empty()).ok_or_else(|| format!("{file}: no line \"{start}…\""))
    };
    let title = text.lines().next().and_then(|line| line.strip_prefix("# "));
    let status = field("Status")?;
    let replaced = status.strip_prefix("superseded by [").is_some_and(|rest| rest.contains("]("));
    if !(replaced || ["current", "negative"].contains(&status)) {
        return Err(format!(
            "{file}: the status is \"current\", \"negative\" or \"superseded by [number](file)\""
        ));
    }
    if !field("Question")?.ends_with('?') {
        return Err(format!("{file}: the question does not end with a question mark"));
    }
    let number = file.get(..4).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    Ok(Experiment {
        number: number.ok_or_else(|| format!("{file}: the name does not begin with four digits"))?.to_owned(),
        file: file.to_owned(),
        title: title.ok_or_else(|| format!("{file}: the first line is no title"))?.to_owned(),
        date: field("Date")?.to_owned(),
        status: status.to_owned(),
        verdict: field("Verdict")?.to_owned(),
    })
}

fn experiments() -> Vec<Experiment> {
    let files = files_below("docs/experiments", |name| is_markdown(name) && !name.ends_with("README.md"));
    let all = files.iter().map(|name| experiment(name.rsplit('/').next().unwrap(), &read(name)).unwrap());
    all.collect()
}

/// The index page: what the files are, then one row per experiment.
fn index(experiments: &[Experiment]) -> String {
    let count = |status: &str| experiments.iter().filter(|entry| entry.status.starts_with(status)).count();
    let mut page = format!(
        "# Experiments\n\n\
         <!-- Written by the test `documents`: change the files, then run it with {UPDATE}=1. -->\n\n\
         One file per experiment: the question, the command, the numbers and the verdict. Failed attempts are kept.\n\n\
         - **current** ({}): the verdict or the decision holds for the program as it is. The figures are those of the\n  \
         program on the day of the experiment.\n\
         - **superseded** ({}): a later experiment measures the same on a later program, or replaces the decision.\n\
         - **negative** ({}): the idea was tried and not kept.\n\n\
         Unless an entry says otherwise, the data are CMU and nimblephysics motion (120 clips, 16 min, and their mirror\n\
         images; the [model card](../../data/models/compact/README.md) of the compact model lists them), preprocessed\n\
         with the defaults, and one clip in eight is held out. Times were taken on two CPU cores that did other work\n\
         too, so they are upper bounds.\n\n\
         | number | title | status | verdict |\n|---|---|---|---|\n",
        count("current"),
        count("superseded"),
        count("negative")
    );
    for Experiment { number, file, title, status, verdict, .. } in experiments {
        writeln!(page, "| {number} | [{title}]({file}) | {status} | {verdict} |").unwrap();
    }
    page
}

const PART: &str = "# Experiments\n";

/// The book's table of contents with its last part, the experiments, made anew.
fn summary(current: &str, experiments: &[Experiment]) -> String {
    let (head, _) = current.split_once(PART).expect("docs/SUMMARY.md has the part \"# Experiments\"");
    let mut text = format!("{head}{PART}\n- [Index of the experiments](experiments/README.md)\n");
    for Experiment { number, file, title, .. } in experiments {
        writeln!(text, "  - [{number} {title}](experiments/{file})").unwrap();
    }
    text
}

#[test]
fn the_index_of_the_experiments_is_current() {
    let experiments = experiments();
    for (place, entry) in experiments.iter().enumerate() {
        assert_eq!(entry.number, format!("{:04}", place + 1), "numbers are consecutive: {}", entry.file);
        let digits = entry.date.split('-').map(str::len).collect::<Vec<_>>();
        assert_eq!(digits, [4, 2, 2], "{}: the date is YYYY-MM-DD", entry.file);
    }
    assert_current("docs/experiments/README.md", &index(&experiments));
    assert_current("docs/SUMMARY.md", &summary(&read("docs/SUMMARY.md"), &experiments));
}

/// Fails where a file is not what it should be, and writes it first where that is asked for.
fn assert_current(file: &str, wanted: &str) {
    if std::env::var_os(UPDATE).is_some() {
        fs::write(repository().join(file), wanted).unwrap();
    }
    assert!(read(file) == wanted, "{file} is stale: run this test with {UPDATE}=1");
}

#[test]
fn the_reference_of_the_commands_is_that_of_the_command_line() {
    assert_current(commands::PAGE, &commands::page(pomp::command()));
}

/// The grounds that configs/batch.toml leaves out.
fn stairs_and_gaps() -> RandomScenes {
    toml::from_str(
        "controls = [\"walk\"]
        ground = [
            { share = 1.0, shape = { kind = \"stairs\", rise_m = [0.1, 0.2], run_m = [0.3, 0.4], count = [3, 6], heading_deg = [0.0, 1.0] } },
            { share = 1.0, shape = { kind = \"gaps\", width_m = [0.2, 0.4], depth_m = [0.2, 0.5], spacing_m = [2.0, 3.0], heading_deg = [0.0, 1.0] } },
        ]",
    )
    .unwrap()
}

#[test]
fn the_reference_of_the_configurations_is_that_of_their_structs() {
    let kinds = [
        Kind::with_defaults::<PreprocessConfig>("preprocess", &[]),
        Kind::with_defaults::<TrainConfig>("train", &[]),
        Kind::with_defaults::<ControllerConfig>("controller", &[]),
        Kind::with_defaults::<MatchingConfig>("matching", &[]),
        Kind::with_defaults::<LearnedConfig>("learned-matching", &[]),
        Kind::with_defaults::<GeneratorConfig>("generate", &["moving_ground.toml"]),
        Kind::whole::<RandomScenes>("batch", &["batch.toml"]).also(&stairs_and_gaps()),
        Kind::whole::<BenchConfig>("bench", &["bench/quick.toml", "bench/assist.toml"]),
        Kind::with_defaults::<PerformanceConfig>("performance", &[]),
        Kind::whole::<BalanceTraining>("balance", &["balance.toml"]),
        Kind::with_defaults::<StudioConfig>("studio", &[]),
        Kind::with_defaults::<StyleConfig>("style", &[]),
        Kind::whole::<StyleTraining>("style-adapter", &["style_adapter.toml"]),
        Kind::with_defaults::<SkeletalConfig>("retarget", &[]),
        Kind::with_defaults::<DynamicConfig>("physics", &[]),
    ];
    let command = pomp::command();
    let show = command.find_subcommand("config").and_then(|config| config.find_subcommand("show")).unwrap();
    let kind = show.get_arguments().find(|argument| argument.get_id() == "kind").unwrap();
    let told: BTreeMap<String, String> = kind
        .get_possible_values()
        .iter()
        .map(|value| (value.get_name().to_owned(), value.get_help().unwrap().to_string()))
        .collect();
    let page = configuration::page(&kinds, |name| told[name].clone());
    assert_current(configuration::PAGE, &page);
    for name in told.keys() {
        assert!(page.contains(&format!("\n## {name}\n")), "{} does not describe {name}", configuration::PAGE);
    }
}

#[test]
fn the_page_of_the_performance_is_that_of_its_figures() {
    let figures: PerformanceReport = serde_json::from_str(&read("docs/performance.json")).unwrap();
    assert_current("docs/performance.md", &pomp_report::performance::markdown(&figures));
}

const ARRAYS: &str =
    "<!-- arrays: written by the test `documents` from crates/pomp-formats/src/npz/arrays.rs -->\n";
const END_OF_ARRAYS: &str = "<!-- end of arrays -->";

#[test]
fn the_table_of_the_arrays_is_that_of_the_format() {
    let page = read("docs/dataset.md");
    let (head, rest) = page.split_once(ARRAYS).expect("docs/dataset.md has the mark before the arrays");
    let (_, tail) = rest.split_once(END_OF_ARRAYS).expect("docs/dataset.md has the mark after the arrays");
    let mut table = "| array | shape | files | contents |\n|---|---|---|---|\n".to_owned();
    for array in pomp_formats::npz::ARRAYS {
        let (files, contents) = (array.present.told(), array.contents);
        writeln!(table, "| `{}` | {} | {files} | {contents} |", array.name, array.shape).unwrap();
    }
    assert_current("docs/dataset.md", &format!("{head}{ARRAYS}{table}{END_OF_ARRAYS}{tail}"));
}

const CRATES: &str = "<!-- crates: written by the test `documents` from docs/house.md -->\n";
const END_OF_CRATES: &str = "<!-- end of crates -->";

/// ARCHITECTURE.md with the layers and crates of docs/house.md, each linked to its folder.
fn with_crates(architecture: &str, house: &str) -> String {
    let (head, rest) =
        architecture.split_once(CRATES).expect("ARCHITECTURE.md has the mark before the crates");
    let (_, tail) = rest.split_once(END_OF_CRATES).expect("ARCHITECTURE.md has the mark after the crates");
    let mut table = "| layer | crate | contents |\n|---|---|---|\n".to_owned();
    for line in house.lines().filter(|line| line.contains("| `pomp")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let name = cells[1].trim_matches('`');
        writeln!(table, "| {} | [`{name}`](crates/{name}) | {} |", cells[0], cells[2]).unwrap();
    }
    format!("{head}{CRATES}{table}{END_OF_CRATES}{tail}")
}

#[test]
fn the_architecture_shows_every_crate() {
    let wanted = with_crates(&read("ARCHITECTURE.md"), &read("docs/house.md"));
    assert_current("ARCHITECTURE.md", &wanted);
    for entry in fs::read_dir(repository().join("crates")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(wanted.contains(&format!("(crates/{name})")), "ARCHITECTURE.md does not link crates/{name}");
    }
}

#[test]
fn the_checker_finds_broken_links_outside_of_code() {
    let exists = |file: &str| ["docs/a.md", "docs/b.md", "README.md"].contains(&file);
    let other = |_: &str| "# Frames & units\n\n```\n# no heading\n```\n## Twice\n## Twice\n".to_owned();
    let text = "# Top\n\
        [a](b.md#frames--units) [b](../README.md) [c](#top) [d](b.md#twice-1) [`e`](https://example.org) `[f](none.md)`\n\
        [g](c.md) ![h](picture.png) [i](b.md#no-heading)\n[j](../../outside.md) [k](#frames)\n\
        ```\n[l](none.md)\n```\n";
    assert_eq!(
        broken_links("docs/a.md", text, exists, other),
        [
            "docs/a.md: no file c.md",
            "docs/a.md: no file picture.png",
            "docs/a.md: no heading b.md#no-heading",
            "docs/a.md: no file ../../outside.md",
            "docs/a.md: no heading #frames",
        ]
    );
}

#[test]
fn the_checker_refuses_an_experiment_with_an_incomplete_head() {
    let head = "# Title\n\n- **Date:** 2026-01-02\n- **Status:** current\n- **Question:** Why?\n- **Verdict:** Because.\n";
    assert_eq!(experiment("0001-name.md", head).unwrap().title, "Title");
    for (from, to) in [
        ("# Title", "Title"),
        ("current", "superseded"),
        ("current", "good"),
        ("Why?", "Why."),
        ("- **Verdict:** Because.\n", ""),
        ("2026-01-02", ""),
    ] {
        assert!(experiment("0001-name.md", &head.replace(from, to)).is_err(), "{from} → {to}");
    }
    assert!(experiment("name.md", head).is_err());
}

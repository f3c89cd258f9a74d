//! The layer table, `tests/layers.toml`, compared with what the crates depend on and with the table of docs/house.md, which is
//! written from it: `POMP_UPDATE=1 cargo test --release -p pomp --test layers`.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;

/// A crate of the workspace: its layer, what it holds and the crates of the workspace that it uses.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    layer: usize,
    name: String,
    holds: String,
    uses: BTreeSet<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    #[serde(rename = "crate")]
    crates: Vec<Row>,
}

fn read_table(text: &str) -> Vec<Row> {
    toml::from_str::<Table>(text).unwrap().crates
}

fn table() -> Vec<Row> {
    read_table(include_str!("layers.toml"))
}

/// Crate → crates that it is built from, development dependencies left out.
type Graph = BTreeMap<String, BTreeSet<String>>;

/// What the table and the crates of the workspace disagree about, one sentence each.
fn disagreements(table: &[Row], members: &Graph) -> Vec<String> {
    let mut found = Vec::new();
    for name in members.keys().filter(|name| table.iter().all(|row| row.name != **name)) {
        found.push(format!("{name} is not in the layer table"));
    }
    for row in table {
        let Some(dependencies) = members.get(&row.name) else {
            found.push(format!("{} is in the layer table but not in the workspace", row.name));
            continue;
        };
        let used: BTreeSet<String> =
            dependencies.iter().filter(|used| members.contains_key(*used)).cloned().collect();
        for extra in used.difference(&row.uses) {
            found.push(format!(
                "{} (layer {}) uses {extra}, which the layer table does not allow",
                row.name, row.layer
            ));
        }
        for missing in row.uses.difference(&used) {
            found.push(format!("the layer table says that {} uses {missing}, which it does not", row.name));
        }
    }
    found
}

/// Arrows of the table that do not point to a lower layer or, within layer 0, to a row further up.
fn arrows_that_do_not_point_down(table: &[Row]) -> Vec<String> {
    let mut found = Vec::new();
    for (place, row) in table.iter().enumerate() {
        for used in &row.uses {
            let down = table.iter().enumerate().any(|(other, target)| {
                target.name == *used
                    && (target.layer < row.layer || (row.layer == 0 && target.layer == 0 && other < place))
            });
            if !down {
                found.push(format!("{} → {used}", row.name));
            }
        }
    }
    found
}

/// Everything that `root` is built from, itself included.
fn tree(graph: &Graph, root: &str) -> BTreeSet<String> {
    let mut seen = BTreeSet::from([root.to_owned()]);
    let mut open = vec![root.to_owned()];
    while let Some(name) = open.pop() {
        for used in graph.get(&name).into_iter().flatten() {
            if seen.insert(used.clone()) {
                open.push(used.clone());
            }
        }
    }
    seen
}

fn first_of(tree: &BTreeSet<String>, family: &str) -> Option<String> {
    tree.iter().find(|name| *name == family || name.starts_with(&format!("{family}-"))).cloned()
}

fn learned(tree: &BTreeSet<String>) -> Option<String> {
    first_of(tree, "burn")
}

fn simulator(tree: &BTreeSet<String>) -> Option<String> {
    ["rapier2d", "rapier3d", "rapier3d-f64", "parry3d"].iter().find_map(|name| first_of(tree, name))
}

/// Meetings of learned code and the simulator anywhere but in the closed loop and what runs it, and either of them below
/// the metrics.
fn forbidden_meetings(table: &[Row], graph: &Graph) -> Vec<String> {
    let mut found = Vec::new();
    for row in table {
        let tree = tree(graph, &row.name);
        let (learned, simulator) = (learned(&tree), simulator(&tree));
        if row.name == "pomp-eval" {
            for seen in [&learned, &simulator].into_iter().flatten() {
                found.push(format!("pomp-eval judges rollouts and may not see {seen}"));
            }
        }
        if let (Some(learned), Some(simulator)) = (&learned, &simulator)
            && row.name != "pomp-generator"
            && !tree.contains("pomp-generator")
        {
            found.push(format!(
                "{} sees {learned} and {simulator}; they meet in pomp-generator and what runs it",
                row.name
            ));
        }
    }
    found
}

/// Versions of a crate in the output of `cargo tree --prefix none --format {p}`.
fn versions(listing: &str, name: &str) -> BTreeSet<String> {
    listing
        .lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            (words.next() == Some(name)).then(|| words.next()).flatten().map(str::to_owned)
        })
        .collect()
}

fn host() -> String {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let about = Command::new(rustc).arg("-vV").output().expect("the compiler that built this test runs");
    let about = String::from_utf8(about.stdout).unwrap();
    about.lines().find_map(|line| line.strip_prefix("host: ")).expect("rustc names its host").to_owned()
}

/// What `cargo metadata` says. Read here rather than by a library, whose wishes for serde would have every crate above
/// serde built once for the program and again for its tests.
fn metadata() -> Value {
    // For the host alone: packages of other platforms need not be on this disk.
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--frozen", "--format-version", "1", "--filter-platform", &host()])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().unwrap_or_else(|| panic!("cargo's metadata has no list {key}"))
}

/// Every package by name; packages of one name are taken together.
fn whole_graph(metadata: &Value) -> Graph {
    let names: BTreeMap<&str, &str> = list(metadata, "packages")
        .iter()
        .map(|package| (package["id"].as_str().unwrap(), package["name"].as_str().unwrap()))
        .collect();
    let mut graph = Graph::new();
    for node in list(&metadata["resolve"], "nodes") {
        let uses = list(node, "deps")
            .iter()
            .filter(|used| list(used, "dep_kinds").iter().any(|kind| kind["kind"] != "dev"))
            .map(|used| names[used["pkg"].as_str().unwrap()].to_owned());
        graph.entry(names[node["id"].as_str().unwrap()].to_owned()).or_default().extend(uses);
    }
    graph
}

fn members(metadata: &Value) -> Graph {
    let ids = list(metadata, "workspace_members");
    let mut graph = whole_graph(metadata);
    let packages = list(metadata, "packages").iter().filter(|package| ids.contains(&package["id"]));
    packages.map(|package| graph.remove_entry(package["name"].as_str().unwrap()).unwrap()).collect()
}

/// The document that shows the table; ARCHITECTURE.md takes its own from there (`tests/documents`).
const DOCUMENT: &str = "docs/house.md";
const BEGIN: &str = "<!-- written by the test `layers` from tests/layers.toml -->\n";
const END: &str = "<!-- end of the layers -->\n";
const UPDATE: &str = "POMP_UPDATE";

/// The table as markdown.
fn markdown(table: &[Row]) -> String {
    let mut text = "| layer | crate | what lives there | uses |\n|---|---|---|---|\n".to_owned();
    for row in table {
        let used = table.iter().filter(|other| row.uses.contains(&other.name));
        let names: Vec<&str> = used.map(|other| other.name.trim_start_matches("pomp-")).collect();
        let names = if names.is_empty() { "–".to_owned() } else { names.join(", ") };
        writeln!(text, "| {} | `{}` | {} | {names} |", row.layer, row.name, row.holds).unwrap();
    }
    text
}

/// The document's text with the table between its marks replaced.
fn with_table(text: &str, table: &[Row]) -> String {
    let marks = text.find(BEGIN).zip(text.find(END)).filter(|(begin, end)| begin < end);
    let (begin, end) = marks.unwrap_or_else(|| panic!("{DOCUMENT} has the marks {BEGIN} and {END}"));
    format!("{}{}{}", &text[..begin + BEGIN.len()], markdown(table), &text[end..])
}

#[test]
fn the_layer_table_says_what_every_crate_uses() {
    assert_eq!(disagreements(&table(), &members(&metadata())), Vec::<String>::new());
}

#[test]
fn the_table_itself_points_down_only() {
    assert_eq!(arrows_that_do_not_point_down(&table()), Vec::<String>::new());
}

#[test]
fn the_document_shows_this_table() {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(DOCUMENT);
    let text = std::fs::read_to_string(&file).unwrap();
    let wanted = with_table(&text, &table());
    if std::env::var_os(UPDATE).is_some() {
        std::fs::write(&file, &wanted).unwrap();
        return;
    }
    assert!(wanted == text, "the table of crates in {DOCUMENT} is stale: run this test with {UPDATE}=1");
}

#[test]
fn learned_code_and_the_simulator_meet_in_the_generator_and_never_below_the_metrics() {
    let graph = whole_graph(&metadata());
    assert_eq!(forbidden_meetings(&table(), &graph), Vec::<String>::new());
    // The names that the rule looks for are those of the real crates.
    let generator = tree(&graph, "pomp-generator");
    assert!(learned(&generator).is_some() && simulator(&generator).is_some());
}

#[test]
fn one_version_of_glam_is_compiled() {
    // `cargo metadata` also lists what optional features could bring in; the tree is what is compiled.
    let listing = Command::new(env!("CARGO"))
        .args(["tree", "--frozen", "--package", "pomp", "--edges", "normal,build", "--prefix", "none"])
        .args(["--format", "{p}", "--target", &host()])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(listing.status.success(), "{}", String::from_utf8_lossy(&listing.stderr));
    let found = versions(&String::from_utf8(listing.stdout).unwrap(), "glam");
    assert_eq!(found.len(), 1, "two versions do not share their vectors: {found:?}");
}

/// Crate and what it uses, made up.
type Arrows<'a> = &'a [(&'a str, &'a [&'a str])];

fn made_up(arrows: Arrows<'_>) -> Graph {
    let uses = |used: &[&str]| used.iter().map(|&name| name.to_owned()).collect();
    arrows.iter().map(|(name, used)| ((*name).to_owned(), uses(used))).collect()
}

/// A table of crates, each with its layer, and what they use.
fn made_up_table(rows: &[(usize, &str, &[&str])]) -> Vec<Row> {
    let uses = |used: &[&str]| used.iter().map(|&name| name.to_owned()).collect();
    rows.iter()
        .map(|(layer, name, used)| Row {
            layer: *layer,
            name: (*name).to_owned(),
            holds: String::new(),
            uses: uses(used),
        })
        .collect()
}

#[test]
fn the_checker_finds_every_kind_of_disagreement() {
    let table = made_up_table(&[(0, "pomp-motion", &[]), (1, "pomp-eval", &["pomp-motion"])]);
    let cases: [(Arrows<'_>, &str); 4] = [
        (
            &[("pomp-eval", &["pomp-motion"]), ("pomp-motion", &["pomp-eval"])],
            "pomp-motion (layer 0) uses pomp-eval, which the layer table does not allow",
        ),
        (
            &[("pomp-eval", &["serde"]), ("pomp-motion", &[])],
            "the layer table says that pomp-eval uses pomp-motion, which it does not",
        ),
        (
            &[("pomp-eval", &["pomp-motion"]), ("pomp-gadget", &[]), ("pomp-motion", &[])],
            "pomp-gadget is not in the layer table",
        ),
        (&[("pomp-motion", &[])], "pomp-eval is in the layer table but not in the workspace"),
    ];
    for (arrows, expected) in cases {
        assert_eq!(disagreements(&table, &made_up(arrows)), [expected]);
    }
    let agreed = made_up(&[("pomp-eval", &["pomp-motion", "serde"]), ("pomp-motion", &["glam"])]);
    assert_eq!(disagreements(&table, &agreed), Vec::<String>::new());
}

#[test]
fn the_checker_finds_arrows_that_point_up_or_along_a_layer() {
    let table = made_up_table(&[
        (0, "ground", &["upper_ground"]),
        (0, "upper_ground", &["ground"]),
        (1, "first", &["ground", "second"]),
        (1, "second", &["first"]),
        (2, "top", &["first", "absent"]),
    ]);
    assert_eq!(
        arrows_that_do_not_point_down(&table),
        ["ground → upper_ground", "first → second", "second → first", "top → absent"]
    );
}

#[test]
fn a_stale_table_in_a_document_is_replaced_and_the_rest_kept() {
    let table = made_up_table(&[(0, "pomp-motion", &[]), (1, "pomp-eval", &["pomp-motion"])]);
    let text = format!("before\n{BEGIN}| stale |\n{END}after\n");
    let rows = "| 0 | `pomp-motion` |  | – |\n| 1 | `pomp-eval` |  | motion |\n";
    let head = "| layer | crate | what lives there | uses |\n|---|---|---|---|\n";
    assert_eq!(with_table(&text, &table), format!("before\n{BEGIN}{head}{rows}{END}after\n"));
}

#[test]
fn the_checker_finds_meetings_however_deep_they_lie() {
    let graph = made_up(&[
        ("pomp-train", &["pomp-phase", "helper"]),
        ("pomp-phase", &["burn"]),
        ("helper", &["rapier3d"]),
        ("pomp-eval", &["middle"]),
        ("middle", &["burn-tensor"]),
        ("pomp-generator", &["burn", "rapier3d"]),
        ("pomp-preprocess", &["rapier3d"]),
    ]);
    let table = made_up_table(&[
        (1, "pomp-phase", &[]),
        (1, "pomp-eval", &[]),
        (3, "pomp-preprocess", &[]),
        (3, "pomp-generator", &[]),
        (4, "pomp-train", &[]),
    ]);
    assert_eq!(
        forbidden_meetings(&table, &graph),
        [
            "pomp-eval judges rollouts and may not see burn-tensor",
            "pomp-train sees burn and rapier3d; they meet in pomp-generator and what runs it",
        ]
    );
}

#[test]
fn the_checker_counts_versions_and_not_mentions() {
    let listing = "pomp v0.1.0 (here)\nglam v0.33.12\nglamx v0.3.1\nglam v0.33.12 (*)\nglam v0.30.10\n";
    let expected = BTreeSet::from(["v0.30.10".to_owned(), "v0.33.12".to_owned()]);
    assert_eq!(versions(listing, "glam"), expected);
}

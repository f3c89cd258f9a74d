//! The house's layer table, as `docs/house.md` shows it, checked against what the crates really depend on.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// A crate of the workspace: its layer and the crates of the workspace that it may use.
struct Row {
    layer: usize,
    name: &'static str,
    may_use: &'static [&'static str],
}

const fn row(layer: usize, name: &'static str, may_use: &'static [&'static str]) -> Row {
    Row { layer, name, may_use }
}

const TABLE: [Row; 26] = [
    row(0, "pomp-motion", &[]),
    row(0, "pomp-terrain", &["pomp-motion", "pomp-files"]),
    row(0, "pomp-lanes", &[]),
    row(0, "pomp-tensors", &["pomp-lanes"]),
    row(0, "pomp-files", &[]),
    row(0, "pomp-config", &[]),
    row(0, "pomp-testing", &[]),
    row(1, "pomp-weights", &["pomp-files"]),
    row(1, "pomp-formats", &["pomp-motion", "pomp-files"]),
    row(1, "pomp-synthetic", &["pomp-motion", "pomp-terrain"]),
    row(1, "pomp-physics", &["pomp-config", "pomp-motion", "pomp-terrain"]),
    row(1, "pomp-phase", &["pomp-config", "pomp-motion", "pomp-lanes", "pomp-tensors"]),
    row(1, "pomp-kinematic", &["pomp-config", "pomp-motion", "pomp-lanes", "pomp-tensors"]),
    row(1, "pomp-eval", &["pomp-motion", "pomp-terrain"]),
    row(1, "pomp-render", &["pomp-motion", "pomp-terrain"]),
    row(2, "pomp-model", &["pomp-motion", "pomp-files", "pomp-phase", "pomp-kinematic", "pomp-weights"]),
    row(2, "pomp-dataset", &["pomp-files", "pomp-motion", "pomp-formats"]),
    row(
        3,
        "pomp-preprocess",
        &[
            "pomp-config",
            "pomp-files",
            "pomp-motion",
            "pomp-terrain",
            "pomp-formats",
            "pomp-synthetic",
            "pomp-physics",
        ],
    ),
    row(
        3,
        "pomp-generator",
        &[
            "pomp-config",
            "pomp-files",
            "pomp-motion",
            "pomp-terrain",
            "pomp-physics",
            "pomp-phase",
            "pomp-kinematic",
            "pomp-model",
        ],
    ),
    row(3, "pomp-embedded", &["pomp-model"]),
    row(
        4,
        "pomp-batch",
        &[
            "pomp-config",
            "pomp-motion",
            "pomp-terrain",
            "pomp-files",
            "pomp-formats",
            "pomp-model",
            "pomp-generator",
        ],
    ),
    row(
        4,
        "pomp-train",
        &[
            "pomp-config",
            "pomp-files",
            "pomp-motion",
            "pomp-terrain",
            "pomp-tensors",
            "pomp-weights",
            "pomp-formats",
            "pomp-synthetic",
            "pomp-phase",
            "pomp-kinematic",
            "pomp-physics",
            "pomp-model",
            "pomp-generator",
        ],
    ),
    row(
        4,
        "pomp-studio",
        &[
            "pomp-config",
            "pomp-motion",
            "pomp-terrain",
            "pomp-formats",
            "pomp-physics",
            "pomp-kinematic",
            "pomp-render",
            "pomp-model",
            "pomp-preprocess",
            "pomp-generator",
        ],
    ),
    row(
        5,
        "pomp-bench",
        &[
            "pomp-config",
            "pomp-files",
            "pomp-motion",
            "pomp-terrain",
            "pomp-formats",
            "pomp-physics",
            "pomp-phase",
            "pomp-eval",
            "pomp-render",
            "pomp-model",
            "pomp-train",
            "pomp-generator",
        ],
    ),
    row(
        6,
        "pomp-report",
        &[
            "pomp-motion",
            "pomp-formats",
            "pomp-phase",
            "pomp-kinematic",
            "pomp-render",
            "pomp-model",
            "pomp-preprocess",
            "pomp-train",
            "pomp-bench",
        ],
    ),
    row(
        7,
        "pomp",
        &[
            "pomp-motion",
            "pomp-terrain",
            "pomp-lanes",
            "pomp-tensors",
            "pomp-files",
            "pomp-testing",
            "pomp-config",
            "pomp-weights",
            "pomp-formats",
            "pomp-synthetic",
            "pomp-physics",
            "pomp-phase",
            "pomp-kinematic",
            "pomp-eval",
            "pomp-render",
            "pomp-model",
            "pomp-dataset",
            "pomp-preprocess",
            "pomp-train",
            "pomp-generator",
            "pomp-embedded",
            "pomp-batch",
            "pomp-bench",
            "pomp-report",
            "pomp-studio",
        ],
    ),
];

/// Crate → crates that it is built from, development dependencies left out.
type Graph = BTreeMap<String, BTreeSet<String>>;

/// Arrows between crates of the workspace that the table does not have, one sentence each.
fn forbidden_arrows(members: &Graph) -> Vec<String> {
    let mut found = Vec::new();
    for (name, uses) in members {
        let Some(row) = TABLE.iter().find(|row| row.name == name) else {
            found.push(format!("{name} is not in the layer table"));
            continue;
        };
        for used in uses.iter().filter(|used| members.contains_key(*used)) {
            if !row.may_use.contains(&used.as_str()) {
                found.push(format!("{name} (layer {}) may not use {used}", row.layer));
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
fn forbidden_meetings(graph: &Graph) -> Vec<String> {
    let mut found = Vec::new();
    for row in &TABLE {
        let tree = tree(graph, row.name);
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

#[test]
fn no_crate_uses_another_that_the_layer_table_forbids() {
    assert_eq!(forbidden_arrows(&members(&metadata())), Vec::<String>::new());
}

#[test]
fn every_crate_of_the_table_exists() {
    let members = members(&metadata());
    for row in &TABLE {
        assert!(members.contains_key(row.name), "{} is in the table but not in the workspace", row.name);
    }
}

#[test]
fn the_table_itself_points_down_only() {
    let layer = |name: &str| TABLE.iter().find(|row| row.name == name).expect("the table knows it").layer;
    for row in &TABLE {
        for used in row.may_use {
            let within_the_ground = matches!(
                (row.name, *used),
                ("pomp-terrain", "pomp-motion" | "pomp-files") | ("pomp-tensors", "pomp-lanes")
            );
            assert!(layer(used) < row.layer || within_the_ground, "{} → {used} points up", row.name);
        }
    }
}

#[test]
fn the_documentation_shows_this_table() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/house.md");
    let text = std::fs::read_to_string(path).unwrap();
    let rows: Vec<Vec<&str>> = text
        .lines()
        .filter(|line| line.contains("| `pomp"))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    assert_eq!(rows.len(), TABLE.len());
    for (shown, row) in rows.iter().zip(&TABLE) {
        let names: Vec<&str> = row.may_use.iter().map(|name| name.trim_start_matches("pomp-")).collect();
        let uses = match names.len() {
            0 => "–".to_owned(),
            count if count == TABLE.len() - 1 => "all".to_owned(),
            _ => names.join(", "),
        };
        assert_eq!(
            [shown[0], shown[1], shown[3]],
            [&row.layer.to_string(), &format!("`{}`", row.name), &*uses]
        );
    }
}

#[test]
fn learned_code_and_the_simulator_meet_in_the_generator_and_never_below_the_metrics() {
    let graph = whole_graph(&metadata());
    assert_eq!(forbidden_meetings(&graph), Vec::<String>::new());
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

#[test]
fn the_checker_finds_every_kind_of_forbidden_arrow() {
    let cases: [(Arrows<'_>, &str); 4] = [
        (
            &[("pomp-eval", &["pomp-physics"]), ("pomp-physics", &[])],
            "pomp-eval (layer 1) may not use pomp-physics",
        ),
        (
            &[("pomp-preprocess", &["pomp-phase"]), ("pomp-phase", &[])],
            "pomp-preprocess (layer 3) may not use pomp-phase",
        ),
        (&[("pomp-motion", &["pomp"]), ("pomp", &[])], "pomp-motion (layer 0) may not use pomp"),
        (&[("pomp-gadget", &["pomp-motion"]), ("pomp-motion", &[])], "pomp-gadget is not in the layer table"),
    ];
    for (arrows, expected) in cases {
        assert_eq!(forbidden_arrows(&made_up(arrows)), [expected]);
    }
    let allowed = made_up(&[("pomp-eval", &["pomp-motion", "serde"]), ("pomp-motion", &["glam"])]);
    assert_eq!(forbidden_arrows(&allowed), Vec::<String>::new());
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
    assert_eq!(
        forbidden_meetings(&graph),
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

//! Every crate can be published: `Cargo.toml` has what crates.io shows, and a package holds all that its sources include.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Most bytes of a package, before it is compressed: what crates.io takes compressed.
const LARGEST: u64 = 10_000_000;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The crates of the workspace that are published.
fn published() -> Vec<Value> {
    let ran = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline", "--locked"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let metadata: Value = serde_json::from_slice(&ran.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap().iter();
    let published: Vec<Value> =
        packages.filter(|package| package["publish"] != serde_json::json!([])).cloned().collect();
    assert!(published.len() > 25, "{}", published.len());
    published
}

fn folder(package: &Value) -> PathBuf {
    Path::new(package["manifest_path"].as_str().unwrap()).parent().unwrap().to_owned()
}

/// Files below a folder, links followed, with their sizes.
fn files(path: &Path, found: &mut Vec<(PathBuf, u64)>) {
    let metadata = fs::metadata(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    if metadata.is_file() {
        found.push((path.to_owned(), metadata.len()));
        return;
    }
    for entry in fs::read_dir(path).unwrap() {
        files(&entry.unwrap().path(), found);
    }
}

/// What `include` of a crate names, as paths in it.
fn included(package: &Value) -> Vec<PathBuf> {
    let manifest: toml::Table =
        fs::read_to_string(package["manifest_path"].as_str().unwrap()).unwrap().parse().unwrap();
    let include = manifest["package"].get("include").and_then(toml::Value::as_array);
    let include = include.unwrap_or_else(|| panic!("{} has no include", package["name"]));
    let paths = include.iter().map(|path| path.as_str().unwrap());
    paths.filter(|path| *path != "/LICENSE-*").map(|path| folder(package).join(&path[1..])).collect()
}

#[test]
fn every_crate_says_what_a_registry_shows() {
    for package in published() {
        let name = package["name"].as_str().unwrap();
        for field in ["description", "license", "repository", "readme", "rust_version"] {
            assert!(package[field].as_str().is_some_and(|text| !text.is_empty()), "{name} has no {field}");
        }
        for field in ["keywords", "categories"] {
            let words = package[field].as_array().unwrap();
            assert!((1..=5).contains(&words.len()), "{name} has {} {field}", words.len());
            let fits = |word: &Value| field == "categories" || word.as_str().unwrap().len() <= 20;
            assert!(words.iter().all(fits), "{name}: {words:?}");
        }
        assert!(package["metadata"]["docs"]["rs"].is_object(), "{name} has no [package.metadata.docs.rs]");
        for license in ["LICENSE-MIT", "LICENSE-APACHE"] {
            let own = fs::read(folder(&package).join(license));
            let own = own.unwrap_or_else(|error| panic!("{name}/{license}: {error}"));
            assert!(own == fs::read(root().join(license)).unwrap(), "{name}/{license} is another one");
        }
    }
}

#[test]
fn crates_ask_for_each_other_by_their_version() {
    let packages = published();
    let versions = |name: &str| packages.iter().find(|package| package["name"] == name);
    for package in &packages {
        for dependency in package["dependencies"].as_array().unwrap() {
            if dependency["path"].is_null() {
                continue;
            }
            let (name, asked) = (dependency["name"].as_str().unwrap(), dependency["req"].as_str().unwrap());
            match versions(name) {
                Some(found) => {
                    let version = found["version"].as_str().unwrap();
                    assert_eq!(asked, format!("^{version}"), "{} asks for {name}", package["name"]);
                }
                // A package has no tests, and cargo leaves out what only they need.
                None => assert_eq!((dependency["kind"].as_str(), asked), (Some("dev"), "*"), "{name}"),
            }
        }
    }
}

#[test]
fn a_package_holds_what_its_sources_include_and_is_small_enough() {
    for package in published() {
        let name = package["name"].as_str().unwrap();
        let mut found = Vec::new();
        for path in included(&package) {
            files(&path, &mut found);
        }
        let bytes: u64 = found.iter().map(|(_, bytes)| bytes).sum();
        assert!(bytes < LARGEST, "{name}: {bytes} bytes");
        let depth = folder(&package).components().count();
        for (source, _) in found.iter().filter(|(path, _)| path.extension().is_some_and(|e| e == "rs")) {
            let text = fs::read_to_string(source).unwrap();
            // From src/a/b.rs, ../../ leads to the crate, and one more out of it.
            let most = source.components().count() - depth - 1;
            let out = "../".repeat(most + 1);
            let leads_out = ["include_str!", "include_bytes!", "concat!"]
                .iter()
                .any(|reader| text.contains(&format!("{reader}(\"{out}")));
            assert!(!leads_out, "{} includes a file from outside its crate", source.display());
        }
    }
}

/// Sources of a crate below `folder`.
fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    files(folder, &mut found);
    let sources =
        found.into_iter().map(|(path, _)| path).filter(|path| path.extension().is_some_and(|e| e == "rs"));
    sources.map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
}

#[test]
fn libraries_whose_tests_are_not_built_have_none() {
    // A test program of a library is that library compiled once more, so `test = false` stands where there is none.
    let is_test = |line: &str| line.starts_with("#[test]") || line.starts_with("proptest!");
    let is_doctest = |line: &str| {
        line.starts_with("//! ```")
            || line.starts_with("/// ```")
            || line.starts_with("#![doc = include_str!")
    };
    let mut switched_off = [0, 0];
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let folder = entry.unwrap().path();
        let manifest: toml::Table = fs::read_to_string(folder.join("Cargo.toml")).unwrap().parse().unwrap();
        let is_off = |kind: &str| {
            manifest.get("lib").and_then(|lib| lib.get(kind)) == Some(&toml::Value::Boolean(false))
        };
        for (kind, (off, is_one)) in
            [(is_off("test"), &is_test as &dyn Fn(&str) -> bool), (is_off("doctest"), &is_doctest)]
                .into_iter()
                .enumerate()
        {
            if !off {
                continue;
            }
            switched_off[kind] += 1;
            for (path, text) in sources(&folder.join("src")) {
                let line = text.lines().position(|line| is_one(line.trim_start()));
                let at = line.map(|line| format!("{}:{}", path.display(), line + 1));
                assert_eq!(
                    at,
                    None,
                    "a test that never runs: take its line out of [lib] in {}",
                    folder.display()
                );
            }
        }
    }
    println!(
        "{} libraries without tests, {} without examples in their documentation",
        switched_off[0], switched_off[1]
    );
    assert!(switched_off.iter().all(|count| *count > 5), "{switched_off:?}");
}

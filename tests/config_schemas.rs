//! `pomp config schema`: every file of `configs/` fits the schema of its kind, and the schema finds mistakes in it.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

const KINDS: [&str; 19] = [
    "preprocess",
    "train",
    "controller",
    "matching",
    "learned-matching",
    "generate",
    "batch",
    "bench",
    "performance",
    "balance",
    "studio",
    "style",
    "style-adapter",
    "retarget",
    "physics",
    "terrain",
    "rig",
    "scene",
    "path",
];

fn configs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs")
}

fn schema(kind: &str) -> Value {
    let ran = Command::new(env!("CARGO_BIN_EXE_pomp")).args(["config", "schema", kind]).output().unwrap();
    assert!(ran.status.success(), "{kind}: {}", String::from_utf8_lossy(&ran.stderr));
    serde_json::from_slice(&ran.stdout).unwrap()
}

/// The kind of a file of `configs/`.
fn kind(name: &str) -> &'static str {
    let (folder, file) = name.rsplit_once('/').unwrap_or(("", name));
    match (folder, file) {
        ("ablations", _) => "train",
        ("", "balance.toml") => "balance",
        ("bench", "performance.toml" | "performance_quick.toml") => "performance",
        ("bench", _) => "bench",
        ("controllers", "matching.toml" | "matching-phase.toml") => "matching",
        ("controllers", "learned-matching.toml") => "learned-matching",
        ("controllers", _) => "controller",
        ("rigs", _) => "rig",
        ("scenes", _) => "scene",
        ("terrain", _) => "terrain",
        (
            "",
            "generate.toml"
            | "paper_loop.toml"
            | "moving_ground.toml"
            | "own_feet.toml"
            | "own_feet_forces.toml"
            | "own_feet_planned.toml"
            | "own_feet_policy.toml"
            | "own_feet_unrolled.toml"
            | "own_feet_stairs.toml"
            | "own_feet_thorough.toml",
        ) => "generate",
        (
            "",
            "preprocess.toml"
            | "preprocess_training.toml"
            | "preprocess_directions.toml"
            | "preprocess_own_feet.toml"
            | "preprocess_styles.toml",
        ) => "preprocess",
        ("", "batch.toml") => "batch",
        ("", "physics.toml") => "physics",
        ("", "studio.toml") => "studio",
        ("", "style.toml") => "style",
        ("", "style_adapter.toml" | "style_adapter_unrolled.toml") => "style-adapter",
        ("", "retarget.toml") => "retarget",
        ("", name) if ["compact", "paper", "tutorial"].iter().any(|begin| name.starts_with(begin)) => "train",
        _ => panic!("configs/{name} has no schema: say here of which kind it is"),
    }
}

/// Every TOML file of `configs/`, by its name there.
fn files() -> BTreeMap<String, Value> {
    let (mut found, mut folders) = (BTreeMap::new(), vec![configs()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(configs()).unwrap().to_str().unwrap().replace('\\', "/");
            let table: toml::Table = std::fs::read_to_string(&path).unwrap().parse().unwrap();
            found.insert(name, serde_json::to_value(table).unwrap());
        }
    }
    found
}

/// A schema with the definitions that it refers to.
struct Checker<'a> {
    definitions: &'a Value,
}

impl Checker<'_> {
    /// What of `value` does not fit `schema`, with its path. A key of a schema that is not known here fails the test.
    fn check(&self, schema: &Value, value: &Value, path: &str) -> Result<(), String> {
        let object = match schema {
            Value::Bool(true) => return Ok(()),
            Value::Object(object) => object,
            other => panic!("{path}: {other} is no schema"),
        };
        let wrong = |what: String| Err(format!("{path} = {value}: {what}"));
        for (key, rule) in object {
            match key.as_str() {
                "$schema" | "title" | "description" | "default" | "format" | "definitions" => {}
                "$ref" => {
                    let name = rule.as_str().unwrap().strip_prefix("#/definitions/").unwrap();
                    self.check(&self.definitions[name], value, path)?;
                }
                "type" => {
                    let kinds: Vec<&Value> =
                        rule.as_array().map_or(vec![rule], |kinds| kinds.iter().collect());
                    if !kinds.iter().any(|kind| is_of(value, kind.as_str().unwrap())) {
                        return wrong(format!("it is no {rule}"));
                    }
                }
                "const" => {
                    if value != rule {
                        return wrong(format!("it is not {rule}"));
                    }
                }
                "enum" => {
                    if !rule.as_array().unwrap().contains(value) {
                        return wrong(format!("none of {rule}"));
                    }
                }
                "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => {
                    if let Some(value) = value.as_f64() {
                        let bound = rule.as_f64().unwrap();
                        let fits = match key.as_str() {
                            "minimum" => value >= bound,
                            "maximum" => value <= bound,
                            "exclusiveMinimum" => value > bound,
                            _ => value < bound,
                        };
                        if !fits {
                            return wrong(format!("{key} is {bound}"));
                        }
                    }
                }
                "minItems" | "maxItems" => {
                    if let Some(items) = value.as_array() {
                        let (count, bound) = (items.len() as u64, rule.as_u64().unwrap());
                        if (key == "minItems" && count < bound) || (key == "maxItems" && count > bound) {
                            return wrong(format!("{key} is {bound}"));
                        }
                    }
                }
                "items" => {
                    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                        let rule = rule.get(index).unwrap_or(rule);
                        self.check(rule, item, &format!("{path}[{index}]"))?;
                    }
                }
                "required" => {
                    if let Some(table) = value.as_object() {
                        let keys = rule.as_array().unwrap().iter().map(|key| key.as_str().unwrap());
                        if let Some(missing) = keys.into_iter().find(|key| !table.contains_key(*key)) {
                            return wrong(format!("{missing} is missing"));
                        }
                    }
                }
                "anyOf" | "oneOf" => {
                    let choices = rule.as_array().unwrap();
                    let fits = |choice: &&Value| self.check(choice, value, path).is_ok();
                    let fitting = choices.iter().filter(fits).count();
                    if fitting == 0 || (key == "oneOf" && fitting > 1) {
                        return wrong(format!("{fitting} of {} choices fit", choices.len()));
                    }
                }
                other => {
                    let of_a_table = ["properties", "additionalProperties"].contains(&other);
                    assert!(of_a_table, "{path}: the keyword {other} is not known to this test");
                }
            }
        }
        self.check_table(object, value, path)
    }

    fn check_table(&self, schema: &Map<String, Value>, value: &Value, path: &str) -> Result<(), String> {
        for (key, inner) in value.as_object().into_iter().flatten() {
            let path = format!("{path}.{key}");
            match (
                schema.get("properties").and_then(|known| known.get(key)),
                schema.get("additionalProperties"),
            ) {
                (None, Some(Value::Bool(false))) => return Err(format!("{path} is no key")),
                (Some(rule), _) | (None, Some(rule)) => self.check(rule, inner, &path)?,
                (None, None) => {}
            }
        }
        Ok(())
    }
}

fn is_of(value: &Value, kind: &str) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "null" => value.is_null(),
        other => panic!("the type {other} is not known to this test"),
    }
}

fn fits(schema: &Value, value: &Value) -> Result<(), String> {
    Checker { definitions: &schema["definitions"] }.check(schema, value, "")
}

/// Pointers to every value within `value`, tables and arrays too.
fn pointers(value: &Value, prefix: &str, found: &mut Vec<String>) {
    let inner: Vec<(String, &Value)> = match value {
        Value::Object(table) => table.iter().map(|(key, inner)| (key.clone(), inner)).collect(),
        Value::Array(items) => {
            items.iter().enumerate().map(|(index, item)| (index.to_string(), item)).collect()
        }
        _ => Vec::new(),
    };
    for (key, inner) in inner {
        let pointer = format!("{prefix}/{key}");
        pointers(inner, &pointer, found);
        found.push(pointer);
    }
}

#[test]
fn every_file_fits_the_schema_of_its_kind() {
    let schemas: BTreeMap<&str, Value> = KINDS.map(|kind| (kind, schema(kind))).into();
    let mut seen = BTreeSet::new();
    for (name, value) in files() {
        fits(&schemas[kind(&name)], &value).unwrap_or_else(|wrong| panic!("configs/{name}: {wrong}"));
        seen.insert(kind(&name));
    }
    assert_eq!(seen.len(), KINDS.len() - 1, "every kind but that of paths has a file: {seen:?}");
    let path = json!({ "waypoint": [{ "x": 0, "z": 0.5 }, { "x": 2.0, "z": 8.0, "gait": "jog" }] });
    fits(&schemas["path"], &path).unwrap();
    assert!(fits(&schemas["path"], &json!({})).is_err(), "a path has waypoints");
    assert!(fits(&schemas["path"], &json!({ "extends": "other.toml" })).is_ok());
}

#[test]
fn a_schema_refuses_unknown_keys_in_every_table_and_a_wrong_type_of_every_value() {
    let schemas: BTreeMap<&str, Value> = KINDS.map(|kind| (kind, schema(kind))).into();
    let mut changes = 0;
    for (name, value) in files() {
        let schema = &schemas[kind(&name)];
        let mut places = vec![String::new()];
        pointers(&value, "", &mut places);
        for pointer in places {
            let mut changed = value.clone();
            let place = changed.pointer_mut(&pointer).unwrap();
            match place {
                Value::Object(table) => drop(table.insert("misspelt".to_owned(), json!(1))),
                Value::Array(_) | Value::String(_) => *place = json!(12.5),
                _ => *place = json!("some"),
            }
            assert!(fits(schema, &changed).is_err(), "configs/{name}: {pointer} may be anything");
            changes += 1;
        }
    }
    println!("{changes} changes are refused");
    assert!(changes > 1000, "{changes}");
}

#[test]
fn every_setting_of_the_loop_is_described_and_has_its_default_and_its_range() {
    let schema = schema("generate");
    let mut open = vec![(String::new(), &schema)];
    let (mut described, mut bounded) = (0, 0);
    while let Some((path, inner)) = open.pop() {
        for (key, inner) in inner["properties"].as_object().into_iter().flatten() {
            let path = format!("{path}.{key}");
            // The simulator's configurations have keys, ranges and defaults in the schema, and their words in its crate.
            let is_physics = path.starts_with(".dynamic.") || path.contains(".get_up.");
            let words = inner["description"].as_str();
            assert!(is_physics || words.is_some_and(|words| words.len() > 10), "{path} has no words");
            described += 1;
            let is_number = matches!(inner["type"].as_str(), Some("number" | "integer"));
            if is_number {
                assert!(inner["default"].is_number(), "{path} has no default: {inner}");
                bounded += usize::from(inner.get("maximum").is_some());
            }
            open.push((path, inner));
        }
    }
    println!("{described} settings are described, {bounded} numbers have a largest value");
    assert!(described > 100 && bounded > 40, "{described}, {bounded}");
    let contact = &schema["properties"]["dynamic"]["properties"]["contact"]["properties"]["frequency_hz"];
    assert!(contact["minimum"].is_number() && contact["maximum"].is_number(), "{contact}");
}

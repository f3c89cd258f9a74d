//! Descriptions that do not fit their weights are refused before memory is taken for what they describe.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

mod small_model;

use serde_json::{Value, json};
use small_model::{Files, files};

/// The refusal of the small model with another value at a place of its description, which takes at most 4 MB.
fn refusal(pointer: &str, value: &Value) -> String {
    let mut files = files();
    let mut description: Value = serde_json::from_slice(&files.description).unwrap();
    *description.pointer_mut(pointer).unwrap() = value.clone();
    files.description = serde_json::to_vec(&description).unwrap();
    let mut found = Ok(String::new());
    let memory = allocation_counter::measure(|| found = files.load().map(|_| String::new()));
    assert!(memory.bytes_max < 4 << 20, "{pointer} = {value}: {} bytes", memory.bytes_max);
    found.err().unwrap_or_else(|| panic!("{pointer} = {value} is accepted"))
}

#[test]
fn what_is_saved_is_read_again() {
    let files = files();
    let model = files.load().unwrap();
    assert_eq!(model.description.to_json().into_bytes(), files.description);
}

#[test]
fn rejects_sizes_that_the_weight_files_do_not_hold() {
    for (pointer, value) in [
        ("/phase/intermediate", json!(10_000)),
        ("/phase/kernel", json!(17)),
        ("/phase/window/radius_frames", json!(1000)),
        ("/kinematic/config/expert_hidden", json!([1_000_000_000_000_u64])),
        ("/kinematic/config/gate_hidden", json!([4, 1_u64 << 40, 4])),
        ("/kinematic/config/decoder_hidden", json!([u64::MAX, u64::MAX])),
        ("/kinematic/config/condition_size", json!(1_u64 << 40)),
        ("/kinematic/config/time_embedding", json!(1_u64 << 40)),
        ("/kinematic/config/experts", json!(3)),
    ] {
        let said = refusal(pointer, &value);
        assert!(said.starts_with("small/model.json: it describes a network of "), "{pointer}: {said}");
        assert!(
            said.contains(".safetensors holds ") && said.ends_with("the version that wrote it"),
            "{said}"
        );
    }
    let said = refusal("/kinematic/config/diffusion_steps", &json!(1_u64 << 40));
    assert!(said.contains("tensor \"gamma.gamma\" of small/kinematic.safetensors has shape [3, "), "{said}");
}

#[test]
fn rejects_sizes_beyond_reason_and_sizes_that_do_not_fit_each_other() {
    for (pointer, value, words) in [
        (
            "/phase/window/radius_frames",
            json!(u64::MAX),
            "window.radius_frames = 18446744073709551615 is out of range (allowed: 2 to 1000)",
        ),
        ("/phase/window/radius_frames", json!(1), "window.radius_frames = 1 is out of range"),
        ("/stitch/near_frames", json!(5), "stitch.near_frames = 5"),
        ("/phase/kernel", json!(19), "kernel = 19"),
        ("/phase/joints", json!(3), "phase encoding module has joints: 3, but its layout has 2"),
        ("/phase/channels", json!(2), "phase encoding module has channels: 2, but its layout has 1"),
        ("/body_names", json!(["Hips"]), "body_names has bodies: 1, but its layout has 2"),
        ("/layout/joints", json!(u64::MAX), "1 to 10000 joints"),
        ("/layout/x/1/range/end", json!(3), "blocks of the layout"),
        ("/skeleton/joints/1/parent", json!(7), "its parent 7 does not come before it"),
        ("/skeleton/joints", json!([]), "at least one joint"),
        ("/mass_kg", json!(-1.0), "mass_kg is -1"),
        ("/metrics/held_out", json!(1e39), "\"held_out\" is inf"),
        ("/kinematic/x/deviation/4", json!(0.0), "deviation of feature 4 is 0"),
        ("/kinematic/starts/walk/3", json!(1e39), "feature 3 of the start \"walk\" is inf"),
    ] {
        let said = refusal(pointer, &value);
        assert!(said.starts_with("small/model.json") && said.contains(words), "{pointer} = {value}: {said}");
    }
}

#[test]
fn the_numbers_of_every_network_are_counted_as_they_are_stored() {
    let Files { phase, kinematic, .. } = files();
    let model = files().load().unwrap();
    let stored = |bytes: &[u8], prefix: &str| {
        pomp_weights::WeightFile::from_bytes(bytes, "file").unwrap().numbers_under(prefix)
    };
    assert_eq!(model.description.phase.stored_numbers().unwrap(), stored(&phase, "phase"));
    let (network, _, _) = model.kinematic().unwrap();
    assert_eq!(network.config().stored_numbers().unwrap(), stored(&kinematic, "kinematic"));
    assert_eq!(network.config().stored_numbers().unwrap(), network.parameter_count());
}

//! Files of styles: read as they were written, refused by name when they are not what the model can take.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

use burn::tensor::Device;
use pomp_kinematic::StyleAdapter;
use pomp_model::{Model, ModelError, ModelStyles, NamedStyle, StyleDescription, UsedParts};
use pomp_motion::features::BlockName;
use std::collections::BTreeMap;
use std::path::Path;

fn compact() -> Model {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/models/compact");
    Model::load(&folder, &Device::flex()).unwrap()
}

fn named(name: &str, pace: f32, code_width: usize) -> NamedStyle {
    NamedStyle { name: name.to_owned(), pace, walk_codes: vec![0.25; code_width], seconds: 8.0 }
}

fn styles(model: &Model) -> ModelStyles {
    let width = model.description.layout.x_range(BlockName::PhaseCodes).len();
    let description = StyleDescription {
        made_by: "a test".to_owned(),
        config: serde_json::Value::Null,
        seed: 3,
        data_hash: "0123".to_owned(),
        data: vec![("walks (a licence)".to_owned(), 12.0)],
        model_sha256: model.files_sha256.clone().unwrap(),
        styles: vec![named("slow", 0.5, width), named("odd", 1.0, width)],
        channels: 10,
        metrics: BTreeMap::new(),
    };
    let config = &model.description.kinematic.as_ref().unwrap().config;
    let adapter = StyleAdapter::new(config, [2, 10], 3, &Device::flex()).unwrap();
    ModelStyles { description, adapter, file_sha256: None }
}

fn bytes(styles: &ModelStyles) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(ModelStyles::FILE);
    styles.save(&path).unwrap();
    std::fs::read(path).unwrap()
}

fn read(bytes: &[u8], model: &Model) -> Result<ModelStyles, ModelError> {
    let config = &model.description.kinematic.as_ref().unwrap().config;
    ModelStyles::from_bytes(bytes, "there.safetensors", &model.description.layout, config, &Device::flex())
}

fn weights<const N: usize>(weights: [(&str, f32); N]) -> BTreeMap<String, f32> {
    weights.map(|(name, weight)| (name.to_owned(), weight)).into()
}

#[test]
fn styles_are_read_as_they_were_written_and_name_the_model_with_them() {
    let mut model = compact();
    model.styles = None;
    let own = model.sha256_with(UsedParts { styles: true, ..UsedParts::default() });
    let written = bytes(&styles(&model));
    let found = read(&written, &model).unwrap();
    assert_eq!(found.description, styles(&model).description);
    assert_eq!(bytes(&found), written, "half precision loses nothing a second time");
    model.styles = Some(found);
    let used = |styles| model.sha256_with(UsedParts { styles, ..UsedParts::default() });
    assert_eq!((used(false), own), (model.files_sha256.clone(), model.files_sha256.clone()));
    assert_ne!(used(true), used(false));
}

#[test]
fn weights_of_0_change_nothing_and_a_slow_style_slows_down_by_its_weight() {
    let mut model = compact();
    model.styles = Some(styles(&model));
    assert_eq!(model.style_change(&weights([])).unwrap(), None);
    assert_eq!(model.style_change(&weights([("slow", 0.0)])).unwrap(), None);
    let change = model.style_change(&weights([("slow", 0.5), ("odd", 0.5)])).unwrap().unwrap();
    assert_eq!((change.pace, change.walk_codes.len()), (0.75, 2));
}

#[test]
fn rejects_unknown_styles_models_without_any_and_styles_of_another_model() {
    let mut model = compact();
    model.styles = None;
    let told = |model: &Model| model.style_change(&weights([("zmobie", 0.5)])).unwrap_err().to_string();
    assert!(told(&model).contains("pomp train style"), "{}", told(&model));
    model.styles = Some(styles(&model));
    assert!(told(&model).contains("\"zmobie\"") && told(&model).contains("slow, odd"), "{}", told(&model));
    model.files_sha256 = Some("f".repeat(64));
    assert!(told(&model).contains("trained on a model with the hash"), "{}", told(&model));
}

#[test]
fn rejects_files_that_are_damaged_or_describe_what_cannot_be() {
    let model = compact();
    let good = bytes(&styles(&model));
    for bad in [&b""[..], &b"not weights"[..], &good[..good.len() - 7], &good[..64]] {
        let told = read(bad, &model).unwrap_err().to_string();
        assert!(told.contains("there.safetensors"), "{told}");
    }
    let refused = |change: &dyn Fn(&mut StyleDescription)| {
        let mut styles = styles(&model);
        change(&mut styles.description);
        read(&bytes(&styles), &model).unwrap_err().to_string()
    };
    for (told, expected) in [
        (refused(&|it| it.styles[0].pace = 0.0), "pace of \"slow\""),
        (refused(&|it| it.styles[1].name = "slow".to_owned()), "not its own"),
        (refused(&|it| it.styles[1].walk_codes.truncate(4)), "has 4 phase codes"),
        (refused(&|it| it.channels = 0), "codes of 0 numbers"),
        (refused(&|it| it.channels = 11), "there.safetensors"),
        (refused(&|it| it.styles.truncate(1)), "there.safetensors"),
    ] {
        assert!(told.contains(expected), "{told}");
    }
}

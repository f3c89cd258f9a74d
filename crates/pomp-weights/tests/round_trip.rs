//! Weights survive the file; broken files do not pass.

use burn::module::Module;
use burn::nn::{BatchNorm, BatchNormConfig, Linear, LinearConfig};
use burn::tensor::{Device, Tensor};
use pomp_weights::{WeightFile, WeightPrecision, WeightTensor, WeightsError};

#[derive(Module, Debug)]
struct Network {
    layers: Vec<Linear>,
    norm: BatchNorm,
}

fn network(device: &Device) -> Network {
    Network {
        layers: vec![LinearConfig::new(4, 3).init(device), LinearConfig::new(3, 2).init(device)],
        norm: BatchNormConfig::new(2).init(device),
    }
}

fn run(network: &Network, device: &Device) -> Vec<f32> {
    let input = Tensor::<2>::from_floats([[0.3, -1.0, 2.0, 0.1], [1.3, 0.5, -0.2, 0.7]], device);
    let output = network.layers.iter().fold(input, |signal, layer| layer.forward(signal));
    network.norm.forward(output).try_into_vec_as::<f32>().expect("floats")
}

fn file_of(network: &Network) -> WeightFile {
    let mut file = WeightFile::new(Some(("version", "3")));
    file.add_module("net", network).expect("finite");
    file
}

#[test]
fn a_loaded_network_computes_what_the_saved_one_did_running_statistics_included() {
    let training = Device::flex().autodiff();
    let trained = network(&training);
    for _ in 0..5 {
        run(&trained, &training);
    }
    let bytes = file_of(&trained).to_bytes(WeightPrecision::F32).expect("fits");
    let file = WeightFile::from_bytes(&bytes, "memory").expect("just written");
    let device = Device::flex();
    let loaded = file.load_into("net", network(&device)).expect("the same network");
    assert_eq!(run(&trained.valid(), &device), run(&loaded, &device));
    assert_eq!(file.metadata("version").expect("was set"), "3");
    let names: Vec<&str> = file.names().collect();
    assert!(names.contains(&"net.layers.0.weight") && names.contains(&"net.norm.running_mean"), "{names:?}");
}

#[test]
fn a_loaded_network_keeps_its_training_state() {
    let training = Device::flex().autodiff();
    let file = file_of(&network(&Device::flex()));
    let loaded = file.load_into("net", network(&training)).expect("the same network");
    assert!(loaded.layers[0].weight.is_require_grad() && loaded.norm.training.is_enabled());
    let frozen = file.load_into("net", network(&training).freeze()).expect("the same network");
    assert!(!frozen.layers[0].weight.is_require_grad() && !frozen.norm.training.is_enabled());
}

#[test]
fn half_precision_halves_the_body_and_is_near() {
    let device = Device::flex();
    let saved = network(&device);
    let (whole, half) = (
        file_of(&saved).to_bytes(WeightPrecision::F32).expect("fits"),
        file_of(&saved).to_bytes(WeightPrecision::F16).expect("fits"),
    );
    assert!(half.len() < whole.len());
    let file = WeightFile::from_bytes(&half, "memory").expect("just written");
    let loaded = file.load_into("net", network(&device)).expect("the same network");
    for (a, b) in run(&saved, &device).iter().zip(run(&loaded, &device)) {
        assert!((a - b).abs() < 5e-3, "{a} {b}");
    }
}

#[test]
fn equal_weights_give_equal_bytes_on_disk() {
    let folder = tempfile::tempdir().expect("a folder");
    let saved = network(&Device::flex());
    let paths = ["one.safetensors", "two.safetensors"].map(|name| folder.path().join(name));
    for path in &paths {
        file_of(&saved).save(path, WeightPrecision::F32).expect("writes");
    }
    let bytes = paths.clone().map(|path| std::fs::read(path).expect("was written"));
    assert_eq!(bytes[0], bytes[1]);
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 2, "nothing is left beside");
    assert_eq!(WeightFile::open(&paths[0]).expect("reads").names().count(), 8);
}

#[test]
fn rejects_a_file_cut_anywhere() {
    let bytes = file_of(&network(&Device::flex())).to_bytes(WeightPrecision::F32).expect("fits");
    for length in (0..bytes.len()).step_by(7) {
        let error = WeightFile::from_bytes(&bytes[..length], "cut.safetensors").expect_err("it is cut");
        assert!(
            matches!(error, WeightsError::Broken { .. }) && error.to_string().contains("cut.safetensors")
        );
    }
}

#[test]
fn rejects_a_file_that_lacks_a_tensor() {
    let device = Device::flex();
    let mut file = WeightFile::new(None);
    file.add_module("net", &LinearConfig::new(4, 3).with_bias(false).init(&device)).expect("finite");
    let error = file.load_into("net", LinearConfig::new(4, 3).init(&device)).expect_err("no bias");
    assert!(matches!(&error, WeightsError::MissingTensor { name, .. } if name == "net.bias"), "{error}");
}

#[test]
fn rejects_a_file_with_a_tensor_that_the_network_does_not_know() {
    let device = Device::flex();
    let mut file = WeightFile::new(None);
    file.add_module("net", &LinearConfig::new(4, 3).init(&device)).expect("finite");
    let error =
        file.load_into("net", LinearConfig::new(4, 3).with_bias(false).init(&device)).expect_err("a bias");
    assert!(matches!(&error, WeightsError::UnknownTensor { name, .. } if name == "net.bias"), "{error}");
}

#[test]
fn rejects_a_tensor_of_another_shape() {
    let device = Device::flex();
    let mut file = WeightFile::new(None);
    file.add_module("net", &LinearConfig::new(4, 3).init(&device)).expect("finite");
    let error = file.load_into("net", LinearConfig::new(5, 3).init(&device)).expect_err("another size");
    assert!(
        matches!(&error, WeightsError::WrongShape { expected, found, .. } if *expected == [5, 3] && *found == [4, 3]),
        "{error}"
    );
}

#[test]
fn rejects_weights_that_are_not_finite_on_both_ways() {
    let tensor = |values: Vec<f32>| WeightTensor { shape: vec![values.len()], values };
    let mut file = WeightFile::new(None);
    let error = file.add_tensor("gain", tensor(vec![1.0, 2.0, f32::NAN])).expect_err("a NaN");
    assert!(matches!(&error, WeightsError::NotFinite { name, index: 2, .. } if name == "gain"), "{error}");
    file.add_tensor("gain", tensor(vec![1.0, 2.0, 3.0])).expect("finite");
    let mut bytes = file.to_bytes(WeightPrecision::F32).expect("fits");
    let end = bytes.len();
    bytes[end - 4..].copy_from_slice(&f32::INFINITY.to_le_bytes());
    let error = WeightFile::from_bytes(&bytes, "disk").expect_err("an infinity");
    assert!(matches!(&error, WeightsError::NotFinite { name, index: 2, .. } if name == "gain"), "{error}");
}

#[test]
fn rejects_weights_too_large_for_half_precision_and_values_that_do_not_fill_the_shape() {
    let mut file = WeightFile::new(None);
    file.add_tensor("gain", WeightTensor { shape: vec![1], values: vec![1e6] }).expect("finite");
    assert!(matches!(
        file.to_bytes(WeightPrecision::F16),
        Err(WeightsError::TooLargeForHalf { index: 0, .. })
    ));
    assert!(file.to_bytes(WeightPrecision::F32).is_ok());
    let wrong = WeightTensor { shape: vec![2, 2], values: vec![0.0; 3] };
    assert!(matches!(file.add_tensor("other", wrong), Err(WeightsError::WrongLength { found: 3, .. })));
    let again = WeightTensor { shape: vec![1], values: vec![1.0] };
    assert!(matches!(file.add_tensor("gain", again), Err(WeightsError::DuplicateName { .. })));
}

#[test]
fn rejects_a_missing_file_and_missing_metadata() {
    let error = WeightFile::open(std::path::Path::new("nowhere/at/all.safetensors")).expect_err("not there");
    assert!(error.to_string().contains("nowhere/at/all.safetensors"), "{error}");
    assert!(matches!(WeightFile::new(None).metadata("seed"), Err(WeightsError::MissingMetadata { .. })));
}

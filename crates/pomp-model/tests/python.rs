//! The model's files as Python reads them: `python/pomp_model.py` computes what the program does, and the snippets of
//! `docs/weights.md` run.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

use burn::tensor::{Device, Tensor, TensorData};
use pomp_model::Model;
use pomp_phase::PhaseParameters;
use pomp_testing::{python, python_can, repository};
use serde_json::{Map, Value, json};

/// Numbers that repeat nowhere nearby, of the order of 1.
fn waves(count: usize, step: f32) -> Vec<f32> {
    (0..count).map(|i| (i as f32 * step).sin() + 0.5 * (i as f32 * step * 0.37).cos()).collect()
}

fn tensor<const D: usize>(values: &[f32], shape: [usize; D], device: &Device) -> Tensor<D> {
    Tensor::from_data(TensorData::new(values.to_vec(), shape), device)
}

/// Values by name, each with its shape.
#[derive(Default)]
struct Values(Map<String, Value>);

impl Values {
    fn add<const D: usize>(&mut self, name: &str, tensor: &Tensor<D>) {
        let values: Vec<f32> = tensor.to_data().iter::<f32>().collect();
        self.0.insert(name.to_owned(), json!({ "shape": tensor.dims().to_vec(), "values": values }));
    }

    fn add_phases(&mut self, name: &str, phases: &PhaseParameters) {
        self.add(&format!("{name}.amplitude"), &phases.amplitude);
        self.add(&format!("{name}.frequency_hz"), &phases.frequency_hz);
        self.add(&format!("{name}.offset"), &phases.offset);
        self.add(&format!("{name}.shift_xy"), &phases.shift_xy);
    }
}

#[test]
fn numpy_computes_what_the_program_does_with_the_compact_models_files() {
    if !python_can("import numpy", "parity of the networks in numpy") {
        return;
    }
    let device = Device::flex();
    let folder = repository().join("data/models/compact");
    let model = Model::load(&folder, &device).unwrap();
    let mut values = Values::default();

    let window = model.description.phase.window.frames();
    let shape = [3, 3 * model.description.phase.joints, window];
    let windows = tensor(&waves(shape.iter().product(), 0.113), shape, &device);
    let clean = model.phase.encode(windows.clone());
    values.add_phases("clean", &clean);
    values.add_phases("aligned", &model.aligned_phase().unwrap().encode(windows.clone()));
    values.add("velocities", &model.phase.decode_parameters(&clean));
    values.add("windows", &windows);

    let (network, _, _) = model.kinematic().unwrap();
    let (x_size, y_size) = (network.config().input_size, network.config().output_size);
    let steps = [1, 7, 31, 50];
    let x = tensor(&waves(4 * x_size, 0.71), [4, x_size], &device);
    let noisy = tensor(&waves(4 * y_size, 0.29), [4, y_size], &device);
    let encoding = network.encoder.forward(&x, None);
    values.add("conditions", &encoding.conditions);
    values.add("shares", &encoding.gates);
    values.add("clean", &network.predict_clean(&network.encode(&x, None), noisy.clone(), &steps));
    values.add("x", &x);
    values.add("noisy", &noisy);
    values.add("steps", &tensor(&steps.map(|n| n as f32), [4], &device));

    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), serde_json::to_string(&values.0).unwrap()).unwrap();
    let script = repository().join("crates/pomp-model/python/parity.py");
    let said = python(&repository(), [script.as_path(), &folder, file.path()]);
    println!("{said}");
    assert_eq!(
        said.lines().count(),
        12,
        "four figures of two encoders, the decoder, and three of the kinematic module"
    );
}

#[test]
fn the_snippets_of_the_page_on_weights_run() {
    let page = std::fs::read_to_string(repository().join("docs/weights.md")).unwrap();
    let snippets: Vec<&str> =
        page.split("```python\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert_eq!(snippets.len(), 3);
    for snippet in snippets {
        let imports: Vec<&str> =
            snippet.lines().filter(|line| line.contains("import") && !line.contains("pomp_model")).collect();
        if python_can(&imports.join("\n"), "a snippet of the page on weights") {
            python(&repository(), ["-c", snippet]);
        }
    }
}

#[test]
fn the_page_on_weights_names_every_tensor() {
    let page = std::fs::read_to_string(repository().join("docs/weights.md")).unwrap();
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| ") && line.contains('`')).collect();
    let named = |tensor: &str| {
        let layer: String = tensor
            .split('.')
            .map(|part| if part.chars().all(|c| c.is_ascii_digit()) { "I" } else { part })
            .collect::<Vec<_>>()
            .join(".");
        let (owner, last) = layer.rsplit_once('.').unwrap();
        let last_alone = last.strip_prefix("shift_").unwrap_or(last);
        rows.iter().any(|row| {
            row.contains(&format!("`{layer}`"))
                || (row.contains(&format!("`{owner}.")) && row.contains(&format!(".{last}`")))
                || (last_alone != last && row.contains(owner) && row.contains(last))
        })
    };
    let folder = repository().join("data/models/compact");
    let mut count = 0;
    for file in ["phase", "aligned_phase", "kinematic"] {
        let path = folder.join(format!("{file}.safetensors"));
        let weights = pomp_weights::WeightFile::from_bytes(&std::fs::read(&path).unwrap(), file).unwrap();
        for name in weights.names() {
            // The aligned encoder has the rows of the clean one.
            let name = name.replace("aligned_phase.", "phase.encoder.");
            assert!(named(&name), "{name} is missing in docs/weights.md");
            count += 1;
        }
    }
    assert!(count > 50, "{count}");
}

//! A model of a few thousand numbers, and the files that it is saved as.

use burn::tensor::Device;
use pomp_kinematic::{Conditioning, GammaTable, GateInput, KinematicConfig, KinematicModel};
use pomp_model::{FORMAT_VERSION, KinematicDescription, Model, ModelBytes, ModelDescription, OutputSpace};
use pomp_motion::features::{FeatureLayout, Normaliser, Rotations};
use pomp_motion::glam::Vec3;
use pomp_motion::{Joint, JointIndex, Skeleton};
use pomp_phase::{PeriodicAutoencoder, PeriodicAutoencoderConfig, StitchConfig, WindowConfig};
use pomp_weights::WeightPrecision;
use std::collections::BTreeMap;

/// Contents of the files of a model folder.
#[derive(Clone)]
pub struct Files {
    pub description: Vec<u8>,
    pub phase: Vec<u8>,
    pub aligned_phase: Vec<u8>,
    pub kinematic: Vec<u8>,
}

impl Files {
    /// The model of these files, whose description must be UTF-8.
    pub fn load(&self) -> Result<Model, String> {
        let description = std::str::from_utf8(&self.description).map_err(|error| error.to_string())?;
        let bytes = ModelBytes {
            description,
            phase: &self.phase,
            aligned_phase: Some(&self.aligned_phase),
            kinematic: Some(&self.kinematic),
            balance_policy: None,
            styles: None,
        };
        Model::from_bytes(&bytes, "small", &Device::flex()).map_err(|error| error.to_string())
    }
}

fn model() -> Model {
    let device = Device::flex();
    let skeleton = Skeleton::new(vec![
        Joint { name: "Hips".to_owned(), parent: None, offset: Vec3::Y },
        Joint { name: "Head".to_owned(), parent: Some(JointIndex(0)), offset: Vec3::Y },
    ])
    .unwrap();
    let layout = FeatureLayout::new(2, 2, 1, Rotations::SixD);
    let window = WindowConfig { radius_frames: 4, frame_rate_hz: 60.0 };
    let phase = PeriodicAutoencoderConfig {
        channels: 1,
        intermediate: 2,
        kernel: 5,
        window,
        ..PeriodicAutoencoderConfig::new(2)
    };
    let (x, y) = (layout.x_len(), layout.y_len());
    let gate = layout.x_range(pomp_motion::features::BlockName::PhaseCodes);
    let config = KinematicConfig {
        experts: 2,
        expert_hidden: vec![2],
        condition_size: 3,
        gate_hidden: vec![2],
        decoder_hidden: vec![3, 2],
        diffusion_steps: 3,
        time_embedding: 2,
        conditioning: Conditioning::ExpertsAndState,
        ..KinematicConfig::compact(x, y, GateInput { start: gate.start, len: gate.len() })
    };
    let normaliser = |blocks, len: usize| {
        let rows = [vec![-1.0; len], vec![1.0; len]];
        Normaliser::fit(blocks, rows.iter().map(Vec::as_slice))
    };
    let network = KinematicModel::new(&config, 5, &device).unwrap();
    let gamma = GammaTable {
        steps: 3,
        features: y,
        gamma: vec![0.5; 3 * y],
        clean_error: vec![0.25; 3 * y],
        data_variance: vec![1.0; y],
    };
    let autoencoder = PeriodicAutoencoder::new(&phase, 5, &device).unwrap();
    let description = ModelDescription {
        format_version: FORMAT_VERSION,
        made_by: "a test".to_owned(),
        config_name: "small".to_owned(),
        config: serde_json::json!({ "seed": 1, "rate": 0.5 }),
        seed: 1,
        data_hash: "00".to_owned(),
        data: vec![("none".to_owned(), 1.0)],
        body_names: vec!["Hips".to_owned(), "Head".to_owned()],
        skeleton,
        mass_kg: 70.0,
        phase,
        stitch: StitchConfig { near_frames: 2, ..StitchConfig::default() },
        kinematic: Some(KinematicDescription {
            config,
            output: OutputSpace::Residual,
            x: normaliser(layout.x_blocks(), x),
            y: normaliser(layout.y_blocks(), y),
            starts: BTreeMap::from([("walk".to_owned(), vec![0.5; x])]),
        }),
        layout,
        fine_tuned_from: None,
        metrics: BTreeMap::from([("held_out".to_owned(), 0.5)]),
    };
    Model {
        description,
        aligned_phase: Some(autoencoder.encoder.clone()),
        phase: autoencoder,
        kinematic: Some((network, gamma)),
        controllers: BTreeMap::new(),
        balance_policy: None,
        styles: None,
        files_sha256: None,
    }
}

pub fn files() -> Files {
    let folder = tempfile::tempdir().unwrap();
    model().save(folder.path(), WeightPrecision::F32).unwrap();
    let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    Files {
        description: read("model.json"),
        phase: read("phase.safetensors"),
        aligned_phase: read("aligned_phase.safetensors"),
        kinematic: read("kinematic.safetensors"),
    }
}

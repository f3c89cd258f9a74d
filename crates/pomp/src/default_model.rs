//! The model and the configuration that come with the program.

use anyhow::{Context, Result};
use burn::tensor::Device;
use pomp_model::{Model, ModelBytes};

/// The compact training configuration.
pub const CONFIG: &str = include_str!("../../../configs/compact.toml");

/// Its files, as trained on permissively licensed mocap; see the model card beside them.
const DESCRIPTION: &str = include_str!("../../../data/models/compact/model.json");
const PHASE: &[u8] = include_bytes!("../../../data/models/compact/phase.safetensors");
const ALIGNED_PHASE: &[u8] = include_bytes!("../../../data/models/compact/aligned_phase.safetensors");
const KINEMATIC: &[u8] = include_bytes!("../../../data/models/compact/kinematic.safetensors");

/// Reads the embedded compact model.
pub fn load(device: &Device) -> Result<Model> {
    let bytes = ModelBytes {
        description: DESCRIPTION,
        phase: PHASE,
        aligned_phase: Some(ALIGNED_PHASE),
        kinematic: Some(KINEMATIC),
    };
    Model::from_bytes(&bytes, "embedded compact model", device)
        .context("the program is damaged: build it again")
}

/// Its files by name, as they are in a model folder.
pub fn files() -> [(&'static str, &'static [u8]); 4] {
    [
        ("model.json", DESCRIPTION.as_bytes()),
        ("phase.safetensors", PHASE),
        ("aligned_phase.safetensors", ALIGNED_PHASE),
        ("kinematic.safetensors", KINEMATIC),
    ]
}

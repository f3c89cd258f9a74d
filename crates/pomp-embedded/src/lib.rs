//! The compact model, compiled in, for motion without files.
//!
//! [`load`] gives it ready for `pomp_generator::Generator::new`; [`FILES`] are the files of its folder, `data/models/compact`,
//! whose card says what it was trained on and under which licences. Five megabytes go into every program that uses it.
//!
//! ```
//! let model = pomp_embedded::load(&pomp_embedded::Device::flex())?;
//! assert!(model.kinematic.is_some());
//! # Ok::<(), pomp_embedded::ModelError>(())
//! ```
//!
//! Other models are read by `pomp_model::Model::load`.

pub use burn::tensor::Device;
pub use pomp_model::{Model, ModelError};

use pomp_model::ModelBytes;

const DESCRIPTION: &str = include_str!("../model/model.json");
const PHASE: &[u8] = include_bytes!("../model/phase.safetensors");
const ALIGNED_PHASE: &[u8] = include_bytes!("../model/aligned_phase.safetensors");
const KINEMATIC: &[u8] = include_bytes!("../model/kinematic.safetensors");
const BALANCE_POLICY: &[u8] = include_bytes!("../model/balance_policy.safetensors");
const STYLE_ADAPTER: &[u8] = include_bytes!("../model/style_adapter.safetensors");

/// Its files by name, as they are in a model folder.
pub const FILES: [(&str, &[u8]); 6] = [
    ("model.json", DESCRIPTION.as_bytes()),
    ("phase.safetensors", PHASE),
    ("aligned_phase.safetensors", ALIGNED_PHASE),
    ("kinematic.safetensors", KINEMATIC),
    ("balance_policy.safetensors", BALANCE_POLICY),
    ("style_adapter.safetensors", STYLE_ADAPTER),
];

/// Reads the model.
///
/// # Errors
/// Only in a program whose bytes are damaged, or that was built when the folder held no whole model.
pub fn load(device: &Device) -> Result<Model, ModelError> {
    let bytes = ModelBytes {
        description: DESCRIPTION,
        phase: PHASE,
        aligned_phase: Some(ALIGNED_PHASE),
        kinematic: Some(KINEMATIC),
        balance_policy: Some(BALANCE_POLICY),
        styles: Some(STYLE_ADAPTER),
    };
    Model::from_bytes(&bytes, "embedded compact model", device)
}

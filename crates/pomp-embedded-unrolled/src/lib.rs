//! The model of all directions, compiled in: a character of it walks ahead and aside, turns on the spot and crouches on its own feet, with the settings of `pomp_generator::GeneratorConfig::own_feet_unrolled`.
//!
//! [`load`] gives it ready for `pomp_generator::Generator::new`. Its files are those of `data/models/compact_unrolled`, whose card says what
//! it was trained on and under which licences. Five megabytes go into every program that uses it.
//!
//! ```
//! let model = pomp_embedded_unrolled::load(&pomp_embedded_unrolled::Device::flex())?;
//! assert!(model.kinematic.is_some());
//! # Ok::<(), pomp_embedded_unrolled::ModelError>(())
//! ```

pub use burn::tensor::Device;
pub use pomp_model::{Model, ModelError};

use pomp_model::ModelBytes;

/// Reads the model.
///
/// # Errors
/// Only in a program whose bytes are damaged, or that was built when the folder held no whole model.
pub fn load(device: &Device) -> Result<Model, ModelError> {
    let bytes = ModelBytes {
        description: include_str!("../model/model.json"),
        phase: include_bytes!("../model/phase.safetensors"),
        aligned_phase: Some(include_bytes!("../model/aligned_phase.safetensors")),
        kinematic: Some(include_bytes!("../model/kinematic.safetensors")),
        balance_policy: Some(include_bytes!("../model/balance_policy.safetensors")),
        styles: Some(include_bytes!("../model/style_adapter.safetensors")),
    };
    Model::from_bytes(&bytes, "embedded model of all directions", device)
}

//! The model of all directions, compiled in: a character of it walks ahead, backward and aside, turns on the spot and crouches on its own
//! feet, with the settings of `pomp_generator::GeneratorConfig::own_feet_unrolled`.
//!
//! [`load`] gives it ready for `pomp_generator::Generator::new`; [`FILES`] are the files of its folder, `data/models/compact_unrolled`,
//! whose card says what it was trained on and under which licences. Five megabytes go into every program that uses it.
//!
//! ```
//! let model = pomp_embedded_unrolled::load(&pomp_embedded_unrolled::Device::flex())?;
//! assert!(model.kinematic.is_some());
//! # Ok::<(), pomp_embedded_unrolled::ModelError>(())
//! ```

pub use burn::tensor::Device;
pub use pomp_model::{Model, ModelError};

use pomp_model::ModelBytes;

const DESCRIPTION: &str = include_str!("../model/model.json");
const PHASE: &[u8] = include_bytes!("../model/phase.safetensors");
const ALIGNED_PHASE: &[u8] = include_bytes!("../model/aligned_phase.safetensors");
const KINEMATIC: &[u8] = include_bytes!("../model/kinematic.safetensors");

/// Its files by name, as they are in a model folder.
pub const FILES: [(&str, &[u8]); 4] = [
    ("model.json", DESCRIPTION.as_bytes()),
    ("phase.safetensors", PHASE),
    ("aligned_phase.safetensors", ALIGNED_PHASE),
    ("kinematic.safetensors", KINEMATIC),
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
        balance_policy: None,
        styles: None,
    };
    Model::from_bytes(&bytes, "embedded model of all directions", device)
}

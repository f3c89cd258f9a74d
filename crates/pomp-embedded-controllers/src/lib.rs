//! The controllers that come with the program, compiled in: what can take the place of the compact model's kinematic module.
//!
//! They are the files of `data/models/compact/controllers`, whose card says what they were trained on.

use pomp_controllers::{ControllerFile, ControllerKind};
use pomp_model::Model;

/// The files by kind.
pub const FILES: [(ControllerKind, &[u8]); 5] = [
    (ControllerKind::Pfnn, include_bytes!("../controllers/pfnn.safetensors")),
    (ControllerKind::Mann, include_bytes!("../controllers/mann.safetensors")),
    (ControllerKind::LocalPhases, include_bytes!("../controllers/local-phases.safetensors")),
    (ControllerKind::Nsm, include_bytes!("../controllers/nsm.safetensors")),
    (ControllerKind::LearnedMatching, include_bytes!("../controllers/learned-matching.safetensors")),
];

/// Gives the embedded model its controllers. None is read before it is asked for.
pub fn add_to(model: &mut Model) {
    for (kind, bytes) in FILES {
        let source_name = format!("embedded {}", ControllerFile::place(kind));
        model.controllers.insert(kind, ControllerFile::new(kind, bytes, source_name));
    }
}

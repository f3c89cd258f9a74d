//! The controllers that come with the program, compiled in: what can take the place of the compact model's kinematic module.
//!
//! They are the files of `data/models/compact/controllers`, whose card says what they were trained on. Those with several phases are
//! compiled into `pomp-embedded-phase-controllers`, so that neither package is larger than the registry takes.

use pomp_controllers::{ControllerFile, ControllerKind};
use pomp_model::Model;

/// The files that this package holds itself.
const FILES: [(ControllerKind, &[u8]); 4] = [
    (ControllerKind::Pfnn, include_bytes!("../controllers/pfnn.safetensors")),
    (ControllerKind::Mann, include_bytes!("../controllers/mann.safetensors")),
    (ControllerKind::Nsm, include_bytes!("../controllers/nsm.safetensors")),
    (ControllerKind::LearnedMatching, include_bytes!("../controllers/learned-matching.safetensors")),
];

/// All files by kind.
pub fn files() -> impl Iterator<Item = (ControllerKind, &'static [u8])> {
    FILES.into_iter().chain(pomp_embedded_phase_controllers::FILES)
}

/// Gives the embedded model its controllers. None is read before it is asked for.
pub fn add_to(model: &mut Model) {
    for (kind, bytes) in files() {
        let source_name = format!("embedded {}", ControllerFile::place(kind));
        model.controllers.insert(kind, ControllerFile::new(kind, bytes, source_name));
    }
}

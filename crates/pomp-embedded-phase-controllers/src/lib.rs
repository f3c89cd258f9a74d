//! Those of the controllers that come with the program whose gate reads several phases, compiled in.
//!
//! Use `pomp-embedded-controllers`, which has the others and these: one package of all would be larger than the registry takes.

use pomp_controllers::ControllerKind;

/// The files by kind.
pub const FILES: [(ControllerKind, &[u8]); 2] = [
    (ControllerKind::Phase, include_bytes!("../controllers/phase.safetensors")),
    (ControllerKind::LocalPhases, include_bytes!("../controllers/local-phases.safetensors")),
];

//! Networks whose weights are a blend of experts': DeepPhase's controller, PFNN, MANN, local phases and a neural state
//! machine.
//!
//! They differ in what decides the blend, and in the phases that they keep (`phase_tables`). All else is shared: the features
//! ([`Columns`]), the network in training ([`GatedNetwork`]) and in the loop ([`GatedController`]), and the file
//! ([`GatedModel`]).

mod cubic;
mod description;
mod features;
mod goal;
mod inference;
mod network;
mod phase_tables;
mod phases;
mod runner;

pub use cubic::{CONTROL_POINTS, cubic_weights};
pub use description::{GatedDescription, GatedModel};
pub use features::{Columns, REACH, within_reach};
pub use goal::Goal;
pub use inference::{PackedNetwork, Room};
pub use network::{Gate, GatedNetwork, GatedSizes};
pub use phase_tables::{PhaseTable, cycle_phase, limb_phases};
pub(crate) use phases::held;
pub use phases::{cubic_blend, turned_codes};
pub use runner::GatedController;

//! Motion variables x and y (docs/method.md §2): a typed description of their layout, and the only code that
//! writes or reads them.
//!
//! [`FeatureLayout`] names the blocks; [`CharacterState`] is the part of x and y that a pose gives;
//! [`WindowKey`]s carry what lies around the present: trajectory, gait, phases. Training and the closed
//! loop fill x through the same [`FeatureLayout::write_x`], so they cannot disagree.

mod in_place;
mod input;
mod layout;
mod normaliser;
mod output;
mod state;
mod window;

pub use in_place::{FuturePhases, PhaseCode, WindowCodes};
pub use input::InputFrame;
pub use layout::{Block, BlockName, FeatureLayout, Rotations};
pub use normaliser::Normaliser;
pub use output::OutputFrame;
pub use state::CharacterState;
pub use window::{FUTURE_KEYS, KEY_OFFSETS, KEYS, PAST_KEYS, WindowKey};

//! Contact impulses as a force plate would measure them (docs/method.md §6.5).
//!
//! Impacts of a simulator that tracks a clip are too hard: its feet strike in one frame, those of people in five. [`estimate`] takes
//! the total force from the motion of the clip's centre of mass, sets it to 0 in flight, and distributes it: between the feet by
//! their contacts and the zero-moment point, and to other bodies (hands, knees, the trunk) by their loads in the replay. So for every
//! clip Σ J − m g T = m Δv of its centre of mass.

mod estimate;
mod expected;
mod feet;
pub(crate) mod filter;
mod landing;
mod replay_loads;
mod report;
mod shift;
mod whole_body;

pub use crate::impulse_config::{ImpulseConfig, ImpulseEstimator};
pub use estimate::{ImpulseEstimate, estimate, sole_points, store};
pub use expected::expectations;
pub use report::ImpulseReport;

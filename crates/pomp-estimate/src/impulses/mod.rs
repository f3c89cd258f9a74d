//! Contact impulses as a force plate would measure them (docs/method.md §6.5).
//!
//! A simulator that tracks a clip meets the ground too hard: its feet strike in one frame where people's take five.
//! The motion of the clip's own centre of mass says what the total force was; [`estimate`] takes that, sets it to
//! nothing in flight, and shares it: between the feet by their contacts and the zero-moment point, with other
//! bodies (hands, knees, the trunk) as the replay has them bear. So for every clip Σ J − m g T = m Δv of its centre of mass.

mod estimate;
mod expected;
mod feet;
mod filter;
mod landing;
mod replay_loads;
mod report;
mod shift;
mod whole_body;

pub use crate::impulse_config::{ImpulseConfig, ImpulseEstimator};
pub use estimate::{ImpulseEstimate, estimate, sole_points, store};
pub use expected::expectations;
pub use report::ImpulseReport;

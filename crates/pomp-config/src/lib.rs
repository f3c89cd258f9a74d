//! Configuration files: overlays, settings on the command line, ranges, and where every value comes from.
//!
//! [`Fields`] checks values against their ranges, with one message for all configurations ([`OutOfRange`]); a section
//! that has ranges implements [`Validate`].
//!
//! It knows no field of any configuration.

mod range;

pub use range::{Fields, Number, OutOfRange, Validate};

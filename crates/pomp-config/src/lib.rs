//! Configuration files: overlays, settings on the command line, ranges, and where every value comes from.
//!
//! [`resolve`] puts a configuration together from the defaults of its type, a file, the files that this one changes
//! (`extends = "other.toml"`, relative to the file itself) and settings of the command line (`--set key.path=value`). An
//! unknown key or a wrong value is told by file, line and column, wherever it was merged into. [`Resolved::show`] prints the
//! result with the source of every value.
//!
//! [`Fields`] checks values against their ranges, with one message for all configurations ([`OutOfRange`]); a section
//! that has ranges implements [`Validate`], and [`Resolved::checked`] tells the place of a value that is out of range.
//!
//! [`schema`] is the JSON schema of such a file, with the defaults and ranges, for editors.
//!
//! It knows no field of any configuration.

mod error;
mod range;
mod resolve;
mod schema;
mod source;

pub use error::ConfigError;
pub use range::{Fields, Number, OutOfRange, Validate};
pub use resolve::{Resolved, resolve, resolve_over, resolve_whole};
pub use schema::{schema, schema_of_alone, schema_of_whole};
pub use source::Origin;

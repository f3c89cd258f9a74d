//! The training configuration that comes with the program.

pub use pomp_front::model::{find, find_named, find_whole, load};

use pomp_config::Origin;
use std::path::Path;

/// The compact training configuration.
const CONFIG: &str = include_str!("../configs/compact.toml");

/// Where the configuration of a training comes from.
pub fn origin(path: Option<&Path>) -> Origin<'_> {
    path.map_or(Origin::BuiltIn { name: "configs/compact.toml", text: CONFIG }, Origin::File)
}

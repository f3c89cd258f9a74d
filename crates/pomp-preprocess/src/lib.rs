//! Preprocessing: contacts, gaits, terrain reconstruction, physics replay, shards.

pub mod terrain_fit;

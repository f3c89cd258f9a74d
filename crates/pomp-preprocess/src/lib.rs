//! Preprocessing: contacts, gaits, terrain reconstruction, physics replay, shards.

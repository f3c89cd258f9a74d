use crate::StudioError;
use pomp_config::{Fields, OutOfRange, Validate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;

/// Settings of the studio's server; `configs/studio.toml` contains the defaults.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StudioConfig {
    /// Address to listen on; default 127.0.0.1. With any address other than a loopback address, the server asks every
    /// visitor for the token in the printed URL; the connection is not encrypted.
    pub address: IpAddr,
    /// Port; default 0, which means any free port.
    pub port: u16,
    /// Largest number of pages open at the same time, each with a world of its own, 1 to 64; default 8. Each needs a core
    /// while it runs, and up to 100 MB.
    pub max_worlds: usize,
    /// Largest file that may be dropped on the page, megabytes, 1 to 2048; default 128.
    pub max_upload_mb: usize,
    /// Length of a world's recording, seconds, 10 to 3600; default 300. Older frames are discarded.
    pub recording_s: f32,
    /// Largest rewind, seconds, 1 to 60; default 10. Each second needs about a megabyte.
    pub rewind_s: f32,
}

impl Default for StudioConfig {
    fn default() -> Self {
        Self {
            address: IpAddr::from([127, 0, 0, 1]),
            port: 0,
            max_worlds: 8,
            max_upload_mb: 128,
            recording_s: 300.0,
            rewind_s: 10.0,
        }
    }
}

impl Validate for StudioConfig {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        fields.within("max_worlds", self.max_worlds, 1..=64)?;
        fields.within("max_upload_mb", self.max_upload_mb, 1..=2048)?;
        fields.within("recording_s", self.recording_s, 10.0..=3600.0)?;
        fields.within("rewind_s", self.rewind_s, 1.0..=60.0)
    }
}

impl StudioConfig {
    /// Checks every range.
    ///
    /// # Errors
    /// The first field outside its range.
    pub fn validate(&self) -> Result<(), StudioError> {
        Ok(self.check(&Fields::root())?)
    }

    /// Largest upload, bytes.
    pub fn max_upload_bytes(&self) -> usize {
        self.max_upload_mb << 20
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_a_setting_outside_its_range_by_name() {
        for (config, field) in [
            (StudioConfig { max_worlds: 0, ..StudioConfig::default() }, "max_worlds"),
            (StudioConfig { max_upload_mb: 0, ..StudioConfig::default() }, "max_upload_mb"),
            (StudioConfig { recording_s: f32::NAN, ..StudioConfig::default() }, "recording_s"),
            (StudioConfig { rewind_s: 0.0, ..StudioConfig::default() }, "rewind_s"),
        ] {
            let error = config.validate().expect_err("it is out of range").to_string();
            assert!(error.contains(field), "{error}");
        }
        StudioConfig::default().validate().unwrap();
    }
}

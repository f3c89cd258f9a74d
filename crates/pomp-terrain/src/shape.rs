use crate::TerrainError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The form of the ground.
///
/// In TOML, a shape is a table with its `kind`, for example `kind = "stairs"`. Lengths are in metres, angles in
/// degrees. Shapes with a `heading_deg` (default 0) run along +Z, rotated by this angle towards +X.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Shape {
    /// Level ground at height 0.
    Flat {},
    /// A plane that rises along its heading and falls behind the origin.
    Slope {
        /// Angle to the horizontal, degrees, −60 to 60; negative goes down. Default 8. Beyond about 25°, feet
        /// slip at the usual friction.
        #[serde(default = "default_angle_deg")]
        angle_deg: f32,
        /// Direction of the rise, degrees from +Z towards +X. Default 0.
        #[serde(default)]
        heading_deg: f32,
    },
    /// A level landing, a flight up, a landing, a flight down, a landing and so on along the heading, symmetric
    /// about the origin.
    Stairs {
        /// Height of a step, metres. Default 0.15, a comfortable stair; above 0.25 the character has to climb.
        #[serde(default = "default_rise_m")]
        rise_m: f32,
        /// Depth of a tread, metres. Default 0.3, a little more than a foot; it should span several cells.
        #[serde(default = "default_run_m")]
        run_m: f32,
        /// Number of steps of a flight. Default 6.
        #[serde(default = "default_count")]
        count: u32,
        /// Distance from the origin to the first riser, and length of the level ground between flights, beyond
        /// the last tread, metres. Default 2.5; a value below radius + blend of the start area flattens the
        /// first steps.
        #[serde(default = "default_landing_m")]
        landing_m: f32,
        /// Direction of the ascent, degrees from +Z towards +X. Default 0.
        #[serde(default)]
        heading_deg: f32,
    },
    /// Smooth hills and hollows: gradient noise of one wavelength.
    Hills {
        /// Largest height above or below 0, metres. Default 0.6.
        #[serde(default = "default_hill_amplitude_m")]
        amplitude_m: f32,
        /// Approximate distance between neighbouring hills, metres. Default 6. The steepest slope is near 4 ·
        /// amplitude / wavelength.
        #[serde(default = "default_hill_wavelength_m")]
        wavelength_m: f32,
        /// Combined with the seed of the generation, so that the parts of a sum differ. Default 0.
        #[serde(default)]
        seed: u32,
    },
    /// Uneven ground: gradient noise in several octaves, each of half the wavelength and half the height.
    Rough {
        /// Largest height above or below 0, metres. Default 0.05; above 0.1 feet stumble.
        #[serde(default = "default_rough_amplitude_m")]
        amplitude_m: f32,
        /// Wavelength of the coarsest octave, metres. Default 0.8. Octaves shorter than two cells are grid
        /// noise.
        #[serde(default = "default_rough_wavelength_m")]
        wavelength_m: f32,
        /// Number of octaves, 1 to 8. Default 3; more octaves add finer detail.
        #[serde(default = "default_octaves")]
        octaves: u32,
        /// Combined with the seed of the generation, as in hills.
        #[serde(default)]
        seed: u32,
    },
    /// Level ground with trenches across the heading, symmetric about the origin.
    Gaps {
        /// Width of a trench, metres. Default 0.4; above 1.0 a walker cannot step over it.
        #[serde(default = "default_gap_width_m")]
        width_m: f32,
        /// Depth of a trench, metres. Default 0.5.
        #[serde(default = "default_gap_depth_m")]
        depth_m: f32,
        /// Distance from the origin to the near lip of the first trench, and level ground between trenches,
        /// metres. Default 3.
        #[serde(default = "default_gap_spacing_m")]
        spacing_m: f32,
        /// Direction in which the trenches follow each other, degrees from +Z towards +X. Default 0.
        #[serde(default)]
        heading_deg: f32,
    },
    /// The sum of other shapes.
    Sum {
        /// The shapes, at least one.
        parts: Vec<Shape>,
    },
    /// The heights of a file (PNG with its sidecar, or npz), sampled at the grid points of this map; outside
    /// the area of the file, its border heights continue.
    File {
        /// The file; in a TOML file, the path is relative to the folder of that file.
        path: PathBuf,
    },
}

impl Shape {
    /// Whether another seed gives other heights.
    pub fn depends_on_seed(&self) -> bool {
        match self {
            Self::Hills { .. } | Self::Rough { .. } => true,
            Self::Sum { parts } => parts.iter().any(Self::depends_on_seed),
            Self::Flat {}
            | Self::Slope { .. }
            | Self::Stairs { .. }
            | Self::Gaps { .. }
            | Self::File { .. } => false,
        }
    }
}

fn default_angle_deg() -> f32 {
    8.0
}
fn default_rise_m() -> f32 {
    0.15
}
fn default_run_m() -> f32 {
    0.3
}
fn default_count() -> u32 {
    6
}
fn default_landing_m() -> f32 {
    2.5
}
fn default_hill_amplitude_m() -> f32 {
    0.6
}
fn default_hill_wavelength_m() -> f32 {
    6.0
}
fn default_rough_amplitude_m() -> f32 {
    0.05
}
fn default_rough_wavelength_m() -> f32 {
    0.8
}
fn default_octaves() -> u32 {
    3
}
fn default_gap_width_m() -> f32 {
    0.4
}
fn default_gap_depth_m() -> f32 {
    0.5
}
fn default_gap_spacing_m() -> f32 {
    3.0
}

/// Largest height that a shape may ask for, metres; it keeps sums of shapes exact enough in `f32`.
const MAX_HEIGHT_M: f32 = 1000.0;

impl Shape {
    /// Name as in files.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Flat {} => "flat",
            Self::Slope { .. } => "slope",
            Self::Stairs { .. } => "stairs",
            Self::Hills { .. } => "hills",
            Self::Rough { .. } => "rough",
            Self::Gaps { .. } => "gaps",
            Self::Sum { .. } => "sum",
            Self::File { .. } => "file",
        }
    }

    pub(crate) fn validate(&self) -> Result<(), TerrainError> {
        let within = |name: &str, value: f32, low: f32, high: f32| {
            if value >= low && value <= high {
                Ok(())
            } else {
                Err(TerrainError::BadSpec {
                    field: format!("{} of shape \"{}\"", name, self.kind()),
                    reason: format!("is {value}; it must lie between {low} and {high}"),
                })
            }
        };
        match self {
            Self::Slope { angle_deg, heading_deg } => {
                within("angle_deg", *angle_deg, -60.0, 60.0)?;
                within("heading_deg", *heading_deg, -360.0, 360.0)
            }
            Self::Stairs { rise_m, run_m, count, landing_m, heading_deg } => {
                within("rise_m", *rise_m, -MAX_HEIGHT_M, MAX_HEIGHT_M)?;
                within("run_m", *run_m, 0.01, MAX_HEIGHT_M)?;
                within("count", *count as f32, 1.0, 1000.0)?;
                within("landing_m", *landing_m, 0.0, MAX_HEIGHT_M)?;
                within("heading_deg", *heading_deg, -360.0, 360.0)
            }
            Self::Hills { amplitude_m, wavelength_m, .. } => {
                within("amplitude_m", *amplitude_m, 0.0, MAX_HEIGHT_M)?;
                within("wavelength_m", *wavelength_m, 0.01, MAX_HEIGHT_M)
            }
            Self::Rough { amplitude_m, wavelength_m, octaves, .. } => {
                within("amplitude_m", *amplitude_m, 0.0, MAX_HEIGHT_M)?;
                within("wavelength_m", *wavelength_m, 0.01, MAX_HEIGHT_M)?;
                within("octaves", *octaves as f32, 1.0, 8.0)
            }
            Self::Gaps { width_m, depth_m, spacing_m, heading_deg } => {
                within("width_m", *width_m, 0.0, MAX_HEIGHT_M)?;
                within("depth_m", *depth_m, 0.0, MAX_HEIGHT_M)?;
                within("spacing_m", *spacing_m, 0.01, MAX_HEIGHT_M)?;
                within("heading_deg", *heading_deg, -360.0, 360.0)
            }
            Self::Sum { parts } => {
                if parts.is_empty() {
                    return Err(TerrainError::BadSpec {
                        field: "parts of shape \"sum\"".to_owned(),
                        reason: "is empty; list at least one shape, or use kind = \"flat\"".to_owned(),
                    });
                }
                parts.iter().try_for_each(Self::validate)
            }
            Self::File { path } if path.as_os_str().is_empty() => Err(TerrainError::BadSpec {
                field: "path of shape \"file\"".to_owned(),
                reason: "is empty; give the name of a .png or .npz file".to_owned(),
            }),
            Self::Flat {} | Self::File { .. } => Ok(()),
        }
    }
}

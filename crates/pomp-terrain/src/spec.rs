use crate::{Shape, TerrainError};
use pomp_motion::smoothstep;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Distance between heights of level ground that is made larger, metres.
const LARGE_FLAT_CELL_M: f32 = 1.0;

/// The names that [`preset`] knows.
pub const PRESET_NAMES: [&str; 7] = ["flat", "slope", "stairs", "hills", "rough", "gaps", "mixed"];

/// A terrain described by a few numbers; the content of the files in `configs/terrain`.
///
/// ```
/// let spec: pomp_terrain::TerrainSpec = pomp_terrain::file::parse_spec(
///     "size_m = 30.0\n[shape]\nkind = \"slope\"\nangle_deg = 8.0\n",
///     std::path::Path::new("example.toml"),
/// )?;
/// assert_eq!(spec.cell_m, 0.1);
/// # Ok::<(), pomp_terrain::TerrainError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TerrainSpec {
    /// Side of the square map, metres, centred on the origin. Default 40: at walking speed the character reaches the
    /// border after about 15 s; beyond it the ground continues at the height of the border. Memory and collider build
    /// time grow with the square of the side.
    #[serde(default = "default_size_m")]
    pub size_m: f32,
    /// Distance between neighbouring heights, metres. Default 0.1. A smaller value makes risers and lips steeper, but
    /// costs memory and contact time; a value larger than a foot (0.25 m) blurs stairs into ramps.
    #[serde(default = "default_cell_m")]
    pub cell_m: f32,
    /// The level area around the origin where the character starts.
    #[serde(default)]
    pub start: StartArea,
    /// The form of the ground.
    pub shape: Shape,
}

/// A level disc of height 0 around the origin, blended smoothly into the terrain.
///
/// Inside `radius_m` the ground is 0. From there to `radius_m` + `blend_m` the shape, less its own height at
/// the origin, fades in with a smoothstep; beyond, the whole terrain is lower by that height.
///
/// A slope begins at the area instead, so that it is nowhere steeper than its angle: level for `radius_m` to
/// either side along its heading, then steeper over `blend_m` with the same smoothstep. Hills and rough ground are moved
/// outwards by the area, in every direction from the origin, and are no steeper than they are without it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StartArea {
    /// Whether there is a level area. Default true. Without it the shape is used as it is, and a character that starts at
    /// the origin must be placed at [`crate::HeightMap::height`].
    #[serde(default = "default_enabled")]
    pub enabled: bool,
    /// Radius of the level disc, metres. Default 1: room for a stance and a first step.
    #[serde(default = "default_radius_m")]
    pub radius_m: f32,
    /// Width of the ring in which the terrain fades in, metres. Default 1. A value close to 0 leaves a ledge around the
    /// disc; a larger value hides more of the terrain.
    #[serde(default = "default_blend_m")]
    pub blend_m: f32,
}

impl Default for StartArea {
    fn default() -> Self {
        Self { enabled: default_enabled(), radius_m: default_radius_m(), blend_m: default_blend_m() }
    }
}

impl StartArea {
    /// No level area.
    pub const NONE: Self = Self { enabled: false, radius_m: 1.0, blend_m: 1.0 };

    /// Share of the shape's height at a distance from the origin: 0 in the disc, 1 beyond the blend.
    pub(crate) fn weight(&self, distance_m: f32) -> f32 {
        if !self.enabled || distance_m >= self.radius_m + self.blend_m {
            1.0
        } else if distance_m <= self.radius_m {
            0.0
        } else {
            smoothstep((distance_m - self.radius_m) / self.blend_m)
        }
    }
}

impl StartArea {
    /// Distance in a shape that begins at the area, after `distance_m` from the origin: the integral of [`Self::weight`].
    pub(crate) fn beyond_m(&self, distance_m: f32) -> f32 {
        let t = ((distance_m - self.radius_m) / self.blend_m.max(1e-6)).clamp(0.0, 1.0);
        let end_m = self.radius_m + self.blend_m;
        self.blend_m * t * t * t * (1.0 - 0.5 * t) + (distance_m - end_m).max(0.0)
    }
}

fn default_size_m() -> f32 {
    40.0
}
fn default_cell_m() -> f32 {
    0.1
}
fn default_enabled() -> bool {
    true
}
fn default_radius_m() -> f32 {
    1.0
}
fn default_blend_m() -> f32 {
    1.0
}

impl TerrainSpec {
    /// This shape at the default size, cell and start area.
    pub fn of_shape(shape: Shape) -> Self {
        Self { size_m: default_size_m(), cell_m: default_cell_m(), start: StartArea::default(), shape }
    }

    /// The same, made larger where that takes to reach `reach_m` from its middle; level ground is coarser then.
    pub fn reaching(mut self, reach_m: f32) -> Self {
        if self.size_m < 2.0 * reach_m {
            self.size_m = 2.0 * reach_m;
            if matches!(self.shape, Shape::Flat {}) {
                self.cell_m = LARGE_FLAT_CELL_M;
            }
        }
        self
    }

    /// Checks every field.
    ///
    /// # Errors
    /// [`TerrainError::BadSpec`] with the first field that is out of range.
    pub fn validate(&self) -> Result<(), TerrainError> {
        crate::height_map::square_cells(self.size_m, self.cell_m)?;
        for (field, value) in [("start.radius_m", self.start.radius_m), ("start.blend_m", self.start.blend_m)]
        {
            if !(value.is_finite() && value >= 0.0) {
                return Err(TerrainError::BadSpec {
                    field: field.to_owned(),
                    reason: format!("is {value}; it must be a length of 0 or more metres"),
                });
            }
        }
        self.shape.validate()
    }
}

/// A ready terrain by name, the names of [`PRESET_NAMES`]; the same as the files in `configs/terrain`.
pub fn preset(name: &str) -> Option<TerrainSpec> {
    let shape = match name {
        "flat" => Shape::Flat {},
        "slope" => Shape::Slope { angle_deg: 8.0, heading_deg: 0.0 },
        "stairs" => Shape::Stairs { rise_m: 0.15, run_m: 0.3, count: 6, landing_m: 2.5, heading_deg: 0.0 },
        "hills" => Shape::Hills { amplitude_m: 0.6, wavelength_m: 6.0, seed: 0 },
        "rough" => Shape::Rough { amplitude_m: 0.05, wavelength_m: 0.8, octaves: 3, seed: 0 },
        "gaps" => Shape::Gaps { width_m: 0.4, depth_m: 0.5, spacing_m: 3.0, heading_deg: 0.0 },
        "mixed" => Shape::Sum {
            parts: vec![
                Shape::Hills { amplitude_m: 0.5, wavelength_m: 8.0, seed: 0 },
                Shape::Rough { amplitude_m: 0.03, wavelength_m: 0.8, octaves: 3, seed: 1 },
            ],
        },
        _ => return None,
    };
    let cell_m = if matches!(shape, Shape::Stairs { .. }) { 0.05 } else { default_cell_m() };
    Some(TerrainSpec { cell_m, ..TerrainSpec::of_shape(shape) })
}

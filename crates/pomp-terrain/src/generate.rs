use crate::height_map::square_cells;
use crate::{HeightMap, Shape, StartArea, TerrainError, TerrainSpec};
use noise::{NoiseFn, Perlin};
use pomp_motion::random::mixed_seed;

/// Slack with which a grid point on a riser or lip counts as beyond it, metres: rounding of `origin + i·cell`
/// must not decide on which side of an edge a whole row of heights falls.
const EDGE_SLACK_M: f32 = 1e-4;

/// Makes the height map of a description; the same description and seed give the same bytes.
///
/// The seed matters only for shapes with noise (hills, rough). A relative path of a file shape is taken from
/// the current folder; [`crate::load`] has already made it relative to the description's own folder.
///
/// # Errors
/// [`TerrainError::BadSpec`] for a field out of range, [`TerrainError::BadGrid`] for too many cells, and what
/// [`crate::load`] says of the files of file shapes.
pub fn generate(spec: &TerrainSpec, seed: u64) -> Result<HeightMap, TerrainError> {
    spec.validate()?;
    let surface = Surface::new(&spec.shape, seed)?;
    let cells = square_cells(spec.size_m, spec.cell_m)?;
    let half = cells as f32 * spec.cell_m * 0.5;
    // Adding 0 turns −0 into 0: the start area is bytewise level.
    HeightMap::from_fn(cells + 1, cells + 1, [-half, -half], spec.cell_m, |x, z| {
        surface.height_around(&spec.start, x, z) + 0.0
    })
}

/// A shape made ready to be evaluated: seeds mixed, noise tables built, files loaded.
enum Surface {
    Flat,
    Slope { gradient: [f32; 2] },
    Stairs { rise_m: f32, run_m: f32, count: u32, landing_m: f32, along: [f32; 2] },
    Noise { noise: Vec<Perlin>, amplitude_m: f32, wavelength_m: f32 },
    Gaps { width_m: f32, depth_m: f32, spacing_m: f32, along: [f32; 2] },
    Sum { parts: Vec<Surface> },
    File { map: Box<HeightMap> },
}

impl Surface {
    fn new(shape: &Shape, seed: u64) -> Result<Self, TerrainError> {
        Ok(match shape {
            Shape::Flat {} => Self::Flat,
            &Shape::Slope { angle_deg, heading_deg } => {
                let (slope, [x, z]) = (angle_deg.to_radians().tan(), direction(heading_deg));
                Self::Slope { gradient: [x * slope, z * slope] }
            }
            &Shape::Stairs { rise_m, run_m, count, landing_m, heading_deg } => {
                Self::Stairs { rise_m, run_m, count, landing_m, along: direction(heading_deg) }
            }
            &Shape::Hills { amplitude_m, wavelength_m, seed: own } => {
                Self::Noise { noise: octaves(1, seed, own), amplitude_m, wavelength_m }
            }
            &Shape::Rough { amplitude_m, wavelength_m, octaves: count, seed: own } => {
                Self::Noise { noise: octaves(count, seed, own), amplitude_m, wavelength_m }
            }
            &Shape::Gaps { width_m, depth_m, spacing_m, heading_deg } => {
                Self::Gaps { width_m, depth_m, spacing_m, along: direction(heading_deg) }
            }
            Shape::Sum { parts } => {
                Self::Sum { parts: parts.iter().map(|part| Self::new(part, seed)).collect::<Result<_, _>>()? }
            }
            Shape::File { path } => Self::File { map: Box::new(crate::file::load_map(path)?) },
        })
    }

    /// Height beside and beyond the start area.
    fn height_around(&self, start: &StartArea, x: f32, z: f32) -> f32 {
        if !start.enabled {
            return self.height(x, z);
        }
        match self {
            Self::Slope { gradient } => {
                let steepness = gradient[0].hypot(gradient[1]);
                if steepness == 0.0 {
                    return 0.0;
                }
                let along = (gradient[0] * x + gradient[1] * z) / steepness;
                steepness * start.beyond_m(along.abs()) * along.signum()
            }
            // The whole field is moved outwards: its rise along a radius stays what it was, and every ring is drawn out.
            Self::Noise { .. } => {
                let distance = x.hypot(z);
                if distance == 0.0 {
                    return 0.0;
                }
                let drawn_in = start.beyond_m(distance) / distance;
                self.height(x * drawn_in, z * drawn_in) - self.height(0.0, 0.0)
            }
            Self::Sum { parts } => parts.iter().map(|part| part.height_around(start, x, z)).sum(),
            _ => match start.weight(x.hypot(z)) {
                0.0 => 0.0,
                weight => (self.height(x, z) - self.height(0.0, 0.0)) * weight,
            },
        }
    }

    fn height(&self, x: f32, z: f32) -> f32 {
        match self {
            Self::Flat => 0.0,
            Self::Slope { gradient } => gradient[0] * x + gradient[1] * z,
            Self::Stairs { rise_m, run_m, count, landing_m, along } => {
                let distance = (x * along[0] + z * along[1]).abs();
                rise_m * steps_up(distance, *run_m, *count, *landing_m)
            }
            Self::Noise { noise, amplitude_m, wavelength_m } => {
                amplitude_m * fractal(noise, x / wavelength_m, z / wavelength_m)
            }
            Self::Gaps { width_m, depth_m, spacing_m, along } => {
                let distance = (x * along[0] + z * along[1]).abs() + EDGE_SLACK_M;
                let inside = distance.rem_euclid(spacing_m + width_m) - spacing_m;
                if inside >= 2.0 * EDGE_SLACK_M && inside < *width_m { -depth_m } else { 0.0 }
            }
            Self::Sum { parts } => parts.iter().map(|part| part.height(x, z)).sum(),
            Self::File { map } => map.height(x, z),
        }
    }
}

/// Unit vector (x, z) of a heading.
fn direction(heading_deg: f32) -> [f32; 2] {
    let (sin, cos) = heading_deg.to_radians().sin_cos();
    [sin, cos]
}

/// Number of steps above the level at a distance along repeated landing, flight up, landing, flight down.
fn steps_up(distance_m: f32, run_m: f32, count: u32, landing_m: f32) -> f32 {
    let flight = run_m * count as f32;
    let along = (distance_m + EDGE_SLACK_M).rem_euclid(2.0 * (landing_m + flight));
    let up = ((along - landing_m) / run_m).floor() + 1.0;
    let down = ((along - 2.0 * landing_m - flight) / run_m).floor() + 1.0;
    up.clamp(0.0, count as f32) - down.clamp(0.0, count as f32)
}

/// One noise per octave, each with its own seed.
fn octaves(count: u32, seed: u64, own: u32) -> Vec<Perlin> {
    (0..count).map(|octave| Perlin::new(mixed(seed, own, octave))).collect()
}

/// Seed of an octave, so that neighbouring seeds share nothing.
fn mixed(seed: u64, own: u32, octave: u32) -> u32 {
    (mixed_seed(mixed_seed(seed, u64::from(own)), u64::from(octave)) >> 32) as u32
}

/// Sum of octaves, each of half the wavelength and half the height, scaled to stay within [−1, 1].
fn fractal(noise: &[Perlin], x: f32, z: f32) -> f32 {
    let (mut sum, mut total, mut weight, mut frequency) = (0.0, 0.0, 1.0, 1.0);
    for octave in noise {
        // Perlin noise is 0 on its lattice; the offset keeps octaves from sharing zeros at the origin.
        let offset = 0.37 * frequency;
        sum += weight * octave.get([f64::from(x) * frequency + offset, f64::from(z) * frequency - offset]);
        total += weight;
        weight *= 0.5;
        frequency *= 2.0;
    }
    (sum / total).clamp(-1.0, 1.0) as f32
}

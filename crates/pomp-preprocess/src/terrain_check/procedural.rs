//! Procedural clips on known grounds.

use crate::load::labelled;
use crate::{PreprocessConfig, PreprocessError};
use glam::Vec2;
use pomp_estimate::terrain_fit::{FitInput, GroundKind, fit_terrain};
use pomp_motion::humanoid;
use pomp_motion::random::Draws;
use pomp_synthetic::{MotionKind, MotionRequest, SyntheticClip, generate};
use pomp_terrain::{HeightMap, Shape, StartArea, TerrainSpec};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Distance from a sole, planted or swinging, that counts as swept by the feet, metres: half a foot's breadth and the
/// cell beside it.
const SWEPT_M: f32 = 0.1;
/// Distance between the places in the swept corridor at which heights are compared, metres.
const PLACES_M: f32 = 0.025;
/// Side and cell of the true grounds, metres.
const SIZE_M: f32 = 40.0;
const CELL_M: f32 = 0.05;
/// Walks that are drawn for one seed until the ground can be walked.
const MOST_DRAWS: usize = 20;
/// Sole from behind the ankle joint to the tip of the toes, and how much of it is behind, metres.
const SOLE_M: f32 = 0.29;
const BEHIND_M: f32 = 0.07;

/// Kinds of ground, drawn in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckedGround {
    /// Level.
    Flat,
    /// An inclined plane of up to 12 degrees.
    Slope,
    /// Hills of up to 15 degrees.
    Hills,
    /// A flight of steps of 10 to 20 cm, up or down, one step per tread.
    Stairs,
}

impl CheckedGround {
    /// All grounds, in the order of the seeds.
    pub const ALL: [Self; 4] = [Self::Flat, Self::Slope, Self::Hills, Self::Stairs];

    /// Name, as in files.
    pub fn name(self) -> &'static str {
        ["flat", "slope", "hills", "stairs"][self as usize]
    }
}

/// Reconstruction of one procedural clip.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProceduralFigures {
    /// Seed of ground and walk.
    pub seed: u64,
    /// The ground.
    pub ground: CheckedGround,
    /// Its numbers and the walk's.
    pub description: String,
    /// The reconstructed form.
    pub found: GroundKind,
    /// Root mean square error of the height under planted soles, metres.
    pub under_feet_rmse_m: f32,
    /// The same over all places within 10 cm of a sole, planted or swinging, metres.
    pub corridor_rmse_m: f32,
    /// Highest less lowest place of the fitted map, metres.
    pub relief_m: f32,
    /// How far each riser between two treads that were stepped on is from the true one, metres.
    pub edge_errors_m: Vec<f32>,
    /// Deepest sole in swing inside the fitted ground, metres.
    pub swing_deepest_m: f32,
}

/// A true ground.
struct Truth {
    map: HeightMap,
    request: MotionRequest,
    description: String,
    /// Places of the risers along +Z, metres.
    risers: Vec<f32>,
}

/// Draws a ground and a walk from `seed`, fits the ground and compares.
///
/// # Errors
/// No walk on the ground that was drawn, or what the fit says.
pub fn procedural_figures(
    seed: u64,
    config: &PreprocessConfig,
) -> Result<ProceduralFigures, PreprocessError> {
    let path = PathBuf::from(format!("procedural clip {seed}"));
    let ground = CheckedGround::ALL[(seed % 4) as usize];
    let mut draws = Draws::new(seed, 0x7E44);
    let bad = |reason: String| PreprocessError::Procedural { seed, reason };
    let mut last = String::new();
    let mut found: Option<(Truth, SyntheticClip)> = None;
    for _ in 0..MOST_DRAWS {
        let truth = draw(ground, seed, &mut draws).map_err(|error| bad(error.to_string()))?;
        // Some draws cannot be walked; the next one is taken.
        match generate(&truth.request, &truth.map) {
            Ok(made) => {
                found = Some((truth, made));
                break;
            }
            Err(error) => last = error.to_string(),
        }
    }
    let (truth, made) = found.ok_or_else(|| bad(last))?;
    let recording = labelled(&made.clip, config)
        .map_err(|source| PreprocessError::Motion { path: path.clone(), source })?;
    let input = FitInput::of_recording(&recording);
    let fit = fit_terrain(&input, &config.terrain, 0)
        .map_err(|source| PreprocessError::Terrain { path, source })?;
    let (low, high) = fit.map.min_max();
    let error = |place: Vec2| fit.map.height(place.x, place.y) - truth.map.height(place.x, place.y);
    Ok(ProceduralFigures {
        seed,
        ground,
        found: fit.report.ground,
        under_feet_rmse_m: root_mean_square(planted(&made).into_iter().map(&error)),
        corridor_rmse_m: root_mean_square(swept(&made).into_iter().map(&error)),
        relief_m: high - low,
        edge_errors_m: edge_errors(&truth, &made, &fit.map),
        swing_deepest_m: fit.report.swing_deepest_m,
        description: truth.description,
    })
}

fn draw(ground: CheckedGround, seed: u64, draws: &mut Draws) -> Result<Truth, pomp_terrain::TerrainError> {
    let mut request = MotionRequest {
        speed_m_s: draws.within([0.8, 1.4]),
        turn_rate_rad_s: draws.within([-0.4, 0.4]),
        duration_s: draws.within([6.0, 10.0]),
        seed,
        ..MotionRequest::new(MotionKind::Walk)
    };
    let made = |shape: Shape, noise: u64| {
        let spec = TerrainSpec { size_m: SIZE_M, cell_m: CELL_M, start: StartArea::NONE, shape };
        pomp_terrain::generate(&spec, noise)
    };
    let walk = |request: &MotionRequest| {
        format!("{:.2} m/s turning {:+.2} rad/s", request.speed_m_s, request.turn_rate_rad_s)
    };
    let plain = |map, description: String, request| Truth { map, request, description, risers: Vec::new() };
    Ok(match ground {
        CheckedGround::Flat => {
            let kinds = [MotionKind::Walk, MotionKind::StopAndGo, MotionKind::Jog];
            request.kind = kinds[draws.below(kinds.len())];
            if request.kind == MotionKind::Jog {
                request.speed_m_s += 1.4;
            }
            let description = format!("flat, {:?} at {}", request.kind, walk(&request));
            plain(HeightMap::flat(SIZE_M, 1.0)?, description, request)
        }
        CheckedGround::Slope => {
            let (angle_deg, heading_deg) =
                (draws.sign() * draws.within([3.0, 12.0]), draws.within([-180.0, 180.0]));
            let description = format!("slope of {angle_deg:.1} degrees, {}", walk(&request));
            plain(made(Shape::Slope { angle_deg, heading_deg }, 0)?, description, request)
        }
        CheckedGround::Hills => {
            let wavelength_m = draws.within([3.0, 7.0]);
            let amplitude_m = 0.25 * wavelength_m * draws.within([5.0, 15.0]).to_radians().tan();
            let description =
                format!("hills of {amplitude_m:.2} m over {wavelength_m:.1} m, {}", walk(&request));
            plain(
                made(Shape::Hills { amplitude_m, wavelength_m, seed: 0 }, draws.bits())?,
                description,
                request,
            )
        }
        CheckedGround::Stairs => {
            request.speed_m_s = draws.within([0.5, 0.75]);
            request.turn_rate_rad_s = 0.0;
            stairs(request, draws)?
        }
    })
}

/// A flight with one tread per step, each under the middle of a footprint give or take a few centimetres.
fn stairs(request: MotionRequest, draws: &mut Draws) -> Result<Truth, pomp_terrain::TerrainError> {
    let level = HeightMap::flat(SIZE_M, 1.0)?;
    let heels = match generate(&MotionRequest { variation: 0.0, ..request.clone() }, &level) {
        Ok(made) => heels(&made),
        // The walk on this ground gives the reason.
        Err(_) => Vec::new(),
    };
    let run_m = heels.windows(2).map(|pair| pair[1] - pair[0]).fold(f32::INFINITY, f32::min).clamp(0.3, 0.8);
    let first = heels.get(2 + draws.below(3)).copied().unwrap_or(1.0);
    let slack = (run_m - SOLE_M).max(0.0);
    let start = first - BEHIND_M - 0.5 * slack;
    let count = (3 + draws.below(5)).min(heels.len().saturating_sub(5).max(1));
    let rise_m = draws.sign() * draws.within([0.1, 0.2]);
    let risers: Vec<f32> = (0..count).map(|k| start + k as f32 * run_m).collect();
    let description =
        format!("{count} steps of {rise_m:+.2} m every {run_m:.2} m, {:.2} m/s", request.speed_m_s);
    let rows = (SIZE_M / CELL_M) as usize + 1;
    let map = HeightMap::from_fn(rows, rows, [-0.5 * SIZE_M; 2], CELL_M, |_, z| {
        rise_m * risers.iter().filter(|&&riser| z >= riser).count() as f32
    })?;
    Ok(Truth { map, request, description, risers })
}

/// Where the ankles of all footfalls are along +Z, in order.
fn heels(made: &SyntheticClip) -> Vec<f32> {
    let poses = made.clip.global_poses();
    let mut found = Vec::new();
    for (foot, ankle) in [humanoid::LEFT_FOOT, humanoid::RIGHT_FOOT].into_iter().enumerate() {
        let flat =
            |frame: usize| made.foot_contact[frame][2 * foot] && made.foot_contact[frame][2 * foot + 1];
        found.extend(
            (1..poses.len()).filter(|&f| flat(f) && !flat(f - 1)).map(|f| poses[f].positions[ankle.0].z),
        );
    }
    found.sort_by(f32::total_cmp);
    found
}

/// Sole points on the ground, by the clip's exact contacts.
fn planted(made: &SyntheticClip) -> Vec<Vec2> {
    let input = FitInput::of_recording(&made.recording());
    let mut places = Vec::new();
    for frame in 0..input.frames() {
        for (p, touches) in input.soles[frame].iter().zip(made.foot_contact[frame]) {
            if touches {
                places.push(Vec2::new(p.x, p.z));
            }
        }
    }
    places
}

/// Places on a grid within reach of a sole.
fn swept(made: &SyntheticClip) -> Vec<Vec2> {
    let input = FitInput::of_recording(&made.recording());
    let mut cells = std::collections::BTreeSet::new();
    let reach = (SWEPT_M / PLACES_M).ceil() as i32;
    for p in input.soles.values() {
        let [x, z] = [p.x, p.z].map(|v| (v / PLACES_M).round() as i32);
        for i in -reach..=reach {
            for j in -reach..=reach {
                if ((i * i + j * j) as f32) * PLACES_M * PLACES_M <= SWEPT_M * SWEPT_M {
                    cells.insert((x + i, z + j));
                }
            }
        }
    }
    cells.into_iter().map(|(x, z)| Vec2::new(x as f32, z as f32) * PLACES_M).collect()
}

/// Distance of each riser between two treads that were stepped on from where the fitted ground crosses half its height.
fn edge_errors(truth: &Truth, made: &SyntheticClip, fitted: &HeightMap) -> Vec<f32> {
    let planted = planted(made);
    let Some(run_m) = truth.risers.windows(2).map(|pair| pair[1] - pair[0]).next() else { return Vec::new() };
    let stepped = |low: f32, high: f32| planted.iter().any(|p| p.y > low && p.y < high);
    let mut errors = Vec::new();
    for &riser in &truth.risers {
        if !(stepped(riser - run_m, riser) && stepped(riser, riser + run_m)) {
            continue;
        }
        let at = |z: f32| truth.map.height(0.0, z);
        let middle = 0.5 * (at(riser - 2.0 * CELL_M) + at(riser + 2.0 * CELL_M));
        let steps = (run_m / 0.005) as i32;
        let above = |k: i32| fitted.height(0.0, riser + k as f32 * 0.005) > middle;
        let nearest =
            (-steps..steps).filter(|&k| above(k) != above(k + 1)).map(|k| (k as f32 + 0.5).abs() * 0.005);
        // The true map's riser is one cell wide; its middle lies half a cell before the place asked for.
        errors.push(nearest.fold(run_m, f32::min));
    }
    errors
}

fn root_mean_square(errors: impl Iterator<Item = f32>) -> f32 {
    let (mut sum, mut count) = (0.0f64, 0usize);
    for error in errors {
        sum += f64::from(error) * f64::from(error);
        count += 1;
    }
    if count == 0 { 0.0 } else { (sum / count as f64).sqrt() as f32 }
}

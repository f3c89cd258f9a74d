//! Recorded clips: distances of their feet from the ground reconstructed from them.

use crate::load::{labelled, load_clip};
use crate::{Input, PreprocessConfig, PreprocessError};
use pomp_estimate::terrain_fit::{FitInput, FitReport, fit_terrain, lifted_points};
use pomp_motion::retarget::RigLibrary;
use pomp_motion::statistics::percentiles;
use serde::{Deserialize, Serialize};

/// Reconstruction of one recorded clip.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedFigures {
    /// Name of the clip.
    pub name: String,
    /// The clip's own report.
    pub fit: FitReport,
    /// Median and 95th percentile of the distance of planted feet from the ground, metres: a foot is as far inside as
    /// its deepest point in contact; one that is not inside floats as high as its lowest. A heel that rises while the
    /// toe stands does not make a foot float.
    pub planted_m: [f32; 2],
    /// The same of every point in contact, metres, heels that are about to leave included.
    pub points_m: [f32; 2],
    /// Share of the frames of lifted feet in which a sole is more than 1 cm inside the ground.
    pub inside_share: f32,
    /// Depths of lifted soles inside the ground: 99th percentile over all lifted soles, and the deepest, metres.
    pub inside_m: [f32; 2],
}

/// Fits the ground of a clip and measures the distances of its feet from it.
///
/// # Errors
/// An error of reading, labelling or fitting.
pub fn recorded_figures(
    input: &Input,
    config: &PreprocessConfig,
    rigs: &RigLibrary,
) -> Result<RecordedFigures, PreprocessError> {
    let loaded = load_clip(&input.path, config, rigs)?;
    let recording = labelled(&loaded.clip, config)
        .map_err(|source| PreprocessError::Motion { path: input.path.clone(), source })?;
    let soles = FitInput::of_recording(&recording);
    let fit = fit_terrain(&soles, &config.terrain, 0)
        .map_err(|source| PreprocessError::Terrain { path: input.path.clone(), source })?;
    let above = |frame: usize, point: usize| {
        let p = soles.soles[frame][point];
        p.y - fit.map.height(p.x, p.z)
    };
    let (mut planted, mut points, mut depths) = (Vec::new(), Vec::new(), Vec::new());
    let (mut inside, mut lifted) = (0usize, 0usize);
    for frame in 0..soles.frames() {
        for foot in 0..2 {
            let touching = [2 * foot, 2 * foot + 1].into_iter().filter(|&point| soles.contacts[frame][point]);
            let heights: Vec<f32> = touching.map(|point| above(frame, point)).collect();
            points.extend(heights.iter().map(|height| height.abs()));
            planted.extend(heights.into_iter().reduce(f32::min).map(f32::abs));
        }
        for point in lifted_points(&soles, frame) {
            let depth = -above(frame, point);
            lifted += 1;
            inside += usize::from(depth > 0.01);
            depths.push(depth.max(0.0));
        }
    }
    Ok(RecordedFigures {
        name: input.name.clone(),
        planted_m: in_metres(&planted, [0.5, 0.95]),
        points_m: in_metres(&points, [0.5, 0.95]),
        inside_share: inside as f32 / lifted.max(1) as f32,
        inside_m: in_metres(&depths, [0.99, 1.0]),
        fit: fit.report,
    })
}

/// Percentiles of the values at two shares; 0 without values.
fn in_metres(values: &[f32], shares: [f64; 2]) -> [f32; 2] {
    percentiles(values, shares).unwrap_or_default().map(|value| value as f32)
}

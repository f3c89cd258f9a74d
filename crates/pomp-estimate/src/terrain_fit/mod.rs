//! Terrain reconstruction: the ground a clip was walked on, from where its feet stood (docs/method.md §6.3).
//!
//! Motion capture comes without its floor. [`fit_terrain`] reconstructs it:
//!
//! 1. contacts are gathered into stances, whose medians remove noise; a foot held up beside a standing one is distinguished
//!    from a foot on a step;
//! 2. the stances decide on the form of the ground ([`GroundKind`]): level unless they clearly
//!    differ from it, so that noise does not shape a floor; an inclined plane; treads where feet stand level on rising ground;
//!    else a radial-basis surface (linear kernel, lightly smoothed) through them;
//! 3. the ground is written into a map that reaches beyond every joint position by a margin, and lowered where
//!    a foot in swing would pass through it, under standing feet by no more than `swing_give_m` and on planes only when
//!    one in two hundred soles passes through;
//! 4. variant v ≥ 1 adds, gait cycle by gait cycle, the v-th best of a set of terrain patches scored as in
//!    PFNN (Holden, Komura and Saito 2017): E = 0.1 E_down + E_up + E_over, corrected at the stances by a
//!    radial-basis fit. Patches change the ground only where no foot touches it.
//!
//! Where cycles overlap, patches are averaged by the inverse square of the distance to the cycle's feet;
//! stances at one place are averaged by their duration, and reported as [`Contradiction`] when they differ by
//! more than `contradiction_m`.
//!
//! ```no_run
//! use pomp_estimate::terrain_fit::{FitInput, TerrainFitConfig, TerrainFitError, fit_terrain};
//! /// Puts the ground under a recording that has contacts and gaits.
//! fn ground(recording: &mut pomp_motion::Recording) -> Result<(), TerrainFitError> {
//!     let fit = fit_terrain(&FitInput::of_recording(recording), &TerrainFitConfig::default(), 0)?;
//!     println!("{:?}, planted feet within {} m", fit.report.ground, fit.report.planted_median_m);
//!     recording.terrain = Some(fit.map.into_grid());
//!     Ok(())
//! }
//! ```

mod carve;
mod config;
mod cycle;
mod error;
mod ground;
mod input;
mod patch;
mod radial_basis;
mod report;
mod stance;
mod sweep;
#[cfg(test)]
mod tests;

pub use config::TerrainFitConfig;
pub use error::TerrainFitError;
pub use ground::GroundKind;
pub use input::{FitInput, lifted_points, sole_heights};
pub use report::{Contradiction, FitReport};
pub use stance::{Stance, stances};

use ground::Ground;
use patch::PatchLibrary;
use pomp_config::{Fields, Validate};
use pomp_motion::statistics::percentile;
use pomp_terrain::HeightMap;
use sweep::Sheet;

/// Largest share of the soles in swing inside the ground without a warning.
const MOST_INSIDE: f32 = 0.01;
/// Where more are inside, ground under standing feet may be lowered by this multiple of `swing_give_m`, if that removes them.
const GIVES_MORE: f32 = 2.0;

/// A clip's ground.
#[derive(Clone, Debug, PartialEq)]
pub struct TerrainFit {
    /// The map; it reaches beyond every joint position by the margin.
    pub map: HeightMap,
    /// The variant asked for; 0 is the plain ground.
    pub variant: usize,
    /// How well it fits, and warnings.
    pub report: FitReport,
}

/// Fits the ground of a clip; the same input, configuration and variant give the same bytes.
///
/// # Errors
/// [`TerrainFitError::BadInput`] and [`TerrainFitError::OutOfRange`] for what is out of range,
/// [`TerrainFitError::NoSuchVariant`] for a variant beyond `config.variants`,
/// [`TerrainFitError::Contradicting`] when too much of the clip stands at two heights in the same places, and
/// [`TerrainFitError::TooLarge`] for a clip that spans too much.
pub fn fit_terrain(
    input: &FitInput,
    config: &TerrainFitConfig,
    variant: usize,
) -> Result<TerrainFit, TerrainFitError> {
    config.check(&Fields::root())?;
    input.validate()?;
    if variant > config.variants {
        return Err(TerrainFitError::NoSuchVariant { variant, kept: config.variants });
    }
    let stances = stances(input);
    let bearing: Vec<&Stance> = stances.iter().filter(|stance| stance.bearing).collect();
    let ground = if bearing.is_empty() {
        Ground::flat(lowest_sole(input))
    } else {
        Ground::of_stances(&bearing, config)
    };

    let carved = !ground.kind.is_plane() || carve::is_passed_through(&ground, input);
    let mut sheet = Sheet::of_ground(&ground, input, config, variant > 0 || carved)?;
    let freedom = sheet.freedom(&stances);
    if !ground.kind.is_plane() {
        sheet.clear_swing(input, &ground, &freedom);
    }
    let mut patch_error = 0.0;
    if variant > 0 {
        let library = PatchLibrary::new(config.seed)?;
        let chosen: Vec<_> = cycle::gait_cycles(input, &stances)
            .into_iter()
            .filter_map(|cycle| {
                let best = library.best(input, &cycle, config.patches, variant);
                best.last().copied().map(|score| (cycle, score))
            })
            .collect();
        patch_error = chosen.iter().map(|(_, score)| score.error).sum::<f32>() / chosen.len().max(1) as f32;
        sheet.add_patches(&library, &chosen, input, &stances, &ground, &freedom);
    }
    let fitted = |mut sheet: Sheet, give_m: f32| {
        if carved {
            sheet.carve(input, &ground, &stances, config.contradiction_m, give_m);
        }
        let map = sheet.into_map()?;
        let report = FitReport::measured(input, config, &stances, &ground, &map);
        Ok::<_, TerrainFitError>((map, report))
    };
    let (mut map, mut report) = fitted(sheet.clone(), config.swing_give_m)?;
    if carved && report.swing_inside_share > MOST_INSIDE {
        let (lower, of_lower) = fitted(sheet, GIVES_MORE * config.swing_give_m)?;
        if of_lower.swing_inside_share <= MOST_INSIDE {
            (map, report) = (lower, of_lower);
        }
    }
    report.patch_error_m2 = patch_error;
    if report.contradiction_share > config.max_contradiction_share {
        return Err(TerrainFitError::Contradicting {
            name: input.name.clone(),
            share_percent: 100.0 * report.contradiction_share,
            first: report.contradictions.first().map(ToString::to_string).unwrap_or_default(),
        });
    }
    report.warnings = warnings(&report, config, bearing.is_empty(), variant);
    Ok(TerrainFit { map, variant, report })
}

fn warnings(report: &FitReport, config: &TerrainFitConfig, unplanted: bool, variant: usize) -> Vec<String> {
    let mut warnings = Vec::new();
    if unplanted {
        warnings.push(format!(
            "terrain: no planted foot; level ground laid under the lowest soles, at {:.3} m",
            report.level_m
        ));
    }
    if report.ground == GroundKind::Plane {
        warnings.push(format!(
            "terrain: the ground is inclined by {:.1} degrees: a slope, or a capture floor that was not level",
            report.incline_deg
        ));
    }
    if report.contradiction_share > 0.0 {
        warnings.push(format!(
            "terrain: {:.0} % of the planted time stands at two heights in the same place, or above room that feet pass \
             through{}; supports with room below are left out, other heights averaged",
            100.0 * report.contradiction_share,
            report.contradictions.first().map(ToString::to_string).unwrap_or_default()
        ));
    }
    if report.swing_inside_share > MOST_INSIDE {
        warnings.push(format!(
            "terrain: {:.0} % of the soles in swing are inside the ground, by up to {:.0} cm; the feet rest on something that \
             a height map cannot hold, or stand lower elsewhere",
            100.0 * report.swing_inside_share,
            100.0 * report.swing_deepest_m
        ));
    }
    let wanted = if report.ground.is_plane() && variant == 0 { config.flat_cell_m } else { config.cell_m };
    if report.cell_m > wanted * 1.01 {
        warnings.push(format!(
            "terrain: cell raised from {wanted} to {:.3} m to stay within {} heights",
            report.cell_m, config.max_heights
        ));
    }
    if report.planted_median_m > 0.015 {
        warnings.push(format!(
            "terrain: planted soles are {:.1} cm from the ground (median); the feet of this clip do not agree on one",
            100.0 * report.planted_median_m
        ));
    }
    warnings
}

/// A low percentile over the clip of the lowest sole of each frame: ground for a clip that never stands.
fn lowest_sole(input: &FitInput) -> f32 {
    let lowest: Vec<f32> =
        input.soles.rows().map(|row| row.iter().map(|p| p.y).fold(f32::INFINITY, f32::min)).collect();
    percentile(&lowest, 0.05).expect("a clip has frames") as f32
}

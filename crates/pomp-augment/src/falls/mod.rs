//! Clips that fall during their replay (docs/method.md §6.6): mocap holds hardly any falling, lying or getting up.
//!
//! An impulse catches a swinging foot (a trip) or pushes the body; the root assist is switched off, the drives weaken, and the ragdoll
//! falls. It lies for a while, gets up as in the closed loop ([`pomp_physics::Recovery`]), and continues with the clip, which is
//! turned and shifted to where the body stands, beginning with the frame of the nearest pose, with its standing foot in place. The
//! clip's pace returns together with the root assist.
//!
//! All motion between the strike and the return to the clip is simulated. A fall that does not end in standing in time gives no
//! result.

mod config;
mod course;
mod laid;
mod strike;
#[cfg(test)]
mod tests;
mod unfit;
mod way_up;

pub use config::{FallConfig, WayUp};
pub use unfit::Unfit;
pub use way_up::{GetUpClip, way_up};

use crate::Source;
use crate::smoothing::gaussian;
use course::{Course, Happened, Owner};
use glam::Vec2;
use pomp_estimate::terrain_fit::TerrainFitConfig;
use pomp_estimate::{PhysicsSettings, ReplayReport};
use pomp_motion::random::Draws;
use pomp_motion::{Clip, Gait, GenerationTrack, Recording};
use pomp_terrain::{HeightMap, TerrainError};

/// Standard deviation of the smoothing of the labels, seconds.
const LABEL_SMOOTHING_S: f32 = 0.1;
/// Upper bound of the displacement by a fall, metres; no fall has reached it.
const FALLS_WITHIN_M: f32 = 6.0;

/// A clip with a fall and a get-up.
#[derive(Clone, Debug)]
pub struct Felled {
    /// The motion with labels, ground and simulation: of the clip outside the fall, simulated within it.
    pub recording: Recording,
    /// Figures of the simulation.
    pub report: ReplayReport,
    /// Description of the strike and of the get-up.
    pub description: String,
    /// Licence of the recorded get-up motion.
    pub license: Option<String>,
}

/// Makes the clip of `source`, which stands and walks on level ground of height `level_m`, fall. It gets up by one of the motions
/// `get_up`, if there are any. `stream` names the strike that is drawn.
///
/// # Errors
/// [`Unfit`], where the clip or its fall gives no sample.
pub fn fell(
    source: Source<'_>,
    level_m: f32,
    get_up: &[GetUpClip],
    settings: PhysicsSettings<'_>,
    terrain: &TerrainFitConfig,
    config: &FallConfig,
    stream: &str,
) -> Result<Felled, Unfit> {
    let Source { clip, recording, .. } = source;
    let strike =
        strike::plan(recording, config, &mut Draws::of_name(config.seed, stream)).map_err(Unfit::Clip)?;
    let cell_m = terrain.flat_cell_m;
    let ground = level(level_m, reach(clip), cell_m)?;
    let course = Course::new(source, (&ground, level_m), settings, config, strike)?.getting_up(get_up);
    let (happened, stage) = course.run()?;
    let (track, report) = stage.finish();

    let moved = clip.with_poses(happened.poses.clone());
    let mut felled = Recording::of_clip(&moved);
    felled.gait = labels(&recording.gait, &happened, clip.frame_rate_hz);
    felled.foot_contact.clone_from(&happened.contact);
    let control = felled
        .root
        .iter()
        .zip(felled.velocities.rows())
        .map(|(&[x, z, yaw, _], row)| [x, z, yaw, row[0].x.hypot(row[0].z)])
        .collect();
    felled.generation = Some(GenerationTrack {
        target_positions: happened.targets,
        pushes: happened.pushes,
        control,
        frame_time_us: None,
        ground_offset: None,
    });
    let all = felled.positions.values().iter().chain(track.positions.values());
    let (low, high) = all.fold((Vec2::MAX, Vec2::MIN), |(low, high), p| {
        let at = Vec2::new(p.x, p.z);
        (low.min(at), high.max(at))
    });
    let margin = Vec2::splat(terrain.margin_m);
    felled.terrain = Some(level(level_m, [low - margin, high + margin], cell_m)?.into_grid());
    felled.simulation = Some(track);
    let description = format!(
        "simulated fall: struck at {:.2} s by a {} of {:.0} N s on {}, up after {:.1} s{}, then the clip from {:.2} s on, seed {}",
        strike.frame as f32 / clip.frame_rate_hz,
        if strike.is_trip { "trip" } else { "push" },
        strike.impulse_ns.length(),
        clip.skeleton.joints()[strike.body].name,
        happened.up_after_s,
        happened.way_up.as_ref().map_or_else(String::new, |way| format!(" as in {way}")),
        happened.resumed_at as f32 / clip.frame_rate_hz,
        config.seed
    );
    let taken = happened.way_up.and_then(|way| get_up.iter().find(|clip| clip.clip.name == way));
    let license = taken.map(|clip| clip.license.clone());
    Ok(Felled { recording: felled, report, description, license })
}

/// Corners of the area that a clip may reach whose rest is turned by any angle after a fall, metres.
fn reach(clip: &Clip) -> [Vec2; 2] {
    let places = || clip.poses.iter().map(|pose| Vec2::new(pose.root_position.x, pose.root_position.z));
    let (low, high) = places().fold((Vec2::MAX, Vec2::MIN), |(a, b), p| (a.min(p), b.max(p)));
    let farther = Vec2::splat((high - low).length() + FALLS_WITHIN_M);
    [low - farther, high + farther]
}

/// Level ground of height `level_m` between two corners.
fn level(level_m: f32, [low, high]: [Vec2; 2], cell_m: f32) -> Result<HeightMap, TerrainError> {
    let cells = ((high - low) / cell_m).ceil();
    HeightMap::from_fn(cells.y as usize + 2, cells.x as usize + 2, low.to_array(), cell_m, |_, _| level_m)
}

/// Gait labels: the clip's outside the fall; "bump" from the strike on, then "lie" and "get_up".
fn labels(gait: &[[f32; Gait::COUNT]], happened: &Happened, frame_rate_hz: f32) -> Vec<[f32; Gait::COUNT]> {
    let sigma = LABEL_SMOOTHING_S * frame_rate_hz;
    let share = |owner: Owner| {
        let of = |other: &Owner| f32::from(u8::from(*other == owner));
        gaussian(&happened.owners.iter().map(of).collect::<Vec<_>>(), sigma)
    };
    let [falls, lies, gets_up] = [Owner::Falls, Owner::Lies, Owner::GetsUp].map(share);
    let first = happened.owners.iter().position(|owner| *owner == Owner::Falls).unwrap_or(0);
    let mut led = 0;
    (0..happened.owners.len())
        .map(|frame| {
            match happened.owners[frame] {
                Owner::Clip(of) => led = of,
                _ if frame > first + (4.0 * sigma) as usize => led = happened.resumed_at,
                _ => {}
            }
            let clip = (1.0 - falls[frame] - lies[frame] - gets_up[frame]).max(0.0);
            let mut weights = gait[led].map(|weight| weight * clip);
            weights[Gait::Bump.index()] += falls[frame];
            weights[Gait::Lie.index()] += lies[frame];
            weights[Gait::GetUp.index()] += gets_up[frame];
            weights
        })
        .collect()
}

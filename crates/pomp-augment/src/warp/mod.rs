//! Level clips on ground with relief (ours): mocap holds few slopes and stairs, and training needs them.
//!
//! [`warp`] draws a relief for a clip that was walked on level ground, carries each foothold onto it, lets the feet
//! swing from foothold to foothold clear of the ground, lets the pelvis follow the feet as far as both legs reach,
//! and bends the legs. The upper body keeps its pose. The physics replay then simulates the result.
//!
//! Planted feet keep their distance from the ground, because each foothold is carried by a rigid motion. Contacts
//! and gaits are those of the clip.

mod config;
mod feet;
mod footprints;
mod pelvis;
mod relief;
#[cfg(test)]
mod tests;

pub use config::{ReliefKind, WarpConfig};

use crate::pace::with_steps;
use feet::{FootPath, Sole};
use pomp_estimate::terrain_fit::{FitInput, Stance, TerrainFitConfig, sole_heights, stances};
use pomp_motion::legs::{LEGS, bend_leg};
use pomp_motion::random::Draws;
use pomp_motion::statistics::percentile;
use pomp_motion::{Clip, Gait, Pose, Recording};
use pomp_terrain::{HeightMap, TerrainError};

/// Toes before the toe joint over the height of the ankle: foot length 0.152 H (Drillis and Contini 1966) less heel
/// and ball, over 0.039 H.
const TOES_OVER_ANKLE: f32 = 0.9;
/// Share of the frames that a clip must spend upright.
const LEAST_UPRIGHT: f32 = 0.999;

/// A clip on a relief.
#[derive(Clone, Debug)]
pub struct Warped {
    /// The clip; frames and contacts correspond.
    pub clip: Clip,
    /// Its ground.
    pub map: HeightMap,
    /// Kind and numbers of the relief.
    pub description: String,
    /// 95th percentile of the change of the distance between planted soles and ground, metres.
    pub planted_p95_m: f32,
}

/// Lays `clip` on a relief of `kind`, or gives the reason why that is not possible. `recording` has the clip's contacts and gaits;
/// `level_m` is the height of its level ground.
///
/// # Errors
/// An error of the terrain generators.
#[allow(clippy::too_many_arguments, reason = "a clip with what is known of it, and two configurations")]
pub fn warp(
    clip: &Clip,
    recording: &Recording,
    level_m: f32,
    kind: ReliefKind,
    terrain: &TerrainFitConfig,
    config: &WarpConfig,
    stream: &str,
) -> Result<Result<Warped, String>, TerrainError> {
    let mut draws = Draws::of_name(config.seed, stream);
    let shorter;
    let (clip, recording) = if kind == ReliefKind::Stairs {
        match with_steps(clip, recording, draws.within(config.tread_m)) {
            Ok(clip) => shorter = (with_contacts(&clip, recording), clip),
            Err(reason) => return Ok(Err(reason)),
        }
        (&shorter.1, &shorter.0)
    } else {
        (clip, recording)
    };
    let input = FitInput::of_recording(recording);
    let upright = |weights: &&[f32; Gait::COUNT]| !matches!(Gait::dominant(weights), Gait::Lie | Gait::GetUp);
    let standing = recording.gait.iter().filter(upright).count();
    if (standing as f32) < LEAST_UPRIGHT * recording.frames() as f32 {
        return Ok(Err("the body lies down".to_owned()));
    }
    let found = stances(&input);
    if (0..2).any(|foot| !found.iter().any(|stance| stance.foot == foot)) {
        return Ok(Err("a foot never stands".to_owned()));
    }
    let Some(relief) = relief::relief(kind, &input, level_m, terrain, config, &mut draws)? else {
        return Ok(Err(format!("the footprints leave no room for {}", kind.name())));
    };
    let poses = carried(clip, &found, &relief.map, level_m, config.clearance_m);
    let warped = clip.with_poses(poses);
    let planted_p95_m = planted_change(&input, &Recording::of_clip(&warped), recording, &relief.map, level_m);
    Ok(Ok(Warped { clip: warped, map: relief.map, description: relief.description, planted_p95_m }))
}

/// The recording of a clip with the contacts and gaits of another, frame by frame.
fn with_contacts(clip: &Clip, of: &Recording) -> Recording {
    Recording { foot_contact: of.foot_contact.clone(), gait: of.gait.clone(), ..Recording::of_clip(clip) }
}

/// The clip's poses with feet and pelvis on `map`.
fn carried(clip: &Clip, stances: &[Stance], map: &HeightMap, level_m: f32, clearance_m: f32) -> Vec<Pose> {
    let poses = clip.global_poses();
    let (ankle_m, toe_m) = sole_heights(&clip.skeleton);
    let sole = Sole { ankle_m, toe_m, toes_m: TOES_OVER_ANKLE * ankle_m };
    let feet: [FootPath; 2] = std::array::from_fn(|foot| {
        let own: Vec<&Stance> = stances.iter().filter(|stance| stance.foot == foot).collect();
        FootPath::over(map, level_m, &poses, LEGS[foot], sole, &own, clearance_m)
    });
    let raised = pelvis::raised(&clip.skeleton, &poses, &feet, clip.frame_rate_hz);
    (0..poses.len())
        .map(|frame| {
            let mut pose = clip.poses[frame].clone();
            pose.root_position.y += raised[frame];
            for (leg, path) in LEGS.into_iter().zip(&feet) {
                let turn = path.turns[frame];
                bend_leg(&clip.skeleton, &mut pose, &poses[frame], leg, path.ankles[frame], turn);
            }
            pose
        })
        .collect()
}

/// 95th percentile of how much farther planted soles are from `map` than they were from the level.
fn planted_change(
    input: &FitInput,
    warped: &Recording,
    recording: &Recording,
    map: &HeightMap,
    level_m: f32,
) -> f32 {
    let after = FitInput::of_recording(warped).soles;
    let mut changes = Vec::new();
    for frame in 0..recording.frames() {
        for point in 0..4 {
            if input.contacts[frame][point] {
                let (a, b) = (input.soles[frame][point], after[frame][point]);
                changes.push(((b.y - map.height(b.x, b.z)) - (a.y - level_m)).abs());
            }
        }
    }
    percentile(&changes, 0.95).unwrap_or(0.0) as f32
}

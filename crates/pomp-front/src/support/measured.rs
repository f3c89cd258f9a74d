//! What characters were measured to hold on their own feet (docs/results.md): on which grounds, with which commands, led by which model.

use super::{OWN_FEET, OWN_FEET_UNROLLED, RESIDUAL};
use anyhow::Result;
use pomp_generator::{ControlPlan, FRAME_RATE_HZ};
use pomp_motion::Gait;
use pomp_motion::rotation::wrap_angle;
use pomp_terrain::{HeightMap, Shape, TerrainSpec};

/// The grounds, by their names as presets or [`STEEP`], on which characters of a model were measured to hold on their own feet.
struct Held {
    /// When they walk ahead and stand.
    grounds: &'static [&'static str],
    /// When they walk aside and backward, and turn on the spot faster than [`FASTEST_TURN_RAD_S`].
    directions: &'static [&'static str],
    /// When they walk crouched.
    crouches: &'static [&'static str],
    /// When they jog.
    jogs: &'static [&'static str],
}

/// What those of the compact model hold, and of models like it.
const COMPACT: Held = Held {
    grounds: &[LEVEL, "slope", STEEP, "rough", "hills", "gaps", "mixed", STAIRS],
    directions: &[],
    crouches: &[],
    jogs: &[LEVEL],
};
/// What those of the model of all directions hold.
const UNROLLED: Held = Held {
    grounds: &[LEVEL, "slope", STEEP, "rough", "hills", "gaps", "mixed"],
    directions: &[LEVEL, "slope", "rough", "hills", "gaps", "mixed"],
    crouches: &[LEVEL],
    jogs: &[LEVEL, "rough"],
};
/// Grounds on which characters of the model of all directions were measured while they were commanded anything.
const STEERED: [&str; 3] = [LEVEL, "rough", "hills"];
const LEVEL: &str = "flat";
/// The ground on which it needs some help.
pub(super) const STAIRS: &str = "stairs";
/// A steeper slope than that of the preset, up to [`STEEPEST_SLOPE_DEG`].
const STEEP: &str = "steep slope";
/// The steepest slope that was measured, degrees.
const STEEPEST_SLOPE_DEG: f32 = 15.0;
/// Grounds to which that of a file is compared: not those with steps, of which slope and roughness say too little.
const COMPARABLE: [&str; 6] = [LEVEL, "rough", "hills", "mixed", "slope", STEEP];
/// Bounds of the residual wrench with which the compact model stays on its feet on stairs: body weights, and body weights × metre.
pub(super) const STAIRS_RESIDUAL: (f32, f32) = (0.2, 0.136);
/// Fastest walk and jog that were measured, m/s.
const FASTEST_WALK_MPS: f32 = 1.5;
const FASTEST_JOG_MPS: f32 = 2.5;
/// Fastest turn on the spot that was measured with the compact model, rad/s.
const FASTEST_TURN_RAD_S: f32 = 1.1;
/// Slowest speed that counts as moving, m/s.
const MOVING_MPS: f32 = 0.3;
/// Cosine of the angle between heading and direction of travel below which a command leads aside; below minus as much, backward.
const ALONG_HEADING: f32 = 0.7;

/// The first of the measured grounds that is nowhere less steep and rough than `ground`.
pub(super) fn measured_kind(ground: &HeightMap) -> Result<Option<&'static str>> {
    let found = ground.unevenness();
    for name in COMPARABLE {
        // The level start makes the largest edge where the slope runs across the grid.
        let steep = TerrainSpec::of_shape(Shape::Slope { angle_deg: STEEPEST_SLOPE_DEG, heading_deg: 45.0 });
        let spec = pomp_terrain::preset(name).unwrap_or(steep);
        if found.is_within(&pomp_terrain::generate(&spec, 0)?.unevenness()) {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

/// The name of the support on own feet that commands on a kind of ground, of one character or several together, were measured to hold with;
/// what of them was not measured where there is none.
pub(super) fn measured_support(
    plans: &[ControlPlan],
    ground: &str,
    unrolled: bool,
) -> Result<&'static str, String> {
    let unmeasured = |held| plans.iter().find_map(|plan| unmeasured_scene(plan, ground, held));
    if unrolled && unmeasured(&UNROLLED).is_none() {
        return Ok(OWN_FEET_UNROLLED);
    }
    match unmeasured(&COMPACT) {
        None if ground == STAIRS && plans.len() > 1 => {
            Err("a scene of several characters on stairs".to_owned())
        }
        None if ground == STAIRS => Ok(RESIDUAL),
        None => Ok(OWN_FEET),
        Some(what) => Err(what),
    }
}

/// As [`measured_support`], of a character that may be commanded anything.
pub(super) fn steered_support(ground: &str, unrolled: bool) -> Result<&'static str, String> {
    if !unrolled {
        Err("a steered character of a given model".to_owned())
    } else if STEERED.contains(&ground) {
        Ok(OWN_FEET_UNROLLED)
    } else {
        Err(format!("a steered character on the ground \"{ground}\""))
    }
}

/// Whether the model of all directions leads a command on own feet that were asked for, measured or not: it does what it holds on level
/// ground, but on stairs, where it falls, only what the compact model does not.
pub(super) fn unrolled_leads(plan: &ControlPlan, on_stairs: bool) -> bool {
    unmeasured_command(plan, LEVEL, &UNROLLED).is_none()
        && !(on_stairs && unmeasured_command(plan, STAIRS, &COMPACT).is_none())
}

/// What of a command on a kind of ground was not measured to hold without the assist.
fn unmeasured_scene(plan: &ControlPlan, ground: &str, held: &Held) -> Option<String> {
    if !held.grounds.contains(&ground) {
        return Some(format!("the ground \"{ground}\""));
    }
    unmeasured_command(plan, ground, held).map(str::to_owned)
}

fn unmeasured_command(plan: &ControlPlan, ground: &str, held: &Held) -> Option<&'static str> {
    let all_directions = held.directions.contains(&ground);
    let pairs = plan.samples().windows(2).map(|pair| (pair[0], pair[1]));
    for (now, next) in pairs {
        let (fastest_mps, too_fast) = match now.gait {
            Gait::Stand | Gait::Walk => (FASTEST_WALK_MPS, "a walk this fast"),
            Gait::Jog if held.jogs.contains(&ground) => (FASTEST_JOG_MPS, "a run this fast"),
            Gait::Jog => return Some("a jog on this ground"),
            Gait::Crouch if held.crouches.contains(&ground) => (FASTEST_WALK_MPS, "a crouch this fast"),
            Gait::Crouch => return Some("a crouch"),
            _ => return Some("a gait other than walking, jogging and standing"),
        };
        if now.speed_mps > fastest_mps {
            return Some(too_fast);
        }
        let way = next.position - now.position;
        let heading = glam::Vec2::from(now.yaw.sin_cos());
        let along = way.normalize_or_zero().dot(heading);
        if !all_directions && now.speed_mps > MOVING_MPS && along < ALONG_HEADING {
            return Some(if along < -ALONG_HEADING { "a walk backward" } else { "a walk aside" });
        }
        let turning = wrap_angle(next.yaw - now.yaw).abs() * FRAME_RATE_HZ;
        if !all_directions && now.speed_mps < MOVING_MPS && turning > FASTEST_TURN_RAD_S {
            return Some("a turn on the spot this fast");
        }
    }
    None
}

//! What characters were measured to hold on their own feet (docs/results.md): on which grounds, with which commands, led by which model.

use super::{OWN_FEET, OWN_FEET_STAIRS, OWN_FEET_STYLED, OWN_FEET_THOROUGH, OWN_FEET_UNROLLED, RESIDUAL};
use anyhow::Result;
use pomp_generator::{ControlPlan, ControlSample, FRAME_RATE_HZ};
use pomp_motion::Gait;
use pomp_motion::rotation::wrap_angle;
use pomp_terrain::{HeightMap, Shape, TerrainSpec};

/// The grounds, by their names as presets or [`STEEP`], on which characters of a model stand on their own feet: those on which they were
/// measured to hold, or to hold more often than with the assist, or on which none holds with it.
struct Held {
    /// When they walk ahead and stand.
    ahead: &'static [&'static str],
    /// When they walk aside and backward, and turn on the spot faster than [`FASTEST_TURN_RAD_S`].
    directions: &'static [&'static str],
    /// When they walk crouched.
    crouches: &'static [&'static str],
    /// When they jog.
    jogs: &'static [&'static str],
    /// When they run faster than [`FASTEST_JOG_MPS`].
    runs: &'static [&'static str],
}

/// What those of the compact model hold, and of models like it.
const COMPACT: Held = Held {
    ahead: &[LEVEL, "slope", STEEP, "rough", "hills", "gaps", "mixed", STAIRS],
    directions: &[],
    crouches: &[],
    jogs: &[LEVEL],
    runs: &[],
};
/// What those of the model of all directions hold without thorough plans.
const UNROLLED: Held = Held {
    ahead: &[LEVEL, "slope", STEEP, "rough", "hills", "gaps", "mixed", STAIRS],
    directions: &[LEVEL, "slope", STEEP, "rough", "hills", "gaps", "mixed"],
    crouches: &[LEVEL, "rough"],
    jogs: &[LEVEL, "rough", "mixed"],
    runs: &[LEVEL],
};
/// What they hold with them (`configs/own_feet_thorough.toml`), and what they hold without.
const UNROLLED_THOROUGH: Held = Held {
    crouches: &[LEVEL, "slope", "rough", "hills", "gaps", "mixed"],
    jogs: &[LEVEL, "slope", STEEP, "rough", "hills", "gaps", "mixed"],
    ..UNROLLED
};
/// What those of the compact model hold in a style of its own.
const STYLED: Held = Held { ahead: &[LEVEL], directions: &[], crouches: &[], jogs: &[], runs: &[] };
/// Grounds on which characters of the model of all directions were measured while they were commanded anything.
const STEERED: [&str; 6] = [LEVEL, "slope", "rough", "hills", "gaps", "mixed"];
const LEVEL: &str = "flat";
/// The ground on which the model of all directions has settings of its own, and the compact model needs some help.
pub(super) const STAIRS: &str = "stairs";
/// A steeper slope than that of the preset, up to [`STEEPEST_SLOPE_DEG`].
const STEEP: &str = "steep slope";
/// The steepest slope that was measured, degrees.
const STEEPEST_SLOPE_DEG: f32 = 15.0;
/// Grounds to which that of a file is compared: not those with steps, of which slope and roughness say too little.
const COMPARABLE: [&str; 6] = [LEVEL, "rough", "hills", "mixed", "slope", STEEP];
/// Bounds of the residual wrench with which the compact model stays on its feet on stairs: body weights, and body weights × metre.
pub(super) const RESIDUAL_WRENCH: (f32, f32) = (0.2, 0.136);
/// `layers.reference_tracking.return_share` with which characters were measured in a style of the compact model.
pub(super) const STYLED_RETURN_SHARE: f32 = 0.2;
/// Fastest walk, jog and run that were measured, m/s.
const FASTEST_WALK_MPS: f32 = 1.5;
const FASTEST_JOG_MPS: f32 = 2.5;
const FASTEST_RUN_MPS: f32 = 3.2;
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
    let unmeasured = |held| plans.iter().find_map(|plan| unmeasured_command(plan, ground, held));
    if unrolled && unmeasured(&UNROLLED).is_none() && (ground != STAIRS || plans.len() == 1) {
        return Ok(if ground == STAIRS { OWN_FEET_STAIRS } else { OWN_FEET_UNROLLED });
    }
    match unmeasured(&COMPACT) {
        None if ground != STAIRS => Ok(OWN_FEET),
        None if plans.len() == 1 => Ok(RESIDUAL),
        None => Err("a scene of several characters on stairs".to_owned()),
        Some(_) if unrolled && unmeasured(&UNROLLED_THOROUGH).is_none() => Ok(OWN_FEET_THOROUGH),
        Some(what) => Err(what.to_owned()),
    }
}

/// As [`measured_support`], of a character in a style of the models that come with the program.
pub(super) fn styled_support(plans: &[ControlPlan], ground: &str) -> Result<&'static str, String> {
    match plans.iter().find_map(|plan| unmeasured_command(plan, ground, &STYLED)) {
        None => Ok(OWN_FEET_STYLED),
        Some(what) => Err(format!("a style in {what}")),
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

/// The name of the support with which the model of all directions leads commands on own feet that were asked for, measured or not, where it
/// does: in what it holds on level ground or with settings of the kind of ground, and in anything where the commands are not known.
pub(super) fn led_by_unrolled(plans: Option<&[ControlPlan]>, ground: Option<&str>) -> Option<&'static str> {
    let Some(plans) = plans else { return Some(OWN_FEET_UNROLLED) };
    let holds = |ground, held| plans.iter().all(|plan| unmeasured_command(plan, ground, held).is_none());
    match ground {
        Some(STAIRS) if holds(STAIRS, &UNROLLED) => Some(OWN_FEET_STAIRS),
        Some(ground) if !holds(ground, &UNROLLED) && holds(ground, &UNROLLED_THOROUGH) => {
            Some(OWN_FEET_THOROUGH)
        }
        _ => holds(LEVEL, &UNROLLED).then_some(OWN_FEET_UNROLLED),
    }
}

/// What of a command on a kind of ground was not measured to hold without the assist.
fn unmeasured_command(plan: &ControlPlan, ground: &str, held: &Held) -> Option<&'static str> {
    let pairs = plan.samples().windows(2).map(|pair| (pair[0], pair[1]));
    for (now, next) in pairs {
        let (grounds, what, fastest_mps, too_fast) = match now.gait {
            Gait::Stand | Gait::Walk => {
                (held.ahead, "a walk on this ground", FASTEST_WALK_MPS, "a walk this fast")
            }
            Gait::Crouch => {
                (held.crouches, "a crouch on this ground", FASTEST_WALK_MPS, "a crouch this fast")
            }
            Gait::Jog if now.speed_mps <= FASTEST_JOG_MPS => {
                (held.jogs, "a jog on this ground", FASTEST_JOG_MPS, "a jog this fast")
            }
            Gait::Jog => (held.runs, "a run on this ground", FASTEST_RUN_MPS, "a run this fast"),
            _ => return Some("a gait other than walking, jogging, crouching and standing"),
        };
        if now.speed_mps > fastest_mps {
            return Some(too_fast);
        }
        let direction = direction(now, next).filter(|_| !held.directions.contains(&ground));
        if direction.is_some() {
            return direction;
        }
        if !grounds.contains(&ground) {
            return Some(what);
        }
    }
    None
}

/// In what a command is another one than to stand, or to go where the character faces.
fn direction(now: ControlSample, next: ControlSample) -> Option<&'static str> {
    if now.speed_mps > MOVING_MPS {
        let way = next.position - now.position;
        let along = way.normalize_or_zero().dot(glam::Vec2::from(now.yaw.sin_cos()));
        let what = if along < -ALONG_HEADING { "a walk backward" } else { "a walk aside" };
        return (along < ALONG_HEADING).then_some(what);
    }
    let turning = wrap_angle(next.yaw - now.yaw).abs() * FRAME_RATE_HZ;
    (turning > FASTEST_TURN_RAD_S).then_some("a turn on the spot this fast")
}

//! When and how a clip is made to fall.

use super::config::FallConfig;
use glam::{Quat, Vec3};
use pomp_motion::random::Draws;
use pomp_motion::{Gait, Recording, humanoid};
use std::f32::consts::PI;

/// No strike before this time or within this time of the end, seconds: the window of the features is one second to each
/// side.
pub(super) const CALM_S: f32 = 1.0;
/// A trip needs a foot that swings faster than this, m/s.
const SWINGING_M_S: f32 = 1.0;
/// A swing is searched within this time of the drawn one, seconds: a stride has one of each foot.
const SWING_WITHIN_S: f32 = 0.6;

/// A strike: when, where, how large, and how the drives answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strike {
    pub frame: usize,
    pub body: usize,
    pub impulse_ns: Vec3,
    /// Whether it is a trip.
    pub is_trip: bool,
    pub give_way_s: f32,
    pub lie_s: f32,
    pub pace: f32,
}

/// A strike at a random time at which the body stands or walks, or why there is none.
pub(super) fn plan(recording: &Recording, config: &FallConfig, draws: &mut Draws) -> Result<Strike, String> {
    let (frames, rate) = (recording.frames(), recording.frame_rate_hz);
    let steady = |frame: usize| matches!(Gait::dominant(&recording.gait[frame]), Gait::Stand | Gait::Walk);
    let share = (0..frames).filter(|frame| steady(*frame)).count() as f32 / frames as f32;
    if share < config.least_steady_share {
        return Err(format!("only {:.0} % of it is standing and walking", 100.0 * share));
    }
    let calm = (CALM_S * rate).ceil() as usize;
    if frames < 2 * calm + 1 {
        return Err("there is no time for a fall".to_owned());
    }
    let last = frames - 1 - calm;
    let drawn = calm + draws.below(last - calm + 1);
    let wants_trip = draws.share() < config.trip_share;
    let direction = Quat::from_rotation_y(draws.centred() * PI) * Vec3::Z;
    let (push_ns, trip_ns) = (draws.within(config.impulse_ns), draws.within(config.trip_ns));
    let named = &config.bodies[draws.below(config.bodies.len())];
    let body = recording.skeleton.index_of(named).ok_or_else(|| format!("it has no joint \"{named}\""))?;
    let pushed = Strike {
        frame: drawn,
        body: body.0,
        impulse_ns: direction * push_ns,
        is_trip: false,
        give_way_s: draws.within(config.give_way_s),
        lie_s: draws.within(config.lie_s),
        pace: draws.within(config.pace),
    };
    let window = (SWING_WITHIN_S * rate) as usize;
    let near = drawn.saturating_sub(window).max(calm)..=(drawn + window).min(last);
    let swings = near.flat_map(|frame| [(frame, 0), (frame, 1)]).filter_map(|(frame, side)| {
        let foot = [humanoid::LEFT_FOOT, humanoid::RIGHT_FOOT][side].0;
        let touches = recording.foot_contact[frame][2 * side] || recording.foot_contact[frame][2 * side + 1];
        let velocity = recording.velocities[frame][foot].with_y(0.0);
        (!touches && velocity.length() > SWINGING_M_S).then_some((frame, foot, velocity))
    });
    let caught = swings.min_by_key(|(frame, ..)| frame.abs_diff(drawn)).filter(|_| wants_trip);
    Ok(caught.map_or(pushed, |(frame, foot, velocity)| Strike {
        frame,
        body: foot,
        impulse_ns: -velocity.normalize() * trip_ns,
        is_trip: true,
        ..pushed
    }))
}

//! Ground that moves under a character: a platform that is shifted, a deck that sways, a lift.

use glam::{DVec3, Vec3};
use pomp_config::{Fields, OutOfRange};
use pomp_motion::FRAME_RATE_HZ;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// How the ground is displaced over time: the sum of its moves; no moves for ground at rest.
///
/// The loop and its recordings use the coordinate frame of the ground, like a camera fixed to the platform. The platform does not
/// rotate, so this frame differs from the world frame only by a displacement. Motion in it equals motion on ground at rest with
/// the platform's acceleration subtracted from gravity. A position in the world is the recorded position plus [`Self::offset_m`];
/// impulses and forces are the same in both frames.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct GroundMotion {
    /// The moves; their displacements add up.
    pub moves: Vec<GroundMove>,
}

/// A move of the ground.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum GroundMove {
    /// The ground is shifted once, with minimum jerk, and stays there, like the platform translations of balance studies.
    Shift {
        /// Time at which the move begins, seconds from the start.
        from_s: f32,
        /// Duration of the shift, seconds. The peak acceleration is 5.8 times the distance divided by the square of the duration.
        seconds: f32,
        /// Displacement, metres.
        #[schemars(with = "[f32; 3]")]
        by_m: Vec3,
    },
    /// The ground oscillates about its position. The oscillation fades in and out over one period, or over half of the duration
    /// if that is shorter.
    Sway {
        /// Time at which the move begins, seconds from the start.
        from_s: f32,
        /// Duration of the oscillation, seconds.
        seconds: f32,
        /// Amplitude to either side, metres.
        #[schemars(with = "[f32; 3]")]
        amplitude_m: Vec3,
        /// Frequency, periods per second.
        frequency_hz: f32,
    },
}

impl GroundMove {
    /// Largest acceleration of a move, m/s².
    pub const MOST_M_S2: f64 = 50.0;
    /// Peak acceleration of a shift by one metre in one second, m/s²: 10 / √3.
    const SHIFT_PEAK: f64 = 5.773_502_691_896_258;
    /// Peak speed of the same, m/s.
    const SHIFT_SPEED: f64 = 1.875;

    fn offset(&self, time_s: f64) -> DVec3 {
        match *self {
            Self::Shift { from_s, seconds, by_m } => {
                by_m.as_dvec3() * least_jerk((time_s - f64::from(from_s)) / f64::from(seconds))
            }
            Self::Sway { from_s, seconds, amplitude_m, frequency_hz } => {
                let (since, seconds, frequency) =
                    (time_s - f64::from(from_s), f64::from(seconds), f64::from(frequency_hz));
                let fade_s = fade_s(frequency, seconds);
                let share = least_jerk(since / fade_s) * least_jerk((seconds - since) / fade_s);
                amplitude_m.as_dvec3() * (share * (std::f64::consts::TAU * frequency * since).sin())
            }
        }
    }

    /// A bound of its acceleration, m/s².
    fn largest_acceleration(&self) -> f64 {
        match *self {
            Self::Shift { seconds, by_m, .. } => {
                Self::SHIFT_PEAK * by_m.as_dvec3().length() / f64::from(seconds).powi(2)
            }
            Self::Sway { seconds, amplitude_m, frequency_hz, .. } => {
                let rate = std::f64::consts::TAU * f64::from(frequency_hz);
                let fade_s = fade_s(f64::from(frequency_hz), f64::from(seconds));
                // Of a product: the sine's own, what both do together, and the fade's own.
                let most = rate * rate
                    + 2.0 * rate * Self::SHIFT_SPEED / fade_s
                    + Self::SHIFT_PEAK / (fade_s * fade_s);
                amplitude_m.as_dvec3().length() * most
            }
        }
    }

    fn check(&self, fields: &Fields, index: usize) -> Result<(), OutOfRange> {
        let own = fields.section(format!("ground_motion[{index}]"));
        let (Self::Shift { from_s, seconds, .. } | Self::Sway { from_s, seconds, .. }) = *self;
        own.within("from_s", from_s, 0.0..=1e5)?;
        own.within("seconds", seconds, 0.05..=1e5)?;
        if let Self::Sway { frequency_hz, .. } = *self {
            own.within("frequency_hz", frequency_hz, 0.01..=10.0)?;
        }
        let most = self.largest_acceleration();
        // One that is no number is not within either.
        fields.holds(
            most <= Self::MOST_M_S2,
            &format!("ground_motion[{index}]"),
            format!("{self:?}, which accelerates by up to {most:.1} m/s²"),
            "at most 50 m/s²: give it more seconds, a lower frequency or less way",
        )
    }
}

impl GroundMotion {
    /// Whether the ground rests.
    pub fn rests(&self) -> bool {
        self.moves.is_empty()
    }

    /// Where the ground is at the end of a frame, from its place at the start, metres, world.
    pub fn offset_m(&self, frame: usize) -> Vec3 {
        self.offset(frame as f64).as_vec3()
    }

    /// [`Self::offset_m`] of some frames; none for ground that rests.
    pub fn offsets_m(&self, frames: Range<usize>) -> Option<Vec<Vec3>> {
        (!self.rests()).then(|| frames.map(|frame| self.offset_m(frame)).collect())
    }

    /// Its acceleration during a frame, m/s², world: that with which steps of a frame each lead from offset to offset.
    pub fn acceleration_m_s2(&self, frame: usize) -> Vec3 {
        let frame = frame as f64;
        let rate = f64::from(FRAME_RATE_HZ);
        let change = self.offset(frame) - 2.0 * self.offset(frame - 1.0) + self.offset(frame - 2.0);
        (change * rate * rate).as_vec3()
    }

    fn offset(&self, frame: f64) -> DVec3 {
        let time_s = frame / f64::from(FRAME_RATE_HZ);
        self.moves.iter().map(|one| one.offset(time_s)).sum()
    }

    /// Checks every move; `fields` are those of the configuration that this is in.
    ///
    /// # Errors
    /// The first field outside its range.
    pub(crate) fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        self.moves.iter().enumerate().try_for_each(|(index, one)| one.check(fields, index))
    }
}

/// Time in which a sway comes and goes, seconds.
fn fade_s(frequency_hz: f64, seconds: f64) -> f64 {
    (1.0 / frequency_hz).min(0.5 * seconds)
}

/// From 0 at `t` ≤ 0 to 1 at `t` ≥ 1 with the least jerk: speed and acceleration are zero at both ends.
fn least_jerk(t: f64) -> f64 {
    let t = t.clamp(0.0, 1.0);
    t * t * t * (10.0 + t * (6.0 * t - 15.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shift() -> GroundMove {
        GroundMove::Shift { from_s: 0.5, seconds: 0.4, by_m: Vec3::new(0.15, 0.0, -0.05) }
    }

    fn sway() -> GroundMove {
        let amplitude_m = Vec3::new(0.0, 0.0, 0.1);
        GroundMove::Sway { from_s: 0.2, seconds: 6.0, amplitude_m, frequency_hz: 0.8 }
    }

    #[test]
    fn its_accelerations_lead_from_offset_to_offset() {
        let motion = GroundMotion { moves: vec![shift(), sway()] };
        let (mut place, mut velocity) = (DVec3::ZERO, DVec3::ZERO);
        for frame in 0..600 {
            velocity += motion.acceleration_m_s2(frame).as_dvec3() / 60.0;
            place += velocity / 60.0;
            let off = place.as_vec3().distance(motion.offset_m(frame));
            assert!(off < 1e-5, "frame {frame}: {off}");
        }
    }

    #[test]
    fn a_shift_ends_where_it_was_told_and_a_sway_where_it_began() {
        let motion = GroundMotion { moves: vec![shift(), sway()] };
        assert_eq!(motion.offset_m(0), Vec3::ZERO);
        assert!(motion.offset_m(1000).distance(Vec3::new(0.15, 0.0, -0.05)) < 1e-7);
        let farthest = (0..600).map(|frame| motion.offset_m(frame).z).fold(f32::MIN, f32::max);
        assert!((0.04..0.1).contains(&farthest), "{farthest}");
    }

    #[test]
    fn no_move_accelerates_more_than_its_bound() {
        for one in [shift(), sway()] {
            let motion = GroundMotion { moves: vec![one] };
            let most = (0..600).map(|frame| motion.acceleration_m_s2(frame).length()).fold(0.0_f32, f32::max);
            let bound = one.largest_acceleration() as f32;
            assert!(most <= bound && most > 0.5 * bound, "{most} of {bound}");
        }
    }

    #[test]
    fn rejects_a_move_without_time_one_beyond_its_bound_and_one_that_is_no_number() {
        let by_m = Vec3::X;
        let brief = GroundMove::Shift { from_s: 1.0, seconds: 0.0, by_m };
        let hard = GroundMove::Shift { from_s: 1.0, seconds: 0.2, by_m };
        let none = GroundMove::Shift { from_s: 1.0, seconds: 1.0, by_m: Vec3::NAN };
        for (one, named) in
            [(brief, "ground_motion[0].seconds"), (hard, "ground_motion[0]"), (none, "ground_motion[0]")]
        {
            let refused = GroundMotion { moves: vec![one] }.check(&Fields::root()).unwrap_err();
            assert_eq!(refused.field, named, "{one:?}: {refused}");
        }
        GroundMotion { moves: vec![shift(), sway()] }.check(&Fields::root()).unwrap();
    }
}

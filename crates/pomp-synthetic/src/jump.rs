use crate::ease::{Knot, quintic};
use crate::planted_foot::{FootPose, PlantedFoot};
use crate::stance::Stance;
use pomp_motion::glam::{Quat, Vec3};
use pomp_motion::smoothstep;

pub(crate) const GRAVITY: f32 = pomp_motion::GRAVITY_M_S2 as f32;

/// Depth of the countermovement and of the landing, share of body height.
const CROUCH: f32 = 0.14;
const LANDING: f32 = 0.11;
/// Pelvis above standing at take-off, share of body height: the heels are up, the knees nearly straight.
const TAKE_OFF: f32 = 0.013;
/// Durations of the parts on the ground, seconds.
const DOWN_S: f32 = 0.50;
const ABSORB_S: f32 = 0.24;
const RECOVER_S: f32 = 0.62;
/// Times after take-off in which the legs finish extending, and before touch-down in which they begin to bend.
const EXTEND_S: f32 = 0.07;
const BEND_S: f32 = 0.05;
/// Pitch of the feet at take-off and at touch-down.
const TAKE_OFF_PITCH: f32 = 0.75;
const TOUCH_DOWN_PITCH: f32 = 0.7;

/// One countermovement jump on the spot.
#[derive(Clone, Debug)]
pub(crate) struct Jump {
    knots: [Knot; 6],
    take_off_speed: f32,
    crouch_m: f32,
}

impl Jump {
    /// A jump that leaves a stand at `start_s`.
    pub(crate) fn starting(start_s: f32, take_off_speed: f32, body_height_m: f32) -> Self {
        let crouch_m = CROUCH * body_height_m;
        let rise = TAKE_OFF * body_height_m;
        // From rest to take-off with the force of a half sine, mean speed a little under half the final one.
        let push_s = (crouch_m + rise) / (0.46 * take_off_speed);
        let bottom = start_s + DOWN_S;
        let off = bottom + push_s;
        let down = off + 2.0 * take_off_speed / GRAVITY;
        let landed = down + ABSORB_S;
        let knot = |time, value, velocity, acceleration| Knot { time, value, velocity, acceleration };
        let knots = [
            knot(start_s, 0.0, 0.0, 0.0),
            knot(bottom, -crouch_m, 0.0, 7.0),
            knot(off, rise, take_off_speed, -GRAVITY),
            knot(down, rise, -take_off_speed, -GRAVITY),
            knot(landed, -LANDING * body_height_m, 0.0, 7.0),
            knot(landed + RECOVER_S, 0.0, 0.0, 0.0),
        ];
        Self { knots, take_off_speed, crouch_m }
    }

    pub(crate) fn bottom_s(&self) -> f32 {
        self.knots[1].time
    }

    pub(crate) fn take_off_s(&self) -> f32 {
        self.knots[2].time
    }

    pub(crate) fn touch_down_s(&self) -> f32 {
        self.knots[3].time
    }

    pub(crate) fn landed_s(&self) -> f32 {
        self.knots[4].time
    }

    pub(crate) fn end_s(&self) -> f32 {
        self.knots[5].time
    }

    /// Pelvis height against standing, metres; a parabola under gravity in flight.
    pub(crate) fn height(&self, time: f32) -> f32 {
        quintic(&self.knots, time)
    }

    /// How deep the body is folded: 0 standing, 1 at the bottom of the countermovement; smooth through zero.
    pub(crate) fn fold(&self, time: f32) -> f32 {
        let depth = (-self.height(time) / self.crouch_m).max(0.0);
        depth * depth / (depth + 0.15)
    }

    /// Forward raise of both arms, radians.
    pub(crate) fn arm_raise(&self, time: f32) -> f32 {
        let [start, bottom, off, down, landed, end] = self.knots.map(|k| k.time);
        let angles = [
            (start, 0.0),
            (bottom - 0.08, -0.75),
            (off + 0.12, 1.9),
            (down + 0.05, 1.2),
            (landed + 0.2, 0.2),
            (end, 0.0),
        ];
        let next = angles.partition_point(|&(t, _)| t <= time);
        if next == 0 || next == angles.len() {
            return 0.0;
        }
        let ((t0, a), (t1, b)) = (angles[next - 1], angles[next]);
        a + (b - a) * smoothstep((time - t0) / (t1 - t0))
    }

    /// The stance before the jump and the stance after it, on the same foothold.
    pub(crate) fn stances(&self, foothold: PlantedFoot, from_s: f32) -> [Stance; 2] {
        let before = Stance {
            from_s,
            until_s: self.take_off_s(),
            foothold,
            strike_pitch: TOUCH_DOWN_PITCH,
            flatten_s: 0.13,
            rise_pitch: TAKE_OFF_PITCH,
            rise_s: 0.15,
        };
        [before, Stance { from_s: self.touch_down_s(), until_s: f32::INFINITY, ..before }]
    }

    /// The foot in flight: it leaves the ground at rest, follows the pelvis once the leg is long, and
    /// comes down at rest.
    pub(crate) fn flying_foot(&self, before: &Stance, time: f32) -> FootPose {
        let flight = self.touch_down_s() - self.take_off_s();
        let t = time - self.take_off_s();
        // How far the leg has extended: at take-off at the speed of the pelvis, so that the foot leaves at rest, and
        // at touch-down the same in reverse.
        let v = self.take_off_speed;
        let drawn_in =
            v * (EXTEND_S - BEND_S) / 3.0 * smoothstep((t - EXTEND_S) / (flight - EXTEND_S - BEND_S));
        let bent = v * (BEND_S / 3.0 - settling(flight - t, BEND_S));
        let extended = v * settling(t, EXTEND_S) - drawn_in - bent;
        let rise = (v - 0.5 * GRAVITY * t) * t;
        let rate = before.leaving_pitch_rate();
        let highest = TAKE_OFF_PITCH + rate * EXTEND_S / 3.0;
        let back = smoothstep((t - EXTEND_S) / (flight - EXTEND_S));
        let pitch = TAKE_OFF_PITCH + rate * settling(t, EXTEND_S) - (highest - TOUCH_DOWN_PITCH) * back;
        let straight = smoothstep(t / 0.12) * smoothstep((flight - t) / 0.12);
        let mut pose = before.foothold.rolled(pitch);
        pose.ankle += Vec3::Y * (rise - extended);
        pose.toe = pose.foot * Quat::from_rotation_x(-pitch * (1.0 - straight));
        pose
    }
}

/// Starts from 0 at a rate of 1 and comes to rest at `duration`/3.
fn settling(t: f32, duration: f32) -> f32 {
    let left = (1.0 - t / duration).max(0.0);
    duration / 3.0 * (1.0 - left * left * left)
}

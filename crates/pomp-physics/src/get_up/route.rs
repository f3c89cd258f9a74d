//! The ways up: postures that people pass on their way from the floor to their feet, and when.
//!
//! Two of the ways that are described of adults. From the back: sit up, draw the feet in, squat, stand, limbs and trunk moving
//! symmetrically, the commonest combination among young adults (VanSant, "Rising from a supine position to erect
//! stance", Physical Therapy 68, 1988). From the front or a side: hands and knees, one foot forward to half-kneeling,
//! stand, the quadruped push-up of Bohannon and Lusardi ("Getting up from the floor", Physiotherapy Theory and Practice
//! 20, 2004), whose 52 adults took 4.1 ± 1.1 s. The numbers of the postures are ours, from the proportions of the skeleton.

use super::posture::{FootPlace, HandPlace, Posture};
use pomp_motion::glam::Vec3;

/// A side of the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Right,
}

/// Postures with their times; before the first and after the last it holds.
#[derive(Clone, Debug)]
pub(super) struct Route {
    keys: Vec<(f32, Posture)>,
}

/// Corners between postures are smoothed over this time to both sides, seconds.
const SMOOTHING_S: f32 = 0.15;
/// Ankle over the sole of a flat foot, and a little flesh.
const FLAT: f32 = 0.040;
/// Standing: ankles beside and a little behind the line of the hips, so that the middle of the feet is below the body.
const STANCE: [Vec3; 2] = [Vec3::new(0.062, FLAT, -0.022), Vec3::new(-0.062, FLAT, -0.022)];
/// Pelvis height of standing with knees that are not locked.
const STANDING: f32 = 0.535;

fn degrees(angle: f32) -> f32 {
    angle.to_radians()
}

fn foot(x: f32, y: f32, z: f32, pitch_deg: f32) -> FootPlace {
    FootPlace { ankle: Vec3::new(x, y, z), pitch: degrees(pitch_deg) }
}

fn free(x: f32, y: f32, z: f32) -> HandPlace {
    HandPlace { wrist: Vec3::new(x, y, z), planted: 0.0, ahead: 1.0 }
}

fn palm(x: f32, z: f32, ahead: f32) -> HandPlace {
    HandPlace { wrist: Vec3::new(x, 0.022, z), planted: 1.0, ahead }
}

pub(super) fn standing() -> Posture {
    Posture {
        pelvis: Vec3::new(0.0, STANDING, 0.0),
        pitch: 0.0,
        bend: 0.0,
        nod: 0.0,
        knees_up: 0.0,
        feet: STANCE.map(|ankle| FootPlace { ankle, pitch: 0.0 }),
        hands: [free(0.135, 0.515, 0.03), free(-0.135, 0.515, 0.03)],
    }
}

impl Route {
    /// Over hands and knees and the knee opposite to `front`, the foot that steps forward.
    pub fn prone(front: Side) -> Self {
        let stance = STANCE[0];
        // Pelvis of hands and knees, so that the shank of the foot that will be in front stands upright.
        let q = stance.z - 0.20;
        let shank_back = |pelvis_z: f32| foot(-0.06, 0.034, pelvis_z - 0.25, 160.0);
        let mirror = |place: FootPlace| FootPlace { ankle: place.ankle * Vec3::new(-1.0, 1.0, 1.0), ..place };
        let front_foot = FootPlace { ankle: stance, pitch: 0.0 };
        let prone_foot = foot(-0.06, 0.032, q - 0.385, 160.0);
        let hands = |x: f32, z: f32| [palm(x, z, 1.0), palm(-x, z, 1.0)];
        // The left foot is the front one here.
        let keys = vec![
            (
                0.45,
                Posture {
                    pelvis: Vec3::new(0.0, 0.066, q + 0.10),
                    pitch: degrees(88.0),
                    bend: 0.0,
                    nod: degrees(-20.0),
                    knees_up: -0.5,
                    feet: [mirror(prone_foot), prone_foot],
                    hands: hands(0.145, q + 0.28),
                },
            ),
            (
                1.35,
                Posture {
                    pelvis: Vec3::new(0.0, 0.285, q),
                    pitch: degrees(80.0),
                    bend: degrees(8.0),
                    nod: degrees(-25.0),
                    knees_up: -0.3,
                    feet: [mirror(shank_back(q)), shank_back(q)],
                    hands: hands(0.11, q + 0.27),
                },
            ),
            (
                1.75,
                Posture {
                    pelvis: Vec3::new(-0.015, 0.295, q),
                    pitch: degrees(62.0),
                    bend: degrees(28.0),
                    nod: degrees(-20.0),
                    knees_up: 0.0,
                    feet: [foot(0.07, 0.11, stance.z - 0.15, 25.0), shank_back(q)],
                    hands: hands(0.10, q + 0.26),
                },
            ),
            (
                2.2,
                Posture {
                    pelvis: Vec3::new(0.0, 0.29, q + 0.02),
                    pitch: degrees(28.0),
                    bend: degrees(25.0),
                    nod: degrees(-10.0),
                    knees_up: 0.0,
                    feet: [front_foot, foot(-0.06, 0.08, q - 0.22, 80.0)],
                    hands: [free(0.10, 0.33, stance.z + 0.02), free(0.03, 0.32, stance.z + 0.02)],
                },
            ),
            (
                2.8,
                Posture {
                    pelvis: Vec3::new(0.01, 0.40, stance.z - 0.06),
                    pitch: degrees(35.0),
                    bend: degrees(18.0),
                    nod: degrees(-15.0),
                    knees_up: 0.0,
                    feet: [front_foot, foot(-0.062, 0.10, q - 0.15, 60.0)],
                    hands: [free(0.10, 0.34, stance.z + 0.03), free(-0.08, 0.36, stance.z + 0.05)],
                },
            ),
            (
                3.2,
                Posture {
                    pelvis: Vec3::new(0.01, 0.49, stance.z),
                    pitch: degrees(18.0),
                    bend: degrees(8.0),
                    nod: degrees(-8.0),
                    knees_up: 0.0,
                    feet: [front_foot, foot(-0.062, 0.085, stance.z - 0.14, 20.0)],
                    hands: [free(0.13, 0.46, 0.06), free(-0.13, 0.46, 0.06)],
                },
            ),
            (3.7, standing()),
        ];
        let keys = match front {
            Side::Left => keys,
            Side::Right => keys.into_iter().map(|(time, posture)| (time, posture.mirrored())).collect(),
        };
        Self { keys }
    }

    /// Over sitting and squatting.
    pub fn supine() -> Self {
        let z = STANCE[0].z;
        let seat = z - 0.26;
        let feet = |pitch_deg: f32| STANCE.map(|at| foot(at.x, at.y + 0.0006 * pitch_deg, at.z, pitch_deg));
        let reaching = |y: f32, z: f32| [free(0.10, y, z), free(-0.10, y, z)];
        let keys = vec![
            (
                0.9,
                Posture {
                    pelvis: Vec3::new(0.0, 0.064, seat),
                    pitch: degrees(-25.0),
                    bend: degrees(55.0),
                    nod: degrees(15.0),
                    knees_up: 0.8,
                    feet: feet(0.0),
                    hands: [palm(0.17, seat - 0.12, 0.0), palm(-0.17, seat - 0.12, 0.0)],
                },
            ),
            (
                1.4,
                Posture {
                    pelvis: Vec3::new(0.0, 0.105, seat + 0.03),
                    pitch: degrees(15.0),
                    bend: degrees(50.0),
                    nod: degrees(5.0),
                    knees_up: 0.6,
                    feet: feet(10.0),
                    hands: reaching(0.26, z + 0.20),
                },
            ),
            (
                1.85,
                Posture {
                    pelvis: Vec3::new(0.0, 0.20, z - 0.10),
                    pitch: degrees(35.0),
                    bend: degrees(32.0),
                    nod: degrees(-10.0),
                    knees_up: 0.3,
                    feet: feet(18.0),
                    hands: reaching(0.28, z + 0.22),
                },
            ),
            (
                2.4,
                Posture {
                    pelvis: Vec3::new(0.0, 0.36, z - 0.06),
                    pitch: degrees(32.0),
                    bend: degrees(15.0),
                    nod: degrees(-10.0),
                    knees_up: 0.1,
                    feet: feet(0.0),
                    hands: reaching(0.33, z + 0.15),
                },
            ),
            (3.1, standing()),
        ];
        Self { keys }
    }

    /// From standing `below` an edge, onto it, where it will stand `ahead`: the left foot up, the body over it, the right foot
    /// after. Both lengths are fractions of body height; all heights are over the edge.
    pub fn step_up(below: f32, ahead: f32) -> Self {
        let stance = STANCE[0];
        let front = FootPlace { ankle: stance, pitch: 0.0 };
        let sunk = STANDING - below;
        let down =
            |x: f32, lift: f32, pitch_deg: f32| foot(x, FLAT - below + lift, stance.z - ahead, pitch_deg);
        let hands = |y: f32, z: f32| [free(0.13, y, z), free(-0.13, y, z)];
        let posture = |pelvis: Vec3, pitch_deg: f32, bend_deg: f32, feet, hands| Posture {
            pelvis,
            pitch: degrees(pitch_deg),
            bend: degrees(bend_deg),
            nod: degrees(-0.5 * pitch_deg),
            knees_up: 0.0,
            feet,
            hands,
        };
        let at = Vec3::new;
        let keys = vec![
            (
                0.6,
                posture(
                    at(0.0, sunk, -ahead),
                    0.0,
                    0.0,
                    [down(0.062, 0.0, 0.0), down(-0.062, 0.0, 0.0)],
                    hands(sunk, 0.05 - ahead),
                ),
            ),
            (
                1.2,
                posture(
                    at(-0.04, sunk - 0.005, 0.01 - ahead),
                    8.0,
                    10.0,
                    [foot(0.07, 0.12, 0.06 - ahead, 10.0), down(-0.055, 0.0, 0.0)],
                    hands(sunk + 0.06, 0.12 - ahead),
                ),
            ),
            (
                1.6,
                posture(
                    at(-0.025, sunk, 0.04 - ahead),
                    18.0,
                    15.0,
                    [foot(0.066, FLAT + 0.03, stance.z, 0.0), down(-0.055, 0.005, 8.0)],
                    hands(0.34, stance.z - 0.02),
                ),
            ),
            (
                2.2,
                posture(
                    at(0.0, sunk + 0.05, stance.z - 0.10),
                    38.0,
                    20.0,
                    [front, down(-0.06, 0.07, 45.0)],
                    hands(0.34, stance.z + 0.06),
                ),
            ),
            (
                2.9,
                posture(
                    at(0.01, 0.38, stance.z - 0.04),
                    38.0,
                    18.0,
                    [front, foot(-0.062, 0.05, stance.z - 0.20, 50.0)],
                    hands(0.34, stance.z + 0.06),
                ),
            ),
            (
                3.5,
                posture(
                    at(0.01, 0.49, stance.z),
                    18.0,
                    8.0,
                    [front, foot(-0.062, 0.085, stance.z - 0.14, 20.0)],
                    hands(0.46, 0.06),
                ),
            ),
            (4.0, standing()),
        ];
        Self { keys }
    }

    /// Time of the last posture, seconds.
    pub fn duration_s(&self) -> f32 {
        self.keys[self.keys.len() - 1].0
    }

    /// The first posture, which the body is brought into from wherever it lies.
    pub fn first(&self) -> Posture {
        self.keys[0].1
    }

    /// The posture at a time, corners smoothed.
    pub fn posture(&self, time_s: f32) -> Posture {
        // Means of straight lines: three samples, each weighed a little more into the sum so far.
        let at = |offset: f32| self.straight(time_s + offset * SMOOTHING_S);
        let ends = at(-1.0).lerp(&at(1.0), 0.5);
        let halves = at(-0.5).lerp(&at(0.5), 0.5);
        ends.lerp(&halves, 0.5).lerp(&at(0.0), 0.25)
    }

    fn straight(&self, time_s: f32) -> Posture {
        let next = self.keys.partition_point(|(time, _)| *time <= time_s);
        match next {
            0 => self.first(),
            n if n == self.keys.len() => self.keys[n - 1].1,
            n => {
                let ((from_s, from), (to_s, to)) = (&self.keys[n - 1], &self.keys[n]);
                from.lerp(to, (time_s - from_s) / (to_s - from_s))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_up_ends_standing_and_moves_no_faster_than_people_do() {
        for route in
            [Route::prone(Side::Left), Route::prone(Side::Right), Route::supine(), Route::step_up(0.29, 0.25)]
        {
            assert_eq!(route.posture(route.duration_s() + 1.0), standing());
            assert_eq!(route.posture(0.0), route.first());
            let mut fastest: f32 = 0.0;
            for frame in 1..=(route.duration_s() * 60.0) as usize {
                let (a, b) = (route.posture((frame - 1) as f32 / 60.0), route.posture(frame as f32 / 60.0));
                fastest = fastest.max((b.pelvis - a.pelvis).length() * 60.0 * 1.75);
            }
            println!("pelvis at most {fastest:.2} m/s in {:.1} s", route.duration_s());
            assert!(fastest < 1.0, "the pelvis moves at {fastest} m/s");
        }
    }

    #[test]
    fn the_other_side_is_the_mirror_image() {
        let (left, right) = (Route::prone(Side::Left), Route::prone(Side::Right));
        for step in 0..20 {
            let time = step as f32 * 0.2;
            assert_eq!(left.posture(time), right.posture(time).mirrored());
        }
    }
}

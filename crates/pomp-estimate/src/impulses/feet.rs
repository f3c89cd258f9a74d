//! Load on each foot, and its centre of pressure.

use super::filter::smoothest;
use super::whole_body::WholeBody;
use crate::ImpulseConfig;
use pomp_motion::glam::{DVec3, Vec3};
use pomp_motion::{GlobalPose, Skeleton, humanoid};

/// Weight of a frame in single support, where the load is known, against 1 for double support.
const FIXED: f64 = 1e3;
/// The sole begins this far behind the ankle and ends this far before the joint of the toes, body heights: a shoe about
/// 0.15 body heights long, with the ankle a quarter from its back (Drillis and Contini 1966).
const HEEL_BEHIND: f32 = 0.036;
/// See [`HEEL_BEHIND`].
const TOES: f32 = 0.030;
/// Range of the centre of pressure along the sole, whose edges bear no load.
const BEARING: [f64; 2] = [0.03, 0.95];
/// Least weight of a frame in the smoothing of the centre of pressure, body weights; a swinging foot carries no information.
const UNLOADED: f64 = 1e-3;
/// Load above which the zero-moment point is used, body weights; below it is noise.
const FULL_LOAD: f64 = 1.0;

/// The sole of one foot, from heel to tip, and what bears on it.
#[derive(Clone, Debug)]
pub(super) struct Sole {
    pub(super) heel: DVec3,
    pub(super) ball: DVec3,
    pub(super) tip: DVec3,
    /// Horizontal direction to the outer side of the foot; zero for a foot that stands on end.
    outward: DVec3,
}

impl Sole {
    fn at(&self, along: f64) -> DVec3 {
        self.heel.lerp(self.tip, along)
    }

    fn along(&self, point: DVec3) -> f64 {
        let line = self.tip - self.heel;
        ((point - self.heel).dot(line) / line.length_squared().max(1e-6)).clamp(0.0, 1.0)
    }

    /// Share of a load at `along` that the toes bear and not the foot behind them.
    pub(super) fn toe_share(&self, along: f64) -> f64 {
        let ball = self.along(self.ball);
        let (from, to) = (0.7 * ball, 0.5 * (ball + 1.0));
        ((along - from) / (to - from).max(1e-6)).clamp(0.0, 1.0)
    }
}

/// Soles of the left and the right foot of a pose.
pub(super) fn soles(skeleton: &Skeleton, pose: &GlobalPose) -> [Sole; 2] {
    let height = pomp_physics::body_height(skeleton);
    let feet =
        [(humanoid::LEFT_FOOT, humanoid::LEFT_TOE, 1.0), (humanoid::RIGHT_FOOT, humanoid::RIGHT_TOE, -1.0)];
    feet.map(|(foot, toe, side)| {
        let point = |joint: usize, turn: usize, y: f32, z: f32| {
            (pose.positions[joint] + pose.rotations[turn] * (Vec3::new(0.0, y, z) * height)).as_dvec3()
        };
        let heel = point(foot.0, foot.0, -humanoid::ANKLE_HEIGHT, -HEEL_BEHIND);
        let tip = point(toe.0, toe.0, -humanoid::TOE_HEIGHT, TOES);
        let outward = DVec3::new(tip.z - heel.z, 0.0, heel.x - tip.x).normalize_or_zero() * side;
        Sole { heel, ball: point(toe.0, foot.0, -humanoid::TOE_HEIGHT, 0.0), tip, outward }
    })
}

/// How the load on the feet is shared.
pub(super) struct FootLoads {
    /// Whether each foot bears at all `[T]`.
    pub(super) down: Vec<[bool; 2]>,
    /// Share of the right foot in what the feet bear, 0 to 1 `[T]`.
    pub(super) right: Vec<f64>,
    /// Where the load acts along each sole, 0 at the heel, 1 at the tip of the toes `[T]`.
    pub(super) along: Vec<[f64; 2]>,
    /// How far it acts to the outer side of the line from heel to tip, metres `[T]`.
    pub(super) outward_m: Vec<[f64; 2]>,
}

impl FootLoads {
    /// Centre of pressure under each foot.
    pub(super) fn centers(&self, frame: usize, soles: &[Sole; 2]) -> [DVec3; 2] {
        [0, 1].map(|foot| {
            soles[foot].at(self.along[frame][foot]) + soles[foot].outward * self.outward_m[frame][foot]
        })
    }
}

/// Where along a sole the load is expected from which of its ends touch.
fn expected(ends: [bool; 2]) -> f64 {
    match ends {
        [true, false] => 0.08,
        [false, true] => 0.9,
        _ => 0.4,
    }
}

/// Which ends, heel and toes, of each foot touch `[T]`. A foot that bears without a contact does so as at its nearest
/// contact, and on its toes when that is over.
fn touching_ends(contact: &[[bool; 4]], down: &[[bool; 2]]) -> Vec<[[bool; 2]; 2]> {
    let frames = contact.len();
    let labelled = |frame: usize, foot: usize| [contact[frame][2 * foot], contact[frame][2 * foot + 1]];
    let ends = |frame: usize, foot: usize| {
        let own = labelled(frame, foot);
        if own != [false; 2] || !down[frame][foot] {
            return own;
        }
        let touches = |other: &usize| labelled(*other, foot) != [false; 2];
        let before = (0..frame).rev().find(touches);
        let after = (frame..frames).find(touches);
        match (before, after) {
            (Some(b), Some(a)) if a - frame < frame - b => labelled(a, foot),
            (None, Some(a)) => labelled(a, foot),
            (Some(b), _) => match labelled(b, foot) {
                [_, true] => [false, true],
                heel => heel,
            },
            (None, None) => own,
        }
    };
    (0..frames).map(|frame| [ends(frame, 0), ends(frame, 1)]).collect()
}

/// Shares the load between the feet: all on the one that is down, and in double support so that the centre of
/// pressure lies where the motion of the body asks for, as smoothly as `share_bandwidth_hz` says.
pub(super) fn share(
    body: &WholeBody,
    soles: &[[Sole; 2]],
    contact: &[[bool; 4]],
    rate_hz: f64,
    config: &ImpulseConfig,
) -> FootLoads {
    let frames = contact.len();
    let labelled: Vec<[bool; 2]> = contact.iter().map(|c| [c[0] || c[1], c[2] || c[3]]).collect();
    let frames_of = |seconds: f32| (f64::from(seconds) * rate_hz).round() as usize;
    let mut down = with_late_toe_off(&labelled, frames_of(config.toe_off_s));
    shorten_flights(&mut down, body, frames_of(config.strike_s), f64::from(config.strike_above_bw));
    let ends = touching_ends(contact, &down);
    let (mut wanted, mut weight) = (vec![0.5; frames], vec![1e-3; frames]);
    let mut points: Vec<Option<DVec3>> = vec![None; frames];
    for frame in 0..frames {
        let at = [0, 1].map(|foot| soles[frame][foot].at(expected(ends[frame][foot])));
        match down[frame] {
            [false, false] => continue,
            [true, false] => (wanted[frame], weight[frame]) = (0.0, FIXED),
            [false, true] => (wanted[frame], weight[frame]) = (1.0, FIXED),
            [true, true] => {}
        }
        let ground = match down[frame] {
            [true, false] => at[0].y,
            [false, true] => at[1].y,
            _ => 0.5 * (at[0].y + at[1].y),
        };
        points[frame] = body.zero_moment_point(frame, ground);
        if let (true, Some(point)) = (down[frame] == [true; 2], points[frame]) {
            let apart = DVec3::new(at[1].x - at[0].x, 0.0, at[1].z - at[0].z);
            let square = apart.length_squared();
            wanted[frame] = ((point - at[0]).dot(apart) / square.max(1e-4)).clamp(0.0, 1.0);
            // The closer the feet, below 20 cm, the less certain is the share.
            weight[frame] = (square / 0.04).clamp(1e-3, 1.0);
        }
    }
    let mut right = smoothest(&wanted, &weight, f64::from(config.share_bandwidth_hz) / rate_hz);
    for (share, down) in right.iter_mut().zip(&down) {
        *share = match down {
            [true, false] => 0.0,
            [false, true] => 1.0,
            _ => share.clamp(0.0, 1.0),
        };
    }
    let mut loads = FootLoads { down, right, along: Vec::new(), outward_m: Vec::new() };
    (loads.along, loads.outward_m) = pressure(body, soles, &ends, &loads, &points, rate_hz, config);
    loads
}

/// Extends contacts that end while the other foot is down.
fn with_late_toe_off(labelled: &[[bool; 2]], late: usize) -> Vec<[bool; 2]> {
    let frames = labelled.len();
    let mut down = labelled.to_vec();
    for foot in 0..2 {
        for end in 1..frames {
            if labelled[end - 1][foot] && !labelled[end][foot] {
                for frame in end..(end + late).min(frames) {
                    down[frame][foot] |= labelled[frame][1 - foot];
                }
            }
        }
    }
    down
}

/// Extends the contacts around a flight while the force is upward: a foot that strikes or leaves fast bears load before its
/// speed falls below that of a contact.
fn shorten_flights(down: &mut [[bool; 2]], body: &WholeBody, longest: usize, above_bw: f64) {
    let frames = down.len();
    let pushed = |frame: usize| body.force_bw[frame].y > above_bw;
    let mut start = 0;
    while start < frames {
        let length = down[start..].iter().take_while(|d| **d == [false; 2]).count();
        let end = start + length;
        if length > 0 {
            let late = (start..end).take(longest).take_while(|f| pushed(*f)).count();
            let early = (start..end).rev().take(longest).take_while(|f| pushed(*f)).count();
            // Feet that leave or land this shortly one after the other do so together.
            for foot in 0..2 {
                let leaves = (start.saturating_sub(longest)..start).find(|f| down[*f][foot]);
                let lands = (end..(end + longest).min(frames)).rfind(|f| down[*f][foot]);
                if let Some(from) = leaves {
                    down[from..start + late].iter_mut().for_each(|slot| slot[foot] = true);
                }
                if let Some(to) = lands {
                    down[end - early..=to].iter_mut().for_each(|slot| slot[foot] = true);
                }
            }
        }
        start = end.max(start + 1);
    }
}

/// Where the load acts under each sole, along it and to its outer side: as near to what the contacts of heel and toe
/// suggest as the zero-moment point allows. Frames count by what the foot bears.
fn pressure(
    body: &WholeBody,
    soles: &[[Sole; 2]],
    ends: &[[[bool; 2]; 2]],
    loads: &FootLoads,
    points: &[Option<DVec3>],
    rate_hz: f64,
    config: &ImpulseConfig,
) -> (Vec<[f64; 2]>, Vec<[f64; 2]>) {
    let frames = soles.len();
    let limit = f64::from(config.pressure_aside_m);
    let (mut along, mut outward, mut weight) = ([vec![], vec![]], [vec![], vec![]], [vec![], vec![]]);
    for frame in 0..frames {
        let sole = &soles[frame];
        let guess = [0, 1].map(|foot| sole[foot].at(expected(ends[frame][foot])));
        let share = [1.0 - loads.right[frame], loads.right[frame]];
        let force = body.force_bw[frame].y.max(0.0);
        let off = points[frame].map_or(DVec3::ZERO, |p| p - guess[0] * share[0] - guess[1] * share[1])
            * (force / FULL_LOAD).min(1.0);
        let square = share[0] * share[0] + share[1] * share[1];
        for foot in 0..2 {
            let push = off * (share[foot] / square);
            along[foot].push(sole[foot].along(guess[foot] + push).clamp(BEARING[0], BEARING[1]));
            outward[foot].push(push.dot(sole[foot].outward).clamp(-limit, limit));
            let bears = f64::from(u8::from(loads.down[frame][foot])) * share[foot] * force;
            weight[foot].push(bears.max(UNLOADED).sqrt());
        }
    }
    let bandwidth = f64::from(config.pressure_bandwidth_hz) / rate_hz;
    let smooth = |series: &[Vec<f64>; 2], low: f64, high: f64| -> Vec<[f64; 2]> {
        let [left, right] = [0, 1].map(|foot| smoothest(&series[foot], &weight[foot], bandwidth));
        left.iter().zip(&right).map(|(l, r)| [l.clamp(low, high), r.clamp(low, high)]).collect()
    };
    (smooth(&along, BEARING[0], BEARING[1]), smooth(&outward, -limit, limit))
}

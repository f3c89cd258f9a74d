//! Where and how high the feet stand: contacts gathered into stances, noise reduced by medians.

use super::FitInput;
use glam::Vec2;
use pomp_motion::Gait;
use pomp_motion::statistics::median;
use std::ops::Range;

/// Shortest contact that counts, seconds.
const LEAST_CONTACT_S: f32 = 0.05;
/// A contact whose point moves farther than this is cut in two, metres: the foot slides or turns.
const LONGEST_SLIDE_M: f32 = 0.1;
/// A foot that stands higher than the other one by more than this, and never alone, is lifted, metres.
const LIFTED_M: f32 = 0.05;

/// A foot in swing this near a contact point, on the ground plane, and this far below it passes under it, metres.
const PIERCED_RADIUS_M: f32 = 0.05;
/// See `PIERCED_RADIUS_M`.
const PIERCED_M: f32 = 0.1;
/// Least number of frames of passing under; fewer are noise.
const PIERCED_FRAMES: usize = 3;

/// A foot at rest on the ground.
#[derive(Clone, Debug, PartialEq)]
pub struct Stance {
    /// 0 left, 1 right.
    pub foot: usize,
    /// Frames of the contact.
    pub frames: Range<usize>,
    /// Ground-plane positions (x, z) below the ankle and below the toe joint, metres.
    pub heel: Vec2,
    /// See `heel`.
    pub toe: Vec2,
    /// Sole height at the ankle, if that point was in contact, metres.
    pub heel_height: Option<f32>,
    /// Sole height at the toe, if that point was in contact, metres.
    pub toe_height: Option<f32>,
    /// Frames in which the ankle's and the toe's sole touch; not zero where there is a height.
    pub touching: [usize; 2],
    /// Duration, seconds.
    pub duration_s: f32,
    /// Whether the body rests on it: it stands alone for a while, or no higher than the other foot.
    pub bearing: bool,
    /// Whether there is room below it that feet pass through; then it is not bearing either.
    pub pierced: bool,
}

impl Stance {
    /// Mean height of the points in contact by the time that each touches, metres.
    pub fn height(&self) -> f32 {
        let weighted = |height: Option<f32>, frames: usize| {
            height.map_or((0.0, 0.0), |h| (h * frames as f32, frames as f32))
        };
        let heel = weighted(self.heel_height, self.touching[0]);
        let toe = weighted(self.toe_height, self.touching[1]);
        (heel.0 + toe.0) / (heel.1 + toe.1)
    }

    /// Middle of the footprint.
    pub fn centre(&self) -> Vec2 {
        0.5 * (self.heel + self.toe)
    }

    /// Points in contact: place and height.
    pub fn points(&self) -> impl Iterator<Item = (Vec2, f32)> {
        let heel = self.heel_height.map(|height| (self.heel, height));
        let toe = self.toe_height.map(|height| (self.toe, height));
        heel.into_iter().chain(toe)
    }

    /// Distance of a place from the line from heel to toe, metres.
    pub fn distance(&self, place: Vec2) -> f32 {
        let along = self.toe - self.heel;
        let t = (place - self.heel).dot(along) / along.length_squared().max(1e-9);
        (self.heel + along * t.clamp(0.0, 1.0)).distance(place)
    }
}

/// All stances of a clip, in order of their first frame.
///
/// Contacts while lying and getting up are left out: a foot on its side or on its toes' backs is higher or
/// lower than its sole says.
pub fn stances(input: &FitInput) -> Vec<Stance> {
    let upright: Vec<bool> = input
        .gait
        .iter()
        .map(|weights| !matches!(Gait::dominant(weights), Gait::Lie | Gait::GetUp))
        .collect();
    let mut found = Vec::new();
    for foot in 0..2 {
        let (heel, toe) = (2 * foot, 2 * foot + 1);
        let touching =
            |frame: usize| upright[frame] && (input.contacts[frame][heel] || input.contacts[frame][toe]);
        let mut start = 0;
        while start < input.frames() {
            if !touching(start) {
                start += 1;
                continue;
            }
            let anchor = resting_point(input, start, foot);
            let mut end = start + 1;
            while end < input.frames()
                && touching(end)
                && resting_point(input, end, foot).distance(anchor) < LONGEST_SLIDE_M
            {
                end += 1;
            }
            if (end - start) as f32 / input.frame_rate_hz >= LEAST_CONTACT_S {
                found.push(stance(input, foot, start..end));
            }
            start = end;
        }
    }
    found.sort_by_key(|stance| (stance.frames.start, stance.foot));
    mark_lifted(input, &mut found);
    mark_pierced(input, &mut found);
    found
}

/// Place of the foot in a frame: its toe, which stays while the heel rolls off; the ankle where only that touches.
fn resting_point(input: &FitInput, frame: usize, foot: usize) -> Vec2 {
    let contact = input.contacts[frame];
    let point = if contact[2 * foot + 1] || !contact[2 * foot] { 2 * foot + 1 } else { 2 * foot };
    let p = input.soles[frame][point];
    Vec2::new(p.x, p.z)
}

fn stance(input: &FitInput, foot: usize, frames: Range<usize>) -> Stance {
    let least = (LEAST_CONTACT_S * input.frame_rate_hz).ceil().max(1.0) as usize;
    let over = |point: usize, value: &dyn Fn(glam::Vec3) -> f32, contact_only: bool| -> Option<f32> {
        let values: Vec<f32> = frames
            .clone()
            .filter(|&frame| !contact_only || input.contacts[frame][point])
            .map(|frame| value(input.soles[frame][point]))
            .collect();
        let enough = values.len() >= if contact_only { least } else { 1 };
        median(&values).filter(|_| enough).map(|middle| middle as f32)
    };
    // The place of a point is taken while it touches; where it never does, over the whole stance.
    let place = |point: usize| {
        let one = |value: &dyn Fn(glam::Vec3) -> f32| {
            over(point, value, true).or_else(|| over(point, value, false)).expect("a stance has frames")
        };
        Vec2::new(one(&|p| p.x), one(&|p| p.z))
    };
    let (heel, toe) = (2 * foot, 2 * foot + 1);
    let mut heel_height = over(heel, &|p| p.y, true);
    let toe_height = over(toe, &|p| p.y, true);
    if heel_height.is_none() && toe_height.is_none() {
        // Both points touch, each too shortly on its own: the foot rolls over; the lower one carries.
        heel_height = over(heel, &|p| p.y, false).zip(over(toe, &|p| p.y, false)).map(|(a, b)| a.min(b));
    }
    let places = [place(heel), place(toe)];
    let touching =
        [heel, toe].map(|point| frames.clone().filter(|&frame| input.contacts[frame][point]).count().max(1));
    Stance {
        foot,
        duration_s: frames.len() as f32 / input.frame_rate_hz,
        heel: places[0],
        toe: places[1],
        frames,
        heel_height,
        toe_height,
        touching,
        bearing: true,
        pierced: false,
    }
}

/// Marks stances that carry nothing: the other foot is down all the while and lower.
fn mark_lifted(input: &FitInput, stances: &mut [Stance]) {
    for i in 0..stances.len() {
        let this = &stances[i];
        let other_heel = 2 * (1 - this.foot);
        let alone = this
            .frames
            .clone()
            .filter(|&frame| !(input.contacts[frame][other_heel] || input.contacts[frame][other_heel + 1]))
            .count();
        if alone as f32 / input.frame_rate_hz >= LEAST_CONTACT_S {
            continue;
        }
        let lowest_other = stances
            .iter()
            .filter(|other| {
                other.foot != this.foot
                    && other.frames.start < this.frames.end
                    && this.frames.start < other.frames.end
            })
            .map(Stance::height)
            .fold(f32::INFINITY, f32::min);
        stances[i].bearing = this.height() - lowest_other <= LIFTED_M || !lowest_other.is_finite();
    }
}

/// Marks stances with room below them: at some time a foot in swing passes well below one of their contact points.
/// A height map has no room below its surface, so they rest on an object, not on the ground.
fn mark_pierced(input: &FitInput, stances: &mut [Stance]) {
    for stance in stances.iter_mut().filter(|stance| stance.bearing) {
        let pierced = |frame: usize| {
            super::input::lifted_points(input, frame).any(|point| {
                let p = input.soles[frame][point];
                let place = Vec2::new(p.x, p.z);
                stance.points().any(|(at, height)| {
                    at.distance_squared(place) < PIERCED_RADIUS_M * PIERCED_RADIUS_M
                        && height - p.y > PIERCED_M
                })
            })
        };
        stance.pierced = (0..input.frames()).filter(|&frame| pierced(frame)).count() >= PIERCED_FRAMES;
        stance.bearing = !stance.pierced;
    }
}

/// Value at which the weights below and above balance.
///
/// # Panics
/// When there is no value.
pub(super) fn weighted_median(mut values: Vec<(f32, f32)>) -> f32 {
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = 0.5 * values.iter().map(|v| v.1).sum::<f32>();
    let mut sum = 0.0;
    for &(value, weight) in &values {
        sum += weight;
        if sum >= half {
            return value;
        }
    }
    values[values.len() - 1].0
}

//! Weights over the gaits per frame, from the motion alone.
//!
//! Every frame gets one gait by rules on contacts, pelvis height, trunk and speed; short flickers are removed;
//! the one-hot vectors are then smoothed over time, so that weights sum to 1 and change gently.
//!
//! The rules, the first that holds wins:
//!
//! 1. *get up*: from the end of lying until the pelvis is back at standing height;
//! 2. *jump*: a flight with the trunk upright and the pelvis falling freely that is longer than running allows,
//!    or that both feet begin and end together; with margins for take-off and landing;
//! 3. *lie*: pelvis low, trunk far from upright, and not squatting over the feet;
//! 4. *crouch*: pelvis below `crouch_height` of its standing height;
//! 5. *jog*: around the flights of running, also on the spot, or faster than any walk;
//! 6. *walk*: a foot is being moved, or was or will be in a moment while the root moves;
//! 7. *stand*.
//!
//! [`Gait::Bump`] never comes from a clip: it is a reaction to a push of the simulation.

use crate::contacts::runs;
use crate::retarget::{body_height, sole_heights};
use crate::{Clip, FrameTable, Gait, MotionError, Skeleton, humanoid};
use glam::{Vec2, Vec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Thresholds of [`gait_labels`]. Speeds are for a body of 1.75 m and scale with the root of the body height.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GaitLabelConfig {
    /// Root speed over the ground below which a body stands, m/s; default 0.25.
    pub stand_speed: f32,
    /// Root speed above which a body runs, whatever the contacts say, m/s; default 2.6 (walks reach about 2.2).
    pub jog_speed: f32,
    /// Root speed from which short flights count as running, m/s; default 1.5.
    pub jog_flight_speed: f32,
    /// Flights at that speed that are shorter than this are treated as contact noise, s; default 0.03. At lower
    /// speeds, a flight counts if it lasts at least three times this and the pelvis falls.
    pub min_flight_s: f32,
    /// Flights at least this long are jumps, s; default 0.24 (running flights stay below 0.2).
    pub jump_flight_s: f32,
    /// Flights at least this long are jumps when both feet leave and land together, s; default 0.12.
    pub hop_flight_s: f32,
    /// Least mean downward acceleration of the pelvis in the flight of a jump, m/s²; default 5. It excludes clips
    /// in which the feet leave the known ground without flight, such as ladders.
    pub jump_fall: f32,
    /// Time before and after the flight that belongs to the jump (take-off and landing), s on each side; default
    /// 0.25.
    pub jump_margin_s: f32,
    /// Pelvis height, as a fraction of its standing height, below which the body crouches; default 0.82.
    pub crouch_height: f32,
    /// Pelvis height, as a fraction of its standing height, below which the body may lie; default 0.55.
    pub lie_height: f32,
    /// Upward component of the direction from hips to neck below which the body may lie; default 0.5 (60° from
    /// upright).
    pub lie_trunk_up: f32,
    /// Pelvis height, as a fraction of its standing height, at which getting up ends; default 0.88.
    pub up_height: f32,
    /// Longest duration of getting up, s; default 5. If it takes longer, the body only sits up.
    pub get_up_s: f32,
    /// Gaits shorter than this take on the preceding gait, s; default 0.25. Jumps and getting up are kept.
    pub min_duration_s: f32,
    /// Standard deviation of the smoothing of the weights, s; default 0.1.
    pub smoothing_s: f32,
}

impl Default for GaitLabelConfig {
    fn default() -> Self {
        Self {
            stand_speed: 0.25,
            jog_speed: 2.6,
            jog_flight_speed: 1.5,
            min_flight_s: 0.03,
            jump_flight_s: 0.24,
            hop_flight_s: 0.12,
            jump_fall: 5.0,
            jump_margin_s: 0.25,
            crouch_height: 0.82,
            lie_height: 0.55,
            lie_trunk_up: 0.5,
            up_height: 0.88,
            get_up_s: 5.0,
            min_duration_s: 0.25,
            smoothing_s: 0.1,
        }
    }
}

/// Gait weights of every frame of a clip on the project skeleton, given its [foot contacts](crate::foot_contacts).
///
/// Each row sums to 1.
///
/// # Errors
/// [`MotionError::SizeMismatch`] when there is not one row of contacts per frame.
pub fn gait_labels(
    clip: &Clip,
    contacts: &[[bool; 4]],
    config: &GaitLabelConfig,
) -> Result<Vec<[f32; Gait::COUNT]>, MotionError> {
    let mut positions = FrameTable::with_columns(clip.skeleton.len());
    for pose in clip.global_poses() {
        positions.push(&pose.positions);
    }
    gait_labels_of_positions(&clip.skeleton, &positions, contacts, clip.frame_rate_hz, config)
}

/// [`gait_labels`] of world joint positions `[T, J]`, metres.
///
/// # Errors
/// [`MotionError::SizeMismatch`] when sizes disagree.
pub fn gait_labels_of_positions(
    skeleton: &Skeleton,
    positions: &FrameTable<Vec3>,
    contacts: &[[bool; 4]],
    frame_rate_hz: f32,
    config: &GaitLabelConfig,
) -> Result<Vec<[f32; Gait::COUNT]>, MotionError> {
    for (what, expected, found) in [
        ("columns of joint positions for gait labels", skeleton.len(), positions.columns()),
        ("foot contacts for gait labels", positions.frames(), contacts.len()),
    ] {
        if expected != found {
            return Err(MotionError::SizeMismatch { what: what.to_owned(), expected, found });
        }
    }
    if contacts.is_empty() {
        return Ok(Vec::new());
    }
    let motion = Kinematics::new(skeleton, positions, contacts, frame_rate_hz);
    let mut labels = motion.posture_and_pace(contacts, config);
    motion.mark_jumps(&mut labels, contacts, config);
    motion.mark_get_ups(&mut labels, config);
    drop_flickers(&mut labels, (config.min_duration_s * frame_rate_hz).round() as usize);
    Ok(smoothed(&labels, config.smoothing_s * frame_rate_hz))
}

/// What the rules look at, per frame.
struct Kinematics {
    rate: f32,
    /// √(body height / 1.75 m): how speeds of similar motions scale with size.
    pace: f32,
    /// Speed of the pelvis over the ground, averaged over about a step, m/s.
    speed: Vec<f32>,
    /// Height of the pelvis, m.
    pelvis: Vec<f32>,
    /// Height of the pelvis above what the feet stand on, over its height when standing.
    relative_height: Vec<f32>,
    /// Upward component of the direction from hips to neck.
    trunk_up: Vec<f32>,
    /// Distance on the ground from the pelvis to the middle of the ankles, over the standing pelvis height.
    reach: Vec<f32>,
}

/// Feet this near below the pelvis (over its standing height) carry a squat, not a lying body.
const SQUAT_REACH: f32 = 0.35;
/// Pelvis height over standing height below which even a squat is on the ground.
const SEATED_HEIGHT: f32 = 0.25;
/// Feet that leave or land within this of each other do so together, seconds.
const TOGETHER_S: f32 = 0.08;
/// Lying bodies that rise and sink again within this have been lying all the time, seconds.
const LIE_GAP_S: f32 = 1.0;

impl Kinematics {
    fn new(skeleton: &Skeleton, positions: &FrameTable<Vec3>, contacts: &[[bool; 4]], rate: f32) -> Self {
        let height = body_height(skeleton);
        let rest = skeleton.forward_kinematics(&crate::Pose::rest(skeleton));
        let standing = rest.positions[humanoid::HIPS.0].y - rest.positions[humanoid::LEFT_FOOT.0].y
            + humanoid::ANKLE_HEIGHT * height;
        let at = |frame: usize, joint: crate::JointIndex| positions[frame][joint.0];
        let frames = positions.frames();
        let support = support_heights(skeleton, positions, contacts);
        let half = ((0.2 * rate).round() as usize).max(1);
        let speed = (0..frames)
            .map(|frame| {
                let (before, after) = (frame.saturating_sub(half), (frame + half).min(frames - 1));
                let way = at(after, humanoid::HIPS) - at(before, humanoid::HIPS);
                Vec2::new(way.x, way.z).length() * rate / (after - before).max(1) as f32
            })
            .collect();
        let pelvis: Vec<f32> = (0..frames).map(|frame| at(frame, humanoid::HIPS).y).collect();
        let relative_height =
            pelvis.iter().zip(&support).map(|(p, ground)| (p - ground) / standing).collect();
        let trunk_up = (0..frames)
            .map(|frame| (at(frame, humanoid::NECK) - at(frame, humanoid::HIPS)).normalize_or_zero().y)
            .collect();
        let reach = (0..frames)
            .map(|frame| {
                let feet = (at(frame, humanoid::LEFT_FOOT) + at(frame, humanoid::RIGHT_FOOT)) * 0.5;
                let way = feet - at(frame, humanoid::HIPS);
                Vec2::new(way.x, way.z).length() / standing
            })
            .collect();
        Self { rate, pace: (height / 1.75).sqrt(), speed, pelvis, relative_height, trunk_up, reach }
    }

    fn frames_in(&self, seconds: f32) -> usize {
        (seconds * self.rate).round() as usize
    }

    fn posture_and_pace(&self, contacts: &[[bool; 4]], config: &GaitLabelConfig) -> Vec<Gait> {
        let lying = self.lying(config);
        let near_flight = self.near_running_flight(contacts, config);
        let stepping = self.stepping(contacts);
        let near_step = dilated(&stepping, self.frames_in(0.3));
        (0..contacts.len())
            .map(|frame| {
                let speed = self.speed[frame] / self.pace;
                if lying[frame] {
                    Gait::Lie
                } else if self.relative_height[frame] < config.crouch_height {
                    Gait::Crouch
                } else if speed > config.jog_speed || near_flight[frame] {
                    Gait::Jog
                } else if stepping[frame]
                    || (near_step[frame] && speed > config.stand_speed)
                    || speed > 3.0 * config.stand_speed
                {
                    Gait::Walk
                } else {
                    Gait::Stand
                }
            })
            .collect()
    }

    fn lying(&self, config: &GaitLabelConfig) -> Vec<bool> {
        let height = &self.relative_height;
        let mut lying: Vec<bool> = (0..height.len())
            .map(|frame| {
                let squats = self.reach[frame] < SQUAT_REACH && height[frame] > SEATED_HEIGHT;
                height[frame] < config.lie_height && self.trunk_up[frame] < config.lie_trunk_up && !squats
            })
            .collect();
        for gap in runs(&lying, false) {
            let between = gap.start > 0 && gap.end < lying.len() && gap.len() < self.frames_in(LIE_GAP_S);
            if between && gap.clone().all(|frame| height[frame] < config.up_height) {
                lying[gap].fill(true);
            }
        }
        lying
    }

    /// Frames within half a stride of a flight that is part of running.
    fn near_running_flight(&self, contacts: &[[bool; 4]], config: &GaitLabelConfig) -> Vec<bool> {
        let mut running = vec![false; contacts.len()];
        for flight in flights(contacts) {
            let seconds = flight.len() as f32 / self.rate;
            let fast = self.speed[(flight.start + flight.end) / 2] / self.pace > config.jog_flight_speed;
            let flies = if fast {
                seconds >= config.min_flight_s
            } else {
                // Slow feet that slide lose their contacts as well: only a falling pelvis tells a flight.
                seconds >= 3.0 * config.min_flight_s && self.mean_fall(flight.clone()) > config.jump_fall
            };
            if flies && !self.together(contacts, &flight) {
                running[flight].fill(true);
            }
        }
        dilated(&running, self.frames_in(0.35))
    }

    /// Whether both feet leave the ground together and land together.
    fn together(&self, contacts: &[[bool; 4]], flight: &Range<usize>) -> bool {
        let within = self.frames_in(TOGETHER_S).max(1);
        let both = |frames: Range<usize>| {
            let down = |side: usize| frames.clone().any(|f| contacts[f][side] || contacts[f][side + 1]);
            down(0) && down(2)
        };
        both(flight.start.saturating_sub(within)..flight.start)
            && both(flight.end..(flight.end + within).min(contacts.len()))
    }

    /// Frames in which a foot is on its way from one contact to the next.
    fn stepping(&self, contacts: &[[bool; 4]]) -> Vec<bool> {
        let mut stepping = vec![false; contacts.len()];
        for side in [0, 2] {
            let down: Vec<bool> = contacts.iter().map(|c| c[side] || c[side + 1]).collect();
            for swing in runs(&down, false) {
                if swing.start > 0 && swing.end < down.len() && swing.len() <= self.frames_in(1.0) {
                    stepping[swing].fill(true);
                }
            }
        }
        stepping
    }

    fn mark_jumps(&self, labels: &mut [Gait], contacts: &[[bool; 4]], config: &GaitLabelConfig) {
        let margin = self.frames_in(config.jump_margin_s);
        for flight in flights(contacts) {
            let seconds = flight.len() as f32 / self.rate;
            let long = seconds >= config.jump_flight_s
                || (seconds >= config.hop_flight_s && self.together(contacts, &flight));
            let upright = flight.clone().all(|frame| self.trunk_up[frame] > config.lie_trunk_up);
            if long && upright && flight.len() >= 3 && self.mean_fall(flight.clone()) > config.jump_fall {
                labels[flight.start.saturating_sub(margin)..(flight.end + margin).min(contacts.len())]
                    .fill(Gait::Jump);
            }
        }
    }

    /// Mean downward acceleration of the pelvis, m/s²: −2 × the quadratic coefficient of a least-squares parabola.
    fn mean_fall(&self, range: Range<usize>) -> f32 {
        let count = range.len() as f64;
        let centre = (range.start + range.end - 1) as f64 / 2.0;
        let time = |frame: usize| (frame as f64 - centre) / f64::from(self.rate);
        let mean_square = range.clone().map(|f| time(f).powi(2)).sum::<f64>() / count;
        let (mut numerator, mut denominator) = (0.0, 0.0);
        for frame in range {
            // Orthogonal to constants and, by symmetry, to straight lines.
            let basis = time(frame).powi(2) - mean_square;
            numerator += basis * f64::from(self.pelvis[frame]);
            denominator += basis * basis;
        }
        if denominator > 0.0 { (-2.0 * numerator / denominator) as f32 } else { 0.0 }
    }

    /// From the end of lying to standing height; only if the body gets there in time and does not lie again.
    fn mark_get_ups(&self, labels: &mut [Gait], config: &GaitLabelConfig) {
        let lying: Vec<bool> = labels.iter().map(|&gait| gait == Gait::Lie).collect();
        let limit = self.frames_in(config.get_up_s);
        for lie in runs(&lying, true) {
            let search = lie.end..(lie.end + limit).min(labels.len());
            let up =
                search.clone().find(|&frame| self.relative_height[frame] >= config.up_height || lying[frame]);
            if let Some(up) = up.filter(|&frame| !lying[frame]) {
                labels[lie.end..up].fill(Gait::GetUp);
            }
        }
    }
}

/// True wherever `values` is within `reach` frames of a true.
fn dilated(values: &[bool], reach: usize) -> Vec<bool> {
    let mut wide = vec![false; values.len()];
    for run in runs(values, true) {
        wide[run.start.saturating_sub(reach)..(run.end + reach).min(values.len())].fill(true);
    }
    wide
}

/// Ranges without any contact between two contacts.
fn flights(contacts: &[[bool; 4]]) -> Vec<Range<usize>> {
    let down: Vec<bool> = contacts.iter().map(|c| c.iter().any(|&point| point)).collect();
    runs(&down, false).into_iter().filter(|r| r.start > 0 && r.end < down.len()).collect()
}

/// Height of what the feet stand on: mean of the soles in contact; in between, interpolated; without any
/// contact, the lowest point of the body over the clip.
fn support_heights(skeleton: &Skeleton, positions: &FrameTable<Vec3>, contacts: &[[bool; 4]]) -> Vec<f32> {
    let (ankle, toe) = sole_heights(skeleton);
    let points = [
        (humanoid::LEFT_FOOT, ankle),
        (humanoid::LEFT_TOE, toe),
        (humanoid::RIGHT_FOOT, ankle),
        (humanoid::RIGHT_TOE, toe),
    ];
    let known: Vec<(usize, f32)> = contacts
        .iter()
        .enumerate()
        .filter_map(|(frame, row)| {
            let soles: Vec<f32> = points
                .iter()
                .zip(row)
                .filter(|(_, down)| **down)
                .map(|((joint, height), _)| positions[frame][joint.0].y - height)
                .collect();
            (!soles.is_empty()).then(|| (frame, soles.iter().sum::<f32>() / soles.len() as f32))
        })
        .collect();
    if known.is_empty() {
        let lowest = positions.values().iter().map(|p| p.y).fold(f32::INFINITY, f32::min);
        return vec![lowest; contacts.len()];
    }
    (0..contacts.len())
        .map(|frame| {
            let after = known.partition_point(|(at, _)| *at < frame);
            match (after.checked_sub(1).map(|i| known[i]), known.get(after)) {
                (Some((from, a)), Some(&(to, b))) => a + (b - a) * (frame - from) as f32 / (to - from) as f32,
                (Some((_, a)), None) => a,
                (None, Some(&(_, b))) => b,
                (None, None) => 0.0,
            }
        })
        .collect()
}

/// Runs shorter than `shorter_than` take the label before them (the first run the one after it).
fn drop_flickers(labels: &mut [Gait], shorter_than: usize) {
    let mut start = 0;
    while start < labels.len() {
        let gait = labels[start];
        let end = (start..labels.len()).find(|&i| labels[i] != gait).unwrap_or(labels.len());
        let keep = matches!(gait, Gait::Jump | Gait::GetUp | Gait::Lie);
        if end - start < shorter_than && !keep {
            let neighbour = start.checked_sub(1).or((end < labels.len()).then_some(end));
            if let Some(neighbour) = neighbour {
                let gait = labels[neighbour];
                labels[start..end].fill(gait);
            }
        }
        start = end;
    }
}

/// One-hot vectors convolved with a normalised Gaussian of `sigma` frames.
fn smoothed(labels: &[Gait], sigma: f32) -> Vec<[f32; Gait::COUNT]> {
    let reach = (3.0 * sigma).ceil() as usize;
    let kernel: Vec<f32> = (0..=reach).map(|i| (-0.5 * (i as f32 / sigma.max(1e-3)).powi(2)).exp()).collect();
    (0..labels.len())
        .map(|frame| {
            let mut weights = [0.0; Gait::COUNT];
            let mut total = 0.0;
            for other in frame.saturating_sub(reach)..=(frame + reach).min(labels.len() - 1) {
                let weight = kernel[frame.abs_diff(other)];
                weights[labels[other].index()] += weight;
                total += weight;
            }
            weights.map(|w| w / total)
        })
        .collect()
}

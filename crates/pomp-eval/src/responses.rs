//! How long a character takes to answer changes of its command.

use crate::Metrics;
use crate::command::heading;
use crate::track::{Motion, horizontal_distance};
use pomp_motion::statistics::mean;
use pomp_motion::{Recording, humanoid};
use std::ops::Range;

/// Least time for which a command is constant before and after a change, seconds.
const CONSTANT_S: f64 = 0.5;
/// How far the speed, m/s, and the heading, radians, of a constant command may differ: the rounding of a long path and no more.
const SAME_MPS: f64 = 0.02;
const SAME_RAD: f64 = 0.3 * std::f64::consts::PI / 180.0;
/// A command that is slower than this stands, m/s.
const STANDS_BELOW_MPS: f64 = 0.1;
/// A command that is as fast as this moves, m/s.
const MOVES_FROM_MPS: f64 = 0.5;
/// Least change of the heading of a turn, radians.
const TURN_RAD: f64 = 30.0 * std::f64::consts::PI / 180.0;
/// Share of a change that answers it.
const ANSWERED: f64 = 0.9;
/// Time over which speed and heading of the character are averaged, about a step, seconds.
const STEP_S: f64 = 0.5;

/// Frames in which the command is constant.
struct Constant {
    frames: Range<usize>,
    speed_mps: f64,
    heading_rad: f64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Start,
    Stop,
    Turn,
}

impl Kind {
    fn of(from: &Constant, to: &Constant) -> Option<Self> {
        let stands = |constant: &Constant| constant.speed_mps < STANDS_BELOW_MPS;
        let moves = |constant: &Constant| constant.speed_mps >= MOVES_FROM_MPS;
        let turns = (to.heading_rad - from.heading_rad).abs() >= TURN_RAD;
        match (moves(from), moves(to)) {
            (false, true) if stands(from) => Some(Self::Start),
            (true, false) if stands(to) => Some(Self::Stop),
            (true, true) if turns => Some(Self::Turn),
            _ => None,
        }
    }
}

/// Measures the answers to all changes. The command of the recording is finite: [`crate::command::measure`] has seen to it.
pub(crate) fn measure(motion: &Motion, recording: &Recording, metrics: &mut Metrics) {
    let Some(generation) = &recording.generation else { return };
    let half = ((0.5 * STEP_S * motion.rate_hz).round() as usize).max(1);
    let headings = unwrapped((0..motion.frames()).map(|frame| f64::from(heading(motion, frame))));
    let constants = constants(&generation.control, ((CONSTANT_S * motion.rate_hz).round() as usize).max(1));
    let mut answers: Vec<(Kind, Option<f64>)> = Vec::new();
    for (from, to) in constants.iter().zip(constants.iter().skip(1)) {
        let Some(kind) = Kind::of(from, to) else { continue };
        let begin = from.frames.end;
        // The character and the command may have turned around a different number of times.
        let offset = wrapped(headings[begin] - from.heading_rad) - headings[begin];
        let share = |frame: usize| {
            let around = frame - half..=frame + half;
            if kind == Kind::Turn {
                let averaged = headings[around].iter().sum::<f64>() / (2 * half + 1) as f64;
                return (averaged + offset) / (to.heading_rad - from.heading_rad);
            }
            let hips = humanoid::HIPS.0;
            let [before, after] = [*around.start(), *around.end()].map(|at| motion.positions[at][hips]);
            let speed_mps = horizontal_distance(before, after) * motion.rate_hz / (2 * half) as f64;
            (speed_mps - from.speed_mps) / (to.speed_mps - from.speed_mps)
        };
        let last = to.frames.end.min(motion.frames().saturating_sub(half));
        if begin < half || begin >= last {
            continue;
        }
        // A character that is there before it is asked has not answered: one that stood stops at once.
        let answers_at = (begin..last).find(|&frame| share(frame) >= ANSWERED).filter(|&frame| frame > begin);
        answers.push((kind, answers_at.map(|frame| (frame - begin) as f64 / motion.rate_hz)));
    }
    let of = |wanted| {
        let times = answers.iter().filter(|(kind, _)| *kind == wanted).filter_map(|(_, time)| *time);
        mean(&times.collect::<Vec<f64>>())
    };
    metrics.response_start_s = of(Kind::Start);
    metrics.response_stop_s = of(Kind::Stop);
    metrics.response_turn_s = of(Kind::Turn);
    let answered: Vec<f64> =
        answers.iter().map(|(_, time)| if time.is_some() { 100.0 } else { 0.0 }).collect();
    metrics.responses_reached_percent = mean(&answered);
}

/// Where the command is constant for `least` frames or more, in order.
fn constants(control: &[[f32; 4]], least: usize) -> Vec<Constant> {
    let headings = unwrapped(control.iter().map(|c| f64::from(c[2])));
    let speeds: Vec<f64> = control.iter().map(|c| f64::from(c[3])).collect();
    let mut found = Vec::new();
    let mut begin = 0;
    while begin < control.len() {
        let (mut speed, mut heading) = ([speeds[begin]; 2], [headings[begin]; 2]);
        let mut end = begin;
        while end < control.len() {
            speed = widened(speed, speeds[end]);
            heading = widened(heading, headings[end]);
            if speed[1] - speed[0] > SAME_MPS || heading[1] - heading[0] > SAME_RAD {
                break;
            }
            end += 1;
        }
        if end - begin < least {
            begin += 1;
            continue;
        }
        let middle = (begin + end) / 2;
        found.push(Constant { frames: begin..end, speed_mps: speeds[middle], heading_rad: headings[middle] });
        begin = end;
    }
    found
}

fn widened([low, high]: [f64; 2], value: f64) -> [f64; 2] {
    [low.min(value), high.max(value)]
}

/// Angles without jumps of whole turns.
fn unwrapped(angles: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut last = None;
    angles
        .map(|angle| {
            let next = last.map_or(angle, |last| last + wrapped(angle - last));
            last = Some(next);
            next
        })
        .collect()
}

/// The angle from −π to π.
fn wrapped(angle: f64) -> f64 {
    angle - std::f64::consts::TAU * (angle / std::f64::consts::TAU).round()
}

//! Phases of clips that come from foot contacts: one of the gait cycle (PFNN), one of each foot (local phases).

use pomp_motion::{FRAME_RATE_HZ, FrameTable};
use std::f32::consts::TAU;
use std::ops::RangeInclusive;

const FRAME_S: f32 = 1.0 / FRAME_RATE_HZ;

/// Phases of every frame of a clip: what a periodic autoencoder gives, from elsewhere.
#[derive(Clone, Debug)]
pub struct PhaseTable {
    /// a cos 2πs and a sin 2πs of each channel `[T, 2C]`.
    pub codes: FrameTable<f32>,
    /// Frequency (Hz), amplitude and offset of each channel `[T, 3C]`.
    pub parameters: FrameTable<f32>,
}

impl PhaseTable {
    /// Of angles (radians), frequencies (Hz) and amplitudes `[C][T]`.
    fn of(angles: &[Vec<f32>], frequencies_hz: &[Vec<f32>], amplitudes: &[Vec<f32>]) -> Self {
        let channels = angles.len();
        let mut table = Self {
            codes: FrameTable::with_columns(2 * channels),
            parameters: FrameTable::with_columns(3 * channels),
        };
        for frame in 0..angles[0].len() {
            let code = angles.iter().zip(amplitudes).flat_map(|(angle, amplitude)| {
                let (sin, cos) = angle[frame].sin_cos();
                [amplitude[frame] * cos, amplitude[frame] * sin]
            });
            table.codes.push(&code.collect::<Vec<f32>>());
            let of = |values: &[Vec<f32>]| values.iter().map(|v| v[frame]).collect::<Vec<f32>>();
            let mut parameters = of(frequencies_hz);
            parameters.extend(of(amplitudes));
            parameters.resize(3 * channels, 0.0);
            table.parameters.push(&parameters);
        }
        table
    }
}

/// Longest time before a step in which the phase runs to it, and after one in which it leaves it, seconds: who stands for
/// longer waits halfway.
const STEP_S: f32 = 0.45;
/// Frames on either side over which the phase of the cycle is averaged.
const SMOOTHED_FRAMES: usize = 4;

/// The phase of the gait cycle: 0 where the right foot touches the ground, half a turn where the left one does, linear between
/// (PFNN §5). `contacts`: left heel, left toe, right heel, right toe.
pub fn cycle_phase(contacts: &[[bool; 4]]) -> PhaseTable {
    let turns = smoothed(&cycle_turns(contacts), SMOOTHED_FRAMES);
    let frequency: Vec<f32> = (0..turns.len())
        .map(|frame| {
            let next = (frame + 1).min(turns.len() - 1);
            let before = next.saturating_sub(1);
            (turns[next] - turns[before]) * FRAME_RATE_HZ
        })
        .collect();
    let angles = turns.iter().map(|turns| TAU * (turns - turns.floor())).collect();
    let ones = vec![1.0; contacts.len()];
    PhaseTable::of(&[angles], &[frequency], &[ones])
}

/// The phase of the cycle in turns, never falling.
fn cycle_turns(contacts: &[[bool; 4]]) -> Vec<f32> {
    let on = |frame: usize, foot: usize| contacts[frame][2 * foot] || contacts[frame][2 * foot + 1];
    // Frame and foot of every touch-down.
    let mut strikes: Vec<(usize, usize)> = Vec::new();
    for frame in 1..contacts.len() {
        for foot in [0, 1] {
            if on(frame, foot) && !on(frame - 1, foot) {
                strikes.push((frame, foot));
            }
        }
    }
    let value = |foot: usize| if foot == 0 { 0.5f32 } else { 0.0 };
    let Some(&(_, foot)) = strikes.first() else { return vec![0.25; contacts.len()] };
    // What comes before the first step runs to it as from one of the other foot long ago.
    let (mut turns, mut last) = (vec![0.0f32; contacts.len()], (0usize, value(foot) + 0.5));
    let mut begun = false;
    let ends = strikes.iter().copied().chain([(contacts.len() - 1, usize::MAX)]);
    for (frame, foot) in ends {
        let (from, at) = last;
        let to = match foot {
            // The clip ends on the way to the next step.
            usize::MAX => at + 0.5,
            _ => {
                let whole = (at - value(foot)).floor() + value(foot);
                if whole > at + 1e-3 { whole } else { whole + 1.0 }
            }
        };
        let waits = ((frame - from) as f32 * FRAME_S - 2.0 * STEP_S).max(0.0);
        let moves = ((frame - from) as f32 * FRAME_S - waits).max(FRAME_S);
        for (index, turns) in turns[from..=frame].iter_mut().enumerate() {
            let time = index as f32 * FRAME_S;
            let leaves = if begun { moves / 2.0 } else { 0.0 };
            let moved = if waits == 0.0 {
                time
            } else {
                time.min(leaves) + (time - leaves - waits).max(0.0) + moves / 2.0 - leaves
            };
            // A clip that ends in standing never arrives.
            let share =
                if foot == usize::MAX && waits > 0.0 { (moved / moves).min(0.5) } else { moved / moves };
            *turns = at + (to - at) * share.min(1.0);
        }
        begun = true;
        last = (frame, to);
    }
    turns
}

/// Means over so many frames on either side; fewer at the ends.
fn smoothed(values: &[f32], frames: usize) -> Vec<f32> {
    (0..values.len())
        .map(|frame| {
            let reach = frames.min(frame).min(values.len() - 1 - frame);
            let around = &values[frame - reach..=frame + reach];
            around.iter().sum::<f32>() / around.len() as f32
        })
        .collect()
}

/// Half of the second in which contacts are standardised, frames.
const STANDARDISED_FRAMES: usize = 30;
/// Frequencies that are tried, Hz: 0.25 to 4 by sixths of an octave.
const FREQUENCIES: usize = 25;
/// Shortest and longest half of the window that a wave is fitted in, frames.
const WINDOW_FRAMES: RangeInclusive<usize> = 15..=60;
/// Cost of a change of frequency between two frames, per squared octave, beside the squared residual per sample.
const CHANGE_COST: f32 = 20.0;

/// A phase of each foot: in every frame the wave A cos(2πFt + θ) that fits the contacts of the foot around it best, with F
/// continuous from frame to frame (local phases §4, with least squares and dynamic programming over F for its evolutionary
/// search). The phase is 0 in the middle of a contact. The amplitude is that of the wave times the largest speed of the foot, m/s,
/// within the window: 0 for a foot that never leaves the ground or never touches it.
///
/// `contacts`: left heel, left toe, right heel, right toe; `speeds_mps`: of the left and the right foot.
pub fn limb_phases(contacts: &[[bool; 4]], speeds_mps: &[[f32; 2]]) -> PhaseTable {
    let (mut angles, mut frequencies, mut amplitudes) = (Vec::new(), Vec::new(), Vec::new());
    for foot in [0, 1] {
        let on: Vec<f32> =
            contacts.iter().map(|c| if c[2 * foot] || c[2 * foot + 1] { 1.0 } else { 0.0 }).collect();
        let speed: Vec<f32> = speeds_mps.iter().map(|speeds| speeds[foot]).collect();
        let waves = waves(&on);
        let amplitude: Vec<f32> = waves
            .iter()
            .enumerate()
            .map(|(frame, wave)| {
                let around = frame.saturating_sub(wave.half)..(frame + wave.half + 1).min(speed.len());
                wave.amplitude * speed[around].iter().copied().fold(0.0, f32::max)
            })
            .collect();
        angles.push(waves.iter().map(|wave| wave.angle).collect());
        frequencies.push(waves.iter().map(|wave| wave.frequency_hz).collect());
        amplitudes.push(smoothed(&amplitude, STANDARDISED_FRAMES / 2));
    }
    PhaseTable::of(&angles, &frequencies, &amplitudes)
}

/// The wave that fits contacts around a frame.
#[derive(Clone, Copy, Debug)]
struct Wave {
    frequency_hz: f32,
    amplitude: f32,
    angle: f32,
    /// Half of the window, frames.
    half: usize,
    /// Squared residual per sample.
    cost: f32,
}

fn waves(contacts: &[f32]) -> Vec<Wave> {
    let signal = standardised(contacts);
    let halves = window_halves(contacts);
    let frequency = |index: usize| 0.25 * (index as f32 / 6.0).exp2();
    let fitted: Vec<Vec<Wave>> = (0..signal.len())
        .map(|frame| {
            (0..FREQUENCIES).map(|index| fit(&signal, frame, halves[frame], frequency(index))).collect()
        })
        .collect();
    // The cheapest sequence of frequencies.
    let mut cost: Vec<f32> = fitted[0].iter().map(|wave| wave.cost).collect();
    let mut from: Vec<Vec<usize>> = vec![(0..FREQUENCIES).collect()];
    for waves in &fitted[1..] {
        let (mut next, mut chosen) = (Vec::with_capacity(FREQUENCIES), Vec::with_capacity(FREQUENCIES));
        for (index, wave) in waves.iter().enumerate() {
            let change = |other: usize| {
                let octaves = (index as f32 - other as f32) / 6.0;
                cost[other] + CHANGE_COST * octaves * octaves
            };
            let best = (0..FREQUENCIES)
                .min_by(|a, b| change(*a).total_cmp(&change(*b)))
                .expect("there are frequencies");
            next.push(change(best) + wave.cost);
            chosen.push(best);
        }
        cost = next;
        from.push(chosen);
    }
    let mut index = (0..FREQUENCIES).min_by(|a, b| cost[*a].total_cmp(&cost[*b])).expect("there are some");
    let mut chosen = Vec::with_capacity(signal.len());
    for frame in (0..signal.len()).rev() {
        chosen.push(fitted[frame][index]);
        index = from[frame][index];
    }
    chosen.reverse();
    chosen
}

/// Less the mean, over the deviation, each within a second around the frame; 0 where nothing changes in it.
fn standardised(values: &[f32]) -> Vec<f32> {
    (0..values.len())
        .map(|frame| {
            let around = frame.saturating_sub(STANDARDISED_FRAMES)
                ..(frame + STANDARDISED_FRAMES + 1).min(values.len());
            let around = &values[around];
            let mean = around.iter().sum::<f32>() / around.len() as f32;
            let variance = around.iter().map(|v| (v - mean) * (v - mean)).sum::<f32>() / around.len() as f32;
            if variance < 1e-4 { 0.0 } else { (values[frame] - mean) / variance.sqrt() }
        })
        .collect()
}

/// Half the length of the contact, or gap, that a frame is in and of those beside it.
fn window_halves(contacts: &[f32]) -> Vec<usize> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for (frame, value) in contacts.iter().enumerate() {
        match runs.last_mut() {
            Some((start, end)) if contacts[*start] == *value => *end = frame + 1,
            _ => runs.push((frame, frame + 1)),
        }
    }
    let mut halves = Vec::with_capacity(contacts.len());
    for (index, &(start, end)) in runs.iter().enumerate() {
        let length = |at: usize| runs.get(at).map_or(0, |(start, end)| end - start);
        let beside = length(index.wrapping_sub(1)).max(length(index + 1));
        let half = (end - start + beside).clamp(*WINDOW_FRAMES.start(), *WINDOW_FRAMES.end());
        halves.extend(std::iter::repeat_n(half, end - start));
    }
    halves
}

/// The least squares of a cos + b sin + c around a frame.
fn fit(signal: &[f32], frame: usize, half: usize, frequency_hz: f32) -> Wave {
    let around = frame.saturating_sub(half)..(frame + half + 1).min(signal.len());
    let count = around.len() as f32;
    // Normal equations of the columns cos, sin, 1.
    let (mut m, mut r, mut square) = ([[0.0f32; 3]; 3], [0.0f32; 3], 0.0f32);
    for at in around {
        let time = (at as f32 - frame as f32) * FRAME_S;
        let (sin, cos) = (TAU * frequency_hz * time).sin_cos();
        let (columns, value) = ([cos, sin, 1.0], signal[at]);
        for (row, a) in columns.iter().enumerate() {
            for (column, b) in columns.iter().enumerate() {
                m[row][column] += a * b;
            }
            r[row] += a * value;
        }
        square += value * value;
    }
    // A slow wave in a short window is hardly told from a line: kept small.
    for (row, line) in m.iter_mut().enumerate() {
        line[row] += 0.02 * count;
    }
    let matrix = glam::Mat3::from_cols_array_2d(&m);
    let solved = matrix.inverse() * glam::Vec3::from(r);
    let explained = solved.dot(glam::Vec3::from(r));
    Wave {
        frequency_hz,
        amplitude: solved.x.hypot(solved.y),
        angle: (-solved.y).atan2(solved.x),
        half,
        cost: ((square - explained) / count).max(0.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Contacts of a walk with so many frames a step, standing for a while before and after.
    fn walk(step: usize, steps: usize, standing: usize) -> Vec<[bool; 4]> {
        let stands = |count: usize| vec![[true; 4]; count];
        let mut contacts = stands(standing);
        for number in 0..steps {
            let left = number % 2 == 0;
            for frame in 0..step {
                // Both feet for a fifth of the step.
                let swings = frame < step * 4 / 5;
                contacts.push([!(swings && left), !(swings && left), !swings || left, !swings || left]);
            }
        }
        contacts.extend(stands(standing));
        contacts
    }

    fn angle(table: &PhaseTable, frame: usize, channel: usize) -> f32 {
        let code = &table.codes[frame];
        code[2 * channel + 1].atan2(code[2 * channel])
    }

    /// Turns from one frame to another, frame by frame.
    fn turned(table: &PhaseTable, channel: usize, frames: std::ops::Range<usize>) -> f32 {
        frames
            .map(|frame| {
                let step = angle(table, frame + 1, channel) - angle(table, frame, channel);
                (step + 1.5 * TAU).rem_euclid(TAU) - TAU / 2.0
            })
            .sum::<f32>()
            / TAU
    }

    #[test]
    fn the_phase_of_the_cycle_is_0_at_right_steps_a_half_at_left_ones_and_never_falls() {
        let contacts = walk(30, 10, 100);
        let turns = cycle_turns(&contacts);
        assert!(turns.windows(2).all(|pair| pair[1] >= pair[0]));
        // The left foot lands first, 24 frames into its step.
        for step in 0..10 {
            let strike = 100 + 30 * step + 24;
            let expected = if step % 2 == 0 { 0.5 } else { 0.0 };
            let found = turns[strike] - turns[strike].floor();
            assert!((found - expected).abs() < 1e-3, "{step}: {found}");
        }
        // It waits in standing.
        assert!(turns[5] == turns[40] && turns[440] == turns[470]);
        let table = cycle_phase(&contacts);
        assert!((turned(&table, 0, 160..340) - 3.0).abs() < 0.05);
        assert!((table.parameters[250][0] - 1.0).abs() < 0.02);
    }

    #[test]
    fn a_foots_phase_turns_once_per_contact_cycle() {
        for step in [24, 30, 40] {
            let contacts = walk(step, 14, 0);
            let speeds = vec![[2.0, 2.0]; contacts.len()];
            let table = limb_phases(&contacts, &speeds);
            let cycle = 2 * step;
            for foot in [0, 1] {
                let turns = turned(&table, foot, 2 * cycle..5 * cycle);
                assert!((turns - 3.0).abs() < 0.05, "{step} {foot}: {turns}");
                let frequency = table.parameters[3 * cycle][foot];
                assert!((frequency / (60.0 / cycle as f32) - 1.0).abs() < 0.13, "{step}: {frequency}");
                assert!(table.parameters[3 * cycle][2 + foot] > 1.0);
            }
            // The feet take turns.
            let between = angle(&table, 3 * cycle, 0) - angle(&table, 3 * cycle, 1);
            assert!((between.abs() - TAU / 2.0).abs() < 0.3, "{between}");
        }
    }

    #[test]
    fn a_foot_that_stays_on_the_ground_has_no_phase() {
        let table = limb_phases(&[[true; 4]; 120], &[[0.0; 2]; 120]);
        assert!(table.codes.rows().flatten().all(|value| *value == 0.0));
        assert!(cycle_phase(&[[true; 4]; 120]).parameters.rows().all(|row| row[0] == 0.0));
    }
}

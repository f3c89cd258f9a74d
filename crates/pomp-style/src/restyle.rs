//! The style of a model's cycles on a clip: its own strides, path and details, walked in another style.

use crate::blend::{Scope, blend};
use crate::cycle::{Cut, cut};
use crate::model::StyleModel;
use crate::motion::{AlignedMotion, between};
use crate::walk::{Stride, close, jump, lay_out, recording};
use crate::warp::{log_steps, time_at, warp_of};
use crate::{StyleError, WalkCycle};
use pomp_motion::Recording;
use pomp_motion::rotation::wrap_angle;

/// A clip in another style.
#[derive(Clone, Debug)]
pub struct Restyled {
    /// The clip, with the contacts of its source at the times where they are now.
    pub recording: Recording,
    /// Its strides.
    pub strides: usize,
}

/// Walks the longest run of cycles of `recording` in a mix of styles: what the styles change in the code of each cycle, within `scope`, is added to its
/// postures and to its timing, and the rest of it stays. With no weight on any style it is the source.
///
/// # Errors
/// [`StyleError::Clip`] where fewer than `least_strides` cycles follow each other, and as [`blend`].
pub fn restyle(
    model: &StyleModel,
    source: &Recording,
    styles: &[(f64, crate::Code)],
    scope: Scope,
    least_strides: usize,
) -> Result<Restyled, StyleError> {
    let refused = |reason: String| StyleError::Clip { clip: source.name.clone(), reason };
    let Cut { cycles, .. } =
        cut(source, "", &model.config.cycles).map_err(|error| refused(error.to_string()))?;
    let mut runs: Vec<Vec<(&WalkCycle, AlignedMotion)>> = vec![Vec::new()];
    let (mut expected, mut misfit) = (None, String::new());
    for cycle in &cycles {
        let motion = model.align(cycle).map_err(|error| misfit = format!(" ({error})")).ok();
        if motion.is_none() || expected != Some(cycle.first_frame) {
            runs.push(Vec::new());
        }
        if let Some(motion) = motion {
            runs.last_mut().expect("there is a run").push((cycle, motion));
            expected = Some(cycle.first_frame + cycle.frames() - 1);
        }
    }
    // The first of the longest.
    let run = runs.into_iter().rev().max_by_key(Vec::len).unwrap_or_default();
    if run.len() < least_strides {
        return Err(refused(format!(
            "it has {} strides in a row that fit the styles, less than {least_strides}{misfit}",
            run.len()
        )));
    }
    let start = run[0].0.frame;
    let (mut strides, mut deltas, mut contacts) = (Vec::new(), Vec::new(), Vec::new());
    let mut heading = start.yaw;
    for (cycle, motion) in &run {
        let code = model.code(motion);
        let (from, to) = (model.motion(&code), model.motion(&blend(model, &code, styles, scope)?));
        let delta = difference(&from, &to);
        let motion = changed(cycle, motion, &delta, model).map_err(&refused)?;
        strides.push(Stride { motion, turn: wrap_angle(cycle.frame.yaw - heading) });
        heading = cycle.frame.yaw;
        contacts.push(cycle.contact.clone());
        deltas.push(delta.postures);
    }
    // The source is continuous: what jumps between its strides is what was added.
    let nothing = vec![0.0; model.space.size()];
    let mut jumps = vec![nothing.clone()];
    jumps.extend(deltas.windows(2).map(|pair| jump(&pair[0], &pair[1])));
    jumps.push(nothing);
    close(&mut strides, &jumps);
    let laid = lay_out(&model.space, &strides, &contacts, start);
    let name = &source.name;
    let made = recording(model, laid, true, name).map_err(|error| refused(error.to_string()))?;
    Ok(Restyled { recording: made, strides: run.len() })
}

/// What leads from one motion to another, at the frames of the reference.
struct Delta {
    postures: Vec<Vec<f64>>,
    /// Of the logarithms of the warp's steps.
    log_steps: Vec<f64>,
}

fn difference(from: &AlignedMotion, to: &AlignedMotion) -> Delta {
    let less = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a - b).collect();
    Delta {
        postures: to.postures.iter().zip(&from.postures).map(|(a, b)| less(a, b)).collect(),
        log_steps: less(&log_steps(&to.warp), &log_steps(&from.warp)),
    }
}

/// A cycle with `delta` added, at its own frames: nothing of it is lost to the time axis of the reference.
fn changed(
    cycle: &WalkCycle,
    motion: &AlignedMotion,
    delta: &Delta,
    model: &StyleModel,
) -> Result<AlignedMotion, String> {
    let steps: Vec<f64> = log_steps(&motion.warp).iter().zip(&delta.log_steps).map(|(a, b)| a + b).collect();
    let whole = warp_of(&steps);
    let (mut postures, mut warp) = (Vec::new(), Vec::new());
    for (frame, pose) in cycle.poses.iter().enumerate() {
        let t = time_at(&motion.warp, frame as f64);
        let own = model.space.encode(pose)?;
        postures.push(own.iter().zip(between(&delta.postures, t)).map(|(a, b)| a + b).collect());
        warp.push(number_between(&whole, t));
    }
    Ok(AlignedMotion { postures, warp })
}

fn number_between(numbers: &[f64], at: f64) -> f64 {
    let before = (at.floor() as usize).min(numbers.len() - 2);
    numbers[before] + (numbers[before + 1] - numbers[before]) * (at - before as f64)
}

//! Gradients through time: a network goes on by itself for some frames of a clip, and every frame that it comes to counts.
//!
//! A network that is only asked for the next frame of where its own errors have led it learns the mean of moments that look alike,
//! and glides. Here a frame is given what the frame before gave, and the gradient of a late error reaches the weights through all
//! frames before it. Pose, root motion and the codes of a controller's own phases are handed on; path, gait, ground and the phases
//! of the past are those of the clip.

use crate::controller_view::View;
use crate::differentiable_body::{DifferentiableBody, columns};
use crate::example::{OwnState, StateSource};
use crate::own_window::ClipCommand;
use crate::rollout_pool::{Rollout, RolloutKind};
use crate::rollout_starts::{RolloutStarts, advance_rollouts};
use crate::rows::{Batch, Rows, matrix};
use crate::{TrainError, Unrolling};
use burn::tensor::{Device, Tensor};
use glam::Vec3;
use pomp_controllers::gated::turned_codes;
use pomp_motion::FRAME_RATE_HZ;
use pomp_motion::features::{BlockName, FUTURE_KEYS, FeatureLayout, KEYS, Normaliser, PAST_KEYS, WindowKey};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use std::ops::Range;

/// Frames of a window at the beginning of a training; they grow to what is set over its first half.
const FIRST_FRAMES: usize = 2;
/// Weight of the error of a change, in its deviations, beside that of what it leads to, in those of x.
const CHANGE: f32 = 0.2;
/// Speed of an ankle or a toe of a clip from which on it does not count as standing, m/s; below, it counts the more the slower it is.
const STANDING_M_S: f32 = 0.4;
/// Keeps the direction of a silent phase finite.
const SILENT: f32 = 1e-3;

/// A network that leads characters, and what it sees of rows of x and y. Its first outputs are the change of the state in x, in the
/// order of y.
pub(crate) trait Leader {
    /// Its outputs for rows of normalised x, of which `batch` has what no gradient passes through.
    fn outputs(&self, x: &Tensor<2>, batch: &Batch, rng: &mut ChaCha8Rng) -> Tensor<2>;
    /// What its outputs are to be.
    fn wanted(&self, batch: &Batch) -> Tensor<2>;
    /// Normalised y of rows of its outputs.
    fn y(&self, outputs: Vec<f32>, batch: &Batch) -> Vec<f32>;
}

/// How the phases of a character go on.
pub(crate) enum LedPhases {
    /// As the rollout has them: read off its motion, or predicted.
    OfRollout,
    /// The phase of the gait cycle turns by what is predicted.
    Turned,
    /// Every key moves by the phase update.
    Updated(Box<OwnPhases>),
}

/// Windows of a training, and what their loss needs besides the network.
pub(crate) struct Unroll<'a> {
    settings: Unrolling,
    steps: usize,
    rows: &'a Rows<'a>,
    starts: &'a RolloutStarts<'a>,
    device: Device,
    /// The state of y: x + output · scale + shift.
    predicted: Change,
    /// Mean and deviation of the state in x.
    state: [Tensor<2>; 2],
    body: DifferentiableBody,
    phases: LedPhases,
    /// Weights of the outputs in the loss.
    weights: Tensor<2>,
    /// What the clips' paths would be as commands.
    commands: &'a [ClipCommand],
    /// What a character that goes on from its own prediction feels of the ground: nothing.
    no_contact: Vec<Vec3>,
}

/// Columns of x that outputs change: x + output · scale + shift.
struct Change {
    x: Range<usize>,
    output: Range<usize>,
    scale: Tensor<2>,
    shift: Tensor<2>,
}

/// Codes of the present and the future, which move on by DeepPhase's equation 9.
pub(crate) struct OwnPhases {
    channels: usize,
    codes: Change,
    /// Their mean and deviation in x.
    all: [Vec<f32>; 2],
    code: [Tensor<2>; 2],
    /// Frequencies, amplitudes and offsets of every key in the outputs, their mean and deviation.
    parameters: Range<usize>,
    parameter: [Tensor<2>; 2],
}

/// Rows of values as a tensor of one row.
fn row(values: &[f32], device: &Device) -> Tensor<2> {
    matrix(values.to_vec(), values.len(), device)
}

impl Change {
    fn new(
        x: Range<usize>,
        y: Range<usize>,
        output: Range<usize>,
        of: [&Normaliser; 2],
        device: &Device,
    ) -> Self {
        let over_x = |values: &[f32]| -> Vec<f32> {
            let deviation = &of[0].deviation()[x.clone()];
            values[y.clone()].iter().zip(deviation).map(|(value, deviation)| value / deviation).collect()
        };
        let (scale, shift) = (over_x(of[1].deviation()), over_x(of[1].mean()));
        Self { x, output, scale: row(&scale, device), shift: row(&shift, device) }
    }

    /// The columns of a frame after `x`, by what the network gave, or was to give.
    fn next(&self, x: &Tensor<2>, output: &Tensor<2>) -> Tensor<2> {
        columns(x, &self.x) + columns(output, &self.output) * self.scale.clone() + self.shift.clone()
    }
}

impl OwnPhases {
    /// Those of a controller whose outputs `view` gives.
    pub fn new(view: &View, rows: &Rows<'_>, device: &Device) -> Self {
        let (layout, of) = (rows.layout, [&rows.description.x, &rows.description.y]);
        let width = 2 * layout.channels();
        let x = layout.x_range(BlockName::PhaseCodes);
        let (x, y) = (x.start + PAST_KEYS * width..x.end, layout.y_range(BlockName::PhaseCodes));
        let at = |column| {
            view.columns.outputs.iter().position(|&output| output == column).expect("phases are outputs")
        };
        let parameters = layout.y_range(BlockName::PhaseParameters);
        let first = at(parameters.start);
        let output = at(y.start)..at(y.start) + y.len();
        Self {
            channels: layout.channels(),
            all: [of[0].mean(), of[0].deviation()].map(|v| v[x.clone()].to_vec()),
            code: [of[0].mean(), of[0].deviation()].map(|v| row(&v[x.clone()], device)),
            codes: Change::new(x, y, output, of, device),
            parameters: first..first + parameters.len(),
            parameter: [of[1].mean(), of[1].deviation()].map(|v| row(&v[parameters.clone()], device)),
        }
    }

    /// Codes of the present and the future, normalised, after those of `x`.
    fn next(&self, x: &Tensor<2>, output: &Tensor<2>) -> Tensor<2> {
        let [mean, deviation] = &self.code;
        let predicted = self.codes.next(x, output);
        let own_units = |normalised: Tensor<2>| normalised * deviation.clone() + mean.clone();
        let [parameter_mean, parameter_deviation] = &self.parameter;
        let parameters =
            columns(output, &self.parameters) * parameter_deviation.clone() + parameter_mean.clone();
        let (rows, all) = (x.dims()[0], predicted.dims()[1]);
        // A frequency and an amplitude of each pair of a code: [B, keys · C].
        let parameters: Tensor<4> = parameters.reshape([rows, FUTURE_KEYS, 3, self.channels]);
        let parameter = |at: usize| -> Tensor<2> {
            let part = parameters.clone().slice([0..rows, 0..FUTURE_KEYS, at..at + 1, 0..self.channels]);
            part.reshape([rows, all / 2])
        };
        let angle = parameter(0) * (std::f32::consts::TAU / FRAME_RATE_HZ);
        let amplitude = parameter(1).clamp_min(0.0);
        let parts = |normalised: Tensor<2>| -> [Tensor<2>; 2] {
            let pairs: Tensor<3> = own_units(normalised).reshape([rows, all / 2, 2]);
            [0, 1].map(|at| pairs.clone().slice([0..rows, 0..all / 2, at..at + 1]).reshape([rows, all / 2]))
        };
        let unit = |[a, b]: [Tensor<2>; 2]| {
            let length = (a.clone() * a.clone() + b.clone() * b.clone() + SILENT * SILENT).sqrt();
            [a / length.clone(), b / length]
        };
        let (cos, sin) = (angle.clone().cos(), angle.sin());
        let [a, b] = parts(columns(x, &self.codes.x));
        let [turned_a, turned_b] =
            unit([a.clone() * cos.clone() - b.clone() * sin.clone(), a * sin + b * cos]);
        let [wanted_a, wanted_b] = unit(parts(predicted));
        let [a, b] = unit([turned_a + wanted_a, turned_b + wanted_b]);
        let pairs = Tensor::stack::<3>(vec![a * amplitude.clone(), b * amplitude], 2).reshape([rows, all]);
        (pairs - mean.clone()) / deviation.clone()
    }

    /// Gives rollouts that go on their codes.
    fn give(&self, codes: &Tensor<2>, rollouts: &mut [Rollout], alive: &[bool]) {
        let [mean, deviation] = self.all.each_ref();
        let codes = numbers(codes.clone());
        let width = codes.len() / rollouts.len();
        for ((rollout, codes), _) in
            rollouts.iter_mut().zip(codes.chunks_exact(width)).zip(alive).filter(|(_, alive)| **alive)
        {
            let scaled = codes.iter().zip(mean).zip(deviation);
            let scaled = scaled.map(|((code, mean), deviation)| code * deviation + mean);
            rollout.codes.iter_mut().zip(scaled).for_each(|(slot, code)| *slot = code);
        }
    }
}

impl<'a> Unroll<'a> {
    pub fn new(
        settings: Unrolling,
        steps: usize,
        (rows, starts): (&'a Rows<'a>, &'a RolloutStarts<'a>),
        (weights, phases): (Tensor<2>, LedPhases),
        commands: &'a [ClipCommand],
        device: &Device,
    ) -> Self {
        let layout = rows.layout;
        let of = [&rows.description.x, &rows.description.y];
        let pose_len = layout.x_range(BlockName::RootMotion).end;
        Self {
            settings,
            steps,
            rows,
            starts,
            device: device.clone(),
            predicted: Change::new(0..pose_len, 0..pose_len, 0..pose_len, of, device),
            state: [of[0].mean(), of[0].deviation()].map(|v| row(&v[..pose_len], device)),
            body: DifferentiableBody::new(&rows.dataset.skeleton, layout, of[0], device),
            phases,
            weights,
            commands,
            no_contact: vec![Vec3::ZERO; rows.dataset.body_names.len()],
        }
    }

    /// Frames of a window at a step.
    fn frames(&self, step: usize) -> usize {
        let grown = (2.0 * step as f32 / self.steps as f32).min(1.0);
        let first = FIRST_FRAMES.min(self.settings.frames);
        first + ((self.settings.frames - first) as f32 * grown) as usize
    }

    /// The mean error of the rollouts over the frames of a step, which moves them on.
    pub fn loss(
        &self,
        leader: &impl Leader,
        step: usize,
        rollouts: &mut Vec<Rollout>,
        rng: &mut ChaCha8Rng,
    ) -> Result<Tensor<1>, TrainError> {
        let layout = self.rows.layout;
        let x_len = layout.x_len();
        while rollouts.len() < self.settings.windows {
            rollouts.push(self.starts.rollout(self.rows, RolloutKind::Unhindered, rng)?);
        }
        let (frames, margin) = (self.frames(step), self.starts.config.margin_frames);
        self.starts.lead_on(rollouts, self.rows, (frames, self.settings.carried_share), rng)?;
        rollouts.par_iter_mut().for_each(|rollout| {
            let directions = self.starts.kept.map(|(_, directions)| directions);
            rollout.retime(self.rows.dataset, directions, (self.settings.retimed_frames, frames), margin);
        });
        let count = rollouts.len();
        let mut handed: Option<Handed> = None;
        let mut loss = Tensor::zeros([1], &self.device);
        let mut moved = Moved::new(count);
        for _ in 0..frames {
            let windows: Vec<_> = rollouts
                .iter()
                .map(|rollout| rollout.own_window(self.rows.dataset, &self.commands[rollout.clip]))
                .collect();
            let led: Vec<_> = rollouts
                .iter()
                .zip(&windows)
                .map(|(r, (keys, codes))| {
                    (
                        r.clip,
                        r.frame,
                        StateSource::Own(OwnState {
                            state: &r.state,
                            pose_frame: r.pose_frame,
                            keys,
                            codes,
                            contact_impulse: &self.no_contact,
                        }),
                    )
                })
                .collect();
            let batch = self.rows.fill(&led, None);
            drop(led);
            let mut now = matrix(batch.x.clone(), x_len, &self.device);
            if let Some(handed) = handed.take() {
                now = now + self.through(handed);
            }
            let output = leader.outputs(&now, &batch, rng);
            let wanted = leader.wanted(&batch);
            let pose = self.body.next(&now, &self.predicted_state(&now, &output));
            let updated = match &self.phases {
                LedPhases::Updated(phases) => Some((phases, phases.next(&now, &output))),
                LedPhases::OfRollout | LedPhases::Turned => None,
            };

            let change = (output.clone() - wanted.clone()).abs() * self.weights.clone();
            let of_clips = self.poses_of_clips(rollouts);
            let own = columns(&pose, &(0..of_clips.dims()[1]));
            let distance = (own.clone() - of_clips.clone()).abs() * self.pose_weights();
            let mut error = change.sum() * CHANGE + distance.sum();
            if self.settings.standing_weight > 0.0 {
                let of_clip = self.body.foot_speeds(&of_clips);
                let stands = (of_clip.clone() / -STANDING_M_S + 1.0).clamp_min(0.0);
                let glide = (self.body.foot_speeds(&own) - of_clip).clamp_min(0.0) * stands;
                error = error + glide.sum() * self.settings.standing_weight as f32;
            }
            moved.poses.push([own, of_clips]);
            if let Some((phases, codes)) = &updated {
                let wanted = phases.codes.next(&now.clone().detach(), &wanted);
                let weights = columns(&self.weights, &phases.codes.output);
                error = error + ((codes.clone() - wanted).abs() * weights).sum();
            }
            loss = loss + error / (count * output.dims()[1]) as f32;

            let mut predicted = leader.y(numbers(output), &batch);
            self.rows.outputs_to_y(&batch.raw_x, &mut predicted);
            let alive = advance_rollouts(rollouts, self.rows, &predicted, self.starts, rng)?;
            match &updated {
                Some((phases, codes)) => phases.give(codes, rollouts, &alive),
                None if matches!(self.phases, LedPhases::Turned) => {
                    turn(rollouts, &windows, &predicted, layout, &alive)?;
                }
                None => {}
            }
            moved.keep(&alive);
            let alive: Vec<f32> = alive.into_iter().map(f32::from).collect();
            let codes = updated.map(|(_, codes)| codes);
            handed = Some(Handed { pose, codes, alive: matrix(alive, 1, &self.device) });
        }
        let width = self.rows.layout.y_len();
        let lost = moved.lost_spread(&self.device) * self.pose_weights();
        let lost = lost.sum() * (self.settings.spread_weight as f32 / (count * width) as f32);
        Ok(loss / frames as f32 + lost)
    }

    /// Weights of the columns of a pose.
    fn pose_weights(&self) -> Tensor<2> {
        columns(&self.weights, &(0..self.rows.layout.y_range(BlockName::RootMotion).start))
    }

    /// Nothing, in value, with the gradient of what the frame before handed on.
    fn through(&self, Handed { pose, codes, alive }: Handed) -> Tensor<2> {
        let rows = pose.dims()[0];
        let only = |of: Tensor<2>| (of.clone() - of.detach()) * alive.clone();
        let none = |from: usize, to: usize| Tensor::<2>::zeros([rows, to - from], &self.device);
        let x_len = self.rows.layout.x_len();
        let mut parts = vec![only(pose)];
        let mut end = self.body.state_len();
        if let (LedPhases::Updated(phases), Some(codes)) = (&self.phases, codes) {
            parts.push(none(end, phases.codes.x.start));
            parts.push(only(codes));
            end = phases.codes.x.end;
        }
        parts.push(none(end, x_len));
        Tensor::cat(parts, 1)
    }

    /// What the network says of the next state, in its own units.
    fn predicted_state(&self, now: &Tensor<2>, output: &Tensor<2>) -> Tensor<2> {
        let [mean, deviation] = &self.state;
        self.predicted.next(now, output) * deviation.clone() + mean.clone()
    }

    /// The poses of the clips after the frame of `rollouts`, normalised as in x.
    fn poses_of_clips(&self, rollouts: &[Rollout]) -> Tensor<2> {
        let layout = self.rows.layout;
        let width = layout.y_range(BlockName::RootMotion).start;
        let mut y = vec![0.0; layout.y_len()];
        let mut poses = Vec::with_capacity(rollouts.len() * width);
        let x = &self.rows.description.x;
        for rollout in rollouts {
            let clip = &self.rows.dataset.clips[rollout.clip];
            layout.write_state_of_y(&clip.clean[rollout.pose_frame + 1], &mut y);
            let scales = x.mean().iter().zip(x.deviation());
            poses.extend(
                y[..width].iter().zip(scales).map(|(value, (mean, deviation))| (value - mean) / deviation),
            );
        }
        matrix(poses, width, &self.device)
    }
}

/// How characters, and the clips that they are led along, move over a window.
struct Moved {
    /// Poses `[B, n]` of every frame: theirs, and the clips'.
    poses: Vec<[Tensor<2>; 2]>,
    /// 1 for characters that have not begun anew in the window, 0 for others.
    kept: Vec<f32>,
}

impl Moved {
    fn new(characters: usize) -> Self {
        Self { poses: Vec::new(), kept: vec![1.0; characters] }
    }

    fn keep(&mut self, alive: &[bool]) {
        for (kept, _) in self.kept.iter_mut().zip(alive).filter(|(_, alive)| !**alive) {
            *kept = 0.0;
        }
    }

    /// The error of the deviation over the window of each column of characters, `[B, n]`: a motion that is late or early has none, one
    /// that is smaller or larger has.
    fn lost_spread(self, device: &Device) -> Tensor<2> {
        let kept = matrix(self.kept, 1, device);
        let spread = |of: usize| {
            let poses: Vec<_> = self.poses.iter().map(|poses| poses[of].clone()).collect();
            let poses: Tensor<3> = Tensor::stack(poses, 0);
            let from_mean = poses.clone() - poses.mean_dim(0);
            ((from_mean.clone() * from_mean).mean_dim(0) + SILENT * SILENT).sqrt().squeeze_dim::<2>(0)
        };
        (spread(0) - spread(1)).abs() * kept
    }
}

/// Turns the phase of the gait cycle of rollouts that go on, as the loop does, from that of their windows by what was predicted.
fn turn(
    rollouts: &mut [Rollout],
    windows: &[([WindowKey; KEYS], Vec<f32>)],
    predicted: &[f32],
    layout: &FeatureLayout,
    alive: &[bool],
) -> Result<(), TrainError> {
    let frequency = layout.y_range(BlockName::PhaseParameters).start;
    let rows = rollouts.iter_mut().zip(windows).zip(predicted.chunks_exact(layout.y_len())).zip(alive);
    for (((rollout, (_, codes)), y), _) in rows.filter(|(_, alive)| **alive) {
        let now = &codes[2 * PAST_KEYS..][..2];
        rollout.codes = turned_codes(now, y[frequency])?;
    }
    Ok(())
}

/// What a frame hands to the next.
struct Handed {
    pose: Tensor<2>,
    codes: Option<Tensor<2>>,
    /// 1 where the rollout goes on, 0 where it begins anew.
    alive: Tensor<2>,
}

fn numbers(tensor: Tensor<2>) -> Vec<f32> {
    tensor.try_into_vec_as::<f32>().expect("predictions are floating-point numbers")
}

#[cfg(test)]
mod tests {
    use super::*;
    use pomp_phase::update_code;

    #[test]
    fn every_key_of_a_led_character_moves_by_the_phase_update_of_the_loop() {
        let (channels, device) = (2, Device::flex());
        let (width, all) = (2 * channels, FUTURE_KEYS * 2 * channels);
        let parameters = all..all + FUTURE_KEYS * 3 * channels;
        let value = |at: usize| (at as f32 * 1.7).sin();
        let values = |from: usize, count: usize| (from..from + count).map(value).collect::<Vec<f32>>();
        let (mean, deviation) = (values(200, all), vec![0.7; all]);
        let phases = OwnPhases {
            channels,
            codes: Change {
                x: 0..all,
                output: 0..all,
                scale: row(&vec![0.5; all], &device),
                shift: row(&vec![0.1; all], &device),
            },
            all: [mean.clone(), deviation.clone()],
            code: [row(&mean, &device), row(&deviation, &device)],
            parameters: parameters.clone(),
            parameter: [
                row(&vec![1.5; parameters.len()], &device),
                row(&vec![0.3; parameters.len()], &device),
            ],
        };
        let (x, output) = (values(0, all), values(50, parameters.end));
        let next = phases.next(&row(&x, &device), &row(&output, &device));
        let next: Vec<f32> = next.into_data().iter::<f32>().collect();
        let own_units = |at: usize, normalised: f32| normalised * deviation[at] + mean[at];
        for key in 0..FUTURE_KEYS {
            let at = key * width..(key + 1) * width;
            let old: Vec<f32> = at.clone().map(|i| own_units(i, x[i])).collect();
            let predicted: Vec<f32> =
                at.clone().map(|i| own_units(i, x[i] + output[i] * 0.5 + 0.1)).collect();
            let said: Vec<f32> =
                output[all + key * 3 * channels..][..width].iter().map(|v| v * 0.3 + 1.5).collect();
            let (frequencies, amplitudes) = said.split_at(channels);
            let wanted = update_code(&old, &predicted, amplitudes, frequencies, 1.0 / FRAME_RATE_HZ).unwrap();
            for (i, wanted) in at.zip(wanted) {
                let found = own_units(i, next[i]);
                assert!((found - wanted).abs() < 1e-3, "{key} {i}: {found} {wanted}");
            }
        }
    }
}

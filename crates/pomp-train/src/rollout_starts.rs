//! Where rollouts begin: how many a batch has room for, and at which examples.

use crate::dataset::Dataset;
use crate::example::{StateSource, write_example};
use crate::gait_direction::GaitDirections;
use crate::rollout_pool::{Rollout, RolloutKind};
use crate::rows::{Batch, Example, Noise, Rows};
use crate::sampler::Sampler;
use crate::style_neutral::NeutralStates;
use crate::{KinematicStage, TrainConfig, TrainError};
use pomp_generator::PhaseReader as LoopPhases;
use pomp_motion::Gait;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// Rows of a batch that a share of it makes.
fn share_of_batch(stage: &KinematicStage, share: f32) -> usize {
    (share * stage.training.batch_size as f32) as usize
}

/// Frames among which the one is looked for that a character is led on from.
const CANDIDATES: usize = 32;

/// Where rollouts begin, and what else they need.
pub(crate) struct RolloutStarts<'a> {
    pub config: &'a TrainConfig,
    pub anywhere: &'a Sampler,
    pub practised: &'a Sampler,
    /// What those with a body or a window of their own read their phases with; without it codes are the model's own.
    pub loop_phases: Option<&'a LoopPhases>,
    /// Largest deviation of the angles by which joints of those without a body are turned away from their clip, radians.
    pub astray_rad: f32,
    /// Whether those without a body make their window for themselves, instead of being shown that of their clip.
    pub own_windows: bool,
    /// The share of those without a body that keeps to the gait and direction of its clip where it starts, and those of all clips.
    pub kept: Option<(f64, &'a GaitDirections)>,
    /// The share of those without a body that begins in a plain walk and is led on along a clip of a style, and such walks.
    pub turned: Option<(f32, &'a NeutralStates)>,
}

impl<'a> RolloutStarts<'a> {
    /// Those that begin where their clip is, from its windows: the other fields change it.
    pub fn of_clips(
        config: &'a TrainConfig,
        (anywhere, practised): (&'a Sampler, &'a Sampler),
        loop_phases: Option<&'a LoopPhases>,
    ) -> Self {
        let (astray_rad, own_windows, kept, turned) = (0.0, false, None, None);
        Self { config, anywhere, practised, loop_phases, astray_rad, own_windows, kept, turned }
    }

    /// Starts as many rollouts as a batch of this step has room for. Their share grows over the first third of the training.
    pub fn fill_up(
        &self,
        rollouts: &mut Vec<Rollout>,
        step: usize,
        rows: &Rows<'_>,
        rng: &mut ChaCha8Rng,
    ) -> Result<(), TrainError> {
        let stage = &self.config.kinematic;
        let grown = (3.0 * step as f32 / stage.training.steps as f32).min(1.0);
        for (kind, share) in [
            (RolloutKind::Unhindered, stage.states.rollout_share),
            (RolloutKind::Simulated, stage.simulated_rollouts.share),
        ] {
            let there = rollouts.iter().filter(|rollout| rollout.kind() == kind).count();
            for _ in there..share_of_batch(stage, share * grown) {
                rollouts.push(self.rollout(rows, kind, rng)?);
            }
        }
        Ok(())
    }

    /// The next frames of `rollouts`, then replayed and clean examples, to which noise of these deviations is added.
    pub fn batch(
        &self,
        rollouts: &[Rollout],
        deviations: &[f32],
        rows: &Rows<'_>,
        rng: &mut ChaCha8Rng,
    ) -> Batch {
        let stage = &self.config.kinematic;
        let replayed = share_of_batch(stage, stage.states.replayed_share);
        let drawn: Vec<(usize, usize)> =
            (rollouts.len()..stage.training.batch_size).map(|_| self.anywhere.draw(rng)).collect();
        let led = rollouts.iter().map(|rollout| (rollout.clip, rollout.frame, rollout.source()));
        let examples: Vec<Example<'_>> = led
            .chain(drawn.iter().enumerate().map(|(i, &(clip, frame))| {
                (clip, frame, if i < replayed { StateSource::Replayed } else { StateSource::Clean })
            }))
            .collect();
        let noise = Noise { deviations, first_row: rollouts.len(), seed: rng.random() };
        rows.fill(&examples, Some(noise))
    }

    pub fn rollout(
        &self,
        rows: &Rows<'_>,
        kind: RolloutKind,
        rng: &mut ChaCha8Rng,
    ) -> Result<Rollout, TrainError> {
        let stage = &self.config.kinematic;
        let (sampler, frames) = match kind {
            RolloutKind::Unhindered => (self.anywhere, stage.states.rollout_frames),
            RolloutKind::Simulated => (self.practised, stage.simulated_rollouts.frames),
        };
        let led_along = sampler.draw(rng);
        let turned = self.turned.filter(|_| kind == RolloutKind::Unhindered);
        let turned = turned.filter(|(share, _)| rng.random::<f32>() < *share);
        let start = turned.and_then(|(_, plain)| plain.nearest(rows.dataset, led_along)).unwrap_or(led_along);
        let (mut x, mut y) = (vec![0.0; rows.layout.x_len()], vec![0.0; rows.layout.y_len()]);
        let clip = &rows.dataset.clips[start.0];
        let impulse = rows.weight_impulse_ns;
        write_example(rows.layout, clip, start.1, &StateSource::Clean, impulse, &mut x, &mut y);
        let mut rollout = Rollout::start(rows.dataset, rows.layout, start, frames, &x, rng);
        if self.own_windows {
            rollout = rollout.with_own_window(rows.dataset, rows.layout);
        }
        let reads = kind == RolloutKind::Simulated || self.own_windows;
        if let Some(reader) = self.loop_phases.filter(|_| reads) {
            rollout = rollout.with_phases(rows.dataset, reader);
        }
        if let Some((share, directions)) = self.kept.filter(|_| kind == RolloutKind::Unhindered)
            && rng.random_bool(share)
        {
            rollout.kept_at = directions.at(start);
        }
        if start != led_along {
            rollout.carry_to(rows.dataset, led_along, rng.random_range(1..=frames.max(1)));
        }
        match kind {
            RolloutKind::Unhindered if self.astray_rad > 0.0 => {
                let spread_rad = rng.random_range(0.0..self.astray_rad);
                Ok(rollout.astray(&rows.dataset.skeleton, spread_rad, rng))
            }
            RolloutKind::Unhindered => Ok(rollout),
            RolloutKind::Simulated => {
                rollout.with_body(rows.dataset, &stage.simulated_rollouts, rng.random())
            }
        }
    }
}

impl RolloutStarts<'_> {
    /// Leads the characters on whose clips have no more than so many frames for them: a share of them from the nearest of some frames in
    /// the same gait, with what they have come to; the others begin anew. Where a clip leaves the gait and direction that a character is
    /// kept at, it is over for that character.
    pub fn lead_on(
        &self,
        rollouts: &mut [Rollout],
        rows: &Rows<'_>,
        (frames, carried_share): (usize, f64),
        rng: &mut ChaCha8Rng,
    ) -> Result<(), TrainError> {
        let dataset = rows.dataset;
        let longest = self.config.kinematic.states.rollout_frames;
        for rollout in rollouts.iter_mut() {
            if self.goes_on(dataset, rollout, frames) {
                continue;
            }
            let is_carried = rng.random_bool(carried_share);
            match is_carried.then(|| self.carried_to(dataset, rollout, rng)).flatten() {
                Some(place) => {
                    rollout.carry_to(dataset, place, rng.random_range(frames + 1..=longest.max(frames) + 1));
                }
                None => *rollout = self.rollout(rows, rollout.kind(), rng)?,
            }
        }
        Ok(())
    }

    /// Whether the clip of a character leads it on for so many frames, at what it is kept at.
    fn goes_on(&self, dataset: &Dataset, rollout: &Rollout, frames: usize) -> bool {
        let kept = rollout.kept_at.zip(self.kept);
        let is_kept = kept.is_none_or(|(direction, (_, directions))| {
            directions.keeps(direction, (rollout.clip, rollout.frame), frames)
        });
        is_kept && rollout.has_frames(dataset, frames, self.config.margin_frames)
    }

    /// The nearest of some frames, clip and frame, in which a clip does what the character is kept at, or is in the same gait.
    fn carried_to(
        &self,
        dataset: &Dataset,
        rollout: &Rollout,
        rng: &mut ChaCha8Rng,
    ) -> Option<(usize, usize)> {
        let gait = rollout.gait(dataset);
        let is_alike = |&(clip, frame): &(usize, usize)| {
            Gait::dominant(&dataset.clips[clip].recording.gait[frame]) == gait
        };
        (0..CANDIDATES)
            .filter_map(|_| match rollout.kept_at.zip(self.kept) {
                Some((direction, (_, directions))) => Some(directions.draw(direction, rng)),
                None => Some(self.anywhere.draw(rng)).filter(is_alike),
            })
            .min_by(|a, b| rollout.apart(dataset, *a).total_cmp(&rollout.apart(dataset, *b)))
    }
}

/// Takes each rollout a frame on by the outputs that were `predicted` for it; one that is over begins anew elsewhere. Which go on.
pub(crate) fn advance_rollouts(
    rollouts: &mut [Rollout],
    rows: &Rows<'_>,
    predicted: &[f32],
    starts: &RolloutStarts<'_>,
    rng: &mut ChaCha8Rng,
) -> Result<Vec<bool>, TrainError> {
    let margin = starts.config.margin_frames;
    let alive: Vec<bool> = rollouts
        .par_iter_mut()
        .zip(predicted.par_chunks_exact(rows.layout.y_len()))
        .map(|(rollout, y)| rollout.advance(rows.dataset, rows.layout, y, margin))
        .collect();
    for (rollout, alive) in rollouts.iter_mut().zip(&alive) {
        if !alive {
            *rollout = starts.rollout(rows, rollout.kind(), rng)?;
        }
    }
    Ok(alive)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Unrolling;
    use crate::recorded_walk::walk;
    use crate::sampler::training_sampler;
    use glam::Vec2;
    use rand::SeedableRng;

    #[test]
    fn a_character_that_is_kept_at_what_it_does_is_led_on_along_clips_that_do_it() {
        let (mut dataset, layout) = walk();
        let (aside, frames) = (60..120, 16);
        for (frame, state) in dataset.clips[0].clean.iter_mut().enumerate() {
            state.root_velocity = if aside.contains(&frame) { 4.0 * Vec2::X } else { Vec2::Y };
        }
        let config = TrainConfig::default();
        let unrolling = Unrolling { kept_share: 1.0, ..config.kinematic.unrolling };
        let directions = GaitDirections::of(&dataset, config.margin_frames, &unrolling).unwrap();
        let anywhere = training_sampler(&dataset, &config);
        let starts = RolloutStarts {
            own_windows: true,
            kept: Some((1.0, &directions)),
            ..RolloutStarts::of_clips(&config, (&anywhere, &anywhere), None)
        };
        let rollout = |frame: usize, is_kept: bool| {
            let x = vec![0.0; layout.x_len()];
            let mut rollout = Rollout::start_of_length(&dataset, &layout, (0, frame), 1000, &x);
            rollout.kept_at = directions.at((0, 90)).filter(|_| is_kept);
            rollout
        };
        assert!(starts.goes_on(&dataset, &rollout(90, true), frames));
        assert!(starts.goes_on(&dataset, &rollout(118, false), frames));
        assert!(!starts.goes_on(&dataset, &rollout(118, true), frames), "its clip walks ahead soon");

        let rng = &mut ChaCha8Rng::seed_from_u64(1);
        let kept = rollout(118, true);
        let places: Vec<_> =
            (0..20).map(|_| starts.carried_to(&dataset, &kept, rng).expect("it goes on")).collect();
        let direction = kept.kept_at.expect("it is kept");
        assert!(places.iter().all(|place| directions.keeps(direction, *place, frames)), "{places:?}");

        // Its clip's nearest pose is where it walks ahead.
        let mut kept = rollout(100, true);
        kept.state = dataset.clips[0].clean[130].clone();
        kept.retime(&dataset, Some(&directions), (40, frames), config.margin_frames);
        assert!(directions.keeps(direction, (0, kept.pose_frame), frames), "{}", kept.pose_frame);
        kept.kept_at = None;
        kept.retime(&dataset, Some(&directions), (40, frames), config.margin_frames);
        assert_eq!(kept.pose_frame, 130);
    }

    #[test]
    fn a_character_that_turns_to_a_style_begins_in_a_plain_walk_where_the_style_is() {
        let (dataset, layout) = walk();
        let model = pomp_embedded::load(&burn::tensor::Device::flex()).unwrap();
        let (_, _, description) = model.kinematic().unwrap();
        let config = TrainConfig::default();
        let anywhere = training_sampler(&dataset, &config);
        let plain = NeutralStates::of(&dataset, [0].into_iter(), config.margin_frames);
        let starts = |share: f32| {
            let starts = RolloutStarts {
                own_windows: true,
                turned: Some((share, &plain)),
                ..RolloutStarts::of_clips(&config, (&anywhere, &anywhere), None)
            };
            let rows = Rows::new(&dataset, &layout, description, crate::Phases::Codes);
            let rng = &mut ChaCha8Rng::seed_from_u64(3);
            let rollout = |_| starts.rollout(&rows, RolloutKind::Unhindered, rng).unwrap();
            let rollouts: Vec<Rollout> = (0..40).map(rollout).collect();
            // How far each is from the pose of its clip, and from the place of it.
            let far = |rollout: &Rollout| {
                let place = dataset.clips[0].clean[rollout.frame].frame.origin;
                (
                    rollout.apart(&dataset, (0, rollout.frame)),
                    rollout.state.frame.origin.distance(place),
                    rollout.pose_frame == rollout.frame,
                )
            };
            rollouts.iter().map(far).collect::<Vec<_>>()
        };
        let own = starts(0.0);
        assert!(own.iter().all(|far| *far == (0.0, 0.0, true)), "{own:?}");
        let turned = starts(1.0);
        let elsewhere = turned.iter().filter(|far| far.0 > 0.01).count();
        assert!(elsewhere > 10, "{elsewhere} of 40 begin in another pose");
        assert!(turned.iter().all(|far| far.1 < 1e-6 && far.2), "{turned:?}");
    }
}

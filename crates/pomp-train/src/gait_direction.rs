//! Gait and direction of travel in the frames of clips, so that a rollout can be kept at them for longer than its clip has them.

use crate::dataset::{Dataset, TrainingClip};
use crate::unrolling_config::Unrolling;
use pomp_motion::Gait;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Frames on both sides over which the direction of travel is taken: a step sways the pelvis to and fro.
const HALF_STEP_FRAMES: usize = 15;
/// Below this speed a character does not travel, m/s.
const SLOW_MPS: f32 = 0.25;
/// Frames that gait and direction last at least from a place that a rollout is carried to, so that it is not carried on at once.
const LASTS_FRAMES: usize = 30;

/// A gait, and in which direction it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GaitDirection {
    gait: Gait,
    direction: Direction,
}

/// The quarter in which a character travels, as seen from where it faces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Stays,
    Ahead,
    Back,
    Left,
    Right,
}

impl GaitDirection {
    fn of(clip: &TrainingClip, frame: usize) -> Self {
        let last = clip.frames() - 1;
        let around = frame.saturating_sub(HALF_STEP_FRAMES)..=(frame + HALF_STEP_FRAMES).min(last);
        let frames = around.clone().count() as f32;
        let velocity =
            clip.clean[around].iter().map(|state| state.root_velocity).sum::<glam::Vec2>() / frames;
        let (left, ahead) = velocity.into();
        let direction = match (velocity.length() < SLOW_MPS, left.abs() > ahead.abs()) {
            (true, _) => Direction::Stays,
            (false, true) if left > 0.0 => Direction::Left,
            (false, true) => Direction::Right,
            (false, false) if ahead > 0.0 => Direction::Ahead,
            (false, false) => Direction::Back,
        };
        Self { gait: Gait::dominant(&clip.recording.gait[frame]), direction }
    }

    /// Whether it is standing or walking ahead, as most of what is recorded.
    fn is_common(self) -> bool {
        matches!(self.gait, Gait::Stand | Gait::Walk)
            && matches!(self.direction, Direction::Stays | Direction::Ahead)
    }
}

/// Gait and direction of all frames of the clips that are learned from.
#[derive(Debug)]
pub(crate) struct GaitDirections {
    /// Of each clip, and of each of its frames, gait and direction, and the number of frames, itself included, that they last. Empty for
    /// clips that are not learned from.
    of_clips: Vec<Vec<(GaitDirection, usize)>>,
    /// The places, clip and frame, of each gait and direction that rollouts are kept at, from which they last long enough to carry one
    /// there.
    places: Vec<(GaitDirection, Vec<(u32, u32)>)>,
}

impl GaitDirections {
    /// Those of the training clips, `margin` frames from their ends; none when no characters are kept at them.
    pub fn of(dataset: &Dataset, margin: usize, unrolling: &Unrolling) -> Option<Self> {
        if unrolling.kept_share == 0.0 {
            return None;
        }
        let lasts_frames = LASTS_FRAMES.max(unrolling.frames);
        let mut directions = Self { of_clips: vec![Vec::new(); dataset.clips.len()], places: Vec::new() };
        for (index, clip) in dataset.training() {
            let mut of_clip: Vec<(GaitDirection, usize)> =
                (0..clip.frames()).map(|frame| (GaitDirection::of(clip, frame), 0)).collect();
            let end = clip.frames().saturating_sub(margin + 1);
            for frame in (margin..end).rev().filter(|frame| clip.supported[*frame]) {
                let next = of_clip.get(frame + 1).filter(|next| next.0 == of_clip[frame].0);
                of_clip[frame].1 = 1 + next.map_or(0, |next| next.1);
            }
            let is_kept = |of: &(GaitDirection, usize)| {
                of.1 >= lasts_frames && (unrolling.keeps_common || !of.0.is_common())
            };
            for (frame, (direction, _)) in of_clip.iter().enumerate().filter(|(_, of)| is_kept(of)) {
                let place = (index as u32, frame as u32);
                match directions.places.iter_mut().find(|(other, _)| other == direction) {
                    Some((_, places)) => places.push(place),
                    None => directions.places.push((*direction, vec![place])),
                }
            }
            directions.of_clips[index] = of_clip;
        }
        Some(directions)
    }

    /// Gait and direction of a frame, where rollouts can be kept at them.
    pub fn at(&self, (clip, frame): (usize, usize)) -> Option<GaitDirection> {
        let (direction, _) = *self.of_clips[clip].get(frame)?;
        self.places.iter().any(|(other, _)| *other == direction).then_some(direction)
    }

    /// Whether a clip keeps to gait and direction for so many frames.
    pub fn keeps(&self, direction: GaitDirection, (clip, frame): (usize, usize), frames: usize) -> bool {
        self.of_clips[clip].get(frame).is_some_and(|(of, lasts)| *of == direction && *lasts >= frames)
    }

    /// A place from which gait and direction last for some time; every one is as likely.
    ///
    /// # Panics
    /// For a direction that [`Self::at`] does not give.
    pub fn draw(&self, direction: GaitDirection, rng: &mut ChaCha8Rng) -> (usize, usize) {
        let (_, places) =
            self.places.iter().find(|(other, _)| *other == direction).expect("the direction has places");
        let (clip, frame) = places[rng.random_range(0..places.len())];
        (clip as usize, frame as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorded_walk::walk;
    use glam::Vec2;
    use rand::SeedableRng;

    #[test]
    fn a_direction_lasts_to_the_end_of_its_stretch_and_is_drawn_from_where_it_lasts() {
        let (mut dataset, _) = walk();
        let margin = 12;
        let (aside, short) = (60..120, 150..160);
        let clip = &mut dataset.clips[0];
        assert!(clip.frames() > 200 && clip.supported.iter().all(|supported| *supported));
        for state in &mut clip.clean {
            state.root_velocity = Vec2::Y;
        }
        for (frames, velocity) in [(aside.clone(), Vec2::X), (short.clone(), -Vec2::X)] {
            for state in &mut clip.clean[frames] {
                state.root_velocity = 4.0 * velocity;
            }
        }
        let unrolling = Unrolling { kept_share: 0.5, ..Unrolling::default() };
        let directions = GaitDirections::of(&dataset, margin, &unrolling).unwrap();
        let ahead = directions.at((0, 30)).unwrap();
        let left = directions.at((0, 90)).unwrap();
        assert_eq!((ahead.direction, left.direction), (Direction::Ahead, Direction::Left));
        // Too short to be kept at.
        assert_eq!(GaitDirection::of(&dataset.clips[0], 155).direction, Direction::Right);
        assert_eq!(directions.at((0, 155)), None);
        let of_left: Vec<usize> = (0..200).filter(|frame| directions.keeps(left, (0, *frame), 1)).collect();
        let (first, last) = (of_left[0], of_left[of_left.len() - 1]);
        assert_eq!(of_left.len(), last + 1 - first);
        assert!((45..=60).contains(&first) && (119..=135).contains(&last), "{first} to {last}");
        let left_frames = last + 1 - 90;
        assert!(
            directions.keeps(left, (0, 90), left_frames) && !directions.keeps(left, (0, 90), left_frames + 1)
        );
        assert!(!directions.keeps(ahead, (0, 90), 1));
        let rare = Unrolling { keeps_common: false, ..unrolling };
        let of_rare = GaitDirections::of(&dataset, margin, &rare).unwrap();
        assert_eq!((of_rare.at((0, 30)), of_rare.at((0, 90))), (None, Some(left)));
        for label in &mut dataset.clips[0].recording.gait {
            *label = Gait::Crouch.one_hot();
        }
        let crouched = GaitDirections::of(&dataset, margin, &rare).unwrap().at((0, 30)).unwrap();
        assert_eq!((crouched.gait, crouched.direction), (Gait::Crouch, Direction::Ahead));
        assert!(GaitDirections::of(&dataset, margin, &Unrolling::default()).is_none());
        let rng = &mut ChaCha8Rng::seed_from_u64(1);
        for _ in 0..100 {
            let (clip, frame) = directions.draw(left, rng);
            assert!(directions.keeps(left, (clip, frame), LASTS_FRAMES), "{frame}");
        }
    }
}

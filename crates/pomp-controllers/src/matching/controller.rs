use super::database::{MatchingDatabase, Place};
use super::features::{AHEAD, Ahead, MatchedFeatures};
use super::playback::{Moment, Playback, Played, asked_of};
use crate::{Controller, ControllerError, ControllerKind};
use glam::Vec2;
use pomp_motion::RootFrame;
use pomp_motion::features::{InputFrame, KEYS, OutputFrame, WindowKey};
use std::sync::Arc;

/// A character's controller: plays the clips of a [`MatchingDatabase`] along what is asked for.
#[derive(Clone, Debug)]
pub struct MatchingController {
    database: Arc<MatchingDatabase>,
    playing: Option<Playing>,
}

/// What it remembers from frame to frame.
#[derive(Clone, Debug)]
struct Playing {
    place: Place,
    playback: Playback,
}

impl MatchingController {
    /// A controller that has shown nothing yet.
    pub fn new(database: Arc<MatchingDatabase>) -> Self {
        Self { database, playing: None }
    }

    /// The clips that it plays.
    pub fn database(&self) -> &Arc<MatchingDatabase> {
        &self.database
    }

    /// What it plays, once it has begun.
    pub fn playing(&self) -> Option<Place> {
        self.playing.as_ref().map(|playing| playing.place)
    }

    /// Begins in the frame whose path is the `choice`-th nearest to `ahead`, counted from 0, whatever its pose. Matching draws no random
    /// numbers: where it begins is all that runs can differ in.
    pub fn begin_by_path(&mut self, ahead: &Ahead, choice: usize) {
        let place = self.database.nth_by_path(ahead, choice);
        self.playing = Some(Playing::at(&self.database, place, ahead));
    }

    /// What `keys` ask of a character in `frame`.
    pub fn asked_of(frame: &RootFrame, keys: &[WindowKey; KEYS]) -> Ahead {
        asked_of(frame, keys)
    }

    /// The kind by what is compared.
    fn kind(&self) -> ControllerKind {
        match self.database.features() {
            MatchedFeatures::Pose => ControllerKind::Matching,
            MatchedFeatures::Phase => ControllerKind::MatchingPhase,
        }
    }

    /// Begins where the database says that the pose and the trajectory of `input` go on, from the pose that is there.
    fn first(&self, input: &InputFrame<'_>, asked: &Ahead) -> Result<Playing, ControllerError> {
        let state = input.state;
        let place = self.database.first(&state.positions_root, &state.velocities_root, asked);
        let place = place.ok_or(ControllerError::InputNotFinite { kind: self.kind().name() })?;
        let mut playing = Playing::at(&self.database, place, asked);
        playing.playback.follow(state, &moment(&self.database, place));
        Ok(playing)
    }
}

impl Playing {
    fn at(database: &MatchingDatabase, place: Place, asked: &Ahead) -> Self {
        let pose = database.clip(place.clip).pose_root(place.frame);
        Self { place, playback: Playback::begin(database.skeleton(), &pose, asked) }
    }

    /// Jumps to the best frame when it is better than going on; has to jump when the clip ends.
    fn search(&mut self, database: &MatchingDatabase, asked: &Ahead, ends: bool) {
        if let Some(to) = database.jump(self.place, asked, ends) {
            self.playback.jump(&moment(database, self.place), &moment(database, to));
            self.place = to;
        }
    }

    /// Moves on by a frame: displacement and turn of the root.
    fn advance(&mut self, database: &MatchingDatabase, asked: &Ahead) -> (Vec2, f32) {
        let (displacement, turn) = database.clip(self.place.clip).advance(self.place.frame);
        let goes = database.ahead(self.place)[AHEAD.len() - 1].0;
        self.place.frame += 1;
        self.playback.advance(asked, goes, displacement, turn)
    }
}

/// The pose at a place and how its clip moves on; at a clip's last frame the step before it stands for the one that is not there.
fn moment(database: &MatchingDatabase, place: Place) -> Moment {
    let clip = database.clip(place.clip);
    let from = place.frame.min(clip.frames().saturating_sub(2));
    let to = (from + 1).min(clip.frames() - 1);
    let (displacement, turn) = clip.advance(from);
    Moment::new(clip.pose_root(place.frame), [&clip.pose_root(from), &clip.pose_root(to)], displacement, turn)
}

impl Controller for MatchingController {
    fn step(
        &mut self,
        input: &InputFrame<'_>,
        _ground: &dyn Fn(f32, f32) -> f32,
    ) -> Result<OutputFrame, ControllerError> {
        let asked = asked_of(&input.state.frame, input.keys);
        if asked.iter().any(|(place, yaw)| !(place.is_finite() && yaw.is_finite())) {
            return Err(ControllerError::InputNotFinite { kind: self.kind().name() });
        }
        let mut playing = match self.playing.take() {
            Some(playing) => playing,
            None => self.first(input, &asked)?,
        };
        let database = &*self.database;
        // The next frame has to have one after it, which its velocity is read from.
        let ends = playing.place.frame + 2 >= database.clip(playing.place.clip).frames();
        if playing.playback.searches(&asked, ends) {
            playing.search(database, &asked, ends);
        }
        let moved = playing.advance(database, &asked);
        let clip = database.clip(playing.place.clip);
        let pose = clip.pose_root(playing.place.frame);
        let played = Played {
            gait: clip.gaits[playing.place.frame],
            trajectory: clip.future_keys(playing.place.frame),
        };
        let output = playing.playback.show(database.skeleton(), pose, moved, played, input);
        self.playing = Some(playing);
        Ok(output)
    }

    fn restart(&mut self) {
        self.playing = None;
    }

    fn boxed(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}

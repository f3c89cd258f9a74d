use super::model::{LearnedDescription, LearnedModel};
use super::pose::{DecodedPose, PoseLayout};
use crate::gated::{PackedNetwork, Room};
use crate::matching::{
    AHEAD, Ahead, FRAME_S, Moment, POSE_WIDTH, Playback, Played, asked_of, pose_values, trajectory_values,
};
use crate::{Controller, ControllerError, ControllerKind};
use glam::Vec2;
use pomp_motion::Skeleton;
use pomp_motion::features::{InputFrame, OutputFrame};
use std::sync::Arc;

/// The blend of a network that has one expert.
const ONE: [f32; 1] = [1.0];

/// The networks, packed, and what characters that they lead share.
#[derive(Debug)]
struct Shared {
    description: LearnedDescription,
    layout: PoseLayout,
    decompressor: PackedNetwork,
    stepper: PackedNetwork,
    projector: PackedNetwork,
}

/// A character's controller: plays what the networks remember of clips along what is asked for.
#[derive(Clone, Debug)]
pub struct LearnedController {
    shared: Arc<Shared>,
    playing: Option<Playing>,
}

/// What it remembers from frame to frame.
#[derive(Clone, Debug)]
struct Playing {
    /// Features, normalised, and code of the present.
    entry: Vec<f32>,
    now: DecodedPose,
    playback: Playback,
    room: Room,
}

impl Shared {
    fn features(&self) -> usize {
        self.description.features.mean.len()
    }

    fn decode(&self, entry: &[f32], room: &mut Room) -> DecodedPose {
        let pose = &self.description.pose;
        let mut row = vec![0.0; self.layout.width()];
        self.decompressor.run(entry, &ONE, room, &mut row);
        for ((value, mean), deviation) in row.iter_mut().zip(&pose.mean).zip(&pose.deviation) {
            *value = *value * deviation + mean;
        }
        self.layout.read(&row)
    }

    fn step(&self, entry: &mut [f32], room: &mut Room) {
        let change = &self.description.change;
        let mut row = vec![0.0; entry.len()];
        self.stepper.run(entry, &ONE, room, &mut row);
        for (((value, row), mean), deviation) in
            entry.iter_mut().zip(row).zip(&change.mean).zip(&change.deviation)
        {
            *value += row * deviation + mean;
        }
    }

    fn project(&self, query: &[f32], room: &mut Room) -> Vec<f32> {
        let mut entry = vec![0.0; self.features() + self.description.sizes.code];
        self.projector.run(query, &ONE, room, &mut entry);
        entry
    }

    /// Puts the trajectory that is asked for into features, which are normalised from value `from` on.
    fn ask(&self, query: &mut [f32], asked: &Ahead, from: usize) {
        query[POSE_WIDTH..].copy_from_slice(&trajectory_values(asked));
        let scales = &self.description.features;
        for (at, value) in query.iter_mut().enumerate().skip(from) {
            *value = (*value - scales.mean[at]) / scales.deviation[at];
        }
    }

    /// A frame and how it goes on, as the stepper says.
    fn moment(&self, entry: &[f32], now: &DecodedPose, room: &mut Room) -> Moment {
        let mut next = entry.to_vec();
        self.step(&mut next, room);
        let next = self.decode(&next, room);
        let poses = [&now.pose, &next.pose];
        Moment::new(now.pose.clone(), poses, now.velocity * FRAME_S, now.yaw_rate * FRAME_S)
    }
}

fn distance(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

impl LearnedController {
    /// That of a trained model.
    ///
    /// # Errors
    /// A weight that is not finite.
    pub fn new(model: LearnedModel) -> Result<Self, ControllerError> {
        let LearnedModel { description, networks: [decompressor, stepper, projector] } = model;
        let shared = Shared {
            layout: description.layout(),
            decompressor: PackedNetwork::new(&decompressor)?,
            stepper: PackedNetwork::new(&stepper)?,
            projector: PackedNetwork::new(&projector)?,
            description,
        };
        Ok(Self { shared: Arc::new(shared), playing: None })
    }

    /// Everything about it but its weights.
    pub fn description(&self) -> &LearnedDescription {
        &self.shared.description
    }

    /// The skeleton that it moves.
    pub fn skeleton(&self) -> &Skeleton {
        &self.shared.description.skeleton
    }

    /// Features, normalised, and code of the present, once it has begun.
    pub fn entry(&self) -> Option<&[f32]> {
        self.playing.as_ref().map(|playing| playing.entry.as_slice())
    }

    /// Begins where the projector finds the pose and the trajectory of `input`, from the pose that is there.
    fn first(&self, input: &InputFrame<'_>, asked: &Ahead) -> Playing {
        let (shared, mut room) = (&*self.shared, Room::default());
        let mut query = pose_values(&input.state.positions_root, &input.state.velocities_root).to_vec();
        query.resize(shared.features(), 0.0);
        shared.ask(&mut query, asked, 0);
        let entry = shared.project(&query, &mut room);
        let now = shared.decode(&entry, &mut room);
        let mut playback = Playback::begin(self.skeleton(), &now.pose, asked);
        playback.follow(input.state, &shared.moment(&entry, &now, &mut room));
        Playing { entry, now, playback, room }
    }
}

impl Playing {
    /// Jumps to where the projector leads when that is nearer to what is asked for than going on.
    fn search(&mut self, shared: &Shared, asked: &Ahead) {
        let features = shared.features();
        let mut query = self.entry[..features].to_vec();
        shared.ask(&mut query, asked, POSE_WIDTH);
        let found = shared.project(&query, &mut self.room);
        if distance(&found[..features], &query) >= distance(&self.entry[..features], &query) {
            return;
        }
        let to = shared.decode(&found, &mut self.room);
        let old = shared.moment(&self.entry, &self.now, &mut self.room);
        let new = shared.moment(&found, &to, &mut self.room);
        self.playback.jump(&old, &new);
        (self.entry, self.now) = (found, to);
    }

    /// Moves on by a frame: displacement and turn of the root.
    fn advance(&mut self, shared: &Shared, asked: &Ahead) -> (Vec2, f32) {
        let (displacement, turn) = (self.now.velocity * FRAME_S, self.now.yaw_rate * FRAME_S);
        let last = POSE_WIDTH + 2 * (AHEAD.len() - 1);
        let scales = &shared.description.features;
        let goes = [last, last + 1].map(|at| self.entry[at] * scales.deviation[at] + scales.mean[at]);
        shared.step(&mut self.entry, &mut self.room);
        self.now = shared.decode(&self.entry, &mut self.room);
        self.playback.advance(asked, Vec2::from_array(goes), displacement, turn)
    }
}

impl Controller for LearnedController {
    fn step(
        &mut self,
        input: &InputFrame<'_>,
        _ground: &dyn Fn(f32, f32) -> f32,
    ) -> Result<OutputFrame, ControllerError> {
        let kind = ControllerKind::LearnedMatching.name();
        let asked = asked_of(&input.state.frame, input.keys);
        if asked.iter().any(|(place, yaw)| !(place.is_finite() && yaw.is_finite())) {
            return Err(ControllerError::InputNotFinite { kind });
        }
        let mut playing = match self.playing.take() {
            Some(playing) => playing,
            None => self.first(input, &asked),
        };
        let shared = &*self.shared;
        if playing.playback.searches(&asked, false) {
            playing.search(shared, &asked);
        }
        let moved = playing.advance(shared, &asked);
        if playing.entry.iter().any(|value| !value.is_finite()) {
            return Err(ControllerError::NotFinite { kind });
        }
        let pose = playing.now.pose.clone();
        let played = Played { gait: playing.now.gait, trajectory: playing.now.trajectory };
        let output = playing.playback.show(self.skeleton(), pose, moved, played, input);
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

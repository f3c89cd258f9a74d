use super::database::{MatchingDatabase, Place};
use super::features::{AHEAD, Ahead};
use super::inertia::Offset;
use crate::gated::held;
use crate::{Controller, ControllerError, ControllerKind};
use glam::{Quat, Vec2, Vec3};
use pomp_motion::features::{FUTURE_KEYS, InputFrame, KEY_OFFSETS, KEYS, OutputFrame, PAST_KEYS, WindowKey};
use pomp_motion::rotation::{angular_velocity, exp, from_yaw, log, wrap_angle};
use pomp_motion::{FRAME_RATE_HZ, Pose, RootFrame};
use std::sync::Arc;

const FRAME_S: f32 = 1.0 / FRAME_RATE_HZ;
/// Frames between searches.
const SEARCH_EVERY: usize = 6;
/// A change of the velocity that is asked for, since the last search, at which the next one is at once, m/s.
const VELOCITY_JUMP_M_S: f32 = 0.4;
/// A change of the turn that is asked for within a second, likewise, radians.
const TURN_JUMP_RAD: f32 = 0.5;

/// Time in which the root takes up half of a change of its adjustment, seconds.
const ADJUSTMENT_HALF_LIFE_S: f32 = 0.1;
/// Largest adjustment of the root, as a share of the clip's speed: feet slide by it. On 25 recordings it takes the mean distance from a
/// straight path from 8 to 5 cm, from a jog's from 49 to 26 cm; feet slide no more in walking, by a third in jogging. An adjustment of
/// the heading made circles worse.
const ADJUSTMENT_SHARE: f32 = 0.2;

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
    frames_since_search: usize,
    /// What was asked for at the last search.
    asked: Ahead,
    /// Per joint: rotation vectors in the parent's frame, applied on the left; the root's in the root frame.
    rotations: Vec<Offset>,
    /// Height of the pelvis above the ground, in y.
    height: Offset,
    /// Velocity on the ground (x, z) and rate of the heading (y) in the root frame.
    motion: Offset,
    /// Velocity on the ground (x, z) that is added to the clip's, towards what is asked for.
    adjustment: Vec2,
    /// Joint positions that were shown last, in the root frame of then.
    shown: Vec<Vec3>,
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
        AHEAD.map(|ahead| {
            let key = KEY_OFFSETS.iter().position(|offset| *offset == ahead as i32);
            let key = &keys[key.expect("the window has keys at 20, 40 and 60 frames")];
            let place = frame.ground_to_root(key.position.x, key.position.y);
            (place, wrap_angle(key.yaw - frame.yaw))
        })
    }

    /// The frame that is nearest to the pose and the trajectory of `input`; to the trajectory alone where phases are matched, which
    /// an input need not have.
    fn first(&self, input: &InputFrame<'_>, asked: &Ahead) -> Result<Playing, ControllerError> {
        let state = input.state;
        let query = self.database.query_of_pose(&state.positions_root, &state.velocities_root, asked);
        let place = match query {
            None => self.database.nth_by_path(asked, 0),
            Some(query) => {
                let found = self.database.nearest(&query, None, f32::INFINITY);
                found.ok_or(ControllerError::InputNotFinite { kind: ControllerKind::Matching.name() })?.0
            }
        };
        Ok(Playing::at(&self.database, place, asked))
    }
}

impl Playing {
    fn at(database: &MatchingDatabase, place: Place, asked: &Ahead) -> Self {
        let clip = database.clip(place.clip);
        Self {
            place,
            frames_since_search: 0,
            asked: *asked,
            rotations: vec![Offset::default(); database.skeleton().len()],
            height: Offset::default(),
            motion: Offset::default(),
            adjustment: Vec2::ZERO,
            shown: clip.positions_root(database.skeleton(), place.frame),
        }
    }

    /// Whether this frame is one to search in; `ends` when the clip does.
    fn is_due(&self, asked: &Ahead, ends: bool) -> bool {
        let (before, now) = (self.asked[AHEAD.len() - 1], asked[AHEAD.len() - 1]);
        let seconds = AHEAD[AHEAD.len() - 1] as f32 * FRAME_S;
        ends || self.frames_since_search >= SEARCH_EVERY
            || before.0.distance(now.0) > VELOCITY_JUMP_M_S * seconds
            || wrap_angle(now.1 - before.1).abs() > TURN_JUMP_RAD * seconds
    }

    /// Jumps to the best frame when it is better than going on; has to jump when the clip ends.
    fn search(&mut self, database: &MatchingDatabase, asked: &Ahead, ends: bool) {
        self.frames_since_search = 0;
        self.asked = *asked;
        let query = database.query(self.place, asked);
        let going_on = if ends { f32::INFINITY } else { database.distance(self.place, &query) };
        let mut found = database.nearest(&query, Some(self.place), going_on);
        if found.is_none() && ends {
            // Every entry is near the end of this clip.
            found = database.nearest(&query, None, going_on);
        }
        if let Some((to, _)) = found {
            self.jump(database, to);
        }
    }

    fn jump(&mut self, database: &MatchingDatabase, to: Place) {
        let (old, new) = (Rates::of(database, self.place), Rates::of(database, to));
        let (old_clip, new_clip) = (database.clip(self.place.clip), database.clip(to.clip));
        let pairs =
            old_clip.rotations_local[self.place.frame].iter().zip(&new_clip.rotations_local[to.frame]);
        for (joint, (offset, (from, to))) in self.rotations.iter_mut().zip(pairs).enumerate() {
            // The old offset stands on the left of the seam.
            let value = log((exp(offset.value) * *from * to.inverse()).normalize());
            *offset = Offset { value, rate: offset.rate + old.angular[joint] - new.angular[joint] };
        }
        let height = old_clip.roots[self.place.frame].height_m - new_clip.roots[to.frame].height_m;
        self.height.add(Vec3::Y * height, old.height - new.height);
        self.motion.add(old.motion - new.motion, Vec3::ZERO);
        self.place = to;
    }

    /// Leads the root towards where it is asked to be in a second, as far as the speed of the clip hides it.
    fn adjust(&mut self, database: &MatchingDatabase, asked: &Ahead, displacement: Vec2) {
        let last = AHEAD.len() - 1;
        let way = asked[last].0 - database.ahead(self.place)[last].0;
        let wanted = way / (AHEAD[last] as f32 * FRAME_S);
        let wanted = wanted.clamp_length_max(ADJUSTMENT_SHARE * displacement.length() / FRAME_S);
        self.adjustment += (wanted - self.adjustment) * (1.0 - (-FRAME_S / ADJUSTMENT_HALF_LIFE_S).exp2());
    }

    /// Moves on by a frame: displacement and turn of the root.
    fn advance(&mut self, database: &MatchingDatabase, asked: &Ahead) -> (Vec2, f32) {
        let (displacement, turn) = database.clip(self.place.clip).advance(self.place.frame);
        self.adjust(database, asked, displacement);
        self.place.frame += 1;
        self.frames_since_search += 1;
        for offset in self.rotations.iter_mut().chain([&mut self.height, &mut self.motion]) {
            offset.decay(FRAME_S);
        }
        let rest = self.motion.value;
        let velocity = Vec2::new(rest.x, rest.z) + self.adjustment;
        (displacement + velocity * FRAME_S, turn + rest.y * FRAME_S)
    }

    /// The clip's pose with what is left of the seams, over its root's place on the ground, facing +Z.
    fn pose(&self, database: &MatchingDatabase) -> Pose {
        let Pose { mut root_position, local_rotations } =
            database.clip(self.place.clip).pose_root(self.place.frame);
        root_position += self.height.value;
        let rotations = local_rotations.iter().zip(&self.rotations);
        let local_rotations: Vec<Quat> =
            rotations.map(|(rotation, offset)| (exp(offset.value) * *rotation).normalize()).collect();
        Pose { root_position, local_rotations }
    }

    /// Future keys from the present frame on: where the clip goes.
    fn trajectory(&self, database: &MatchingDatabase) -> [(Vec2, f32); FUTURE_KEYS] {
        let clip = database.clip(self.place.clip);
        std::array::from_fn(|key| {
            let (position, yaw) = clip.root_at(self.place.frame + KEY_OFFSETS[PAST_KEYS + key] as usize);
            clip.roots[self.place.frame].to_root(position, yaw)
        })
    }
}

/// How a clip moves from a frame to the next.
struct Rates {
    angular: Vec<Vec3>,
    height: Vec3,
    motion: Vec3,
}

impl Rates {
    fn of(database: &MatchingDatabase, place: Place) -> Self {
        let clip = database.clip(place.clip);
        // At a clip's last frame the step before it stands for the one that is not there.
        let from = place.frame.min(clip.frames().saturating_sub(2));
        let to = (from + 1).min(clip.frames() - 1);
        let (displacement, turn) = clip.advance(from);
        let pairs = clip.rotations_local[from].iter().zip(&clip.rotations_local[to]);
        Self {
            angular: pairs.map(|(a, b)| angular_velocity(*a, *b, FRAME_S)).collect(),
            height: Vec3::Y * ((clip.roots[to].height_m - clip.roots[from].height_m) / FRAME_S),
            motion: Vec3::new(displacement.x, turn, displacement.y) / FRAME_S,
        }
    }
}

impl Controller for MatchingController {
    fn step(
        &mut self,
        input: &InputFrame<'_>,
        _ground: &dyn Fn(f32, f32) -> f32,
    ) -> Result<OutputFrame, ControllerError> {
        let asked = Self::asked_of(&input.state.frame, input.keys);
        if asked.iter().any(|(place, yaw)| !(place.is_finite() && yaw.is_finite())) {
            return Err(ControllerError::InputNotFinite { kind: ControllerKind::Matching.name() });
        }
        let mut playing = match self.playing.take() {
            Some(playing) => playing,
            None => self.first(input, &asked)?,
        };
        let database = &*self.database;
        // The next frame has to have one after it, which its velocity is read from.
        let ends = playing.place.frame + 2 >= database.clip(playing.place.clip).frames();
        if playing.is_due(&asked, ends) {
            playing.search(database, &asked, ends);
        }
        let (displacement, turn) = playing.advance(database, &asked);
        let pose = playing.pose(database);
        let positions_root = database.skeleton().forward_kinematics(&pose).positions;
        let way = Vec3::new(displacement.x, 0.0, displacement.y);
        let velocities_root = positions_root
            .iter()
            .zip(&playing.shown)
            .map(|(now, before)| (*now - from_yaw(-turn) * (*before - way)) / FRAME_S)
            .collect();
        playing.shown.clone_from(&positions_root);
        let mut output = OutputFrame {
            positions_root,
            velocities_root,
            rotations_local: pose.local_rotations,
            root_velocity: displacement / FRAME_S,
            yaw_rate: turn / FRAME_S,
            gait: database.clip(playing.place.clip).gaits[playing.place.frame],
            trajectory: playing.trajectory(database),
            phase_codes: Vec::new(),
            phase_parameters: Vec::new(),
        };
        held(&mut output, input.phase_codes, input.phase_codes.len() / (2 * KEYS));
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

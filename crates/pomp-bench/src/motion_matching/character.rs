use super::database::{AHEAD, MatchingDatabase, Place, STRIDE};
use super::inertia::Offset;
use glam::{Quat, Vec2, Vec3};
use pomp_generator::{ControlPlan, FRAME_RATE_HZ};
use pomp_motion::features::CharacterState;
use pomp_motion::rotation::{angular_velocity, exp, from_yaw, log, wrap_angle};
use pomp_motion::{Pose, RootFrame};
use pomp_terrain::HeightMap;

const FRAME_S: f32 = 1.0 / FRAME_RATE_HZ;
/// Frames between searches.
const SEARCH_EVERY: usize = 6;
/// A find this near to what is played, in frames, is no jump.
const SAME_FRAMES: usize = 3 * STRIDE;
/// Distance to its path that a command leads back by within a second, metres.
const LEAD_BACK_M: f32 = 1.0;
/// Lag along the path beyond which the plan begins to wait, and at which it stands still, metres.
const WAITS_M: [f32; 2] = [0.25, 1.0];

/// A character that plays the clips of a [`MatchingDatabase`] along a plan.
pub struct MatchedCharacter<'a> {
    database: &'a MatchingDatabase,
    place: Place,
    frame: RootFrame,
    /// Where on the plan it is, in plan frames.
    plan_frame: f32,
    since_search: usize,
    /// Per joint: rotation vectors in the parent's frame, applied on the left; the root's in the root frame.
    rotations: Vec<Offset>,
    /// Height of the pelvis above the ground, in y.
    height: Offset,
    /// Velocity on the ground (x, z) and rate of the heading (y) in the root frame.
    motion: Offset,
}

impl<'a> MatchedCharacter<'a> {
    /// A character at the origin, facing +Z, in the frame whose path is the `choice`-th nearest, counted from 0, to what
    /// `plan` asks for. Matching draws no random numbers: where it begins is all that runs can differ in.
    pub fn new(database: &'a MatchingDatabase, plan: &ControlPlan, choice: usize) -> Self {
        let frame = RootFrame { origin: Vec3::ZERO, yaw: 0.0 };
        let place = database.nth_by_path(&asked_for(plan, 0.0, &frame), choice);
        let joints = database.states(place.clip)[place.frame].rotations_local.len();
        Self {
            database,
            place,
            frame,
            plan_frame: 0.0,
            since_search: 0,
            rotations: vec![Offset::default(); joints],
            height: Offset::default(),
            motion: Offset::default(),
        }
    }

    /// Clip and frame that are played.
    pub fn playing(&self) -> (usize, usize) {
        (self.place.clip, self.place.frame)
    }

    /// Where on the plan it is, in plan frames.
    pub fn plan_frame(&self) -> f32 {
        self.plan_frame
    }

    /// Moves on by one frame along `plan` over `terrain`: the new pose.
    pub fn step(&mut self, plan: &ControlPlan, terrain: &HeightMap) -> Pose {
        let ends = self.place.frame + 2 >= self.database.states(self.place.clip).len();
        self.since_search += 1;
        if ends || self.since_search >= SEARCH_EVERY {
            self.search(plan, ends);
        }
        let states = self.database.states(self.place.clip);
        let (displacement, turn) = advance(&states[self.place.frame], &states[self.place.frame + 1]);
        self.place.frame += 1;
        for offset in self.rotations.iter_mut().chain([&mut self.height, &mut self.motion]) {
            offset.decay(FRAME_S);
        }
        let rest = self.motion.value;
        self.frame =
            self.frame.advanced(displacement + Vec2::new(rest.x, rest.z) * FRAME_S, turn + rest.y * FRAME_S);
        self.frame.origin.y = terrain.smoothed_height(self.frame.origin.x, self.frame.origin.z);
        self.plan_frame += pace(plan, self.plan_frame, &self.frame);
        self.pose(&states[self.place.frame])
    }

    /// Jumps to the best frame when it is better than going on; has to jump when the clip ends.
    fn search(&mut self, plan: &ControlPlan, ends: bool) {
        self.since_search = 0;
        let query = self.database.query(self.place, &asked_for(plan, self.plan_frame, &self.frame));
        let (found, distance) = self.database.nearest(&query);
        let near = found.clip == self.place.clip && found.frame.abs_diff(self.place.frame) <= SAME_FRAMES;
        if !ends && (near || distance >= self.database.distance(self.place, &query)) {
            return;
        }
        self.jump(found);
    }

    fn jump(&mut self, to: Place) {
        let (old, new) = (self.rates(self.place), self.rates(to));
        let old_state = &self.database.states(self.place.clip)[self.place.frame];
        let new_state = &self.database.states(to.clip)[to.frame];
        for (joint, offset) in self.rotations.iter_mut().enumerate() {
            let seam = old_state.rotations_local[joint] * new_state.rotations_local[joint].inverse();
            // The old offset stands on the left of the seam.
            let value = log((exp(offset.value) * seam).normalize());
            *offset = Offset { value, rate: offset.rate + old.angular[joint] - new.angular[joint] };
        }
        let height = |state: &CharacterState| Vec3::Y * state.positions_root[0].y;
        self.height.add(height(old_state) - height(new_state), old.height - new.height);
        self.motion.add(old.motion - new.motion, Vec3::ZERO);
        self.place = to;
    }

    /// How a clip moves from a frame to the next.
    fn rates(&self, place: Place) -> Rates {
        let states = self.database.states(place.clip);
        // At a clip's last frame the step before it stands for the one that is not there.
        let from = place.frame.min(states.len().saturating_sub(2));
        let (a, b) = (&states[from], &states[(from + 1).min(states.len() - 1)]);
        let (displacement, turn) = advance(a, b);
        Rates {
            angular: a
                .rotations_local
                .iter()
                .zip(&b.rotations_local)
                .map(|(a, b)| angular_velocity(*a, *b, FRAME_S))
                .collect(),
            height: Vec3::Y * ((b.positions_root[0].y - a.positions_root[0].y) / FRAME_S),
            motion: Vec3::new(displacement.x, turn, displacement.y) / FRAME_S,
        }
    }

    /// The clip's pose with what is left of the seams.
    fn pose(&self, state: &CharacterState) -> Pose {
        let mut local_rotations: Vec<Quat> = state
            .rotations_local
            .iter()
            .zip(&self.rotations)
            .map(|(rotation, offset)| (exp(offset.value) * *rotation).normalize())
            .collect();
        local_rotations[0] = (from_yaw(self.frame.yaw) * local_rotations[0]).normalize();
        let height = state.positions_root[0].y + self.height.value.y;
        Pose { root_position: self.frame.origin + Vec3::Y * height, local_rotations }
    }
}

struct Rates {
    angular: Vec<Vec3>,
    height: Vec3,
    motion: Vec3,
}

/// Displacement in the first frame's root frame, and turn.
fn advance(from: &CharacterState, to: &CharacterState) -> (Vec2, f32) {
    let displacement = from.frame.ground_to_root(to.frame.origin.x, to.frame.origin.z);
    (displacement, wrap_angle(to.frame.yaw - from.frame.yaw))
}

/// Where a character in `frame` is asked to be at each time ahead: the plan, moved to the character and led back to its
/// own place.
fn asked_for(plan: &ControlPlan, plan_frame: f32, frame: &RootFrame) -> Vec<(Vec2, f32)> {
    let now = Vec2::new(frame.origin.x, frame.origin.z);
    let plan_now = plan.at(plan_frame);
    let aside = (plan_now.position - now).clamp_length_max(LEAD_BACK_M);
    let last = AHEAD[AHEAD.len() - 1] as f32;
    AHEAD
        .iter()
        .map(|&ahead| {
            let wanted = plan.at(plan_frame + ahead as f32);
            let place = now + (wanted.position - plan_now.position) + aside * (ahead as f32 / last);
            (frame.ground_to_root(place.x, place.y), wrap_angle(wanted.yaw - frame.yaw))
        })
        .collect()
}

/// Plan frames per frame: 1 unless the character has fallen behind.
fn pace(plan: &ControlPlan, plan_frame: f32, frame: &RootFrame) -> f32 {
    let now = plan.at(plan_frame);
    let behind = now.position - Vec2::new(frame.origin.x, frame.origin.z);
    let lag = behind.dot(Vec2::from(now.yaw.sin_cos()));
    let [from, to] = WAITS_M;
    // A plan that stands has nothing to wait for.
    if now.speed_mps < 0.05 { 1.0 } else { 1.0 - ((lag - from) / (to - from)).clamp(0.0, 1.0) }
}

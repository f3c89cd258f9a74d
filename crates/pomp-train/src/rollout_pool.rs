//! Scheduled sampling: characters that the model itself moves along training clips, so that it learns to go on
//! from where its own errors have led it. No gradient flows through time.

use crate::dataset::{Dataset, FRAME_RATE_HZ};
use crate::example::StateSource;
use glam::{Vec2, Vec3};
use pomp_motion::features::{BlockName, CharacterState, FeatureLayout, PAST_KEYS};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Distance from the clip beyond which a rollout is given up, metres.
const GIVEN_UP_BEYOND_M: f32 = 0.6;

/// Mean distance of the joints from the clip's, both in their root frames, beyond which it is given up, metres.
const GIVEN_UP_POSE_M: f32 = 0.15;

/// One character under way.
pub(crate) struct Rollout {
    pub clip: usize,
    pub frame: usize,
    pub state: CharacterState,
    /// Phase codes of present and future keys.
    pub codes: Vec<f32>,
    frames_left: usize,
}

impl Rollout {
    /// Starts on a clip's own state, with the phase codes that x has there.
    pub fn start(
        dataset: &Dataset,
        layout: &FeatureLayout,
        (clip, frame): (usize, usize),
        longest: usize,
        x: &[f32],
        rng: &mut ChaCha8Rng,
    ) -> Self {
        Self::start_of_length(dataset, layout, (clip, frame), rng.random_range(1..=longest.max(1)), x)
    }

    /// As [`Self::start`], of a length that is given.
    pub fn start_of_length(
        dataset: &Dataset,
        layout: &FeatureLayout,
        (clip, frame): (usize, usize),
        frames_left: usize,
        x: &[f32],
    ) -> Self {
        let width = 2 * layout.channels();
        let codes = x[layout.x_range(BlockName::PhaseCodes)][PAST_KEYS * width..].to_vec();
        let state = dataset.clips[clip].clean[frame].clone();
        Self { clip, frame, state, codes, frames_left }
    }

    /// Where its example comes from.
    pub fn source(&self) -> StateSource<'_> {
        StateSource::Predicted(&self.state, &self.codes)
    }

    /// Moves on by the model's prediction `y` (in its own units). False when it is over: too long, too far from
    /// the clip, at its end, or not finite.
    pub fn advance(&mut self, dataset: &Dataset, layout: &FeatureLayout, y: &[f32], margin: usize) -> bool {
        let clip = &dataset.clips[self.clip];
        let dt = 1.0 / FRAME_RATE_HZ;
        self.frames_left -= 1;
        if self.frames_left == 0
            || self.frame + 2 + margin >= clip.frames()
            || !clip.supported[self.frame + 1]
            || y.iter().any(|v| !v.is_finite())
        {
            return false;
        }
        let output = layout.read_y(y);
        let mut frame = output.next_frame(&self.state.frame, dt);
        frame.origin.y = clip.terrain.smoothed_height(frame.origin.x, frame.origin.z);
        let before = self.state.frame;
        let mut next = output.state_in(frame);
        if next.rotations_local.is_empty() {
            next.rotations_local.clone_from(&self.state.rotations_local);
        } else {
            // What the simulator will give back has whole bones and velocities that fit the positions.
            let world = dataset.skeleton.forward_kinematics(&next.to_pose());
            let old: Vec<Vec3> = self.state.positions_root.iter().map(|p| before.to_world(*p)).collect();
            next.positions_root = world.positions.iter().map(|p| frame.to_root(*p)).collect();
            next.velocities_root = world
                .positions
                .iter()
                .zip(&old)
                .map(|(new, old)| frame.vector_to_root((*new - *old) / dt))
                .collect();
            next.root_velocity = Vec2::new(next.velocities_root[0].x, next.velocities_root[0].z);
        }
        next.yaw_rate = CharacterState::yaw_rate_between(&before, &frame, dt);
        self.state = next;
        self.codes.copy_from_slice(&output.phase_codes);
        self.frame += 1;
        let clean = &clip.clean[self.frame];
        let away = frame.origin - clean.frame.origin;
        let pose = self.state.positions_root.iter().zip(&clean.positions_root);
        let pose = pose.map(|(a, b)| a.distance(*b)).sum::<f32>() / clean.positions_root.len() as f32;
        Vec2::new(away.x, away.z).length() < GIVEN_UP_BEYOND_M && pose < GIVEN_UP_POSE_M
    }
}

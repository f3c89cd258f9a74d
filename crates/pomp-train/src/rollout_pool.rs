//! Scheduled sampling: characters that the model itself moves along training clips, so that it learns to go on
//! from where its own errors, and the simulator's answer to them, have led it. No gradient flows through time.

use crate::dataset::{Dataset, FRAME_RATE_HZ};
use crate::example::{LedBody, StateSource, mean_distance};
use crate::gait_direction::{GaitDirection, GaitDirections};
use crate::own_window::{ClipCommand, OwnWindow};
use crate::practice_ground::practice_ground;
use crate::rows::normal;
use crate::{SimulatedRollouts, TrainError};
use glam::{Quat, Vec2, Vec3};
use pomp_generator::{Character, GeneratorConfig, PhaseReader, unhindered};
use pomp_motion::features::OutputFrame;
use pomp_motion::features::{BlockName, CharacterState, FeatureLayout, KEYS, PAST_KEYS, WindowKey};
use pomp_motion::{Gait, Skeleton};
use pomp_physics::Push;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Distance from the clip beyond which a rollout is given up, metres.
const GIVEN_UP_BEYOND_M: f32 = 0.6;

/// Mean distance of the joints from the clip's, both in their root frames, beyond which it is given up, metres.
const GIVEN_UP_POSE_M: f32 = 0.15;

/// The same two bounds for a simulated body, which may be on its way back from a push.
const SIMULATED_GIVEN_UP_BEYOND_M: f32 = 0.8;
const SIMULATED_GIVEN_UP_POSE_M: f32 = 0.2;

/// Weight of the difference of velocities beside that of positions where the nearest pose is looked for, seconds.
const RETIMED_BY_S: f32 = 0.1;

/// Frames of the clip that a reader of phases is given when a rollout starts: half a window.
const REMEMBERED_FRAMES: usize = 60;

/// What moves a rollout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RolloutKind {
    /// The model's prediction is the next pose.
    Unhindered,
    /// The model's prediction is the target of a simulated body.
    Simulated,
}

/// One character under way.
pub(crate) struct Rollout {
    pub clip: usize,
    /// Where it is on the path of the clip.
    pub frame: usize,
    /// The frame of the clip whose pose it is led on from: that of the path, unless it was retimed.
    pub pose_frame: usize,
    pub state: CharacterState,
    /// Phase codes of present and future keys.
    pub codes: Vec<f32>,
    /// The gait and direction that it is kept at, whatever its clip goes on to do.
    pub kept_at: Option<GaitDirection>,
    frames_left: usize,
    simulated: Option<Simulated>,
    /// Reads the phase code off its motion, as the closed loop does; without it codes are the model's own.
    phases: Option<Box<PhaseReader>>,
    /// The window that it makes for itself, where it is not shown the clip's.
    own: Option<OwnWindow>,
}

/// What a simulated character has besides.
struct Simulated {
    character: Character,
    contact_impulse: Vec<Vec3>,
    settings: SimulatedRollouts,
    rng: ChaCha8Rng,
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
        Self {
            clip,
            frame,
            pose_frame: frame,
            state,
            codes,
            kept_at: None,
            frames_left,
            simulated: None,
            phases: None,
            own: None,
        }
    }

    /// Turns every joint by an angle of the deviation `spread_rad` about each axis: a pose that no clip has, as long rollouts come to.
    pub fn astray(mut self, skeleton: &Skeleton, spread_rad: f32, rng: &mut ChaCha8Rng) -> Self {
        for turn in &mut self.state.rotations_local {
            let axis = Vec3::from_array(std::array::from_fn(|_| normal(rng))) * spread_rad;
            *turn = (*turn * Quat::from_scaled_axis(axis)).normalize();
        }
        let frame = self.state.frame;
        let places = skeleton.forward_kinematics(&self.state.to_pose()).positions;
        self.state.positions_root = places.iter().map(|place| frame.to_root(*place)).collect();
        self
    }

    /// Gives the character a body in the closed loop's simulator, on ground drawn from `seed` and pushed now and then.
    ///
    /// # Errors
    /// A setting that the simulator refuses.
    pub fn with_body(
        mut self,
        dataset: &Dataset,
        settings: &SimulatedRollouts,
        seed: u64,
    ) -> Result<Self, TrainError> {
        let clip = &dataset.clips[self.clip];
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let start = Vec2::new(self.state.frame.origin.x, self.state.frame.origin.z);
        let ground = practice_ground(start, &mut rng)?;
        let mut closed_loop = GeneratorConfig::default();
        closed_loop.layers.pose_blending.share = settings.pose_feedback;
        let character = Character::new(&dataset.skeleton, ground, &closed_loop, self.state.clone())?;
        self.simulated = Some(Simulated {
            character,
            contact_impulse: clip.sim_contact_impulse(self.frame).to_vec(),
            settings: *settings,
            rng,
        });
        Ok(self)
    }

    /// From now on its present phase code is read off its motion, as in the loop.
    pub fn with_phases(mut self, dataset: &Dataset, reader: &PhaseReader) -> Self {
        let clip = &dataset.clips[self.clip];
        let mut reader = reader.clone();
        let first = self.frame.saturating_sub(REMEMBERED_FRAMES);
        reader.restart(&clip.clean[first]);
        clip.clean[first..=self.frame].iter().for_each(|state| reader.push(state));
        self.phases = Some(Box::new(reader));
        self
    }

    /// Lets it make the window for itself, as the loop does.
    pub fn with_own_window(mut self, dataset: &Dataset, layout: &FeatureLayout) -> Self {
        let width = 2 * layout.channels();
        self.own = Some(OwnWindow::of_clip(&dataset.clips[self.clip], self.frame, width));
        self
    }

    /// How far its pose is from that of a frame of a clip, both in their root frames: mean distance of the joints, metres, and that of
    /// their velocities by [`RETIMED_BY_S`].
    pub fn apart(&self, dataset: &Dataset, (clip, frame): (usize, usize)) -> f32 {
        let clean = &dataset.clips[clip].clean[frame];
        mean_distance(&self.state.positions_root, &clean.positions_root)
            + RETIMED_BY_S * mean_distance(&self.state.velocities_root, &clean.velocities_root)
    }

    /// The gait of the clip where it is on its path.
    pub fn gait(&self, dataset: &Dataset) -> Gait {
        Gait::dominant(&dataset.clips[self.clip].recording.gait[self.frame])
    }

    /// Whether its clip leads it on for so many frames.
    pub fn has_frames(&self, dataset: &Dataset, frames: usize, margin: usize) -> bool {
        let clip = &dataset.clips[self.clip];
        let ends = |frame: usize| {
            frame + frames + margin + 2 >= clip.frames()
                || clip.supported[frame..=frame + frames].iter().any(|supported| !supported)
        };
        self.frames_left > frames && !ends(self.frame) && !ends(self.pose_frame)
    }

    /// From now on leads it along another clip, with its pose, its phases and its window, for so many frames at most.
    pub fn carry_to(&mut self, dataset: &Dataset, (clip, frame): (usize, usize), frames_left: usize) {
        let from = self.state.frame;
        self.state.frame = dataset.clips[clip].clean[frame].frame;
        if let Some(own) = &mut self.own {
            own.carry(&from, &self.state.frame);
        }
        (self.clip, self.frame, self.pose_frame, self.frames_left) = (clip, frame, frame, frames_left);
    }

    /// From now on leads it to what follows the nearest pose of its clip within so many frames of the path's that has as many `frames`
    /// after it, in the same gait: a command asks for no moment of the gait. On uneven ground the pose stays that of the place.
    pub fn retime(
        &mut self,
        dataset: &Dataset,
        directions: Option<&GaitDirections>,
        (reach, frames): (usize, usize),
        margin: usize,
    ) {
        let clip = &dataset.clips[self.clip];
        if reach == 0 || !clip.level {
            return;
        }
        let last = (self.frame + reach).min(clip.frames().saturating_sub(margin + frames + 3));
        let near = (self.frame.saturating_sub(reach).max(margin)..=last).filter(|at| {
            let is_alike =
                clip.supported[*at] && Gait::dominant(&clip.recording.gait[*at]) == self.gait(dataset);
            let kept = self.kept_at.zip(directions);
            is_alike
                && kept.is_none_or(|(direction, directions)| {
                    directions.keeps(direction, (self.clip, *at), frames)
                })
        });
        let apart = |frame: &usize| self.apart(dataset, (self.clip, *frame));
        if let Some(nearest) = near.min_by(|a, b| apart(a).total_cmp(&apart(b))) {
            self.pose_frame = nearest;
        }
    }

    /// Keys and phase codes of the window that it makes for itself, on a clip of this command.
    ///
    /// # Panics
    /// When it makes none.
    pub fn own_window(&self, dataset: &Dataset, command: &ClipCommand) -> ([WindowKey; KEYS], Vec<f32>) {
        let own = self.own.as_ref().expect("the rollout was started with its own window");
        (own.keys(&dataset.clips[self.clip], command, self.frame, &self.state), own.codes(&self.codes))
    }

    /// What moves it.
    pub fn kind(&self) -> RolloutKind {
        if self.simulated.is_some() { RolloutKind::Simulated } else { RolloutKind::Unhindered }
    }

    /// Where its example comes from.
    pub fn source(&self) -> StateSource<'_> {
        match &self.simulated {
            None => StateSource::Predicted(&self.state, &self.codes),
            Some(body) => StateSource::Led(LedBody {
                character: &body.character,
                contact_impulse: &body.contact_impulse,
                codes: &self.codes,
                pose_left: body.settings.pose_left,
            }),
        }
    }

    /// Moves on by the model's prediction `y` (in its own units). False when it is over: too long, too far from
    /// the clip, at its end, not finite, or, with a body, at something that is not practised.
    pub fn advance(&mut self, dataset: &Dataset, layout: &FeatureLayout, y: &[f32], margin: usize) -> bool {
        let clip = &dataset.clips[self.clip];
        self.frames_left -= 1;
        if self.frames_left == 0
            || self.frame.max(self.pose_frame) + 2 + margin >= clip.frames()
            || !clip.supported[self.frame + 1]
            || !clip.supported[self.pose_frame + 1]
            || y.iter().any(|v| !v.is_finite())
        {
            return false;
        }
        let output = layout.read_y(y);
        let width = 2 * layout.channels();
        let before = self.codes[..width].to_vec();
        self.codes.copy_from_slice(&output.phase_codes);
        self.frame += 1;
        self.pose_frame += 1;
        let (farthest, worst_pose) = match &mut self.simulated {
            Some(body) => {
                if !dataset.clips[self.clip].is_practised(self.frame, body.settings.jogs) {
                    return false;
                }
                let Some(simulated) = body.advance(&output) else { return false };
                if !self.read_phases(&simulated, &before, &output) {
                    return false;
                }
                let body = self.simulated.as_ref().expect("it was there a line ago");
                self.state.clone_from(body.character.state());
                (SIMULATED_GIVEN_UP_BEYOND_M, SIMULATED_GIVEN_UP_POSE_M)
            }
            None => {
                let mut frame = output.next_frame(&self.state.frame, 1.0 / FRAME_RATE_HZ);
                frame.origin.y = clip.terrain.smoothed_height(frame.origin.x, frame.origin.z);
                if let Some(own) = &mut self.own {
                    own.follow(&self.state, &before, &output, &frame);
                }
                let next = unhindered(&dataset.skeleton, &self.state, &output, frame);
                if !self.read_phases(&next, &before, &output) {
                    return false;
                }
                self.state = next;
                (GIVEN_UP_BEYOND_M, GIVEN_UP_POSE_M)
            }
        };
        let clean = &clip.clean[self.frame];
        let away = self.state.frame.origin - clean.frame.origin;
        let pose = mean_distance(&self.state.positions_root, &clip.clean[self.pose_frame].positions_root);
        Vec2::new(away.x, away.z).length() < farthest && pose < worst_pose
    }

    /// Reads the phase code after the code `before` off its motion to `state`, where it has what to read it with. False when that is no
    /// number.
    fn read_phases(&mut self, state: &CharacterState, before: &[f32], output: &OutputFrame) -> bool {
        let Some(phases) = &mut self.phases else { return true };
        phases.push(state);
        let Ok(code) = phases.update(before, output) else { return false };
        self.codes[..before.len()].copy_from_slice(&code);
        true
    }
}

impl Simulated {
    /// Simulates one frame towards a prediction. The body, or none when the simulator gave up.
    fn advance(&mut self, output: &OutputFrame) -> Option<CharacterState> {
        self.character.aim(output);
        let mut push = Vec::new();
        if self.rng.random::<f32>() * FRAME_RATE_HZ < self.settings.pushes_per_s {
            let angle = self.rng.random_range(0.0..std::f32::consts::TAU);
            let strength = self.rng.random_range(0.0..=self.settings.largest_push_ns);
            push.push(Push {
                body: self.rng.random_range(0..self.contact_impulse.len()),
                impulse_ns: Vec3::new(angle.sin(), 0.0, angle.cos()) * strength,
                point: None,
            });
        }
        let frame = self.character.simulate(&push, 0).ok().filter(|frame| frame.recovered.is_none())?;
        let body = self.character.take_over(&frame);
        self.contact_impulse.copy_from_slice(&frame.contact_impulse);
        Some(body)
    }
}

//! Phases of the recordings that a report is made of.

use crate::ReportError;
use glam::Vec3;
use pomp_motion::{FrameTable, Gait};
use pomp_phase::{PhaseState, VelocityWindow, WindowConfig, WindowEncoder};
use pomp_train::{FRAME_RATE_HZ, TrainingClip};

/// Windows that are encoded at once.
const BATCH: usize = 128;

/// The clean phases of one clip.
pub struct ClipPhases<'a> {
    /// The clip.
    pub clip: &'a TrainingClip,
    /// Velocities of the clip `[T, J]`, m/s, each frame in its own root frame.
    pub velocities: FrameTable<Vec3>,
    /// First frame that was read; frames nearer to the ends have no whole window.
    first: usize,
    stride: usize,
    states: Vec<PhaseState>,
}

impl<'a> ClipPhases<'a> {
    /// Reads every `stride`-th frame that is at least `edge` frames inside the clip.
    pub fn read(
        clip: &'a TrainingClip,
        encoder: &WindowEncoder,
        window: &WindowConfig,
        edge: usize,
        stride: usize,
    ) -> Result<Self, ReportError> {
        let velocities = velocities(&clip.clean);
        let edge = edge.min((clip.frames() - 1) / 2);
        let frames: Vec<usize> = (edge..clip.frames() - edge).step_by(stride).collect();
        let mut states = Vec::with_capacity(frames.len());
        for chunk in frames.chunks(BATCH) {
            let windows: Vec<VelocityWindow> =
                chunk.iter().map(|&frame| window.cut(&velocities, frame)).collect::<Result<_, _>>()?;
            states.extend(encoder.encode_all(&windows.iter().collect::<Vec<_>>())?);
        }
        Ok(Self { clip, velocities, first: edge, stride, states })
    }

    /// Frames that were read and whose replay is near the clip, with their gait and phases.
    pub fn frames(&self) -> impl Iterator<Item = (usize, Gait, &PhaseState)> {
        self.states
            .iter()
            .enumerate()
            .map(move |(at, state)| (self.first + at * self.stride, state))
            .filter(move |(frame, _)| self.clip.supported[*frame])
            .map(move |(frame, state)| (frame, Gait::dominant(&self.clip.recording.gait[frame]), state))
    }

    /// The phases at any frame; where none were read, those of the nearest frame run on.
    pub fn at(&self, frame: usize) -> PhaseState {
        let last = self.states.len() - 1;
        let at = (frame.saturating_sub(self.first) / self.stride).min(last);
        let read = self.first + at * self.stride;
        self.states[at].advanced((frame as f32 - read as f32) / FRAME_RATE_HZ)
    }
}

/// Frames in a row of one gait in one clip.
pub struct Run<'a> {
    /// Name of the clip.
    pub name: &'a str,
    /// The phases of its frames.
    pub states: Vec<&'a PhaseState>,
}

/// The runs of a gait, longest first, clips in their order among equals.
pub fn runs<'a>(clips: &'a [ClipPhases<'a>], gait: Gait) -> Vec<Run<'a>> {
    let mut runs: Vec<Run<'a>> = Vec::new();
    for clip in clips {
        let mut before = None;
        for (frame, _, state) in clip.frames().filter(|(_, found, _)| *found == gait) {
            if before.is_none_or(|before: usize| before + 1 != frame) {
                runs.push(Run { name: &clip.clip.recording.name, states: Vec::new() });
            }
            before = Some(frame);
            let run = runs.last_mut().expect("the first frame of a clip starts a run");
            run.states.push(state);
        }
    }
    runs.sort_by_key(|run| std::cmp::Reverse(run.states.len()));
    runs
}

/// Joint velocities of states, `[T, J]`.
pub fn velocities(states: &[pomp_motion::features::CharacterState]) -> FrameTable<Vec3> {
    let mut table = FrameTable::with_columns(states[0].velocities_root.len());
    for state in states {
        table.push(&state.velocities_root);
    }
    table
}

/// Shifts of a channel over a run without their jumps, turns.
pub fn unwrapped(run: &Run<'_>, channel: usize) -> Vec<f32> {
    let mut total = 0.0;
    let mut before = None;
    let turns = run.states.iter().map(|state| state.channels[channel].shift_turns);
    turns
        .map(|turn| {
            let step: f32 = before.map_or(turn, |before: f32| turn - before);
            total += step - if before.is_some() { step.round() } else { 0.0 };
            before = Some(turn);
            total
        })
        .collect()
}

/// Slope per second and R² of a line through values one frame apart.
pub fn line(values: &[f32]) -> (f32, f32) {
    let n = values.len() as f32;
    let (mean_x, mean_y) = ((n - 1.0) / 2.0, values.iter().sum::<f32>() / n);
    let (mut xy, mut xx, mut yy) = (0.0, 0.0, 0.0);
    for (x, y) in values.iter().enumerate() {
        let (x, y) = (x as f32 - mean_x, y - mean_y);
        xy += x * y;
        xx += x * x;
        yy += y * y;
    }
    (FRAME_RATE_HZ * xy / xx, xy * xy / (xx * yy).max(f32::MIN_POSITIVE))
}

use crate::manifold::expect_size;
use crate::{PhaseError, TargetSpan, VelocityWindow, WindowConfig};
use pomp_config::{Fields, OutOfRange};
use pomp_motion::FrameTable;
use pomp_motion::features::KEY_OFFSETS;
use pomp_motion::glam::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Bound;

/// How the window of the aligned encoder is put together around frame i: simulated velocities up to i, "artificial
/// simulated" ones for the near future, target velocities for the rest (POMP, aligned PAE).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StitchConfig {
    /// Number of frames after i that are extrapolated from the simulation; 20 by default. With fewer, the encoder sees less of
    /// the simulation's state; with more, guesses replace targets.
    pub near_frames: usize,
    /// Time constant with which the last acceleration decays, seconds; 0.1 by default (ours). The velocity settles at v +
    /// a·decay, so with a long time constant the jolt of a contact grows without limit.
    pub decay_s: f32,
    /// Largest acceleration that is extrapolated, m/s²; 30 by default (ours). Larger accelerations, which come from the jolts
    /// of contacts, are clamped to it.
    pub max_acceleration: f32,
}

impl Default for StitchConfig {
    fn default() -> Self {
        Self { near_frames: 20, decay_s: 0.1, max_acceleration: 30.0 }
    }
}

impl StitchConfig {
    /// # Errors
    /// [`PhaseError::OutOfRange`].
    pub fn validate(&self, window: &WindowConfig) -> Result<(), PhaseError> {
        window.validate()?;
        Ok(self.check_in(window, &Fields::root().section("stitch"))?)
    }

    /// Checks every range, for a window.
    ///
    /// # Errors
    /// The first field outside its range.
    pub fn check_in(&self, window: &WindowConfig, fields: &Fields) -> Result<(), OutOfRange> {
        fields.within("near_frames", self.near_frames, ..=window.radius_frames)?;
        let positive = (Bound::Excluded(0.0), Bound::Unbounded);
        fields.within("decay_s", self.decay_s, positive)?;
        fields.within("max_acceleration", self.max_acceleration, positive)
    }

    /// Frames of target velocities that a window takes: 40 by default, for i+21 … i+60.
    pub fn far_frames(&self, window: &WindowConfig) -> usize {
        window.radius_frames - self.near_frames
    }

    /// The target velocities that a window takes, from phases predicted at the future keys of the features.
    pub fn target_span(&self, window: &WindowConfig) -> TargetSpan {
        TargetSpan {
            key_spacing: (KEY_OFFSETS[1] - KEY_OFFSETS[0]) as usize,
            first_frame: self.near_frames + 1,
            last_frame: window.radius_frames,
        }
    }

    /// Extrapolated velocity `ahead` frames after the last simulated one:
    /// v + a·τ (1 − exp(−t/τ)), t = ahead / rate, |a| at most [`Self::max_acceleration`]. It differs from v by
    /// no more than τ·max_acceleration, however far ahead.
    pub fn near_velocity(
        &self,
        velocity: Vec3,
        acceleration: Vec3,
        ahead: usize,
        frame_rate_hz: f32,
    ) -> Vec3 {
        let time_s = ahead as f32 / frame_rate_hz;
        let acceleration = acceleration.clamp_length_max(self.max_acceleration);
        velocity + acceleration * (self.decay_s * (1.0 - (-time_s / self.decay_s).exp()))
    }

    /// Writes the extrapolated velocities of the frames after the last one, [`Self::near_velocity`] of every joint: one row of
    /// `near` per frame.
    ///
    /// # Panics
    /// When the rows differ in their number of joints.
    pub fn extrapolate(
        &self,
        before: &[Vec3],
        last: &[Vec3],
        frame_rate_hz: f32,
        near: &mut FrameTable<Vec3>,
    ) {
        for ahead in 0..near.frames() {
            let row = &mut near[ahead];
            assert_eq!([before.len(), last.len()], [row.len(); 2], "rows of one skeleton");
            for (near, (&before, &last)) in row.iter_mut().zip(before.iter().zip(last)) {
                let acceleration = (last - before) * frame_rate_hz;
                *near = self.near_velocity(last, acceleration, ahead + 1, frame_rate_hz);
            }
        }
    }

    /// The stitched window around frame i.
    ///
    /// `past` holds simulated velocities of i−radius … i (61 frames), `far` target velocities of
    /// i+near+1 … i+radius (40 frames), `[frames, J]` in m/s, each frame in its own root frame. The last
    /// acceleration is the difference of the last two simulated frames. At the start of a run, the
    /// caller repeats its first frame to fill `past`.
    ///
    /// # Errors
    /// [`PhaseError::SizeMismatch`]; [`PhaseError::NotFinite`] with the frame of the window as row.
    pub fn stitch(
        &self,
        window: &WindowConfig,
        past: &FrameTable<Vec3>,
        far: &FrameTable<Vec3>,
    ) -> Result<VelocityWindow, PhaseError> {
        let radius = window.radius_frames;
        expect_size("simulated frames of a stitched window", radius + 1, past.frames())?;
        expect_size("target frames of a stitched window", self.far_frames(window), far.frames())?;
        expect_size("joints of the target velocities", past.columns(), far.columns())?;
        let (before, last) = (&past[radius - 1], &past[radius]);
        let mut near = FrameTable::filled(self.near_frames, past.columns(), Vec3::ZERO);
        self.extrapolate(before, last, window.frame_rate_hz, &mut near);
        let near_end = radius + self.near_frames;
        VelocityWindow::from_frames(past.columns(), window.frames(), |index| {
            if index <= radius {
                &past[index]
            } else if index <= near_end {
                &near[index - radius - 1]
            } else {
                &far[index - near_end - 1]
            }
        })
    }
}

use super::TerrainFitError;
use glam::Vec3;
use pomp_motion::{FrameTable, Gait, Recording, Skeleton, humanoid};

/// What the fit needs to know of a clip.
#[derive(Clone, Debug, PartialEq)]
pub struct FitInput {
    /// Clip name, for messages.
    pub name: String,
    /// Frames per second.
    pub frame_rate_hz: f32,
    /// Points on the soles `[T, 4]`, world, metres: straight below left ankle, left toe, right ankle, right
    /// toe, by the height that the joint has above the sole of a level foot.
    pub soles: FrameTable<Vec3>,
    /// Contact of those four points per frame.
    pub contacts: Vec<[bool; 4]>,
    /// Gait weights per frame.
    pub gait: Vec<[f32; Gait::COUNT]>,
    /// Smallest x, z and largest x, z of all joints over the clip, metres.
    pub extent: [[f32; 2]; 2],
}

impl FitInput {
    /// Takes soles, contacts and gaits from a recording of the project skeleton.
    pub fn of_recording(recording: &Recording) -> Self {
        let (ankle, toe) = sole_heights(&recording.skeleton);
        let points = [
            (humanoid::LEFT_FOOT, ankle),
            (humanoid::LEFT_TOE, toe),
            (humanoid::RIGHT_FOOT, ankle),
            (humanoid::RIGHT_TOE, toe),
        ];
        let mut soles = FrameTable::with_columns(4);
        let mut extent = [[f32::INFINITY; 2], [f32::NEG_INFINITY; 2]];
        for row in recording.positions.rows() {
            soles.push(&points.map(|(joint, height)| row[joint.0] - Vec3::Y * height));
            for p in row {
                extent[0] = [extent[0][0].min(p.x), extent[0][1].min(p.z)];
                extent[1] = [extent[1][0].max(p.x), extent[1][1].max(p.z)];
            }
        }
        Self {
            name: recording.name.clone(),
            frame_rate_hz: recording.frame_rate_hz,
            soles,
            contacts: recording.foot_contact.clone(),
            gait: recording.gait.clone(),
            extent,
        }
    }

    /// Number of frames, T.
    pub fn frames(&self) -> usize {
        self.soles.frames()
    }

    pub(super) fn validate(&self) -> Result<(), TerrainFitError> {
        let bad = |reason: String| TerrainFitError::BadInput { name: self.name.clone(), reason };
        let frames = self.frames();
        if frames == 0 || self.soles.columns() != 4 {
            return Err(bad("has no frames with four sole points".to_owned()));
        }
        if self.contacts.len() != frames || self.gait.len() != frames {
            return Err(bad(format!(
                "has {frames} frames of soles but {} of contacts and {} of gaits",
                self.contacts.len(),
                self.gait.len()
            )));
        }
        if !(self.frame_rate_hz.is_finite() && self.frame_rate_hz > 0.0) {
            return Err(bad(format!("has a frame rate of {} Hz", self.frame_rate_hz)));
        }
        for (frame, row) in self.soles.rows().enumerate() {
            if let Some(point) = row.iter().position(|p| !p.is_finite()) {
                return Err(bad(format!("has a sole that is not finite at frame {frame}, point {point}")));
            }
        }
        if !self.extent.as_flattened().iter().all(|v| v.is_finite()) {
            return Err(bad("has joint positions that are not finite".to_owned()));
        }
        Ok(())
    }
}

/// Heights of ankle and toe joint above the sole of a level foot, metres; body height from the legs.
pub fn sole_heights(skeleton: &Skeleton) -> (f32, f32) {
    let leg = |s: &Skeleton| {
        [humanoid::LEFT_LEG, humanoid::LEFT_FOOT].iter().map(|j| s.joints()[j.0].offset.length()).sum::<f32>()
    };
    let height = leg(skeleton) / leg(&Skeleton::humanoid(1.0));
    let ankle = humanoid::ANKLE_HEIGHT * height;
    let toe_below_ankle = -skeleton.joints()[humanoid::LEFT_TOE.0].offset.y;
    (ankle, (ankle - toe_below_ankle).max(0.25 * humanoid::TOE_HEIGHT * height))
}

/// Sole points of feet of which neither point touches, upright or not.
pub fn lifted_points(input: &FitInput, frame: usize) -> impl Iterator<Item = usize> {
    let contact = input.contacts[frame];
    (0..4).filter(move |point| !contact[point & 2] && !contact[(point & 2) + 1])
}

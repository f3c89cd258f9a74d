use crate::{MotionKind, MotionRequest};
use pomp_motion::{Clip, Gait, Recording};
use pomp_terrain::HeightMap;

/// A motion of which everything is known.
#[derive(Clone, Debug)]
pub struct SyntheticClip {
    /// The motion of the project skeleton at 60 Hz.
    pub clip: Clip,
    /// The ground that it was made for.
    pub terrain: HeightMap,
    /// Per frame, whether left heel, left toe, right heel and right toe are on the ground: within 1.5 mm of
    /// their foothold. The heel is the sole under the ankle, the toe the sole under the toe joint.
    pub foot_contact: Vec<[bool; 4]>,
    /// Gait per frame, one-hot.
    pub gait: Vec<[f32; Gait::COUNT]>,
}

impl SyntheticClip {
    /// The clip as a recording, with terrain, contacts and gaits filled in.
    pub fn recording(&self) -> Recording {
        Recording {
            gait: self.gait.clone(),
            foot_contact: self.foot_contact.clone(),
            terrain: Some(self.terrain.grid().clone()),
            source: "synthetic (pomp-synthetic)".to_owned(),
            license: "CC0-1.0".to_owned(),
            ..Recording::of_clip(&self.clip)
        }
    }
}

impl MotionRequest {
    /// Name of the clip: kind, speed, turn rate and seed.
    pub fn name(&self) -> String {
        let kind = match self.kind {
            MotionKind::Stand => return format!("stand_{}", self.seed),
            MotionKind::Walk => "walk",
            MotionKind::Jog => "jog",
            MotionKind::Jump => "jump",
            MotionKind::StopAndGo => "stop_and_go",
        };
        format!("{kind}_{:.2}_{:+.2}_{}", self.speed_m_s, self.turn_rate_rad_s, self.seed)
    }
}

use crate::planted_foot::{FootPose, PlantedFoot};
use pomp_motion::smoothstep;

/// One stay of a foot on the ground.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stance {
    /// When it comes down; −∞ when it was always there.
    pub(crate) from_s: f32,
    /// When it leaves; +∞ when it never does.
    pub(crate) until_s: f32,
    pub(crate) foothold: PlantedFoot,
    /// Pitch at contact, radians; negative is heel first, positive toe first.
    pub(crate) strike_pitch: f32,
    /// Time to come flat.
    pub(crate) flatten_s: f32,
    /// Pitch when the toes leave.
    pub(crate) rise_pitch: f32,
    /// Duration of the heel rise.
    pub(crate) rise_s: f32,
}

/// Pitch below which an end of the sole still counts as on the ground, radians: it is then 1.1 mm up.
const FLAT_PITCH: f32 = 0.008;

impl Stance {
    /// A foot that lies flat for ever.
    pub(crate) fn resting(foothold: PlantedFoot) -> Self {
        Self {
            from_s: f32::NEG_INFINITY,
            until_s: f32::INFINITY,
            foothold,
            strike_pitch: 0.0,
            flatten_s: 0.1,
            rise_pitch: 0.0,
            rise_s: 0.1,
        }
    }

    pub(crate) fn contains(&self, time: f32) -> bool {
        time >= self.from_s && time <= self.until_s
    }

    /// Pitch of the foot against its foothold: the strike decays, then the heel rises with growing speed.
    pub(crate) fn pitch(&self, time: f32) -> f32 {
        let strike = self.strike_pitch * (1.0 - smoothstep((time - self.from_s) / self.flatten_s));
        let rise = ((time - self.until_s) / self.rise_s + 1.0).clamp(0.0, 1.0);
        strike + self.rise_pitch * rise * rise
    }

    /// Rate of the pitch when the toes leave, rad/s.
    pub(crate) fn leaving_pitch_rate(&self) -> f32 {
        2.0 * self.rise_pitch / self.rise_s
    }

    pub(crate) fn pose(&self, time: f32) -> FootPose {
        self.foothold.rolled(self.pitch(time))
    }

    /// Whether heel and toe are on the ground at a time of this stance.
    pub(crate) fn contact(&self, time: f32) -> [bool; 2] {
        let pitch = self.pitch(time);
        [pitch <= FLAT_PITCH, pitch >= -FLAT_PITCH]
    }
}

use crate::curves::{JOG, LegCurves, WALK};

/// Timing and shape of a cyclic gait at one speed.
#[derive(Clone, Copy)]
pub(crate) struct Style {
    pub(crate) curves: &'static LegCurves,
    /// Time from contact to the next contact of the same foot.
    pub(crate) stride_s: f32,
    /// Share of the stride that a foot is down.
    pub(crate) duty: f32,
    /// Share of the stance at which the ankle passes under the hip.
    pub(crate) pass_under: f32,
    /// Half the distance between the lines of the feet, metres.
    pub(crate) half_width_m: f32,
    /// Upward pitch of the foot at contact, radians.
    pub(crate) strike_pitch: f32,
    /// Pitch of the heel rise at toe-off, radians.
    pub(crate) rise_pitch: f32,
    /// Shares of the stance that the foot takes to come flat, and that the heel rise takes.
    pub(crate) flatten: f32,
    pub(crate) rise: f32,
    /// Forward lean of the trunk, radians.
    pub(crate) lean: f32,
    /// Pelvis drop against standing while moving, metres.
    pub(crate) drop_m: f32,
    /// How much lower the pelvis is on average while a leg swings, metres.
    pub(crate) sag_m: f32,
    /// Shoulder swing per metre between the feet, rad/m, and elbow flexion at rest of the swing, radians.
    pub(crate) arm_gain: f32,
    pub(crate) elbow: f32,
    /// Whether the pelvis follows the ballistics of a gait with flight.
    pub(crate) ballistic: bool,
}

impl Style {
    /// Walking. Stride frequency grows with the root of speed (Grieve and Gear 1966); the duty factor falls
    /// from 0.64 at 0.7 m/s to 0.61 at 1.6 m/s.
    pub(crate) fn walk(speed_m_s: f32, size: f32) -> Self {
        let stride_s = speed_m_s.powf(-0.5) / 0.85 * size.sqrt();
        let brisk = (speed_m_s / 1.3).min(1.2);
        Self {
            curves: &WALK,
            stride_s,
            duty: 0.67 - 0.04 * speed_m_s,
            pass_under: 0.365,
            half_width_m: 0.055 * size,
            strike_pitch: 0.32 * brisk,
            rise_pitch: 0.95 * brisk.sqrt(),
            flatten: 0.16,
            rise: 0.48,
            lean: 0.03 + 0.02 * speed_m_s,
            drop_m: 0.008 * size,
            sag_m: 0.025 * size,
            arm_gain: 0.55 / size,
            elbow: 0.35,
            ballistic: false,
        }
    }

    /// Jogging: stance of about 0.27 s and flight of about 0.09 s at 2.5 m/s (Novacheck 1998).
    pub(crate) fn jog(speed_m_s: f32, size: f32) -> Self {
        let stride_s = size.sqrt() / (1.28 + 0.04 * speed_m_s);
        Self {
            curves: &JOG,
            stride_s,
            duty: 0.45 - 0.03 * speed_m_s,
            pass_under: 0.36,
            half_width_m: 0.04 * size,
            strike_pitch: 0.12,
            rise_pitch: 0.8,
            flatten: 0.15,
            rise: 0.6,
            lean: 0.10 + 0.01 * speed_m_s,
            drop_m: 0.028 * size,
            sag_m: 0.05 * size,
            arm_gain: 0.75 / size,
            elbow: 1.45,
            ballistic: true,
        }
    }

    /// Time that a foot is down, seconds.
    pub(crate) fn stance_s(&self) -> f32 {
        self.duty * self.stride_s
    }

    /// Time that a foot is in the air, seconds.
    pub(crate) fn swing_s(&self) -> f32 {
        (1.0 - self.duty) * self.stride_s
    }
}

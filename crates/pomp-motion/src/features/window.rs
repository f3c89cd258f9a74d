use crate::Gait;
use glam::Vec2;

/// Number of keys in the window, L + 1.
pub const KEYS: usize = 13;
/// Keys before the present.
pub const PAST_KEYS: usize = 6;
/// Keys of the future half, the present among them: T = L/2 + 1.
pub const FUTURE_KEYS: usize = KEYS - PAST_KEYS;
/// Frame offsets of the keys at 60 Hz: one second back to one second ahead, six keys a second.
pub const KEY_OFFSETS: [i32; KEYS] = [-60, -50, -40, -30, -20, -10, 0, 10, 20, 30, 40, 50, 60];

/// Where the character is, looks and what it does at one key of the window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowKey {
    /// Root on the ground plane, world x and z, metres.
    pub position: Vec2,
    /// Heading, radians.
    pub yaw: f32,
    /// Gait weights.
    pub gait: [f32; Gait::COUNT],
}

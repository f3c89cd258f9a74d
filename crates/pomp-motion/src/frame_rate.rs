/// Frame rate of windows, training and the closed loop, Hz; preprocessing resamples every clip to it.
pub const FRAME_RATE_HZ: f32 = 60.0;

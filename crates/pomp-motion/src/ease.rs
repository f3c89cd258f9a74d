/// 3t² − 2t³ on [0, 1], constant outside: from 0 to 1 with zero slope at both ends.
pub fn smoothstep(t: f32) -> f32 {
    let t = t.clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// [`smoothstep`] of the place of `at` between `low`, where it is 0, and `high`, where it is 1.
pub fn smoothstep_between(low: f32, high: f32, at: f32) -> f32 {
    smoothstep((at - low) / (high - low))
}

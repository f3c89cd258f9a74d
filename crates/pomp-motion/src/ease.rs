/// 3t² − 2t³ on [0, 1], constant outside: from 0 to 1 with zero slope at both ends.
pub fn smoothstep(t: f32) -> f32 {
    let t = t.clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

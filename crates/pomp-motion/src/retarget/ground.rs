use super::proportions::sole_heights;
use crate::{GlobalPose, Skeleton, humanoid};

/// A heel or ball of the foot slower than this rests on something, m/s.
const RESTING_SPEED: f32 = 0.3;
/// Heights within this of each other are one level of ground, metres.
const LEVEL_HALF_WIDTH_M: f32 = 0.015;
/// The lowest level must carry at least this share of what the busiest level carries: a foot that dips below
/// the floor for a few frames is noise, the foot of the stairs is not.
const LEVEL_SHARE: f32 = 0.25;

/// Height of the lowest level that soles rest on, metres: where the source has its ground.
pub(super) fn lowest_ground(skeleton: &Skeleton, poses: &[GlobalPose], frame_rate_hz: f32) -> f32 {
    let (ankle_height, toe_height) = sole_heights(skeleton);
    let points = [
        (humanoid::LEFT_FOOT, ankle_height),
        (humanoid::LEFT_TOE, toe_height),
        (humanoid::RIGHT_FOOT, ankle_height),
        (humanoid::RIGHT_TOE, toe_height),
    ];
    let mut resting = Vec::new();
    let mut lowest = Vec::with_capacity(poses.len());
    for (frame, pose) in poses.iter().enumerate() {
        let (before, after) = (frame.saturating_sub(1), (frame + 1).min(poses.len() - 1));
        let seconds = (after - before).max(1) as f32 / frame_rate_hz;
        let soles = points.map(|(joint, height)| pose.positions[joint.0].y - height);
        lowest.push(soles.into_iter().fold(f32::INFINITY, f32::min));
        for ((joint, _), sole) in points.into_iter().zip(soles) {
            let way = poses[after].positions[joint.0].distance(poses[before].positions[joint.0]);
            if way / seconds < RESTING_SPEED {
                resting.push(sole);
            }
        }
    }
    // A clip in which nothing rests (a flight, a sprint) has only its lowest points to go by.
    lowest_level(if resting.len() * 10 >= poses.len() { resting } else { lowest })
}

/// The lowest height around which samples gather.
fn lowest_level(mut samples: Vec<f32>) -> f32 {
    samples.sort_by(f32::total_cmp);
    let within = |centre: f32| {
        let from = samples.partition_point(|&h| h < centre - LEVEL_HALF_WIDTH_M);
        let to = samples.partition_point(|&h| h <= centre + LEVEL_HALF_WIDTH_M);
        (from, to)
    };
    let count = |centre: f32| {
        let (from, to) = within(centre);
        to - from
    };
    let busiest = samples.iter().map(|&h| count(h)).max().unwrap_or(0);
    let enough = (LEVEL_SHARE * busiest as f32).ceil() as usize;
    let Some(&first) = samples.iter().find(|&&h| count(h) >= enough) else { return 0.0 };
    // From the first sample with enough company uphill to the middle of its level.
    let mut level = first;
    for &height in samples.iter().filter(|&&h| h >= first) {
        if height - level > LEVEL_HALF_WIDTH_M {
            break;
        }
        if count(height) > count(level) {
            level = height;
        }
    }
    let (from, to) = within(level);
    samples[(from + to) / 2]
}

#[cfg(test)]
mod tests {
    use super::lowest_level;

    #[test]
    fn the_lowest_busy_level_is_the_ground_and_dips_below_it_are_noise() {
        let mut samples = vec![-0.08, -0.05, -0.03];
        samples.extend((0..100).map(|i| 0.002 * (i % 7) as f32));
        samples.extend((0..300).map(|i| 0.4 + 0.002 * (i % 7) as f32));
        let level = lowest_level(samples);
        assert!((0.0..0.012).contains(&level), "{level}");
    }

    #[test]
    fn one_sample_is_its_own_level() {
        assert_eq!(lowest_level(vec![0.3]), 0.3);
    }
}

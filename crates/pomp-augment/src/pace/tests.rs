#![allow(clippy::print_stdout, reason = "tests say what they measured")]

use super::*;
use pomp_synthetic::{MotionKind, MotionRequest, generate};
use pomp_terrain::HeightMap;

fn made(kind: MotionKind, speed_m_s: f32) -> (Clip, Recording) {
    let ground = HeightMap::flat(60.0, 0.5).unwrap();
    let request = MotionRequest { speed_m_s, duration_s: 6.0, ..MotionRequest::new(kind) };
    let made = generate(&request, &ground).unwrap();
    let mut recording = Recording::of_clip(&made.clip);
    recording.foot_contact = made.foot_contact;
    recording.gait = made.gait;
    (made.clip, recording)
}

#[test]
fn a_slowed_walk_goes_at_its_share_of_the_pace_and_its_planted_feet_stay_where_they_are() {
    let (clip, recording) = made(MotionKind::Walk, 1.2);
    let config = PaceConfig { variants: 2, ..PaceConfig::default() };
    for variant in 0..2 {
        let slow = pace(&clip, &recording, &config, variant, "walk").unwrap();
        let (low, high) = (0.35 + 0.225 * variant as f32, 0.575 + 0.225 * variant as f32);
        assert!((low..=high).contains(&slow.share), "variant {variant} has {}", slow.share);

        let speed = |clip: &Clip| {
            let way = clip.poses[clip.frames() - 1].root_position - clip.poses[0].root_position;
            ground(way).length() / clip.duration_s()
        };
        let ratio = speed(&slow.clip) / speed(&clip);
        // A frame of the clip is where a frame of the slowed one is, slower by the square root.
        let rate = slow.share.sqrt();
        let poses = slow.clip.global_poses();
        let mut fastest = 0.0f32;
        for frame in 1..poses.len() {
            let at = frame as f32 * rate;
            let (before, after) = ((at - rate).floor() as usize, (at.ceil() as usize).min(clip.frames() - 1));
            for (foot, leg) in LEGS.into_iter().enumerate() {
                // Flat on the ground throughout: heel and toe.
                let planted = (before..=after)
                    .all(|t| recording.foot_contact[t][2 * foot] && recording.foot_contact[t][2 * foot + 1]);
                if planted {
                    let moved = poses[frame].positions[leg[2].0] - poses[frame - 1].positions[leg[2].0];
                    fastest = fastest.max(moved.length() * clip.frame_rate_hz);
                }
            }
        }
        println!("share {:.2}: speed {ratio:.3} of the clip's, planted ankles {fastest:.3} m/s", slow.share);
        assert!((ratio - slow.share).abs() < 0.03);
        assert!(fastest < 0.05, "planted feet slide");
    }
}

#[test]
fn a_pace_of_one_leaves_the_clip_as_it_is() {
    let (clip, recording) = made(MotionKind::Walk, 1.2);
    let config = PaceConfig { variants: 1, share: [1.0, 1.0], ..PaceConfig::default() };
    let same = pace(&clip, &recording, &config, 0, "walk").unwrap().clip;
    assert_eq!(same.frames(), clip.frames());
    let farthest = same
        .global_poses()
        .iter()
        .zip(clip.global_poses())
        .flat_map(|(a, b)| {
            a.positions.iter().zip(b.positions).map(|(p, q)| p.distance(q)).collect::<Vec<_>>()
        })
        .fold(0.0, f32::max);
    println!("farthest joint: {farthest} m");
    assert!(farthest < 0.02);
}

#[test]
fn only_walks_ahead_have_slower_variants() {
    let config = PaceConfig { variants: 1, ..PaceConfig::default() };
    for (kind, speed) in [(MotionKind::Stand, 0.0), (MotionKind::Jog, 2.4)] {
        let (clip, recording) = made(kind, speed);
        assert!(pace(&clip, &recording, &config, 0, "other").is_err());
    }
    let (clip, recording) = made(MotionKind::Walk, 0.5);
    assert!(pace(&clip, &recording, &config, 0, "slow already").is_err());
}

#![allow(clippy::print_stdout, reason = "tests say what they measured")]

use super::*;
use pomp_config::{Fields, Validate};
use pomp_estimate::terrain_fit::{GroundKind, fit_terrain};
use pomp_motion::GlobalPose;
use pomp_synthetic::{MotionKind, MotionRequest, generate};

const KINDS: [ReliefKind; 5] =
    [ReliefKind::Slope, ReliefKind::Steps, ReliefKind::Hills, ReliefKind::Rough, ReliefKind::Gaps];

/// A walk on level ground with its exact contacts.
fn walk(speed_m_s: f32, duration_s: f32) -> (Clip, Recording) {
    let ground = HeightMap::flat(60.0, 0.5).unwrap();
    let request = MotionRequest { speed_m_s, duration_s, ..MotionRequest::new(MotionKind::Walk) };
    let made = generate(&request, &ground).unwrap();
    let mut recording = Recording::of_clip(&made.clip);
    recording.foot_contact = made.foot_contact;
    recording.gait = made.gait;
    (made.clip, recording)
}

fn warped(clip: &Clip, recording: &Recording, kind: ReliefKind, config: &WarpConfig, stream: &str) -> Warped {
    let terrain = TerrainFitConfig::default();
    warp(clip, recording, 0.0, kind, &terrain, config, stream).unwrap().unwrap()
}

#[test]
fn planted_feet_of_a_warped_clip_meet_the_relief_within_a_centimetre() {
    let (clip, recording) = walk(1.2, 6.0);
    for kind in KINDS {
        for stream in ["a", "b"] {
            let made = warped(&clip, &recording, kind, &WarpConfig::default(), stream);
            let (low, high) = made.map.min_max();
            println!(
                "{}: {low:.2} to {high:.2} m, planted p95 {:.2} cm",
                made.description,
                100.0 * made.planted_p95_m
            );
            assert!(high - low > 0.03, "{} is hardly a relief", made.description);
            assert!(made.planted_p95_m < 0.01, "{}: {}", made.description, made.planted_p95_m);
        }
    }
}

#[test]
fn a_relief_of_no_height_leaves_the_clip_as_it_is() {
    let (clip, recording) = walk(1.3, 4.0);
    let none = WarpConfig {
        slope_deg: [0.0; 2],
        hills_deg: [0.0; 2],
        rough_m: [0.0; 2],
        step_m: [0.0; 2],
        gap_depth_m: [0.0; 2],
        ..WarpConfig::default()
    };
    let before = clip.global_poses();
    for kind in KINDS {
        let made = warped(&clip, &recording, kind, &none, "still");
        for (frame, (a, b)) in before.iter().zip(made.clip.global_poses()).enumerate() {
            for (joint, (p, q)) in a.positions.iter().zip(&b.positions).enumerate() {
                let moved = p.distance(*q);
                // The knee of an almost straight leg goes a little towards its anatomical side.
                let knee = LEGS.iter().any(|leg| leg[1].0 == joint);
                assert!(
                    moved < if knee { 5e-3 } else { 1e-3 },
                    "{}: joint {joint} of frame {frame} moved by {moved} m",
                    kind.name()
                );
            }
        }
    }
}

#[test]
fn swinging_feet_stay_above_the_steps() {
    let (clip, recording) = walk(1.2, 8.0);
    let (ankle_m, toe_m) = sole_heights(&clip.skeleton);
    let sole = Sole { ankle_m, toe_m, toes_m: TOES_OVER_ANKLE * ankle_m };
    let clear = |made: &Warped, poses: &[GlobalPose]| {
        let (mut inside, mut swing, mut deepest) = (0usize, 0usize, 0.0f32);
        for (frame, pose) in poses.iter().enumerate() {
            for (foot, leg) in LEGS.into_iter().enumerate() {
                let contact = recording.foot_contact[frame];
                if contact[2 * foot] || contact[2 * foot + 1] {
                    continue;
                }
                for p in feet::soles(pose, leg, sole) {
                    let depth = made.map.height(p.x, p.z) - p.y;
                    swing += 1;
                    inside += usize::from(depth > 0.01);
                    deepest = deepest.max(depth);
                }
            }
        }
        (inside as f32 / swing as f32, deepest)
    };
    let mut before = 0.0f32;
    for (kind, stream) in
        ["a", "b", "c"].into_iter().flat_map(|s| [(ReliefKind::Steps, s), (ReliefKind::Stairs, s)])
    {
        let made = warped(&clip, &recording, kind, &WarpConfig::default(), stream);
        let (share, deepest) = clear(&made, &made.clip.global_poses());
        let (unwarped, _) = clear(&made, &clip.global_poses());
        println!(
            "{}: {:.1} % inside by up to {:.1} cm; the clip itself {:.0} %",
            made.description,
            100.0 * share,
            100.0 * deepest,
            100.0 * unwarped
        );
        assert!(share < 0.02, "{share} of the swing is inside");
        if kind == ReliefKind::Steps {
            before = before.max(unwarped);
        }
    }
    assert!(before > 0.1, "the control: the clip itself walks through steps that rise");
}

#[test]
fn the_pelvis_rises_with_the_slope_and_no_leg_is_out_of_reach() {
    let (clip, recording) = walk(1.2, 6.0);
    for kind in [ReliefKind::Slope, ReliefKind::Steps, ReliefKind::Hills] {
        let made = warped(&clip, &recording, kind, &WarpConfig::default(), "pelvis");
        let height = |clip: &Clip, frame: usize, map: Option<&HeightMap>| {
            let p = clip.poses[frame].root_position;
            p.y - map.map_or(0.0, |map| map.smoothed_height(p.x, p.z))
        };
        let worst = (0..clip.frames())
            .map(|f| (height(&made.clip, f, Some(&made.map)) - height(&clip, f, None)).abs())
            .fold(0.0f32, f32::max);
        println!("{}: the pelvis is at most {:.1} cm off", made.description, 100.0 * worst);
        assert!(worst < 0.2, "{}: {worst}", made.description);
    }
}

#[test]
fn on_stairs_each_step_takes_a_tread_in_the_time_of_a_step_of_the_clip() {
    let (clip, recording) = walk(1.2, 8.0);
    for stream in ["a", "b", "c"] {
        let made = warped(&clip, &recording, ReliefKind::Stairs, &WarpConfig::default(), stream);
        let again = with_contacts(&made.clip, &recording);
        let input = FitInput::of_recording(&again);
        let mut footholds = stances(&input);
        footholds.sort_by_key(|stance| stance.frames.start);
        let height = |place: glam::Vec2| made.map.height(place.x, place.y);
        let uneven = footholds.iter().map(|s| (height(s.heel) - height(s.toe)).abs()).fold(0.0f32, f32::max);
        let steps: Vec<(f32, f32)> = footholds
            .windows(2)
            .map(|pair| {
                let [a, b] = [pair[0].centre(), pair[1].centre()];
                (a.distance(b), (height(b) - height(a)).abs())
            })
            // A stance that rolls from heel to toe can count as two.
            .filter(|step| step.0 > 0.15)
            .collect();
        let long = steps.iter().map(|step| step.0).sum::<f32>() / steps.len() as f32;
        let risen = steps.iter().filter(|step| step.1 > 0.08).count();
        let highest = steps.iter().map(|step| step.1).fold(0.0f32, f32::max);
        println!(
            "{}: {} steps of {long:.2} m, {risen} of them with a riser, of at most {highest:.3} m; the two ends of a sole \
             differ by at most {uneven:.3} m",
            made.description,
            steps.len()
        );
        assert_eq!(made.clip.frames(), clip.frames(), "the steps take as long as those of the clip");
        assert!((0.25..0.45).contains(&long), "{long}");
        assert!(2 * risen > steps.len() && highest < 0.21, "{risen} risers of up to {highest} m");
        assert!(uneven < 0.05, "a sole on a riser, which is a cell wide: {uneven}");
        assert!(made.planted_p95_m < 0.02, "{}", made.planted_p95_m);
    }
}

#[test]
fn a_walk_backward_has_no_stairs() {
    let (clip, recording) = walk(1.2, 4.0);
    let (config, terrain) = (WarpConfig::default(), TerrainFitConfig::default());
    let mut turned = clip.reversed();
    turned.name.clone_from(&clip.name);
    let mut back = Recording::of_clip(&turned);
    back.foot_contact = recording.foot_contact.iter().rev().copied().collect();
    back.gait = recording.gait.iter().rev().copied().collect();
    let outcome = warp(&turned, &back, 0.0, ReliefKind::Stairs, &terrain, &config, "s").unwrap();
    assert_eq!(outcome.err().as_deref(), Some("it does not walk ahead"));
}

#[test]
fn the_same_name_gives_the_same_relief_and_another_name_another() {
    let (clip, recording) = walk(1.2, 3.0);
    let made = |stream| warped(&clip, &recording, ReliefKind::Hills, &WarpConfig::default(), stream);
    assert!(made("a").map == made("a").map && made("a").clip == made("a").clip);
    assert!(made("a").map != made("b").map);
}

#[test]
fn the_terrain_fit_finds_the_relief_under_the_feet_again() {
    let (clip, recording) = walk(1.2, 8.0);
    for kind in [ReliefKind::Slope, ReliefKind::Steps, ReliefKind::Hills] {
        let made = warped(&clip, &recording, kind, &WarpConfig::default(), "fit");
        let mut again = Recording::of_clip(&made.clip);
        again.foot_contact.clone_from(&recording.foot_contact);
        again.gait.clone_from(&recording.gait);
        let input = FitInput::of_recording(&again);
        let fit = fit_terrain(&input, &TerrainFitConfig::default(), 0).unwrap();
        let mut squares = (0.0f32, 0usize);
        for frame in 0..input.frames() {
            for (p, touches) in input.soles[frame].iter().zip(input.contacts[frame]) {
                if touches {
                    squares.0 += (fit.map.height(p.x, p.z) - made.map.height(p.x, p.z)).powi(2);
                    squares.1 += 1;
                }
            }
        }
        let rms = (squares.0 / squares.1 as f32).sqrt();
        println!("{}: {:?}, rms {:.2} cm under the feet", made.description, fit.report.ground, 100.0 * rms);
        assert!(fit.report.ground != GroundKind::Flat && rms < 0.03);
    }
}

#[test]
fn a_clip_that_stands_still_has_no_room_for_steps() {
    let ground = HeightMap::flat(20.0, 0.5).unwrap();
    let request = MotionRequest { duration_s: 3.0, ..MotionRequest::new(MotionKind::Stand) };
    let made = generate(&request, &ground).unwrap();
    let mut recording = Recording::of_clip(&made.clip);
    recording.foot_contact = made.foot_contact;
    recording.gait = made.gait;
    let terrain = TerrainFitConfig::default();
    let config = WarpConfig::default();
    let outcome = warp(&made.clip, &recording, 0.0, ReliefKind::Steps, &terrain, &config, "s").unwrap();
    let reason = outcome.err().unwrap();
    assert!(reason.contains("no room for steps"), "{reason}");
}

#[test]
fn rejects_ranges_that_are_none() {
    let refused = |config: WarpConfig, word: &str| {
        let reason = config.check(&Fields::root()).expect_err("out of range").to_string();
        assert!(reason.contains(word), "{reason}");
    };
    refused(WarpConfig { slope_deg: [5.0, 2.0], ..WarpConfig::default() }, "slope_deg");
    refused(WarpConfig { step_m: [0.1, f32::NAN], ..WarpConfig::default() }, "step_m");
    refused(WarpConfig { tread_m: [0.1, 0.3], ..WarpConfig::default() }, "tread_m");
    refused(WarpConfig { riser_m: [0.1, 0.4], ..WarpConfig::default() }, "riser_m");
    refused(WarpConfig { kinds: Vec::new(), ..WarpConfig::default() }, "kinds");
    refused(WarpConfig { variants: 1000, ..WarpConfig::default() }, "variants");
}

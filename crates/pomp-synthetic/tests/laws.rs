//! What a synthetic motion promises: planted feet, sound joints, the speed asked for, repeatability, symmetry.

#![expect(clippy::unwrap_used, reason = "helpers of tests, outside the functions that clippy exempts")]

use pomp_motion::glam::{Quat, Vec3};
use pomp_motion::rotation::{log, swing_twist};
use pomp_motion::{FRAME_RATE_HZ, Gait, GlobalPose, JointIndex, humanoid};
use pomp_synthetic::{Ends, MotionKind, MotionRequest, Side, SyntheticClip, SyntheticError, generate};
use pomp_terrain::{HeightMap, preset};

fn flat() -> HeightMap {
    HeightMap::flat(200.0, 1.0).unwrap()
}

/// Rolling hills, up to about 12° steep.
fn hills() -> HeightMap {
    HeightMap::from_fn(401, 401, [-40.0, -40.0], 0.2, |x, z| {
        0.27 * (0.7 * z).sin() + 0.15 * (0.6 * x + 1.0).cos()
    })
    .unwrap()
}

fn request(kind: MotionKind) -> MotionRequest {
    MotionRequest { duration_s: 6.0, seed: 5, ..MotionRequest::new(kind) }
}

/// One of every kind, straight and turning, steady and from stand to stand.
fn requests() -> Vec<MotionRequest> {
    let walk = request(MotionKind::Walk);
    vec![
        request(MotionKind::Stand),
        MotionRequest { speed_m_s: 0.7, ..walk.clone() },
        walk.clone(),
        MotionRequest { speed_m_s: 1.6, turn_rate_rad_s: 0.5, ..walk.clone() },
        MotionRequest { speed_m_s: 1.0, turn_rate_rad_s: -0.8, first_foot: Side::Right, ..walk.clone() },
        MotionRequest { ends: Ends::Standing, ..walk },
        request(MotionKind::Jog),
        MotionRequest { turn_rate_rad_s: 0.4, ..request(MotionKind::Jog) },
        request(MotionKind::Jump),
        MotionRequest { duration_s: 9.0, ..request(MotionKind::StopAndGo) },
    ]
}

fn soles(pose: &GlobalPose, body_height_m: f32) -> [Vec3; 4] {
    let sole = |joint: JointIndex, height: f32| {
        pose.positions[joint.0] - pose.rotations[joint.0] * Vec3::Y * (height * body_height_m)
    };
    [
        sole(humanoid::LEFT_FOOT, humanoid::ANKLE_HEIGHT),
        sole(humanoid::LEFT_TOE, humanoid::TOE_HEIGHT),
        sole(humanoid::RIGHT_FOOT, humanoid::ANKLE_HEIGHT),
        sole(humanoid::RIGHT_TOE, humanoid::TOE_HEIGHT),
    ]
}

/// Largest slide within one contact, deepest penetration and highest float in contact, metres.
fn contact_errors(made: &SyntheticClip) -> [f32; 3] {
    let poses = made.clip.global_poses();
    let (mut slide, mut depth, mut float) = (0.0f32, 0.0f32, 0.0f32);
    let mut planted: [Option<Vec3>; 4] = [None; 4];
    for (pose, contact) in poses.iter().zip(&made.foot_contact) {
        for (point, sole) in soles(pose, 1.75).into_iter().enumerate() {
            let height = sole.y - made.terrain.height(sole.x, sole.z);
            depth = depth.max(-height);
            if contact[point] {
                let at = *planted[point].get_or_insert(sole);
                slide = slide.max((sole.x - at.x).hypot(sole.z - at.z));
                float = float.max(height);
            } else {
                planted[point] = None;
            }
        }
    }
    [slide, depth, float]
}

#[test]
fn planted_feet_neither_slide_nor_sink_nor_float() {
    for terrain in [flat(), hills()] {
        for request in requests() {
            let made = generate(&request, &terrain).unwrap();
            let [slide, depth, float] = contact_errors(&made).map(|m| m * 1e3);
            println!("{}: slide {slide:.3} mm, depth {depth:.3} mm, float {float:.3} mm", request.name());
            assert!(slide < 1.0, "{}: feet slide by {slide} mm", request.name());
            assert!(depth < 5.0, "{}: feet sink by {depth} mm", request.name());
            assert!(float < 2.5, "{}: feet in contact float by {float} mm", request.name());
        }
    }
}

#[test]
fn stairs_and_presets_can_be_walked() {
    for name in ["stairs", "slope", "rough"] {
        let terrain = pomp_terrain::generate(&preset(name).unwrap(), 3).unwrap();
        let request = MotionRequest { speed_m_s: 0.9, ..request(MotionKind::Walk) };
        let made = generate(&request, &terrain).unwrap();
        let [slide, depth, _] = contact_errors(&made).map(|m| m * 1e3);
        println!("{name}: slide {slide:.3} mm, depth {depth:.3} mm");
        assert!(slide < 1.0 && depth < 5.0, "{name}: slide {slide} mm, depth {depth} mm");
    }
}

/// Flexion of a joint about its left axis, radians; positive bends like a knee.
fn flexion(made: &SyntheticClip, frame: usize, joint: JointIndex) -> f32 {
    let (_, twist) = swing_twist(made.clip.poses[frame].local_rotations[joint.0], Vec3::X);
    log(twist).x
}

#[test]
fn joints_stay_within_anatomical_ranges() {
    // Flexion in degrees: hip −35…125, knee 0…145, ankle 60 plantar…45 dorsal, toe 70 (after the norms of the
    // American Academy of Orthopaedic Surgeons; ankle and toe are wider when loaded).
    for terrain in [flat(), hills()] {
        for request in requests() {
            let made = generate(&request, &terrain).unwrap();
            let range = |joint: JointIndex| {
                let angles = (0..made.clip.frames()).map(|f| flexion(&made, f, joint).to_degrees());
                angles.fold((f32::MAX, f32::MIN), |(low, high), a| (low.min(a), high.max(a)))
            };
            for [hip, knee, ankle, toe] in [
                [humanoid::LEFT_UP_LEG, humanoid::LEFT_LEG, humanoid::LEFT_FOOT, humanoid::LEFT_TOE],
                [humanoid::RIGHT_UP_LEG, humanoid::RIGHT_LEG, humanoid::RIGHT_FOOT, humanoid::RIGHT_TOE],
            ] {
                let name = request.name();
                let within = |what: &str, (low, high): (f32, f32), least: f32, most: f32| {
                    assert!(low >= least && high <= most, "{name}: {what} {low:.1}…{high:.1}°");
                };
                within("hip (extension positive)", range(hip), -125.0, 35.0);
                within("knee", range(knee), 0.5, 145.0);
                within("ankle (plantar positive)", range(ankle), -45.0, 60.0);
                within("toe (flexion positive)", range(toe), -70.0, 15.0);
            }
            for (frame, pose) in made.clip.poses.iter().enumerate() {
                for (joint, limit) in [
                    (humanoid::SPINE, 30.0),
                    (humanoid::SPINE1, 30.0),
                    (humanoid::SPINE2, 30.0),
                    (humanoid::NECK, 45.0),
                    (humanoid::HEAD, 45.0),
                    (humanoid::LEFT_FORE_ARM, 145.0),
                    (humanoid::RIGHT_FORE_ARM, 145.0),
                ] {
                    let angle = log(pose.local_rotations[joint.0]).length().to_degrees();
                    assert!(angle < limit, "{}: joint {} bends {angle}° at {frame}", request.name(), joint.0);
                }
            }
        }
    }
}

#[test]
fn knees_bend_forward() {
    for request in requests() {
        let made = generate(&request, &hills()).unwrap();
        for pose in made.clip.global_poses() {
            for [hip, knee, ankle] in [
                [humanoid::LEFT_UP_LEG, humanoid::LEFT_LEG, humanoid::LEFT_FOOT],
                [humanoid::RIGHT_UP_LEG, humanoid::RIGHT_LEG, humanoid::RIGHT_FOOT],
            ] {
                let [h, k, a] = [hip, knee, ankle].map(|j| pose.positions[j.0]);
                let line = (a - h).normalize();
                let bulge = (k - h) - line * (k - h).dot(line);
                let forward = pose.rotations[0] * Vec3::Z;
                assert!(bulge.dot(forward) > 0.0, "{}", request.name());
            }
        }
    }
}

#[test]
fn the_root_travels_at_the_speed_asked_for() {
    for (kind, speed) in
        [(MotionKind::Walk, 0.7), (MotionKind::Walk, 1.3), (MotionKind::Walk, 1.6), (MotionKind::Jog, 2.5)]
    {
        for turn_rate_rad_s in [0.0, 0.5] {
            let asked =
                MotionRequest { speed_m_s: speed, turn_rate_rad_s, duration_s: 10.0, ..request(kind) };
            let made = generate(&asked, &flat()).unwrap();
            // Sums of sway cancel over a stride: the distance is measured along strides of half a second.
            let at = |frame: usize| made.clip.poses[frame].root_position * Vec3::new(1.0, 0.0, 1.0);
            let along: f32 = (0..600)
                .map(|frame| {
                    let yaw = turn_rate_rad_s * (frame as f32 + 0.5) / FRAME_RATE_HZ;
                    (at(frame + 1) - at(frame)).dot(Vec3::new(yaw.sin(), 0.0, yaw.cos()))
                })
                .sum();
            let measured = along / 10.0;
            assert!((measured / speed - 1.0).abs() < 0.02, "{}: {measured} m/s", asked.name());
        }
    }
}

#[test]
fn a_turning_walk_ends_where_the_circle_does() {
    let turn = 0.5;
    let asked = MotionRequest { turn_rate_rad_s: turn, duration_s: 8.0, ..request(MotionKind::Walk) };
    let made = generate(&asked, &flat()).unwrap();
    let radius = asked.speed_m_s / turn;
    let angle = turn * asked.duration_s;
    let end = made.clip.poses[made.clip.frames() - 1].root_position;
    let expected = Vec3::new(radius * (1.0 - angle.cos()), end.y, radius * angle.sin());
    assert!(end.distance(expected) < 0.06, "{end} instead of {expected}");
}

#[test]
fn motion_is_smooth() {
    for request in requests() {
        let made = generate(&request, &flat()).unwrap();
        let poses = made.clip.global_poses();
        let fastest = poses
            .windows(3)
            .flat_map(|w| {
                (0..humanoid::JOINTS).map(|j| {
                    let bend = w[0].positions[j] - w[1].positions[j] * 2.0 + w[2].positions[j];
                    bend.length() * FRAME_RATE_HZ * FRAME_RATE_HZ
                })
            })
            .fold(0.0, f32::max);
        println!("{}: largest acceleration {fastest:.0} m/s²", request.name());
        // A jump in position of 5 cm would show as 180 m/s².
        assert!(fastest < 170.0, "{}: {fastest} m/s²", request.name());
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_seed_another_motion() {
    let asked = MotionRequest { ends: Ends::Standing, ..request(MotionKind::Walk) };
    let [first, again] = [(); 2].map(|()| generate(&asked, &hills()).unwrap());
    let bytes = |made: &SyntheticClip| -> Vec<u32> {
        made.clip
            .poses
            .iter()
            .flat_map(|p| {
                let rotations = p.local_rotations.iter().flat_map(Quat::to_array);
                p.root_position.to_array().into_iter().chain(rotations).map(f32::to_bits).collect::<Vec<_>>()
            })
            .collect()
    };
    assert_eq!(bytes(&first), bytes(&again));
    assert_eq!(first.foot_contact, again.foot_contact);
    let other = generate(&MotionRequest { seed: 6, ..asked }, &hills()).unwrap();
    assert_ne!(bytes(&first), bytes(&other));
}

#[test]
fn the_mirror_image_is_the_motion_of_the_mirrored_request() {
    for kind in [MotionKind::Walk, MotionKind::Jog, MotionKind::StopAndGo] {
        let left = MotionRequest { turn_rate_rad_s: 0.4, ..request(kind) };
        let right = MotionRequest { turn_rate_rad_s: -0.4, first_foot: Side::Right, ..left.clone() };
        let mirrored = generate(&left, &flat()).unwrap().clip.mirrored();
        let made = generate(&right, &flat()).unwrap();
        for (a, b) in mirrored.poses.iter().zip(&made.clip.poses) {
            assert!(a.root_position.distance(b.root_position) < 1e-3);
            for (p, q) in a.local_rotations.iter().zip(&b.local_rotations) {
                assert!(angle(*p, *q) < 0.01, "{kind:?}");
            }
        }
    }
}

fn angle(a: Quat, b: Quat) -> f32 {
    log(a * b.inverse()).length()
}

#[test]
fn a_jog_flies_and_a_walk_never_does() {
    let airborne = |kind| {
        let made = generate(&request(kind), &flat()).unwrap();
        let in_air = made.foot_contact.iter().filter(|c| !c.contains(&true)).count();
        in_air as f32 / made.foot_contact.len() as f32
    };
    let (walk, jog) = (airborne(MotionKind::Walk), airborne(MotionKind::Jog));
    println!("airborne: walk {walk:.3}, jog {jog:.3}");
    assert_eq!(walk, 0.0);
    assert!((0.1..0.4).contains(&jog));
}

#[test]
fn the_flight_of_a_jump_is_ballistic() {
    let made = generate(&request(MotionKind::Jump), &flat()).unwrap();
    let heights: Vec<f32> = made.clip.poses.iter().map(|p| p.root_position.y).collect();
    let mut flight = 0;
    for frame in 1..heights.len() - 1 {
        if (frame - 1..=frame + 1).all(|f| !made.foot_contact[f].contains(&true)) {
            let acceleration = (heights[frame - 1] - 2.0 * heights[frame] + heights[frame + 1])
                * FRAME_RATE_HZ
                * FRAME_RATE_HZ;
            assert!((acceleration + 9.81).abs() < 0.6, "frame {frame}: {acceleration} m/s²");
            flight += 1;
        }
    }
    // 2 v/g is 0.449 s per jump.
    assert!(flight > 20, "{flight} frames of flight");
    assert!(made.gait.iter().any(|g| Gait::dominant(g) == Gait::Jump));
    assert!(made.gait.iter().any(|g| Gait::dominant(g) == Gait::Crouch));
}

#[test]
fn gaits_follow_the_motion() {
    let share = |made: &SyntheticClip, gait| {
        made.gait.iter().filter(|g| Gait::dominant(g) == gait).count() as f32 / made.gait.len() as f32
    };
    let walk = generate(&request(MotionKind::Walk), &flat()).unwrap();
    assert_eq!(share(&walk, Gait::Walk), 1.0);
    let stand = generate(&request(MotionKind::Stand), &flat()).unwrap();
    assert_eq!(share(&stand, Gait::Stand), 1.0);
    let go = generate(&MotionRequest { duration_s: 9.0, ..request(MotionKind::StopAndGo) }, &flat()).unwrap();
    assert!(share(&go, Gait::Stand) > 0.15 && share(&go, Gait::Walk) > 0.4);
    assert_eq!(Gait::dominant(&go.gait[0]), Gait::Stand);
}

#[test]
fn walking_angles_follow_the_published_curves() {
    // Peaks of knee flexion in swing (Winter 1991: 65°), hip range (40–45°), and dorsiflexion in stance (10°, more here
    // because the knee stays a little more bent), ±15°.
    let made = generate(&MotionRequest { variation: 0.0, ..request(MotionKind::Walk) }, &flat()).unwrap();
    let peak = |joint| {
        (0..made.clip.frames()).map(|f| flexion(&made, f, joint).to_degrees()).fold(f32::MIN, f32::max)
    };
    let least = |joint| {
        (0..made.clip.frames()).map(|f| flexion(&made, f, joint).to_degrees()).fold(f32::MAX, f32::min)
    };
    let knee = peak(humanoid::LEFT_LEG);
    let hip = peak(humanoid::LEFT_UP_LEG) - least(humanoid::LEFT_UP_LEG);
    println!("knee {knee:.1}°, hip range {hip:.1}°, dorsiflexion {:.1}°", -least(humanoid::LEFT_FOOT));
    assert!((knee - 65.0).abs() < 15.0);
    assert!((hip - 45.0).abs() < 15.0);
}

#[test]
fn the_recording_carries_terrain_contacts_and_gaits() {
    let made = generate(&request(MotionKind::Walk), &hills()).unwrap();
    let recording = made.recording();
    recording.validate().unwrap();
    assert_eq!(recording.foot_contact, made.foot_contact);
    assert_eq!(recording.terrain.as_ref(), Some(made.terrain.grid()));
}

fn refused(change: impl Fn(&mut MotionRequest)) {
    let mut asked = request(MotionKind::Walk);
    change(&mut asked);
    assert!(matches!(generate(&asked, &flat()).unwrap_err(), SyntheticError::BadRequest { .. }));
}

#[test]
fn rejects_a_speed_out_of_range() {
    refused(|r| r.speed_m_s = 3.0);
    refused(|r| r.speed_m_s = f32::NAN);
}

#[test]
fn rejects_a_circle_too_tight() {
    refused(|r| {
        r.speed_m_s = 0.6;
        r.turn_rate_rad_s = 1.1;
    });
}

#[test]
fn rejects_a_clip_too_short_to_start_and_stop() {
    refused(|r| {
        r.ends = Ends::Standing;
        r.duration_s = 2.0;
    });
}

#[test]
fn rejects_ground_too_steep_to_step_on() {
    let cliff =
        HeightMap::from_fn(101, 101, [-10.0, -10.0], 0.2, |_, z| if z > 2.0 { 3.0 } else { 0.0 }).unwrap();
    let error = generate(&request(MotionKind::Walk), &cliff).unwrap_err();
    assert!(matches!(error, SyntheticError::OutOfReach { .. }), "{error}");
}

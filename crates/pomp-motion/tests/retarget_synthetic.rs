//! Laws of retargeting on made-up skeletons: the same motion told by different rigs gives the same clip.

use pomp_motion::glam::{EulerRot, Quat, Vec3};
use pomp_motion::retarget::{
    DroppedBone, JointAxes, LengthUnit, Proportions, RetargetError, RetargetOptions, RigLibrary, RigMap,
    UpAxis, retarget,
};
use pomp_motion::{Clip, Joint, JointIndex, Pose, Skeleton, SourceMotion, humanoid};
use std::sync::Arc;

const FRAMES: usize = 40;

/// A walk-like motion of a T-posed body, 1.7 m tall, metres, Y up.
fn reference() -> (Skeleton, Vec<Pose>) {
    let skeleton = Skeleton::humanoid(1.7);
    let poses = (0..FRAMES)
        .map(|frame| {
            let t = frame as f32 * 0.15;
            let mut pose = Pose::rest(&skeleton);
            let mut set = |joint: JointIndex, x: f32, y: f32, z: f32| {
                pose.local_rotations[joint.0] = Quat::from_euler(EulerRot::YXZ, y, x, z).normalize();
            };
            set(humanoid::HIPS, 0.05 * t.sin(), 0.3 + 0.2 * t.cos(), 0.04 * t.sin());
            set(humanoid::LEFT_UP_LEG, -0.4 * t.sin() - 0.1, 0.05, 0.02);
            set(humanoid::LEFT_LEG, 0.5 + 0.4 * t.cos(), 0.0, 0.0);
            set(humanoid::RIGHT_UP_LEG, 0.4 * t.sin() - 0.1, -0.05, -0.02);
            set(humanoid::RIGHT_LEG, 0.5 - 0.4 * t.cos(), 0.0, 0.0);
            set(humanoid::LEFT_FOOT, -0.2, 0.1, 0.0);
            set(humanoid::RIGHT_FOOT, 0.1 * t.sin(), -0.1, 0.0);
            set(humanoid::SPINE1, 0.1, 0.1 * t.sin(), 0.05);
            set(humanoid::NECK, 0.1 * t.cos(), 0.2, 0.0);
            set(humanoid::LEFT_ARM, 0.3 * t.sin(), -0.2, -1.2);
            set(humanoid::LEFT_FORE_ARM, 0.2, -0.6 - 0.3 * t.sin(), 0.0);
            set(humanoid::RIGHT_ARM, -0.3 * t.sin(), 0.2, 1.1);
            set(humanoid::RIGHT_FORE_ARM, 0.1, 0.7 + 0.3 * t.sin(), 0.0);
            pose.root_position += Vec3::new(0.01 * t, 0.03 * t.sin() - 0.05, 0.3 * t);
            pose
        })
        .collect();
    (skeleton, poses)
}

/// How a file tells a motion: joint frames turned at rest, the world turned, a unit, names.
struct Dialect {
    /// Per joint: rotation of the rest pose (joint frames stay aligned with the file's axes there).
    rest_turn: [Quat; humanoid::JOINTS],
    file_from_world: Quat,
    /// Whether the rest pose is turned with the world.
    rest_follows_world: bool,
    units_per_metre: f32,
    prefix: &'static str,
}

impl Default for Dialect {
    fn default() -> Self {
        Self {
            rest_turn: [Quat::IDENTITY; humanoid::JOINTS],
            file_from_world: Quat::IDENTITY,
            rest_follows_world: true,
            units_per_metre: 100.0,
            prefix: "mixamorig:",
        }
    }
}

fn told(skeleton: &Skeleton, poses: &[Pose], dialect: &Dialect) -> SourceMotion {
    let q = dialect.file_from_world;
    let turn = |i: usize| {
        if dialect.rest_follows_world { q * dialect.rest_turn[i] } else { dialect.rest_turn[i] }
    };
    let mixamo = |name: &str| format!("{}{}", dialect.prefix, name.replace("Toe", "ToeBase"));
    let joints = skeleton
        .joints()
        .iter()
        .map(|joint| Joint {
            name: mixamo(&joint.name),
            parent: joint.parent,
            offset: joint.parent.map_or(Vec3::ZERO, |p| turn(p.0) * joint.offset) * dialect.units_per_metre,
        })
        .collect();
    let poses = poses
        .iter()
        .map(|pose| {
            let mut world = skeleton.forward_kinematics(pose);
            for (i, rotation) in world.rotations.iter_mut().enumerate() {
                *rotation = q * *rotation * turn(i).inverse();
            }
            let mut local = world.to_local(skeleton);
            local.root_position = q * pose.root_position * dialect.units_per_metre;
            local
        })
        .collect();
    SourceMotion {
        name: "told".to_owned(),
        skeleton: Skeleton::new(joints).expect("made for this test"),
        end_sites: Vec::new(),
        frame_rate_hz: 30.0,
        poses,
        joint_translations: None,
    }
}

fn largest_distance(a: &Clip, b: &Clip) -> f32 {
    let pairs = a.global_poses().into_iter().zip(b.global_poses());
    pairs
        .flat_map(|(a, b)| a.positions.into_iter().zip(b.positions))
        .map(|(a, b)| a.distance(b))
        .fold(0.0, f32::max)
}

fn largest_turn(a: &Clip, b: &Clip) -> f32 {
    let pairs = a.global_poses().into_iter().zip(b.global_poses());
    pairs
        .flat_map(|(a, b)| a.rotations.into_iter().zip(b.rotations))
        .map(|(a, b)| a.angle_between(b))
        .fold(0.0, f32::max)
}

fn by_mixamo(source: &SourceMotion) -> Clip {
    let library = RigLibrary::builtin();
    let (rig, _) = library.choose(&source.skeleton).expect("made for this test");
    assert_eq!(rig.name, "mixamo");
    retarget(source, rig, &RetargetOptions::default()).expect("made for this test").clip
}

#[test]
fn a_body_of_the_project_proportions_is_copied_and_scaled() {
    let (skeleton, poses) = reference();
    let source = told(&skeleton, &poses, &Dialect::default());
    let library = RigLibrary::builtin();
    let (rig, joints) = library.choose(&source.skeleton).unwrap();
    assert!(joints.missing.is_empty());
    let result = retarget(&source, rig, &RetargetOptions::default()).unwrap();
    assert_eq!(result.report.source_frame.unit, LengthUnit::Centimetre);
    assert_eq!(result.report.source_frame.up_axis, UpAxis::Y);
    assert!((result.report.scale - 1.75 / 1.7).abs() < 1e-4);
    assert!(result.report.mean_scaled_error_m() < 1e-3, "{:?}", result.report.joint_errors);
    for (pose, original) in result.clip.poses.iter().zip(&poses) {
        for (a, b) in pose.local_rotations.iter().zip(&original.local_rotations) {
            assert!(a.angle_between(*b) < 0.02, "{a} is not {b}");
        }
    }
}

#[test]
fn arms_down_at_rest_and_t_pose_at_rest_give_the_same_clip() {
    let (skeleton, poses) = reference();
    let mut arms_down = Dialect::default();
    for (joints, sign) in [
        ([humanoid::LEFT_ARM, humanoid::LEFT_FORE_ARM, humanoid::LEFT_HAND], -1.0),
        ([humanoid::RIGHT_ARM, humanoid::RIGHT_FORE_ARM, humanoid::RIGHT_HAND], 1.0),
    ] {
        for joint in joints {
            arms_down.rest_turn[joint.0] = Quat::from_rotation_z(sign * 1.45);
        }
    }
    let t_pose = by_mixamo(&told(&skeleton, &poses, &Dialect::default()));
    let down = by_mixamo(&told(&skeleton, &poses, &arms_down));
    assert!(largest_distance(&t_pose, &down) < 2e-3, "{}", largest_distance(&t_pose, &down));
    assert!(largest_turn(&t_pose, &down) < 0.01, "{}", largest_turn(&t_pose, &down));
}

#[test]
fn legs_spread_at_rest_give_the_same_clip() {
    let (skeleton, poses) = reference();
    let mut spread = Dialect::default();
    for (first, sign) in [(humanoid::LEFT_UP_LEG, 1.0), (humanoid::RIGHT_UP_LEG, -1.0)] {
        for i in 0..4 {
            spread.rest_turn[first.0 + i] = Quat::from_rotation_z(sign * 0.35);
        }
    }
    let straight = by_mixamo(&told(&skeleton, &poses, &Dialect::default()));
    let spread = by_mixamo(&told(&skeleton, &poses, &spread));
    assert!(largest_distance(&straight, &spread) < 2e-3, "{}", largest_distance(&straight, &spread));
    assert!(largest_turn(&straight, &spread) < 0.01, "{}", largest_turn(&straight, &spread));
}

#[test]
fn any_joint_frames_give_the_same_clip_when_the_rig_states_its_axes() {
    let (skeleton, poses) = reference();
    let mut odd = Dialect::default();
    let library = RigLibrary::builtin();
    let mut rig: RigMap = library.get("mixamo").unwrap().clone();
    for i in 0..humanoid::JOINTS {
        let turn = Quat::from_scaled_axis(Vec3::new(1.0, -2.0, 0.5) * (0.7 * i as f32));
        odd.rest_turn[i] = turn;
        rig.axes.insert(JointIndex(i), JointAxes { up: turn * Vec3::Y, forward: turn * Vec3::Z });
    }
    let source = told(&skeleton, &poses, &odd);
    let plain = by_mixamo(&told(&skeleton, &poses, &Dialect::default()));
    let stated = retarget(&source, &rig, &RetargetOptions::default()).unwrap().clip;
    assert!(largest_distance(&plain, &stated) < 2e-3, "{}", largest_distance(&plain, &stated));
    assert!(largest_turn(&plain, &stated) < 0.01);
}

#[test]
fn rejects_a_rest_pose_that_is_no_standing_pose_when_the_rig_states_no_axes() {
    let (skeleton, poses) = reference();
    let mut kicking = Dialect::default();
    for i in 0..4 {
        kicking.rest_turn[humanoid::LEFT_UP_LEG.0 + i] = Quat::from_rotation_x(3.0);
    }
    let source = told(&skeleton, &poses, &kicking);
    let error = retarget(&source, RigLibrary::builtin().get("mixamo").unwrap(), &RetargetOptions::default());
    assert!(matches!(error, Err(RetargetError::RestPoseNotStanding { ref joint, .. }) if joint == "Hips"));
}

#[test]
fn z_up_files_in_inches_give_the_same_clip_with_either_kind_of_rest_pose() {
    let (skeleton, poses) = reference();
    let plain = by_mixamo(&told(&skeleton, &poses, &Dialect::default()));
    for rest_follows_world in [true, false] {
        let z_up = Dialect {
            file_from_world: Quat::from_rotation_x(std::f32::consts::FRAC_PI_2),
            rest_follows_world,
            units_per_metre: 1.0 / 0.0254,
            ..Dialect::default()
        };
        let source = told(&skeleton, &poses, &z_up);
        let library = RigLibrary::builtin();
        let (rig, _) = library.choose(&source.skeleton).unwrap();
        let result = retarget(&source, rig, &RetargetOptions::default()).unwrap();
        assert_eq!(
            result.report.source_frame.up_axis,
            UpAxis::Z,
            "{}",
            result.report.source_frame.up_axis_reason
        );
        assert_eq!(result.report.source_frame.unit, LengthUnit::Inch);
        assert!(largest_distance(&plain, &result.clip) < 2e-3, "{}", largest_distance(&plain, &result.clip));
    }
}

#[test]
fn stated_units_and_axes_override_what_is_found() {
    let (skeleton, poses) = reference();
    let source = told(&skeleton, &poses, &Dialect::default());
    let library = RigLibrary::builtin();
    let options = RetargetOptions {
        unit: Some(LengthUnit::Inch),
        up_axis: Some(UpAxis::Z),
        proportions: Proportions::Source,
        ..RetargetOptions::default()
    };
    let report = retarget(&source, library.get("mixamo").unwrap(), &options).unwrap().report;
    assert_eq!((report.source_frame.unit, report.source_frame.up_axis), (LengthUnit::Inch, UpAxis::Z));
    assert!((report.source_frame.leg_length_m - 2.54 * 0.491 * 1.7).abs() < 1e-2);
}

#[test]
fn source_proportions_keep_the_bone_lengths_of_the_subject() {
    let (skeleton, poses) = reference();
    let stretched = Skeleton::new(
        skeleton
            .joints()
            .iter()
            .map(|joint| {
                let long = joint.name.ends_with("ForeArm") || joint.name.ends_with("Foot");
                Joint { offset: joint.offset * if long { 1.2 } else { 1.0 }, ..joint.clone() }
            })
            .collect(),
    )
    .unwrap();
    let source = told(&stretched, &poses, &Dialect::default());
    let library = RigLibrary::builtin();
    let options = RetargetOptions { proportions: Proportions::Source, ..RetargetOptions::default() };
    let result = retarget(&source, library.get("mixamo").unwrap(), &options).unwrap();
    assert!((result.report.scale - 1.0).abs() < 1e-3);
    assert!(result.report.mean_scaled_error_m() < 2e-3, "{:?}", result.report.joint_errors);
    for (ours, theirs) in result.clip.skeleton.joints().iter().zip(stretched.joints()).skip(1) {
        let difference = (ours.offset.length() - theirs.offset.length()).abs();
        assert!(difference < 3e-3, "{}: {difference} m", ours.name);
    }
}

#[test]
fn planted_feet_stay_planted_on_a_body_with_other_legs() {
    let (skeleton, poses) = reference();
    let other = Skeleton::new(
        skeleton
            .joints()
            .iter()
            .map(|joint| {
                let factor = if joint.name.ends_with("UpLeg") {
                    1.4
                } else if joint.name.ends_with("Leg") {
                    0.85
                } else {
                    1.0
                };
                Joint { offset: joint.offset * factor, ..joint.clone() }
            })
            .collect(),
    )
    .unwrap();
    let source = told(&other, &poses, &Dialect::default());
    let library = RigLibrary::builtin();
    let result = retarget(&source, library.get("mixamo").unwrap(), &RetargetOptions::default()).unwrap();
    let (scale, ground) = (result.report.scale, result.report.ground_offset_m);
    for (frame, pose) in result.clip.global_poses().iter().enumerate() {
        let from = source.global_pose(frame);
        for ankle in [humanoid::LEFT_FOOT, humanoid::RIGHT_FOOT] {
            let wanted = from.positions[ankle.0] * 0.01 * scale + Vec3::Y * ground;
            let error = pose.positions[ankle.0].distance(wanted);
            assert!(error < 2e-3, "frame {frame}: {error} m");
        }
    }
}

#[test]
fn a_clip_mirrored_twice_is_the_clip() {
    let (skeleton, poses) = reference();
    let clip = Clip::new("walk", Arc::new(skeleton), 30.0, poses).unwrap();
    let twice = clip.mirrored().mirrored();
    assert!(largest_distance(&clip, &twice) < 1e-5 && largest_turn(&clip, &twice) < 2e-3);
    assert!(largest_distance(&clip, &clip.mirrored()) > 0.1, "the motion is not symmetric");
}

#[test]
fn mirroring_before_and_after_retargeting_is_the_same() {
    let (skeleton, poses) = reference();
    let clip = Clip::new("walk", Arc::new(skeleton.clone()), 30.0, poses.clone()).unwrap();
    let after = by_mixamo(&told(&skeleton, &poses, &Dialect::default())).mirrored();
    let before = by_mixamo(&told(&skeleton, &clip.mirrored().poses, &Dialect::default()));
    assert!(largest_distance(&after, &before) < 2e-3, "{}", largest_distance(&after, &before));
}

#[test]
fn a_lafan_t_pose_becomes_the_project_t_pose() {
    let quarter = std::f32::consts::FRAC_PI_2;
    let half = std::f32::consts::PI;
    let model = Skeleton::humanoid(1.75);
    let mut joints = Vec::new();
    let mut local_rotations = vec![Quat::IDENTITY; humanoid::JOINTS];
    for (i, joint) in model.joints().iter().enumerate() {
        let length = joint.offset.length() * 100.0;
        let side = if joint.name.starts_with("Left") { 1.0 } else { -1.0 };
        let offset = if joint.name.ends_with("UpLeg") {
            Vec3::new(0.1, 1.9, side * 10.5)
        } else if joint.name.ends_with("Shoulder") {
            Vec3::new(19.7, -1.5, side * 6.0)
        } else {
            Vec3::X * length
        };
        joints.push(Joint { name: joint.name.clone(), parent: joint.parent, offset });
        local_rotations[i] = match joint.name.as_str() {
            "Hips" => Quat::from_rotation_z(quarter) * Quat::from_rotation_x(quarter),
            "LeftUpLeg" | "RightUpLeg" => Quat::from_rotation_z(half) * Quat::from_rotation_x(half),
            "LeftFoot" | "RightFoot" => Quat::from_rotation_z(58.0_f32.to_radians()),
            "LeftToe" | "RightToe" => Quat::from_rotation_z(21.4_f32.to_radians()),
            "LeftShoulder" => Quat::from_axis_angle(Vec3::new(1.0, 0.0, 1.0).normalize(), half),
            "RightShoulder" => Quat::from_axis_angle(Vec3::new(1.0, 0.0, -1.0).normalize(), half),
            _ => Quat::IDENTITY,
        };
    }
    let source = SourceMotion {
        name: "t_pose".to_owned(),
        skeleton: Skeleton::new(joints).unwrap(),
        end_sites: Vec::new(),
        frame_rate_hz: 30.0,
        poses: vec![Pose {
            root_position: Vec3::new(0.0, 92.0, 0.0),
            local_rotations: local_rotations.into(),
        }],
        joint_translations: None,
    };
    let library = RigLibrary::builtin();
    let (rig, _) = library.choose(&source.skeleton).unwrap();
    assert_eq!(rig.name, "lafan1");
    let clip = retarget(&source, rig, &RetargetOptions::default()).unwrap().clip;
    let world = clip.global_poses().remove(0);
    for (joint, rotation) in model.joints().iter().zip(&world.rotations) {
        let angle = rotation.angle_between(Quat::IDENTITY).to_degrees();
        assert!(angle < 12.0, "{} is turned by {angle}° from the T-pose", joint.name);
    }
    let toe = world.positions[humanoid::LEFT_TOE.0] - world.positions[humanoid::LEFT_FOOT.0];
    assert!(toe.z > 0.1 && world.positions[humanoid::LEFT_HAND.0].x > 0.6);
}

#[test]
fn missing_arms_hang_with_a_warning() {
    let (skeleton, poses) = reference();
    let whole = told(&skeleton, &poses, &Dialect { prefix: "", ..Dialect::default() });
    let kept: Vec<usize> = (0..=11).collect();
    let source = SourceMotion {
        skeleton: Skeleton::new(kept.iter().map(|&i| whole.skeleton.joints()[i].clone()).collect()).unwrap(),
        poses: whole
            .poses
            .iter()
            .map(|pose| Pose { local_rotations: pose.local_rotations[..12].into(), ..pose.clone() })
            .collect(),
        ..whole
    };
    let library = RigLibrary::builtin();
    let (rig, joints) = library.choose(&source.skeleton).unwrap();
    assert_eq!(rig.name, "opensim16");
    assert!(joints.missing.contains(&"LeftArm".to_owned()));
    let result = retarget(&source, rig, &RetargetOptions::default()).unwrap();
    assert!(result.report.warnings[0].contains("LeftArm"));
    let world = result.clip.global_poses();
    assert!(world.iter().all(|pose| {
        let hand = pose.positions[humanoid::LEFT_HAND.0];
        hand.is_finite() && hand.y < pose.positions[humanoid::LEFT_ARM.0].y - 0.3
    }));
}

#[test]
fn elbows_that_bend_backwards_in_the_source_are_warned_of_and_others_are_not() {
    let (skeleton, mut poses) = reference();
    let library = RigLibrary::builtin();
    let warnings = |poses: &[Pose]| {
        let source = told(&skeleton, poses, &Dialect::default());
        let rig = library.get("mixamo").expect("it is built in");
        retarget(&source, rig, &RetargetOptions::default()).expect("the reference retargets").report.warnings
    };
    assert!(warnings(&poses).is_empty(), "{:?}", warnings(&poses));
    for pose in &mut poses {
        pose.local_rotations[humanoid::LEFT_FORE_ARM.0] = Quat::from_rotation_y(0.9);
    }
    let found = warnings(&poses);
    assert!(found.len() == 1 && found[0].contains("LeftForeArm bends backwards"), "{found:?}");
}

#[test]
fn a_leg_that_is_human_in_no_unit_is_taken_as_an_adults_with_a_warning() {
    let (skeleton, poses) = reference();
    let plain = by_mixamo(&told(&skeleton, &poses, &Dialect::default()));
    let source = told(&skeleton, &poses, &Dialect { units_per_metre: 3.0e5, ..Dialect::default() });
    let library = RigLibrary::builtin();
    let result = retarget(&source, library.get("mixamo").unwrap(), &RetargetOptions::default())
        .expect("any scale is read");
    assert!(largest_distance(&plain, &result.clip) < 2e-3);
    assert!(result.report.source_frame.unit_confidence < 0.5);
    assert!(result.report.warnings[0].contains("unit is a guess"), "{:?}", result.report.warnings);
}

#[test]
fn rejects_legs_without_a_length() {
    let (skeleton, poses) = reference();
    let source = told(&skeleton, &poses, &Dialect { units_per_metre: 0.0, ..Dialect::default() });
    let error = retarget(&source, RigLibrary::builtin().get("mixamo").unwrap(), &RetargetOptions::default());
    assert!(matches!(error, Err(RetargetError::UnknownUnit { .. })));
}

#[test]
fn rejects_motions_with_infinite_numbers() {
    let (skeleton, poses) = reference();
    let mut source = told(&skeleton, &poses, &Dialect::default());
    source.poses[3].root_position.y = f32::NAN;
    let error = retarget(&source, RigLibrary::builtin().get("mixamo").unwrap(), &RetargetOptions::default());
    assert!(error.unwrap_err().to_string().contains("frame 3"));
}

#[test]
fn a_standing_rest_pose_wins_over_the_axes_of_a_rig_map_that_contradict_it() {
    // Our own BVH files have LaFAN1's joint names, whose rig map states axes, and the T-pose at rest.
    let (skeleton, poses) = reference();
    let source = SourceMotion {
        name: "ours".to_owned(),
        skeleton: skeleton.clone(),
        end_sites: Vec::new(),
        frame_rate_hz: 30.0,
        poses: poses.clone(),
        joint_translations: None,
    };
    let library = RigLibrary::builtin();
    let (rig, _) = library.choose(&source.skeleton).unwrap();
    assert_eq!(rig.name, "lafan1");
    let options = RetargetOptions { proportions: Proportions::Source, ..RetargetOptions::default() };
    let result = retarget(&source, rig, &options).unwrap();
    let original = Clip::new("ours", skeleton.into(), 30.0, poses).unwrap();
    assert!(largest_turn(&result.clip, &original) < 0.02);
}

#[test]
fn a_bone_that_a_converter_dropped_is_put_back_and_a_present_one_is_left_alone() {
    let (skeleton, poses) = reference();
    let whole = told(&skeleton, &poses, &Dialect { prefix: "", ..Dialect::default() });
    let ends = ["Neck", "LeftShoulder", "RightShoulder"];
    let mut rig = RigLibrary::builtin().get("mixamo").expect("it is built in").clone();
    rig.dropped_bones =
        vec![DroppedBone { joints: ends.map(str::to_owned).to_vec(), same_as: "Spine2".to_owned() }];
    let by_rig = |source: &SourceMotion| retarget(source, &rig, &RetargetOptions::default()).unwrap();
    assert!(by_rig(&whole).report.repairs.is_empty());
    let joints = whole.skeleton.joints().iter().map(|joint| {
        let dropped = ends.contains(&joint.name.as_str());
        Joint { offset: if dropped { Vec3::ZERO } else { joint.offset }, ..joint.clone() }
    });
    let source = SourceMotion { skeleton: Skeleton::new(joints.collect()).unwrap(), ..whole.clone() };
    let repaired = by_rig(&source);
    assert!(repaired.report.repairs.len() == 1 && repaired.report.repairs[0].contains("LeftShoulder"));
    rig.dropped_bones.clear();
    let untreated = retarget(&source, &rig, &RetargetOptions::default()).unwrap().report;
    let (with, without) = (repaired.report.mean_scaled_error_m(), untreated.mean_scaled_error_m());
    println!("mean error {:.1} cm with the bone, {:.1} cm without", 100.0 * with, 100.0 * without);
    assert!(with < 0.8 * without);
}

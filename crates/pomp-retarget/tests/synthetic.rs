//! Laws of retargeting onto made-up skeletons, whose truth is known: the same motion on bones that are split, merged,
//! rescaled and re-oriented.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

mod bodies;

use bodies::{
    StrangeBody, dialect, distance, file, inferred, joint, odd_turn, onto, target, told, usual_channels,
    walking_clip,
};
use pomp_formats::BvhFile;
use pomp_formats::bvh::ChannelType;
use pomp_motion::glam::{Quat, Vec3};
use pomp_motion::retarget::{FileConvention, JointAxes, LengthUnit, RigLibrary, RigMap, UpAxis, reflected};
use pomp_motion::{Clip, Joint, JointIndex, Skeleton, SourceMotion, foot_contacts};
use pomp_retarget::{Altered, OntoOptions, RetargetOntoError, TargetSkeleton, onto_skeleton};
use std::collections::BTreeMap;
use std::f32::consts::FRAC_PI_2;
use std::path::Path;
use tempfile::TempDir;

/// What retargeting by rules may be away from the truth of a synthetic pair, metres.
const SYNTHETIC_M: f32 = 0.005;

/// Where a spine joint is merged into another, the bend has one place instead of two, and what is above it lies elsewhere.
const MERGED_SPINE_M: f32 = 0.01;

fn named(name: &str) -> String {
    name.replace("Toe", "ToeBase")
}

#[test]
fn a_motion_comes_back_from_bones_that_are_split_merged_renamed_and_rescaled() {
    let bodies = [
        ("the project's own", StrangeBody::walking()),
        (
            "split thigh and shin",
            StrangeBody::walking().split("LeftLeg", "LeftUpLegSplit", 0.4).split(
                "RightFoot",
                "RightLegSplit",
                0.6,
            ),
        ),
        ("split spine", StrangeBody::walking().split("Spine1", "SpineHalf", 0.5)),
        (
            "split forearms",
            StrangeBody::walking().split("LeftHand", "LeftForeArmTwist", 0.5).split(
                "RightHand",
                "RightForeArmTwist",
                0.5,
            ),
        ),
        ("no collar bones", StrangeBody::walking().without("LeftShoulder").without("RightShoulder")),
        ("one spine joint less", StrangeBody::walking().without("Spine1")),
        ("no toes", StrangeBody::walking().without("LeftToe").without("RightToe")),
        (
            "fingers and a tail",
            StrangeBody::walking().chain("LeftHand", "finger", 3, Vec3::X * 0.08, Vec3::X * 0.03).chain(
                "Hips",
                "tail",
                4,
                Vec3::NEG_Z * 0.1,
                Vec3::NEG_Z * 0.1,
            ),
        ),
    ];
    let clip = walking_clip();
    for (name, body) in bodies {
        let metres = told(&body, named);
        for units in [1.0, 100.0, 39.37] {
            for (axis, up) in [(UpAxis::Y, Quat::IDENTITY), (UpAxis::Z, Quat::from_rotation_x(FRAC_PI_2))] {
                let truth = dialect(&metres, up, units);
                let target = inferred(&truth);
                let result = onto(&clip, &target);
                assert_eq!(result.report.source_frame.up_axis, axis, "{name}");
                let mapped = mapped_distance(&result.motion, &truth, 1.0 / units);
                println!("{name}, {units} units, {axis:?} up: {:.1} mm at most", 1000.0 * mapped);
                let limit = if name == "one spine joint less" { MERGED_SPINE_M } else { SYNTHETIC_M };
                assert!(mapped < limit, "{name}, {units} units per metre, {axis:?} up: {mapped} m");
            }
        }
    }
}

/// Largest distance of joints that are no fingers and no tail, metres.
fn mapped_distance(a: &SourceMotion, b: &SourceMotion, unit: f32) -> f32 {
    let mut largest = 0.0_f32;
    for frame in 0..a.frames() {
        let (a_pose, b_pose) = (a.global_pose(frame), b.global_pose(frame));
        for (index, joint) in a.skeleton.joints().iter().enumerate() {
            if !joint.name.starts_with("finger") && !joint.name.starts_with("tail") {
                largest = largest.max(a_pose.positions[index].distance(b_pose.positions[index]) * unit);
            }
        }
    }
    largest
}

/// A rig map of the project's own names with the axes of joints whose frames are turned.
fn rig_of(motion: &SourceMotion, turns: &[Quat]) -> RigMap {
    let project = Skeleton::humanoid(1.0);
    let roles = (0..project.len()).map(JointIndex);
    let name = |role: JointIndex| project.joints()[role.0].name.clone();
    RigMap {
        name: "turned".to_owned(),
        description: String::new(),
        joints: roles.clone().map(|role| (role, vec![name(role)])).collect(),
        optional: Vec::new(),
        axes: roles
            .map(|role| {
                let turn = turns[joint(motion, &name(role)).0].inverse();
                (role, JointAxes { up: turn * Vec3::Y, forward: turn * Vec3::Z })
            })
            .collect::<BTreeMap<_, _>>(),
        sole_pitch_degrees: 0.0,
        dropped_bones: Vec::new(),
        file: FileConvention::default(),
    }
}

#[test]
fn a_motion_comes_back_from_joint_frames_that_lie_anyhow() {
    let clip = walking_clip();
    let plain = told(&StrangeBody::walking().split("LeftHand", "LeftForeArmTwist", 0.5), str::to_owned);
    let turns: Vec<Quat> = (0..plain.skeleton.len()).map(odd_turn).collect();
    let truth = Altered::new(plain.clone()).unwrap().reoriented(&turns).unwrap().motion();
    assert!(distance(&truth, &plain, 1.0).1 < 1e-4, "the same motion, told otherwise");
    let rig = rig_of(&truth, &turns);
    let written = file(&truth, usual_channels(&truth));
    let target = TargetSkeleton::new(written, &rig, Path::new("turned.bvh")).unwrap();
    let result = onto(&clip, &target);
    let (mean, largest) = distance(&result.motion, &truth, 1.0);
    println!("{:.2} mm on average, {:.2} mm at most", 1000.0 * mean, 1000.0 * largest);
    assert!(largest < SYNTHETIC_M, "{largest} m");
}

#[test]
fn a_body_of_other_proportions_keeps_directions_contacts_and_the_length_of_its_steps_by_its_legs() {
    let clip = walking_clip();
    let long_arms = StrangeBody::walking()
        .moved("LeftForeArm", Vec3::X * 0.4)
        .moved("LeftHand", Vec3::X * 0.35)
        .moved("RightForeArm", Vec3::NEG_X * 0.4)
        .moved("RightHand", Vec3::NEG_X * 0.35)
        .moved("Spine1", Vec3::Y * 0.2);
    let skeleton = dialect(&told(&long_arms, named), Quat::IDENTITY, 60.0);
    let target = target(&skeleton);
    let result = onto(&clip, &target);
    // Legs as long as the clip's: path and ankles are the clip's, scaled into the file's unit.
    assert!((result.report.scale - 1.0).abs() < 0.3, "{}", result.report.scale);
    let metres = result.report.source_frame.unit.metres();
    let (clip_poses, scale) = (clip.global_poses(), result.report.scale);
    let rise = {
        let first = result.motion.global_pose(0).positions[joint(&result.motion, "LeftFoot").0].y * metres;
        first - clip_poses[0].positions[3].y * scale
    };
    for (frame, clip_pose) in clip_poses.iter().enumerate() {
        let pose = result.motion.global_pose(frame);
        for (name, role) in [("LeftFoot", 3), ("RightFoot", 7)] {
            let wanted = clip_pose.positions[role] * scale + Vec3::Y * rise;
            let at = pose.positions[joint(&result.motion, name).0] * metres;
            assert!(at.distance(wanted) < 0.002, "frame {frame}, {name}: {at} is not {wanted}");
        }
    }
}

#[test]
fn a_twist_of_the_hand_is_shared_along_the_forearm() {
    let mut clip = walking_clip();
    let (fore_arm, hand) = (16, 17);
    for pose in &mut clip.poses {
        pose.local_rotations[fore_arm] = Quat::IDENTITY;
        pose.local_rotations[hand] = Quat::from_rotation_x(1.0);
    }
    let body = told(&StrangeBody::walking().split("LeftHand", "LeftForeArmTwist", 0.5), named);
    let result = onto(&clip, &target(&body));
    let follower = result.report.followers.iter().find(|f| f.joint == "LeftForeArmTwist").unwrap();
    assert_eq!(follower.shares, "twist");
    assert!((follower.share - 0.5).abs() < 1e-3, "{follower:?}");
    let (twist, hand) = (joint(&result.motion, "LeftForeArmTwist"), joint(&result.motion, "LeftHand"));
    for pose in &result.motion.poses {
        assert!((pose.local_rotations[twist.0].to_axis_angle().1 - 0.5).abs() < 0.02);
        assert!((pose.local_rotations[hand.0].to_axis_angle().1 - 0.5).abs() < 0.02);
    }
}

#[test]
fn a_root_above_hips_that_have_channels_of_their_own_stays_and_the_hips_travel() {
    let clip = walking_clip();
    let body = with_root(&told(&StrangeBody::walking(), named));
    let mut channels = usual_channels(&body);
    let positions = [ChannelType::PositionX, ChannelType::PositionY, ChannelType::PositionZ];
    channels[1].splice(0..0, positions);
    let joints = body.skeleton.len();
    let rows = body.poses.iter().zip(&clip.poses).flat_map(|(_, walk)| {
        let mut row: Vec<Vec3> = body.skeleton.joints().iter().map(|joint| joint.offset).collect();
        row[1] = walk.root_position;
        row
    });
    let truth = SourceMotion {
        joint_translations: pomp_motion::FrameTable::from_values(joints, rows.collect()),
        ..body
    };
    let file = file(&truth, channels);
    let library = RigLibrary::builtin();
    let rig = library.choose_or_infer(&file.motion).unwrap();
    let target = TargetSkeleton::new(file.clone(), &rig.rig, Path::new("root.bvh")).unwrap();
    let result = onto(&clip, &target);
    assert_eq!(result.report.carrier, "Hips");
    assert!(result.motion.poses.iter().all(|pose| pose.root_position == truth.poses[0].root_position));
    let (_, largest) = distance(&result.motion, &truth, 1.0);
    assert!(largest < SYNTHETIC_M, "{largest} m");
    // In a GLB the root carries what the hips carry here.
    let world = result.to_clip().unwrap().global_poses();
    for (frame, pose) in world.iter().enumerate() {
        for (joint, at) in pose.positions.iter().enumerate().skip(1) {
            assert!(at.distance(truth.global_pose(frame).positions[joint]) < SYNTHETIC_M);
        }
    }
}

/// The motion below a root that stands still.
fn with_root(motion: &SourceMotion) -> SourceMotion {
    let mut joints = vec![Joint { name: "Reference".to_owned(), parent: None, offset: Vec3::ZERO }];
    joints.extend(motion.skeleton.joints().iter().map(|joint| Joint {
        parent: Some(joint.parent.map_or(JointIndex(0), |parent| JointIndex(parent.0 + 1))),
        ..joint.clone()
    }));
    let poses = motion.poses.iter().map(|pose| pomp_motion::Pose {
        root_position: Vec3::ZERO,
        local_rotations: std::iter::once(Quat::IDENTITY)
            .chain(pose.local_rotations.iter().copied())
            .collect(),
    });
    SourceMotion { skeleton: Skeleton::new(joints).unwrap(), poses: poses.collect(), ..motion.clone() }
}

#[test]
fn what_a_joint_of_one_channel_cannot_follow_is_said_and_the_rest_is_written() {
    let clip = walking_clip();
    let body = told(&StrangeBody::walking(), named);
    let mut channels = usual_channels(&body);
    channels[joint(&body, "LeftLeg").0] = vec![ChannelType::RotationX];
    channels[joint(&body, "Spine1").0] = vec![ChannelType::RotationX];
    let file = file(&body, channels);
    let library = RigLibrary::builtin();
    let rig = library.choose_or_infer(&file.motion).unwrap();
    let target = TargetSkeleton::new(file.clone(), &rig.rig, Path::new("hinge.bvh")).unwrap();
    let result = onto(&clip, &target);
    let short: Vec<&str> = result.report.short_joints.iter().map(|joint| joint.joint.as_str()).collect();
    assert_eq!(
        short,
        ["Spine1"],
        "the knee is a hinge already, the spine turns: {:?}",
        result.report.short_joints
    );
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("hinge.bvh");
    result.write(&path).unwrap();
    let again = pomp_formats::read_bvh(&path).unwrap();
    let (_, largest) = distance(&again.motion, &result.motion, 1.0);
    assert!(largest < 1e-3, "what is written is what was measured: {largest} m");
}

#[test]
fn the_file_has_the_names_channels_and_offsets_of_the_target() {
    let clip = walking_clip();
    let body =
        told(&StrangeBody::walking().end("Head", Vec3::Y * 0.1), |name| format!("fig:{}", named(name)));
    let written = file(&body, usual_channels(&body));
    let folder = TempDir::new().unwrap();
    let to = folder.path().join("target.bvh");
    pomp_formats::write_bvh_like(&to, &written, &written.motion).unwrap();
    let target = TargetSkeleton::read(&to, &RigLibrary::builtin()).unwrap();
    let out = folder.path().join("out.bvh");
    onto(&clip, &target).write(&out).unwrap();
    let again = pomp_formats::read_bvh(&out).unwrap();
    assert_eq!(again.channels, written.channels);
    assert_eq!(again.motion.skeleton, written.motion.skeleton);
    assert_eq!(again.motion.end_sites, written.motion.end_sites);
    assert!((again.motion.frame_rate_hz - clip.frame_rate_hz).abs() < 1e-3);
}

#[test]
fn a_mirrored_file_gets_a_mirrored_motion() {
    let clip = walking_clip();
    let straight = told(&StrangeBody::walking(), named);
    let truth = reflected(&straight);
    let target = target(&truth);
    let result = onto(&clip, &target);
    let (_, largest) = distance(&result.motion, &truth, 1.0);
    assert!(largest < SYNTHETIC_M, "{largest} m");
    // A GLB is right-handed, and shows the person as she is.
    let world = result.to_clip().unwrap().global_poses();
    let hand = joint(&straight, "LeftHand").0;
    assert!(world[7].positions[hand].distance(straight.global_pose(7).positions[hand]) < SYNTHETIC_M);
}

#[test]
fn planted_feet_stand_still_with_the_option_also_where_the_clip_slides() {
    let mut clip = walking_clip();
    // Stand, and drift sideways by 3 cm a second.
    let first = clip.poses[0].clone();
    for (frame, pose) in clip.poses.iter_mut().enumerate() {
        *pose = first.clone();
        pose.root_position.x += 0.001 * frame as f32;
    }
    let contacts = vec![[true; 4]; clip.frames()];
    let target = target(&told(&StrangeBody::walking(), named));
    let slid = onto_skeleton(&clip, &contacts, &target, OntoOptions::default()).unwrap().report.planted_feet;
    let held =
        onto_skeleton(&clip, &contacts, &target, OntoOptions { plant_feet: true, ..OntoOptions::default() })
            .unwrap()
            .report
            .planted_feet;
    println!("{slid:?}, with the option {held:?}");
    assert!((slid.target_m_s - 0.03).abs() < 0.003, "{slid:?}");
    assert!(held.target_m_s < 0.2 * slid.target_m_s, "{held:?}");
}

#[test]
fn rejects_a_target_that_cannot_travel() {
    let body = told(&StrangeBody::walking(), named);
    let mut channels = usual_channels(&body);
    channels[0].retain(|channel| !channel.is_position());
    let file = BvhFile { channels, ..file(&body, usual_channels(&body)) };
    let library = RigLibrary::builtin();
    let rig = library.choose_or_infer(&file.motion).unwrap();
    let error = TargetSkeleton::new(file.clone(), &rig.rig, Path::new("fixed.bvh")).unwrap_err();
    assert!(matches!(error, RetargetOntoError::Immovable { .. }), "{error}");
    assert!(error.to_string().contains("fixed.bvh") && error.to_string().contains("\"Hips\""), "{error}");
}

#[test]
fn rejects_a_target_that_is_no_bvh() {
    let error = TargetSkeleton::read(Path::new("figure.fbx"), &RigLibrary::builtin()).unwrap_err();
    assert!(matches!(error, RetargetOntoError::NoSkeletonFile { .. }), "{error}");
}

#[test]
fn rejects_a_target_that_is_no_person() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("worm.bvh");
    let text = "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n\
        JOINT b\n{\nOFFSET 0 1 0\nCHANNELS 3 Zrotation Xrotation Yrotation\nEnd Site\n{\nOFFSET 0 1 0\n}\n}\n}\n\
        MOTION\nFrames: 1\nFrame Time: 0.03\n0 0 0 0 0 0 0 0 0\n";
    std::fs::write(&path, text).unwrap();
    let error = TargetSkeleton::read(&path, &RigLibrary::builtin()).unwrap_err();
    assert!(matches!(error, RetargetOntoError::Rig { .. }), "{error}");
    assert!(error.to_string().contains("worm.bvh"), "{error}");
}

#[test]
fn rejects_a_clip_that_is_not_on_the_project_skeleton() {
    let body = told(&StrangeBody::walking().without("Spine1"), str::to_owned);
    let clip = Clip::new("other", body.skeleton.clone().into(), 30.0, body.poses.clone()).unwrap();
    let contacts = vec![[false; 4]; clip.frames()];
    let target = target(&told(&StrangeBody::walking(), named));
    let error = onto_skeleton(&clip, &contacts, &target, OntoOptions::default()).unwrap_err();
    assert!(matches!(error, RetargetOntoError::OtherTopology { .. }), "{error}");
    let clip = walking_clip();
    let error = onto_skeleton(&clip, &contacts[1..], &target, OntoOptions::default()).unwrap_err();
    assert!(error.to_string().contains("contacts for"), "{error}");
}

#[test]
fn rejects_channels_that_state_no_rotation() {
    let body = told(&StrangeBody::walking(), named);
    let file = file(&body, usual_channels(&body));
    let mut channels = file.channels.clone();
    channels[3] = vec![ChannelType::RotationX, ChannelType::RotationX, ChannelType::RotationY];
    let file = BvhFile { channels, ..file };
    let library = RigLibrary::builtin();
    let rig = library.choose_or_infer(&file.motion).unwrap();
    let target = TargetSkeleton::new(file.clone(), &rig.rig, Path::new("odd.bvh")).unwrap();
    let clip = walking_clip();
    let contacts = foot_contacts(&clip, &pomp_motion::ContactConfig::default());
    let error = onto_skeleton(&clip, &contacts, &target, OntoOptions::default()).unwrap_err();
    assert!(error.to_string().contains("XXY") && error.to_string().contains("\"LeftFoot\""), "{error}");
}

#[test]
fn rejects_a_result_of_an_unknown_kind() {
    let result = onto(&walking_clip(), &target(&told(&StrangeBody::walking(), named)));
    let error = result.write(Path::new("out.fbx")).unwrap_err();
    assert!(matches!(error, RetargetOntoError::UnknownKind { .. }), "{error}");
    assert_eq!(result.report.source_frame.unit, LengthUnit::Metre);
}

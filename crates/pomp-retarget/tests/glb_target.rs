//! A motion on the skeleton of a GLB file goes where it goes on that of a BVH file, and the character keeps its mesh.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

mod bodies;
#[path = "../../pomp-formats/tests/character/mod.rs"]
mod character;

use bodies::walking_clip;
use character::{Character, bytes_of, taken_apart};
use pomp_formats::{read_bvh, read_glb};
use pomp_motion::glam::{Quat, Vec3};
use pomp_motion::retarget::{RigLibrary, UpAxis};
use pomp_motion::{Clip, ContactConfig, Joint, Pose, Skeleton, SourceMotion, foot_contacts};
use pomp_retarget::{
    OntoOptions, OntoSkeleton, RetargetOntoError, TargetSkeleton, onto_skeleton, write_onto,
};
use std::f32::consts::FRAC_PI_4;
use std::fs;
use std::path::{Path, PathBuf};

/// The skeleton of the stranger, inches, Z up, in metres with Y up. It stands where its one frame has it.
fn upright_stranger() -> Skeleton {
    let file = read_bvh(&stranger()).unwrap().motion;
    let turn = UpAxis::Z.world_from_file();
    let joints = file.skeleton.joints().iter().enumerate().map(|(index, joint)| {
        let offset = if index == 0 { file.poses[0].root_position } else { joint.offset };
        Joint { offset: turn * offset * 0.0254, ..joint.clone() }
    });
    Skeleton::new(joints.collect()).unwrap()
}

fn stranger() -> PathBuf {
    pomp_testing::repository().join("data/skeletons/stranger.bvh")
}

fn onto(clip: &Clip, path: &Path) -> OntoSkeleton {
    let target = TargetSkeleton::read(path, &RigLibrary::builtin()).unwrap();
    let contacts = foot_contacts(clip, &ContactConfig::default());
    onto_skeleton(clip, &contacts, &target, OntoOptions::default()).unwrap()
}

/// The greatest distance of joints of one name, metres.
fn distance(read: &SourceMotion, wanted: &Clip) -> f32 {
    distance_in(read, 1.0, wanted)
}

/// The same for a motion in units of `metres`.
fn distance_in(read: &SourceMotion, metres: f32, wanted: &Clip) -> f32 {
    assert_eq!((read.frames(), read.skeleton.len()), (wanted.frames(), wanted.skeleton.len()));
    let mut largest = 0.0_f32;
    for (frame, wanted_pose) in wanted.global_poses().iter().enumerate() {
        let pose = read.global_pose(frame);
        for (joint, at) in wanted.skeleton.joints().iter().zip(&wanted_pose.positions) {
            let found = read.skeleton.index_of(&joint.name).unwrap();
            largest = largest.max((pose.positions[found.0] * metres).distance(*at));
        }
    }
    largest
}

#[test]
fn a_clip_on_a_character_lies_within_a_tenth_of_a_millimetre_of_the_clip_on_its_bvh_skeleton() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stranger.glb");
    let glb = Character::new(&upright_stranger()).glb();
    fs::write(&path, &glb).unwrap();
    let clip = walking_clip();
    let (on_bvh, on_glb) = (onto(&clip, &stranger()), onto(&clip, &path));
    let wanted = on_bvh.to_clip().unwrap();
    let out = folder.path().join("walk.glb");
    on_glb.write(&out).unwrap();
    let read = read_glb(&out).unwrap();
    let far = distance(&read.motion, &wanted);
    println!("{} frames, joints within {:.3} mm", wanted.frames(), 1000.0 * far);
    assert!(far < 1e-4, "{far} m");
    assert_eq!(on_glb.report.carrier, on_bvh.report.carrier);
    assert_eq!(on_glb.report.followers.len(), on_bvh.report.followers.len());
    assert!((on_glb.report.ankle_height_m - on_bvh.report.ankle_height_m).abs() < 1e-3);

    let written = fs::read(&out).unwrap();
    let ((own, own_binary), (new, new_binary)) = (taken_apart(&glb), taken_apart(&written));
    for accessor in 0..own["accessors"].as_array().unwrap().len() {
        assert_eq!(own["accessors"][accessor], new["accessors"][accessor]);
        assert_eq!(bytes_of(&own, &own_binary, accessor), bytes_of(&new, &new_binary, accessor));
    }
    for part in ["meshes", "skins", "materials", "images", "nodes", "scenes"] {
        assert_eq!(own[part], new[part], "{part}");
    }
    assert_eq!(new["animations"][0]["name"], clip.name.as_str());
}

/// One file of each family whose rest pose stands, and no bone of which its converter has lost.
const RECORDED: [&str; 5] = [
    "core/cmu_amc_bvh/cmu_08_04.bvh",
    "core/cmu_daz/cmudaz_13_35.bvh",
    "core/cmu_iclone/cmuic_07_03.bvh",
    "core/deepmimic_bvh/humanoid3d_walk.bvh",
    "core/nimble_ik/sprinter__run0350cms.bvh",
];

#[test]
fn skeletons_of_recorded_motion_in_glb_files_give_what_their_bvh_files_give() {
    let folder = tempfile::tempdir().unwrap();
    let (rigs, clip) = (RigLibrary::builtin(), walking_clip());
    let contacts = foot_contacts(&clip, &ContactConfig::default());
    for name in RECORDED {
        let Some(recorded) = pomp_testing::recorded(name, "recorded skeletons as GLB files") else {
            continue;
        };
        // One frame in the rest pose, so that both files say the same of the floor.
        let mut file = read_bvh(&recorded).unwrap();
        let root = file.motion.poses[0].root_position;
        file.motion.poses = vec![Pose { root_position: root, ..Pose::rest(&file.motion.skeleton) }];
        file.motion.joint_translations = None;
        let target = TargetSkeleton::of(file.clone().into(), &recorded, &rigs).unwrap();
        let on_bvh = onto_skeleton(&clip, &contacts, &target, OntoOptions::default()).unwrap();
        let frame = &on_bvh.report.source_frame;
        let (turn, metres) = (frame.up_axis.world_from_file(), frame.unit.metres());
        let joints = file.motion.skeleton.joints().iter().enumerate().map(|(index, joint)| {
            let offset = if index == 0 { root } else { joint.offset };
            Joint { offset: turn * offset * metres, ..joint.clone() }
        });
        let path = folder.path().join("recorded.glb");
        fs::write(&path, Character::new(&Skeleton::new(joints.collect()).unwrap()).glb()).unwrap();
        let on_glb = onto(&clip, &path);
        let out = folder.path().join("walk.glb");
        on_glb.write(&out).unwrap();
        let far = distance(&read_glb(&out).unwrap().motion, &on_bvh.to_clip().unwrap());
        println!(
            "{name}: rig {} and {}, joints within {:.3} mm",
            on_bvh.report.rig,
            on_glb.report.rig,
            1000.0 * far
        );
        assert_eq!(on_glb.report.missing, on_bvh.report.missing, "{name}");
        assert!(far < 1e-3, "{name}: {far} m");
    }
}

#[test]
fn each_form_is_written_from_either_target() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stranger.glb");
    fs::write(&path, Character::new(&upright_stranger()).glb()).unwrap();
    let clip = walking_clip();
    let wanted = onto(&clip, &stranger()).to_clip().unwrap();
    for (target, out) in [(&path, "a.bvh"), (&path, "a.glb"), (&stranger(), "b.glb")] {
        let out = folder.path().join(out);
        let result = onto(&clip, target);
        result.write(&out).unwrap();
        let (read, metres) = match out.extension().unwrap().to_str().unwrap() {
            "bvh" => (read_bvh(&out).unwrap().motion, 0.01),
            _ => (read_glb(&out).unwrap().motion, 1.0),
        };
        let far = distance_in(&read, metres, &wanted);
        println!("{}: joints within {:.3} mm", out.display(), 1000.0 * far);
        assert!(far < 1e-4, "{}: {far} m", out.display());
        // What something else has put on the skeleton is written alike.
        let again = folder.path().join("again").with_extension(out.extension().unwrap());
        let file = pomp_retarget::SkeletonFile::read(target).unwrap();
        write_onto(&again, &file, target, &result.motion, &RigLibrary::builtin()).unwrap();
        assert_eq!(fs::read(&again).unwrap(), fs::read(&out).unwrap(), "{}", out.display());
    }
    let error = onto(&clip, &path).write(&folder.path().join("out.gltf")).unwrap_err();
    assert!(matches!(error, RetargetOntoError::UnknownKind { .. }), "{error}");
}

#[test]
fn a_character_that_stands_turned_and_far_away_walks_upright_from_where_the_clip_begins() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("turned.glb");
    let mut character = Character::new(&upright_stranger());
    let above = serde_json::json!({
        "name": "Scene", "children": [0], "translation": [4.0, 0.0, -2.0], "rotation": Quat::from_rotation_y(0.7).to_array(),
    });
    let nodes = character.document["nodes"].as_array_mut().unwrap();
    nodes.push(above);
    let (scene, mesh) = (nodes.len() - 1, nodes.len() - 2);
    character.document["scenes"][0]["nodes"] = serde_json::json!([scene, mesh]);
    fs::write(&path, character.glb()).unwrap();
    let clip = walking_clip();
    let wanted = onto(&clip, &stranger()).to_clip().unwrap();
    let out = folder.path().join("walk.glb");
    onto(&clip, &path).write(&out).unwrap();
    let far = distance(&read_glb(&out).unwrap().motion, &wanted);
    println!("joints within {:.3} mm", 1000.0 * far);
    assert!(far < 1e-4, "{far} m");
}

#[test]
fn a_character_bound_with_lowered_arms_moves_as_one_bound_with_level_arms() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lowered.glb");
    let skeleton = upright_stranger();
    // Everything below the shoulders hangs by 45°, on the left to the left.
    let lowered = skeleton.joints().iter().enumerate().map(|(index, joint)| {
        let line = std::iter::successors(joint.parent, |parent| skeleton.joints()[parent.0].parent);
        let turn = line.map(|above| skeleton.joints()[above.0].name.as_str()).find_map(|name| match name {
            "LeftShoulder" => Some(-FRAC_PI_4),
            "RightShoulder" => Some(FRAC_PI_4),
            _ => None,
        });
        assert!(index > 0 || turn.is_none());
        Joint { offset: Quat::from_rotation_z(turn.unwrap_or(0.0)) * joint.offset, ..joint.clone() }
    });
    let lowered = Skeleton::new(lowered.collect()).unwrap();
    let hand = lowered.index_of("LeftWrist").unwrap().0;
    let height = |skeleton: &Skeleton| skeleton.forward_kinematics(&Pose::rest(skeleton)).positions[hand].y;
    assert!(height(&lowered) < height(&skeleton) - 0.3, "the arms hang");
    fs::write(&path, Character::new(&lowered).glb()).unwrap();
    let clip = walking_clip();
    let wanted = onto(&clip, &stranger()).to_clip().unwrap();
    let out = folder.path().join("walk.glb");
    onto(&clip, &path).write(&out).unwrap();
    let far = distance(&read_glb(&out).unwrap().motion, &wanted);
    println!("joints within {:.3} mm", 1000.0 * far);
    assert!(far < 1e-2, "{far} m");
}

#[test]
fn rejects_files_that_are_no_character_with_the_name_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let rigs = RigLibrary::builtin();
    let refused = |name: &str, bytes: &[u8], words: &str| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        let said = TargetSkeleton::read(&path, &rigs).map(|_| ()).unwrap_err().to_string();
        assert!(said.contains(name) && said.contains(words), "{said}");
    };
    refused("garbage.glb", b"\x00\x01\x02garbage", "glTF");
    refused("empty.gltf", b"", "glTF");
    refused("list.gltf", b"{\"nodes\": 3}", "there are none");
    let mut character = Character::new(&upright_stranger());
    character.document["nodes"][0]["scale"] = serde_json::json!([1.0, 2.0, 1.0]);
    refused("scaled.glb", &character.glb(), "apply the scale");
    let mut table = Character::new(&Skeleton::new(table_joints()).unwrap());
    table.document["animations"] = serde_json::json!([]);
    refused("table.glb", &table.glb(), "table.glb");
}

/// A thing that is no person.
fn table_joints() -> Vec<Joint> {
    let leg = |name: &str, x: f32| Joint {
        name: name.to_owned(),
        parent: Some(pomp_motion::JointIndex(0)),
        offset: Vec3::new(x, -0.7, 0.3),
    };
    let top = Joint { name: "Top".to_owned(), parent: None, offset: Vec3::Y };
    vec![top, leg("LegA", 0.5), leg("LegB", -0.5)]
}

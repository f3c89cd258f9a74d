//! A motion is written into the file of a character: its joints go where the motion has them, and all else in the file stays.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

mod character;
mod clips;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use character::{Character, TEXTURE, bytes_of, node_of, taken_apart};
use pomp_formats::glb::glb_bytes_like;
use pomp_formats::{FormatError, GlbModel, parse_glb, parse_glb_model, read_glb_model, write_glb_like};
use pomp_motion::glam::{Mat4, Quat, Vec3};
use pomp_motion::{FrameTable, Skeleton, SourceMotion};
use serde_json::{Value, json};
use std::fs;

/// The walk on a model's skeleton, in metres.
fn walk_on(model: &GlbModel) -> SourceMotion {
    let clip = clips::walk();
    SourceMotion {
        name: "walk".to_owned(),
        skeleton: model.motion.skeleton.clone(),
        end_sites: Vec::new(),
        frame_rate_hz: clip.frame_rate_hz,
        poses: clip.poses,
        joint_translations: None,
    }
}

/// The greatest distance of joints of one name, metres.
fn distance(read: &SourceMotion, wanted: &SourceMotion) -> f32 {
    assert_eq!(read.frames(), wanted.frames());
    let mut largest = 0.0_f32;
    for frame in 0..wanted.frames() {
        let (read_pose, wanted_pose) = (read.global_pose(frame), wanted.global_pose(frame));
        for (joint, at) in wanted.skeleton.joints().iter().zip(&wanted_pose.positions) {
            let found = read.skeleton.index_of(&joint.name).unwrap();
            largest = largest.max(read_pose.positions[found.0].distance(*at));
        }
    }
    largest
}

#[test]
fn a_motion_on_a_character_keeps_its_mesh_and_everything_else_byte_for_byte() {
    let character = Character::new(&Skeleton::humanoid(1.75));
    let glb = character.glb();
    let model = parse_glb_model(&glb, "character.glb").unwrap();
    let skeleton = Skeleton::humanoid(1.75);
    for (read, told) in model.motion.skeleton.joints().iter().zip(skeleton.joints()) {
        assert_eq!((&read.name, read.parent), (&told.name, told.parent));
        assert!(read.offset.distance(told.offset) < 1e-5, "{read:?} {told:?}");
    }
    let motion = walk_on(&model);
    let written = glb_bytes_like(&model, &motion).unwrap();
    gltf::Gltf::from_slice(&written).expect("the file is valid glTF");
    let read = parse_glb(&written, "written").unwrap();
    assert_eq!(read.motion.frame_rate_hz, 30.0);
    let far = distance(&read.motion, &motion);
    println!("joints are within {far} m of the motion");
    assert!(far < 2e-5, "{far}");

    let (mut own, own_binary) = taken_apart(&glb);
    let (mut new, new_binary) = taken_apart(&written);
    assert_eq!(new_binary[..own_binary.len()], own_binary[..], "the bytes stay where they were");
    for accessor in 0..own["accessors"].as_array().unwrap().len() {
        assert_eq!(bytes_of(&new, &new_binary, accessor), bytes_of(&own, &own_binary, accessor));
    }
    assert_eq!(new["animations"].as_array().unwrap().len(), 2, "its own animation is still there");
    assert_eq!(new["animations"][1], own["animations"][0]);
    assert_eq!(new["animations"][0]["name"], "walk");
    assert_eq!(new["buffers"][0]["name"], "geometry");
    for name in ["accessors", "bufferViews"] {
        let count = own[name].as_array().unwrap().len();
        new[name].as_array_mut().unwrap().truncate(count);
    }
    for name in ["animations", "buffers"] {
        own[name].take();
        new[name].take();
    }
    assert_eq!(own, new, "no other part of the document changes");
    let text = String::from_utf8_lossy(&written).into_owned();
    assert!(text.contains("0.30000001"), "numbers keep their digits");
    assert_eq!(written, glb_bytes_like(&model, &motion).unwrap(), "the same input gives the same bytes");
}

#[test]
fn only_the_joints_that_move_in_their_parents_get_translations() {
    let model = parse_glb_model(&Character::new(&Skeleton::humanoid(1.75)).glb(), "character").unwrap();
    let paths = |motion: &SourceMotion| -> Vec<(u64, String)> {
        let (document, _) = taken_apart(&glb_bytes_like(&model, motion).unwrap());
        let channels = document["animations"][0]["channels"].as_array().unwrap().clone();
        let target = |channel: &Value| {
            let target = &channel["target"];
            (target["node"].as_u64().unwrap(), target["path"].as_str().unwrap().to_owned())
        };
        channels.iter().map(target).filter(|(_, path)| path == "translation").collect()
    };
    let mut motion = walk_on(&model);
    assert_eq!(paths(&motion), [(node_of(0) as u64, "translation".to_owned())]);
    // A joint that moves in its parent is where the motion has it, whatever its frame is.
    let offsets: Vec<Vec3> = motion.skeleton.joints().iter().map(|joint| joint.offset).collect();
    let mut table = FrameTable::with_columns(offsets.len());
    for (frame, pose) in motion.poses.iter().enumerate() {
        let mut row = offsets.clone();
        row[0] = pose.root_position;
        row[3] += Vec3::new(0.01, 0.0, 0.02) * frame as f32;
        table.push(&row);
    }
    motion.joint_translations = Some(table);
    assert_eq!(paths(&motion).len(), 2);
    let read = parse_glb(&glb_bytes_like(&model, &motion).unwrap(), "written").unwrap();
    assert!(distance(&read.motion, &motion) < 2e-5);
}

#[test]
fn a_document_with_files_beside_it_becomes_one_glb() {
    let character = Character::new(&Skeleton::humanoid(1.75));
    let folder = tempfile::tempdir().unwrap();
    let mut document = character.document.clone();
    document["buffers"] = json!([
        {"byteLength": character.bytes.len(), "uri": "with%20space.bin"},
        {"byteLength": 3, "uri": "other.bin"},
    ]);
    document["images"] = json!([{"uri": "skin.png"}]);
    let path = folder.path().join("character.gltf");
    fs::write(&path, document.to_string()).unwrap();
    fs::write(folder.path().join("with space.bin"), &character.bytes).unwrap();
    let refused = read_glb_model(&path).unwrap_err().to_string();
    assert!(refused.contains("buffer 1") && refused.contains("other.bin"), "{refused}");
    fs::write(folder.path().join("other.bin"), b"abc").unwrap();
    let model = read_glb_model(&path).unwrap();
    let motion = walk_on(&model);
    let out = folder.path().join("out").join("walk.glb");
    fs::create_dir(folder.path().join("out")).unwrap();
    let refused = write_glb_like(&out, &model, &motion).unwrap_err().to_string();
    assert!(refused.contains("image 0") && refused.contains("skin.png") && !out.exists(), "{refused}");
    fs::write(folder.path().join("skin.png"), TEXTURE).unwrap();
    write_glb_like(&out, &model, &motion).unwrap();
    let written = fs::read(&out).unwrap();
    assert!(distance(&parse_glb(&written, "written").unwrap().motion, &motion) < 2e-5);
    let (document, binary) = taken_apart(&written);
    assert_eq!(binary[..character.bytes.len()], character.bytes[..]);
    let embedded = |object: &Value, kind: &str| {
        let text = object["uri"].as_str().unwrap().strip_prefix(&format!("data:{kind};base64,")).unwrap();
        STANDARD.decode(text).unwrap()
    };
    assert_eq!(embedded(&document["images"][0], "image/png"), TEXTURE);
    assert_eq!(embedded(&document["buffers"][1], "application/octet-stream"), b"abc");

    // The same document with all bytes in itself.
    let mut inside = character.document.clone();
    let uri = format!("data:application/octet-stream;base64,{}", STANDARD.encode(&character.bytes));
    inside["buffers"] = json!([{"byteLength": character.bytes.len(), "uri": uri}]);
    let model = parse_glb_model(inside.to_string().as_bytes(), "inside").unwrap();
    let (_, binary) = taken_apart(&glb_bytes_like(&model, &motion).unwrap());
    assert_eq!(binary[..character.bytes.len()], character.bytes[..]);
}

#[test]
fn nodes_without_a_skin_are_joints_and_nodes_between_joints_too() {
    let mut character = Character::new(&Skeleton::humanoid(1.75));
    let whole = parse_glb_model(&character.glb(), "whole").unwrap();
    // The knee is in no skin: it hangs between joints.
    let knee = node_of(whole.motion.skeleton.index_of("LeftLeg").unwrap().0);
    let mut without = Character::new(&Skeleton::humanoid(1.75));
    without.document["skins"] = json!([
        {"joints": [1, 2, 3, 4, 5, 6, 7]},
        {"joints": (1..=22).filter(|node| *node != knee).collect::<Vec<usize>>()},
    ]);
    let model = parse_glb_model(&without.glb(), "without").unwrap();
    assert_eq!(model.motion.skeleton.len(), 22);
    let motion = walk_on(&model);
    let read = parse_glb(&glb_bytes_like(&model, &motion).unwrap(), "read").unwrap();
    assert_eq!(read.motion.skeleton.len(), 21);

    for name in ["skins", "meshes", "animations"] {
        character.document.as_object_mut().unwrap().remove(name);
    }
    character.document["nodes"].as_array_mut().unwrap().pop();
    character.document["scenes"] = json!([{"nodes": [0]}]);
    let model = parse_glb_model(&character.glb(), "plain").unwrap();
    assert_eq!(model.motion.skeleton.joints()[0].name, "Armature");
    assert_eq!((model.motion.skeleton.len(), model.motion.frames()), (23, 1));
    let rest = model.motion.global_pose(0);
    let wanted = Skeleton::humanoid(1.75).forward_kinematics(&clips::walk().poses[0]).positions;
    assert!(rest.positions[1].distance(wanted[0]) < 1e-4);
    let file = parse_glb(&glb_bytes_like(&model, &model.motion).unwrap(), "plain").unwrap();
    assert!(distance(&file.motion, &model.motion) < 2e-5);
}

#[test]
fn a_bind_pose_that_is_not_the_pose_of_the_nodes_is_the_rest_pose() {
    let mut character = Character::new(&Skeleton::humanoid(1.75));
    // The arm of the nodes hangs, that of the bind pose is level.
    let skeleton = Skeleton::humanoid(1.75);
    let arm = skeleton.index_of("LeftArm").unwrap();
    let node = &mut character.document["nodes"][node_of(arm.0)];
    let own: Vec<f32> =
        node["rotation"].as_array().unwrap().iter().map(|v| v.as_f64().unwrap() as f32).collect();
    node["rotation"] = json!((Quat::from_slice(&own) * Quat::from_rotation_x(0.8)).normalize().to_array());
    let model = parse_glb_model(&character.glb(), "bound").unwrap();
    let hand = skeleton.index_of("LeftHand").unwrap().0;
    let rest = model.motion.rest_pose().positions;
    let wanted = skeleton.forward_kinematics(&pomp_motion::Pose::rest(&skeleton)).positions;
    assert!(rest[hand].distance(wanted[hand]) < 1e-4, "{} {}", rest[hand], wanted[hand]);
    assert!(model.motion.global_pose(0).positions[hand].distance(wanted[hand]) > 0.1, "the nodes hang");
    let motion = walk_on(&model);
    let read = parse_glb(&glb_bytes_like(&model, &motion).unwrap(), "read").unwrap();
    assert!(distance(&read.motion, &motion) < 2e-5);
}

#[test]
fn matrices_of_joints_become_the_parts_that_gltf_animates() {
    let mut character = Character::new(&Skeleton::humanoid(1.75));
    let node = &mut character.document["nodes"][node_of(2)];
    let numbers = |value: &Value| -> Vec<f32> {
        value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap() as f32).collect()
    };
    let (at, turn) = (numbers(&node["translation"]), numbers(&node["rotation"]));
    let matrix = Mat4::from_rotation_translation(Quat::from_slice(&turn), Vec3::from_slice(&at));
    let parts = node.as_object_mut().unwrap();
    parts.remove("translation");
    parts.remove("rotation");
    parts.insert("matrix".to_owned(), json!(matrix.to_cols_array()));
    let model = parse_glb_model(&character.glb(), "matrix").unwrap();
    let motion = walk_on(&model);
    let written = glb_bytes_like(&model, &motion).unwrap();
    gltf::Gltf::from_slice(&written).expect("the file is valid glTF");
    let (document, _) = taken_apart(&written);
    assert!(document["nodes"][node_of(2)].get("matrix").is_none());
    assert!(distance(&parse_glb(&written, "read").unwrap().motion, &motion) < 2e-5);
}

#[test]
fn rejects_what_cannot_carry_a_motion_with_place_and_remedy() {
    let refused = |words: &[&str], change: &dyn Fn(&mut Character)| {
        let mut character = Character::new(&Skeleton::humanoid(1.75));
        change(&mut character);
        let error = parse_glb_model(&character.glb(), "bad.glb").map(|_| ()).unwrap_err();
        let said = error.to_string();
        println!("{said}");
        assert!(said.starts_with("bad.glb: ") && words.iter().all(|word| said.contains(word)), "{said}");
    };
    refused(&["node 0, \"Armature\"", "0.01 × 0.02 × 0.01", "apply the scale"], &|c| {
        c.document["nodes"][0]["scale"] = json!([0.01, 0.02, 0.01]);
    });
    refused(&["\"Armature\"", "one positive factor"], &|c| {
        c.document["nodes"][0]["scale"] = json!([-0.01, -0.01, -0.01]);
    });
    refused(&["node 2", "shears", "apply the transform"], &|c| {
        let mut matrix = Mat4::IDENTITY.to_cols_array();
        (matrix[4], matrix[5]) = (0.6, 0.8);
        let node = c.document["nodes"][2].as_object_mut().unwrap();
        node.remove("rotation");
        node.remove("translation");
        node.insert("matrix".to_owned(), json!(matrix));
    });
    refused(&["nodes", "there are none"], &|c| {
        for name in ["nodes", "skins", "animations"] {
            c.document[name] = json!([]);
        }
    });
    refused(&["no common node", "export one skeleton"], &|c| {
        c.document["nodes"][1]["children"] = json!([]);
    });
    refused(&["compressed", "without compression"], &|c| {
        let view = c.document["accessors"][3]["bufferView"].as_u64().unwrap() as usize;
        c.document["bufferViews"][view]["buffer"] = json!(1);
        c.document["bufferViews"][view]["extensions"] = json!({"EXT_meshopt_compression": {"buffer": 0}});
    });
    refused(&["skin 0", "1001 joints"], &|c| {
        c.document["skins"] = json!([{"joints": vec![1; 1001]}]);
    });
    refused(&["skins", "257 are more"], &|c| {
        c.document["skins"] = json!(vec![json!({"joints": [1]}); 257]);
    });
    refused(&["hangs below more than 1000 nodes"], &|c| {
        let nodes = c.document["nodes"].as_array_mut().unwrap();
        let first = nodes.len();
        nodes.extend(
            (0..2000).map(|index| json!({"children": [if index == 1999 { 0 } else { first + index + 1 }]})),
        );
    });
    let character = Character::new(&Skeleton::humanoid(1.75));
    let mut document = character.document.clone();
    for (uri, words) in [
        ("other.bin", "other.bin; export everything into one .glb"),
        ("https://host/a.bin", "another file"),
        ("data:text/plain,abc", "not base64"),
        ("data:application/octet-stream;base64,*", "not base64"),
        ("data:nothing", "no comma"),
    ] {
        document["buffers"] = json!([{"byteLength": 8, "uri": uri}]);
        let said = parse_glb_model(document.to_string().as_bytes(), "bad").unwrap_err().to_string();
        assert!(said.starts_with("bad: buffer 0: ") && said.contains(words), "{said}");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("linked.gltf");
    document["buffers"] = json!([{"byteLength": 8, "uri": "/etc/hostname"}]);
    fs::write(&path, document.to_string()).unwrap();
    let said = read_glb_model(&path).unwrap_err().to_string();
    assert!(said.contains("no path beside the file"), "{said}");
    assert!(read_glb_model(&folder.path().join("none.glb")).unwrap_err().to_string().contains("none.glb"));
}

#[test]
fn rejects_motions_that_the_file_cannot_hold() {
    let character = Character::new(&Skeleton::humanoid(1.75));
    let model = parse_glb_model(&character.glb(), "character.glb").unwrap();
    let other = parse_glb_model(&Character::new(&other_skeleton()).glb(), "other.glb").unwrap();
    let error = glb_bytes_like(&model, &other.motion).unwrap_err();
    assert!(matches!(error, FormatError::CannotWrite { .. }), "{error}");
    assert!(error.to_string().contains("character.glb"), "{error}");
    let mut far = walk_on(&model);
    far.poses[3].root_position.x = 3.0e38;
    let error = glb_bytes_like(&model, &far).unwrap_err().to_string();
    assert!(error.contains("frame 3") && error.contains("\"Hips\""), "{error}");
    let mut cut = Character::new(&Skeleton::humanoid(1.75));
    cut.document["buffers"] = json!([]);
    let (mut document, binary) = taken_apart(&character.glb());
    document["buffers"][0]["byteLength"] = json!(binary.len() + 1000);
    let longer = character::container(document.to_string().as_bytes(), &binary);
    let model = parse_glb_model(&longer, "longer.glb").unwrap();
    let error = glb_bytes_like(&model, &walk_on(&model)).unwrap_err().to_string();
    assert!(error.contains("longer.glb: buffer 0") && error.contains("byteLength"), "{error}");
}

fn other_skeleton() -> Skeleton {
    let mut joints = Skeleton::humanoid(1.75).joints().to_vec();
    joints[4].name = "Another".to_owned();
    Skeleton::new(joints).unwrap()
}

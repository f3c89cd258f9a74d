//! GLB files are valid by the `gltf` crate's validation, and the animation they hold is the clip.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

mod clips;

use clips::walk;
use pomp_formats::glb::glb_bytes;
use pomp_formats::{FormatError, write_glb};
use pomp_motion::glam::{Mat4, Quat, Vec3};
use pomp_motion::{Clip, Joint, Pose, Skeleton};
use std::sync::Arc;

/// World matrices of all nodes of the default scene.
fn world_matrices(document: &gltf::Document, local: &[Mat4]) -> Vec<Mat4> {
    fn visit(node: &gltf::Node<'_>, parent: Mat4, local: &[Mat4], world: &mut [Mat4]) {
        world[node.index()] = parent * local[node.index()];
        for child in node.children() {
            visit(&child, world[node.index()], local, world);
        }
    }
    let mut world = vec![Mat4::IDENTITY; local.len()];
    for root in document.default_scene().expect("there is a scene").nodes() {
        visit(&root, Mat4::IDENTITY, local, &mut world);
    }
    world
}

#[test]
fn playing_the_animation_puts_every_joint_where_the_clip_has_it() {
    let clip = walk();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("walk.glb");
    write_glb(&path, &clip).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let gltf::Gltf { document, blob } = gltf::Gltf::from_slice(&bytes).expect("the file is valid glTF");
    let blob = blob.expect("the file has a binary chunk");
    let animation = document.animations().next().expect("there is an animation");
    for frame in 0..clip.frames() {
        let mut parts: Vec<(Vec3, Quat)> = document
            .nodes()
            .map(|node| {
                let (translation, rotation, _) = node.transform().decomposed();
                (Vec3::from_array(translation), Quat::from_array(rotation))
            })
            .collect();
        for channel in animation.channels() {
            let reader = channel.reader(|_| Some(&blob));
            let time = reader.read_inputs().unwrap().nth(frame).unwrap();
            assert!((time - frame as f32 / 30.0).abs() < 1e-6);
            let part = &mut parts[channel.target().node().index()];
            match reader.read_outputs().unwrap() {
                gltf::animation::util::ReadOutputs::Translations(mut keys) => {
                    part.0 = Vec3::from_array(keys.nth(frame).unwrap());
                }
                gltf::animation::util::ReadOutputs::Rotations(keys) => {
                    part.1 = Quat::from_array(keys.into_f32().nth(frame).unwrap());
                }
                _ => panic!("only translations and rotations are animated"),
            }
        }
        let local: Vec<Mat4> = parts
            .iter()
            .map(|&(translation, rotation)| Mat4::from_rotation_translation(rotation, translation))
            .collect();
        let world = world_matrices(&document, &local);
        let expected = clip.skeleton.forward_kinematics(&clip.poses[frame]);
        for (node, joint) in document.nodes().zip(clip.skeleton.joints()) {
            assert_eq!(node.name(), Some(joint.name.as_str()));
            let found = world[node.index()].w_axis.truncate();
            assert!(
                found.distance(expected.positions[node.index()]) < 1e-4,
                "{} at frame {frame}",
                joint.name
            );
        }
    }
}

#[test]
fn the_bones_lie_on_the_skeleton_and_their_faces_look_outward() {
    let clip = walk();
    let bytes = glb_bytes(&clip).unwrap();
    let gltf::Gltf { document, blob } = gltf::Gltf::from_slice(&bytes).unwrap();
    let blob = blob.unwrap();
    let skin = document.skins().next().expect("the mesh has a skin");
    assert_eq!(skin.joints().count(), clip.skeleton.len());
    let primitive = document.meshes().next().unwrap().primitives().next().unwrap();
    let reader = primitive.reader(|_| Some(&blob));
    let positions: Vec<Vec3> = reader.read_positions().unwrap().map(Vec3::from_array).collect();
    let normals: Vec<Vec3> = reader.read_normals().unwrap().map(Vec3::from_array).collect();
    let lowest = positions.iter().map(|p| p.y).fold(f32::INFINITY, f32::min);
    let highest = positions.iter().map(|p| p.y).fold(f32::NEG_INFINITY, f32::max);
    assert!(lowest > -0.05 && highest > 1.5 && highest < 1.85, "{lowest} to {highest} m");
    // 21 bones, each at least 8 triangles, and 5 leaves.
    assert_eq!(positions.len(), (21 + 5) * 24);
    for octahedron in 0..positions.len() / 24 {
        let corners = &positions[octahedron * 24..][..24];
        let centre = corners.iter().sum::<Vec3>() / 24.0;
        for triangle in 0..8 {
            let [a, b, c] = [0, 1, 2].map(|i| corners[triangle * 3 + i]);
            let wound = (b - a).cross(c - a).normalize();
            assert!(wound.dot(normals[octahedron * 24 + triangle * 3]) > 0.99);
            assert!(wound.dot((a + b + c) / 3.0 - centre) > 0.0);
        }
    }
}

#[test]
fn neighbouring_rotation_keys_never_jump_to_the_other_half_of_the_sphere() {
    let mut clip = walk();
    for rotation in &mut clip.poses[3].local_rotations {
        *rotation = -*rotation;
    }
    let bytes = glb_bytes(&clip).unwrap();
    let gltf::Gltf { document, blob } = gltf::Gltf::from_slice(&bytes).unwrap();
    let blob = blob.unwrap();
    for channel in document.animations().next().unwrap().channels() {
        if let Some(gltf::animation::util::ReadOutputs::Rotations(keys)) =
            channel.reader(|_| Some(&blob)).read_outputs()
        {
            let keys: Vec<Quat> = keys.into_f32().map(Quat::from_array).collect();
            assert!(keys.windows(2).all(|pair| pair[0].dot(pair[1]) >= 0.0));
        }
    }
}

#[test]
fn the_same_clip_gives_the_same_bytes() {
    assert_eq!(glb_bytes(&walk()).unwrap(), glb_bytes(&walk()).unwrap());
}

#[test]
fn one_joint_and_one_frame_make_a_valid_file() {
    let joint = Joint { name: "ball".to_owned(), parent: None, offset: Vec3::ZERO };
    let skeleton = Arc::new(Skeleton::new(vec![joint]).unwrap());
    let clip = Clip::new("still", Arc::clone(&skeleton), 60.0, vec![Pose::rest(&skeleton)]).unwrap();
    gltf::Gltf::from_slice(&glb_bytes(&clip).unwrap()).expect("the file is valid glTF");
}

#[test]
fn rejects_poses_that_are_not_finite() {
    let mut clip = walk();
    clip.poses[2].root_position.y = f32::INFINITY;
    assert!(matches!(glb_bytes(&clip), Err(FormatError::Motion { .. })));
}

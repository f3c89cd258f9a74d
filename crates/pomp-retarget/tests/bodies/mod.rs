//! Targets made of the odd bodies of pomp-motion's tests, and what a motion on them is measured by.

#![allow(dead_code, reason = "each test uses a part")]

#[path = "../../../pomp-motion/tests/strange_body/mod.rs"]
mod strange_body;

use pomp_formats::bvh::ChannelType;
use pomp_formats::{BvhFile, bvh::bvh_text_like, parse_bvh};
use pomp_motion::glam::{Quat, Vec3};
use pomp_motion::retarget::{Proportions, RetargetOptions, RigLibrary, infer, retarget};
use pomp_motion::{Clip, Joint, JointIndex, Pose, Skeleton, SourceMotion};
use pomp_retarget::{OntoOptions, OntoSkeleton, TargetSkeleton, onto_skeleton};
use std::path::Path;
pub use strange_body::StrangeBody;

/// The walk of [`StrangeBody::walking`] on the project skeleton, with its soles on y = 0.
pub fn walking_clip() -> Clip {
    let source = told(&StrangeBody::walking(), |name| name.replace("Toe", "ToeBase"));
    let library = RigLibrary::builtin();
    let (rig, _) = library.choose(&source.skeleton).unwrap();
    let proportions = Proportions::Project { height_m: 1.7 };
    retarget(&source, rig, &RetargetOptions { proportions, ..RetargetOptions::default() }).unwrap().clip
}

/// The motion of a body as a file has it: joints depth first.
pub fn told(body: &StrangeBody, name: impl Fn(&str) -> String) -> SourceMotion {
    let motion = body.told(name);
    let joints = motion.skeleton.joints();
    let mut order = Vec::new();
    let mut stack = vec![0];
    while let Some(joint) = stack.pop() {
        order.push(joint);
        stack
            .extend((0..joints.len()).rev().filter(|&child| joints[child].parent == Some(JointIndex(joint))));
    }
    let place = |joint: JointIndex| JointIndex(order.iter().position(|&old| old == joint.0).unwrap());
    let reordered = order
        .iter()
        .map(|&old| Joint { parent: joints[old].parent.map(place), ..joints[old].clone() })
        .collect();
    SourceMotion {
        skeleton: Skeleton::new(reordered).unwrap(),
        end_sites: motion.end_sites.iter().map(|&(joint, end)| (place(joint), end)).collect(),
        poses: motion
            .poses
            .iter()
            .map(|pose| Pose {
                root_position: pose.root_position,
                local_rotations: order.iter().map(|&old| pose.local_rotations[old]).collect(),
            })
            .collect(),
        ..motion.clone()
    }
}

/// Six channels for the root, three rotations for the others.
pub fn usual_channels(motion: &SourceMotion) -> Vec<Vec<ChannelType>> {
    use ChannelType::{PositionX, PositionY, PositionZ, RotationX, RotationY, RotationZ};
    (0..motion.skeleton.len())
        .map(|joint| {
            let positions = if joint == 0 { vec![PositionX, PositionY, PositionZ] } else { Vec::new() };
            positions.into_iter().chain([RotationZ, RotationX, RotationY]).collect()
        })
        .collect()
}

/// A file of this motion, written and read again.
pub fn file(motion: &SourceMotion, channels: Vec<Vec<ChannelType>>) -> BvhFile {
    let model = BvhFile { motion: motion.clone(), channels, frame_time_s: 0.0, warnings: Vec::new() };
    let text = bvh_text_like(&model, motion).unwrap();
    parse_bvh(text.as_bytes(), &motion.name).unwrap()
}

/// The target of a motion's file, by a rig map that is chosen or inferred.
pub fn target(motion: &SourceMotion) -> TargetSkeleton {
    let file = file(motion, usual_channels(motion));
    let library = RigLibrary::builtin();
    let chosen = library.choose_or_infer(&file.motion).unwrap();
    TargetSkeleton::new(file.clone(), &chosen.rig, Path::new("target.bvh")).unwrap()
}

/// The target of a motion's file, by an inferred rig map alone.
pub fn inferred(motion: &SourceMotion) -> TargetSkeleton {
    let file = file(motion, usual_channels(motion));
    let rig = infer(&file.motion).unwrap().rig;
    TargetSkeleton::new(file, &rig, Path::new("target.bvh")).unwrap()
}

pub fn onto(clip: &Clip, target: &TargetSkeleton) -> OntoSkeleton {
    onto_skeleton(clip, &vec![[false; 4]; clip.frames()], target, OntoOptions::default()).unwrap()
}

/// Mean and largest distance of the joints of two motions of one skeleton, share of `unit`.
pub fn distance(a: &SourceMotion, b: &SourceMotion, unit: f32) -> (f32, f32) {
    assert_eq!(a.frames(), b.frames());
    let (mut sum, mut largest, mut count) = (0.0_f64, 0.0_f32, 0_usize);
    for frame in 0..a.frames() {
        for (p, q) in a.global_pose(frame).positions.iter().zip(b.global_pose(frame).positions) {
            let distance = p.distance(q) * unit;
            sum += f64::from(distance);
            largest = largest.max(distance);
            count += 1;
        }
    }
    ((sum / count as f64) as f32, largest)
}

/// The motion in another unit and with another axis up: `file_from_world` turns the world.
pub fn dialect(motion: &SourceMotion, file_from_world: Quat, units_per_metre: f32) -> SourceMotion {
    let joints = motion
        .skeleton
        .joints()
        .iter()
        .map(|joint| Joint { offset: file_from_world * joint.offset * units_per_metre, ..joint.clone() });
    let turned = |q: Quat| (file_from_world * q * file_from_world.inverse()).normalize();
    let poses = motion.poses.iter().map(|pose| Pose {
        root_position: file_from_world * pose.root_position * units_per_metre,
        local_rotations: pose.local_rotations.iter().map(|&q| turned(q)).collect(),
    });
    SourceMotion {
        skeleton: Skeleton::new(joints.collect()).unwrap(),
        poses: poses.collect(),
        end_sites: motion
            .end_sites
            .iter()
            .map(|&(j, end)| (j, file_from_world * end * units_per_metre))
            .collect(),
        ..motion.clone()
    }
}

/// Index of a joint by its name.
pub fn joint(motion: &SourceMotion, name: &str) -> JointIndex {
    motion.skeleton.index_of(name).unwrap_or_else(|| panic!("there is no {name}"))
}

/// A rotation that is different for every joint.
pub fn odd_turn(index: usize) -> Quat {
    let t = index as f32;
    Quat::from_scaled_axis(Vec3::new((1.7 * t).sin(), (2.3 * t).cos(), (0.9 * t + 1.0).sin()) * 1.3)
}

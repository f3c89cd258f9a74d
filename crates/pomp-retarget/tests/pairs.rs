//! Exact pairs: what splitting, merging, stretching and turning bones leaves as it was.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

mod bodies;

use bodies::{odd_turn, told, walking_clip};
use pomp_motion::SourceMotion;
use pomp_motion::glam::{Quat, Vec3};
use pomp_retarget::{Altered, PairBody, PairSkeleton};

fn walk() -> SourceMotion {
    told(&bodies::StrangeBody::walking(), str::to_owned)
}

/// World rotation of a joint in a frame, and its position.
fn at(motion: &SourceMotion, frame: usize, name: &str) -> (Vec3, Quat) {
    let joint = motion.skeleton.index_of(name).unwrap_or_else(|| panic!("there is no {name}"));
    let pose = motion.global_pose(frame);
    (pose.positions[joint.0], pose.rotations[joint.0])
}

#[test]
fn split_and_turned_bones_leave_every_joint_in_its_place() {
    let walk = walk();
    let altered = Altered::new(walk.clone()).unwrap();
    let split = altered.split("LeftHand", "Half", 0.25).unwrap();
    let turns: Vec<Quat> = (0..walk.skeleton.len() + 1).map(odd_turn).collect();
    let turned = split.clone().reoriented(&turns).unwrap().motion();
    let split = split.motion();
    assert_eq!(split.skeleton.len(), walk.skeleton.len() + 1);
    for frame in (0..walk.frames()).step_by(7) {
        for joint in walk.skeleton.joints() {
            let (own, there) = (at(&walk, frame, &joint.name), at(&split, frame, &joint.name));
            assert!(own.0.distance(there.0) < 1e-5 && own.1.angle_between(there.1) < 2e-3, "{}", joint.name);
            assert!(own.0.distance(at(&turned, frame, &joint.name).0) < 1e-5, "{}", joint.name);
        }
        let (elbow, hand) = (at(&walk, frame, "LeftForeArm").0, at(&walk, frame, "LeftHand").0);
        assert!(at(&split, frame, "Half").0.distance(elbow.lerp(hand, 0.25)) < 1e-5);
    }
    let bent = at(&turned, 0, "LeftHand").1.angle_between(at(&split, 0, "LeftHand").1);
    assert!(bent > 0.1, "the frames are turned: {bent}");
}

#[test]
fn merged_and_stretched_bones_leave_every_rotation_in_the_world() {
    let walk = walk();
    let altered = Altered::new(walk.clone()).unwrap();
    let merged = altered.clone().merged("Spine1").unwrap().motion();
    let stretched = altered
        .stretched(1.2, |joint| if joint.contains("Leg") || joint.contains("Foot") { 1.2 } else { 0.8 });
    let stretched = stretched.unwrap().motion();
    assert_eq!(merged.skeleton.len(), walk.skeleton.len() - 1);
    for frame in (0..walk.frames()).step_by(7) {
        for joint in merged.skeleton.joints() {
            let own = at(&walk, frame, &joint.name);
            for other in [&merged, &stretched] {
                let there = at(other, frame, &joint.name);
                assert!(own.1.angle_between(there.1) < 2e-3, "{}", joint.name);
            }
        }
        // All bones down to the foot and the way are stretched alike.
        let (own, there) = (at(&walk, frame, "LeftFoot").0, at(&stretched, frame, "LeftFoot").0);
        assert!((own * 1.2).distance(there) < 1e-4, "{own} {there}");
    }
}

#[test]
fn bodies_of_pairs_are_drawn_by_seed_and_tell_the_clip_on_both_skeletons() {
    let clip = walking_clip();
    assert_eq!(PairBody::drawn(3, 1), PairBody::drawn(3, 1));
    assert_ne!(PairBody::drawn(3, 1), PairBody::drawn(3, 2));
    assert_ne!(PairBody::drawn(3, 1), PairBody { number: 3, ..PairBody::drawn(4, 1) });
    let body = PairBody::drawn(3, 1);
    for factor in [body.legs, body.trunk, body.shoulders, body.arms] {
        assert!((0.75..1.3).contains(&factor), "{body:?}");
    }
    let told = |skeleton| pomp_retarget::told(&clip, skeleton, &body).unwrap();
    let [own, split, turned] = [PairSkeleton::Own, PairSkeleton::Split, PairSkeleton::Turned].map(told);
    assert_eq!([&own, &split, &turned].map(|motion| motion.skeleton.len()), [22, 25, 25]);
    for name in ["LeftToe", "RightFoot", "RightHand", "Head"] {
        let [own, split, turned] = [&own, &split, &turned].map(|motion| at(motion, 20, name));
        assert!(own.1.angle_between(split.1) < 2e-3, "{name}");
        assert!(split.0.distance(turned.0) < 1e-4, "{name}");
        let is_leg = name.contains("Toe") || name.contains("Foot");
        assert!(!is_leg || own.0.distance(split.0) < 1e-4, "{name}");
    }
    let missing = Altered::new(own).unwrap().merged("Tail").unwrap_err().to_string();
    assert!(missing.contains("Tail"), "{missing}");
}

//! A motion written as another file is written: what is read from it is the motion, and the dialect is the other file's.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

use pomp_formats::bvh::{BvhReadOptions, PositionChannels, bvh_text_like, parse_bvh_with};
use pomp_formats::{BvhFile, FormatError, parse_bvh};
use pomp_motion::glam::{Quat, Vec3};
use pomp_motion::{Joint, JointIndex, Skeleton, SourceMotion};

/// A root with an offset, a joint with channels of its own position in an order of its own, a hinge, a joint without
/// channels, and two end sites.
const ODD: &str = "HIERARCHY
ROOT pelvis
{
  OFFSET 1 90 2
  CHANNELS 6 Yposition Xposition Zposition Yrotation Zrotation Xrotation
  JOINT left thigh
  {
    OFFSET 10 -2 0
    CHANNELS 1 Xrotation
    JOINT shin
    {
      OFFSET 0 -40 0
      CHANNELS 6 Xrotation Yrotation Zrotation Zposition Yposition Xposition
      End Site
      {
        OFFSET 0 -40 0
      }
      End Site
      {
        OFFSET 0 -40 12
      }
    }
  }
  JOINT chest
  {
    OFFSET 0 30 0
    CHANNELS 2 Zrotation Xrotation
    JOINT head
    {
      OFFSET 0 30 0
      CHANNELS 0
      End Site
      {
        OFFSET 0 20 0
      }
    }
  }
}
MOTION
Frames: 2
Frame Time: 0.04
90 1 2 10 20 30 40 5 6 7 0 -40 0 15 25
91 2 3 170 80 -170 -40 50 60 70 1 -41 0.5 -15 95
";

fn read(reading: PositionChannels, text: &str) -> BvhFile {
    parse_bvh_with(text.as_bytes(), "odd", &BvhReadOptions { position_channels: reading }).unwrap()
}

/// Largest distance of the ends of unit vectors that two rotations turn: small angles are lost in the arc cosine of 32 bits.
fn apart(a: Quat, b: Quat) -> f32 {
    [Vec3::X, Vec3::Y, Vec3::Z].into_iter().map(|axis| (a * axis).distance(b * axis)).fold(0.0, f32::max)
}

#[test]
fn a_motion_written_as_its_own_file_is_the_same_with_either_meaning_of_position_channels() {
    for reading in [PositionChannels::ReplaceOffset, PositionChannels::AddToOffset] {
        let file = read(reading, ODD);
        let again = read(reading, &bvh_text_like(&file, &file.motion).unwrap());
        assert_eq!(again.channels, file.channels);
        assert_eq!(again.motion.skeleton, file.motion.skeleton);
        assert_eq!(again.motion.end_sites, file.motion.end_sites);
        for frame in 0..2 {
            let (a, b) = (file.motion.global_pose(frame), again.motion.global_pose(frame));
            for (p, q) in a.positions.iter().zip(&b.positions) {
                assert!(p.distance(*q) < 1e-3, "{reading:?}, frame {frame}: {p} becomes {q}");
            }
            for (p, q) in a.rotations.iter().zip(&b.rotations) {
                assert!(apart(*p, *q) < 1e-4, "{reading:?}, frame {frame}");
            }
        }
    }
}

#[test]
fn what_a_joint_with_few_channels_states_is_what_is_read() {
    let file = read(PositionChannels::ReplaceOffset, ODD);
    let mut motion = file.motion.clone();
    let wanted = Quat::from_scaled_axis(Vec3::new(0.6, 0.2, -0.3));
    motion.poses[0].local_rotations = vec![wanted; motion.skeleton.len()].into();
    let again = read(PositionChannels::ReplaceOffset, &bvh_text_like(&file, &motion).unwrap());
    for joint in (0..motion.skeleton.len()).map(JointIndex) {
        let stated = file.stated_rotation(joint, wanted).unwrap();
        assert!(apart(again.motion.poses[0].local_rotations[joint.0], stated) < 1e-4, "{joint:?}");
    }
    assert!(apart(file.stated_rotation(JointIndex(0), wanted).unwrap(), wanted) < 1e-6);
    assert!(apart(file.stated_rotation(JointIndex(4), wanted).unwrap(), Quat::IDENTITY) < 1e-6);
    assert!(file.animates_position(JointIndex(2)) && !file.animates_position(JointIndex(3)));
}

#[test]
fn rejects_a_motion_of_other_joints() {
    let file = read(PositionChannels::ReplaceOffset, ODD);
    let other = parse_bvh(ODD.replace("JOINT shin", "JOINT calf").as_bytes(), "other").unwrap();
    let error = bvh_text_like(&file, &other.motion).unwrap_err();
    assert!(matches!(error, FormatError::CannotWrite { .. }), "{error}");
    assert!(error.to_string().contains("other joints"), "{error}");
}

#[test]
fn rejects_joints_that_are_not_listed_depth_first() {
    let file = read(PositionChannels::ReplaceOffset, ODD);
    let joint = |name: &str, parent: Option<usize>| Joint {
        name: name.to_owned(),
        parent: parent.map(JointIndex),
        offset: Vec3::Y,
    };
    // The second branch begins before the first one has ended.
    let joints = vec![
        joint("a", None),
        joint("b", Some(0)),
        joint("c", Some(0)),
        joint("d", Some(1)),
        joint("e", Some(2)),
    ];
    let motion = SourceMotion {
        skeleton: Skeleton::new(joints).unwrap(),
        end_sites: Vec::new(),
        joint_translations: None,
        ..file.motion.clone()
    };
    let model = BvhFile { motion: motion.clone(), ..file };
    let error = bvh_text_like(&model, &motion).unwrap_err();
    assert!(error.to_string().contains("depth first") && error.to_string().contains("\"d\""), "{error}");
}

#[test]
fn rejects_channels_that_state_no_rotation_and_numbers_that_are_none() {
    let file = read(PositionChannels::ReplaceOffset, ODD);
    let mut motion = file.motion.clone();
    motion.poses[1].local_rotations[2] = Quat::from_xyzw(f32::NAN, 0.0, 0.0, 1.0);
    assert!(matches!(bvh_text_like(&file, &motion).unwrap_err(), FormatError::Motion { .. }));
    let text = ODD.replace("CHANNELS 2 Zrotation Xrotation", "CHANNELS 2 Zrotation Zrotation");
    let odd = read(PositionChannels::ReplaceOffset, &text);
    let error = bvh_text_like(&odd, &odd.motion).unwrap_err();
    assert!(error.to_string().contains("ZZ") && error.to_string().contains("\"chest\""), "{error}");
}

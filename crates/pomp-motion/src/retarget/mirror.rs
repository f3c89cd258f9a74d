//! Motions of left-handed worlds.

use crate::{Joint, Pose, Skeleton, SourceMotion};
use glam::{Quat, Vec3};

/// The motion reflected in the plane x = 0: what a left-handed file shows in a right-handed world.
pub fn reflected(source: &SourceMotion) -> SourceMotion {
    let point = |v: Vec3| Vec3::new(-v.x, v.y, v.z);
    let turn = |q: Quat| Quat::from_xyzw(q.x, -q.y, -q.z, q.w);
    let joints =
        source.skeleton.joints().iter().map(|joint| Joint { offset: point(joint.offset), ..joint.clone() });
    let skeleton = Skeleton::new(joints.collect()).expect("other finite offsets keep a valid skeleton valid");
    let poses = source
        .poses
        .iter()
        .map(|pose| Pose {
            root_position: point(pose.root_position),
            local_rotations: pose.local_rotations.iter().map(|&q| turn(q)).collect(),
        })
        .collect();
    let joint_translations = source.joint_translations.as_ref().map(|table| {
        let values = table.values().iter().map(|&v| point(v)).collect();
        crate::FrameTable::from_values(table.columns(), values).expect("as many values as before")
    });
    SourceMotion {
        skeleton,
        poses,
        joint_translations,
        end_sites: source.end_sites.iter().map(|&(joint, offset)| (joint, point(offset))).collect(),
        ..source.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::JointIndex;

    #[test]
    fn reflecting_reflects_every_joint_in_the_world_and_twice_is_nothing() {
        let joint = |name: &str, parent: Option<usize>, offset| Joint {
            name: name.to_owned(),
            parent: parent.map(JointIndex),
            offset,
        };
        let skeleton = Skeleton::new(vec![
            joint("a", None, Vec3::ZERO),
            joint("b", Some(0), Vec3::new(1.0, 2.0, -0.5)),
            joint("c", Some(1), Vec3::new(0.3, 0.1, 0.7)),
        ])
        .unwrap();
        let turns = [(0.3, -0.2, 0.9), (1.1, 0.4, -0.6), (0.0, 0.2, 0.1)];
        let local_rotations =
            turns.iter().map(|&(x, y, z)| Quat::from_scaled_axis(Vec3::new(x, y, z))).collect();
        let source = SourceMotion {
            name: "clip".to_owned(),
            skeleton,
            end_sites: vec![(JointIndex(2), Vec3::X)],
            frame_rate_hz: 30.0,
            poses: vec![Pose { root_position: Vec3::new(0.5, 1.0, 2.0), local_rotations }],
            joint_translations: None,
        };
        let there = reflected(&source);
        for (a, b) in source.global_pose(0).positions.iter().zip(there.global_pose(0).positions) {
            assert!(b.distance(Vec3::new(-a.x, a.y, a.z)) < 1e-6, "{a} becomes {b}");
        }
        assert_eq!(reflected(&there), source);
    }
}

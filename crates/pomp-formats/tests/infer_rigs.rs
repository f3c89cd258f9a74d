//! Rigs inferred for recorded clips in disguise, against what their named rig maps give; and files of FBX and GLB names.
//!
//! Skipped, with a line on the terminal, where there is no recorded motion. The example `infer_rigs` prints the whole table.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

mod disguise;

use disguise::{disguised, disguises};
use pomp_formats::read_bvh;
use pomp_motion::retarget::{RetargetOptions, RigLibrary, infer, retarget};
use pomp_motion::{Clip, JointIndex, humanoid};

/// A clip or more of each family of skeletons.
const CLIPS: [&str; 10] = [
    "core/cmu_native/cmuX_walking_30.bvh",
    "core/cmu_amc_bvh/cmu_08_04.bvh",
    "core/cmu_daz/cmudaz_13_35.bvh",
    "core/cmu_iclone/cmuic_07_03.bvh",
    "core/deepmimic_bvh/humanoid3d_walk.bvh",
    "core/deepmimic_bvh/humanoid3d_crawl.bvh",
    "core/nimble_ik/sprinter__run0350cms.bvh",
    "grf/nimble_Camargo__levelground_ccw_fast.bvh",
    "grf/opensim_Gait2354__subject01_walk1.bvh",
    "extra/bandai/dataset-2_walk_normal_001.bvh",
];

/// Mean distance over all joints and frames.
fn distance(a: &Clip, b: &Clip) -> f32 {
    let (a, b) = (a.global_poses(), b.global_poses());
    let of_frame = |(a, b): (&pomp_motion::GlobalPose, &pomp_motion::GlobalPose)| {
        a.positions.iter().zip(&b.positions).map(|(a, b)| a.distance(*b)).sum::<f32>()
            / humanoid::JOINTS as f32
    };
    a.iter().zip(&b).map(of_frame).sum::<f32>() / a.len() as f32
}

#[test]
fn recorded_clips_without_names_in_any_order_unit_and_axes_are_mapped_as_by_their_names() {
    let library = RigLibrary::builtin();
    let options = RetargetOptions::default();
    for (seed, path) in CLIPS.iter().enumerate() {
        let Some(file) = pomp_testing::recorded(path, "a rig inferred for a recorded clip") else { continue };
        let source = read_bvh(&file).unwrap().motion;
        let (rig, named) = library.choose(&source.skeleton).unwrap();
        let expected = retarget(&source, rig, &options).unwrap().clip;
        for change in disguises() {
            let (motion, original) = disguised(&source, &change, seed as u64);
            let inference = infer(&motion).unwrap_or_else(|error| panic!("{path}, {}: {error}", change.name));
            let found = inference.joints.source_joints.map(|j| j.map(|j| JointIndex(original[j.0])));
            let roles: Vec<usize> =
                (0..humanoid::JOINTS).filter(|&i| named.source_joints[i].is_some()).collect();
            let same = roles.iter().filter(|&&i| found[i] == named.source_joints[i]).count();
            let share = same as f32 / roles.len() as f32;
            let clip = retarget(&motion, &inference.rig, &options).unwrap().clip;
            let off = distance(&expected, &clip);
            println!("{path}, {}: {:.0} % of the joints, {:.2} cm", change.name, 100.0 * share, 100.0 * off);
            assert!(share >= 0.95, "{path}, {}: {share}", change.name);
            assert!(off < 0.03, "{path}, {}: {off} m", change.name);
            for leg in [humanoid::LEFT_UP_LEG, humanoid::RIGHT_FOOT] {
                assert_eq!(found[leg.0], named.source_joints[leg.0], "{path}, {}", change.name);
            }
        }
    }
}

#[test]
fn recorded_clips_of_known_rigs_are_left_to_their_maps() {
    let library = RigLibrary::builtin();
    for path in CLIPS {
        let Some(file) = pomp_testing::recorded(path, "the rig of a recorded clip") else { continue };
        let source = read_bvh(&file).unwrap().motion;
        let chosen = library.choose_or_infer(&source).unwrap();
        let (rig, joints) = library.choose(&source.skeleton).unwrap();
        assert!(chosen.inference.is_none(), "{path}");
        assert_eq!((chosen.rig.as_ref(), &chosen.joints), (rig, &joints), "{path}");
    }
}

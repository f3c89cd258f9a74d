//! Motion from a clip's skeleton onto the project skeleton and back onto the skeleton it came from.
//!
//! Recorded motion is skipped, with a line on the terminal, where there is none.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

use pomp_formats::read_bvh;
use pomp_motion::retarget::{Proportions, RetargetOptions, RigLibrary, retarget};
use pomp_motion::{ContactConfig, SourceMotion, foot_contacts};
use pomp_retarget::{OntoOptions, OntoReport, TargetSkeleton, onto_skeleton};
use std::path::Path;

/// Family, clips, and the mean distance of mapped joints from the original that it stays below: by its own bone lengths, and
/// by those of the project in between, metres.
const FAMILIES: [(&str, &[&str], [f32; 2]); 8] = [
    (
        "CMU, 31 joints",
        &["core/cmu_native/cmuX_walking_30.bvh", "core/cmu_native/cmu_13_39.bvh"],
        [0.006, 0.007],
    ),
    (
        "CMU, ASF names",
        &["core/cmu_amc_bvh/cmu_08_04.bvh", "core/cmu_amc_bvh/cmu_ctralie_jumpingjacks.bvh"],
        [0.006, 0.008],
    ),
    ("Daz", &["core/cmu_daz/cmudaz_13_35.bvh", "core/cmu_daz/cmudaz_13_41.bvh"], [0.002, 0.008]),
    ("iClone", &["core/cmu_iclone/cmuic_07_03.bvh", "core/cmu_iclone/cmuic_02_04.bvh"], [0.004, 0.03]),
    (
        "DeepMimic",
        &["core/deepmimic_bvh/humanoid3d_walk.bvh", "core/deepmimic_bvh/humanoid3d_crawl.bvh"],
        [0.002, 0.003],
    ),
    (
        "OpenSim",
        &["core/nimble_ik/sprinter__run0350cms.bvh", "grf/nimble_Subject4__walking1.bvh"],
        [0.015, 0.004],
    ),
    (
        "OpenSim, legs and torso",
        &["grf/nimble_Camargo__levelground_ccw_fast.bvh", "grf/opensim_Gait2354__subject01_walk1.bvh"],
        [0.005, 0.003],
    ),
    (
        "Bandai",
        &["extra/bandai/dataset-2_walk_active_024.bvh", "extra/bandai/dataset-2_walk_normal_001.bvh"],
        [0.018, 0.008],
    ),
];

struct RoundTrip {
    /// Mean distance of the joints that are mapped, metres.
    mean_m: f32,
    /// The joint that is farthest on average, and how far.
    worst: (String, f32),
    report: OntoReport,
}

fn round_trip(path: &Path, proportions: Proportions) -> RoundTrip {
    let library = RigLibrary::builtin();
    let file = read_bvh(path).unwrap();
    let chosen = library.choose_or_infer(&file.motion).unwrap();
    let there =
        retarget(&file.motion, &chosen.rig, &RetargetOptions { proportions, ..RetargetOptions::default() })
            .unwrap();
    let contacts = foot_contacts(&there.clip, &ContactConfig::default());
    let target = TargetSkeleton::new(file.clone(), &chosen.rig, path).unwrap();
    let back = onto_skeleton(&there.clip, &contacts, &target, OntoOptions::default()).unwrap();
    let metres = target.unit().metres();
    let mapped: Vec<usize> = target.joints().source_joints.iter().flatten().map(|joint| joint.0).collect();
    let distances = mean_distances(&file.motion, &back.motion, &mapped, metres);
    let worst = distances.iter().copied().enumerate().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
    RoundTrip {
        mean_m: distances.iter().sum::<f32>() / distances.len() as f32,
        worst: (file.motion.skeleton.joints()[mapped[worst.0]].name.clone(), worst.1),
        report: back.report,
    }
}

/// Mean over the frames of the distance of each of `joints`, metres.
fn mean_distances(a: &SourceMotion, b: &SourceMotion, joints: &[usize], metres: f32) -> Vec<f32> {
    assert_eq!(a.frames(), b.frames());
    let mut sums = vec![0.0; joints.len()];
    for frame in 0..a.frames() {
        let (a, b) = (a.global_pose(frame).positions, b.global_pose(frame).positions);
        for (sum, &joint) in sums.iter_mut().zip(joints) {
            *sum += a[joint].distance(b[joint]) * metres;
        }
    }
    sums.iter().map(|sum| sum / a.frames() as f32).collect()
}

#[test]
fn recorded_motion_comes_back_to_its_own_skeleton_within_the_stated_distance() {
    for (family, clips, [own_m, project_m]) in FAMILIES {
        for path in clips {
            let Some(file) = pomp_testing::recorded(path, "the way back of a recorded clip") else {
                continue;
            };
            let own = round_trip(&file, Proportions::Source);
            let fixed = round_trip(&file, Proportions::Project { height_m: 1.75 });
            println!(
                "{family}, {path}: own bones {:.2} cm (worst {} {:.1}), the project's {:.2} cm (worst {} {:.1}); planted {:.3} m/s, in \
                 the clip {:.3}; ankles {:.1} cm, {}; {} follow, {} at rest; {:?}",
                100.0 * own.mean_m,
                own.worst.0,
                100.0 * own.worst.1,
                100.0 * fixed.mean_m,
                fixed.worst.0,
                100.0 * fixed.worst.1,
                fixed.report.planted_feet.target_m_s,
                fixed.report.planted_feet.clip_m_s,
                100.0 * own.report.ankle_height_m,
                own.report.ankle_height_reason,
                own.report.followers.len(),
                own.report.at_rest.len(),
                own.report.warnings,
            );
            assert!(own.mean_m < own_m, "{path}: {} m", own.mean_m);
            assert!(fixed.mean_m < project_m, "{path}: {} m", fixed.mean_m);
        }
    }
}

#[test]
fn the_clips_of_the_repository_come_back_within_a_millimetre() {
    let folder = pomp_testing::repository().join("data/clips");
    for name in ["00_stand", "01_walk", "02_jog", "03_jump", "05_walk_stairs"] {
        let path = folder.join(name).with_extension("bvh");
        let trip = round_trip(&path, Proportions::Project { height_m: 1.75 });
        println!(
            "{name}: {:.2} mm, worst {} {:.2}",
            1000.0 * trip.mean_m,
            trip.worst.0,
            1000.0 * trip.worst.1
        );
        assert!(trip.worst.1 < 1e-3, "{name}: {:?}", trip.worst);
    }
}

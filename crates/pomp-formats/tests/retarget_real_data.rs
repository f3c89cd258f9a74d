//! Retargeting of real motion capture: how near the result is to the source, for every family of skeletons.
//!
//! Skipped, with a line on the terminal, where there is no recorded motion.

use pomp_formats::read_bvh;
use pomp_motion::glam::Vec3;
use pomp_motion::retarget::{
    LengthUnit, Proportions, RetargetOptions, Retargeted, RigLibrary, UpAxis, retarget,
};
use pomp_motion::{ContactConfig, Gait, GaitLabelConfig, SourceMotion, foot_contacts, gait_labels, humanoid};

/// Family, clips, rig map, unit.
const FAMILIES: [(&str, &[&str], &str, LengthUnit); 8] = [
    (
        "CMU, 31 joints",
        &["core/cmu_native/cmuX_walking_30.bvh", "core/cmu_native/cmu_13_39.bvh"],
        "cmu",
        LengthUnit::CmuUnit,
    ),
    (
        "CMU, ASF names",
        &["core/cmu_amc_bvh/cmu_08_04.bvh", "core/cmu_amc_bvh/cmu_ctralie_jumpingjacks.bvh"],
        "cmu",
        LengthUnit::CmuUnit,
    ),
    (
        "Daz",
        &["core/cmu_daz/cmudaz_13_35.bvh", "core/cmu_daz/cmudaz_13_41.bvh"],
        "daz43",
        LengthUnit::Centimetre,
    ),
    (
        "iClone",
        &["core/cmu_iclone/cmuic_07_03.bvh", "core/cmu_iclone/cmuic_02_04.bvh"],
        "iclone100",
        LengthUnit::Centimetre,
    ),
    (
        "DeepMimic",
        &["core/deepmimic_bvh/humanoid3d_walk.bvh", "core/deepmimic_bvh/humanoid3d_crawl.bvh"],
        "deepmimic15",
        LengthUnit::Centimetre,
    ),
    (
        "OpenSim, whole body",
        &["core/nimble_ik/sprinter__run0350cms.bvh", "grf/nimble_Subject4__walking1.bvh"],
        "opensim16",
        LengthUnit::Centimetre,
    ),
    (
        "OpenSim, legs and torso",
        &["grf/nimble_Camargo__levelground_ccw_fast.bvh", "grf/opensim_Gait2354__subject01_walk1.bvh"],
        "opensim16",
        LengthUnit::Centimetre,
    ),
    (
        "Bandai",
        &["extra/bandai/dataset-2_walk_active_024.bvh", "extra/bandai/dataset-2_walk_normal_001.bvh"],
        "bandai22",
        LengthUnit::Centimetre,
    ),
];

/// The clip, or `None` with a line on the terminal when the data are not here.
fn clip(path: &str) -> Option<SourceMotion> {
    let file = pomp_testing::recorded(path, "retargeting a recorded clip")?;
    Some(read_bvh(&file).expect("the clip in the data folder reads and retargets").motion)
}

fn retargeted(source: &SourceMotion, rig: &str, proportions: Proportions) -> Retargeted {
    let library = RigLibrary::builtin();
    let (chosen, _) =
        library.choose(&source.skeleton).expect("the clip in the data folder reads and retargets");
    assert_eq!(chosen.name, rig, "{}", source.name);
    retarget(source, chosen, &RetargetOptions { proportions, ..RetargetOptions::default() })
        .expect("the clip in the data folder reads and retargets")
}

/// Mean distance of the joints from the source scaled as a whole that every family stays below, metres.
const WHOLE_BODY_M: f32 = 0.03;

#[test]
fn joints_are_within_3_cm_of_the_source_scaled_as_a_whole_for_every_family() {
    for (family, clips, rig, unit) in FAMILIES {
        let mut whole = Vec::new();
        for path in clips {
            let Some(source) = clip(path) else { continue };
            let fixed = retargeted(&source, rig, Proportions::Project { height_m: 1.75 }).report;
            let own = retargeted(&source, rig, Proportions::Source).report;
            assert_eq!(fixed.source_frame.unit, unit, "{path}");
            assert_eq!(
                fixed.source_frame.up_axis,
                UpAxis::Y,
                "{path}: {}",
                fixed.source_frame.up_axis_reason
            );
            println!(
                "{family}, {}: fixed bones {:.1} cm limb by limb, {:.1} cm as a whole; own bones {:.1} cm",
                source.name,
                100.0 * fixed.mean_limb_scaled_error_m(),
                100.0 * fixed.mean_scaled_error_m(),
                100.0 * own.mean_scaled_error_m(),
            );
            whole.push(fixed.mean_scaled_error_m());
            // Arms that turn towards the source's elbows and wrists in space leave the source's directions:
            // on shoulders 6 cm wider than the source's that costs limb by limb what it gains as a whole.
            assert!(fixed.mean_limb_scaled_error_m() < 0.045, "{path}: {:?}", fixed.joint_errors);
            assert!(own.mean_scaled_error_m() < 0.015, "{path}: {:?}", own.joint_errors);
        }
        let mean = whole.iter().sum::<f32>() / whole.len().max(1) as f32;
        assert!(mean < WHOLE_BODY_M, "{family}: {mean} m");
    }
}

#[test]
fn ankles_land_on_the_scaled_ankles_so_that_feet_slide_no_more_than_in_the_source() {
    for (_, clips, rig, _) in FAMILIES {
        for path in clips {
            let Some(source) = clip(path) else { continue };
            let result = retargeted(&source, rig, Proportions::Project { height_m: 1.75 });
            for error in result.report.joint_errors.iter().filter(|e| e.joint.ends_with("Foot")) {
                assert!(error.scaled_m < 0.002, "{path}: {error:?}");
            }
        }
    }
}

#[test]
fn knees_bend_forward_toes_point_forward_and_left_is_left() {
    for (_, clips, rig, _) in FAMILIES {
        for path in clips {
            let Some(source) = clip(path) else { continue };
            let result = retargeted(&source, rig, Proportions::Project { height_m: 1.75 });
            let world = result.clip.global_poses();
            let (mut forward, mut checked) = (0_usize, 0_usize);
            for pose in &world {
                for hip in [humanoid::LEFT_UP_LEG.0, humanoid::RIGHT_UP_LEG.0] {
                    let [thigh, knee, ankle, toe] = [0, 1, 2, 3].map(|i| pose.positions[hip + i]);
                    let bend = (knee - (thigh + ankle) * 0.5).dot(pose.rotations[hip] * Vec3::Z);
                    assert!(bend > -0.01, "{path}: a knee bends backwards by {bend} m");
                    let along_foot = (toe - ankle).dot(pose.rotations[hip + 2] * Vec3::Z);
                    assert!(along_foot > 0.1, "{path}: a toe is {along_foot} m ahead of its ankle");
                    let pelvis_forward = pose.rotations[0] * Vec3::Z;
                    checked += 1;
                    forward += usize::from((pose.rotations[hip] * Vec3::Z).dot(pelvis_forward) > 0.0);
                }
                let across =
                    pose.positions[humanoid::LEFT_UP_LEG.0] - pose.positions[humanoid::RIGHT_UP_LEG.0];
                assert!(across.dot(pose.rotations[0] * Vec3::X) > 0.1, "{path}: left and right are swapped");
            }
            assert!(forward * 10 > checked * 7, "{path}: thighs face backwards in {forward} of {checked}");
        }
    }
}

#[test]
fn soles_of_standing_feet_are_on_the_ground_and_level() {
    for path in ["grf/nimble_Subject4__static1.bvh", "core/cmu_native/cmuX_basketball_signal_2.bvh"] {
        let Some(source) = clip(path) else { continue };
        let library = RigLibrary::builtin();
        let (rig, _) = library.choose(&source.skeleton).unwrap();
        let clip = retarget(&source, rig, &RetargetOptions::default()).unwrap().clip;
        let world = clip.global_poses();
        let middle = &world[world.len() / 2];
        for foot in [humanoid::LEFT_FOOT.0, humanoid::RIGHT_FOOT.0] {
            let heel = middle.positions[foot].y - humanoid::ANKLE_HEIGHT * 1.75;
            let toe = middle.positions[foot + 1].y - humanoid::TOE_HEIGHT * 1.75;
            println!("{path}: heel {:.1} cm, toe {:.1} cm above ground", heel * 100.0, toe * 100.0);
            assert!(heel.abs() < 0.025 && toe.abs() < 0.025, "{path}: heel {heel} m, toe {toe} m");
        }
    }
}

#[test]
fn clips_are_labelled_as_what_they_are_described_to_be() {
    for (path, gait, at_least) in [
        ("core/cmu_native/cmuX_basketball_signal_1.bvh", Gait::Stand, 0.95),
        ("core/cmu_native/cmuX_walking_30.bvh", Gait::Walk, 0.95),
        ("core/cmu_iclone/cmuic_07_12.bvh", Gait::Walk, 0.9),
        ("core/cmu_native/cmuX_running_1.bvh", Gait::Jog, 0.95),
        ("core/nimble_ik/sprinter__run0900cms.bvh", Gait::Jog, 0.95),
        ("core/cmu_native/cmu_13_39.bvh", Gait::Jump, 0.25),
        ("core/deepmimic_bvh/humanoid3d_crawl.bvh", Gait::Lie, 0.9),
        ("core/deepmimic_bvh/humanoid3d_getup_faceup.bvh", Gait::GetUp, 0.3),
        ("core/deepmimic_bvh/humanoid3d_stealthy_walk.bvh", Gait::Crouch, 0.5),
        ("grf/nimble_Subject4__squats1.bvh", Gait::Crouch, 0.3),
    ] {
        let Some(source) = clip(path) else { continue };
        let library = RigLibrary::builtin();
        let (rig, _) = library.choose(&source.skeleton).unwrap();
        let clip = retarget(&source, rig, &RetargetOptions::default()).unwrap().clip.resampled(60.0);
        let contacts = foot_contacts(&clip, &ContactConfig::default());
        let weights = gait_labels(&clip, &contacts, &GaitLabelConfig::default()).unwrap();
        let share = weights.iter().map(|row| row[gait.index()]).sum::<f32>() / weights.len() as f32;
        println!("{path}: {} {:.0} %", gait.name(), share * 100.0);
        assert!(share >= at_least, "{path}: {} only {share}", gait.name());
    }
}

/// A foot carries load when its plate measures more than this, newtons.
const LOADED_N: f32 = 30.0;

#[test]
fn contacts_agree_with_force_plates() {
    for path in [
        "grf/nimble_Subject4__walking2",
        "grf/nimble_Subject4__walkingTI1",
        "grf/nimble_Hamner__run200_overground",
        "grf/opensim_Gait2354__subject01_walk1_overground",
        "grf/nimble_LaiArnold5__DJ1",
    ] {
        let Some(source) = clip(&format!("{path}.bvh")) else { continue };
        let plates = format!("{path}_grf.csv");
        let Some(plates) = pomp_testing::recorded(&plates, "contacts against force plates") else { return };
        let plates = std::fs::read_to_string(plates).unwrap();
        let vertical: Vec<[f32; 2]> = plates
            .lines()
            .skip(1)
            .map(|line| {
                let fields: Vec<f32> = line.split(',').map(|field| field.parse().unwrap()).collect();
                [fields[2], fields[11]]
            })
            .collect();
        let library = RigLibrary::builtin();
        let (rig, _) = library.choose(&source.skeleton).unwrap();
        let clip = retarget(&source, rig, &RetargetOptions::default()).unwrap().clip;
        let contacts = foot_contacts(&clip, &ContactConfig::default());
        assert_eq!(contacts.len(), vertical.len(), "{path}");
        let agreeing: usize = contacts
            .iter()
            .zip(&vertical)
            .map(|(row, force)| {
                usize::from((row[0] || row[1]) == (force[0] > LOADED_N))
                    + usize::from((row[2] || row[3]) == (force[1] > LOADED_N))
            })
            .sum();
        let share = agreeing as f32 / (2 * contacts.len()) as f32;
        println!("{path}: contacts agree with the plates in {:.1} % of frames", share * 100.0);
        assert!(share > 0.9, "{path}: {share}");
    }
}

//! The built-in rig maps, and what a map of one's own may not say.

use pomp_motion::glam::Vec3;
use pomp_motion::retarget::{RetargetError, RigLibrary, RigMap};
use pomp_motion::{Joint, JointIndex, Skeleton};
use std::collections::HashSet;

fn skeleton_of(names: &[String]) -> Skeleton {
    let joints = names.iter().enumerate().map(|(i, name)| Joint {
        name: name.clone(),
        parent: i.checked_sub(1).map(JointIndex),
        offset: Vec3::Y,
    });
    Skeleton::new(joints.collect()).expect("made for this test")
}

#[test]
fn every_built_in_map_parses_and_is_chosen_for_its_own_names() {
    let library = RigLibrary::builtin();
    assert_eq!(library.rigs().len(), 9);
    let mut seen = HashSet::new();
    for rig in library.rigs() {
        assert!(seen.insert(rig.name.clone()), "two maps are called {}", rig.name);
        assert!(!rig.description.is_empty());
        let names: Vec<String> = rig.joints.values().map(|names| names[0].clone()).collect();
        let distinct: HashSet<&String> = names.iter().collect();
        assert_eq!(distinct.len(), names.len(), "{} uses a source joint twice", rig.name);
        let (chosen, report) = library.choose(&skeleton_of(&names)).unwrap();
        assert_eq!(chosen.name, rig.name);
        assert_eq!(report.found(), rig.joints.len());
        assert!(report.unused.is_empty());
    }
}

#[test]
fn prefixes_case_and_spaces_do_not_matter() {
    let library = RigLibrary::builtin();
    let mixamo = library.get("mixamo").unwrap();
    for spelled in ["mixamorig:", "mixamorig7:", "Character1_", "scene|armature:"] {
        let names: Vec<String> =
            mixamo.joints.values().map(|names| format!("{spelled}{}", names[0].to_uppercase())).collect();
        let (rig, report) = library.choose(&skeleton_of(&names)).unwrap();
        assert_eq!((rig.name.as_str(), report.found()), ("mixamo", 22), "{spelled}");
    }
    let spaced: Vec<String> = mixamo.joints.values().map(|n| n[0].replace("Left", "Left ")).collect();
    assert_eq!(library.choose(&skeleton_of(&spaced)).unwrap().0.name, "mixamo");
}

#[test]
fn an_unknown_skeleton_is_told_what_the_closest_maps_miss() {
    let names: Vec<String> = ["Hips", "LeftUpLeg", "LeftLeg", "LeftFoot", "RightUpLeg", "RightLeg", "tail"]
        .iter()
        .map(|&name| name.to_owned())
        .collect();
    let message = RigLibrary::builtin().choose(&skeleton_of(&names)).unwrap_err().to_string();
    assert!(message.contains("RightFoot") && message.contains("opensim16"), "{message}");
}

const GOOD: &str = r#"
name = "mine"
description = "made up"
optional = ["Head"]
[joints]
Hips = "pelvis"
LeftUpLeg = ["thigh_l", "femur_l"]
LeftLeg = "shin_l"
LeftFoot = "foot_l"
RightUpLeg = "thigh_r"
RightLeg = "shin_r"
RightFoot = "foot_r"
Head = "head"
[axes.Hips]
up = [0.0, 1.0, 0.0]
forward = [0.0, 0.0, 1.0]
"#;

#[test]
fn a_map_of_ones_own_is_read_from_a_file_and_goes_first() {
    let folder = std::env::temp_dir().join(format!("pomp_rig_map_{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("mine.toml");
    std::fs::write(&path, GOOD).unwrap();
    let library = RigLibrary::builtin().with_file(&path).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(library.rigs()[0].name, "mine");
    let names = ["pelvis", "femur_l", "shin_l", "foot_l", "thigh_r", "shin_r", "foot_r"].map(str::to_owned);
    let (rig, report) = library.choose(&skeleton_of(&names)).unwrap();
    assert_eq!((rig.name.as_str(), report.found()), ("mine", 7));
    assert!(report.missing.contains(&"Head".to_owned()));
}

fn reason(text: &str) -> String {
    match RigMap::from_toml(text, "mine.toml") {
        Err(RetargetError::BadRig { origin, reason }) => {
            assert_eq!(origin, "mine.toml");
            reason
        }
        other => panic!("expected a bad rig, got {other:?}"),
    }
}

#[test]
fn rejects_unknown_keys() {
    assert!(reason(&GOOD.replace("optional", "optionall")).contains("optionall"));
}

#[test]
fn rejects_joints_that_the_project_does_not_have() {
    assert!(reason(&GOOD.replace("Head = \"head\"", "Tail = \"tail\"")).contains("Tail"));
}

#[test]
fn rejects_maps_without_a_leg() {
    assert!(reason(&GOOD.replace("RightLeg = \"shin_r\"\n", "")).contains("RightLeg"));
}

#[test]
fn rejects_indispensable_joints_as_optional() {
    assert!(reason(&GOOD.replace("[\"Head\"]", "[\"Hips\"]")).contains("Hips"));
}

#[test]
fn rejects_empty_names() {
    assert!(reason(&GOOD.replace("\"head\"", "[]")).contains("Head"));
}

#[test]
fn rejects_axes_that_are_parallel_or_not_numbers() {
    assert!(reason(&GOOD.replace("forward = [0.0, 0.0, 1.0]", "forward = [0.0, 2.0, 0.0]")).contains("Hips"));
    assert!(reason(&GOOD.replace("forward = [0.0, 0.0, 1.0]", "forward = [0.0, 0.0, nan]")).contains("Hips"));
}

#[test]
fn rejects_soles_turned_too_far() {
    assert!(reason(&GOOD.replace("[joints]", "sole_pitch_degrees = 90.0\n[joints]")).contains("sole_pitch"));
}

#[test]
fn rejects_files_that_are_not_there() {
    let error = RigLibrary::builtin().with_file(std::path::Path::new("no/such/rig.toml")).unwrap_err();
    assert!(error.to_string().contains("no/such/rig.toml"));
}

#[test]
fn rejects_dropped_bones_without_joints() {
    let rig = RigLibrary::builtin();
    assert_eq!(rig.get("cmu").expect("it is built in").dropped_bones.len(), 1);
    let legs = "name = \"mine\"\ndescription = \"\"\n[joints]\nHips = \"h\"\nLeftUpLeg = \"a\"\nLeftLeg = \"b\"\n\
                LeftFoot = \"c\"\nRightUpLeg = \"d\"\nRightLeg = \"e\"\nRightFoot = \"f\"\n";
    let text = format!("{legs}[[dropped_bones]]\njoints = []\nsame_as = \"h\"\n");
    assert!(reason(&text).contains("[[dropped_bones]] like h names no joints"), "{}", reason(&text));
}

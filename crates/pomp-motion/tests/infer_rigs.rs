//! Rigs inferred for made-up skeletons: joint names of all conventions, and no names at all.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

mod strange_body;

use pomp_motion::glam::{Quat, Vec3};
use pomp_motion::retarget::{
    Inference, LengthUnit, RetargetError, RetargetOptions, RigLibrary, RigMap, UpAxis, infer, retarget,
};
use pomp_motion::{JointIndex, Pose, SourceMotion, humanoid};
use strange_body::{StrangeBody, with_translations};

/// Joint names of a convention: trunk from the hips to the head, arm and leg from the trunk outwards, with `~` for the side
/// and what stands for it.
struct Convention {
    name: &'static str,
    hips: &'static str,
    spine: &'static [&'static str],
    neck: &'static [&'static str],
    head: &'static str,
    arm: [&'static str; 4],
    leg: [&'static str; 4],
    sides: [&'static str; 2],
}

const LONG: [&str; 2] = ["Left", "Right"];
const CONVENTIONS: [Convention; 17] = [
    convention(
        "Biovision",
        "Hips",
        &["Chest", "Chest2", "Chest3", "Chest4"],
        &["Neck"],
        "Head",
        ["~Collar", "~Shoulder", "~Elbow", "~Wrist"],
        ["~Hip", "~Knee", "~Ankle", "~Toe"],
        LONG,
    ),
    convention(
        "Biovision, short",
        "Hips",
        &["Chest"],
        &[],
        "Head",
        ["~Collar", "~Shoulder", "~Elbow", "~Wrist"],
        ["~Hip", "~Knee", "~Ankle", "-"],
        LONG,
    ),
    convention(
        "Low and Up",
        "Hips",
        &["Chest"],
        &["Neck"],
        "Head",
        ["~Collar", "~UpArm", "~LowArm", "~Hand"],
        ["~UpLeg", "~LowLeg", "~Foot", "-"],
        LONG,
    ),
    convention(
        "HumanIK",
        "Character1_Hips",
        &["Character1_Spine", "Character1_Spine1"],
        &["Character1_Neck"],
        "Character1_Head",
        ["Character1_~Shoulder", "Character1_~Arm", "Character1_~ForeArm", "Character1_~Hand"],
        ["Character1_~UpLeg", "Character1_~Leg", "Character1_~Foot", "Character1_~ToeBase"],
        LONG,
    ),
    convention(
        "Noitom",
        "Hips",
        &["Spine", "Spine1", "Spine2", "Spine3"],
        &["Neck"],
        "Head",
        ["~Shoulder", "~Arm", "~ForeArm", "~Hand"],
        ["~UpLeg", "~Leg", "~Foot", "-"],
        LONG,
    ),
    convention(
        "Biped",
        "Bip01 Pelvis",
        &["Bip01 Spine", "Bip01 Spine1"],
        &["Bip01 Neck"],
        "Bip01 Head",
        ["Bip01 ~ Clavicle", "Bip01 ~ UpperArm", "Bip01 ~ Forearm", "Bip01 ~ Hand"],
        ["Bip01 ~ Thigh", "Bip01 ~ Calf", "Bip01 ~ Foot", "Bip01 ~ Toe0"],
        ["L", "R"],
    ),
    convention(
        "Biped, Valve",
        "ValveBiped.Bip01_Pelvis",
        &[
            "ValveBiped.Bip01_Spine",
            "ValveBiped.Bip01_Spine1",
            "ValveBiped.Bip01_Spine2",
            "ValveBiped.Bip01_Spine4",
        ],
        &["ValveBiped.Bip01_Neck1"],
        "ValveBiped.Bip01_Head1",
        [
            "ValveBiped.Bip01_~_Clavicle",
            "ValveBiped.Bip01_~_UpperArm",
            "ValveBiped.Bip01_~_Forearm",
            "ValveBiped.Bip01_~_Hand",
        ],
        [
            "ValveBiped.Bip01_~_Thigh",
            "ValveBiped.Bip01_~_Calf",
            "ValveBiped.Bip01_~_Foot",
            "ValveBiped.Bip01_~_Toe0",
        ],
        ["L", "R"],
    ),
    convention(
        "Biped, FBX escapes",
        "Bip001FBXASC032Pelvis",
        &["Bip001FBXASC032Spine"],
        &["Bip001FBXASC032Neck"],
        "Bip001FBXASC032Head",
        [
            "Bip001FBXASC032~FBXASC032Clavicle",
            "Bip001FBXASC032~FBXASC032UpperArm",
            "Bip001FBXASC032~FBXASC032Forearm",
            "Bip001FBXASC032~FBXASC032Hand",
        ],
        [
            "Bip001FBXASC032~FBXASC032Thigh",
            "Bip001FBXASC032~FBXASC032Calf",
            "Bip001FBXASC032~FBXASC032Foot",
            "Bip001FBXASC032~FBXASC032Toe0",
        ],
        ["L", "R"],
    ),
    convention(
        "MoConVQ",
        "RootJoint",
        &["pelvis_lowerback", "lowerback_torso"],
        &[],
        "torso_head",
        ["~Torso_Clavicle", "~Shoulder", "~Elbow", "~Wrist"],
        ["~Hip", "~Knee", "~Ankle", "~ToeJoint"],
        ["l", "r"],
    ),
    convention(
        "Rigify",
        "DEF-spine",
        &["DEF-spine.001", "DEF-spine.002", "DEF-spine.003"],
        &["DEF-spine.004", "DEF-spine.005"],
        "DEF-spine.006",
        ["DEF-shoulder.~", "DEF-upper_arm.~", "DEF-forearm.~", "DEF-hand.~"],
        ["DEF-thigh.~", "DEF-shin.~", "DEF-foot.~", "DEF-toe.~"],
        ["L", "R"],
    ),
    convention(
        "Unreal",
        "pelvis",
        &["spine_01", "spine_02", "spine_03", "spine_04", "spine_05"],
        &["neck_01", "neck_02"],
        "head",
        ["clavicle_~", "upperarm_~", "lowerarm_~", "hand_~"],
        ["thigh_~", "calf_~", "foot_~", "ball_~"],
        ["l", "r"],
    ),
    convention(
        "SOMA",
        "Hips",
        &["Spine1", "Spine2", "Chest"],
        &["Neck1", "Neck2"],
        "Head",
        ["~Shoulder", "~Arm", "~ForeArm", "~Hand"],
        ["~Leg", "~Shin", "~Foot", "~ToeBase"],
        LONG,
    ),
    convention(
        "Xsens",
        "Pelvis",
        &["L5", "L3", "T12", "T8"],
        &["Neck"],
        "Head",
        ["~Shoulder", "~UpperArm", "~ForeArm", "~Hand"],
        ["~UpperLeg", "~LowerLeg", "~Foot", "~Toe"],
        LONG,
    ),
    convention(
        "VRM",
        "hips",
        &["spine", "chest", "upperChest"],
        &["neck"],
        "head",
        ["~Shoulder", "~UpperArm", "~LowerArm", "~Hand"],
        ["~UpperLeg", "~LowerLeg", "~Foot", "~Toes"],
        ["left", "right"],
    ),
    convention(
        "VRoid",
        "J_Bip_C_Hips",
        &["J_Bip_C_Spine", "J_Bip_C_Chest", "J_Bip_C_UpperChest"],
        &["J_Bip_C_Neck"],
        "J_Bip_C_Head",
        ["J_Bip_~_Shoulder", "J_Bip_~_UpperArm", "J_Bip_~_LowerArm", "J_Bip_~_Hand"],
        ["J_Bip_~_UpperLeg", "J_Bip_~_LowerLeg", "J_Bip_~_Foot", "J_Bip_~_ToeBase"],
        ["L", "R"],
    ),
    convention(
        "Rokoko",
        "Hips",
        &["Spine1", "Spine2", "Spine3", "Spine4"],
        &["Neck"],
        "Head",
        ["~Shoulder", "~Arm", "~ForeArm", "~Hand"],
        ["~Thigh", "~Shin", "~Foot", "~Toe"],
        LONG,
    ),
    convention(
        "exported",
        "Armature|mixamorig:Hips_01",
        &["Armature|mixamorig:Spine_02"],
        &["Armature|mixamorig:Neck_05"],
        "Armature|mixamorig:Head_06",
        [
            "Armature|mixamorig:~Shoulder_07",
            "Armature|mixamorig:~Arm_08",
            "Armature|mixamorig:~ForeArm_09",
            "Armature|mixamorig:~Hand_10",
        ],
        [
            "Armature|mixamorig:~UpLeg_11",
            "Armature|mixamorig:~Leg_12",
            "Armature|mixamorig:~Foot_13",
            "Armature|mixamorig:~ToeBase_14",
        ],
        LONG,
    ),
];

#[expect(clippy::too_many_arguments, reason = "a row of a table")]
const fn convention(
    name: &'static str,
    hips: &'static str,
    spine: &'static [&'static str],
    neck: &'static [&'static str],
    head: &'static str,
    arm: [&'static str; 4],
    leg: [&'static str; 4],
    sides: [&'static str; 2],
) -> Convention {
    Convention { name, hips, spine, neck, head, arm, leg, sides }
}

const ARM: [&str; 4] = ["Shoulder", "Arm", "ForeArm", "Hand"];
const LEG: [&str; 4] = ["UpLeg", "Leg", "Foot", "Toe"];

/// The body of a convention, and the name of the file for every joint.
fn told_by(convention: &Convention) -> SourceMotion {
    let mut body = StrangeBody::walking();
    let mut names: Vec<(String, String)> =
        vec![("Hips".into(), convention.hips.into()), ("Head".into(), convention.head.into())];
    let keep = ["Spine2", "Spine1", "Spine"];
    match convention.spine.len() {
        1 => body = body.without("Spine").without("Spine1"),
        2 => body = body.without("Spine1"),
        _ => {}
    }
    let mut spine: Vec<String> =
        keep.iter().take(convention.spine.len().min(3)).map(|s| (*s).to_owned()).collect();
    if convention.spine.len() == 2 {
        spine = vec!["Spine2".into(), "Spine".into()];
    }
    for extra in 3..convention.spine.len() {
        let inserted = format!("extra{extra}");
        body = body.split("Spine2", &inserted, 0.5);
        spine.insert(1, inserted);
    }
    names.extend(spine.into_iter().rev().zip(convention.spine.iter().map(|s| (*s).to_owned())));
    match convention.neck {
        [] => body = body.without("Neck"),
        [neck] => names.push(("Neck".into(), (*neck).into())),
        [low, high, ..] => {
            body = body.split("Head", "Neck2", 0.5);
            names.push(("Neck".into(), (*low).into()));
            names.push(("Neck2".into(), (*high).into()));
        }
    }
    for (side, written) in LONG.iter().zip(convention.sides) {
        for (part, name) in ARM.iter().zip(convention.arm).chain(LEG.iter().zip(convention.leg)) {
            if name == "-" {
                body = body.cut(&format!("{side}{part}"));
            } else {
                names.push((format!("{side}{part}"), name.replace('~', written)));
            }
        }
    }
    body.end("Head", Vec3::Y * 0.2).told(|ours| {
        names
            .iter()
            .find(|(name, _)| name == ours)
            .map_or_else(|| panic!("no name for {ours}"), |(_, n)| n.clone())
    })
}

fn joint_of(inference: &Inference, role: &str) -> Option<String> {
    inference.roles.iter().find(|found| found.role == role).map(|found| found.joint.clone())
}

#[test]
fn joint_names_of_every_convention_are_read() {
    for convention in &CONVENTIONS {
        let source = told_by(convention);
        let found = infer(&source).unwrap_or_else(|error| panic!("{}: {error}", convention.name));
        assert_eq!(found.method, "by names", "{}", convention.name);
        assert_eq!(joint_of(&found, "Hips").as_deref(), Some(convention.hips), "{}", convention.name);
        assert_eq!(joint_of(&found, "Head").as_deref(), Some(convention.head), "{}", convention.name);
        assert_eq!(
            joint_of(&found, "Neck").as_deref(),
            convention.neck.first().copied(),
            "{}",
            convention.name
        );
        assert_eq!(
            joint_of(&found, "Spine2").as_deref(),
            convention.spine.last().copied(),
            "{}",
            convention.name
        );
        for (side, written) in LONG.iter().zip(convention.sides) {
            for (part, name) in ARM.iter().zip(convention.arm).chain(LEG.iter().zip(convention.leg)) {
                let expected = (name != "-").then(|| name.replace('~', written));
                assert_eq!(
                    joint_of(&found, &format!("{side}{part}")),
                    expected,
                    "{}: {side}{part}",
                    convention.name
                );
            }
        }
        assert!(found.confidence > 0.9, "{}: {}", convention.name, found.confidence);
    }
}

/// Names that say nothing.
fn nameless(ours: &str) -> String {
    let number = ours.bytes().fold(7_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(byte)));
    format!("q{number}z")
}

/// The roles of the project that keep their joint in the inferred map, and those that do not.
#[track_caller]
fn assert_found(body: &StrangeBody, lacking: &[&str]) -> Inference {
    let source = body.told(nameless);
    let found = infer(&source).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(found.method, "by structure");
    let project = pomp_motion::Skeleton::humanoid(1.0);
    for joint in project.joints() {
        let expected = (!lacking.contains(&joint.name.as_str())).then(|| nameless(&joint.name));
        assert_eq!(joint_of(&found, &joint.name), expected, "{}: {found:#?}", joint.name);
    }
    let result = retarget(&source, &found.rig, &RetargetOptions::default()).unwrap();
    let plain = by_mixamo(&StrangeBody::walking());
    let worst = worst_distance(&result.clip, &plain);
    assert!(worst < 0.03, "a joint is {worst} m away from where the whole body has it");
    found
}

fn by_mixamo(body: &StrangeBody) -> pomp_motion::Clip {
    let source = body.told(|name| name.replace("Toe", "ToeBase"));
    let library = RigLibrary::builtin();
    retarget(&source, library.get("mixamo").unwrap(), &RetargetOptions::default()).unwrap().clip
}

fn worst_distance(a: &pomp_motion::Clip, b: &pomp_motion::Clip) -> f32 {
    let (a, b) = (a.global_poses(), b.global_poses());
    let mean = |joint: usize| {
        a.iter().zip(&b).map(|(a, b)| a.positions[joint].distance(b.positions[joint])).sum::<f32>()
            / a.len() as f32
    };
    // Without toes, collar bones or hands these are filled in, and lie where the project has them.
    let filled = [humanoid::LEFT_TOE, humanoid::RIGHT_TOE].map(|j| j.0);
    (0..humanoid::JOINTS).filter(|joint| !filled.contains(joint)).map(mean).fold(0.0, f32::max)
}

#[test]
fn a_body_without_names_is_mapped_whole() {
    let found = assert_found(&StrangeBody::walking(), &[]);
    assert!(found.confidence > 0.8, "{}", found.confidence);
    assert_eq!((found.rest_pose.value.as_str(), found.up_axis.value.as_str()), ("T-pose", "Y"));
    assert_eq!(found.rig.file.unit, Some(LengthUnit::Metre));
    let body = with_translations(StrangeBody::walking().told(nameless));
    assert_eq!(infer(&body).unwrap().joints.source_joints, found.joints.source_joints);
}

#[test]
fn split_bones_and_twist_bones_are_passed_over() {
    let body = StrangeBody::walking()
        .split("LeftLeg", "thigh twist", 0.5)
        .split("RightFoot", "half a shin", 0.4)
        .split("LeftHand", "forearm twist", 0.5)
        .split("RightForeArm", "upper arm twist", 0.3)
        .chain("RightArm", "roll", 1, Vec3::new(-0.14, 0.0, 0.0), Vec3::ZERO);
    let found = assert_found(&body, &[]);
    let kinds: Vec<&str> = found.extra.iter().map(|extra| extra.kind).collect();
    assert!(kinds.contains(&"in a limb") && kinds.contains(&"twist or share"), "{kinds:?}");
}

#[test]
fn bodies_without_toes_collar_bones_neck_and_parts_of_the_spine_are_filled_in() {
    assert_found(&StrangeBody::walking().cut("LeftToe").cut("RightToe"), &["LeftToe", "RightToe"]);
    let no_collars = StrangeBody::walking().without("LeftShoulder").without("RightShoulder");
    assert_found(&no_collars, &["LeftShoulder", "RightShoulder"]);
    let merged = StrangeBody::walking().without("Spine1").without("Neck");
    let found = assert_found(&merged, &["Spine1", "Neck"]);
    assert_eq!(found.missing, ["Spine1", "Neck"]);
}

#[test]
fn roots_tails_props_fingers_and_faces_are_reported_and_not_used() {
    let mut body = StrangeBody::walking()
        .chain("Hips", "tail", 5, Vec3::new(0.0, 0.0, -0.1), Vec3::new(0.0, -0.02, -0.15))
        .chain("RightHand", "sword", 2, Vec3::new(-0.1, 0.0, 0.0), Vec3::new(-0.2, 0.9, 0.0))
        .chain("Head", "left eye", 1, Vec3::new(0.03, 0.06, 0.08), Vec3::ZERO)
        .chain("Head", "right eye", 1, Vec3::new(-0.03, 0.06, 0.08), Vec3::ZERO);
    for finger in 0..4 {
        let z = 0.03 * (finger as f32 - 1.5);
        body = body
            .chain("LeftHand", &format!("fl{finger}"), 3, Vec3::new(0.08, 0.0, z), Vec3::X * 0.03)
            .chain("RightHand", &format!("fr{finger}"), 3, Vec3::new(-0.08, 0.0, z), Vec3::NEG_X * 0.03);
    }
    let found = assert_found(&body, &[]);
    for kind in ["tail", "finger or held", "on the head"] {
        assert!(found.extra.iter().any(|extra| extra.kind == kind), "{kind}: {:?}", found.extra);
    }
}

#[test]
fn any_unit_and_any_up_axis_give_the_same_clip() {
    let body = StrangeBody::walking();
    let plain = by_mixamo(&body);
    for metres in [0.001, 0.01, 0.0254, 0.1, 0.3048, 1.0, 0.0254 / 0.45, 3.7e-4, 250.0] {
        for (axis, turn) in [
            (UpAxis::Z, Quat::from_rotation_x(std::f32::consts::FRAC_PI_2)),
            (UpAxis::X, Quat::from_rotation_z(-std::f32::consts::FRAC_PI_2)),
            (UpAxis::NegY, Quat::from_rotation_x(std::f32::consts::PI)),
        ] {
            let source = turned(body.told(nameless), turn, 1.0 / metres);
            let found = infer(&source).unwrap();
            assert_eq!(found.rig.file.up_axis, Some(axis), "{}", found.up_axis.reason);
            let unit = found.rig.file.unit.unwrap();
            let named = metres == unit.metres();
            assert_eq!(found.unit.confidence > 0.8, named, "{metres} m: {unit:?}, {}", found.unit.reason);
            let clip = retarget(&source, &found.rig, &RetargetOptions::default()).unwrap().clip;
            assert!(worst_distance(&clip, &plain) < 0.01, "{metres} m, {axis:?} up");
        }
    }
}

/// The file with its world turned and scaled; the rest pose stays.
fn turned(source: SourceMotion, turn: Quat, scale: f32) -> SourceMotion {
    let joints = source.skeleton.joints().iter();
    let joints = joints.map(|joint| pomp_motion::Joint { offset: joint.offset * scale, ..joint.clone() });
    let poses = source.poses.iter().map(|pose| {
        let mut local_rotations = pose.local_rotations.clone();
        local_rotations[0] = turn * local_rotations[0];
        Pose { root_position: turn * pose.root_position * scale, local_rotations }
    });
    SourceMotion {
        skeleton: pomp_motion::Skeleton::new(joints.collect()).unwrap(),
        poses: poses.collect(),
        ..source
    }
}

/// The mirror image of a file, as a left-handed world has it.
fn mirrored(source: SourceMotion) -> SourceMotion {
    let point = |v: Vec3| Vec3::new(-v.x, v.y, v.z);
    let joints = source.skeleton.joints().iter();
    let joints = joints.map(|joint| pomp_motion::Joint { offset: point(joint.offset), ..joint.clone() });
    let poses = source.poses.iter().map(|pose| Pose {
        root_position: point(pose.root_position),
        local_rotations: pose.local_rotations.iter().map(|q| Quat::from_xyzw(q.x, -q.y, -q.z, q.w)).collect(),
    });
    SourceMotion {
        skeleton: pomp_motion::Skeleton::new(joints.collect()).unwrap(),
        poses: poses.collect(),
        ..source
    }
}

#[test]
fn a_left_handed_file_is_found_by_the_sides_in_its_names_and_reflected() {
    let plain = by_mixamo(&StrangeBody::walking());
    let library = RigLibrary::builtin();
    // Names of a known rig, of another convention, and sides alone.
    let namings: [&dyn Fn(&str) -> String; 3] = [
        &|name| name.replace("Toe", "ToeBase"),
        &|name| name.replace("UpLeg", "Thigh").replace("Leg", "Shin").replace("Spine2", "Thorax"),
        &|name| match name {
            _ if name.starts_with("Left") => format!("left_{}", nameless(name)),
            _ if name.starts_with("Right") => format!("right_{}", nameless(name)),
            _ => nameless(name),
        },
    ];
    for naming in namings {
        let straight = StrangeBody::walking().told(naming);
        let chosen = library.choose_or_infer(&straight).unwrap();
        assert!(!chosen.rig.file.mirrored, "{:?}", chosen.inference);
        let source = mirrored(straight);
        let chosen = library.choose_or_infer(&source).unwrap();
        assert!(chosen.rig.file.mirrored, "{:?}", chosen.inference);
        let result = retarget(&source, &chosen.rig, &RetargetOptions::default()).unwrap();
        assert!(result.report.repairs[0].contains("left-handed"), "{:?}", result.report.repairs);
        assert!(worst_distance(&result.clip, &plain) < 0.01);
    }
}

#[test]
fn without_names_a_mirror_image_is_a_body_like_any_other_and_the_finding_says_so() {
    let found = infer(&mirrored(StrangeBody::walking().told(nameless))).unwrap();
    assert!(!found.rig.file.mirrored && found.handedness.confidence < 0.6, "{:?}", found.handedness);
}

#[test]
fn a_t_pose_at_the_beginning_is_left_out_and_said() {
    let body = StrangeBody::walking();
    let mut source = body.told(nameless);
    let mut t_pose = Pose::rest(&source.skeleton);
    t_pose.root_position = source.poses[0].root_position;
    source.poses.insert(0, t_pose.clone());
    source.poses.insert(0, t_pose);
    let found = infer(&source).unwrap();
    assert_eq!(found.left_out_frames, 2);
    let result = retarget(&source, &found.rig, &RetargetOptions::default()).unwrap();
    assert_eq!(result.clip.frames() + 2, source.frames());
    assert!(result.report.repairs[0].contains("2 of 62 frames are left out"), "{:?}", result.report.repairs);
    assert!(worst_distance(&result.clip, &by_mixamo(&body)) < 0.01);
    assert_eq!(infer(&body.told(nameless)).unwrap().left_out_frames, 0);
}

#[test]
fn a_rest_pose_that_means_nothing_is_replaced_by_the_hinges_of_the_motion() {
    // Every joint frame is turned by its own rotation, as bones along one axis do it.
    let body = StrangeBody::walking();
    let plain = by_mixamo(&body);
    let source = body.told(nameless);
    let turns: Vec<Quat> = (0..source.skeleton.len())
        .map(|i| Quat::from_scaled_axis(Vec3::new(1.0, -2.0, 0.5) * (0.9 * i as f32 + 0.4)))
        .collect();
    let joints = source.skeleton.joints().iter().map(|joint| {
        let turn = joint.parent.map_or(Quat::IDENTITY, |p| turns[p.0]);
        pomp_motion::Joint { offset: turn * joint.offset, ..joint.clone() }
    });
    let poses = source.poses.iter().map(|pose| {
        let local = pose.local_rotations.iter().enumerate().map(|(i, q)| {
            let above = source.skeleton.parent(JointIndex(i)).map_or(Quat::IDENTITY, |p| turns[p.0]);
            (above * *q * turns[i].inverse()).normalize()
        });
        Pose { local_rotations: local.collect(), ..pose.clone() }
    });
    let odd = SourceMotion {
        skeleton: pomp_motion::Skeleton::new(joints.collect()).unwrap(),
        poses: poses.collect(),
        ..source.clone()
    };
    let found = infer(&odd).unwrap();
    assert_eq!(found.rest_pose.value, "no standing pose");
    let clip = retarget(&odd, &found.rig, &RetargetOptions::default()).unwrap().clip;
    let worst = worst_distance(&clip, &plain);
    println!("worst joint {:.1} cm", 100.0 * worst);
    // Axes from the motion are those of people on average: this body's neck and trunk lean by some degrees less.
    assert!(worst < 0.06, "{worst}");
}

#[test]
fn an_inferred_map_written_as_a_file_is_read_as_the_same_map() {
    let source = turned(
        StrangeBody::walking().told(|name| format!("a \"{name}\" \\ b")),
        Quat::from_rotation_x(std::f32::consts::FRAC_PI_2),
        1234.5,
    );
    let found = infer(&source).unwrap();
    let text = found.rig.to_toml(|joint| Some(format!("joint {}", joint.0)));
    let read = RigMap::from_toml(&text, "inferred").unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(read, found.rig);
}

#[track_caller]
fn refusal(source: &SourceMotion) -> String {
    match infer(source) {
        Err(error @ RetargetError::NotHuman { .. }) => error.to_string(),
        other => panic!("expected a refusal, got {other:#?}"),
    }
}

#[test]
fn rejects_a_quadruped_with_the_reason() {
    let down = Quat::from_rotation_x(-std::f32::consts::FRAC_PI_2);
    let mut body = StrangeBody::walking().without("LeftShoulder").without("RightShoulder");
    // The trunk forward, the legs down, and the front limbs down and as long.
    body = body.turned("Hips", down.inverse());
    for side in ["Left", "Right"] {
        body = body.turned(&format!("{side}UpLeg"), down);
        let (arm, sign) = (format!("{side}Arm"), if side == "Left" { 1.0 } else { -1.0 });
        body = body.moved(&arm, Vec3::new(0.1 * sign, 0.1, 0.0)).turned(&arm, down);
        body = body
            .moved(&format!("{side}ForeArm"), Vec3::new(0.4 * sign, 0.0, 0.0))
            .moved(&format!("{side}Hand"), Vec3::new(0.4 * sign, 0.0, 0.0));
    }
    let at_rest = body.told(nameless);
    // At rest the same pose: joint frames as in the first frame.
    let message = refusal(&standing_as_it_moves(&at_rest));
    assert!(message.contains("four legs") && message.contains("strange"), "{message}");
}

/// The same motion on a skeleton whose rest pose is the first frame.
fn standing_as_it_moves(source: &SourceMotion) -> SourceMotion {
    let first = source.global_pose(0).rotations;
    let joints = source.skeleton.joints().iter().map(|joint| {
        let turn = joint.parent.map_or(Quat::IDENTITY, |p| first[p.0]);
        pomp_motion::Joint { offset: turn * joint.offset, ..joint.clone() }
    });
    let poses = source.poses.iter().map(|pose| {
        let local = pose.local_rotations.iter().enumerate().map(|(i, q)| {
            let above = source.skeleton.parent(JointIndex(i)).map_or(Quat::IDENTITY, |p| first[p.0]);
            (above * *q * first[i].inverse()).normalize()
        });
        Pose { local_rotations: local.collect(), ..pose.clone() }
    });
    SourceMotion {
        skeleton: pomp_motion::Skeleton::new(joints.collect()).unwrap(),
        poses: poses.collect(),
        ..source.clone()
    }
}

#[test]
fn rejects_a_body_with_one_leg_or_none() {
    let message = refusal(&StrangeBody::walking().cut("RightUpLeg").told(nameless));
    assert!(message.contains("legs") || message.contains("a leg is missing"), "{message}");
    let message = refusal(&StrangeBody::walking().cut("RightUpLeg").cut("LeftUpLeg").told(nameless));
    assert!(message.contains("legs"), "{message}");
}

#[test]
fn rejects_a_hand() {
    let mut body = StrangeBody::walking().cut("Spine").cut("LeftUpLeg").cut("RightUpLeg");
    for (finger, length) in [0.9, 1.0, 1.1, 1.0, 0.8].into_iter().enumerate() {
        let first = Vec3::new(0.02 * (finger as f32 - 2.0), 0.0, 0.09);
        body = body.chain("Hips", &format!("f{finger}_"), 4, first, Vec3::Z * 0.035 * length);
    }
    let message = refusal(&body.told(nameless));
    assert!(message.contains("fingers") || message.contains("proportions of legs"), "{message}");
}

#[test]
fn rejects_chains_of_thousands_of_joints_without_delay() {
    let joints = (0..4000).map(|i: usize| pomp_motion::Joint {
        name: format!("j{i}"),
        parent: i.checked_sub(1).map(|above| JointIndex(if i.is_multiple_of(7) { above / 2 } else { above })),
        offset: Vec3::new(0.001 * (i % 3) as f32, 0.02, 0.0),
    });
    let skeleton = pomp_motion::Skeleton::new(joints.collect()).unwrap();
    let pose = Pose::rest(&skeleton);
    let source = SourceMotion { skeleton, poses: vec![pose; 3], ..StrangeBody::walking().told(nameless) };
    let start = std::time::Instant::now();
    assert!(infer(&source).is_err());
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

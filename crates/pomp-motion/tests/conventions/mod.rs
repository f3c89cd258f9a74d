//! Conventions of naming joints, and a walking body in each of them.

use crate::strange_body::StrangeBody;
use pomp_motion::SourceMotion;
use pomp_motion::glam::Vec3;

/// Joint names of a convention: trunk from the hips to the head, arm and leg from the trunk outwards, with `~` for the side
/// and what stands for it.
pub struct Convention {
    pub name: &'static str,
    pub hips: &'static str,
    pub spine: &'static [&'static str],
    pub neck: &'static [&'static str],
    pub head: &'static str,
    pub arm: [&'static str; 4],
    pub leg: [&'static str; 4],
    pub sides: [&'static str; 2],
}

/// The words for the sides in most of them, and in the project's skeleton.
pub const LONG: [&str; 2] = ["Left", "Right"];
pub const CONVENTIONS: [Convention; 27] = [
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
        "ARKit",
        "hips_joint",
        &["spine_1_joint", "spine_4_joint", "spine_7_joint"],
        &["neck_1_joint", "neck_2_joint"],
        "head_joint",
        ["~_shoulder_1_joint", "~_arm_joint", "~_forearm_joint", "~_hand_joint"],
        ["~_upLeg_joint", "~_leg_joint", "~_foot_joint", "~_toes_joint"],
        ["left", "right"],
    ),
    convention(
        "Azure Kinect",
        "PELVIS",
        &["SPINE_NAVAL", "SPINE_CHEST"],
        &["NECK"],
        "HEAD",
        ["CLAVICLE_~", "SHOULDER_~", "ELBOW_~", "WRIST_~"],
        ["HIP_~", "KNEE_~", "ANKLE_~", "FOOT_~"],
        ["LEFT", "RIGHT"],
    ),
    convention(
        "Genesis 8",
        "hip",
        &["abdomenLower", "abdomenUpper", "chestLower", "chestUpper"],
        &["neckLower", "neckUpper"],
        "head",
        ["~Collar", "~ShldrBend", "~ForearmBend", "~Hand"],
        ["~ThighBend", "~Shin", "~Foot", "~Toe"],
        ["l", "r"],
    ),
    convention(
        "Genesis 9",
        "hip",
        &["spine1", "spine2", "spine3", "spine4"],
        &["neck1", "neck2"],
        "head",
        ["~_shoulder", "~_upperarm", "~_forearm", "~_hand"],
        ["~_thigh", "~_shin", "~_foot", "~_toes"],
        ["l", "r"],
    ),
    convention(
        "mocopi",
        "root",
        &["torso_1", "torso_3", "torso_5", "torso_7"],
        &["neck_1", "neck_2"],
        "head",
        ["~_shoulder", "~_up_arm", "~_low_arm", "~_hand"],
        ["~_up_leg", "~_low_leg", "~_foot", "~_toes"],
        ["l", "r"],
    ),
    convention(
        "Cascadeur",
        "pelvis",
        &["stomach", "chest"],
        &["neck"],
        "head",
        ["clavicle_~", "arm_~", "forearm_~", "hand_~"],
        ["thigh_~", "calf_~", "foot_~", "toe_~"],
        ["l", "r"],
    ),
    convention(
        "Advanced Skeleton",
        "Root_M",
        &["Spine1_M", "Spine2_M", "Chest_M"],
        &["Neck_M"],
        "Head_M",
        ["Scapula_~", "Shoulder_~", "Elbow_~", "Wrist_~"],
        ["Hip_~", "Knee_~", "Ankle_~", "Toes_~"],
        ["L", "R"],
    ),
    convention(
        "Meta",
        "Body_Hips",
        &["Body_SpineLower", "Body_SpineUpper", "Body_Chest"],
        &["Body_Neck"],
        "Body_Head",
        ["Body_~Shoulder", "Body_~ArmUpper", "Body_~ArmLower", "Body_~HandWrist"],
        ["FullBody_~UpperLeg", "FullBody_~LowerLeg", "FullBody_~FootAnkle", "FullBody_~FootBall"],
        LONG,
    ),
    convention(
        "MakeHuman",
        "root",
        &["spine05", "spine03", "spine01"],
        &["neck01", "neck02"],
        "head",
        ["clavicle.~", "upperarm01.~", "lowerarm01.~", "wrist.~"],
        ["upperleg01.~", "lowerleg01.~", "foot.~", "toe1-1.~"],
        ["L", "R"],
    ),
    convention(
        "GENEA",
        "b_root",
        &["b_spine0", "b_spine1", "b_spine2", "b_spine3"],
        &["b_neck0"],
        "b_head",
        ["b_~_shoulder", "b_~_arm", "b_~_forearm", "b_~_wrist"],
        ["b_~_upleg", "b_~_leg", "b_~_foot", "-"],
        ["l", "r"],
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

/// Joints of an arm in the project's skeleton, without the side.
pub const ARM: [&str; 4] = ["Shoulder", "Arm", "ForeArm", "Hand"];
/// Joints of a leg, likewise.
pub const LEG: [&str; 4] = ["UpLeg", "Leg", "Foot", "Toe"];

/// The body of a convention, and the name of the file for every joint.
pub fn told_by(convention: &Convention) -> SourceMotion {
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

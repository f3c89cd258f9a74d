//! Rigs inferred for made-up skeletons: joint names of all conventions, and no names at all.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

mod conventions;
mod strange_body;

use conventions::{ARM, CONVENTIONS, LEG, LONG, told_by};
use pomp_motion::glam::{Quat, Vec3};
use pomp_motion::retarget::{
    Inference, LengthUnit, RetargetError, RetargetOptions, Retargeted, RigLibrary, RigMap, StatedJoints,
    UpAxis, infer, infer_with, retarget,
};
use pomp_motion::{Clip, Joint, JointIndex, Pose, Skeleton, SourceMotion, humanoid};
use strange_body::{StrangeBody, with_translations};

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

#[test]
fn a_joint_that_is_stated_plays_its_role_and_the_others_are_found_around_it() {
    let source = StrangeBody::walking().told(nameless);
    let name = |role: &str| nameless(role);
    let stated = |names: &[(&str, Option<String>)]| {
        let names = names.iter().map(|(role, joint)| (*role, joint.as_deref()));
        infer_with(&source, &StatedJoints::by_names(&source.skeleton, names).unwrap()).unwrap()
    };
    // What is found anyhow changes nothing but its confidence.
    let plain = infer(&source).unwrap();
    let same = stated(&[("LeftArm", Some(name("LeftArm")))]);
    assert_eq!(same.rig.joints, plain.rig.joints);
    let of = |found: &Inference, role: &str| found.roles.iter().find(|r| r.role == role).cloned().unwrap();
    assert_eq!((of(&same, "LeftArm").confidence, of(&same, "LeftArm").reason.as_str()), (1.0, "stated"));
    assert!(of(&plain, "LeftArm").confidence < 1.0);

    // A role that the file is said to lack is filled in, and a spine joint that is given to another role leaves its own.
    let fewer = stated(&[("LeftToe", None), ("Spine2", Some(name("Spine1")))]);
    assert_eq!(joint_of(&fewer, "LeftToe"), None);
    assert!(fewer.missing.contains(&"LeftToe".to_owned()));
    assert_eq!(joint_of(&fewer, "Spine2"), Some(name("Spine1")));
    assert_eq!(joint_of(&fewer, "Spine1"), None);
    assert_eq!(joint_of(&fewer, "RightHand"), Some(name("RightHand")));

    // Sides that structure takes for the other way round: all limbs exchanged, as in a mirrored file without names.
    let limbs: Vec<String> = LEG.iter().chain(&ARM).map(|part| (*part).to_owned()).collect();
    let exchanged: Vec<(String, Option<String>)> = limbs
        .iter()
        .flat_map(|part| {
            [(format!("Left{part}"), format!("Right{part}")), (format!("Right{part}"), format!("Left{part}"))]
        })
        .map(|(role, joint)| (role, Some(name(&joint))))
        .collect();
    let names: Vec<(&str, Option<String>)> =
        exchanged.iter().map(|(role, joint)| (role.as_str(), joint.clone())).collect();
    let mirrored = stated(&names);
    assert_eq!(joint_of(&mirrored, "LeftUpLeg"), Some(name("RightUpLeg")));
    assert!(mirrored.rig.file.mirrored, "toes of its left side point backwards: {:?}", mirrored.handedness);
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
    let project = Skeleton::humanoid(1.0);
    for joint in project.joints() {
        let expected = (!lacking.contains(&joint.name.as_str())).then(|| nameless(&joint.name));
        assert_eq!(joint_of(&found, &joint.name), expected, "{}: {found:#?}", joint.name);
    }
    let result = retargeted(&source, &found.rig);
    let plain = by_mixamo(&StrangeBody::walking());
    let worst = worst_distance(&result.clip, &plain);
    assert!(worst < 0.03, "a joint is {worst} m away from where the whole body has it");
    found
}

fn by_mixamo(body: &StrangeBody) -> Clip {
    let source = body.told(|name| name.replace("Toe", "ToeBase"));
    let library = RigLibrary::builtin();
    retargeted(&source, library.get("mixamo").unwrap()).clip
}

fn retargeted(source: &SourceMotion, rig: &RigMap) -> Retargeted {
    retarget(source, rig, &RetargetOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn worst_distance(a: &Clip, b: &Clip) -> f32 {
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
fn the_source_beside_its_result_lies_where_the_result_does() {
    let body = StrangeBody::walking();
    let source = body.told(nameless);
    let Retargeted { clip, report } = retargeted(&source, &infer(&source).unwrap().rig);
    let beside = report.source_beside(&source).unwrap();
    assert_eq!((beside.frames(), beside.skeleton.len()), (source.frames(), source.skeleton.len()));
    let poses = clip.global_poses();
    for role in [humanoid::HIPS, humanoid::LEFT_FOOT, humanoid::RIGHT_HAND] {
        let name = nameless(&Skeleton::humanoid(1.0).joints()[role.0].name);
        let JointIndex(joint) = beside.skeleton.index_of(&name).unwrap();
        for (frame, pose) in poses.iter().enumerate() {
            let apart = beside.positions[frame][joint].distance(pose.positions[role.0]);
            assert!(apart < 0.03, "frame {frame}, {name}: {apart} m from the result");
        }
    }
    // Its bones are as long as its poses have them.
    let shin = beside.skeleton.index_of(&nameless("LeftLeg")).unwrap();
    let knee = beside.skeleton.parent(shin).unwrap();
    let length = beside.positions[0][shin.0].distance(beside.positions[0][knee.0]);
    assert!((length - beside.skeleton.joints()[shin.0].offset.length()).abs() < 1e-4);
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
            let source = turned(&body.told(nameless), turn, 1.0 / metres);
            let found = infer(&source).unwrap();
            assert_eq!(found.rig.file.up_axis, Some(axis), "{}", found.up_axis.reason);
            let unit = found.rig.file.unit.unwrap();
            let named = metres == unit.metres();
            assert_eq!(found.unit.confidence > 0.8, named, "{metres} m: {unit:?}, {}", found.unit.reason);
            let clip = retargeted(&source, &found.rig).clip;
            assert!(worst_distance(&clip, &plain) < 0.01, "{metres} m, {axis:?} up");
        }
    }
}

/// The file with other offsets and poses.
fn rebuilt(
    source: &SourceMotion,
    offset: impl Fn(&Joint) -> Vec3,
    pose: impl Fn(&Pose) -> Pose,
) -> SourceMotion {
    let joints = source.skeleton.joints().iter();
    let joints = joints.map(|joint| Joint { offset: offset(joint), ..joint.clone() });
    SourceMotion {
        skeleton: Skeleton::new(joints.collect()).unwrap(),
        poses: source.poses.iter().map(pose).collect(),
        ..source.clone()
    }
}

/// The file with its world turned and scaled; the rest pose stays.
fn turned(source: &SourceMotion, turn: Quat, scale: f32) -> SourceMotion {
    let offset = |joint: &Joint| joint.offset * scale;
    rebuilt(source, offset, |pose| {
        let mut local_rotations = pose.local_rotations.clone();
        local_rotations[0] = turn * local_rotations[0];
        Pose { root_position: turn * pose.root_position * scale, local_rotations }
    })
}

/// The mirror image of a file, as a left-handed world has it.
fn mirrored(source: &SourceMotion) -> SourceMotion {
    let point = |v: Vec3| Vec3::new(-v.x, v.y, v.z);
    let offset = |joint: &Joint| point(joint.offset);
    rebuilt(source, offset, |pose| Pose {
        root_position: point(pose.root_position),
        local_rotations: pose.local_rotations.iter().map(|q| Quat::from_xyzw(q.x, -q.y, -q.z, q.w)).collect(),
    })
}

/// The same motion with the frame of every joint turned in the world, at rest, by its one of `turns`.
fn with_turned_frames(source: &SourceMotion, turns: &[Quat]) -> SourceMotion {
    let above = |parent: Option<JointIndex>| parent.map_or(Quat::IDENTITY, |joint| turns[joint.0]);
    let offset = |joint: &Joint| above(joint.parent) * joint.offset;
    rebuilt(source, offset, |pose| {
        let local = pose.local_rotations.iter().enumerate();
        let turned = local.map(|(i, q)| {
            (above(source.skeleton.parent(JointIndex(i))) * *q * turns[i].inverse()).normalize()
        });
        Pose { local_rotations: turned.collect(), ..pose.clone() }
    })
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
        let source = mirrored(&straight);
        let chosen = library.choose_or_infer(&source).unwrap();
        assert!(chosen.rig.file.mirrored, "{:?}", chosen.inference);
        let result = retargeted(&source, &chosen.rig);
        assert!(result.report.repairs[0].contains("left-handed"), "{:?}", result.report.repairs);
        assert!(worst_distance(&result.clip, &plain) < 0.01);
    }
}

#[test]
fn without_names_a_mirror_image_is_a_body_like_any_other_and_the_finding_says_so() {
    let found = infer(&mirrored(&StrangeBody::walking().told(nameless))).unwrap();
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
    let result = retargeted(&source, &found.rig);
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
    let odd = with_turned_frames(&source, &turns);
    let found = infer(&odd).unwrap();
    assert_eq!(found.rest_pose.value, "no standing pose");
    let clip = retargeted(&odd, &found.rig).clip;
    let worst = worst_distance(&clip, &plain);
    println!("worst joint {:.1} cm", 100.0 * worst);
    // Axes from the motion are those of people on average: this body's neck and trunk lean by some degrees less.
    assert!(worst < 0.06, "{worst}");
}

#[test]
fn an_inferred_map_written_as_a_file_is_read_as_the_same_map() {
    let source = turned(
        &StrangeBody::walking().told(|name| format!("a \"{name}\" \\ b")),
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
fn a_known_map_that_leaves_out_joints_gives_way_to_the_names_of_the_file() {
    // HumanIK with two spine joints: the map of OpenSim fits, and knows no neck, head and collar bones.
    let source = StrangeBody::walking().without("Spine2").told(|name| name.replace("Toe", "ToeBase"));
    let library = RigLibrary::builtin();
    assert_eq!(library.choose(&source.skeleton).unwrap().0.name, "opensim16");
    let chosen = library.choose_or_infer(&source).unwrap();
    let found = chosen.inference.expect("the map is inferred");
    for role in ["Neck", "Head", "LeftShoulder", "RightShoulder"] {
        assert_eq!(joint_of(&found, role).as_deref(), Some(role));
    }
    // The user's own map stays, whatever it leaves out.
    let own = library.get("opensim16").unwrap().clone();
    let own = RigLibrary::builtin().with_rig(RigMap { name: "mine".to_owned(), ..own });
    let chosen = own.choose_or_infer(&source).unwrap();
    assert_eq!((chosen.rig.name.as_str(), chosen.inference.is_some()), ("mine", false));
    assert!(chosen.warnings.is_empty(), "{:?}", chosen.warnings);
    // What no joint of the file is named after is no reason.
    let bare = StrangeBody::walking().cut("Neck").without("Spine2").without("Spine1");
    let bare = bare.without("LeftShoulder").without("RightShoulder");
    let chosen = library
        .choose_or_infer(&bare.told(|name| name.replace("Toe", "ToeBase")))
        .map(|c| c.rig.name.clone());
    assert_eq!(chosen.unwrap(), "opensim16");
}

#[test]
fn a_map_of_ones_own_wins_where_it_fits_and_is_told_where_it_does_not() {
    let source = StrangeBody::walking().told(|name| name.replace("Toe", "ToeBase"));
    let known = RigLibrary::builtin();
    let (rig, _) = known.choose(&source.skeleton).unwrap();
    let mut mine = RigMap { name: "mine".to_owned(), ..rig.clone() };
    // A joint taken out of the map is out, though built-in maps find it.
    mine.joints.remove(&humanoid::LEFT_TOE);
    let library = RigLibrary::builtin().with_rig(mine.clone());
    let chosen = library.choose_or_infer(&source).unwrap();
    assert_eq!((chosen.rig.name.as_str(), chosen.warnings.len()), ("mine", 0));
    assert_eq!(chosen.joints.missing, ["LeftToe"]);

    mine.joints.insert(humanoid::LEFT_TOE, vec!["LeftToes".to_owned()]);
    mine.optional.clear();
    let library = RigLibrary::builtin().with_rig(mine);
    let chosen = library.choose_or_infer(&source).unwrap();
    assert_eq!(chosen.rig.name, rig.name);
    let [warning] = &chosen.warnings[..] else { panic!("{:?}", chosen.warnings) };
    assert!(
        warning.contains("\"mine\" is not used") && warning.contains("LeftToes (for LeftToe)"),
        "{warning}"
    );

    let nameless = StrangeBody::walking().told(nameless);
    let warnings = library.choose_or_infer(&nameless).unwrap().warnings;
    assert!(warnings.len() == 1 && warnings[0].contains("\"mine\" is not used"), "{warnings:?}");
    // A map for other files is no matter of a file that a built-in one fits.
    let mut other = rig.clone();
    other.joints.values_mut().for_each(|names| *names = vec![format!("bone_{}", names[0])]);
    let library = RigLibrary::builtin().with_rig(other);
    assert!(library.choose_or_infer(&source).unwrap().warnings.is_empty());
}

#[test]
fn a_t_pose_at_the_beginning_is_left_out_with_a_known_map_too() {
    let mut source = StrangeBody::walking().told(|name| name.replace("Toe", "ToeBase"));
    let mut t_pose = Pose::rest(&source.skeleton);
    t_pose.root_position = source.poses[0].root_position;
    source.poses.insert(0, t_pose);
    let library = RigLibrary::builtin();
    let chosen = library.choose_or_infer(&source).unwrap();
    assert_eq!((chosen.rig.name.as_str(), chosen.inference.is_some()), ("mixamo", false));
    let result = retargeted(&source, &chosen.rig);
    assert_eq!(result.clip.frames() + 1, source.frames());
    assert!(result.report.repairs[0].contains("1 of 61 frames are left out"), "{:?}", result.report.repairs);
}

#[test]
fn a_body_with_one_arm_or_none_keeps_its_neck_and_head() {
    let plain = |name: &str| name.to_owned();
    let namings: [&dyn Fn(&str) -> String; 2] = [&nameless, &plain];
    let arm = ["Shoulder", "Arm", "ForeArm", "Hand"];
    for naming in namings {
        for (cut, kept) in [("Right", "Left"), ("Left", "Right")] {
            let found = infer(&StrangeBody::walking().cut(&format!("{cut}Shoulder")).told(naming)).unwrap();
            for role in ["Spine", "Spine1", "Spine2", "Neck", "Head"].map(str::to_owned).into_iter() {
                assert_eq!(joint_of(&found, &role), Some(naming(&role)), "{role}: {found:#?}");
            }
            for part in arm {
                let role = format!("{kept}{part}");
                assert_eq!(joint_of(&found, &role), Some(naming(&role)), "{role}: {found:#?}");
                assert_eq!(joint_of(&found, &format!("{cut}{part}")), None);
            }
        }
        let found =
            infer(&StrangeBody::walking().cut("LeftShoulder").cut("RightShoulder").told(naming)).unwrap();
        for role in ["Spine2", "Neck", "Head"] {
            assert_eq!(joint_of(&found, role), Some(naming(role)), "{role}: {found:#?}");
        }
        assert!(arm.iter().all(|part| joint_of(&found, &format!("Left{part}")).is_none()));
    }
}

#[test]
fn wings_and_a_long_tail_are_no_missing_leg() {
    let body = StrangeBody::walking()
        .chain("Spine2", "left wing", 3, Vec3::new(0.08, 0.05, -0.1), Vec3::new(0.5, 0.1, -0.1))
        .chain("Spine2", "right wing", 3, Vec3::new(-0.08, 0.05, -0.1), Vec3::new(-0.5, 0.1, -0.1))
        .chain("Hips", "tail", 4, Vec3::new(0.0, 0.0, -0.1), Vec3::new(0.0, -0.1, -0.45));
    assert_found(&body, &[]);
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
    let message = refusal(&with_turned_frames(&at_rest, &at_rest.global_pose(0).rotations));
    assert!(message.contains("four legs") && message.contains("strange"), "{message}");
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
    assert!(message.contains("fingers"), "{message}");
}

#[test]
fn rejects_chains_of_thousands_of_joints_without_delay() {
    let joints = (0..4000).map(|i: usize| Joint {
        name: format!("j{i}"),
        parent: i.checked_sub(1).map(|above| JointIndex(if i.is_multiple_of(7) { above / 2 } else { above })),
        offset: Vec3::new(0.001 * (i % 3) as f32, 0.02, 0.0),
    });
    let skeleton = Skeleton::new(joints.collect()).unwrap();
    let pose = Pose::rest(&skeleton);
    let source = SourceMotion { skeleton, poses: vec![pose; 3], ..StrangeBody::walking().told(nameless) };
    let start = std::time::Instant::now();
    assert!(infer(&source).is_err());
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

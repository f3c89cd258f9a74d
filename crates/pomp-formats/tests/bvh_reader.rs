//! What the BVH reader accepts, what it reports and what it refuses, one sentence each.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

use pomp_formats::bvh::{BvhProblem, BvhReadOptions, ChannelType, PositionChannels, parse_bvh_with};
use pomp_formats::{BvhFile, BvhWarning, FormatError, parse_bvh};
use pomp_motion::glam::{Quat, Vec3};

const PLAIN: &str = "HIERARCHY
ROOT Hips
{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation
  JOINT LeftLeg
  {
    OFFSET 1 -40 0
    CHANNELS 3 Zrotation Yrotation Xrotation
    End Site
    {
      OFFSET 0 -45 5
    }
  }
  JOINT Spine
  {
    OFFSET 0 20 0
    CHANNELS 3 Zrotation Yrotation Xrotation
    End Site
    {
      OFFSET 0 30 0
    }
  }
}
MOTION
Frames: 2
Frame Time: 0.02
1 90 3 90 0 0 0 0 0 0 0 0
2 91 4 0 0 90 10 20 30 0 0 0
";

fn read(text: &str) -> BvhFile {
    parse_bvh(text.as_bytes(), "clip").unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn changed(from: &str, to: &str) -> String {
    assert!(PLAIN.contains(from), "the sample has no {from:?}");
    PLAIN.replacen(from, to, 1)
}

/// The problem, its line, column and token.
fn refusal(text: &str) -> (BvhProblem, usize, usize, String) {
    match parse_bvh(text.as_bytes(), "clip") {
        Err(FormatError::Bvh { file, line, column, token, problem }) => {
            assert_eq!(file, "clip");
            (problem, line, column, token)
        }
        other => panic!("expected a refusal, got {other:?}"),
    }
}

fn assert_same_motion(a: &BvhFile, b: &BvhFile) {
    assert_eq!(a.motion, b.motion);
    assert_eq!(a.channels, b.channels);
}

#[test]
fn a_plain_file_gives_skeleton_end_sites_and_motion_without_warnings() {
    let file = read(PLAIN);
    assert_eq!(file.warnings, []);
    let motion = &file.motion;
    let names: Vec<&str> = motion.skeleton.joints().iter().map(|joint| joint.name.as_str()).collect();
    assert_eq!(names, ["Hips", "LeftLeg", "Spine"]);
    assert_eq!(motion.skeleton.joints()[1].offset, Vec3::new(1.0, -40.0, 0.0));
    let ends: Vec<(usize, Vec3)> = motion.end_sites.iter().map(|(joint, end)| (joint.0, *end)).collect();
    assert_eq!(ends, [(1, Vec3::new(0.0, -45.0, 5.0)), (2, Vec3::new(0.0, 30.0, 0.0))]);
    assert_eq!(file.frame_time_s, 0.02);
    assert_eq!(motion.frame_rate_hz, 50.0);
    assert_eq!(motion.poses[1].root_position, Vec3::new(2.0, 91.0, 4.0));
    assert_eq!(motion.joint_translations, None);
    assert_eq!(file.channels[1], [ChannelType::RotationZ, ChannelType::RotationY, ChannelType::RotationX]);
}

#[test]
fn rotations_compose_in_the_order_of_their_channels() {
    let degrees = f32::to_radians;
    let rotation = read(PLAIN).motion.poses[1].local_rotations[1];
    let expected = Quat::from_rotation_z(degrees(10.0))
        * Quat::from_rotation_y(degrees(20.0))
        * Quat::from_rotation_x(degrees(30.0));
    assert!(rotation.dot(expected).abs() > 1.0 - 1e-6, "{rotation} {expected}");
    let turned = changed(
        "OFFSET 1 -40 0\n    CHANNELS 3 Zrotation Yrotation Xrotation",
        "OFFSET 1 -40 0\n    CHANNELS 3 Yrotation Xrotation Zrotation",
    );
    let rotation = read(&turned).motion.poses[1].local_rotations[1];
    let expected = Quat::from_rotation_y(degrees(10.0))
        * Quat::from_rotation_x(degrees(20.0))
        * Quat::from_rotation_z(degrees(30.0));
    assert!(rotation.dot(expected).abs() > 1.0 - 1e-6, "{rotation} {expected}");
}

#[test]
fn names_keep_their_colons_and_spaces() {
    let file = read(&changed("JOINT LeftLeg", "JOINT mixamorig:Left Leg  "));
    assert_eq!(file.motion.skeleton.joints()[1].name, "mixamorig:Left Leg");
    assert_eq!(file.warnings, []);
}

#[test]
fn joints_of_one_name_are_told_apart_and_reported() {
    let file = read(&changed("JOINT Spine", "JOINT LeftLeg"));
    assert_eq!(file.motion.skeleton.joints()[2].name, "LeftLeg_2");
    assert!(matches!(&file.warnings[..], [BvhWarning::DuplicateName { line: 15, name, renamed }]
        if name == "LeftLeg" && renamed == "LeftLeg_2"));
}

#[test]
fn a_leaf_without_end_site_stays_a_joint_and_is_reported() {
    let file = read(&changed("    End Site\n    {\n      OFFSET 0 -45 5\n    }\n", ""));
    assert_eq!(file.motion.skeleton.len(), 3);
    assert_eq!(file.motion.end_sites.len(), 1);
    assert!(
        matches!(&file.warnings[..], [BvhWarning::MissingEndSite { line: 6, joint }] if joint == "LeftLeg")
    );
    assert_eq!(file.motion.poses, read(PLAIN).motion.poses);
}

#[test]
fn two_end_sites_make_no_joint_and_are_both_kept() {
    let site = "    End Site\n    {\n      OFFSET 0 -45 5\n    }\n";
    let file = read(&changed(site, &format!("{site}{site}")));
    assert_eq!(file.motion.skeleton.len(), 3);
    assert_eq!(file.motion.end_sites.len(), 3);
    assert!(matches!(&file.warnings[..], [BvhWarning::SeveralEndSites { count: 2, .. }]));
    assert_eq!(file.motion.poses, read(PLAIN).motion.poses);
}

#[test]
fn an_end_site_beside_children_makes_no_joint() {
    let file = read(&changed("  JOINT Spine", "  End Site\n  {\n  OFFSET 0 0 9\n  }\n  JOINT Spine"));
    assert_eq!(file.motion.skeleton.len(), 3);
    assert_eq!(file.motion.poses, read(PLAIN).motion.poses);
    assert_eq!(file.motion.end_sites[0].0.0, 0);
}

#[test]
fn a_single_joint_keeps_its_own_offset() {
    let text = "HIERARCHY\nROOT Ball\n{\nOFFSET 1 2 3\nCHANNELS 1 Xrotation\nEnd Site\n{\nOFFSET 7 8 9\n}\n}\nMOTION\nFrames: 1\nFrame Time: 1\n0\n";
    let file = read(text);
    assert_eq!(file.motion.skeleton.joints()[0].offset, Vec3::new(1.0, 2.0, 3.0));
    assert_eq!(file.motion.poses[0].root_position, Vec3::new(1.0, 2.0, 3.0));
    assert_eq!(file.warnings, []);
}

#[test]
fn dialects_of_case_spacing_braces_and_comments_give_the_same_motion() {
    let plain = read(PLAIN);
    let dialects = [
        PLAIN.replace("End Site", "End site"),
        PLAIN.replace("End Site", "ENDSITE"),
        PLAIN.replace("Frame Time: 0.02", "Frame Time:0.02"),
        PLAIN.replace("Frame Time: 0.02", "FRAME TIME : 2e-2"),
        PLAIN.replace("Frame Time: 0.02", "FrameTime: 0.02"),
        PLAIN.replace("Frames: 2", "FRAMES: 2"),
        PLAIN.replace("Frames: 2", "Frames:2"),
        PLAIN.replace("Frames: 2", "Frames 2"),
        PLAIN.replace("rotation", "ROTATION").replace("Xposition", "xposition"),
        PLAIN.to_lowercase().replace("hips", "Hips").replace("leftleg", "LeftLeg").replace("spine", "Spine"),
        PLAIN.replace("\n  {", " {").replace("ROOT Hips\n{", "ROOT Hips{"),
        PLAIN.replace('\n', "\r\n"),
        PLAIN.replace('\n', "\r"),
        PLAIN.replace("  ", "\t"),
        PLAIN.replace("MOTION", "\n# a comment\n// another\nMOTION\n\n"),
        PLAIN.replace("2 91 4 0 0 90 ", "2 91 4\n  0 0 90\n\n"),
        PLAIN.replace(" 90 3 ", " 9.0E+1   3. "),
        PLAIN.trim_end().to_owned(),
    ];
    for text in dialects {
        let file = read(&text);
        assert_same_motion(&file, &plain);
        assert_eq!(file.warnings, [], "{text}");
    }
}

#[test]
fn a_byte_order_mark_is_skipped_and_reported() {
    let file = read(&format!("\u{feff}{PLAIN}"));
    assert_same_motion(&file, &read(PLAIN));
    assert_eq!(file.warnings, [BvhWarning::ByteOrderMark]);
}

#[test]
fn the_name_of_an_end_site_is_dropped_and_reported() {
    let file = read(&changed("End Site", "End Site LeftToe"));
    assert_same_motion(&file, &read(PLAIN));
    assert!(matches!(&file.warnings[..], [BvhWarning::EndSiteName { line: 10, name }] if name == "LeftToe"));
}

#[test]
fn a_joint_without_channels_is_fixed_and_reported() {
    let text = changed("OFFSET 0 20 0\n    CHANNELS 3 Zrotation Yrotation Xrotation", "OFFSET 0 20 0")
        .replace(" 0 0 0 0 0 0\n", " 0 0 0\n")
        .replace("10 20 30 0 0 0", "10 20 30");
    let file = read(&text);
    assert_eq!(file.motion.poses, read(PLAIN).motion.poses);
    assert!(
        matches!(&file.warnings[..], [BvhWarning::MissingChannels { line: 15, joint }] if joint == "Spine")
    );
}

#[test]
fn one_row_too_many_or_too_few_is_taken_as_it_is_and_reported() {
    for declared in [1, 3] {
        let file = read(&changed("Frames: 2", &format!("Frames: {declared}")));
        assert_same_motion(&file, &read(PLAIN));
        assert_eq!(file.warnings, [BvhWarning::FrameCount { line: 26, declared, found: 2 }]);
    }
}

#[test]
fn rejects_any_other_number_of_rows_and_names_the_uneven_line() {
    let (problem, line, _, token) = refusal(&changed("Frames: 2", "Frames: 200"));
    assert_eq!(problem, BvhProblem::MotionCount { frames: 200, channels: 12, values: 24, uneven: None });
    assert_eq!((line, token.as_str()), (26, "200"));
    let (problem, ..) = refusal(&changed("2 91 4 0", "2 91 4"));
    assert_eq!(
        problem,
        BvhProblem::MotionCount { frames: 2, channels: 12, values: 23, uneven: Some((29, 11)) }
    );
}

#[test]
fn rejects_a_number_of_frames_that_no_memory_could_hold_without_asking_for_it() {
    let (problem, line, column, token) = refusal(&changed("Frames: 2", "Frames: 99999999999999"));
    assert!(matches!(problem, BvhProblem::MotionCount { frames: 99_999_999_999_999, values: 24, .. }));
    assert_eq!((line, column, token.as_str()), (26, 9, "99999999999999"));
    let (problem, ..) = refusal(&changed("Frames: 2", "Frames: 99999999999999999999999"));
    assert_eq!(problem, BvhProblem::Expected { expected: "the number of frames" });
}

#[test]
fn rejects_channels_that_do_not_match_their_count() {
    let (problem, line, _, token) = refusal(&changed("CHANNELS 3 Zrotation", "CHANNELS 4 Zrotation"));
    assert_eq!(problem, BvhProblem::ChannelCount { joint: "LeftLeg".into(), declared: 4, found: 3 });
    assert_eq!((line, token.as_str()), (10, "End"));
    let (problem, line, column, token) = refusal(&changed("CHANNELS 3 Zrotation", "CHANNELS 2 Zrotation"));
    assert_eq!(problem, BvhProblem::ChannelCount { joint: "LeftLeg".into(), declared: 2, found: 3 });
    assert_eq!((line, column, token.as_str()), (9, 14, "2"));
    let (problem, _, _, token) =
        refusal(&changed("Zrotation Yrotation Xrotation\n  JOINT", "Zrotation Wrotation Xrotation\n  JOINT"));
    assert_eq!(problem, BvhProblem::ChannelCount { joint: "Hips".into(), declared: 6, found: 4 });
    assert_eq!(token, "Wrotation");
    let (problem, ..) = refusal(&changed("CHANNELS 3 Z", "CHANNELS 99999999999 Z"));
    assert!(matches!(problem, BvhProblem::ChannelCount { declared: 99_999_999_999, found: 3, .. }));
}

#[test]
fn an_end_site_may_state_that_it_has_no_channels() {
    let file = read(&changed("OFFSET 0 -45 5", "OFFSET 0 -45 5\n      CHANNELS 0"));
    assert_same_motion(&file, &read(PLAIN));
    assert_same_motion(&read(&changed("OFFSET 0 -45 5", "CHANNELS 0\n      OFFSET 0 -45 5")), &read(PLAIN));
    assert!(file.warnings.is_empty());
}

#[test]
fn rejects_an_end_site_with_channels_and_names_its_joint() {
    let text = changed("OFFSET 0 -45 5", "OFFSET 0 -45 5\n      CHANNELS 3 Zrotation Yrotation Xrotation");
    let (problem, line, _, token) = refusal(&text);
    assert_eq!(problem, BvhProblem::EndSiteChannels { joint: "LeftLeg".into() });
    assert_eq!((line, token.as_str()), (13, "3"));
}

#[test]
fn rejects_a_position_channel_that_comes_twice() {
    let (problem, ..) = refusal(&changed("Xposition Yposition", "Xposition Xposition"));
    assert_eq!(problem, BvhProblem::BadChannels { joint: "Hips".into() });
}

#[test]
fn rejects_numbers_that_are_not_finite_with_their_place() {
    for (token, expected) in [
        ("nan", BvhProblem::NotFinite),
        ("NaN", BvhProblem::NotFinite),
        ("-inf", BvhProblem::NotFinite),
        ("1e39", BvhProblem::NotFinite),
        ("-1.#IND", BvhProblem::NotANumber),
        ("1,5", BvhProblem::NotANumber),
        ("1.5x", BvhProblem::NotANumber),
        ("}", BvhProblem::NotANumber),
    ] {
        let (problem, line, column, found) =
            refusal(&changed("2 91 4 0 0 90", &format!("2 91 4 0 {token} 90")));
        assert_eq!((problem, line, column, found.as_str()), (expected, 29, 10, token));
    }
    let (problem, line, column, token) = refusal(&changed("OFFSET 1 -40 0", "OFFSET 1 nan 0"));
    assert_eq!((problem, line, column, token.as_str()), (BvhProblem::NotFinite, 8, 14, "nan"));
}

#[test]
fn rejects_a_frame_time_that_is_no_positive_duration() {
    for (time, expected) in [
        ("0", BvhProblem::FrameTime),
        ("-0.02", BvhProblem::FrameTime),
        ("1e-300", BvhProblem::FrameTime),
        ("nan", BvhProblem::NotFinite),
        ("fast", BvhProblem::NotANumber),
    ] {
        let (problem, line, column, token) = refusal(&changed("Time: 0.02", &format!("Time: {time}")));
        assert_eq!((problem, line, column, token.as_str()), (expected, 27, 13, time));
    }
}

#[test]
fn rejects_a_file_without_frames() {
    let text = changed("Frames: 2", "Frames: 0");
    assert_eq!(refusal(&text).0, BvhProblem::NoFrames);
}

#[test]
fn rejects_a_file_that_was_cut_anywhere() {
    for end in 0..PLAIN.rfind("2 91").unwrap() {
        let cut = &PLAIN[..end];
        // A cut after the first whole row reads as one row too few; before that nothing may pass.
        let rows_start = PLAIN.find("1 90 3").unwrap();
        let complete_rows = end >= PLAIN.find("\n2 91").unwrap();
        if !(complete_rows && end > rows_start) {
            assert!(parse_bvh(cut.as_bytes(), "cut").is_err(), "passed after {end} bytes: {cut}");
        }
    }
}

#[test]
fn rejects_a_broken_structure_where_it_breaks() {
    let expected = |text: &str| match refusal(text) {
        (BvhProblem::Expected { expected }, line, _, token) => (expected, line, token),
        other => panic!("{other:?}"),
    };
    assert_eq!(expected("PLY 1.0").0, "HIERARCHY");
    assert_eq!(expected("HIERARCHY JOINT a {").0, "ROOT");
    assert_eq!(expected(&changed("MOTION", "MOTIONS")), ("MOTION", 25, "MOTIONS".to_owned()));
    assert_eq!(expected(&changed("OFFSET 1 -40 0", "OFSET 1 -40 0")).1, 8);
    assert_eq!(expected(&changed("{\n      OFFSET 0 -45 5", "{\n JOINT x")).0, "OFFSET or }");
    assert_eq!(refusal(&changed("ROOT Hips", "ROOT")).0, BvhProblem::NoName);
    assert_eq!(refusal(&changed("    OFFSET 1 -40 0\n", "")).0, BvhProblem::NoOffset);
    assert_eq!(
        refusal(&changed("OFFSET 1 -40 0", "OFFSET 1 -40 0 OFFSET 0 0 0")).0,
        BvhProblem::Twice { keyword: "OFFSET" }
    );
    assert_eq!(refusal(&changed("MOTION", "ROOT Second\n{\n}\nMOTION")).0, BvhProblem::SecondRoot);
    assert_eq!(refusal("\u{feff}").0, BvhProblem::Ended { expected: "HIERARCHY" });
    let utf16: Vec<u8> =
        std::iter::once(0xfeff).chain(PLAIN.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    assert!(matches!(parse_bvh(&utf16, "clip"), Err(FormatError::Bvh { problem: BvhProblem::Utf16, .. })));
}

#[test]
fn rejects_a_skeleton_without_channels_and_one_without_end() {
    let still = "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 0\n}\nMOTION\nFrames: 1\nFrame Time: 1\n";
    assert_eq!(refusal(still).0, BvhProblem::NoChannels);
    let many = format!("HIERARCHY ROOT a {{ OFFSET 0 0 0 {}", "JOINT b { OFFSET 0 0 0\n".repeat(5000));
    assert!(matches!(refusal(&many).0, BvhProblem::TooManyJoints { limit: 4096 }));
}

#[test]
fn rejects_a_small_file_that_would_unfold_into_a_huge_motion() {
    let mut text = String::from("HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 1 Xrotation\n");
    for joint in 0..4000 {
        text.push_str(&format!("JOINT j{joint}\n{{\nOFFSET 0 0 0\nCHANNELS 0\n}}\n"));
    }
    text.push_str(&format!("}}\nMOTION\nFrames: 50000\nFrame Time: 1\n{}", "0\n".repeat(50_000)));
    assert!(matches!(refusal(&text).0, BvhProblem::TooSparse { .. }));
}

#[test]
fn joints_that_animate_their_position_give_translations_that_replace_the_offset() {
    let text = changed(
        "OFFSET 0 20 0\n    CHANNELS 3 ",
        "OFFSET 0 20 0\n    CHANNELS 6 Xposition Yposition Zposition ",
    )
    .replace("0 0 0 0 0 0\n", "0 0 0 1 21 2 0 0 0\n")
    .replace("10 20 30 0 0 0", "10 20 30 0 20 0 0 0 0");
    let file = read(&text);
    let translations = file.motion.joint_translations.as_ref().expect("Spine has position channels");
    assert_eq!(
        translations[0],
        [Vec3::new(1.0, 90.0, 3.0), Vec3::new(1.0, -40.0, 0.0), Vec3::new(1.0, 21.0, 2.0)]
    );
    assert_eq!(translations[1][2], Vec3::new(0.0, 20.0, 0.0));
    assert_eq!(file.warnings, []);
}

#[test]
fn a_root_whose_channels_are_displacements_is_put_on_the_ground_and_reported() {
    let offset = "ROOT Hips\n{\n  OFFSET 0 85 0";
    let relative = changed("ROOT Hips\n{\n  OFFSET 0 0 0", offset)
        .replace("1 90 3 90", "1 5 3 0")
        .replace("2 91 4 0 0 90", "2 6 4 0 0 0");
    let file = read(&relative);
    assert_eq!(file.motion.poses[0].root_position, Vec3::new(1.0, 90.0, 3.0));
    assert!(matches!(&file.warnings[..], [BvhWarning::PositionChannels { line: 2, added: true, .. }]));
    let absolute = changed("ROOT Hips\n{\n  OFFSET 0 0 0", offset).replace("1 90 3 90", "1 90 3 0");
    let file = read(&absolute);
    assert_eq!(file.motion.poses[0].root_position, Vec3::new(1.0, 90.0, 3.0));
    assert!(matches!(&file.warnings[..], [BvhWarning::PositionChannels { added: false, .. }]));
    let options = BvhReadOptions { position_channels: PositionChannels::AddToOffset };
    let file = parse_bvh_with(absolute.as_bytes(), "clip", &options).unwrap();
    assert_eq!(file.motion.poses[0].root_position, Vec3::new(1.0, 175.0, 3.0));
}

#[test]
fn the_message_says_file_line_column_rule_and_token() {
    let error = parse_bvh(changed("2 91 4 0 0 90", "2 91 oops 0").as_bytes(), "walk.bvh").unwrap_err();
    assert_eq!(error.to_string(), "walk.bvh:29:6: not a number (a point is the decimal mark), at \"oops\"");
}

/// A root above travelling hips, every joint with six channels that hold its offset.
fn six_channels_everywhere(displacements: bool) -> String {
    let channels = "CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation";
    let mut text = format!("HIERARCHY\nROOT joint_Root\n{{\nOFFSET 0 0 0\n{channels}\n");
    let offsets = ["-17 93 450", "0 16 0", "9 -48 0", "0 -45 0"];
    for (joint, offset) in offsets.iter().enumerate() {
        text.push_str(&format!("JOINT j{joint}\n{{\nOFFSET {offset}\n{channels}\n"));
    }
    text.push_str("End Site\n{\nOFFSET 0 0 10\n}\n}\n}\n}\n}\n}\nMOTION\nFrames: 10\nFrame Time: 0.04\n");
    for frame in 0..10 {
        text.push_str("0 0 0 0 0 0");
        let travelled = 100.0 * f64::from(frame);
        if displacements {
            text.push_str(&format!(" 0 0 -{travelled} 0 0 0 {}\n", "0 0 0 0 0 0 ".repeat(3)));
        } else {
            text.push_str(&format!(" -17 93 {} 0 0 0", 450.0 - travelled));
            text.push_str(" 0 16 0 0 0 0 9 -48 0 0 0 0 0 -45 0 0 0 0\n");
        }
    }
    text
}

#[test]
fn travelling_hips_below_a_still_root_do_not_hide_the_convention_of_the_file() {
    let replaced = read(&six_channels_everywhere(false));
    let added = read(&six_channels_everywhere(true));
    assert_eq!(replaced.motion.poses, added.motion.poses);
    assert_eq!(replaced.motion.joint_translations, added.motion.joint_translations);
    assert_eq!(replaced.warnings, []);
    assert_eq!(added.warnings.len(), 4);
}

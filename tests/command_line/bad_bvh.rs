//! The odd BVH files that are met in practice: what is strict, what is lenient, and that nothing panics.

use crate::pomp;
use crate::program::{Ran, clip, standing_bvh};
use std::fs;
use tempfile::TempDir;

const CHANNELS_OF_A_JOINT: &str = "CHANNELS 3 Zrotation Yrotation Xrotation";

fn inspected(text: impl AsRef<[u8]>) -> Ran {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("odd.bvh");
    fs::write(&path, text).unwrap();
    pomp!("inspect", path)
}

/// The sample with `from` replaced once; it must be there.
fn with(from: &str, to: &str) -> String {
    let text = standing_bvh();
    assert!(text.contains(from), "the sample has no {from:?}");
    text.replacen(from, to, 1)
}

/// Line of the first occurrence, from 1.
fn line_of(text: &str, what: &str) -> usize {
    1 + text[..text.find(what).unwrap()].matches('\n').count()
}

/// Exit code 1 and a sentence that names file and line.
#[track_caller]
fn assert_refused_at(text: &str, line: usize, words: &[&str]) {
    inspected(text).refuses(&[&[&*format!("odd.bvh:{line}:")], words].concat());
}

#[track_caller]
fn assert_read(text: impl AsRef<[u8]>, words: &[&str]) {
    let ran = inspected(text).succeeds();
    for word in words {
        assert!(ran.stdout.contains(word), "\"{word}\" is missing in {ran:#?}");
    }
}

/// The line of the first frame.
fn first_row(text: &str) -> &str {
    text.lines().skip_while(|line| !line.starts_with("Frame Time")).nth(1).unwrap()
}

#[test]
fn the_sample_itself_is_read_without_a_warning() {
    let ran = inspected(standing_bvh()).succeeds();
    assert!(ran.stdout.contains("30 frames") && !ran.stdout.contains("warning"), "{ran:#?}");
}

#[test]
fn reads_names_with_colons_and_spaces_whole() {
    let mixamo = standing_bvh().replace("JOINT ", "JOINT mixamorig:").replace("ROOT ", "ROOT mixamorig:");
    assert_read(mixamo, &["30 frames"]);
    let spaced = standing_bvh().replace("JOINT Left", "JOINT Left ").replace("JOINT Right", "JOINT Right ");
    assert_read(spaced, &["30 frames"]);
}

#[test]
fn reads_leaves_without_or_with_two_end_sites_and_says_so() {
    let text = standing_bvh();
    let from = text.find("End Site").unwrap();
    let to = from + text[from..].find('}').unwrap() + 1;
    let (site, rest) = (&text[from..to], &text[to..]);
    assert_read(format!("{}{rest}", &text[..from]), &["warning", "has no End Site"]);
    assert_read(format!("{}{site}\n{site}{rest}", &text[..from]), &["warning", "2 End Sites"]);
}

#[test]
fn rejects_a_wrong_number_of_channels() {
    // What is one too many stands on the line itself, what is missing would stand before the next word.
    for (count, offset) in [("2", 0), ("4", 1)] {
        let text = with(CHANNELS_OF_A_JOINT, &CHANNELS_OF_A_JOINT.replace('3', count));
        assert_refused_at(&text, line_of(&text, &format!("CHANNELS {count}")) + offset, &["LeftUpLeg"]);
    }
}

#[test]
fn rejects_values_that_are_not_finite_numbers() {
    let text = standing_bvh();
    let row = first_row(&text);
    let line = line_of(&text, row);
    let (first, rest) = row.split_once(' ').unwrap();
    for bad in ["NaN", "inf", "-inf", "1e99", "0,5", "1.2.3", "abc"] {
        let changed = text.replacen(row, &format!("{bad} {rest}"), 1);
        assert_refused_at(&changed, line, &[bad]);
    }
    assert!(first.parse::<f32>().is_ok());
}

#[test]
fn rejects_frame_times_that_are_no_times() {
    let text = standing_bvh();
    let line = line_of(&text, "Frame Time");
    let old = text.lines().nth(line - 1).unwrap();
    for bad in ["0", "-0.01", "NaN", "inf", "soon"] {
        assert_refused_at(&text.replacen(old, &format!("Frame Time: {bad}"), 1), line, &[bad]);
    }
}

#[test]
fn rejects_a_frame_count_that_the_file_does_not_hold_without_allocating_for_it() {
    for count in ["99999999999999", "99999999999999999999999", "-1", "0", "15", "60"] {
        let text = with("Frames: 30", &format!("Frames: {count}"));
        let ran = inspected(&text).refuses(&["odd.bvh:"]);
        assert!(ran.stderr.contains("rows") || ran.stderr.contains("frames"), "{ran:#?}");
    }
}

#[test]
fn reads_a_file_with_one_row_too_many_or_too_few_and_says_so() {
    for count in ["29", "31"] {
        assert_read(with("Frames: 30", &format!("Frames: {count}")), &["30 frames", "warning", count]);
    }
}

#[test]
fn reads_a_byte_order_mark_and_says_so() {
    assert_read(format!("\u{feff}{}", standing_bvh()), &["warning", "byte-order mark"]);
}

#[test]
fn reads_every_dialect_of_layout_and_case() {
    let text = standing_bvh();
    let rows_at = text.find("Frame Time").unwrap() + 1;
    let rows_at = rows_at + text[rows_at..].find('\n').unwrap();
    let wrapped = format!("{}{}", &text[..rows_at], text[rows_at..].replace(' ', "\n"));
    let exponents = format!("{}{}", &text[..rows_at], text[rows_at..].replace("0.000000", "0.0e+00"));
    let dialects = [
        ("lower-case End site", text.replace("End Site", "End site")),
        ("no blank after the colon", text.replace("Frame Time: ", "Frame Time:")),
        ("upper-case FRAMES", text.replace("Frames:", "FRAMES:")),
        ("upper-case FRAME TIME", text.replace("Frame Time:", "FRAME TIME:")),
        ("lower-case channels", text.replace("Zrotation", "zrotation").replace("Xposition", "xposition")),
        ("brace on the same line", text.replacen("ROOT Hips\n{", "ROOT Hips {", 1)),
        ("CRLF", text.replace('\n', "\r\n")),
        ("tabs", text.replace(' ', "\t")),
        ("blank lines", text.replace('\n', "\n\n")),
        ("wrapped rows", wrapped),
        ("exponents", exponents),
    ];
    for (dialect, changed) in dialects {
        assert_ne!(changed, text, "{dialect}");
        println!("{dialect}");
        assert_read(changed, &["30 frames"]);
    }
}

#[test]
fn rejects_texts_that_end_early_wherever_they_are_cut() {
    let text = standing_bvh();
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("cut.bvh");
    let motion = text.find("MOTION").unwrap();
    // Within the hierarchy and its header every cut is an error; among the rows the first ones are.
    for end in (0..motion + 40).step_by(motion / 12) {
        fs::write(&path, &text[..end]).unwrap();
        pomp!("inspect", path).refuses(&["cut.bvh"]);
    }
}

#[test]
fn rejects_bytes_that_are_no_bvh() {
    for bytes in [b"" as &[u8], b"\0\0\0\0", b"\xff\xfeH\0I\0", b"GIF89a", b"HIERARCHY", b"{\"json\": true}"]
    {
        inspected(bytes).refuses(&["odd.bvh:1:"]);
    }
}

#[test]
fn the_programs_own_files_have_six_decimals_or_more() {
    let text = fs::read_to_string(clip("11_walk")).unwrap();
    for value in first_row(&text).split_whitespace() {
        assert!(value.split_once('.').is_some_and(|(_, decimals)| decimals.len() >= 6), "{value}");
    }
}

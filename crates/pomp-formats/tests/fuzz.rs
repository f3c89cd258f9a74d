//! Fuzz targets of the motion formats: a reader neither panics nor allocates without bound, and what it reads is valid.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

#[path = "../../../tests/fuzz_input.rs"]
mod fuzz_input;

mod character;
mod clips;
mod recordings;

use fuzz_input::{FuzzInput, ITERATIONS, bounded};
use pomp_formats::bvh::bvh_text;
use pomp_formats::glb::{glb_bytes, glb_bytes_like};
use pomp_formats::npz::{bytes_without_phases, parse_recording};
use pomp_formats::{BvhWriteOptions, FormatError, parse_bvh, parse_glb, parse_glb_model};
use std::io::{Cursor, Read, Write};
use zip::write::SimpleFileOptions;

const BVH_WORDS: [&str; 14] = [
    " { ",
    " } ",
    "OFFSET 0 0 0\n",
    "CHANNELS 3 ",
    "JOINT x\n",
    "ROOT r\n",
    "End Site\n",
    "MOTION\n",
    "Frames: 9\n",
    "Frame Time: 0\n",
    "Xposition ",
    "\n",
    "\u{feff}",
    "\0",
];

#[test]
fn any_bvh_is_refused_or_valid() {
    let written = bvh_text(&clips::walk(), &BvhWriteOptions::default()).unwrap().into_bytes();
    let small = b"HIERARCHY\nROOT r\n{\nOFFSET 0 0 0\nCHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n\
        JOINT a\n{\nOFFSET 0 10 0\nCHANNELS 3 Zrotation Xrotation Yrotation\nEnd Site\n{\nOFFSET 0 5 0\n}\n}\n}\n\
        MOTION\nFrames: 2\nFrame Time: 0.01\n0 90 0 1 2 3 4 5 6\n1 90 0 2 3 4 5 6 7\n"
        .to_vec();
    let examples = [small.clone(), small, written];
    bolero::check!().with_iterations(ITERATIONS).with_type::<FuzzInput>().for_each(|input| {
        let bytes = input.bytes(&examples, &BVH_WORDS);
        if let Ok(file) = bounded(64, || parse_bvh(&bytes, "input")) {
            file.motion.validate().unwrap();
        }
    });
}

/// A GLB whose document is `json`, with the lengths that it then has.
fn with_document(glb: &[u8], mut json: Vec<u8>) -> Vec<u8> {
    let end = 20 + u32::from_le_bytes(glb[12..16].try_into().unwrap()) as usize;
    json.resize(json.len().next_multiple_of(4), b' ');
    let total = (20 + json.len() + glb.len() - end) as u32;
    let parts = [
        &glb[..8],
        &total.to_le_bytes(),
        &(json.len() as u32).to_le_bytes(),
        &glb[16..20],
        &json,
        &glb[end..],
    ];
    parts.concat()
}

#[test]
fn any_glb_is_refused_or_valid() {
    let glb = glb_bytes(&clips::walk()).unwrap();
    let end = 20 + u32::from_le_bytes(glb[12..16].try_into().unwrap()) as usize;
    let documents = [glb[20..end].to_vec()];
    let words = ["null", "[]", "{}", ",", "\"", "-", "\"children\":[0],", "\"count\":", "\"skin\":0,"];
    bolero::check!().with_iterations(ITERATIONS).with_type::<FuzzInput>().for_each(|input| {
        let bytes = if input.choice(4) == 0 {
            input.bytes(std::slice::from_ref(&glb), &words)
        } else {
            with_document(&glb, input.bytes(&documents, &words))
        };
        if let Ok(file) = bounded(64, || parse_glb(&bytes, "input")) {
            file.motion.validate().unwrap();
        }
    });
}

#[test]
fn any_character_is_refused_or_takes_a_motion() {
    let glb = character::Character::new(&pomp_motion::Skeleton::humanoid(1.75)).glb();
    let end = 20 + u32::from_le_bytes(glb[12..16].try_into().unwrap()) as usize;
    let documents = [glb[20..end].to_vec()];
    let words = [
        "null",
        "[]",
        "{}",
        ",",
        "\"",
        "-",
        "\"children\":[0],",
        "\"count\":",
        "\"skin\":0,",
        "\"uri\":\"data:,\",",
        "\"scale\":[1e30,1e30,1e30],",
        "\"matrix\":",
        "\"buffer\":1,",
        "\"joints\":[1],",
        "1e38",
    ];
    bolero::check!().with_iterations(ITERATIONS).with_type::<FuzzInput>().for_each(|input| {
        let bytes = if input.choice(4) == 0 {
            input.bytes(std::slice::from_ref(&glb), &words)
        } else {
            with_document(&glb, input.bytes(&documents, &words))
        };
        if let Ok(model) = bounded(64, || parse_glb_model(&bytes, "input")) {
            model.motion.validate().unwrap();
            if let Ok(written) = glb_bytes_like(&model, &model.motion) {
                parse_glb(&written, "written").map(|file| file.motion.validate().unwrap()).ok();
            }
        }
    });
}

/// Names and contents of an archive's entries.
fn entries(archive: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut archive = zip::ZipArchive::new(Cursor::new(archive)).unwrap();
    let count = archive.len();
    let read = |index| {
        let mut entry = archive.by_index(index).unwrap();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        (entry.name().unwrap().into_owned(), bytes)
    };
    (0..count).map(read).collect()
}

fn archive(entries: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (name, bytes) in entries {
        writer.start_file(name.as_str(), options).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

#[test]
fn any_npz_is_refused_or_valid_and_survives_being_written() {
    let full = bytes_without_phases(&recordings::full_recording()).unwrap();
    let plain = bytes_without_phases(&recordings::plain_recording()).unwrap();
    let parts = [entries(&full), entries(&plain)];
    let words = ["'<f8'", "'<i4'", "'|b1'", "'<U0'", "'|S0'", "(0,)", "()", "(1, 0)", ",", "True", "\0"];
    bolero::check!().with_iterations(ITERATIONS).with_type::<FuzzInput>().for_each(|input| {
        // The check sums of an archive hide its arrays from changes: most inputs change an array and pack it again.
        let bytes = if input.choice(4) == 0 {
            input.bytes(&[full.clone(), plain.clone()], &words)
        } else {
            let mut parts = parts[input.choice(2)].clone();
            let which = input.choice(parts.len());
            parts[which].1 = input.bytes(std::slice::from_ref(&parts[which].1), &words);
            archive(&parts)
        };
        if let Ok(recording) = bounded(64, || parse_recording(&bytes, "input")) {
            recording.validate().unwrap();
            match bytes_without_phases(&recording) {
                Ok(written) => {
                    let again = parse_recording(&written, "written").unwrap();
                    assert!(
                        bytes_without_phases(&again).unwrap() == written,
                        "it differs once it is written"
                    );
                }
                // A reader may meet a NUL inside of text, which numpy cannot write.
                Err(FormatError::CannotWrite { .. }) => {}
                Err(other) => panic!("{other}"),
            }
        }
    });
}

//! Whatever the bytes, the readers answer with a value or an error: they neither panic nor hang.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

mod recordings;

use pomp_formats::bvh::bvh_text;
use pomp_formats::glb::{glb_bytes, glb_bytes_like};
use pomp_formats::{BvhWriteOptions, parse_bvh, parse_glb, parse_glb_model, read_recording, write_recording};
use pomp_motion::{Clip, Pose, Skeleton};
use proptest::prelude::*;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

static BVH: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let skeleton = Arc::new(Skeleton::humanoid(1.75));
    let clip = Clip::new("rest", Arc::clone(&skeleton), 60.0, vec![Pose::rest(&skeleton); 3]).unwrap();
    bvh_text(&clip, &BvhWriteOptions::default()).unwrap().into_bytes()
});

static GLB: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let skeleton = Arc::new(Skeleton::humanoid(1.75));
    let clip = Clip::new("rest", Arc::clone(&skeleton), 60.0, vec![Pose::rest(&skeleton); 3]).unwrap();
    glb_bytes(&clip).unwrap()
});

static NPZ: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npz");
    write_recording(&path, &recordings::full_recording()).unwrap();
    std::fs::read(path).unwrap()
});

/// One change of a valid file.
#[derive(Clone, Debug)]
enum Mutation {
    Replace(prop::sample::Index, u8),
    Insert(prop::sample::Index, Vec<u8>),
    Delete(prop::sample::Index, usize),
    Repeat(prop::sample::Index, usize),
    Overwrite(prop::sample::Index, [u8; 8]),
    Cut(prop::sample::Index),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let index = || any::<prop::sample::Index>();
    let words = prop::sample::select(vec![
        "{",
        "}",
        "OFFSET",
        "CHANNELS 3",
        "JOINT x",
        "ROOT",
        "End Site",
        "MOTION",
        "Frames: 9999999999999999999",
        "nan",
        "1e999",
        "-",
        ":",
        "\n",
        "#",
        "//",
        "\u{feff}",
        "\0",
        "99999999999999999999",
    ]);
    prop_oneof![
        (index(), any::<u8>()).prop_map(|(at, byte)| Mutation::Replace(at, byte)),
        (index(), words).prop_map(|(at, word)| Mutation::Insert(at, format!(" {word} ").into_bytes())),
        (index(), 1_usize..200).prop_map(|(at, length)| Mutation::Delete(at, length)),
        (index(), 1_usize..200).prop_map(|(at, length)| Mutation::Repeat(at, length)),
        (index(), prop::sample::select(vec![0_u64, u64::MAX, 0xffff_ffff, 1 << 63, 0x7fff_ffff_ffff_fff0]))
            .prop_map(|(at, word)| Mutation::Overwrite(at, word.to_le_bytes())),
        index().prop_map(Mutation::Cut),
    ]
}

fn mutated(valid: &[u8], mutations: Vec<Mutation>) -> Vec<u8> {
    let mut bytes = valid.to_vec();
    for mutation in mutations {
        if bytes.is_empty() {
            break;
        }
        let length = bytes.len();
        match mutation {
            Mutation::Replace(at, byte) => bytes[at.index(length)] = byte,
            Mutation::Insert(at, word) => drop(bytes.splice(at.index(length)..at.index(length), word)),
            Mutation::Delete(at, count) => {
                let at = at.index(length);
                bytes.drain(at..(at + count).min(length));
            }
            Mutation::Repeat(at, count) => {
                let at = at.index(length);
                bytes.extend_from_within(at..(at + count).min(length));
            }
            Mutation::Overwrite(at, word) => {
                let at = at.index(length);
                let end = (at + 8).min(length);
                bytes[at..end].copy_from_slice(&word[..end - at]);
            }
            Mutation::Cut(at) => bytes.truncate(at.index(length)),
        }
    }
    bytes
}

fn try_npz(bytes: &[u8]) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let path: PathBuf = folder.path().join("a.npz");
    std::fs::write(&path, bytes).unwrap();
    read_recording(&path).is_ok()
}

/// A thousand cases of each kind; `PROPTEST_CASES` asks for more.
fn config() -> ProptestConfig {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    ProptestConfig { cases: asked.unwrap_or(1000), failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn arbitrary_bytes_are_no_bvh(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        prop_assert!(parse_bvh(&bytes, "noise").is_err());
    }

    #[test]
    fn words_of_bvh_in_any_order_are_answered(words in prop::collection::vec(prop::sample::select(vec![
        "HIERARCHY", "ROOT a", "JOINT b", "End Site", "{", "}", "OFFSET 0 0 0", "CHANNELS 1 Xrotation", "MOTION",
        "Frames: 1", "Frame Time: 1", "0", "\n",
    ]), 0..40)) {
        let _answer = parse_bvh(format!("HIERARCHY ROOT r\n{{ {}", words.join(" ")).as_bytes(), "words");
    }

    #[test]
    fn a_mutated_bvh_is_answered_and_what_passes_is_finite(mutations in prop::collection::vec(mutation(), 1..5)) {
        if let Ok(file) = parse_bvh(&mutated(&BVH, mutations), "mutated") {
            prop_assert!(file.motion.validate().is_ok());
        }
    }

    #[test]
    fn arbitrary_bytes_are_no_glb(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        prop_assert!(parse_glb(&bytes, "noise").is_err());
        prop_assert!(parse_glb(&[b"glTF\x02\0\0\0" as &[u8], &bytes].concat(), "noise").is_err());
        prop_assert!(parse_glb_model(&bytes, "noise").is_err());
        prop_assert!(parse_glb_model(&[b"glTF\x02\0\0\0" as &[u8], &bytes].concat(), "noise").is_err());
        prop_assert!(parse_glb_model(&[b"\x7b" as &[u8], &bytes].concat(), "noise").is_err());
    }

    #[test]
    fn a_mutated_glb_is_answered_and_what_passes_is_finite(mutations in prop::collection::vec(mutation(), 1..5)) {
        let bytes = mutated(&GLB, mutations);
        if let Ok(file) = parse_glb(&bytes, "mutated") {
            prop_assert!(file.motion.validate().is_ok());
        }
        if let Ok(model) = parse_glb_model(&bytes, "mutated") {
            prop_assert!(model.motion.validate().is_ok());
            let _answer = glb_bytes_like(&model, &model.motion);
        }
    }

    #[test]
    fn a_glb_with_another_number_in_its_document_is_answered(
        which in any::<prop::sample::Index>(), number in any::<u64>(), small in any::<bool>(),
    ) {
        // The document is JSON: a digit of it that grows to any number.
        let end = 20 + u32::from_le_bytes(GLB[12..16].try_into().unwrap()) as usize;
        let digits: Vec<usize> = (20..end).filter(|at| GLB[*at].is_ascii_digit()).collect();
        let at = digits[which.index(digits.len())];
        let number = if small { number % 100 } else { number };
        let json = [&GLB[20..at], number.to_string().as_bytes(), &GLB[at + 1..end]].concat();
        let mut json = json;
        json.resize(json.len().next_multiple_of(4), b' ');
        let bytes = [&GLB[..12], &(json.len() as u32).to_le_bytes(), &GLB[16..20], &json, &GLB[end..]].concat();
        if let Ok(file) = parse_glb(&bytes, "mutated") {
            prop_assert!(file.motion.validate().is_ok());
        }
    }

    #[test]
    fn arbitrary_bytes_are_no_npz(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        prop_assert!(!try_npz(&bytes));
    }

    #[test]
    fn a_mutated_npz_is_answered(mutations in prop::collection::vec(mutation(), 1..5)) {
        let _passed = try_npz(&mutated(&NPZ, mutations));
    }

    #[test]
    fn a_mutated_npz_directory_is_answered(offset in 0_usize..3000, word in any::<u64>(), wide in any::<bool>()) {
        // The directory at the end holds the sizes and offsets that a reader may trust too much.
        let mut bytes = NPZ.clone();
        let at = bytes.len() - 8 - offset.min(bytes.len() - 8);
        let width = if wide { 8 } else { 2 };
        bytes[at..at + width].copy_from_slice(&word.to_le_bytes()[..width]);
        let _passed = try_npz(&bytes);
    }
}

//! Fuzz targets of the terrain files: a reader neither panics nor allocates without bound, and what it reads is finite.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

#[path = "../../../tests/fuzz_input.rs"]
mod fuzz_input;

use fuzz_input::{FuzzInput, ITERATIONS, bounded};
use npyz::zip::{CompressionMethod, ZipArchive, ZipWriter, write::FileOptions};
use pomp_terrain::file::parse_spec;
use pomp_terrain::{HeightMap, PRESET_NAMES, TerrainSpec, generate, load, preset, save};
use std::fs;
use std::io::{Cursor, Read, Write};
use std::path::Path;

/// The most that a height map of the largest size takes while it is read, and its file.
const LIMIT_MB: u64 = 256;

fn example() -> HeightMap {
    HeightMap::from_fn(4, 5, [-1.0, 2.0], 0.25, |x, z| 0.3 * x - 0.1 * z).unwrap()
}

/// Loads a file that was just written, and holds what it gives to what a height map promises.
fn load_and_check(path: &Path, copy: &Path) {
    if let Ok(map) = bounded(LIMIT_MB, || load(path, 0)) {
        assert!(map.grid().heights.values().iter().all(|height| height.is_finite()));
        assert!(map.cell_m() > 0.0 && map.rows() >= 2 && map.columns() >= 2);
        save(&map, copy).unwrap();
        assert!(load(copy, 0).unwrap() == map, "it differs once it is written");
    }
}

#[test]
fn any_npz_is_refused_or_a_height_map_that_survives_being_written() {
    let folder = tempfile::tempdir().unwrap();
    let (path, copy) = (folder.path().join("ground.npz"), folder.path().join("copy.npz"));
    save(&example(), &path).unwrap();
    let valid = fs::read(&path).unwrap();
    let mut archive = ZipArchive::new(Cursor::new(&valid)).unwrap();
    let entries: Vec<(String, Vec<u8>)> = (0..archive.len())
        .map(|index| {
            let mut entry = archive.by_index(index).unwrap();
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).unwrap();
            (entry.name().to_owned(), bytes)
        })
        .collect();
    let words =
        ["'<f8'", "'<i4'", "'>f4'", "'|b1'", "(0,)", "()", "(1, 0)", ",", "True", "[('a', '<f4')]", "\0"];
    bolero::check!().with_iterations(ITERATIONS).with_type::<FuzzInput>().for_each(|input| {
        // The check sums of an archive hide its arrays from changes: most inputs change an array and pack it again.
        let bytes = if input.choice(4) == 0 {
            input.bytes(std::slice::from_ref(&valid), &words)
        } else {
            let mut parts = entries.clone();
            let which = input.choice(parts.len());
            parts[which].1 = input.bytes(std::slice::from_ref(&parts[which].1), &words);
            let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
            for (name, bytes) in &parts {
                let options: FileOptions =
                    FileOptions::default().compression_method(CompressionMethod::Stored);
                writer.start_file(name.as_str(), options).unwrap();
                writer.write_all(bytes).unwrap();
            }
            writer.finish().unwrap().into_inner()
        };
        fs::write(&path, bytes).unwrap();
        load_and_check(&path, &copy);
    });
}

/// The check sum of a PNG's chunk.
fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |sum, &byte| {
        (0..8).fold(sum ^ u32::from(byte), |sum, _| (sum >> 1) ^ (0xedb8_8320 & 0_u32.wrapping_sub(sum & 1)))
    })
}

/// Writes the check sum of every chunk anew, so that changes reach what lies behind it.
fn with_check_sums(mut png: Vec<u8>) -> Vec<u8> {
    let mut at = 8;
    while let Some(length) = png.get(at..at + 4) {
        let length = u32::from_be_bytes(length.try_into().unwrap()) as usize;
        let end = at + 8 + length;
        if end + 4 > png.len() {
            break;
        }
        let sum = crc(&png[at + 4..end]);
        png[end..end + 4].copy_from_slice(&sum.to_be_bytes());
        at = end + 4;
    }
    png
}

#[test]
fn any_png_with_any_sidecar_is_refused_or_a_height_map() {
    let folder = tempfile::tempdir().unwrap();
    let (path, copy) = (folder.path().join("ground.png"), folder.path().join("copy.npz"));
    let beside = folder.path().join("ground.png.toml");
    save(&example(), &path).unwrap();
    let (image, sidecar) = (fs::read(&path).unwrap(), fs::read(&beside).unwrap());
    let words = ["IHDR", "IDAT", "IEND", "PLTE", "tRNS", "acTL", "nan", "inf", "e38", "-", "=", "\n"];
    bolero::check!().with_iterations(ITERATIONS).with_type::<FuzzInput>().for_each(|input| {
        let (image, sidecar) = match input.choice(4) {
            0 => (input.bytes(std::slice::from_ref(&image), &words), sidecar.clone()),
            1 => (image.clone(), input.bytes(std::slice::from_ref(&sidecar), &words)),
            _ => (with_check_sums(input.bytes(std::slice::from_ref(&image), &words)), sidecar.clone()),
        };
        fs::write(&path, image).unwrap();
        fs::write(&beside, sidecar).unwrap();
        load_and_check(&path, &copy);
    });
}

#[test]
fn any_description_is_refused_or_makes_finite_ground() {
    let examples: Vec<Vec<u8>> = PRESET_NAMES
        .iter()
        .map(|name| toml::to_string(&preset(name).unwrap()).unwrap().into_bytes())
        .collect();
    let words = [
        "nan",
        "inf",
        "[[shape.parts]]\n",
        "[start]\n",
        "kind = \"file\"\n",
        "kind = \"sum\"\n",
        "-",
        "e30",
        "\n",
    ];
    bolero::check!().with_iterations(ITERATIONS).with_type::<FuzzInput>().for_each(|input| {
        let bytes = input.bytes(&examples, &words);
        let text = String::from_utf8_lossy(&bytes);
        let path = Path::new("ground.toml");
        if let Ok(spec) = bounded(16, || parse_spec(&text, path)) {
            let written = toml::to_string(&spec).unwrap();
            assert_eq!(parse_spec(&written, path).unwrap(), spec, "it differs once it is written");
            // The ground itself, where it is small enough for many inputs.
            let small = TerrainSpec { size_m: 3.0, cell_m: 0.5, ..spec };
            if let Ok(map) = bounded(LIMIT_MB, || generate(&small, 1)) {
                assert!(map.grid().heights.values().iter().all(|height| height.is_finite()));
            }
        }
    });
}

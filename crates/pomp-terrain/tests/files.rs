//! Terrains survive their files, and broken files are refused with a remedy.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests may panic and say what they measured")]

use pomp_terrain::file::{load_spec, parse_spec, save_spec};
use pomp_terrain::{HeightMap, PRESET_NAMES, Shape, TerrainSpec, generate, load, preset, save};
use std::fs;
use std::path::{Path, PathBuf};

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder can be made")
}

fn small_hills() -> HeightMap {
    let shape = Shape::Hills { amplitude_m: 1.0, wavelength_m: 3.0, seed: 0 };
    generate(&TerrainSpec { size_m: 6.0, ..TerrainSpec::of_shape(shape) }, 9).unwrap()
}

fn write_png(path: &Path, colour: png::ColorType, depth: png::BitDepth, samples: usize) {
    let mut encoder = png::Encoder::new(fs::File::create(path).unwrap(), 4, 3);
    encoder.set_color(colour);
    encoder.set_depth(depth);
    let bytes = vec![7u8; 4 * 3 * samples * if depth == png::BitDepth::Sixteen { 2 } else { 1 }];
    encoder.write_header().unwrap().write_image_data(&bytes).unwrap();
    let sidecar = "cell_m = 0.1\norigin_m = [0.0, 0.0]\nblack_m = 0.0\nwhite_m = 1.0\n";
    fs::write(format!("{}.toml", path.display()), sidecar).unwrap();
}

fn refused(path: &Path, words: &[&str]) {
    let error = load(path, 0).unwrap_err().to_string();
    println!("{error}");
    for word in words.iter().chain(&[path.file_name().unwrap().to_str().unwrap()]) {
        assert!(error.contains(word), "\"{word}\" is missing in: {error}");
    }
}

#[test]
fn npz_keeps_every_bit_and_png_keeps_half_a_level() {
    let folder = folder();
    let map = small_hills();
    let npz = folder.path().join("hills.npz");
    save(&map, &npz).unwrap();
    assert_eq!(load(&npz, 0).unwrap(), map);
    let image = folder.path().join("hills.png");
    save(&map, &image).unwrap();
    let back = load(&image, 0).unwrap();
    let (low, high) = map.min_max();
    let worst = (map.grid().heights.values().iter().zip(back.grid().heights.values()))
        .map(|(a, b)| (a - b).abs())
        .fold(0.0f32, f32::max);
    println!("PNG round trip over {:.2} m: worst {:.4} mm", high - low, 1000.0 * worst);
    assert!(worst <= (high - low) / 131_070.0 * 1.01 + 1e-7);
    assert_eq!((back.bounds(), back.cell_m()), (map.bounds(), map.cell_m()));
}

#[test]
fn saving_twice_gives_the_same_bytes_and_leaves_nothing_beside() {
    let folder = folder();
    let map = small_hills();
    for name in ["a.npz", "b.npz", "a.png", "b.png"] {
        save(&map, folder.path().join(name)).unwrap();
    }
    let bytes = |name: &str| fs::read(folder.path().join(name)).unwrap();
    assert!(bytes("a.npz") == bytes("b.npz") && bytes("a.png") == bytes("b.png"));
    let mut names: Vec<String> =
        fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["a.npz", "a.png", "a.png.toml", "b.npz", "b.png", "b.png.toml"]);
}

#[test]
fn level_ground_survives_a_png() {
    let folder = folder();
    let path = folder.path().join("flat.png");
    let map = HeightMap::from_fn(3, 4, [0.0, 0.0], 0.1, |_, _| 1.25).unwrap();
    save(&map, &path).unwrap();
    assert_eq!(load(&path, 0).unwrap(), map);
}

#[test]
fn descriptions_survive_toml() {
    let folder = folder();
    for name in PRESET_NAMES {
        let path = folder.path().join(name).with_extension("toml");
        save_spec(&preset(name).unwrap(), &path).unwrap();
        assert_eq!(load_spec(&path).unwrap(), preset(name).unwrap());
        assert_eq!(load(&path, 4).unwrap(), generate(&preset(name).unwrap(), 4).unwrap());
    }
}

#[test]
fn a_file_shape_is_found_beside_its_description_and_sampled() {
    let folder = folder();
    let map = small_hills();
    save(&map, folder.path().join("map.npz")).unwrap();
    let text = "size_m = 4.0\ncell_m = 0.2\n[start]\nenabled = false\n[shape]\nkind = \"sum\"\nparts = [\n\
        { kind = \"file\", path = \"map.npz\" }, { kind = \"slope\", angle_deg = 5.0 }]\n";
    let path = folder.path().join("world.toml");
    fs::write(&path, text).unwrap();
    let world = load(&path, 0).unwrap();
    for (x, z) in [(-1.8f32, 0.6f32), (0.4, 1.4), (2.0, -2.0)] {
        let expected = map.height(x, z) + z * 5.0f32.to_radians().tan();
        assert!((world.height(x, z) - expected).abs() < 1e-4);
    }
}

#[test]
fn the_ready_maps_are_loaded_and_level_at_the_start() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../terrain");
    let mut maps: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    maps.retain(|path| path.extension().is_some_and(|e| e == "png"));
    maps.sort();
    assert!(maps.len() >= 3, "{maps:?}");
    for path in maps {
        assert!(fs::metadata(&path).unwrap().len() < 100_000, "{} is small", path.display());
        let map = load(&path, 0).unwrap();
        println!("{}: {:?}, {:?}", path.display(), map.bounds(), map.min_max());
        assert!(map.height(0.0, 0.0).abs() < 1e-3 && map.height(0.3, 0.5).abs() < 1e-3);
        assert!(map.min_max().1 - map.min_max().0 > 0.1);
    }
}

#[test]
fn rejects_8_bit_images() {
    let folder = folder();
    let path = folder.path().join("eight.png");
    write_png(&path, png::ColorType::Grayscale, png::BitDepth::Eight, 1);
    refused(&path, &["8 bits", "16-bit greyscale"]);
}

#[test]
fn rejects_coloured_images() {
    let folder = folder();
    let path = folder.path().join("colour.png");
    write_png(&path, png::ColorType::Rgb, png::BitDepth::Sixteen, 3);
    refused(&path, &["Rgb", "16-bit greyscale"]);
}

#[test]
fn rejects_images_with_alpha() {
    let folder = folder();
    let path = folder.path().join("alpha.png");
    write_png(&path, png::ColorType::GrayscaleAlpha, png::BitDepth::Sixteen, 2);
    refused(&path, &["GrayscaleAlpha", "without alpha"]);
}

#[test]
fn rejects_an_image_without_sidecar() {
    let folder = folder();
    let path = folder.path().join("lonely.png");
    write_png(&path, png::ColorType::Grayscale, png::BitDepth::Sixteen, 1);
    fs::remove_file(folder.path().join("lonely.png.toml")).unwrap();
    refused(&path, &["no sidecar", "cell_m ="]);
}

#[test]
fn rejects_a_sidecar_with_a_bad_cell_or_height() {
    let folder = folder();
    let path = folder.path().join("map.png");
    write_png(&path, png::ColorType::Grayscale, png::BitDepth::Sixteen, 1);
    let beside = folder.path().join("map.png.toml");
    fs::write(&beside, "cell_m = 0.0\norigin_m = [0.0, 0.0]\nblack_m = 0.0\nwhite_m = 1.0\n").unwrap();
    refused(&path, &["cell of 0 m"]);
    fs::write(&beside, "cell_m = 0.1\norigin_m = [0.0, 0.0]\nblack_m = nan\nwhite_m = 1.0\n").unwrap();
    refused(&path, &["black_m is NaN"]);
    fs::write(&beside, "cell_m = 0.1\norigin = [0.0, 0.0]\nblack_m = 0.0\nwhite_m = 1.0\n").unwrap();
    refused(&path, &["line 2", "origin"]);
}

#[test]
fn rejects_a_cut_image_and_a_file_that_is_no_image() {
    let folder = folder();
    let path = folder.path().join("cut.png");
    save(&small_hills(), &path).unwrap();
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    refused(&path, &["not a readable PNG"]);
    fs::write(&path, "heights").unwrap();
    refused(&path, &["not a readable PNG"]);
}

#[test]
fn rejects_an_archive_that_lacks_an_array_or_is_none() {
    let folder = folder();
    let path = folder.path().join("other.npz");
    let mut archive = npyz::npz::NpzWriter::create(&path).unwrap();
    let options = npyz::zip::write::FileOptions::default();
    use npyz::WriterBuilder;
    let mut array =
        archive.array("terrain_height", options).unwrap().default_dtype().shape(&[2, 2]).begin_nd().unwrap();
    array.extend([0.0f32; 4]).unwrap();
    array.finish().unwrap();
    drop(archive);
    refused(&path, &["no array terrain_origin", "terrain_cell"]);
    fs::write(&path, "heights").unwrap();
    refused(&path, &["not an npz archive"]);
}

#[test]
fn rejects_integer_heights_and_heights_with_one_axis() {
    use npyz::WriterBuilder;
    let folder = folder();
    let path = folder.path().join("kinds.npz");
    let options = npyz::zip::write::FileOptions::default();
    let mut archive = npyz::npz::NpzWriter::create(&path).unwrap();
    let mut array =
        archive.array("terrain_height", options).unwrap().default_dtype().shape(&[2, 2]).begin_nd().unwrap();
    array.extend([0i32; 4]).unwrap();
    array.finish().unwrap();
    drop(archive);
    refused(&path, &["i4", "float32"]);
    let mut archive = npyz::npz::NpzWriter::create(&path).unwrap();
    let mut array =
        archive.array("terrain_height", options).unwrap().default_dtype().shape(&[4]).begin_nd().unwrap();
    array.extend([0f32; 4]).unwrap();
    array.finish().unwrap();
    drop(archive);
    refused(&path, &["1 axes"]);
}

#[test]
fn rejects_a_nan_in_an_archive_with_its_place() {
    use npyz::WriterBuilder;
    let folder = folder();
    let path = folder.path().join("nan.npz");
    let options = npyz::zip::write::FileOptions::default();
    let mut archive = npyz::npz::NpzWriter::create(&path).unwrap();
    for (name, shape, values) in [
        ("terrain_height", vec![2u64, 2], vec![0.0f64, 0.0, f64::NAN, 0.0]),
        ("terrain_origin", vec![2], vec![0.0, 0.0]),
        ("terrain_cell", vec![], vec![0.1]),
    ] {
        let mut array =
            archive.array(name, options).unwrap().default_dtype().shape(&shape).begin_nd().unwrap();
        array.extend(values).unwrap();
        array.finish().unwrap();
    }
    drop(archive);
    refused(&path, &["row 1, column 0", "NaN"]);
}

#[test]
fn rejects_unknown_fields_and_kinds_with_their_line() {
    let at = Path::new("x.toml");
    let error = |text: &str| parse_spec(text, at).unwrap_err().to_string();
    let unknown = error("size_m = 20.0\ncell = 0.1\n[shape]\nkind = \"flat\"\n");
    assert!(unknown.contains("line 2") && unknown.contains("cell_m"), "{unknown}");
    let kind = error("[shape]\nkind = \"moon\"\n");
    assert!(kind.contains("moon") && kind.contains("stairs"), "{kind}");
    let field = error("[shape]\nkind = \"slope\"\nangle = 3.0\n");
    assert!(field.contains("angle_deg"), "{field}");
    let range = error("[shape]\nkind = \"slope\"\nangle_deg = 80.0\n");
    assert!(range.contains("x.toml") && range.contains("angle_deg"), "{range}");
    assert!(error("size_m = 3.0\n").contains("shape"));
}

#[test]
fn rejects_unknown_extensions_and_missing_files() {
    refused(Path::new("world.obj"), &[".obj", ".png or .npz"]);
    refused(Path::new("nowhere/world.npz"), &["cannot read"]);
    refused(Path::new("nowhere/world.toml"), &["cannot read"]);
    let error = save(&small_hills(), "world.toml").unwrap_err().to_string();
    assert!(error.contains("name it .png or .npz"), "{error}");
}

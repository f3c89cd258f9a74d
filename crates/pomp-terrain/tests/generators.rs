//! Generated terrains have the measures that their descriptions state.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests may panic and say what they measured")]

use pomp_terrain::{HeightMap, PRESET_NAMES, Shape, StartArea, TerrainError, TerrainSpec, generate, preset};

fn made(shape: Shape, start: StartArea) -> HeightMap {
    let spec = TerrainSpec { size_m: 20.0, cell_m: 0.1, start, shape };
    generate(&spec, 3).expect("the description is valid")
}

#[test]
fn every_preset_is_generated_and_names_agree() {
    for name in PRESET_NAMES {
        let spec = preset(name).unwrap_or_else(|| panic!("{name} is listed"));
        let map = generate(&spec, 1).unwrap_or_else(|e| panic!("{name}: {e}"));
        let (low, high) = map.min_max();
        println!("{name}: {} × {} heights, {low:.3} to {high:.3} m", map.rows(), map.columns());
        assert_eq!(low == high, name == "flat", "only flat ground is flat");
    }
    assert!(preset("moon").is_none());
}

#[test]
fn the_configs_are_the_presets() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs/terrain");
    for name in PRESET_NAMES {
        let path = folder.join(name).with_extension("toml");
        let spec = pomp_terrain::file::load_spec(&path).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(Some(spec), preset(name), "{}", path.display());
    }
}

#[test]
fn same_seed_gives_the_same_bytes_and_another_seed_another_terrain() {
    for name in ["hills", "rough", "mixed"] {
        let spec = preset(name).unwrap();
        let bits = |seed| -> Vec<u32> {
            generate(&spec, seed).unwrap().grid().heights.values().iter().map(|h| h.to_bits()).collect()
        };
        assert!(bits(5) == bits(5), "{name} repeats");
        assert!(bits(5) != bits(6), "{name} depends on the seed");
    }
}

#[test]
fn parts_of_a_sum_with_different_seeds_differ() {
    let part = |seed| Shape::Hills { amplitude_m: 1.0, wavelength_m: 3.0, seed };
    let (a, b) = (made(part(0), StartArea::NONE), made(part(1), StartArea::NONE));
    let sum = made(Shape::Sum { parts: vec![part(0), part(1)] }, StartArea::NONE);
    let at = (3.3, -4.1);
    assert!((a.height(at.0, at.1) - b.height(at.0, at.1)).abs() > 1e-3);
    assert!((sum.height(at.0, at.1) - a.height(at.0, at.1) - b.height(at.0, at.1)).abs() < 1e-5);
}

#[test]
fn the_start_area_is_level_and_joins_the_terrain_without_a_ledge() {
    for name in PRESET_NAMES {
        let spec = preset(name).unwrap();
        let map = generate(&spec, 2).unwrap();
        for i in 0..64 {
            let (sin, cos) = (i as f32 * std::f32::consts::TAU / 64.0).sin_cos();
            for r in [0.0, 0.3, 0.6, 0.85] {
                assert_eq!(map.height(r * cos, r * sin), 0.0, "{name} at {r} m");
            }
        }
    }
}

#[test]
fn hills_and_rough_ground_are_no_steeper_around_the_start_than_without_it() {
    for name in ["hills", "rough"] {
        let spec = preset(name).unwrap();
        let around = |start| {
            let spec = TerrainSpec { start, ..spec.clone() };
            // Within 6 m of the origin, over one cell.
            let steepest = |seed| {
                let map = generate(&spec, seed).unwrap();
                let places = (0..2000).map(|i| (0.1 + 0.003 * i as f32, 2.4 * i as f32));
                let rises = places.map(|(r, angle)| {
                    let (x, z) = (r * angle.cos(), r * angle.sin());
                    let rise = |dx, dz| (map.height(x + dx, z + dz) - map.height(x - dx, z - dz)) / 0.1;
                    f32::hypot(rise(0.05, 0.0), rise(0.0, 0.05))
                });
                rises.fold(0.0, f32::max)
            };
            (1..=20).map(steepest).fold(0.0f32, f32::max).atan().to_degrees()
        };
        let (with, without) = (around(StartArea::default()), around(StartArea::NONE));
        println!("steepest {name} of 20 seeds: {with:.1}° with the start area, {without:.1}° without it");
        assert!(with <= without + 1.0 && with > 0.5 * without);
    }
}

#[test]
fn without_a_start_area_the_shape_is_kept_as_it_is() {
    let map = made(Shape::Slope { angle_deg: 10.0, heading_deg: 0.0 }, StartArea::NONE);
    for z in [-9.0f32, -0.5, 0.5, 9.0] {
        assert!((map.height(2.0, z) - z * 10.0f32.to_radians().tan()).abs() < 1e-4);
    }
}

#[test]
fn a_slope_has_its_angle_and_heading() {
    for (heading_deg, [x, z]) in [(0.0f32, [0.0, 1.0]), (90.0, [1.0, 0.0]), (180.0, [0.0, -1.0])] {
        let map = made(Shape::Slope { angle_deg: 12.0, heading_deg }, StartArea::default());
        let rise = map.height(8.0 * x, 8.0 * z) - map.height(4.0 * x, 4.0 * z);
        assert!((rise / 4.0 - 12.0f32.to_radians().tan()).abs() < 1e-3, "heading {heading_deg}");
    }
}

#[test]
fn stairs_have_their_rise_run_and_count_and_come_down_again() {
    let shape = Shape::Stairs { rise_m: 0.17, run_m: 0.3, count: 4, landing_m: 2.5, heading_deg: 0.0 };
    let spec = TerrainSpec { cell_m: 0.05, ..TerrainSpec::of_shape(shape) };
    let map = generate(&spec, 0).unwrap();
    for step in 0..4 {
        let middle = 2.5 + 0.3 * step as f32 + 0.15;
        let expected = 0.17 * (step + 1) as f32;
        assert!((map.height(0.4, middle) - expected).abs() < 1e-4, "tread {step}");
        assert!((map.height(0.4, -middle) - expected).abs() < 1e-4, "tread {step} behind");
    }
    assert!(map.height(0.0, 2.4).abs() < 1e-6, "level before the first riser");
    assert!((map.height(0.0, 2.5) - 0.17).abs() < 1e-4, "the riser ends at the landing");
    // Landing 2.5, flight up 1.2, landing 2.5, flight down 1.2.
    assert!((map.height(0.0, 6.0) - 0.68).abs() < 1e-4, "upper landing");
    assert!((map.height(0.0, 6.35) - 0.51).abs() < 1e-4, "first tread down");
    assert!(map.height(0.0, 8.0).abs() < 1e-4, "level again");
}

#[test]
fn noise_stays_within_its_amplitude_and_uses_most_of_it() {
    let hills = made(Shape::Hills { amplitude_m: 2.0, wavelength_m: 2.0, seed: 0 }, StartArea::NONE);
    let rough =
        made(Shape::Rough { amplitude_m: 2.0, wavelength_m: 2.0, octaves: 4, seed: 0 }, StartArea::NONE);
    for (name, map) in [("hills", &hills), ("rough", &rough)] {
        let (low, high) = map.min_max();
        println!("{name} of amplitude 2 m: {low:.2} to {high:.2} m");
        assert!(low >= -2.0 && high <= 2.0 && high - low > 2.0);
    }
    let roughness =
        |map: &HeightMap| (0..1000).map(|i| 1.0 - map.normal(-9.0 + i as f32 * 0.018, 1.7).y).sum::<f32>();
    assert!(roughness(&rough) > 1.3 * roughness(&hills), "octaves add slope");
}

#[test]
fn gaps_have_their_width_depth_and_spacing() {
    let shape = Shape::Gaps { width_m: 0.6, depth_m: 0.5, spacing_m: 3.0, heading_deg: 0.0 };
    let map = made(shape, StartArea::default());
    for z in [3.15, 3.3, 3.45, 6.75, 6.9, 7.05, -3.3, -6.9] {
        assert!((map.height(1.0, z) + 0.5).abs() < 1e-4, "trench at {z}");
    }
    for z in [0.0, 2.0, 3.0, 3.6, 5.0, 6.6, 7.2, -3.0, -3.6] {
        assert!(map.height(1.0, z).abs() < 1e-4, "level at {z}: {}", map.height(1.0, z));
    }
}

fn refused(shape: Shape, words: &str) {
    let error = generate(&TerrainSpec::of_shape(shape), 0).expect_err("the shape is out of range");
    assert!(matches!(error, TerrainError::BadSpec { .. }), "{error}");
    assert!(error.to_string().contains(words), "{error}");
}

#[test]
fn rejects_values_out_of_range_with_field_and_limits() {
    refused(Shape::Slope { angle_deg: 89.0, heading_deg: 0.0 }, "angle_deg of shape \"slope\" is 89");
    refused(Shape::Slope { angle_deg: f32::NAN, heading_deg: 0.0 }, "angle_deg");
    refused(Shape::Hills { amplitude_m: 1.0, wavelength_m: 0.0, seed: 0 }, "between 0.01 and");
    refused(Shape::Rough { amplitude_m: 1.0, wavelength_m: 1.0, octaves: 0, seed: 0 }, "octaves");
    refused(Shape::Sum { parts: vec![] }, "at least one shape");
    refused(Shape::Sum { parts: vec![Shape::File { path: "".into() }] }, "path of shape \"file\"");
    refused(
        Shape::Stairs { rise_m: 0.1, run_m: 0.3, count: 0, landing_m: 1.0, heading_deg: 0.0 },
        "count of shape \"stairs\"",
    );
}

#[test]
fn rejects_a_terrain_of_no_size() {
    for (size_m, cell_m) in [(0.0, 0.1), (10.0, 0.0), (-1.0, 0.1), (1.0, 2.0), (f32::NAN, 0.1)] {
        let spec = TerrainSpec { size_m, cell_m, ..TerrainSpec::of_shape(Shape::Flat {}) };
        assert!(generate(&spec, 0).is_err(), "{size_m} × {cell_m}");
    }
}

//! The height map answers the surface it was made of, inside and outside.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests may panic and say what they measured")]

use pomp_motion::{FrameTable, TerrainGrid};
use pomp_terrain::{HeightMap, Shape, TerrainError, TerrainSpec, generate};
use proptest::prelude::*;

fn plane(a: f32, b: f32, c: f32) -> HeightMap {
    HeightMap::from_fn(41, 31, [-1.5, -2.0], 0.1, |x, z| a * x + b * z + c).expect("a plane is a height map")
}

fn grid(rows: usize, columns: usize, value: f32, cell_m: f32) -> TerrainGrid {
    TerrainGrid { heights: FrameTable::filled(rows, columns, value), origin: [0.0, 0.0], cell_m }
}

#[test]
fn rows_run_along_z_and_columns_along_x() {
    let values = vec![0.0, 1.0, 2.0, 10.0, 11.0, 12.0];
    let heights = FrameTable::from_values(3, values).expect("2 rows of 3");
    let map = HeightMap::from_grid(TerrainGrid { heights, origin: [5.0, -3.0], cell_m: 2.0 }).unwrap();
    assert_eq!((map.rows(), map.columns()), (2, 3));
    assert_eq!(map.height(5.0, -3.0), 0.0);
    assert_eq!(map.height(9.0, -3.0), 2.0);
    assert_eq!(map.height(5.0, -1.0), 10.0);
    let bounds = map.bounds();
    assert_eq!([bounds.min_x, bounds.max_x, bounds.min_z, bounds.max_z], [5.0, 9.0, -3.0, -1.0]);
    assert_eq!(map.min_max(), (0.0, 12.0));
}

proptest! {
    #[test]
    fn bilinear_heights_and_normals_are_exact_on_a_plane(
        a in -1.0f32..1.0, b in -1.0f32..1.0, c in -5.0f32..5.0, x in -1.4f32..1.4, z in -1.9f32..1.9,
    ) {
        let map = plane(a, b, c);
        prop_assert!((map.height(x, z) - (a * x + b * z + c)).abs() < 2e-5);
        let expected = glam::Vec3::new(-a, 1.0, -b).normalize();
        prop_assert!((map.normal(x, z) - expected).length() < 1e-4);
    }

    #[test]
    fn outside_the_map_the_border_goes_on_level(x in -50.0f32..50.0, z in -50.0f32..50.0) {
        let map = plane(0.5, -0.25, 1.0);
        let b = map.bounds();
        let nearest = map.height(x.clamp(b.min_x, b.max_x), z.clamp(b.min_z, b.max_z));
        prop_assert!((map.height(x, z) - nearest).abs() < 1e-5);
        if !b.contains(x, z) {
            prop_assert_eq!(map.normal(x, z), glam::Vec3::Y);
        }
    }

    #[test]
    fn the_smoothed_height_is_the_mean_over_its_disc(
        q in prop::array::uniform6(-0.5f32..0.5), x in -0.5f32..0.5, z in -0.5f32..0.5,
    ) {
        let surface = |x: f32, z: f32| q[0] + q[1] * x + q[2] * z + q[3] * x * x + q[4] * x * z + q[5] * z * z * z;
        let map = HeightMap::from_fn(201, 201, [-1.0, -1.0], 0.01, surface).unwrap();
        let (mut sum, mut count) = (0.0f64, 0u32);
        let radius = HeightMap::SMOOTHING_RADIUS_M;
        for i in -30..=30 {
            for j in -30..=30 {
                let (dx, dz) = (j as f32 * 0.01, i as f32 * 0.01);
                if dx.hypot(dz) <= radius {
                    sum += f64::from(surface(x + dx, z + dz));
                    count += 1;
                }
            }
        }
        let mean = (sum / f64::from(count)) as f32;
        let smoothed = map.smoothed_height(x, z);
        prop_assert!((smoothed - mean).abs() < 1e-3, "disc mean {mean}, nine samples {smoothed}");
    }
}

#[test]
fn the_smoothed_height_crosses_a_riser_in_small_steps_where_the_plain_one_jumps() {
    let map =
        HeightMap::from_fn(101, 21, [-0.5, 0.0], 0.05, |_, z| if z < 2.5 { 0.0 } else { 0.15 }).unwrap();
    let largest_step = |height: &dyn Fn(f32) -> f32| {
        (0..300)
            .map(|i| 1.0 + i as f32 * 0.01)
            .map(|z| (height(z + 0.01) - height(z)).abs())
            .fold(0.0f32, f32::max)
    };
    let plain = largest_step(&|z| map.height(0.0, z));
    let smoothed = largest_step(&|z| map.smoothed_height(0.0, z));
    println!(
        "largest change per cm over a 15 cm riser: plain {:.1} cm, smoothed {:.1} cm",
        100.0 * plain,
        100.0 * smoothed
    );
    assert!(plain > 0.025 && smoothed < 0.01);
    assert!(
        map.smoothed_height(0.0, 2.0).abs() < 1e-6 && (map.smoothed_height(0.0, 3.0) - 0.15).abs() < 1e-6
    );
}

#[test]
fn rejects_a_grid_of_one_row() {
    let error = HeightMap::from_grid(grid(1, 5, 0.0, 0.1)).unwrap_err().to_string();
    assert!(error.contains("1 × 5") && error.contains("2 × 2"), "{error}");
}

#[test]
fn rejects_an_empty_grid() {
    let heights = FrameTable::with_columns(4);
    let empty = TerrainGrid { heights, origin: [0.0, 0.0], cell_m: 0.1 };
    assert!(matches!(HeightMap::from_grid(empty), Err(TerrainError::BadGrid { .. })));
}

#[test]
fn rejects_a_nan_height_with_its_place() {
    let mut bad = grid(3, 4, 0.0, 0.1);
    bad.heights[2][1] = f32::NAN;
    assert!(matches!(HeightMap::from_grid(bad), Err(TerrainError::NotFinite { row: 2, column: 1, .. })));
}

#[test]
fn rejects_cells_and_origins_that_are_no_lengths() {
    for cell_m in [0.0, -0.1, f32::NAN, f32::INFINITY] {
        assert!(HeightMap::from_grid(grid(2, 2, 0.0, cell_m)).is_err(), "cell {cell_m}");
    }
    let mut bad = grid(2, 2, 0.0, 0.1);
    bad.origin[1] = f32::INFINITY;
    assert!(HeightMap::from_grid(bad).unwrap_err().to_string().contains("origin"));
}

#[test]
fn rejects_a_flat_map_of_absurd_size_without_allocating_it() {
    let error = HeightMap::flat(1e9, 0.01).unwrap_err().to_string();
    assert!(error.contains("larger cell"), "{error}");
    assert!(HeightMap::flat(f32::MAX, f32::MIN_POSITIVE).is_err());
    assert!(HeightMap::flat(0.0, 0.1).is_err());
}

#[test]
fn a_ground_is_within_another_that_is_nowhere_less_steep_and_rough() {
    let unevenness = |shape: Shape, seed| generate(&TerrainSpec::of_shape(shape), seed).unwrap().unevenness();
    let slope = |angle_deg| unevenness(Shape::Slope { angle_deg, heading_deg: 30.0 }, 0);
    let rough = |amplitude_m, seed| {
        unevenness(Shape::Rough { amplitude_m, wavelength_m: 0.8, octaves: 3, seed: 0 }, seed)
    };
    let flat = HeightMap::flat(20.0, 0.5).unwrap().unevenness();
    assert_eq!((flat.slope_deg, flat.deviation_m), ([0.0; 4], [0.0; 4]));
    let [_, most, ..] = slope(10.0).slope_deg;
    assert!((most - 10.0).abs() < 0.1, "{most}");
    for (own, other, within) in [
        (&flat, &slope(10.0), true),
        (&slope(10.0), &flat, false),
        (&slope(9.0), &slope(10.0), true),
        (&slope(12.0), &slope(10.0), false),
        (&rough(0.05, 1), &rough(0.05, 2), true),
        (&rough(0.08, 1), &rough(0.05, 2), false),
        (&rough(0.05, 1), &slope(10.0), false),
        (&slope(10.0), &rough(0.05, 2), false),
    ] {
        assert_eq!(own.is_within(other), within, "{own:?} {other:?}");
    }
    // A single step in an otherwise level ground.
    let step = HeightMap::from_fn(201, 201, [-10.0; 2], 0.1, |x, _| if x > 5.0 { 0.3 } else { 0.0 }).unwrap();
    assert!(!step.unevenness().is_within(&slope(10.0)));
}

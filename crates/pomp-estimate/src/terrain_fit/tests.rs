//! A synthetic walk on known ground: the fit has to reconstruct that ground.

#![allow(clippy::print_stdout, reason = "tests say what they measured")]

use super::*;
use glam::Vec3;
use pomp_motion::{FrameTable, Gait};
use pomp_terrain::{Shape, StartArea, TerrainSpec, generate};

const RATE_HZ: f32 = 60.0;
const FOOT_M: f32 = 0.14;

/// One planted foot: when, where the ankle is, how long; a swing arc joins it to the foot's next plant.
#[derive(Clone, Copy)]
struct Plant {
    foot: usize,
    start_s: f32,
    end_s: f32,
    x: f32,
    z: f32,
}

/// A walk along +Z: steps of `step_m` every half second, 60 % of the cycle on the ground.
fn walk(steps: usize, start_z: f32, step_m: f32) -> Vec<Plant> {
    (0..steps)
        .map(|k| Plant {
            foot: k % 2,
            start_s: 0.5 * k as f32 - 0.1,
            end_s: 0.5 * k as f32 + 0.5,
            x: if k % 2 == 0 { 0.1 } else { -0.1 },
            z: start_z + step_m * k as f32,
        })
        .collect()
}

/// Noise in [−1, 1] of a number.
fn noise(k: usize) -> f32 {
    let z = (k as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((z ^ (z >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 40) as f32 / (1u64 << 23) as f32 - 1.0
}

/// Soles and contacts of these plants on `ground`; each stance is off by up to `noise_m`, each frame by a tenth of it.
fn clip(plants: &[Plant], ground: &dyn Fn(f32, f32) -> f32, noise_m: f32) -> FitInput {
    let end_s = plants.iter().map(|p| p.end_s).fold(0.0f32, f32::max);
    let frames = (end_s * RATE_HZ) as usize;
    let mut soles = FrameTable::filled(frames, 4, Vec3::ZERO);
    let mut contacts = vec![[false; 4]; frames];
    for foot in 0..2 {
        let own: Vec<(usize, &Plant)> = plants.iter().enumerate().filter(|(_, p)| p.foot == foot).collect();
        for frame in 0..frames {
            let at = frame as f32 / RATE_HZ;
            for point in 0..2 {
                let rest = |&(k, p): &(usize, &Plant)| {
                    let z = p.z + FOOT_M * point as f32;
                    let off = noise_m * (noise(7 * k + 1) + 0.1 * noise(frame * 4 + point));
                    Vec3::new(p.x, ground(p.x, z) + off, z)
                };
                let standing = own.iter().find(|(_, p)| at >= p.start_s && at <= p.end_s);
                let before = own.iter().rev().find(|(_, p)| p.end_s < at);
                let after = own.iter().find(|(_, p)| p.start_s > at);
                let column = 2 * foot + point;
                soles[frame][column] = match (standing, before, after) {
                    (Some(plant), ..) => {
                        contacts[frame][column] = true;
                        rest(plant)
                    }
                    (None, Some(a), Some(b)) => {
                        let t = (at - a.1.end_s) / (b.1.start_s - a.1.end_s);
                        let p = rest(a).lerp(rest(b), t * t * (3.0 - 2.0 * t));
                        let lift = 0.12 * (std::f32::consts::PI * t).sin();
                        Vec3::new(p.x, (p.y + lift).max(ground(p.x, p.z) + lift.min(0.03)), p.z)
                    }
                    (None, Some(a), None) => rest(a) + Vec3::Y * 0.1,
                    (None, None, Some(b)) => rest(b) + Vec3::Y * 0.1,
                    (None, None, None) => Vec3::ZERO,
                };
            }
        }
    }
    let mut extent = [[f32::INFINITY; 2], [f32::NEG_INFINITY; 2]];
    for p in soles.values() {
        extent[0] = [extent[0][0].min(p.x), extent[0][1].min(p.z)];
        extent[1] = [extent[1][0].max(p.x), extent[1][1].max(p.z)];
    }
    let gait = vec![Gait::Walk.one_hot(); frames];
    FitInput { name: "walker".to_owned(), frame_rate_hz: RATE_HZ, soles, contacts, gait, extent }
}

/// Worst and root mean square height error within `beside` of the path over its length.
fn path_error(fit: &TerrainFit, ground: &dyn Fn(f32, f32) -> f32, z: [f32; 2], beside: f32) -> (f32, f32) {
    let (mut worst, mut squares, mut count) = (0.0f32, 0.0, 0);
    for i in 0..=200 {
        for j in -4..=4 {
            let (x, z) = (beside * j as f32 / 4.0, z[0] + (z[1] - z[0]) * i as f32 / 200.0);
            let error = (fit.map.height(x, z) - ground(x, z)).abs();
            worst = worst.max(error);
            squares += error * error;
            count += 1;
        }
    }
    let rms = (squares / count as f32).sqrt();
    let r = &fit.report;
    println!(
        "{:?}: height error rms {:.1} cm, worst {:.1} cm; planted median {:.2} cm, p95 {:.2} cm; swing inside {:.1} %, \
         deepest {:.1} cm; {} stances, cell {} m, {} × {}",
        r.ground,
        100.0 * rms,
        100.0 * worst,
        100.0 * r.planted_median_m,
        100.0 * r.planted_p95_m,
        100.0 * r.swing_inside_share,
        100.0 * r.swing_deepest_m,
        r.stances,
        r.cell_m,
        fit.map.rows(),
        fit.map.columns()
    );
    (worst, rms)
}

fn fitted(input: &FitInput, variant: usize) -> TerrainFit {
    fit_terrain(input, &TerrainFitConfig::default(), variant).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn flat_walks_with_noise_come_out_flat() {
    for (level, noise_m) in [(0.0, 0.0), (0.0, 0.02), (0.37, 0.03)] {
        let fit = fitted(&clip(&walk(24, 0.0, 0.6), &|_, _| level, noise_m), 0);
        let (worst, _) = path_error(&fit, &|_, _| level, [0.0, 14.0], 1.0);
        let (low, high) = fit.map.min_max();
        assert_eq!(fit.report.ground, GroundKind::Flat);
        assert!(high - low <= 0.005 && worst < 0.01, "noise {noise_m}: {low} to {high}, off by {worst}");
    }
}

#[test]
fn a_slope_is_found_again() {
    for angle in [-10.0f32, 4.0, 12.0] {
        let slope = angle.to_radians().tan();
        let ground = move |_: f32, z: f32| slope * z;
        let fit = fitted(&clip(&walk(20, 0.0, 0.6), &ground, 0.005), 0);
        let (worst, rms) = path_error(&fit, &ground, [0.2, 11.4], 0.2);
        assert_eq!(fit.report.ground, GroundKind::Plane);
        assert!(rms < 0.01 && worst < 0.03, "{angle} degrees: rms {rms}, worst {worst}");
        assert!(fit.report.planted_median_m < 0.015 && fit.report.swing_deepest_m < 0.01);
    }
}

#[test]
fn a_tilted_capture_floor_becomes_a_plane_and_noise_does_not() {
    let tilt = |_: f32, z: f32| 0.015 * z;
    let fit = fitted(&clip(&walk(10, 0.0, 0.7), &tilt, 0.01), 0);
    let (worst, _) = path_error(&fit, &tilt, [0.0, 6.4], 0.2);
    assert_eq!((fit.report.ground, fit.report.cell_m), (GroundKind::Plane, 0.5));
    assert!(fit.report.warnings.iter().any(|w| w.contains("inclined by 0.")), "{:?}", fit.report.warnings);
    assert!(worst < 0.015 && fit.report.planted_median_m < 0.015);
    let noisy = fitted(&clip(&walk(10, 0.0, 0.7), &|_, _| 0.0, 0.035), 0);
    assert_eq!(noisy.report.ground, GroundKind::Flat);
}

/// Treads of 0.4 m from z = 1, one step per tread, `count` of them, then level.
fn stairs(rise: f32, count: usize) -> impl Fn(f32, f32) -> f32 {
    move |_, z| rise * (((z - 1.0) / 0.4).floor() + 1.0).clamp(0.0, count as f32)
}

#[test]
fn stairs_are_found_again_as_treads() {
    for (rise, noise_m) in [(0.15, 0.0), (0.2, 0.01), (-0.17, 0.005)] {
        let ground = stairs(rise, 5);
        let fit = fitted(&clip(&walk(14, -0.07, 0.4), &ground, noise_m), 0);
        let (_, rms) = path_error(&fit, &ground, [0.2, 5.0], 0.2);
        assert_eq!(fit.report.ground, GroundKind::Steps);
        for step in 0..5 {
            let middle = 1.2 + 0.4 * step as f32;
            let found = fit.map.height(0.0, middle);
            assert!((found - ground(0.0, middle)).abs() < 0.02, "tread {step} of {rise}: {found}");
        }
        assert!(rms < 0.4 * rise.abs(), "rms {rms}");
        assert!(fit.report.planted_median_m < 0.015, "planted {}", fit.report.planted_median_m);
        assert!(fit.report.swing_inside_share < 0.02, "swing {}", fit.report.swing_inside_share);
    }
}

#[test]
fn hills_are_found_again_under_the_path() {
    let shape = Shape::Hills { amplitude_m: 0.5, wavelength_m: 4.0, seed: 0 };
    let spec = TerrainSpec { size_m: 40.0, cell_m: 0.1, start: StartArea::NONE, shape };
    let map = generate(&spec, 5).expect("hills are generated");
    let ground = |x: f32, z: f32| map.height(x, z);
    let fit = fitted(&clip(&walk(28, 0.0, 0.5), &ground, 0.005), 0);
    let (_, rms) = path_error(&fit, &ground, [0.2, 13.0], 0.1);
    let flat = (0..130).map(|i| ground(0.0, 0.1 * i as f32).powi(2)).sum::<f32>() / 130.0;
    println!("the hills themselves: rms {:.1} cm", 100.0 * flat.sqrt());
    assert_eq!(fit.report.ground, GroundKind::Smooth);
    assert!(rms < 0.03 && rms < 0.3 * flat.sqrt());
    assert!(fit.report.planted_median_m < 0.015);
}

#[test]
fn a_foot_held_up_beside_a_standing_one_is_not_ground() {
    let mut plants = walk(8, 0.0, 0.6);
    for plant in &mut plants {
        plant.end_s += 0.3;
    }
    let mut input = clip(&plants, &|_, _| 0.0, 0.005);
    // The left foot is held still half a metre up while the right one stands.
    let (start, end) = (input.frames() - 60, input.frames() - 10);
    for frame in start..end {
        for (point, z) in [(0, 5.0), (1, 5.14)] {
            input.soles[frame][point] = Vec3::new(0.3, 0.5, z);
            input.contacts[frame][point] = true;
        }
        for point in [2, 3] {
            input.contacts[frame][point] = true;
            input.soles[frame][point] = Vec3::new(-0.1, 0.0, 4.2 + 0.14 * (point - 2) as f32);
        }
    }
    let fit = fitted(&input, 0);
    println!("{} stances, {} lifted", fit.report.stances, fit.report.lifted_stances);
    assert_eq!((fit.report.ground, fit.report.lifted_stances), (GroundKind::Flat, 1));
}

#[test]
fn a_box_stepped_on_for_a_moment_is_not_flattened_away() {
    let ground = |_: f32, z: f32| if (2.8..3.4).contains(&z) { 0.3 } else { 0.0 };
    let fit = fitted(&clip(&walk(12, 0.0, 0.6), &ground, 0.005), 0);
    path_error(&fit, &ground, [0.0, 7.0], 0.1);
    assert!(fit.report.ground != GroundKind::Flat);
    assert!((fit.map.height(0.1, 3.07) - 0.3).abs() < 0.05, "{}", fit.map.height(0.1, 3.07));
    assert!(fit.map.height(-0.1, 1.87).abs() < 0.05);
}

#[test]
fn a_box_stepped_off_is_no_slope() {
    // Standing on a box, then on the floor before it: any two places lie on a plane, but level feet do not tilt with it.
    let ground = |_: f32, z: f32| if z < 0.5 { 0.3 } else { 0.0 };
    let (mut plants, mut start_s) = (Vec::new(), 0.0);
    for z in [0.0, 1.0] {
        for (k, x) in [0.1, -0.1, 0.12, -0.12].into_iter().enumerate() {
            plants.push(Plant {
                foot: k % 2,
                start_s,
                end_s: start_s + 0.6,
                x,
                z: z + 0.02 * (k / 2) as f32,
            });
            start_s += if k % 2 == 0 { 0.1 } else { 0.9 };
        }
    }
    let fit = fitted(&clip(&plants, &ground, 0.0), 0);
    println!(
        "{:?}, {} degrees, planted {} m",
        fit.report.ground, fit.report.incline_deg, fit.report.planted_p95_m
    );
    assert_eq!(fit.report.ground, GroundKind::Steps);
    for (z, height) in [(0.0, 0.3), (0.14, 0.3), (1.0, 0.0), (1.14, 0.0)] {
        assert!((fit.map.height(0.1, z) - height).abs() < 0.02, "at {z}: {}", fit.map.height(0.1, z));
    }
}

#[test]
fn a_jump_clears_the_gap_that_it_was_made_over() {
    // Two steps, a jump of 1.4 m with both feet, two steps, beside a trench from z = 1.0 to 1.9.
    let mut plants = walk(3, -0.6, 0.5);
    plants.push(Plant { foot: 1, start_s: 1.4, end_s: 1.9, x: -0.1, z: 0.6 });
    plants.push(Plant { foot: 0, start_s: 1.4, end_s: 1.9, x: 0.1, z: 0.6 });
    plants.push(Plant { foot: 1, start_s: 2.5, end_s: 3.2, x: -0.1, z: 2.0 });
    plants.push(Plant { foot: 0, start_s: 2.5, end_s: 3.2, x: 0.1, z: 2.0 });
    plants.retain(|p| !(p.foot == 0 && p.start_s > 0.8 && p.start_s < 1.0));
    let mut input = clip(&plants, &|_, _| 0.0, 0.002);
    for frame in 115..149 {
        input.gait[frame] = Gait::Jump.one_hot();
    }
    let library = PatchLibrary::new(1).expect("patches are generated");
    let cycle = 84..190;
    let best = library.best(&input, &cycle, 400, 400);
    let (first, last) = (best[0].error, best[399].error);
    println!("best patch {:.5} m², median {:.5} m², worst {last:.5} m²", first, best[200].error);
    assert!(first < 0.2 * last);
    for variant in 0..=3 {
        let fit = fitted(&input, variant);
        for frame in 116..148 {
            for p in &input.soles[frame] {
                assert!(fit.map.height(p.x, p.z) < p.y, "variant {variant}, frame {frame}");
            }
        }
    }
}

#[test]
fn variants_change_the_ground_only_where_no_foot_touches() {
    let input = clip(&walk(16, 0.0, 0.6), &|_, _| 0.0, 0.005);
    let plain = fitted(&input, 0);
    let mut seen = Vec::new();
    for variant in 1..=4 {
        let fit = fitted(&input, variant);
        let (low, high) = fit.map.min_max();
        println!(
            "variant {variant}: {low:.3} to {high:.3} m, planted p95 {:.2} cm, swing inside {:.2} %, patch error {:.5} m²",
            100.0 * fit.report.planted_p95_m,
            100.0 * fit.report.swing_inside_share,
            fit.report.patch_error_m2
        );
        assert!(high - low > 0.02, "variant {variant} differs from level ground");
        assert!((fit.report.planted_median_m - plain.report.planted_median_m).abs() < 0.003);
        assert!(fit.report.planted_p95_m < 0.015 && fit.report.swing_inside_share < 0.01);
        for frame in 0..input.frames() {
            for (p, touches) in input.soles[frame].iter().zip(input.contacts[frame]) {
                let change = (fit.map.height(p.x, p.z) - plain.map.height(p.x, p.z)).abs();
                assert!(!touches || change < 0.005, "frame {frame} of variant {variant}: {change}");
            }
        }
        assert!(!seen.contains(&fit.map), "variants differ from each other");
        seen.push(fit.map);
    }
}

#[test]
fn the_same_clip_gives_the_same_bytes() {
    let ground = stairs(0.17, 4);
    let input = clip(&walk(12, -0.07, 0.4), &ground, 0.01);
    for variant in [0, 2] {
        assert!(fitted(&input, variant) == fitted(&input, variant));
    }
}

#[test]
fn the_map_reaches_beyond_every_position_and_stays_within_its_size() {
    let waves = |_: f32, z: f32| 0.3 * (0.8 * z).sin();
    let input = clip(&walk(60, 0.0, 0.7), &waves, 0.0);
    for max_heights in [600_000, 20_000] {
        let config = TerrainFitConfig { max_heights, ..TerrainFitConfig::default() };
        let fit = fit_terrain(&input, &config, 0).expect("a long walk is fitted");
        let b = fit.map.bounds();
        let [low, high] = input.extent;
        assert!(
            b.min_x <= low[0] - 3.0
                && b.min_z <= low[1] - 3.0
                && b.max_x >= high[0] + 3.0
                && b.max_z >= high[1] + 3.0
        );
        assert!(fit.map.rows() * fit.map.columns() <= max_heights);
        assert_eq!(fit.report.warnings.iter().any(|w| w.contains("cell raised")), max_heights == 20_000);
    }
}

#[test]
fn a_clip_without_contact_gets_level_ground_under_its_lowest_soles_and_a_warning() {
    let mut input = clip(&walk(6, 0.0, 0.6), &|_, _| 0.2, 0.0);
    input.contacts.fill([false; 4]);
    let fit = fitted(&input, 0);
    assert!((fit.map.height(0.0, 0.0) - 0.2).abs() < 0.01);
    assert!(fit.report.warnings.iter().any(|w| w.contains("no planted foot")), "{:?}", fit.report.warnings);
}

/// A level walk in which soles of `feet` that are lifted higher than 10 cm pass at `height` instead, at `x` if given.
fn scuffing(feet: std::ops::Range<usize>, height: f32, x: Option<f32>) -> FitInput {
    let mut input = clip(&walk(24, 0.0, 0.6), &|_, _| 0.0, 0.0);
    for frame in 0..input.frames() {
        for point in 2 * feet.start..2 * feet.end {
            let sole = &mut input.soles[frame][point];
            if sole.y > 0.1 {
                *sole = Vec3::new(x.unwrap_or(sole.x), height, sole.z);
            }
        }
    }
    input
}

#[test]
fn feet_that_swing_through_a_floor_hollow_it_and_standing_feet_keep_theirs() {
    let input = scuffing(0..2, -0.03, None);
    let fit = fitted(&input, 0);
    assert_eq!((fit.report.ground, fit.report.swing_inside_share), (GroundKind::Flat, 0.0));
    let (mut planted, mut swinging) = (0.0f32, 0.0f32);
    for frame in 0..input.frames() {
        for (p, touches) in input.soles[frame].iter().zip(input.contacts[frame]) {
            let inside = fit.map.height(p.x, p.z) - p.y;
            if touches {
                planted = planted.max(inside.abs());
            } else {
                swinging = swinging.max(inside);
            }
        }
    }
    println!("planted within {planted} m, swinging inside by up to {swinging} m");
    assert!(planted < 1e-3 && swinging < 0.006);
}

#[test]
fn ground_under_standing_feet_gives_way_by_little_and_what_remains_is_reported() {
    let give = TerrainFitConfig::default().swing_give_m;
    let fit = fitted(&scuffing(1..2, -0.06, Some(0.1)), 0);
    println!("{:?}: {:?}", fit.report.min_max_m, fit.report.warnings);
    let under_feet = (0..20).map(|k| fit.map.height(0.1, 1.2 * (k / 2) as f32 + 0.07)).fold(0.0, f32::min);
    assert!((under_feet + give).abs() < 0.005, "{under_feet}");
    assert!(fit.report.swing_deepest_m > 0.03);
    assert!(fit.report.warnings.iter().any(|w| w.contains("soles in swing")), "{:?}", fit.report.warnings);
}

#[test]
fn ground_under_standing_feet_gives_way_twice_as_much_where_that_lets_all_feet_pass() {
    let give = TerrainFitConfig::default().swing_give_m;
    let fit = fitted(&scuffing(1..2, -0.045, Some(0.1)), 0);
    let lowest = fit.report.min_max_m[0];
    println!("lowest {lowest} m, inside {}", fit.report.swing_inside_share);
    assert!(fit.report.swing_inside_share <= 0.01);
    assert!(lowest < -1.5 * give && lowest >= -2.0 * give - 1e-3, "{lowest}");
}

#[test]
fn a_contradiction_is_reported_with_its_place() {
    let mut plants = walk(20, 0.0, 0.6);
    plants.extend(walk(2, 1.2, 0.6).into_iter().map(|p| Plant {
        start_s: p.start_s + 12.0,
        end_s: p.end_s + 12.0,
        ..p
    }));
    let mut input = clip(&plants, &|_, _| 0.0, 0.0);
    for frame in 0..input.frames() {
        if frame as f32 / RATE_HZ > 11.0 {
            input.soles[frame].iter_mut().for_each(|p| p.y += 0.3);
        }
    }
    let fit = fitted(&input, 0);
    println!("{:?}", fit.report.warnings);
    let first = fit.report.contradictions[0];
    assert!(
        (first.heights_m[1] - first.heights_m[0] - 0.3).abs() < 0.01 && (first.place[1] - 1.2).abs() < 0.2
    );
    assert!(fit.report.warnings.iter().any(|w| w.contains("two heights")));
}

fn on_the_spot(rises: usize) -> FitInput {
    let plants: Vec<Plant> = walk(rises, 0.0, 0.0);
    let mut input = clip(&plants, &|_, _| 0.0, 0.0);
    for frame in 0..input.frames() {
        let rung = 0.3 * (frame / 30) as f32;
        input.soles[frame].iter_mut().for_each(|p| p.y += rung);
    }
    input
}

#[test]
fn rejects_a_ladder() {
    let error = fit_terrain(&on_the_spot(12), &TerrainFitConfig::default(), 0)
        .expect_err("a ladder is no height map");
    println!("{error}");
    assert!(matches!(error, TerrainFitError::Contradicting { .. }));
}

#[test]
fn rejects_input_that_is_not_finite_or_of_unequal_length() {
    let good = clip(&walk(6, 0.0, 0.6), &|_, _| 0.0, 0.0);
    let refused = |input: &FitInput, word: &str| {
        let error = fit_terrain(input, &TerrainFitConfig::default(), 0).expect_err("bad input").to_string();
        assert!(error.contains(word), "{error}");
    };
    let mut input = good.clone();
    input.soles[7][2].y = f32::NAN;
    refused(&input, "frame 7, point 2");
    let mut input = good.clone();
    input.contacts.pop();
    refused(&input, "contacts");
    let mut input = good.clone();
    input.soles = FrameTable::with_columns(4);
    refused(&input, "no frames");
    let mut input = good.clone();
    input.extent[1][0] = f32::INFINITY;
    refused(&input, "not finite");
    let mut input = good;
    input.extent[1][0] = 5000.0;
    refused(&input, "check its unit");
}

#[test]
fn rejects_configurations_out_of_range_and_unknown_variants() {
    let input = clip(&walk(6, 0.0, 0.6), &|_, _| 0.0, 0.0);
    let config = TerrainFitConfig { margin_m: 1.0, ..TerrainFitConfig::default() };
    assert!(fit_terrain(&input, &config, 0).expect_err("too small").to_string().contains("margin_m"));
    let config = TerrainFitConfig { cell_m: f32::NAN, ..TerrainFitConfig::default() };
    assert!(fit_terrain(&input, &config, 0).expect_err("no number").to_string().contains("cell_m"));
    let error = fit_terrain(&input, &TerrainFitConfig::default(), 9).expect_err("unknown").to_string();
    assert!(error.contains("variant 9"), "{error}");
    assert!(toml::from_str::<TerrainFitConfig>("cell = 0.1").is_err(), "unknown fields are refused");
}

//! Reconstruction of known grounds.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test may panic, and says what it measured")]

use pomp_estimate::terrain_fit::GroundKind;
use pomp_motion::retarget::RigLibrary;
use pomp_preprocess::terrain_check::{
    CheckedGround, ProceduralFigures, procedural_figures, recorded_figures,
};
use pomp_preprocess::{PreprocessConfig, find_inputs};
use std::path::PathBuf;

#[test]
fn known_grounds_are_found_again() {
    let config = PreprocessConfig::default();
    let count: u64 = std::env::var("POMP_CHECKS").map_or(40, |text| text.parse().unwrap());
    let figures: Vec<ProceduralFigures> =
        (0..count).map(|seed| procedural_figures(seed, &config).unwrap()).collect();
    for f in &figures {
        let edge = f.edge_errors_m.iter().copied().fold(0.0f32, f32::max);
        println!(
            "{:3} {:70} {:?}: feet {:.2} cm, corridor {:.2} cm, relief {:.2} cm, {} edges {:.1} cm, swing {:.1} cm",
            f.seed,
            f.description,
            f.found,
            100.0 * f.under_feet_rmse_m,
            100.0 * f.corridor_rmse_m,
            100.0 * f.relief_m,
            f.edge_errors_m.len(),
            100.0 * edge,
            100.0 * f.swing_deepest_m
        );
    }
    for ground in CheckedGround::ALL {
        let of: Vec<&ProceduralFigures> = figures.iter().filter(|f| f.ground == ground).collect();
        let summary = |value: &dyn Fn(&ProceduralFigures) -> f32| {
            let squares: f32 = of.iter().map(|f| value(f).powi(2)).sum();
            let worst = of.iter().map(|f| value(f)).fold(0.0f32, f32::max);
            ((squares / of.len() as f32).sqrt(), worst)
        };
        let (feet, worst_feet) = summary(&|f| f.under_feet_rmse_m);
        let (corridor, worst_corridor) = summary(&|f| f.corridor_rmse_m);
        println!(
            "{}: feet {:.2} (worst {:.2}), corridor {:.2} (worst {:.2}) cm",
            ground.name(),
            100.0 * feet,
            100.0 * worst_feet,
            100.0 * corridor,
            100.0 * worst_corridor
        );
        // Gentle hills within the scatter of recorded feet are taken for level: their clips may miss by a little more.
        assert!(feet <= 0.02 && worst_feet <= 0.03 && worst_corridor <= 0.06, "{}", ground.name());
        for f in of {
            let level = ground == CheckedGround::Flat;
            assert!(!level || (f.found == GroundKind::Flat && f.relief_m <= 0.005), "{}", f.description);
            let stairs = ground == CheckedGround::Stairs;
            assert!(!stairs || f.edge_errors_m.len() >= 2, "{}: no edge was compared", f.description);
            assert!(
                f.edge_errors_m.iter().all(|&edge| edge <= 0.08),
                "{}: {:?}",
                f.description,
                f.edge_errors_m
            );
        }
    }
}

#[test]
fn a_wrong_ground_does_not_pass_for_the_right_one() {
    // The control: with a tolerance that levels everything, stairs must be missed.
    let mut config = PreprocessConfig::default();
    (config.terrain.flat_tolerance_m, config.terrain.step_height_m) = (1.0, 1.0);
    for seed in [3, 7, 11, 15] {
        let f = procedural_figures(seed, &config).unwrap();
        println!("{}: {:.3} m under the feet", f.description, f.under_feet_rmse_m);
        assert!(f.under_feet_rmse_m > 0.02, "{}", f.description);
    }
}

/// The folder of recorded clips.
fn recorded() -> Option<PathBuf> {
    pomp_testing::recorded("core", "the ground under recorded feet")
}

#[test]
fn recorded_feet_lie_on_the_ground_that_is_made_of_them() {
    let Some(core) = recorded() else { return };
    let (config, rigs) = (PreprocessConfig::default(), RigLibrary::builtin());
    let inputs = find_inputs(&[core]).unwrap();
    let stride = if std::env::var_os("POMP_CHECKS").is_some() { 1 } else { 8 };
    let (mut medians, mut p95s) = (Vec::new(), Vec::new());
    for input in inputs.iter().step_by(stride) {
        match recorded_figures(input, &config, &rigs) {
            Ok(f) => {
                println!(
                    "{:32} {:?}: planted {:.2} cm median, {:.2} cm p95 (points {:.2}, {:.2}); lifted inside {:.1} %, p99 {:.1} cm, deepest {:.1} cm; contradicting {:.0} %, {} stances, {} not",
                    f.name,
                    f.fit.ground,
                    100.0 * f.planted_m[0],
                    100.0 * f.planted_m[1],
                    100.0 * f.points_m[0],
                    100.0 * f.points_m[1],
                    100.0 * f.inside_share,
                    100.0 * f.inside_m[0],
                    100.0 * f.inside_m[1],
                    100.0 * f.fit.contradiction_share,
                    f.fit.stances,
                    f.fit.lifted_stances
                );
                medians.push(f.planted_m[0]);
                p95s.push(f.planted_m[1]);
            }
            Err(error) => println!("{error}"),
        }
    }
    medians.sort_by(f32::total_cmp);
    p95s.sort_by(f32::total_cmp);
    let n = medians.len();
    println!(
        "median of clips: planted median {:.2} cm, p95 {:.2} cm",
        100.0 * medians[n / 2],
        100.0 * p95s[n / 2]
    );
    println!(
        "clips with median <= 1.5 cm: {}, p95 <= 4 cm: {} of {n}",
        medians.iter().filter(|&&m| m <= 0.015).count(),
        p95s.iter().filter(|&&m| m <= 0.04).count()
    );
    assert!(medians[n / 2] <= 0.015 && p95s[n / 2] <= 0.04, "planted feet lie on the ground");
}

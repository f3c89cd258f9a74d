//! Grounds that simulated rollouts of level clips walk on: what the closed loop will meet, around the place where a
//! rollout starts.

use crate::TrainError;
use glam::Vec2;
use pomp_motion::TerrainGrid;
use pomp_terrain::{HeightMap, Shape, StartArea, TerrainSpec, generate};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Side of a ground, metres: a rollout of 2.5 s at a run stays on it.
const SIZE_M: f32 = 14.0;
/// The level disc in the middle and the ring in which the ground fades in, metres: a clip's first pose stands there.
const START: StartArea = StartArea { enabled: true, radius_m: 0.5, blend_m: 0.7 };

/// A ground drawn at random, level where it begins: around `start` (world x and z, metres).
///
/// # Errors
/// None but for a range of this file that the terrain refuses.
pub(crate) fn practice_ground(start: Vec2, rng: &mut ChaCha8Rng) -> Result<HeightMap, TrainError> {
    let heading_deg = rng.random_range(-180.0..180.0);
    let shape = match rng.random_range(0..12) {
        0 | 1 => Shape::Flat {},
        2 | 3 => Shape::Slope { angle_deg: rng.random_range(3.0..20.0), heading_deg },
        4..=6 => {
            let (wavelength_m, steepest) = (rng.random_range(4.0..8.0), rng.random_range(0.1..0.4f32));
            Shape::Hills { amplitude_m: steepest * wavelength_m / 4.0, wavelength_m, seed: 0 }
        }
        7 => Shape::Rough {
            amplitude_m: rng.random_range(0.02..0.08),
            wavelength_m: rng.random_range(0.6..1.2),
            octaves: 3,
            seed: 0,
        },
        8 | 9 => Shape::Stairs {
            rise_m: rng.random_range(0.05..0.2),
            run_m: rng.random_range(0.27..0.35),
            count: 6,
            landing_m: rng.random_range(1.0..2.0),
            heading_deg,
        },
        _ => Shape::Gaps {
            width_m: rng.random_range(0.2..0.5),
            depth_m: rng.random_range(0.2..0.5),
            spacing_m: rng.random_range(1.0..3.0),
            heading_deg,
        },
    };
    let fine = matches!(shape, Shape::Stairs { .. });
    let spec = TerrainSpec { size_m: SIZE_M, cell_m: if fine { 0.05 } else { 0.1 }, start: START, shape };
    let ground = generate(&spec, rng.random())?;
    let mut grid: TerrainGrid = ground.grid().clone();
    grid.origin[0] += start.x;
    grid.origin[1] += start.y;
    Ok(HeightMap::from_grid(grid)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn a_ground_is_level_where_a_rollout_starts_and_its_seed_decides_it() {
        let start = Vec2::new(3.0, -7.0);
        let ground = |seed| practice_ground(start, &mut ChaCha8Rng::seed_from_u64(seed)).unwrap();
        let mut relief = 0;
        for seed in 0..40 {
            let map = ground(seed);
            assert_eq!(map.grid(), ground(seed).grid());
            let away = |radius: f32| {
                let angles = (0..16).map(|i| Vec2::from_angle(i as f32 * std::f32::consts::TAU / 16.0));
                angles.map(move |way| start + way * radius)
            };
            assert!(away(0.3).all(|at| map.height(at.x, at.y) == 0.0), "seed {seed}");
            relief += usize::from(away(4.0).any(|at| map.height(at.x, at.y).abs() > 0.01));
        }
        println!("{relief} of 40 grounds have relief");
        assert!((20..40).contains(&relief));
    }
}

//! Makes the maps of the folder `terrain/`: `cargo run --release -p pomp-terrain --example mint_maps -- terrain`.

use pomp_terrain::{Shape, StartArea, TerrainError, TerrainSpec, generate, save};

fn maps() -> [(&'static str, u64, TerrainSpec); 3] {
    let hills = Shape::Hills { amplitude_m: 1.2, wavelength_m: 9.0, seed: 0 };
    let steps =
        |heading_deg| Shape::Stairs { rise_m: 0.12, run_m: 0.4, count: 5, landing_m: 3.0, heading_deg };
    let trenches = Shape::Gaps { width_m: 0.5, depth_m: 0.4, spacing_m: 3.5, heading_deg: 0.0 };
    let rough = Shape::Rough { amplitude_m: 0.06, wavelength_m: 1.0, octaves: 2, seed: 0 };
    let spec = |size_m, cell_m, shape| TerrainSpec { size_m, cell_m, start: StartArea::default(), shape };
    [
        ("hills", 1, spec(40.0, 0.2, hills)),
        ("crossing_stairs", 0, spec(24.0, 0.05, Shape::Sum { parts: vec![steps(0.0), steps(90.0)] })),
        ("rough_trenches", 2, spec(20.0, 0.1, Shape::Sum { parts: vec![trenches, rough] })),
    ]
}

fn main() -> Result<(), TerrainError> {
    let folder = std::path::PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "terrain".to_owned()));
    for (name, seed, spec) in maps() {
        save(&generate(&spec, seed)?, folder.join(name).with_extension("png"))?;
    }
    Ok(())
}

use crate::cli::SynthesizeArguments;
use anyhow::Result;
use pomp_formats::{BvhWriteOptions, write_atomically, write_bvh};
use pomp_motion::Clip;
use pomp_synthetic::{Ends, MotionKind, MotionRequest, generate};
use pomp_terrain::{HeightMap, TerrainSpec};
use std::fmt::Write;
use std::process::ExitCode;

/// Ground under the clips, metres.
const GROUND_M: f32 = 200.0;
/// Seconds per clip.
const SECONDS: f32 = 12.0;
/// Seconds per clip of the sample: a megabyte in all.
const SAMPLE_SECONDS: f32 = 4.0;
/// Side of the sample's terrain, metres: no clip leaves it.
const SAMPLE_GROUND_M: f32 = 24.0;
/// Licence of what this program makes up.
const LICENSE: &str = "CC0-1.0";

/// A clip to make.
struct Item {
    request: MotionRequest,
    /// Name of a terrain preset; level ground without one.
    terrain: Option<&'static str>,
}

impl From<MotionRequest> for Item {
    fn from(request: MotionRequest) -> Self {
        Self { request, terrain: None }
    }
}

pub fn run(arguments: &SynthesizeArguments) -> Result<ExitCode> {
    let out = &arguments.out;
    super::generate::create_folder(out)?;
    let items = if arguments.sample { sample(arguments) } else { full(arguments) };
    let mut manifest = String::from("path,source,subject,description,license\n");
    for (index, Item { request, terrain }) in items.iter().enumerate() {
        let spec = terrain.map(|name| {
            let spec = pomp_terrain::preset(name).expect("the sample names presets that exist");
            TerrainSpec { size_m: SAMPLE_GROUND_M, ..spec }
        });
        // The same seed as `--terrain NAME_terrain.toml` takes.
        let ground = match &spec {
            Some(spec) => pomp_terrain::generate(spec, 0)?,
            None => HeightMap::flat(GROUND_M, 1.0)?,
        };
        let made = generate(request, &ground)?;
        let place = terrain.map_or_else(String::new, |name| format!("_{name}"));
        // Each clip of the sample is the only one of its kind on its ground; the others differ by their numbers.
        let kind = made.clip.name.split('_').next().filter(|_| arguments.sample);
        let name = format!("{index:02}_{}{place}", kind.unwrap_or(&made.clip.name));
        let clip = Clip { name: name.clone(), ..made.clip };
        if let Some(spec) = &spec {
            pomp_terrain::file::save_spec(spec, out.join(format!("{name}_terrain.toml")))?;
        }
        write_bvh(&out.join(format!("{name}.bvh")), &clip, &BvhWriteOptions::default())?;
        let ground = terrain.unwrap_or("level ground");
        let _infallible = writeln!(
            manifest,
            "{name}.bvh,pomp synthesize,none,procedural motion on {ground} seed {},{LICENSE}",
            request.seed
        );
    }
    write_atomically(&out.join("manifest.csv"), |file| file.write_all(manifest.as_bytes()))?;
    println!("{} clips are in {}", items.len(), out.display());
    println!("next: pomp preprocess {} --out data", out.display());
    Ok(ExitCode::SUCCESS)
}

/// Stands, walks of several speeds and turns, jogs, jumps, stops and starts.
fn full(arguments: &SynthesizeArguments) -> Vec<Item> {
    let base = |kind| request(kind, arguments, SECONDS);
    let mut requests = vec![base(MotionKind::Stand), base(MotionKind::StopAndGo), base(MotionKind::Jump)];
    for speed_m_s in [0.8, 1.0, 1.2, 1.4] {
        for turn_rate_rad_s in [-0.4, 0.0, 0.4] {
            requests.push(MotionRequest { speed_m_s, turn_rate_rad_s, ..base(MotionKind::Walk) });
        }
        requests.push(MotionRequest { speed_m_s, ends: Ends::Standing, ..base(MotionKind::Walk) });
    }
    for speed_m_s in [2.2, 2.6] {
        requests.push(MotionRequest { speed_m_s, ..base(MotionKind::Jog) });
    }
    seeded(requests.into_iter().map(Item::from).collect(), arguments.seed)
}

/// One short clip of each kind, and walks up a slope and over stairs.
fn sample(arguments: &SynthesizeArguments) -> Vec<Item> {
    let base = |kind| request(kind, arguments, SAMPLE_SECONDS);
    let walk = MotionRequest { speed_m_s: 1.2, ..base(MotionKind::Walk) };
    let items = vec![
        base(MotionKind::Stand).into(),
        MotionRequest { turn_rate_rad_s: 0.3, ..walk.clone() }.into(),
        base(MotionKind::Jog).into(),
        base(MotionKind::Jump).into(),
        Item { request: walk.clone(), terrain: Some("slope") },
        Item { request: walk, terrain: Some("stairs") },
    ];
    seeded(items, arguments.seed)
}

fn request(kind: MotionKind, arguments: &SynthesizeArguments, seconds: f32) -> MotionRequest {
    MotionRequest { duration_s: arguments.seconds.unwrap_or(seconds), ..MotionRequest::new(kind) }
}

/// Every clip has a seed of its own.
fn seeded(mut items: Vec<Item>, seed: u64) -> Vec<Item> {
    for (index, item) in items.iter_mut().enumerate() {
        item.request.seed = seed.wrapping_add(index as u64);
    }
    items
}

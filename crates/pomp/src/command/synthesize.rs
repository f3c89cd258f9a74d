use crate::cli::SynthesizeArguments;
use anyhow::{Context, Result};
use pomp_formats::{BvhWriteOptions, write_bvh};
use pomp_motion::Clip;
use pomp_synthetic::{Ends, MotionKind, MotionRequest, generate};
use pomp_terrain::HeightMap;
use std::process::ExitCode;

/// Ground under the clips, metres.
const GROUND_M: f32 = 200.0;

pub fn run(arguments: &SynthesizeArguments) -> Result<ExitCode> {
    std::fs::create_dir_all(&arguments.out).with_context(|| {
        format!("{}: cannot create the folder; give another with --out", arguments.out.display())
    })?;
    let ground = HeightMap::flat(GROUND_M, 1.0)?;
    let requests = requests(arguments);
    for (index, request) in requests.iter().enumerate() {
        let made = generate(request, &ground)?;
        let name = format!("{index:02}_{}", made.clip.name);
        let clip = Clip { name: name.clone(), ..made.clip };
        write_bvh(&arguments.out.join(format!("{name}.bvh")), &clip, &BvhWriteOptions::default())?;
    }
    println!("{} clips are in {}", requests.len(), arguments.out.display());
    Ok(ExitCode::SUCCESS)
}

/// Stands, walks of several speeds and turns, jogs, jumps, stops and starts.
fn requests(arguments: &SynthesizeArguments) -> Vec<MotionRequest> {
    let base = |kind| MotionRequest {
        duration_s: arguments.seconds,
        seed: arguments.seed,
        ..MotionRequest::new(kind)
    };
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
    for (index, request) in requests.iter_mut().enumerate() {
        request.seed = arguments.seed.wrapping_add(index as u64);
    }
    requests
}

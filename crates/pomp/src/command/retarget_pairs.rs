//! `pomp retarget pairs`: clips told exactly on bodies of two skeletons.

use crate::cli::RetargetPairsArguments;
use crate::motion_file;
use anyhow::{Context, Result, bail};
use pomp_formats::{BvhWriteOptions, write_bvh};
use pomp_motion::Clip;
use pomp_motion::retarget::Proportions;
use pomp_preprocess::PreprocessConfig;
use pomp_retarget::{PairBody, PairSkeleton, told};
use pomp_skeletal::RATE_HZ;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

/// One clip in so many is held out.
const HELD_OUT_EVERY: usize = 5;
/// Bodies of each skeleton that held-out clips are told on.
const HELD_OUT_BODIES: usize = 2;
/// Folders of the two skeletons.
const SIDES: [&str; 2] = ["a", "b"];

pub fn run(arguments: &RetargetPairsArguments) -> Result<ExitCode> {
    let skeletons =
        [PairSkeleton::Own, if arguments.turned { PairSkeleton::Turned } else { PairSkeleton::Split }];
    let rigs = motion_file::rigs(&[])?;
    let mut config = PreprocessConfig::default();
    config.retarget.proportions = Proportions::Project { height_m: 1.75 };
    let mut clips = Vec::new();
    for path in &arguments.clips {
        clips.push(motion_file::read(path, &config, &rigs)?.to_clip()?.resampled(RATE_HZ));
    }
    // Numbers of bodies: of a from 0, of b beyond, and those of held-out clips beyond both.
    let body = |number: usize| PairBody::drawn(number, arguments.seed);
    let [mut learned, mut held_out] = [[0; 2], [0; 2]];
    for (index, clip) in clips.iter().enumerate() {
        if index % HELD_OUT_EVERY == HELD_OUT_EVERY - 1 {
            for side in 0..2 {
                for body_number in 0..HELD_OUT_BODIES {
                    let number = (2 + side) * arguments.bodies + body_number;
                    let folder = arguments.out.join("held_out").join(SIDES[side]);
                    write(clip, skeletons[side], &body(number), &folder)?;
                    held_out[side] += 1;
                }
            }
            continue;
        }
        let side = index % 2;
        let number = side * arguments.bodies + (index / 2) % arguments.bodies;
        write(clip, skeletons[side], &body(number), &arguments.out.join(SIDES[side]))?;
        learned[side] += 1;
    }
    if learned.contains(&0) || held_out.contains(&0) {
        bail!("{} clips are too few: give {HELD_OUT_EVERY} or more", clips.len());
    }
    println!(
        "{} motions of a, {} of b; held out {} of a, {} of b, in {}",
        learned[0],
        learned[1],
        held_out[0],
        held_out[1],
        arguments.out.display()
    );
    println!("next: pomp train retarget --a {0}/a --b {0}/b --out networks", arguments.out.display());
    Ok(ExitCode::SUCCESS)
}

fn write(clip: &Clip, skeleton: PairSkeleton, body: &PairBody, folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("{}: cannot make the folder", folder.display()))?;
    let motion = told(clip, skeleton, body)?;
    let name = format!("{}__{}", clip.name, body.number);
    let told = Clip::new(name.clone(), Arc::new(motion.skeleton), motion.frame_rate_hz, motion.poses)?;
    Ok(write_bvh(&folder.join(name).with_extension("bvh"), &told, &BvhWriteOptions::default())?)
}

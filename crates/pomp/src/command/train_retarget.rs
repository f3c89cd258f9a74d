//! `pomp train retarget`.

use super::train::{reported, start};
use crate::cli::TrainArguments;
use crate::errors::INTERRUPTED;
use crate::{default_model, device};
use anyhow::{Result, bail};
use pomp_config::resolve;
use pomp_skeletal::SkeletalConfig;
use pomp_train::train_retargeting;
use std::process::ExitCode;

pub fn run(arguments: &TrainArguments) -> Result<ExitCode> {
    if arguments.dry_run || arguments.fine_tune {
        bail!(
            "--dry-run and --fine-tune are for the stages of a model; networks for retargeting have neither"
        );
    }
    let (Some(a), Some(b)) = (&arguments.a, &arguments.b) else {
        bail!("retarget learns from motions on two skeletons: --a DIR --b DIR, in place of --data");
    };
    let mut config: SkeletalConfig =
        resolve(default_model::retarget_origin(arguments.config.as_deref()), &arguments.set)?.checked()?;
    if let Some(seed) = arguments.seed {
        config.seed = seed;
    }
    let device = device::open(arguments.device)?;
    let trained = reported(arguments.json, |on_event| {
        train_retargeting([a, b], &config, start(arguments), &arguments.out, &device, on_event)
    })?;
    let Some(model) = trained else { return Ok(ExitCode::from(INTERRUPTED)) };
    if !arguments.json {
        println!("the networks are in {}:", arguments.out.display());
        for (side, structure) in ["a", "b"].iter().zip(&model.description.structures) {
            if !structure.seen.is_all() {
                println!("  not seen of {side}: {}", structure.seen.left_out().join(", "));
            }
        }
        for (name, value) in &model.description.metrics {
            println!("  {name} {value:.4}");
        }
        println!(
            "next: pomp retarget CLIP --to SKELETON.bvh --model {} --out on_skeleton.bvh",
            arguments.out.display()
        );
    }
    Ok(ExitCode::SUCCESS)
}

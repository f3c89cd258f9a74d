//! `pomp retarget --model`, and `pomp retarget report`.

use crate::cli::{RetargetArguments, RetargetReportArguments};
use crate::json;
use anyhow::{Result, bail};
use burn::tensor::Device;
use pomp_formats::{read_bvh, write_bvh_like};
use pomp_report::retargeting;
use pomp_retarget::RetargetOntoError;
use pomp_skeletal::{SkeletalModel, read_motion};
use serde_json::json;
use std::path::Path;
use std::process::ExitCode;

/// A motion on a skeleton by networks.
pub fn retarget(arguments: &RetargetArguments, [source, to]: [&Path; 2], model: &Path) -> Result<ExitCode> {
    let is_bvh = |path: &Path| path.extension().is_some_and(|kind| kind.eq_ignore_ascii_case("bvh"));
    if !is_bvh(to) {
        return Err(RetargetOntoError::NoSkeletonFile { path: to.to_path_buf() }.into());
    }
    if !is_bvh(source) && !source.extension().is_some_and(|kind| kind.eq_ignore_ascii_case("npz")) {
        bail!("{}: networks read .bvh and .npz; convert it, or leave --model out", source.display());
    }
    if let Some(out) = arguments.out.as_deref().filter(|out| !is_bvh(out)) {
        bail!("{}: networks write .bvh, as the target's file is; give a name that ends so", out.display());
    }
    let networks = SkeletalModel::open(model, &Device::flex())?;
    let (motion, target) = (read_motion(source)?, read_bvh(to)?);
    let names = [source, to].map(|path| path.display().to_string());
    let sides = [
        networks.side_of(&names[0], &motion.skeleton)?,
        networks.side_of(&names[1], &target.motion.skeleton)?,
    ];
    let result = networks.retarget([&names[0], &names[1]], &motion, &target.motion)?;
    if let Some(out) = &arguments.out {
        write_bvh_like(out, &target, &result)?;
    }
    let [from, onto] = sides.map(|side| ["first", "second"][side]);
    if arguments.json {
        let value = json!({
            "path": source, "to": to, "out": arguments.out, "model": model, "from_skeleton": from, "to_skeleton": onto,
            "frames": result.frames(), "frame_rate_hz": json::plain(&result.frame_rate_hz)?,
        });
        json::print("retarget-networks", &value)?;
        return Ok(ExitCode::SUCCESS);
    }
    println!(
        "{} on the skeleton of {} by the networks of {}",
        source.display(),
        to.display(),
        model.display()
    );
    println!(
        "  {} frames at {} Hz, from the {from} skeleton onto the {onto}",
        result.frames(),
        result.frame_rate_hz
    );
    if let Some(out) = &arguments.out {
        println!("  wrote {}", out.display());
    }
    Ok(ExitCode::SUCCESS)
}

pub fn report(arguments: &RetargetReportArguments) -> Result<ExitCode> {
    let mut models = Vec::new();
    for path in &arguments.models {
        models.push((path.display().to_string(), SkeletalModel::open(path, &Device::flex())?));
    }
    let report = retargeting::measure(&arguments.pairs, &models)?;
    if let Some(out) = &arguments.out {
        report.write(out)?;
    }
    if arguments.json {
        json::print("retarget-report", &json::plain(&report)?)?;
    } else {
        print!("{}", report.text());
    }
    Ok(ExitCode::SUCCESS)
}

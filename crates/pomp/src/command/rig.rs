//! `pomp rig infer`, and what other commands say of an inferred rig.

use crate::cli::RigInferArguments;
use crate::json;
use anyhow::{Context, Result, anyhow};
use pomp_formats::{read_glb_model, write_atomically};
use pomp_motion::retarget::{Finding, Inference, RigMap, StatedJoints, infer_with};
use pomp_motion::{JointIndex, Skeleton, SourceMotion};
use serde_json::json;
use std::path::Path;
use std::process::ExitCode;

/// Most joints of a kind that are listed by name.
const LISTED: usize = 8;

pub fn infer_rig(arguments: &RigInferArguments) -> Result<ExitCode> {
    let path = &arguments.clip;
    let (motion, warnings) = read(path)?;
    let names = arguments.joints.iter().map(|(role, joint)| (role.as_str(), joint.as_deref()));
    let stated = StatedJoints::by_names(&motion.skeleton, names).context("--joint")?;
    let inference = infer_with(&motion, &stated).map_err(|error| anyhow!("{}: {error}", path.display()))?;
    if let Some(out) = &arguments.out {
        let name =
            out.file_stem().map_or_else(|| "my_rig".to_owned(), |stem| stem.to_string_lossy().into_owned());
        write_atomically(out, |file| file.write_all(as_toml(&inference, &name).as_bytes()))?;
    }
    if arguments.json {
        let mut value = json::plain(&inference)?;
        value["path"] = json!(path);
        value["reader_warnings"] = json!(warnings);
        value["out"] = json!(arguments.out);
        json::print("rig-infer", &value)?;
        return Ok(ExitCode::SUCCESS);
    }
    println!("{}", path.display());
    print(&inference);
    for warning in &warnings {
        println!("  warning: {warning}");
    }
    if let Some(out) = &arguments.out {
        println!("  wrote {}; check the joints, then give it with --rig", out.display());
    }
    Ok(ExitCode::SUCCESS)
}

/// A motion, or a character that need not move.
fn read(path: &Path) -> Result<(SourceMotion, Vec<String>)> {
    if ["glb", "gltf"].iter().any(|kind| path.extension().is_some_and(|own| own.eq_ignore_ascii_case(kind))) {
        let model = read_glb_model(path)?;
        return Ok((model.motion, model.warnings));
    }
    Ok(pomp_preprocess::read_motion(path)?)
}

/// The map as a file, each joint with its confidence and reason.
fn as_toml(inference: &Inference, name: &str) -> String {
    let project = Skeleton::humanoid(1.0);
    let note = |joint: JointIndex| {
        let role = &project.joints()[joint.0].name;
        let found = inference.roles.iter().find(|found| found.role == *role)?;
        Some(format!("{:.2}, {}", found.confidence, found.reason))
    };
    let rig = RigMap { name: name.to_owned(), ..inference.rig.clone() };
    format!(
        "# Inferred {}, confidence {:.2}. Behind each joint: confidence and reason. docs/rigs.md explains the fields.\n{}",
        inference.method,
        inference.confidence,
        rig.to_toml(note)
    )
}

/// The findings, indented below a file's name.
pub fn print(inference: &Inference) {
    println!(
        "  rig inferred {}, confidence {:.2}: {} joints of the project found, {} filled in",
        inference.method,
        inference.confidence,
        inference.roles.len(),
        inference.missing.len()
    );
    for role in &inference.roles {
        println!("    {:<14} {:<24} {:.2}  {}", role.role, role.joint, role.confidence, role.reason);
    }
    if !inference.missing.is_empty() {
        println!("    filled in: {}", inference.missing.join(", "));
    }
    for extra in &inference.extra {
        let more = extra.joints.len().saturating_sub(LISTED);
        let listed = extra.joints[..extra.joints.len() - more].join(", ");
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        println!("    not used, {}: {listed}{more}", extra.kind);
    }
    let findings = [
        ("unit", &inference.unit),
        ("up axis", &inference.up_axis),
        ("left and right", &inference.sides),
        ("handedness", &inference.handedness),
        ("rest pose", &inference.rest_pose),
    ];
    for (name, Finding { value, confidence, reason }) in findings {
        println!("    {name}: {value}, confidence {confidence:.2}: {reason}");
    }
    if inference.left_out_frames > 0 {
        println!(
            "    {} frames are left out: a T-pose or rest pose that the motion jumps away from",
            inference.left_out_frames
        );
    }
    for warning in &inference.warnings {
        println!("  warning: {warning}");
    }
}

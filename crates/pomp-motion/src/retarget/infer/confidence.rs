//! How sure an inference is, joint by joint, and why.

use super::anatomy::{Anatomy, name_agrees};
use super::names::Meaning;
use super::plan::fit;
use super::sample::Sample;
use super::{RoleFinding, StatedJoints};
use crate::{JointIndex, Skeleton, humanoid};

/// Confidence in the joints and in the whole.
#[derive(Clone, Debug)]
pub(super) struct Confidence {
    pub roles: Vec<RoleFinding>,
    pub whole: f32,
    /// The least of hips and legs.
    pub least: f32,
    /// What is least sure of them.
    pub doubt: String,
    pub method: &'static str,
    pub warnings: Vec<String>,
}

/// In joints that names and structure agree on, and in those that only names or only structure tell.
const BY_NAME: f32 = 0.97;
/// Score ahead of the next best reading from which on structure counts in full.
const CLEAR_MARGIN: f32 = 6.0;
/// Votes for a side from which on they count in full.
const CLEAR_SIDE: f32 = 0.25;
/// Joints below this are worth a warning.
const UNSURE: f32 = 0.6;

pub(super) fn of_sides(anatomy: &Anatomy) -> f32 {
    let clear = (anatomy.votes.total().abs() / CLEAR_SIDE).min(1.0);
    if anatomy.legs_by_name { 0.9 + 0.09 * clear } else { 0.5 + 0.47 * clear }
}

pub(super) fn of(
    anatomy: &Anatomy,
    sample: &Sample<'_>,
    stated: &StatedJoints,
    meanings: &[Meaning],
) -> Confidence {
    let plan = &anatomy.plan;
    let margin = 0.6 + 0.4 * (plan.margin / CLEAR_MARGIN).clamp(0.0, 1.0);
    let structure = |fit: f32| (0.35 + 0.65 * fit.sqrt()) * margin;
    let legs = if anatomy.legs_by_name { BY_NAME } else { structure(plan.leg_fit) * of_sides(anatomy) };
    let arm_fit = anatomy.lone_arm.map_or(plan.arm_fit, |arm| fit(arm.cost));
    let arms = if anatomy.arms_by_name { BY_NAME } else { structure(arm_fit) * of_sides(anatomy) };
    let has_arms = plan.arms.is_some() || anatomy.lone_arm.is_some();
    let trunk = 0.5 * (legs + if has_arms { arms } else { 0.6 });
    let project = Skeleton::humanoid(1.0);
    let mut roles = Vec::new();
    let mut conflicts = Vec::new();
    for role in (0..humanoid::JOINTS).map(JointIndex) {
        let Some(joint) = anatomy.roles[role.0] else { continue };
        let (base, why) = match role.0 {
            0 => (legs, "where the legs meet"),
            1..=8 => (legs, if anatomy.legs_by_name { "name" } else { "limb below the hips" }),
            9..=13 => (trunk, "between the limbs"),
            _ => (arms, if anatomy.arms_by_name { "name" } else { "limb beside the neck" }),
        };
        if stated.is_stated(role) {
            roles.push(RoleFinding {
                role: project.joints()[role.0].name.clone(),
                joint: sample.name(joint).to_owned(),
                confidence: 1.0,
                reason: "stated".to_owned(),
            });
            continue;
        }
        let agrees = name_agrees(&meanings[joint], role);
        let confidence = match agrees {
            Some(true) => base + 0.6 * (1.0 - base),
            Some(false) if anatomy.legs_by_name => 0.8 * base,
            _ => base,
        };
        if agrees == Some(false) && anatomy.legs_by_name {
            conflicts.push(format!("{} for {}", sample.name(joint), project.joints()[role.0].name));
        }
        let named = if agrees == Some(true) && why != "name" {
            format!("{why}, and the name agrees")
        } else {
            why.to_owned()
        };
        roles.push(RoleFinding {
            role: project.joints()[role.0].name.clone(),
            joint: sample.name(joint).to_owned(),
            confidence,
            reason: named,
        });
    }
    finished(anatomy, roles, &conflicts)
}

fn finished(anatomy: &Anatomy, roles: Vec<RoleFinding>, conflicts: &[String]) -> Confidence {
    let legs_and_hips = |role: &&RoleFinding| {
        role.role == "Hips" || ["UpLeg", "Leg", "Foot"].iter().any(|end| role.role.ends_with(end))
    };
    let least = roles.iter().filter(legs_and_hips).min_by(|a, b| a.confidence.total_cmp(&b.confidence));
    let (least, doubt) = least.map_or((0.0, "no legs".to_owned()), |role| {
        (role.confidence, format!("it is not sure enough that {} is {}", role.joint, role.role))
    });
    let others: Vec<f32> =
        roles.iter().filter(|role| !legs_and_hips(role)).map(|role| role.confidence).collect();
    let mean = if others.is_empty() { 0.8 } else { others.iter().sum::<f32>() / others.len() as f32 };
    let mut warnings = Vec::new();
    if !conflicts.is_empty() {
        warnings.push(format!("names and places of joints do not agree: {}", conflicts.join(", ")));
    }
    let unsure: Vec<&str> =
        roles.iter().filter(|role| role.confidence < UNSURE).map(|role| role.role.as_str()).collect();
    if !unsure.is_empty() {
        warnings.push(format!("less than {UNSURE} sure of {}", unsure.join(", ")));
    }
    if of_sides(anatomy) < UNSURE {
        warnings.push(format!("left and right are a guess: {}", anatomy.votes.told()));
    }
    let method = match (
        anatomy.legs_by_name,
        anatomy.arms_by_name || (anatomy.plan.arms.is_none() && anatomy.lone_arm.is_none()),
    ) {
        (true, true) => "by names",
        (true, false) => "legs by names, arms by structure",
        _ => "by structure",
    };
    Confidence { whole: least * (0.5 + 0.5 * mean), roles, least, doubt, method, warnings }
}

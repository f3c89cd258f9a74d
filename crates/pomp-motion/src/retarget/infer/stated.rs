//! Joints that a person states: they play their roles whatever their names and places say, and the rest is found around them.

use super::names::{Meaning, Part, Side};
use crate::{JointIndex, MotionError, Skeleton, humanoid};
use std::collections::BTreeMap;

/// Joints of a file that are known to play joints of the project, and joints of the project that are known to be missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatedJoints {
    /// Joint of the file of each project joint; `None` for one that the file lacks.
    stated: BTreeMap<JointIndex, Option<JointIndex>>,
}

impl StatedJoints {
    /// Joints by name: of the project, and of the file or nothing.
    ///
    /// # Errors
    /// [`MotionError::BadJointChoice`] for a name that is of no joint, and for a joint that is to play two.
    pub fn by_names<'a>(
        file: &Skeleton,
        names: impl IntoIterator<Item = (&'a str, Option<&'a str>)>,
    ) -> Result<Self, MotionError> {
        let bad = |reason: String| MotionError::BadJointChoice { reason };
        let project = Skeleton::humanoid(1.0);
        let mut stated: BTreeMap<JointIndex, Option<JointIndex>> = BTreeMap::new();
        for (role, joint) in names {
            let found = project.index_of(role).ok_or_else(|| {
                let all: Vec<&str> = project.joints().iter().map(|joint| joint.name.as_str()).collect();
                bad(format!("the project has no joint \"{role}\"; it has {}", all.join(", ")))
            })?;
            let of_file = |name: &str| {
                file.index_of(name).ok_or_else(|| {
                    let all: Vec<&str> = file.joints().iter().map(|joint| joint.name.as_str()).collect();
                    bad(format!(
                        "the file has no joint \"{name}\", given for {role}; it has {}",
                        all.join(", ")
                    ))
                })
            };
            let joint = joint.map(of_file).transpose()?;
            let twice =
                stated.iter().find(|(other, taken)| **other != found && joint.is_some() && **taken == joint);
            if let Some((JointIndex(other), _)) = twice {
                let (name, other) =
                    (&file.joints()[joint.map_or(0, |joint| joint.0)].name, &project.joints()[*other].name);
                return Err(bad(format!("\"{name}\" is given for {other} and for {role}")));
            }
            stated.insert(found, joint);
        }
        Ok(Self { stated })
    }

    /// Whether a project joint is stated.
    pub(super) fn is_stated(&self, role: JointIndex) -> bool {
        self.stated.contains_key(&role)
    }

    /// The joints that were `found`, with those that are stated in their places.
    pub(super) fn roles(
        &self,
        mut found: [Option<usize>; humanoid::JOINTS],
    ) -> [Option<usize>; humanoid::JOINTS] {
        for joint in self.stated.values().flatten() {
            found.iter_mut().filter(|found| **found == Some(joint.0)).for_each(|found| *found = None);
        }
        for (role, joint) in &self.stated {
            found[role.0] = joint.map(|joint| joint.0);
        }
        found
    }

    /// What the names say, where a stated joint is named after its role and no other joint after a role that is taken.
    pub(super) fn meanings(&self, mut named: Vec<Meaning>) -> Vec<Meaning> {
        for (&role, &joint) in &self.stated {
            let (side, part) = meaning_of(role);
            for meaning in named.iter_mut().filter(|meaning| meaning.side == side && part != Part::Spine) {
                meaning.parts.retain(|(named, _)| *named != part);
            }
            if let Some(JointIndex(joint)) = joint {
                named[joint] = Meaning { side, parts: vec![(part, 1.0)], extra: None };
            }
        }
        named
    }
}

/// Side and part of a project joint.
fn meaning_of(role: JointIndex) -> (Option<Side>, Part) {
    let limb = |first: JointIndex, parts: [Part; 4]| {
        let at = role.0.checked_sub(first.0)?;
        parts.get(at).copied()
    };
    let sided = [
        (Side::Left, limb(humanoid::LEFT_UP_LEG, super::names::LEG)),
        (Side::Right, limb(humanoid::RIGHT_UP_LEG, super::names::LEG)),
        (Side::Left, limb(humanoid::LEFT_SHOULDER, super::names::ARM)),
        (Side::Right, limb(humanoid::RIGHT_SHOULDER, super::names::ARM)),
    ];
    if let Some((side, Some(part))) = sided.into_iter().find(|(_, part)| part.is_some()) {
        return (Some(side), part);
    }
    let part = match role {
        humanoid::HIPS => Part::Hips,
        humanoid::NECK => Part::Neck,
        humanoid::HEAD => Part::Head,
        _ => Part::Spine,
    };
    (None, part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_project_joint_has_its_part() {
        let project = Skeleton::humanoid(1.0);
        for (index, joint) in project.joints().iter().enumerate() {
            let (side, part) = meaning_of(JointIndex(index));
            let expected = match joint.name.as_str() {
                name if name.starts_with("Left") => Some(Side::Left),
                name if name.starts_with("Right") => Some(Side::Right),
                _ => None,
            };
            assert_eq!(side, expected, "{}", joint.name);
            let ends = [
                ("UpLeg", Part::Thigh),
                ("Leg", Part::Shin),
                ("Foot", Part::Foot),
                ("Toe", Part::Toe),
                ("Shoulder", Part::Collar),
                ("ForeArm", Part::ForeArm),
                ("Arm", Part::UpperArm),
                ("Hand", Part::Hand),
                ("Hips", Part::Hips),
                ("Neck", Part::Neck),
                ("Head", Part::Head),
                ("Spine", Part::Spine),
                ("Spine1", Part::Spine),
                ("Spine2", Part::Spine),
            ];
            let (_, named) =
                ends.into_iter().find(|(end, _)| joint.name.ends_with(end)).expect("a known joint");
            assert_eq!(part, named, "{}", joint.name);
        }
    }

    #[test]
    fn names_that_are_none_and_joints_for_two_roles_are_refused() {
        let file = Skeleton::humanoid(1.0);
        let refused = |names: &[(&str, Option<&str>)]| {
            StatedJoints::by_names(&file, names.iter().copied()).unwrap_err().to_string()
        };
        assert!(refused(&[("Tail", Some("Hips"))]).contains("no joint \"Tail\""));
        assert!(refused(&[("Hips", Some("bone_7"))]).contains("bone_7"));
        let twice = refused(&[("LeftArm", Some("Spine")), ("RightArm", Some("Spine"))]);
        assert!(twice.contains("LeftArm") && twice.contains("RightArm"), "{twice}");
        assert!(StatedJoints::by_names(&file, [("LeftToe", None), ("RightToe", None)]).is_ok());
    }
}

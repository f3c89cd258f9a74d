use super::calibration::rest_kind;
use super::infer::{is_mirrored, names_tell_more};
use super::{Inference, MatchReport, RetargetError, RigMap, infer};
use crate::{JointIndex, Skeleton, SourceMotion};
use std::borrow::Cow;
use std::path::Path;

/// The map for a motion: a known one, or one that was inferred.
#[derive(Clone, Debug)]
pub struct ChosenRig<'a> {
    /// The map.
    pub rig: Cow<'a, RigMap>,
    /// The map on the motion's joints.
    pub joints: MatchReport,
    /// How the map was inferred; `None` for a known one.
    pub inference: Option<Box<Inference>>,
    /// Maps of the user's own that were not taken, with what they miss, where none of them fits.
    pub warnings: Vec<String>,
}

/// The known rig maps.
#[derive(Clone, Debug)]
pub struct RigLibrary {
    rigs: Vec<RigMap>,
    /// Number of the user's own, which come first.
    own: usize,
}

macro_rules! builtin {
    ($($file:literal),* $(,)?) => {
        [$(($file, include_str!(concat!("../../rigs/", $file, ".toml")))),*]
    };
}

const BUILTIN: [(&str, &str); 9] = builtin!(
    "cmu",
    "daz43",
    "iclone100",
    "opensim16",
    "deepmimic15",
    "bandai22",
    "lafan1",
    "mixamo",
    "smpl24"
);

impl RigLibrary {
    /// The maps that come with the project: CMU (converted and native), Daz, iClone, OpenSim, DeepMimic,
    /// Bandai Namco, LaFAN1, Mixamo, SMPL.
    pub fn builtin() -> Self {
        let rigs = BUILTIN
            .iter()
            .map(|(name, text)| RigMap::from_toml(text, name).expect("built-in rig maps are tested to parse"))
            .collect();
        Self { rigs, own: 0 }
    }

    /// A library of one map.
    pub fn only(rig: RigMap) -> Self {
        Self { rigs: vec![rig], own: 1 }
    }

    /// Adds a map of one's own, which wins against built-in maps where it fits.
    ///
    /// # Errors
    /// When the file cannot be read or parsed.
    pub fn with_file(self, path: &Path) -> Result<Self, RetargetError> {
        Ok(self.with_rig(RigMap::from_file(path)?))
    }

    /// Adds a map in front; see [`Self::with_file`].
    pub fn with_rig(mut self, rig: RigMap) -> Self {
        self.rigs.insert(0, rig);
        self.own += 1;
        self
    }

    /// All maps, in the order of preference.
    pub fn rigs(&self) -> &[RigMap] {
        &self.rigs
    }

    /// The map of this name.
    pub fn get(&self, name: &str) -> Option<&RigMap> {
        self.rigs.iter().find(|rig| rig.name == name)
    }

    /// The map that finds the most project joints in a skeleton; the first among equals. A map of the user's own that fits wins against
    /// all built-in ones, also where it leaves joints out.
    ///
    /// # Errors
    /// [`RetargetError::NoRig`] with the closest maps and what they miss.
    pub fn choose(&self, skeleton: &Skeleton) -> Result<(&RigMap, MatchReport), RetargetError> {
        let mut misses: Vec<(usize, String)> = Vec::new();
        for rigs in [&self.rigs[..self.own], &self.rigs[self.own..]] {
            let mut best: Option<(&RigMap, MatchReport)> = None;
            for rig in rigs {
                match rig.match_skeleton(skeleton) {
                    Ok(report) => {
                        if best.as_ref().is_none_or(|(_, other)| report.found() > other.found()) {
                            best = Some((rig, report));
                        }
                    }
                    Err(RetargetError::RigDoesNotFit { rig, missing }) => {
                        misses.push((missing.len(), format!("\"{rig}\" misses {}", missing.join(", "))));
                    }
                    Err(other) => return Err(other),
                }
            }
            if let Some(best) = best {
                return Ok(best);
            }
        }
        misses.sort_by_key(|(count, _)| *count);
        let closest = misses.into_iter().take(3).map(|(_, text)| text).collect();
        Err(RetargetError::NoRig { joints: skeleton.len(), closest })
    }

    /// The known map that fits a motion best, else one that is inferred from the motion. Where a built-in map leaves out joints that
    /// the names of the file tell, as one without neck and head does for a file that has them, the inferred map is taken.
    ///
    /// # Errors
    /// [`RetargetError::NotHuman`] when no map fits and the skeleton is not taken for a human body.
    pub fn choose_or_infer(&self, source: &SourceMotion) -> Result<ChosenRig<'_>, RetargetError> {
        let mut chosen = self.chosen(source)?;
        let own = &self.rigs[..self.own];
        if own.iter().all(|rig| rig.match_skeleton(&source.skeleton).is_err()) {
            chosen.warnings = self.misfits(&source.skeleton, chosen.inference.is_some());
        }
        Ok(chosen)
    }

    /// The user's own maps that do not fit a skeleton, with what they miss; where a built-in map does (`all` is false), those alone that
    /// find most of their joints: the others are for other files.
    fn misfits(&self, skeleton: &Skeleton, all: bool) -> Vec<String> {
        let told = |rig: &RigMap| match rig.match_skeleton(skeleton) {
            Err(RetargetError::RigDoesNotFit { rig: name, missing })
                if all || 2 * missing.len() < rig.joints.len() =>
            {
                Some(format!(
                    "the rig map \"{name}\" is not used: the file has no {}; correct the names in the map, or state them as optional",
                    missing.join(", ")
                ))
            }
            _ => None,
        };
        self.rigs[..self.own].iter().filter_map(told).collect()
    }

    fn chosen(&self, source: &SourceMotion) -> Result<ChosenRig<'_>, RetargetError> {
        let closest = match self.choose(&source.skeleton) {
            Ok((rig, joints)) => {
                let is_own = self.rigs[..self.own].iter().any(|own| std::ptr::eq(own, rig));
                let richer = (!is_own).then(|| inferred_with_more(source, &joints)).flatten();
                return Ok(richer.unwrap_or_else(|| as_it_is_written(source, rig, joints)));
            }
            Err(RetargetError::NoRig { closest, .. }) => closest,
            Err(other) => return Err(other),
        };
        let inference = infer(source).map_err(|error| match error {
            RetargetError::NotHuman { clip, joints, reason, .. } => {
                RetargetError::NotHuman { clip, joints, reason, closest }
            }
            other => other,
        })?;
        Ok(of_inference(inference))
    }
}

fn of_inference<'a>(inference: Inference) -> ChosenRig<'a> {
    ChosenRig {
        rig: Cow::Owned(inference.rig.clone()),
        joints: inference.joints.clone(),
        inference: Some(Box::new(inference)),
        warnings: Vec::new(),
    }
}

/// An inferred map, where names tell project joints that a known map on these `joints` misses, and joints that it leaves unused.
fn inferred_with_more<'a>(source: &SourceMotion, joints: &MatchReport) -> Option<ChosenRig<'a>> {
    if joints.missing.is_empty() || joints.unused.is_empty() {
        return None;
    }
    let inference = infer(source).ok()?;
    names_tell_more(&source.skeleton, &inference.joints, joints).then(|| of_inference(inference))
}

/// A known map for a motion that may be a mirror image, or have a rest pose that the map does not expect.
fn as_it_is_written<'a>(source: &SourceMotion, rig: &'a RigMap, joints: MatchReport) -> ChosenRig<'a> {
    let known = |rig, joints| ChosenRig { rig, joints, inference: None, warnings: Vec::new() };
    if source.validate().is_err() {
        return known(Cow::Borrowed(rig), joints);
    }
    if !rig.file.mirrored && is_mirrored(source, &joints) {
        let mut mirrored = rig.clone();
        mirrored.file.mirrored = true;
        return known(Cow::Owned(mirrored), joints);
    }
    let lacks_axes = |(role, joint): (usize, &Option<JointIndex>)| {
        joint.is_some() && !rig.axes.contains_key(&JointIndex(role))
    };
    let needs_rest = joints.source_joints.iter().enumerate().any(lacks_axes);
    if needs_rest && rest_kind(source, &joints).is_err() {
        // The joints' names say more than their axes at rest: these are inferred.
        if let Ok(inference) = infer(source) {
            return of_inference(inference);
        }
    }
    known(Cow::Borrowed(rig), joints)
}

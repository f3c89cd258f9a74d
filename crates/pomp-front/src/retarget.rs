//! A motion on the skeleton of another file, by rules or by networks.

use crate::{config_file, motion_file};
use anyhow::{Context, Result, anyhow, bail};
use pomp_embedded::Device;
use pomp_motion::retarget::{Inference, Proportions, RigLibrary, UpAxis};
use pomp_motion::{Clip, GlobalPose, Recording, SourceMotion};
use pomp_preprocess::PreprocessConfig;
use pomp_retarget::{
    OntoOptions, OntoReport, RetargetOntoError, SkeletonFile, TargetSkeleton, onto_skeleton, write_onto,
};
use pomp_skeletal::{SkeletalModel, read_motion};
use serde::Serialize;
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// A motion to be retargeted.
#[derive(Clone, Copy, Debug)]
pub enum Motion<'a> {
    /// A recording or rollout (.npz), or a motion file (.bvh, .glb, .gltf).
    File(&'a Path),
    /// A recording or rollout.
    Recording(&'a Recording),
}

/// What to retarget onto what.
#[derive(Clone, Copy, Debug)]
pub struct RetargetRequest<'a> {
    /// The motion.
    pub motion: Motion<'a>,
    /// File with the target skeleton (.bvh, .glb, .gltf).
    pub to: &'a Path,
    /// File to write (.bvh, .glb, .gltf); without it nothing is written.
    pub out: Option<&'a Path>,
}

/// How the rules put a motion on a skeleton.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rules<'a> {
    /// Hold planted feet in place.
    pub plant_feet: bool,
    /// Use the simulated motion of a recording made by preprocessing.
    pub simulated: bool,
    /// Rig maps of the user, tried before the built-in ones.
    pub rigs: &'a [PathBuf],
    /// Preprocessing configuration by which a motion file is read.
    pub config: Option<&'a Path>,
    /// `KEY.PATH=VALUE` in place of values of the configuration.
    pub settings: &'a [String],
}

/// What the rules did.
#[derive(Clone, Debug, Serialize)]
pub struct ByRules {
    /// What was found, missing and measured.
    #[serde(flatten)]
    pub report: OntoReport,
    /// How the rig map was inferred, where no known one fits.
    pub inference: Option<Inference>,
    /// Number of frames.
    pub frames: usize,
    /// Frames per second.
    pub frame_rate_hz: f32,
}

/// What networks did.
#[derive(Clone, Debug, Serialize)]
pub struct ByNetworks {
    /// Which of the model's skeletons the motion is on: `first` or `second`.
    pub from_skeleton: &'static str,
    /// Which of them the target is.
    pub to_skeleton: &'static str,
    /// Joints of the target that the networks do not see; they keep their mean rotation of the motions learned.
    pub at_mean: Vec<String>,
    /// Number of frames.
    pub frames: usize,
    /// Frames per second.
    pub frame_rate_hz: f32,
}

impl RetargetRequest<'_> {
    /// Retargets by the rules of [`pomp_retarget`].
    ///
    /// # Errors
    /// A file that cannot be read or written; a skeleton that no rig map fits; a recording without the simulated motion asked for.
    pub fn by_rules(&self, rules: &Rules<'_>) -> Result<ByRules> {
        let rigs = motion_file::rigs(rules.rigs)?;
        let target = TargetSkeleton::read(self.to, &rigs)?;
        let recording = match self.motion {
            Motion::File(path) => Cow::Owned(read(path, rules, &rigs)?),
            Motion::Recording(recording) => Cow::Borrowed(recording),
        };
        let told = || self.motion.name();
        let recording = if rules.simulated { Cow::Owned(simulated(&told(), &recording)?) } else { recording };
        let clip = recording.to_clip().with_context(told)?;
        let options = OntoOptions { plant_feet: rules.plant_feet, ..OntoOptions::default() };
        let result = onto_skeleton(&clip, &recording.foot_contact, &target, options).with_context(told)?;
        if let Some(out) = self.out {
            result.write(out)?;
        }
        Ok(ByRules {
            report: result.report,
            inference: target.inference().cloned(),
            frames: clip.frames(),
            frame_rate_hz: clip.frame_rate_hz,
        })
    }

    /// Retargets by skeleton-aware networks in the folder or file `model`.
    ///
    /// # Errors
    /// A file that cannot be read or written; a motion or target on a skeleton that the networks do not know.
    pub fn by_networks(&self, model: &Path) -> Result<ByNetworks> {
        if let Motion::File(path) = self.motion
            && !motion_file::is_recording(path)
            && !pomp_formats::is_motion_file(path)
        {
            bail!(
                "{}: none of .bvh, .glb, .gltf and .npz; give a motion file or a recording",
                path.display()
            );
        }
        if let Some(out) = self.out.filter(|out| !["bvh", "glb"].iter().any(|kind| is(out, kind))) {
            return Err(RetargetOntoError::UnknownKind { path: out.to_path_buf() }.into());
        }
        let target = SkeletonFile::read(self.to)?;
        let networks = SkeletalModel::open(model, &Device::flex())?;
        let motion = match self.motion {
            Motion::File(path) => read_motion(path)?,
            Motion::Recording(recording) => source(recording.to_clip()?),
        };
        let names = [self.motion.name(), self.to.display().to_string()];
        if let SkeletonFile::Glb(_) = target {
            networks.check_rest_pose(&names[1], target.motion(), UpAxis::Y)?;
        }
        let sides = [
            networks.side_of(&names[0], &motion.skeleton)?,
            networks.side_of(&names[1], &target.motion().skeleton)?,
        ];
        let result = networks.retarget([&names[0], &names[1]], &motion, target.motion())?;
        if let Some(out) = self.out {
            write_onto(out, &target, self.to, &result, &RigLibrary::builtin())?;
        }
        let aim = &networks.description.structures[sides[1]];
        let at_mean = aim.seen.left_out().into_iter().map(str::to_owned).collect();
        let [from_skeleton, to_skeleton] = sides.map(|side| ["first", "second"][side]);
        Ok(ByNetworks {
            from_skeleton,
            to_skeleton,
            at_mean,
            frames: result.frames(),
            frame_rate_hz: result.frame_rate_hz,
        })
    }
}

impl Motion<'_> {
    /// The path, or the name of the recording.
    fn name(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::Recording(recording) => recording.name.clone(),
        }
    }
}

fn is(path: &Path, kind: &str) -> bool {
    path.extension().is_some_and(|own| own.eq_ignore_ascii_case(kind))
}

/// A clip of the project skeleton as the motion of a file.
fn source(clip: Clip) -> SourceMotion {
    SourceMotion {
        name: clip.name,
        skeleton: clip.skeleton.as_ref().clone(),
        end_sites: Vec::new(),
        frame_rate_hz: clip.frame_rate_hz,
        poses: clip.poses,
        joint_translations: None,
    }
}

/// The motion on the project skeleton. A motion file keeps its own bone lengths, unless the configuration states others: the
/// fewer bodies a motion passes through, the less of it is lost.
fn read(path: &Path, rules: &Rules<'_>, rigs: &RigLibrary) -> Result<Recording> {
    let mut config =
        config_file::over_defaults::<PreprocessConfig>(rules.config, rules.settings)?.checked()?;
    let is_stated = rules.settings.iter().any(|setting| setting.starts_with("retarget.proportions"));
    if rules.config.is_none() && !is_stated {
        config.retarget.proportions = Proportions::Source;
    }
    motion_file::read(path, &config, rigs)
}

/// The recording with the motion of its simulated body, and the contacts that it felt.
fn simulated(name: &str, recording: &Recording) -> Result<Recording> {
    let Some(track) = &recording.simulation else {
        bail!(
            "{name}: it holds no simulated motion; leave --simulated out, or give a recording that `pomp preprocess` has written"
        );
    };
    let poses: Option<Vec<GlobalPose>> =
        (0..recording.frames()).map(|frame| recording.simulated_pose(frame)).collect();
    let poses = poses.ok_or_else(|| anyhow!("{name}: its simulated motion is shorter than its clip"))?;
    let mut simulated = Recording::of_global_poses(
        &recording.name,
        recording.skeleton.clone(),
        recording.frame_rate_hz,
        &poses,
    );
    simulated.foot_contact = track.foot_contact().unwrap_or_else(|| recording.foot_contact.clone());
    Ok(simulated)
}

//! Trained networks with everything that it takes to run them, as one file.

use crate::config::SkeletalConfig;
use crate::corpus::{Corpus, at_rate};
use crate::kinematics::{PLACES, places};
use crate::losses::offsets;
use crate::networks::{FRAMES_PER_CODE, SkeletalNetworks};
use crate::structure::{Body, Structure};
use crate::{RATE_HZ, SkeletalError};
use burn::tensor::{Device, Tensor, TensorData};
use pomp_motion::retarget::UpAxis;
use pomp_motion::{Skeleton, SourceMotion};
use pomp_weights::{WeightFile, WeightPrecision};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// The entry of the metadata that holds a [`SkeletalDescription`].
const ENTRY: &str = "retarget";
const NETWORKS: &str = "networks";
/// Name of the file in a model folder.
const FILE: &str = "retarget.safetensors";

/// Everything about trained networks but their weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SkeletalDescription {
    /// Program and version.
    pub made_by: String,
    /// The resolved configuration.
    pub config: SkeletalConfig,
    /// Hash of the motions of both skeletons.
    pub data_hash: String,
    /// Seconds of motion of each that were learned from.
    pub seconds: [f32; 2],
    /// The skeletons.
    pub structures: [Structure; 2],
    /// Figures of the training: name → value.
    pub metrics: BTreeMap<String, f32>,
}

impl SkeletalDescription {
    /// Networks of its sizes with weights from its seed.
    pub fn fresh(&self, device: &Device) -> SkeletalNetworks {
        let [a, b] = [0, 1].map(|side| self.structures[side].tree());
        SkeletalNetworks::new([&a, &b], &self.config.sizes, self.config.seed, device)
    }

    fn check(&self) -> Result<(), String> {
        self.config.validate().map_err(|error| error.to_string())?;
        for (side, structure) in ["a", "b"].iter().zip(&self.structures) {
            let joints = structure.joints.len();
            let in_order = structure.parents.iter().enumerate().all(|(joint, parent)| match parent {
                None => joint == 0,
                Some(parent) => *parent < joint,
            });
            let per_joint =
                [structure.parents.len(), structure.mean_rotations.len(), structure.mean_offsets.len()];
            if joints == 0 || !in_order || per_joint.iter().any(|count| *count != joints) {
                return Err(format!("the joints of skeleton {side} are no tree"));
            }
            structure
                .seen
                .validate(joints)
                .map_err(|reason| format!("the joints of the files of skeleton {side} {reason}"))?;
            let mut order = structure.order.clone();
            order.sort_unstable();
            if order != (0..structure.chains().len()).collect::<Vec<_>>() {
                return Err(format!("the chains of skeleton {side} are not in order"));
            }
            let ends = [structure.feet[0], structure.feet[1], structure.head];
            let widths = [structure.mean.len(), structure.deviation.len()];
            let is_good = |deviation: &f32| deviation.is_normal() && *deviation > 0.0;
            if ends.iter().any(|end| *end >= joints)
                || widths.iter().any(|width| *width != structure.width())
                || !structure.deviation.iter().all(is_good)
                || !structure.mean.iter().all(|mean| mean.is_finite())
            {
                return Err(format!("the features of skeleton {side} are not whole"));
            }
        }
        Ok(())
    }
}

/// Trained networks.
#[derive(Clone, Debug)]
pub struct SkeletalModel {
    /// What they are.
    pub description: SkeletalDescription,
    /// The weights.
    pub networks: SkeletalNetworks,
}

impl SkeletalModel {
    /// The file of networks in a model folder.
    pub fn place(folder: &Path) -> std::path::PathBuf {
        folder.join(FILE)
    }

    /// Writes it in half precision, whole or not at all.
    ///
    /// # Errors
    /// A file that cannot be written, or a weight that is not finite.
    pub fn save(&self, path: &Path) -> Result<(), SkeletalError> {
        let json = serde_json::to_string(&self.description).expect("a description is plain data");
        let mut file = WeightFile::new(Some((ENTRY, &json)));
        file.add_module(NETWORKS, &self.networks)?;
        Ok(file.save(path, WeightPrecision::F16)?)
    }

    /// Reads a file, or the file of a model folder.
    ///
    /// # Errors
    /// A file that cannot be read, or holds no such networks.
    pub fn open(path: &Path, device: &Device) -> Result<Self, SkeletalError> {
        let path = if path.is_dir() { Self::place(path) } else { path.to_path_buf() };
        let file = WeightFile::open(&path)?;
        let bad = |reason: String| SkeletalError::BadFile { source_name: path.display().to_string(), reason };
        let description: SkeletalDescription =
            serde_json::from_str(file.metadata(ENTRY)?).map_err(|error| bad(error.to_string()))?;
        description.check().map_err(bad)?;
        let networks = file.load_into(NETWORKS, description.fresh(device))?;
        Ok(Self { description, networks })
    }

    /// Which of its skeletons, 0 or 1, this is.
    ///
    /// # Errors
    /// [`SkeletalError::UnknownSkeleton`] says what differs from the nearer one; `place` is named in it.
    pub fn side_of(&self, place: &str, skeleton: &Skeleton) -> Result<usize, SkeletalError> {
        let checked = self.description.structures.each_ref().map(|structure| structure.seen.check(skeleton));
        if let Some(side) = checked.iter().position(Result::is_ok) {
            return Ok(side);
        }
        let shared = |structure: &Structure| {
            structure.seen.joints.iter().filter(|name| skeleton.index_of(name).is_some()).count()
        };
        let [a, b] = self.description.structures.each_ref().map(shared);
        let nearer = usize::from(b > a);
        let reason = checked[nearer].clone().expect_err("it is neither");
        let named = ["first", "second"][nearer];
        Err(SkeletalError::UnknownSkeleton {
            place: place.to_owned(),
            reason: format!("against the {named}, {reason}"),
        })
    }

    /// Checks that a target from a file of another format than the motions learned has their up axis, and their rest pose in joint
    /// frames that are theirs. The networks give rotations from that pose.
    ///
    /// # Errors
    /// [`SkeletalError::UnknownSkeleton`]; as [`Structure::body`].
    pub fn check_rest_pose(
        &self,
        place: &str,
        target: &SourceMotion,
        up: UpAxis,
    ) -> Result<(), SkeletalError> {
        let structure = &self.description.structures[self.side_of(place, &target.skeleton)?];
        let unknown = |reason: String| SkeletalError::UnknownSkeleton { place: place.to_owned(), reason };
        if structure.up != up {
            return Err(unknown(format!(
                "{} points up in the motions learned, {} in this file",
                structure.up.name(),
                up.name()
            )));
        }
        match structure.bone_elsewhere(&structure.body(&structure.seen.reduced(target))?) {
            Some(joint) => Err(unknown(format!(
                "the bone to \"{}\" points elsewhere in its rest pose than in that of the motions learned",
                structure.joints[joint]
            ))),
            None => Ok(()),
        }
    }

    /// A motion on the skeleton of another, `target`, whose own motion is not used; names are for errors. The frame rate stays: the
    /// networks see the motion at 30 Hz, and what they say is interpolated.
    ///
    /// # Errors
    /// [`SkeletalError::UnknownSkeleton`] for a motion or target on a skeleton that is not the model's; as [`Structure::body`].
    pub fn retarget(
        &self,
        [source_name, target_name]: [&str; 2],
        motion: &SourceMotion,
        target: &SourceMotion,
    ) -> Result<SourceMotion, SkeletalError> {
        let from = self.side_of(source_name, &motion.skeleton)?;
        let to = self.side_of(target_name, &target.skeleton)?;
        let [source, aim] = [from, to].map(|side| &self.description.structures[side]);
        let (known, aim_known) = (source.seen.reduced(motion), aim.seen.reduced(target));
        let (body, aim_body) = (source.body(&known)?, aim.body(&aim_known)?);
        let seen = at_rate(&known, RATE_HZ)?;
        let (mut features, path) = source.features(&body, &seen);
        source.normalise(&mut features);
        let shown = self.run([from, to], [&body, &aim_body], &features);
        let poses = aim.seen.whole(aim.poses(&aim_body, &shown, &path));
        let shown = SourceMotion {
            poses,
            frame_rate_hz: RATE_HZ,
            name: motion.name.clone(),
            joint_translations: None,
            ..target.clone()
        };
        let mut result = at_rate(&shown, motion.frame_rate_hz)?;
        // The last frames of a rate that does not divide are held.
        let last = result.poses[result.poses.len() - 1].clone();
        result.poses.resize(motion.frames(), last);
        if let Some(table) = &target.joint_translations {
            let rows = result
                .poses
                .iter()
                .flat_map(|pose| std::iter::once(pose.root_position).chain(table[0][1..].iter().copied()));
            result.joint_translations = pomp_motion::FrameTable::from_values(table.columns(), rows.collect());
        }
        result.validate()?;
        Ok(result)
    }

    /// Mean squared distance of joints over the squared height, times 1000, of clips held out, or where there are none of those learned,
    /// through their own encoder and decoder: name → figure.
    pub fn reconstruction_figures(&self, corpora: &[Corpus; 2]) -> BTreeMap<String, f32> {
        let mut figures = BTreeMap::new();
        for (side, corpus) in corpora.iter().enumerate() {
            let is_held_out = !corpus.clips[1].is_empty();
            let (mut sum, mut count) = (0.0_f64, 0_usize);
            for clip in &corpus.clips[usize::from(is_held_out)] {
                let (structure, body) = (&corpus.structure, &corpus.bodies[clip.body]);
                let shown = self.run([side; 2], [body; 2], &clip.features);
                let mut own = clip.features.clone();
                structure.denormalise(&mut own);
                let width = structure.width();
                for (shown, own) in shown.chunks_exact(width).zip(own.chunks_exact(width)) {
                    let [shown, own] = [shown, own].map(|features| {
                        let mut found = Vec::new();
                        places(structure, body, features, &mut found);
                        found
                    });
                    let apart = shown.iter().zip(&own).skip(PLACES).map(|(a, b)| f64::from(a - b).powi(2));
                    sum += apart.sum::<f64>();
                    count += structure.joints.len();
                }
            }
            let name = format!(
                "{}_reconstruction_{}",
                if is_held_out { "held_out" } else { "training" },
                ["a", "b"][side]
            );
            figures.insert(name, (1e3 * sum / count.max(1) as f64) as f32);
        }
        figures
    }

    /// Normalised features of one body through an encoder and a decoder to those of another in their own units.
    pub fn run(&self, [from, to]: [usize; 2], bodies: [&Body; 2], features: &[f32]) -> Vec<f32> {
        let device = Device::flex();
        let [source, aim] = [from, to].map(|side| &self.description.structures[side]);
        let width = source.width();
        let frames = features.len() / width;
        let padded = frames.next_multiple_of(FRAMES_PER_CODE).max(2 * FRAMES_PER_CODE);
        let mut values = features.to_vec();
        let last = values[values.len() - width..].to_vec();
        (frames..padded).for_each(|_| values.extend_from_slice(&last));
        let input = Tensor::<3>::from_data(TensorData::new(values, [1, padded, width]), &device);
        let has_static = self.description.config.static_branch;
        let statics = |side: usize, body: &Body| {
            let offsets = offsets(&self.description.structures[side], &[body], has_static, &device);
            self.networks.of(side).statics(&offsets)
        };
        let code = self.networks.of(from).encode(&input, &statics(from, bodies[0]));
        let shown = self.networks.of(to).decode(&code, &statics(to, bodies[1]));
        let mut values = aim.restored(&shown).try_into_vec_as::<f32>().expect("features are numbers");
        values.truncate(frames * aim.width());
        values
    }
}

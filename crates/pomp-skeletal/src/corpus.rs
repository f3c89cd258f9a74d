//! The motions of one skeleton that networks learn from.

use crate::RATE_HZ;
use crate::SkeletalError;
use crate::config::SkeletalConfig;
use crate::seen::Seen;
use crate::structure::{Body, Structure};
use pomp_files::Digest;
use pomp_formats::{is_motion_file, read_recording};
use pomp_motion::{Clip, SourceMotion};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A motion as the networks see it.
#[derive(Clone, Debug)]
pub struct SkeletalClip {
    /// Its name.
    pub name: String,
    /// Its body in [`Corpus::bodies`].
    pub body: usize,
    /// Frames.
    pub frames: usize,
    /// Normalised features, `[T, N 4]`.
    pub features: Vec<f32>,
}

/// Motions of one skeleton on bodies of any proportions.
#[derive(Clone, Debug)]
pub struct Corpus {
    /// The skeleton.
    pub structure: Structure,
    /// The bodies.
    pub bodies: Vec<Body>,
    /// Motions to learn from, and those held out.
    pub clips: [Vec<SkeletalClip>; 2],
    /// Hash of the motions.
    pub hash: String,
}

/// Motions of a folder, in the order of their names.
///
/// # Errors
/// A folder that cannot be listed or holds none; a file that cannot be read.
pub fn read_motions(folder: &Path) -> Result<Vec<SourceMotion>, SkeletalError> {
    let unlisted = |source| SkeletalError::Folder { folder: folder.to_path_buf(), source };
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unlisted)? {
        let path = entry.map_err(unlisted)?.path();
        if is_recording(&path) || is_motion_file(&path) {
            files.push(path);
        }
    }
    files.sort();
    if files.is_empty() {
        return Err(SkeletalError::NoMotions { folder: folder.to_path_buf() });
    }
    files.iter().map(|path| read_motion(path)).collect()
}

fn is_recording(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("npz"))
}

/// The motion of a motion file (.bvh, .glb, .gltf), or of a recording (.npz).
///
/// # Errors
/// A file that cannot be read.
pub fn read_motion(path: &Path) -> Result<SourceMotion, SkeletalError> {
    if is_recording(path) {
        let clip = read_recording(path)?.to_clip()?;
        return Ok(SourceMotion {
            name: clip.name.clone(),
            skeleton: clip.skeleton.as_ref().clone(),
            end_sites: Vec::new(),
            frame_rate_hz: clip.frame_rate_hz,
            poses: clip.poses,
            joint_translations: None,
        });
    }
    Ok(pomp_formats::read_motion(path)?.0)
}

/// The motion at another rate.
///
/// # Errors
/// Data that break the rules of a clip.
pub fn at_rate(motion: &SourceMotion, rate_hz: f32) -> Result<SourceMotion, SkeletalError> {
    let skeleton = Arc::new(motion.skeleton.clone());
    let clip = Clip::new(motion.name.clone(), skeleton, motion.frame_rate_hz, motion.poses.clone())?;
    let clip = clip.resampled(rate_hz);
    let joint_translations = motion.joint_translations.as_ref().map(|table| {
        pomp_motion::FrameTable::from_values(
            table.columns(),
            clip.poses
                .iter()
                .flat_map(|pose| std::iter::once(pose.root_position).chain(table[0][1..].iter().copied()))
                .collect(),
        )
        .expect("whole rows")
    });
    Ok(SourceMotion { poses: clip.poses, frame_rate_hz: rate_hz, joint_translations, ..motion.clone() })
}

impl Corpus {
    /// A corpus of motions of the first skeleton (`side` 0) or the second (1) of a training by `config`, which says what is held out;
    /// `place` is named in errors. Motions shorter than a window are left out.
    ///
    /// # Errors
    /// As [`Seen::find`] and [`Structure::find`], and where no motion is long enough.
    pub fn new(
        place: &str,
        motions: &[SourceMotion],
        config: &SkeletalConfig,
        side: usize,
    ) -> Result<Self, SkeletalError> {
        let SkeletalConfig { held_out_every, window_frames, .. } = *config;
        let up = [config.up_axis.a, config.up_axis.b][side];
        let seen = Seen::find(place, motions, &config.leave_out, side)?;
        let motions: Vec<_> = motions.iter().map(|motion| seen.reduced(motion)).collect();
        // Joints that move in their parents are refused at the files' own frames.
        let sampled = motions.iter().map(|motion| at_rate(motion, RATE_HZ)).collect::<Result<Vec<_>, _>>()?;
        let structure = Structure::find(place, &sampled, up, seen)?;
        for motion in &motions {
            structure.body(motion)?;
        }
        let mut corpus =
            Self { structure, bodies: Vec::new(), clips: [Vec::new(), Vec::new()], hash: String::new() };
        let mut told = String::new();
        let mut taken = 0;
        for motion in &sampled {
            let body = corpus.structure.body(motion)?;
            let (mut features, _) = corpus.structure.features(&body, motion);
            corpus.structure.normalise(&mut features);
            told.push_str(&format!("{} {}\n", motion.name, Digest::of(bytes(&features)).short()));
            if motion.frames() < window_frames {
                continue;
            }
            taken += 1;
            let is_held_out = held_out_every > 0 && taken % held_out_every == 0;
            let body = corpus.body_index(body);
            let clip = SkeletalClip { name: motion.name.clone(), body, frames: motion.frames(), features };
            corpus.clips[usize::from(is_held_out)].push(clip);
        }
        if corpus.clips[0].is_empty() {
            return Err(SkeletalError::Skeleton {
                place: place.to_owned(),
                reason: format!(
                    "none of its {} motions to learn from lasts {:.1} s, the length of a window; give longer ones, or lower window_frames",
                    motions.len(),
                    window_frames as f32 / RATE_HZ
                ),
            });
        }
        corpus.hash = Digest::of(told).short();
        Ok(corpus)
    }

    fn body_index(&mut self, body: Body) -> usize {
        let is_it = |other: &Body| {
            other.offsets.iter().zip(&body.offsets).all(|(a, b)| a.distance(*b) < 1e-4)
                && (other.height / body.height - 1.0).abs() < 1e-4
        };
        self.bodies.iter().position(is_it).unwrap_or_else(|| {
            self.bodies.push(body);
            self.bodies.len() - 1
        })
    }

    /// Seconds of motion to learn from.
    pub fn seconds(&self) -> f32 {
        self.clips[0].iter().map(|clip| clip.frames).sum::<usize>() as f32 / RATE_HZ
    }
}

fn bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

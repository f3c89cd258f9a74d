//! Recordings in memory, as training sees them.

use crate::shards::Shards;
use crate::split::Split;
use crate::{TrainConfig, TrainError};
use glam::{Vec2, Vec3};
use pomp_files::{Digest, Hasher};
use pomp_motion::features::CharacterState;
use pomp_motion::rotation::wrap_angle;
use pomp_motion::{FrameTable, Gait, GlobalPose, Recording, Skeleton};
use pomp_terrain::HeightMap;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use pomp_motion::FRAME_RATE_HZ;

/// Heights of level ground differ by no more, metres.
const LEVEL_WITHIN_M: f32 = 0.01;

/// Simulated pelvis farther than this from the clip's: the ragdoll has lost the clip, metres.
const LOST_BEYOND_M: f32 = 0.3;

/// Frames around a moment at which the ragdoll had lost the clip that are not learned from: what the
/// simulator cannot support (a chair or a ladder that is not there) is not part of the prior.
const LOST_MARGIN_FRAMES: usize = 45;

/// Recordings that are read before any of them is looked at: enough for all cores, few enough for memory.
const READ_AT_ONCE: usize = 64;

/// One recording with the states of all its frames.
#[derive(Debug)]
pub struct TrainingClip {
    /// The recording.
    pub recording: Recording,
    /// Its ground.
    pub terrain: HeightMap,
    /// Whether the ground is level.
    pub level: bool,
    /// States of the clip itself `[T]`.
    pub clean: Vec<CharacterState>,
    /// States of the physics replay `[T]`.
    pub simulated: Vec<CharacterState>,
    /// Whether the replay is near the clip at each frame and around it.
    pub supported: Vec<bool>,
    /// Phase codes of the clean periodic autoencoder, `[T, 2C]`; empty until phases are trained.
    pub phase_codes: FrameTable<f32>,
    /// Frequency (Hz), amplitude and offset, `[T, 3C]`; empty until phases are trained.
    pub phase_parameters: FrameTable<f32>,
    /// Kept out of training, to measure with.
    pub held_out: bool,
}

/// All recordings of a folder.
#[derive(Debug)]
pub struct Dataset {
    /// The recordings that are in memory; all, sorted by file name, unless they take turns.
    pub clips: Vec<TrainingClip>,
    /// The skeleton that all of them share.
    pub skeleton: Arc<Skeleton>,
    /// Bodies with contact impulses.
    pub body_names: Vec<String>,
    /// Mass of the character, kg.
    pub mass_kg: f32,
    /// Hash of all recordings; phases written into them do not change it.
    pub hash: String,
    /// How many recordings of the folder are left out by the names of their clips.
    pub excluded: usize,
    /// Those that are not in memory, when they take turns.
    pub(crate) shards: Option<Shards>,
}

impl Dataset {
    /// Reads every recording of `folder` but those of the clips in `exclude`. About one clip in
    /// `held_out_every` (by hash of the clip's name, a mirror image with its original) is held out.
    ///
    /// # Errors
    /// No recording, one that cannot be read, has another rate or skeleton, or lacks its physics replay.
    pub fn load(folder: &Path, held_out_every: usize, exclude: &[String]) -> Result<Self, TrainError> {
        let exclude = exclude.to_vec();
        Self::load_split(folder, &Split { held_out_every, exclude, ..Split::default() })
    }

    /// As [`Self::load`], divided as `split` says.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn load_split(folder: &Path, split: &Split) -> Result<Self, TrainError> {
        let (paths, mut reading) = begin(folder, split)?;
        let mut clips: Vec<TrainingClip> = Vec::new();
        for paths in paths.chunks(READ_AT_ONCE) {
            for (path, read) in paths.iter().zip(TrainingClip::read_all(paths, split)) {
                let clip = reading.take(path, read?, clips.first())?;
                clips.push(clip);
            }
        }
        if clips.iter().all(|clip| clip.held_out) {
            // A folder of one or two clips: there is nothing to hold out.
            for clip in &mut clips {
                clip.held_out = false;
            }
        }
        Ok(reading.dataset(clips, None))
    }

    /// Reads the recordings that a training needs: all of them, or as many as may be in memory at a time
    /// ([`TrainConfig::resident_recordings`]).
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn open(folder: &Path, config: &TrainConfig) -> Result<Self, TrainError> {
        let resident = config.resident_recordings;
        if resident == 0 {
            return Self::load_split(folder, &config.split());
        }
        let split = config.split();
        let (paths, mut reading) = begin(folder, &split)?;
        let (mut recordings, mut first) = (Vec::new(), None);
        for paths in paths.chunks(READ_AT_ONCE) {
            for (path, read) in paths.iter().zip(TrainingClip::read_all(paths, &split)) {
                let clip = reading.take(path, read?, first.as_ref())?;
                recordings.push((path.clone(), clip.held_out));
                if first.is_none() {
                    first = Some(clip);
                }
            }
        }
        let totals =
            [recordings.len(), reading.frames, recordings.iter().filter(|(_, held_out)| *held_out).count()];
        let (mut shards, held_out) = Shards::new(recordings, resident, config.seed, split);
        shards.totals = totals;
        shards.provenance = reading.provenance();
        let split = shards.split();
        let resident: Vec<&Path> = held_out.iter().map(PathBuf::as_path).chain(shards.of_turn(0)).collect();
        let read = TrainingClip::read_all(&resident, split).into_iter();
        let clips = read.map(|read| Ok(read?.0)).collect::<Result<Vec<_>, TrainError>>()?;
        Ok(reading.dataset(clips, Some(shards)))
    }

    /// Numbers of recordings, of their frames, and of recordings that are held out, in memory or not.
    pub fn totals(&self) -> [usize; 3] {
        if let Some(shards) = &self.shards {
            return shards.totals;
        }
        [
            self.clips.len(),
            self.clips.iter().map(TrainingClip::frames).sum(),
            self.clips.iter().filter(|clip| clip.held_out).count(),
        ]
    }

    /// Clips to learn from.
    pub fn training(&self) -> impl Iterator<Item = (usize, &TrainingClip)> {
        self.clips.iter().enumerate().filter(|(_, clip)| !clip.held_out)
    }

    /// Clips to measure with; the training clips when none is held out.
    pub fn held_out(&self) -> Vec<(usize, &TrainingClip)> {
        let held: Vec<_> = self.clips.iter().enumerate().filter(|(_, clip)| clip.held_out).collect();
        if held.is_empty() { self.training().collect() } else { held }
    }

    /// Which clips [`Self::held_out`] gives, for the names of figures: what was measured on training clips must not
    /// be called held out.
    pub fn measured_on(&self) -> &'static str {
        if self.clips.iter().any(|clip| clip.held_out) { "held_out" } else { "training" }
    }

    /// Sources with their licences and seconds, for the model card.
    pub fn provenance(&self) -> Vec<(String, f32)> {
        if let Some(shards) = &self.shards {
            return shards.provenance.clone();
        }
        let mut seconds = BTreeMap::new();
        for clip in &self.clips {
            note_source(&clip.recording, clip.frames(), &mut seconds);
        }
        seconds.into_iter().collect()
    }

    /// As [`Self::provenance`], of parts of clips alone.
    pub(crate) fn provenance_of(&self, parts: &[(usize, Range<usize>)]) -> Vec<(String, f32)> {
        let mut seconds = BTreeMap::new();
        for (index, range) in parts {
            note_source(&self.clips[*index].recording, range.len(), &mut seconds);
        }
        seconds.into_iter().collect()
    }
}

/// Adds so many frames of a recording to the seconds of its collection.
fn note_source(recording: &Recording, frames: usize, seconds: &mut BTreeMap<String, f32>) {
    let collection = recording.source.split(';').next().unwrap_or_default().trim();
    let key = format!("{collection} ({})", recording.license);
    *seconds.entry(key).or_default() += frames as f32 / FRAME_RATE_HZ;
}

/// The recordings of `folder` that `split` does not leave out, and what is gathered from them, nothing yet.
fn begin(folder: &Path, split: &Split) -> Result<(Vec<PathBuf>, Reading), TrainError> {
    let (excluded, paths): (Vec<PathBuf>, Vec<PathBuf>) = recordings_in(folder)?
        .into_iter()
        .partition(|path| path.file_stem().is_some_and(|stem| split.excludes(&stem.to_string_lossy())));
    if paths.is_empty() {
        return Err(TrainError::NoData { folder: folder.to_path_buf() });
    }
    Ok((paths, Reading { excluded: excluded.len(), ..Reading::default() }))
}

/// What is gathered from recordings, one after the other.
#[derive(Default)]
struct Reading {
    excluded: usize,
    hash: Hasher,
    frames: usize,
    seconds: BTreeMap<String, f32>,
    shared: Option<(Arc<Skeleton>, Vec<String>, f32)>,
}

impl Reading {
    /// Takes one more that was read; `first` is the first, which the others have to fit.
    fn take(
        &mut self,
        path: &Path,
        (clip, digest): (TrainingClip, Digest),
        first: Option<&TrainingClip>,
    ) -> Result<TrainingClip, TrainError> {
        self.hash.update(digest);
        if let Some(first) = first {
            first.check_fits(path, &clip)?;
        }
        self.frames += clip.frames();
        note_source(&clip.recording, clip.frames(), &mut self.seconds);
        let simulation = clip.recording.simulation.as_ref().expect("TrainingClip::new checked it");
        self.shared.get_or_insert_with(|| {
            let mass_kg = simulation.body_mass_kg.iter().sum();
            (Arc::clone(&clip.recording.skeleton), simulation.body_names.clone(), mass_kg)
        });
        Ok(clip)
    }

    fn provenance(&self) -> Vec<(String, f32)> {
        self.seconds.clone().into_iter().collect()
    }

    fn dataset(self, clips: Vec<TrainingClip>, shards: Option<Shards>) -> Dataset {
        let (skeleton, body_names, mass_kg) = self.shared.expect("a folder without recordings is refused");
        let hash = self.hash.finish().short();
        Dataset { clips, skeleton, body_names, mass_kg, hash, excluded: self.excluded, shards }
    }
}

impl TrainingClip {
    /// Reads recordings on all cores, each as [`Self::read`]; gives them in their order.
    pub(crate) fn read_all<P: AsRef<Path> + Sync>(
        paths: &[P],
        split: &Split,
    ) -> Vec<Result<(Self, Digest), TrainError>> {
        paths.par_iter().map(|path| Self::read(path.as_ref(), split)).collect()
    }

    /// Reads a recording and what of it goes into the hash of the data.
    fn read(path: &Path, split: &Split) -> Result<(Self, Digest), TrainError> {
        let recording = pomp_formats::npz::read_recording(path)?;
        let digest = Digest::of(pomp_formats::npz::bytes_without_phases(&recording)?);
        Ok((Self::new(path, recording, split)?, digest))
    }

    fn new(path: &Path, recording: Recording, split: &Split) -> Result<Self, TrainError> {
        let bad =
            |reason: &str| TrainError::BadRecording { path: path.to_path_buf(), reason: reason.to_owned() };
        if (recording.frame_rate_hz - FRAME_RATE_HZ).abs() > 0.01 {
            return Err(bad(&format!(
                "it has {} frames per second; training needs {FRAME_RATE_HZ}: preprocess it again",
                recording.frame_rate_hz
            )));
        }
        let Some(simulation) = &recording.simulation else {
            return Err(bad("it has no physics replay; make it with `pomp preprocess`"));
        };
        let Some(grid) = &recording.terrain else {
            return Err(bad("it has no terrain; make it with `pomp preprocess`"));
        };
        let terrain = HeightMap::from_grid(grid.clone()).map_err(|error| TrainError::BadRecording {
            path: path.to_path_buf(),
            reason: error.to_string(),
        })?;
        let frames = recording.frames();
        let clean_poses: Vec<GlobalPose> = (0..frames).map(|f| recording.global_pose(f)).collect();
        let simulated_poses: Vec<GlobalPose> =
            (0..frames).filter_map(|f| recording.simulated_pose(f)).collect();
        let clean = states(&recording.skeleton, &clean_poses, &recording.velocities, &terrain);
        let simulated = states(&recording.skeleton, &simulated_poses, &simulation.velocities, &terrain);
        let lost: Vec<bool> = clean_poses
            .iter()
            .zip(&simulated_poses)
            .map(|(a, b)| a.positions[0].distance(b.positions[0]) > LOST_BEYOND_M)
            .collect();
        let supported = (0..frames)
            .map(|f| {
                let window = f.saturating_sub(LOST_MARGIN_FRAMES)..(f + LOST_MARGIN_FRAMES + 1).min(frames);
                !lost[window].contains(&true)
            })
            .collect();
        let held_out = split.holds_out(&recording.name);
        Ok(Self {
            recording,
            level: is_level(&terrain),
            terrain,
            clean,
            simulated,
            supported,
            phase_codes: FrameTable::with_columns(1),
            phase_parameters: FrameTable::with_columns(1),
            held_out,
        })
    }

    /// Whether simulated rollouts practise what the clip does in `frame`: walking and standing on level ground, and jogging
    /// if `jogs`. The compact model that practised jogs too jogged worse, as far as rollouts that began in full flight could
    /// tell (docs/experiments/0054-hills-and-in-loop-fine-tuning.md, docs/experiments/0055-jog-start.md).
    pub(crate) fn is_practised(&self, frame: usize, jogs: bool) -> bool {
        self.level
            && match Gait::dominant(&self.recording.gait[frame]) {
                Gait::Stand | Gait::Walk => true,
                Gait::Jog => jogs,
                _ => false,
            }
    }

    /// Number of frames.
    pub fn frames(&self) -> usize {
        self.clean.len()
    }

    /// Contact impulses of a frame as the simulator reports them, N·s, world `[B]`: the closed loop has no others,
    /// and the network has to see in training what it sees there.
    pub fn sim_contact_impulse(&self, frame: usize) -> &[Vec3] {
        &self.recording.simulation.as_ref().expect("a training clip has its replay").sim_contact_impulse
            [frame]
    }

    /// Root on the ground plane and heading of `states` at a frame that may lie outside the clip: there the
    /// motion at its end goes on.
    pub fn root_at(states: &[CharacterState], frame: i64) -> (Vec2, f32) {
        let last = states.len() as i64 - 1;
        let inside = frame.clamp(0, last);
        let state = &states[inside as usize];
        let beyond = (frame - inside) as f32 / FRAME_RATE_HZ;
        let velocity =
            state.frame.vector_to_world(Vec3::new(state.root_velocity.x, 0.0, state.root_velocity.y));
        let origin = state.frame.origin;
        (Vec2::new(origin.x + velocity.x * beyond, origin.z + velocity.z * beyond), state.frame.yaw)
    }

    fn check_fits(&self, path: &Path, other: &Self) -> Result<(), TrainError> {
        let names = |clip: &Self| clip.recording.simulation.as_ref().map(|s| s.body_names.clone());
        let lengths = |clip: &Self| -> Vec<f32> {
            clip.recording.skeleton.joints().iter().skip(1).map(|joint| joint.offset.length()).collect()
        };
        let same_bones = lengths(self).iter().zip(lengths(other)).all(|(a, b)| (a - b).abs() < 1e-3);
        if names(self) != names(other)
            || self.recording.skeleton.len() != other.recording.skeleton.len()
            || !same_bones
        {
            return Err(TrainError::BadRecording {
                path: path.to_path_buf(),
                reason: format!(
                    "its skeleton is not that of \"{}\"; preprocess all clips with one config",
                    self.recording.name
                ),
            });
        }
        Ok(())
    }
}

/// The recordings (npz) of a folder, sorted.
pub(crate) fn recordings_in(folder: &Path) -> Result<Vec<PathBuf>, TrainError> {
    let io = |source| TrainError::Io { action: "listing the data", path: folder.to_path_buf(), source };
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(io)? {
        let path = entry.map_err(io)?.path();
        if path.extension().is_some_and(|extension| extension == "npz") {
            paths.push(path);
        }
    }
    paths.sort();
    if paths.is_empty() { Err(TrainError::NoData { folder: folder.to_path_buf() }) } else { Ok(paths) }
}

pub(crate) fn states(
    skeleton: &Skeleton,
    poses: &[GlobalPose],
    velocities: &FrameTable<Vec3>,
    terrain: &HeightMap,
) -> Vec<CharacterState> {
    let mut states: Vec<CharacterState> = poses
        .iter()
        .enumerate()
        .map(|(frame, pose)| {
            let hips = pose.positions[0];
            let ground = terrain.smoothed_height(hips.x, hips.z);
            CharacterState::from_world(skeleton, pose, &velocities[frame], 0.0, ground)
        })
        .collect();
    let yaws: Vec<f32> = states.iter().map(|state| state.frame.yaw).collect();
    for (frame, state) in states.iter_mut().enumerate() {
        let before = frame.saturating_sub(1);
        let turned = wrap_angle(yaws[frame] - yaws[before]);
        state.yaw_rate = turned * FRAME_RATE_HZ;
    }
    states
}

/// Whether no height differs from another by more than a centimetre.
fn is_level(terrain: &HeightMap) -> bool {
    let heights = || terrain.grid().heights.rows().flatten();
    let (low, high) = heights().fold((f32::INFINITY, f32::NEG_INFINITY), |(a, b), h| (a.min(*h), b.max(*h)));
    high - low <= LEVEL_WITHIN_M
}

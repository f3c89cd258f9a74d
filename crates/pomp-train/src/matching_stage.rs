//! Clips for motion matching: a choice of the dataset, no network.

use crate::dataset::{Dataset, FRAME_RATE_HZ, TrainingClip};
use crate::phase_stage::PhaseReader;
use crate::{Start, TrainError};
use burn::tensor::Device;
use pomp_config::{Fields, OutOfRange, Validate};
use pomp_controllers::matching::{
    MatchingClip, MatchingDescription, MatchingModel, MatchingWeights, StoredPhases,
};
use pomp_controllers::{ControllerFile, ControllerKind};
use pomp_motion::features::CharacterState;
use pomp_motion::{Gait, humanoid};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;

/// Height of the pelvis, as a share of standing, of frames that are matched: nothing asks for a crouch.
const UPRIGHT_SHARE: f32 = 0.88;
/// Shortest piece of motion that is taken, frames: the trajectory of a frame is a second long.
const LEAST_FRAMES: usize = 90;
/// Pieces that clips are cut into are about so long, frames.
const PIECE_FRAMES: usize = 240;
/// Pieces whose speed and turn are in the same cell are of one kind, m/s and rad/s.
const CELL: [f32; 2] = [0.4, 0.35];

/// Most frames among which the pose decides: each of them is compared.
const MOST_CANDIDATES: usize = 10_000;

/// Frames of a clip, by its number.
type Piece = (usize, Range<usize>);

/// Settings of motion matching as a controller: `configs/controllers/matching.toml`, and `matching-phase.toml` of that by phases.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MatchingConfig {
    /// `"matching"`, or `"matching-phase"`: the phases of the model's periodic autoencoder in the place of feet and hips.
    pub kind: ControllerKind,
    /// One clip in this many is held out; 0 holds out none.
    pub held_out_every: usize,
    /// Names of clips (without `_mirrored`) that are left out; one that ends in `*` stands for all that begin so.
    pub exclude: Vec<String>,
    /// Minutes of motion to store; mirror images are played too. Default 5; more motion covers more commands, but needs 0.28 MB per
    /// minute.
    pub minutes: f32,
    /// The pose decides among this many frames, those nearest by phases and path; 1 ignores the pose. Default 10; 1 with
    /// `"matching"`, whose single search compares poses.
    pub candidates: usize,
    /// Weight of each feature.
    pub weights: MatchingWeights,
}

impl Default for MatchingConfig {
    fn default() -> Self {
        Self::of(ControllerKind::Matching)
    }
}

impl MatchingConfig {
    /// The settings of a kind of motion matching.
    pub fn of(kind: ControllerKind) -> Self {
        let is_phased = kind == ControllerKind::MatchingPhase;
        Self {
            kind,
            held_out_every: crate::TrainConfig::default().held_out_every,
            exclude: Vec::new(),
            minutes: 5.0,
            candidates: if is_phased { 10 } else { 1 },
            weights: MatchingWeights {
                phase: if is_phased { 0.5 } else { 1.0 },
                ..MatchingWeights::default()
            },
        }
    }

    /// Checks every range.
    ///
    /// # Errors
    /// [`TrainError::OutOfRange`] with the first field outside its range.
    pub fn validate(&self) -> Result<(), TrainError> {
        Ok(self.check(&Fields::root())?)
    }
}

impl Validate for MatchingConfig {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        let by_pose = self.kind == ControllerKind::Matching;
        let is_right = by_pose || self.kind == ControllerKind::MatchingPhase;
        fields.holds(is_right, "kind", self.kind.name(), "matching or matching-phase")?;
        fields.within("candidates", self.candidates, 1..=MOST_CANDIDATES)?;
        let fits = !by_pose || self.candidates == 1;
        fields.holds(
            fits,
            "candidates",
            self.candidates,
            "1 with kind = \"matching\", which has no phases",
        )?;
        fields.within("minutes", self.minutes, 0.1..=600.0)?;
        self.weights.check(&fields.section("weights"))
    }
}

/// Chooses clips of `dataset` for motion matching and writes them as `controllers/KIND.safetensors` into the model folder `out`, whose
/// periodic autoencoder reads their phases when they are matched by phases.
///
/// # Errors
/// A setting outside its range; a controller of this kind that is there already, unless it is overwritten; no clip that can be used;
/// no trained autoencoder where phases are matched;
/// or a folder that cannot be written.
pub fn train_matching(
    dataset: &Dataset,
    config: &MatchingConfig,
    start: Start,
    out: &Path,
) -> Result<MatchingModel, TrainError> {
    let folder = out.join(ControllerFile::FOLDER);
    let path = out.join(ControllerFile::place(config.kind));
    if path.exists() && start != Start::Overwrite {
        return Err(TrainError::AlreadyTrained { stage: config.kind.name(), folder: out.to_path_buf() });
    }
    let io = |source| TrainError::Io { action: "creating the folder", path: folder.clone(), source };
    std::fs::create_dir_all(&folder).map_err(io)?;
    let model = build_matching(dataset, config, out)?;
    model.save(&path).map_err(pomp_model::ModelError::from)?;
    Ok(model)
}

/// Chooses clips of `dataset` for motion matching: training clips on level ground as they were recorded, where they stand, walk or jog
/// upright, as many minutes as `config` asks for, one piece of each speed and turn after the other. Phases are read by the periodic
/// autoencoder of the model in the folder `model`, which is not looked into when none are matched.
///
/// # Errors
/// A setting outside its range, no clip that can be used, or no trained autoencoder where phases are matched.
pub fn build_matching(
    dataset: &Dataset,
    config: &MatchingConfig,
    model: &Path,
) -> Result<MatchingModel, TrainError> {
    config.validate()?;
    let mut phases = match config.kind {
        ControllerKind::MatchingPhase => Some(PhaseReader::of_model(model, config.kind, &Device::flex())?),
        _ => None,
    };
    let pieces: Vec<Piece> = dataset
        .training()
        .filter(|(_, clip)| is_plain(clip))
        .flat_map(|(index, clip)| runs(&usable(clip)).into_iter().map(move |run| (index, run)))
        .flat_map(|(index, run)| cut(run).into_iter().map(move |piece| (index, piece)))
        .collect();
    let frames = (60.0 * config.minutes * FRAME_RATE_HZ) as usize;
    let chosen = joined(choose(&dataset.clips, pieces, frames));
    if chosen.is_empty() {
        return Err(TrainError::TooLittleData { stage: config.kind.name(), examples: 0 });
    }
    let clips: Vec<(String, MatchingClip)> = chosen
        .iter()
        .map(|(index, range)| {
            let clip = &dataset.clips[*index];
            let gaits = clip.recording.gait.clone();
            let mut whole = MatchingClip::of_states(&clip.clean, gaits, vec![true; clip.frames()]);
            if let Some((reader, _)) = &mut phases {
                // Of the whole clip: the window of a frame reaches a second beyond it.
                [whole.phase_codes, whole.mirrored_codes] =
                    reader.codes_of_both(&clip.clean, &dataset.skeleton)?;
            }
            Ok((clip.recording.name.clone(), whole.part(range.clone())))
        })
        .collect::<Result<_, TrainError>>()?;
    let description = MatchingDescription {
        kind: config.kind,
        made_by: format!("pomp {}", env!("CARGO_PKG_VERSION")),
        config: serde_json::to_value(config).expect("a config is plain data"),
        data_hash: dataset.hash.clone(),
        data: dataset.provenance_of(&chosen),
        skeleton: (*dataset.skeleton).clone(),
        clips: Vec::new(),
        weights: config.weights,
        phases: phases.map(|(_, channels)| StoredPhases { channels, candidates: config.candidates }),
        metrics: figures(&clips),
    };
    Ok(MatchingModel::new(description, &clips).map_err(pomp_model::ModelError::from)?)
}

/// Whether a clip is level, and neither a mirror image nor laid on other ground or pushed.
fn is_plain(clip: &TrainingClip) -> bool {
    clip.level && !clip.recording.name.contains("_terrain") && !clip.recording.name.ends_with("_mirrored")
}

/// Frames in which the character is supported and stands, walks or jogs upright.
fn usable(clip: &TrainingClip) -> Vec<bool> {
    let least_height = UPRIGHT_SHARE * clip.recording.skeleton.joints()[0].offset.y;
    (0..clip.frames())
        .map(|frame| {
            let gait = Gait::dominant(&clip.recording.gait[frame]);
            clip.supported[frame]
                && clip.clean[frame].positions_root[0].y >= least_height
                && matches!(gait, Gait::Stand | Gait::Walk | Gait::Jog)
        })
        .collect()
}

/// Runs of usable frames that are long enough.
fn runs(usable: &[bool]) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for frame in (0..usable.len()).filter(|frame| usable[*frame]) {
        match runs.last_mut() {
            Some(run) if run.end == frame => run.end += 1,
            _ => runs.push(frame..frame + 1),
        }
    }
    runs.retain(|run| run.len() >= LEAST_FRAMES);
    runs
}

/// A run in pieces of about the same length.
fn cut(run: Range<usize>) -> Vec<Range<usize>> {
    let pieces = (run.len() / PIECE_FRAMES).max(1);
    let at = |piece: usize| run.start + run.len() * piece / pieces;
    (0..pieces).map(|piece| at(piece)..at(piece + 1)).collect()
}

/// Pieces of at most so many frames in all (at least one), one of each speed and turn after the other.
fn choose(clips: &[TrainingClip], pieces: Vec<Piece>, frames: usize) -> Vec<Piece> {
    let mut kinds: BTreeMap<[u32; 2], Vec<(f32, Piece)>> = BTreeMap::new();
    for (index, range) in pieces {
        let states = &clips[index].clean[range.clone()];
        let count = states.len() as f32;
        let speed = states.iter().map(|state| state.root_velocity.length()).sum::<f32>() / count;
        // To either side: each piece is played in its mirror image too.
        let turn = (states.iter().map(|state| state.yaw_rate).sum::<f32>() / count).abs();
        let cell = [speed / CELL[0], turn / CELL[1]].map(|value| value as u32);
        kinds.entry(cell).or_default().push((hand_speed(states), (index, range)));
    }
    // Calm arms first: nothing asks for a gesture. The sort is stable.
    kinds.values_mut().for_each(|kind| kind.sort_by(|a, b| a.0.total_cmp(&b.0)));
    let longest = kinds.values().map(Vec::len).max().unwrap_or(0);
    let in_turn = (0..longest).flat_map(|round| kinds.values().filter_map(move |kind| kind.get(round)));
    let mut chosen: Vec<Piece> = Vec::new();
    let mut taken = 0;
    for (_, piece) in in_turn {
        if chosen.is_empty() || taken + piece.1.len() <= frames {
            taken += piece.1.len();
            chosen.push(piece.clone());
        }
    }
    chosen.sort_by_key(|(index, range)| (*index, range.start));
    chosen
}

/// Mean speed of the hands beside that of the hips, m/s.
fn hand_speed(states: &[CharacterState]) -> f32 {
    let hands = [humanoid::LEFT_HAND, humanoid::RIGHT_HAND];
    let speeds = states.iter().flat_map(|state| {
        let hips = state.velocities_root[humanoid::HIPS.0];
        hands.map(|hand| state.velocities_root[hand.0].distance(hips))
    });
    speeds.sum::<f32>() / (2 * states.len()) as f32
}

/// Sorted pieces, those that follow on each other as one.
fn joined(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut joined: Vec<Piece> = Vec::new();
    for (index, range) in pieces {
        match joined.last_mut() {
            Some((last, before)) if *last == index && before.end == range.start => before.end = range.end,
            _ => joined.push((index, range)),
        }
    }
    joined
}

/// Seconds of each gait, and how many recordings they are from.
fn figures(clips: &[(String, MatchingClip)]) -> BTreeMap<String, f32> {
    let mut figures = BTreeMap::new();
    for gait in clips.iter().flat_map(|(_, clip)| &clip.gaits) {
        *figures.entry(format!("{}_s", Gait::dominant(gait).name())).or_default() += 1.0 / FRAME_RATE_HZ;
    }
    let recordings: BTreeSet<&String> = clips.iter().map(|(name, _)| name).collect();
    figures.insert("recordings".to_owned(), recordings.len() as f32);
    figures
}

//! Which clips of a dataset show which style, and how fast the style walks.

use crate::dataset::Dataset;
use crate::gait_starts::start;
use crate::sampler::Sampler;
use crate::split::original_name;
use crate::style_config::StyleTraining;
use crate::style_neutral::NeutralStates;
use crate::{FRAME_RATE_HZ, TrainError};
use pomp_model::NamedStyle;
use pomp_motion::Gait;
use pomp_motion::features::{BlockName, FeatureLayout};

/// Speed of the command at which the pace of a style is 1, m/s: that of the presets' walk.
const WALK_M_S: f32 = 1.2;
/// Bounds of a pace.
const PACES: (f32, f32) = (0.2, 1.0);
/// Relief of ground that counts as level, metres: more than that of a dataset's own level ground, as reconstruction presses the ground
/// of stylised walks down by some centimetres where feet swing low.
const LEVEL_WITHIN_M: f32 = 0.04;
/// Root slower than this is standing, m/s; it does not count for the speed of a style.
const STANDING_M_S: f32 = 0.15;

/// The styles of a dataset.
pub(crate) struct StyledClips {
    /// Names of the styles, in the order of the configuration.
    pub names: Vec<String>,
    /// Style of each clip of the dataset; none of plain walks.
    of_clip: Vec<Option<usize>>,
}

impl StyledClips {
    /// Keeps of `dataset` the plain walks and the clips that a style names, says which of them are held out, and counts crouching as walking: the style,
    /// not the gait, makes a stealthy walk differ from a walk.
    ///
    /// # Errors
    /// A style without clips to learn from, or with a named clip that is missing.
    pub fn choose(dataset: &mut Dataset, config: &StyleTraining) -> Result<Self, TrainError> {
        let mut found: Vec<&str> = Vec::new();
        let mut of_clip = Vec::new();
        let mut chosen = Vec::new();
        for mut clip in std::mem::take(&mut dataset.clips) {
            let name = original_name(&clip.recording.name);
            let named = config.styles.iter().enumerate().find_map(|(index, style)| {
                let own = |list: &'_ [String]| list.iter().position(|clip| clip == name);
                let (list, held_out) = match own(&style.clips) {
                    Some(at) => (&style.clips[at], false),
                    None => (&style.held_out[own(&style.held_out)?], true),
                };
                Some((Some(index), list.as_str(), held_out))
            });
            let plain = || {
                let at = config.neutral.iter().position(|clip| clip == name)?;
                Some((None, config.neutral[at].as_str(), false))
            };
            let Some((index, name, held_out)) = named.or_else(plain) else { continue };
            found.push(name);
            clip.held_out = held_out;
            let (low, high) = clip.terrain.min_max();
            clip.level = high - low <= LEVEL_WITHIN_M;
            for gait in &mut clip.recording.gait {
                gait[Gait::Walk.index()] += std::mem::take(&mut gait[Gait::Crouch.index()]);
            }
            of_clip.push(index);
            chosen.push(clip);
        }
        dataset.clips = chosen;
        let missing = |clips: &[String]| clips.iter().find(|clip| !found.contains(&clip.as_str())).cloned();
        for style in &config.styles {
            if let Some(clip) = missing(&style.clips).or_else(|| missing(&style.held_out)) {
                return Err(TrainError::NoStyleClip { style: style.name.clone(), clip });
            }
        }
        if let Some(clip) = missing(&config.neutral) {
            return Err(TrainError::NoStyleClip { style: "neutral".to_owned(), clip });
        }
        Ok(Self { names: config.styles.iter().map(|style| style.name.clone()).collect(), of_clip })
    }

    /// Examples of the training clips, as many of each style.
    pub fn training_sampler(&self, dataset: &Dataset, margin: usize) -> Sampler {
        self.balanced(|style| Sampler::new(dataset, self.clips(dataset, style, false), margin, 1.0))
    }

    /// Frames that rollouts in the simulator begin at, as many of each style.
    ///
    /// # Errors
    /// There is none.
    pub fn practised_sampler(&self, dataset: &Dataset, margin: usize) -> Result<Sampler, TrainError> {
        let sampler = self.balanced(|style| {
            Sampler::among(dataset, self.clips(dataset, style, false), margin, 1.0, |clip, frame| {
                clip.is_practised(frame, false)
            })
        });
        if sampler.len() == 0 { Err(TrainError::NothingToPractise) } else { Ok(sampler) }
    }

    /// States of the plain walks.
    pub fn neutral_states(&self, dataset: &Dataset, margin: usize) -> NeutralStates {
        let clips = self.of_clip.iter().enumerate().filter(|(_, style)| style.is_none());
        NeutralStates::of(dataset, clips.map(|(index, _)| index), margin)
    }

    /// Examples of the clips that a style is measured with; those to learn from where none is held out.
    pub fn measured_sampler(
        &self,
        dataset: &Dataset,
        style: usize,
        margin: usize,
    ) -> (Sampler, &'static str) {
        let held_out = Sampler::new(dataset, self.clips(dataset, style, true), margin, 1.0);
        if held_out.len() > 0 {
            return (held_out, "held_out");
        }
        (Sampler::new(dataset, self.clips(dataset, style, false), margin, 1.0), "training")
    }

    /// Weights of the styles in rows of these clips, `[B, S]`: for the clip's own the one that comes with it.
    pub fn weights(&self, clips: impl Iterator<Item = (usize, f32)>) -> Vec<f32> {
        let styles = self.names.len();
        let row = |(clip, weight): (usize, f32)| {
            (0..styles).map(move |style| if Some(style) == self.of_clip[clip] { weight } else { 0.0 })
        };
        clips.flat_map(row).collect()
    }

    fn balanced(&self, of_style: impl Fn(usize) -> Sampler) -> Sampler {
        Sampler::balanced((0..self.names.len()).map(of_style).collect())
    }

    fn clips<'a>(
        &'a self,
        dataset: &'a Dataset,
        style: usize,
        held_out: bool,
    ) -> impl Iterator<Item = usize> + 'a {
        let clips = dataset.clips.iter().zip(&self.of_clip).enumerate();
        clips.filter_map(move |(index, (clip, of))| {
            (*of == Some(style) && clip.held_out == held_out).then_some(index)
        })
    }

    /// What the loop needs to know of each style, from its training clips with their phases.
    ///
    /// # Errors
    /// A style whose clips stand.
    pub fn describe(
        &self,
        dataset: &Dataset,
        layout: &FeatureLayout,
        margin: usize,
    ) -> Result<Vec<NamedStyle>, TrainError> {
        let styles = self.names.iter().enumerate();
        styles
            .map(|(style, name)| {
                let standing = || TrainError::StandingStyle { style: name.clone() };
                let clips: Vec<_> =
                    self.clips(dataset, style, false).map(|index| &dataset.clips[index]).collect();
                let mut speeds: Vec<f32> = clips
                    .iter()
                    .flat_map(|clip| clip.clean.iter().map(|state| state.root_velocity.length()))
                    .filter(|speed| *speed > STANDING_M_S)
                    .collect();
                speeds.sort_by(f32::total_cmp);
                let speed = *speeds.get(speeds.len() / 2).ok_or_else(standing)?;
                let sampler = Sampler::new(dataset, self.clips(dataset, style, false), margin, 1.0);
                let walk = start(dataset, layout, &sampler, Gait::Walk, speed).ok_or_else(standing)?;
                let frames: usize = clips.iter().map(|clip| clip.frames()).sum();
                Ok(NamedStyle {
                    name: name.clone(),
                    pace: (speed / WALK_M_S).clamp(PACES.0, PACES.1),
                    walk_codes: walk[layout.x_range(BlockName::PhaseCodes)].to_vec(),
                    seconds: frames as f32 / FRAME_RATE_HZ,
                })
            })
            .collect()
    }
}

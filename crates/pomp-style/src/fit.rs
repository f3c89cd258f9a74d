//! From labelled recordings to a model and its figures.

use crate::StyleError;
use crate::config::StyleConfig;
use crate::cycle::{Cut, WalkCycle, cut};
use crate::measure::{
    Aligned, EvenTime, Measures, measure, pooled, shares_of_differences, subspace_separations,
};
use crate::model::{DataRecord, Reference, StyleModel, check_like};
use crate::motion::AlignedMotion;
use crate::posture::PostureSpace;
use pomp_motion::Recording;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A recording with the label of its style.
#[derive(Clone, Debug)]
pub struct StyleClip {
    /// The recording, with contacts.
    pub recording: Recording,
    /// The label.
    pub style: String,
}

/// How many cycles of a style there are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StyleCount {
    /// Clips with a cycle.
    pub clips: usize,
    /// Cycles of the fit.
    pub fitted: usize,
    /// Cycles of clips that are held out.
    pub held_out: usize,
}

/// What one subspace tells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SubspaceFigures {
    /// Σ |F_j − F_j of the reference| over the cycles of the fit, per cycle.
    pub difference_from_reference: f64,
    /// Variance between styles over that within them, over the cycles of the fit.
    pub between_over_within: f64,
    /// Share of the differences between the means of styles, in s, that it carries: how far a blend of it alone goes. They add up to 1.
    pub share_of_differences: f64,
}

/// What a fit found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FitReport {
    /// Cycles by style.
    pub styles: BTreeMap<String, StyleCount>,
    /// Strides that are no cycles, by reason: how many.
    pub left_out: usize,
    /// Strides that are no cycles: clip, time and reason.
    pub reasons: Vec<String>,
    /// The reference cycle.
    pub reference: String,
    /// Its frames, T.
    pub reference_frames: usize,
    /// Share of the variance of the postures that K components keep.
    pub posture_variance_kept: f64,
    /// Share of the variance of h(t) that L components keep.
    pub timing_variance_kept: f64,
    /// M, what the timing counts for in s.
    pub timing_weight: f64,
    /// Mean log-likelihood of the subspaces per cycle, up to constants.
    pub likelihood: f64,
    /// Gradient steps of the best start.
    pub iterations: usize,
    /// The subspaces.
    pub subspaces: Vec<SubspaceFigures>,
    /// The one of the style, from 0.
    pub style_subspace: usize,
    /// Over the cycles of the fit.
    pub held_in: Measures,
    /// Over the cycles of clips that were held out, if any.
    pub held_out: Option<Measures>,
    /// Over all cycles, each by a fit without its clip's fold; where folds are asked for.
    pub cross_validation: Option<Measures>,
}

/// Fits a model to clips; `reference` is the recording of the neutral walk whose middle cycle others are aligned to.
///
/// # Errors
/// A configuration out of range, a recording without cycles as reference, and too few cycles.
pub fn fit(
    clips: &[StyleClip],
    reference: &Recording,
    config: &StyleConfig,
    data: DataRecord,
) -> Result<(StyleModel, FitReport), StyleError> {
    config.validate()?;
    let refused = |clip: &str, reason: String| StyleError::Clip { clip: clip.to_owned(), reason };
    let reference = {
        let cut = cut(reference, "reference", &config.cycles)
            .map_err(|error| refused(&reference.name, error.to_string()))?;
        Reference::of(&middle(cut, &reference.name)?, config)
    };
    let cuts: Vec<Cut> = clips
        .par_iter()
        .map(|clip| {
            cut(&clip.recording, &clip.style, &config.cycles)
                .map_err(|error| refused(&clip.recording.name, error.to_string()))
        })
        .collect::<Result<_, _>>()?;
    let mut reasons: Vec<String> = cuts.iter().flat_map(|cut| cut.left_out.iter().cloned()).collect();
    let cycles: Vec<WalkCycle> = cuts.into_iter().flat_map(|cut| cut.cycles).collect();
    let set = CycleSet::of(&cycles, &reference, config, &mut reasons)?;
    set.refuse_missing(clips, &reasons)?;

    let held_out_clips = set.every(config.held_out_every);
    let (fitted, held_out) = set.split(|cycle| held_out_clips.contains(&cycle.clip.as_str()));
    let (mut model, fitted) = set.fitted(&fitted, &reference, config, &mut reasons)?;
    model.data = data;
    let held_out = set.aligned(&held_out, &model.space, &mut reasons);
    let baseline = EvenTime::fit(&model, &fitted);
    let cross_validation = set.cross_validated(&reference, config)?;
    let separations = subspace_separations(&model);
    let differences = model.differences_from(&model.code(&set.reference_motion(&reference, &model.space)?));
    let report = FitReport {
        styles: set.counts(&fitted, &held_out),
        left_out: reasons.len(),
        reasons,
        reference: reference.name.clone(),
        reference_frames: reference.poses.len(),
        posture_variance_kept: model.posture.kept(),
        timing_variance_kept: model.timing.kept(),
        timing_weight: model.timing_weight,
        likelihood: model.search.likelihood,
        iterations: model.search.iterations,
        subspaces: separations
            .into_iter()
            .zip(differences)
            .zip(shares_of_differences(&model))
            .map(|((between_over_within, sum), share_of_differences)| SubspaceFigures {
                difference_from_reference: sum / model.cycles.len() as f64,
                between_over_within,
                share_of_differences,
            })
            .collect(),
        style_subspace: model.style_subspace,
        held_in: measure(&model, Some(&baseline), &fitted),
        held_out: (!held_out.is_empty()).then(|| measure(&model, Some(&baseline), &held_out)),
        cross_validation,
    };
    Ok((model, report))
}

/// The cycle whose duration is the middle one.
fn middle(cut: Cut, clip: &str) -> Result<WalkCycle, StyleError> {
    let mut cycles = cut.cycles;
    if cycles.is_empty() {
        let reason = match cut.left_out.first() {
            Some(first) => format!("it has no walking cycle ({first}); give another clip with --reference"),
            None => "the left foot strikes less than twice; give a longer clip of a walk with --reference"
                .to_owned(),
        };
        return Err(StyleError::Clip { clip: clip.to_owned(), reason });
    }
    cycles.sort_by_key(WalkCycle::frames);
    Ok(cycles.swap_remove(cycles.len() / 2))
}

/// Cycles with their warps.
struct CycleSet<'a> {
    cycles: Vec<(&'a WalkCycle, Vec<f64>)>,
}

impl<'a> CycleSet<'a> {
    fn of(
        cycles: &'a [WalkCycle],
        reference: &Reference,
        config: &StyleConfig,
        reasons: &mut Vec<String>,
    ) -> Result<Self, StyleError> {
        let Some(first) = cycles.first() else {
            return Err(StyleError::TooFewCycles {
                found: 0,
                needed: config.posture_components + config.timing_components + 2,
                what: "a fit".to_owned(),
                remedy: "give clips in which a person walks ahead on level ground",
            });
        };
        let likeness = PostureSpace::about(&first.skeleton, &reference.poses.iter());
        let warps: Vec<Result<Vec<f64>, String>> = cycles
            .par_iter()
            .map(|cycle| {
                check_like(cycle, &likeness, reference.frame_rate_hz)?;
                reference.alignment.warp(cycle, &config.alignment)
            })
            .collect();
        let mut kept = Vec::new();
        for (cycle, warp) in cycles.iter().zip(warps) {
            match warp {
                Ok(warp) => kept.push((cycle, warp)),
                Err(reason) => reasons.push(format!("{}: {reason}", cycle.name)),
            }
        }
        Ok(Self { cycles: kept })
    }

    /// Refuses a style of which no cycle is left.
    fn refuse_missing(&self, clips: &[StyleClip], reasons: &[String]) -> Result<(), StyleError> {
        let known = self.clips_by_style();
        let Some(missing) = clips.iter().find(|clip| !known.contains_key(clip.style.as_str())) else {
            return Ok(());
        };
        let names: Vec<&str> = clips
            .iter()
            .filter(|clip| clip.style == missing.style)
            .map(|clip| clip.recording.name.as_str())
            .collect();
        let reason = reasons.iter().find(|reason| names.iter().any(|name| reason.starts_with(name)));
        Err(StyleError::BadRequest(format!(
            "the style \"{}\" has no walking cycle ({}); leave its clips out, or change what is taken (the sections cycles and alignment \
             of the configuration)",
            missing.style,
            reason.map_or("the left foot strikes less than twice in each of its clips", String::as_str)
        )))
    }

    /// Every so many-th clip of each style, in the order of names.
    fn every(&self, count: usize) -> Vec<&'a str> {
        if count == 0 {
            return Vec::new();
        }
        let by_style = self.clips_by_style();
        by_style.values().flat_map(|clips| clips.iter().skip(count - 1).step_by(count).copied()).collect()
    }

    fn clips_by_style(&self) -> BTreeMap<&'a str, Vec<&'a str>> {
        let mut clips: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (cycle, _) in &self.cycles {
            clips.entry(&cycle.style).or_default().push(&cycle.clip);
        }
        for names in clips.values_mut() {
            names.sort_unstable();
            names.dedup();
        }
        clips
    }

    /// Indices of the cycles that are not and that are `apart`.
    fn split(&self, apart: impl Fn(&WalkCycle) -> bool) -> (Vec<usize>, Vec<usize>) {
        (0..self.cycles.len()).partition(|&index| !apart(self.cycles[index].0))
    }

    /// A model of these cycles, of each style at most so many as the configuration says, and the cycles that it took.
    fn fitted(
        &self,
        indices: &[usize],
        reference: &Reference,
        config: &StyleConfig,
        reasons: &mut Vec<String>,
    ) -> Result<(StyleModel, Vec<Aligned<'a>>), StyleError> {
        let mut by_style: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for &index in indices {
            by_style.entry(&self.cycles[index].0.style).or_default().push(index);
        }
        let most = config.cycles.most_per_style;
        let mut taken: Vec<usize> = by_style
            .values()
            .flat_map(|own| {
                let count = own.len().min(most);
                (0..count).map(move |k| own[k * own.len() / count])
            })
            .collect();
        taken.sort_unstable();
        let Some(&first) = taken.first() else {
            return Err(StyleError::TooFewCycles {
                found: 0,
                needed: config.posture_components + config.timing_components + 2,
                what: "a fit".to_owned(),
                remedy: "hold out fewer clips (held_out_every, folds), or give more",
            });
        };
        let poses = taken.iter().flat_map(|&index| &self.cycles[index].0.poses);
        let space = PostureSpace::about(&self.cycles[first].0.skeleton, &poses);
        let aligned = self.aligned(&taken, &space, reasons);
        let reference_motion = self.reference_motion(reference, &space)?;
        let model = StyleModel::of_aligned(reference, space, &aligned, &reference_motion, config)?;
        Ok((model, aligned))
    }

    /// The motions of cycles in a posture space; `reasons` hears of those that it does not hold.
    fn aligned(
        &self,
        indices: &[usize],
        space: &PostureSpace,
        reasons: &mut Vec<String>,
    ) -> Vec<Aligned<'a>> {
        let mut aligned = Vec::new();
        for &index in indices {
            let (cycle, warp) = &self.cycles[index];
            match AlignedMotion::of_cycle(cycle, warp.clone(), space) {
                Ok(motion) => aligned.push((*cycle, motion)),
                Err(reason) => reasons.push(format!("{}: {reason}", cycle.name)),
            }
        }
        aligned
    }

    /// The reference on its own time axis.
    fn reference_motion(
        &self,
        reference: &Reference,
        space: &PostureSpace,
    ) -> Result<AlignedMotion, StyleError> {
        let postures = reference
            .poses
            .iter()
            .map(|pose| space.encode(pose))
            .collect::<Result<_, _>>()
            .map_err(|reason| StyleError::Clip { clip: reference.name.clone(), reason })?;
        Ok(AlignedMotion { postures, warp: (0..reference.poses.len()).map(|t| t as f64).collect() })
    }

    fn cross_validated(
        &self,
        reference: &Reference,
        config: &StyleConfig,
    ) -> Result<Option<Measures>, StyleError> {
        if config.folds == 0 {
            return Ok(None);
        }
        let clips: Vec<&str> = self.clips_by_style().into_values().flatten().collect();
        let folds = config.folds.min(clips.len());
        // Neighbours in the order of styles go to different folds, so that each fold has all styles.
        let fold_of: BTreeMap<&str, usize> =
            clips.iter().enumerate().map(|(place, clip)| (*clip, place % folds)).collect();
        let measured = (0..folds)
            .map(|fold| {
                let (fitted, left_out) = self.split(|cycle| fold_of[cycle.clip.as_str()] == fold);
                // What a fold leaves out, the fit of all tells.
                let mut reasons = Vec::new();
                let (model, fitted) = self.fitted(&fitted, reference, config, &mut reasons)?;
                let left_out = self.aligned(&left_out, &model.space, &mut reasons);
                Ok(measure(&model, Some(&EvenTime::fit(&model, &fitted)), &left_out))
            })
            .collect::<Result<Vec<_>, StyleError>>()?;
        Ok(Some(pooled(&measured)))
    }

    fn counts(&self, fitted: &[Aligned<'_>], held_out: &[Aligned<'_>]) -> BTreeMap<String, StyleCount> {
        let mut counts: BTreeMap<String, StyleCount> = BTreeMap::new();
        for (style, clips) in self.clips_by_style() {
            counts.entry(style.to_owned()).or_default().clips = clips.len();
        }
        for (cycle, _) in fitted {
            counts.entry(cycle.style.clone()).or_default().fitted += 1;
        }
        for (cycle, _) in held_out {
            counts.entry(cycle.style.clone()).or_default().held_out += 1;
        }
        counts
    }
}

/// Measures a model on the cycles of clips, which had better not be those of its fit; and why strides are left out.
///
/// # Errors
/// A recording that is not finite, and clips without a cycle.
pub fn measure_clips(model: &StyleModel, clips: &[StyleClip]) -> Result<(Measures, Vec<String>), StyleError> {
    let (mut cycles, mut reasons) = (Vec::new(), Vec::new());
    for clip in clips {
        let refused = |error: pomp_motion::MotionError| StyleError::Clip {
            clip: clip.recording.name.clone(),
            reason: error.to_string(),
        };
        let cut = cut(&clip.recording, &clip.style, &model.config.cycles).map_err(refused)?;
        reasons.extend(cut.left_out);
        cycles.extend(cut.cycles);
    }
    let mut aligned = Vec::new();
    for cycle in &cycles {
        match model.align(cycle) {
            Ok(motion) => aligned.push((cycle, motion)),
            Err(error) => reasons.push(error.to_string()),
        }
    }
    if aligned.is_empty() {
        return Err(StyleError::TooFewCycles {
            found: 0,
            needed: 1,
            what: "a measurement".to_owned(),
            remedy: "give clips in which a person walks ahead on level ground",
        });
    }
    Ok((measure(model, None, &aligned), reasons))
}

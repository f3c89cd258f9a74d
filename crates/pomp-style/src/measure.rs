//! What a model keeps of cycles, and how well it tells styles apart.

use crate::cycle::WalkCycle;
use crate::model::{StyleModel, rows};
use crate::motion::{AlignedMotion, between};
use crate::posture::PostureSpace;
use crate::principal::Principal;
use nalgebra::DVector;
use pomp_motion::statistics::{mean, percentile};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Errors over cycles.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ErrorFigures {
    /// Mean.
    pub mean: f64,
    /// 95th percentile over cycles.
    pub p95: f64,
    /// Largest of a cycle.
    pub largest: f64,
}

impl ErrorFigures {
    fn of(values: &[f64]) -> Self {
        Self {
            mean: mean(values).unwrap_or_default(),
            p95: percentile(values, 0.95).unwrap_or_default(),
            largest: values.iter().copied().fold(0.0, f64::max),
        }
    }
}

/// Share of cycles whose nearest mean of a style is that of their own, by where distances are taken.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AccuracyFigures {
    /// In the style subspace.
    pub style_subspace: f64,
    /// In all of γ.
    pub code: f64,
    /// In s = (u, M v).
    pub components: f64,
    /// In u, all principal components of the posture.
    pub posture: f64,
    /// In as many first principal components of the posture as the style subspace has dimensions.
    pub posture_of_equal_size: f64,
    /// Share of the largest style: what always naming it gets right.
    pub chance: f64,
}

/// Figures over a set of cycles.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measures {
    /// Cycles measured.
    pub cycles: usize,
    /// Distance of joints between a cycle and what its code restores, metres, mean over joints and frames.
    pub reconstruction_m: ErrorFigures,
    /// The same of principal components of equal size (K + L numbers): K + L − 1 of postures whose time is stretched evenly, and the
    /// duration. Only known where the fit is at hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub even_time_reconstruction_m: Option<ErrorFigures>,
    /// Nearest mean.
    pub accuracy: AccuracyFigures,
    /// Variance between styles over that within them, of each subspace.
    pub between_over_within: Vec<f64>,
}

/// A cycle with its motion on the reference's time axis.
pub(crate) type Aligned<'a> = (&'a WalkCycle, AlignedMotion);

/// Measures `cycles` against the means of the styles of the model, and against the baseline of its fit.
pub(crate) fn measure(model: &StyleModel, baseline: Option<&EvenTime>, cycles: &[Aligned<'_>]) -> Measures {
    let codes: Vec<(&str, DVector<f64>)> =
        cycles.iter().map(|(cycle, motion)| (cycle.style.as_str(), model.code(motion))).collect();
    let reconstruction: Vec<f64> = cycles
        .iter()
        .zip(&codes)
        .map(|((cycle, _), (_, code))| {
            let restored = model.motion(code);
            distance(cycle, &model.space, |frame| restored.posture_at(frame))
        })
        .collect();
    let even_time_reconstruction_m = baseline.map(|baseline| {
        let errors: Vec<f64> =
            cycles.iter().map(|(cycle, _)| baseline.distance(cycle, &model.space)).collect();
        ErrorFigures::of(&errors)
    });
    Measures {
        cycles: cycles.len(),
        reconstruction_m: ErrorFigures::of(&reconstruction),
        even_time_reconstruction_m,
        accuracy: accuracy(model, &codes),
        between_over_within: separations(model, &codes),
    }
}

/// The mean of measures over folds, weighted by their cycles.
pub(crate) fn pooled(folds: &[Measures]) -> Measures {
    let cycles: usize = folds.iter().map(|fold| fold.cycles).sum();
    let over = |value: &dyn Fn(&Measures) -> f64| {
        folds.iter().map(|fold| value(fold) * fold.cycles as f64).sum::<f64>() / cycles.max(1) as f64
    };
    let figures = |of: &dyn Fn(&Measures) -> ErrorFigures| ErrorFigures {
        mean: over(&|fold| of(fold).mean),
        p95: over(&|fold| of(fold).p95),
        largest: folds.iter().map(|fold| of(fold).largest).fold(0.0, f64::max),
    };
    let even = |fold: &Measures| fold.even_time_reconstruction_m.clone().unwrap_or_default();
    Measures {
        cycles,
        reconstruction_m: figures(&|fold| fold.reconstruction_m.clone()),
        even_time_reconstruction_m: folds
            .iter()
            .all(|fold| fold.even_time_reconstruction_m.is_some())
            .then(|| figures(&even)),
        accuracy: AccuracyFigures {
            style_subspace: over(&|fold| fold.accuracy.style_subspace),
            code: over(&|fold| fold.accuracy.code),
            components: over(&|fold| fold.accuracy.components),
            posture: over(&|fold| fold.accuracy.posture),
            posture_of_equal_size: over(&|fold| fold.accuracy.posture_of_equal_size),
            chance: over(&|fold| fold.accuracy.chance),
        },
        // Subspaces of different fits have nothing to do with each other.
        between_over_within: Vec::new(),
    }
}

/// Variance between styles over that within them, of each subspace, over the cycles of the fit.
pub(crate) fn subspace_separations(model: &StyleModel) -> Vec<f64> {
    let codes: Vec<(&str, DVector<f64>)> =
        model.cycles.iter().map(|cycle| (cycle.style.as_str(), cycle.code.clone())).collect();
    separations(model, &codes)
}

/// The share of the differences between the means of styles, in s, that each subspace carries: of all pairs together. s is linear in γ, so
/// the shares add up to 1.
pub(crate) fn shares_of_differences(model: &StyleModel) -> Vec<f64> {
    let subspaces = &model.subspaces;
    let codes: Vec<(&str, DVector<f64>)> =
        model.cycles.iter().map(|cycle| (cycle.style.as_str(), cycle.code.clone())).collect();
    let means: Vec<DVector<f64>> = means(&codes).into_values().collect();
    let mut carried = vec![0.0; subspaces.count()];
    for (number, from) in means.iter().enumerate() {
        let start = model.components_of(from);
        for to in &means[number + 1..] {
            let way = model.components_of(to) - &start;
            for (subspace, sum) in carried.iter_mut().enumerate() {
                let mut code = from.clone();
                for row in subspaces.rows(subspace) {
                    code[row] = to[row];
                }
                *sum += (model.components_of(&code) - &start).dot(&way);
            }
        }
    }
    let all: f64 = carried.iter().sum();
    // One style has no differences.
    carried.into_iter().map(|sum| if all > 0.0 { sum / all } else { 0.0 }).collect()
}

fn separations(model: &StyleModel, codes: &[(&str, DVector<f64>)]) -> Vec<f64> {
    let (subspaces, styles) = (&model.subspaces, means(codes));
    let Some(all) = mean_vector(codes.iter().map(|(_, code)| code)) else {
        return vec![0.0; subspaces.count()];
    };
    (0..subspaces.count())
        .map(|subspace| {
            let rows = subspaces.rows(subspace);
            let part = |vector: &DVector<f64>| vector.rows(rows.start, rows.len()).into_owned();
            let (mut between, mut within) = (0.0, 0.0);
            for (style, code) in codes {
                between += (part(&styles[style]) - part(&all)).norm_squared();
                within += (part(code) - part(&styles[style])).norm_squared();
            }
            if within > 0.0 { between / within } else { 0.0 }
        })
        .collect()
}

fn accuracy(model: &StyleModel, codes: &[(&str, DVector<f64>)]) -> AccuracyFigures {
    let rows = model.subspaces.rows(model.style_subspace);
    let components = model.posture.components();
    let size = rows.len().min(components);
    let share = |features: &dyn Fn(&DVector<f64>) -> DVector<f64>| {
        let known: Vec<(&str, DVector<f64>)> =
            model.cycles.iter().map(|cycle| (cycle.style.as_str(), features(&cycle.code))).collect();
        let means = means(&known);
        let right = codes.iter().filter(|(style, code)| nearest(&means, &features(code)) == Some(*style));
        right.count() as f64 / codes.len().max(1) as f64
    };
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (style, _) in codes {
        *counts.entry(style).or_default() += 1;
    }
    AccuracyFigures {
        style_subspace: share(&|code| code.rows(rows.start, rows.len()).into_owned()),
        code: share(&DVector::clone),
        components: share(&|code| model.components_of(code)),
        posture: share(&|code| model.components_of(code).rows(0, components).into_owned()),
        posture_of_equal_size: share(&|code| model.components_of(code).rows(0, size).into_owned()),
        chance: counts.values().copied().max().unwrap_or(0) as f64 / codes.len().max(1) as f64,
    }
}

/// The style whose mean is nearest.
fn nearest<'a>(means: &BTreeMap<&'a str, DVector<f64>>, vector: &DVector<f64>) -> Option<&'a str> {
    let distance = |mean: &DVector<f64>| (mean - vector).norm_squared();
    means.iter().min_by(|a, b| distance(a.1).total_cmp(&distance(b.1))).map(|(style, _)| *style)
}

fn means<'a>(vectors: &[(&'a str, DVector<f64>)]) -> BTreeMap<&'a str, DVector<f64>> {
    let styles: std::collections::BTreeSet<&str> = vectors.iter().map(|(style, _)| *style).collect();
    styles
        .into_iter()
        .filter_map(|style| {
            let own = vectors.iter().filter(|(other, _)| *other == style).map(|(_, vector)| vector);
            Some((style, mean_vector(own)?))
        })
        .collect()
}

fn mean_vector<'a>(vectors: impl Iterator<Item = &'a DVector<f64>>) -> Option<DVector<f64>> {
    let (mut sum, mut count) = (None::<DVector<f64>>, 0usize);
    for vector in vectors {
        count += 1;
        match &mut sum {
            None => sum = Some(vector.clone()),
            Some(sum) => *sum += vector,
        }
    }
    sum.map(|sum| sum / count as f64)
}

/// Mean distance of the joints of a cycle from those of other postures at its frames, metres.
fn distance(cycle: &WalkCycle, space: &PostureSpace, posture: impl Fn(f64) -> Vec<f64>) -> f64 {
    let mut sum = 0.0;
    for (frame, positions) in cycle.positions.iter().enumerate() {
        let world = space.skeleton().forward_kinematics(&space.decode(&posture(frame as f64)));
        for (own, other) in positions.iter().zip(&world.positions) {
            sum += f64::from(own.distance(*other));
        }
    }
    sum / (cycle.frames() * space.skeleton().len()) as f64
}

/// Principal components of postures whose time is stretched evenly: the baseline of equal size.
pub(crate) struct EvenTime {
    principal: Principal,
    frames: usize,
}

impl EvenTime {
    pub fn fit(model: &StyleModel, fitted: &[Aligned<'_>]) -> Self {
        let frames = model.reference.poses.len();
        let vectors: Vec<DVector<f64>> =
            fitted.iter().filter_map(|(cycle, _)| Self::vector(cycle, &model.space, frames)).collect();
        let size = model.posture.components() + model.timing.components() - 1;
        Self { principal: Principal::fit(&rows(vectors.iter()), size), frames }
    }

    fn vector(cycle: &WalkCycle, space: &PostureSpace, frames: usize) -> Option<DVector<f64>> {
        let own: Vec<Vec<f64>> =
            cycle.poses.iter().map(|pose| space.encode(pose).ok()).collect::<Option<_>>()?;
        let scale = (own.len() - 1) as f64 / (frames - 1) as f64;
        let postures: Vec<Vec<f64>> = (0..frames).map(|t| between(&own, t as f64 * scale)).collect();
        Some(DVector::from_vec(postures.concat()))
    }

    fn distance(&self, cycle: &WalkCycle, space: &PostureSpace) -> f64 {
        let Some(vector) = Self::vector(cycle, space, self.frames) else { return f64::NAN };
        let restored = self.principal.restore(&self.principal.project(&vector));
        let postures: Vec<Vec<f64>> = restored.as_slice().chunks(space.size()).map(<[f64]>::to_vec).collect();
        let scale = (self.frames - 1) as f64 / (cycle.frames() - 1) as f64;
        distance(cycle, space, |frame| between(&postures, frame * scale))
    }
}

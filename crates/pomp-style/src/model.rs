use crate::align::AlignmentReference;
use crate::config::{StyleConfig, SubspaceChoice};
use crate::cycle::{KEY_FRAMES, WalkCycle};
use crate::motion::AlignedMotion;
use crate::posture::PostureSpace;
use crate::principal::Principal;
use crate::subspaces::{Search, Subspaces};
use crate::{StyleError, measure};
use nalgebra::{DMatrix, DVector};
use pomp_motion::Pose;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A cycle of the fit and its code.
#[derive(Clone, Debug, PartialEq)]
pub struct CodedCycle {
    /// Clip and number.
    pub name: String,
    /// Label of its style.
    pub style: String,
    /// γ, K + L numbers, the subspaces one after the other.
    pub code: DVector<f64>,
}

/// Where the cycles came from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataRecord {
    /// SHA-256 over the clips: names, labels and bytes, as the caller computes it.
    pub hash: String,
    /// Sources and licences of the clips of each style, sorted.
    pub licenses: BTreeMap<String, Vec<String>>,
}

/// The cycle that others are aligned to.
#[derive(Clone, Debug)]
pub struct Reference {
    /// Its name.
    pub name: String,
    /// Frames per second, of the reference and of all motions.
    pub frame_rate_hz: f32,
    /// Its key frames.
    pub keys: [usize; KEY_FRAMES],
    /// Its contacts, T.
    pub contact: Vec<[bool; 4]>,
    /// Its poses, T: what cycles are aligned to.
    pub poses: Vec<Pose>,
    pub(crate) alignment: AlignmentReference,
}

impl Reference {
    pub(crate) fn of(cycle: &WalkCycle, config: &StyleConfig) -> Self {
        Self {
            name: cycle.name.clone(),
            frame_rate_hz: cycle.frame_rate_hz,
            keys: cycle.keys,
            contact: cycle.contact.clone(),
            poses: cycle.poses.clone(),
            alignment: AlignmentReference::of(cycle, &config.alignment),
        }
    }
}

/// Independent spatial and temporal feature space of walking cycles: what `pomp style fit` makes.
///
/// A cycle is aligned to the reference, its postures and its timing h(t) become principal components u and v, s = (u, M v) is
/// whitened, and a rotation into independent feature subspaces makes its code γ of it. All of it is linear in both directions.
#[derive(Clone, Debug)]
pub struct StyleModel {
    pub(crate) config: StyleConfig,
    pub(crate) data: DataRecord,
    pub(crate) reference: Reference,
    pub(crate) space: PostureSpace,
    pub(crate) posture: Principal,
    pub(crate) timing: Principal,
    pub(crate) whitening: Principal,
    /// M: what the timing counts for in s.
    pub(crate) timing_weight: f64,
    pub(crate) subspaces: Subspaces,
    pub(crate) search: Search,
    pub(crate) style_subspace: usize,
    pub(crate) cycles: Vec<CodedCycle>,
}

impl StyleModel {
    /// Fits the model to cycles that are aligned to `reference`, which is among them or not.
    pub(crate) fn of_aligned(
        reference: &Reference,
        space: PostureSpace,
        cycles: &[(&WalkCycle, AlignedMotion)],
        reference_motion: &AlignedMotion,
        config: &StyleConfig,
    ) -> Result<Self, StyleError> {
        let dimensions = config.posture_components + config.timing_components;
        let frames = reference.poses.len();
        let too_few = |what: String| StyleError::TooFewCycles {
            found: cycles.len(),
            needed: dimensions + 2,
            what,
            remedy: "give more clips, or lower posture_components, timing_components and subspaces.count (--set)",
        };
        if cycles.len() < dimensions + 2 {
            return Err(too_few(format!("{dimensions} dimensions")));
        }
        if config.timing_components >= frames {
            return Err(StyleError::BadRequest(format!(
                "timing_components = {} and the reference has {frames} frames: give fewer",
                config.timing_components
            )));
        }
        let vectors: Vec<(DVector<f64>, DVector<f64>)> =
            cycles.iter().map(|(_, motion)| motion.vectors()).collect();
        let posture = Principal::fit(&rows(vectors.iter().map(|(z, _)| z)), config.posture_components);
        let timing = Principal::fit(&rows(vectors.iter().map(|(_, h)| h)), config.timing_components);
        if posture.components() + timing.components() < dimensions {
            return Err(too_few(format!(
                "{dimensions} dimensions: these span {} of the posture and {} of the timing",
                posture.components(),
                timing.components()
            )));
        }
        let timing_weight = (posture.total_variance / timing.total_variance).sqrt();
        let mut model = Self {
            config: config.clone(),
            data: DataRecord::default(),
            reference: reference.clone(),
            space,
            posture,
            timing,
            whitening: Principal::fit(&DMatrix::identity(2, 2), 1),
            timing_weight,
            subspaces: Subspaces { rotation: DMatrix::identity(1, 1), size: 1 },
            search: Search { likelihood: 0.0, iterations: 0, start: 0 },
            style_subspace: 0,
            cycles: Vec::new(),
        };
        let s: Vec<DVector<f64>> = vectors.iter().map(|(z, h)| model.joined(z, h)).collect();
        model.whitening = Principal::fit(&rows(s.iter()), dimensions);
        if model.whitening.components() < dimensions {
            return Err(too_few(format!(
                "{dimensions} dimensions: posture and timing together span {}",
                model.whitening.components()
            )));
        }
        let white = rows(s.iter().map(|s| model.whitened(s)).collect::<Vec<_>>().iter());
        let SubspaceSettings { count, restarts, iterations } = SubspaceSettings::of(config);
        (model.subspaces, model.search) =
            Subspaces::analyse(&white, count, restarts, iterations, config.seed);
        model.cycles = cycles
            .iter()
            .map(|(cycle, motion)| CodedCycle {
                name: cycle.name.clone(),
                style: cycle.style.clone(),
                code: model.code(motion),
            })
            .collect();
        let scores = match config.subspaces.choice {
            SubspaceChoice::Reference => model.differences_from(&model.code(reference_motion)),
            SubspaceChoice::Separation => measure::subspace_separations(&model),
            SubspaceChoice::Differences => measure::shares_of_differences(&model),
        };
        model.style_subspace = (0..scores.len())
            .reduce(|best, other| if scores[other] > scores[best] { other } else { best })
            .expect("there are subspaces");
        Ok(model)
    }

    /// Σ_n |F_j of cycle n − F_j of the reference| of every subspace: how much each tells of style.
    pub(crate) fn differences_from(&self, reference: &DVector<f64>) -> Vec<f64> {
        let of_reference = self.subspaces.features(reference);
        let mut sums = vec![0.0; of_reference.len()];
        for cycle in &self.cycles {
            for ((sum, own), reference) in
                sums.iter_mut().zip(self.subspaces.features(&cycle.code)).zip(&of_reference)
            {
                *sum += (own - reference).abs();
            }
        }
        sums
    }

    /// s = (u, M v) of all postures in a row and of h(t).
    pub(crate) fn joined(&self, postures: &DVector<f64>, log_steps: &DVector<f64>) -> DVector<f64> {
        let (u, v) = (self.posture.project(postures), self.timing.project(log_steps));
        DVector::from_iterator(
            u.len() + v.len(),
            u.iter().copied().chain(v.iter().map(|value| value * self.timing_weight)),
        )
    }

    fn whitened(&self, s: &DVector<f64>) -> DVector<f64> {
        let mut white = self.whitening.project(s);
        for (value, variance) in white.iter_mut().zip(&self.whitening.variances) {
            *value /= variance.sqrt();
        }
        white
    }

    /// The code γ of a motion on the reference's time axis.
    pub fn code(&self, motion: &AlignedMotion) -> DVector<f64> {
        let (z, h) = motion.vectors();
        &self.subspaces.rotation * self.whitened(&self.joined(&z, &h))
    }

    /// s of a code.
    pub(crate) fn components_of(&self, code: &DVector<f64>) -> DVector<f64> {
        let mut white = self.subspaces.rotation.tr_mul(code);
        for (value, variance) in white.iter_mut().zip(&self.whitening.variances) {
            *value *= variance.sqrt();
        }
        self.whitening.restore(&white)
    }

    /// The motion of a code.
    pub fn motion(&self, code: &DVector<f64>) -> AlignedMotion {
        let s = self.components_of(code);
        let posture_components = self.posture.components();
        let u = s.rows(0, posture_components).into_owned();
        let v = s.rows(posture_components, self.timing.components()) / self.timing_weight;
        AlignedMotion::of_vectors(&self.posture.restore(&u), &self.timing.restore(&v))
    }

    /// A cycle on the time axis of the reference.
    ///
    /// # Errors
    /// [`StyleError::Clip`] for a cycle on another skeleton or at another frame rate, one that slopes do not let align, and one whose
    /// joints are too far from those of the fit.
    pub fn align(&self, cycle: &WalkCycle) -> Result<AlignedMotion, StyleError> {
        let refused = |reason| StyleError::Clip { clip: cycle.name.clone(), reason };
        check_like(cycle, &self.space, self.reference.frame_rate_hz).map_err(refused)?;
        self.reference
            .alignment
            .warp(cycle, &self.config.alignment)
            .and_then(|warp| AlignedMotion::of_cycle(cycle, warp, &self.space))
            .map_err(refused)
    }

    /// The settings of the fit.
    pub fn config(&self) -> &StyleConfig {
        &self.config
    }

    /// Where its cycles came from.
    pub fn data(&self) -> &DataRecord {
        &self.data
    }

    /// The reference.
    pub fn reference(&self) -> &Reference {
        &self.reference
    }

    /// The posture space.
    pub fn space(&self) -> &PostureSpace {
        &self.space
    }

    /// The subspaces.
    pub fn subspaces(&self) -> &Subspaces {
        &self.subspaces
    }

    /// The subspace of the style.
    pub fn style_subspace(&self) -> usize {
        self.style_subspace
    }

    /// The cycles of the fit.
    pub fn cycles(&self) -> &[CodedCycle] {
        &self.cycles
    }

    /// The styles, sorted.
    pub fn styles(&self) -> Vec<&str> {
        let mut styles: Vec<&str> = self.cycles.iter().map(|cycle| cycle.style.as_str()).collect();
        styles.sort_unstable();
        styles.dedup();
        styles
    }

    /// The code of a style, the mean of its cycles, or of one cycle by its name.
    ///
    /// # Errors
    /// [`StyleError::Unknown`].
    pub fn code_of(&self, name: &str) -> Result<DVector<f64>, StyleError> {
        let of_style: Vec<&DVector<f64>> =
            self.cycles.iter().filter(|cycle| cycle.style == name).map(|cycle| &cycle.code).collect();
        if !of_style.is_empty() {
            let count = of_style.len() as f64;
            return Ok(of_style.into_iter().sum::<DVector<f64>>() / count);
        }
        let of_cycle = self.cycles.iter().find(|cycle| cycle.name == name);
        of_cycle.map(|cycle| cycle.code.clone()).ok_or_else(|| StyleError::Unknown {
            kind: "style or cycle",
            name: name.to_owned(),
            known: format!(
                "the styles {}, and cycles as `pomp style report` lists them",
                self.styles().join(", ")
            ),
        })
    }
}

struct SubspaceSettings {
    count: usize,
    restarts: usize,
    iterations: usize,
}

impl SubspaceSettings {
    fn of(config: &StyleConfig) -> Self {
        let subspaces = &config.subspaces;
        Self { count: subspaces.count, restarts: subspaces.restarts, iterations: subspaces.iterations }
    }
}

/// Vectors as the rows of a matrix.
pub(crate) fn rows<'a>(vectors: impl ExactSizeIterator<Item = &'a DVector<f64>>) -> DMatrix<f64> {
    let transposed: Vec<_> = vectors.map(DVector::transpose).collect();
    DMatrix::from_rows(&transposed)
}

/// Bones of two skeletons that differ by less are the same, metres.
const SAME_BONE_M: f32 = 0.01;

/// Whether a cycle has the skeleton and the frame rate of others.
pub(crate) fn check_like(cycle: &WalkCycle, space: &PostureSpace, frame_rate_hz: f32) -> Result<(), String> {
    let (own, other) = (cycle.skeleton.joints(), space.skeleton().joints());
    if own.len() != other.len()
        || own.iter().zip(other).any(|(a, b)| a.name != b.name || a.parent != b.parent)
    {
        return Err("it has other joints than the reference; give clips on the project skeleton".to_owned());
    }
    let differs = own.iter().zip(other).skip(1).find(|(a, b)| a.offset.distance(b.offset) > SAME_BONE_M);
    if let Some((joint, _)) = differs {
        return Err(format!(
            "the bone of {} is another one than the reference's; give all clips the same body \
             (retarget.proportions = {{ project = {{ height_m = 1.75 }} }} in preprocessing)",
            joint.name
        ));
    }
    if (cycle.frame_rate_hz - frame_rate_hz).abs() > 1e-3 {
        return Err(format!(
            "it has {} frames a second and the reference {frame_rate_hz}; give all clips the same rate (frame_rate_hz in preprocessing)",
            cycle.frame_rate_hz
        ));
    }
    Ok(())
}

use crate::stance_peaks::stance_peaks;
use crate::{Dataset, DatasetError, Manifest, ManifestClip};
use pomp_motion::statistics::percentile;
use pomp_motion::{Gait, Recording};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Width of a bin of a histogram, body weights.
const BIN_BW: f32 = 0.25;
/// Bins of a histogram; the last one is open.
const BINS: usize = 20;
/// Distance of a closure from 1 that counts as closed.
const CLOSED_WITHIN: f32 = 0.03;
/// Ground of recordings of which the manifest says nothing.
const NO_GROUND: &str = "not recorded";

/// What is in a dataset.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Census {
    /// Recordings, mirror images and terrain variants included.
    pub recordings: usize,
    /// Recordings that are neither.
    pub originals: usize,
    /// Minutes of all recordings.
    pub minutes: f64,
    /// Minutes of the originals.
    pub original_minutes: f64,
    /// Minutes by dominant gait of the frame.
    pub gaits: Vec<Share>,
    /// Minutes by kind of ground of the recording, as the manifest has it.
    pub grounds: Vec<Share>,
    /// Recordings with a physics replay.
    pub with_replay: usize,
    /// Recordings with phases.
    pub with_phases: usize,
    /// Hashes of the models that read the phases.
    pub phase_models: BTreeSet<String>,
    /// Hashes of the configurations that made the recordings; more than one is a mixture.
    pub config_hashes: BTreeSet<String>,
    /// Largest vertical contact force per stance, by gait.
    pub stance_peaks: Vec<Histogram>,
    /// How well the contact impulses carry the weight, by the manifest; absent where it does not say.
    pub closures: Option<Closures>,
    /// Collections with their licences, the longest first.
    pub licences: Vec<LicenceRow>,
    /// Recordings with warnings in the manifest; absent without a manifest.
    pub with_warnings: Option<usize>,
    /// The warnings of preprocessing in the manifest, by name of the recording's file; empty without a manifest.
    pub warnings: Vec<Warned>,
    /// Clips that were skipped, and variants that a clip does not allow, and why; absent without a manifest.
    pub skipped: Option<Vec<Skipped>>,
}

/// Σ vertical contact impulse over m g T of recordings: 1 when nothing but the ground carries the body.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Closures {
    /// Recordings of which the manifest says it.
    pub recordings: usize,
    /// How many of them are within 3 % of 1.
    pub within: usize,
    /// How many are within 3 % of 1 when the momentum that the body gained between the ends of the recording is taken
    /// from the impulse; of those alone of which the manifest says it.
    pub corrected_within: usize,
    /// The recordings that are farther off after that, with their corrected closure, by name of their file.
    pub open: Vec<(String, f32)>,
}

/// Minutes of something.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Share {
    /// Of what.
    pub name: String,
    /// Minutes.
    pub minutes: f64,
}

/// Peaks of the vertical contact force, body weights.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Histogram {
    /// The gait at the middle of the stances.
    pub gait: &'static str,
    /// Number of stances.
    pub stances: usize,
    /// Median peak.
    pub median_bw: f32,
    /// 95th percentile of the peaks.
    pub p95_bw: f32,
    /// Width of a bin, body weights.
    pub bin_bw: f32,
    /// Stances per bin from 0 upwards; the last bin holds everything above.
    pub counts: Vec<usize>,
}

/// A collection and its licence.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LicenceRow {
    /// The collection: the source up to its first semicolon.
    pub collection: String,
    /// Licence as the collection states it.
    pub license: String,
    /// Recordings.
    pub recordings: usize,
    /// Minutes.
    pub minutes: f64,
}

/// What preprocessing has warned of in a recording.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Warned {
    /// Name of the recording's file.
    pub file: String,
    /// The warnings.
    pub warnings: Vec<String>,
}

/// A clip or a variant that was not made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// The input, or the name that the variant would have had.
    pub name: String,
    /// Why.
    pub reason: String,
}

/// Counts what is in `dataset`, reading every recording once; `on_read` is called after each.
///
/// # Errors
/// A recording that cannot be read, or whose replay has no feet or no mass.
pub fn census(dataset: &Dataset, on_read: &mut dyn FnMut()) -> Result<Census, DatasetError> {
    let grounds: HashMap<&str, &str> = dataset
        .manifest
        .iter()
        .flat_map(|manifest| &manifest.clips)
        .filter_map(|clip| Some((clip.file.as_str(), clip.ground.as_ref()?.kind.as_str())))
        .collect();
    let mut counts = Counts::default();
    for path in &dataset.recordings {
        let recording = Dataset::read(path)?;
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        let ground = grounds.get(file.as_ref()).copied().unwrap_or(NO_GROUND);
        let bad = |reason| DatasetError::BadRecording { path: path.clone(), reason };
        counts.add(recording, ground).map_err(bad)?;
        on_read();
    }
    let mut census = counts.census();
    if let Some(manifest) = &dataset.manifest {
        census.closures = closures(&manifest.clips);
        let warned = manifest.clips.iter().filter(|clip| !clip.warnings.is_empty());
        census.warnings =
            warned.map(|clip| Warned { file: clip.file.clone(), warnings: clip.warnings.clone() }).collect();
        census.with_warnings = Some(census.warnings.len());
        census.skipped = Some(skipped(manifest));
    }
    Ok(census)
}

/// Sums over the recordings so far.
#[derive(Default)]
struct Counts {
    recordings: usize,
    originals: usize,
    minutes: f64,
    original_minutes: f64,
    /// Minutes of each gait.
    gaits: [f64; Gait::COUNT],
    /// Minutes on each kind of ground.
    grounds: BTreeMap<String, f64>,
    /// Peaks of the stances of each gait.
    peaks: [Vec<f32>; Gait::COUNT],
    /// Recordings and minutes of each collection and licence.
    licences: BTreeMap<(String, String), (usize, f64)>,
    with_replay: usize,
    with_phases: usize,
    phase_models: BTreeSet<String>,
    config_hashes: BTreeSet<String>,
}

impl Counts {
    /// Adds a recording. An error is what is wrong with its replay.
    fn add(&mut self, recording: Recording, ground: &str) -> Result<(), String> {
        let frame_minutes = 1.0 / (60.0 * f64::from(recording.frame_rate_hz));
        let minutes = recording.frames() as f64 * frame_minutes;
        self.recordings += 1;
        self.minutes += minutes;
        if !is_variant(&recording.name) {
            self.originals += 1;
            self.original_minutes += minutes;
        }
        for weights in &recording.gait {
            self.gaits[Gait::dominant(weights).index()] += frame_minutes;
        }
        *self.grounds.entry(ground.to_owned()).or_default() += minutes;
        for (gait, peak) in stance_peaks(&recording)? {
            self.peaks[gait.index()].push(peak);
        }
        let collection = recording.source.split(';').next().unwrap_or_default().trim().to_owned();
        let row = self.licences.entry((collection, recording.license)).or_default();
        *row = (row.0 + 1, row.1 + minutes);
        self.with_replay += usize::from(recording.simulation.is_some());
        self.with_phases += usize::from(recording.phase.is_some());
        self.phase_models.extend(recording.phase_model);
        self.config_hashes.insert(recording.config_hash);
        Ok(())
    }

    /// The census, without what a manifest adds.
    fn census(self) -> Census {
        let minutes_of = |gait: Gait| self.gaits[gait.index()];
        let peaks_of = |gait: Gait| self.peaks[gait.index()].as_slice();
        let seen = Gait::ALL.into_iter().filter(|gait| !peaks_of(*gait).is_empty());
        let licence = |((collection, license), (recordings, minutes))| LicenceRow {
            collection,
            license,
            recordings,
            minutes,
        };
        let mut licences: Vec<LicenceRow> = self.licences.into_iter().map(licence).collect();
        licences.sort_by(|a, b| b.minutes.total_cmp(&a.minutes));
        Census {
            recordings: self.recordings,
            originals: self.originals,
            minutes: self.minutes,
            original_minutes: self.original_minutes,
            gaits: Gait::ALL
                .into_iter()
                .map(|gait| Share { name: gait.name().to_owned(), minutes: minutes_of(gait) })
                .collect(),
            grounds: self.grounds.into_iter().map(|(name, minutes)| Share { name, minutes }).collect(),
            with_replay: self.with_replay,
            with_phases: self.with_phases,
            phase_models: self.phase_models,
            config_hashes: self.config_hashes,
            stance_peaks: seen.map(|gait| histogram(gait, peaks_of(gait))).collect(),
            closures: None,
            licences,
            with_warnings: None,
            warnings: Vec::new(),
            skipped: None,
        }
    }
}

/// What the manifest says was not made.
fn skipped(manifest: &Manifest) -> Vec<Skipped> {
    let failed = manifest
        .failures
        .iter()
        .map(|failure| Skipped { name: failure.input.display().to_string(), reason: failure.error.clone() });
    let left_out = manifest.clips.iter().flat_map(|clip| &clip.left_out);
    let left_out =
        left_out.map(|variant| Skipped { name: variant.name.clone(), reason: variant.reason.clone() });
    failed.chain(left_out).collect()
}

fn closures(clips: &[ManifestClip]) -> Option<Closures> {
    let closes = |closure: f32| (closure - 1.0).abs() <= CLOSED_WITHIN;
    let mut counted = Closures { recordings: 0, within: 0, corrected_within: 0, open: Vec::new() };
    for (clip, figures) in clips.iter().filter_map(|clip| Some((clip, clip.impulses?))) {
        counted.recordings += 1;
        counted.within += usize::from(closes(figures.vertical_closure));
        match figures.corrected_closure {
            Some(corrected) if closes(corrected) => counted.corrected_within += 1,
            Some(corrected) => counted.open.push((clip.file.clone(), corrected)),
            None => {}
        }
    }
    (counted.recordings > 0).then_some(counted)
}

/// Whether a recording is a mirror image or a variant of another: `_mirrored`, `_terrain…`.
fn is_variant(name: &str) -> bool {
    name.contains("_terrain") || name.ends_with("_mirrored")
}

fn histogram(gait: Gait, peaks: &[f32]) -> Histogram {
    let mut counts = vec![0; BINS];
    for peak in peaks {
        counts[((peak / BIN_BW).max(0.0) as usize).min(BINS - 1)] += 1;
    }
    let at = |share| percentile(peaks, share).expect("a gait is listed with its stances") as f32;
    Histogram {
        gait: gait.name(),
        stances: peaks.len(),
        median_bw: at(0.5),
        p95_bw: at(0.95),
        bin_bw: BIN_BW,
        counts,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ImpulseFigures;

    #[test]
    fn mirror_images_and_terrain_variants_are_no_originals() {
        for name in ["walk_mirrored", "walk_terrain1", "walk_mirrored_terrain_slope2", "walk_terrain0_bump1"]
        {
            assert!(is_variant(name), "{name}");
        }
        for name in ["walk", "terrain_walk", "mirrored_walk"] {
            assert!(!is_variant(name), "{name}");
        }
    }

    #[test]
    fn momentum_that_was_gained_opens_a_closure_and_what_is_lost_keeps_it_open() {
        let clip = |file: &str, impulses| ManifestClip {
            file: file.to_owned(),
            warnings: Vec::new(),
            ground: None,
            left_out: Vec::new(),
            impulses,
        };
        let figures = |vertical_closure, corrected_closure| {
            Some(ImpulseFigures { vertical_closure, corrected_closure })
        };
        let clips = [
            clip("stands", figures(1.01, Some(1.0))),
            clip("falls", figures(0.9, Some(1.001))),
            clip("lost", figures(0.9, Some(0.9))),
            clip("older", figures(1.0, None)),
            clip("oldest", None),
        ];
        let counted = closures(&clips).unwrap();
        assert_eq!((counted.recordings, counted.within, counted.corrected_within), (4, 2, 2));
        assert_eq!(counted.open, [("lost".to_owned(), 0.9)]);
        assert_eq!(closures(&clips[4..]), None);
    }

    #[test]
    fn peaks_fall_into_bins_and_the_last_bin_is_open() {
        let counted = histogram(Gait::Walk, &[1.1, 0.1, 100.0, 1.2, -0.1]);
        assert_eq!((counted.stances, counted.median_bw), (5, 1.1));
        assert_eq!((counted.counts[0], counted.counts[4], counted.counts[BINS - 1]), (2, 2, 1));
        assert_eq!(counted.counts.iter().sum::<usize>(), 5);
    }
}

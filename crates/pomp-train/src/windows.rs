//! The examples that the kinematic stage learns from, for trainings outside of this crate.

use crate::dataset::Dataset;
use crate::example::{StateSource, write_example};
use crate::phase_stage::PhaseReader;
use crate::rows::{fit_normalisers, weight_impulse_ns};
use crate::run::layout_of;
use crate::sampler::{Sampler, held_out_sampler, training_sampler};
use crate::{Phases, TrainConfig, TrainError, phaseless};
use pomp_model::{Model, subtract_base};
use pomp_motion::features::{FeatureLayout, Normaliser};
use std::path::Path;

/// Where the states in x come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowStates {
    /// The clips.
    Clean,
    /// Their physics replays.
    Replayed,
}

/// The examples of one half of a dataset, in the order of clips and frames: x and y of a frame as the kinematic stage makes them of
/// clips and replays, with the phases that a trained model reads.
#[derive(Debug)]
pub struct Windows {
    dataset: Dataset,
    layout: FeatureLayout,
    config: TrainConfig,
    training: Sampler,
    chosen: Sampler,
}

impl Windows {
    /// Reads the recordings of `folder`, with the phases of `model`; `config` says which clips are held out, which frames are learned
    /// from, and what x and y hold. `held_out` chooses the clips to measure with instead of those to learn from.
    ///
    /// # Errors
    /// As [`Dataset::load`]; a model of another number of joints or phase channels, or without its edge; held-out clips where none is
    /// held out; no frame to learn from; [`TrainConfig::resident_recordings`], as windows are read in any order.
    pub fn open(
        folder: &Path,
        config: &TrainConfig,
        model: &Model,
        held_out: bool,
    ) -> Result<Self, TrainError> {
        config.validate()?;
        let bad = |field, value: String, range| TrainError::BadConfig { field, value, range };
        if config.resident_recordings > 0 {
            let given = config.resident_recordings.to_string();
            return Err(bad(
                "resident_recordings",
                given,
                "0: windows are read in any order, so all recordings stay in memory",
            ));
        }
        let mut dataset = Dataset::load_split(folder, &config.split())?;
        let reader = PhaseReader::of(model)?;
        let sizes = (model.description.phase.joints, model.description.phase.channels);
        if sizes != (dataset.skeleton.len(), config.phase.network.channels) {
            let given = config.phase.network.channels.to_string();
            return Err(bad(
                "phase.network.channels",
                given,
                "the number of channels of the model that reads the phases",
            ));
        }
        if held_out && dataset.measured_on() != "held_out" {
            let given = config.held_out_every.to_string();
            return Err(bad(
                "held_out_every",
                given,
                "a number at which some clip is held out and some is not: of this folder none is; give a smaller one, \
                 but not 0, or more clips",
            ));
        }
        reader.read(&mut dataset)?;
        let layout = layout_of(config, &dataset);
        let training = training_sampler(&dataset, config);
        let chosen =
            if held_out { held_out_sampler(&dataset, config) } else { training_sampler(&dataset, config) };
        if training.len() == 0 || chosen.len() == 0 {
            return Err(TrainError::TooLittleData { stage: "kinematic", examples: 0 });
        }
        Ok(Self { dataset, layout, config: config.clone(), training, chosen })
    }

    /// Blocks of x and y.
    pub fn layout(&self) -> &FeatureLayout {
        &self.layout
    }

    /// Hash of all recordings, as training names the data.
    pub fn hash(&self) -> &str {
        &self.dataset.hash
    }

    /// Names of the bodies of the contact impulses.
    pub fn body_names(&self) -> &[String] {
        &self.dataset.body_names
    }

    /// Number of windows.
    pub fn len(&self) -> usize {
        self.chosen.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Name of the recording and frame of a window.
    ///
    /// # Panics
    /// There is no such window.
    pub fn place(&self, index: usize) -> (&str, usize) {
        let (clip, frame) = self.chosen.at(index);
        (&self.dataset.clips[clip].recording.name, frame)
    }

    /// Writes x and y of a window in their own units, on this thread alone.
    ///
    /// # Panics
    /// There is no such window, or x or y are of another length.
    pub fn write(&self, index: usize, states: WindowStates, x: &mut [f32], y: &mut [f32]) {
        let (clip, frame) = self.chosen.at(index);
        let source = match states {
            WindowStates::Clean => StateSource::Clean,
            WindowStates::Replayed => StateSource::Replayed,
        };
        let impulse = weight_impulse_ns(&self.dataset);
        write_example(&self.layout, &self.dataset.clips[clip], frame, &source, impulse, x, y);
    }

    /// Mean and deviation of x and of the network's output over the training clips, as the kinematic stage fits them.
    pub fn normalisers(&self) -> (Normaliser, Normaliser) {
        let output = self.config.kinematic.layout.output;
        fit_normalisers(&self.dataset, &self.layout, &self.training, output)
    }

    /// Turns x and y in their own units into what the network sees and learns to give, in place: y less its base where the
    /// configuration says so, both normalised, and phases hidden where it has none.
    pub fn normalise(&self, normalisers: &(Normaliser, Normaliser), x: &mut [f32], y: &mut [f32]) {
        let stage = &self.config.kinematic.layout;
        subtract_base(stage.output, &self.layout, x, y);
        normalisers.0.normalise(x);
        normalisers.1.normalise(y);
        if stage.phases == Phases::None {
            phaseless::hide(&self.layout, x, y);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorded_walk::record_walk;
    use crate::rows::Rows;
    use pomp_model::KinematicDescription;
    use std::collections::BTreeMap;

    #[test]
    fn windows_are_the_rows_of_the_kinematic_stage_to_the_bit() {
        let folder = tempfile::tempdir().unwrap();
        record_walk(folder.path());
        let model = pomp_embedded::load(&pomp_embedded::Device::flex()).unwrap();
        for phases in [Phases::Codes, Phases::None] {
            let mut config = TrainConfig::default();
            config.kinematic.layout.phases = phases;
            let windows = Windows::open(folder.path(), &config, &model, false).unwrap();
            let normalisers = windows.normalisers();
            let description = KinematicDescription {
                config: config.kinematic.network(windows.layout()),
                output: config.kinematic.layout.output,
                x: normalisers.0.clone(),
                y: normalisers.1.clone(),
                starts: BTreeMap::new(),
            };
            let rows = Rows::new(&windows.dataset, windows.layout(), &description, phases);
            let chosen = [0, windows.len() / 2, windows.len() - 1];
            for (states, source) in
                [(WindowStates::Clean, StateSource::Clean), (WindowStates::Replayed, StateSource::Replayed)]
            {
                let examples: Vec<_> = chosen
                    .iter()
                    .map(|&index| {
                        let (clip, frame) = windows.training.at(index);
                        (clip, frame, source)
                    })
                    .collect();
                let batch = rows.fill(&examples, None);
                let (x_len, y_len) = (windows.layout().x_len(), windows.layout().y_len());
                for (row, &index) in chosen.iter().enumerate() {
                    let (mut x, mut y) = (vec![0.0; x_len], vec![0.0; y_len]);
                    windows.write(index, states, &mut x, &mut y);
                    assert_eq!(x, batch.raw_x[row * x_len..][..x_len]);
                    windows.normalise(&normalisers, &mut x, &mut y);
                    assert_eq!(x, batch.x[row * x_len..][..x_len]);
                    assert_eq!(y, batch.y[row * y_len..][..y_len]);
                }
            }
        }
    }

    #[test]
    fn rejects_what_no_window_can_be_read_of() {
        let folder = tempfile::tempdir().unwrap();
        record_walk(folder.path());
        let model = pomp_embedded::load(&pomp_embedded::Device::flex()).unwrap();
        let refused = |config: TrainConfig, held_out: bool, field: &str| {
            let error = Windows::open(folder.path(), &config, &model, held_out).expect_err(field);
            assert!(error.to_string().contains(field), "{error}");
        };
        refused(TrainConfig::default(), true, "held_out_every");
        refused(
            TrainConfig { resident_recordings: 3, ..TrainConfig::default() },
            false,
            "resident_recordings",
        );
        let mut config = TrainConfig::default();
        config.phase.network.channels = 4;
        refused(config, false, "phase.network.channels");
        refused(TrainConfig { margin_frames: 100_000, ..TrainConfig::default() }, false, "0 examples");
    }
}

//! Where a stage stands, so that a run that was stopped goes on as if it had not been.

use crate::TrainError;
use crate::progress::Stage;
use burn::module::Module;
use burn::optim::ModuleOptimizer;
use pomp_weights::{WeightFile, WeightPrecision};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct State {
    step: usize,
    run: String,
}

/// The checkpoint of one stage of one run.
pub(crate) struct Checkpoint {
    folder: PathBuf,
    stage: Stage,
    /// Identifies configuration and data: a checkpoint of another run is not resumed.
    run: String,
}

impl Checkpoint {
    pub fn new(model_folder: &Path, stage: Stage, run: &str) -> Self {
        Self { folder: model_folder.join("checkpoints").join(stage.name()), stage, run: run.to_owned() }
    }

    /// The folder, for messages.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn io(&self, action: &'static str) -> impl Fn(std::io::Error) -> TrainError + use<> {
        let path = self.folder.clone();
        move |source| TrainError::Io { action, path: path.clone(), source }
    }

    /// Writes weights, their average and the optimiser after `step` steps. Two folders take turns, and the state
    /// that names one is replaced last: an interruption leaves the older one whole.
    pub fn save<M: Module>(
        &self,
        step: usize,
        module: &M,
        average: &M,
        optimizer: &ModuleOptimizer,
    ) -> Result<(), TrainError> {
        let io = self.io("writing a checkpoint");
        let slot = self.folder.join(format!("step_{step}"));
        std::fs::create_dir_all(&slot).map_err(&io)?;
        let weights = |module: &M, file: &str| -> Result<(), TrainError> {
            let mut weights = WeightFile::new([]);
            weights.add_module("module", module).map_err(pomp_model::ModelError::from)?;
            weights.save(&slot.join(file), WeightPrecision::F32).map_err(pomp_model::ModelError::from)?;
            Ok(())
        };
        weights(module, "weights.safetensors")?;
        weights(average, "average.safetensors")?;
        let bytes = optimizer
            .into_bytes()
            .map_err(|error| io(std::io::Error::other(format!("the optimiser's state: {error}"))))?;
        pomp_formats::write_atomically(&slot.join("optimizer.bpk"), |file| file.write_all(&bytes))?;
        let state = serde_json::to_string(&State { step, run: self.run.clone() }).expect("plain data");
        pomp_formats::write_atomically(&self.folder.join("state.json"), |file| {
            file.write_all(state.as_bytes())
        })?;
        for entry in std::fs::read_dir(&self.folder).map_err(&io)? {
            let path = entry.map_err(&io)?.path();
            if path.is_dir() && path != slot {
                std::fs::remove_dir_all(&path).map_err(&io)?;
            }
        }
        Ok(())
    }

    /// Reads the checkpoint back into `module`, its average and `optimizer`; `None` when there is none of this
    /// run.
    pub fn load<M: Module>(
        &self,
        module: &M,
        optimizer: ModuleOptimizer,
    ) -> Result<Option<(usize, M, M, ModuleOptimizer)>, TrainError> {
        let io = self.io("reading a checkpoint");
        let path = self.folder.join("state.json");
        if !path.is_file() {
            return Ok(None);
        }
        let text = std::fs::read_to_string(&path).map_err(&io)?;
        let state: State = serde_json::from_str(&text).map_err(|error| io(error.into()))?;
        if state.run != self.run {
            return Err(TrainError::OtherRun { stage: self.stage.name(), folder: self.folder.clone() });
        }
        let slot = self.folder.join(format!("step_{}", state.step));
        let weights = |file: &str| -> Result<M, TrainError> {
            let file = WeightFile::open(&slot.join(file)).map_err(pomp_model::ModelError::from)?;
            Ok(file.load_into("module", module.clone()).map_err(pomp_model::ModelError::from)?)
        };
        let (current, average) = (weights("weights.safetensors")?, weights("average.safetensors")?);
        let bytes = std::fs::read(slot.join("optimizer.bpk")).map_err(&io)?;
        let optimizer = optimizer
            .from_bytes(burn::tensor::Bytes::from_bytes_vec(bytes))
            .map_err(|error| io(std::io::Error::other(format!("the optimiser's state: {error}"))))?;
        Ok(Some((state.step, current, average, optimizer)))
    }
}

//! Where a stage stands, so that a run that was stopped goes on as if it had not been.

use crate::TrainError;
use crate::early_stopping::Best;
use crate::loss_record::LossRecord;
use crate::progress::Stage;
use burn::module::Module;
use burn::optim::ModuleOptimizer;
use pomp_weights::{WeightFile, WeightPrecision};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    step: usize,
    run: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    best: Option<Best>,
    losses: Vec<LossRecord>,
}

/// What a checkpoint holds.
pub(crate) struct Saved<M> {
    /// Steps done.
    pub step: usize,
    pub module: M,
    /// Average of the weights.
    pub average: M,
    pub optimizer: ModuleOptimizer,
    /// The best measurement so far, when the stage may end early.
    pub best: Option<Best>,
    /// What has been noted of each loss of the stage.
    pub losses: Vec<LossRecord>,
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

    /// Whether there is a checkpoint, of this or another run.
    pub fn exists(&self) -> bool {
        self.folder.join("state.json").is_file()
    }

    /// Whether there is a checkpoint of this run.
    pub fn is_of_this_run(&self) -> bool {
        matches!(self.state(), Ok(Some(_)))
    }

    /// Refuses a checkpoint of another run.
    pub fn check_run(&self) -> Result<(), TrainError> {
        self.state().map(|_| ())
    }

    /// Removes the checkpoint, of this or another run.
    pub fn remove(&self) -> Result<(), TrainError> {
        match std::fs::remove_dir_all(&self.folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(self.io("removing a checkpoint")(error))
            }
            _ => Ok(()),
        }
    }

    /// Where the last good weights are, for messages.
    pub fn last_good(&self) -> String {
        match self.state() {
            Ok(Some(state)) => {
                format!("the last good checkpoint is {}", self.slot(state.step).display())
            }
            _ => "there is no checkpoint yet".to_owned(),
        }
    }

    fn slot(&self, step: usize) -> PathBuf {
        self.folder.join(format!("step_{step}"))
    }

    /// The state of this run; `None` when there is none.
    fn state(&self) -> Result<Option<State>, TrainError> {
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
        Ok(Some(state))
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
        best: Option<Best>,
        losses: &[LossRecord],
    ) -> Result<(), TrainError> {
        let io = self.io("writing a checkpoint");
        let slot = self.slot(step);
        std::fs::create_dir_all(&slot).map_err(&io)?;
        write_weights(module, &slot.join("weights.safetensors"))?;
        write_weights(average, &slot.join("average.safetensors"))?;
        let bytes = optimizer
            .into_bytes()
            .map_err(|error| io(std::io::Error::other(format!("the optimiser's state: {error}"))))?;
        pomp_formats::write_atomically(&slot.join("optimizer.bpk"), |file| file.write_all(&bytes))?;
        let state = State { step, run: self.run.clone(), best, losses: losses.to_vec() };
        let state = serde_json::to_string(&state).expect("plain data");
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
    ) -> Result<Option<Saved<M>>, TrainError> {
        let io = self.io("reading a checkpoint");
        let Some(State { step, best, losses, .. }) = self.state()? else { return Ok(None) };
        let slot = self.slot(step);
        let average = read_weights(module, &slot.join("average.safetensors"))?;
        let module = read_weights(module, &slot.join("weights.safetensors"))?;
        let bytes = std::fs::read(slot.join("optimizer.bpk")).map_err(&io)?;
        let optimizer = optimizer
            .from_bytes(burn::tensor::Bytes::from_bytes_vec(bytes))
            .map_err(|error| io(std::io::Error::other(format!("the optimiser's state: {error}"))))?;
        Ok(Some(Saved { step, module, average, optimizer, best, losses }))
    }

    /// Keeps the weights that measured best. A run that is interrupted before [`Self::save`] measures and keeps the same
    /// ones again.
    pub fn save_best<M: Module>(&self, module: &M) -> Result<(), TrainError> {
        std::fs::create_dir_all(&self.folder).map_err(self.io("writing a checkpoint"))?;
        write_weights(module, &self.folder.join(BEST))
    }

    /// Keeps the weights that a fine-tuning begins with: the model folder will hold later ones.
    pub fn save_first<M: Module>(&self, module: &M) -> Result<(), TrainError> {
        std::fs::create_dir_all(&self.folder).map_err(self.io("writing a checkpoint"))?;
        write_weights(module, &self.folder.join(FIRST))
    }

    /// Reads the weights that the fine-tuning of this run began with into `module`; `None` when it has no checkpoint yet.
    pub fn load_first<M: Module>(&self, module: &M) -> Result<Option<M>, TrainError> {
        match self.state()? {
            Some(_) => read_weights(module, &self.folder.join(FIRST)).map(Some),
            None => Ok(None),
        }
    }

    /// Reads the weights that measured best into `module`.
    pub fn load_best<M: Module>(&self, module: &M) -> Result<M, TrainError> {
        read_weights(module, &self.folder.join(BEST))
    }
}

const BEST: &str = "best.safetensors";
const FIRST: &str = "first.safetensors";

fn write_weights<M: Module>(module: &M, path: &Path) -> Result<(), TrainError> {
    let mut weights = WeightFile::new(None);
    weights.add_module("module", module).map_err(pomp_model::ModelError::from)?;
    Ok(weights.save(path, WeightPrecision::F32).map_err(pomp_model::ModelError::from)?)
}

fn read_weights<M: Module>(module: &M, path: &Path) -> Result<M, TrainError> {
    let file = WeightFile::open(path).map_err(pomp_model::ModelError::from)?;
    Ok(file.load_into("module", module.clone()).map_err(pomp_model::ModelError::from)?)
}

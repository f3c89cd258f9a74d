//! Where the training of a controller, or of networks that are a model of their own, writes, and whether it may.

use crate::checkpoint::Checkpoint;
use crate::progress::Stage;
use crate::{Start, TrainError};
use pomp_controllers::{ControllerFile, ControllerKind};
use pomp_skeletal::SkeletalModel;
use std::path::{Path, PathBuf};

/// The places of a controller, or of skeleton-aware networks, in a model folder.
pub(crate) struct ControllerPlace<'a> {
    name: &'static str,
    model: &'a Path,
    /// Its weights.
    pub file: PathBuf,
    /// Its metrics and checkpoints.
    pub folder: PathBuf,
}

impl<'a> ControllerPlace<'a> {
    /// The places of `kind` in the folder `model`, whose folder is made.
    ///
    /// # Errors
    /// A folder that cannot be written.
    pub fn new(kind: ControllerKind, model: &'a Path) -> Result<Self, TrainError> {
        let file = model.join(ControllerFile::place(kind));
        Self::at(kind.name(), model, file, model.join(ControllerFile::FOLDER).join(kind.name()))
    }

    /// The places of skeleton-aware networks in the folder `model`, whose folder is made.
    ///
    /// # Errors
    /// A folder that cannot be written.
    pub fn of_retargeting(model: &'a Path) -> Result<Self, TrainError> {
        let name = Stage::Retarget.name();
        Self::at(name, model, SkeletalModel::place(model), model.join(name))
    }

    fn at(name: &'static str, model: &'a Path, file: PathBuf, folder: PathBuf) -> Result<Self, TrainError> {
        let io = |source| TrainError::Io { action: "creating the folder", path: folder.clone(), source };
        std::fs::create_dir_all(&folder).map_err(io)?;
        Ok(Self { name, model, file, folder })
    }

    /// Readies `checkpoint` for a training that begins as `start` says.
    ///
    /// # Errors
    /// A controller or a checkpoint that is there already, unless the training resumes or overwrites; a checkpoint of other settings or
    /// data.
    pub fn begin(&self, checkpoint: &Checkpoint, start: Start) -> Result<(), TrainError> {
        match start {
            Start::Resume | Start::ResumeFineTune => checkpoint.check_run(),
            Start::Overwrite => checkpoint.remove(),
            Start::Anew | Start::FineTune if self.file.exists() || checkpoint.exists() => {
                Err(TrainError::AlreadyTrained { stage: self.name, folder: self.model.to_path_buf() })
            }
            Start::Anew | Start::FineTune => Ok(()),
        }
    }
}

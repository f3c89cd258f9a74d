//! What training says while it goes on: to a terminal, and to a file that plots and dashboards read.

use crate::TrainError;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The stages of training (method §7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Periodic autoencoder on clean windows.
    Phase,
    /// Aligned encoder on stitched windows.
    AlignedPhase,
    /// Kinematic module.
    Kinematic,
}

impl Stage {
    /// Name on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Phase => "phase",
            Self::AlignedPhase => "aligned-phase",
            Self::Kinematic => "kinematic",
        }
    }
}

/// One report.
#[derive(Clone, Debug)]
pub struct TrainEvent<'a> {
    /// Stage.
    pub stage: Stage,
    /// Steps done.
    pub step: usize,
    /// Steps in all.
    pub steps: usize,
    /// Named figures of this moment; empty for a mere sign of life.
    pub figures: &'a [(&'a str, f32)],
}

/// Receives reports.
pub type OnEvent<'a> = &'a mut dyn FnMut(&TrainEvent<'_>);

/// `metrics.csv`: one row per figure with the columns stage, step, name, value.
pub(crate) struct MetricsFile {
    file: File,
    path: PathBuf,
}

impl MetricsFile {
    /// Opens the metrics of a model folder to append to.
    pub fn open(folder: &Path) -> Result<Self, TrainError> {
        let path = folder.join("metrics.csv");
        let io = |source| TrainError::Io { action: "opening the metrics", path: path.clone(), source };
        let fresh = !path.exists();
        let mut file = OpenOptions::new().create(true).append(true).open(&path).map_err(io)?;
        if fresh {
            file.write_all(b"stage,step,name,value\n").map_err(io)?;
        }
        Ok(Self { file, path })
    }

    /// Appends the figures of `event`.
    pub fn write(&mut self, event: &TrainEvent<'_>) -> Result<(), TrainError> {
        for (name, value) in event.figures {
            writeln!(self.file, "{},{},{name},{value}", event.stage.name(), event.step).map_err(
                |source| TrainError::Io { action: "writing the metrics", path: self.path.clone(), source },
            )?;
        }
        Ok(())
    }
}

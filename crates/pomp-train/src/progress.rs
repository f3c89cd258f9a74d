//! What training says while it goes on: to a terminal, and to a file that plots and dashboards read.

use crate::TrainError;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// The stages of training (docs/method.md §7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Periodic autoencoder on clean windows.
    Phase,
    /// Aligned encoder on stitched windows.
    AlignedPhase,
    /// Kinematic module.
    Kinematic,
    /// A controller in place of the kinematic module; each kind has a folder of its own.
    Controller,
    /// Skeleton-aware networks, a model of their own.
    Retarget,
    /// The balance policy, on the motion of a trained model.
    Balance,
    /// The style adapter of a trained model.
    Style,
}

impl Stage {
    /// Name on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Phase => "phase",
            Self::AlignedPhase => "aligned-phase",
            Self::Kinematic => "kinematic",
            Self::Controller => "controller",
            Self::Retarget => "retarget",
            Self::Balance => "balance",
            Self::Style => "style",
        }
    }

    /// The file of a model folder that the stage makes.
    pub(crate) fn weights_file(self) -> &'static str {
        match self {
            Self::Phase => "phase.safetensors",
            Self::AlignedPhase => "aligned_phase.safetensors",
            Self::Kinematic => "kinematic.safetensors",
            Self::Controller => "controller.safetensors",
            Self::Retarget => "retarget.safetensors",
            Self::Balance => "balance_policy.safetensors",
            Self::Style => "style_adapter.safetensors",
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

/// Receives reports, one after each step. [`ControlFlow::Break`] asks the training to write a checkpoint and to end with
/// [`TrainError::Stopped`].
pub type OnEvent<'a> = &'a mut dyn FnMut(&TrainEvent<'_>) -> ControlFlow<()>;

/// First line of the metrics.
const HEADER: &str = "stage,step,name,value";

/// `metrics.csv`: one row per figure with the columns stage, step, name, value.
pub(crate) struct MetricsFile {
    file: File,
    path: PathBuf,
}

impl MetricsFile {
    /// Opens the metrics of a model folder to append to those of `stage` up to step `done`. What the stage has noted
    /// beyond that is dropped: it is of an earlier run, or will be noted again.
    pub fn open(folder: &Path, stage: Stage, done: usize) -> Result<Self, TrainError> {
        let path = folder.join("metrics.csv");
        let io = |source| TrainError::Io { action: "opening the metrics", path: path.clone(), source };
        let before = if path.exists() { std::fs::read_to_string(&path).map_err(io)? } else { String::new() };
        let mut kept = format!("{HEADER}\n");
        for line in before.lines().filter(|line| *line != HEADER) {
            // A line that was cut when the machine went down has fewer fields.
            let [name, step, _, _] = line.split(',').collect::<Vec<_>>()[..] else { continue };
            if name != stage.name() || step.parse::<usize>().is_ok_and(|step| step <= done) {
                kept.push_str(line);
                kept.push('\n');
            }
        }
        if kept != before {
            pomp_formats::write_atomically(&path, |file| file.write_all(kept.as_bytes()))?;
        }
        let file = OpenOptions::new().append(true).open(&path).map_err(io)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_go_on_where_the_stage_does() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("metrics.csv");
        let before =
            "stage,step,name,value\nphase,10,mse,1\nkinematic,100,loss,3\nkinematic,200,loss,2\nkinematic,3";
        std::fs::write(&path, before).unwrap();
        let mut metrics = MetricsFile::open(folder.path(), Stage::Kinematic, 100).unwrap();
        let figures = [("loss", 2.5)];
        metrics
            .write(&TrainEvent { stage: Stage::Kinematic, step: 200, steps: 200, figures: &figures })
            .unwrap();
        assert_eq!(
            std::fs::read_to_string(&path).unwrap(),
            "stage,step,name,value\nphase,10,mse,1\nkinematic,100,loss,3\nkinematic,200,loss,2.5\n"
        );
        drop(MetricsFile::open(folder.path(), Stage::Kinematic, 0).unwrap());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "stage,step,name,value\nphase,10,mse,1\n");
    }
}

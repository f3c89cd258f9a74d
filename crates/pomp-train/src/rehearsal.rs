//! What training would take, found out on a few steps of every stage: a dry run.

use crate::aligned_stage::train_aligned;
use crate::checkpoint::Checkpoint;
use crate::dataset::{Dataset, TrainingClip};
use crate::kinematic_stage::{Beginning, train_kinematic};
use crate::phase_stage::{PhaseReader, train_phase, window_count};
use crate::progress::Stage;
use crate::run::{StageRun, Start, layout_of};
use crate::sampler::Sampler;
use crate::{TrainConfig, TrainError};
use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::{Device, Tensor};
use pomp_kinematic::KinematicModel;
use pomp_motion::features::FeatureLayout;
use pomp_phase::PeriodicAutoencoder;
use pomp_tensors::keep_freed_memory;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

/// Steps of each stage that are run. The first few, which set things up, are not measured.
const STEPS: usize = 12;
/// Steps at the beginning of a stage that are not measured.
const UNMEASURED: usize = 2;

/// Tensors of the size of the weights that training holds: weights, gradients, two moments, the average, a copy.
const COPIES_OF_WEIGHTS: usize = 6;

/// What an example of the kinematic stage takes beside its clip, bytes: the numbers of clip and frame.
const EXAMPLE_BYTES: usize = 16;

/// What training would take.
#[derive(Clone, Debug)]
pub struct Rehearsal {
    /// The stages, in their order.
    pub stages: Vec<StageRehearsal>,
    /// Time to read the phases of all frames between the first stage and the next, seconds.
    pub reading_phases_s: f64,
    /// Recordings and states in memory, bytes.
    pub data_bytes: usize,
    /// The most that a stage holds beside them, bytes: windows, weights and what the optimiser keeps of them. What a
    /// batch needs while it goes through a network is not in it.
    pub stage_bytes: usize,
}

/// One stage of a [`Rehearsal`].
#[derive(Clone, Debug)]
pub struct StageRehearsal {
    /// The stage.
    pub stage: Stage,
    /// Its modules with the number of their weights.
    pub modules: Vec<(String, usize)>,
    /// Windows, or frames, to learn from.
    pub examples: usize,
    /// Steps to the end.
    pub steps: usize,
    /// Time of one step, seconds; measurements on held-out clips and checkpoints come on top.
    pub step_s: f64,
}

impl Rehearsal {
    /// Time to the end, seconds.
    pub fn seconds(&self) -> f64 {
        self.reading_phases_s + self.stages.iter().map(|stage| stage.steps as f64 * stage.step_s).sum::<f64>()
    }
}

/// Runs a few steps of `stages` on as many clips as they need and says what the whole would take. Nothing is kept.
///
/// Stages that the later ones need are run as well; their time is not counted.
///
/// # Errors
/// As [`train`](crate::train).
pub fn rehearse(
    mut dataset: Dataset,
    config: &TrainConfig,
    stages: &[Stage],
    device: &Device,
) -> Result<Rehearsal, TrainError> {
    config.validate()?;
    keep_freed_memory();
    let sizes = Sizes::of(&dataset, config);
    let layout = layout_of(config, &dataset);
    let frames: usize = dataset.clips.iter().map(TrainingClip::frames).sum();
    let data_bytes = frames * frame_bytes(&dataset);
    shorten(&mut dataset, config);
    let rehearsed_frames: usize = dataset.clips.iter().map(TrainingClip::frames).sum();

    let folder = tempfile::tempdir().map_err(|source| TrainError::Io {
        action: "creating a folder for the dry run",
        path: std::env::temp_dir(),
        source,
    })?;
    let mut rehearsing = Rehearsing {
        config,
        stages,
        device,
        folder: folder.path(),
        sizes,
        window_bytes: 3
            * config.phase.network.joints
            * config.phase.network.window.frames()
            * size_of::<f32>(),
        found: Vec::new(),
        stage_bytes: 0,
    };
    let phase = rehearsing.phase(&mut dataset)?;
    let phases = PhaseReader::new(&phase.encoder, &config.phase.network, config.phase_edge_frames)?;
    let mut reading_phases_s = 0.0;
    if stages.iter().any(|stage| *stage != Stage::Phase) {
        let begun = Instant::now();
        phases.read(&mut dataset)?;
        reading_phases_s = begun.elapsed().as_secs_f64() * frames as f64 / rehearsed_frames as f64;
    }
    if stages.contains(&Stage::AlignedPhase) {
        rehearsing.aligned(&mut dataset, &phase, &phases)?;
    }
    if stages.contains(&Stage::Kinematic) {
        rehearsing.kinematic(&mut dataset, &layout, &phases)?;
    }
    let Rehearsing { found, stage_bytes, .. } = rehearsing;
    Ok(Rehearsal { stages: found, reading_phases_s, data_bytes, stage_bytes })
}

/// A rehearsal under way.
struct Rehearsing<'a> {
    config: &'a TrainConfig,
    stages: &'a [Stage],
    device: &'a Device,
    folder: &'a Path,
    sizes: Sizes,
    /// A window in memory, bytes.
    window_bytes: usize,
    found: Vec<StageRehearsal>,
    /// As in [`Rehearsal`].
    stage_bytes: usize,
}

impl Rehearsing<'_> {
    fn run(&self, stage: Stage) -> StageRun<'_> {
        StageRun {
            config: self.config,
            device: self.device,
            folder: self.folder,
            checkpoint: Checkpoint::new(self.folder, stage, "rehearsal"),
            start: Start::Anew,
            rehearsed_after: Some(STEPS),
        }
    }

    fn phase(&mut self, dataset: &mut Dataset) -> Result<PeriodicAutoencoder, TrainError> {
        let mut clock = Clock::default();
        let (phase, _) = train_phase(dataset, &self.run(Stage::Phase), &mut |_| clock.tick())?;
        let stage = StageRehearsal {
            stage: Stage::Phase,
            modules: modules_of(&phase, 1),
            examples: self.sizes.phase_windows,
            steps: self.sizes.phase_steps(self.config),
            step_s: clock.step_s(),
        };
        self.note(stage, self.window_bytes);
        Ok(phase)
    }

    fn aligned(
        &mut self,
        dataset: &mut Dataset,
        phase: &PeriodicAutoencoder,
        phases: &PhaseReader,
    ) -> Result<(), TrainError> {
        let mut clock = Clock::default();
        let (encoder, _) =
            train_aligned(dataset, &self.run(Stage::AlignedPhase), phase, phases, &mut |_| clock.tick())?;
        let stage = StageRehearsal {
            stage: Stage::AlignedPhase,
            modules: vec![("encoder".to_owned(), modules_of(&encoder, 0).iter().map(|(_, n)| n).sum())],
            examples: self.sizes.aligned_windows,
            steps: self.sizes.aligned_steps(self.config),
            step_s: clock.step_s(),
        };
        self.note(stage, 2 * self.window_bytes);
        Ok(())
    }

    fn kinematic(
        &mut self,
        dataset: &mut Dataset,
        layout: &FeatureLayout,
        phases: &PhaseReader,
    ) -> Result<(), TrainError> {
        let mut clock = Clock::default();
        train_kinematic(
            dataset,
            &self.run(Stage::Kinematic),
            layout,
            phases,
            Beginning::default(),
            &mut |_| clock.tick(),
            &mut |_| Ok(()),
        )?;
        let stage = &self.config.kinematic;
        let network = KinematicModel::new(&stage.network(layout), self.config.seed, self.device)?;
        let stage = StageRehearsal {
            stage: Stage::Kinematic,
            modules: modules_of(&network, 2),
            examples: self.sizes.frames,
            steps: stage.training.steps,
            step_s: clock.step_s(),
        };
        self.note(stage, EXAMPLE_BYTES);
        Ok(())
    }

    /// Keeps what was found out of a stage, if it was asked for.
    fn note(&mut self, stage: StageRehearsal, example_bytes: usize) {
        if self.stages.contains(&stage.stage) {
            let weights: usize = stage.modules.iter().map(|(_, count)| count).sum();
            let bytes = stage.examples * example_bytes + weights * COPIES_OF_WEIGHTS * size_of::<f32>();
            self.stage_bytes = self.stage_bytes.max(bytes);
            self.found.push(stage);
        }
    }
}

/// What the whole of the data gives to learn from.
struct Sizes {
    phase_windows: usize,
    aligned_windows: usize,
    frames: usize,
}

impl Sizes {
    fn of(dataset: &Dataset, config: &TrainConfig) -> Self {
        let windows = |stride| window_count(dataset.training(), config.phase_edge_frames, stride);
        let clips = dataset.training().map(|(index, _)| index);
        let sampler =
            Sampler::new(dataset, clips, config.margin_frames, config.kinematic.states.rare_gait_factor);
        Self {
            phase_windows: windows(config.phase.stride),
            aligned_windows: windows(config.aligned_phase.stride),
            frames: sampler.len(),
        }
    }

    fn phase_steps(&self, config: &TrainConfig) -> usize {
        let training = &config.phase.training;
        epoch_steps(self.phase_windows, training.batch_size) * training.epochs
    }

    fn aligned_steps(&self, config: &TrainConfig) -> usize {
        let training = &config.aligned_phase.training;
        epoch_steps(self.aligned_windows, training.batch_size) * training.epochs
    }
}

fn epoch_steps(windows: usize, batch_size: usize) -> usize {
    windows / batch_size.min(windows).max(1)
}

/// Leaves out the training clips that a few steps have no need of: every stage first looks at all that there are.
fn shorten(dataset: &mut Dataset, config: &TrainConfig) {
    let (phase, aligned, kinematic) = (&config.phase, &config.aligned_phase, &config.kinematic);
    let windows =
        |clip: &TrainingClip, stride| window_count([(0, clip)].into_iter(), config.phase_edge_frames, stride);
    let (mut of_phase, mut of_aligned, mut frames) = (0, 0, 0);
    let mut is_practised = kinematic.simulated_rollouts.share == 0.0;
    dataset.clips.retain(|clip| {
        let enough = of_phase >= STEPS * phase.training.batch_size
            && of_aligned >= STEPS * aligned.training.batch_size
            && frames >= 10 * kinematic.training.batch_size
            && is_practised;
        if !clip.held_out && !enough {
            of_phase += windows(clip, phase.stride);
            of_aligned += windows(clip, aligned.stride);
            frames += clip.frames();
            is_practised |=
                (0..clip.frames()).any(|frame| clip.is_practised(frame, kinematic.simulated_rollouts.jogs));
            return true;
        }
        false
    });
}

/// About what a frame of a clip takes in memory.
fn frame_bytes(dataset: &Dataset) -> usize {
    let number = size_of::<f32>();
    // Positions, quaternions and velocities of the clip and of its replay, once as recorded and once as states.
    let joints = dataset.skeleton.len() * 2 * 2 * (3 + 4 + 3);
    let bodies = dataset.body_names.len() * 3;
    // Roots, gaits, contacts, assistance, and the parts of a state that are not per joint.
    let rest = 80;
    (joints + bodies + rest) * number
}

/// The time between steps.
#[derive(Default)]
struct Clock {
    ticks: Vec<Instant>,
}

impl Clock {
    fn tick(&mut self) -> ControlFlow<()> {
        self.ticks.push(Instant::now());
        ControlFlow::Continue(())
    }

    fn step_s(&self) -> f64 {
        let first = UNMEASURED.min(self.ticks.len().saturating_sub(2));
        let measured = self.ticks.get(first..).unwrap_or_default();
        match measured {
            [first, .., last] => (*last - *first).as_secs_f64() / (measured.len() - 1) as f64,
            _ => 0.0,
        }
    }
}

/// The numbers in a module, by the first `depth` names of their paths, in the order of its fields.
fn modules_of<M: Module>(module: &M, depth: usize) -> Vec<(String, usize)> {
    struct Count {
        depth: usize,
        path: Vec<String>,
        counts: Vec<(String, usize)>,
    }
    impl ModuleVisitor for Count {
        fn enter_module(&mut self, name: &str, _container_type: &str) {
            self.path.push(name.to_owned());
        }

        fn exit_module(&mut self, _name: &str, _container_type: &str) {
            self.path.pop();
        }

        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            let name = self.path.iter().take(self.depth).map(String::as_str).collect::<Vec<_>>().join(".");
            let count = param.val().dims().iter().product::<usize>();
            match self.counts.last_mut() {
                Some((last, counted)) if *last == name => *counted += count,
                _ => self.counts.push((name, count)),
            }
        }
    }
    let mut count = Count { depth, path: Vec::new(), counts: Vec::new() };
    module.visit(&mut count);
    count.counts
}

//! Style adapter: the examples and rollouts of the kinematic stage, a frozen kinematic module, a code for each style.

use crate::checkpoint::Checkpoint;
use crate::dataset::Dataset;
use crate::finite::Step;
use crate::held_out::measure_held_out;
use crate::kinematic_stage::{from_noise, learning_rate};
use crate::learner::{Learner, Learning, Length, Reported, Reports};
use crate::own_window::ClipCommand;
use crate::phase_stage::PhaseReader;
use crate::progress::{OnEvent, Stage};
use crate::rollout_pool::Rollout;
use crate::rollout_starts::{RolloutStarts, advance_rollouts};
use crate::rows::{Batch, Rows, matrix, noise_per_feature};
use crate::sampler::Sampler;
use crate::step_rng::step_rng;
use crate::style_clips::StyledClips;
use crate::style_config::StyleTraining;
use crate::style_neutral::NeutralStates;
use crate::unroll::{Leader, LedPhases, Unroll};
use crate::{KinematicTraining, Phases, Start, TrainConfig, TrainError};
use burn::module::Module;
use burn::tensor::{Device, Tensor};
use pomp_files::Digest;
use pomp_generator::{PhaseFeedback, PhaseReader as LoopPhases};
use pomp_kinematic::{KinematicModel, StyleAdapter};
use pomp_model::{KinematicDescription, Model, ModelStyles, StyleDescription};
use pomp_motion::features::FeatureLayout;
use pomp_tensors::keep_freed_memory;
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;
use std::path::Path;

/// Steps between measurements and checkpoints; rollouts begin anew there.
const CHECKPOINT_EVERY: usize = 500;

/// Trains the style adapter of `model` on `dataset`, of which only the clips of a style are kept, into the model folder `out`, and gives
/// it. Its file is `style_adapter.safetensors`; metrics and checkpoints are in `style`. The model itself does not change.
///
/// # Errors
/// A setting outside its range; a style without clips; a model without kinematic module or of another skeleton; an adapter that is
/// there already, unless it is resumed or overwritten; a checkpoint of other settings or data; a loss that is no longer a number; or a
/// folder that cannot be written. [`TrainError::Stopped`] when `on_event` asks for it.
pub fn train_styles(
    model: &Model,
    dataset: &mut Dataset,
    config: &StyleTraining,
    start: Start,
    out: &Path,
    device: &Device,
    on_event: OnEvent<'_>,
) -> Result<ModelStyles, TrainError> {
    config.validate()?;
    keep_freed_memory();
    let (network, _, description) = model.kinematic()?;
    let layout = &model.description.layout;
    if (layout.joints(), layout.bodies()) != (dataset.skeleton.len(), dataset.body_names.len()) {
        return Err(TrainError::OtherSkeleton);
    }
    let clips = StyledClips::choose(dataset, config)?;
    let phases = PhaseReader::of(model)?;
    phases.read(dataset)?;
    let styles = clips.describe(dataset, layout, config.margin_frames)?;
    let reading = config.reading();
    let unrolls = config.unrolling.windows > 0;
    let loop_phases = (config.simulated_rollouts.share > 0.0 || unrolls)
        .then(|| LoopPhases::new(model, PhaseFeedback::Aligned, &dataset.clips[0].clean[0]))
        .transpose()?;
    let folder = out.join(Stage::Style.name());
    std::fs::create_dir_all(&folder).map_err(|source| TrainError::Io {
        action: "creating the folder",
        path: folder.clone(),
        source,
    })?;
    let checkpoint = Checkpoint::new(&folder, Stage::Style, &run_hash(config, dataset, model));
    let file = out.join(ModelStyles::FILE);
    match start {
        Start::Resume | Start::ResumeFineTune => checkpoint.check_run()?,
        Start::Overwrite => checkpoint.remove()?,
        Start::Anew | Start::FineTune if file.exists() || checkpoint.exists() => {
            let folder = out.to_path_buf();
            return Err(TrainError::AlreadyTrained { stage: Stage::Style.name(), folder });
        }
        Start::Anew | Start::FineTune => {}
    }
    let autodiff = device.clone().autodiff();
    let training = Training {
        config,
        reading: &reading,
        layout,
        description,
        clips: &clips,
        neutral: clips.neutral_states(dataset, config.margin_frames),
        frozen: network.clone().to_device(&autodiff).no_grad(),
        loop_phases: loop_phases.as_ref(),
        commands: if unrolls { ClipCommand::of_all(dataset) } else { Vec::new() },
        device,
        autodiff,
        folder: &folder,
        out,
        checkpoint,
    };
    let (adapter, metrics) = training.run(dataset, start, on_event)?;
    let trained = ModelStyles {
        description: StyleDescription {
            made_by: format!("pomp {}", env!("CARGO_PKG_VERSION")),
            config: serde_json::to_value(config).expect("a config is plain data"),
            seed: config.seed,
            data_hash: dataset.hash.clone(),
            data: dataset.provenance(),
            model_sha256: model.files_sha256.clone().unwrap_or_default(),
            styles,
            channels: config.channels,
            metrics,
        },
        adapter,
        file_sha256: None,
    };
    trained.save(&file)?;
    Ok(trained)
}

/// Identifies what a checkpoint rests on; a training may grow.
fn run_hash(config: &StyleTraining, dataset: &Dataset, model: &Model) -> String {
    let mut settings = serde_json::to_value(config).expect("a config is plain data");
    settings["training"]["steps"] = serde_json::Value::Null;
    let model = model.files_sha256.as_deref().unwrap_or_default();
    Digest::of(format!("{settings}\n{}\n{model}", dataset.hash)).short()
}

/// What all steps share.
struct Training<'a> {
    config: &'a StyleTraining,
    /// The same in the words of the kinematic stage.
    reading: &'a TrainConfig,
    layout: &'a FeatureLayout,
    description: &'a KinematicDescription,
    clips: &'a StyledClips,
    neutral: NeutralStates,
    /// The kinematic module, whose weights get no gradient.
    frozen: KinematicModel,
    loop_phases: Option<&'a LoopPhases>,
    /// What the paths of the clips would be as commands; empty where nothing is unrolled.
    commands: Vec<ClipCommand>,
    device: &'a Device,
    autodiff: Device,
    folder: &'a Path,
    /// The model folder.
    out: &'a Path,
    checkpoint: Checkpoint,
}

/// What its steps change.
struct Progress {
    learner: Learner<StyleAdapter>,
    rollouts: Vec<Rollout>,
    /// Characters of the windows with gradients through time.
    unrolled: Vec<Rollout>,
}

impl Training<'_> {
    fn run(
        &self,
        dataset: &Dataset,
        start: Start,
        on_event: OnEvent<'_>,
    ) -> Result<(StyleAdapter, BTreeMap<String, f32>), TrainError> {
        let margin = self.config.margin_frames;
        let training = self.clips.training_sampler(dataset, margin);
        if training.len() < self.config.training.batch_size {
            return Err(TrainError::TooLittleData { stage: Stage::Style.name(), examples: training.len() });
        }
        let practised = match self.config.simulated_rollouts.share > 0.0 {
            true => self.clips.practised_sampler(dataset, margin)?,
            false => Sampler::balanced(Vec::new()),
        };
        let starts = RolloutStarts::of_clips(self.reading, (&training, &practised), self.loop_phases);
        let rows = Rows::new(dataset, self.layout, self.description, Phases::Codes);
        let mut progress = self.begin(start)?;
        let length = Length { steps: self.config.training.steps, measured_every: CHECKPOINT_EVERY };
        let done = progress.learner.done;
        let mut reports = Reports::open(Stage::Style, done, length, self.folder, self.out)?;
        while reports.goes_on(&progress.learner) {
            progress = self.step(progress, &rows, &starts)?;
            let measured = match reports.to_measure(&progress.learner) {
                Some(averaged) => {
                    let figures = self.measure(&averaged.valid(), &rows)?;
                    Some((averaged, figures))
                }
                None => None,
            };
            let Reported { averaged, flow } = reports.tell(&mut progress.learner, measured, on_event)?;
            if let Some(averaged) = averaged {
                progress.learner.save(&averaged, None, &self.checkpoint)?;
                progress.rollouts.clear();
                progress.unrolled.clear();
            }
            if flow.is_break() {
                return Err(reports.stopped(progress.learner.done));
            }
        }
        let adapter = progress.learner.averaged().valid();
        let figures = self.measure(&adapter, &rows)?;
        Ok((adapter, figures.into_iter().collect()))
    }

    /// Codes from the seed, or the adapter of the checkpoint.
    fn begin(&self, start: Start) -> Result<Progress, TrainError> {
        let sizes = [self.clips.names.len(), self.config.channels];
        let fresh = StyleAdapter::new(self.frozen.config(), sizes, self.config.seed, &self.autodiff)?;
        let KinematicTraining { weight_decay, average, .. } = self.config.training;
        let (learner, _) =
            Learner::begin(fresh, Learning { weight_decay, average }, &self.checkpoint, start)?;
        Ok(Progress { learner, rollouts: Vec::new(), unrolled: Vec::new() })
    }

    /// One batch: rollouts on the module's own styled states, replayed and clean examples.
    fn step(
        &self,
        mut progress: Progress,
        rows: &Rows<'_>,
        starts: &RolloutStarts<'_>,
    ) -> Result<Progress, TrainError> {
        let (stage, layout, step) = (&self.reading.kinematic, self.layout, progress.learner.done + 1);
        let mut rng = step_rng(self.config.seed, Stage::Style, step);
        let there = progress.rollouts.len();
        starts.fill_up(&mut progress.rollouts, step, rows, &mut rng)?;
        let share = self.config.neutral_share;
        let added = |number: usize, _: &Rollout| number >= there;
        self.neutral.begin_there(rows.dataset, &mut progress.rollouts, added, share, &mut rng);
        let deviations = noise_per_feature(layout, stage.states.state_noise, stage.states.context_noise);
        let mut batch = starts.batch(&progress.rollouts, &deviations, rows, &mut rng);
        let of_rows: Vec<f32> = (0..batch.clips.len()).map(|row| self.weight(row)).collect();
        let weights = self.clips.weights(batch.clips.iter().copied().zip(of_rows.iter().copied()));
        self.lead_partly(&mut batch, &of_rows, &mut rng);
        let led = batch.first(progress.rollouts.len(), layout);
        let style = progress.learner.module.modulate(&weights, self.frozen.config().experts, &self.autodiff);
        let feature_weights =
            Tensor::<1>::from_floats(stage.loss.per_feature(layout).as_slice(), &self.autodiff);
        let mut loss = self.frozen.styled_loss(
            &matrix(batch.x, layout.x_len(), &self.autodiff),
            &style,
            &matrix(batch.y, layout.y_len(), &self.autodiff),
            &feature_weights,
            &mut rng,
        );
        let unrolling = self.config.unrolling;
        if unrolling.windows > 0 {
            let turned = Some((share, &self.neutral));
            let (astray_rad, own_windows) = (unrolling.astray_rad, true);
            let starts = RolloutStarts { astray_rad, own_windows, turned, ..*starts };
            let weighed = (feature_weights.unsqueeze(), LedPhases::OfRollout);
            let (steps, through) = (stage.training.steps, (rows, &starts));
            let unroll = Unroll::new(unrolling, steps, through, weighed, &self.commands, &self.autodiff);
            let leader = StyledModule { training: self, adapter: &progress.learner.module };
            let unrolled = unroll.loss(&leader, step, &mut progress.unrolled, &mut rng)?;
            loss = loss + unrolled * unrolling.weight;
        }
        let named = format!("that of step {step}, seed {}", self.config.seed);
        let checked = Step { stage: Stage::Style, step, batch: &named, checkpoint: &self.checkpoint };
        progress.learner.note(&loss, &checked)?;
        if !progress.rollouts.is_empty() {
            let of_led = &weights[..progress.rollouts.len() * self.clips.names.len()];
            let mut predicted =
                self.predict(Some((&progress.learner.module.valid(), of_led)), &led, &mut rng);
            rows.outputs_to_y(&led.raw_x, &mut predicted);
            let next: Vec<(usize, usize)> =
                progress.rollouts.iter().map(|rollout| (rollout.clip, rollout.frame + 1)).collect();
            advance_rollouts(&mut progress.rollouts, rows, &predicted, starts, &mut rng)?;
            let replaced = |number: usize, rollout: &Rollout| (rollout.clip, rollout.frame) != next[number];
            self.neutral.begin_there(rows.dataset, &mut progress.rollouts, replaced, share, &mut rng);
        }
        progress.learner = progress.learner.descend(&loss, learning_rate(stage, step), &checked)?;
        Ok(progress)
    }

    /// Weight of the style in a row of every batch. It goes with the row, so that a rollout keeps its weight; the fractional parts of
    /// the multiples of the golden ratio fill the range evenly, however many rows there are.
    fn weight(&self, row: usize) -> f32 {
        const GOLDEN: f64 = 0.618_033_988_749_895;
        let StyleTraining { partial_share, least_weight, .. } = *self.config;
        let place = (row as f64 * GOLDEN).fract() as f32;
        if place >= partial_share { 1.0 } else { least_weight + (1.0 - least_weight) * place / partial_share }
    }

    /// Moves the target of rows whose weight is below 1 towards what the frozen module predicts for them.
    fn lead_partly(&self, batch: &mut Batch, weights: &[f32], rng: &mut ChaCha8Rng) {
        if weights.iter().all(|weight| *weight == 1.0) {
            return;
        }
        let neutral = self.predict(None, batch, rng);
        let y_len = self.layout.y_len();
        let rows = batch.y.chunks_exact_mut(y_len).zip(neutral.chunks_exact(y_len)).zip(weights);
        for ((y, neutral), weight) in rows {
            for (y, neutral) in y.iter_mut().zip(neutral) {
                *y = neutral + (*y - neutral) * weight;
            }
        }
    }

    /// The normalised output of the module, styled or not, from pure noise in a single step, row-major.
    fn predict(
        &self,
        style: Option<(&StyleAdapter, &[f32])>,
        batch: &Batch,
        rng: &mut ChaCha8Rng,
    ) -> Vec<f32> {
        let model = self.frozen.valid();
        let x = matrix(batch.x.clone(), self.layout.x_len(), self.device);
        let context = match style {
            Some((adapter, weights)) => {
                let style = adapter.modulate(weights, model.config().experts, self.device);
                model.encode_styled(&x, &style, None)
            }
            None => model.encode(&x, None),
        };
        let clean = from_noise(&model, &context, self.device, rng);
        clean.try_into_vec_as::<f32>().expect("predictions are floating-point numbers")
    }

    /// Errors half a second ahead on the clips that each style is measured with, in the style and without it.
    fn measure(&self, adapter: &StyleAdapter, rows: &Rows<'_>) -> Result<Vec<(String, f32)>, TrainError> {
        let mut figures = Vec::new();
        for (index, name) in self.clips.names.iter().enumerate() {
            let (sampler, on) = self.clips.measured_sampler(rows.dataset, index, self.config.margin_frames);
            for (weight, kind) in [(1.0, "styled"), (0.0, "neutral")] {
                let mut rng = step_rng(self.config.seed, Stage::Style, usize::MAX);
                let mut of_style = vec![0.0; self.clips.names.len()];
                of_style[index] = weight;
                let mut predict = |batch: &Batch| {
                    let weights = of_style.repeat(batch.x.len() / self.layout.x_len());
                    self.predict(Some((adapter, &weights)), batch, &mut rng)
                };
                let errors = measure_held_out(&mut predict, rows, &sampler, self.reading)?;
                figures.push((format!("{name}_{on}_half_second_{kind}_cm"), errors.half_second_cm));
                if weight == 0.0 {
                    figures.push((format!("{name}_{on}_half_second_hold_cm"), errors.half_second_hold_cm));
                }
            }
        }
        Ok(figures)
    }
}

/// The frozen module as it leads characters in the styles of their clips: one denoising step from pure noise.
struct StyledModule<'a> {
    training: &'a Training<'a>,
    adapter: &'a StyleAdapter,
}

impl Leader for StyledModule<'_> {
    fn outputs(&self, x: &Tensor<2>, batch: &Batch, rng: &mut ChaCha8Rng) -> Tensor<2> {
        let Training { clips, frozen, autodiff, .. } = self.training;
        let weights = clips.weights(batch.clips.iter().map(|clip| (*clip, 1.0)));
        let style = self.adapter.modulate(&weights, frozen.config().experts, autodiff);
        from_noise(frozen, &frozen.encode_styled(x, &style, None), autodiff, rng)
    }

    fn wanted(&self, batch: &Batch) -> Tensor<2> {
        matrix(batch.y.clone(), self.training.layout.y_len(), &self.training.autodiff)
    }

    fn y(&self, outputs: Vec<f32>, _: &Batch) -> Vec<f32> {
        outputs
    }
}

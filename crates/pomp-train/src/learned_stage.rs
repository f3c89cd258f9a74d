//! Learned motion matching: decompressor, stepper and projector from the clips that motion matching would play.

use crate::checkpoint::Checkpoint;
use crate::controller_place::ControllerPlace;
use crate::dataset::Dataset;
use crate::example::mean_distance;
use crate::learned_config::LearnedConfig;
use crate::learned_frames::{Frames, Table};
use crate::learned_part::Part;
use crate::learned_queries::Queries;
use crate::matching_stage::build_matching;
use crate::progress::{OnEvent, Stage};
use crate::rows::{matrix, normal};
use crate::step_rng::step_rng;
use crate::{Start, TrainError};
use burn::module::{Module, Param};
use burn::tensor::{Device, Tensor, TensorData};
use glam::Vec3;
use pomp_controllers::ControllerKind;
use pomp_controllers::gated::GatedNetwork;
use pomp_controllers::learned::{LearnedDescription, LearnedModel, PoseLayout, Scales, plain_network};
use pomp_controllers::matching::{MatchingDatabase, MatchingDescription};
use pomp_files::Digest;
use pomp_motion::{Pose, Skeleton};
use pomp_tensors::keep_freed_memory;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;
use std::path::Path;

/// Hidden layers of the compressor.
const COMPRESSOR_LAYERS: usize = 3;
/// An error of this size counts 1 in the loss of the decompressor: of a joint's place, metres, of its velocity, m/s.
const PLACE_M: f32 = 0.01;
const VELOCITY_M_S: f32 = 0.3;
/// The same of the root's velocity, m/s, and of its turn, rad/s, of a gait weight, and of the way ahead, metres or sines.
const ROOT_M_S: f32 = 0.05;
const TURN_RAD_S: f32 = 0.1;
const GAIT: f32 = 0.2;
const WAY_M: f32 = 0.05;
/// A joint that has nothing beyond it counts as if something stood so far off, metres.
const LEAST_LEVER_M: f32 = 0.04;
/// Weights of the code's size and of its change from frame to frame in the loss of the decompressor.
const CODE: f32 = 0.001;
const CODE_CHANGE: f32 = 0.1;
/// Frames for which the stepper goes on by itself in training.
const STEPPED_FRAMES: usize = 20;
/// Weight of the change of a frame, in deviations, in the loss of the stepper.
const CHANGE: f32 = 0.2;
/// Weights of the code and of the distance from the query in the loss of the projector.
const PROJECTED_CODE: f32 = 1.0;
const DISTANCE: f32 = 0.3;
/// Rows that a network is given at a time outside training.
const CHUNK: usize = 2048;
/// Frames, windows and queries that figures are measured on.
const MEASURED: usize = 2000;

/// Trains learned motion matching on the clips that motion matching would take of `dataset`, into the model folder `out`, and gives it. Its
/// file is `controllers/learned-matching.safetensors`; metrics and checkpoints are in `controllers/learned-matching`.
///
/// # Errors
/// As [`crate::train_controller`].
pub fn train_learned_matching(
    dataset: &Dataset,
    config: &LearnedConfig,
    start: Start,
    out: &Path,
    device: &Device,
    on_event: OnEvent<'_>,
) -> Result<LearnedModel, TrainError> {
    config.validate()?;
    keep_freed_memory();
    let place = ControllerPlace::new(config.kind, out)?;
    let parts = parts(config, &dataset.hash, &place.folder, out);
    for Part { checkpoint, .. } in &parts {
        place.begin(checkpoint, start)?;
    }
    let clips = build_matching(dataset, &config.matching(), out)?;
    let database = clips.controller();
    let training = Training::new(config, database.database(), &clips.description, device)?;
    let model = training.run(&parts, start, on_event)?;
    model.save(&place.file).map_err(pomp_model::ModelError::from)?;
    Ok(model)
}

/// The trainings in their order: compressor with decompressor, stepper, projector.
fn parts<'a>(config: &LearnedConfig, data_hash: &str, own: &'a Path, out: &'a Path) -> [Part<'a>; 3] {
    let named =
        [("decompressor", config.decompressor), ("stepper", config.stepper), ("projector", config.projector)];
    let steps = named.iter().map(|(_, training)| training.steps).sum();
    std::array::from_fn(|at| {
        let (name, settings) = named[at];
        // A part rests on those before it, and may itself grow.
        let mut told = config.clone();
        for training in [&mut told.decompressor, &mut told.stepper, &mut told.projector].into_iter().skip(at)
        {
            training.steps = 0;
        }
        let told = serde_json::to_string(&told).expect("a config is plain data");
        let run = Digest::of(format!("{told}\n{data_hash}")).short();
        Part {
            name,
            stage: Stage::Controller,
            settings,
            checkpoint: Checkpoint::new(&own.join(name), Stage::Controller, &run),
            seed: config.seed.wrapping_add(1000 * at as u64),
            before: named[..at].iter().map(|(_, training)| training.steps).sum(),
            steps,
            folder: own,
            out,
        }
    })
}

/// What makes codes and what reads them.
#[derive(Module, Debug)]
struct Compressing {
    compressor: GatedNetwork,
    decompressor: GatedNetwork,
}

struct Training<'a> {
    config: &'a LearnedConfig,
    database: &'a MatchingDatabase,
    clips: &'a MatchingDescription,
    frames: Frames,
    /// What the compressor is given: values of the pose and joint positions, normalised.
    compressed: Table,
    device: &'a Device,
}

impl<'a> Training<'a> {
    fn new(
        config: &'a LearnedConfig,
        database: &'a MatchingDatabase,
        clips: &'a MatchingDescription,
        device: &'a Device,
    ) -> Result<Self, TrainError> {
        let frames = Frames::of(database);
        if !frames.has_windows(STEPPED_FRAMES + 1) {
            let examples = frames.places.len();
            return Err(TrainError::TooLittleData { stage: config.kind.name(), examples });
        }
        let mut positions = frames.positions.clone();
        positions.normalise(&frames.positions.scales());
        let compressed = beside(&frames.poses, &positions);
        Ok(Self { config, database, clips, frames, compressed, device })
    }

    fn run(
        &self,
        parts: &[Part<'_>; 3],
        start: Start,
        on_event: OnEvent<'_>,
    ) -> Result<LearnedModel, TrainError> {
        let mut description = self.describe();
        let autodiff = self.device.clone().autodiff();
        let [decompressor, stepper, projector] =
            description.fresh(&autodiff).map_err(pomp_model::ModelError::from)?;
        let compressing = Compressing { compressor: self.compressor(&autodiff)?, decompressor };
        let weights = weights(self.frames.layout, self.database.skeleton(), &self.frames.scales);
        let compressing = parts[0].run(compressing, start, on_event, &mut |networks, rng| {
            let rows = self.frames.windows(2, parts[0].settings.batch_size, rng);
            self.compression_loss(networks, &rows, &weights, &autodiff)
        })?;
        let compressing = compressing.valid();
        let codes = self.predict(&compressing.compressor, &self.compressed);
        let scales = codes.scales();
        let (mut codes, features) = (codes, self.frames.features.width);
        codes.normalise(&scales);
        let decompressor = folded(compressing.decompressor, features, &scales, self.device);
        let entries = beside(&self.frames.features, &codes);
        description.change = self.changes(&entries);

        let change = description.change.clone();
        let stepper = parts[1].run(stepper, start, on_event, &mut |network, rng| {
            let rows = self.frames.windows(STEPPED_FRAMES + 1, parts[1].settings.batch_size, rng);
            let noise = noise(rows.len(), entries.width, self.config.start_noise, rng);
            stepping_loss(network, &entries, (&rows, noise), &change, &autodiff)
        })?;
        let queries = Queries::new(self.database, &self.frames);
        let projector = parts[2].run(projector, start, on_event, &mut |network, rng| {
            let drawn = queries.draw(parts[2].settings.batch_size, rng);
            projection_loss(network, &entries, features, drawn, &autodiff)
        })?;
        let networks = [decompressor, stepper.valid(), projector.valid()];
        description.metrics = self.figures(&networks, &entries, &change, &queries);
        Ok(LearnedModel { description, networks })
    }

    fn describe(&self) -> LearnedDescription {
        let [mean, scale] = self.database.normalisation();
        LearnedDescription {
            kind: ControllerKind::LearnedMatching,
            made_by: self.clips.made_by.clone(),
            config: serde_json::to_value(self.config).expect("a config is plain data"),
            seed: self.config.seed,
            data_hash: self.clips.data_hash.clone(),
            data: self.clips.data.clone(),
            skeleton: self.clips.skeleton.clone(),
            sizes: self.config.sizes,
            features: Scales {
                mean: mean.to_vec(),
                deviation: scale.iter().map(|scale| 1.0 / scale).collect(),
            },
            pose: self.frames.scales.clone(),
            change: Scales::default(),
            metrics: BTreeMap::new(),
        }
    }

    fn compressor(&self, device: &Device) -> Result<GatedNetwork, TrainError> {
        let sizes = self.config.sizes;
        let hidden = vec![sizes.compressor_hidden; COMPRESSOR_LAYERS];
        let seed = self.config.seed.wrapping_add(COMPRESSOR_LAYERS as u64);
        let network = plain_network(&hidden, [self.compressed.width, sizes.code], seed, device);
        Ok(network.map_err(pomp_model::ModelError::from)?)
    }

    /// Errors of poses and of how they move, and the size and change of codes, in the windows of two frames from `rows` on.
    fn compression_loss(
        &self,
        networks: &Compressing,
        rows: &[usize],
        weights: &[f32],
        device: &Device,
    ) -> Tensor<1> {
        let both: Vec<usize> = rows.iter().copied().chain(rows.iter().map(|row| row + 1)).collect();
        let code = run(&networks.compressor, &self.compressed.chosen(&both, device));
        let entry = Tensor::cat(vec![self.frames.features.chosen(&both, device), code.clone()], 1);
        let found = run(&networks.decompressor, &entry);
        let weighted = matrix(weights.to_vec(), weights.len(), device);
        let error = (found - self.frames.poses.chosen(&both, device)) * weighted;
        let halves = |of: &Tensor<2>| {
            let width = of.dims()[1];
            of.clone().slice([rows.len()..2 * rows.len(), 0..width])
                - of.clone().slice([0..rows.len(), 0..width])
        };
        // Columns that say where joints are come first: of them also the velocity is to be right.
        let moved = self.frames.layout.height() + 1;
        let moving = halves(&error).slice([0..rows.len(), 0..moved]);
        let moving = moving * (PLACE_M * pomp_motion::FRAME_RATE_HZ / VELOCITY_M_S);
        let sum = |of: Tensor<2>| {
            let count = of.dims()[0] as f32;
            (of.clone() * of).sum() / count
        };
        sum(error) + sum(moving) + sum(code.clone()) * CODE + sum(halves(&code)) * CODE_CHANGE
    }

    /// Outputs of a network, which tracks no gradients, for every row.
    fn predict(&self, network: &GatedNetwork, inputs: &Table) -> Table {
        let rows: Vec<usize> = (0..inputs.rows()).collect();
        let mut outputs = Table::default();
        for rows in rows.chunks(CHUNK) {
            let found = run(network, &inputs.chosen(rows, self.device));
            outputs.width = found.dims()[1];
            outputs.values.extend(numbers(found));
        }
        outputs
    }

    /// Mean and deviation of the change of an entry from a frame to the next.
    fn changes(&self, entries: &Table) -> Scales {
        let changes = self.frames.with_next().flat_map(|row| {
            let pairs = entries.row(row).iter().zip(entries.row(row + 1));
            pairs.map(|(from, to)| to - from).collect::<Vec<f32>>()
        });
        Table { width: entries.width, values: changes.collect() }.scales()
    }

    fn figures(
        &self,
        networks: &[GatedNetwork; 3],
        entries: &Table,
        change: &Scales,
        queries: &Queries<'_>,
    ) -> BTreeMap<String, f32> {
        let mut figures = self.clips.metrics.clone();
        let stride = entries.rows().div_ceil(MEASURED);
        let rows: Vec<usize> = (0..entries.rows()).step_by(stride).collect();
        let shown = run(&networks[0], &entries.chosen(&rows, self.device));
        figures.insert("decompressor_cm".to_owned(), self.distance_cm(&numbers(shown), &rows));

        let mut rng = step_rng(self.config.seed, Stage::Controller, usize::MAX);
        let starts = self.frames.windows(STEPPED_FRAMES + 1, MEASURED / 4, &mut rng);
        let mut entry = entries.chosen(&starts, self.device);
        let [mean, deviation] =
            [&change.mean, &change.deviation].map(|values| matrix(values.clone(), values.len(), self.device));
        for _ in 0..STEPPED_FRAMES {
            entry = entry.clone() + run(&networks[1], &entry) * deviation.clone() + mean.clone();
        }
        let ends: Vec<usize> = starts.iter().map(|row| row + STEPPED_FRAMES).collect();
        let stepped = numbers(run(&networks[0], &entry));
        figures.insert("stepper_20_frames_cm".to_owned(), self.distance_cm(&stepped, &ends));
        // What it is measured against: the pose of 20 frames before.
        let held = numbers(run(&networks[0], &entries.chosen(&starts, self.device)));
        figures.insert("held_20_frames_cm".to_owned(), self.distance_cm(&held, &ends));

        let features = self.frames.features.width;
        let drawn = queries.draw_asked(MEASURED, &mut rng);
        let found = numbers(run(&networks[2], &matrix(drawn.values.clone(), features, self.device)));
        let apart = |row: &[f32], query: &[f32]| {
            row.iter().zip(query).map(|(a, b)| (a - b) * (a - b)).sum::<f32>().sqrt()
        };
        let is_near = |((found, query), nearest): ((&[f32], &[f32]), &usize)| {
            apart(&found[..features], query) <= 1.2 * apart(self.frames.features.row(*nearest), query)
        };
        let near = found
            .chunks_exact(entries.width)
            .zip(drawn.values.chunks_exact(features))
            .zip(&drawn.nearest)
            .filter(|pair| is_near(*pair))
            .count();
        figures.insert("projector_near_share".to_owned(), near as f32 / drawn.nearest.len() as f32);
        figures
    }

    /// Mean distance of joints in the root frame between what the decompressor says and the clips, centimetres.
    fn distance_cm(&self, shown: &[f32], rows: &[usize]) -> f32 {
        let (scales, skeleton) = (&self.frames.scales, self.database.skeleton());
        let sum: f32 = shown
            .chunks_exact(self.frames.poses.width)
            .zip(rows)
            .map(|(values, row)| {
                let scaled = values.iter().zip(&scales.mean).zip(&scales.deviation);
                let values: Vec<f32> =
                    scaled.map(|((value, mean), deviation)| value * deviation + mean).collect();
                let pose = self.frames.layout.read(&values).pose;
                let truth: Vec<Vec3> =
                    self.frames.positions.row(*row).chunks_exact(3).map(Vec3::from_slice).collect();
                mean_distance(&skeleton.forward_kinematics(&pose).positions, &truth)
            })
            .sum();
        100.0 * sum / rows.len() as f32
    }
}

/// Rows of two tables side by side.
fn beside(left: &Table, right: &Table) -> Table {
    let rows = (0..left.rows()).flat_map(|row| left.row(row).iter().chain(right.row(row)));
    Table { values: rows.copied().collect(), width: left.width + right.width }
}

fn run(network: &GatedNetwork, inputs: &Tensor<2>) -> Tensor<2> {
    let rows = inputs.dims()[0];
    let blend = matrix(vec![1.0; rows], 1, &inputs.device());
    network.forward(inputs, &blend, None)
}

fn numbers(tensor: Tensor<2>) -> Vec<f32> {
    tensor.try_into_vec_as::<f32>().expect("predictions are floating-point numbers")
}

/// What each value of a pose, as an error in its deviation, is multiplied by: an error of a rotation counts as what it does to the joints
/// beyond, in the rest pose.
fn weights(layout: PoseLayout, skeleton: &Skeleton, scales: &Scales) -> Vec<f32> {
    let rest = skeleton.forward_kinematics(&Pose::rest(skeleton)).positions;
    let mut square_levers = vec![LEAST_LEVER_M * LEAST_LEVER_M; skeleton.len()];
    for (joint, position) in rest.iter().enumerate() {
        let mut above = skeleton.joints()[joint].parent;
        while let Some(parent) = above {
            square_levers[parent.0] += position.distance_squared(rest[parent.0]) / skeleton.len() as f32;
            above = skeleton.joints()[parent.0].parent;
        }
    }
    let mut weights = vec![0.0; layout.width()];
    for (columns, lever) in weights[layout.rotations()].chunks_exact_mut(6).zip(&square_levers) {
        columns.fill(lever.sqrt() / PLACE_M);
    }
    weights[layout.height()] = 1.0 / PLACE_M;
    let motion = layout.motion();
    weights[motion.start..motion.end - 1].fill(1.0 / ROOT_M_S);
    weights[motion.end - 1] = 1.0 / TURN_RAD_S;
    weights[layout.gait()].fill(1.0 / GAIT);
    weights[layout.way()].fill(1.0 / WAY_M);
    weights.iter_mut().zip(&scales.deviation).for_each(|(weight, deviation)| *weight *= deviation);
    weights
}

/// A decompressor that reads codes less their mean, over their deviation.
fn folded(mut decompressor: GatedNetwork, features: usize, scales: &Scales, device: &Device) -> GatedNetwork {
    let layer = &mut decompressor.layers[0];
    let [experts, inputs, outputs] = layer.weight.val().dims();
    let values = |tensor: Tensor<3>| tensor.try_into_vec_as::<f32>().expect("weights are numbers");
    let (mut weight, mut bias) = (values(layer.weight.val()), values(layer.bias.val()));
    for (code, row) in weight.chunks_exact_mut(outputs).skip(features).enumerate() {
        for (value, bias) in row.iter_mut().zip(&mut bias) {
            *bias += *value * scales.mean[code];
            *value *= scales.deviation[code];
        }
    }
    layer.weight = Param::from_data(TensorData::new(weight, [experts, inputs, outputs]), device);
    layer.bias = Param::from_data(TensorData::new(bias, [experts, 1, outputs]), device);
    decompressor
}

/// Noise on rows of entries, of a deviation that is drawn for each row up to `largest`.
fn noise(rows: usize, width: usize, largest: f32, rng: &mut ChaCha8Rng) -> Vec<f32> {
    (0..rows)
        .flat_map(|_| {
            let deviation = if largest > 0.0 { rng.random_range(0.0..largest) } else { 0.0 };
            (0..width).map(|_| deviation * normal(rng)).collect::<Vec<f32>>()
        })
        .collect()
}

/// Errors of entries, and of their changes, that the stepper leads to from `rows` on, with noise on where it begins.
fn stepping_loss(
    network: &GatedNetwork,
    entries: &Table,
    (rows, noise): (&[usize], Vec<f32>),
    change: &Scales,
    device: &Device,
) -> Tensor<1> {
    let [mean, deviation] =
        [&change.mean, &change.deviation].map(|values| matrix(values.clone(), values.len(), device));
    let mut before = entries.chosen(rows, device);
    let mut entry = before.clone() + matrix(noise, entries.width, device);
    let mut loss = Tensor::zeros([1], device);
    for ahead in 1..=STEPPED_FRAMES {
        let step = run(network, &entry);
        let rows: Vec<usize> = rows.iter().map(|row| row + ahead).collect();
        let wanted = entries.chosen(&rows, device);
        let wanted_step = (wanted.clone() - before - mean.clone()) / deviation.clone();
        entry = entry + step.clone() * deviation.clone() + mean.clone();
        loss =
            loss + (entry.clone() - wanted.clone()).abs().mean() + (step - wanted_step).abs().mean() * CHANGE;
        before = wanted;
    }
    loss / STEPPED_FRAMES as f32
}

/// Errors of the entries that the projector gives for queries.
fn projection_loss(
    network: &GatedNetwork,
    entries: &Table,
    features: usize,
    drawn: crate::learned_queries::Drawn,
    device: &Device,
) -> Tensor<1> {
    let rows = drawn.nearest.len();
    let query = matrix(drawn.values, features, device);
    let found = run(network, &query);
    let wanted = entries.chosen(&drawn.nearest, device);
    let part = |of: &Tensor<2>, is_code: bool| {
        let columns = if is_code { features..entries.width } else { 0..features };
        of.clone().slice([0..rows, columns])
    };
    let distance = |of: &Tensor<2>| {
        let apart = part(of, false) - query.clone();
        ((apart.clone() * apart).sum_dim(1) + 1e-6).sqrt()
    };
    let error = |is_code| (part(&found, is_code) - part(&wanted, is_code)).abs().mean();
    error(false)
        + error(true) * PROJECTED_CODE
        + (distance(&found) - distance(&wanted)).abs().mean() * DISTANCE
}

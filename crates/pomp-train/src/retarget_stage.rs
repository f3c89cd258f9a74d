//! Skeleton-aware networks: two folders of motions, without pairs.

use crate::checkpoint::Checkpoint;
use crate::controller_place::ControllerPlace;
use crate::learned_config::LearnedTraining;
use crate::learned_part::Part;
use crate::progress::{OnEvent, Stage};
use crate::{Start, TrainError};
use burn::module::Module;
use burn::tensor::Device;
use pomp_files::Digest;
use pomp_skeletal::{
    Corpus, SkeletalConfig, SkeletalDescription, SkeletalModel, Windows, loss, match_structures, read_motions,
};
use pomp_tensors::keep_freed_memory;
use std::collections::BTreeMap;
use std::path::Path;

/// Trains skeleton-aware networks between the skeletons of the motions in two folders, into the model folder `out`, and gives them.
/// Their file is `retarget.safetensors`; metrics and checkpoints are in `retarget`.
///
/// # Errors
/// A setting outside its range; motions that cannot be read, are of several skeletons, or of skeletons that are not homeomorphic; networks
/// that are there already, unless they are resumed or overwritten; a checkpoint of other settings or data; a loss that is no longer a
/// number; a folder that cannot be written. [`TrainError::Stopped`] when `on_event` asks for it.
pub fn train_retargeting(
    [a, b]: [&Path; 2],
    config: &SkeletalConfig,
    start: Start,
    out: &Path,
    device: &Device,
    on_event: OnEvent<'_>,
) -> Result<SkeletalModel, TrainError> {
    config.validate()?;
    keep_freed_memory();
    let read = |folder: &Path, side| {
        let motions = read_motions(folder)?;
        Corpus::new(&folder.display().to_string(), &motions, config, side)
    };
    let mut corpora = [read(a, 0)?, read(b, 1)?];
    let [of_a, of_b] = &mut corpora;
    match_structures(&mut of_a.structure, &mut of_b.structure)?;
    let place = ControllerPlace::of_retargeting(out)?;
    let data_hash = Digest::of(format!("{} {}", corpora[0].hash, corpora[1].hash)).short();
    let part = part(config, &data_hash, &place.folder, out);
    place.begin(&part.checkpoint, start)?;
    let mut description = SkeletalDescription {
        made_by: format!("pomp {}", env!("CARGO_PKG_VERSION")),
        config: config.clone(),
        data_hash,
        seconds: [0, 1].map(|side| corpora[side].seconds()),
        structures: [0, 1].map(|side| corpora[side].structure.clone()),
        metrics: BTreeMap::new(),
    };
    let autodiff = device.clone().autodiff();
    let networks = part.run(description.fresh(&autodiff), start, on_event, &mut |networks, rng| {
        let windows = [0, 1].map(|side| Windows::draw(&corpora[side], config, rng, &autodiff));
        loss(networks, [&windows[0], &windows[1]], config).total
    })?;
    let mut model = SkeletalModel { description: description.clone(), networks: networks.valid() };
    description.metrics = model.reconstruction_figures(&corpora);
    model.description = description;
    model.save(&place.file)?;
    Ok(model)
}

fn part<'a>(config: &SkeletalConfig, data_hash: &str, folder: &'a Path, out: &'a Path) -> Part<'a> {
    let training = config.training;
    let settings = LearnedTraining {
        steps: training.steps,
        batch_size: training.batch_size,
        learning_rate: training.learning_rate,
    };
    // A training may grow.
    let mut told = config.clone();
    told.training.steps = 0;
    let told = serde_json::to_string(&told).expect("a config is plain data");
    Part {
        name: Stage::Retarget.name(),
        stage: Stage::Retarget,
        settings,
        checkpoint: Checkpoint::new(
            folder,
            Stage::Retarget,
            &Digest::of(format!("{told}\n{data_hash}")).short(),
        ),
        seed: config.seed,
        before: 0,
        steps: training.steps,
        folder,
        out,
    }
}

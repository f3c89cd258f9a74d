//! A style adapter from recordings to its file.

#![expect(clippy::unwrap_used, reason = "helpers of tests, outside the functions that clippy exempts")]

use pomp_embedded::{Device, Model};
use pomp_kinematic::StyleAdapter;
use pomp_model::ModelStyles;
use pomp_preprocess::{OnFailure, PreprocessConfig, find_inputs};
use pomp_train::{Dataset, Start, StyleClips, StyleTraining, TrainError, train_styles};
use pomp_weights::{WeightFile, WeightPrecision};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use tempfile::TempDir;

/// Steps after which the loss is compared with that of the first ones.
const STEPS: usize = 300;

/// The recordings of two walks of the repository, which preprocessing makes once.
fn recordings() -> &'static Path {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    let made = FOLDER.get_or_init(|| {
        let clips = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/clips");
        let inputs: Vec<PathBuf> = ["01_walk", "02_jog"].map(|name| clips.join(format!("{name}.bvh"))).into();
        let rigs = pomp_motion::retarget::RigLibrary::builtin();
        let on = |_: &pomp_preprocess::Progress| ControlFlow::Continue(());
        let out = tempfile::tempdir().unwrap();
        let inputs = find_inputs(&inputs).unwrap();
        pomp_preprocess::run(&inputs, out.path(), &PreprocessConfig::default(), &rigs, OnFailure::Stop, &on)
            .unwrap();
        out
    });
    made.path()
}

/// The settings of the repository for one style, the walk, without rollouts.
fn config(steps: usize) -> StyleTraining {
    let text = include_str!("../../../configs/style_adapter.toml");
    let mut config: StyleTraining = toml::from_str(text).unwrap();
    let clips = vec!["01_walk".to_owned()];
    config.styles = vec![StyleClips { name: "plain".to_owned(), clips, held_out: Vec::new() }];
    config.neutral.clear();
    (config.training.steps, config.training.batch_size, config.training.warm_up_steps) = (steps, 32, 10);
    // Decay would move a parameter that has no gradient.
    config.training.weight_decay = 0.0;
    (config.states.rollout_share, config.simulated_rollouts.share) = (0.0, 0.0);
    config
}

/// What a training gives.
struct Trained {
    styles: ModelStyles,
    /// Bytes of the file.
    file: Vec<u8>,
    /// `train_loss` of the reports, means of a hundred steps each.
    losses: Vec<f32>,
}

fn train(
    model: &Model,
    config: &StyleTraining,
    start: Start,
    out: &Path,
    stop: usize,
) -> Result<Trained, TrainError> {
    let mut dataset = Dataset::load(recordings(), 0, &[])?;
    let mut losses = Vec::new();
    let styles = train_styles(model, &mut dataset, config, start, out, &Device::flex(), &mut |event| {
        losses.extend(event.figures.iter().filter(|(name, _)| *name == "train_loss").map(|(_, loss)| *loss));
        if event.step == stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    Ok(Trained { styles, file: std::fs::read(out.join(ModelStyles::FILE)).unwrap(), losses })
}

/// The weights of the kinematic module, as bytes.
fn kinematic_bytes(model: &Model) -> Vec<u8> {
    let mut file = WeightFile::new(None);
    file.add_module("kinematic", model.kinematic().unwrap().0).unwrap();
    file.to_bytes(WeightPrecision::F32).unwrap()
}

fn tensors(adapter: &StyleAdapter) -> Vec<(String, Vec<f32>)> {
    let layer = |name: String, layer: &burn::nn::Linear| {
        (name, layer.weight.val().into_data().iter::<f32>().collect())
    };
    let named = |what: &str, layers: &[burn::nn::Linear]| -> Vec<(String, Vec<f32>)> {
        layers.iter().enumerate().map(|(at, of)| layer(format!("{what} {at}"), of)).collect()
    };
    let mut all = vec![("codes".to_owned(), adapter.codes.val().into_data().iter::<f32>().collect())];
    all.extend(named("experts", &adapter.experts));
    all.extend(named("decoder", &adapter.decoder));
    all.push(layer("output".to_owned(), &adapter.output));
    all
}

#[test]
fn the_loss_falls_every_parameter_is_learned_and_the_kinematic_module_stays_as_it_is() {
    let model = pomp_embedded::load(&Device::flex()).unwrap();
    let before = kinematic_bytes(&model);
    let out = tempfile::tempdir().unwrap();
    let config = config(STEPS);
    let trained = train(&model, &config, Start::Anew, out.path(), 0).unwrap();
    println!("loss {:?}, {:?}", trained.losses, trained.styles.description.metrics);
    // The module walks much like this clip already, so little is left to learn.
    let falls = trained.losses.windows(2).all(|pair| pair[1] < 0.98 * pair[0]);
    assert!(trained.losses.len() == 3 && falls, "the loss does not fall: {:?}", trained.losses);
    let figure =
        |kind: &str| trained.styles.description.metrics[&format!("plain_training_half_second_{kind}_cm")];
    assert!(figure("styled") < 0.9 * figure("neutral"), "{:?}", trained.styles.description.metrics);
    assert!(kinematic_bytes(&model) == before, "the weights of the kinematic module have changed");

    let fresh = StyleAdapter::new(
        model.kinematic().unwrap().0.config(),
        [1, config.channels],
        config.seed,
        &Device::flex(),
    );
    for ((name, learned), (_, fresh)) in tensors(&trained.styles.adapter).iter().zip(tensors(&fresh.unwrap()))
    {
        let moved = learned.iter().zip(&fresh).filter(|(a, b)| a != b).count();
        println!("{name}: {moved} of {} numbers have moved", learned.len());
        assert!(moved * 100 >= learned.len() * 99, "{name}: only {moved} of {} have moved", learned.len());
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes_with_rollouts_through_time_and_after_a_stop() {
    let model = pomp_embedded::load(&Device::flex()).unwrap();
    // Rollouts begin anew at a checkpoint, so the stopped training has none.
    for (rollouts, windows, stop) in [(true, 0, 0), (false, 4, 0), (false, 0, 100)] {
        let mut config = config(if stop > 0 { 130 } else { 12 });
        if rollouts {
            (config.states.rollout_share, config.simulated_rollouts.share) = (0.4, 0.2);
        }
        if windows > 0 {
            config.neutral = vec!["02_jog".to_owned()];
            (config.unrolling.windows, config.unrolling.frames) = (windows, 4);
        }
        let folders: Vec<TempDir> = (0..3).map(|_| tempfile::tempdir().unwrap()).collect();
        let whole = train(&model, &config, Start::Anew, folders[0].path(), 0).unwrap().file;
        if stop > 0 {
            let stopped = train(&model, &config, Start::Anew, folders[1].path(), stop);
            assert!(matches!(stopped, Err(TrainError::Stopped { step, .. }) if step == stop));
        }
        let start = if stop > 0 { Start::Resume } else { Start::Anew };
        let again = train(&model, &config, start, folders[1].path(), 0).unwrap().file;
        assert!(whole == again, "rollouts {rollouts}, windows {windows}: the same seed gives other bytes");
        if windows > 0 {
            let mut without = config.clone();
            without.unrolling.windows = 0;
            let without = train(&model, &without, Start::Overwrite, folders[1].path(), 0).unwrap().file;
            assert!(whole != without, "nothing is learned from the windows");
        }
        let seed = config.seed + 1;
        let other =
            train(&model, &StyleTraining { seed, ..config }, Start::Anew, folders[2].path(), 0).unwrap().file;
        assert!(whole != other, "another seed gives the same bytes");
    }
}

#[test]
fn rejects_a_style_without_its_clip_and_an_adapter_that_is_there() {
    let model = pomp_embedded::load(&Device::flex()).unwrap();
    let out = tempfile::tempdir().unwrap();
    let mut config = config(2);
    config.styles[0].clips.push("99_moonwalk".to_owned());
    let error = train(&model, &config, Start::Anew, out.path(), 0).err().unwrap();
    assert!(matches!(&error, TrainError::NoStyleClip { clip, .. } if clip == "99_moonwalk"), "{error}");
    config.styles[0].clips.pop();
    train(&model, &config, Start::Anew, out.path(), 0).unwrap();
    let error = train(&model, &config, Start::Anew, out.path(), 0).err().unwrap();
    assert!(matches!(&error, TrainError::AlreadyTrained { .. }), "{error}");
}

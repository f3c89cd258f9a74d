//! The files in `configs/`: they parse, they are valid, and those that say so are the defaults.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

use pomp_batch::RandomScenes;
use pomp_bench::BenchConfig;
use pomp_bench::performance::PerformanceConfig;
use pomp_config::{Origin, resolve};
use pomp_controllers::ControllerKind;
use pomp_generator::{GeneratorConfig, GroundMotion, LayersConfig};
use pomp_kinematic::{GateInput, KinematicConfig};
use pomp_motion::features::{FeatureLayout, Rotations};
use pomp_physics::DynamicConfig;
use pomp_preprocess::PreprocessConfig;
use pomp_skeletal::SkeletalConfig;
use pomp_studio::StudioConfig;
use pomp_style::StyleConfig;
use pomp_train::{ControllerConfig, LearnedConfig, StyleTraining, TrainConfig};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use toml::Value;

/// Joints of the project skeleton, each of which is a body.
const JOINTS: usize = 22;

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs").join(name)
}

fn text(name: &str) -> String {
    let path = path(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A configuration of `configs/`, with what it extends and the defaults of its type.
fn parsed<T: DeserializeOwned + Serialize + Default>(name: &str) -> T {
    resolve(Origin::File(&path(name)), &[]).unwrap_or_else(|error| panic!("{error}")).config
}

/// A file of `configs/` without what it extends.
fn alone(name: &str) -> Value {
    toml::from_str(&text(name)).unwrap_or_else(|error| panic!("configs/{name}: {error}"))
}

/// `a.b.c` for every key of every table.
fn keys(value: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![(String::new(), value)];
    while let Some((prefix, value)) = open.pop() {
        if let Value::Table(table) = value {
            for (key, value) in table {
                found.insert(format!("{prefix}{key}"));
                open.push((format!("{prefix}{key}."), value));
            }
        }
    }
    found
}

fn keys_of_file(name: &str) -> BTreeSet<String> {
    keys(&alone(name))
}

fn keys_of<T: Serialize>(config: &T) -> BTreeSet<String> {
    keys(&Value::try_from(config).unwrap())
}

/// The tables within `value`, each as the list of keys that leads to it.
fn tables(value: &Value) -> Vec<Vec<String>> {
    let mut found = vec![Vec::new()];
    if let Value::Table(table) = value {
        for (key, inner) in table.iter().filter(|(_, inner)| inner.is_table()) {
            found.extend(tables(inner).into_iter().map(|rest| [vec![key.clone()], rest].concat()));
        }
    }
    found
}

/// An unknown key is refused in every table of the file.
fn assert_strict<T: DeserializeOwned + Serialize + Default>(name: &str) {
    assert_strict_value::<T>(name, &Value::try_from(parsed::<T>(name)).unwrap());
}

fn assert_strict_value<T: DeserializeOwned>(name: &str, whole: &Value) {
    for path in tables(whole) {
        let mut changed = whole.clone();
        let mut table = &mut changed;
        for key in &path {
            table = table.get_mut(key).unwrap();
        }
        table.as_table_mut().unwrap().insert("misspelt".to_owned(), Value::Integer(1));
        let result: Result<T, _> = changed.try_into();
        let error =
            result.err().unwrap_or_else(|| panic!("configs/{name}: [{}] takes any key", path.join(".")));
        // A table that stands for one choice of several says that it wants one key.
        let error = error.to_string();
        assert!(error.contains("misspelt") || error.contains("exactly 1 element"), "{error}");
    }
}

#[test]
fn preprocess_toml_spells_out_every_default() {
    let config: PreprocessConfig = parsed("preprocess.toml");
    assert_eq!(config, PreprocessConfig::default());
    assert_eq!(keys_of_file("preprocess.toml"), keys_of(&PreprocessConfig::default()));
    config.validate().unwrap();
}

#[test]
fn preprocess_training_toml_differs_from_the_defaults_in_variants_and_untold_drives_alone() {
    let config: PreprocessConfig = parsed("preprocess_training.toml");
    config.validate().unwrap();
    let mut expected = PreprocessConfig::default();
    (expected.warp.variants, expected.bumps.variants, expected.pace.variants) = (3, 1, 2);
    expected.replay.feed_forward = false;
    assert_eq!(config, expected);
}

#[test]
fn generate_toml_spells_out_every_default() {
    let config: GeneratorConfig = parsed("generate.toml");
    assert_eq!(config, GeneratorConfig::default());
    assert_eq!(keys_of_file("generate.toml"), keys_of(&GeneratorConfig::default()));
    config.validate().unwrap();
}

#[test]
fn performance_toml_spells_out_every_default_and_the_quick_one_measures_less() {
    let config: PerformanceConfig = parsed("bench/performance.toml");
    assert_eq!(config, PerformanceConfig::default());
    assert_eq!(keys_of_file("bench/performance.toml"), keys_of(&PerformanceConfig::default()));
    config.validate().unwrap();
    let quick: PerformanceConfig = parsed("bench/performance_quick.toml");
    quick.validate().unwrap();
    assert!(quick.frame_s < config.frame_s && quick.rollout_min.last() < config.rollout_min.last());
    assert_strict::<PerformanceConfig>("bench/performance_quick.toml");
}

#[test]
fn paper_loop_toml_switches_every_layer_off_and_changes_nothing_else() {
    let config: GeneratorConfig = parsed("paper_loop.toml");
    config.validate().unwrap();
    assert_eq!(config.layers, LayersConfig::off());
    assert_eq!(GeneratorConfig { layers: LayersConfig::default(), ..config }, GeneratorConfig::default());
    let names: BTreeSet<String> = LayersConfig::NAMES.iter().map(|name| (*name).to_owned()).collect();
    let Value::Table(table) = Value::try_from(LayersConfig::default()).unwrap() else { panic!("a table") };
    assert_eq!(names, table.keys().cloned().collect(), "LayersConfig::NAMES are its fields");
}

#[test]
fn own_feet_planned_toml_is_what_a_rollout_on_its_own_feet_has() {
    let config: GeneratorConfig = parsed("own_feet_planned.toml");
    config.validate().unwrap();
    assert_eq!(config, GeneratorConfig::own_feet());
}

#[test]
fn own_feet_unrolled_toml_is_what_the_model_of_all_directions_has() {
    let config: GeneratorConfig = parsed("own_feet_unrolled.toml");
    config.validate().unwrap();
    assert_eq!(config, GeneratorConfig::own_feet_unrolled());
}

#[test]
fn own_feet_stairs_toml_is_what_a_walk_on_stairs_has() {
    let config: GeneratorConfig = parsed("own_feet_stairs.toml");
    config.validate().unwrap();
    assert_eq!(config, GeneratorConfig::own_feet_stairs());
}

#[test]
fn own_feet_thorough_toml_is_what_jogs_and_crouched_walks_on_uneven_ground_have() {
    let config: GeneratorConfig = parsed("own_feet_thorough.toml");
    config.validate().unwrap();
    assert_eq!(config, GeneratorConfig::own_feet_thorough());
}

#[test]
fn moving_ground_toml_moves_the_ground_and_changes_nothing_else() {
    let config: GeneratorConfig = parsed("moving_ground.toml");
    config.validate().unwrap();
    assert!(!config.ground_motion.rests());
    assert_eq!(
        GeneratorConfig { ground_motion: GroundMotion::default(), ..config },
        GeneratorConfig::default()
    );
}

#[test]
fn physics_toml_spells_out_every_default() {
    assert_eq!(DynamicConfig::from_toml(&text("physics.toml")).unwrap(), DynamicConfig::default());
}

#[test]
fn style_toml_spells_out_every_default() {
    let config: StyleConfig = parsed("style.toml");
    assert_eq!(config, StyleConfig::default());
    assert_eq!(keys_of_file("style.toml"), keys_of(&StyleConfig::default()));
}

#[test]
fn retarget_toml_spells_out_every_default() {
    let config: SkeletalConfig = parsed("retarget.toml");
    assert_eq!(config, SkeletalConfig::default());
    assert_eq!(keys_of_file("retarget.toml"), keys_of(&SkeletalConfig::default()));
}

#[test]
fn studio_toml_spells_out_every_default() {
    let config: StudioConfig = parsed("studio.toml");
    assert_eq!(config, StudioConfig::default());
    assert_eq!(keys_of_file("studio.toml"), keys_of(&StudioConfig::default()));
    config.validate().unwrap();
}

#[test]
fn unknown_keys_are_refused_in_every_table() {
    assert_strict::<PreprocessConfig>("preprocess.toml");
    assert_strict::<PreprocessConfig>("preprocess_training.toml");
    assert_strict::<GeneratorConfig>("generate.toml");
    assert_strict_value::<RandomScenes>("batch.toml", &alone("batch.toml"));
    assert_strict::<DynamicConfig>("physics.toml");
    assert_strict::<StudioConfig>("studio.toml");
    assert_strict::<StyleConfig>("style.toml");
    assert_strict::<SkeletalConfig>("retarget.toml");
    assert_strict::<TrainConfig>("compact.toml");
    assert_strict::<TrainConfig>("paper.toml");
    assert_strict::<TrainConfig>("paper_size.toml");
    assert_strict::<ControllerConfig>("controllers/pfnn.toml");
}

#[test]
fn the_configurations_of_controllers_spell_out_the_defaults_of_their_kind() {
    let gated = [
        ControllerKind::Phase,
        ControllerKind::Pfnn,
        ControllerKind::Mann,
        ControllerKind::LocalPhases,
        ControllerKind::Nsm,
    ];
    let compact: TrainConfig = parsed("compact.toml");
    let learned: LearnedConfig = parsed("controllers/learned-matching.toml");
    for kind in gated {
        let name = format!("controllers/{kind}.toml");
        let config: ControllerConfig = parsed(&name);
        config.validate().unwrap();
        let excluded = if kind == ControllerKind::Pfnn { &compact.exclude } else { &learned.exclude };
        assert_eq!(&config.exclude, excluded);
        assert_eq!(ControllerConfig { exclude: Vec::new(), ..config }, ControllerConfig::of(kind));
        assert_eq!(keys_of_file(&name), keys_of(&ControllerConfig::of(kind)));
    }
}

#[test]
fn training_configurations_are_valid_down_to_their_networks() {
    let names = [
        "compact.toml",
        "compact_practised.toml",
        "compact_unrolled.toml",
        "compact_unrolled_aside.toml",
        "paper.toml",
        "paper_size.toml",
        "paper_size_practised.toml",
        "tutorial.toml",
    ];
    for name in names {
        let config: TrainConfig = parsed(name);
        assert_eq!(format!("{}.toml", config.name), name);
        config.validate().unwrap();
        config.phase.network.validate().unwrap();
        assert_eq!(config.phase.network.joints, JOINTS);
        config.aligned_phase.stitch.validate(&config.phase.network.window).unwrap();
        let channels = config.phase.network.channels;
        let layout = FeatureLayout::new(JOINTS, JOINTS, channels, config.kinematic.layout.rotations);
        config.kinematic.network(&layout).validate().unwrap();
    }
}

/// The ablations of the kinematic module, each with the settings in which it differs from the baseline.
const ABLATIONS: [(&str, &[&str]); 9] = [
    ("blend_before_decoder", &["network.blend"]),
    (
        "clean_states",
        &["states.context_noise", "states.replayed_share", "states.rollout_share", "states.state_noise"],
    ),
    ("no_phases", &["layout.phases"]),
    ("no_rotations", &["layout.rotations"]),
    ("noise", &["states.replayed_share", "states.rollout_share"]),
    ("one_network", &["network.expert_hidden", "network.experts"]),
    ("plain_experts", &["network.expert_outputs"]),
    (
        "rollouts",
        &["states.context_noise", "states.replayed_share", "states.rollout_share", "states.state_noise"],
    ),
    (
        "simulated_states",
        &["states.context_noise", "states.replayed_share", "states.rollout_share", "states.state_noise"],
    ),
];

/// The value at `a.b.c`.
fn at<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(value, |value, key| value.get(key))
}

#[test]
fn every_ablation_differs_from_the_baseline_in_what_its_name_says_and_the_baseline_from_compact_in_its_length()
 {
    let flat = |name: &str| -> (Value, Value) {
        let parsed: TrainConfig = parsed(name);
        let mut whole = Value::try_from(&parsed).unwrap();
        parsed.validate().unwrap();
        let layout = FeatureLayout::new(
            JOINTS,
            JOINTS,
            parsed.phase.network.channels,
            parsed.kinematic.layout.rotations,
        );
        parsed.kinematic.network(&layout).validate().unwrap();
        let table = whole.as_table_mut().unwrap();
        table.remove("name");
        let kinematic = table.remove("kinematic").unwrap();
        (whole, kinematic)
    };
    let differing = |a: &Value, b: &Value| -> Vec<String> {
        let both: BTreeSet<String> = keys(a).union(&keys(b)).cloned().collect();
        let leaf = |key: &&String| !at(a, key).or(at(b, key)).unwrap().is_table();
        both.iter().filter(leaf).filter(|key| at(a, key) != at(b, key)).cloned().collect()
    };
    let (rest, baseline) = flat("ablations/baseline.toml");
    let (compact_rest, compact) = flat("compact.toml");
    assert_eq!(rest, compact_rest);
    assert_eq!(
        differing(&baseline, &compact),
        ["training.average", "training.steps", "training.warm_up_steps"]
    );
    let files = std::fs::read_dir(path("ablations")).unwrap();
    assert_eq!(files.count(), ABLATIONS.len() + 1, "every ablation is listed here");
    for (name, expected) in ABLATIONS {
        let (ablation_rest, ablation) = flat(&format!("ablations/{name}.toml"));
        assert_eq!(ablation_rest, rest, "{name}");
        assert_eq!(differing(&ablation, &baseline), expected, "{name}");
    }
}

#[test]
fn compact_toml_spells_out_every_default_but_its_name_and_the_clips_that_it_leaves_out() {
    let mut config: TrainConfig = parsed("compact.toml");
    assert_eq!(keys_of_file("compact.toml"), keys_of(&TrainConfig::default()));
    assert_eq!((config.name.as_str(), config.exclude.len()), ("compact", 10));
    (config.name, config.exclude) = (TrainConfig::default().name, Vec::new());
    assert_eq!(config, TrainConfig::default());
}

/// Whether two values are the same to single precision, which is what settings have: their last decimal depends on the writer.
fn same(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Number(a), Json::Number(b)) => a.as_f64().map(|a| a as f32) == b.as_f64().map(|b| b as f32),
        (Json::Array(a), Json::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Json::Object(a), Json::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

/// `model.json` holds the configurations of both trainings as they were then, those of the older models in one table without sections.
#[test]
fn the_configurations_of_the_published_models_resolve_to_what_they_were_trained_with() {
    for (first, second) in [
        ("compact.toml", "compact_practised.toml"),
        ("paper_size.toml", "paper_size_practised.toml"),
        ("compact_unrolled.toml", "compact_unrolled_aside.toml"),
    ] {
        let folder = first.trim_end_matches(".toml");
        let model = path("../data/models").join(folder).join("model.json");
        let model: Json = serde_json::from_str(&std::fs::read_to_string(model).unwrap()).unwrap();
        for (name, stored) in [(first, &model["fine_tuned_from"]["config"]), (second, &model["config"])] {
            let now = serde_json::to_value(parsed::<TrainConfig>(name)).unwrap();
            let mut compared = 0;
            for (key, value) in stored.as_object().unwrap().iter().filter(|(key, _)| *key != "kinematic") {
                assert!(same(&now[key], value), "{name}: {key}: {} and {value}", now[key]);
                compared += 1;
            }
            let sections = now["kinematic"].as_object().unwrap();
            for (key, value) in stored["kinematic"].as_object().unwrap() {
                let found = match key.as_str() {
                    "weights" => &sections["loss"],
                    "diffusion_steps" => &sections["diffusion"]["steps"],
                    "steps" => &sections["training"]["steps"],
                    "simulated_rollouts" => &sections["simulated_rollouts"],
                    key => sections
                        .get(key)
                        .or_else(|| sections.values().find_map(|section| section.get(key)))
                        .expect("it has a place"),
                };
                match value.as_object() {
                    // A section may have grown since.
                    Some(table) => {
                        assert!(table.iter().all(|(key, v)| same(&found[key], v)), "{name}: kinematic.{key}");
                        compared += table.len();
                    }
                    None => assert!(same(found, value), "{name}: kinematic.{key}: {found} and {value}"),
                }
                compared += 1;
            }
            assert!(compared > 30, "{name}: {compared} settings");
        }
    }
}

#[test]
fn a_model_that_practises_has_the_layout_and_sizes_that_it_began_with() {
    for (first, second) in [
        ("compact.toml", "compact_practised.toml"),
        ("paper_size.toml", "paper_size_practised.toml"),
        ("compact_unrolled.toml", "compact_unrolled_aside.toml"),
    ] {
        let [first, second]: [TrainConfig; 2] = [first, second].map(parsed);
        let networks = [&first, &second].map(|config| {
            let layout = FeatureLayout::new(
                JOINTS,
                JOINTS,
                config.phase.network.channels,
                config.kinematic.layout.rotations,
            );
            (config.kinematic.network(&layout), layout)
        });
        assert_eq!(networks[0], networks[1]);
        assert_eq!(first.phase.network, second.phase.network);
    }
}

#[test]
fn the_configs_of_style_adapters_are_valid_and_made_those_of_the_models() {
    for (file, folder) in
        [("style_adapter.toml", "compact"), ("style_adapter_unrolled.toml", "compact_unrolled")]
    {
        let config: StyleTraining =
            pomp_config::resolve_whole(Origin::File(&path(file)), &[]).unwrap().config;
        config.validate().unwrap();
        let models = path("../data/models");
        let model = pomp_model::Model::load(&models.join(folder), &Default::default()).unwrap();
        let styles = &model.styles().unwrap().description;
        // Keys that are younger than the file have their defaults in it.
        let stored: StyleTraining = serde_json::from_value(styles.config.clone()).unwrap();
        let value = |config: &StyleTraining| serde_json::to_value(config).unwrap();
        assert!(same(&value(&config), &value(&stored)), "{file}");
        let names: Vec<&str> = config.styles.iter().map(|style| style.name.as_str()).collect();
        assert_eq!(names, styles.styles.iter().map(|style| style.name.as_str()).collect::<Vec<_>>());
        assert_eq!((config.seed, config.channels), (styles.seed, styles.channels));
    }
}

#[test]
fn paper_toml_has_the_sizes_of_the_paper() {
    let config: TrainConfig = parsed("paper.toml");
    assert_eq!(config.phase.network.channels, 5);
    assert_eq!(config.kinematic.layout.rotations, Rotations::None);
    assert_eq!((config.kinematic.network.experts, config.kinematic.network.condition_size), (8, 1024));
    let layout = FeatureLayout::new(JOINTS, JOINTS, 5, Rotations::None);
    let network = config.kinematic.network(&layout);
    let GateInput { start, len } = network.gate_input;
    assert_eq!(network, KinematicConfig::paper(layout.x_len(), layout.y_len(), GateInput { start, len }));
}

#[test]
fn the_layout_of_paper_toml_has_the_papers_totals_for_the_papers_skeleton() {
    let config: TrainConfig = parsed("paper.toml");
    let layout = FeatureLayout::new(29, 13, config.phase.network.channels, config.kinematic.layout.rotations);
    assert_eq!((layout.x_len(), layout.y_len()), (541, 388));
}

#[test]
fn the_bench_of_own_feet_runs_its_configuration_with_a_residual() {
    let bench: BenchConfig = toml::from_str(&text("bench/own_feet.toml")).unwrap();
    let mut own_feet: GeneratorConfig = parsed("own_feet.toml");
    let balance = &mut own_feet.dynamic.balance;
    assert_eq!((balance.residual_force_bw, balance.residual_torque_bw_m), (0.0, 0.0));
    (balance.residual_force_bw, balance.residual_torque_bw_m) = (0.2, 0.136);
    assert_eq!(bench.grid[0].closed_loop, own_feet);
}

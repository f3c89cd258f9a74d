//! The files in `configs/`: they parse, they are valid, and those that say so are the defaults.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

use pomp_batch::RandomScenes;
use pomp_generator::{GeneratorConfig, GroundMotion, LayersConfig};
use pomp_kinematic::{GateInput, KinematicConfig};
use pomp_motion::features::{FeatureLayout, Rotations};
use pomp_physics::DynamicConfig;
use pomp_preprocess::PreprocessConfig;
use pomp_studio::StudioConfig;
use pomp_train::TrainConfig;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeSet;
use std::path::Path;
use toml::Value;

/// Joints of the project skeleton, each of which is a body.
const JOINTS: usize = 22;

fn text(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn parsed<T: DeserializeOwned>(name: &str) -> T {
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
    keys(&parsed(name))
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
fn assert_strict<T: DeserializeOwned>(name: &str) {
    let whole: Value = parsed(name);
    for path in tables(&whole) {
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
    assert_eq!(keys_of_file("preprocess_training.toml"), keys_of(&PreprocessConfig::default()));
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
    assert_strict::<RandomScenes>("batch.toml");
    assert_strict::<DynamicConfig>("physics.toml");
    assert_strict::<StudioConfig>("studio.toml");
    assert_strict::<TrainConfig>("compact.toml");
    assert_strict::<TrainConfig>("paper.toml");
    assert_strict::<TrainConfig>("paper_size.toml");
}

#[test]
fn training_configurations_are_valid_down_to_their_networks() {
    let names = [
        "compact.toml",
        "compact_practised.toml",
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
        let layout = FeatureLayout::new(JOINTS, JOINTS, channels, config.kinematic.rotations);
        config.kinematic.network(&layout).validate().unwrap();
    }
}

/// The ablations of the kinematic module, each with the settings in which it differs from the baseline.
const ABLATIONS: [(&str, &[&str]); 9] = [
    ("blend_before_decoder", &["blend"]),
    ("clean_states", &["context_noise", "replayed_share", "rollout_share", "state_noise"]),
    ("no_phases", &["phases"]),
    ("no_rotations", &["rotations"]),
    ("noise", &["replayed_share", "rollout_share"]),
    ("one_network", &["expert_hidden", "experts"]),
    ("plain_experts", &["expert_outputs"]),
    ("rollouts", &["context_noise", "replayed_share", "rollout_share", "state_noise"]),
    ("simulated_states", &["context_noise", "replayed_share", "rollout_share", "state_noise"]),
];

#[test]
fn every_ablation_differs_from_the_baseline_in_what_its_name_says_and_the_baseline_from_compact_in_its_length()
 {
    let flat = |name: &str| -> (Value, Value) {
        let mut whole: Value = parsed(name);
        let parsed: TrainConfig = parsed(name);
        parsed.validate().unwrap();
        let layout =
            FeatureLayout::new(JOINTS, JOINTS, parsed.phase.network.channels, parsed.kinematic.rotations);
        parsed.kinematic.network(&layout).validate().unwrap();
        let table = whole.as_table_mut().unwrap();
        table.remove("name");
        let kinematic = table.remove("kinematic").unwrap();
        (whole, kinematic)
    };
    let differing = |a: &Value, b: &Value| -> Vec<String> {
        keys(a).union(&keys(b)).filter(|key| a.get(key.as_str()) != b.get(key.as_str())).cloned().collect()
    };
    let (rest, baseline) = flat("ablations/baseline.toml");
    let (compact_rest, compact) = flat("compact.toml");
    assert_eq!(rest, compact_rest);
    assert_eq!(differing(&baseline, &compact), ["average", "steps", "warm_up_steps"]);
    let files =
        std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs/ablations")).unwrap();
    assert_eq!(files.count(), ABLATIONS.len() + 1, "every ablation is listed here");
    for (name, expected) in ABLATIONS {
        let (ablation_rest, ablation) = flat(&format!("ablations/{name}.toml"));
        assert_eq!(ablation_rest, rest, "{name}");
        assert_eq!(differing(&ablation, &baseline), expected, "{name}");
    }
}

#[test]
fn paper_toml_has_the_keys_of_compact_toml() {
    assert_eq!(keys_of_file("paper.toml"), keys_of_file("compact.toml"));
}

#[test]
fn a_model_that_practises_has_the_layout_and_sizes_that_it_began_with() {
    for (first, second) in
        [("compact.toml", "compact_practised.toml"), ("paper_size.toml", "paper_size_practised.toml")]
    {
        let [first, second]: [TrainConfig; 2] = [first, second].map(parsed);
        let networks = [&first, &second].map(|config| {
            let layout =
                FeatureLayout::new(JOINTS, JOINTS, config.phase.network.channels, config.kinematic.rotations);
            (config.kinematic.network(&layout), layout)
        });
        assert_eq!(networks[0], networks[1]);
        assert_eq!(first.phase.network, second.phase.network);
    }
}

#[test]
fn paper_toml_has_the_sizes_of_the_paper() {
    let config: TrainConfig = parsed("paper.toml");
    assert_eq!(config.phase.network.channels, 5);
    assert_eq!(config.kinematic.rotations, Rotations::None);
    assert_eq!((config.kinematic.experts, config.kinematic.condition_size), (8, 1024));
    let layout = FeatureLayout::new(JOINTS, JOINTS, 5, Rotations::None);
    let network = config.kinematic.network(&layout);
    let GateInput { start, len } = network.gate_input;
    assert_eq!(network, KinematicConfig::paper(layout.x_len(), layout.y_len(), GateInput { start, len }));
}

#[test]
fn the_layout_of_paper_toml_has_the_papers_totals_for_the_papers_skeleton() {
    let config: TrainConfig = parsed("paper.toml");
    let layout = FeatureLayout::new(29, 13, config.phase.network.channels, config.kinematic.rotations);
    assert_eq!((layout.x_len(), layout.y_len()), (541, 388));
}

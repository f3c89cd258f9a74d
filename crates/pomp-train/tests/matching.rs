//! Motion matching from recordings to the closed loop.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests, outside the functions that clippy exempts"
)]

use pomp_controllers::matching::{MatchingClip, MatchingDescription, MatchingModel};
use pomp_controllers::{ControllerFile, ControllerKind};
use pomp_generator::{ControlPlan, Dynamics, FRAME_RATE_HZ, Generator, GeneratorConfig, Preset};
use pomp_model::Model;
use pomp_preprocess::{OnFailure, PreprocessConfig, find_inputs};
use pomp_terrain::HeightMap;
use pomp_train::{Dataset, MatchingConfig, Start, TrainError, build_matching, train_matching};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use tempfile::TempDir;

/// Poses are matched without a model.
const NO_MODEL: &str = "no model";

/// The compact model.
fn compact() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/models/compact")
}

/// The compact model without its controllers.
fn copy_compact(to: &Path) {
    for entry in std::fs::read_dir(compact()).unwrap().map(Result::unwrap) {
        if entry.path().is_file() {
            std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}

/// A stand, a walk, a jog and a walk down a slope, with their mirror images.
fn recordings() -> &'static Path {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let clips = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/clips");
        let names = ["00_stand", "01_walk", "02_jog", "04_walk_slope"];
        let inputs: Vec<PathBuf> = names.iter().map(|name| clips.join(format!("{name}.bvh"))).collect();
        let rigs = pomp_motion::retarget::RigLibrary::builtin();
        let on = |_: &pomp_preprocess::Progress| ControlFlow::Continue(());
        let out = tempfile::tempdir().unwrap();
        let config = PreprocessConfig { mirror: true, ..PreprocessConfig::default() };
        let inputs = find_inputs(&inputs).unwrap();
        pomp_preprocess::run(&inputs, out.path(), &config, &rigs, OnFailure::Stop, &on).unwrap();
        out
    });
    folder.path()
}

#[test]
fn it_takes_level_clips_as_recorded_in_which_the_character_is_upright() {
    let dataset = Dataset::load(recordings(), 0, &[]).unwrap();
    let config = MatchingConfig { held_out_every: 0, ..MatchingConfig::default() };
    let description = build_matching(&dataset, &config, NO_MODEL.as_ref()).unwrap().description;
    let names: Vec<&str> = description.clips.iter().map(|clip| clip.name.as_str()).collect();
    println!("{:?} {:?}", description.clips, description.metrics);
    assert_eq!(names, ["00_stand", "01_walk", "02_jog"]);
    for gait in ["stand_s", "walk_s", "jog_s"] {
        assert!(description.metrics[gait] > 1.0, "{gait}: {:?}", description.metrics);
    }
    // So short a time has room for one piece.
    let short = MatchingConfig { minutes: 0.1, ..config };
    let description = build_matching(&dataset, &short, NO_MODEL.as_ref()).unwrap().description;
    assert_eq!(description.clips.len(), 1);
}

#[test]
fn rejects_settings_that_are_out_of_range_and_data_without_a_clip() {
    let dataset = Dataset::load(recordings(), 0, &[]).unwrap();
    let said = |config: MatchingConfig| {
        build_matching(&dataset, &config, NO_MODEL.as_ref()).unwrap_err().to_string()
    };
    assert!(said(MatchingConfig { minutes: 0.0, ..MatchingConfig::default() }).contains("minutes"));
    let other = MatchingConfig { kind: ControllerKind::Mann, ..MatchingConfig::default() };
    assert!(said(other).contains("kind"));
    let mut weights = MatchingConfig::default();
    weights.weights.hip_velocity = f32::NAN;
    assert!(said(weights).contains("weights.hip_velocity"));
    let exclude = ["00_stand", "01_walk", "02_jog"].map(str::to_owned);
    let slope = Dataset::load(recordings(), 0, &exclude).unwrap();
    // Each of the four clips with its mirror image.
    assert_eq!((slope.clips.len(), slope.excluded), (2, 6));
    let error = build_matching(&slope, &MatchingConfig::default(), NO_MODEL.as_ref()).unwrap_err();
    assert!(matches!(error, TrainError::TooLittleData { stage: "matching", .. }), "{error}");
}

#[test]
fn rejects_clips_of_another_skeleton_than_the_models() {
    let dataset = Dataset::load(recordings(), 0, &[]).unwrap();
    let built = build_matching(&dataset, &MatchingConfig::default(), NO_MODEL.as_ref()).unwrap();
    let names = built.description.clips.iter().map(|clip| clip.name.clone());
    let clips: Vec<(String, MatchingClip)> = names.zip(built.clips()).collect();
    let skeleton = built.description.skeleton.scaled(1.1);
    let tall =
        MatchingModel::new(MatchingDescription { skeleton, ..built.description.clone() }, &clips).unwrap();
    let folder = tempfile::tempdir().unwrap();
    copy_compact(folder.path());
    let path = folder.path().join(ControllerFile::place(ControllerKind::Matching));
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let device = pomp_embedded::Device::flex();
    built.save(&path).unwrap();
    let model = Model::load(folder.path(), &device).unwrap();
    assert!(model.controller(ControllerKind::Matching).is_ok());
    tall.save(&path).unwrap();
    let model = Model::load(folder.path(), &device).unwrap();
    let said = model.controller(ControllerKind::Matching).unwrap_err().to_string();
    assert!(said.contains("matching.safetensors") && said.contains("other bones"), "{said}");
}

#[test]
fn a_controller_from_its_file_leads_the_closed_loop_where_the_command_goes() {
    leads(ControllerKind::Matching);
}

#[test]
fn by_phases_it_leads_the_closed_loop_where_the_command_goes() {
    leads(ControllerKind::MatchingPhase);
}

#[test]
fn phases_of_the_model_are_stored_for_clips_and_their_mirror_images() {
    let dataset = Dataset::load(recordings(), 0, &[]).unwrap();
    let config = MatchingConfig { held_out_every: 0, ..MatchingConfig::of(ControllerKind::MatchingPhase) };
    let built = build_matching(&dataset, &config, &compact()).unwrap();
    let channels = built.description.phases.unwrap().channels;
    let clips = built.clips();
    let walk = built.description.clips.iter().position(|clip| clip.name == "01_walk").unwrap();
    let [own, image] = [&clips[walk].phase_codes, &clips[walk].mirrored_codes];
    assert!(own.iter().chain(image).all(|code| code.len() == 2 * channels));
    // What is stored of the mirror image is what the autoencoder reads of the recording of it.
    let folder = tempfile::tempdir().unwrap();
    let image_name = "01_walk_mirrored.npz";
    std::fs::copy(recordings().join(image_name), folder.path().join(image_name)).unwrap();
    let model = Model::load(&compact(), &pomp_embedded::Device::flex()).unwrap();
    pomp_train::annotate_phases(folder.path(), &model, &mut |_| ()).unwrap();
    let recording = pomp_formats::read_recording(&folder.path().join(image_name)).unwrap();
    let codes = recording.phase.unwrap();
    let first = (0..codes.frames())
        .min_by(|a, b| apart(&codes[*a], &image[0]).total_cmp(&apart(&codes[*b], &image[0])))
        .unwrap();
    let size = image.iter().flatten().map(|value| value.abs()).fold(0.0, f32::max);
    let [mut same, mut other] = [0.0f32; 2];
    for (frame, stored) in image.iter().enumerate() {
        same = same.max(apart(&codes[first + frame], stored));
        other = other.max(apart(&codes[first + frame], &own[frame]));
    }
    println!("codes of up to {size}: {same} from the recorded mirror image, {other} from the clip itself");
    assert!(same < 0.05 * size && other > 0.5 * size, "{same} {other} of {size}");
}

fn apart(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

#[test]
fn rejects_phases_without_an_autoencoder_and_candidates_without_phases() {
    let dataset = Dataset::load(recordings(), 0, &[]).unwrap();
    let phased = MatchingConfig::of(ControllerKind::MatchingPhase);
    let said = build_matching(&dataset, &phased, NO_MODEL.as_ref()).unwrap_err().to_string();
    assert!(said.contains("matching-phase") && said.contains("autoencoder"), "{said}");
    let posed = MatchingConfig { candidates: 20, ..MatchingConfig::default() };
    let said = build_matching(&dataset, &posed, NO_MODEL.as_ref()).unwrap_err().to_string();
    assert!(said.contains("candidates") && said.contains("no phases"), "{said}");
}

fn leads(kind: ControllerKind) {
    let dataset = Dataset::load(recordings(), 0, &[]).unwrap();
    let out = tempfile::tempdir().unwrap();
    copy_compact(out.path());
    let config = MatchingConfig { held_out_every: 0, ..MatchingConfig::of(kind) };
    train_matching(&dataset, &config, Start::Anew, out.path()).unwrap();
    let again = train_matching(&dataset, &config, Start::Anew, out.path());
    assert!(matches!(again, Err(TrainError::AlreadyTrained { stage, .. }) if stage == kind.name()));
    let bytes = std::fs::read(out.path().join(ControllerFile::place(kind)));
    let device = pomp_embedded::Device::flex();
    let mut model = pomp_embedded::load(&device).unwrap();
    let file = ControllerFile::new(kind, bytes.unwrap(), "it".to_owned());
    model.controllers.insert(kind, file);
    for dynamics in [Dynamics::KinematicOnly, Dynamics::Simulated] {
        let settings = GeneratorConfig { controller: kind, dynamics, ..GeneratorConfig::default() };
        let plan = ControlPlan::preset(Preset::Walk, 12.0, FRAME_RATE_HZ);
        let ground = HeightMap::flat(60.0, 1.0).unwrap();
        let start = plan.start_gait();
        let mut generator = Generator::new(&model, ground, &settings, start, 1).unwrap();
        let mut end = None;
        for frame in 0..600 {
            let output = generator.step(&plan, &[]).unwrap();
            assert!(!output.fallen, "{dynamics:?}: fallen in frame {frame}");
            end = Some(output.simulated.pose.positions[0]);
        }
        let end = end.unwrap();
        println!("{dynamics:?}: at {end} after 10 s at 1.2 m/s");
        assert!((9.0..13.5).contains(&end.z) && end.x.abs() < 0.5, "{dynamics:?}: {end}");
    }
}

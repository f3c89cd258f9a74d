//! Learned motion matching from recordings to the closed loop.

#![expect(clippy::unwrap_used, reason = "helpers of tests, outside the functions that clippy exempts")]

use glam::Vec3;
use pomp_controllers::{ControllerFile, ControllerKind};
use pomp_generator::{ControlPlan, Dynamics, FRAME_RATE_HZ, Generator, GeneratorConfig, Preset};
use pomp_motion::RootFrame;
use pomp_preprocess::{OnFailure, PreprocessConfig, find_inputs};
use pomp_terrain::HeightMap;
use pomp_train::{
    Dataset, LearnedConfig, LearnedTraining, Start, TrainError, train_learned_matching, train_matching,
};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The recordings of some of the clips of the repository.
fn recordings(names: &[&str]) -> TempDir {
    let clips = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/clips");
    let inputs: Vec<PathBuf> = names.iter().map(|name| clips.join(format!("{name}.bvh"))).collect();
    let rigs = pomp_motion::retarget::RigLibrary::builtin();
    let on = |_: &pomp_preprocess::Progress| ControlFlow::Continue(());
    let out = tempfile::tempdir().unwrap();
    let inputs = find_inputs(&inputs).unwrap();
    pomp_preprocess::run(&inputs, out.path(), &PreprocessConfig::default(), &rigs, OnFailure::Stop, &on)
        .unwrap();
    out
}

/// A training of so many steps each, of narrow networks.
fn config(steps: [usize; 3]) -> LearnedConfig {
    let mut config = LearnedConfig { held_out_every: 0, ..LearnedConfig::default() };
    (config.sizes.hidden, config.sizes.compressor_hidden) = (128, 128);
    let training = |steps| LearnedTraining { steps, batch_size: 32, learning_rate: 2e-3 };
    [config.decompressor, config.stepper, config.projector] = steps.map(training);
    config
}

fn train(dataset: &Dataset, config: &LearnedConfig, start: Start, out: &Path) -> Result<Vec<u8>, TrainError> {
    let device = pomp_embedded::Device::flex();
    train_learned_matching(dataset, config, start, out, &device, &mut |_| ControlFlow::Continue(()))?;
    Ok(std::fs::read(out.join(ControllerFile::place(ControllerKind::LearnedMatching))).unwrap())
}

#[test]
fn one_clip_is_learned_to_a_centimetre_and_a_stopped_training_goes_on_to_the_same_bytes() {
    let folder = recordings(&["01_walk"]);
    let dataset = Dataset::load(folder.path(), 0, &[]).unwrap();
    let config = config([1200, 60, 60]);
    let (out, device) = (tempfile::tempdir().unwrap(), pomp_embedded::Device::flex());
    let whole = train(&dataset, &config, Start::Anew, out.path()).unwrap();
    let read = pomp_controllers::learned::LearnedModel::from_bytes(&whole, "it", &device).unwrap();
    let found = read.description.metrics["decompressor_cm"];
    println!("{:?}", read.description.metrics);
    assert!(found < 1.0, "{found} cm");
    let again = train(&dataset, &config, Start::Anew, out.path());
    assert!(matches!(again, Err(TrainError::AlreadyTrained { stage: "learned-matching", .. })));

    // Stopped within the stepper's training, and within the projector's.
    let out = tempfile::tempdir().unwrap();
    let mut start = Start::Anew;
    for stop in [1230, 1290] {
        let stopped = train_learned_matching(&dataset, &config, start, out.path(), &device, &mut |event| {
            if event.step == stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert!(matches!(stopped, Err(TrainError::Stopped { step, .. }) if step == stop));
        start = Start::Resume;
    }
    assert_eq!(train(&dataset, &config, Start::Resume, out.path()).unwrap(), whole);
}

/// How half a minute of learned motion matching differs from motion matching.
#[derive(Debug)]
struct Apart {
    /// Farthest that the pelvises are apart, metres.
    farthest_m: f32,
    /// Largest distance of a pose from the nearest one of motion matching, mean over the joints, metres.
    worst_pose_m: f32,
    /// Way of a foot in the root frame, as a share of that of motion matching.
    foot_way: f32,
}

/// Half a minute after a training with this seed.
fn half_a_minute(dataset: &Dataset, seed: u64) -> Apart {
    // With noise, a training as short as this one glides.
    let config = LearnedConfig { seed, start_noise: 0.0, ..config([1500, 1500, 2500]) };
    let out = tempfile::tempdir().unwrap();
    train_matching(dataset, &config.matching(), Start::Anew, out.path()).unwrap();
    train(dataset, &config, Start::Anew, out.path()).unwrap();
    let mut model = pomp_embedded::load(&pomp_embedded::Device::flex()).unwrap();
    let [matching, learned] = [ControllerKind::Matching, ControllerKind::LearnedMatching].map(|kind| {
        let file = std::fs::read(out.path().join(ControllerFile::place(kind))).unwrap();
        model.controllers.insert(kind, ControllerFile::new(kind, file, "it".to_owned()));
        let settings = GeneratorConfig {
            controller: kind,
            dynamics: Dynamics::KinematicOnly,
            ..GeneratorConfig::default()
        };
        let plan = ControlPlan::preset(Preset::Walk, 40.0, FRAME_RATE_HZ);
        let ground = HeightMap::flat(60.0, 1.0).unwrap();
        let start = plan.start_gait();
        let mut generator = Generator::new(&model, ground, &settings, start, 1).unwrap();
        (0..1800)
            .map(|_| {
                let pose = generator.step(&plan, &[]).unwrap().simulated.pose;
                let frame = RootFrame::of_pose(&pose, 0.0);
                let joints: Vec<Vec3> = pose.positions.iter().map(|joint| frame.to_root(*joint)).collect();
                (pose.positions[0], joints)
            })
            .collect::<Vec<_>>()
    });
    let apart = |frame: usize| matching[frame].0.distance(learned[frame].0);
    let farthest = (0..1800).map(apart).fold(0.0, f32::max);
    // Steps need not fall together; poses are looked for among all.
    let pose_apart = |frame: usize| {
        let joints = |other: &[Vec3]| {
            let pairs = learned[frame].1.iter().zip(other);
            pairs.map(|(a, b)| a.distance(*b)).sum::<f32>() / other.len() as f32
        };
        matching.iter().map(|(_, other)| joints(other)).fold(f32::INFINITY, f32::min)
    };
    let frames: Vec<f32> = (0..1800).step_by(10).map(pose_apart).collect();
    let worst = frames.iter().copied().fold(0.0, f32::max);
    let foot = |shown: &[(Vec3, Vec<Vec3>)]| {
        shown.windows(2).map(|pair| pair[0].1[4].distance(pair[1].1[4])).sum::<f32>()
    };
    let way = foot(&learned) / foot(&matching);
    Apart { farthest_m: farthest, worst_pose_m: worst, foot_way: way }
}

/// A training of a minute is led by the last bits of its sums, which differ from processor to processor: single seeds end on both sides of the
/// bounds, so that a single one tells of chance. Their median is compared.
#[test]
fn for_half_a_minute_it_stays_within_two_metres_of_motion_matching_and_within_6_cm_of_its_poses() {
    let folder = recordings(&["00_stand", "01_walk", "02_jog"]);
    let dataset = Dataset::load(folder.path(), 0, &[]).unwrap();
    let trainings = [1, 2, 3].map(|seed| half_a_minute(&dataset, seed));
    println!("{trainings:?}");
    let median = |value: &dyn Fn(&Apart) -> f32| {
        let mut values = trainings.each_ref().map(value);
        values.sort_by(f32::total_cmp);
        values[1]
    };
    let farthest = median(&|apart| apart.farthest_m);
    let worst = median(&|apart| apart.worst_pose_m);
    // Of a way of 36 m, after a minute of training on three clips.
    assert!(farthest < 2.0, "{farthest} m from motion matching");
    assert!(worst < 0.06, "{worst} m from every pose of motion matching");
    assert!(median(&|apart| apart.foot_way) > 0.5, "it glides");
}

#[test]
fn rejects_settings_that_are_out_of_range() {
    let folder = recordings(&["01_walk"]);
    let dataset = Dataset::load(folder.path(), 0, &[]).unwrap();
    let out = tempfile::tempdir().unwrap();
    let said = |change: &dyn Fn(&mut LearnedConfig)| {
        let mut config = config([1, 1, 1]);
        change(&mut config);
        train(&dataset, &config, Start::Anew, out.path()).unwrap_err().to_string()
    };
    assert!(said(&|it| it.kind = ControllerKind::Matching).contains("kind"));
    assert!(said(&|it| it.weights.hip_velocity = 0.0).contains("weights"));
    assert!(said(&|it| it.sizes.code = 0).contains("sizes.code"));
    assert!(said(&|it| it.projector.steps = 0).contains("projector.steps"));
}

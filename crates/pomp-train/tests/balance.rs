//! A balance policy from the embedded model's motion.

#![expect(clippy::unwrap_used, reason = "helpers of tests, outside the functions that clippy exempts")]

use pomp_embedded::Device;
use pomp_generator::{GeneratorConfig, Preset};
use pomp_policy::{BalancePolicy, PolicySizes};
use pomp_terrain::{Shape, TerrainSpec};
use pomp_train::{
    BalanceLearning, BalancePushes, BalanceReward, BalanceScene, BalanceTraining, Start, TrainError,
    TrainEvent, train_balance,
};
use std::ops::ControlFlow;
use std::path::Path;

/// A body on its own feet, with the policy that is to be trained.
fn own_feet() -> GeneratorConfig {
    let mut settings = GeneratorConfig::default();
    settings.layers.reference_tracking.enabled = true;
    settings.layers.balance_policy.enabled = true;
    settings.layers.balance_planning.enabled = true;
    settings.dynamic.balance.enabled = true;
    settings.dynamic.steps_per_frame = 4;
    settings
}

/// A training of four walkers.
fn config(iterations: usize) -> BalanceTraining {
    let scene =
        |control| BalanceScene { control, terrain: TerrainSpec::of_shape(Shape::Flat {}), walkers: 2 };
    BalanceTraining {
        seed: 3,
        sizes: PolicySizes { hidden: vec![16] },
        critic_hidden: vec![16],
        scenes: vec![scene(Preset::Walk), scene(Preset::Stand)],
        motion_s: 3.0,
        episode_s: 1.0,
        from_start: 0.5,
        pushes: BalancePushes { per_s: 1.0, impulse_ns: [10.0, 40.0] },
        reward: BalanceReward {
            upright: 0.2,
            velocity: 0.3,
            height: 0.1,
            pelvis: 0.2,
            legs: 0.2,
            action: 0.03,
            change: 0.03,
        },
        learning: BalanceLearning {
            iterations,
            decisions: 6,
            epochs: 2,
            batch_size: 16,
            learning_rate: 1e-3,
            divergence: 0.01,
            discount: 0.98,
            trace: 0.95,
            clip: 0.2,
            deviation: 0.2,
            entropy: 0.0,
        },
    }
}

/// The bytes of the policy of a training that is stopped after `stop` iterations, if it goes on so long.
fn train(
    out: &Path,
    settings: &GeneratorConfig,
    config: &BalanceTraining,
    (start, stop): (Start, usize),
) -> Result<Vec<u8>, TrainError> {
    let device = Device::flex();
    let mut model = pomp_embedded::load(&device).unwrap();
    model.balance_policy = None;
    let mut on_event = |event: &TrainEvent<'_>| {
        if event.step == stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    train_balance(&model, settings, config, start, out, &device, &mut on_event)?;
    Ok(std::fs::read(out.join(BalancePolicy::FILE)).unwrap())
}

#[test]
fn a_training_that_is_stopped_goes_on_to_the_same_bytes() {
    let settings = own_feet();
    let [whole, stopped] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let never = (Start::Anew, usize::MAX);
    let bytes = train(whole.path(), &settings, &config(24), never).unwrap();
    let policy = BalancePolicy::from_bytes(&bytes, "it", &Device::flex()).unwrap();
    let metrics = &policy.description.metrics;
    println!("{metrics:?}");
    assert!(metrics["reward"] > 0.0 && metrics["divergence"] > 0.0);
    assert_eq!(policy.description.seed, 3);

    let again = train(whole.path(), &settings, &config(24), never);
    assert!(matches!(again, Err(TrainError::AlreadyTrained { .. })), "{again:?}");
    let cut = train(stopped.path(), &settings, &config(24), (Start::Anew, 22));
    assert!(matches!(cut, Err(TrainError::Stopped { step: 20, .. })), "{cut:?}");
    let other = BalanceTraining { motion_s: 2.5, ..config(24) };
    let refused = train(stopped.path(), &settings, &other, (Start::Resume, usize::MAX));
    assert!(refused.is_err(), "a checkpoint of other settings");
    let resumed = train(stopped.path(), &settings, &config(24), (Start::Resume, usize::MAX)).unwrap();
    assert!(resumed == bytes, "stopped and resumed");
}

#[test]
fn a_loop_without_balance_by_the_legs_is_refused() {
    let mut settings = own_feet();
    settings.dynamic.balance.enabled = false;
    let out = tempfile::tempdir().unwrap();
    let told = train(out.path(), &settings, &config(1), (Start::Anew, usize::MAX)).unwrap_err().to_string();
    assert!(told.contains("dynamic.balance.enabled"), "{told}");
}

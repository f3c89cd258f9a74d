//! A get-up policy for the embedded model's body.

#![expect(clippy::unwrap_used, reason = "helpers of tests, outside the functions that clippy exempts")]

use pomp_embedded::Device;
use pomp_generator::GeneratorConfig;
use pomp_policy::{Policy, PolicyKind, PolicySizes};
use pomp_terrain::{Shape, TerrainSpec};
use pomp_train::{
    GetUpGround, GetUpReward, GetUpTraining, PolicyLearning, Start, TrainError, TrainEvent, train_get_up,
};
use std::ops::ControlFlow;
use std::path::Path;

/// A training of three bodies.
fn config(iterations: usize) -> GetUpTraining {
    GetUpTraining {
        seed: 3,
        sizes: PolicySizes { hidden: vec![16] },
        critic_hidden: vec![16],
        grounds: vec![GetUpGround { terrain: TerrainSpec::of_shape(Shape::Flat {}), bodies: 3 }],
        falls: 1,
        impulse_ns: [150.0, 250.0],
        from_fall: 0.5,
        assist: 0.5,
        reward: GetUpReward {
            start: 0.3,
            height: 0.35,
            pelvis: 0.3,
            place: 0.2,
            joints: 0.15,
            action: 0.02,
            change: 0.02,
        },
        learning: PolicyLearning {
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
fn train_in(
    settings: &GeneratorConfig,
    out: &Path,
    config: &GetUpTraining,
    (start, stop): (Start, usize),
) -> Result<Vec<u8>, TrainError> {
    let device = Device::flex();
    let model = pomp_embedded::load(&device).unwrap();
    let mut on_event = |event: &TrainEvent<'_>| {
        if event.step == stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    train_get_up(&model, settings, config, start, out, &device, &mut on_event)?;
    Ok(std::fs::read(out.join(PolicyKind::GetUp.file())).unwrap())
}

fn train(out: &Path, config: &GetUpTraining, until: (Start, usize)) -> Result<Vec<u8>, TrainError> {
    train_in(&GeneratorConfig::own_feet(), out, config, until)
}

#[test]
fn a_training_that_is_stopped_goes_on_to_the_same_bytes() {
    let [whole, stopped] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let bytes = train(whole.path(), &config(24), (Start::Anew, usize::MAX)).unwrap();
    let policy = Policy::from_bytes(PolicyKind::GetUp, &bytes, "it", &Device::flex()).unwrap();
    let metrics = &policy.description.metrics;
    println!("{metrics:?}");
    assert!(metrics["reward"] > 0.0 && metrics["divergence"] > 0.0);
    let told =
        Policy::from_bytes(PolicyKind::Balance, &bytes, "it", &Device::flex()).unwrap_err().to_string();
    assert!(told.starts_with("it"), "a policy of another kind: {told}");

    let cut = train(stopped.path(), &config(24), (Start::Anew, 22));
    assert!(matches!(cut, Err(TrainError::Stopped { step: 20, .. })), "{cut:?}");
    let other = GetUpTraining { from_fall: 0.25, ..config(24) };
    let refused = train(stopped.path(), &other, (Start::Resume, usize::MAX));
    assert!(refused.is_err(), "a checkpoint of other settings");
    let resumed = train(stopped.path(), &config(24), (Start::Resume, usize::MAX)).unwrap();
    assert!(resumed == bytes, "stopped and resumed");
}

#[test]
fn impulses_out_of_order_and_a_loop_without_getting_up_are_refused() {
    let told = |settings: &GeneratorConfig, impulse_ns| {
        let out = tempfile::tempdir().unwrap();
        let config = GetUpTraining { impulse_ns, ..config(1) };
        train_in(settings, out.path(), &config, (Start::Anew, usize::MAX)).unwrap_err().to_string()
    };
    let mut settings = GeneratorConfig::own_feet();
    let order = told(&settings, [300.0, 100.0]);
    assert!(order.contains("impulse_ns[0]"), "{order}");
    settings.layers.fall_recovery.get_up.enabled = false;
    let lies = told(&settings, [150.0, 250.0]);
    assert!(lies.contains("layers.fall_recovery.get_up.enabled"), "{lies}");
}

//! The closed loop's frame asks for no memory: a call to the allocator may take a thousand times as long as another.

use burn::tensor::Device;
use pomp_kinematic::{
    GateInput, KinematicConfig, KinematicInference, KinematicModel, Lambda, ReverseProcess, SamplerConfig,
    StyleAdapter,
};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;

#[test]
fn a_frame_of_the_packed_path_allocates_nothing() {
    let config = KinematicConfig::compact(660, 480, GateInput { start: 300, len: 130 });
    let model = KinematicModel::new(&config, 5, &Device::flex()).expect("the preset is valid");
    let sampler = SamplerConfig { lambda: Lambda::Posterior, ..SamplerConfig::ddim(4) };
    let process = ReverseProcess::new(model.schedule(), 480, &sampler, None).expect("four of fifty steps");
    let mut inference = KinematicInference::new(&model, process).expect("fresh weights are finite");
    let adapter = StyleAdapter::new(&config, [2, 10], 3, &Device::flex()).expect("the preset is valid");
    let style = adapter.modulation(&[0.7, 0.0]).expect("fresh weights are finite").map(Arc::new);
    assert!(style.is_some());
    let (mut x, mut y) = (vec![0.0; 660], vec![0.0; 480]);
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    // The control: the counter sees this thread's allocations.
    let seen = allocation_counter::measure(|| drop(std::hint::black_box(vec![0.0f32; 480])));
    assert_eq!(seen.count_total, 1);
    let fill = |x: &mut [f32], at: usize| {
        x.iter_mut().enumerate().for_each(|(i, x)| *x = ((i + 17 * at) as f32 * 0.37).sin());
    };
    // Room is made in the first run of more samples than before.
    let mut most = 0;
    for samples in [1, 5, 3, 5] {
        for frame in 0..20 {
            let counted = allocation_counter::measure(|| {
                inference.begin();
                for sample in 0..samples {
                    fill(&mut x, frame + sample);
                    let style = style.as_ref().filter(|_| sample % 2 == 0);
                    inference.add(&x, style, &mut rng).expect("the input is finite");
                }
                inference.run();
                for sample in 0..samples {
                    y.copy_from_slice(inference.sample_of(sample).expect("the weights are finite"));
                }
            });
            let grows = samples > most;
            most = most.max(samples);
            assert_eq!(counted.count_total > 0, grows, "frame {frame} of {samples} allocated {counted:?}");
        }
    }
}

//! The closed loop's frame asks for no memory: a call to the allocator may take a thousand times as long as another.

use burn::tensor::Device;
use pomp_kinematic::{
    GateInput, KinematicConfig, KinematicInference, KinematicModel, Lambda, ReverseProcess, SamplerConfig,
};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

#[test]
fn a_frame_of_the_packed_path_allocates_nothing() {
    let config = KinematicConfig::compact(660, 480, GateInput { start: 300, len: 130 });
    let model = KinematicModel::new(&config, 5, &Device::flex()).expect("the preset is valid");
    let sampler = SamplerConfig { lambda: Lambda::Posterior, ..SamplerConfig::ddim(4) };
    let process = ReverseProcess::new(model.schedule(), 480, &sampler, None).expect("four of fifty steps");
    let mut inference = KinematicInference::new(&model, process).expect("fresh weights are finite");
    let (mut x, mut y) = (vec![0.0; 660], vec![0.0; 480]);
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    // The control: the counter sees this thread's allocations.
    let seen = allocation_counter::measure(|| drop(std::hint::black_box(vec![0.0f32; 480])));
    assert_eq!(seen.count_total, 1);
    for frame in 0..50 {
        x.iter_mut().enumerate().for_each(|(at, x)| *x = ((at + 17 * frame) as f32 * 0.37).sin());
        let counted = allocation_counter::measure(|| {
            inference.sample(&x, &mut y, &mut rng).expect("the input is finite");
        });
        assert_eq!(counted.count_total, 0, "frame {frame} allocated {counted:?}");
    }
}

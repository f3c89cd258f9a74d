use super::*;
use crate::config::GateInput;
use crate::reverse::SamplerConfig;
use burn::tensor::Device;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

const PRECISIONS: [Precision; 3] = [Precision::Float32, Precision::Bfloat16, Precision::Bfloat16Tiles];

#[test]
fn a_frame_is_the_same_bytes_on_all_instruction_sets_that_agree_in_fusing_and_close_on_the_others() {
    const X: usize = 83;
    const Y: usize = 61;
    let x: Vec<f32> = (0..X).map(|at| (at as f32 * 0.37).sin()).collect();
    for (blend, precision) in [Blend::AfterDecoder, Blend::BeforeDecoder]
        .into_iter()
        .flat_map(|blend| PRECISIONS.map(|precision| (blend, precision)))
    {
        let config =
            KinematicConfig { blend, ..KinematicConfig::compact(X, Y, GateInput { start: 3, len: 40 }) };
        let model = KinematicModel::new(&config, 5, &Device::flex()).unwrap();
        let process = ReverseProcess::new(model.schedule(), Y, &SamplerConfig::ddim(4), None).unwrap();
        let mut packed = KinematicInference::in_precision(&model, process, precision).unwrap();
        packed.sample(&x, &mut [0.0; Y], &mut ChaCha8Rng::seed_from_u64(2)).unwrap();
        let mut gates = packed.gates().to_vec();
        gates.sort_by(f32::total_cmp);
        let between = |left: usize| 0.5 * (gates[left - 1] + gates[left]);
        // Eight, seven and four experts run: groups of four rows, of four and three, and of four.
        for threshold in [0.0, between(1), between(4)] {
            let mut of_set: Vec<(Lanes, Vec<f32>)> = Vec::new();
            for lanes in Lanes::all() {
                let mut inference = KinematicInference { lanes, ..packed.clone() };
                inference.set_gate_threshold(threshold).unwrap();
                let mut y = vec![0.0; Y];
                inference.sample(&x, &mut y, &mut ChaCha8Rng::seed_from_u64(2)).unwrap();
                for (other, expected) in &of_set {
                    let worst = y.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
                    println!("{precision:?}: {other:?} and {lanes:?} differ by {worst:e}");
                    assert!(worst < 1e-4);
                    if other.fused() == lanes.fused() {
                        assert_eq!(&y, expected, "{other:?} and {lanes:?}");
                    }
                }
                of_set.push((lanes, y));
            }
        }
    }
}

#[test]
fn a_sample_is_the_same_bytes_alone_and_in_any_company_on_every_instruction_set() {
    const X: usize = 83;
    const Y: usize = 61;
    let block = GateInput { start: 3, len: 40 };
    let compact = KinematicConfig::compact(X, Y, block);
    let configs = [
        KinematicConfig {
            expert_hidden: vec![48, 40],
            decoder_hidden: vec![300, 300, 80],
            ..compact.clone()
        },
        KinematicConfig {
            blend: Blend::BeforeDecoder,
            conditioning: crate::Conditioning::ExpertsAndState,
            prediction: Prediction::Velocity,
            ..compact
        },
    ];
    for (config, precision) in
        configs.iter().flat_map(|config| PRECISIONS.map(|precision| (config, precision)))
    {
        let model = KinematicModel::new(config, 5, &Device::flex()).unwrap();
        let sampler = SamplerConfig { lambda: crate::Lambda::Posterior, ..SamplerConfig::ddim(3) };
        let process = ReverseProcess::new(model.schedule(), Y, &sampler, None).unwrap();
        let mut inference = KinematicInference::in_precision(&model, process, precision).unwrap();
        let x = |sample: usize| -> Vec<f32> {
            (0..X).map(|at| ((at + 31 * sample) as f32 * 0.37).sin()).collect()
        };
        let noise = |sample: usize| ChaCha8Rng::seed_from_u64(sample as u64);
        inference.sample(&x(0), &mut [0.0; Y], &mut noise(0)).unwrap();
        let mut gates = inference.gates().to_vec();
        gates.sort_by(f32::total_cmp);
        // Some samples run all experts, some not.
        inference.set_gate_threshold(gates[1]).unwrap();
        for lanes in Lanes::all() {
            let mut inference = KinematicInference { lanes, ..inference.clone() };
            let alone: Vec<(Vec<f32>, Vec<f32>)> = (0..30)
                .map(|sample| {
                    let mut y = vec![0.0; Y];
                    inference.sample(&x(sample), &mut y, &mut noise(sample)).unwrap();
                    (y, inference.gates().to_vec())
                })
                .collect();
            for company in [2, 3, 7, 30] {
                for first in (0..30).step_by(company) {
                    let samples = first..(first + company).min(30);
                    inference.begin();
                    for sample in samples.clone() {
                        inference.add(&x(sample), None, &mut noise(sample)).unwrap();
                    }
                    inference.run();
                    for (at, sample) in samples.enumerate() {
                        let (y, gates) = &alone[sample];
                        assert_eq!(inference.sample_of(at).unwrap(), y, "{lanes:?}, sample {sample}");
                        assert_eq!(inference.gates_of(at), gates);
                    }
                }
            }
            // The control: the samples differ.
            assert!(alone.windows(2).all(|pair| pair[0].0 != pair[1].0));
        }
    }
}

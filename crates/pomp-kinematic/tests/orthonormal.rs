//! Gram-Schmidt over the experts: orthogonal whatever the experts say, and differentiable.

use burn::tensor::{Device, Distribution, Tensor, TensorData};
use pomp_kinematic::orthonormalise;

const EXPERTS: usize = 8;
const INDEPENDENCE: f64 = 1e-2;

/// Largest |w_k · w_m| / D over k ≠ m and samples, and the unit lengths |w_k|² / D of every row.
fn measure(rows: &Tensor<3>) -> (f64, Vec<f64>) {
    let [experts, batch, size] = rows.dims();
    let values: Vec<f64> = rows.to_data().iter::<f64>().collect();
    let row = |k: usize, b: usize| &values[(k * batch + b) * size..][..size];
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>() / size as f64;
    let (mut worst, mut lengths) = (0.0f64, Vec::new());
    for b in 0..batch {
        for k in 0..experts {
            lengths.push(dot(row(k, b), row(k, b)));
            for m in 0..k {
                worst = worst.max(dot(row(k, b), row(m, b)).abs());
            }
        }
    }
    (worst, lengths)
}

fn random(shape: [usize; 3]) -> Tensor<3> {
    let count = shape.iter().product::<usize>();
    let values: Vec<f32> = (0..count).map(|i| ((i * i) as f32 * 0.618 + i as f32).sin()).collect();
    Tensor::from_data(TensorData::new(values, shape), &Device::flex())
}

#[test]
fn random_experts_become_orthogonal_rows_of_length_root_d() {
    for size in [8, 64, 192, 1024] {
        let (worst, lengths) = measure(&orthonormalise(random([EXPERTS, 16, size]), INDEPENDENCE));
        println!("D = {size}: largest normalised product {worst:e}");
        assert!(worst < 1e-4);
        if size > EXPERTS {
            assert!(lengths.iter().all(|length| (length - 1.0).abs() < 1e-4));
        }
    }
}

#[test]
fn the_scale_of_an_expert_does_not_change_its_direction() {
    let outputs = random([EXPERTS, 4, 64]);
    let scaled = outputs.clone() * 1e3;
    let difference = orthonormalise(outputs, INDEPENDENCE) - orthonormalise(scaled, INDEPENDENCE);
    assert!(difference.abs().max().into_scalar::<f32>() < 1e-3);
}

#[test]
fn collinear_experts_stay_orthogonal_because_the_dependent_ones_vanish() {
    let first = random([1, 16, 192]);
    let copies = (0..EXPERTS).map(|k| first.clone() * (k as f32 - 2.5)).collect();
    let (worst, lengths) = measure(&orthonormalise(Tensor::cat(copies, 0), INDEPENDENCE));
    assert!(worst < 1e-4, "largest normalised product {worst:e}");
    for sample in lengths.chunks_exact(EXPERTS) {
        assert!((sample[0] - 1.0).abs() < 1e-4);
        assert!(sample[1..].iter().all(|length| *length < 1e-6), "{sample:?}");
    }
}

#[test]
fn nearly_collinear_experts_are_orthogonal_outside_the_band_in_which_they_fade() {
    let first = random([1, 16, 192]);
    for perturbation in [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0] {
        let noise = random([EXPERTS, 16, 192]) * perturbation;
        let (worst, _) = measure(&orthonormalise(noise + first.clone(), INDEPENDENCE));
        println!("independent share {perturbation:e}: largest normalised product {worst:e}");
        // A row of length r < 1 takes only r² of its direction out of the later rows, which leaves a product of
        // at most r (1 − r²) ≤ 2 / √27.
        let fading = (3e-4..3e-2).contains(&perturbation);
        assert!(worst < if fading { 2.0 / 27f64.sqrt() } else { 1e-4 });
    }
}

#[test]
fn silent_experts_stay_silent() {
    let (worst, lengths) = measure(&orthonormalise(random([EXPERTS, 4, 64]) * 0.0, INDEPENDENCE));
    assert_eq!(worst, 0.0);
    assert!(lengths.iter().all(|length| *length == 0.0));
}

#[test]
fn gradients_are_finite_for_random_collinear_and_silent_experts() {
    let device = Device::flex().autodiff();
    let first = random([1, 4, 64]);
    let copies = (0..EXPERTS).map(|_| first.clone()).collect();
    let cases = [
        ("random", random([EXPERTS, 4, 64])),
        ("collinear", Tensor::cat(copies, 0)),
        ("silent", random([EXPERTS, 4, 64]) * 0.0),
        ("tiny", random([EXPERTS, 4, 64]) * 1e-20),
        ("huge", random([EXPERTS, 4, 64]) * 1e8),
    ];
    for (name, outputs) in cases {
        let outputs = Tensor::<3>::from_data(outputs.into_data(), &device).require_grad();
        let direction = Tensor::<3>::random([EXPERTS, 4, 64], Distribution::Normal(0.0, 1.0), &device);
        let gradients = (orthonormalise(outputs.clone(), INDEPENDENCE) * direction).sum().backward();
        let gradient = outputs.grad(&gradients).expect("the outputs take part");
        let largest = gradient.clone().abs().max().into_scalar::<f32>();
        println!("{name}: largest gradient {largest:e}");
        assert!(gradient.to_data().iter::<f32>().all(f32::is_finite), "{name}");
        if name == "random" {
            assert!(largest > 1e-2);
        }
    }
}

#[test]
fn the_gradient_is_the_derivative() {
    let device = Device::flex().autodiff();
    let shape = [3, 1, 5];
    let base: Vec<f32> = random(shape).to_data().iter::<f32>().collect();
    let direction: Vec<f32> = random(shape).to_data().iter::<f32>().map(|v| (3.0 * v).cos()).collect();
    let value = |values: &[f32]| {
        let outputs = Tensor::<3>::from_data(TensorData::new(values.to_vec(), shape), &device);
        let outputs = outputs.require_grad();
        let direction = Tensor::from_data(TensorData::new(direction.clone(), shape), &device);
        let total = (orthonormalise(outputs.clone(), INDEPENDENCE) * direction).sum();
        let gradient = outputs.grad(&total.backward()).expect("the outputs take part");
        (total.into_scalar::<f32>(), gradient.to_data().iter::<f32>().collect::<Vec<_>>())
    };
    let (_, gradient) = value(&base);
    let step = 1e-2;
    for index in 0..base.len() {
        let (mut above, mut below) = (base.clone(), base.clone());
        above[index] += step;
        below[index] -= step;
        let numeric = (value(&above).0 - value(&below).0) / (2.0 * step);
        assert!((numeric - gradient[index]).abs() < 2e-2, "{index}: {numeric} {}", gradient[index]);
    }
}

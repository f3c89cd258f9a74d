//! Operations in one pass beside the same made of tensor operations, which tensors of double precision are left to.

use burn::tensor::{DType, Device, Tensor, TensorData};
use pomp_tensors::{
    Elu, OrthonormalFloors, Silu, biased_nonlinear, biased_residual, blend, orthonormalise, product,
};
use rayon::ThreadPoolBuilder;

/// Values that look random and are the same in every run.
fn values(count: usize, seed: f64) -> Vec<f64> {
    // The digits after the first few of a sine: neighbouring rows do not depend on each other.
    (0..count).map(|at| 3.0 * ((at as f64 * 12.9898 + seed).sin() * 43_758.545_3).fract()).collect()
}

/// The result of an operation on inputs of these shapes, and the gradients of a weighted sum of it.
fn results<const D: usize, const N: usize>(
    shapes: [[usize; 3]; N],
    precision: DType,
    operation: &(dyn Fn([Tensor<3>; N]) -> Tensor<D> + Sync),
) -> Vec<Vec<f64>> {
    let device = Device::flex().autodiff();
    let mut seed = 0.0;
    let inputs = shapes.map(|shape| {
        seed += 0.37;
        let data = TensorData::new(values(shape.iter().product(), seed), shape);
        Tensor::<3>::from_data(data, (&device, precision)).require_grad()
    });
    let result = operation(inputs.clone());
    let shape = result.shape();
    let weights = TensorData::new(values(shape.num_elements(), 5.0), shape);
    let weights = Tensor::from_data(weights, (&device, precision));
    let gradients = (result.clone() * weights).sum().backward();
    let mut all = vec![host(result.inner())];
    all.extend(inputs.map(|input| host(input.grad(&gradients).expect("every input is a variable"))));
    all
}

fn host<const D: usize>(tensor: Tensor<D>) -> Vec<f64> {
    tensor.into_data().iter::<f64>().collect()
}

/// Asserts that an operation has the value and the gradients of the one of double precision, and the same bytes with 1 and with 3
/// threads.
fn check<const D: usize, const N: usize>(
    shapes: [[usize; 3]; N],
    operation: impl Fn([Tensor<3>; N]) -> Tensor<D> + Sync,
) {
    let expected = results(shapes, DType::F64, &operation);
    let [found, again] = [1, 3].map(|threads| {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().expect("threads are to be had");
        pool.install(|| results(shapes, DType::F32, &operation))
    });
    assert_eq!(found, again, "the number of threads changes nothing");
    for (index, (found, expected)) in found.iter().zip(&expected).enumerate() {
        assert_eq!(found.len(), expected.len());
        let largest = expected.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
        let differences = found.iter().zip(expected).map(|(found, expected)| (found - expected).abs());
        let worst = differences.fold(0.0, f64::max) / largest;
        assert!(largest > 1e-3 && worst < 1e-5, "{shapes:?}, {index}: {worst:e} of {largest}");
    }
}

#[test]
fn products_are_those_of_tensors_also_where_groups_share_their_input() {
    for shapes in [[[5, 33, 70], [5, 70, 41]], [[1, 33, 70], [5, 70, 41]], [[1, 130, 20], [1, 20, 3]]] {
        check(shapes, |[input, weight]| product(input, weight));
    }
}

#[test]
fn products_read_their_operands_in_whatever_order_they_lie() {
    check([[33, 5, 70], [41, 5, 70]], |[input, weight]| {
        product(input.swap_dims(0, 1), weight.permute([1, 2, 0])).swap_dims(1, 2)
    });
    check([[5, 33, 70], [5, 80, 41]], |[input, weight]| {
        product(input.flip([2]), weight.slice([0..5, 4..74, 0..41]))
    });
}

#[test]
fn a_blend_is_the_weighted_sum() {
    check([[4, 9, 53], [4, 9, 1]], |[hidden, gates]| blend(hidden, gates));
}

#[test]
fn one_pass_is_the_nonlinearity_of_the_sum_whatever_the_bias_is_repeated_for() {
    for (input, bias) in [
        ([3, 40, 37], [3, 1, 37]),
        ([1, 300, 130], [1, 1, 130]),
        ([2, 40, 37], [1, 8, 37]),
        ([2, 40, 37], [2, 40, 37]),
    ] {
        check([input, bias], |[input, bias]| biased_nonlinear::<Silu>(input, bias));
        check([input, bias], |[input, bias]| biased_nonlinear::<Elu>(input, bias));
        check([input, input, bias], |[residual, input, bias]| biased_residual::<Silu>(residual, input, bias));
    }
}

#[test]
fn gram_schmidt_of_one_sample_at_a_time_is_that_of_all() {
    // Rows on both sides of both floors.
    for (length, independence) in [(1e-3, 1e-2), (2.0, 0.9)] {
        let floors = OrthonormalFloors { length, independence };
        check([[5, 7, 35]], |[rows]| orthonormalise(rows, floors));
    }
}

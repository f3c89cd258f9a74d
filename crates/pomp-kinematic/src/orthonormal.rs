use burn::tensor::Tensor;
use pomp_tensors::OrthonormalFloors;

/// Floor of an expert's root-mean-square output. Below it the length is no longer divided out, so an expert
/// that is silent stays silent and its gradient stays finite.
pub(crate) const LENGTH_FLOOR: f32 = 1e-3;

/// Gram-Schmidt over the experts of each sample: `[K, B, D]` in, `[K, B, D]` out (MOORE, ICLR 2024).
///
/// Row k of a sample is first brought to unit length; its shares along the earlier rows are then removed and
/// the rest divided by max(its length, `independence`), so that rounding left over from a dependent expert is
/// not blown up into a direction. The rows come back orthogonal and √D long (docs/method.md §3.1), shorter
/// where an expert is silent or depends on the earlier ones. An expert whose independent share lies just below
/// `independence` fades: its row is short, and only partly taken out of the later rows, so that nothing jumps
/// when an expert turns dependent.
pub fn orthonormalise(outputs: Tensor<3>, independence: f64) -> Tensor<3> {
    let floors = OrthonormalFloors { length: LENGTH_FLOOR, independence: independence as f32 };
    pomp_tensors::orthonormalise(outputs, floors)
}

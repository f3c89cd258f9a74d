use burn::tensor::Tensor;

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
///
/// The shares of one row are removed from all later rows at once, which is the modified, numerically stable
/// order of the same projection.
pub fn orthonormalise(outputs: Tensor<3>, independence: f64) -> Tensor<3> {
    let [experts, batch, size] = outputs.dims();
    let scale = (size as f32).sqrt();
    let mean_square = outputs.clone().square().mean_dim(2);
    let length = mean_square.add_scalar(LENGTH_FLOOR * LENGTH_FLOOR).sqrt().mul_scalar(scale);
    let mut rest = outputs.div(length);
    let mut rows = Vec::with_capacity(experts);
    for k in 0..experts {
        let first = rest.clone().slice([0..1, 0..batch, 0..size]);
        let floor = independence * independence;
        let length = first.clone().square().sum_dim(2).clamp_min(floor).sqrt();
        let row = first.div(length);
        if k + 1 < experts {
            let later = rest.slice([1..experts - k, 0..batch, 0..size]);
            let shares = (later.clone() * row.clone()).sum_dim(2);
            rest = later - shares * row.clone();
        } else {
            rest = row.clone();
        }
        rows.push(row);
    }
    Tensor::cat(rows, 0).mul_scalar(scale)
}

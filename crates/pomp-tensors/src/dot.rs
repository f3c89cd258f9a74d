use pomp_lanes::{SIXTEEN, Wide};

/// Σ a b of as many values of each.
#[inline(always)]
pub(crate) fn dot<W: Wide>(wide: W, a: &[f32], b: &[f32]) -> f32 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<SIXTEEN>(), b.as_chunks::<SIXTEEN>());
    let zero = wide.splat_sixteen(0.0);
    let mut sums = [zero; 2];
    for (a, b) in a.chunks(2).zip(b.chunks(2)) {
        for (sum, (a, b)) in sums.iter_mut().zip(a.iter().zip(b)) {
            *sum = wide.multiply_add_sixteen(wide.load_sixteen(a), wide.load_sixteen(b), *sum);
        }
    }
    let [one, other] = sums.map(|sum| wide.store_sixteen(sum));
    let whole: f32 = one.iter().zip(&other).map(|(one, other)| one + other).sum();
    whole + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f32>()
}

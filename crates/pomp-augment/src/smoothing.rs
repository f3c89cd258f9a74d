/// Smooths with a Gaussian of this standard deviation in frames; at the ends with the weights that fall inside.
pub(crate) fn gaussian(values: &[f32], sigma: f32) -> Vec<f32> {
    let reach = (3.0 * sigma).ceil() as usize;
    let weights: Vec<f32> = (0..=reach).map(|k| (-0.5 * (k as f32 / sigma).powi(2)).exp()).collect();
    (0..values.len())
        .map(|i| {
            let window = i.saturating_sub(reach)..(i + reach + 1).min(values.len());
            let (mut sum, mut total) = (0.0, 0.0);
            for j in window {
                let weight = weights[i.abs_diff(j)];
                sum += weight * values[j];
                total += weight;
            }
            sum / total
        })
        .collect()
}

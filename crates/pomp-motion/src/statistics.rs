//! Mean, median and percentile, defined once for every crate.

/// Mean; `None` of nothing.
pub fn mean<V: Copy + Into<f64>>(values: &[V]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().map(|&v| v.into()).sum::<f64>() / values.len() as f64)
}

/// The value below which `share` (0 to 1) of the values lie, linear between neighbours in rank, as numpy's `percentile`
/// gives it; `None` of nothing.
pub fn percentile<V: Copy + Into<f64>>(values: &[V], share: f64) -> Option<f64> {
    percentiles(values, [share]).map(|[value]| value)
}

/// The [`percentile`] of every share.
pub fn percentiles<V: Copy + Into<f64>, const N: usize>(values: &[V], shares: [f64; N]) -> Option<[f64; N]> {
    let mut sorted: Vec<f64> = values.iter().map(|&v| v.into()).collect();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    Some(shares.map(|share| {
        let rank = share * last as f64;
        let below = rank.floor() as usize;
        let above = (below + 1).min(last);
        sorted[below] + (sorted[above] - sorted[below]) * (rank - below as f64)
    }))
}

/// The middle value, the mean of the two middle ones of an even number; `None` of nothing.
pub fn median<V: Copy + Into<f64>>(values: &[V]) -> Option<f64> {
    percentile(values, 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_interpolate_between_ranks() {
        let values = [4.0, 1.0, 3.0, 2.0];
        assert_eq!(percentile(&values, 0.0), Some(1.0));
        assert_eq!(percentile(&values, 0.5), Some(2.5));
        assert_eq!(percentile(&values, 1.0), Some(4.0));
        assert_eq!(percentile::<f64>(&[], 0.5), None);
        assert_eq!(percentiles(&values, [1.0, 0.5]), Some([4.0, 2.5]));
    }

    #[test]
    fn the_median_is_the_middle_value_or_the_mean_of_the_two_middle_ones() {
        assert_eq!(median(&[3.0f32, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[3.0f32, 1.0]), Some(2.0));
        assert_eq!(median::<f32>(&[]), None);
    }

    #[test]
    fn the_mean_of_nothing_is_none() {
        assert_eq!(mean(&[1.0f32, 2.0]), Some(1.5));
        assert_eq!(mean::<f64>(&[]), None);
    }
}

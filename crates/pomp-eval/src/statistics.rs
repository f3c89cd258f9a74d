//! Means, percentiles and the 95 % interval of a mean.

/// Mean; `None` of nothing.
pub(crate) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Largest value; `None` of nothing.
pub(crate) fn peak(values: &[f64]) -> Option<f64> {
    values.iter().copied().reduce(f64::max)
}

/// The value below which `share` of the values lie, linear between neighbours in rank; `None` of nothing.
pub(crate) fn percentile(values: &[f64], share: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    let rank = share * last as f64;
    let below = rank.floor() as usize;
    let above = (below + 1).min(last);
    Some(sorted[below] + (sorted[above] - sorted[below]) * (rank - below as f64))
}

/// Half the width of the 95 % interval of the mean, by Student's t; `None` for fewer than two values.
pub(crate) fn half_interval_95(values: &[f64]) -> Option<f64> {
    let count = values.len();
    let mean = mean(values)?;
    if count < 2 {
        return None;
    }
    let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (count - 1) as f64;
    Some(student_t_975(count - 1) * (variance / count as f64).sqrt())
}

/// 97.5 % quantile of Student's t; tabulated to 30 degrees of freedom, then Cornish-Fisher's first two terms.
fn student_t_975(degrees: usize) -> f64 {
    const TABLE: [f64; 30] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
        2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048,
        2.045, 2.042,
    ];
    const Z: f64 = 1.959_964;
    TABLE.get(degrees - 1).copied().unwrap_or_else(|| {
        let n = degrees as f64;
        Z + (Z.powi(3) + Z) / (4.0 * n) + (5.0 * Z.powi(5) + 16.0 * Z.powi(3) + 3.0 * Z) / (96.0 * n * n)
    })
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
        assert_eq!(percentile(&[], 0.5), None);
    }

    #[test]
    fn the_interval_is_students() {
        // Mean 2, standard deviation 1, three values: 4.303 / √3.
        let half = half_interval_95(&[1.0, 2.0, 3.0]).unwrap();
        assert!((half - 4.303 / 3f64.sqrt()).abs() < 1e-9);
        assert_eq!(half_interval_95(&[1.0]), None);
    }

    #[test]
    fn the_quantile_is_continuous_where_the_table_ends() {
        assert!((student_t_975(31) - 2.0395).abs() < 1e-3);
        assert!((student_t_975(120) - 1.9799).abs() < 1e-3);
    }
}

//! Principal components, without a linear algebra library: few are wanted, of data with few or many columns.

/// Mean, and axes of largest variance in falling order, each of unit length.
#[derive(Clone, Debug)]
pub struct Principal {
    mean: Vec<f32>,
    axes: Vec<Vec<f32>>,
    /// Share of the total variance along each axis.
    pub shares: Vec<f32>,
}

impl Principal {
    /// The first `count` components of rows of equal length, by orthogonal iteration: `rounds` products with the
    /// covariance, after each of which the axes are made orthonormal again.
    pub fn of(rows: &[&[f32]], count: usize, rounds: usize) -> Self {
        let columns = rows.first().map_or(0, |row| row.len());
        let scale = 1.0 / rows.len().max(1) as f32;
        let mut mean = vec![0.0; columns];
        for row in rows {
            add_scaled(&mut mean, row, scale);
        }
        let centred: Vec<Vec<f32>> =
            rows.iter().map(|row| row.iter().zip(&mean).map(|(a, b)| a - b).collect()).collect();
        let total: f32 = centred.iter().map(|row| dot(row, row)).sum::<f32>() * scale;
        // Any start will do that is not orthogonal to the components.
        let start =
            |axis: usize| (0..columns).map(move |c| ((c * (axis + 1)) as f32 * 0.7 + axis as f32).sin());
        let mut axes: Vec<Vec<f32>> = (0..count.min(columns)).map(|axis| start(axis).collect()).collect();
        orthonormalise(&mut axes);
        for _ in 0..rounds {
            let mut next = vec![vec![0.0; columns]; axes.len()];
            for row in &centred {
                for (next, axis) in next.iter_mut().zip(&axes) {
                    add_scaled(next, row, dot(row, axis));
                }
            }
            axes = next;
            orthonormalise(&mut axes);
        }
        let variance =
            |axis: &Vec<f32>| centred.iter().map(|row| dot(row, axis).powi(2)).sum::<f32>() * scale;
        let shares = axes.iter().map(|axis| variance(axis) / total.max(f32::MIN_POSITIVE)).collect();
        Self { mean, axes, shares }
    }

    /// Coordinates of a row along the axes.
    pub fn coordinates(&self, row: &[f32]) -> Vec<f32> {
        let centred: Vec<f32> = row.iter().zip(&self.mean).map(|(a, b)| a - b).collect();
        self.axes.iter().map(|axis| dot(&centred, axis)).collect()
    }

    /// Squared distance of a row from its image on the axes.
    pub fn squared_error(&self, row: &[f32]) -> f32 {
        let centred: Vec<f32> = row.iter().zip(&self.mean).map(|(a, b)| a - b).collect();
        let kept: f32 = self.axes.iter().map(|axis| dot(&centred, axis).powi(2)).sum();
        (dot(&centred, &centred) - kept).max(0.0)
    }
}

fn orthonormalise(axes: &mut [Vec<f32>]) {
    for at in 0..axes.len() {
        let (done, rest) = axes.split_at_mut(at);
        let axis = &mut rest[0];
        // Twice: what rounding leaves after the first pass is as large as a small axis itself.
        for _ in 0..2 {
            for other in done.iter() {
                let share = dot(axis, other);
                add_scaled(axis, other, -share);
            }
            let length = dot(axis, axis).sqrt().max(f32::MIN_POSITIVE);
            axis.iter_mut().for_each(|value| *value /= length);
        }
    }
}

/// Σ a b, in eight sums that the compiler can keep in one register.
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let mut sums = [0.0f32; 8];
    for (a, b) in a.iter().zip(b) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    sums.iter().sum::<f32>() + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f32>()
}

fn add_scaled(target: &mut [f32], row: &[f32], factor: f32) {
    for (target, value) in target.iter_mut().zip(row) {
        *target += factor * value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_axes_of_a_tilted_ellipse_are_found_with_their_shares() {
        let rows: Vec<[f32; 3]> = (0..400)
            .map(|i| {
                let turn = i as f32 * std::f32::consts::TAU / 400.0;
                let (long, short) = (3.0 * turn.cos(), turn.sin());
                [1.0 + 0.6 * long - 0.8 * short, 2.0 + 0.8 * long + 0.6 * short, 5.0]
            })
            .collect();
        let rows: Vec<&[f32]> = rows.iter().map(<[f32; 3]>::as_slice).collect();
        let found = Principal::of(&rows, 2, 30);
        assert!((found.shares[0] - 0.9).abs() < 1e-3 && (found.shares[1] - 0.1).abs() < 1e-3);
        let along = found.coordinates(&[1.0 + 0.6, 2.0 + 0.8, 5.0]);
        assert!((along[0].abs() - 1.0).abs() < 1e-3 && along[1].abs() < 1e-3, "{along:?}");
        assert!((found.squared_error(&[1.0, 2.0, 7.0]) - 4.0).abs() < 1e-3);
    }
}

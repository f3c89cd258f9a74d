//! Principal components: few are wanted, of data with few or many columns.

use nalgebra::{DMatrix, DVector, SymmetricEigen};

/// Mean, and axes of largest variance in falling order, each of unit length.
#[derive(Clone, Debug)]
pub struct Principal {
    mean: DVector<f32>,
    /// An axis per column.
    axes: DMatrix<f32>,
    /// Share of the total variance along each axis.
    pub shares: Vec<f32>,
}

impl Principal {
    /// The first `count` components of rows of equal length, by orthogonal iteration: `rounds` products with the
    /// covariance, after each of which the axes are made orthonormal again. The axes are then turned so that the data
    /// are uncorrelated along them. There are no more of them than columns, or than rows.
    pub fn of(rows: &[&[f32]], count: usize, rounds: usize) -> Self {
        let columns = rows.first().map_or(0, |row| row.len());
        let mut data = DMatrix::from_fn(rows.len(), columns, |row, column| rows[row][column]);
        let mean = data.row_mean_tr();
        data.row_iter_mut().for_each(|mut row| row -= mean.transpose());
        // Any start will do that is not orthogonal to the components.
        let start = |column: usize, axis: usize| ((column * (axis + 1)) as f32 * 0.7 + axis as f32).sin();
        let mut axes = DMatrix::from_fn(columns, count.min(columns).min(rows.len()), start).qr().q();
        for _ in 0..rounds {
            axes = data.tr_mul(&(&data * &axes)).qr().q();
        }
        let along = &data * &axes;
        let eigen = SymmetricEigen::new(along.tr_mul(&along));
        let mut order: Vec<usize> = (0..axes.ncols()).collect();
        order.sort_by(|&a, &b| eigen.eigenvalues[b].total_cmp(&eigen.eigenvalues[a]));
        let total = data.norm_squared().max(f32::MIN_POSITIVE);
        let shares = order.iter().map(|&axis| eigen.eigenvalues[axis] / total).collect();
        Self { mean, axes: axes * eigen.eigenvectors.select_columns(&order), shares }
    }

    /// Coordinates of a row along the axes.
    pub fn coordinates(&self, row: &[f32]) -> Vec<f32> {
        self.axes.tr_mul(&self.centred(row)).iter().copied().collect()
    }

    /// Squared distance of a row from its image on the axes.
    pub fn squared_error(&self, row: &[f32]) -> f32 {
        let centred = self.centred(row);
        (centred.norm_squared() - self.axes.tr_mul(&centred).norm_squared()).max(0.0)
    }

    fn centred(&self, row: &[f32]) -> DVector<f32> {
        DVector::from_column_slice(row) - &self.mean
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

    #[test]
    fn data_without_variance_have_axes_without_a_share() {
        let found = Principal::of(&[[1.0, 2.0, 3.0].as_slice(); 5], 2, 10);
        assert_eq!(found.shares, [0.0, 0.0]);
        assert_eq!(found.coordinates(&[1.0, 2.0, 3.0]), [0.0, 0.0]);
        assert_eq!(found.squared_error(&[1.0, 2.0, 3.0]), 0.0);
    }
}

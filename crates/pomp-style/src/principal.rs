//! Principal components.

use nalgebra::{DMatrix, DVector, SymmetricEigen};

/// The principal components of a set of vectors.
#[derive(Clone, Debug, PartialEq)]
pub struct Principal {
    /// Mean of the vectors, D.
    pub mean: DVector<f64>,
    /// Orthonormal directions of falling variance, D × K.
    pub basis: DMatrix<f64>,
    /// Variance along each direction, K.
    pub variances: Vec<f64>,
    /// Variance along all directions, also those left out.
    pub total_variance: f64,
}

impl Principal {
    /// The first `components` principal components of the rows of `samples`, N × D; fewer where the rows do not span so many.
    pub fn fit(samples: &DMatrix<f64>, components: usize) -> Self {
        let (count, size) = samples.shape();
        let mean = samples.row_mean().transpose();
        let centred = DMatrix::from_fn(count, size, |i, j| samples[(i, j)] - mean[j]);
        let total_variance = centred.norm_squared() / count as f64;
        // The smaller of the two matrices with the same eigenvalues: N × N, or D × D.
        let by_samples = count < size;
        let product = if by_samples { &centred * centred.transpose() } else { centred.tr_mul(&centred) };
        let eigen = SymmetricEigen::new(product / count as f64);
        let mut order: Vec<usize> = (0..eigen.eigenvalues.len()).collect();
        order.sort_by(|&a, &b| eigen.eigenvalues[b].total_cmp(&eigen.eigenvalues[a]));
        let least = 1e-10 * total_variance;
        let kept: Vec<usize> =
            order.into_iter().take(components).filter(|&k| eigen.eigenvalues[k] > least).collect();
        let mut basis = DMatrix::zeros(size, kept.len());
        for (column, &k) in kept.iter().enumerate() {
            let vector = eigen.eigenvectors.column(k);
            let direction = if by_samples { centred.tr_mul(&vector) } else { vector.into_owned() };
            let largest = direction[direction.iamax()];
            basis.set_column(column, &(direction.normalize() * largest.signum()));
        }
        let variances = kept.iter().map(|&k| eigen.eigenvalues[k]).collect();
        Self { mean, basis, variances, total_variance }
    }

    /// Number of components, K.
    pub fn components(&self) -> usize {
        self.basis.ncols()
    }

    /// Share of the variance along the components.
    pub fn kept(&self) -> f64 {
        if self.total_variance > 0.0 { self.variances.iter().sum::<f64>() / self.total_variance } else { 1.0 }
    }

    /// The coefficients of a vector.
    pub fn project(&self, vector: &DVector<f64>) -> DVector<f64> {
        self.basis.tr_mul(&(vector - &self.mean))
    }

    /// The vector of coefficients.
    pub fn restore(&self, coefficients: &DVector<f64>) -> DVector<f64> {
        &self.basis * coefficients + &self.mean
    }
}

//! Sets of feature vectors as Gaussians: distances between sets without the vectors themselves.

use nalgebra::{DMatrix, SymmetricEigen};
use serde::{Deserialize, Serialize};

/// Count, sums and sums of products of feature vectors of D values: enough for their mean and covariance, and addable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FeatureSums {
    /// Number of vectors.
    pub count: usize,
    /// Σ x, D values.
    pub sum: Vec<f64>,
    /// Σ x xᵀ, its upper triangle row by row, D (D + 1) / 2 values.
    pub products: Vec<f64>,
}

impl FeatureSums {
    /// No vectors of `dimensions` values.
    pub fn new(dimensions: usize) -> Self {
        Self { count: 0, sum: vec![0.0; dimensions], products: vec![0.0; dimensions * (dimensions + 1) / 2] }
    }

    /// Values per vector, D.
    pub fn dimensions(&self) -> usize {
        self.sum.len()
    }

    /// Takes in a vector.
    ///
    /// # Panics
    /// When it does not have D values.
    pub fn push(&mut self, vector: &[f64]) {
        assert_eq!(vector.len(), self.dimensions(), "all vectors have one size");
        self.count += 1;
        let mut at = 0;
        for (i, x) in vector.iter().enumerate() {
            self.sum[i] += x;
            for y in &vector[i..] {
                self.products[at] += x * y;
                at += 1;
            }
        }
    }

    /// Takes in all vectors of another set.
    ///
    /// # Panics
    /// When sizes differ.
    pub fn add(&mut self, other: &Self) {
        assert_eq!(self.dimensions(), other.dimensions(), "all vectors have one size");
        self.count += other.count;
        self.sum.iter_mut().zip(&other.sum).for_each(|(a, b)| *a += b);
        self.products.iter_mut().zip(&other.products).for_each(|(a, b)| *a += b);
    }

    /// All vectors of several sets; `None` of no set.
    pub fn pooled<'a>(sets: impl IntoIterator<Item = &'a Self>) -> Option<Self> {
        sets.into_iter().fold(None, |pool: Option<Self>, set| {
            let mut pool = pool.unwrap_or_else(|| Self::new(set.dimensions()));
            pool.add(set);
            Some(pool)
        })
    }

    /// Standard deviation of each feature.
    pub fn deviations(&self) -> Vec<f64> {
        self.covariance().diagonal().iter().map(|variance| variance.max(0.0).sqrt()).collect()
    }

    fn mean(&self) -> Vec<f64> {
        self.sum.iter().map(|sum| sum / self.count.max(1) as f64).collect()
    }

    fn covariance(&self) -> DMatrix<f64> {
        let (size, count, mean) = (self.dimensions(), self.count.max(1) as f64, self.mean());
        // Row i of the upper triangle begins after i rows that shrink by one.
        let at = |i: usize, j: usize| i * size - i * i.saturating_sub(1) / 2 + j - i;
        DMatrix::from_fn(size, size, |i, j| self.products[at(i.min(j), i.max(j))] / count - mean[i] * mean[j])
    }

    /// Fréchet distance, squared, between the Gaussians of two sets, each feature divided by its `scale`:
    /// |μ − μ'|² + tr(Σ + Σ' − 2 (Σ^½ Σ' Σ^½)^½). `None` when a set has no more vectors than features: its covariance is
    /// then singular and the distance says little; and of features without a finite covariance. A feature whose scale is
    /// 0 is left out.
    ///
    /// Two samples of one distribution have a distance above 0, the larger the fewer they are: compare with such a floor.
    pub fn frechet(&self, other: &Self, scale: &[f64]) -> Option<f64> {
        let size = self.dimensions();
        if self.count <= size || other.count <= size {
            return None;
        }
        let weight: Vec<f64> = scale.iter().map(|s| if *s > 0.0 { 1.0 / s } else { 0.0 }).collect();
        let scaled = |set: &Self| {
            let covariance = set.covariance();
            DMatrix::from_fn(size, size, |i, j| covariance[(i, j)] * weight[i] * weight[j])
        };
        let (a, b) = (scaled(self), scaled(other));
        let root = square_root(a.clone())?;
        let cross: f64 = roots(&eigen(&root * &b * &root)?).sum();
        let means: f64 = self
            .mean()
            .iter()
            .zip(other.mean())
            .zip(&weight)
            .map(|((a, b), weight)| ((a - b) * weight).powi(2))
            .sum();
        let distance = means + a.trace() + b.trace() - 2.0 * cross;
        Some(distance.max(0.0))
    }

    /// Mean squared distance between a vector of one set and one of the other, each feature divided by its `scale`,
    /// over the number of features. `None` when a set is empty.
    pub fn mean_square_distance(&self, other: &Self, scale: &[f64]) -> Option<f64> {
        if self.count == 0 || other.count == 0 {
            return None;
        }
        let (mean_a, mean_b) = (self.mean(), other.mean());
        let (a, b) = (self.covariance(), other.covariance());
        let variance = |i: usize| a[(i, i)] + b[(i, i)];
        let used: Vec<usize> = (0..self.dimensions()).filter(|&i| scale[i] > 0.0).collect();
        let sum: f64 = used
            .iter()
            .map(|&i| ((mean_a[i] - mean_b[i]).powi(2) + variance(i)) / (scale[i] * scale[i]))
            .sum();
        (!used.is_empty()).then(|| sum / used.len() as f64)
    }
}

/// Iterations after which the eigenvalues of a matrix are given up; a few per row are enough.
const MOST_ITERATIONS: usize = 10_000;

/// Eigenvalues and eigenvectors of a symmetric matrix; `None` where they are not found, as of a matrix that is not finite.
fn eigen(symmetric: DMatrix<f64>) -> Option<SymmetricEigen<f64, nalgebra::Dyn>> {
    let finite = symmetric.iter().all(|value| value.is_finite());
    finite.then(|| SymmetricEigen::try_new(symmetric, f64::EPSILON, MOST_ITERATIONS)).flatten()
}

/// Roots of eigenvalues that are not negative; those that rounding made so count as 0.
fn roots(eigen: &SymmetricEigen<f64, nalgebra::Dyn>) -> impl Iterator<Item = f64> {
    eigen.eigenvalues.iter().map(|value| value.max(0.0).sqrt())
}

/// The symmetric root of a matrix without negative eigenvalues.
fn square_root(symmetric: DMatrix<f64>) -> Option<DMatrix<f64>> {
    let mut eigen = eigen(symmetric)?;
    let roots: Vec<f64> = roots(&eigen).collect();
    eigen.eigenvalues.copy_from_slice(&roots);
    Some(eigen.recompose())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums(vectors: &[[f64; 2]]) -> FeatureSums {
        let mut sums = FeatureSums::new(2);
        vectors.iter().for_each(|v| sums.push(v));
        sums
    }

    /// Corners of a box of half sizes `a`, `b` around `center`: mean `center`, covariance diag(a², b²).
    fn corners(center: [f64; 2], a: f64, b: f64) -> FeatureSums {
        let corner = |x: f64, y: f64| [center[0] + x * a, center[1] + y * b];
        sums(&[corner(-1.0, -1.0), corner(-1.0, 1.0), corner(1.0, -1.0), corner(1.0, 1.0)])
    }

    #[test]
    fn the_frechet_distance_of_boxes_is_the_hand_computed_one() {
        let (a, b) = (corners([0.0, 0.0], 1.0, 2.0), corners([3.0, 4.0], 2.0, 5.0));
        // 25 between the means, (2 − 1)² + (5 − 2)² between the deviations.
        assert!((a.frechet(&b, &[1.0, 1.0]).unwrap() - 35.0).abs() < 1e-9);
        // The second feature in units of 2: 9 + 4, and 1 + 1.5².
        assert!((a.frechet(&b, &[1.0, 2.0]).unwrap() - 16.25).abs() < 1e-9);
        assert!((b.frechet(&a, &[1.0, 1.0]).unwrap() - 35.0).abs() < 1e-9, "it is symmetric");
        assert!(a.frechet(&a, &[1.0, 1.0]).unwrap() < 1e-9);
    }

    #[test]
    fn a_correlated_set_is_far_from_an_uncorrelated_one_of_the_same_spread() {
        let line = sums(&[[-1.0, -1.0], [1.0, 1.0], [-1.0, -1.0], [1.0, 1.0]]);
        // Σ = [[1, 1], [1, 1]] against I: tr = 2 + 2 − 2·√2.
        let distance = line.frechet(&corners([0.0, 0.0], 1.0, 1.0), &[1.0, 1.0]).unwrap();
        assert!((distance - (4.0 - 2.0 * 2f64.sqrt())).abs() < 1e-6, "{distance}");
    }

    #[test]
    fn pooling_adds_the_vectors() {
        let all = sums(&[[1.0, 2.0], [3.0, -1.0], [0.5, 0.5]]);
        let pooled = FeatureSums::pooled(&[sums(&[[1.0, 2.0]]), sums(&[[3.0, -1.0], [0.5, 0.5]])]).unwrap();
        assert_eq!(all, pooled);
        assert_eq!(FeatureSums::pooled([]), None);
    }

    #[test]
    fn the_mean_square_distance_is_that_of_all_pairs() {
        let (a, b) = (sums(&[[0.0, 0.0], [2.0, 0.0]]), sums(&[[0.0, 1.0]]));
        // Pairs: 1 and 4 + 1, mean 3, over two features.
        assert!((a.mean_square_distance(&b, &[1.0, 1.0]).unwrap() - 1.5).abs() < 1e-12);
    }

    #[test]
    fn the_root_of_a_small_matrix_is_the_hand_computed_one() {
        // [[5, 4], [4, 5]] has eigenvalues 9 and 1 along the diagonals of the plane: its root is [[2, 1], [1, 2]].
        let root = square_root(DMatrix::from_row_slice(2, 2, &[5.0, 4.0, 4.0, 5.0])).unwrap();
        assert!((root - DMatrix::from_row_slice(2, 2, &[2.0, 1.0, 1.0, 2.0])).amax() < 1e-12);
    }

    #[test]
    fn the_square_of_the_root_is_the_matrix() {
        // A Gram matrix has no negative eigenvalue.
        let rows = DMatrix::from_fn(25, 25, |i, k| ((i * 7 + k * 13) as f64 * 0.37).sin());
        let gram = &rows * rows.transpose();
        let root = square_root(gram.clone()).unwrap();
        assert!((&root * &root - gram).amax() < 1e-9);
    }

    #[test]
    fn features_that_are_not_finite_have_no_distance() {
        let mut broken = corners([0.0, 0.0], 1.0, 2.0);
        broken.products[0] = f64::INFINITY;
        assert_eq!(broken.frechet(&corners([0.0, 0.0], 1.0, 2.0), &[1.0, 1.0]), None);
    }

    #[test]
    fn a_set_with_no_more_vectors_than_features_has_no_distance() {
        assert_eq!(sums(&[[0.0, 1.0], [1.0, 0.0]]).frechet(&corners([0.0; 2], 1.0, 1.0), &[1.0; 2]), None);
    }
}

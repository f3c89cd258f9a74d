//! Small symmetric matrices and their square roots, by Jacobi's rotations.

/// Rotations end when what is off the diagonal is this share of what is on it.
const TOLERANCE: f64 = 1e-14;
/// Sweeps over all pairs; ten are enough for any matrix of doubles, more show that it is not finite.
const SWEEPS: usize = 60;

/// A symmetric matrix, row-major.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Symmetric {
    size: usize,
    values: Vec<f64>,
}

impl Symmetric {
    /// The matrix whose upper triangle, i ≤ j, is `value(i, j)`.
    pub fn new(size: usize, value: impl Fn(usize, usize) -> f64) -> Self {
        let values = (0..size * size).map(|at| value((at / size).min(at % size), (at / size).max(at % size)));
        Self { size, values: values.collect() }
    }

    pub fn get(&self, i: usize, j: usize) -> f64 {
        self.values[i * self.size + j]
    }

    pub fn diagonal(&self) -> impl Iterator<Item = f64> {
        (0..self.size).map(|i| self.get(i, i))
    }

    pub fn trace(&self) -> f64 {
        self.diagonal().sum()
    }

    /// Every entry changed; `change(i, j, v)` has to equal `change(j, i, v)`.
    pub fn map(&self, change: impl Fn(usize, usize, f64) -> f64) -> Self {
        Self::new(self.size, |i, j| change(i, j, self.get(i, j)))
    }

    /// `outer` · self · `outer`.
    pub fn between(&self, outer: &Self) -> Self {
        let n = self.size;
        let product: Vec<f64> =
            (0..n * n).map(|at| (0..n).map(|k| outer.get(at / n, k) * self.get(k, at % n)).sum()).collect();
        Self::new(n, |i, j| (0..n).map(|k| product[i * n + k] * outer.get(k, j)).sum())
    }

    /// The symmetric root of a matrix without negative eigenvalues; those that rounding made so count as 0.
    pub fn square_root(&self) -> Self {
        let (eigenvalues, vectors) = self.eigen();
        let n = self.size;
        let roots: Vec<f64> = eigenvalues.iter().map(|value| value.max(0.0).sqrt()).collect();
        Self::new(n, |i, j| (0..n).map(|k| vectors[i * n + k] * roots[k] * vectors[j * n + k]).sum())
    }

    /// Eigenvalues, and eigenvectors as the columns of a row-major matrix.
    fn eigen(&self) -> (Vec<f64>, Vec<f64>) {
        let n = self.size;
        let mut a = self.values.clone();
        let mut vectors: Vec<f64> = (0..n * n).map(|at| f64::from(u8::from(at / n == at % n))).collect();
        for _ in 0..SWEEPS {
            let square = |on: bool| -> f64 {
                (0..n * n).filter(|at| (at / n == at % n) == on).map(|at| a[at] * a[at]).sum()
            };
            if square(false) <= TOLERANCE * TOLERANCE * square(true) {
                break;
            }
            for p in 0..n {
                for q in p + 1..n {
                    rotate(&mut a, &mut vectors, n, p, q);
                }
            }
        }
        ((0..n).map(|i| a[i * n + i]).collect(), vectors)
    }
}

/// Turns the plane of axes `p` and `q` so that the entry of both becomes 0.
fn rotate(a: &mut [f64], vectors: &mut [f64], n: usize, p: usize, q: usize) {
    let coupling = a[p * n + q];
    if coupling == 0.0 {
        return;
    }
    // The smaller root of t² + 2θt − 1 = 0 is the tangent of the smaller angle.
    let theta = (a[q * n + q] - a[p * n + p]) / (2.0 * coupling);
    let tangent = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
    let cosine = 1.0 / (tangent * tangent + 1.0).sqrt();
    let sine = tangent * cosine;
    for k in 0..n {
        let (x, y) = (a[k * n + p], a[k * n + q]);
        (a[k * n + p], a[k * n + q]) = (cosine * x - sine * y, sine * x + cosine * y);
    }
    for k in 0..n {
        let (x, y) = (a[p * n + k], a[q * n + k]);
        (a[p * n + k], a[q * n + k]) = (cosine * x - sine * y, sine * x + cosine * y);
        let (x, y) = (vectors[k * n + p], vectors[k * n + q]);
        (vectors[k * n + p], vectors[k * n + q]) = (cosine * x - sine * y, sine * x + cosine * y);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_of_a_small_matrix_is_the_hand_computed_one() {
        // [[5, 4], [4, 5]] has eigenvalues 9 and 1 along the diagonals of the plane: its root is [[2, 1], [1, 2]].
        let root = Symmetric::new(2, |i, j| if i == j { 5.0 } else { 4.0 }).square_root();
        for (found, wanted) in root.values.iter().zip([2.0, 1.0, 1.0, 2.0]) {
            assert!((found - wanted).abs() < 1e-12, "{root:?}");
        }
    }

    #[test]
    fn the_square_of_the_root_is_the_matrix() {
        // A Gram matrix has no negative eigenvalue.
        let n = 25;
        let rows: Vec<Vec<f64>> =
            (0..n).map(|i| (0..n).map(|k| ((i * 7 + k * 13) as f64 * 0.37).sin()).collect()).collect();
        let gram = Symmetric::new(n, |i, j| rows[i].iter().zip(&rows[j]).map(|(a, b)| a * b).sum());
        let root = gram.square_root();
        let identity = Symmetric::new(n, |i, j| f64::from(u8::from(i == j)));
        let square = identity.between(&root);
        for (found, wanted) in square.values.iter().zip(&gram.values) {
            assert!((found - wanted).abs() < 1e-9, "{found} is not {wanted}");
        }
    }
}

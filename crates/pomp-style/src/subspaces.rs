//! Independent feature subspace analysis (Hyvärinen and Hoyer, "Emergence of phase- and shift-invariant features by decomposition of
//! natural images into independent feature subspaces", 2000).
//!
//! Whitened data x is turned by a rotation with rows e_i, of which so many in a row span a subspace. The feature of a subspace is
//! F_j = Σ (e_i · x)² over its rows, and the rotation is the one that makes the features sparse: it maximises the mean of
//! Σ_j log p(F_j) with log p(u) = −√u, up to constants. Within a subspace nothing tells directions apart; between subspaces what is
//! left in common is least.
//!
//! Gradient steps alone end, from most starts, where two subspaces share two truths half and half: neither gains unless both move. So the
//! climb begins with subspaces of one dimension each, which is independent component analysis, and rows of different subspaces change
//! places while that makes the likelihood higher, at first and again after each climb (ours).

use nalgebra::{DMatrix, DVector};
use pomp_motion::random::{Draws, mixed_seed};
use rayon::prelude::*;

/// Kept under the root of a feature, so that the gradient is finite where a sample has no part in a subspace.
const LEAST_FEATURE: f64 = 1e-9;
/// First length of a gradient step; it grows while steps help and halves when one does not.
const FIRST_STEP: f64 = 0.5;
/// The search ends when a step gains less than this share.
const LEAST_GAIN: f64 = 1e-7;
/// Steps in a row that gain less.
const PATIENCE: usize = 3;

/// A rotation into independent feature subspaces.
#[derive(Clone, Debug, PartialEq)]
pub struct Subspaces {
    /// Rows e_i: the first `size` span subspace 0, and so on.
    pub rotation: DMatrix<f64>,
    /// Dimensions of each subspace.
    pub size: usize,
}

/// How a rotation was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Search {
    /// Mean log-likelihood per sample, up to constants.
    pub likelihood: f64,
    /// Gradient steps of the best start.
    pub iterations: usize,
    /// The best start, from 0.
    pub start: usize,
}

impl Subspaces {
    /// Analyses `samples`, N × D, whitened, into `count` subspaces; the best of so many starts.
    ///
    /// # Panics
    /// When `count` does not divide D.
    pub fn analyse(
        samples: &DMatrix<f64>,
        count: usize,
        starts: usize,
        iterations: usize,
        seed: u64,
    ) -> (Self, Search) {
        let dimensions = samples.ncols();
        assert!(dimensions.is_multiple_of(count), "subspaces have the same number of dimensions");
        let size = dimensions / count;
        // Collected in order, so that the best of equals does not depend on threads.
        let found: Vec<(DMatrix<f64>, f64, usize)> = (0..starts)
            .into_par_iter()
            .map(|start| {
                let rotation = random_rotation(dimensions, mixed_seed(seed, start as u64));
                search(samples, size, rotation, iterations)
            })
            .collect();
        let best = (0..found.len())
            .reduce(|best, other| if found[other].1 > found[best].1 { other } else { best })
            .expect("there is a start");
        let (rotation, likelihood, iterations) = found[best].clone();
        (Self { rotation, size }, Search { likelihood, iterations, start: best })
    }

    /// Number of subspaces, J.
    pub fn count(&self) -> usize {
        self.rotation.nrows() / self.size
    }

    /// Rows of a subspace.
    pub fn rows(&self, subspace: usize) -> std::ops::Range<usize> {
        subspace * self.size..(subspace + 1) * self.size
    }

    /// F_j of every subspace of a rotated vector.
    pub fn features(&self, code: &DVector<f64>) -> Vec<f64> {
        features(code.as_slice(), self.size)
    }
}

fn features(code: &[f64], size: usize) -> Vec<f64> {
    code.chunks(size).map(|part| part.iter().map(|value| value * value).sum()).collect()
}

/// A rotation drawn evenly from all.
fn random_rotation(dimensions: usize, seed: u64) -> DMatrix<f64> {
    let mut draws = Draws::new(seed, 0);
    // The sum of twelve uniform numbers is near enough to a normal one: only the start depends on it.
    let normal = |_, _| (0..12).map(|_| f64::from(draws.share())).sum::<f64>() - 6.0;
    DMatrix::from_fn(dimensions, dimensions, normal).qr().q()
}

/// The orthogonal matrix nearest to `matrix`.
fn orthonormalised(matrix: DMatrix<f64>) -> DMatrix<f64> {
    let svd = matrix.svd(true, true);
    let (left, right) = (svd.u.expect("it was asked for"), svd.v_t.expect("it was asked for"));
    left * right
}

/// Climbs and lets rows change places in turn; gives the rotation, its likelihood and the steps made.
fn search(
    samples: &DMatrix<f64>,
    size: usize,
    rotation: DMatrix<f64>,
    iterations: usize,
) -> (DMatrix<f64>, f64, usize) {
    let (mut rotation, _, mut steps) = climb(samples, 1, rotation, iterations);
    regroup(samples, size, &mut rotation);
    loop {
        let (climbed, likelihood, more) = climb(samples, size, rotation, iterations);
        steps += more;
        // Within a subspace any basis is as good; only along independent directions is there something to exchange.
        let mut regrouped = with_independent_rows(samples, size, &climbed);
        if steps >= 2 * iterations || !regroup(samples, size, &mut regrouped) {
            return (climbed, likelihood, steps);
        }
        rotation = regrouped;
    }
}

/// The same subspaces, each with the basis of independent component analysis within it.
fn with_independent_rows(samples: &DMatrix<f64>, size: usize, rotation: &DMatrix<f64>) -> DMatrix<f64> {
    let mut turned = rotation.clone();
    for subspace in 0..rotation.nrows() / size {
        let own = rotation.rows(subspace * size, size);
        let (within, ..) = climb(&(samples * own.transpose()), 1, DMatrix::identity(size, size), 100);
        turned.rows_mut(subspace * size, size).copy_from(&(within * own));
    }
    turned
}

/// Rows of different subspaces change places while that makes the likelihood higher, each time the pair that gains most; whether any did.
fn regroup(samples: &DMatrix<f64>, size: usize, rotation: &mut DMatrix<f64>) -> bool {
    let squares = (samples * rotation.transpose()).map(|value| value * value);
    let dimensions = squares.ncols();
    let mut order: Vec<usize> = (0..dimensions).collect();
    let mut any = false;
    loop {
        let feature = |group: usize| {
            let mut feature = DVector::from_element(squares.nrows(), LEAST_FEATURE);
            order[group * size..(group + 1) * size].iter().for_each(|&row| feature += squares.column(row));
            feature
        };
        let features: Vec<DVector<f64>> = (0..dimensions / size).map(feature).collect();
        let roots: Vec<f64> = features.iter().map(|feature| feature.iter().map(|f| f.sqrt()).sum()).collect();
        let mut best = (1e-6 * roots.iter().sum::<f64>(), None);
        for a in 0..dimensions {
            for b in (a / size + 1) * size..dimensions {
                let (group_a, group_b) = (a / size, b / size);
                let (own, other) = (squares.column(order[a]), squares.column(order[b]));
                let sum: f64 = (0..squares.nrows())
                    .map(|n| {
                        let moved = other[n] - own[n];
                        // Rounding may leave a little less than nothing.
                        (features[group_a][n] + moved).max(0.0).sqrt()
                            + (features[group_b][n] - moved).max(0.0).sqrt()
                    })
                    .sum();
                let gain = roots[group_a] + roots[group_b] - sum;
                if gain > best.0 {
                    best = (gain, Some((a, b)));
                }
            }
        }
        let Some((a, b)) = best.1 else { break };
        order.swap(a, b);
        any = true;
    }
    *rotation = rotation.select_rows(&order);
    any
}

/// Climbs from `rotation`; gives the rotation, its likelihood and the steps made.
fn climb(
    samples: &DMatrix<f64>,
    size: usize,
    mut rotation: DMatrix<f64>,
    iterations: usize,
) -> (DMatrix<f64>, f64, usize) {
    let mut step = FIRST_STEP;
    let (mut likelihood, mut gradient) = likelihood_and_gradient(samples, size, &rotation);
    let mut idle = 0;
    for iteration in 0..iterations {
        let moved = orthonormalised(&rotation + &gradient * step);
        let (reached, next) = likelihood_and_gradient(samples, size, &moved);
        if reached > likelihood {
            idle = if reached - likelihood < LEAST_GAIN * likelihood.abs() { idle + 1 } else { 0 };
            (rotation, likelihood, gradient) = (moved, reached, next);
            step *= 1.3;
        } else {
            step *= 0.5;
            idle += usize::from(step < 1e-9);
        }
        if idle >= PATIENCE {
            return (rotation, likelihood, iteration + 1);
        }
    }
    (rotation, likelihood, iterations)
}

/// The mean of −Σ_j √F_j, and its gradient with respect to the rows: the mean of −x (e_i · x) / √F_j.
fn likelihood_and_gradient(
    samples: &DMatrix<f64>,
    size: usize,
    rotation: &DMatrix<f64>,
) -> (f64, DMatrix<f64>) {
    let count = samples.nrows() as f64;
    let mut codes = samples * rotation.transpose();
    let mut likelihood = 0.0;
    for mut code in codes.row_iter_mut() {
        for subspace in 0..code.ncols() / size {
            let mut part = code.columns_mut(subspace * size, size);
            let root = (part.norm_squared() + LEAST_FEATURE).sqrt();
            likelihood -= root;
            part /= -root;
        }
    }
    (likelihood / count, codes.tr_mul(samples) / count)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Samples of `count` independent subspaces of two dimensions, each with a common sparse size, turned by a random rotation.
    fn mixed_samples(count: usize, samples: usize, seed: u64) -> (DMatrix<f64>, DMatrix<f64>) {
        let mut draws = Draws::new(seed, 1);
        let mut rows = DMatrix::zeros(samples, 2 * count);
        for n in 0..samples {
            for j in 0..count {
                // Seldom large: the size decides both dimensions, the angle is even.
                let size = f64::from(draws.share()).powi(8) * 4.0;
                let angle = f64::from(draws.share()) * std::f64::consts::TAU;
                rows[(n, 2 * j)] = size * angle.cos();
                rows[(n, 2 * j + 1)] = size * angle.sin();
            }
        }
        // White by construction but for the scale.
        let scale = (rows.norm_squared() / (samples * 2 * count) as f64).sqrt();
        let mixing = random_rotation(2 * count, seed + 100);
        (rows / scale * &mixing, mixing)
    }

    /// The share of each true subspace that its best found subspace holds, the worst of them: 1 is a perfect separation.
    fn separation(found: &DMatrix<f64>, mixing: &DMatrix<f64>) -> f64 {
        let overlap = found * mixing.transpose();
        (0..overlap.ncols() / 2)
            .map(|truth| {
                (0..overlap.nrows() / 2)
                    .map(|j| overlap.view((2 * j, 2 * truth), (2, 2)).norm_squared() / 2.0)
                    .fold(0.0, f64::max)
            })
            .fold(1.0, f64::min)
    }

    #[test]
    fn independent_subspaces_are_separated_where_principal_components_do_not() {
        let (samples, mixing) = mixed_samples(4, 2000, 5);
        let (found, search) = Subspaces::analyse(&samples, 4, 4, 300, 1);
        let principal = crate::Principal::fit(&samples, 8).basis.transpose();
        let (separated, control) = (separation(&found.rotation, &mixing), separation(&principal, &mixing));
        println!(
            "share of the true subspace: {separated:.3}, by principal components {control:.3}; {search:?}"
        );
        assert!(separated > 0.97, "{separated}");
        assert!(control < 0.8, "{control}");
    }

    #[test]
    fn the_rotation_stays_one_and_the_likelihood_is_better_than_at_random() {
        let (samples, _) = mixed_samples(3, 300, 2);
        let (found, search) = Subspaces::analyse(&samples, 3, 2, 100, 1);
        let product = &found.rotation * found.rotation.transpose();
        assert!((product - DMatrix::identity(6, 6)).norm() < 1e-9);
        let (random, _) = likelihood_and_gradient(&samples, 2, &random_rotation(6, 9));
        assert!(search.likelihood > random, "{search:?} {random}");
    }

    #[test]
    fn the_gradient_is_that_of_the_likelihood() {
        let (samples, _) = mixed_samples(2, 50, 3);
        let rotation = random_rotation(4, 4);
        let (_, gradient) = likelihood_and_gradient(&samples, 2, &rotation);
        for (i, j) in [(0, 0), (1, 3), (3, 2)] {
            let mut ends = [0.0; 2];
            for (end, offset) in ends.iter_mut().zip([1e-6, -1e-6]) {
                let mut moved = rotation.clone();
                moved[(i, j)] += offset;
                *end = likelihood_and_gradient(&samples, 2, &moved).0;
            }
            let measured = (ends[0] - ends[1]) / 2e-6;
            assert!((measured - gradient[(i, j)]).abs() < 1e-4, "{measured} {}", gradient[(i, j)]);
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_rotation() {
        let (samples, _) = mixed_samples(3, 100, 2);
        let analyse = |seed| Subspaces::analyse(&samples, 3, 3, 50, seed).0;
        assert_eq!(analyse(1), analyse(1));
        assert_ne!(analyse(1), analyse(2));
    }
}

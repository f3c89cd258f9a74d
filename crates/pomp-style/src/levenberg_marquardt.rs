//! Least squares by Levenberg-Marquardt.
//!
//! On nalgebra's Cholesky decomposition: the crate `levenberg-marquardt` (0.15) wants nalgebra 0.34, which would be a second one beside
//! the workspace's 0.35 with matrices of other types, and `argmin` has Gauss-Newton but not this.

use nalgebra::{DMatrix, DVector};

/// First damping, over the diagonal of JᵀJ.
const FIRST_DAMPING: f64 = 1e-3;
/// Damping beyond which no step helps.
const MOST_DAMPING: f64 = 1e12;
/// The search ends when a step makes the sum of squares less by a smaller share than this.
const LEAST_GAIN: f64 = 1e-6;
/// Sum of squares that is as good as none.
const NOTHING: f64 = 1e-18;
/// The search ends when a step is shorter than this, over the length of the parameters and 1.
const LEAST_STEP: f64 = 1e-9;

/// What a search found.
#[derive(Clone, Debug)]
pub(crate) struct Minimum {
    pub parameters: DVector<f64>,
    /// Steps that were tried.
    pub iterations: usize,
}

/// Minimises |r(p)|² from `start`; derivatives by central differences of `step`.
pub(crate) fn minimise(
    residuals: impl Fn(&DVector<f64>) -> DVector<f64>,
    start: DVector<f64>,
    step: f64,
    most_iterations: usize,
) -> Minimum {
    let mut parameters = start;
    let mut here = residuals(&parameters);
    let mut damping = FIRST_DAMPING;
    let mut linearised: Option<(DMatrix<f64>, DVector<f64>)> = None;
    for iteration in 0..most_iterations {
        let (normal, gradient) = linearised.get_or_insert_with(|| {
            let jacobian = jacobian(&residuals, &parameters, step);
            (jacobian.tr_mul(&jacobian), jacobian.tr_mul(&here))
        });
        if here.norm_squared() < NOTHING {
            return Minimum { parameters, iterations: iteration };
        }
        let mut damped = normal.clone();
        for k in 0..damped.nrows() {
            damped[(k, k)] += damping * normal[(k, k)].max(1e-12);
        }
        let moved = damped.cholesky().map(|factors| &parameters - factors.solve(gradient));
        let short = LEAST_STEP * (1.0 + parameters.norm());
        if moved.as_ref().is_some_and(|moved| (moved - &parameters).norm() < short) {
            return Minimum { parameters, iterations: iteration + 1 };
        }
        let reached = moved.map(|moved| (residuals(&moved), moved));
        match reached {
            Some((there, moved)) if there.norm_squared() < here.norm_squared() => {
                let gain = 1.0 - there.norm_squared() / here.norm_squared();
                (parameters, here) = (moved, there);
                linearised = None;
                damping = (damping * 0.2).max(1e-12);
                if gain < LEAST_GAIN {
                    return Minimum { parameters, iterations: iteration + 1 };
                }
            }
            _ => {
                damping *= 5.0;
                if damping > MOST_DAMPING {
                    return Minimum { parameters, iterations: iteration + 1 };
                }
            }
        }
    }
    Minimum { parameters, iterations: most_iterations }
}

fn jacobian(residuals: impl Fn(&DVector<f64>) -> DVector<f64>, at: &DVector<f64>, step: f64) -> DMatrix<f64> {
    let columns: Vec<DVector<f64>> = (0..at.len())
        .map(|k| {
            let moved = |by: f64| {
                let mut moved = at.clone();
                moved[k] += by;
                residuals(&moved)
            };
            (moved(step) - moved(-step)) / (2.0 * step)
        })
        .collect();
    DMatrix::from_columns(&columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rosenbrock_s_valley_is_followed_to_its_end() {
        let residuals = |p: &DVector<f64>| DVector::from_vec(vec![10.0 * (p[1] - p[0] * p[0]), 1.0 - p[0]]);
        let found = minimise(residuals, DVector::from_vec(vec![-1.2, 1.0]), 1e-6, 100);
        assert!((found.parameters - DVector::from_vec(vec![1.0, 1.0])).norm() < 1e-6);
        assert!(found.iterations < 60, "{}", found.iterations);
    }

    #[test]
    fn a_line_is_fitted_in_a_few_steps() {
        let line =
            |p: &DVector<f64>| DVector::from_fn(5, |k, _| p[0] + p[1] * k as f64 - (3.0 + 2.0 * k as f64));
        let found = minimise(line, DVector::zeros(2), 1e-6, 50);
        assert!((found.parameters - DVector::from_vec(vec![3.0, 2.0])).norm() < 1e-5);
        assert!(found.iterations < 12, "{}", found.iterations);
    }
}

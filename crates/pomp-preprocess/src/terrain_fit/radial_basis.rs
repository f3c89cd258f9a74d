//! Interpolation of scattered heights by radial basis functions with the linear kernel.

use glam::Vec2;

/// h(p) = c − Σ wᵢ |p − pᵢ| with Σ wᵢ = 0; ridges λᵢ smooth: Σⱼ (λᵢ δᵢⱼ − |pᵢ − pⱼ|) wⱼ + c = hᵢ.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RadialBasis {
    centres: Vec<Vec2>,
    weights: Vec<f64>,
    constant: f64,
}

impl RadialBasis {
    /// Fits heights at places with a ridge each, metres. Without places it is 0 everywhere.
    ///
    /// −|r| is conditionally positive definite of order one, so with the constant the system is regular for
    /// distinct places; a positive ridge keeps it regular when places coincide.
    pub fn fit(places: &[Vec2], heights: &[f32], ridges: &[f32]) -> Self {
        let n = places.len();
        if n == 0 {
            return Self { centres: Vec::new(), weights: Vec::new(), constant: 0.0 };
        }
        let width = n + 2;
        let mut rows = vec![0.0f64; (n + 1) * width];
        for i in 0..n {
            for j in 0..n {
                rows[i * width + j] = -f64::from(places[i].distance(places[j]));
            }
            rows[i * width + i] += f64::from(ridges[i]).max(1e-6);
            rows[i * width + n] = 1.0;
            rows[n * width + i] = 1.0;
            rows[i * width + n + 1] = f64::from(heights[i]);
        }
        let mut solution = solve(&mut rows, n + 1);
        let constant = solution.pop().expect("the system has the constant as its last unknown");
        Self { centres: places.to_vec(), weights: solution, constant }
    }

    /// Height at a place.
    pub fn at(&self, place: Vec2) -> f32 {
        let sum: f64 = (self.centres.iter().zip(&self.weights))
            .map(|(centre, weight)| weight * f64::from(centre.distance(place)))
            .sum();
        (self.constant - sum) as f32
    }
}

/// Gaussian elimination with partial pivoting on `n` rows of `n` + 1 numbers; a pivot of 0 leaves its unknown 0.
fn solve(rows: &mut [f64], n: usize) -> Vec<f64> {
    let width = n + 1;
    for k in 0..n {
        let pivot = (k..n)
            .max_by(|&a, &b| rows[a * width + k].abs().total_cmp(&rows[b * width + k].abs()))
            .expect("the range holds row k");
        if rows[pivot * width + k].abs() < 1e-12 {
            continue;
        }
        for column in k..width {
            rows.swap(k * width + column, pivot * width + column);
        }
        let (above, below) = rows.split_at_mut((k + 1) * width);
        let top = &above[k * width..];
        for row in below.chunks_exact_mut(width) {
            let factor = row[k] / top[k];
            if factor != 0.0 {
                for (value, &from) in row[k..].iter_mut().zip(&top[k..]) {
                    *value -= factor * from;
                }
            }
        }
    }
    let mut solution = vec![0.0; n];
    for k in (0..n).rev() {
        let row = &rows[k * width..(k + 1) * width];
        let known: f64 = (k + 1..n).map(|j| row[j] * solution[j]).sum();
        solution[k] = if row[k].abs() < 1e-12 { 0.0 } else { (row[n] - known) / row[k] };
    }
    solution
}

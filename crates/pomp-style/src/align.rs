//! Time alignment of a cycle to the reference by dynamic programming, segment by segment between foot contacts.

use crate::config::AlignmentConfig;
use crate::cycle::{KEY_FRAMES, WalkCycle};
use crate::warp::smoothed;
use glam::Vec3;

/// The joints around each frame of a cycle, for distances that do not ask where on the ground a figure stands or where it faces.
///
/// After Kovar, Gleicher and Pighin, "Motion Graphs", 2002: the distance of two clouds of points is the sum of the squared distances of
/// their points after the rotation about the vertical and the shift on the ground that make it least.
#[derive(Clone, Debug)]
pub(crate) struct PointClouds {
    frames: Vec<Cloud>,
}

#[derive(Clone, Debug)]
struct Cloud {
    /// x and z of each point from the mean of all.
    ground: Vec<[f64; 2]>,
    heights: Vec<f64>,
    /// Sum of the squares of `ground`.
    size: f64,
}

impl PointClouds {
    pub fn of(cycle: &WalkCycle, window: usize) -> Self {
        let last = cycle.frames() - 1;
        let frames = (0..=last)
            .map(|frame| {
                // Frames beyond the ends count as the ends, so that all clouds have the same points.
                let points: Vec<Vec3> = (0..=2 * window)
                    .flat_map(|k| &cycle.positions[(frame + k).saturating_sub(window).min(last)])
                    .copied()
                    .collect();
                Cloud::of(&points)
            })
            .collect();
        Self { frames }
    }

    /// Squared distance of a frame to a frame of another cycle.
    fn distance(&self, frame: usize, other: &Self, other_frame: usize) -> f64 {
        self.frames[frame].distance(&other.frames[other_frame])
    }
}

impl Cloud {
    fn of(points: &[Vec3]) -> Self {
        let count = points.len() as f64;
        let mean = points.iter().fold([0.0; 2], |[x, z], p| [x + f64::from(p.x), z + f64::from(p.z)]);
        let ground: Vec<[f64; 2]> = points
            .iter()
            .map(|p| [f64::from(p.x) - mean[0] / count, f64::from(p.z) - mean[1] / count])
            .collect();
        let size = ground.iter().map(|[x, z]| x * x + z * z).sum();
        Self { ground, heights: points.iter().map(|p| f64::from(p.y)).collect(), size }
    }

    fn distance(&self, other: &Self) -> f64 {
        // With p·q and p×q summed over the points, the best rotation leaves |p|² + |q|² − 2 √((Σ p·q)² + (Σ p×q)²).
        let (mut dot, mut cross) = (0.0, 0.0);
        for ([x, z], [u, v]) in self.ground.iter().zip(&other.ground) {
            dot += x * u + z * v;
            cross += x * v - z * u;
        }
        let upright: f64 = self.heights.iter().zip(&other.heights).map(|(a, b)| (a - b) * (a - b)).sum();
        (self.size + other.size - 2.0 * dot.hypot(cross)).max(0.0) + upright
    }
}

/// A cycle to which others are aligned.
#[derive(Clone, Debug)]
pub(crate) struct AlignmentReference {
    clouds: PointClouds,
    keys: [usize; KEY_FRAMES],
}

/// Names of the segments of a cycle, for messages.
const SEGMENTS: [&str; KEY_FRAMES - 1] = [
    "double support after the left strike",
    "swing of the right foot",
    "double support after the right strike",
    "swing of the left foot",
];

impl AlignmentReference {
    pub fn of(cycle: &WalkCycle, config: &AlignmentConfig) -> Self {
        Self { clouds: PointClouds::of(cycle, config.window_frames), keys: cycle.keys }
    }

    /// The warp w(t): the frame of `cycle` for each frame of the reference, strictly rising from 0 to the cycle's last frame; key
    /// frames fall on key frames. Or the reason why slopes do not allow one.
    pub fn warp(&self, cycle: &WalkCycle, config: &AlignmentConfig) -> Result<Vec<f64>, String> {
        let clouds = PointClouds::of(cycle, config.window_frames);
        let mut warp = vec![0.0];
        for (segment, name) in SEGMENTS.into_iter().enumerate() {
            let (from, to) = (self.keys[segment], self.keys[segment + 1]);
            let (own_from, own_to) = (cycle.keys[segment], cycle.keys[segment + 1]);
            let distance = |t: usize, k: usize| self.clouds.distance(from + t, &clouds, own_from + k);
            let path = path(to - from, own_to - own_from, config.most_steps, distance).ok_or_else(|| {
                format!(
                    "its {name} takes {} frames and the reference's {}: the slope limit allows no alignment \
                     (alignment.most_steps = {})",
                    own_to - own_from,
                    to - from,
                    config.most_steps
                )
            })?;
            let steps: Vec<f64> = path.windows(2).map(|pair| pair[1] - pair[0]).collect();
            let steps =
                smoothed(&steps, f64::from(config.smoothing_frames), f64::from(config.least_step_frames));
            let mut at = own_from as f64;
            for step in steps {
                at += step;
                warp.push(at);
            }
            *warp.last_mut().expect("it has its first frame") = own_to as f64;
        }
        Ok(warp)
    }
}

/// The kinds of steps of a path: both times advance, only the reference's, only the cycle's.
const BOTH: usize = 0;

/// The frame, 0 to `own`, for each frame 0 to `reference`, along the path of least distance from corner to corner. Each step advances
/// one time or both; at most `most` in a row advance the same one alone. `None` where no path does.
///
/// Steps that advance both times count their distance twice, so that the diagonal is no shortcut.
fn path(
    reference: usize,
    own: usize,
    most: usize,
    distance: impl Fn(usize, usize) -> f64,
) -> Option<Vec<f64>> {
    // States of a cell: after a step of both; after 1 to `most` steps of the reference alone; the same of the cycle alone.
    let states = 1 + 2 * most;
    let index = |t: usize, k: usize, state: usize| (t * (own + 1) + k) * states + state;
    let mut cost = vec![f64::INFINITY; (reference + 1) * (own + 1) * states];
    let mut before = vec![usize::MAX; cost.len()];
    cost[index(0, 0, BOTH)] = 0.0;
    for t in 0..=reference {
        for k in 0..=own {
            if t + k == 0 {
                continue;
            }
            let here = distance(t, k);
            let mut arrive = |state: usize, weight: f64, t0: usize, k0: usize, from: usize| {
                let whole = cost[index(t0, k0, from)] + weight * here;
                if whole < cost[index(t, k, state)] {
                    cost[index(t, k, state)] = whole;
                    before[index(t, k, state)] = index(t0, k0, from);
                }
            };
            if t > 0 && k > 0 {
                for from in 0..states {
                    arrive(BOTH, 2.0, t - 1, k - 1, from);
                }
            }
            for (first, t0, k0) in [(1, t.checked_sub(1), Some(k)), (1 + most, Some(t), k.checked_sub(1))] {
                let (Some(t0), Some(k0)) = (t0, k0) else { continue };
                for from in 0..states {
                    let run = if (first..first + most).contains(&from) { from - first + 1 } else { 0 };
                    if run < most {
                        arrive(first + run, 1.0, t0, k0, from);
                    }
                }
            }
        }
    }
    let end =
        (0..states).map(|state| index(reference, own, state)).min_by(|&a, &b| cost[a].total_cmp(&cost[b]))?;
    if !cost[end].is_finite() {
        return None;
    }
    // The mean of the frames that a frame of the reference is paired with.
    let mut paired = vec![(0usize, 0usize); reference + 1];
    let mut at = end;
    loop {
        let cell = at / states;
        let (t, k) = (cell / (own + 1), cell % (own + 1));
        paired[t].0 += k;
        paired[t].1 += 1;
        if cell == 0 {
            break;
        }
        at = before[at];
    }
    let mut frames: Vec<f64> = paired.iter().map(|&(sum, count)| sum as f64 / count as f64).collect();
    (frames[0], frames[reference]) = (0.0, own as f64);
    Some(frames)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A path through cells whose distance is that of two curves.
    fn aligned(a: &[f64], b: &[f64], most: usize) -> Option<Vec<f64>> {
        path(a.len() - 1, b.len() - 1, most, |t, k| (a[t] - b[k]).powi(2))
    }

    #[test]
    fn equal_curves_are_aligned_frame_by_frame() {
        let curve: Vec<f64> = (0..20).map(|t| (f64::from(t) * 0.4).sin()).collect();
        let expected: Vec<f64> = (0..20).map(f64::from).collect();
        assert_eq!(aligned(&curve, &curve, 2), Some(expected));
    }

    #[test]
    fn slopes_beyond_the_limit_have_no_alignment() {
        let (short, long) = (vec![0.0; 5], vec![0.0; 14]);
        // Two steps alone for each of both: 4 steps of the one against 12 of the other, one more at each end.
        assert!(aligned(&short, &long, 2).is_some());
        assert!(aligned(&long, &short, 2).is_some());
        assert!(aligned(&short, &[0.0; 21], 2).is_none());
        assert!(aligned(&[0.0; 21], &short, 2).is_none());
    }

    #[test]
    fn no_more_steps_in_a_row_stand_still_than_are_allowed() {
        // A curve that jumps at once, and one that waits: without a limit the path would stand for six frames.
        let a: Vec<f64> = [vec![0.0; 2], vec![1.0; 8]].concat();
        let b: Vec<f64> = [vec![0.0; 8], vec![1.0; 2]].concat();
        for most in [1, 2, 3] {
            let path = aligned(&a, &b, most).unwrap_or_else(|| panic!("{most}"));
            let longest =
                path.iter().map(|at| path.iter().filter(|other| (*other - at).abs() < 1e-9).count()).max();
            assert!(longest <= Some(most + 1), "{path:?}");
        }
    }
}

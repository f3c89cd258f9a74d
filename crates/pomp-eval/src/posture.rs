//! Height of the centre of mass, width of steps.

use crate::Metrics;
use crate::track::Motion;
use crate::work::centre_of_mass;
use glam::{DVec2, Vec3};
use pomp_motion::statistics::mean;
use pomp_terrain::HeightMap;
use std::ops::Range;

/// A foot is down for longer in a step, seconds; a shorter gap does not end it.
const LEAST_S: f64 = 0.2;
const GAP_S: f64 = 0.05;
/// Least way from one step of a foot to its next, metres: less has no direction.
const LEAST_STRIDE_M: f64 = 0.3;

pub(crate) fn measure(motion: &Motion, terrain: &HeightMap, metrics: &mut Metrics) {
    let heights: Vec<f64> = (0..motion.frames())
        .map(|frame| {
            let centre = centre_of_mass(motion, frame);
            centre.y - f64::from(terrain.height(centre.x as f32, centre.z as f32))
        })
        .collect();
    metrics.com_height_m = mean(&heights);

    let mut steps: Vec<(Range<usize>, usize)> =
        (0..2).flat_map(|side| down(motion, side).into_iter().map(move |step| (step, side))).collect();
    steps.sort_by_key(|(step, _)| step.start);
    let widths: Vec<f64> = steps
        .windows(3)
        .filter(|three| three[0].1 == three[2].1 && three[0].1 != three[1].1)
        .filter_map(|three| {
            let heel = |k: usize| heel(motion, &three[k]);
            let stride = heel(2) - heel(0);
            let across = (heel(1) - heel(0)).perp_dot(stride.try_normalize()?);
            // Left is +X of a path along +Z.
            let outward = if three[1].1 == 0 { across } else { -across };
            (stride.length() >= LEAST_STRIDE_M).then_some(100.0 * outward)
        })
        .collect();
    metrics.step_width_cm = mean(&widths);
}

/// The times in which a side is down, whole ones alone.
fn down(motion: &Motion, side: usize) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for (frame, contact) in motion.contact.iter().enumerate() {
        if !(contact[2 * side] || contact[2 * side + 1]) {
            continue;
        }
        match found.last_mut() {
            Some(last) if ((frame - last.end) as f64) < GAP_S * motion.rate_hz => last.end = frame + 1,
            _ => found.push(frame..frame + 1),
        }
    }
    found.retain(|step| {
        step.start > 0 && step.end < motion.frames() && step.len() as f64 > LEAST_S * motion.rate_hz
    });
    found
}

/// The heel in the middle of a step, x and z.
fn heel(motion: &Motion, (step, side): &(Range<usize>, usize)) -> DVec2 {
    let Vec3 { x, z, .. } = motion.soles[step.start.midpoint(step.end)][2 * side];
    DVec2::new(f64::from(x), f64::from(z))
}

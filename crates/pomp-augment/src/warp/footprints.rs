//! Footprints of a clip along a line over the ground.

use glam::Vec2;
use pomp_estimate::terrain_fit::FitInput;

/// Sole behind the ankle joint, before the toe joint and to either side, metres.
pub(super) const BEHIND_M: f32 = 0.07;
pub(super) const BEFORE_M: f32 = 0.09;
const BESIDE_M: f32 = 0.05;

/// Intervals along `along` without footprints, between the first and the last footprint: start and end of each, metres.
pub(super) fn free_pieces(input: &FitInput, along: Vec2) -> Vec<[f32; 2]> {
    let mut touched: Vec<[f32; 2]> = Vec::new();
    for frame in 0..input.frames() {
        for foot in 0..2 {
            let (heel, toe) = (2 * foot, 2 * foot + 1);
            if !(input.contacts[frame][heel] || input.contacts[frame][toe]) {
                continue;
            }
            let [a, b] = [heel, toe].map(|point| {
                let p = input.soles[frame][point];
                Vec2::new(p.x, p.z)
            });
            let ahead = (b - a).normalize_or(along);
            let corners = [a - ahead * BEHIND_M, b + ahead * BEFORE_M];
            let beside = ahead.perp().dot(along).abs() * BESIDE_M;
            let [first, second] = corners.map(|corner| corner.dot(along));
            touched.push([first.min(second) - beside, first.max(second) + beside]);
        }
    }
    touched.sort_by(|a, b| a[0].total_cmp(&b[0]));
    let mut free = Vec::new();
    let mut reached = touched.first().map_or(0.0, |piece| piece[1]);
    for [start, end] in touched {
        if start > reached {
            free.push([reached, start]);
        }
        reached = reached.max(end);
    }
    free
}

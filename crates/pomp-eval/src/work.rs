//! Mechanical work, from the energies of the body's segments.

use crate::Metrics;
use crate::track::Motion;
use glam::DVec3;
use pomp_motion::{JointIndex, humanoid};
use std::ops::Range;

/// Gravity, m/s².
const GRAVITY: f64 = 9.81;

/// The joints of trunk and head, legs, arms.
const LIMBS: [&[Range<usize>]; 5] = [
    &[humanoid::HIPS.0..humanoid::LEFT_UP_LEG.0, humanoid::SPINE.0..humanoid::LEFT_SHOULDER.0],
    &[humanoid::LEFT_UP_LEG.0..humanoid::RIGHT_UP_LEG.0],
    &[humanoid::RIGHT_UP_LEG.0..humanoid::SPINE.0],
    &[humanoid::LEFT_SHOULDER.0..humanoid::RIGHT_SHOULDER.0],
    &[humanoid::RIGHT_SHOULDER.0..humanoid::JOINTS],
];

pub(crate) fn measure(motion: &Motion, metrics: &mut Metrics) {
    let shares = humanoid::MASS_PERCENT.map(|percent| f64::from(percent) * 0.01);
    let centres: Vec<Vec<DVec3>> = (0..motion.frames()).map(|frame| centres(motion, frame)).collect();
    let energies: Vec<[f64; 1 + LIMBS.len()]> =
        centres.windows(3).map(|three| energies(&shares, three, motion.rate_hz)).collect();
    if energies.len() < 2 {
        return;
    }
    let rises = |pair: &[[f64; 1 + LIMBS.len()]]| -> f64 {
        pair[0].iter().zip(&pair[1]).map(|(before, after)| (after - before).max(0.0)).sum()
    };
    let work: f64 = energies.windows(2).map(rises).sum();
    metrics.positive_work_w_kg = Some(work * motion.rate_hz / (energies.len() - 1) as f64);
}

/// The middles of the segments: of the bone to the first child; the joint where there is none, and of the pelvis.
fn centres(motion: &Motion, frame: usize) -> Vec<DVec3> {
    let positions = &motion.positions[frame];
    (0..positions.len())
        .map(|joint| {
            let own = positions[joint].as_dvec3();
            let below = |&child: &usize| motion.skeleton.parent(JointIndex(child)) == Some(JointIndex(joint));
            match (joint + 1..positions.len()).find(below) {
                Some(child) if joint != humanoid::HIPS.0 => (own + positions[child].as_dvec3()) * 0.5,
                _ => own,
            }
        })
        .collect()
}

/// Energy of the centre of mass, and of each limb about it, in the middle of three frames, J/kg.
fn energies(shares: &[f64], three: &[Vec<DVec3>], rate_hz: f64) -> [f64; 1 + LIMBS.len()] {
    let velocity = |joint: usize| (three[2][joint] - three[0][joint]) * (0.5 * rate_hz);
    let mean = |value: &dyn Fn(usize) -> DVec3| -> DVec3 {
        shares.iter().enumerate().map(|(joint, share)| value(joint) * *share).sum()
    };
    let place = mean(&|joint| three[1][joint]);
    let moves = mean(&velocity);
    let mut energies = [GRAVITY * place.y + 0.5 * moves.length_squared(); 1 + LIMBS.len()];
    for (energy, joints) in energies[1..].iter_mut().zip(LIMBS) {
        *energy = joints
            .iter()
            .cloned()
            .flatten()
            .map(|joint| 0.5 * shares[joint] * (velocity(joint) - moves).length_squared())
            .sum();
    }
    energies
}

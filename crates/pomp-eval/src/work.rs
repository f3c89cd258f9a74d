//! Mechanical work, from the energies of the body's segments.

use crate::Metrics;
use crate::track::Motion;
use glam::DVec3;
use pomp_motion::{GRAVITY_M_S2, JointIndex, humanoid};

/// Trunk with head, legs, arms.
const LIMBS: usize = 5;

/// The limb that the segment below a joint belongs to.
fn limb(joint: usize) -> usize {
    match JointIndex(joint) {
        humanoid::LEFT_UP_LEG | humanoid::LEFT_LEG | humanoid::LEFT_FOOT | humanoid::LEFT_TOE => 1,
        humanoid::RIGHT_UP_LEG | humanoid::RIGHT_LEG | humanoid::RIGHT_FOOT | humanoid::RIGHT_TOE => 2,
        humanoid::LEFT_SHOULDER | humanoid::LEFT_ARM | humanoid::LEFT_FORE_ARM | humanoid::LEFT_HAND => 3,
        humanoid::RIGHT_SHOULDER | humanoid::RIGHT_ARM | humanoid::RIGHT_FORE_ARM | humanoid::RIGHT_HAND => 4,
        _ => 0,
    }
}

pub(crate) fn measure(motion: &Motion, metrics: &mut Metrics) {
    let shares = humanoid::MASS_PERCENT.map(|percent| f64::from(percent) * 0.01);
    let centres: Vec<Vec<DVec3>> = (0..motion.frames()).map(|frame| centres(motion, frame)).collect();
    let energies: Vec<[f64; 1 + LIMBS]> =
        centres.windows(3).map(|three| energies(&shares, three, motion.rate_hz)).collect();
    if energies.len() < 2 {
        return;
    }
    let rises = |pair: &[[f64; 1 + LIMBS]]| -> f64 {
        pair[0].iter().zip(&pair[1]).map(|(before, after)| (after - before).max(0.0)).sum()
    };
    let work: f64 = energies.windows(2).map(rises).sum();
    metrics.positive_work_w_kg = Some(work * motion.rate_hz / (energies.len() - 1) as f64);
}

/// The centre of mass of a frame, world.
pub(crate) fn centre_of_mass(motion: &Motion, frame: usize) -> DVec3 {
    let shares = humanoid::MASS_PERCENT.map(|percent| f64::from(percent) * 0.01);
    centres(motion, frame).into_iter().zip(shares).map(|(centre, share)| centre * share).sum()
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
fn energies(shares: &[f64], three: &[Vec<DVec3>], rate_hz: f64) -> [f64; 1 + LIMBS] {
    let velocity = |joint: usize| (three[2][joint] - three[0][joint]) * (0.5 * rate_hz);
    let mean = |value: &dyn Fn(usize) -> DVec3| -> DVec3 {
        shares.iter().enumerate().map(|(joint, share)| value(joint) * *share).sum()
    };
    let place = mean(&|joint| three[1][joint]);
    let moves = mean(&velocity);
    let mut energies = [0.0; 1 + LIMBS];
    energies[0] = GRAVITY_M_S2 * place.y + 0.5 * moves.length_squared();
    for (joint, share) in shares.iter().enumerate() {
        energies[1 + limb(joint)] += 0.5 * share * (velocity(joint) - moves).length_squared();
    }
    energies
}

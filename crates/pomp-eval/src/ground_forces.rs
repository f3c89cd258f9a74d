//! How the ground pushes back under a walker, beside force plates.

use crate::foot_forces::FootForces;
use crate::stance::{StanceForces, whole_stances};
use crate::statistics::correlation;
use crate::track::Motion;
use crate::{Metrics, WalkingForces};
use glam::{DVec2, DVec3};
use pomp_motion::statistics::{mean, median, percentile};
use pomp_motion::{Gait, Recording, humanoid};
use pomp_terrain::HeightMap;
use std::ops::Range;

/// The pelvis of a walk moves at least so far in a stance, metres.
const LEAST_WAY_M: f64 = 0.2;
/// Friction and centre of pressure are those of a foot that bears more, body weights.
const BEARING_BW: f64 = 0.1;

/// The sole: how far it reaches behind the ankle and before it, and half of its width, in body heights.
const HEEL: f64 = 0.040;
const TIP: f64 = 0.112;
const HALF_WIDTH: f64 = 0.0275;

pub(crate) fn measure(
    motion: &Motion,
    recording: &Recording,
    terrain: &HeightMap,
    feet: &FootForces,
    metrics: &mut Metrics,
) {
    stances(motion, recording, feet, metrics);
    let used: Vec<f64> = (0..2).flat_map(|side| friction(motion, terrain, feet, side)).collect();
    metrics.friction_used_median = median(&used);
    metrics.friction_used_p95 = percentile(&used, 0.95);
    pressure(motion, recording, feet, metrics);
}

/// Whole stances of a side in which it walks.
fn walking(motion: &Motion, recording: &Recording, feet: &FootForces, side: usize) -> Vec<Range<usize>> {
    let vertical: Vec<f64> = feet.sides[side].iter().map(|force| force.y).collect();
    let mut found = whole_stances(&vertical, motion.rate_hz);
    found.retain(|stance| {
        recording.gait[stance.clone()].iter().all(|gait| Gait::dominant(gait) == Gait::Walk)
            && way(motion, stance).length() >= LEAST_WAY_M
    });
    found
}

/// Way of the pelvis over the ground in a stance, x and z.
fn way(motion: &Motion, stance: &Range<usize>) -> DVec2 {
    let place = |frame: usize| {
        let hips = motion.positions[frame][humanoid::HIPS.0].as_dvec3();
        DVec2::new(hips.x, hips.z)
    };
    place(stance.end - 1) - place(stance.start)
}

fn stances(motion: &Motion, recording: &Recording, feet: &FootForces, metrics: &mut Metrics) {
    let mut all = Vec::new();
    for (side, forces) in feet.sides.iter().enumerate() {
        let vertical: Vec<f64> = forces.iter().map(|force| force.y).collect();
        for stance in walking(motion, recording, feet, side) {
            let ahead = way(motion, &stance).normalize();
            let forward: Vec<f64> =
                forces.iter().map(|force| DVec2::new(force.x, force.z).dot(ahead)).collect();
            all.push(StanceForces::new(&vertical, &forward, motion.rate_hz, stance));
        }
    }
    let people = WalkingForces::reference();
    let middle = |value: &dyn Fn(&StanceForces) -> Option<f64>| {
        median(&all.iter().filter_map(value).collect::<Vec<f64>>())
    };
    metrics.walking_stances = Some(all.len() as f64);
    metrics.stance_vertical_r = middle(&|stance| stance.vertical_r(&people.vertical));
    metrics.stance_forward_r = middle(&|stance| stance.forward_r(&people.forward));
    metrics.stance_vertical_peak_bw = middle(&|stance| Some(stance.vertical_peak_bw));
    metrics.stance_loading_rate_bw_s = middle(&|stance| Some(stance.loading_rate_bw_s));
    metrics.stance_braking_peak_bw = middle(&|stance| Some(stance.braking_peak_bw));
    metrics.stance_propulsion_peak_bw = middle(&|stance| Some(stance.propulsion_peak_bw));
    metrics.stance_roughness = middle(&|stance| Some(stance.roughness() / people.roughness));
    let mean_curve: Vec<f64> = (0..people.vertical.len())
        .filter_map(|point| mean(&all.iter().map(|stance| stance.vertical[point]).collect::<Vec<f64>>()))
        .collect();
    metrics.stance_mean_vertical_r =
        (!all.is_empty()).then(|| correlation(&mean_curve, &people.vertical)).flatten();
}

/// Tangential over normal force of a side, in the frames in which it bears load.
fn friction(motion: &Motion, terrain: &HeightMap, feet: &FootForces, side: usize) -> Vec<f64> {
    let ankle = [humanoid::LEFT_FOOT, humanoid::RIGHT_FOOT][side].0;
    let forces = feet.sides[side].iter().enumerate();
    let used = forces.filter_map(|(frame, force)| {
        let at = motion.positions[frame][ankle];
        let up = terrain.normal(at.x, at.z).as_dvec3();
        let normal = force.dot(up);
        (normal > BEARING_BW).then(|| (*force - up * normal).length() / normal)
    });
    used.collect()
}

/// Where the pressure lies under the feet, as far as the recording tells.
fn pressure(motion: &Motion, recording: &Recording, feet: &FootForces, metrics: &mut Metrics) {
    let Some(points) = recording.efforts.as_ref().and_then(|efforts| efforts.contact_point.as_ref()) else {
        return;
    };
    let Some(simulation) = &recording.simulation else { return };
    let impulses = &simulation.sim_contact_impulse;
    let (mut inside, mut borne, mut ways) = (0, 0, Vec::new());
    for (side, bodies) in feet.bodies.iter().enumerate() {
        let centre = |frame: usize| -> Option<DVec2> {
            let loads = bodies.map(|body| f64::from(impulses[frame][body].y).max(0.0));
            let at = |k: usize| points[frame][bodies[k]].as_dvec3();
            let centre = (at(0) * loads[0] + at(1) * loads[1]) / (loads[0] + loads[1]);
            centre.is_finite().then(|| on_sole(motion, frame, side, centre)).flatten()
        };
        for (frame, force) in feet.sides[side].iter().enumerate() {
            if let Some(at) = (force.y > BEARING_BW).then(|| centre(frame)).flatten() {
                borne += 1;
                inside += usize::from((-HEEL..=TIP).contains(&at.x) && at.y.abs() <= HALF_WIDTH);
            }
        }
        for stance in walking(motion, recording, feet, side) {
            let tenth = stance.len() / 10;
            let ends = [stance.start + tenth, stance.end - 1 - tenth].map(centre);
            if let [Some(from), Some(to)] = ends {
                ways.push(100.0 * (to.x - from.x) / (HEEL + TIP));
            }
        }
    }
    if borne > 0 {
        metrics.pressure_inside_percent = Some(100.0 * f64::from(inside as u32) / f64::from(borne as u32));
    }
    metrics.pressure_way_percent = median(&ways);
}

/// A point over the sole of a side: ahead of the ankle along the foot, and to its side, body heights.
fn on_sole(motion: &Motion, frame: usize, side: usize, point: DVec3) -> Option<DVec2> {
    let [ankle, toe] =
        [[humanoid::LEFT_FOOT, humanoid::LEFT_TOE], [humanoid::RIGHT_FOOT, humanoid::RIGHT_TOE]][side]
            .map(|joint| motion.positions[frame][joint.0].as_dvec3());
    let level = |v: DVec3| DVec2::new(v.x, v.z);
    let axis = level(toe - ankle).try_normalize()?;
    let from_ankle = level(point - ankle) / motion.body_height_m;
    Some(DVec2::new(from_ankle.dot(axis), from_ankle.perp_dot(axis)))
}

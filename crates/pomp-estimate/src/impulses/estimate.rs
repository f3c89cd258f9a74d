//! Contact impulses of a clip by inverse dynamics.

use super::feet::{self, FootLoads, Sole};
use super::replay_loads::ReplayLoads;
use super::report::ImpulseReport;
use super::whole_body::WholeBody;
use crate::{ImpulseConfig, ImpulseEstimator, PhysicsSettings};
use pomp_motion::glam::{DVec2, DVec3, Vec3};
use pomp_motion::{Clip, FrameTable, GlobalPose, SimulationTrack, Skeleton, TerrainGrid, humanoid};
use pomp_terrain::{HeightMap, TerrainError};

/// Largest shift in time of an impulse that the filter has put into a frame where it cannot have acted, s.
const MOVE_WITHIN_S: f64 = 0.25;
/// Share of the load that the replay puts on other bodies than the feet, below which it is noise.
const OTHER_BODIES: f64 = 0.02;

/// Contact impulses of a clip, and where they act.
#[derive(Clone, Debug, PartialEq)]
pub struct ImpulseEstimate {
    /// Impulse on each body during the frame, N·s, world `[T, B]`.
    pub contact_impulse: FrameTable<Vec3>,
    /// Centre of pressure under left and right foot, world, metres `[T]`; undefined while the foot bears no load.
    pub pressure_center: Vec<[Vec3; 2]>,
    /// Force by the motion of the centre of mass, body weights, world `[T]`, before flights are set to 0 and pulls are
    /// removed.
    pub motion_force_bw: Vec<Vec3>,
    /// Centre of mass, metres, world `[T]`.
    pub center_of_mass: Vec<Vec3>,
    /// Figures.
    pub report: ImpulseReport,
}

/// Estimates the contact impulses of `clip` by inverse dynamics, with the replay `track` on `terrain` for the
/// load on bodies other than the feet. `contact` are the clip's foot contacts `[T]`.
///
/// The clip has to be on the project skeleton with one body per joint, as the replay is.
pub fn estimate(
    clip: &Clip,
    contact: &[[bool; 4]],
    terrain: &HeightMap,
    track: &SimulationTrack,
    gravity_m_s2: f32,
    config: &ImpulseConfig,
) -> ImpulseEstimate {
    let poses = clip.global_poses();
    let replay = ReplayLoads::of(track, &poses, terrain, f64::from(clip.frame_rate_hz), config);
    solve(clip, &poses, contact, &track.body_mass_kg, &replay, gravity_m_s2, config).0
}

/// The estimate of `clip` with the load on other bodies than the feet by `replay`, and the support per frame.
pub(super) fn solve(
    clip: &Clip,
    poses: &[GlobalPose],
    contact: &[[bool; 4]],
    masses: &[f32],
    replay: &ReplayLoads,
    gravity_m_s2: f32,
    config: &ImpulseConfig,
) -> (ImpulseEstimate, WholeBody) {
    let rate = f64::from(clip.frame_rate_hz);
    let gravity = f64::from(gravity_m_s2);
    let mut body = WholeBody::of(clip, poses, contact, masses, gravity, config);
    let soles: Vec<[Sole; 2]> = poses.iter().map(|pose| feet::soles(&clip.skeleton, pose)).collect();
    let loads = feet::share(&body, &soles, contact, rate, config);
    let carried = carriers(&body, &loads, replay, config);
    let flight: Vec<bool> = carried.iter().map(|c| *c == Carrier::Nothing).collect();
    let motion_force_bw = body.force_bw.iter().map(|f| f.as_vec3()).collect();
    settle(&mut body.force_bw, &flight, f64::from(config.friction), (MOVE_WITHIN_S * rate) as usize);

    let mass: f64 = masses.iter().map(|&m| f64::from(m)).sum();
    let impulse_ns = mass * gravity / rate;
    let bodies = masses.len();
    let mut table = FrameTable::with_columns(bodies);
    let mut pressure_center = Vec::with_capacity(poses.len());
    for frame in 0..poses.len() {
        let centers = loads.centers(frame, &soles[frame]);
        pressure_center.push(centers.map(DVec3::as_vec3));
        let mut row = vec![DVec3::ZERO; bodies];
        let force = body.force_bw[frame];
        let others = match carried[frame] {
            Carrier::Nothing => 0.0,
            Carrier::Feet(others) => others,
        };
        for (joint, share) in replay.others(frame) {
            row[joint] += force * (others * share);
        }
        let on_feet = force * (1.0 - others);
        let mut right = loads.right[frame];
        if loads.down[frame] == [false; 2] {
            right = f64::from(u8::from(soles[frame][1].ball.y < soles[frame][0].ball.y));
        }
        let forces = between_feet(on_feet, right, &centers, body.center[frame], f64::from(config.friction));
        for (foot, force) in forces.into_iter().enumerate() {
            let toes = soles[frame][foot].toe_share(loads.along[frame][foot]);
            let joint = [humanoid::LEFT_FOOT.0, humanoid::RIGHT_FOOT.0][foot];
            row[joint] += force * (1.0 - toes);
            row[joint + 1] += force * toes;
        }
        let row: Vec<Vec3> = row.iter().map(|f| (*f * impulse_ns).as_vec3()).collect();
        table.push(&row);
    }
    let frames = poses.len() as f64;
    let share = |count: usize| (count as f64 / frames) as f32;
    let unseen = (0..poses.len())
        .filter(|&f| !flight[f] && loads.down[f] == [false; 2] && replay.other_share[f] < OTHER_BODIES)
        .count();
    let velocity = body.velocity[body.velocity.len() - 1].y - body.velocity[0].y;
    let closure = body.force_bw.iter().map(|f| f.y).sum::<f64>() / frames;
    let momentum = velocity * rate / (gravity * frames);
    let report = ImpulseReport {
        estimator: ImpulseEstimator::InverseDynamics,
        vertical_closure: closure as f32,
        momentum_change: momentum as f32,
        corrected_closure: (closure - momentum) as f32,
        peak_force_bw: body.force_bw.iter().map(|f| f.y).fold(0.0, f64::max) as f32,
        flight_share: share(flight.iter().filter(|f| **f).count()),
        unseen_share: share(unseen),
    };
    let center_of_mass = body.center.iter().map(|c| c.as_vec3()).collect();
    let estimate =
        ImpulseEstimate { contact_impulse: table, pressure_center, motion_force_bw, center_of_mass, report };
    (estimate, body)
}

/// Support of the body in a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Carrier {
    /// None: flight.
    Nothing,
    /// The feet, but for this share, which other bodies bear.
    Feet(f64),
}

fn carriers(
    body: &WholeBody,
    loads: &FootLoads,
    replay: &ReplayLoads,
    config: &ImpulseConfig,
) -> Vec<Carrier> {
    let frames = loads.down.len();
    let mut carried: Vec<Carrier> = (0..frames)
        .map(|frame| {
            let others = replay.other_share[frame];
            match (loads.down[frame] != [false; 2], others >= OTHER_BODIES) {
                (true, true) => Carrier::Feet(others),
                (true, false) => Carrier::Feet(0.0),
                (false, true) => Carrier::Feet(1.0),
                (false, false) => Carrier::Nothing,
            }
        })
        .collect();
    // A stretch without contact is a flight only if the body falls in it.
    let mut start = 0;
    while start < frames {
        let length = carried[start..].iter().take_while(|c| **c == Carrier::Nothing).count();
        let stretch = start..start + length;
        if length > 0 {
            let mean = body.force_bw[stretch.clone()].iter().map(|f| f.y).sum::<f64>() / length as f64;
            if mean >= f64::from(config.flight_below_bw) {
                carried[stretch].fill(Carrier::Feet(0.0));
            }
        }
        start += length.max(1);
    }
    carried
}

/// Limits `force` to what the ground can give: 0 in flight, never a pull, horizontally within the friction cone. The removed part
/// is added to the frames around, so that the sum is kept.
fn settle(force: &mut [DVec3], flight: &[bool], friction: f64, reach: usize) {
    let frames = force.len();
    let around = |frame: usize| frame.saturating_sub(reach)..(frame + reach + 1).min(frames);
    let mut excess = vec![0.0; frames];
    for frame in 0..frames {
        if flight[frame] || force[frame].y < 0.0 {
            excess[frame] = force[frame].y;
            force[frame].y = 0.0;
        }
    }
    // The weights are those before anything is moved, so that the order of frames does not matter.
    let weight: Vec<f64> = force.iter().map(|f| f.y).collect();
    for frame in 0..frames {
        let total: f64 = weight[around(frame)].iter().sum();
        if excess[frame] != 0.0 && total > 0.0 {
            for other in around(frame) {
                force[other].y = (force[other].y + excess[frame] * weight[other] / total).max(0.0);
            }
        }
    }
    let slide: Vec<DVec2> = force
        .iter_mut()
        .map(|f| {
            let across = DVec2::new(f.x, f.z);
            let held = across.clamp_length_max(friction * f.y);
            (f.x, f.z) = (held.x, held.y);
            across - held
        })
        .collect();
    let slack: Vec<f64> = force.iter().map(|f| (friction * f.y - f.x.hypot(f.z)).max(0.0)).collect();
    for frame in 0..frames {
        let total: f64 = slack[around(frame)].iter().sum();
        if slide[frame] != DVec2::ZERO && total > 0.0 {
            for other in around(frame) {
                let part = slide[frame] * (slack[other] / total);
                force[other] += DVec3::new(part.x, 0.0, part.y);
            }
        }
    }
}

/// `force` (body weights) on the left and the right foot: the vertical by share, the horizontal so that each foot pushes
/// towards the centre of mass, as far as friction allows.
fn between_feet(force: DVec3, right: f64, at: &[DVec3; 2], center: DVec3, friction: f64) -> [DVec3; 2] {
    let share = [1.0 - right, right];
    let across = DVec3::new(force.x, 0.0, force.z);
    let lean = [0, 1].map(|foot| {
        let ray = center - at[foot];
        DVec3::new(ray.x, 0.0, ray.z) * (share[foot] * force.y / ray.y.max(0.3))
    });
    let rest = across - lean[0] - lean[1];
    let mut result = [0, 1].map(|foot| {
        (lean[foot] + rest * share[foot]).clamp_length_max(friction * share[foot] * force.y.max(0.0))
    });
    // What exceeds the cone of one foot goes to the other; the total is within the cone already.
    let missing = across - result[0] - result[1];
    let heavier = usize::from(right > 0.5);
    result[heavier] += missing;
    [0, 1].map(|foot| result[foot] + DVec3::Y * (share[foot] * force.y))
}

/// Sets the impulses of `track` by the estimator in `settings`, and reports on them.
///
/// # Errors
/// A terrain that is no height map.
pub fn store(
    clip: &Clip,
    contact: &[[bool; 4]],
    terrain: &TerrainGrid,
    track: &mut SimulationTrack,
    settings: PhysicsSettings<'_>,
) -> Result<ImpulseEstimate, TerrainError> {
    let map = HeightMap::from_grid(terrain.clone())?;
    let gravity = settings.dynamic.gravity_m_s2;
    let mut estimate = estimate(clip, contact, &map, track, gravity, settings.impulses);
    match settings.impulses.estimator {
        ImpulseEstimator::InverseDynamics => {
            track.contact_impulse.clone_from(&estimate.contact_impulse);
        }
        ImpulseEstimator::Simulation => {
            estimate.report = ImpulseReport::of_simulation(track, gravity, clip.frame_rate_hz);
        }
    }
    settings.impulses.estimator.name().clone_into(&mut track.impulse_estimator);
    Ok(estimate)
}

/// Heel, ball and tip of the toes of the left and the right sole of a pose, metres, world.
pub fn sole_points(skeleton: &Skeleton, pose: &GlobalPose) -> [[DVec3; 3]; 2] {
    feet::soles(skeleton, pose).map(|sole| [sole.heel, sole.ball, sole.tip])
}

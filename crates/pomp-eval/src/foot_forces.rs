//! The force of the ground on each foot.

use crate::{EvalError, Track};
use glam::DVec3;
use pomp_motion::{GRAVITY_M_S2, JointIndex, Recording, Skeleton, humanoid};

/// The force of the ground on each foot, heel and toes together.
pub(crate) struct FootForces {
    /// Left and right, body weights, world, per frame.
    pub(crate) sides: [Vec<DVec3>; 2],
    /// Bodies of heel and toes of each side.
    pub(crate) bodies: [[usize; 2]; 2],
}

/// Weight of all bodies, newtons; `None` without a simulation.
///
/// # Errors
/// [`EvalError::BadRecording`] when they have none.
pub(crate) fn weight_n(recording: &Recording) -> Result<Option<f64>, EvalError> {
    let Some(simulation) = &recording.simulation else { return Ok(None) };
    let mass: f64 = simulation.body_mass_kg.iter().map(|&m| f64::from(m)).sum();
    if !(mass.is_finite() && mass > 0.0) {
        return Err(EvalError::BadRecording {
            recording: recording.name.clone(),
            reason: format!("its bodies weigh {mass} kg together; give positive masses"),
        });
    }
    Ok(Some(mass * GRAVITY_M_S2))
}

impl FootForces {
    /// Those of a track: of the simulated side the simulator's own, else the best estimate. `None` without a simulation and where no
    /// bodies have the names of the four foot joints.
    pub(crate) fn of(recording: &Recording, which: Track, weight_n: f64) -> Option<Self> {
        let simulation = recording.simulation.as_ref()?;
        let project = Skeleton::humanoid(1.0);
        let body = |joint: JointIndex| {
            let name = &project.joints()[joint.0].name;
            simulation.body_names.iter().position(|body| body == name)
        };
        let side = |foot, toe| Some([body(foot)?, body(toe)?]);
        let bodies = [
            side(humanoid::LEFT_FOOT, humanoid::LEFT_TOE)?,
            side(humanoid::RIGHT_FOOT, humanoid::RIGHT_TOE)?,
        ];
        let impulses = match which {
            Track::Simulated => &simulation.sim_contact_impulse,
            Track::Character | Track::Target => &simulation.contact_impulse,
        };
        let per_impulse = f64::from(recording.frame_rate_hz) / weight_n;
        let sides = bodies.map(|bodies| {
            let force = |row: &[glam::Vec3]| -> DVec3 {
                bodies.iter().map(|&body| row[body].as_dvec3() * per_impulse).sum()
            };
            impulses.rows().map(force).collect()
        });
        Some(Self { sides, bodies })
    }
}

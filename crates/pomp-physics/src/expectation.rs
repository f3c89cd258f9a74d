//! What a frame is expected to ask of the drives, and the torques that follow from it.
//!
//! A spring makes no torque without an error. So a leg on springs bears weight only where it is not where it should
//! be, and how two legs share the weight hangs on millimetres of their targets. A caller that knows roughly which forces a
//! frame will have says so here: the drives then begin with the torques of inverse dynamics, and their springs, which
//! may be softer, only add what was not foreseen. Nothing of it acts from outside: the root gets no part of it.

use crate::PhysicsError;
use pomp_motion::glam::Vec3;

/// A force of the ground that a body is expected to feel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Support {
    /// Index of the body.
    pub body: usize,
    /// Where it acts, in the body's frame, metres.
    pub point: Vec3,
    /// Force on the body, world, newtons.
    pub force_n: Vec3,
}

/// By how much a joint's drive is softer for a frame; the torque limit stays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GainScale {
    /// Factor of the stiffness, 0 or more.
    pub stiffness: f32,
    /// Factor of the damping, 0 or more.
    pub damping: f32,
}

impl GainScale {
    /// The drive as it is configured.
    pub const NONE: Self = Self { stiffness: 1.0, damping: 1.0 };
}

/// What one frame is expected to ask of the drives; see [`crate::DynamicModule::step_expecting`].
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// Forces of the ground.
    pub supports: Vec<Support>,
    /// Loads on the left and the right foot, newtons, whether or not they touch the ground already: a balance that follows the expectation
    /// lets the feet bear by them. `None` where they are not known.
    pub foot_loads_n: Option<[f32; 2]>,
    /// Acceleration of the centre of mass of every body, world, m/s²; one per body.
    pub accelerations: Vec<Vec3>,
    /// Softness of every joint's drive; one per joint, that of the root is not used.
    pub gains: Vec<GainScale>,
    /// Torque of every joint's drive beside what supports and accelerations ask for, in the frame of the joint's parent, N·m; one per
    /// joint, that of the root is not used. Empty for none.
    pub torques: Vec<Vec3>,
}

impl Expectation {
    /// Drives that give these torques and hold nothing: no springs, no forces and no accelerations but those of free fall, for
    /// gravity of `gravity_m_s2`. `torques` are one per joint, each in the frame of the joint's parent, N·m. A drive gives at most
    /// four fifths of its limit.
    pub fn of_torques(torques: Vec<Vec3>, gravity_m_s2: f32) -> Self {
        Self {
            supports: Vec::new(),
            foot_loads_n: None,
            accelerations: vec![Vec3::NEG_Y * gravity_m_s2; torques.len()],
            gains: vec![GainScale { stiffness: 0.0, damping: 0.0 }; torques.len()],
            torques,
        }
    }
}

impl Expectation {
    /// Acceleration of the centre of mass of all bodies, which have these masses, m/s².
    pub(crate) fn center_acceleration(&self, masses: &[f32]) -> Vec3 {
        let weighed = self.accelerations.iter().zip(masses).map(|(acceleration, mass)| *acceleration * *mass);
        weighed.sum::<Vec3>() / masses.iter().sum::<f32>()
    }

    /// Checks sizes, indices and values for a ragdoll of `bodies` bodies.
    pub(crate) fn check(&self, bodies: usize) -> Result<(), PhysicsError> {
        let sizes = [
            ("accelerations of an expectation", self.accelerations.len()),
            ("gain scales of an expectation", self.gains.len()),
        ];
        for (what, found) in sizes {
            if found != bodies {
                return Err(PhysicsError::SizeMismatch { what, expected: bodies, found });
            }
        }
        for (i, support) in self.supports.iter().enumerate() {
            if support.body >= bodies {
                return Err(PhysicsError::NoSuchSupport { support: i, body: support.body, bodies });
            }
            if !(support.point.is_finite() && support.force_n.is_finite()) {
                return Err(PhysicsError::NotFinite { what: format!("expected support {i}") });
            }
        }
        if self.foot_loads_n.is_some_and(|loads| loads.iter().any(|load| !load.is_finite())) {
            return Err(PhysicsError::NotFinite { what: "expected load of a foot".to_owned() });
        }
        if let Some(i) = self.accelerations.iter().position(|a| !a.is_finite()) {
            return Err(PhysicsError::NotFinite { what: format!("expected acceleration of body {i}") });
        }
        if !self.torques.is_empty() && self.torques.len() != bodies {
            let found = self.torques.len();
            return Err(PhysicsError::SizeMismatch {
                what: "torques of an expectation",
                expected: bodies,
                found,
            });
        }
        if let Some(i) = self.torques.iter().position(|torque| !torque.is_finite()) {
            return Err(PhysicsError::NotFinite { what: format!("expected torque of joint {i}") });
        }
        let usable = |scale: f32| scale.is_finite() && scale >= 0.0;
        if let Some(joint) = self.gains.iter().position(|g| !(usable(g.stiffness) && usable(g.damping))) {
            let GainScale { stiffness, damping } = self.gains[joint];
            return Err(PhysicsError::BadGainScale { joint, stiffness, damping });
        }
        Ok(())
    }
}

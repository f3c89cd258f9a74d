//! Soft contacts with friction between links, or a link and the ground.

use glam::{DMat3, DVec3};
use serde::{Deserialize, Serialize};

/// A link of one of the bodies that are stepped together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkOf {
    /// Index of the body among those stepped.
    pub body: usize,
    /// Index of its link.
    pub link: usize,
}

/// How a contact gives way: a spring and a damper along its normal, one-sided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Compliance {
    /// N/m.
    pub stiffness_n_m: f64,
    /// N·s/m.
    pub damping_n_s_m: f64,
    /// Largest speed at which penetration is pushed out, m/s.
    pub most_correction_m_s: f64,
}

/// A point at which two surfaces meet, or are about to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// The link that is pushed along the normal.
    pub on: LinkOf,
    /// The link that is pushed against it; `None` for the ground.
    pub from: Option<LinkOf>,
    /// Where, world, metres.
    pub point: DVec3,
    /// Unit, world.
    pub normal: DVec3,
    /// Distance of the surfaces along the normal, metres; negative when they overlap.
    pub distance: f64,
    /// Coulomb's coefficient.
    pub friction: f64,
    /// How it gives way.
    pub compliance: Compliance,
    /// Impulse to begin with, N·s, world, on `on`.
    pub guess: DVec3,
}

/// Normal and two tangents as columns.
pub(crate) fn frame(normal: DVec3) -> DMat3 {
    let first = normal.any_orthonormal_vector();
    DMat3::from_cols(normal, first, normal.cross(first))
}

/// The law of one contact over a step: v⁺ + softness · λ + bias = 0 along the normal where λ > 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NormalLaw {
    pub(crate) softness: f64,
    pub(crate) bias: f64,
}

impl NormalLaw {
    /// Over a step of length `h`. Before touch nothing acts but what stops at the surface.
    pub(crate) fn of(contact: &Contact, h: f64) -> Self {
        let Compliance { stiffness_n_m: k, damping_n_s_m: c, most_correction_m_s } = contact.compliance;
        let give = h * k + c;
        let bias = if contact.distance > 0.0 {
            contact.distance / h
        } else {
            (k * contact.distance / give).max(-most_correction_m_s)
        };
        Self { softness: 1.0 / (h * give), bias }
    }
}

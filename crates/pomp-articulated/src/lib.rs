//! Articulated rigid-body dynamics: trees of links on ball joints with a floating root, implicit drives, and soft contacts with
//! friction, in time linear in the number of links.
//!
//! A [`Model`] is the tree of links. A [`Body`] has a [`State`] and makes steps. [`ContactSolver`] finds the impulses of
//! [`Contact`]s of one or more bodies. [`mass_matrix`], [`inverse_dynamics`], [`point_jacobian`] and [`Factors`] serve control.
//!
//! ```
//! use glam::{DMat3, DVec3};
//! use pomp_articulated::{Body, Drive, Link, Model, State};
//!
//! let inertia = DMat3::from_diagonal(DVec3::splat(0.01));
//! let link = Link { parent: None, offset: DVec3::ZERO, mass_kg: 1.0, center: DVec3::ZERO, inertia };
//! let arm = Link { parent: Some(0), offset: DVec3::Y, center: DVec3::Y * 0.2, ..link };
//! let model = Model::new(vec![link, arm])?;
//! let state = State::zero(&model);
//! let mut body = Body::new(model, state);
//! let h = 0.01;
//! for _ in 0..100 {
//!     body.begin_step(h, DVec3::NEG_Y * 9.81, &[]);
//!     body.drive(h, &[Drive::NONE; 3]);
//!     body.finish_step(h);
//! }
//! assert!((body.state().velocity[0].y + 9.81).abs() < 1e-9);
//! # Ok::<(), pomp_articulated::ModelError>(())
//! ```
//!
//! What it does not do: it finds no contacts, has no joints but ball joints, and knows nothing of people: `pomp-physics` does.

mod body;
mod contact;
mod dynamics;
mod kinematics;
mod model;
mod solver;

pub use body::Body;
pub use contact::{Compliance, Contact, LinkOf};
pub use dynamics::{
    BlockMatrix, Drive, ExternalForce, Factors, add_external, inverse_dynamics, mass_matrix, point_jacobian,
};
pub use kinematics::{Kinematics, State};
pub use model::{Link, Model, ModelError};
pub use solver::{ContactSolver, Sweeps};

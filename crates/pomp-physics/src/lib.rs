//! The dynamic module: a PD-controlled ragdoll on height-map terrain.
//!
//! A [`DynamicModule`] is built from a skeleton, a [`DynamicConfig`] and a terrain grid. Each control frame
//! it takes a target pose at the frame's start and end, and pushes; it gives back a [`Frame`]: the simulated
//! pose and velocities, the contact impulse on every body and what the root assist did. There is one body per
//! joint, in the same order.
//!
//! ```
//! use pomp_motion::{FrameTable, Pose, Skeleton, TerrainGrid};
//! use pomp_physics::{DynamicConfig, DynamicModule, PoseVelocity};
//!
//! let skeleton = Skeleton::humanoid(1.75);
//! let flat = TerrainGrid { heights: FrameTable::filled(21, 21, 0.0), origin: [-1.0, -1.0], cell_m: 0.1 };
//! let mut module = DynamicModule::new(&skeleton, &DynamicConfig::default(), &flat)?;
//! let stand = Pose::rest(&skeleton);
//! module.reset(&stand, &PoseVelocity::zero(skeleton.len()))?;
//! let frame = module.step(&stand, &stand, &[])?;
//! assert!(frame.pose.positions.iter().all(|p| p.is_finite()));
//! # Ok::<(), pomp_physics::PhysicsError>(())
//! ```
//!
//! The ragdoll's dynamics and the contact solver are those of `pomp-articulated`; Rapier's collision detection finds the contacts.
//! The drives are implicit springs in the mass matrix, so that any gain is stable at one step a frame; the efforts that are
//! reported are those that acted. Bodies touch the ground,
//! thrown boxes ([`ThrownBox`]) and the bodies of other ragdolls in their world ([`DynamicModule::together`]), never those
//! of their own. A caller that knows what a frame will ask of the drives passes an [`Expectation`].
//!
//! A [`SimulationRecorder`] collects frames into a [`pomp_motion::SimulationTrack`]. A [`FallDetector`] says when a body is down, and a [`Recovery`] leads it while it lies and gets up.
//!
//! What it does not do: it reads no clips, knows no networks, and is not differentiated.

mod balance;
mod body;
mod boxes;
mod config;
mod contacts;
mod controls;
mod drive;
mod error;
mod expectation;
mod frame;
mod get_up;
mod ground;
mod inverse_dynamics;
mod limit;
mod module;
mod motion;
mod ragdoll;
mod recorder;
mod snapshot;
mod state;
mod step;
mod throwing;
mod world;

pub use balance::{BalancingFoot, Reaction};
pub use body::{BodyShape, body_height, body_masses, body_shapes};
pub use boxes::{BoxState, ThrownBox};
pub use config::{
    AssistConfig, BalanceConfig, ContactConfig, Drive, DriveConfig, DynamicConfig, GuardConfig, LimitConfig,
};
pub use error::PhysicsError;
pub use expectation::{Expectation, GainScale, Support};
pub use frame::{Divergence, DivergenceReason, Frame, PoseVelocity, Push};
pub use get_up::{Fallen, GetUpConfig, Help, Leader, RecordedWay, Recovery, RisingProgress, standing_pose};
pub use limit::JointLimit;
pub use module::DynamicModule;
pub use pomp_motion::FallDetector;
pub use recorder::SimulationRecorder;
pub use snapshot::WorldSnapshot;
pub use step::MemberStep;

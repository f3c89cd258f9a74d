//! Procedural gaits with known terrain and known contacts.
//!
//! A [`MotionRequest`] says what to do, how fast and for how long; [`generate`] makes it on a height map and
//! gives a [`SyntheticClip`]: the motion of the project skeleton with the exact foot contacts and gaits. It
//! stands in for motion capture where there is none, and it is the ground truth of tests that need one.
//!
//! ```
//! use pomp_synthetic::{MotionKind, MotionRequest, generate};
//! use pomp_terrain::HeightMap;
//! let terrain = HeightMap::flat(40.0, 0.5)?;
//! let request = MotionRequest { speed_m_s: 1.2, duration_s: 3.0, ..MotionRequest::new(MotionKind::Walk) };
//! let walk = generate(&request, &terrain)?;
//! assert_eq!(walk.clip.frames(), 181);
//! assert!(walk.foot_contact.iter().all(|feet| feet.iter().any(|&down| down)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # How a motion is made
//!
//! 1. The root's path: a line or a circle, travelled at constant speed or in bouts from stand to stand.
//! 2. Footholds along it, on the terrain: a foot comes down heel first, lies flat, and leaves over its toes.
//!    Stride frequency and duty factor follow the speed.
//! 3. Swings: published joint angles of hip, knee and ankle, corrected to meet both footholds in
//!    position and velocity, raised where the ground asks for it.
//! 4. The pelvis: sway and list towards the supporting foot, rotation with the leading one; as high as both legs
//!    allow, ballistic where there is flight.
//! 5. Legs by inverse kinematics, so that planted feet stay put; spine against the pelvis, arms against the legs.
//!
//! # What it does not do
//!
//! It is kinematics: nothing here weighs anything, and a walk does not react. Styles, falls and getting up are not
//! covered; the simulator and motion capture provide those.

mod curves;
mod ease;
mod error;
mod feet;
mod generate;
mod jump;
mod leg_ik;
mod path;
mod pelvis;
mod planted_foot;
mod request;
mod stance;
mod step_plan;
mod style;
mod swing;
mod synthetic_clip;
mod upper_body;

pub use error::SyntheticError;
pub use generate::generate;
pub use request::{Ends, MotionKind, MotionRequest, Side};
pub use synthetic_clip::SyntheticClip;

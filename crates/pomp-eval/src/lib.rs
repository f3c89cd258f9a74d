//! Metrics over recorded rollouts and clips.
//!
//! [`evaluate`] measures one [`Track`] of a recording on its terrain and gives [`Metrics`]; [`Summary`] is the mean and
//! 95 % interval over several recordings; [`Comparison`] prints summaries side by side, such as generated motion
//! against the mocap it learned from. All three serialise, and print as aligned tables with units.
//!
//! ```
//! use pomp_eval::{Comparison, Summary, Track, evaluate};
//! use pomp_motion::{Clip, Pose, Recording, Skeleton};
//! use pomp_terrain::HeightMap;
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let skeleton = std::sync::Arc::new(Skeleton::humanoid(1.75));
//! let statue = Clip::new("statue", skeleton.clone(), 60.0, vec![Pose::rest(&skeleton); 120])?;
//! let metrics = evaluate(&Recording::of_clip(&statue), &HeightMap::flat(10.0, 0.5)?, Track::Character)?;
//! assert_eq!(metrics.joint_rotation_deg_s, Some(0.0));
//! assert_eq!(metrics.falls, Some(0.0));
//! assert_eq!(metrics.assist_force_mean_n, None);
//! let table = Comparison::new().with("statue", Summary::of(&[metrics])?);
//! assert!(table.to_string().contains("jerk_mean_m_s3"));
//! # Ok(())
//! # }
//! ```
//!
//! [`WalkingForces`] holds what force plates show under people who walk; [`StanceForces`] is one stance of anything.
//!
//! [`FeatureSums`] compares sets of feature vectors, such as phases, by the Fréchet distance of their Gaussians.
//!
//! # What it does not do
//!
//! It sees recordings, never the simulator or the networks, so they cannot flatter it. It sets no pass marks: what is
//! good is what mocap scores.

mod assist;
mod command;
mod error;
mod evaluate;
mod excursions;
mod falls;
mod feet;
mod foot_forces;
mod forces;
mod gaussian;
mod ground_forces;
mod metrics;
mod posture;
mod pushes;
mod responses;
mod smoothness;
mod stance;
mod statistics;
mod strength;
mod summary;
mod table;
mod track;
mod walking_forces;
mod work;

pub use error::EvalError;
pub use evaluate::evaluate;
pub use gaussian::FeatureSums;
pub use metrics::{Better, MetricInfo, Metrics};
pub use smoothness::HIGH_JERK_M_S3;
pub use stance::{STANCE_POINTS, StanceForces, whole_stances};
pub use statistics::{bootstrap_95, half_interval_95, wilson_95};
pub use summary::{Estimate, Summary, SummaryRow};
pub use table::Comparison;
pub use track::Track;
pub use walking_forces::WalkingForces;

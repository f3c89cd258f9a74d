use std::path::PathBuf;
use thiserror::Error;

/// What can go wrong in preprocessing.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PreprocessError {
    /// A motion file could not be read, or a result could not be written.
    #[error(transparent)]
    Format(#[from] pomp_formats::FormatError),
    /// No rig map fits, or the motion cannot be mapped onto the project skeleton.
    #[error("{}: {source}", path.display())]
    Retarget {
        /// The clip.
        path: PathBuf,
        /// What the retargeting says.
        source: pomp_motion::retarget::RetargetError,
    },
    /// A motion that is not valid.
    #[error("{}: {source}", path.display())]
    Motion {
        /// The clip.
        path: PathBuf,
        /// What is wrong with it.
        source: pomp_motion::MotionError,
    },
    /// Frames that no body can have moved through.
    #[error("{}: {reason}", path.display())]
    BadFrames {
        /// The clip.
        path: PathBuf,
        /// Which frames and joint, and what to do.
        reason: String,
    },
    /// A clip too short for velocities and contacts.
    #[error("{}: {frames} frames after resampling; at least {least} are needed", path.display())]
    TooShort {
        /// The clip.
        path: PathBuf,
        /// Frames at 60 Hz.
        frames: usize,
        /// Frames needed.
        least: usize,
    },
    /// The terrain of a clip could not be reconstructed.
    #[error("{}: terrain: {source}", path.display())]
    Terrain {
        /// The clip.
        path: PathBuf,
        /// What the terrain fit says.
        source: pomp_estimate::terrain_fit::TerrainFitError,
    },
    /// The replay failed.
    #[error("{}: physics replay: {source}", path.display())]
    Replay {
        /// The clip.
        path: PathBuf,
        /// What the simulator says.
        source: pomp_physics::PhysicsError,
    },
    /// A style file, or a style of it.
    #[error("preprocessing configuration: style.file: {0}")]
    Style(#[from] pomp_style::StyleError),
    /// Force plates that cannot be used.
    #[error(transparent)]
    Plates(#[from] crate::plate_error::PlateError),
    /// A setting outside its range.
    #[error("preprocessing configuration: {0}")]
    OutOfRange(#[from] pomp_config::OutOfRange),
    /// Settings that do not fit each other or the files they name.
    #[error("preprocessing configuration: {reason}")]
    BadConfig {
        /// The field, its value and what it may be.
        reason: String,
    },
    /// A ground or a walk that could not be made to check the reconstruction with.
    #[error("procedural clip {seed}: {reason}")]
    Procedural {
        /// Its seed.
        seed: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// There is nothing to do.
    #[error(
        "no motion files among the inputs ({looked_at}); give motion files (.bvh, .glb, .gltf) or folders that hold some"
    )]
    NoInput {
        /// The inputs as given.
        looked_at: String,
    },
    /// A folder or file could not be read or written.
    #[error("{}: {action}: {source}; {remedy}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// Where.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
        /// What to do.
        remedy: &'static str,
    },
    /// Two inputs would be written to the same file.
    #[error("{} and {} would both be written as \"{name}\"; rename one of them", first.display(), second.display())]
    SameName {
        /// The name.
        name: String,
        /// One input.
        first: PathBuf,
        /// The other input.
        second: PathBuf,
    },
    /// The caller has stopped the run.
    #[error("stopped before all clips were preprocessed; repeat the same call to continue")]
    Stopped,
    /// Strict mode: a clip failed.
    #[error("stopped at the first clip that failed, as --strict asks: {message}")]
    Strict {
        /// The clip's error.
        message: String,
    },
}

use std::path::PathBuf;
use thiserror::Error;

/// What can go wrong in the studio.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StudioError {
    /// A setting outside its range.
    #[error("studio config: {0}")]
    OutOfRange(#[from] pomp_config::OutOfRange),
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {source}; choose another with --port, or 0 for any free one")]
    Bind {
        /// Address and port.
        address: String,
        /// Why.
        source: std::io::Error,
    },
    /// The system refused something that the server needs.
    #[error("{action}: {source}")]
    System {
        /// What was being done.
        action: &'static str,
        /// Why it failed.
        source: std::io::Error,
    },
    /// A message of the page that is not understood.
    #[error("message of the page: {reason}")]
    BadMessage {
        /// What is wrong with it.
        reason: String,
    },
    /// A value of a scene or command outside its range.
    #[error("{field} = {value} is outside {range}")]
    BadScene {
        /// The field.
        field: &'static str,
        /// Its value.
        value: String,
        /// What it may be.
        range: String,
    },
    /// A file that cannot be shown.
    #[error("{name}: {reason}")]
    BadClip {
        /// Name of the file.
        name: String,
        /// What is wrong with it and what would be right.
        reason: String,
    },
    /// A file or folder cannot be read.
    #[error("{}: {source}; give a clip, a recording, a folder of them or a model", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// There is no model to move the character.
    #[error("there is no model to move the character; name one")]
    NoModel,
    /// More happened in a scene than is remembered.
    #[error("this scene has too many events to be replayed; reset it, and keep it shorter")]
    TooMuchHappened,
    /// There is nothing recorded yet.
    #[error("nothing is recorded yet; let the character move first")]
    NothingRecorded,
    /// The page embedded in this program is damaged.
    #[error("the embedded page is damaged ({reason}); build the program again")]
    BadBundle {
        /// What is wrong with it.
        reason: String,
    },
    /// The loop refused.
    #[error(transparent)]
    Generator(#[from] pomp_generator::GeneratorError),
    /// A picture cannot be drawn.
    #[error(transparent)]
    Render(#[from] pomp_render::RenderError),
    /// The simulator refused.
    #[error(transparent)]
    Physics(#[from] pomp_physics::PhysicsError),
    /// The terrain cannot be made.
    #[error(transparent)]
    Terrain(#[from] pomp_terrain::TerrainError),
    /// The model lacks a part.
    #[error(transparent)]
    Model(#[from] pomp_model::ModelError),
    /// A motion that contradicts itself.
    #[error(transparent)]
    Motion(#[from] pomp_motion::MotionError),
    /// A file cannot be written or read.
    #[error(transparent)]
    Format(#[from] pomp_formats::FormatError),
}

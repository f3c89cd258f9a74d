use crate::bvh::BvhProblem;
use pomp_motion::MotionError;
use std::path::PathBuf;
use thiserror::Error;

/// What can go wrong with a motion file.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FormatError {
    /// The operating system refused to read or write.
    #[error("cannot {action} {}: {source}; {}", path.display(), remedy(source.kind()))]
    Io {
        /// What was tried: `read` or `write`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The refusal.
        source: std::io::Error,
    },
    /// A BVH text that breaks a rule of the format.
    #[error("{file}:{line}:{column}: {problem}{}", at_token(token))]
    Bvh {
        /// Path or name of the file.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Column in bytes, from 1.
        column: usize,
        /// The offending token, empty where the problem is not one token.
        token: String,
        /// The rule that is broken.
        problem: BvhProblem,
    },
    /// A GLB file that breaks a rule of the format, or holds no motion of a skeleton.
    #[error("{file}: {place}: {problem}")]
    Glb {
        /// The file.
        file: String,
        /// The part of the document: a node, an accessor, an animation.
        place: String,
        /// What is wrong and what was expected.
        problem: String,
    },
    /// An npz file that is no recording.
    #[error("{file}: array \"{array}\": {problem}")]
    Npz {
        /// The file.
        file: String,
        /// The array, empty when it is the archive itself.
        array: String,
        /// What is wrong and what was expected.
        problem: String,
    },
    /// Contents that can be read but are no valid motion, or a motion that a format cannot hold.
    #[error("{file}: {source}")]
    Motion {
        /// The file.
        file: String,
        /// The rule of the motion types that is broken.
        source: MotionError,
    },
    /// A motion or an option that cannot be written in the format asked for.
    #[error("cannot write {file}: {problem}")]
    CannotWrite {
        /// The file.
        file: String,
        /// What stands in the way, and what to do.
        problem: String,
    },
}

fn at_token(token: &str) -> String {
    if token.is_empty() { String::new() } else { format!(", at \"{}\"", token.escape_debug()) }
}

fn remedy(kind: std::io::ErrorKind) -> &'static str {
    use std::io::ErrorKind as Kind;
    match kind {
        Kind::NotFound => "check the path and that its folder exists",
        Kind::PermissionDenied | Kind::ReadOnlyFilesystem => {
            "check the permissions of the file and its folder"
        }
        Kind::StorageFull | Kind::QuotaExceeded => "free space on the disk or choose another folder",
        Kind::IsADirectory | Kind::NotADirectory => "give the path of a file",
        _ => "check the disk and try again",
    }
}

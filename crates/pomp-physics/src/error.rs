use thiserror::Error;

/// What the dynamic module refuses.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PhysicsError {
    /// A setting outside its range, told by its path.
    #[error("physics config: {0}")]
    OutOfRange(#[from] pomp_config::OutOfRange),
    /// A config file that is no valid TOML of [`crate::DynamicConfig`].
    #[error("physics config: {message}")]
    ConfigSyntax {
        /// The parser's message, with line and column.
        message: String,
    },
    /// A skeleton that does not have the joints of the project skeleton.
    #[error("joint {joint}: the ragdoll needs \"{expected}\" there, the skeleton has {found}")]
    UnsupportedSkeleton {
        /// Joint index, from 0.
        joint: usize,
        /// The name (and parent) wanted.
        expected: String,
        /// What is there instead.
        found: String,
    },
    /// A bone without a usable length.
    #[error("joint {joint} (\"{name}\"): its bone is {length_m} m long; it must be between 0.001 m and 5 m")]
    BadBone {
        /// Joint index, from 0.
        joint: usize,
        /// Joint name.
        name: String,
        /// Length of the offset, metres.
        length_m: f32,
    },
    /// Terrain that cannot be a collider.
    #[error("terrain: {reason}")]
    BadTerrain {
        /// What is wrong, with the row and column where there is one.
        reason: String,
    },
    /// A NaN or an infinity in an input.
    #[error("{what} is not finite; a physics step takes finite numbers only")]
    NotFinite {
        /// The input, with the joint or push index and its name.
        what: String,
    },
    /// An input of the wrong size.
    #[error("{what}: expected {expected}, found {found}")]
    SizeMismatch {
        /// The input.
        what: &'static str,
        /// Size wanted.
        expected: usize,
        /// Size found.
        found: usize,
    },
    /// A push on a body that does not exist.
    #[error("push {push} is on body {body}; there are {bodies} bodies")]
    NoSuchBody {
        /// Index of the push in its list, from 0.
        push: usize,
        /// The body asked for.
        body: usize,
        /// Number of bodies, B.
        bodies: usize,
    },
    /// An expected force on a body that does not exist.
    #[error("expected support {support} is on body {body}; there are {bodies} bodies")]
    NoSuchSupport {
        /// Index of the support in its list, from 0.
        support: usize,
        /// The body asked for.
        body: usize,
        /// Number of bodies, B.
        bodies: usize,
    },
    /// A factor of a drive's gains that is negative or not finite.
    #[error("gains of joint {joint}: factors {stiffness} and {damping}; both must be finite and 0 or more")]
    BadGainScale {
        /// Joint index, from 0.
        joint: usize,
        /// Factor of the stiffness.
        stiffness: f32,
        /// Factor of the damping.
        damping: f32,
    },
    /// A box out of range.
    #[error("box: its {field} is {value}; it must be between {low} and {high}")]
    BadBox {
        /// What is out of range.
        field: &'static str,
        /// The value found.
        value: f32,
        /// Smallest value.
        low: f32,
        /// Largest value.
        high: f32,
    },
    /// More boxes than a world holds.
    #[error("there are already {most} boxes, the most that a world can hold; wait until one is removed")]
    TooManyBoxes {
        /// Boxes that may be in a world at once.
        most: usize,
    },
    /// A box that begins where a body is.
    #[error(
        "the box would begin within body {body} of ragdoll {ragdoll} of its world; throw it from farther away"
    )]
    BoxInBody {
        /// Which ragdoll of the world.
        ragdoll: usize,
        /// Its body.
        body: usize,
    },
    /// Ragdolls that cannot share a world, or are not all there.
    #[error("several ragdolls in one world: {reason}")]
    NotTogether {
        /// What does not fit.
        reason: String,
    },
    /// A snapshot of another ragdoll or terrain, or bytes that are no snapshot.
    #[error("snapshot: {reason}")]
    BadSnapshot {
        /// What does not fit.
        reason: String,
    },
    /// A body whose shape has no volume.
    #[error("joint {joint} (\"{name}\"): its body has no volume")]
    Engine {
        /// Joint index, from 0.
        joint: usize,
        /// Joint name.
        name: String,
    },
    /// Bodies that make no ragdoll.
    #[error("ragdoll: {reason}")]
    Body {
        /// What is wrong with which.
        reason: String,
    },
}

use pomp_motion::{Clip, Recording};
use pomp_physics::Expectation;

/// A clip that a variant is simulated from, with its labels and feed-forward.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The clip.
    pub clip: &'a Clip,
    /// Its contacts and gaits.
    pub recording: &'a Recording,
    /// Feed-forward of the drives per frame; empty without feed-forward.
    pub expected: &'a [Expectation],
}

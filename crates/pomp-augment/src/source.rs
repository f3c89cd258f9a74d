use pomp_motion::{Clip, Recording};
use pomp_physics::Expectation;

/// A clip that a variant is simulated from, and what is known of it.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The clip.
    pub clip: &'a Clip,
    /// Its contacts and gaits.
    pub recording: &'a Recording,
    /// What it asks of the drives in each frame; empty where they are told nothing.
    pub expected: &'a [Expectation],
}

//! When an attempt to get up is given up: the body lies down and begins anew.

/// When an attempt is given up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// After this multiple of the way's own time.
    ways: f32,
    /// After the body has been hopelessly behind for so long, seconds.
    hopeless_s: f32,
    /// When it still lies after this time, seconds.
    lies_s: f32,
    /// Whether at once, when it is on its feet and hopelessly behind.
    falls: bool,
}

/// How an attempt goes.
pub(super) struct Place {
    /// Time since it began, as a multiple of the way's own.
    pub elapsed: f32,
    /// The same in seconds, while the body lies.
    pub lies_s: f32,
    /// For how long the body has been hopelessly behind, seconds.
    pub hopeless_s: f32,
    /// Whether the target is on its feet.
    pub on_its_feet: bool,
}

impl Patience {
    /// That of a body which the root assist helps, or a recorded person leads.
    pub const OF_HELPED: Self =
        Self { ways: 2.0, hopeless_s: f32::INFINITY, lies_s: f32::INFINITY, falls: false };
    /// That of a body which rolls over first, on which the way waits: one that rolls back, or does not roll at all, tries again.
    pub const OF_ROLLING: Self = Self { ways: 4.0, hopeless_s: 2.0, lies_s: 3.5, falls: true };

    /// Whether it is over.
    pub fn is_over(&self, place: &Place) -> bool {
        place.elapsed > self.ways
            || place.hopeless_s > self.hopeless_s
            || place.lies_s > self.lies_s
            || self.falls && place.on_its_feet && place.hopeless_s > 0.0
    }
}

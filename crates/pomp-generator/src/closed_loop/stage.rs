use pomp_kinematic::InferencePart;

/// A stage of a frame, in the order in which they end ([`Generator::step_in_stages`](crate::Generator::step_in_stages)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// The command, its layers, and the window that the kinematic module samples.
    Window,
    /// The encoder of the kinematic module.
    Encoder,
    /// One denoising step of the decoder; ends as often as there are steps.
    DenoisingStep,
    /// The prediction becomes the target, with the layers that place feet and body.
    Target,
    /// The dynamic module.
    Dynamics,
    /// The simulated body becomes the state that the loop goes on from.
    Observation,
    /// The phase decoder: target velocities of the future.
    PhaseDecoder,
    /// The stitched window, and the phase encoder, which reads it.
    PhaseEncoder,
    /// The frame with its phase code becomes history.
    History,
}

impl Stage {
    /// All stages, in their order.
    pub const ALL: [Self; 9] = [
        Self::Window,
        Self::Encoder,
        Self::DenoisingStep,
        Self::Target,
        Self::Dynamics,
        Self::Observation,
        Self::PhaseDecoder,
        Self::PhaseEncoder,
        Self::History,
    ];
}

impl From<InferencePart> for Stage {
    fn from(part: InferencePart) -> Self {
        match part {
            InferencePart::Encoder => Self::Encoder,
            InferencePart::DenoisingStep => Self::DenoisingStep,
        }
    }
}

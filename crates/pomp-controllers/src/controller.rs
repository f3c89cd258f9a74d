use crate::ControllerError;
use pomp_motion::features::{InputFrame, OutputFrame};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// What proposes the next frame.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum ControllerKind {
    /// The kinematic module of POMP: OrthoMoE encoder and diffusion decoder.
    #[default]
    Pomp,
    /// DeepPhase's controller: experts gated by the phases of a periodic autoencoder, which it moves on by itself.
    Phase,
    /// A phase-functioned network: weights that follow the gait cycle, a phase from foot contacts.
    Pfnn,
    /// Mode-adaptive network: experts gated by the velocities of the feet, the gait and the speed.
    Mann,
    /// Experts gated by a phase of each foot, fitted to its contacts.
    LocalPhases,
    /// A neural state machine: experts gated by the phase of the cycle times gait and goal; the path ahead also as seen from the goal.
    Nsm,
    /// Motion matching by trajectory and feet.
    Matching,
    /// Motion matching by trajectory and the phases of a periodic autoencoder.
    MatchingPhase,
    /// Learned motion matching: networks in place of the clips.
    LearnedMatching,
}

impl ControllerKind {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Pomp,
        Self::Phase,
        Self::Pfnn,
        Self::Mann,
        Self::LocalPhases,
        Self::Nsm,
        Self::Matching,
        Self::MatchingPhase,
        Self::LearnedMatching,
    ];

    /// The name on the command line, in configurations and in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pomp => "pomp",
            Self::Phase => "phase",
            Self::Pfnn => "pfnn",
            Self::Mann => "mann",
            Self::LocalPhases => "local-phases",
            Self::Nsm => "nsm",
            Self::Matching => "matching",
            Self::MatchingPhase => "matching-phase",
            Self::LearnedMatching => "learned-matching",
        }
    }

    /// Whether it is a network whose weights are a blend of experts'.
    pub fn is_gated(self) -> bool {
        matches!(self, Self::Phase | Self::Pfnn | Self::Mann | Self::LocalPhases | Self::Nsm)
    }
}

impl fmt::Display for ControllerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for ControllerKind {
    type Err = ControllerError;
    fn from_str(name: &str) -> Result<Self, ControllerError> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.name() == name)
            .ok_or_else(|| ControllerError::UnknownKind { name: name.to_owned() })
    }
}

/// Proposes the next frame of a character, in place of the kinematic module.
///
/// It is given what the kinematic module is given, and may use of it what its source uses. What it remembers from frame to frame
/// is its own; a clone goes on from the same frame.
pub trait Controller: Send + Sync {
    /// The frame after `input`, on ground whose height `ground` gives at world x and z.
    ///
    /// The phase codes of the answer are those of the input, held, unless the controller is of the phases of the model.
    ///
    /// # Errors
    /// A number that is not finite.
    fn step(
        &mut self,
        input: &InputFrame<'_>,
        ground: &dyn Fn(f32, f32) -> f32,
    ) -> Result<OutputFrame, ControllerError>;

    /// Forgets what was before: the next frame is the first.
    fn restart(&mut self);

    /// A copy with its own memory.
    fn boxed(&self) -> Box<dyn Controller>;
}

impl Clone for Box<dyn Controller> {
    fn clone(&self) -> Self {
        self.boxed()
    }
}

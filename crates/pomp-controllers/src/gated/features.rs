//! Which columns of x and y a controller uses.

use super::goal::{GOAL_GATE, GOAL_INPUTS, GOAL_OUTPUTS};
use crate::ControllerKind;
use pomp_motion::features::{BlockName, FeatureLayout, KEYS, PAST_KEYS};
use pomp_motion::{Gait, humanoid};

/// Largest normalised input that a network is shown: clips hardly ever have more, and beyond what it has learned it would make
/// more of it.
pub const REACH: f32 = 5.0;

/// A normalised input as a network is shown it.
pub fn within_reach(value: f32) -> f32 {
    value.clamp(-REACH, REACH)
}

/// Columns of x and y that a network uses, in the order in which it takes and gives them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Columns {
    /// Of x, into the experts.
    pub inputs: Vec<usize>,
    /// Of x, into the gate; empty where the phase decides by itself.
    pub gate: Vec<usize>,
    /// Of y.
    pub outputs: Vec<usize>,
    /// Whether it has a goal: its values follow the inputs and the outputs, and take the place of the gate's columns.
    pub goal: bool,
}

impl Columns {
    /// Those of a kind of controller.
    pub fn of(kind: ControllerKind, layout: &FeatureLayout) -> Self {
        use BlockName::{
            Gait, JointPositions, JointRotations, JointVelocities, PhaseCodes, PhaseParameters, RootMotion,
            TerrainHeights, Trajectory,
        };
        let x = |names: &[BlockName]| names.iter().flat_map(|name| layout.x_range(*name)).collect::<Vec<_>>();
        let inputs = x(&[
            JointPositions,
            JointVelocities,
            JointRotations,
            RootMotion,
            Gait,
            TerrainHeights,
            Trajectory,
        ]);
        let gate = match kind {
            ControllerKind::Phase | ControllerKind::LocalPhases => x(&[PhaseCodes]),
            ControllerKind::Mann => feet_gait_and_speed(layout),
            ControllerKind::Pfnn
            | ControllerKind::Nsm
            | ControllerKind::Pomp
            | ControllerKind::Matching
            | ControllerKind::MatchingPhase
            | ControllerKind::LearnedMatching => Vec::new(),
        };
        let mut outputs: Vec<usize> =
            [JointPositions, JointVelocities, JointRotations, RootMotion, Gait, Trajectory]
                .iter()
                .flat_map(|name| layout.y_range(*name))
                .collect();
        if kind != ControllerKind::Mann {
            outputs.extend([PhaseCodes, PhaseParameters].iter().flat_map(|name| layout.y_range(*name)));
        }
        Self { inputs, gate, outputs, goal: kind == ControllerKind::Nsm }
    }

    /// Numbers that go into the experts, into the gate and out.
    pub fn widths(&self) -> [usize; 3] {
        let of_goal = if self.goal { [GOAL_INPUTS, GOAL_GATE, GOAL_OUTPUTS] } else { [0; 3] };
        let columns = [self.inputs.len(), self.gate.len(), self.outputs.len()];
        std::array::from_fn(|i| columns[i] + of_goal[i])
    }
}

/// MANN's gate: velocities of ankles and toes, the gaits of now and in a second, and the root's motion.
fn feet_gait_and_speed(layout: &FeatureLayout) -> Vec<usize> {
    let velocities = layout.x_range(BlockName::JointVelocities).start;
    let gaits = layout.x_range(BlockName::Gait).start;
    let feet =
        [humanoid::LEFT_FOOT, humanoid::LEFT_TOE, humanoid::RIGHT_FOOT, humanoid::RIGHT_TOE].into_iter();
    feet.flat_map(|joint| (0..3).map(move |axis| velocities + 3 * joint.0 + axis))
        .chain(
            [PAST_KEYS, KEYS - 1]
                .into_iter()
                .flat_map(|key| (0..Gait::COUNT).map(move |gait| gaits + key * Gait::COUNT + gait)),
        )
        .chain(layout.x_range(BlockName::RootMotion))
        .collect()
}

use super::calibration::rest_up;
use super::units::{UnitFinding, find_unit};
use super::{LengthUnit, MatchReport, RetargetError, RetargetOptions, UpAxis};
use crate::{GlobalPose, JointIndex, SourceMotion, humanoid};
use glam::Vec3;
use serde::Serialize;

/// Unit and up axis of a source motion, with the reasons for them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SourceFrame {
    /// Unit of length.
    pub unit: LengthUnit,
    /// Why this unit.
    pub unit_reason: String,
    /// Confidence in the unit, 0 to 1.
    pub unit_confidence: f32,
    /// Up axis.
    pub up_axis: UpAxis,
    /// Why this axis.
    pub up_axis_reason: String,
    /// Thigh plus shin, mean of both sides, metres.
    pub leg_length_m: f32,
}

/// Mean height component of the direction from feet to hips from which the up axis counts as seen.
const CLEARLY_UP: f32 = 0.5;

impl SourceFrame {
    /// Takes unit and up axis from the options or finds them from the legs.
    ///
    /// # Errors
    /// [`RetargetError::UnknownUnit`] when the legs have no length.
    pub fn detect(
        source: &SourceMotion,
        joints: &MatchReport,
        options: &RetargetOptions,
    ) -> Result<Self, RetargetError> {
        let stride = source.frames().div_ceil(200);
        let poses: Vec<GlobalPose> =
            (0..source.frames()).step_by(stride).map(|frame| source.global_pose(frame)).collect();
        let leg_length = mean_leg_length(&poses, joints);
        if !(leg_length.is_finite() && leg_length > 0.0) {
            return Err(RetargetError::UnknownUnit { clip: source.name.clone(), leg_length });
        }
        let UnitFinding { unit, confidence: unit_confidence, reason: unit_reason } = match options.unit {
            Some(unit) => UnitFinding {
                unit,
                confidence: 1.0,
                reason: format!("the unit is stated as {}", unit.name()),
            },
            None => find_unit(leg_length),
        };
        let (up_axis, up_axis_reason) = match options.up_axis {
            Some(axis) => (axis, format!("the up axis is stated as {}", axis.name())),
            None => find_up_axis(&poses, joints, rest_up(source, joints)),
        };
        Ok(Self {
            unit,
            unit_reason,
            unit_confidence,
            up_axis,
            up_axis_reason,
            leg_length_m: leg_length * unit.metres(),
        })
    }

    /// A warning where the unit is a guess.
    pub(super) fn unit_warning(&self) -> Option<String> {
        (self.unit_confidence < 0.5)
            .then(|| format!("the unit is a guess: {}; state it with `retarget.unit`", self.unit_reason))
    }
}

/// The axis along which the hips are above the feet. Where a standing rest pose says otherwise, the floor
/// decides: along the true axis the lowest point of the body hardly moves. (A body that crawls along Z has its
/// hips "above" its feet along Z; SMPL bodies rest along Y in worlds with Z up.)
fn find_up_axis(poses: &[GlobalPose], joints: &MatchReport, rest_up: Option<Vec3>) -> (UpAxis, String) {
    let at = |pose: &GlobalPose, joint| pose.positions[source(joints, joint).0];
    let mean = poses
        .iter()
        .map(|pose| {
            let hips = at(pose, humanoid::LEFT_UP_LEG) + at(pose, humanoid::RIGHT_UP_LEG);
            let ankles = at(pose, humanoid::LEFT_FOOT) + at(pose, humanoid::RIGHT_FOOT);
            (hips - ankles).normalize_or_zero()
        })
        .sum::<Vec3>()
        / poses.len() as f32;
    let motion = if mean.y > CLEARLY_UP && mean.y > mean.z.abs() {
        Some(UpAxis::Y)
    } else if mean.z > CLEARLY_UP && mean.z > 1.5 * mean.y.abs() {
        Some(UpAxis::Z)
    } else {
        None
    };
    let rest = rest_up.and_then(|up| {
        [(UpAxis::Y, up.y), (UpAxis::Z, up.z)]
            .into_iter()
            .find(|(_, share)| *share > 0.9)
            .map(|(axis, _)| axis)
    });
    match (motion, rest) {
        (Some(motion), Some(rest)) if motion != rest => {
            let wander = |axis| floor_wander(poses, joints, axis);
            let axis = if wander(motion) < 0.5 * wander(rest) { motion } else { rest };
            let reason = format!(
                "the rest pose stands along {rest:?}, in the clip the hips are above the feet along {motion:?}; the lowest \
                 point of the body stays at one height along {axis:?}"
            );
            (axis, reason)
        }
        (Some(axis), _) => {
            let share = if axis == UpAxis::Y { mean.y } else { mean.z };
            (axis, format!("the hips are above the feet along {axis:?} (mean component {share:.2})"))
        }
        (None, Some(axis)) => {
            (axis, format!("the rest pose stands along {axis:?}; in the clip the body lies or crawls"))
        }
        (None, None) => (
            UpAxis::Y,
            format!(
                "taken as Y: neither rest pose nor clip stands (mean direction from feet to hips {mean:.2})"
            ),
        ),
    }
}

/// Standard deviation over the poses of the lowest mapped joint along an axis, file units.
fn floor_wander(poses: &[GlobalPose], joints: &MatchReport, axis: UpAxis) -> f32 {
    let up = axis.world_from_file().inverse() * Vec3::Y;
    let lowest: Vec<f32> = poses
        .iter()
        .map(|pose| {
            let heights = joints.source_joints.iter().flatten().map(|joint| pose.positions[joint.0].dot(up));
            heights.fold(f32::INFINITY, f32::min)
        })
        .collect();
    let mean = lowest.iter().sum::<f32>() / lowest.len() as f32;
    (lowest.iter().map(|h| (h - mean).powi(2)).sum::<f32>() / lowest.len() as f32).sqrt()
}

fn source(joints: &MatchReport, joint: JointIndex) -> JointIndex {
    joints.source_joints[joint.0].expect("a rig map that fits has hips, thighs, shins and feet")
}

/// Thigh plus shin, mean over both sides and the poses, file units.
fn mean_leg_length(poses: &[GlobalPose], joints: &MatchReport) -> f32 {
    let chains = [
        [humanoid::LEFT_UP_LEG, humanoid::LEFT_LEG, humanoid::LEFT_FOOT],
        [humanoid::RIGHT_UP_LEG, humanoid::RIGHT_LEG, humanoid::RIGHT_FOOT],
    ];
    let total: f32 = poses
        .iter()
        .map(|pose| {
            chains
                .iter()
                .map(|chain| {
                    let [hip, knee, ankle] = chain.map(|joint| pose.positions[source(joints, joint).0]);
                    hip.distance(knee) + knee.distance(ankle)
                })
                .sum::<f32>()
        })
        .sum();
    total / (2 * poses.len()) as f32
}

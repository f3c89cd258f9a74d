use serde::{Deserialize, Serialize};

/// Figures of one replay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReplayReport {
    /// Σ vertical contact impulse over m g T.
    pub vertical_closure: f32,
    /// Mean vertical assist force over body weight.
    pub vertical_assist: f32,
    /// Mean size of the assist force over body weight.
    pub mean_assist: f32,
    /// Root mean square of the joints' rotation error, degrees; against the targets, which differ from the clip by
    /// [`ReplayTargetsConfig`](crate::ReplayTargetsConfig).
    pub rms_joint_error_deg: f32,
    /// Mean distance of the simulated pelvis from the targets', metres.
    pub mean_root_error_m: f32,
    /// Largest total vertical contact force, body weights.
    pub peak_force_bw: f32,
    /// How often the ragdoll was put back onto the clip.
    pub resets: usize,
    /// How often the simulation diverged and was restored.
    pub divergences: usize,
}

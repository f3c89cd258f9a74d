use pomp_config::{Fields, OutOfRange};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The estimator of `contact_impulse`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ImpulseEstimator {
    /// Total force from the motion of the centre of mass, shared among the bodies that touch the ground.
    #[default]
    InverseDynamics,
    /// The simulator's own impulses, as in `sim_contact_impulse`.
    Simulation,
}

impl ImpulseEstimator {
    /// The text stored as `impulse_estimator`.
    pub fn name(self) -> &'static str {
        match self {
            Self::InverseDynamics => "inverse_dynamics",
            Self::Simulation => pomp_motion::ESTIMATED_BY_SIMULATION,
        }
    }
}

/// How contact impulses are estimated from a clip and its replay.
///
/// The defaults are one setting for all activities; `docs/impulses.md` compares them with force plates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ImpulseConfig {
    /// Estimator of `contact_impulse`. Default inverse dynamics.
    pub estimator: ImpulseEstimator,
    /// Bandwidth of the motion of the centre of mass, Hz: a Butterworth filter of second order, run forwards and backwards.
    /// Default 10. A lower value smooths strikes away; a higher value passes the noise of the mocap.
    pub bandwidth_hz: f32,
    /// Bandwidth of the height of the centre of mass around the landings of jumps, Hz. Default 14: around a hard landing more of
    /// the fast motion is impact, and less is noise.
    pub landing_bandwidth_hz: f32,
    /// Bandwidth of the motion of the segments, from which the centre of pressure follows, Hz. Default 6. Angular
    /// momentum is noisier than momentum.
    pub moment_bandwidth_hz: f32,
    /// Bandwidth of the share of the load on each foot, Hz. Default 4. A higher value follows the zero-moment point more closely,
    /// including its noise.
    pub share_bandwidth_hz: f32,
    /// Bandwidth of the centre of pressure under a foot, Hz. Default 3. A lower value lags at heel strike.
    pub pressure_bandwidth_hz: f32,
    /// Largest distance of the centre of pressure from the line between heel and toes, m. Default 0.02. 0 keeps it on the line.
    pub pressure_aside_m: f32,
    /// Time for which a foot bears load after the end of its contact by height and speed, while the other foot is down, s.
    /// Default 0.033: at push-off the toe already moves.
    pub toe_off_s: f32,
    /// Time by which a foot may bear load before or after its contact when the other is not down, s. Default 0.083.
    pub strike_s: f32,
    /// Total force above which a foot may do so, body weights. Default 0.35: the filter spreads half of the force at a strike
    /// into the flight before it.
    pub strike_above_bw: f32,
    /// Without contact, the body is in flight when the total force is below this share of its weight; otherwise an unseen support
    /// carries it. Default 0.5.
    pub flight_below_bw: f32,
    /// Largest ratio of the horizontal to the vertical force. Default 0.9, the friction of the ragdoll.
    pub friction: f32,
    /// Largest distance from the ground in the clip at which a body other than a foot, which bears load in the replay, counts as
    /// bearing load, m. Default 0.25. A smaller value misses hands and knees; a larger value accepts contacts of a ragdoll that
    /// fell.
    pub near_ground_m: f32,
}

impl Default for ImpulseConfig {
    fn default() -> Self {
        Self {
            estimator: ImpulseEstimator::InverseDynamics,
            bandwidth_hz: 10.0,
            landing_bandwidth_hz: 14.0,
            moment_bandwidth_hz: 6.0,
            share_bandwidth_hz: 4.0,
            pressure_bandwidth_hz: 3.0,
            pressure_aside_m: 0.02,
            toe_off_s: 0.033,
            strike_s: 0.083,
            strike_above_bw: 0.35,
            flight_below_bw: 0.5,
            friction: 0.9,
            near_ground_m: 0.25,
        }
    }
}

impl ImpulseConfig {
    /// Checks every range for clips of `frame_rate_hz`.
    ///
    /// # Errors
    /// The first field out of its range, its value and the range.
    pub fn check_at(&self, frame_rate_hz: f32, fields: &Fields) -> Result<(), OutOfRange> {
        for (field, value) in [
            ("bandwidth_hz", self.bandwidth_hz),
            ("landing_bandwidth_hz", self.landing_bandwidth_hz),
            ("moment_bandwidth_hz", self.moment_bandwidth_hz),
            ("share_bandwidth_hz", self.share_bandwidth_hz),
            ("pressure_bandwidth_hz", self.pressure_bandwidth_hz),
        ] {
            // Below the Nyquist frequency.
            fields.within(field, value, 0.5..=0.45 * frame_rate_hz)?;
        }
        fields.within("pressure_aside_m", self.pressure_aside_m, 0.0..=0.1)?;
        fields.within("toe_off_s", self.toe_off_s, 0.0..=0.5)?;
        fields.within("strike_s", self.strike_s, 0.0..=0.5)?;
        fields.within("strike_above_bw", self.strike_above_bw, 0.0..=5.0)?;
        fields.within("flight_below_bw", self.flight_below_bw, 0.0..=2.0)?;
        fields.within("friction", self.friction, 0.05..=10.0)?;
        fields.within("near_ground_m", self.near_ground_m, 0.0..=2.0)
    }
}

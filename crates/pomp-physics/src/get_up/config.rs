use pomp_config::{Fields, OutOfRange, Validate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a character does after a fall.
///
/// While it lies it gets no assist. While it gets up, the root assist is that of [`AssistConfig`](crate::AssistConfig), with its ordinary
/// caps, of which the vertical one is a twentieth of body weight: its joints lift it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GetUpConfig {
    /// Whether it gets up at all, or lies where it fell. Default true.
    pub enabled: bool,
    /// Mean speed of the joints below which a fallen body is at rest, m/s, 0.01 to 10. Default 0.15.
    pub rest_speed_m_s: f32,
    /// How long it must be at rest before it gets up, seconds, 0 to 60. Default 0.5.
    pub rest_s: f32,
    /// Longest time that it waits for rest, seconds, 0 to 600: on a slope a body may creep for ever. Default 4.
    pub longest_rest_s: f32,
    /// Pace, 0.2 to 3: at 1 it takes 3 to 4 s. Faster needs more torque and looks like a spring. Default 1.
    pub pace: f32,
    /// Time in which the pose that it stood up in gives way to what leads it then,
    /// seconds, above 0 to 5. Default 0.4.
    pub hand_back_s: f32,
}

impl Default for GetUpConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            rest_speed_m_s: 0.15,
            rest_s: 0.5,
            longest_rest_s: 4.0,
            pace: 1.0,
            hand_back_s: 0.4,
        }
    }
}

impl Validate for GetUpConfig {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        fields.within("rest_speed_m_s", self.rest_speed_m_s, 0.01..=10.0)?;
        fields.within("rest_s", self.rest_s, 0.0..=60.0)?;
        fields.within("longest_rest_s", self.longest_rest_s, 0.0..=600.0)?;
        fields.within("pace", self.pace, 0.2..=3.0)?;
        fields.within("hand_back_s", self.hand_back_s, 0.001..=5.0)
    }
}

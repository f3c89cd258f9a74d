use pomp_config::{Fields, OutOfRange, Validate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a character does after a fall.
///
/// While the character lies, the root assist is off. While it gets up, the root assist has the usual caps of
/// [`AssistConfig`](crate::AssistConfig). The vertical cap is a twentieth of body weight, so the joints lift the body.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GetUpConfig {
    /// Whether the character gets up; if not, it stays where it fell. Default true.
    pub enabled: bool,
    /// Whether the root assist also supports, while it gets up, a character that otherwise balances by its legs
    /// ([`BalanceConfig`](crate::BalanceConfig)). Default true; without it such a character stays down. Others always have the assist.
    pub assisted: bool,
    /// Mean speed of the joints below which a fallen body is at rest, m/s, 0.01 to 10. Default 0.15.
    pub rest_speed_m_s: f32,
    /// Time that the body must be at rest before it gets up, seconds, 0 to 60. Default 0.5.
    pub rest_s: f32,
    /// Longest time that it waits to come to rest, seconds, 0 to 600: on a slope a body may never stop creeping.
    /// Default 4.
    pub longest_rest_s: f32,
    /// Pace of getting up, 0.2 to 3; at 1 it takes 3 to 4 s. A faster pace needs more torque and looks springy.
    /// Default 1.
    pub pace: f32,
    /// Time over which the pose at the end of getting up is blended into the target of the controller that takes over,
    /// seconds, above 0 to 5. Default 0.4.
    pub hand_back_s: f32,
}

impl Default for GetUpConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            assisted: true,
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

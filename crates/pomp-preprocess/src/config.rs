use crate::PreprocessError;
use pomp_augment::{BumpConfig, FallConfig, PaceConfig, RestyleConfig, WarpConfig};
use pomp_config::{Fields, OutOfRange, Validate};
use pomp_estimate::terrain_fit::TerrainFitConfig;
use pomp_estimate::{ImpulseConfig, PhysicsSettings, ReplayConfig};
use pomp_motion::retarget::{LengthUnit, Proportions, RetargetOptions};
use pomp_motion::{ContactConfig, GaitLabelConfig};
use pomp_physics::DynamicConfig;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// All settings of preprocessing; their hash is stored in every result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PreprocessConfig {
    /// Frames per second of the results. Features and windows of the method assume 60. Default 60.
    pub frame_rate_hz: f32,
    /// Also write each clip's mirror image, as `NAME_mirrored.npz`. Default true.
    pub mirror: bool,
    /// Terrain variants per clip, 1 or more; variant 0 is the plain fit. Default 1.
    pub terrain_variants: usize,
    /// Mapping onto the project skeleton.
    pub retarget: RetargetOptions,
    /// Foot contacts.
    pub contacts: ContactConfig,
    /// Gait labels.
    pub gaits: GaitLabelConfig,
    /// Terrain reconstruction.
    pub terrain: TerrainFitConfig,
    /// Variants on ground with relief; none by default.
    pub warp: WarpConfig,
    /// Also write walks on level ground reversed in time, as `NAME_terrain0_reversed.npz`: walks backward, which datasets have few
    /// of. A clip is such a walk if at least 95 % of its frames walk or stand and half of them walk. Default false.
    pub reverse_walks: bool,
    /// Variants of level walks at a slower pace; none by default.
    pub pace: PaceConfig,
    /// Variants of walks in other styles; none by default.
    pub style: RestyleConfig,
    /// Variants with pushes; none by default.
    pub bumps: BumpConfig,
    /// Variants with a fall and a get-up; none by default.
    pub falls: FallConfig,
    /// Physics replay.
    pub replay: ReplayConfig,
    /// Contact impulses as stored.
    pub impulses: ImpulseConfig,
    /// The ragdoll.
    pub dynamic: DynamicConfig,
}

impl Default for PreprocessConfig {
    fn default() -> Self {
        Self {
            frame_rate_hz: 60.0,
            mirror: true,
            terrain_variants: 1,
            retarget: RetargetOptions::default(),
            contacts: ContactConfig::default(),
            gaits: GaitLabelConfig::default(),
            terrain: TerrainFitConfig::default(),
            warp: WarpConfig::default(),
            reverse_walks: false,
            pace: PaceConfig::default(),
            style: RestyleConfig::default(),
            bumps: BumpConfig::default(),
            falls: FallConfig::default(),
            replay: ReplayConfig::default(),
            impulses: ImpulseConfig::default(),
            dynamic: DynamicConfig::for_recorded_motion(),
        }
    }
}

impl Validate for PreprocessConfig {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        let rate = self.frame_rate_hz;
        fields.within("frame_rate_hz", rate, 20.0..=1000.0)?;
        // The replay hands the ragdoll one pose per control frame: at another rate all forces would be wrong.
        let dynamic_rate = self.dynamic.frame_rate_hz;
        fields.holds(dynamic_rate == rate, "dynamic.frame_rate_hz", dynamic_rate, "that of frame_rate_hz")?;
        fields.within("terrain_variants", self.terrain_variants, 1..=100)?;
        fields.holds(
            self.terrain_variants <= self.terrain.variants + 1,
            "terrain_variants",
            self.terrain_variants,
            "at most terrain.variants + 1: raise terrain.variants",
        )?;
        if let Proportions::Project { height_m } = self.retarget.proportions {
            let retarget = fields.section("retarget").section("proportions");
            retarget.section("project").within("height_m", height_m, 0.3..=3.0)?;
        }
        if let Some(LengthUnit::Metres(metres)) = self.retarget.unit {
            fields.section("retarget").section("unit").within("metres", metres, 1e-9..=1e9)?;
        }
        check_contacts(&self.contacts, &fields.section("contacts"))?;
        check_gaits(&self.gaits, &fields.section("gaits"))?;
        self.replay.check(&fields.section("replay"))?;
        let plans = self.replay.planning.enabled;
        fields.holds(
            !plans || self.dynamic.balance.enabled,
            "replay.planning.enabled",
            plans,
            "false without dynamic.balance.enabled: only a ragdoll that balances by its legs can be corrected",
        )?;
        self.terrain.check(&fields.section("terrain"))?;
        self.warp.check(&fields.section("warp"))?;
        self.pace.check(&fields.section("pace"))?;
        self.style.check(&fields.section("style"))?;
        self.bumps.check(&fields.section("bumps"))?;
        self.falls.check(&fields.section("falls"))?;
        self.impulses.check_at(rate, &fields.section("impulses"))?;
        self.dynamic.check(&fields.section("dynamic"))
    }
}

fn check_contacts(contacts: &ContactConfig, fields: &Fields) -> Result<(), OutOfRange> {
    let ContactConfig {
        begin_speed,
        end_speed,
        begin_height_m,
        end_height_m,
        low_point_window_s,
        lifted_end_m,
        hover_height_m,
        hover_radius_m,
        hover_window_s,
        min_duration_s,
    } = *contacts;
    fields.within("begin_speed", begin_speed, 0.0..=20.0)?;
    fields.within("end_speed", end_speed, 0.0..=20.0)?;
    fields.holds(end_speed >= begin_speed, "end_speed", end_speed, "at least begin_speed")?;
    fields.within("begin_height_m", begin_height_m, 0.0..=1.0)?;
    fields.within("end_height_m", end_height_m, 0.0..=1.0)?;
    fields.within("low_point_window_s", low_point_window_s, 0.0..=10.0)?;
    fields.within("lifted_end_m", lifted_end_m, 0.0..=1.0)?;
    fields.within("hover_height_m", hover_height_m, 0.0..=1.0)?;
    fields.within("hover_radius_m", hover_radius_m, 0.0..=10.0)?;
    fields.within("hover_window_s", hover_window_s, 0.0..=60.0)?;
    fields.within("min_duration_s", min_duration_s, 0.0..=10.0)
}

fn check_gaits(gaits: &GaitLabelConfig, fields: &Fields) -> Result<(), OutOfRange> {
    let GaitLabelConfig {
        stand_speed,
        jog_speed,
        jog_flight_speed,
        min_flight_s,
        jump_flight_s,
        hop_flight_s,
        jump_fall,
        jump_margin_s,
        crouch_height,
        lie_height,
        lie_trunk_up,
        up_height,
        get_up_s,
        min_duration_s,
        smoothing_s,
    } = *gaits;
    fields.within("stand_speed", stand_speed, 0.0..=20.0)?;
    fields.within("jog_speed", jog_speed, 0.0..=20.0)?;
    fields.within("jog_flight_speed", jog_flight_speed, 0.0..=20.0)?;
    fields.within("min_flight_s", min_flight_s, 0.0..=10.0)?;
    fields.within("jump_flight_s", jump_flight_s, 0.0..=10.0)?;
    fields.within("hop_flight_s", hop_flight_s, 0.0..=10.0)?;
    fields.within("jump_fall", jump_fall, 0.0..=20.0)?;
    fields.within("jump_margin_s", jump_margin_s, 0.0..=10.0)?;
    fields.within("crouch_height", crouch_height, 0.0..=2.0)?;
    fields.within("lie_height", lie_height, 0.0..=2.0)?;
    fields.within("lie_trunk_up", lie_trunk_up, -1.0..=1.0)?;
    fields.within("up_height", up_height, 0.0..=2.0)?;
    fields.within("get_up_s", get_up_s, 0.0..=60.0)?;
    fields.within("min_duration_s", min_duration_s, 0.0..=10.0)?;
    fields.within("smoothing_s", smoothing_s, 0.0..=10.0)
}

impl PreprocessConfig {
    /// The settings of the physics of a clip.
    pub fn physics(&self) -> PhysicsSettings<'_> {
        PhysicsSettings { dynamic: &self.dynamic, replay: &self.replay, impulses: &self.impulses }
    }

    /// Checks every range.
    ///
    /// # Errors
    /// [`PreprocessError::OutOfRange`] with the first field outside its range.
    pub fn validate(&self) -> Result<(), PreprocessError> {
        Ok(self.check(&Fields::root())?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_retargeting_contacts_and_gaits_have_ranges() {
        let refusal = |change: fn(&mut PreprocessConfig)| {
            let mut config = PreprocessConfig::default();
            config.validate().unwrap();
            change(&mut config);
            config.validate().unwrap_err().to_string()
        };
        let slow = refusal(|config| config.contacts.end_speed = 0.5);
        assert!(slow.contains("contacts.end_speed = 0.5"), "{slow}");
        let none = refusal(|config| config.gaits.smoothing_s = f32::NAN);
        assert!(none.contains("gaits.smoothing_s"), "{none}");
        let nothing = refusal(|config| config.retarget.unit = Some(LengthUnit::Metres(0.0)));
        assert!(nothing.contains("retarget.unit.metres = 0"), "{nothing}");
        let giant = refusal(|config| config.retarget.proportions = Proportions::Project { height_m: 30.0 });
        assert!(giant.contains("retarget.proportions.project.height_m = 30"), "{giant}");
    }
}

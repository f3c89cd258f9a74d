use crate::BenchError;
use pomp_config::{Fields, OutOfRange, Validate};
use pomp_generator::{GeneratorConfig, Precision};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Bound;

/// What `pomp bench performance` measures, and for how long. The defaults are the complete measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PerformanceConfig {
    /// How often each time of a frame, each rate and each limit is measured; the report has the median. 5 by default.
    pub repetitions: usize,
    /// Precisions in which each model is timed; growth is measured in the first.
    pub precisions: Vec<Precision>,
    /// Terrain presets that frames are timed on, with the command `walk`.
    pub grounds: Vec<String>,
    /// Motion per repetition and ground, seconds; 20 by default. The first second and a half is not timed: no phases are read then.
    pub frame_s: f32,
    /// Rollouts of the ensembles whose frames per second are measured; 16 by default.
    pub ensemble_rollouts: usize,
    /// Length of each of them, seconds; 4 by default.
    pub ensemble_s: f32,
    /// Numbers of characters whose networks are evaluated together, and whose frames are timed for each model and precision; 1, 8 and 32 by
    /// default.
    pub together: Vec<usize>,
    /// Numbers of characters whose frames are timed, each character in a world of its own.
    pub characters: Vec<usize>,
    /// Number of characters of each controller whose memory is measured, each in a world of its own without physics; 128 by default, and 0
    /// leaves the controllers out. Few take too little memory to be told.
    pub controller_characters: usize,
    /// Areas of hilly terrain, hectares.
    pub terrain_ha: Vec<f32>,
    /// Distance between the heights of these terrains, metres; 0.3 by default.
    pub terrain_cell_m: f32,
    /// Moments of one long rollout at which its frames are timed, minutes; at most 60.
    pub rollout_min: Vec<f32>,
    /// Time of each loop that measures what the machine can do, seconds; 0.2 by default.
    pub machine_s: f64,
}

impl Default for PerformanceConfig {
    fn default() -> Self {
        Self {
            repetitions: 5,
            precisions: vec![Precision::Bfloat16, Precision::Bfloat16Tiles, Precision::Float32],
            grounds: ["flat", "hills", "stairs"].map(str::to_owned).to_vec(),
            frame_s: 20.0,
            ensemble_rollouts: 16,
            ensemble_s: 4.0,
            together: vec![1, 8, 32],
            characters: vec![1, 10, 100, 1000],
            controller_characters: 128,
            terrain_ha: vec![1.0, 10.0, 100.0],
            terrain_cell_m: 0.3,
            rollout_min: vec![1.0, 10.0, 60.0],
            machine_s: 0.2,
        }
    }
}

impl PerformanceConfig {
    /// Checks all ranges.
    ///
    /// # Errors
    /// The first setting that is out of its range.
    pub fn validate(&self) -> Result<(), BenchError> {
        Ok(self.check(&Fields::root())?)
    }

    /// Settings of the loops that are timed: the defaults, in this precision.
    pub(super) fn loop_settings(&self, precision: Precision) -> GeneratorConfig {
        GeneratorConfig { precision, ..GeneratorConfig::default() }
    }
}

impl Validate for PerformanceConfig {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        fields.within("repetitions", self.repetitions, 1..=100)?;
        fields.within("frame_s", self.frame_s, 2.0..=600.0)?;
        fields.within("ensemble_rollouts", self.ensemble_rollouts, 1..=10_000)?;
        fields.within("ensemble_s", self.ensemble_s, 0.5..=600.0)?;
        fields.within("terrain_cell_m", self.terrain_cell_m, 0.05..=2.0)?;
        fields.within("machine_s", self.machine_s, (Bound::Excluded(0.0), Bound::Included(10.0)))?;
        fields.holds(
            !self.precisions.is_empty(),
            "precisions",
            "[]",
            "\"bfloat16\", \"bfloat16_tiles\" or \"float32\"",
        )?;
        let known = pomp_terrain::PRESET_NAMES.join(", ");
        for ground in &self.grounds {
            let is_known = pomp_terrain::PRESET_NAMES.contains(&ground.as_str());
            fields.holds(is_known, "grounds", format!("\"{ground}\""), &known)?;
        }
        fields.holds(!self.grounds.is_empty(), "grounds", "[]", &known)?;
        for count in &self.together {
            fields.within("together", *count, 1..=1000)?;
        }
        for count in &self.characters {
            fields.within("characters", *count, 1..=100_000)?;
        }
        fields.within("controller_characters", self.controller_characters, 0..=10_000)?;
        for area in &self.terrain_ha {
            fields.within("terrain_ha", *area, 0.01..=1000.0)?;
        }
        for minutes in &self.rollout_min {
            fields.within("rollout_min", *minutes, 0.1..=60.0)?;
        }
        let rises = self.rollout_min.is_sorted_by(|a, b| a < b);
        fields.holds(
            rises,
            "rollout_min",
            format!("{:?}", self.rollout_min),
            "moments that follow each other",
        )
    }
}

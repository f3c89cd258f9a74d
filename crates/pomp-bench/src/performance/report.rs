use super::config::PerformanceConfig;
use super::machine::Machine;
use super::peers::Peer;
use pomp_generator::{Precision, Stage};
use pomp_motion::statistics::{median, percentile};
use serde::{Deserialize, Serialize};

/// What was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PerformanceReport {
    /// Program and version.
    pub made_by: String,
    /// The command line.
    pub command: String,
    /// Whether this is the complete measurement; otherwise it did less, as `config` says.
    pub complete: bool,
    /// What was measured, and for how long.
    pub config: PerformanceConfig,
    /// Where.
    pub machine: Machine,
    /// Processes that ran or waited, averaged over a minute, before and after.
    pub load_average: [Option<f64>; 2],
    /// What else the machine did, as the user says.
    pub remark: Option<String>,
    /// The models, that of the growth first.
    pub models: Vec<ModelTimes>,
    /// The controllers, the kinematic module among them; none in reports that are older than their measurement.
    #[serde(default)]
    pub controllers: Vec<ControllerCost>,
    /// Growth with the number of characters.
    pub characters: Vec<CharacterGrowth>,
    /// Growth with the area of the ground.
    pub terrains: Vec<TerrainGrowth>,
    /// Growth with the length of a rollout.
    pub rollouts: Vec<RolloutGrowth>,
    /// What one core can do.
    pub limits: Limits,
    /// Degrees of freedom of the ragdoll.
    pub degrees_of_freedom: usize,
    /// Other programs.
    pub peers: Vec<Peer>,
    /// What the measurement took, seconds.
    pub wall_s: f64,
}

/// Times of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelTimes {
    /// Its name.
    pub name: String,
    /// With which numbers its kinematic module multiplies; float32 in reports that are older than the choice.
    #[serde(default)]
    pub precision: Precision,
    /// Hash of its files.
    pub sha256: String,
    /// Denoising steps per frame.
    pub denoising_steps: usize,
    /// Work of its networks in a frame on the first ground, by name of the stage: products, and bytes of weights that are read.
    pub work: Vec<(String, u64, u64)>,
    /// By ground.
    pub grounds: Vec<GroundTimes>,
    /// By number of threads.
    pub ensembles: Vec<EnsembleRate>,
    /// By number of characters whose networks are evaluated together; empty in reports that are older than this.
    #[serde(default)]
    pub together: Vec<TogetherTime>,
}

/// Time of a frame on a ground.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroundTimes {
    /// The terrain preset.
    pub ground: String,
    /// Median of the frames, over repetitions, ms.
    pub p50_ms: Spread,
    /// 99th percentile of the frames, over repetitions, ms.
    pub p99_ms: Spread,
    /// Where the time goes: means of the quickest nine tenths of the frames.
    pub stages: Vec<StageTime>,
}

/// A stage of a frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StageTime {
    /// Its name, as [`stage_name`] gives it.
    pub stage: String,
    /// Its time, µs; that of all denoising steps together.
    pub us: f64,
    /// The same in a loop without layers, whose frames took turns with these, µs.
    pub without_layers_us: f64,
}

/// Rollouts of an ensemble.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnsembleRate {
    /// Threads.
    pub threads: usize,
    /// Frames a second of all threads, with the files that are written.
    pub frames_per_s: Spread,
}

/// Time of a frame of characters whose networks are evaluated together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TogetherTime {
    /// How many.
    pub characters: usize,
    /// Time of a frame of one of them, µs.
    pub frame_us: Spread,
}

/// Cost of a controller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ControllerCost {
    /// Its name on the command line.
    pub controller: String,
    /// Time of a frame without physics, µs: median over frames, of each repetition.
    pub frame_us: Spread,
    /// Memory that became resident when its weights or clips were made ready, bytes: what all characters share. `None` where the copies
    /// that were made take less than 1 MiB, or the system does not say.
    pub shared_bytes: Option<f64>,
    /// Memory that became resident with each of the characters, their worlds included, bytes; `None` as above.
    pub bytes_each: Option<f64>,
}

/// Cost of many characters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CharacterGrowth {
    /// How many.
    pub characters: usize,
    /// Time of a frame of one of them, µs: median over frames.
    pub frame_us: f64,
    /// Memory that became resident with them, bytes each; `None` where that is less than 1 MiB, or the system does not say.
    pub bytes_each: Option<f64>,
}

/// Cost of a large ground.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TerrainGrowth {
    /// Area, hectares.
    pub hectares: f64,
    /// Heights.
    pub heights: usize,
    /// Time of a frame, µs: median over frames.
    pub frame_us: f64,
    /// Time to generate the heights, seconds.
    pub generate_s: f64,
    /// Time to make a character on them, colliders included, seconds.
    pub build_s: f64,
    /// Memory that became resident with ground and character, bytes; `None` where that is less than 1 MiB, or the system does not say.
    pub bytes: Option<f64>,
}

/// Cost of a long rollout.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RolloutGrowth {
    /// Minutes of motion so far.
    pub minutes: f64,
    /// Time of a frame, µs: median of the ten seconds before, recording included.
    pub frame_us: f64,
    /// The same in the first ten seconds of the rollout that were timed.
    pub first_frame_us: f64,
    /// Memory that became resident since the beginning, recorded frames included, bytes; `None` where that is less than 1 MiB, or the system does not say.
    pub bytes: Option<f64>,
}

/// What one core can do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Products of f32 that are added to sums, a second.
    pub multiply_adds_per_s: Spread,
    /// The same of pairs of bfloat16, numbers; none in reports that are older than them.
    #[serde(default)]
    pub bfloat16_multiply_adds_per_s: Option<Spread>,
    /// The same of tiles of bfloat16; none where the processor has no such instructions, and in older reports.
    #[serde(default)]
    pub tile_multiply_adds_per_s: Option<Spread>,
    /// Reading arrays, from small to large.
    pub bandwidths: Vec<Bandwidth>,
}

/// Reading an array again and again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bandwidth {
    /// Size of the array.
    pub bytes: u64,
    /// Bytes read a second.
    pub bytes_per_s: Spread,
}

/// Repetitions of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spread {
    /// The middle one.
    pub median: f64,
    /// The least one.
    pub least: f64,
    /// The largest one.
    pub most: f64,
}

impl Spread {
    /// Of some values.
    ///
    /// # Panics
    /// Without a value.
    pub fn of(values: &[f64]) -> Self {
        let at = |share| percentile(values, share).expect("a measurement has a value");
        Self { median: median(values).expect("a measurement has a value"), least: at(0.0), most: at(1.0) }
    }
}

impl Limits {
    /// Bandwidth of reading `bytes` again and again: that of the smallest array that was read and is as large.
    pub fn bandwidth_of(&self, bytes: u64) -> Option<&Bandwidth> {
        self.bandwidths.iter().find(|bandwidth| bandwidth.bytes >= bytes).or_else(|| self.bandwidths.last())
    }
}

impl ModelTimes {
    /// Bytes of weights that lie in memory: those of the decoder are read in every step.
    pub fn resident_bytes(&self) -> u64 {
        let bytes_of = |(_, _, bytes): &(String, u64, u64)| *bytes;
        let all: u64 = self.work.iter().map(bytes_of).sum();
        let steps = self.denoising_steps.max(1) as u64;
        all - (steps - 1) * self.step_bytes()
    }

    /// Bytes of weights that a denoising step reads.
    pub fn step_bytes(&self) -> u64 {
        let decoder = stage_name(Stage::DenoisingStep);
        let bytes = self.work.iter().find(|(stage, ..)| stage == decoder).map_or(0, |(_, _, bytes)| *bytes);
        bytes / self.denoising_steps.max(1) as u64
    }
}

/// Name of a stage in reports.
pub fn stage_name(stage: Stage) -> &'static str {
    match stage {
        Stage::Window => "window",
        Stage::Encoder => "kinematic encoder",
        Stage::DenoisingStep => "denoising steps",
        Stage::Target => "target",
        Stage::Dynamics => "dynamics",
        Stage::Observation => "observation",
        Stage::PhaseDecoder => "phase decoder",
        Stage::PhaseEncoder => "phase encoder",
        Stage::History => "history",
    }
}

use crate::BatchError;
use pomp_generator::{ControlPlan, GeneratorConfig, RolloutRecipe, ScheduledPush};
use pomp_model::{Model, UsedParts};
use pomp_terrain::{HeightMap, TerrainSpec};

/// Longest run that is served, seconds: what fits into memory with room to spare.
pub const LONGEST_S: f32 = 3600.0;
/// A preset goes on beyond the run, so that the character does not slow down before the end.
pub const BEYOND_S: f32 = 3.0;
/// Ground beyond the farthest point of the plan, metres.
pub const TERRAIN_MARGIN_M: f32 = 8.0;

/// What a rollout is about, besides model, settings and noise.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// Kind of the ground, for the manifest.
    pub ground: String,
    /// The ground.
    pub terrain: HeightMap,
    /// Name of the command, for the manifest.
    pub control: String,
    /// The command.
    pub plan: ControlPlan,
    /// The pushes.
    pub pushes: Vec<ScheduledPush>,
    /// Name of what holds the character up: which of [`crate::Batch::loops`] is its own.
    pub support: String,
}

impl Scene {
    /// The recipe of its rollout.
    ///
    /// # Errors
    /// A model that was not read from files.
    pub(crate) fn recipe(
        self,
        model: &Model,
        settings: &GeneratorConfig,
        seed: u64,
        frames: usize,
    ) -> Result<RolloutRecipe, BatchError> {
        Ok(RolloutRecipe {
            model_sha256: model_hash(model, settings.used_parts())?,
            settings: settings.clone(),
            start: self.plan.start_gait(),
            seed,
            plan: self.plan,
            pushes: self.pushes,
            throws: Vec::new(),
            terrain: self.terrain,
            frames,
        })
    }
}

/// Hash of a model's files, with those of the parts that are used.
pub(crate) fn model_hash(model: &Model, used: UsedParts) -> Result<String, BatchError> {
    model.sha256_with(used).ok_or(BatchError::UnnamedModel)
}

/// A ground of `spec`, made large enough for `plan`.
pub(crate) fn ground(spec: TerrainSpec, plan: &ControlPlan, seed: u64) -> Result<HeightMap, BatchError> {
    Ok(pomp_terrain::generate(&spec.reaching(plan.reach_m() + TERRAIN_MARGIN_M), seed)?)
}

//! What a frame of the loop costs on this machine, where its time goes, how the cost grows, and how far it is from what the
//! machine can do.
//!
//! [`measure`] reads the clock, so no two reports are the same. Everything else of this crate is reproducible.

mod config;
mod controllers;
mod ensembles;
mod frames;
mod growth;
mod limits;
mod machine;
mod peers;
mod report;

pub use config::PerformanceConfig;
pub use machine::{Cache, Machine};
pub use peers::{KNOWN_PEERS, KnownPeer, Peer, PeerRow, read_peers};
pub use report::{
    Bandwidth, CharacterGrowth, ControllerCost, EnsembleRate, GroundTimes, Limits, ModelTimes,
    PerformanceReport, RolloutGrowth, Spread, StageTime, TerrainGrowth, TogetherTime, stage_name,
};

use crate::BenchError;
use growth::Growth;
use pomp_generator::GeneratorConfig;
pub use pomp_generator::Precision;
use pomp_model::Model;
use std::time::Instant;

/// A model with the name that the report gives it.
pub struct NamedModel {
    /// The name.
    pub name: String,
    /// The model, read from files.
    pub model: Model,
}

/// A model in a precision.
struct Case<'a> {
    name: String,
    model: &'a Model,
    settings: GeneratorConfig,
}

impl Case<'_> {
    /// Each model in each of the precisions.
    fn all<'a>(models: &'a [NamedModel], config: &PerformanceConfig) -> Vec<Case<'a>> {
        let cases = models.iter().flat_map(|named| {
            config.precisions.iter().map(|&precision| {
                let name = match precision {
                    Precision::Bfloat16 => named.name.clone(),
                    Precision::Bfloat16Tiles => format!("{}, tiles", named.name),
                    Precision::Float32 => format!("{}, float32", named.name),
                };
                Case { name, model: &named.model, settings: config.loop_settings(precision) }
            })
        });
        cases.collect()
    }
}

/// Measures `models`, the growth on the first of them, and the controllers that `controllers_of` holds. `command` is what the report
/// says that it was made by; `progress` is told what is measured next.
///
/// # Errors
/// A setting out of range, no model, a loop or a batch that refuses, and a scratch folder that cannot be written.
pub fn measure(
    models: &[NamedModel],
    controllers_of: &Model,
    config: &PerformanceConfig,
    command: String,
    remark: Option<String>,
    peers: Vec<Peer>,
    progress: &dyn Fn(&str),
) -> Result<PerformanceReport, BenchError> {
    config.validate()?;
    let cases = Case::all(models, config);
    let first = cases.first().ok_or(BenchError::NoModel)?;
    let begun = Instant::now();
    let load_before = machine::load_average();
    // First, because memory is a part of it; what they made is kept for the same reason.
    let (controllers, _kept) = controllers::measure(controllers_of, &first.settings, config, progress)?;
    let Growth { characters, terrains, rollouts } = growth::measure(first, config, progress)?;
    let grounds = frames::measure(&cases, config, progress)?;
    let ensembles = ensembles::measure(&cases, config, progress)?;
    let together = growth::together(&cases, config, progress)?;
    let models: Vec<ModelTimes> = cases
        .iter()
        .zip(grounds.into_iter().zip(ensembles).zip(together))
        .map(|(case, (((grounds, work), ensembles), together))| ModelTimes {
            name: case.name.clone(),
            precision: case.settings.precision,
            sha256: case.model.files_sha256.clone().unwrap_or_default(),
            denoising_steps: case.settings.sampler.steps,
            work,
            grounds,
            ensembles,
            together,
        })
        .collect();
    progress("what the machine can do");
    let weights: Vec<u64> =
        models.iter().flat_map(|model| [model.resident_bytes(), model.step_bytes()]).collect();
    let limits = limits::measure(config.machine_s, config.repetitions, &weights);
    Ok(PerformanceReport {
        made_by: format!("pomp {}", env!("CARGO_PKG_VERSION")),
        command,
        complete: *config == PerformanceConfig::default(),
        config: config.clone(),
        machine: Machine::this(),
        load_average: [load_before, machine::load_average()],
        remark,
        degrees_of_freedom: limits::degrees_of_freedom(first.model),
        models,
        controllers,
        characters,
        terrains,
        rollouts,
        limits,
        peers,
        wall_s: begun.elapsed().as_secs_f64(),
    })
}

//! What the controllers cost: time of a frame without physics, and memory.

use super::PerformanceConfig;
use super::frames::{BEYOND_S, WARM_UP};
use super::growth::{GROUND_M, grown};
use super::machine::resident_bytes;
use super::report::{ControllerCost, Spread};
use crate::BenchError;
use burn::tensor::Device;
use glam::Vec2;
use pomp_controllers::{ControllerKind, TrainedController};
use pomp_generator::{
    CharacterInput, CharacterSetup, ControlPlan, Dynamics, FRAME_RATE_HZ, Generator, GeneratorConfig,
    Networks, Preset, Worlds,
};
use pomp_model::Model;
use pomp_motion::statistics::median;
use pomp_terrain::HeightMap;
use std::any::Any;
use std::time::Instant;

/// How often a controller is made ready, and how often before that is measured: first copies lie in memory that the process has kept of
/// earlier work.
const COPIES: usize = 8;
const FIRST_COPIES: usize = 4;
/// One in so many characters is made before the others, for the same reason.
const FIRST_CHARACTERS: usize = 4;

/// What was made: it stays until the end of all measurements, as in [`super::growth`].
pub(super) type Kept = Vec<Box<dyn Any>>;

/// Measures the kinematic module and each controller that the model holds, in a loop with these settings.
pub(super) fn measure(
    model: &Model,
    settings: &GeneratorConfig,
    config: &PerformanceConfig,
    progress: &dyn Fn(&str),
) -> Result<(Vec<ControllerCost>, Kept), BenchError> {
    if config.controller_characters == 0 {
        return Ok((Vec::new(), Vec::new()));
    }
    let (mut found, mut kept) = (Vec::new(), Kept::new());
    for kind in ControllerKind::ALL {
        if kind != ControllerKind::Pomp && !model.controllers.contains_key(&kind) {
            continue;
        }
        progress(&format!("the controller {kind}"));
        let shared_bytes = shared_bytes(model, settings, kind, &mut kept)?;
        let walk = Walk::new(model, settings, config, kind)?;
        let (frame_us, walking) = walk.frame_us(config)?;
        let bytes_each = walk.bytes_each(&walking, config.controller_characters, &mut kept)?;
        found.push(ControllerCost { controller: kind.name().to_owned(), frame_us, shared_bytes, bytes_each });
    }
    Ok((found, kept))
}

/// Bytes that all characters of a controller share: mean over copies.
fn shared_bytes(
    model: &Model,
    settings: &GeneratorConfig,
    kind: ControllerKind,
    kept: &mut Kept,
) -> Result<Option<f64>, BenchError> {
    let mut before = None;
    for copy in 0..FIRST_COPIES + COPIES {
        if copy == FIRST_COPIES {
            before = resident_bytes();
        }
        match model.controllers.get(&kind) {
            Some(file) => {
                let (bytes, name) = (file.bytes(), file.source_name());
                kept.push(Box::new(TrainedController::from_bytes(kind, bytes, name, &Device::flex())?));
            }
            None => kept.push(Box::new(Networks::new(model, settings)?)),
        }
    }
    Ok(grown(before).map(|bytes| bytes / COPIES as f64))
}

/// A controller in the loop, and the walk that it is timed on.
struct Walk<'a> {
    model: &'a Model,
    networks: Networks,
    settings: GeneratorConfig,
    plan: ControlPlan,
}

impl<'a> Walk<'a> {
    fn new(
        model: &'a Model,
        settings: &GeneratorConfig,
        config: &PerformanceConfig,
        kind: ControllerKind,
    ) -> Result<Self, BenchError> {
        let settings =
            GeneratorConfig { controller: kind, dynamics: Dynamics::KinematicOnly, ..settings.clone() };
        let networks = Networks::new(model, &settings)?;
        let plan = ControlPlan::preset(Preset::Walk, config.frame_s + BEYOND_S, FRAME_RATE_HZ);
        Ok(Self { model, networks, settings, plan })
    }

    fn setup(&self) -> CharacterSetup {
        let (settings, start) = (self.settings.clone(), self.plan.start_gait());
        CharacterSetup { settings, start, seed: 0, position: Vec2::ZERO, yaw: 0.0 }
    }

    /// Time of a frame of one character: the median of the frames of each repetition. And the character at the end.
    fn frame_us(&self, config: &PerformanceConfig) -> Result<(Spread, Generator), BenchError> {
        let frames = ((config.frame_s * FRAME_RATE_HZ) as usize).max(WARM_UP + 1);
        let mut medians = Vec::with_capacity(config.repetitions);
        let mut last = None;
        for _ in 0..config.repetitions {
            let mut walking = Generator::with_networks(self.model, &self.networks, level()?, &self.setup())?;
            let mut times = Vec::with_capacity(frames);
            for _ in 0..frames {
                let begun = Instant::now();
                walking.step(&self.plan, &[])?;
                times.push(1e6 * begun.elapsed().as_secs_f64());
            }
            medians.extend(median(&times[WARM_UP..]));
            last = Some(walking);
        }
        Ok((Spread::of(&medians), last.expect("validation found a repetition")))
    }

    /// Bytes of one of `count` characters, each in a world of its own.
    fn bytes_each(
        &self,
        walking: &Generator,
        count: usize,
        kept: &mut Kept,
    ) -> Result<Option<f64>, BenchError> {
        let first = self.worlds(walking, count.div_ceil(FIRST_CHARACTERS))?;
        kept.push(Box::new(first));
        let before = resident_bytes();
        let worlds = self.worlds(walking, count)?;
        let bytes = grown(before).map(|bytes| bytes / count as f64);
        kept.push(Box::new(worlds));
        Ok(bytes)
    }

    /// Characters that go on where `walking` is, after a frame.
    fn worlds(&self, walking: &Generator, count: usize) -> Result<Worlds, BenchError> {
        let state = walking.save();
        let mut worlds = Worlds::new(self.networks.clone());
        for _ in 0..count {
            worlds.add(self.model, level()?, &self.setup())?;
        }
        for character in worlds.characters_mut() {
            character.restore(&state)?;
        }
        for step in worlds.step(&vec![CharacterInput { plan: &self.plan, pushes: &[] }; count]) {
            step?;
        }
        Ok(worlds)
    }
}

fn level() -> Result<HeightMap, BenchError> {
    Ok(HeightMap::flat(GROUND_M.0, GROUND_M.1)?)
}

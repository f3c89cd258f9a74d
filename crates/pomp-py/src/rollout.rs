//! Whole rollouts, as the command line makes them.

use crate::arguments::{config, name, seconds};
use crate::errors::OrRaise;
use crate::generator::timed_pushes;
use crate::interrupt::Signals;
use crate::model;
use crate::recording::PyRecording;
use pomp_front::rollout::{RolloutRequest, set_body};
use pomp_generator::GeneratorConfig;
use pomp_motion::Recording;
use pyo3::prelude::*;
use std::ops::ControlFlow;
use std::path::PathBuf;

/// Makes one rollout, as `pomp generate` does: saved as npz it is the same bytes as the command's rollout.npz.
///
/// Args:
///     seconds: Length; 60 frames a second.
///     control: A preset (stand, walk, jog, circle, slalom, stop-and-go, backward, sideways, crouch, run, turn), a path file (.toml), or a clip (.bvh, .glb, .npz) whose way
///         is followed.
///     terrain: A preset (flat, slope, stairs, hills, rough, gaps, mixed) or a file (.toml, .png, .npz).
///     seed: Seed of terrain, noise and drawn pushes.
///     pushes: Pushes, each a text as the command line takes it ("5,Spine2,50,left") or (seconds, body, impulse): a body by name, N·s,
///         world.
///     model: A Model or the folder of one; without it the embedded compact model.
///     config: A configuration of the loop (.toml); without it the defaults.
///     settings: Values in place of the configuration's: a dict of KEY.PATH to value, or a list of "KEY.PATH=VALUE".
///     stature: Height of the character, metres, 1.5 to 2.0; without it that of the model's skeleton.
///     mass: Mass of the character, kg, 5 to 500; without it that of the settings.
#[pyfunction]
#[pyo3(signature = (
    seconds=10.0, control=None, terrain=None, *, seed=0, pushes=None, model=None, config=None, settings=None, stature=None, mass=None
))]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub fn generate(
    py: Python<'_>,
    seconds: f32,
    control: Option<&Bound<'_, PyAny>>,
    terrain: Option<&Bound<'_, PyAny>>,
    seed: u64,
    pushes: Option<&Bound<'_, PyAny>>,
    model: Option<&Bound<'_, PyAny>>,
    config: Option<PathBuf>,
    settings: Option<&Bound<'_, PyAny>>,
    stature: Option<f32>,
    mass: Option<f32>,
) -> PyResult<PyRecording> {
    let seconds = self::seconds(seconds)?;
    let control = control.map_or(Ok("walk".to_owned()), |given| name(given, "control"))?;
    let terrain = terrain.map_or(Ok("hills".to_owned()), |given| name(given, "terrain"))?;
    let mut settings: GeneratorConfig = self::config(config, settings)?;
    set_body(
        &mut settings,
        within("stature", stature, 1.5, 2.0, "m")?,
        within("mass", mass, 5.0, 500.0, "kg")?,
    );
    let model = model::find(model, py)?;
    let pushes = timed_pushes(pushes, &model.description.body_names, seconds)?;
    let (control, terrain) = (control.as_str(), terrain.as_str());
    let request =
        RolloutRequest { terrain, control, seconds, seed, settings, pushes: &pushes, throws: Vec::new() };
    let mut signals = Signals::new();
    let recording = py.detach(|| -> anyhow::Result<Recording> {
        let recipe = request.recipe(&model)?;
        let flow = |_| match signals.flow() {
            ControlFlow::Continue(()) => ControlFlow::Continue(0.0),
            ControlFlow::Break(()) => ControlFlow::Break(()),
        };
        let mut recording = recipe.run_while(&model, "rollout", flow)?;
        if let Some(generation) = &mut recording.generation {
            generation.frame_time_us = None;
        }
        Ok(Recording { source: request.source(&model), ..recording })
    });
    Ok(PyRecording::new(signals.or(recording.or_raise())?))
}

/// A number that was given, if it is within its range.
pub fn within(what: &str, given: Option<f32>, low: f32, high: f32, unit: &str) -> PyResult<Option<f32>> {
    match given {
        Some(value) if !(low..=high).contains(&value) => {
            Err(crate::errors::wrong(format!("{what} = {value}: give a number from {low} to {high} {unit}")))
        }
        given => Ok(given),
    }
}

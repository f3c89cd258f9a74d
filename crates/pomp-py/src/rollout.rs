//! Whole rollouts, identical to those of the command line.

use crate::arguments::{config, name, seconds, styled};
use crate::errors::OrRaise;
use crate::generator::timed_pushes;
use crate::interrupt::Signals;
use crate::model;
use crate::recording::PyRecording;
use pomp_front::rollout::{RolloutRequest, set_body};
use pomp_motion::Recording;
use pyo3::prelude::*;
use std::ops::ControlFlow;
use std::path::PathBuf;

/// Generates one rollout, as `pomp generate` does. Saved as npz, it has the same bytes as rollout.npz of the command.
///
/// Args:
///     seconds: Length; 60 frames per second.
///     control: A preset (stand, walk, jog, circle, slalom, stop-and-go, backward, sideways, crouch, run, turn), a goal
///         (reach:X,Z,DEG), a path file (.toml), or a clip (.bvh, .glb, .gltf, .npz) whose path is followed; if left out, "walk".
///     terrain: A preset (flat, slope, stairs, hills, rough, gaps, mixed) or a file (.toml, .png, .npz); if left out, "hills".
///     seed: Seed of terrain, noise and random pushes.
///     pushes: Pushes, each a text in the form of the command line ("5,Spine2,50,left") or (seconds, body, impulse): a body by name, N·s
///         in world space.
///     model: A Model or the folder of one; if left out, the embedded compact model.
///     config: A configuration of the loop (.toml); if left out, the defaults.
///     settings: Values that override the configuration: a dict of KEY.PATH to value, or a list of "KEY.PATH=VALUE".
///     stature: Height of the character, metres, 1.5 to 2.0; if left out, that of the model's skeleton.
///     mass: Mass of the character, kg, 5 to 500; if left out, that of the settings.
///     style: Weights of the styles in which the character walks, as {"zombie": 0.7}; if left out, those of the settings.
#[pyfunction]
#[pyo3(signature = (
    seconds=10.0, control=None, terrain=None, *, seed=0, pushes=None, model=None, config=None, settings=None, stature=None, mass=None,
    style=None
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
    style: Option<&Bound<'_, PyAny>>,
) -> PyResult<PyRecording> {
    let seconds = self::seconds(seconds)?;
    let control = control.map_or(Ok("walk".to_owned()), |given| name(given, "control"))?;
    let terrain = terrain.map_or(Ok("hills".to_owned()), |given| name(given, "terrain"))?;
    let mut settings = styled(self::config(config, settings)?, style)?;
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

/// Checks that a given number is within its range.
pub fn within(what: &str, given: Option<f32>, low: f32, high: f32, unit: &str) -> PyResult<Option<f32>> {
    match given {
        Some(value) if !(low..=high).contains(&value) => {
            Err(crate::errors::wrong(format!("{what} = {value}: give a number from {low} to {high} {unit}")))
        }
        given => Ok(given),
    }
}

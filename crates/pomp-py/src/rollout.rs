//! Whole rollouts, identical to those of the command line.

use crate::arguments::{self, name, seconds};
use crate::errors::OrRaise;
use crate::generator::timed_pushes;
use crate::interrupt::Signals;
use crate::model;
use crate::recording::PyRecording;
use crate::terrain::PyTerrain;
use pomp_front::model::Models;
use pomp_front::rollout::{RolloutRequest, set_body};
use pomp_front::support::{Chosen, Ground, LoopSettings, Situation, Supports};
use pomp_generator::GeneratorConfig;
use pomp_model::Model;
use pomp_motion::Recording;
use pyo3::exceptions::PyUserWarning;
use pyo3::prelude::*;
use std::ffi::CString;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

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
///     model: A Model or the folder of one; if left out, the embedded models, as on the command line.
///     support: What holds the character up: "own-feet" or "assist". If left out, as on the command line: own-feet where it was measured to
///         hold, elsewhere assist. It cannot be combined with config.
///     config: A configuration of the loop (.toml), over the settings of configs/generate.toml.
///     settings: Values that override the configuration: a dict of KEY.PATH to value, or a list of "KEY.PATH=VALUE".
///     stature: Height of the character, metres, 1.5 to 2.0; if left out, that of the model's skeleton.
///     mass: Mass of the character, kg, 5 to 500; if left out, that of the settings.
///     style: Weights of the styles in which the character walks, as {"zombie": 0.7}; if left out, those of the settings.
#[pyfunction]
#[pyo3(signature = (
    seconds=10.0, control=None, terrain=None, *, seed=0, pushes=None, model=None, support=None, config=None, settings=None, stature=None,
    mass=None, style=None
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
    support: Option<&str>,
    config: Option<PathBuf>,
    settings: Option<&Bound<'_, PyAny>>,
    stature: Option<f32>,
    mass: Option<f32>,
    style: Option<&Bound<'_, PyAny>>,
) -> PyResult<PyRecording> {
    let seconds = self::seconds(seconds)?;
    let control = control.map_or(Ok("walk".to_owned()), |given| name(given, "control"))?;
    let terrain = terrain.map_or(Ok("hills".to_owned()), |given| name(given, "terrain"))?;
    let models = model::find_all(model, py)?;
    let asked = LoopArguments { support, config, settings, stature, mass, style };
    let situation = Situation::Given { terrain: &terrain, control: &control, seconds };
    let Chosen { model, settings, .. } = asked.choose(py, &models, situation)?;
    let pushes = timed_pushes(pushes, &model.description.body_names, seconds)?;
    let (control, terrain) = (control.as_str(), terrain.as_str());
    let request =
        RolloutRequest { terrain, control, seconds, seed, settings, pushes: &pushes, throws: Vec::new() };
    let mut signals = Signals::new();
    let recording = py.detach(|| -> anyhow::Result<Recording> {
        let recipe = request.recipe(model)?;
        let flow = |_| match signals.flow() {
            ControlFlow::Continue(()) => ControlFlow::Continue(0.0),
            ControlFlow::Break(()) => ControlFlow::Break(()),
        };
        let mut recording = recipe.run_while(model, "rollout", flow)?;
        if let Some(generation) = &mut recording.generation {
            generation.frame_time_us = None;
        }
        Ok(Recording { source: request.source(model), ..recording })
    });
    Ok(PyRecording::new(signals.or(recording.or_raise())?))
}

/// What a caller says of the settings of the loop.
pub struct LoopArguments<'a, 'py> {
    pub support: Option<&'a str>,
    pub config: Option<PathBuf>,
    pub settings: Option<&'a Bound<'py, PyAny>>,
    pub stature: Option<f32>,
    pub mass: Option<f32>,
    pub style: Option<&'a Bound<'py, PyAny>>,
}

impl LoopArguments<'_, '_> {
    /// The settings, with the support that is asked for, or with the one that suits the situation.
    /// A warning tells what helps the character from outside although nobody asked for it.
    pub fn choose<'m>(
        &self,
        py: Python<'_>,
        models: &'m Models,
        situation: Situation<'_>,
    ) -> PyResult<Chosen<'m>> {
        let chosen = self.with(|asked, change| asked.choose(models, situation, change))?;
        warn(py, chosen.note.as_deref())?;
        Ok(chosen)
    }

    /// The model and the settings of characters that are steered on `terrain`, as [`Self::choose`].
    pub fn steered(
        &self,
        model: Option<&Bound<'_, PyAny>>,
        terrain: &Bound<'_, PyAny>,
    ) -> PyResult<(Arc<Model>, GeneratorConfig)> {
        let py = terrain.py();
        let models = model::find_all(model, py)?;
        let given = terrain.cast::<PyTerrain>().ok();
        let named = if given.is_some() { String::new() } else { name(terrain, "terrain")? };
        let ground = given.map_or(Ground::Named(&named), |given| Ground::Given(&given.get().map));
        let situation = Situation::Steered { ground };
        let Chosen { model, settings, .. } = self.choose(py, &models, situation)?;
        Ok((Arc::clone(model), settings))
    }

    /// The settings of each support for scenes that are drawn. A warning tells as with [`Self::choose`].
    pub fn choose_drawn<'m>(&self, py: Python<'_>, models: &'m Models) -> PyResult<Supports<'m>> {
        let supports = self.with(|asked, change| asked.choose_drawn(models, change))?;
        warn(py, supports.note.as_deref())?;
        Ok(supports)
    }

    /// Lets `choose` choose by what the caller says, and by how it changes what is chosen.
    fn with<T>(
        &self,
        choose: impl FnOnce(
            LoopSettings<'_>,
            &dyn Fn(&mut GeneratorConfig) -> anyhow::Result<()>,
        ) -> anyhow::Result<T>,
    ) -> PyResult<T> {
        let stature = within("stature", self.stature, 1.5, 2.0, "m")?;
        let mass = within("mass", self.mass, 5.0, 500.0, "kg")?;
        let style = self.style.map(arguments::style).transpose()?;
        let asked = LoopSettings {
            config: self.config.as_deref(),
            set: &arguments::settings(self.settings)?,
            support: self.support.map(str::parse).transpose().or_raise()?,
        };
        let change = |settings: &mut GeneratorConfig| {
            set_body(settings, stature, mass);
            if let Some(style) = &style {
                settings.style.clone_from(style);
            }
            Ok(())
        };
        choose(asked, &change).or_raise()
    }
}

/// Warns of what helps a character from outside although nobody asked for it.
fn warn(py: Python<'_>, note: Option<&str>) -> PyResult<()> {
    let Some(note) = note else { return Ok(()) };
    // The name of a ground may hold anything.
    let note = note.replace('\0', "");
    let told = CString::new(format!("{note}; support=\"own-feet\" leaves it out"));
    let told = told.expect("it holds no zero now");
    PyErr::warn(py, &py.get_type::<PyUserWarning>(), &told, 1)
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

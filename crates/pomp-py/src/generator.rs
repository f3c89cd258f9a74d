//! One character in the closed loop.

use crate::arguments::{GAITS, floats, gait, pushes, seconds, style, vec2};
use crate::closable::Closable;
use crate::errors::{OrRaise, wrong};
use crate::interrupt::{Signals, in_background};
use crate::recording::PyRecording;
use crate::rollout::LoopArguments;
use crate::step::PyStep;
use crate::terrain::{self, PyTerrain};
use anyhow::Error;
use glam::Vec2;
use pomp_front::pushes::{PushRequest, draw, pushes_of};
use pomp_front::rollout::BEYOND_S;
use pomp_generator::control::ControlSample;
use pomp_generator::{
    ControlPlan, FRAME_RATE_HZ, Generator, GeneratorSnapshot, LiveControl, Steering, record_while,
};
use pomp_model::Model;
use pomp_motion::Gait;
use pyo3::prelude::*;
use pyo3::types::PyString;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

/// A simulated character on a terrain. `step` advances it by one frame (a sixtieth of a second), `run` by a whole rollout.
///
/// The character starts at x = z = 0 and faces +Z; +X is to its left. The same arguments and calls produce the same numbers. Calls are
/// allowed from any thread and wait for each other.
///
/// Args:
///     model: A Model or the folder of one; if left out, an embedded one: on its own feet the model of all directions, with the assist the
///         compact model.
///     terrain: A Terrain, a preset (flat, slope, stairs, hills, rough, gaps, mixed) or a file (.toml, .png, .npz).
///     config: A configuration of the loop (.toml); if left out, the defaults.
///     settings: Values that override the configuration: a dict of KEY.PATH to value, or a list of "KEY.PATH=VALUE".
///     seed: Seed of noise and terrain.
///     start: Gait of the start: stand, walk, jog, crouch or jump.
///     style: Weights of the styles in which the character walks, as {"zombie": 0.7}, in place of those of `config` and `settings`.
///     support: What holds the character up: "own-feet" or "assist". If left out: own-feet on the presets but stairs, and on ground as even
///         as one of them, if no model and no style is given; elsewhere assist, and a warning says so. It cannot be combined with config.
#[pyclass(frozen, module = "pomp", name = "Generator")]
pub struct PyGenerator {
    inner: Closable<Inner>,
    bodies: Vec<String>,
    joints: Vec<String>,
    settings_hash: String,
    model: Arc<Model>,
    seed: u64,
}

struct Inner {
    generator: Generator,
    control: LiveControl,
}

/// A stored state of a Generator between two frames.
#[pyclass(frozen, module = "pomp", name = "Snapshot")]
pub struct PySnapshot {
    generator: GeneratorSnapshot,
    control: LiveControl,
    settings_hash: String,
    model_sha256: Option<String>,
}

#[pymethods]
impl PySnapshot {
    /// Number of frames before the snapshot.
    #[getter]
    fn frames(&self) -> usize {
        self.generator.frames()
    }

    fn __repr__(&self) -> String {
        format!("<pomp.Snapshot after {} frames>", self.generator.frames())
    }
}

/// Reach of a preset terrain for a character whose path is not known in advance, metres.
pub const REACH_M: f32 = 50.0;

/// The live command of a new character: at the origin, with the speed of its start gait.
pub fn live_control(generator: &Generator, start: Gait) -> LiveControl {
    let speed_mps = start_speed_mps(start);
    LiveControl::new(generator.terrain().bounds(), speed_mps, FRAME_RATE_HZ)
}

fn start_speed_mps(start: Gait) -> f32 {
    match start {
        Gait::Walk => 1.2,
        Gait::Jog => 2.4,
        _ => 0.0,
    }
}

#[pymethods]
impl PyGenerator {
    #[new]
    #[pyo3(signature = (
        model=None, *, terrain=None, config=None, settings=None, seed=0, start="stand", style=None,
        support=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn new(
        py: Python<'_>,
        model: Option<&Bound<'_, PyAny>>,
        terrain: Option<&Bound<'_, PyAny>>,
        config: Option<PathBuf>,
        settings: Option<&Bound<'_, PyAny>>,
        seed: u64,
        start: &str,
        style: Option<&Bound<'_, PyAny>>,
        support: Option<&str>,
    ) -> PyResult<Self> {
        let start = gait(start)?;
        let asked = LoopArguments { support, config, settings, stature: None, mass: None, style };
        let flat = PyString::new(py, "flat").into_any();
        let ground = terrain.unwrap_or(&flat);
        let (model, settings) = asked.steered(model, ground)?;
        let ground = terrain::find(ground, seed, REACH_M)?;
        let (settings_hash, of_model) = (settings.hash(), Arc::clone(&model));
        let made = in_background(py, move || Generator::new(&of_model, ground, &settings, start, seed))?;
        let generator = made.or_raise()?;
        let control = live_control(&generator, start);
        Ok(Self {
            bodies: generator.body_names().to_vec(),
            joints: generator.skeleton().joints().iter().map(|joint| joint.name.clone()).collect(),
            inner: Closable::new("generator", Inner { generator, control }),
            settings_hash,
            model,
            seed,
        })
    }

    /// Advances the simulation by one frame.
    ///
    /// Args:
    ///     direction: Commanded direction, world x and z. Its length is the share of the gait's speed, at most 1. None or (0, 0) stops.
    ///     gait: stand, walk, jog, crouch or jump.
    ///     pushes: Pushes during the frame, each (body, impulse) or (body, impulse, point): a body by name or index, N·s and metres in
    ///         world space. Without a point, a push acts at the centre of mass of the body.
    ///     facing: Commanded facing direction, world x and z. (0, 0) keeps the heading. None faces the direction of motion.
    #[pyo3(signature = (direction=None, gait="walk", pushes=None, *, facing=None))]
    fn step(
        &self,
        py: Python<'_>,
        direction: Option<&Bound<'_, PyAny>>,
        gait: &str,
        pushes: Option<&Bound<'_, PyAny>>,
        facing: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyStep> {
        let direction = direction.map_or(Ok(Vec2::ZERO), |given| vec2(given, "direction"))?;
        let facing = facing.map(|given| vec2(given, "facing")).transpose()?;
        let steering = Steering { direction, gait: self::gait(gait)?, facing };
        let pushes = self::pushes(pushes, &self.bodies)?;
        let step = self.inner.with(py, |inner| {
            inner.generator.step_steered(&mut inner.control, steering, &pushes).map_err(Error::from)
        })?;
        Ok(PyStep { output: step.output })
    }

    /// Advances the simulation by `seconds` along a command and returns the recording.
    ///
    /// Args:
    ///     seconds: Length; 60 frames per second.
    ///     control: A preset (stand, walk, jog, circle, slalom, stop-and-go, backward, sideways, crouch, run, turn), a goal
    ///         (reach:X,Z,DEG), a path file (.toml), a clip (.bvh, .glb, .gltf, .npz) whose path is followed, or an array of the
    ///         shape (N, 5) with a row per frame: root x and z (metres), heading (radians), speed (m/s), index into GAITS. The
    ///         command begins at the position of the character.
    ///     pushes: Pushes, each a text in the form of the command line ("5,Spine2,50,left") or (seconds from now, body, impulse): a body
    ///         by name, N·s in world space.
    ///     name: Name of the recording.
    #[pyo3(signature = (seconds, control=None, pushes=None, *, name="rollout"))]
    fn run(
        &self,
        py: Python<'_>,
        seconds: f32,
        control: Option<&Bound<'_, PyAny>>,
        pushes: Option<&Bound<'_, PyAny>>,
        name: &str,
    ) -> PyResult<PyRecording> {
        let seconds = self::seconds(seconds)?;
        let walk = PyString::new(py, "walk").into_any();
        let plan = plan(control.unwrap_or(&walk), seconds)?;
        let requests = timed_pushes(pushes, &self.bodies, seconds)?;
        let frames = (seconds * FRAME_RATE_HZ).round().max(1.0) as usize;
        let mut signals = Signals::new();
        let recording = self.inner.with(py, |inner| {
            let generator = &mut inner.generator;
            let plan = if generator.frames() > 0 {
                plan.moved(generator.root_position(), generator.root_yaw())
            } else {
                plan
            };
            generator.begin_plan();
            let pushes = draw(&requests, &plan, self.seed);
            let flow = |_| match signals.flow() {
                ControlFlow::Continue(()) => ControlFlow::Continue(0.0),
                ControlFlow::Break(()) => ControlFlow::Break(()),
            };
            let mut recording = record_while(generator, name, &plan, &pushes, frames, flow)?;
            if let Some(generation) = &mut recording.generation {
                generation.frame_time_us = None;
            }
            Ok(recording)
        });
        Ok(PyRecording::new(signals.or(recording)?))
    }

    /// Stores the current state; `restore` returns to it.
    fn save(&self, py: Python<'_>) -> PyResult<PySnapshot> {
        self.inner.with(py, |inner| {
            Ok(PySnapshot {
                generator: inner.generator.save(),
                control: inner.control,
                settings_hash: self.settings_hash.clone(),
                model_sha256: self.model.files_sha256.clone(),
            })
        })
    }

    /// Returns to the state of a snapshot of this generator, or of a generator with the same model, terrain and settings. The simulation
    /// continues bit for bit.
    fn restore(&self, py: Python<'_>, snapshot: &Bound<'_, PySnapshot>) -> PyResult<()> {
        let snapshot = snapshot.get();
        if (&snapshot.settings_hash, &snapshot.model_sha256)
            != (&self.settings_hash, &self.model.files_sha256)
        {
            return Err(wrong(
                "the snapshot is of a generator with another model or other settings; give one of the same"
                    .to_owned(),
            ));
        }
        self.inner.with(py, |inner| {
            inner.generator.restore(&snapshot.generator)?;
            inner.control = snapshot.control;
            Ok(())
        })
    }

    /// Walks in a style from the next frame on. A snapshot holds the style, and `restore` returns to it.
    ///
    /// Args:
    ///     style: Weights of the model's styles, as {"zombie": 0.7}, 0 to 1 and together at most 1. {} is the model's own walk.
    fn set_style(&self, py: Python<'_>, style: &Bound<'_, PyAny>) -> PyResult<()> {
        let style = self::style(style)?;
        self.inner.with(py, |inner| Ok(inner.generator.set_style(&self.model, &style)?))
    }

    /// Replaces the terrain from the next frame on.
    #[pyo3(signature = (terrain, *, seed=0))]
    fn set_terrain(&self, py: Python<'_>, terrain: &Bound<'_, PyAny>, seed: u64) -> PyResult<()> {
        let ground = terrain::find(terrain, seed, REACH_M)?;
        self.inner.with(py, |inner| Ok(inner.generator.set_terrain(ground)?))
    }

    /// Frees the simulator. Every later call raises an error.
    fn close(&self, py: Python<'_>) {
        self.inner.close(py);
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_raised))]
    fn __exit__(&self, py: Python<'_>, _raised: &Bound<'_, PyAny>) {
        self.close(py);
    }

    /// Names of the bodies, in the order of contact impulses and pushes.
    #[getter]
    fn body_names(&self) -> Vec<String> {
        self.bodies.clone()
    }

    /// Names of the joints.
    #[getter]
    fn joint_names(&self) -> Vec<String> {
        self.joints.clone()
    }

    /// Masses of the bodies, kg.
    #[getter]
    fn body_mass(&self, py: Python<'_>) -> PyResult<Vec<f32>> {
        self.inner.with(py, |inner| Ok(inner.generator.body_masses().to_vec()))
    }

    /// Number of frames simulated so far.
    #[getter]
    fn frames(&self, py: Python<'_>) -> PyResult<usize> {
        self.inner.with(py, |inner| Ok(inner.generator.frames()))
    }

    /// Whether the character has fallen and not yet got up.
    #[getter]
    fn fallen(&self, py: Python<'_>) -> PyResult<bool> {
        self.inner.with(py, |inner| Ok(inner.generator.has_fallen()))
    }

    /// Position of the root on the ground plane and heading: world x and z (metres), yaw (radians).
    #[getter]
    fn root(&self, py: Python<'_>) -> PyResult<(f32, f32, f32)> {
        self.inner.with(py, |inner| {
            let at = inner.generator.root_position();
            Ok((at.x, at.y, inner.generator.root_yaw()))
        })
    }

    /// Weights of the styles in which the character walks.
    #[getter]
    fn style(&self, py: Python<'_>) -> PyResult<BTreeMap<String, f32>> {
        self.inner.with(py, |inner| Ok(inner.generator.style().clone()))
    }

    /// The terrain.
    #[getter]
    fn terrain(&self, py: Python<'_>) -> PyResult<PyTerrain> {
        self.inner.with(py, |inner| Ok(PyTerrain { map: inner.generator.terrain().clone(), report: None }))
    }

    fn __repr__(&self) -> String {
        format!("<pomp.Generator of {} bodies, seed {}>", self.bodies.len(), self.seed)
    }
}

/// A command by name or file, or as an array.
pub fn plan(given: &Bound<'_, PyAny>, seconds: f32) -> PyResult<ControlPlan> {
    if given.hasattr("__array__")? || given.hasattr("append")? {
        let (rows, _) = floats(given, "control", &[0, 5])?;
        let samples = rows.chunks_exact(5).map(|row| {
            let known = row[4].fract() == 0.0 && (0.0..Gait::COUNT as f32).contains(&row[4]);
            let gait = if known { Some(Gait::ALL[row[4] as usize]) } else { None };
            let gait = gait.filter(|gait| GAITS.contains(gait)).ok_or_else(|| {
                wrong(format!(
                    "control: {} is no index of a gait to ask for; give 0 to {}",
                    row[4],
                    GAITS.len() - 1
                ))
            })?;
            Ok(ControlSample { position: Vec2::new(row[0], row[1]), yaw: row[2], speed_mps: row[3], gait })
        });
        return ControlPlan::of_samples(samples.collect::<PyResult<_>>()?, FRAME_RATE_HZ).or_raise();
    }
    let name = crate::arguments::name(given, "control")?;
    in_background(given.py(), move || pomp_front::control::find(&name, seconds + BEYOND_S))?.or_raise()
}

/// Pushes of a run: texts, or triples of time, body and impulse.
pub fn timed_pushes(
    given: Option<&Bound<'_, PyAny>>,
    names: &[String],
    seconds: f32,
) -> PyResult<Vec<PushRequest>> {
    let Some(given) = given else { return Ok(Vec::new()) };
    if given.is_instance_of::<PyString>() {
        return Err(wrong("pushes: give a list of pushes".to_owned()));
    }
    let mut requests = Vec::new();
    for push in given.try_iter()? {
        let push = push?;
        if let Ok(text) = push.extract::<String>() {
            requests.extend(pushes_of(&[text], names, seconds).or_raise()?);
            continue;
        }
        let parts: Vec<Bound<'_, PyAny>> = push.try_iter()?.collect::<PyResult<_>>()?;
        let [time_s, body, impulse] = &parts[..] else {
            return Err(wrong(format!(
                "pushes: a push is (seconds, body, impulse), not {} values",
                parts.len()
            )));
        };
        let impulse = crate::arguments::vec3(impulse, "the impulse of a push")?;
        let body = &names[crate::arguments::body(body, names)?];
        requests.push(PushRequest::of_impulse(time_s.extract()?, body, impulse, names, seconds).or_raise()?);
    }
    Ok(requests)
}

//! Many characters at once, on all cores.

use crate::arguments::{GAITS, body, floats, gait, vec3};
use crate::arrays::array;
use crate::closable::Closable;
use crate::errors::{OrRaise, wrong};
use crate::generator::{REACH_M, live_control};
use crate::rollout::LoopArguments;
use crate::terrain;
use crate::vec_step::PyVecStep;
use anyhow::Context;
use glam::Vec2;
use numpy::PyArrayDyn;
use pomp_generator::{
    CharacterInput, CharacterSetup, ControlPlan, Generator, GeneratorConfig, LiveControl, Networks, Steering,
    StepOutput, Worlds,
};
use pomp_model::Model;
use pomp_motion::Gait;
use pomp_physics::Push;
use pomp_terrain::HeightMap;
use pyo3::prelude::*;
use pyo3::types::PyString;
use rayon::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;

/// Most characters in a group whose networks run together: the weights are read once per group, and every core gets groups.
const TOGETHER: usize = 8;

/// Many characters, each in its own world, simulated frame by frame on all cores.
///
/// The bytes of a character's results do not depend on the other characters or the number of threads. The arguments are those of
/// Generator. Character i has the seed `seed` + i and, on a preset, the terrain of that seed.
///
/// Args:
///     count: Number of characters, n.
///     threads: Number of threads; if left out, one per core.
#[pyclass(frozen, module = "pomp", name = "VecGenerator")]
pub struct PyVecGenerator {
    inner: Closable<Inner>,
    count: usize,
    bodies: Vec<String>,
    model: Arc<Model>,
    settings: GeneratorConfig,
    /// Seed of the first character.
    seed: u64,
}

struct Inner {
    pool: rayon::ThreadPool,
    groups: Vec<Group>,
    /// Number of characters per group; the last group may have fewer.
    together: usize,
}

/// Characters whose networks are evaluated together.
struct Group {
    worlds: Worlds,
    controls: Vec<LiveControl>,
}

/// The command of one character.
#[derive(Clone)]
struct Asked {
    steering: Steering,
    pushes: Vec<Push>,
}

#[pymethods]
impl PyVecGenerator {
    #[new]
    #[pyo3(signature = (
        count, model=None, *, terrain=None, config=None, settings=None, seed=0, start="stand", threads=None,
        style=None, support=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn new(
        py: Python<'_>,
        count: usize,
        model: Option<&Bound<'_, PyAny>>,
        terrain: Option<&Bound<'_, PyAny>>,
        config: Option<PathBuf>,
        settings: Option<&Bound<'_, PyAny>>,
        seed: u64,
        start: &str,
        threads: Option<usize>,
        style: Option<&Bound<'_, PyAny>>,
        support: Option<&str>,
    ) -> PyResult<Self> {
        let start = gait(start)?;
        crate::arguments::count(count)?;
        if seed.checked_add(count as u64).is_none() {
            return Err(wrong(format!(
                "seed = {seed}: there are not {count} seeds left; give a smaller one"
            )));
        }
        let threads = crate::arguments::threads(threads)?;
        let asked = LoopArguments { support, config, settings, stature: None, mass: None, style };
        let flat = PyString::new(py, "flat").into_any();
        let ground = terrain.unwrap_or(&flat);
        let (model, settings) = asked.steered(model, ground)?;
        let grounds: Vec<HeightMap> = (0..count as u64)
            .map(|index| terrain::find(ground, seed + index, REACH_M))
            .collect::<PyResult<_>>()?;
        let threads = threads.min(count);
        let together = count.div_ceil(threads).min(TOGETHER);
        let inner = py
            .detach(|| Inner::new(&model, &settings, grounds, seed, start, threads, together))
            .or_raise()?;
        let bodies = model.description.body_names.clone();
        Ok(Self { inner: Closable::new("generator", inner), count, bodies, model, settings, seed })
    }

    /// Advances every character by one frame.
    ///
    /// A failure of one character does not affect the others. The error names the character; reset it.
    ///
    /// Args:
    ///     directions: Commanded directions, world x and z, of the shape (n, 2). The length of a direction is the share of the gait's
    ///         speed, at most 1. None stops all characters.
    ///     gaits: One gait for all characters (stand, walk, jog, crouch, jump), or an index into GAITS for each, of the shape (n,).
    ///     pushes: Pushes during the frame, each (character, body, impulse): an index, a body by name or index, N·s in world space.
    ///     facing: Commanded facing directions, world x and z, of the shape (n, 2). (0, 0) keeps the heading. With None, each character
    ///         faces its direction of motion.
    #[pyo3(signature = (directions=None, gaits=None, pushes=None, *, facing=None))]
    fn step(
        &self,
        py: Python<'_>,
        directions: Option<&Bound<'_, PyAny>>,
        gaits: Option<&Bound<'_, PyAny>>,
        pushes: Option<&Bound<'_, PyAny>>,
        facing: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyVecStep> {
        let mut asked = self.asked(directions, gaits, facing)?;
        for push in pushes.map_or(Ok(Vec::new()), |given| given.try_iter()?.collect::<PyResult<Vec<_>>>())? {
            let parts: Vec<Bound<'_, PyAny>> = push.try_iter()?.collect::<PyResult<_>>()?;
            let [character, named, impulse] = &parts[..] else {
                return Err(wrong(format!(
                    "pushes: a push is (character, body, impulse), not {} values",
                    parts.len()
                )));
            };
            let character = self.character(character.extract()?)?;
            let impulse_ns = vec3(impulse, "the impulse of a push")?;
            asked[character].pushes.push(Push { body: body(named, &self.bodies)?, impulse_ns, point: None });
        }
        let outputs = self.inner.with(py, |inner| inner.step(&asked))?;
        PyVecStep::of(py, &outputs)
    }

    /// Resets characters to the start, with new seeds if `seeds` are given. They keep their style.
    ///
    /// Args:
    ///     indices: Indices of the characters; if left out, all.
    ///     seeds: One seed for each of them; if left out, `seed` + index.
    ///     terrain: A new terrain for them, as in Generator; if left out, each keeps its terrain.
    ///     start: Gait of the start.
    #[pyo3(signature = (indices=None, *, seeds=None, terrain=None, start="stand"))]
    fn reset(
        &self,
        py: Python<'_>,
        indices: Option<Vec<usize>>,
        seeds: Option<Vec<u64>>,
        terrain: Option<&Bound<'_, PyAny>>,
        start: &str,
    ) -> PyResult<()> {
        let start = gait(start)?;
        let indices = self.characters(indices)?;
        let own = || indices.iter().map(|&index| self.seed + index as u64).collect();
        let seeds = seeds.unwrap_or_else(own);
        if seeds.len() != indices.len() {
            return Err(wrong(format!(
                "seeds: {} for {} characters; give one for each",
                seeds.len(),
                indices.len()
            )));
        }
        let grounds: Option<Vec<HeightMap>> = terrain
            .map(|given| {
                seeds.iter().map(|&seed| terrain::find(given, seed, REACH_M)).collect::<PyResult<_>>()
            })
            .transpose()?;
        let (model, settings) = (&self.model, &self.settings);
        self.inner.with(py, |inner| inner.reset(model, settings, &indices, &seeds, grounds, start))
    }

    /// Lets characters walk in a style from the next frame on. `reset` keeps the style of a character.
    ///
    /// Args:
    ///     style: Weights of the model's styles, as {"zombie": 0.7}, 0 to 1 and together at most 1. {} is the model's own walk.
    ///     indices: Indices of the characters; if left out, all.
    #[pyo3(signature = (style, indices=None))]
    fn set_style(
        &self,
        py: Python<'_>,
        style: &Bound<'_, PyAny>,
        indices: Option<Vec<usize>>,
    ) -> PyResult<()> {
        let style = crate::arguments::style(style)?;
        let indices = self.characters(indices)?;
        self.inner.with(py, |inner| {
            for index in indices {
                inner.character_mut(index).set_style(&self.model, &style)?;
            }
            Ok(())
        })
    }

    /// Height of each character's terrain at k points, metres, of the shape (n, k). Beyond the edge it is the height of the edge.
    ///
    /// Args:
    ///     points: World x and z, metres, of the shape (n, k, 2).
    fn ground_heights<'py>(
        &self,
        py: Python<'py>,
        points: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f32>>> {
        let (values, shape) = floats(points, "points", &[self.count, 0, 2])?;
        let of_each = shape[1];
        let heights = self.inner.with(py, |inner| {
            let characters = inner.groups.iter().flat_map(|group| group.worlds.characters());
            let terrains: Vec<&HeightMap> = characters.map(Generator::terrain).collect();
            let points = values.chunks_exact(2).enumerate();
            Ok(points.map(|(at, point)| terrains[at / of_each].height(point[0], point[1])).collect())
        })?;
        array(py, heights, &[self.count, of_each])
    }

    /// Frees the simulators. Every later call raises an error.
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

    /// Number of characters, n.
    fn __len__(&self) -> usize {
        self.count
    }

    fn __repr__(&self) -> String {
        format!("<pomp.VecGenerator of {} characters>", self.count)
    }
}

impl PyVecGenerator {
    fn character(&self, index: usize) -> PyResult<usize> {
        if index < self.count {
            return Ok(index);
        }
        Err(wrong(format!("there is no character {index}; there are {}, counted from 0", self.count)))
    }

    /// Checked indices; if left out, those of all characters.
    fn characters(&self, indices: Option<Vec<usize>>) -> PyResult<Vec<usize>> {
        let indices = indices.unwrap_or_else(|| (0..self.count).collect());
        for &index in &indices {
            self.character(index)?;
        }
        Ok(indices)
    }

    fn asked(
        &self,
        directions: Option<&Bound<'_, PyAny>>,
        gaits: Option<&Bound<'_, PyAny>>,
        facing: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<Asked>> {
        let directions = match directions {
            Some(given) => floats(given, "directions", &[self.count, 2])?.0,
            None => vec![0.0; 2 * self.count],
        };
        let gaits: Vec<Gait> = match gaits {
            None => vec![Gait::Walk; self.count],
            Some(given) if given.is_instance_of::<PyString>() => vec![gait(given.extract()?)?; self.count],
            Some(given) => {
                let (indices, _) = floats(given, "gaits", &[self.count])?;
                let of =
                    |index: f32| GAITS.get(index as usize).filter(|_| index >= 0.0 && index.fract() == 0.0);
                let found = indices.iter().map(|&index| {
                    let wrong =
                        || wrong(format!("gaits: {index} is no index of a gait to ask for; give 0 to 4"));
                    of(index).copied().ok_or_else(wrong)
                });
                found.collect::<PyResult<_>>()?
            }
        };
        let facing: Vec<Option<Vec2>> = match facing {
            None => vec![None; self.count],
            Some(given) => {
                let (numbers, _) = floats(given, "facing", &[self.count, 2])?;
                numbers.chunks_exact(2).map(|pair| Some(Vec2::from_slice(pair))).collect()
            }
        };
        let directions = directions.chunks_exact(2).map(Vec2::from_slice);
        let asked = directions.zip(gaits).zip(facing).map(|((direction, gait), facing)| Asked {
            steering: Steering { direction, gait, facing },
            pushes: Vec::new(),
        });
        Ok(asked.collect())
    }
}

impl Inner {
    fn new(
        model: &Model,
        settings: &GeneratorConfig,
        grounds: Vec<HeightMap>,
        seed: u64,
        start: Gait,
        threads: usize,
        together: usize,
    ) -> anyhow::Result<Self> {
        let networks = Networks::new(model, settings)?;
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
        let mut grounds: Vec<Option<HeightMap>> = grounds.into_iter().map(Some).collect();
        let groups = pool.install(|| {
            grounds
                .par_chunks_mut(together)
                .enumerate()
                .map(|(group, grounds)| {
                    let mut worlds = Worlds::new(networks.clone());
                    for (place, ground) in grounds.iter_mut().enumerate() {
                        let ground = ground.take().context("every ground is used once")?;
                        let seed = seed + (group * together + place) as u64;
                        worlds.add(model, ground, &setup(settings, start, seed))?;
                    }
                    let controls =
                        worlds.characters().iter().map(|character| live_control(character, start)).collect();
                    Ok(Group { worlds, controls })
                })
                .collect::<anyhow::Result<Vec<Group>>>()
        })?;
        Ok(Self { pool, groups, together })
    }

    /// Simulates one frame of all characters. Returns the first error with its character.
    fn step(&mut self, asked: &[Asked]) -> anyhow::Result<Vec<StepOutput>> {
        let Self { pool, groups, together } = self;
        let steps: Vec<Vec<anyhow::Result<StepOutput>>> = pool.install(|| {
            let asked = asked.par_chunks(*together);
            groups.par_iter_mut().zip(asked).with_max_len(1).map(|(group, asked)| group.step(asked)).collect()
        });
        let steps = steps.into_iter().flatten().enumerate();
        steps.map(|(index, step)| step.with_context(|| format!("character {index}"))).collect()
    }

    fn character_mut(&mut self, index: usize) -> &mut Generator {
        &mut self.groups[index / self.together].worlds.characters_mut()[index % self.together]
    }

    fn reset(
        &mut self,
        model: &Model,
        settings: &GeneratorConfig,
        indices: &[usize],
        seeds: &[u64],
        grounds: Option<Vec<HeightMap>>,
        start: Gait,
    ) -> anyhow::Result<()> {
        let mut grounds = grounds.map(Vec::into_iter);
        for (&index, &seed) in indices.iter().zip(seeds) {
            let (group, place) = (&mut self.groups[index / self.together], index % self.together);
            let ground = grounds.as_mut().and_then(Iterator::next);
            let old = &group.worlds.characters()[place];
            let ground = ground.unwrap_or_else(|| old.terrain().clone());
            let settings = GeneratorConfig { style: old.style().clone(), ..settings.clone() };
            group.worlds.replace(place, model, ground, &setup(&settings, start, seed))?;
            group.controls[place] = live_control(&group.worlds.characters()[place], start);
        }
        Ok(())
    }
}

impl Group {
    fn step(&mut self, asked: &[Asked]) -> Vec<anyhow::Result<StepOutput>> {
        let Self { worlds, controls } = self;
        let characters = worlds.characters_mut().iter_mut().zip(controls).zip(asked);
        let plans: Result<Vec<ControlPlan>, _> = characters
            .map(|((character, control), asked)| character.steered_plan(control, asked.steering))
            .collect();
        // A plan fails only for directions that are not finite.
        let plans = match plans {
            Ok(plans) => plans,
            Err(error) => return vec![Err(error.into())],
        };
        let inputs: Vec<CharacterInput<'_>> = plans
            .iter()
            .zip(asked)
            .map(|(plan, asked)| CharacterInput { plan, pushes: &asked.pushes })
            .collect();
        worlds.step(&inputs).into_iter().map(|step| Ok(step?)).collect()
    }
}

fn setup(settings: &GeneratorConfig, start: Gait, seed: u64) -> CharacterSetup {
    CharacterSetup { settings: settings.clone(), start, seed, position: Vec2::ZERO, yaw: 0.0 }
}

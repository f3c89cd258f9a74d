//! Many ragdolls that track a clip, on all cores.

use crate::arguments::{config, floats};
use crate::arrays::{array, flags};
use crate::closable::Closable;
use crate::errors::{OrRaise, wrong};
use crate::interrupt::in_background;
use crate::motion::PyClip;
use crate::terrain::PyTerrain;
use crate::{recording, terrain};
use anyhow::Context;
use glam::Vec3;
use numpy::{PyArrayDyn, PyArrayMethods};
use pomp_estimate::tracking::{
    ACTION, ActionKind, BLOCKS, FRAMES_PER_STEP, OBSERVATION, Reference, StepResult, Tracker, TrackingConfig,
};
use pomp_generator::GeneratorConfig;
use pomp_motion::{Clip, Recording};
use pomp_preprocess::PreprocessConfig;
use pomp_synthetic::{MotionKind, MotionRequest};
use pomp_terrain::HeightMap;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Simulator steps per frame of a body that balances with its legs ([`pomp_physics::BalanceConfig`]).
const BALANCE_STEPS: usize = 4;
/// Length of the default walk, seconds.
const WALK_S: f32 = 4.0;

/// Ragdolls that track a clip, each in its own world, simulated on all cores. A step has two frames, a thirtieth of a second.
///
/// The environment Pomp/Track-v0 of `pomp.envs` uses it; docs/python.md describes observations, actions and the reward. The bytes of a
/// ragdoll's results do not depend on the other ragdolls or the number of threads.
///
/// Args:
///     count: Number of ragdolls, n.
///     clip: A Clip, a Recording or a file (.bvh, .glb, .gltf, .npz); if left out, four seconds of a synthetic walk at 1.3 m/s.
///     terrain: A Terrain, a preset or a file; if left out, that of the recording, or the ground fitted to the clip.
///     action: Kind of action: "rotations" of the joint targets relative to the clip's next pose, or "torques".
///     assist: Whether the external root assist acts.
///     balance: Whether the legs balance the body (dynamic.balance of the configuration, four simulator steps per frame).
///     rotation_scale: Rotation for an action of 1, radians.
///     config: A configuration of the loop (.toml), of which only the section dynamic is used; if left out, the defaults.
///     settings: Values that override the configuration, as in Generator.
///     threads: Number of threads; if left out, one per core.
#[pyclass(frozen, module = "pomp", name = "VecTracker")]
pub struct PyVecTracker {
    inner: Closable<Inner>,
    reference: Arc<Reference>,
    count: usize,
}

struct Inner {
    pool: rayon::ThreadPool,
    trackers: Vec<Tracker>,
}

#[pymethods]
impl PyVecTracker {
    #[new]
    #[pyo3(signature = (
        count, clip=None, *, terrain=None, action="rotations", assist=false, balance=false, rotation_scale=0.25, config=None,
        settings=None, threads=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn new(
        py: Python<'_>,
        count: usize,
        clip: Option<&Bound<'_, PyAny>>,
        terrain: Option<&Bound<'_, PyAny>>,
        action: &str,
        assist: bool,
        balance: bool,
        rotation_scale: f32,
        config: Option<PathBuf>,
        settings: Option<&Bound<'_, PyAny>>,
        threads: Option<usize>,
    ) -> PyResult<Self> {
        let threads = crate::arguments::threads(threads)?;
        crate::arguments::count(count)?;
        let action = match action {
            "rotations" => ActionKind::Rotations,
            "torques" => ActionKind::Torques,
            _ => return Err(wrong(format!("action = \"{action}\": give \"rotations\" or \"torques\""))),
        };
        if assist && balance {
            return Err(wrong(
                "assist, balance: balance takes the place of the assist; give one of them".to_owned(),
            ));
        }
        if !(rotation_scale > 0.0 && rotation_scale <= 3.0) {
            return Err(wrong(format!(
                "rotation_scale = {rotation_scale}: give a number above 0 and at most 3 rad"
            )));
        }
        let mut dynamic = self::config::<GeneratorConfig>(config, settings)?.dynamic;
        dynamic.balance.enabled = balance;
        if balance {
            dynamic.steps_per_frame = dynamic.steps_per_frame.max(BALANCE_STEPS);
        }
        let config = TrackingConfig { dynamic, action, rotation_scale_rad: rotation_scale, assist };
        let reference = reference(py, clip, terrain)?;
        let of = Arc::clone(&reference);
        let inner = py.detach(move || -> anyhow::Result<Inner> {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.min(count)).build()?;
            let trackers = pool.install(|| {
                let made = (0..count).into_par_iter().map(|_| Tracker::new(Arc::clone(&of), config.clone()));
                made.collect::<Result<Vec<Tracker>, _>>()
            })?;
            Ok(Inner { pool, trackers })
        });
        Ok(Self { inner: Closable::new("tracker", inner.or_raise()?), reference, count })
    }

    /// Puts ragdolls into the pose of the clip, with its velocity.
    ///
    /// Args:
    ///     indices: Indices of the ragdolls; if left out, all.
    ///     frames: A frame of the clip for each, at most `starts` − 1; if left out, the first frame.
    #[pyo3(signature = (indices=None, frames=None))]
    fn reset(&self, py: Python<'_>, indices: Option<Vec<usize>>, frames: Option<Vec<usize>>) -> PyResult<()> {
        let indices = indices.unwrap_or_else(|| (0..self.count).collect());
        if let Some(index) = indices.iter().find(|index| **index >= self.count) {
            return Err(wrong(format!(
                "there is no ragdoll {index}; there are {}, counted from 0",
                self.count
            )));
        }
        let frames = frames.unwrap_or_else(|| vec![0; indices.len()]);
        if frames.len() != indices.len() {
            return Err(wrong(format!(
                "frames: {} for {} ragdolls; give one for each",
                frames.len(),
                indices.len()
            )));
        }
        if let Some(frame) = frames.iter().find(|frame| **frame >= self.reference.starts()) {
            let most = self.reference.starts() - 1;
            return Err(wrong(format!("frames: no step is left after frame {frame}; give 0 to {most}")));
        }
        self.inner.with(py, |inner| {
            for (index, frame) in indices.iter().zip(frames) {
                inner.trackers[*index].reset(frame)?;
            }
            Ok(())
        })
    }

    /// Advances every ragdoll by one step. Returns the rewards (n,), whether each ragdoll has fallen (n,), and whether its clip has ended
    /// (n,).
    ///
    /// Args:
    ///     actions: Array of the shape (n, 63): three numbers for each joint except the root, clipped to −1 to 1.
    ///     rests: Ragdolls that are not simulated, of the shape (n,). Their reward is 0.
    #[pyo3(signature = (actions, rests=None))]
    #[expect(clippy::type_complexity, reason = "a tuple of arrays in Python")]
    fn step<'py>(
        &self,
        py: Python<'py>,
        actions: &Bound<'py, PyAny>,
        rests: Option<Vec<bool>>,
    ) -> PyResult<(Bound<'py, PyArrayDyn<f32>>, Bound<'py, PyArrayDyn<bool>>, Bound<'py, PyArrayDyn<bool>>)>
    {
        let (actions, _) = floats(actions, "actions", &[self.count, ACTION])?;
        let rests = rests.unwrap_or_else(|| vec![false; self.count]);
        if rests.len() != self.count {
            return Err(wrong(format!(
                "rests: {} for {} ragdolls; give one for each",
                rests.len(),
                self.count
            )));
        }
        let results = self.inner.with(py, |inner| {
            let Inner { pool, trackers } = inner;
            let steps: Vec<anyhow::Result<StepResult>> = pool.install(|| {
                let given = actions.par_chunks(ACTION).zip(&rests);
                let steps = trackers.par_iter_mut().zip(given).map(|(tracker, (action, rests))| {
                    if *rests {
                        return Ok(StepResult { reward: 0.0, fallen: false, ended: false });
                    }
                    Ok(tracker.step(action, &[])?)
                });
                steps.collect()
            });
            let steps = steps.into_iter().enumerate();
            steps
                .map(|(index, step)| step.with_context(|| format!("ragdoll {index}")))
                .collect::<anyhow::Result<Vec<_>>>()
        })?;
        let shape = [self.count];
        Ok((
            array(py, results.iter().map(|result| result.reward).collect(), &shape)?,
            flags(py, results.iter().map(|result| result.fallen).collect(), &shape)?,
            flags(py, results.iter().map(|result| result.ended).collect(), &shape)?,
        ))
    }

    /// The observation of each ragdoll, of the shape (n, 608).
    fn observe<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f32>>> {
        let seen = self.inner.with(py, |inner| {
            let mut seen = Vec::with_capacity(inner.trackers.len() * OBSERVATION);
            inner.trackers.iter().for_each(|tracker| tracker.observe(&mut seen));
            Ok(seen)
        })?;
        array(py, seen, &[self.count, OBSERVATION])
    }

    /// Joint positions of each ragdoll, world, metres, of the shape (n, J, 3).
    #[getter]
    fn positions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f32>>> {
        let positions = self.inner.with(py, |inner| {
            let poses = inner.trackers.iter().map(|tracker| tracker.module().pose());
            Ok(poses.flat_map(|pose| pose.positions).flat_map(|at: Vec3| at.to_array()).collect())
        })?;
        array(py, positions, &[self.count, self.reference.skeleton().len(), 3])
    }

    /// A picture of a ragdoll, with the pose of the clip in transparent green: red, green and blue, 0 to 255, uint8, of the shape
    /// (height, width, 3).
    #[pyo3(signature = (index=0, *, width=480, height=360))]
    fn render<'py>(
        &self,
        py: Python<'py>,
        index: usize,
        width: u32,
        height: u32,
    ) -> PyResult<Bound<'py, PyArrayDyn<u8>>> {
        if index >= self.count {
            return Err(wrong(format!(
                "there is no ragdoll {index}; there are {}, counted from 0",
                self.count
            )));
        }
        let reference = Arc::clone(&self.reference);
        let pixels = self.inner.with(py, |inner| {
            let tracker = &inner.trackers[index];
            let target = reference.placed(tracker.frame());
            let pose = tracker.module().pose();
            pomp_front::picture::still(
                &reference.clip,
                &reference.terrain,
                &pose,
                Some(target),
                [width, height],
            )
        })?;
        let shape = [height as usize, width as usize, 3];
        Ok(numpy::PyArray1::from_vec(py, pixels).reshape(shape)?.to_dyn().clone())
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

    /// Number of frames of the clip, 60 per second.
    #[getter]
    fn frames(&self) -> usize {
        self.reference.clip.frames()
    }

    /// Number of frames, from the first one, at which an episode can begin.
    #[getter]
    fn starts(&self) -> usize {
        self.reference.starts()
    }

    /// Length of an action.
    #[classattr]
    fn action_size() -> usize {
        ACTION
    }

    /// Length of an observation.
    #[classattr]
    fn observation_size() -> usize {
        OBSERVATION
    }

    /// Number of frames per step.
    #[classattr]
    fn frames_per_step() -> usize {
        FRAMES_PER_STEP
    }

    /// Blocks of an observation in order, with their lengths.
    #[staticmethod]
    fn blocks(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
        let blocks = PyDict::new(py);
        for (name, numbers) in BLOCKS {
            blocks.set_item(name, numbers)?;
        }
        Ok(blocks)
    }

    /// The terrain.
    #[getter]
    fn terrain(&self) -> PyTerrain {
        PyTerrain { map: self.reference.terrain.clone(), report: None }
    }

    /// Number of ragdolls, n.
    fn __len__(&self) -> usize {
        self.count
    }

    fn __repr__(&self) -> String {
        format!("<pomp.VecTracker of {} ragdolls on \"{}\">", self.count, self.reference.clip.name)
    }
}

/// The clip and its terrain.
fn reference(
    py: Python<'_>,
    clip: Option<&Bound<'_, PyAny>>,
    ground: Option<&Bound<'_, PyAny>>,
) -> PyResult<Arc<Reference>> {
    let ground = ground.map(|ground| terrain::find(ground, 0, crate::generator::REACH_M)).transpose()?;
    let Some(given) = clip else {
        return py
            .detach(|| {
                let level = ground.map_or_else(|| HeightMap::flat(40.0, 1.0), Ok)?;
                let request = MotionRequest { duration_s: WALK_S, ..MotionRequest::new(MotionKind::Walk) };
                let walk = pomp_synthetic::generate(&request, &level)?;
                anyhow::Ok(Reference::new(&walk.clip, level)?)
            })
            .or_raise();
    };
    let (clip, path, settings, known) = if let Ok(clip) = given.cast::<PyClip>() {
        let (clip, path, settings) = clip.get().parts();
        (clip.clone(), path.to_path_buf(), Arc::clone(settings), None)
    } else {
        let recording = recording::find(given, &[])?;
        let clip = recording.to_clip().or_raise()?;
        let known = recording.terrain.clone();
        (clip, PathBuf::from(&recording.name), Arc::new(PreprocessConfig::default()), known)
    };
    let made = in_background(py, move || -> anyhow::Result<Arc<Reference>> {
        let ground = match (ground, known) {
            (Some(ground), _) => ground,
            (None, Some(grid)) => HeightMap::from_grid(grid)?,
            (None, None) => fitted(&path, &clip, &settings)?,
        };
        Ok(Reference::new(&clip, ground)?)
    })?;
    made.or_raise()
}

/// The ground under a clip, reconstructed from its stances.
fn fitted(path: &Path, clip: &Clip, config: &PreprocessConfig) -> anyhow::Result<HeightMap> {
    let (_, grid, _): (Recording, _, _) = pomp_preprocess::on_own_ground(path, clip, config)?;
    Ok(HeightMap::from_grid(grid)?)
}

//! Clips of mocap, estimates from them, and metrics.

use crate::arguments::config;
use crate::arrays::{array, quaternions, vectors};
use crate::errors::OrRaise;
use crate::interrupt::in_background;
use crate::recording::{self, PyRecording};
use crate::terrain::{self, PyTerrain};
use glam::Vec3;
use numpy::PyArrayDyn;
use pomp_eval::Metrics;
use pomp_front::measure::{files, measure};
use pomp_motion::{Clip, Recording};
use pomp_preprocess::{LoadedClip, PreprocessConfig};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};
use std::path::PathBuf;
use std::sync::Arc;

/// A motion file on the project skeleton, at the frame rate of the preprocessing configuration (60 Hz).
///
/// T frames, J joints; metres, world space, Y up, +X to the left, +Z ahead.
#[pyclass(frozen, module = "pomp", name = "Clip")]
pub struct PyClip {
    loaded: LoadedClip,
    path: PathBuf,
    config: Arc<PreprocessConfig>,
}

impl PyClip {
    fn clip(&self) -> &Clip {
        &self.loaded.clip
    }

    /// The clip, its file and its preprocessing configuration.
    pub fn parts(&self) -> (&Clip, &std::path::Path, &Arc<PreprocessConfig>) {
        (&self.loaded.clip, &self.path, &self.config)
    }
}

#[pymethods]
impl PyClip {
    /// Name of the file without folder and extension.
    #[getter]
    fn name(&self) -> &str {
        &self.clip().name
    }

    /// Number of frames, T.
    #[getter]
    fn frames(&self) -> usize {
        self.clip().frames()
    }

    /// Frames per second.
    #[getter]
    fn framerate(&self) -> f32 {
        self.clip().frame_rate_hz
    }

    /// Length, seconds.
    #[getter]
    fn seconds(&self) -> f32 {
        self.clip().duration_s()
    }

    /// Names of the joints, J.
    #[getter]
    fn joint_names(&self) -> Vec<String> {
        self.clip().skeleton.joints().iter().map(|joint| joint.name.clone()).collect()
    }

    /// Index of the parent of each joint; -1 for the root.
    #[getter]
    fn parents(&self) -> Vec<i64> {
        let joints = self.clip().skeleton.joints();
        joints.iter().map(|joint| joint.parent.map_or(-1, |parent| parent.0 as i64)).collect()
    }

    /// Offset of each joint from its parent at rest, metres, of the shape (J, 3).
    #[getter]
    fn offsets<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f32>>> {
        let offsets: Vec<_> = self.clip().skeleton.joints().iter().map(|joint| joint.offset).collect();
        vectors(py, &offsets)
    }

    /// Joint positions, world, metres, of the shape (T, J, 3).
    #[getter]
    fn positions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f32>>> {
        let poses = py.detach(|| self.clip().global_poses());
        let values: Vec<f32> =
            poses.iter().flat_map(|pose| pose.positions.iter().flat_map(Vec3::to_array)).collect();
        array(py, values, &[self.clip().frames(), self.clip().skeleton.len(), 3])
    }

    /// Joint rotations relative to the parent, x y z w, of the shape (T, J, 4); that of the root is in world space.
    #[getter]
    fn local_rotations<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f32>>> {
        let rotations: Vec<_> =
            self.clip().poses.iter().flat_map(|pose| pose.local_rotations.iter().copied()).collect();
        let flat = quaternions(py, &rotations)?;
        let shape = (self.clip().frames(), self.clip().skeleton.len(), 4);
        Ok(flat.call_method1("reshape", (shape,))?.cast_into()?)
    }

    /// Warnings of the reader and of the mapping onto the project skeleton: interpretations and repairs.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.loaded.warnings.clone()
    }

    /// Name of the rig map that was used.
    #[getter]
    fn rig(&self) -> &str {
        &self.loaded.report.rig
    }

    /// Converts the clip to a recording with foot contacts and gaits.
    fn labelled(&self, py: Python<'_>) -> PyResult<PyRecording> {
        let labelled = py.detach(|| pomp_preprocess::labelled(self.clip(), &self.config));
        Ok(PyRecording::new(labelled.or_raise()?))
    }

    fn __len__(&self) -> usize {
        self.clip().frames()
    }

    fn __repr__(&self) -> String {
        let Clip { name, frame_rate_hz, .. } = self.clip();
        format!("<pomp.Clip \"{name}\": {} frames at {frame_rate_hz} Hz>", self.clip().frames())
    }
}

/// Reads a motion file (.bvh, .glb, .gltf) and maps it onto the project skeleton.
///
/// Args:
///     path: The file.
///     config: A preprocessing configuration (.toml); if left out, the defaults.
///     settings: Values that override the configuration: a dict of KEY.PATH to value, or a list of "KEY.PATH=VALUE".
///     rigs: Your own rig maps (.toml); they are tried before the built-in ones.
#[pyfunction]
#[pyo3(signature = (path, *, config=None, settings=None, rigs=Vec::new()))]
pub fn read_bvh(
    py: Python<'_>,
    path: PathBuf,
    config: Option<PathBuf>,
    settings: Option<&Bound<'_, PyAny>>,
    rigs: Vec<PathBuf>,
) -> PyResult<PyClip> {
    let config: Arc<PreprocessConfig> = Arc::new(self::config(config, settings)?);
    let (file, of_file) = (path.clone(), Arc::clone(&config));
    let loaded = in_background(py, move || -> anyhow::Result<LoadedClip> {
        let rigs = pomp_front::motion_file::rigs(&rigs)?;
        Ok(pomp_preprocess::load_clip(&file, &of_file, &rigs)?)
    })?;
    Ok(PyClip { loaded: loaded.or_raise()?, path, config })
}

/// Reconstructs the ground under a clip from its stances, with the configuration of the clip.
///
/// The attribute `report` of the result states the quality of the fit.
#[pyfunction]
pub fn fit_terrain(py: Python<'_>, clip: &Bound<'_, PyClip>) -> PyResult<PyTerrain> {
    let PyClip { loaded, path, config } = clip.get();
    let (clip, path, config) = (loaded.clip.clone(), path.clone(), Arc::clone(config));
    let fitted = in_background(py, move || pomp_preprocess::on_own_ground(&path, &clip, &config))?;
    let (_, grid, report) = fitted.or_raise()?;
    Ok(PyTerrain { map: pomp_terrain::HeightMap::from_grid(grid).or_raise()?, report: Some(report) })
}

/// Estimates the contact impulses of a clip, with the configuration of the clip.
///
/// The result is the recording that `pomp preprocess` writes for the clip. `contact_impulse` has the shape (T, B, 3), in N·s per frame in
/// world space. The recording also contains the terrain and the physics replay.
#[pyfunction]
pub fn contact_impulses(py: Python<'_>, clip: &Bound<'_, PyClip>) -> PyResult<PyRecording> {
    let PyClip { loaded, path, config } = clip.get();
    let (clip, path, config) = (loaded.clip.clone(), path.clone(), Arc::clone(config));
    let estimated = in_background(py, move || pomp_preprocess::estimate_clip(&path, clip, &config))?;
    Ok(PyRecording::new(estimated.or_raise()?.recording))
}

/// Measures motions, as `pomp evaluate` does.
///
/// Args:
///     motions: A recording or a file (.npz, .bvh, .glb, .gltf), for which the result is a dict of metrics. Or a folder or a list of these, for
///         which the result is a dict of columns (`motion`, `track` and one per metric), ready for `pandas.DataFrame`. A metric that
///         does not apply is NaN.
///     terrain: Ground of motions that contain none: a Terrain, a preset or a file; if left out, level at y = 0.
///     simulated: Measure the simulated motion of every recording; of a preprocessed clip this is its physics replay.
///     rigs: Your own rig maps (.toml); they are tried before the built-in ones.
#[pyfunction]
#[pyo3(signature = (motions, *, terrain=None, simulated=false, rigs=Vec::new()))]
pub fn evaluate<'py>(
    py: Python<'py>,
    motions: &Bound<'py, PyAny>,
    terrain: Option<&Bound<'py, PyAny>>,
    simulated: bool,
    rigs: Vec<PathBuf>,
) -> PyResult<Bound<'py, PyDict>> {
    let given = terrain.map(|terrain| terrain::find(terrain, 0, 0.0)).transpose()?;
    let is_list = motions.is_instance_of::<PyList>() || motions.is_instance_of::<PyTuple>();
    let mut list: Vec<Bound<'py, PyAny>> = Vec::new();
    let mut is_folder = false;
    for motion in
        if is_list { motions.try_iter()?.collect::<PyResult<Vec<_>>>()? } else { vec![motions.clone()] }
    {
        if motion.is_instance_of::<PyRecording>() {
            list.push(motion);
            continue;
        }
        let path = PathBuf::from(crate::arguments::name(&motion, "motions")?);
        is_folder |= path.is_dir();
        let found = py.detach(|| files(&path)).map_err(|error| crate::errors::of_file(&error, &path))?;
        for file in found {
            list.push(file.into_pyobject(py)?.into_any());
        }
    }
    let mut rows = Vec::with_capacity(list.len());
    for motion in &list {
        let recording = recording::find(motion, &rigs)?;
        let name = if motion.is_instance_of::<PyRecording>() {
            PyString::new(py, &recording.name)
        } else {
            motion.str()?
        };
        let given = given.clone();
        let measured = in_background(py, move || measure_named(&recording, given.as_ref(), simulated))?;
        let (track, metrics) = measured.or_raise()?;
        rows.push((name, track, metrics));
    }
    if is_list || is_folder { columns(py, &rows) } else { figures(py, &rows[0].2) }
}

fn measure_named(
    recording: &Recording,
    given: Option<&pomp_terrain::HeightMap>,
    simulated: bool,
) -> anyhow::Result<(&'static str, Metrics)> {
    let (track, metrics) = measure(recording, given, simulated)?;
    Ok((track.name(), metrics))
}

/// The metrics of one motion.
fn figures<'py>(py: Python<'py>, metrics: &Metrics) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (info, value) in Metrics::INFO.iter().zip(metrics.values()) {
        dict.set_item(info.name, value.unwrap_or(f64::NAN))?;
    }
    Ok(dict)
}

/// The metrics of several motions.
fn columns<'py>(
    py: Python<'py>,
    rows: &[(Bound<'py, PyString>, &'static str, Metrics)],
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("motion", rows.iter().map(|(name, ..)| name.clone()).collect::<Vec<_>>())?;
    dict.set_item("track", rows.iter().map(|(_, track, _)| *track).collect::<Vec<_>>())?;
    let values: Vec<Vec<Option<f64>>> = rows.iter().map(|(.., metrics)| metrics.values()).collect();
    for (at, info) in Metrics::INFO.iter().enumerate() {
        let column: Vec<f64> = values.iter().map(|row| row[at].unwrap_or(f64::NAN)).collect();
        dict.set_item(info.name, column)?;
    }
    Ok(dict)
}

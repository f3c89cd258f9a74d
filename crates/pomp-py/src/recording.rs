//! Recordings and their arrays.

use crate::arguments::name;
use crate::arrays::{array, flags, plain};
use crate::errors::{OrRaise, wrong};
use crate::interrupt::in_background;
use crate::terrain::PyTerrain;
use pomp_formats::npz::{ArrayValues, NamedArray, each_array};
use pomp_formats::{BvhWriteOptions, write_bvh, write_glb, write_recording};
use pomp_front::picture::PictureKind;
use pomp_motion::Recording;
use pomp_preprocess::PreprocessConfig;
use pomp_terrain::HeightMap;
use pyo3::exceptions::{PyAttributeError, PyKeyError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyTuple, PyType};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A motion with all its data, the contents of one npz file.
///
/// Every array of the file is an attribute and an item (`recording.positions`, `recording["positions"]`). `keys()` lists them, and
/// docs/dataset.md describes them. Arrays are float32 in world space, in metres, seconds and newtons, with T frames, J joints and B
/// bodies. They are read-only; to change an array, copy it.
#[pyclass(frozen, mapping, module = "pomp", name = "Recording")]
pub struct PyRecording {
    pub recording: Arc<Recording>,
    arrays: PyOnceLock<Py<PyDict>>,
}

impl PyRecording {
    pub fn new(recording: Recording) -> Self {
        Self { recording: Arc::new(recording), arrays: PyOnceLock::new() }
    }

    /// The arrays by name. They are created once.
    fn arrays<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, PyDict>> {
        let made = self.arrays.get_or_try_init(py, || {
            let recording = &self.recording;
            let arrays = py.detach(|| {
                let mut arrays = Vec::new();
                each_array(recording, &mut |array| arrays.push(array)).map(|()| arrays)
            });
            let dict = PyDict::new(py);
            for NamedArray { name, shape, values } in arrays.or_raise()? {
                dict.set_item(name, numbers(py, &shape, values)?)?;
            }
            Ok::<_, PyErr>(dict.unbind())
        });
        Ok(made?.bind(py))
    }
}

/// An array as a numpy array, a single value as a Python number.
fn numbers<'py>(py: Python<'py>, shape: &[usize], values: ArrayValues) -> PyResult<Bound<'py, PyAny>> {
    match values {
        ArrayValues::Floats(values) if shape.is_empty() => Ok(values[0].into_pyobject(py)?.into_any()),
        ArrayValues::Floats(values) => Ok(array(py, values, shape)?.into_any()),
        ArrayValues::Booleans(values) => Ok(flags(py, values, shape)?.into_any()),
        ArrayValues::Texts(values) if shape.is_empty() => {
            Ok(values[0].as_str().into_pyobject(py)?.into_any())
        }
        ArrayValues::Texts(values) => {
            let array = py.import("numpy")?.call_method1("array", (values,))?;
            array.call_method1("setflags", (false,))?;
            Ok(array)
        }
    }
}

#[pymethods]
impl PyRecording {
    /// Names of the arrays.
    fn keys<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.arrays(py)?.keys().into_any())
    }

    fn __getitem__<'py>(&self, py: Python<'py>, key: &str) -> PyResult<Bound<'py, PyAny>> {
        self.arrays(py)?.get_item(key)?.ok_or_else(|| PyKeyError::new_err(key.to_owned()))
    }

    fn __contains__(&self, py: Python<'_>, key: &str) -> PyResult<bool> {
        self.arrays(py)?.contains(key)
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.arrays(py)?.keys().try_iter()?.into_any())
    }

    fn __getattr__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let arrays = self.arrays(py)?;
        arrays.get_item(name)?.ok_or_else(|| {
            PyAttributeError::new_err(format!("this recording has no \"{name}\"; it has {}", arrays.keys()))
        })
    }

    fn __dir__(slf: &Bound<'_, Self>) -> PyResult<Vec<String>> {
        let class = slf.get_type();
        let mut names: Vec<String> = class.dir()?.extract()?;
        let arrays: Vec<String> = slf.get().arrays(slf.py())?.keys().extract()?;
        names.extend(arrays);
        Ok(names)
    }

    /// Number of arrays.
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.arrays(py)?.len())
    }

    /// Number of frames, T.
    #[getter]
    fn frames(&self) -> usize {
        self.recording.frames()
    }

    /// Length, seconds.
    #[getter]
    fn seconds(&self) -> f32 {
        self.recording.frames() as f32 / self.recording.frame_rate_hz
    }

    /// The values that are not arrays: name, framerate (Hz), source, license and config_hash; if present also terrain_cell (m),
    /// impulse_estimator, phase_model and recipe.
    #[getter]
    fn metadata<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let metadata = PyDict::new(py);
        for (name, value) in self.arrays(py)? {
            if !value.hasattr("ndim")? {
                metadata.set_item(name, value)?;
            }
        }
        Ok(metadata)
    }

    /// The terrain, or None.
    #[getter]
    fn terrain(&self) -> PyResult<Option<PyTerrain>> {
        let map = self.recording.terrain.clone().map(HeightMap::from_grid).transpose().or_raise()?;
        Ok(map.map(|map| PyTerrain { map, report: None }))
    }

    /// Writes the recording: .npz with all arrays, .bvh or .glb with the motion only.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let recording = Arc::clone(&self.recording);
        in_background(py, move || save(&recording, &path))?
    }

    /// Draws the recording into a file: .gif (moving), .png (contact sheet) or .html (a page that plays it in any browser).
    ///
    /// With `side_by_side`, a picture shows the clip on the left and its physics replay on the right.
    #[pyo3(signature = (path, *, side_by_side=false))]
    fn render(&self, py: Python<'_>, path: PathBuf, side_by_side: bool) -> PyResult<()> {
        draw(py, Arc::clone(&self.recording), path, side_by_side)
    }

    /// A page as HTML text that plays the motion in any browser, offline.
    fn to_html(&self, py: Python<'_>) -> PyResult<String> {
        let recording = Arc::clone(&self.recording);
        let page = in_background(py, move || PictureKind::Html.draw(&recording, false))?.or_raise()?;
        String::from_utf8(page).map_err(|_| crate::errors::failed("the page is no text"))
    }

    /// The contents of the npz file as bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| pomp_formats::npz::recording_bytes(&self.recording)).or_raise()?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Reads a recording from the bytes of an npz file. Errors use `name` for the file.
    #[classmethod]
    #[pyo3(signature = (bytes, name="bytes"))]
    fn from_bytes(_class: &Bound<'_, PyType>, py: Python<'_>, bytes: &[u8], name: &str) -> PyResult<Self> {
        let recording = py.detach(|| pomp_formats::npz::parse_recording(bytes, name));
        Ok(Self::new(recording.or_raise()?))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let (py, recording) = (slf.py(), slf.get());
        let arguments = (recording.to_bytes(py)?, &recording.recording.name).into_pyobject(py)?;
        Ok((slf.get_type().getattr("from_bytes")?, arguments))
    }

    /// A player for notebooks.
    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let page = self.to_html(py)?.replace('&', "&amp;").replace('"', "&quot;");
        Ok(format!(
            "<iframe srcdoc=\"{page}\" style=\"width:100%;height:480px;border:0\" sandbox=\"allow-scripts\"></iframe>"
        ))
    }

    fn __repr__(&self) -> String {
        let Recording { name, frame_rate_hz, simulation, generation, .. } = &*self.recording;
        let what = match (simulation, generation) {
            (_, Some(_)) => "rollout",
            (Some(_), None) => "recording",
            (None, None) => "motion",
        };
        format!(
            "<pomp.Recording \"{name}\": {what} of {} frames at {frame_rate_hz} Hz>",
            self.recording.frames()
        )
    }
}

fn save(recording: &Recording, path: &Path) -> PyResult<()> {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("npz") => write_recording(path, recording).or_raise(),
        Some("bvh") => {
            write_bvh(path, &recording.to_clip().or_raise()?, &BvhWriteOptions::default()).or_raise()
        }
        Some("glb") => write_glb(path, &recording.to_clip().or_raise()?).or_raise(),
        _ => Err(wrong(format!(
            "{}: name the file .npz (everything), .bvh or .glb (the motion alone)",
            path.display()
        ))),
    }
}

fn draw(py: Python<'_>, recording: Arc<Recording>, path: PathBuf, side_by_side: bool) -> PyResult<()> {
    let kind = PictureKind::of(&path, side_by_side).or_raise()?;
    let drawn = in_background(py, move || -> anyhow::Result<()> {
        let bytes = kind.draw(&recording, side_by_side)?;
        Ok(pomp_formats::write_atomically(&path, |file| file.write_all(&bytes))?)
    })?;
    drawn.or_raise()
}

/// Reads a recording (.npz) written by `pomp preprocess`, `pomp generate`, the studio or `Recording.save`.
#[pyfunction]
pub fn load(py: Python<'_>, path: PathBuf) -> PyResult<PyRecording> {
    let recording = py.detach(|| pomp_formats::read_recording(&path));
    Ok(PyRecording::new(recording.or_raise()?))
}

/// A motion given as a recording, or as the file of a recording (.npz) or clip (.bvh, .glb, .gltf).
pub fn find(given: &Bound<'_, PyAny>, rigs: &[PathBuf]) -> PyResult<Arc<Recording>> {
    if let Ok(recording) = given.cast::<PyRecording>() {
        return Ok(Arc::clone(&recording.get().recording));
    }
    let path = PathBuf::from(name(given, "motion")?);
    let rigs = rigs.to_vec();
    let read = in_background(given.py(), move || {
        let rigs = pomp_front::motion_file::rigs(&rigs)?;
        pomp_front::motion_file::read(&path, &PreprocessConfig::default(), &rigs)
    })?;
    Ok(Arc::new(read.or_raise()?))
}

/// Draws a motion into a file: .gif (moving), .png (contact sheet) or .html (a page that plays it in any browser).
///
/// The motion is a recording or a file (.npz, .bvh, .glb, .gltf). With `side_by_side`, a picture shows the clip on the left and its physics
/// replay on the right.
#[pyfunction]
#[pyo3(signature = (motion, path, *, side_by_side=false))]
pub fn render(motion: &Bound<'_, PyAny>, path: PathBuf, side_by_side: bool) -> PyResult<()> {
    PictureKind::of(&path, side_by_side).or_raise()?;
    draw(motion.py(), find(motion, &[])?, path, side_by_side)
}

/// Lists the metrics with names, units, directions and definitions: a list of dicts in the order of `evaluate`.
#[pyfunction]
pub fn metrics(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    let list = plain(py, &pomp_eval::Metrics::INFO)?;
    for (row, info) in list.try_iter()?.zip(pomp_eval::Metrics::INFO) {
        row?.set_item("definition", info.definition.trim())?;
    }
    Ok(list)
}

//! The training examples in a folder of recordings.

use crate::arguments::config;
use crate::arrays::array;
use crate::errors::wrong;
use crate::model;
use numpy::PyArrayDyn;
use pomp_motion::features::{Block, BlockName, FeatureLayout, KEYS, Normaliser};
use pomp_train::{TrainConfig, WindowStates, Windows};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;
use std::sync::OnceLock;

/// The training examples of `pomp train kinematic` from a preprocessed folder: the same numbers, in the order of clips and frames.
///
/// A window consists of x, the input of the kinematic module for a frame, and y, its output for the next frame. `blocks` names their
/// parts. All recordings are in memory. Reading a window starts no threads, so forked processes can read windows.
///
/// Args:
///     folder: Recordings written by `preprocess`.
///     split: "training" or "held_out". The held-out clips are those of the measurements of training: one in `held_out_every`, by a hash
///         of the clip's name.
///     states: "clean" for the states of the clips, "replayed" for those of their physics replays. In both cases y leads to the clip.
///     normalised: Return x and y as the networks get them: y relative to an unchanged state (unless the configuration says "absolute"),
///         both minus their means and divided by their deviations.
///     model: Model whose autoencoder computes the phases; if left out, the embedded compact model.
///     config: A training configuration (.toml); if left out, that of the compact model.
///     settings: Values that override the configuration: a dict of KEY.PATH to value, or a list of "KEY.PATH=VALUE".
#[pyclass(frozen, module = "pomp", name = "Windows")]
pub struct PyWindows {
    windows: Windows,
    states: WindowStates,
    normalised: bool,
    normalisers: OnceLock<(Normaliser, Normaliser)>,
}

impl PyWindows {
    fn normalisers(&self) -> PyResult<&(Normaliser, Normaliser)> {
        if let Some(there) = self.normalisers.get() {
            return Ok(there);
        }
        let fitted = in_own_threads(|| self.windows.normalisers())?;
        Ok(self.normalisers.get_or_init(|| fitted))
    }
}

/// Runs `work` in its own threads, which end with it. A forked process does not have the threads of its parent.
fn in_own_threads<T: Send>(work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let threads = rayon::ThreadPoolBuilder::new().build();
    let threads = threads.map_err(|error| crate::errors::failed(&error.to_string()))?;
    Ok(threads.install(work))
}

#[pymethods]
impl PyWindows {
    #[new]
    #[pyo3(signature = (
        folder, *, split="training", states="clean", normalised=false, model=None, config=None, settings=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn new(
        py: Python<'_>,
        folder: PathBuf,
        split: &str,
        states: &str,
        normalised: bool,
        model: Option<&Bound<'_, PyAny>>,
        config: Option<PathBuf>,
        settings: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let held_out = match split {
            "training" => false,
            "held_out" => true,
            _ => return Err(wrong(format!("split = \"{split}\": give \"training\" or \"held_out\""))),
        };
        let states = match states {
            "clean" => WindowStates::Clean,
            "replayed" => WindowStates::Replayed,
            _ => return Err(wrong(format!("states = \"{states}\": give \"clean\" or \"replayed\""))),
        };
        let config: TrainConfig = self::config(config, settings)?;
        let model = model::find(model, py)?;
        let opened = py.detach(|| in_own_threads(|| Windows::open(&folder, &config, &model, held_out)))?;
        let windows = opened.map_err(|error| crate::errors::of_file(&error.into(), &folder))?;
        let this = Self { windows, states, normalised, normalisers: OnceLock::new() };
        if normalised {
            py.detach(|| this.normalisers().map(|_| ()))?;
        }
        Ok(this)
    }

    /// Number of windows.
    fn __len__(&self) -> usize {
        self.windows.len()
    }

    /// The windows of N indices: a dict of `x` (N, length of x), `y` (N, length of y), `phases` (N, keys, 2 C), the phase codes of the
    /// window, and `impulses` (N, B, 3), the contact impulse of each body in the root frame, as mean force of the frame in body weights.
    /// Phases and impulses are never normalised.
    fn batch<'py>(&self, py: Python<'py>, indices: Vec<usize>) -> PyResult<Bound<'py, PyDict>> {
        let count = self.windows.len();
        if let Some(index) = indices.iter().find(|index| **index >= count) {
            return Err(PyIndexError::new_err(format!("there is no window {index}; there are {count}")));
        }
        let layout = self.windows.layout();
        let (x_len, y_len) = (layout.x_len(), layout.y_len());
        let [phases, impulses] =
            [BlockName::PhaseCodes, BlockName::ContactImpulses].map(|name| layout.x_range(name));
        let rows = py.detach(|| -> PyResult<_> {
            let normalisers = if self.normalised { Some(self.normalisers()?) } else { None };
            let (mut xs, mut ys) = (vec![0.0; indices.len() * x_len], vec![0.0; indices.len() * y_len]);
            let (mut codes, mut forces) = (Vec::new(), Vec::new());
            let rows = xs.chunks_exact_mut(x_len).zip(ys.chunks_exact_mut(y_len));
            for (&index, (x, y)) in indices.iter().zip(rows) {
                self.windows.write(index, self.states, x, y);
                codes.extend_from_slice(&x[phases.clone()]);
                forces.extend_from_slice(&x[impulses.clone()]);
                if let Some(normalisers) = normalisers {
                    self.windows.normalise(normalisers, x, y);
                }
            }
            Ok((xs, ys, codes, forces))
        });
        let (xs, ys, codes, forces) = rows?;
        let rows = indices.len();
        let dict = PyDict::new(py);
        dict.set_item("x", array(py, xs, &[rows, x_len])?)?;
        dict.set_item("y", array(py, ys, &[rows, y_len])?)?;
        dict.set_item("phases", array(py, codes, &[rows, KEYS, phases.len() / KEYS])?)?;
        dict.set_item("impulses", array(py, forces, &[rows, layout.bodies(), 3])?)?;
        Ok(dict)
    }

    /// Name of the recording and index of the frame of a window.
    fn place(&self, index: usize) -> PyResult<(String, usize)> {
        let count = self.windows.len();
        if index >= count {
            return Err(PyIndexError::new_err(format!("there is no window {index}; there are {count}")));
        }
        let (name, frame) = self.windows.place(index);
        Ok((name.to_owned(), frame))
    }

    /// Mean and deviation of x, and of y in the form of the networks, over the training clips, identical to those of training: a dict of
    /// `x_mean`, `x_deviation`, `y_mean` and `y_deviation`. They are computed at the first call.
    fn statistics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (x, y) = py.detach(|| self.normalisers())?;
        let dict = PyDict::new(py);
        let vector = |values: &[f32]| -> PyResult<Bound<'py, PyArrayDyn<f32>>> {
            array(py, values.to_vec(), &[values.len()])
        };
        dict.set_item("x_mean", vector(x.mean())?)?;
        dict.set_item("x_deviation", vector(x.deviation())?)?;
        dict.set_item("y_mean", vector(y.mean())?)?;
        dict.set_item("y_deviation", vector(y.deviation())?)?;
        Ok(dict)
    }

    /// Slices of the parts of x and y: a dict of "x" and "y"; each maps names ("joint_positions", "contact_impulses", …) to slices.
    #[getter]
    fn blocks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let layout: &FeatureLayout = self.windows.layout();
        let slice = py.import("builtins")?.getattr("slice")?;
        let places = |blocks: &[Block]| -> PyResult<Bound<'py, PyDict>> {
            let places = PyDict::new(py);
            for block in blocks {
                let name = serde_json::to_value(block.name)
                    .map_err(|error| crate::errors::failed(&error.to_string()))?;
                let place = slice.call1((block.range.start, block.range.end))?;
                places.set_item(name.as_str().unwrap_or_default(), place)?;
            }
            Ok(places)
        };
        let dict = PyDict::new(py);
        dict.set_item("x", places(layout.x_blocks())?)?;
        dict.set_item("y", places(layout.y_blocks())?)?;
        Ok(dict)
    }

    /// Names of the bodies of the impulses.
    #[getter]
    fn body_names(&self) -> Vec<String> {
        self.windows.body_names().to_vec()
    }

    /// Hash of all recordings of the folder. Models trained on them store it.
    #[getter]
    fn data_hash(&self) -> &str {
        self.windows.hash()
    }

    fn __repr__(&self) -> String {
        format!("<pomp.Windows {} of data {}>", self.windows.len(), self.windows.hash())
    }
}

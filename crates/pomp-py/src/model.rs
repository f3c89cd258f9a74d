//! Trained models.

use crate::arguments::name;
use crate::errors::OrRaise;
use crate::interrupt::in_background;
use pomp_embedded::Device;
use pomp_front::model::Models;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// A trained model: the embedded compact model, or a folder written by `pomp train`.
///
/// Generators with the same Model object share its weights.
#[pyclass(frozen, module = "pomp", name = "Model")]
pub struct PyModel {
    pub model: Arc<pomp_model::Model>,
}

#[pymethods]
impl PyModel {
    /// Reads a model folder. Without a folder, it is the embedded compact model, which needs no file.
    #[new]
    #[pyo3(signature = (folder=None))]
    fn new(py: Python<'_>, folder: Option<PathBuf>) -> PyResult<Self> {
        Ok(Self { model: load(py, folder)? })
    }

    /// SHA-256 of its files, 64 hexadecimal digits. Rollouts store it.
    #[getter]
    fn sha256(&self) -> Option<&str> {
        self.model.files_sha256.as_deref()
    }

    /// Name of the training configuration.
    #[getter]
    fn config_name(&self) -> &str {
        &self.model.description.config_name
    }

    /// Names of the bodies, in the order of contact impulses.
    #[getter]
    fn body_names(&self) -> Vec<String> {
        self.model.description.body_names.clone()
    }

    fn __repr__(&self) -> String {
        let sha256 = self.model.files_sha256.as_deref().unwrap_or_default();
        format!("<pomp.Model {} {}>", self.model.description.config_name, &sha256[..sha256.len().min(8)])
    }
}

/// A model given as an object or as a folder; if left out, the embedded model.
pub fn find(given: Option<&Bound<'_, PyAny>>, py: Python<'_>) -> PyResult<Arc<pomp_model::Model>> {
    let Some(given) = given else { return load(py, None) };
    if let Ok(model) = given.cast::<PyModel>() {
        return Ok(Arc::clone(&model.get().model));
    }
    load(py, Some(name(given, "model")?.into()))
}

/// The same, and where none is given, the embedded model of all directions beside the compact one.
pub fn find_all(given: Option<&Bound<'_, PyAny>>, py: Python<'_>) -> PyResult<Models> {
    static UNROLLED: OnceLock<Arc<pomp_model::Model>> = OnceLock::new();
    let first = find(given, py)?;
    let unrolled = match (given, UNROLLED.get()) {
        (Some(_), _) => None,
        (None, Some(model)) => Some(Arc::clone(model)),
        (None, None) => {
            let model = in_background(py, || pomp_front::model::load_unrolled(&Device::flex()))?;
            let model = Arc::new(model.or_raise()?);
            Some(Arc::clone(UNROLLED.get_or_init(|| model)))
        }
    };
    Ok(Models { first, unrolled })
}

fn load(py: Python<'_>, folder: Option<PathBuf>) -> PyResult<Arc<pomp_model::Model>> {
    static EMBEDDED: OnceLock<Arc<pomp_model::Model>> = OnceLock::new();
    if let (None, Some(model)) = (&folder, EMBEDDED.get()) {
        return Ok(Arc::clone(model));
    }
    let is_embedded = folder.is_none();
    let model = in_background(py, move || pomp_front::model::find_whole(folder.as_deref(), &Device::flex()))?;
    let model = Arc::new(model.or_raise()?);
    // If two threads load the model at once, both get the same one.
    Ok(if is_embedded { Arc::clone(EMBEDDED.get_or_init(|| model)) } else { model })
}

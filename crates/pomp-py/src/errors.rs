//! Errors as Python exceptions with the messages of the command line. The classes are in `python/pomp/_errors.py`.

use pomp_front::errors::{of_misuse, told};
use pomp_generator::GeneratorError;
use pyo3::prelude::*;
use std::io;
use std::path::Path;

/// Conversion of results of the crates below to Python results.
pub trait OrRaise<T> {
    /// The value, or the exception of the error.
    fn or_raise(self) -> PyResult<T>;
}

impl<T, E: Into<anyhow::Error>> OrRaise<T> for Result<T, E> {
    fn or_raise(self) -> PyResult<T> {
        self.map_err(|error| exception(&error.into()))
    }
}

/// The exception of an error.
pub fn exception(error: &anyhow::Error) -> PyErr {
    of_class(class(error), told(error))
}

/// The exception for an invalid argument.
pub fn wrong(text: String) -> PyErr {
    exception(&of_misuse(text))
}

/// The exception for a failure that no argument has caused.
pub fn failed(text: &str) -> PyErr {
    of_class("Error", text.to_owned())
}

fn of_class(name: &str, text: String) -> PyErr {
    Python::attach(|py| {
        let raised = py.import("pomp._errors").and_then(|module| module.getattr(name)?.call1((text,)));
        raised.map_or_else(|error| error, PyErr::from_value)
    })
}

/// Name of the class: an error of the system, of the networks' output, or of the arguments.
fn class(error: &anyhow::Error) -> &'static str {
    let refused = error.chain().find_map(|cause| cause.downcast_ref::<io::Error>());
    let is_internal = error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<GeneratorError>())
        .any(|cause| matches!(cause, GeneratorError::NotFinite { .. } | GeneratorError::Stopped { .. }));
    match refused.map(io::Error::kind) {
        Some(io::ErrorKind::NotFound) => "MissingFileError",
        Some(_) => "FileError",
        None if is_internal => "Error",
        None => "InputError",
    }
}

/// The exception of an error about a file that may be missing.
pub fn of_file(error: &anyhow::Error, path: &Path) -> PyErr {
    if path.exists() { exception(error) } else { of_class("MissingFileError", told(error)) }
}

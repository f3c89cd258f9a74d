//! Conversion of numbers to numpy arrays. A `Vec` becomes an array without a copy.

use glam::{Quat, Vec3};
use numpy::{IntoPyArray, PyArray1, PyArrayDyn, PyArrayMethods};
use pyo3::prelude::*;
use serde::Serialize;

/// A read-only array of the shape that owns the values.
pub fn array<'py>(
    py: Python<'py>,
    values: Vec<f32>,
    shape: &[usize],
) -> PyResult<Bound<'py, PyArrayDyn<f32>>> {
    frozen(values.into_pyarray(py), shape)
}

/// A read-only array of booleans of the shape.
pub fn flags<'py>(
    py: Python<'py>,
    values: Vec<bool>,
    shape: &[usize],
) -> PyResult<Bound<'py, PyArrayDyn<bool>>> {
    frozen(values.into_pyarray(py), shape)
}

fn frozen<'py, T: numpy::Element>(
    values: Bound<'py, PyArray1<T>>,
    shape: &[usize],
) -> PyResult<Bound<'py, PyArrayDyn<T>>> {
    Ok(values.reshape(shape)?.readwrite().make_nonwriteable().as_any().cast::<PyArrayDyn<T>>()?.clone())
}

/// Vectors as `[N, 3]`.
pub fn vectors<'py>(py: Python<'py>, values: &[Vec3]) -> PyResult<Bound<'py, PyArrayDyn<f32>>> {
    array(py, values.iter().flat_map(Vec3::to_array).collect(), &[values.len(), 3])
}

/// One vector, `[3]`.
pub fn vector(py: Python<'_>, value: Vec3) -> PyResult<Bound<'_, PyArrayDyn<f32>>> {
    array(py, value.to_array().to_vec(), &[3])
}

/// Rotations as `[N, 4]`, x y z w.
pub fn quaternions<'py>(py: Python<'py>, values: &[Quat]) -> PyResult<Bound<'py, PyArrayDyn<f32>>> {
    array(py, values.iter().flat_map(Quat::to_array).collect(), &[values.len(), 4])
}

/// Data as plain Python objects, with the same numbers as the JSON of the command line.
pub fn plain<'py>(py: Python<'py>, data: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    let text = serde_json::to_string(data).map_err(|error| crate::errors::failed(&error.to_string()))?;
    py.import("json")?.call_method1("loads", (text,))
}

//! Terrain.

use crate::arguments::{floats, name};
use crate::arrays::{array, plain};
use crate::errors::{OrRaise, wrong};
use numpy::PyArrayDyn;
use pomp_estimate::terrain_fit::FitReport;
use pomp_motion::{FrameTable, TerrainGrid};
use pomp_terrain::{Bounds, HeightMap};
use pyo3::prelude::*;
use std::path::PathBuf;

/// A height map. Row i, column j is at world x = origin[0] + j · cell, z = origin[1] + i · cell.
///
/// Args:
///     heights: Heights, metres, of the shape (rows, columns), both at least 2.
///     origin: World x and z of the first height, metres; by default, the middle of the map is at x = z = 0.
///     cell: Distance between neighbours, metres.
#[pyclass(frozen, module = "pomp", name = "Terrain")]
pub struct PyTerrain {
    pub map: HeightMap,
    pub report: Option<FitReport>,
}

#[pymethods]
impl PyTerrain {
    #[new]
    #[pyo3(signature = (heights, *, cell, origin=None))]
    fn new(heights: &Bound<'_, PyAny>, cell: f32, origin: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let (values, shape) = floats(heights, "heights", &[0, 0])?;
        let origin = match origin {
            Some(origin) => crate::arguments::vec2(origin, "origin")?.to_array(),
            None => [shape[1], shape[0]].map(|count| -0.5 * cell * (count as f32 - 1.0)),
        };
        let heights = FrameTable::from_values(shape[1], values)
            .ok_or_else(|| wrong(format!("heights: the shape {shape:?} holds no heights")))?;
        let map = HeightMap::from_grid(TerrainGrid { heights, origin, cell_m: cell }).or_raise()?;
        Ok(Self { map, report: None })
    }

    /// Heights, metres, of the shape (rows, columns); read-only.
    #[getter]
    fn heights<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f32>>> {
        array(py, self.map.grid().heights.values().to_vec(), &[self.map.rows(), self.map.columns()])
    }

    /// World x and z of the first height, metres.
    #[getter]
    fn origin(&self) -> (f32, f32) {
        self.map.grid().origin.into()
    }

    /// Distance between neighbours, metres.
    #[getter]
    fn cell(&self) -> f32 {
        self.map.cell_m()
    }

    /// Smallest and largest world x, smallest and largest world z, metres.
    #[getter]
    fn bounds(&self) -> (f32, f32, f32, f32) {
        let Bounds { min_x, max_x, min_z, max_z } = self.map.bounds();
        (min_x, max_x, min_z, max_z)
    }

    /// Quality of the fit of a reconstructed terrain to its clip, as in manifest.json; None for other terrain.
    #[getter]
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.report.as_ref().map(|report| plain(py, report)).transpose()
    }

    /// Height at world x and z, metres. Beyond the edge it is the height of the edge.
    fn height(&self, x: f32, z: f32) -> PyResult<f32> {
        if x.is_finite() && z.is_finite() {
            return Ok(self.map.height(x, z));
        }
        Err(wrong(format!("x = {x}, z = {z}: give finite numbers")))
    }

    /// Writes the map as .png (16 bit, with a .toml file beside it) or .npz.
    fn save(&self, path: PathBuf) -> PyResult<()> {
        pomp_terrain::save(&self.map, &path).or_raise()
    }

    fn __repr__(&self) -> String {
        format!(
            "<pomp.Terrain {} × {} heights, {} m apart>",
            self.map.rows(),
            self.map.columns(),
            self.map.cell_m()
        )
    }
}

/// Returns a terrain by the name of a preset (flat, slope, stairs, hills, rough, gaps, mixed) or by file (.toml, .png, .npz).
///
/// A preset reaches at least `reach` metres from the origin.
#[pyfunction]
#[pyo3(signature = (name, *, seed=0, reach=0.0))]
pub fn terrain(py: Python<'_>, name: &Bound<'_, PyAny>, seed: u64, reach: f32) -> PyResult<PyTerrain> {
    if !(0.0..=2000.0).contains(&reach) {
        return Err(wrong(format!("reach = {reach}: give a number from 0 to 2000 m")));
    }
    let name = crate::arguments::name(name, "name")?;
    let map = py.detach(|| pomp_front::terrain::find_reaching(&name, seed, reach)).or_raise()?;
    Ok(PyTerrain { map, report: None })
}

/// A terrain given as an object, by name or by file. A preset reaches `reach_m` from the origin.
pub fn find(given: &Bound<'_, PyAny>, seed: u64, reach_m: f32) -> PyResult<HeightMap> {
    if let Ok(terrain) = given.cast::<PyTerrain>() {
        return Ok(terrain.get().map.clone());
    }
    let name = name(given, "terrain")?;
    given.py().detach(|| pomp_front::terrain::find_reaching(&name, seed, reach_m)).or_raise()
}

//! A motion on the skeleton of another file.

use crate::arguments::{name, settings};
use crate::arrays::plain;
use crate::errors::{OrRaise, wrong};
use crate::interrupt::in_background;
use crate::recording::PyRecording;
use pomp_front::retarget::{ByNetworks, ByRules, Motion, RetargetRequest, Rules};
use pyo3::prelude::*;
use serde::Serialize;
use std::path::PathBuf;
use std::sync::Arc;

/// Puts a motion on the skeleton of a file, as `pomp retarget` does. docs/retargeting.md explains the method.
///
/// Args:
///     motion: A Recording, or a file (.npz, .bvh, .glb, .gltf).
///     to: File with the target skeleton (.bvh, .glb, .gltf). A GLB or glTF file may be a character with a skinned mesh.
///     out: File to write. Of a BVH skeleton: .bvh as its file is, or .glb in metres with Y up. Of a GLB or glTF skeleton: .glb with
///         everything in its file and the motion as the first animation, or .bvh in centimetres with Y up. If left out, nothing is
///         written.
///     plant_feet: Hold planted feet in place by inverse kinematics, even where they slide in the motion.
///     simulated: Use the simulated motion of a recording made by `preprocess` instead of the mocap.
///     model: Folder or file of skeleton-aware networks (`pomp train retarget`), which replace the rules. It cannot be combined with the other
///         keywords.
///     config: A preprocessing configuration (.toml) by which a motion file is read; if left out, the defaults.
///     settings: Values that override the configuration: a dict of KEY.PATH to value, or a list of "KEY.PATH=VALUE".
///     rigs: Your own rig maps (.toml); they are tried before the built-in ones.
///
/// Returns:
///     A dict of what was found, missing and measured, with the keys of `pomp retarget --json`: `frames`, `scale`, `planted_feet`,
///     `warnings` and others.
#[pyfunction]
#[pyo3(signature = (
    motion, to, out=None, *, plant_feet=false, simulated=false, model=None, config=None, settings=None, rigs=Vec::new()
))]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub fn retarget<'py>(
    motion: &Bound<'py, PyAny>,
    to: PathBuf,
    out: Option<PathBuf>,
    plant_feet: bool,
    simulated: bool,
    model: Option<PathBuf>,
    config: Option<PathBuf>,
    settings: Option<&Bound<'py, PyAny>>,
    rigs: Vec<PathBuf>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = motion.py();
    let settings = self::settings(settings)?;
    let has_rules = plant_feet || simulated || config.is_some() || !settings.is_empty() || !rigs.is_empty();
    if model.is_some() && has_rules {
        return Err(wrong(
            "model: networks take none of plant_feet, simulated, config, settings and rigs; leave these out"
                .to_owned(),
        ));
    }
    let given = Given::find(motion)?;
    let result = in_background(py, move || -> anyhow::Result<Retargeted> {
        let request = RetargetRequest { motion: given.motion(), to: &to, out: out.as_deref() };
        Ok(match model {
            Some(model) => Retargeted::Networks(request.by_networks(&model)?),
            None => Retargeted::Rules(Box::new(request.by_rules(&Rules {
                plant_feet,
                simulated,
                rigs: &rigs,
                config: config.as_deref(),
                settings: &settings,
            })?)),
        })
    })?;
    plain(py, &result.or_raise()?)
}

/// A motion as it was given.
enum Given {
    File(PathBuf),
    Recording(Arc<pomp_motion::Recording>),
}

impl Given {
    fn find(motion: &Bound<'_, PyAny>) -> PyResult<Self> {
        match motion.cast::<PyRecording>() {
            Ok(recording) => Ok(Self::Recording(Arc::clone(&recording.get().recording))),
            Err(_) => Ok(Self::File(PathBuf::from(name(motion, "motion")?))),
        }
    }

    fn motion(&self) -> Motion<'_> {
        match self {
            Self::File(path) => Motion::File(path),
            Self::Recording(recording) => Motion::Recording(recording),
        }
    }
}

#[derive(Serialize)]
#[serde(untagged)]
enum Retargeted {
    Rules(Box<ByRules>),
    Networks(ByNetworks),
}

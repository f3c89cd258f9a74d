//! Conversion of Python arguments: names, files, settings, vectors.

use crate::errors::{OrRaise, wrong};
use glam::{Vec2, Vec3};
use numpy::{AllowTypeChange, PyArrayDescrMethods, PyArrayLikeDyn, PyUntypedArray, PyUntypedArrayMethods};
use pomp_config::Origin;
use pomp_config::{Validate, resolve};
use pomp_motion::Gait;
use pomp_physics::Push;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Gaits that can be commanded.
pub const GAITS: [Gait; 5] = [Gait::Stand, Gait::Walk, Gait::Jog, Gait::Crouch, Gait::Jump];

/// A name or a path, as text.
pub fn name(given: &Bound<'_, PyAny>, what: &str) -> PyResult<String> {
    let path: PathBuf = given.extract()?;
    path.into_os_string()
        .into_string()
        .map_err(|path| wrong(format!("{what}: {} is no text", path.display())))
}

/// Checks the length of a motion, seconds.
pub fn seconds(seconds: f32) -> PyResult<f32> {
    let longest = pomp_front::rollout::LONGEST_S;
    if seconds > 0.0 && seconds <= longest {
        return Ok(seconds);
    }
    Err(wrong(format!("seconds = {seconds}: give a number above 0 and at most {longest} s")))
}

/// Checks a number of characters.
pub fn count(count: usize) -> PyResult<()> {
    if (1..=65536).contains(&count) {
        return Ok(());
    }
    Err(wrong(format!("count = {count}: give a number from 1 to 65536")))
}

/// A checked number of threads; if left out, one per core.
pub fn threads(threads: Option<usize>) -> PyResult<usize> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = threads.unwrap_or(cores);
    if (1..=1024).contains(&threads) {
        return Ok(threads);
    }
    Err(wrong(format!("threads = {threads}: give a number from 1 to 1024")))
}

/// A commanded gait by name.
pub fn gait(name: &str) -> PyResult<Gait> {
    GAITS.into_iter().find(|gait| gait.name() == name).ok_or_else(|| {
        let known = GAITS.map(Gait::name);
        crate::errors::exception(&pomp_front::errors::unknown("", "gait", name, known))
    })
}

/// Weights of styles by name. Their range is checked where they are used.
pub fn style(given: &Bound<'_, PyAny>) -> PyResult<BTreeMap<String, f32>> {
    let weights = given.cast::<PyDict>().map_err(|_| {
        wrong(
            "style: give a dict of names and weights, as {\"zombie\": 0.7}; {} is the model's own walk"
                .to_owned(),
        )
    })?;
    weights.iter().map(|(name, weight)| Ok((name.extract()?, weight.extract()?))).collect()
}

/// Numbers of a shape, row-major, and the shape found; 0 in `shape` means any size.
pub fn floats(given: &Bound<'_, PyAny>, what: &str, shape: &[usize]) -> PyResult<(Vec<f32>, Vec<usize>)> {
    let wanted: Vec<String> =
        shape.iter().map(|size| if *size == 0 { "any".to_owned() } else { size.to_string() }).collect();
    let wanted = wanted.join(" × ");
    // The conversion of numpy would drop imaginary parts.
    if given.cast::<PyUntypedArray>().is_ok_and(|array| array.dtype().kind() == b'c') {
        return Err(wrong(format!("{what}: give {wanted} real numbers")));
    }
    let array = given
        .extract::<PyArrayLikeDyn<'_, f32, AllowTypeChange>>()
        .map_err(|error| wrong(format!("{what}: give {wanted} numbers ({error})")))?;
    let found = array.shape().to_vec();
    let fits = found.len() == shape.len() && found.iter().zip(shape).all(|(a, b)| *b == 0 || a == b);
    if !fits {
        return Err(wrong(format!("{what}: give {wanted} numbers, not an array of the shape {found:?}")));
    }
    let values: Vec<f32> = array.as_array().iter().copied().collect();
    match values.iter().position(|value| !value.is_finite()) {
        Some(at) => Err(wrong(format!("{what}: number {at} is {}; give finite numbers", values[at]))),
        None => Ok((values, found)),
    }
}

/// Two numbers.
pub fn vec2(given: &Bound<'_, PyAny>, what: &str) -> PyResult<Vec2> {
    Ok(Vec2::from_slice(&floats(given, what, &[2])?.0))
}

/// Three numbers.
pub fn vec3(given: &Bound<'_, PyAny>, what: &str) -> PyResult<Vec3> {
    Ok(Vec3::from_slice(&floats(given, what, &[3])?.0))
}

/// A body by name or index.
pub fn body(given: &Bound<'_, PyAny>, names: &[String]) -> PyResult<usize> {
    let unknown = |told: String| {
        let known = names.iter().map(String::as_str);
        crate::errors::exception(&pomp_front::errors::unknown("", "body", &told, known))
    };
    if let Ok(index) = given.extract::<usize>() {
        return if index < names.len() { Ok(index) } else { Err(unknown(index.to_string())) };
    }
    let name: String = given.extract()?;
    names.iter().position(|body| body.eq_ignore_ascii_case(&name)).ok_or_else(|| unknown(name))
}

/// Pushes of one frame: pairs of body and impulse (N·s, world), or triples with the point where it acts (metres, world).
pub fn pushes(given: Option<&Bound<'_, PyAny>>, names: &[String]) -> PyResult<Vec<Push>> {
    let Some(given) = given else { return Ok(Vec::new()) };
    given.try_iter()?.map(|push| one_push(&push?, names)).collect()
}

/// A push of a frame.
pub fn one_push(push: &Bound<'_, PyAny>, names: &[String]) -> PyResult<Push> {
    let parts: Vec<Bound<'_, PyAny>> = push.try_iter()?.collect::<PyResult<_>>()?;
    let (named, impulse, point) = match &parts[..] {
        [named, impulse] => (named, impulse, None),
        [named, impulse, point] => (named, impulse, Some(point)),
        _ => {
            return Err(wrong(format!(
                "pushes: a push is (body, impulse) or (body, impulse, point), not {} values",
                parts.len()
            )));
        }
    };
    Ok(Push {
        body: body(named, names)?,
        impulse_ns: vec3(impulse, "the impulse of a push")?,
        point: point.map(|point| vec3(point, "the point of a push")).transpose()?,
    })
}

/// Settings in the form of the command line, `KEY.PATH=VALUE`, from a dict or from a list of such texts.
pub fn settings(given: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<String>> {
    let Some(given) = given else { return Ok(Vec::new()) };
    let Ok(dict) = given.cast::<PyDict>() else {
        if given.is_instance_of::<PyString>() {
            return Err(wrong("settings: give a dict, or a list of KEY.PATH=VALUE".to_owned()));
        }
        return given.try_iter()?.map(|text| text?.extract()).collect();
    };
    dict.iter().map(|(key, value)| Ok(format!("{}={}", key.extract::<String>()?, toml(&value)?))).collect()
}

/// A value as TOML text.
fn toml(value: &Bound<'_, PyAny>) -> PyResult<String> {
    if value.is_instance_of::<PyBool>() {
        return Ok(value.is_truthy()?.to_string());
    }
    if value.is_instance_of::<PyString>() {
        return Ok(format!("{:?}", value.extract::<String>()?));
    }
    if value.is_instance_of::<PyInt>() || value.is_instance_of::<PyFloat>() {
        return Ok(value.str()?.to_string());
    }
    if let Ok(items) = value.try_iter() {
        let items = items.map(|item| toml(&item?)).collect::<PyResult<Vec<String>>>()?;
        return Ok(format!("[{}]", items.join(", ")));
    }
    let kind = value.get_type().name()?.to_string();
    Err(wrong(format!("settings: a value is a number, a text, True, False or a list of them, not a {kind}")))
}

/// A checked configuration: the defaults of its type, overridden by a file and then by settings.
pub fn config<T>(path: Option<PathBuf>, given: Option<&Bound<'_, PyAny>>) -> PyResult<T>
where
    T: DeserializeOwned + Serialize + Default + Validate,
{
    let origin = path.as_deref().map_or(Origin::Defaults, Origin::File);
    resolve::<T>(origin, &settings(given)?).or_raise()?.checked().or_raise()
}

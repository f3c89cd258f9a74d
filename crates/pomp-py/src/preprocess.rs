//! Preprocessing with progress.

use crate::arguments::config;
use crate::arrays::plain;
use crate::errors::OrRaise;
use crate::interrupt::PATIENCE;
use pomp_preprocess::{
    Manifest, OnFailure, Part, PreprocessConfig, PreprocessError, Progress, find_inputs, run_part,
};
use pyo3::prelude::*;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};

/// Preprocesses motion files into a folder of recordings, as `pomp preprocess` does.
///
/// A run that was interrupted goes on where it was when it is called again; what is there already, made from the same bytes by the same
/// configuration, is kept.
///
/// Args:
///     inputs: A BVH file or a folder of them, or a list of both.
///     out: Folder of the recordings.
///     config: A preprocessing configuration (.toml); without it the defaults.
///     settings: Values in place of the configuration's: a dict of KEY.PATH to value, or a list of "KEY.PATH=VALUE".
///     rigs: Rig maps of your own (.toml), tried before the built-in ones.
///     strict: Stop at the first clip that fails; else it is told in the result, and the others go on.
///     progress: Called after each clip as progress(done, total, path, error), where error is None or a text. An exception in it stops
///         the run.
///
/// Returns:
///     The manifest that is also in OUT/manifest.json: `clips`, each with name, file, gaits, ground, replay and impulse figures, and
///     `failures`.
#[pyfunction]
#[pyo3(signature = (inputs, out, *, config=None, settings=None, rigs=Vec::new(), strict=false, progress=None))]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub fn preprocess<'py>(
    py: Python<'py>,
    inputs: &Bound<'py, PyAny>,
    out: PathBuf,
    config: Option<PathBuf>,
    settings: Option<&Bound<'py, PyAny>>,
    rigs: Vec<PathBuf>,
    strict: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let config: PreprocessConfig = self::config(config, settings)?;
    let inputs: Vec<PathBuf> = match inputs.extract::<PathBuf>() {
        Ok(one) => vec![one],
        Err(_) => inputs.extract()?,
    };
    let rigs = pomp_front::motion_file::rigs(&rigs).or_raise()?;
    let inputs = py.detach(|| find_inputs(&inputs)).or_raise()?;
    let on_failure = if strict { OnFailure::Stop } else { OnFailure::Skip };
    let total = inputs.len();
    let manifest = watched(py, progress.as_ref(), total, |tell| {
        run_part(&inputs, Part::WHOLE, &out, &config, &rigs, on_failure, tell)
    })?;
    plain(py, &manifest)
}

/// What a run tells the thread that waits for it.
type Tell<'a> = &'a (dyn Fn(&Progress) -> ControlFlow<()> + Sync);

/// Runs `work` in a thread of its own, while this one calls `progress` and watches for signals; either can stop it.
fn watched(
    py: Python<'_>,
    progress: Option<&Py<PyAny>>,
    total: usize,
    work: impl FnOnce(Tell<'_>) -> Result<Manifest, PreprocessError> + Send,
) -> PyResult<Manifest> {
    let (send, receive) = channel::<Progress>();
    let (outcome, raised) = py.detach(move || {
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let stop = &stop;
            let worker = scope.spawn(move || {
                let tell = |event: &Progress| {
                    // The other end listens until this one is gone.
                    let _heard = send.send(event.clone());
                    if stop.load(Ordering::Relaxed) {
                        ControlFlow::Break(())
                    } else {
                        ControlFlow::Continue(())
                    }
                };
                work(&tell)
            });
            let raised = listen(&receive, progress, total, stop);
            (worker.join(), raised)
        })
    });
    match (outcome, raised) {
        (Err(panic), _) => std::panic::resume_unwind(panic),
        (Ok(_), Some(raised)) => Err(raised),
        (Ok(result), None) => result.or_raise(),
    }
}

/// Hears every event until the run has ended, and gives the first exception.
fn listen(
    receive: &Receiver<Progress>,
    progress: Option<&Py<PyAny>>,
    total: usize,
    stop: &AtomicBool,
) -> Option<PyErr> {
    let mut raised = None;
    let mut done = 0;
    loop {
        let event = match receive.recv_timeout(PATIENCE) {
            Ok(event) => Some(event),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => return raised,
        };
        done += usize::from(event.is_some());
        if raised.is_none() {
            raised = Python::attach(|py| {
                py.check_signals()?;
                match (&event, progress) {
                    (Some(event), Some(progress)) => call(py, progress, done, total, event),
                    _ => Ok(()),
                }
            })
            .err();
            stop.store(raised.is_some(), Ordering::Relaxed);
        }
    }
}

fn call(py: Python<'_>, progress: &Py<PyAny>, done: usize, total: usize, event: &Progress) -> PyResult<()> {
    let (path, error) = match event {
        Progress::Done { input } => (input, None),
        Progress::Failed(failure) => (&failure.input, Some(failure.error.as_str())),
    };
    progress.call1(py, (done, total, path.display().to_string(), error)).map(|_| ())
}

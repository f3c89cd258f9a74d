//! Ctrl-C in calls that take long.
//!
//! Python notes a signal and acts on it when its own code runs again. Calls from here release the interpreter, so they ask for it now
//! and then.

use crate::errors::failed;
use pyo3::prelude::*;
use std::ops::ControlFlow;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How long a signal waits at most.
pub const PATIENCE: Duration = Duration::from_millis(50);

/// Watches for signals between the steps of a loop that runs without the interpreter.
pub struct Signals {
    asked: Instant,
    raised: Option<PyErr>,
}

impl Signals {
    /// Nothing has been raised.
    pub fn new() -> Self {
        Self { asked: Instant::now(), raised: None }
    }

    /// `Break` once a signal's handler has raised an exception.
    pub fn flow(&mut self) -> ControlFlow<()> {
        if self.raised.is_none() && self.asked.elapsed() >= PATIENCE {
            self.raised = Python::attach(check).err();
            self.asked = Instant::now();
        }
        if self.raised.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// The exception that has been raised, in place of the `result` that was stopped.
    pub fn or<T>(self, result: PyResult<T>) -> PyResult<T> {
        self.raised.map_or(result, Err)
    }
}

fn check(py: Python<'_>) -> PyResult<()> {
    py.check_signals()
}

/// Runs `work` without the interpreter. After a signal the call ends at once; `work` goes on to its end unseen, and what it gives is
/// dropped.
pub fn in_background<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (send, mut receive) = channel();
    let thread = std::thread::Builder::new().name("pomp".to_owned()).spawn(move || {
        // Only a call that was interrupted no longer listens.
        let _unheard = send.send(work());
    })?;
    loop {
        let own = &mut receive;
        match py.detach(move || own.recv_timeout(PATIENCE)) {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(match thread.join() {
                    Err(panic) => std::panic::resume_unwind(panic),
                    Ok(()) => failed("the call ended without a result"),
                });
            }
        }
    }
}

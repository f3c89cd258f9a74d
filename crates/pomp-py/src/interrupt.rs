//! Ctrl-C in long calls.
//!
//! Python records a signal and handles it when Python code runs again. The calls of this module release the interpreter, so they check
//! for signals at intervals.

use crate::errors::failed;
use pyo3::prelude::*;
use std::ops::ControlFlow;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Longest time from a signal to the check.
pub const PATIENCE: Duration = Duration::from_millis(50);

/// Checks for signals between the steps of a loop that runs without the interpreter.
pub struct Signals {
    asked: Instant,
    raised: Option<PyErr>,
}

impl Signals {
    /// A watch without an exception.
    pub fn new() -> Self {
        Self { asked: Instant::now(), raised: None }
    }

    /// `Break` after the handler of a signal has raised an exception.
    pub fn flow(&mut self) -> ControlFlow<()> {
        if self.raised.is_none() && self.asked.elapsed() >= PATIENCE {
            self.raised = Python::attach(check).err();
            self.asked = Instant::now();
        }
        if self.raised.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// The raised exception, or `result` if there is none.
    pub fn or<T>(self, result: PyResult<T>) -> PyResult<T> {
        self.raised.map_or(result, Err)
    }
}

fn check(py: Python<'_>) -> PyResult<()> {
    py.check_signals()
}

/// Runs `work` in a thread without the interpreter. After a signal the call ends at once. The thread then runs to its end, and its result
/// is dropped.
pub fn in_background<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (send, mut receive) = channel();
    let thread = std::thread::Builder::new().name("pomp".to_owned()).spawn(move || {
        // The receiver is gone only after an interrupted call.
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

//! Runs over many files with progress reports. Ctrl-C or an exception stops them.

use crate::errors::OrRaise;
use crate::interrupt::PATIENCE;
use pyo3::prelude::*;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};

/// A file that is done or has failed.
pub struct Event {
    /// The file.
    pub path: String,
    /// The error, if it failed.
    pub error: Option<String>,
}

/// Reports an event of a run to the waiting thread. `Break` asks the run to stop.
type Tell<'a> = &'a (dyn Fn(Event) -> ControlFlow<()> + Sync);

/// Runs `work` in another thread, while this thread calls `progress` and checks for signals. Both can stop the run.
pub fn watched<T: Send, E: Into<anyhow::Error> + Send>(
    py: Python<'_>,
    progress: Option<&Py<PyAny>>,
    total: usize,
    work: impl FnOnce(Tell<'_>) -> Result<T, E> + Send,
) -> PyResult<T> {
    let (send, receive) = channel::<Event>();
    let (outcome, raised) = py.detach(move || {
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let stop = &stop;
            let worker = scope.spawn(move || {
                let tell = |event: Event| {
                    // The receiver exists until this sender is dropped.
                    let _heard = send.send(event);
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

/// Receives all events until the run has ended and returns the first exception.
fn listen(
    receive: &Receiver<Event>,
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
                match (event, progress) {
                    (Some(Event { path, error }), Some(progress)) => {
                        progress.call1(py, (done, total, path, error)).map(|_| ())
                    }
                    _ => Ok(()),
                }
            })
            .err();
            stop.store(raised.is_some(), Ordering::Relaxed);
        }
    }
}

//! The resource of a Python object that can be closed.

use crate::errors::{exception, failed};
use pyo3::prelude::*;
use std::sync::{Mutex, PoisonError};

/// A simulator behind a lock. Concurrent calls wait for each other.
pub struct Closable<T> {
    /// None after closing.
    inner: Mutex<Option<T>>,
    /// Name of the resource in errors.
    what: &'static str,
}

impl<T: Send> Closable<T> {
    /// Wraps `inner`, which errors call `what`.
    pub fn new(what: &'static str, inner: T) -> Self {
        Self { inner: Mutex::new(Some(inner)), what }
    }

    /// Runs work on the resource without the interpreter. It also waits for the lock without the interpreter, because the thread that
    /// holds the lock may wait for the interpreter.
    pub fn with<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut T) -> anyhow::Result<R> + Send,
    ) -> PyResult<R> {
        let what = self.what;
        py.detach(|| match self.inner.lock() {
            Ok(mut inner) => match inner.as_mut() {
                Some(inner) => work(inner).map_err(|error| exception(&error)),
                None => Err(failed(&format!("the {what} is closed; make another one"))),
            },
            Err(_) => {
                Err(failed(&format!("an earlier call of this {what} has failed half way; make another one")))
            }
        })
    }

    /// Frees the resource. Every later call raises an error.
    pub fn close(&self, py: Python<'_>) {
        py.detach(|| *self.inner.lock().unwrap_or_else(PoisonError::into_inner) = None);
    }
}

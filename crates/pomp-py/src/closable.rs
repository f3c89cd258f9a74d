//! What a Python object holds until it is closed.

use crate::errors::{exception, failed};
use pyo3::prelude::*;
use std::sync::{Mutex, PoisonError};

/// A simulator that calls from any thread share, each waiting for the others.
pub struct Closable<T> {
    /// None once closed.
    inner: Mutex<Option<T>>,
    /// What it is, for errors.
    what: &'static str,
}

impl<T: Send> Closable<T> {
    /// Holds `inner`, a `what`.
    pub fn new(what: &'static str, inner: T) -> Self {
        Self { inner: Mutex::new(Some(inner)), what }
    }

    /// Works on it without the interpreter. A thread that holds it may wait for the interpreter, so this waits for it without.
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

    /// Frees it; any other call is an error from then on.
    pub fn close(&self, py: Python<'_>) {
        py.detach(|| *self.inner.lock().unwrap_or_else(PoisonError::into_inner) = None);
    }
}

//! Errors of the libraries as exceptions, with the messages of the command line.

use std::fmt;

use freehold_lab::{LabError, sentence};
use freehold_trace::TraceError;
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

create_exception!(freehold, Error, PyException, "An error of Freehold, with its reason.");
create_exception!(freehold, InputError, Error, "A trace or an argument that cannot be used.");
create_exception!(freehold, BugError, Error, "A bug in Freehold: please report it.");

create_exception!(freehold, AllocError, Error, "A failed request. The memory is unchanged.");
create_exception!(freehold, FreeError, Error, "A failed free. The memory is unchanged.");
create_exception!(freehold, BlockError, Error, "A failed isolation of a pageblock. The memory is unchanged.");

/// An error of a library, before its conversion to a Python exception.
#[derive(Debug)]
pub(super) enum Failure {
    /// The arguments or the input cannot be used.
    Input(String),
    /// A bug in Freehold.
    Bug(String),
}

impl Failure {
    /// Converts an error of the lab, with the name of the trace.
    pub(super) fn of_lab(name: &str, error: &LabError) -> Self {
        let text = format!("{name}: {}", sentence(error));
        if error.is_bug() { Self::Bug(text) } else { Self::Input(text) }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Input(text) | Self::Bug(text)) = self;
        f.write_str(text)
    }
}

impl From<TraceError> for Failure {
    fn from(error: TraceError) -> Self {
        Self::Input(sentence(&error))
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Input(text) => InputError::new_err(text),
            Failure::Bug(text) => BugError::new_err(text),
        }
    }
}

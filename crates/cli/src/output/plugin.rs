//! The end of a monitoring plugin: an answer and an exit code of 0 to 3.

use std::process::ExitCode;

use freehold_measure::foreign;

use super::{note, print};
use crate::exit::Failure;

/// Returns the exit code, and says UNKNOWN if the command failed.
pub(crate) fn plugin(json: bool, done: Result<u8, Failure>) -> ExitCode {
    match done {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            let said = format!("UNKNOWN: {failure}");
            let text = foreign::one_line(&said);
            // A monitoring system reads standard output, and a reader of JSON reads JSON there.
            if json || print(&text).is_err() {
                note(&format!("freehold: {text}"));
            }
            ExitCode::from(3)
        }
    }
}

/// Returns the exit code, if the answer was printed.
pub(crate) fn with_code(printed: Result<(), Failure>, code: u8) -> Result<u8, Failure> {
    match printed {
        // A closed pipe is no error: its reader may still look at the exit code.
        Err(failure) if failure.is_broken_pipe() => Ok(code),
        other => other.map(|()| code),
    }
}

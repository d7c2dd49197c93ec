//! Exit codes, and the code that each kind of error ends with.

use std::fmt;

/// Why the program ends before its work is done; the value is the exit code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Cause {
    /// A bug in Freehold: an invariant is broken.
    Bug = 1,
    /// The arguments or the input cannot be used.
    Input = 2,
    /// This machine lacks something.
    Machine = 3,
    /// The output cannot be written.
    Output = 4,
    /// The output is complete, but some runs of a sweep failed.
    Partly = 5,
    /// A text has nothing that the command knows; `EX_DATAERR` of sysexits.
    Unrecognized = 65,
    /// A file cannot be read; `EX_NOINPUT` of sysexits.
    Unreadable = 66,
}

/// An error and the cause that decides the exit code.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) cause: Cause,
    pub(super) error: anyhow::Error,
}

impl Failure {
    pub(super) fn new(cause: Cause, error: impl Into<anyhow::Error>) -> Self {
        Self { cause, error: error.into() }
    }

    /// Returns true if the output could not be written because the reader closed the pipe.
    pub(super) fn is_broken_pipe(&self) -> bool {
        let broken_pipe = self.error.chain().any(|error| {
            error
                .downcast_ref::<std::io::Error>()
                .is_some_and(|io| io.kind() == std::io::ErrorKind::BrokenPipe)
        });
        self.cause == Cause::Output && broken_pipe
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&freehold_lab::sentence(self.error.as_ref()))
    }
}

impl From<freehold_trace::TraceError> for Failure {
    fn from(error: freehold_trace::TraceError) -> Self {
        Self::new(Cause::Input, error)
    }
}

impl From<freehold_linux::Error> for Failure {
    fn from(error: freehold_linux::Error) -> Self {
        use freehold_linux::Error;
        let cause = match &error {
            Error::NotRoot { .. }
            | Error::NoTracefs { .. }
            | Error::NoKmemEvents { .. }
            | Error::NoKpageflags { .. }
            | Error::Bpf(_)
            | Error::Buffer { .. } => Cause::Machine,
            Error::Sink(_) => Cause::Output,
            _ => Cause::Input,
        };
        Self::new(cause, error)
    }
}

impl From<freehold_monitor::top::TopError> for Failure {
    fn from(error: freehold_monitor::top::TopError) -> Self {
        use freehold_monitor::top::TopError;
        match error {
            TopError::Machine(error) => error.into(),
            TopError::Terminal(_) => Self::new(Cause::Output, error),
            _ => Self::new(Cause::Input, error),
        }
    }
}

impl From<freehold_monitor::serve::ServeError> for Failure {
    fn from(error: freehold_monitor::serve::ServeError) -> Self {
        use freehold_monitor::serve::ServeError;
        let cause = match error {
            ServeError::Machine(error) => return error.into(),
            ServeError::Address { .. } | ServeError::Socket { .. } | ServeError::WebConfig(_) => Cause::Input,
            _ => Cause::Machine,
        };
        Self::new(cause, error)
    }
}

impl From<freehold_lab::predict::PredictError> for Failure {
    fn from(error: freehold_lab::predict::PredictError) -> Self {
        Self::new(Cause::Input, error)
    }
}

impl From<freehold_lab::LabError> for Failure {
    fn from(error: freehold_lab::LabError) -> Self {
        Self::new(if error.is_bug() { Cause::Bug } else { Cause::Input }, error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_that_the_message_has_already_is_not_said_again() {
        let answer = || std::io::Error::from_raw_os_error(2);
        let said =
            anyhow::Error::new(answer()).context(format!("cannot read x: {}. Check the path", answer()));
        assert_eq!(
            Failure::new(Cause::Input, said).to_string(),
            "cannot read x: No such file or directory (os error 2). Check the path"
        );
        let new = anyhow::Error::new(answer()).context("standard output cannot be written");
        assert_eq!(
            Failure::new(Cause::Output, new).to_string(),
            "standard output cannot be written: No such file or directory (os error 2)"
        );
    }
}

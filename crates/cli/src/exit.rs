//! Exit codes, and the code that each kind of error ends with.

use std::fmt;

/// Why the program ends before its work is done. The value is the exit code: those of `sysexits.h`, so that no failure
/// looks like a verdict of `check` or `repair`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Cause {
    /// The arguments cannot be used; `EX_USAGE`.
    Usage = 64,
    /// An input is not what the command reads, or is damaged; `EX_DATAERR`.
    Data = 65,
    /// An input cannot be opened or read; `EX_NOINPUT`.
    NoInput = 66,
    /// This machine lacks something; `EX_UNAVAILABLE`.
    Machine = 69,
    /// A bug in Freehold: an invariant is broken; `EX_SOFTWARE`.
    Bug = 70,
    /// The output cannot be written; `EX_IOERR`.
    Output = 74,
    /// The output is complete, but some runs of a sweep failed; `EX_TEMPFAIL`.
    Partly = 75,
}

/// The exit codes as `--help`, the manual and the reference show them.
pub(super) const CODES: &str = "\
Exit codes: 0 done; 64 bad arguments; 65 the input is not what the command
reads, or damaged; 66 the input cannot be opened; 69 this machine lacks
something (root, tracefs, trace events, memory); 70 a bug in Freehold; 74 the
output cannot be written; 75 the output is complete, but some runs of a sweep
failed.
`check`, `repair` and `rehearse` end with 0 to 3 as monitoring plugins do: see
`freehold check -h`. `record` and `watch` end with the exit code of the command
that they ran; `record` with 0 if a limit, a trigger or a signal ended it.";

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
        use freehold_trace::TraceError;
        let cause = match error {
            TraceError::Io { .. } | TraceError::Unopened { .. } => Cause::NoInput,
            _ => Cause::Data,
        };
        Self::new(cause, error)
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
            Error::Io { .. } => Cause::NoInput,
            Error::Command { .. } | Error::StoppedEarly => Cause::Usage,
            _ => Cause::Data,
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
            _ => Self::new(Cause::Usage, error),
        }
    }
}

impl From<freehold_monitor::serve::ServeError> for Failure {
    fn from(error: freehold_monitor::serve::ServeError) -> Self {
        use freehold_monitor::serve::ServeError;
        let cause = match error {
            ServeError::Machine(error) => return error.into(),
            ServeError::Address { .. } | ServeError::Socket { .. } | ServeError::WebConfig(_) => Cause::Usage,
            _ => Cause::Machine,
        };
        Self::new(cause, error)
    }
}

impl From<freehold_lab::predict::PredictError> for Failure {
    fn from(error: freehold_lab::predict::PredictError) -> Self {
        use freehold_lab::predict::PredictError;
        let cause = if matches!(error, PredictError::Empty { .. }) { Cause::Data } else { Cause::Usage };
        Self::new(cause, error)
    }
}

impl From<freehold_lab::LabError> for Failure {
    fn from(error: freehold_lab::LabError) -> Self {
        use freehold_lab::LabError;
        let cause = match &error {
            bug if bug.is_bug() => Cause::Bug,
            LabError::Plan { .. } | LabError::Rule { .. } | LabError::RuleUnasked { .. } => Cause::Usage,
            _ => Cause::Data,
        };
        Self::new(cause, error)
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
            Failure::new(Cause::Data, said).to_string(),
            "cannot read x: No such file or directory (os error 2). Check the path"
        );
        let new = anyhow::Error::new(answer()).context("standard output cannot be written");
        assert_eq!(
            Failure::new(Cause::Output, new).to_string(),
            "standard output cannot be written: No such file or directory (os error 2)"
        );
    }
}

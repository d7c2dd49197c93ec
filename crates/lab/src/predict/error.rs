//! Errors of a prediction.

/// A prediction is impossible. Each message names the problem, the recording, and the action to take.
#[derive(PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PredictError {
    /// No change is given.
    #[error("no change is given, so there is nothing to predict; name a setting, an era or a switch")]
    NoChange,
    /// A knob is given twice.
    #[error("{knob} is given twice; give it one value")]
    TurnedTwice {
        /// The knob.
        knob: &'static str,
    },
    /// Recordings of different machines.
    #[error("{name}: recorded on another machine than {first}: {what}; give recordings of one machine")]
    Machine {
        /// The recording.
        name: String,
        /// The recording that it is compared with.
        first: String,
        /// The difference.
        what: String,
    },
    /// Recordings of different kernels.
    #[error("{name}: recorded on {release}, but {first} on {expected}; give recordings of one kernel")]
    Kernel {
        /// The recording.
        name: String,
        /// The kernel of the recording.
        release: String,
        /// The recording that it is compared with.
        first: String,
        /// The kernel of `first`.
        expected: String,
    },
    /// Recordings under different settings.
    #[error(
        "{name}: recorded with {setting}, but {first} with {expected}; give recordings under one setting"
    )]
    Setting {
        /// The recording.
        name: String,
        /// The setting that differs, with its value.
        setting: String,
        /// The recording that it is compared with.
        first: String,
        /// The value in `first`.
        expected: String,
    },
    /// A recording is given twice.
    #[error("{name}: the same recording as {first}, which would count twice; give each recording once")]
    Twice {
        /// The recording.
        name: String,
        /// The equal recording.
        first: String,
    },
    /// The recorded kernel is unknown.
    #[error(
        "{name}: the recorded kernel is not known, and neither is its era; record again, or import with \
         --kernel-release"
    )]
    UnknownKernel {
        /// The recording.
        name: String,
    },
    /// The recorded kernel lacks the setting.
    #[error("{name}: the recorded kernel, {release}, has no {knob}{since}; name a setting that it has")]
    Lacking {
        /// The recording.
        name: String,
        /// The recorded kernel.
        release: String,
        /// The setting.
        knob: &'static str,
        /// A clause with the first kernel that has the setting; may be empty.
        since: String,
    },
    /// The recordings before the change already have the new setting.
    #[error("{name}: recorded under the same setting, {change}, so nothing would change; name another value")]
    Already {
        /// The recording.
        name: String,
        /// The change.
        change: String,
    },
    /// A recording given to `--against` was made without the change.
    #[error(
        "{name}: recorded under the same setting as {first}, {setting}; give recordings under {change} to --against"
    )]
    Same {
        /// The recording.
        name: String,
        /// The recording that it is compared with.
        first: String,
        /// The setting.
        setting: String,
        /// The change.
        change: String,
    },
    /// A recording given to `--against` was made under another change.
    #[error("{name}: recorded under {setting}; give recordings under {change} to --against")]
    Other {
        /// The recording.
        name: String,
        /// The setting of the recording.
        setting: String,
        /// The change.
        change: String,
    },
    /// Recordings of very different lengths.
    #[error(
        "{name}: {pages} pages requested, but {expected} in {first}, more than {times} times as many or as few; give \
         recordings of the same work"
    )]
    Length {
        /// The recording.
        name: String,
        /// The pages that it requests.
        pages: u64,
        /// The recording that it is compared with.
        first: String,
        /// The pages that `first` requests.
        expected: u64,
        /// The largest accepted ratio.
        times: u64,
    },
    /// A recording without allocations.
    #[error("{name}: no allocation in it; give a recording of work")]
    Empty {
        /// The recording.
        name: String,
    },
}

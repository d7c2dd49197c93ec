//! Why nothing can be foretold from these recordings.

/// Why nothing can be foretold from these recordings. Each says what is wrong, where, and what to do.
#[derive(PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PredictError {
    /// Nothing is changed.
    #[error("nothing is changed, so there is nothing to foretell; name a setting, an era or a switch")]
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
        /// The recording that it is held against.
        first: String,
        /// What differs.
        what: String,
    },
    /// Recordings of different kernels.
    #[error("{name}: recorded on {release}, but {first} on {expected}; give recordings of one kernel")]
    Kernel {
        /// The recording.
        name: String,
        /// Its kernel.
        release: String,
        /// The recording that it is held against.
        first: String,
        /// The kernel of that one.
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
        /// The recording that it is held against.
        first: String,
        /// The value there.
        expected: String,
    },
    /// A recording is given twice.
    #[error("{name}: the same recording as {first}, which would count twice; give each recording once")]
    Twice {
        /// The recording.
        name: String,
        /// The recording that it equals.
        first: String,
    },
    /// The recorded kernel is not known.
    #[error(
        "{name}: the recorded kernel is not known, so its era is not either; record again, or import with --kernel-release"
    )]
    UnknownKernel {
        /// The recording.
        name: String,
    },
    /// The recorded kernel has no such setting.
    #[error("{name}: the recorded kernel, {release}, has no {knob}{since}; name a setting that it has")]
    Lacking {
        /// The recording.
        name: String,
        /// The recorded kernel.
        release: String,
        /// The setting.
        knob: &'static str,
        /// The first kernel that has it.
        since: String,
    },
    /// The recordings were made under the changed setting.
    #[error("{name}: recorded under the same setting, {change}, so nothing would change; name another value")]
    Already {
        /// The recording.
        name: String,
        /// The change.
        change: String,
    },
    /// What is to show the change was recorded without it.
    #[error(
        "{name}: recorded under the same setting as {first}, {setting}; give recordings under {change} to --against"
    )]
    Same {
        /// The recording.
        name: String,
        /// The recording that it is held against.
        first: String,
        /// The setting.
        setting: String,
        /// The change.
        change: String,
    },
    /// What is to show the change was recorded under another one.
    #[error("{name}: recorded under {setting}; give recordings under {change} to --against")]
    Other {
        /// The recording.
        name: String,
        /// The setting that it was recorded under.
        setting: String,
        /// The change.
        change: String,
    },
    /// Recordings of very different lengths.
    #[error(
        "{name}: {pages} pages asked for, but {expected} in {first}, more than {times} times as many or as few; give recordings of the same work"
    )]
    Length {
        /// The recording.
        name: String,
        /// The pages that it asks for.
        pages: u64,
        /// The recording that it is held against.
        first: String,
        /// The pages that that one asks for.
        expected: u64,
        /// The bound.
        times: u64,
    },
    /// A recording without allocations.
    #[error("{name}: no allocation in it; give a recording of work")]
    Empty {
        /// The recording.
        name: String,
    },
}

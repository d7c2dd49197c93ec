//! The provenance of the figures of a report.

/// The provenance of the figures of a report.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Provenance {
    /// The program with version and commit.
    pub program: String,
    /// The machine that replayed. Lock hold times depend on it.
    pub machine: String,
    /// The settings of the replay in the form of the command line.
    pub settings: String,
}

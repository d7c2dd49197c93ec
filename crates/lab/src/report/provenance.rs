//! How the figures of a report were obtained.

/// How the figures of a report were obtained.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Provenance {
    /// The program, with version and commit.
    pub program: String,
    /// The machine that replayed. Lock hold times are of this machine.
    pub machine: String,
    /// The settings of the replay, as they are given on the command line.
    pub settings: String,
}

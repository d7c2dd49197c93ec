//! The options of a benchmark.

use std::path::PathBuf;

use freehold::Order;

/// The size of the measurements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scale {
    /// A few milliseconds, for tests.
    Tiny,
    /// All tables together in under three minutes.
    Quick,
    /// As long as stable figures need.
    Full,
}

/// A side of `peers` in another process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outside {
    /// A program that calls `serve`.
    Program(PathBuf),
    /// A User-Mode Linux with Freehold's oracle.
    Linux(PathBuf),
}

/// The options of a benchmark.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// The size of the measurements.
    pub scale: Scale,
    /// The orders of `pagealloc`; empty for 4, 0 and 9.
    pub orders: Vec<Order>,
    /// The program of this crate, which accepts `counts --work`: it is run again under valgrind to count
    /// instructions.
    pub program: Option<PathBuf>,
    /// Further sides of `peers`.
    pub outside: Vec<Outside>,
}

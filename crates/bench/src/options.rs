//! What is measured how.

use std::path::PathBuf;

use freehold::Order;

/// How much is measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scale {
    /// A few milliseconds: whether it works at all, for tests.
    Tiny,
    /// All tables together under three minutes.
    Quick,
    /// As long as good figures take.
    Full,
}

/// A side of `bench peers` that another process measures.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outside {
    /// A program that answers as `serve` does.
    Program(PathBuf),
    /// A User-Mode Linux with Freehold's oracle in it.
    Linux(PathBuf),
}

/// What is measured how.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// How much.
    pub scale: Scale,
    /// The orders of `bench pagealloc`; empty for 4, 0 and 9.
    pub orders: Vec<Order>,
    /// This program, if `bench counts --work` starts it as the command line does: it is run
    /// again under valgrind to count instructions.
    pub program: Option<PathBuf>,
    /// Further sides of `bench peers`.
    pub outside: Vec<Outside>,
}

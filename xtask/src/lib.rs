//! The repository's own chores, callable from tests.

pub mod tidy;
